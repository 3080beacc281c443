//! The contract of a store is small: a store of 300 lines, which replaces one text per instance,
//! passes the suite.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures::executor::block_on;
use state::seal::{SealError, Sealer};
use state::{
    BoxFuture, Checkpoint, Entry, EntryKind, Exported, ExportedError, Fold, Host, InstanceInfo,
    InstanceName, Lease, LeaseHolder, LeaseRow, LogEntry, Pruned, PrunedBase, Revision, Since,
    Store, StoreError, Tail,
};

/// The stored data of an instance.
#[derive(Default)]
struct Stored {
    lease: LeaseRow,
    /// The journal as an exported state; none before the first commit.
    text: Option<String>,
    /// The number of the last entry that was pruned.
    pruned: u64,
    /// The data for lists, which needs no key.
    info: Option<InstanceInfo>,
    /// The epoch of the lease under which the last operation began.
    epoch: u64,
}

type Shared = Arc<Mutex<BTreeMap<InstanceName, Stored>>>;

struct SmallStore {
    shared: Shared,
    sealer: Sealer,
    host: Arc<dyn Host>,
}

fn opened(error: ExportedError) -> StoreError {
    match error {
        ExportedError::Sealed {
            source: SealError::NoKey,
            ..
        } => StoreError::NoKey,
        ExportedError::Sealed { source, .. } => source.into(),
        other => StoreError::Damaged {
            what: other.to_string(),
        },
    }
}

impl Stored {
    fn tail(&self, sealer: &Sealer) -> Result<Tail, StoreError> {
        let Some(text) = &self.text else {
            return Ok(Tail::default());
        };
        let exported = Exported::read(text, sealer).map_err(opened)?;
        let base = exported
            .pruned
            .as_ref()
            .map(PrunedBase::checkpoint)
            .unwrap_or_default();
        let mut operation = Default::default();
        let lines = exported
            .journal
            .into_iter()
            .zip(self.pruned + 1..)
            .map(|(entry, sequence)| {
                if let EntryKind::Began(began) = &entry.kind {
                    operation = began.id.clone();
                }
                LogEntry {
                    sequence,
                    operation: operation.clone(),
                    entry,
                }
            });
        let from = Checkpoint {
            sequence: self.pruned,
            ..base
        };
        Ok(Tail {
            revision: exported.revision,
            from,
            entries: lines.collect(),
        })
    }

    fn put(&mut self, name: &InstanceName, tail: Tail, sealer: &Sealer) -> Result<(), StoreError> {
        let (pruned, revision) = (tail.from.sequence, tail.revision);
        let fold = folded(&tail);
        self.text = Some(Exported::whole(name, tail).write(sealer).map_err(opened)?);
        self.pruned = pruned;
        self.info = Some(fold.info(name, revision, None));
        Ok(())
    }
}

fn folded(tail: &Tail) -> Fold {
    let mut fold = Fold::of(tail.from.clone());
    tail.entries
        .iter()
        .for_each(|line| fold.follow(&line.entry));
    fold
}

impl SmallStore {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<InstanceName, Stored>> {
        self.shared.lock().unwrap()
    }

    fn append(
        all: &BTreeMap<InstanceName, Stored>,
        name: &InstanceName,
        tail: &mut Tail,
        (began, epoch): (u64, u64),
        entries: Vec<Entry>,
        sealer: &Sealer,
    ) -> Result<(), StoreError> {
        let refused = |what| StoreError::Refused {
            instance: name.clone(),
            what,
        };
        let mut fold = folded(tail);
        fold.resume_under(began);
        fold.check(epoch, &entries).map_err(refused)?;
        let id = entries
            .first()
            .and_then(|entry| entry.kind.begins())
            .map(|operation| operation.id.clone());
        for other in all.values().filter(|_| id.is_some()) {
            let known = other
                .tail(sealer)?
                .entries
                .into_iter()
                .chain(tail.entries.clone());
            if known
                .into_iter()
                .any(|line| Some(&line.operation) == id.as_ref())
            {
                let operation = id.unwrap_or_default();
                return Err(StoreError::OperationExists {
                    instance: name.clone(),
                    operation,
                });
            }
        }
        for entry in entries {
            let sequence = tail
                .entries
                .last()
                .map_or(tail.from.sequence, |line| line.sequence)
                + 1;
            let before = tail
                .entries
                .last()
                .map(|line| line.operation.clone())
                .unwrap_or_default();
            let operation = entry
                .kind
                .begins()
                .map_or(before, |operation| operation.id.clone());
            tail.entries.push(LogEntry {
                sequence,
                operation,
                entry,
            });
        }
        tail.revision.0 += 1;
        Ok(())
    }

