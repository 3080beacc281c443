//! State in the memory of the process only: for tests, simulations and `memory:`.
//!
//! The strictest of the stores: the others accept everything that it accepts. The clock of its
//! [`Host`] decides whether a lease has expired; processes are not distinguished. Secrets never
//! leave the process, so they are not sealed, but storing a secret still needs a key, and reading
//! it back needs the same key.
//!
//! Not here: the rules of a journal and its fold (`state::Fold`).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use blueprint::Name;
use state::seal::{KeyId, Sealer};
use state::{
    BoxFuture, Checkpoint, Entry, EntryKind, Fold, Host, InstanceInfo, InstanceName, Lease,
    LeaseHolder, LeaseRow, LogEntry, Pruned, Revision, Since, Store, StoreError, Tail,
};

/// The content of a memory store. Stores that are opened on clones of it share it, as processes
/// share a file.
#[derive(Clone, Default)]
pub struct MemoryState(Arc<Mutex<StoredInstances>>);

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
struct StoredInstances {
    instances: BTreeMap<InstanceName, Instance>,
    leases: HashMap<InstanceName, LeaseRow>,
    /// Ids of all operations of all instances.
    operations: HashSet<Name>,
}

#[derive(Default)]
struct Instance {
    revision: Revision,
    /// The state before the first of the entries.
    base: Checkpoint,
    entries: Vec<LogEntry>,
    /// The fold of all entries.
    fold: Fold,
    /// The key with which secrets of the instance were stored.
    sealed_with: Option<KeyId>,
}

impl MemoryState {
    fn lock(&self) -> MutexGuard<'_, StoredInstances> {
        // No change panics half-way, so the data behind a poisoned lock is consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoredInstances {
    fn check_held(&self, lease: &Lease, host: &dyn Host) -> Result<(), StoreError> {
        match self.leases.get(&lease.instance) {
            Some(row) => row.check(lease, host),
            None => Err(StoreError::Busy {
                instance: lease.instance.clone(),
                holder: None,
            }),
        }
    }

    fn revision(&self, name: &InstanceName) -> Revision {
        self.instances
            .get(name)
            .map_or(Revision(0), |instance| instance.revision)
    }

    /// Appends the entries of one commit, under a lease of this epoch.
    fn append(
        &mut self,
        name: &InstanceName,
        epoch: u64,
        entries: Vec<Entry>,
        key: Option<KeyId>,
    ) -> Result<Revision, StoreError> {
        let refused = |what: String| StoreError::Refused {
            instance: name.clone(),
            what,
        };
        let fresh = Fold::default();
        let fold = self
            .instances
            .get(name)
            .map_or(&fresh, |instance| &instance.fold);
        fold.check(epoch, &entries).map_err(refused)?;
        let began = entries
            .first()
            .and_then(|entry| entry.kind.begins())
            .map(|operation| operation.id.clone());
        if let Some(id) = began.as_ref().filter(|id| self.operations.contains(*id)) {
            return Err(StoreError::OperationExists {
                instance: name.clone(),
                operation: id.clone(),
            });
        }
        let has_secret = entries.iter().any(|entry| entry.kind.has_secret());
        if has_secret && key.is_none() {
            return Err(StoreError::NoKey);
        }
        self.operations.extend(began);
        let instance = self.instances.entry(name.clone()).or_default();
        if has_secret {
            instance.sealed_with = key;
        }
        instance.fold.follow_commit(epoch, &entries);
        entries.into_iter().for_each(|entry| instance.push(entry));
        instance.revision.0 += 1;
        Ok(instance.revision)
    }
}

impl Instance {
    fn push(&mut self, entry: Entry) {
        let last = self.entries.last();
        let operation = match (&entry.kind, last) {
            (EntryKind::Began(began), _) => began.id.clone(),
            (_, last) => last.map(|last| last.operation.clone()).unwrap_or_default(),
        };
        let sequence = last.map_or(self.base.sequence, |last| last.sequence) + 1;
        self.entries.push(LogEntry {
            sequence,
            operation,
            entry,
        });
    }

    /// Removes the entries before this one; returns their number.
    fn prune(&mut self, first: u64) -> u64 {
        let split = self.entries.partition_point(|line| line.sequence < first);
        let mut fold = Fold::of(std::mem::take(&mut self.base));
        self.entries
            .drain(..split)
            .for_each(|line| fold.follow(&line.entry));
        self.base = fold.checkpoint();
        self.fold.forget_operations_before(first);
        split as u64
    }

    fn tail(&self, since: Since) -> Tail {
        let revision = self.revision;
        match since {
            Since::Checkpoint => Tail {
                revision,
                from: self.fold.checkpoint(),
                entries: Vec::new(),
            },
            Since::Entry(last) if last <= self.base.sequence => Tail {
                revision,
                from: self.base.clone(),
                entries: self.entries.clone(),
            },
            Since::Entry(sequence) => {
                let entries = self
                    .entries
                    .iter()
                    .filter(|line| line.sequence > sequence)
                    .cloned()
                    .collect();
                Tail {
                    revision,
                    from: Checkpoint {
                        sequence,
                        ..Checkpoint::default()
                    },
                    entries,
                }
            }
        }
    }
}

