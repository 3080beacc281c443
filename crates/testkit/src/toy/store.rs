//! A toy store: the state of all instances is one object in a bucket, replaced by conditional puts.
//!
//! Each change reads the object, changes a copy and puts the copy if the version of the object is
//! still the one that was read; otherwise the change starts again. Each read folds the whole
//! journal.
//!
//! Not here: durability and sealing. The bucket is in memory, and only checks that the key is the
//! same.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::slice::from_ref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use blueprint::Name;
use state::seal::{KeyId, Sealer};
use state::{
    BoxFuture, Checkpoint, Entry, EntryKind, Fold, Host, InstanceInfo, InstanceName, Lease,
    LeaseHolder, LeaseRow, LogEntry, Pruned, Revision, Since, Store, StoreError, Tail,
};

type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// An object storage with one object. Clones share the object, as processes share a bucket.
#[derive(Clone, Default)]
pub struct Bucket(Arc<Mutex<(u64, Arc<ToyState>)>>);

impl Bucket {
    /// The version of the object, and the object.
    fn get(&self) -> (u64, Arc<ToyState>) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Replaces the object if its version is `version`. Returns whether it was replaced.
    fn put(&self, version: u64, object: ToyState) -> bool {
        let mut stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let matches = stored.0 == version;
        *stored = if matches {
            (version + 1, Arc::new(object))
        } else {
            stored.clone()
        };
        matches
    }
}

/// The state of all instances.
#[derive(Clone, Default)]
struct ToyState {
    leases: HashMap<InstanceName, LeaseRow>,
    journals: BTreeMap<InstanceName, InstanceJournal>,
    /// The ids of all operations of all instances.
    operations: HashSet<Name>,
}

/// The journal of one instance.
#[derive(Clone, Default)]
struct InstanceJournal {
    revision: Revision,
    /// The state before the first entry.
    base: Checkpoint,
    /// The entries, each with the epoch of its lease.
    entries: Vec<(u64, Entry)>,
    /// The key under which a secret was stored.
    key: Option<KeyId>,
}

impl InstanceJournal {
    fn fold(&self) -> Fold {
        let mut fold = Fold::of(self.base.clone());
        self.entries
            .iter()
            .for_each(|(epoch, entry)| fold.follow_commit(*epoch, from_ref(entry)));
        fold
    }

    fn check_key(&self, sealer: &Sealer) -> Result<(), StoreError> {
        if self.key.is_none() || self.key == sealer.key_id() {
            Ok(())
        } else {
            Err(sealer.cannot_open().into())
        }
    }

    /// Records the key if there is a secret; `NoKey` if the sealer has no key.
    fn note_key(&mut self, has_secret: bool, sealer: &Sealer) -> Result<(), StoreError> {
        if has_secret {
            self.key = Some(sealer.key_id().ok_or(StoreError::NoKey)?);
        }
        Ok(())
    }

    fn tail(&self, since: Since) -> Tail {
        let revision = self.revision;
        let from = match since {
            Since::Checkpoint => self.fold().checkpoint(),
            Since::Entry(after) if after <= self.base.sequence => self.base.clone(),
            Since::Entry(sequence) => Checkpoint {
                sequence,
                ..Checkpoint::default()
            },
        };
        let mut operation = Name::default();
        let mut entries = Vec::new();
        for (sequence, (_, entry)) in (self.base.sequence + 1..).zip(&self.entries) {
            if let EntryKind::Began(began) = &entry.kind {
                operation = began.id.clone();
            }
            if sequence > from.sequence {
                entries.push(LogEntry {
                    sequence,
                    operation: operation.clone(),
                    entry: entry.clone(),
                });
            }
        }
        Tail {
            revision,
            from,
            entries,
        }
    }
}

impl ToyState {
    fn revision(&self, name: &InstanceName) -> Revision {
        self.journals
            .get(name)
            .map(|journal| journal.revision)
            .unwrap_or_default()
    }

    fn check_revision(&self, name: &InstanceName, expected: Revision) -> Result<(), StoreError> {
        let (instance, found) = (name.clone(), self.revision(name));
        if found == expected {
            Ok(())
        } else {
            Err(StoreError::Moved {
                instance,
                expected,
                found,
            })
        }
    }

    fn check_lease(&self, lease: &Lease, host: &dyn Host) -> Result<(), StoreError> {
        self.leases
            .get(&lease.instance)
            .cloned()
            .unwrap_or_default()
            .check(lease, host)
    }

    fn holder(&self, name: &InstanceName, host: &dyn Host) -> Option<LeaseHolder> {
        self.leases.get(name)?.holder(host)
    }

