//! The simulated cloud with scripted faults for every kind of call, and a log of calls with their
//! times.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use blueprint::Value;
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, CheckFindings, CheckRequest, Configuration,
    Configured, ErrorKind, FetchRequest, Fetched, InvokeRequest, Observed, PlanRequest, Planned,
    Provider, ProviderError, ReadOutcome, ReadRequest, Readiness, Session, Transform, configured,
};
use providers::fake::{self, FakeOptions, FakeProvider, SharedCloud};

/// A scripted fault of a call.
#[derive(Clone, Debug)]
pub enum ScriptedFault {
    /// The call is refused.
    Refused(ProviderError),
    /// The call succeeds after this time. If it is cancelled earlier, it has no effect.
    Takes(Duration),
    /// The call ends only when it is cancelled, without effect.
    Hangs,
    /// The call fails at its deadline.
    FailsAtDeadline,
    /// The call never ends, not even when it is cancelled.
    IgnoresCancel,
    /// The call succeeds.
    None,
}

/// A number of refusals, one for each call.
pub fn refusals(count: usize, kind: ErrorKind) -> Vec<ScriptedFault> {
    vec![ScriptedFault::Refused(ProviderError::new(kind, "too much at the moment")); count]
}

/// A simulated cloud. It returns private data for each resource and refuses calls without that
/// data.
pub struct Cloud {
    inner: FakeProvider,
    begun: tokio::time::Instant,
    faults: Mutex<HashMap<String, VecDeque<ScriptedFault>>>,
    log: Mutex<Vec<(Duration, String)>>,
    under_way: Mutex<(usize, usize)>,
    deadlines: Mutex<Vec<(String, Option<Duration>)>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The private data of a resource, which each call about the resource must have.
fn private_of(id: &str) -> Value {
    Value::map([("of", Value::from(id))])
}

/// A call in progress.
struct CallInProgress<'a>(&'a Mutex<(usize, usize)>);

impl Drop for CallInProgress<'_> {
    fn drop(&mut self) {
        lock(self.0).0 -= 1;
    }
}

impl Cloud {
    /// A cloud on shared objects. `begun` is the time that the log counts from.
    pub fn new(catalog: Arc<Catalog>, world: SharedCloud, begun: tokio::time::Instant) -> Cloud {
        let options = FakeOptions {
            catalog: Some(catalog),
            world: Some(world),
            ..FakeOptions::default()
        };
        Cloud {
            inner: fake::provider(options),
            begun,
            faults: Mutex::default(),
            log: Mutex::default(),
            under_way: Mutex::default(),
            deadlines: Mutex::default(),
        }
    }

    /// The deadlines of a call, one for each try.
    pub fn deadlines_of(&self, call: &str) -> Vec<Option<Duration>> {
        let made = lock(&self.deadlines);
        made.iter()
            .filter(|(made, _)| made == call)
            .map(|(_, deadline)| *deadline)
            .collect()
    }

    /// Adds faults for the next tries of a call.
    pub fn script_faults(&self, call: &str, accidents: impl IntoIterator<Item = ScriptedFault>) {
        lock(&self.faults)
            .entry(call.to_owned())
            .or_default()
            .extend(accidents);
    }

    /// All calls with their virtual times.
    pub fn log(&self) -> Vec<(Duration, String)> {
        lock(&self.log).clone()
    }

    /// The times of a call, one for each try.
    pub fn times_of(&self, call: &str) -> Vec<Duration> {
        self.log()
            .into_iter()
            .filter(|(_, made)| made == call)
            .map(|(at, _)| at)
            .collect()
    }

    /// Clears the log.
    pub fn clear_log(&self) {
        lock(&self.log).clear();
        *lock(&self.under_way) = (0, 0);
    }

    /// The largest number of calls in progress at the same time.
    pub fn most_at_once(&self) -> usize {
        lock(&self.under_way).1
    }