    fn held<'s>(
        &self,
        all: &'s mut BTreeMap<InstanceName, Stored>,
        lease: &Lease,
    ) -> Result<&'s mut Stored, StoreError> {
        let stored = all.entry(lease.instance.clone()).or_default();
        stored.lease.check(lease, &*self.host).map(|()| stored)
    }

    fn commit_now(
        &self,
        lease: &Lease,
        expected: Revision,
        entries: Vec<Entry>,
    ) -> Result<Revision, StoreError> {
        let (mut all, name) = (self.lock(), &lease.instance);
        let stored = self.held(&mut all, lease)?;
        let (mut tail, began) = (stored.tail(&self.sealer)?, stored.epoch);
        if tail.revision != expected {
            return Err(StoreError::Moved {
                instance: name.clone(),
                expected,
                found: tail.revision,
            });
        }
        SmallStore::append(
            &all,
            name,
            &mut tail,
            (began, lease.epoch),
            entries,
            &self.sealer,
        )?;
        let revision = tail.revision;
        let stored = all.entry(name.clone()).or_default();
        stored.put(name, tail, &self.sealer)?;
        stored.epoch = lease.epoch;
        Ok(revision)
    }

    fn prune_now(&self, lease: &Lease, first: &str) -> Result<Pruned, StoreError> {
        let mut all = self.lock();
        let stored = self.held(&mut all, lease)?;
        let mut tail = stored.tail(&self.sealer)?;
        let refused = |what| StoreError::Refused {
            instance: lease.instance.clone(),
            what,
        };
        let first = folded(&tail).may_begin_with(first).map_err(refused)?;
        let kept = tail
            .entries
            .split_off(tail.entries.partition_point(|line| line.sequence < first));
        let operations = tail
            .entries
            .iter()
            .filter(|line| line.entry.kind.begins().is_some())
            .count() as u64;
        let entries = tail.entries.len() as u64;
        if operations > 0 {
            let from = folded(&tail).checkpoint();
            stored.put(
                &lease.instance,
                Tail {
                    from,
                    entries: kept,
                    ..tail
                },
                &self.sealer,
            )?;
        }
        Ok(Pruned {
            operations,
            entries,
            documents: 0,
        })
    }

    fn rename_now(&self, lease: &Lease, to: &InstanceName) -> Result<(), StoreError> {
        let mut all = self.lock();
        let stored = self.held(&mut all, lease)?;
        if stored.text.is_none() {
            return Err(StoreError::Unknown {
                instance: lease.instance.clone(),
            });
        }
        let (tail, row, epoch) = (
            stored.tail(&self.sealer)?,
            stored.lease.clone(),
            stored.epoch,
        );
        let new = all.entry(to.clone()).or_default();
        if let Some(holder) = new.lease.holder(&*self.host).filter(LeaseHolder::is_active) {
            return Err(StoreError::Busy {
                instance: to.clone(),
                holder: Some(holder),
            });
        }
        let found = new.tail(&self.sealer)?.revision;
        if found > Revision(0) {
            return Err(StoreError::Moved {
                instance: to.clone(),
                expected: Revision(0),
                found,
            });
        }
        new.put(to, tail, &self.sealer)?;
        new.lease.continue_after(&row);
        new.epoch = epoch;
        all.insert(
            lease.instance.clone(),
            Stored {
                lease: row,
                ..Stored::default()
            },
        );
        Ok(())
    }

    fn rekey_now(&self, to: &Sealer) -> Result<u64, StoreError> {
        let mut all = self.lock();
        if !to.can_seal() {
            return Err(StoreError::NoKey);
        }
        for (name, stored) in &*all {
            if let Some(holder) = stored
                .lease
                .holder(&*self.host)
                .filter(LeaseHolder::is_active)
            {
                return Err(StoreError::Busy {
                    instance: name.clone(),
                    holder: Some(holder),
                });
            }
        }
        let tails: Vec<Tail> = all
            .values()
            .map(|stored| stored.tail(&self.sealer))
            .collect::<Result<_, _>>()?;
        let mut sealed = 0;
        for ((name, stored), tail) in all.iter_mut().zip(tails) {
            stored.lease.end(&*self.host);
            sealed += tail
                .entries
                .iter()
                .filter(|line| line.entry.kind.has_secret())
                .count() as u64;
            if stored.text.is_some() {
                stored.put(name, tail, to)?;
            }
        }
        Ok(sealed)
    }

    fn restore_now(
        &self,
        name: &InstanceName,
        revision: Revision,
        base: Option<Checkpoint>,
        operations: Vec<Vec<Entry>>,
    ) -> Result<(), StoreError> {
        let mut all = self.lock();
        let stored = all.entry(name.clone()).or_default();
        if let Some(holder) = stored
            .lease
            .holder(&*self.host)
            .filter(LeaseHolder::is_active)
        {
            return Err(StoreError::Busy {
                instance: name.clone(),
                holder: Some(holder),
            });
        }
        let found = stored.tail(&self.sealer)?.revision;
        if found > Revision(0) {
            return Err(StoreError::Moved {
                instance: name.clone(),
                expected: Revision(0),
                found,
            });
        }
        let mut tail = Tail {
            from: base.unwrap_or_default(),
            ..Tail::default()
        };
        for entries in operations {
            // A restored journal belongs to no lease, so that any operation may follow another.
            SmallStore::append(&all, name, &mut tail, (0, u64::MAX), entries, &self.sealer)?;
        }
        tail.revision = revision;
        all.entry(name.clone())
            .or_default()
            .put(name, tail, &self.sealer)
    }
}