    fn check_free(&self, name: &InstanceName, host: &dyn Host) -> Result<(), StoreError> {
        let holder = self.holder(name, host).filter(LeaseHolder::is_active);
        if holder.is_none() {
            Ok(())
        } else {
            Err(StoreError::Busy {
                instance: name.clone(),
                holder,
            })
        }
    }

    /// Appends the entries of one commit under a lease of this epoch.
    fn append(
        &mut self,
        name: &InstanceName,
        epoch: u64,
        entries: &[Entry],
        sealer: &Sealer,
    ) -> Result<Revision, StoreError> {
        let refused = |what| StoreError::Refused {
            instance: name.clone(),
            what,
        };
        let journal = self.journals.entry(name.clone()).or_default();
        journal.fold().check(epoch, entries).map_err(refused)?;
        let began = entries
            .first()
            .and_then(|entry| entry.kind.begins())
            .map(|operation| operation.id.clone());
        if let Some(id) = began.filter(|id| !self.operations.insert(id.clone())) {
            return Err(StoreError::OperationExists {
                instance: name.clone(),
                operation: id,
            });
        }
        journal.note_key(entries.iter().any(|entry| entry.kind.has_secret()), sealer)?;
        journal
            .entries
            .extend(entries.iter().map(|entry| (epoch, entry.clone())));
        journal.revision.0 += 1;
        Ok(journal.revision)
    }

    /// Removes the operations before the operation with an id.
    fn prune(&mut self, name: &InstanceName, first: &str) -> Result<Pruned, StoreError> {
        let unknown = || StoreError::Unknown {
            instance: name.clone(),
        };
        let journal = self.journals.get_mut(name).ok_or_else(unknown)?;
        let first = journal.fold().may_begin_with(first);
        let first = first.map_err(|what| StoreError::Refused {
            instance: name.clone(),
            what,
        })?;
        let count = first.saturating_sub(journal.base.sequence + 1);
        let split = usize::try_from(count)
            .unwrap_or(usize::MAX)
            .min(journal.entries.len());
        let rest = journal.entries.split_off(split);
        let operations = journal
            .entries
            .iter()
            .filter(|(_, entry)| entry.kind.begins().is_some())
            .count() as u64;
        journal.base = journal.fold().checkpoint();
        journal.entries = rest;
        Ok(Pruned {
            operations,
            entries: count,
            documents: 0,
        })
    }
}

/// A store on a [`Bucket`].
pub struct BucketStore {
    bucket: Bucket,
    sealer: Sealer,
    host: Arc<dyn Host>,
}

impl BucketStore {
    /// A store on a bucket.
    pub fn open(bucket: &Bucket, sealer: Sealer, host: Arc<dyn Host>) -> BucketStore {
        BucketStore {
            bucket: bucket.clone(),
            sealer,
            host,
        }
    }

    /// Changes the object, again until no other writer has changed it in between.
    fn update<T>(
        &self,
        change: impl Fn(&mut ToyState) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        loop {
            let (version, object) = self.bucket.get();
            let mut object = ToyState::clone(&object);
            let answer = change(&mut object)?;
            if self.bucket.put(version, object) {
                return Ok(answer);
            }
        }
    }
}