    /// Applies the scripted fault of a call. `Err` with the answer if the call must not be made.
    async fn apply_fault(
        &self,
        verb: &str,
        call: &Call,
    ) -> Result<CallInProgress<'_>, ProviderError> {
        let name = format!("{verb} {}", call.address);
        lock(&self.log).push((self.begun.elapsed(), name.clone()));
        lock(&self.deadlines).push((name.clone(), call.deadline));
        let under_way = CallInProgress(&self.under_way);
        {
            let mut now = lock(&self.under_way);
            now.0 += 1;
            now.1 = now.1.max(now.0);
        }
        let cancelled = || ProviderError::new(ErrorKind::Cancelled, "the call was cancelled");
        let accident = lock(&self.faults)
            .get_mut(&name)
            .and_then(VecDeque::pop_front);
        match accident.unwrap_or(ScriptedFault::None) {
            ScriptedFault::None => Ok(under_way),
            ScriptedFault::Refused(error) => Err(error),
            ScriptedFault::Takes(time) => tokio::select! {
                biased;
                () = call.cancel.cancelled() => Err(cancelled()),
                () = tokio::time::sleep(time) => Ok(under_way),
            },
            ScriptedFault::Hangs => {
                call.cancel.cancelled().await;
                Err(cancelled())
            }
            ScriptedFault::FailsAtDeadline => {
                tokio::time::sleep(call.deadline.expect("a deadline")).await;
                Err(ProviderError::new(
                    ErrorKind::TimedOut,
                    "not done in the time given",
                ))
            }
            ScriptedFault::IgnoresCancel => std::future::pending().await,
        }
    }
}

impl Provider for Cloud {
    fn catalog(&self) -> &Arc<Catalog> {
        self.inner.catalog()
    }

    fn transform(&self, name: &str) -> Option<&dyn Transform> {
        self.inner.transform(name)
    }

    fn configure(
        self: Arc<Self>,
        _: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        configured(self)
    }
}

impl Session for Cloud {
    fn check<'a>(
        &'a self,
        call: &'a Call,
        request: CheckRequest<'a>,
    ) -> BoxFuture<'a, Result<CheckFindings, ProviderError>> {
        Box::pin(async move {
            let _under_way = self.apply_fault("check", call).await?;
            self.inner.check(call, request).await
        })
    }

    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(async move {
            let _under_way = self.apply_fault("read", call).await?;
            let mut seen = self.inner.read(call, request).await?;
            if let ReadOutcome::Present(Observed { id, private, .. }) = &mut seen {
                *private = private_of(id);
            }
            Ok(seen)
        })
    }

    fn plan<'a>(
        &'a self,
        call: &'a Call,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        Box::pin(async move {
            let _under_way = self.apply_fault("plan", call).await?;
            self.inner.plan(call, request).await
        })
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            let _under_way = self.apply_fault(request.operation.word(), call).await?;
            if *request.private != request.id.map_or(Value::Null, private_of) {
                return Err(ProviderError::new(
                    ErrorKind::Permanent,
                    "the private data are not those of the object",
                ));
            }
            let mut applied = self.inner.apply(call, request).await?;
            applied.private = private_of(&applied.id);
            Ok(applied)
        })
    }

    fn poll_ready<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<Readiness, ProviderError>> {
        Box::pin(async move {
            let _under_way = self.apply_fault("stable", call).await?;
            let unsettled = format!("unsettled {}", call.address);
            if lock(&self.faults)
                .get_mut(&unsettled)
                .and_then(VecDeque::pop_front)
                .is_some()
            {
                return Ok(Readiness::NOT_YET);
            }
            self.inner.poll_ready(call, request).await
        })
    }

    fn fetch<'a>(
        &'a self,
        call: &'a Call,
        request: FetchRequest<'a>,
    ) -> BoxFuture<'a, Result<Fetched, ProviderError>> {
        Box::pin(async move {
            let _under_way = self.apply_fault("fetch", call).await?;
            self.inner.fetch(call, request).await
        })
    }

    fn invoke<'a>(
        &'a self,
        call: &'a Call,
        request: InvokeRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move {
            let _under_way = self.apply_fault("call", call).await?;
            self.inner.invoke(call, request).await
        })
    }
}
