//! Questions to providers while a plan is made: no more at once and no more often than they stand, and put again where
//! they may be answered later (decision 5.3).
//!
//! [`Patient`] is the world as a plan asks it. What holds for calls while a plan is carried out is decided in `apply`, by
//! the same policies.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use blueprint::wire::Document;
use blueprint::{Address, IndexMap, Name, Value};
use futures::channel::mpsc;
use futures::{StreamExt as _, lock};
use provider::{
    BoxFuture, Catalogs, Checked, Fetched, Planned, Preflight, ProviderError, Rate, ReadOutcome, RetryPolicy,
    TransformError,
};

use state::Snapshot;

use crate::codes;
use crate::world::{PlanQuestion, PreflightQuestion, ReadQuestion, SourceError, World};

/// So many questions are under way at once, if a provider does not say otherwise.
pub const AT_ONCE: usize = 128;

/// The code under which a refusal is reported: what has been tried again in vain has its own.
pub fn code_of(error: &ProviderError) -> &'static diag::Code {
    if error.kind.is_retryable() { &codes::RETRIES_EXHAUSTED } else { &codes::PROVIDER_FAILED }
}

/// A world that is asked with patience.
pub struct Patient<'w> {
    world: &'w dyn World,
    lanes: IndexMap<Name, Arc<Lane>>,
}

/// What holds for all questions to one provider.
struct Lane {
    retries: RetryPolicy,
    room: Room,
    pace: Option<Mutex<Pace>>,
}

/// When the next question may be put.
struct Pace {
    rate: Rate,
    /// When the bucket will be full again.
    full_at: Duration,
}

impl Pace {
    /// How long to wait until a question may be put; its turn is taken.
    fn turn(&mut self, now: Duration) -> Duration {
        let full_at = self.full_at.max(now);
        // So much may be missing in the bucket at most, for a question to find a token in it.
        let most_missing = self.rate.interval * (self.rate.burst - 1);
        self.full_at = full_at + self.rate.interval;
        (full_at - now).saturating_sub(most_missing)
    }
}

/// A number of places, each taken by one at a time.
struct Room {
    free: lock::Mutex<mpsc::UnboundedReceiver<()>>,
    give: mpsc::UnboundedSender<()>,
}

/// A place that somebody has taken; free again once it is dropped.
struct Place<'r>(&'r mpsc::UnboundedSender<()>);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        // The receiver lives as long as the sender.
        let _ = self.0.unbounded_send(());
    }
}

impl Room {
    fn new(places: usize) -> Room {
        let (give, free) = mpsc::unbounded();
        (0..places).for_each(|_| drop(give.unbounded_send(())));
        Room { free: lock::Mutex::new(free), give }
    }

    /// Takes a place, first come, first served.
    async fn enter(&self) -> Place<'_> {
        self.free.lock().await.next().await;
        Place(&self.give)
    }
}

impl<'w> Patient<'w> {
    /// A world whose providers have these catalogues.
    pub fn new(world: &'w dyn World, catalogs: &Catalogs) -> Patient<'w> {
        let mut lanes: IndexMap<Name, Arc<Lane>> = IndexMap::default();
        for catalog in catalogs.iter() {
            let pace = |rate: Rate| Mutex::new(Pace { rate, full_at: Duration::ZERO });
            let lane = Arc::new(Lane {
                retries: catalog.retries,
                room: Room::new(at_once(catalog.max_parallel)),
                pace: catalog.rate.map(pace),
            });
            for namespace in &catalog.namespaces {
                lanes.entry(namespace.clone()).or_insert_with(|| lane.clone());
            }
        }
        Patient { world, lanes }
    }

    /// Puts a question until it is answered, refused for good, or refused too often. `what` tells it from others. Whoever
    /// puts many `together` sees to it that these are not too many.
    async fn put<'a, T>(
        &'a self,
        type_name: &'a str,
        together: bool,
        what: &'a (dyn fmt::Display + Sync),
        put: impl Fn() -> BoxFuture<'a, Result<T, ProviderError>>,
    ) -> Result<T, ProviderError> {
        let Some(lane) = self.lanes.get(Catalogs::namespace_of(type_name)) else { return put().await };
        let mut retries = 0;
        loop {
            let answer = {
                let _place = if together { None } else { Some(lane.room.enter().await) };
                if let Some(pace) = &lane.pace {
                    let now = self.world.elapsed();
                    let pause = pace.lock().unwrap_or_else(PoisonError::into_inner).turn(now);
                    if !pause.is_zero() {
                        self.world.pause(pause).await;
                    }
                }
                put().await
            };
            match answer {
                Err(error) => {
                    let what = what.to_string();
                    let Some(pause) = lane.retries.again(&error, retries, &what) else { return Err(error) };
                    self.world.waits(&what, pause, &error.message);
                    self.world.pause(pause).await;
                }
                answer => return answer,
            }
            retries += 1;
        }
    }
}

