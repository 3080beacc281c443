//! State in the process alone: for tests, simulations and `memory:`.
//!
//! The strictest of the stores: what it takes, the others take. A lease is judged by the clock of its
//! [`Host`]; processes are not told apart. Secrets never leave the process, so they stay as they are, but storing one needs a key all the same and
//! reading it back the same key.
//!
//! Not here: the rules of a journal (`state::Journal`).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use blueprint::{Address, IndexMap, Name, Value};
use state::seal::{KeyId, Sealer};
use state::{
    BoxFuture, Declared, Entry, EntryKind, Finished, Generation, GenerationInfo, Host, InstanceInfo, InstanceName,
    Journal, Lease, LeaseHolder, Liveness, LogEntry, Managed, Operation, OperationOutcome, Record, Remembered,
    Revision, Snapshot, Stop, Stops, Store, StoreError,
};

/// What a memory store holds. Stores opened on clones of it share it, as processes share a file.
#[derive(Clone, Default)]
pub struct MemoryState(Arc<Mutex<World>>);

/// A store on a [`MemoryState`].
#[derive(Clone)]
pub struct MemoryStore {
    state: MemoryState,
    sealer: Sealer,
    host: Arc<dyn Host>,
}

impl Default for MemoryStore {
    fn default() -> MemoryStore {
        MemoryStore::new(Sealer::default())
    }
}

#[derive(Default)]
struct World {
    instances: BTreeMap<InstanceName, Instance>,
    leases: HashMap<InstanceName, Held>,
    /// Ids of all operations of all instances.
    operations: HashSet<Name>,
}

#[derive(Default)]
struct Held {
    epoch: u64,
    /// Who holds it, and when that runs out on the host's clock.
    holder: Option<(LeaseHolder, Duration)>,
}

impl Held {
    fn holder(&self, host: &dyn Host) -> Option<LeaseHolder> {
        let (holder, expires) = self.holder.as_ref()?;
        Some(LeaseHolder { expired: host.elapsed() >= *expires, ..holder.clone() })
    }
}

#[derive(Default)]
struct Instance {
    revision: Revision,
    generation: Generation,
    uid: Name,
    document: Name,
    created: i64,
    journal: Journal,
    /// Records by the order in which they were first made, and where each address is among them.
    records: BTreeMap<u64, (Address, Arc<Record>)>,
    positions: HashMap<Address, u64>,
    next_position: u64,
    groups: IndexMap<Name, Vec<Address>>,
    exports: IndexMap<Name, Value>,
    exports_old: bool,
    remembered: IndexMap<Name, Remembered>,
    metadata: Value,
    declared: Declared,
    stops: Stops,
    operations: Vec<Past>,
    /// What is secret in here was stored under this key.
    sealed_with: Option<KeyId>,
}

struct Past {
    operation: Arc<Operation>,
    finished: Option<Arc<Finished>>,
    /// With the sequence number of the first.
    entries: Vec<Entry>,
    first: u64,
}

impl MemoryState {
    fn lock(&self) -> MutexGuard<'_, World> {
        // Nothing panics half-way through a change, so what a poisoned lock guards is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryStore {
    /// A store of its own, empty.
    pub fn new(sealer: Sealer) -> MemoryStore {
        MemoryStore::open(&MemoryState::default(), sealer)
    }

    /// A store on what another store has, or had, in its memory.
    pub fn open(state: &MemoryState, sealer: Sealer) -> MemoryStore {
        MemoryStore { state: state.clone(), sealer, host: Arc::new(crate::machine::Machine::clock()) }
    }

    /// The same store with the clock of another machine, for tests.
    #[must_use]
    pub fn on(self, host: Arc<dyn Host>) -> MemoryStore {
        MemoryStore { host, ..self }
    }

    /// What it holds, for another store to be opened on.
    pub fn state(&self) -> &MemoryState {
        &self.state
    }

