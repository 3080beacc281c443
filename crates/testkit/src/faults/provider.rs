//! A provider for a process with faults: durations, delayed reads and checks of each call.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use blueprint::{Address, Name, TypeId, Value};
use futures::FutureExt as _;
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, CheckFindings, CheckRequest, Configuration,
    Configured, FetchRequest, Fetched, InvokeRequest, Observed, Operation, PlanMode, PlanPhase,
    PlanRequest, Planned, Preflight, PreflightRequest, Provider, ProviderError, ReadOutcome,
    ReadRequest, Readiness, Ready, Session, Transform, UpgradeRequest, Upgraded,
};
use providers::fake::SharedCloud;
use state::{InstanceName, Store};

use super::planted_bug::PlantedBug;
use super::process::{SimulatedProcess, lock};

/// The resources with delayed reads, by id: the end of the delay, and the fields that reads show
/// until then (`None` for a new resource).
pub(crate) type DelayedReads = Arc<Mutex<HashMap<Name, (tokio::time::Instant, Option<Value>)>>>;

/// The planning questions of all processes.
#[derive(Clone, Default)]
pub(crate) struct PlanMemory(Arc<Mutex<PlanningState>>);

#[derive(Default)]
struct PlanningState {
    /// The seeds of previews, by place and whether a replacement was planned.
    seeds: HashSet<(String, bool, String)>,
    /// The private data of the last planned update, by place.
    updates: HashMap<String, Value>,
}

/// A provider with the faults and checks of a process.
pub(crate) struct FaultyProvider {
    pub(crate) inner: Arc<dyn Provider>,
    pub(crate) process: Arc<SimulatedProcess>,
    pub(crate) world: SharedCloud,
    pub(crate) delayed_reads: DelayedReads,
    pub(crate) plan_memory: PlanMemory,
    /// The store, opened with its key, against which calls are checked; `None`: calls are not
    /// checked.
    pub(crate) checked_against: Option<Box<dyn Store>>,
}

impl FaultyProvider {
    /// Checks the invariants of a call before it is made: its intent is durable, each resource that
    /// it reads is in the state or has a durable intent, and no existing resource uses one that it
    /// deletes.
    fn check_invariants(&self, call: &Call, request: &ApplyRequest<'_>) {
        let Some(store) = &self.checked_against else {
            return;
        };
        let name = InstanceName::from_free_text(&call.instance);
        let Some(Ok(snapshot)) = store.load(&name).now_or_never() else {
            return;
        };
        let stated = snapshot
            .open
            .get(&call.address)
            .is_some_and(|open| open.intent.token == call.token);
        if !stated && !self.process.loses_commits() {
            self.process.violated(format!(
                "{} of {} was called before its intent was durable",
                request.operation.word(),
                call.address
            ));
        }
        let world = lock(&self.world);
        if request.operation == Operation::Delete {
            self.process.record_delete(&call.address);
            let Some(id) = request.id.filter(|id| world.object(id).is_some()) else {
                return;
            };
            // Fields that links write into their ends, or into a role that the ends share, do not
            // count as uses.
            let linked = |type_name: &TypeId| {
                self.catalog()
                    .link_kinds
                    .iter()
                    .any(|kind| *type_name == kind.a || *type_name == kind.b)
                    || type_name.as_ref() == "test/role"
            };
            let user = world.objects().find(|object| {
                object.id.as_ref() != id
                    && mentions(&object.fields, id)
                    && !linked(&object.type_name)
            });
            if let Some(user) = user {
                let what = format!(
                    "{} was deleted while {} still uses it",
                    call.address, user.place
                );
                self.process.violated_unless_recreated(what);
            }
            return;
        }
        if request.operation == Operation::Create {
            self.process.record_create(&call.address);
        }
        let prefix = format!("{}/", call.instance);
        for object in world
            .objects()
            .filter(|object| object.place.starts_with(&prefix))
        {
            if !mentions(request.desired, &object.id) {
                continue;
            }
            let address = &object.place[prefix.len()..];
            let known = address
                .parse::<Address>()
                .ok()
                .and_then(|address| snapshot.records.get(&address).cloned());
            let known = known.is_some_and(|record| {
                record.id == object.id || record.deposed_objects().any(|old| old.id == object.id)
            });
            // The next process finds a resource that is not recorded yet by the token of its open
            // intent.
            let is_found = |address: &Address| {
                snapshot
                    .open
                    .get(address)
                    .is_some_and(|open| open.intent.token.as_ref() == object.token())
            };
            let known = known
                || address
                    .parse::<Address>()
                    .ok()
                    .as_ref()
                    .is_some_and(is_found);
            if !known && !self.process.loses_commits() {
                self.process.violated(format!(
                    "{} reads {address} before that is in the state",
                    call.address
                ));
            }
        }
    }