/// How many questions a provider is asked at once that sets this limit.
pub fn at_once(max_parallel: u32) -> usize {
    if max_parallel == 0 { AT_ONCE } else { AT_ONCE.min(max_parallel as usize) }
}

impl World for Patient<'_> {
    fn now(&self) -> i64 {
        self.world.now()
    }

    fn elapsed(&self) -> Duration {
        self.world.elapsed()
    }

    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        self.world.pause(duration)
    }

    fn waits(&self, what: &str, pause: Duration, why: &str) {
        self.world.waits(what, pause, why);
    }

    fn learn(&self, value: &Value) {
        self.world.learn(value);
    }

    fn recall(&self, snapshot: &Snapshot) {
        self.world.recall(snapshot);
    }

    fn random(&self) -> [u8; 16] {
        self.world.random()
    }

    fn working_directory(&self) -> Option<Name> {
        self.world.working_directory()
    }

    fn file<'a>(&'a self, folder: &'a str, path: &'a str) -> BoxFuture<'a, Result<Arc<[u8]>, SourceError>> {
        self.world.file(folder, path)
    }

    fn http<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Arc<[u8]>, SourceError>> {
        self.world.http(url)
    }

    fn document<'a>(
        &'a self,
        request: &'a source::Request,
    ) -> BoxFuture<'a, Result<source::Document, source::SourceError>> {
        self.world.document(request)
    }

    fn source_kinds(&self) -> Vec<&'static source::Kind> {
        self.world.source_kinds()
    }

    fn check<'a>(
        &'a self,
        address: &'a Address,
        type_name: &'a str,
        spec: &'a Value,
        folder: &'a str,
    ) -> BoxFuture<'a, Result<Checked, ProviderError>> {
        Box::pin(self.put(type_name, false, address, move || self.world.check(address, type_name, spec, folder)))
    }

    fn read<'a>(&'a self, question: ReadQuestion<'a>) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        let (type_name, address) = (question.type_name, question.address);
        Box::pin(self.put(type_name, true, address, move || self.world.read(question.clone())))
    }

    fn plan<'a>(&'a self, question: PlanQuestion<'a>) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        let (type_name, address) = (question.type_name, question.address);
        Box::pin(self.put(type_name, false, address, move || self.world.plan(question.clone())))
    }

    fn preflight<'a>(&'a self, question: PreflightQuestion<'a>) -> BoxFuture<'a, Result<Preflight, ProviderError>> {
        let (type_name, address) = (question.type_name, question.address);
        Box::pin(self.put(type_name, false, address, move || self.world.preflight(question.clone())))
    }

    fn settings(&self, namespace: &str) -> Value {
        self.world.settings(namespace)
    }

    fn fetch<'a>(
        &'a self,
        type_name: &'a str,
        filters: &'a [(Name, Name, Value)],
        annotations: &'a Value,
        folder: &'a str,
    ) -> BoxFuture<'a, Result<Fetched, ProviderError>> {
        Box::pin(async move {
            self.put(type_name, false, &type_name, || self.world.fetch(type_name, filters, annotations, folder)).await
        })
    }

    fn call<'a>(
        &'a self,
        namespace: &'a str,
        function: &'a str,
        arguments: &'a [Value],
    ) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move {
            self.put(namespace, false, &function, || self.world.call(namespace, function, arguments)).await
        })
    }

    fn manages(&self, type_name: &str) -> bool {
        self.world.manages(type_name)
    }

    fn transform<'a>(&'a self, name: &'a str, document: Document) -> BoxFuture<'a, Result<Document, TransformError>> {
        self.world.transform(name, document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When a hundred questions may be put that all come at once.
    fn turns(rate: Rate) -> Vec<u64> {
        let mut pace = Pace { rate, full_at: Duration::ZERO };
        (0..100).map(|_| pace.turn(Duration::ZERO).as_millis() as u64).collect()
    }

    #[test]
    fn a_burst_comes_at_once_and_the_rest_in_even_steps() {
        let rate = Rate { interval: Duration::from_millis(200), burst: 5 };
        let turns = turns(rate);
        assert_eq!(turns[..7], [0, 0, 0, 0, 0, 200, 400]);
        assert_eq!(turns[99], 95 * 200);
        // After a rest of one interval, one more may come at once; after a long one, a burst and no more.
        let mut pace = Pace { rate, full_at: Duration::from_secs(1) };
        assert_eq!(pace.turn(Duration::from_millis(200)), Duration::ZERO);
        assert_eq!(pace.turn(Duration::from_millis(200)), Duration::from_millis(200));
        let mut pace = Pace { rate, full_at: Duration::from_secs(1) };
        let after: Vec<_> = (0..6).map(|_| pace.turn(Duration::from_secs(60)).as_millis()).collect();
        assert_eq!(after, [0, 0, 0, 0, 0, 200]);
    }
}
