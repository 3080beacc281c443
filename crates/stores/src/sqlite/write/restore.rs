//! Restores the journal of an instance that another store exported.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};
use state::seal::SealPlace;
use state::{
    Checkpoint, Entry, EntryKind, InstanceName, Journal, Lease, Outcome, Revision, Snapshot,
    StoreError,
};

use super::super::body;
use super::super::failure::{damaged, failed};
use super::StateWriter;
use super::entry_rows::EntryRows;
use super::known::{KnownInstance, KnownRecords};
use super::write_error::WriteError;

impl StateWriter {
    /// Restores a journal in one transaction, with a lease for each operation.
    pub(super) fn restore(
        &mut self,
        connection: &mut Connection,
        instance: &InstanceName,
        revision: Revision,
        base: Option<&Checkpoint>,
        operations: &[Vec<Entry>],
    ) -> Result<(), StoreError> {
        let path = self.path.clone();
        let at = |error| failed(&path, error);
        let words = |trouble| match trouble {
            WriteError::Refused(error) | WriteError::Failed(error) => error,
            WriteError::Sqlite(error) => failed(&path, error),
            WriteError::InconsistentRevisions => damaged(&path),
        };
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(at)?;
        if let Some(base) = base {
            self.restore_base(&transaction, instance, base)
                .map_err(words)?;
        }
        for (done, entries) in (0..).zip(operations) {
            let lasts = Duration::from_secs(1);
            let lease = self
                .grant_lease(&transaction, instance, "import", lasts)
                .map_err(words)?;
            self.commit(&transaction, &lease, Revision(done), entries)
                .map_err(words)?;
            self.end_lease(&transaction, instance, lease.epoch.cast_signed())
                .map_err(words)?;
        }
        if let Some(mut head) = self.reading(&transaction).head(instance)? {
            head.revision = revision.0.cast_signed();
            head.write(&transaction, instance).map_err(at)?;
        }
        transaction.commit().map_err(at)
    }

    /// Restores the remains of operations that were pruned elsewhere: outcomes in a gap.
    fn restore_base(
        &mut self,
        connection: &Connection,
        name: &InstanceName,
        base: &Checkpoint,
    ) -> Result<(), WriteError> {
        let lease = Lease {
            instance: name.clone(),
            epoch: 0,
            revision: Revision(0),
        };
        let found = self
            .reading(connection)
            .revision(name)
            .map_err(WriteError::Failed)?;
        if found != Revision(0) {
            let expected = Revision(0);
            return Err(WriteError::Refused(StoreError::Moved {
                instance: name.clone(),
                expected,
                found,
            }));
        }
        if !self.sealer.can_seal()
            && base
                .snapshot
                .records
                .values()
                .any(|record| record.has_secret())
        {
            return Err(WriteError::Refused(StoreError::NoKey));
        }
        let mut head = self.new_head(connection)?;
        head.id = self.add_instance(connection, head.tagger.as_ref())?;
        let Snapshot {
            uid,
            document,
            generation,
            exports_old,
            records,
            ..
        } = &base.snapshot;
        head.journal = state::JournalHead {
            uid: uid.clone(),
            document: document.clone(),
            created: base.created,
            generation: *generation,
            exports_old: *exports_old,
            ..state::JournalHead::default()
        };
        let outcomes = records.iter().map(|(address, record)| {
            let outcome = Outcome {
                address: address.clone(),
                record: Some(record.clone()),
                error: None,
            };
            Entry {
                step: 0,
                kind: EntryKind::Outcome(Arc::new(outcome)),
            }
        });
        let outcomes: Vec<Entry> = outcomes.collect();
        let mut bodies = Vec::with_capacity(outcomes.len());
        for (entry, record) in outcomes.iter().zip(1..) {
            let body = body::write(&self.sealer, SealPlace { uid, record }, &entry.kind);
            bodies.push(Some(
                body.map_err(|error| WriteError::Failed(error.into()))?,
            ));
        }
        let mut known = KnownRecords::none();
        let mut writing = EntryRows {
            connection,
            path: &self.path,
            sealer: &self.sealer,
            host: &*self.host,
            head: &mut head,
            records: &mut known,
        };
        writing.write(&lease, &outcomes, bodies)?;
        // A gap has at least one entry.
        head.journal.entries = head.journal.entries.max(1);
        head.pruned = head.entries();
        let journal = Journal::with_open_calls(head.journal.generation, []);
        head.journal.settle(&journal);
        head.write(connection, name)?;
        self.known.insert(
            name.clone(),
            KnownInstance {
                head,
                journal,
                records: known,
                seen: None,
            },
        );
        Ok(())
    }
}
