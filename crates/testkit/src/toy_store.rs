//! A toy store: the state of all instances is one object in a bucket, replaced by conditional puts.
//!
//! Each change reads the object, changes a copy and puts the copy if the object still has the version that was read;
//! otherwise it starts again. The journals are lines of JSON, with secrets sealed. Each read folds the whole journal.
//!
//! Not here: durability. The bucket is in memory.

use std::collections::{BTreeMap, HashMap};
use std::slice::from_ref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use blueprint::Name;
use state::seal::{Place, Sealer};
use state::{
    BoxFuture, Checkpoint, Entry, EntryKind, Fold, Host, InstanceInfo, InstanceName, Lease, LeaseHolder, LeaseRow,
    LogEntry, Revision, Since, Store, StoreError, Tail,
};

/// An object storage with one object. Clones share it, as processes share a bucket.
#[derive(Clone, Default)]
pub struct Bucket(Arc<Mutex<(u64, Arc<Object>)>>);

impl Bucket {
    /// The version of the object, and the object.
    fn get(&self) -> (u64, Arc<Object>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the object if it has this version. Returns whether it did.
    fn put(&self, version: u64, object: Object) -> bool {
        let mut stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let matches = stored.0 == version;
        if matches {
            *stored = (version + 1, Arc::new(object));
        }
        matches
    }
}

/// The state of all instances.
#[derive(Clone, Default)]
struct Object {
    leases: HashMap<InstanceName, LeaseRow>,
    journals: BTreeMap<InstanceName, Journal>,
}

/// The journal of one instance.
#[derive(Clone, Default)]
struct Journal {
    revision: Revision,
    /// The id of the first operation, to which secrets are bound.
    uid: Name,
    /// For each entry the epoch of its lease, whether it has a sealed secret, and the entry as JSON.
    lines: Vec<(u64, bool, String)>,
}

/// A store on a [`Bucket`].
pub struct BucketStore {
    bucket: Bucket,
    sealer: Sealer,
    host: Arc<dyn Host>,
}

impl Journal {
    /// The entries, each with its epoch. `open`: opens secrets; otherwise they stay sealed.
    fn entries(&self, sealer: &Sealer, open: bool) -> Result<Vec<(u64, Entry)>, StoreError> {
        let read = |(record, (epoch, sealed, text)): (u64, &(u64, bool, String))| {
            Ok((*epoch, sealer.read(Place { uid: &self.uid, record }, text.as_bytes(), *sealed && open)?))
        };
        (1..).zip(&self.lines).map(read).collect()
    }

    fn fold(&self, sealer: &Sealer, open: bool) -> Result<Fold, StoreError> {
        let mut fold = Fold::default();
        self.entries(sealer, open)?.iter().for_each(|(epoch, entry)| fold.follow_commit(*epoch, from_ref(entry)));
        Ok(fold)
    }

    /// Appends an entry with its secrets sealed.
    fn push(&mut self, sealer: &Sealer, epoch: u64, entry: &Entry) -> Result<(), StoreError> {
        if let (true, Some(operation)) = (self.uid.is_empty(), entry.kind.begins()) {
            self.uid = operation.id.clone();
        }
        let sealed = entry.kind.has_secret();
        let place = Place { uid: &self.uid, record: self.lines.len() as u64 + 1 };
        let text = sealer.write(place, entry, sealed, 0)?;
        self.lines.push((epoch, sealed, text));
        Ok(())
    }
}

impl Object {
    fn revision(&self, name: &InstanceName) -> Revision {
        self.journals.get(name).map(|journal| journal.revision).unwrap_or_default()
    }

    fn check_lease(&self, lease: &Lease, host: &dyn Host) -> Result<(), StoreError> {
        self.leases.get(&lease.instance).cloned().unwrap_or_default().check(lease, host)
    }

    fn holder(&self, name: &InstanceName, host: &dyn Host) -> Option<LeaseHolder> {
        self.leases.get(name)?.holder(host)
    }

    fn check_free(&self, name: &InstanceName, host: &dyn Host) -> Result<(), StoreError> {
        let holder = self.holder(name, host).filter(LeaseHolder::holds);
        if holder.is_none() { Ok(()) } else { Err(StoreError::Busy { instance: name.clone(), holder }) }
    }

    fn check_revision(&self, name: &InstanceName, expected: Revision) -> Result<(), StoreError> {
        let (instance, found) = (name.clone(), self.revision(name));
        if found == expected { Ok(()) } else { Err(StoreError::Moved { instance, expected, found }) }
    }

    /// Appends the entries of one commit under a lease of this epoch.
    fn append(
        &mut self,
        name: &InstanceName,
        epoch: u64,
        entries: &[Entry],
        sealer: &Sealer,
    ) -> Result<Revision, StoreError> {
        let refused = |what| StoreError::Refused { instance: name.clone(), what };
        if let Some(operation) = entries.first().and_then(|entry| entry.kind.begins()) {
            let begins = |(_, entry): &(u64, Entry)| entry.kind.begins().is_some_and(|it| it.id == operation.id);
            for journal in self.journals.values() {
                if journal.entries(sealer, false)?.iter().any(begins) {
                    return Err(refused(format!("an operation `{}` exists", operation.id)));
                }
            }
        }
        let journal = self.journals.entry(name.clone()).or_default();
        journal.fold(sealer, true)?.check(epoch, entries).map_err(refused)?;
        entries.iter().try_for_each(|entry| journal.push(sealer, epoch, entry))?;
        journal.revision.0 += 1;
        Ok(journal.revision)
    }
}

impl BucketStore {
    /// A store on a bucket.
    pub fn open(bucket: &Bucket, sealer: Sealer, host: Arc<dyn Host>) -> BucketStore {
        BucketStore { bucket: bucket.clone(), sealer, host }
    }