impl MemoryStore {
    /// Returns an empty store with a state of its own.
    pub fn new(sealer: Sealer) -> MemoryStore {
        MemoryStore::open(&MemoryState::default(), sealer)
    }

    /// Returns a store on the state of another store.
    pub fn open(state: &MemoryState, sealer: Sealer) -> MemoryStore {
        MemoryStore {
            state: state.clone(),
            sealer,
            host: Arc::new(crate::machine::ThisMachine::clock()),
        }
    }

    /// Returns the store with the clock of another machine, for tests.
    #[must_use]
    pub fn with_host(self, host: Arc<dyn Host>) -> MemoryStore {
        MemoryStore { host, ..self }
    }

    /// The state, on which another store can be opened.
    pub fn state(&self) -> &MemoryState {
        &self.state
    }

    fn check_key(&self, instance: &Instance) -> Result<(), StoreError> {
        match &instance.sealed_with {
            Some(key) if self.sealer.key_id().as_ref() != Some(key) => {
                Err(self.sealer.cannot_open().into())
            }
            _ => Ok(()),
        }
    }

    fn instances_now(&self) -> Vec<InstanceInfo> {
        let world = self.state.lock();
        let holder = |name| {
            world
                .leases
                .get(name)
                .and_then(|row: &LeaseRow| row.holder(&*self.host))
        };
        let each = world.instances.iter();
        each.map(|(name, instance)| instance.fold.info(name, instance.revision, holder(name)))
            .collect()
    }

    fn read_now(&self, name: &InstanceName, since: Since) -> Result<Option<Tail>, StoreError> {
        let world = self.state.lock();
        let Some(instance) = world.instances.get(name) else {
            return Ok(None);
        };
        self.check_key(instance)?;
        Ok(Some(instance.tail(since)))
    }

    fn commit_now(
        &self,
        lease: &Lease,
        expected: Revision,
        entries: Vec<Entry>,
    ) -> Result<Revision, StoreError> {
        let mut world = self.state.lock();
        world.check_held(lease, &*self.host)?;
        let found = world.revision(&lease.instance);
        if found != expected {
            return Err(StoreError::Moved {
                instance: lease.instance.clone(),
                expected,
                found,
            });
        }
        world.append(&lease.instance, lease.epoch, entries, self.sealer.key_id())
    }

    fn lease_now(
        &self,
        name: &InstanceName,
        who: &str,
        lasts: Duration,
    ) -> Result<Lease, StoreError> {
        let mut world = self.state.lock();
        let revision = world.revision(name);
        world.leases.entry(name.clone()).or_default().acquire(
            name,
            revision,
            who,
            lasts,
            &*self.host,
        )
    }

    fn renew_now(&self, lease: &Lease, lasts: Duration) -> Result<(), StoreError> {
        let mut world = self.state.lock();
        world.check_held(lease, &*self.host)?;
        if let Some(row) = world.leases.get_mut(&lease.instance) {
            row.extend(lasts, &*self.host);
        }
        Ok(())
    }

    fn release_now(&self, lease: &Lease) {
        let mut world = self.state.lock();
        if world.check_held(lease, &*self.host).is_ok() {
            world
                .leases
                .get_mut(&lease.instance)
                .map(|row| row.end(&*self.host));
        }
    }

    fn prune_now(&self, lease: &Lease, first: &str) -> Result<Pruned, StoreError> {
        let mut world = self.state.lock();
        world.check_held(lease, &*self.host)?;
        let refused = |what| StoreError::Refused {
            instance: lease.instance.clone(),
            what,
        };
        let Some(instance) = world.instances.get_mut(&lease.instance) else {
            return Err(StoreError::Unknown {
                instance: lease.instance.clone(),
            });
        };
        let first = instance.fold.may_begin_with(first).map_err(refused)?;
        let operations = instance
            .entries
            .iter()
            .filter(|line| line.sequence < first && line.entry.kind.begins().is_some());
        let operations = operations.count() as u64;
        if operations == 0 {
            return Ok(Pruned::default());
        }
        Ok(Pruned {
            operations,
            entries: instance.prune(first),
            documents: 0,
        })
    }

    fn rename_now(&self, lease: &Lease, to: &InstanceName) -> Result<(), StoreError> {
        let mut world = self.state.lock();
        world.check_held(lease, &*self.host)?;
        let row = world.leases.get(to);
        let holder = row.and_then(|row| row.holder(&*self.host));
        if let Some(holder) = holder.filter(LeaseHolder::is_active) {
            return Err(StoreError::Busy {
                instance: to.clone(),
                holder: Some(holder),
            });
        }
        let found = world.revision(to);
        if found != Revision(0) {
            return Err(StoreError::Moved {
                instance: to.clone(),
                expected: Revision(0),
                found,
            });
        }
        let Some(instance) = world.instances.remove(&lease.instance) else {
            return Err(StoreError::Unknown {
                instance: lease.instance.clone(),
            });
        };
        world.instances.insert(to.clone(), instance);
        let row = world.leases.get(&lease.instance).cloned();
        let new = world.leases.entry(to.clone()).or_default();
        new.continue_after(&row.unwrap_or_default());
        Ok(())
    }