    /// Checks that a plan question in the run has the same seed as in the preview.
    fn check_seed(&self, call: &Call, request: &PlanRequest<'_>) {
        let place = format!("{}/{}", call.instance, call.address);
        let seed = (
            place,
            request.mode == PlanMode::Replace,
            request.seed.to_owned(),
        );
        let mut planning = lock(&self.plan_memory.0);
        match request.phase {
            PlanPhase::Preview => drop(planning.seeds.insert(seed)),
            PlanPhase::Apply if planning.seeds.contains(&seed) => {}
            PlanPhase::Apply => self
                .process
                .violated(format!("{} is planned with another seed", call.address)),
        }
    }

    /// Passes a call to the inner provider, with the effects of the planted bug.
    async fn call(
        &self,
        inner: &dyn Session,
        call: &Call,
        request: ApplyRequest<'_>,
    ) -> Result<Applied, ProviderError> {
        let bug = self.process.bug;
        let (mut private, mut planned) = (request.private.clone(), request.planned.clone());
        if let Some(bug) = bug {
            let place = format!("{}/{}", call.instance, call.address);
            let of_update = lock(&self.plan_memory.0).updates.get(&place).cloned();
            bug.change_request(request.operation, of_update, &mut private, &mut planned);
        }
        let request = || ApplyRequest {
            private: &private,
            planned: &planned,
            ..request
        };
        let deletes = request()
            .id
            .filter(|_| request().operation == Operation::Delete);
        if deletes.is_some() && bug == Some(PlantedBug::RepeatDelete) {
            self.call_once(inner, call, request()).await?;
        }
        self.call_once(inner, call, request()).await
    }

    async fn call_once(
        &self,
        inner: &dyn Session,
        call: &Call,
        request: ApplyRequest<'_>,
    ) -> Result<Applied, ProviderError> {
        let (operation, id) = (request.operation, request.id.map(Name::from));
        if let Some(id) = id
            .as_deref()
            .filter(|_| operation == Operation::Delete && self.checked_against.is_some())
        {
            self.process.check_deletes_once(&call.address, id);
        }
        let answer = inner.apply(call, request).await;
        if let Ok(applied) = &answer {
            self.process
                .record_success(operation, id.as_deref().unwrap_or(&applied.id));
        }
        answer
    }

    /// The fields that reads show of a resource while its reads are delayed.
    fn delayed(&self, id: &str) -> Option<Option<Value>> {
        let delayed = lock(&self.delayed_reads);
        let (until, seen) = delayed.get(id)?;
        (tokio::time::Instant::now() < *until).then(|| seen.clone())
    }

    fn fields(&self, id: Option<&str>) -> Option<Value> {
        Some(lock(&self.world).object(id?)?.fields.clone())
    }
}

/// Whether a text anywhere in a value contains an id.
fn mentions(value: &Value, id: &str) -> bool {
    match value.unmarked() {
        Value::Text(text) => text.contains(id),
        Value::List(items) | Value::Set(items) => items.iter().any(|item| mentions(item, id)),
        Value::Map(entries) => entries.iter().any(|(_, entry)| mentions(entry, id)),
        _ => false,
    }
}

impl Provider for FaultyProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        self.inner.catalog()
    }

    fn transform(&self, name: &str) -> Option<&dyn Transform> {
        self.inner.transform(name)
    }

    fn configure(
        self: Arc<Self>,
        with: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        Box::pin(async move {
            let configured = self.inner.clone().configure(with).await?;
            let session = Arc::new(FaultySession {
                inner: configured.session.clone(),
                provider: self,
            });
            Ok(Configured {
                session,
                ..configured
            })
        })
    }
}