impl Store for SmallStore {
    fn instances<'a>(&'a self) -> BoxFuture<'a, Result<Vec<InstanceInfo>, StoreError>> {
        let shown = |stored: &Stored| {
            Some(InstanceInfo {
                holder: stored.lease.holder(&*self.host),
                ..stored.info.clone()?
            })
        };
        Box::pin(async move { Ok(self.lock().values().filter_map(shown).collect()) })
    }

    fn read<'a>(
        &'a self,
        instance: &'a InstanceName,
        since: Since,
    ) -> BoxFuture<'a, Result<Option<Tail>, StoreError>> {
        Box::pin(async move {
            let all = self.lock();
            let Some(stored) = all.get(instance).filter(|stored| stored.text.is_some()) else {
                return Ok(None);
            };
            let mut tail = stored.tail(&self.sealer)?;
            if let Since::Entry(sequence) = since
                && sequence > tail.from.sequence
            {
                tail.from = Checkpoint {
                    sequence,
                    ..Checkpoint::default()
                };
                tail.entries.retain(|line| line.sequence > sequence);
            }
            Ok(Some(tail))
        })
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
        Box::pin(async move {
            let mut all = self.lock();
            let stored = all.entry(instance.clone()).or_default();
            let revision = stored
                .info
                .as_ref()
                .map(|info| info.revision)
                .unwrap_or_default();
            stored
                .lease
                .acquire(instance, revision, who, lasts, &*self.host)
        })
    }

    fn renew<'a>(
        &'a self,
        lease: &'a Lease,
        lasts: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.held(&mut self.lock(), lease)
                .map(|stored| stored.lease.extend(lasts, &*self.host))
        })
    }

    fn check_lease<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.held(&mut self.lock(), lease).map(|_| ()) })
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let _ = self
                .held(&mut self.lock(), lease)
                .map(|stored| stored.lease.end(&*self.host));
            Ok(())
        })
    }

    fn holder<'a>(
        &'a self,
        instance: &'a InstanceName,
    ) -> BoxFuture<'a, Result<Option<LeaseHolder>, StoreError>> {
        Box::pin(async {
            Ok(self
                .lock()
                .get(instance)
                .and_then(|stored| stored.lease.holder(&*self.host)))
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
            let mut all = self.lock();
            let Some(stored) = all.get_mut(instance) else {
                return Ok(None);
            };
            let info = stored.info.as_ref();
            let place = (instance, info.map(|info| info.revision).unwrap_or_default());
            stored
                .lease
                .take_away(place, who, lasts, even_active, &*self.host)
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

#[test]
fn a_store_of_one_text_for_each_instance_passes_the_suite() {
    let failures = block_on(contract_tests::store::check(&|| {
        let shared = Shared::default();
        Box::new(move |sealer, host| {
            Box::new(SmallStore {
                shared: shared.clone(),
                sealer,
                host,
            }) as Box<dyn Store>
        })
    }));
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