impl Store for BucketStore {
    fn instances<'a>(&'a self) -> StoreFuture<'a, Vec<InstanceInfo>> {
        Box::pin(async {
            let (_, object) = self.bucket.get();
            let holder = |name| object.holder(name, &*self.host);
            let each = object.journals.iter();
            Ok(each
                .map(|(name, journal)| journal.fold().info(name, journal.revision, holder(name)))
                .collect())
        })
    }

    fn read<'a>(
        &'a self,
        instance: &'a InstanceName,
        since: Since,
    ) -> StoreFuture<'a, Option<Tail>> {
        Box::pin(async move {
            let (_, object) = self.bucket.get();
            let journal = object.journals.get(instance);
            journal
                .map(|journal| {
                    journal
                        .check_key(&self.sealer)
                        .map(|()| journal.tail(since))
                })
                .transpose()
        })
    }

    fn commit<'a>(
        &'a self,
        lease: &'a Lease,
        expected: Revision,
        entries: Vec<Entry>,
    ) -> StoreFuture<'a, Revision> {
        let commit = move |object: &mut ToyState| {
            object.check_lease(lease, &*self.host)?;
            object.check_revision(&lease.instance, expected)?;
            object.append(&lease.instance, lease.epoch, &entries, &self.sealer)
        };
        Box::pin(async move { self.update(commit) })
    }

    fn lease<'a>(
        &'a self,
        instance: &'a InstanceName,
        who: &'a str,
        lasts: Duration,
    ) -> StoreFuture<'a, Lease> {
        let take = move |object: &mut ToyState| {
            let revision = object.revision(instance);
            object.leases.entry(instance.clone()).or_default().acquire(
                instance,
                revision,
                who,
                lasts,
                &*self.host,
            )
        };
        Box::pin(async move { self.update(take) })
    }

    fn renew<'a>(&'a self, lease: &'a Lease, lasts: Duration) -> StoreFuture<'a, ()> {
        let renew = move |object: &mut ToyState| {
            object.check_lease(lease, &*self.host)?;
            object
                .leases
                .entry(lease.instance.clone())
                .or_default()
                .extend(lasts, &*self.host);
            Ok(())
        };
        Box::pin(async move { self.update(renew) })
    }

    fn check_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        Box::pin(async move { self.bucket.get().1.check_lease(lease, &*self.host) })
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        let release = |object: &mut ToyState| {
            let held = object.check_lease(lease, &*self.host).is_ok();
            object
                .leases
                .get_mut(&lease.instance)
                .filter(|_| held)
                .map(|row| row.end(&*self.host));
            Ok(())
        };
        Box::pin(async move { self.update(release) })
    }

    fn holder<'a>(&'a self, instance: &'a InstanceName) -> StoreFuture<'a, Option<LeaseHolder>> {
        Box::pin(async { Ok(self.bucket.get().1.holder(instance, &*self.host)) })
    }

    fn take_away<'a>(
        &'a self,
        instance: &'a InstanceName,
        who: &'a str,
        lasts: Duration,
        even_active: bool,
    ) -> StoreFuture<'a, Option<(LeaseHolder, Lease)>> {
        let take = move |object: &mut ToyState| {
            let revision = object.revision(instance);
            match object.leases.get_mut(instance) {
                Some(row) => {
                    row.take_away((instance, revision), who, lasts, even_active, &*self.host)
                }
                None => Ok(None),
            }
        };
        Box::pin(async move { self.update(take) })
    }

    fn prune<'a>(&'a self, lease: &'a Lease, first: &'a str) -> StoreFuture<'a, Pruned> {
        let prune = move |object: &mut ToyState| {
            object.check_lease(lease, &*self.host)?;
            object.prune(&lease.instance, first)
        };
        Box::pin(async move { self.update(prune) })
    }

    fn rename<'a>(&'a self, lease: &'a Lease, to: &'a InstanceName) -> StoreFuture<'a, ()> {
        let rename = move |object: &mut ToyState| {
            object.check_lease(lease, &*self.host)?;
            object.check_free(to, &*self.host)?;
            object.check_revision(to, Revision(0))?;
            let journal = object.journals.remove(&lease.instance);
            let journal = journal.ok_or_else(|| StoreError::Unknown {
                instance: lease.instance.clone(),
            })?;
            object.journals.insert(to.clone(), journal);
            let row = object.leases.get(&lease.instance).cloned();
            let new = object.leases.entry(to.clone()).or_default();
            new.continue_after(&row.unwrap_or_default());
            Ok(())
        };
        Box::pin(async move { self.update(rename) })
    }

    fn rekey<'a>(&'a self, to: &'a Sealer) -> StoreFuture<'a, u64> {
        let rekey = |object: &mut ToyState| {
            let key = to.key_id().ok_or(StoreError::NoKey)?;
            object
                .leases
                .keys()
                .try_for_each(|name| object.check_free(name, &*self.host))?;
            object
                .journals
                .values()
                .try_for_each(|journal| journal.check_key(&self.sealer))?;
            object
                .leases
                .values_mut()
                .for_each(|row| drop(row.end(&*self.host)));
            let sealed = object
                .journals
                .values_mut()
                .filter_map(|journal| journal.key.as_mut());
            Ok(sealed.map(|old| *old = key.clone()).count() as u64)
        };
        Box::pin(async move { self.update(rekey) })
    }

    fn restore<'a>(
        &'a self,
        instance: &'a InstanceName,
        revision: Revision,
        base: Option<Checkpoint>,
        operations: Vec<Vec<Entry>>,
    ) -> StoreFuture<'a, ()> {
        let restore = move |object: &mut ToyState| {
            object.check_free(instance, &*self.host)?;
            object.check_revision(instance, Revision(0))?;
            let journal = object.journals.entry(instance.clone()).or_default();
            journal.base = base.clone().unwrap_or_default();
            journal.note_key(
                journal
                    .base
                    .snapshot
                    .records
                    .values()
                    .any(|it| it.has_secret()),
                &self.sealer,
            )?;
            for (number, entries) in (0..).zip(&operations) {
                // No lease has such an epoch.
                object.append(instance, u64::MAX - number, entries, &self.sealer)?;
            }
            object
                .journals
                .entry(instance.clone())
                .or_default()
                .revision = revision;
            Ok(())
        };
        Box::pin(async move { self.update(restore) })
    }

    fn can_seal(&self) -> bool {
        self.sealer.can_seal()
    }
}