    fn commit_now(&self, lease: &Lease, expected: Revision, entries: Vec<Entry>) -> Result<Revision, StoreError> {
        let world = &mut *self.state.lock();
        let name = &lease.instance;
        world.check_held(lease, &*self.host)?;
        let found = world.instances.get(name).map_or(Revision(0), |instance| instance.revision);
        if found != expected {
            return Err(StoreError::Moved { instance: name.clone(), expected, found });
        }
        let refused = |what: String| StoreError::Refused { instance: name.clone(), what };
        let fresh = Instance::default();
        let instance = world.instances.get(name).unwrap_or(&fresh);
        instance.journal.check(lease.epoch, &entries).map_err(refused)?;
        instance.check_end(&entries).map_err(refused)?;
        if let Some(EntryKind::Began(operation)) = entries.first().map(|entry| &entry.kind)
            && !world.operations.insert(operation.id.clone())
        {
            return Err(refused(format!("there was an operation `{}` before", operation.id)));
        }
        let secret = entries.iter().any(|entry| entry.kind.has_secret());
        let key = self.sealer.key_id();
        if secret && key.is_none() {
            if let Some(EntryKind::Began(operation)) = entries.first().map(|entry| &entry.kind) {
                world.operations.remove(&operation.id);
            }
            return Err(StoreError::NoKey);
        }
        let instance = world.instances.entry(name.clone()).or_default();
        if secret {
            instance.sealed_with = key;
        }
        instance.journal.follow(lease.epoch, &entries);
        entries.into_iter().for_each(|entry| instance.follow(entry));
        instance.revision.0 += 1;
        Ok(instance.revision)
    }

    fn restore_now(
        &self,
        name: &InstanceName,
        revision: Revision,
        operations: Vec<Vec<Entry>>,
    ) -> Result<(), StoreError> {
        let mut begun: Vec<Name> = Vec::new();
        for (done, entries) in (0..).zip(operations) {
            let id = entries.first().and_then(|entry| match &entry.kind {
                EntryKind::Began(operation) => Some(operation.id.clone()),
                _ => None,
            });
            let lease = self.lease_now(name, "import", Duration::from_secs(1))?;
            let committed = self.commit_now(&lease, Revision(done), entries);
            let world = &mut *self.state.lock();
            world.leases.get_mut(name).into_iter().for_each(|held| held.holder = None);
            if let Err(error) = committed {
                if !begun.is_empty() {
                    world.instances.remove(name);
                    world.operations.retain(|id| !begun.contains(id));
                }
                return Err(error);
            }
            begun.extend(id);
        }
        if let Some(instance) = self.state.lock().instances.get_mut(name).filter(|_| !begun.is_empty()) {
            instance.revision = revision;
        }
        Ok(())
    }

    fn load_now(&self, name: &InstanceName) -> Result<Snapshot, StoreError> {
        let world = self.state.lock();
        let Some(instance) = world.instances.get(name) else { return Ok(Snapshot::default()) };
        self.check_key(instance)?;
        Ok(Snapshot {
            revision: instance.revision,
            generation: instance.generation,
            uid: instance.uid.clone(),
            document: instance.document.clone(),
            records: instance.records.values().cloned().collect(),
            groups: instance.groups.clone(),
            exports: instance.exports.clone(),
            exports_old: instance.exports_old,
            remembered: instance.remembered.clone(),
            metadata: instance.metadata.clone(),
            declared: instance.declared.clone(),
            stops: instance.stops.clone(),
            open: instance.journal.open(),
            deleted: instance.deleted(),
        })
    }

    fn rekey_now(&self, to: &Sealer) -> Result<u64, StoreError> {
        let Some(key) = to.key_id() else { return Err(StoreError::NoKey) };
        let mut world = self.state.lock();
        let mut held = world.leases.iter().filter_map(|(name, held)| Some((name, held.holder(&*self.host)?)));
        if let Some((instance, holder)) = held.find(|(_, holder)| holder.holds()) {
            return Err(StoreError::Busy { instance: instance.clone(), holder: Some(holder) });
        }
        world.instances.values().try_for_each(|instance| self.check_key(instance))?;
        // Who let its lease run out may still be there, with the former key.
        world.leases.values_mut().for_each(|held| held.holder = None);
        let sealed = world.instances.values_mut().filter_map(|instance| instance.sealed_with.as_mut());
        Ok(sealed.map(|with| *with = key.clone()).count() as u64)
    }

