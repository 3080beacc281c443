//! What a process meets while it runs: calls and commits that take their time, a store that fails, an end at any moment.
//!
//! A [`Process`] stands between the engine and both the provider and the store. It only does what real ones do; what a
//! faulty engine would do is in `sabotage.rs`.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use blueprint::{Address, Name, Value};
use futures::FutureExt as _;
use provider::{
    Applied, ApplyRequest, Call, Catalog, CheckRequest, Checked, FetchRequest, Fetched, Operation, PlanRequest,
    Planned, Provider, ProviderError, ReadOutcome, ReadRequest, Readiness, Transform,
};
use providers::fake::{Fault, SharedWorld};
use state::seal::Sealer;
use state::{
    BoxFuture, Entry, InstanceInfo, InstanceName, Lease, LeaseHolder, Revision, Since, Store, StoreError, Tail,
};
use stores::memory::{MemoryState, MemoryStore};
use tokio::sync::Notify;

use super::sabotage::Sabotage;

/// What one process meets.
#[derive(Clone, Debug, Default)]
pub struct Weather {
    /// What single calls meet.
    pub faults: Vec<Fault>,
    /// Calls, reads and commits take times drawn from this; none take any without. Where it is divided by three, commits take longer
    /// than calls.
    pub latency: Option<u64>,
    /// The process ends at this moment, from 1. Each commit and each call has two: before and after it does its work.
    pub ends_at: Option<u32>,
    /// The commit of this number, from 1, fails.
    pub commit_fails: Option<CommitFault>,
    /// Commits from this number on seem durable and are lost: the process ends when it is done, as when power fails
    /// under a disk that lies, or when a log is cut short.
    pub loses_from: Option<u32>,
    /// Reads see what was written only after so many seconds, and things are not stable before.
    pub sees_late: Option<u32>,
}

/// How a commit fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitFault {
    /// The number of the commit, from 1.
    pub number: u32,
    /// It took effect all the same, and nobody was told.
    pub written: bool,
}

impl Weather {
    /// Nothing but these faults.
    pub fn of(faults: Vec<Fault>) -> Weather {
        Weather { faults, ..Weather::default() }
    }
}