/// A session of a [`FaultyProvider`].
struct FaultySession {
    inner: Arc<dyn Session>,
    provider: Arc<FaultyProvider>,
}

impl Session for FaultySession {
    fn check<'a>(
        &'a self,
        call: &'a Call,
        request: CheckRequest<'a>,
    ) -> BoxFuture<'a, Result<CheckFindings, ProviderError>> {
        self.inner.check(call, request)
    }

    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(async move {
            self.provider.process.sleep(300).await;
            match self.inner.read(call, request).await? {
                ReadOutcome::Present(observed) => Ok(match self.provider.delayed(&observed.id) {
                    None => ReadOutcome::Present(observed),
                    Some(Some(fields)) => ReadOutcome::Present(Observed { fields, ..observed }),
                    Some(None) => ReadOutcome::Absent,
                }),
                seen => Ok(seen),
            }
        })
    }

    fn plan<'a>(
        &'a self,
        call: &'a Call,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        Box::pin(async move {
            let mut seed = request.seed.to_owned();
            if let Some(bug) = self.provider.process.bug {
                bug.change_seed(request.phase, &mut seed);
            }
            let (mode, request) = (
                request.mode,
                PlanRequest {
                    seed: &seed,
                    ..request
                },
            );
            self.provider.check_seed(call, &request);
            let planned = self.inner.plan(call, request).await?;
            if mode == PlanMode::Update {
                let place = format!("{}/{}", call.instance, call.address);
                lock(&self.provider.plan_memory.0)
                    .updates
                    .insert(place, planned.private.clone());
            }
            Ok(planned)
        })
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            let mut call = call.clone();
            self.provider.check_invariants(&call, &request);
            if let Some(bug) = self.provider.process.bug {
                bug.change_call(&mut call, &mut lock(&self.provider.process.tokens));
            }
            self.provider.process.moment().await;
            self.provider.process.sleep(4_000).await;
            let before = self.provider.fields(request.id);
            let answer = self.provider.call(&*self.inner, &call, request).await;
            if let (Ok(applied), Some(seconds)) = (&answer, self.provider.process.plan.read_delay)
                && !applied.id.is_empty()
                && !matches!(applied.ready, Ready::Broken(_))
            {
                let until = tokio::time::Instant::now() + Duration::from_secs(u64::from(seconds));
                lock(&self.provider.delayed_reads).insert(applied.id.clone(), (until, before));
            }
            self.provider.process.moment().await;
            self.provider.process.sleep(1_000).await;
            answer.map(|applied| {
                let is_delayed = self.provider.delayed(&applied.id).is_some();
                let ready = if is_delayed && applied.ready == Ready::Yes {
                    Ready::Pending
                } else {
                    applied.ready
                };
                let drops_marks = self.provider.process.bug == Some(PlantedBug::DropSecretMarks);
                let fields = if drops_marks {
                    applied.fields.revealed()
                } else {
                    applied.fields
                };
                Applied {
                    ready,
                    fields,
                    ..applied
                }
            })
        })
    }

    fn poll_ready<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<Readiness, ProviderError>> {
        Box::pin(async move {
            self.provider.process.sleep(500).await;
            if request
                .id
                .is_some_and(|id| self.provider.delayed(id).is_some())
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
        self.inner.fetch(call, request)
    }

    fn invoke<'a>(
        &'a self,
        call: &'a Call,
        request: InvokeRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, ProviderError>> {
        self.inner.invoke(call, request)
    }

    fn preflight<'a>(
        &'a self,
        call: &'a Call,
        request: PreflightRequest<'a>,
    ) -> BoxFuture<'a, Result<Preflight, ProviderError>> {
        self.inner.preflight(call, request)
    }

    fn upgrade<'a>(
        &'a self,
        call: &'a Call,
        request: UpgradeRequest<'a>,
    ) -> BoxFuture<'a, Result<Upgraded, ProviderError>> {
        self.inner.upgrade(call, request)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.inner.close()
    }
}