    fn rekey_now(&self, to: &Sealer) -> Result<u64, StoreError> {
        let Some(key) = to.key_id() else {
            return Err(StoreError::NoKey);
        };
        let mut world = self.state.lock();
        for (instance, row) in &world.leases {
            if let Some(holder) = row.holder(&*self.host).filter(LeaseHolder::is_active) {
                return Err(StoreError::Busy {
                    instance: instance.clone(),
                    holder: Some(holder),
                });
            }
        }
        world
            .instances
            .values()
            .try_for_each(|instance| self.check_key(instance))?;
        world
            .leases
            .values_mut()
            .for_each(|row| drop(row.end(&*self.host)));
        let sealed = world
            .instances
            .values_mut()
            .filter_map(|instance| instance.sealed_with.as_mut());
        Ok(sealed.map(|with| *with = key.clone()).count() as u64)
    }

    fn restore_now(
        &self,
        name: &InstanceName,
        revision: Revision,
        base: Option<Checkpoint>,
        operations: Vec<Vec<Entry>>,
    ) -> Result<(), StoreError> {
        let mut world = self.state.lock();
        let holder = world
            .leases
            .get(name)
            .and_then(|row| row.holder(&*self.host));
        if let Some(holder) = holder.filter(LeaseHolder::is_active) {
            return Err(StoreError::Busy {
                instance: name.clone(),
                holder: Some(holder),
            });
        }
        let found = world.revision(name);
        if found != Revision(0) {
            return Err(StoreError::Moved {
                instance: name.clone(),
                expected: Revision(0),
                found,
            });
        }
        let known = world.operations.clone();
        if let Some(base) = base {
            let has_secret = base
                .snapshot
                .records
                .values()
                .any(|record| record.has_secret());
            if has_secret && !self.sealer.can_seal() {
                return Err(StoreError::NoKey);
            }
            let sealed_with = self.sealer.key_id().filter(|_| has_secret);
            let fold = Fold::of(base.clone());
            let instance = Instance {
                base,
                fold,
                sealed_with,
                ..Instance::default()
            };
            world.instances.insert(name.clone(), instance);
        }
        // Each operation belongs to its own lease, whose epoch no real lease has.
        for (number, entries) in (0..).zip(operations) {
            let epoch = u64::MAX - number;
            if let Err(error) = world.append(name, epoch, entries, self.sealer.key_id()) {
                world.instances.remove(name);
                world.operations = known;
                return Err(error);
            }
        }
        if let Some(instance) = world.instances.get_mut(name) {
            instance.revision = revision;
        }
        Ok(())
    }
}

impl Store for MemoryStore {
    fn instances<'a>(&'a self) -> BoxFuture<'a, Result<Vec<InstanceInfo>, StoreError>> {
        Box::pin(async { Ok(self.instances_now()) })
    }

    fn read<'a>(
        &'a self,
        instance: &'a InstanceName,
        since: Since,
    ) -> BoxFuture<'a, Result<Option<Tail>, StoreError>> {
        Box::pin(async move { self.read_now(instance, since) })
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

    fn renew<'a>(
        &'a self,
        lease: &'a Lease,
        lasts: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
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

    fn holder<'a>(
        &'a self,
        instance: &'a InstanceName,
    ) -> BoxFuture<'a, Result<Option<LeaseHolder>, StoreError>> {
        Box::pin(async {
            Ok(self
                .state
                .lock()
                .leases
                .get(instance)
                .and_then(|row| row.holder(&*self.host)))
        })
    }

    fn take_away<'a>(
        &'a self,
        instance: &'a InstanceName,
        who: &'a str,
        lasts: Duration,
        even_active: bool,
    ) -> BoxFuture<'a, Result<Option<(LeaseHolder, Lease)>, StoreError>> {
        Box::pin(async move {
            let mut world = self.state.lock();
            let revision = world.revision(instance);
            match world.leases.get_mut(instance) {
                Some(row) => {
                    row.take_away((instance, revision), who, lasts, even_active, &*self.host)
                }
                None => Ok(None),
            }
        })
    }

    fn prune<'a>(
        &'a self,
        lease: &'a Lease,
        first: &'a str,
    ) -> BoxFuture<'a, Result<Pruned, StoreError>> {
        Box::pin(async move { self.prune_now(lease, first) })
    }

    fn rename<'a>(
        &'a self,
        lease: &'a Lease,
        to: &'a InstanceName,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.rename_now(lease, to) })
    }

    fn rekey<'a>(&'a self, to: &'a Sealer) -> BoxFuture<'a, Result<u64, StoreError>> {
        Box::pin(async move { self.rekey_now(to) })
    }

    fn restore<'a>(
        &'a self,
        instance: &'a InstanceName,
        revision: Revision,
        base: Option<Checkpoint>,
        operations: Vec<Vec<Entry>>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.restore_now(instance, revision, base, operations) })
    }

    fn can_seal(&self) -> bool {
        self.sealer.can_seal()
    }
}