    fn check_key(&self, instance: &Instance) -> Result<(), StoreError> {
        match &instance.sealed_with {
            Some(key) if self.sealer.key_id().as_ref() != Some(key) => Err(StoreError::WrongKey),
            _ => Ok(()),
        }
    }

    fn managed_by_others_now(&self, own: &str) -> Result<Vec<Managed>, StoreError> {
        let world = self.state.lock();
        let mut found = Vec::new();
        for (name, instance) in
            world.instances.iter().filter(|(name, instance)| name.as_str() != own && !instance.records.is_empty())
        {
            self.check_key(instance)?;
            let made = instance.records.values().filter(|(_, record)| !record.id.is_empty());
            found.extend(made.map(|(address, record)| Managed {
                instance: name.clone(),
                address: address.clone(),
                type_name: record.type_name.clone(),
                id: record.id.clone(),
            }));
        }
        Ok(found)
    }

    fn lease_now(&self, name: &InstanceName, who: &str, lasts: Duration) -> Result<Lease, StoreError> {
        let world = &mut *self.state.lock();
        let revision = world.instances.get(name).map_or(Revision(0), |instance| instance.revision);
        let held = world.leases.entry(name.clone()).or_default();
        if let Some(holder) = held.holder(&*self.host).filter(LeaseHolder::holds) {
            return Err(StoreError::Busy { instance: name.clone(), holder: Some(holder) });
        }
        held.epoch += 1;
        let (since, liveness) = (self.host.wall(), Liveness::Unknown);
        let holder = LeaseHolder { who: who.into(), since, until: until(since, lasts), liveness, expired: false };
        held.holder = Some((holder, self.host.elapsed().saturating_add(lasts)));
        Ok(Lease { instance: name.clone(), epoch: held.epoch, revision })
    }

    fn renew_now(&self, lease: &Lease, lasts: Duration) -> Result<(), StoreError> {
        let world = &mut *self.state.lock();
        world.check_held(lease, &*self.host)?;
        if let Some((holder, expires)) = world.leases.get_mut(&lease.instance).and_then(|held| held.holder.as_mut()) {
            holder.until = until(self.host.wall(), lasts);
            *expires = self.host.elapsed().saturating_add(lasts);
        }
        Ok(())
    }

    fn release_now(&self, lease: &Lease) {
        let world = &mut *self.state.lock();
        if world.check_held(lease, &*self.host).is_ok()
            && let Some(held) = world.leases.get_mut(&lease.instance)
        {
            held.holder = None;
        }
    }

    fn history_now(&self, name: &InstanceName, limit: usize) -> Result<Vec<GenerationInfo>, StoreError> {
        let world = self.state.lock();
        let instance = world.known(name)?;
        self.check_key(instance)?;
        Ok(instance.operations.iter().rev().take(limit).map(Past::info).collect())
    }

    fn log_now(&self, name: &InstanceName, id: Option<&str>, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        let world = self.state.lock();
        let instance = world.known(name)?;
        self.check_key(instance)?;
        let wanted = instance.operations.iter().rev().filter(|past| id.is_none_or(|id| *past.operation.id == *id));
        let newest_first = wanted.flat_map(|past| {
            past.entries.iter().enumerate().rev().map(|(at, entry)| LogEntry {
                sequence: past.first + at as u64,
                operation: past.operation.id.clone(),
                entry: entry.clone(),
            })
        });
        let mut found: Vec<LogEntry> = newest_first.take(limit).collect();
        found.reverse();
        Ok(found)
    }
}

fn until(now: i64, lasts: Duration) -> i64 {
    now.saturating_add(i64::try_from(lasts.as_secs()).unwrap_or(i64::MAX))
}

impl World {
    fn check_held(&self, lease: &Lease, host: &dyn Host) -> Result<(), StoreError> {
        let held = self.leases.get(&lease.instance);
        match held {
            Some(Held { epoch, holder: Some(_) }) if *epoch == lease.epoch => Ok(()),
            _ => {
                let holder = held.and_then(|held| held.holder(host));
                Err(StoreError::Busy { instance: lease.instance.clone(), holder })
            }
        }
    }