    /// Changes the object: until no other writer has changed it in between.
    fn update<T>(&self, change: impl Fn(&mut Object) -> Result<T, StoreError>) -> Result<T, StoreError> {
        loop {
            let (version, object) = self.bucket.get();
            let mut object = Object::clone(&object);
            let answer = change(&mut object)?;
            if self.bucket.put(version, object) {
                return Ok(answer);
            }
        }
    }

    fn tail(&self, name: &InstanceName, since: Since) -> Result<Option<Tail>, StoreError> {
        let (_, object) = self.bucket.get();
        let Some(journal) = object.journals.get(name) else { return Ok(None) };
        let revision = journal.revision;
        let Since::Entry(after) = since else {
            let from = journal.fold(&self.sealer, true)?.checkpoint();
            return Ok(Some(Tail { revision, from, entries: Vec::new() }));
        };
        let mut operation = Name::default();
        let mut lines = Vec::new();
        for (sequence, (_, entry)) in (1..).zip(journal.entries(&self.sealer, true)?) {
            if let EntryKind::Began(began) = &entry.kind {
                operation = began.id.clone();
            }
            if sequence > after {
                lines.push(LogEntry { sequence, operation: operation.clone(), entry });
            }
        }
        Ok(Some(Tail { revision, from: Checkpoint { sequence: after, ..Checkpoint::default() }, entries: lines }))
    }
}

impl Store for BucketStore {
    fn instances<'a>(&'a self) -> BoxFuture<'a, Result<Vec<InstanceInfo>, StoreError>> {
        Box::pin(async {
            let (_, object) = self.bucket.get();
            let info = |(name, journal): (&InstanceName, &Journal)| {
                let fold = journal.fold(&self.sealer, false)?;
                Ok(fold.info(name, journal.revision, object.holder(name, &*self.host)))
            };
            object.journals.iter().map(info).collect()
        })
    }

    fn read<'a>(&'a self, instance: &'a InstanceName, since: Since) -> BoxFuture<'a, Result<Option<Tail>, StoreError>> {
        Box::pin(async move { self.tail(instance, since) })
    }

    fn commit<'a>(
        &'a self,
        lease: &'a Lease,
        expected: Revision,
        entries: Vec<Entry>,
    ) -> BoxFuture<'a, Result<Revision, StoreError>> {
        Box::pin(async move {
            self.update(|object| {
                object.check_lease(lease, &*self.host)?;
                object.check_revision(&lease.instance, expected)?;
                object.append(&lease.instance, lease.epoch, &entries, &self.sealer)
            })
        })
    }

    fn lease<'a>(
        &'a self,
        instance: &'a InstanceName,
        who: &'a str,
        lasts: Duration,
    ) -> BoxFuture<'a, Result<Lease, StoreError>> {
        Box::pin(async move {
            self.update(|object| {
                let revision = object.revision(instance);
                let row = object.leases.entry(instance.clone()).or_default();
                row.take(instance, revision, who, lasts, &*self.host)
            })
        })
    }

    fn renew<'a>(&'a self, lease: &'a Lease, lasts: Duration) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.update(|object| {
                object.check_lease(lease, &*self.host)?;
                object.leases.entry(lease.instance.clone()).or_default().extend(lasts, &*self.host);
                Ok(())
            })
        })
    }

    fn check_lease<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.bucket.get().1.check_lease(lease, &*self.host) })
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.update(|object| {
                let held = object.check_lease(lease, &*self.host).is_ok();
                object.leases.get_mut(&lease.instance).filter(|_| held).map(|row| row.end(&*self.host));
                Ok(())
            })
        })
    }

    fn holder<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Option<LeaseHolder>, StoreError>> {
        Box::pin(async { Ok(self.bucket.get().1.holder(instance, &*self.host)) })
    }

    fn unlock<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Option<LeaseHolder>, StoreError>> {
        let end = |object: &mut Object| object.leases.get_mut(instance).and_then(|row| row.end(&*self.host));
        Box::pin(async move { self.update(|object| Ok(end(object))) })
    }

    fn rekey<'a>(&'a self, to: &'a Sealer) -> BoxFuture<'a, Result<u64, StoreError>> {
        Box::pin(async move {
            self.update(|object| {
                object.leases.keys().try_for_each(|name| object.check_free(name, &*self.host))?;
                object.leases.values_mut().for_each(|row| drop(row.end(&*self.host)));
                let mut count = 0;
                for journal in object.journals.values_mut() {
                    count += journal.lines.iter().filter(|(_, sealed, _)| *sealed).count() as u64;
                    let entries = journal.entries(&self.sealer, true)?;
                    journal.lines.clear();
                    entries.iter().try_for_each(|(epoch, entry)| journal.push(to, *epoch, entry))?;
                }
                if to.can_seal() { Ok(count) } else { Err(StoreError::NoKey) }
            })
        })
    }

    fn restore<'a>(
        &'a self,
        instance: &'a InstanceName,
        revision: Revision,
        operations: Vec<Vec<Entry>>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.update(|object| {
                object.check_free(instance, &*self.host)?;
                object.check_revision(instance, Revision(0))?;
                // No lease is given such an epoch.
                for (number, entries) in (0..).zip(&operations) {
                    object.append(instance, u64::MAX - number, entries, &self.sealer)?;
                }
                object.journals.entry(instance.clone()).or_default().revision = revision;
                Ok(())
            })
        })
    }

    fn can_seal(&self) -> bool {
        self.sealer.can_seal()
    }
}