/// One process on the simulated cloud.
pub(crate) struct Process {
    weather: Weather,
    /// An engine with this fault.
    sabotage: Option<Sabotage>,
    moments: AtomicU32,
    commits: AtomicU32,
    draws: AtomicU32,
    /// Tokens of the calls so far.
    said: Mutex<HashSet<Name>>,
    ended: AtomicBool,
    crashed: Notify,
    /// What should never have happened.
    broken: Mutex<Vec<String>>,
    /// What must not have happened unless things are made anew after they were deleted: who uses these has to bear that,
    /// and so has what it uses otherwise.
    unless_remade: Mutex<Vec<String>>,
    deleted: Mutex<HashSet<Address>>,
    remakes: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Process {
    pub(crate) fn new(weather: Weather, sabotage: Option<Sabotage>) -> Arc<Process> {
        Arc::new(Process {
            weather,
            sabotage,
            moments: AtomicU32::new(0),
            commits: AtomicU32::new(0),
            draws: AtomicU32::new(0),
            said: Mutex::default(),
            ended: AtomicBool::new(false),
            crashed: Notify::new(),
            broken: Mutex::default(),
            unless_remade: Mutex::default(),
            deleted: Mutex::default(),
            remakes: AtomicBool::new(false),
        })
    }

    pub(crate) fn faults(&self) -> Vec<Fault> {
        self.weather.faults.clone()
    }

    /// Ends: nothing answers any more.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        self.crashed.notify_one();
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Whether what it said was durable was not.
    pub(crate) fn loses(&self) -> bool {
        self.weather.loses_from.is_some_and(|from| self.commits.load(Ordering::SeqCst) >= from)
    }

    pub(crate) async fn ended(&self) {
        self.crashed.notified().await;
    }

    /// What should never have happened. `done`: the process did all that it had planned.
    pub(crate) fn broken(&self, done: bool) -> Vec<String> {
        let mut broken = lock(&self.broken).clone();
        if done && !self.remakes.load(Ordering::SeqCst) {
            broken.extend(lock(&self.unless_remade).iter().cloned());
        }
        broken.sort_unstable();
        broken
    }

    fn says(&self, what: String) {
        lock(&self.broken).push(what);
    }

    /// A moment passes: the process may end at it.
    async fn moment(&self) {
        let now = self.moments.fetch_add(1, Ordering::SeqCst) + 1;
        if self.weather.ends_at == Some(now) {
            self.end();
        }
        if self.has_ended() {
            std::future::pending::<()>().await;
        }
    }

    /// Time passes, up to `most` milliseconds.
    async fn time(&self, most: u64) {
        let Some(seed) = self.weather.latency else { return };
        let draw = u64::from(self.draws.fetch_add(1, Ordering::SeqCst));
        let mixed = mix(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(draw));
        // Most are quick, some are not.
        let most = if mixed & 7 == 0 { most } else { most / 16 };
        let wait = (mixed >> 8) % (most + 1);
        if wait > 0 {
            tokio::time::sleep(Duration::from_millis(wait)).await;
        }
    }
}

/// A number with every bit of another one in each of its bits (the finalizer of splitmix64).
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Things that reads do not see yet as they are: by id, until when, and what they see meanwhile (nothing of a new one).
pub(crate) type Late = Arc<Mutex<HashMap<Name, (tokio::time::Instant, Option<Value>)>>>;

/// A provider as a process reaches it.
pub(crate) struct Reached {
    pub(crate) behind: Arc<dyn Provider>,
    pub(crate) process: Arc<Process>,
    pub(crate) world: SharedWorld,
    pub(crate) late: Late,
    /// Where to see whether what must be durable is; none if nobody looks.
    pub(crate) judged: Option<MemoryState>,
}

impl Reached {
    /// What must hold when a call begins: its intent is durable, what it uses is there and known, or durably about to be made, and
    /// nothing that is there uses what it deletes.
    fn judge(&self, call: &Call, request: &ApplyRequest<'_>) {
        let Some(memory) = &self.judged else { return };
        let name = InstanceName::from_free_text(&call.instance);
        let store = MemoryStore::open(memory, Sealer::with_key(super::KEY));
        let Some(Ok(snapshot)) = store.load(&name).now_or_never() else { return };
        let stated = snapshot.open.get(&call.address).is_some_and(|open| open.intent.token == call.token);
        if !stated && !self.process.loses() {
            self.process.says(format!(
                "{} of {} was called before its intent was durable",
                request.operation.word(),
                call.address
            ));
        }
        let world = lock(&self.world);
        if request.operation == Operation::Delete {
            lock(&self.process.deleted).insert(call.address.clone());
            let Some(id) = request.id.filter(|id| world.thing(id).is_some()) else { return };
            // What links write, into their ends and into what these have in common, is no use of what it names.
            let linked = |type_name: &Name| {
                self.catalog().link_kinds.iter().any(|kind| kind.a == *type_name || kind.b == *type_name)
                    || type_name.as_ref() == "test/role"
            };
            let user = world
                .things()
                .find(|thing| thing.id.as_ref() != id && mentions(&thing.fields, id) && !linked(&thing.type_name));
            if let Some(user) = user {
                let what = format!("{} was deleted while {} still uses it", call.address, user.place);
                lock(&self.process.unless_remade).push(what);
            }
            return;
        }
        if request.operation == Operation::Create && lock(&self.process.deleted).contains(&call.address) {
            self.process.remakes.store(true, Ordering::SeqCst);
        }
        let prefix = format!("{}/", call.instance);
        for thing in world.things().filter(|thing| thing.place.starts_with(&prefix)) {
            if !mentions(request.desired, &thing.id) {
                continue;
            }
            let address = &thing.place[prefix.len()..];
            let known = address.parse::<Address>().ok().and_then(|address| snapshot.records.get(&address).cloned());
            let known =
                known.is_some_and(|record| record.id == thing.id || record.old_halves().any(|old| old.id == thing.id));
            // What has not been recorded yet must be found by whoever goes on in its place.
            let is_found = |address: &Address| {
                snapshot.open.get(address).is_some_and(|open| open.intent.token.as_ref() == thing.token())
            };
            let known = known || address.parse::<Address>().ok().as_ref().is_some_and(is_found);
            if !known && !self.process.loses() {
                self.process.says(format!("{} reads {address} before that is in the state", call.address));
            }
        }
    }