    fn known(&self, name: &InstanceName) -> Result<&Instance, StoreError> {
        self.instances.get(name).ok_or_else(|| StoreError::Unknown { instance: name.clone() })
    }

    fn info(&self, name: &InstanceName, host: &dyn Host) -> Option<InstanceInfo> {
        let instance = self.instances.get(name)?;
        let last = instance.operations.last().map(Past::info);
        let has_ended = last.as_ref().is_some_and(|last| last.finished.is_some());
        Some(InstanceInfo {
            name: name.clone(),
            revision: instance.revision,
            generation: instance.generation,
            document: instance.document.clone(),
            records: instance.records.len() as u64,
            created: instance.created,
            last: last.map(|last| {
                let operation = Operation { desired: Value::Null, ..last.operation };
                (operation, last.finished.map(|(outcome, ..)| outcome))
            }),
            waiting: if has_ended { Stop::waiting(&instance.stops) } else { Vec::new() },
            verified: true,
            holder: self.leases.get(name).and_then(|held| held.holder(host)),
        })
    }
}

impl Instance {
    /// A destroyed instance has no records left when its operation says so.
    fn check_end(&self, entries: &[Entry]) -> Result<(), String> {
        match entries.last().map(|entry| &entry.kind) {
            Some(EntryKind::Finished(finished)) if finished.outcome == OperationOutcome::Gone => {}
            _ => return Ok(()),
        }
        let mut left: HashSet<&Address> = self.positions.keys().collect();
        for entry in entries {
            if let EntryKind::Outcome(outcome) = &entry.kind {
                match outcome.record {
                    Some(_) => left.insert(&outcome.address),
                    None => left.remove(&outcome.address),
                };
            }
        }
        if left.is_empty() {
            Ok(())
        } else {
            Err(format!("everything is said to be gone, {} things are not", left.len()))
        }
    }

    /// The things whose deletes were begun since the last operation that finished.
    fn deleted(&self) -> IndexMap<Address, Name> {
        let since = self.operations.iter().rposition(|past| past.finished.is_some()).map_or(0, |at| at + 1);
        let entries = self.operations[since..].iter().flat_map(|past| &past.entries);
        let ids = entries.filter_map(|entry| match &entry.kind {
            EntryKind::Intent(intent) => intent.deletes(),
            _ => None,
        });
        ids.map(|(address, id)| (address.clone(), id.clone())).collect()
    }

    fn follow(&mut self, entry: Entry) {
        match &entry.kind {
            EntryKind::Began(operation) => {
                if self.operations.is_empty() {
                    self.uid = operation.id.clone();
                    self.created = operation.began;
                }
                if !operation.remembered.is_empty() {
                    self.remembered = operation.remembered.clone();
                }
                if let Some(stops) = &operation.stops {
                    self.stops = stops.clone();
                }
                if !operation.document.is_empty() {
                    self.document = operation.document.clone();
                }
                let first = self.operations.last().map_or(1, |past| past.first + past.entries.len() as u64);
                self.operations.push(Past { operation: operation.clone(), finished: None, entries: Vec::new(), first });
            }
            EntryKind::Intent(_) => {}
            EntryKind::Outcome(outcome) => match &outcome.record {
                Some(record) => {
                    let position = *self.positions.entry(outcome.address.clone()).or_insert_with(|| {
                        self.next_position += 1;
                        self.next_position
                    });
                    self.records.insert(position, (outcome.address.clone(), record.clone()));
                }
                None => {
                    if let Some(position) = self.positions.remove(&outcome.address) {
                        self.records.remove(&position);
                    }
                }
            },
            EntryKind::Finished(finished) => {
                let gone = finished.outcome == OperationOutcome::Gone;
                match &finished.exports {
                    _ if gone => (self.exports, self.exports_old) = (IndexMap::default(), false),
                    Some(exports) => (self.exports, self.exports_old) = (exports.clone(), false),
                    None => self.exports_old |= finished.outcome != OperationOutcome::Ready,
                }
                self.generation = finished.generation;
                self.remembered = finished.remembered.clone();
                self.groups = finished.groups.clone();
                self.metadata = finished.metadata.clone();
                self.declared = finished.declared.clone();
                self.stops = finished.stops.clone();
                if let Some(past) = self.operations.last_mut() {
                    past.finished = Some(finished.clone());
                }
            }
        }
        if let Some(past) = self.operations.last_mut() {
            past.entries.push(entry);
        }
    }
}

impl Past {
    fn info(&self) -> GenerationInfo {
        let finished = self.finished.as_ref();
        GenerationInfo {
            operation: self.operation.as_ref().clone(),
            finished: finished.map(|end| (end.outcome, end.at, end.generation, end.counts)),
        }
    }
}

impl Store for MemoryStore {
    fn instances<'a>(&'a self) -> BoxFuture<'a, Result<Vec<InstanceInfo>, StoreError>> {
        Box::pin(async {
            let world = self.state.lock();
            Ok(world.instances.keys().filter_map(|name| world.info(name, &*self.host)).collect())
        })
    }

    fn info<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Option<InstanceInfo>, StoreError>> {
        Box::pin(async { Ok(self.state.lock().info(instance, &*self.host)) })
    }

    fn head<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Revision, StoreError>> {
        Box::pin(async { Ok(self.state.lock().instances.get(instance).map_or(Revision(0), |found| found.revision)) })
    }

    fn load<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Snapshot, StoreError>> {
        Box::pin(async { self.load_now(instance) })
    }

    fn managed_by_others<'a>(&'a self, instance: &'a str) -> BoxFuture<'a, Result<Vec<Managed>, StoreError>> {
        Box::pin(async { self.managed_by_others_now(instance) })
    }

    fn commit<'a>(
        &'a self,
        lease: &'a Lease,
        expected: Revision,
        entries: Vec<Entry>,
    ) -> BoxFuture<'a, Result<Revision, StoreError>> {
        Box::pin(async move { self.commit_now(lease, expected, entries) })
    }

    fn lease<'a>(
        &'a self,
        instance: &'a InstanceName,
        who: &'a str,
        lasts: Duration,
    ) -> BoxFuture<'a, Result<Lease, StoreError>> {
        Box::pin(async move { self.lease_now(instance, who, lasts) })
    }

    fn renew<'a>(&'a self, lease: &'a Lease, lasts: Duration) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.renew_now(lease, lasts) })
    }

    fn check_lease<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.state.lock().check_held(lease, &*self.host) })
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async {
            self.release_now(lease);
            Ok(())
        })
    }

    fn holder<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Option<LeaseHolder>, StoreError>> {
        Box::pin(async { Ok(self.state.lock().leases.get(instance).and_then(|held| held.holder(&*self.host))) })
    }

    fn unlock<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Option<LeaseHolder>, StoreError>> {
        Box::pin(async {
            let world = &mut *self.state.lock();
            let held = world.leases.get_mut(instance);
            Ok(held.and_then(|held| {
                let holder = held.holder(&*self.host);
                held.holder = None;
                holder
            }))
        })
    }

    fn history<'a>(
        &'a self,
        instance: &'a InstanceName,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<GenerationInfo>, StoreError>> {
        Box::pin(async move { self.history_now(instance, limit) })
    }

    fn log<'a>(
        &'a self,
        instance: &'a InstanceName,
        operation: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<LogEntry>, StoreError>> {
        Box::pin(async move { self.log_now(instance, operation, limit) })
    }

    fn rekey<'a>(&'a self, to: &'a Sealer) -> BoxFuture<'a, Result<u64, StoreError>> {
        Box::pin(async move { self.rekey_now(to) })
    }

    fn restore<'a>(
        &'a self,
        instance: &'a InstanceName,
        revision: Revision,
        operations: Vec<Vec<Entry>>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.restore_now(instance, revision, operations) })
    }

    fn can_seal(&self) -> bool {
        self.sealer.can_seal()
    }
}