    /// What reads see of a thing that was written a moment ago, while they do not see it as it is.
    fn late(&self, id: &str) -> Option<Option<Value>> {
        let late = lock(&self.late);
        let (until, seen) = late.get(id)?;
        (tokio::time::Instant::now() < *until).then(|| seen.clone())
    }

    fn fields(&self, id: Option<&str>) -> Option<Value> {
        Some(lock(&self.world).thing(id?)?.fields.clone())
    }
}

/// Whether an id stands somewhere in a value, by itself or within a text.
fn mentions(value: &Value, id: &str) -> bool {
    match value.bare() {
        Value::Text(text) => text.contains(id),
        Value::List(items) | Value::Set(items) => items.iter().any(|item| mentions(item, id)),
        Value::Map(entries) => entries.iter().any(|(_, entry)| mentions(entry, id)),
        _ => false,
    }
}

impl Provider for Reached {
    fn catalog(&self) -> &Arc<Catalog> {
        self.behind.catalog()
    }

    fn check<'a>(
        &'a self,
        call: &'a Call,
        request: CheckRequest<'a>,
    ) -> provider::BoxFuture<'a, Result<Checked, ProviderError>> {
        self.behind.check(call, request)
    }

    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> provider::BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(async move {
            self.process.time(300).await;
            match self.behind.read(call, request).await? {
                ReadOutcome::Present { id, fields, private, expired } => Ok(match self.late(&id) {
                    None => ReadOutcome::Present { id, fields, private, expired },
                    Some(Some(fields)) => ReadOutcome::Present { id, fields, private, expired },
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
    ) -> provider::BoxFuture<'a, Result<Planned, ProviderError>> {
        self.behind.plan(call, request)
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> provider::BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            let mut call = call.clone();
            self.judge(&call, &request);
            if let Some(sabotage) = self.process.sabotage {
                sabotage.call(&mut call, &mut lock(&self.process.said));
            }
            self.process.moment().await;
            self.process.time(4_000).await;
            let before = self.fields(request.id);
            let answer = self.behind.apply(&call, request).await;
            if let (Ok(applied), Some(seconds)) = (&answer, self.process.weather.sees_late)
                && !applied.id.is_empty()
            {
                let until = tokio::time::Instant::now() + Duration::from_secs(u64::from(seconds));
                lock(&self.late).insert(applied.id.clone(), (until, before));
            }
            self.process.moment().await;
            self.process.time(1_000).await;
            answer.map(|applied| {
                let stable = applied.stable && self.late(&applied.id).is_none();
                Applied { stable, ..applied }
            })
        })
    }

    fn poll_ready<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> provider::BoxFuture<'a, Result<Readiness, ProviderError>> {
        Box::pin(async move {
            self.process.time(500).await;
            if request.id.is_some_and(|id| self.late(id).is_some()) {
                return Ok(Readiness::NotYet);
            }
            self.behind.poll_ready(call, request).await
        })
    }

    fn fetch<'a>(
        &'a self,
        call: &'a Call,
        request: FetchRequest<'a>,
    ) -> provider::BoxFuture<'a, Result<Fetched, ProviderError>> {
        self.behind.fetch(call, request)
    }

    fn transform(&self, name: &str) -> Option<&dyn Transform> {
        self.behind.transform(name)
    }

    fn call<'a>(
        &'a self,
        call: &'a Call,
        function: &'a str,
        arguments: &'a [Value],
    ) -> provider::BoxFuture<'a, Result<Value, ProviderError>> {
        self.behind.call(call, function, arguments)
    }
}

/// The store as a process reaches it.
pub(crate) struct Kept {
    behind: MemoryStore,
    process: Arc<Process>,
    /// Commits that seem to be there and are not: the writer counts them.
    missing: AtomicU64,
    /// What a faulty engine holds back.
    held: Mutex<Vec<Entry>>,
}

impl Kept {
    pub(crate) fn new(behind: MemoryStore, process: Arc<Process>) -> Kept {
        Kept { behind, process, missing: AtomicU64::new(0), held: Mutex::default() }
    }

    async fn commit_in_weather(
        &self,
        lease: &Lease,
        expected: Revision,
        entries: Vec<Entry>,
    ) -> Result<Revision, StoreError> {
        let number = self.process.commits.fetch_add(1, Ordering::SeqCst) + 1;
        self.process.moment().await;
        let is_slow = self.process.weather.latency.is_some_and(|seed| seed % 3 == 0);
        self.process.time(if is_slow { 8_000 } else { 40 }).await;
        let entries = match self.process.sabotage {
            Some(sabotage) => sabotage.commit(entries, &mut lock(&self.held), number),
            None => entries,
        };
        let weather = &self.process.weather;
        let fault = weather.commit_fails.filter(|fault| fault.number == number);
        if fault.is_some_and(|fault| !fault.written) {
            return Err(failed());
        }
        // The first commit of an instance is never lost: the tokens of all its calls are made from it.
        let lost = expected > Revision(0) && weather.loses_from.is_some_and(|from| number >= from);
        let answer = if entries.is_empty() || lost {
            self.missing.fetch_add(1, Ordering::SeqCst);
            Ok(Revision(expected.0 + 1))
        } else {
            let missing = self.missing.load(Ordering::SeqCst);
            let answer = self.behind.commit(lease, Revision(expected.0.saturating_sub(missing)), entries).await;
            answer.map(|revision| Revision(revision.0 + missing))
        };
        self.process.moment().await;
        match fault {
            Some(_) => Err(failed()),
            None => answer,
        }
    }
}

fn failed() -> StoreError {
    StoreError::Unreachable { source: "the simulated disk failed".into() }
}

impl Store for Kept {
    fn instances<'a>(&'a self) -> BoxFuture<'a, Result<Vec<InstanceInfo>, StoreError>> {
        self.behind.instances()
    }

    fn read<'a>(&'a self, instance: &'a InstanceName, since: Since) -> BoxFuture<'a, Result<Option<Tail>, StoreError>> {
        self.behind.read(instance, since)
    }

    fn commit<'a>(
        &'a self,
        lease: &'a Lease,
        expected: Revision,
        entries: Vec<Entry>,
    ) -> BoxFuture<'a, Result<Revision, StoreError>> {
        Box::pin(self.commit_in_weather(lease, expected, entries))
    }

    fn lease<'a>(
        &'a self,
        instance: &'a InstanceName,
        who: &'a str,
        lasts: Duration,
    ) -> BoxFuture<'a, Result<Lease, StoreError>> {
        self.behind.lease(instance, who, lasts)
    }

    fn renew<'a>(&'a self, lease: &'a Lease, lasts: Duration) -> BoxFuture<'a, Result<(), StoreError>> {
        self.behind.renew(lease, lasts)
    }

    fn check_lease<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        self.behind.check_lease(lease)
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        self.behind.release(lease)
    }

    fn holder<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Option<LeaseHolder>, StoreError>> {
        self.behind.holder(instance)
    }

    fn unlock<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Option<LeaseHolder>, StoreError>> {
        self.behind.unlock(instance)
    }

    fn rekey<'a>(&'a self, to: &'a Sealer) -> BoxFuture<'a, Result<u64, StoreError>> {
        self.behind.rekey(to)
    }

    fn restore<'a>(
        &'a self,
        instance: &'a InstanceName,
        revision: Revision,
        operations: Vec<Vec<Entry>>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.behind.restore(instance, revision, operations)
    }

    fn can_seal(&self) -> bool {
        self.behind.can_seal()
    }
}
