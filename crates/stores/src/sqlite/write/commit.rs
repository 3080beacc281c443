//! Commits entries to an instance: the checks of a commit, then its rows and the new head.

use std::collections::HashMap;

use blueprint::Address;
use rusqlite::Connection;
use state::seal::SealPlace;
use state::tag::Tagger;
use state::{
    Entry, EntryKind, Journal, Lease, OperationOutcome, Revision, StoreError, records_are_left,
};

use super::super::head::InstanceRow;
use super::super::{body, head, upgrade};
use super::StateWriter;
use super::entry_rows::EntryRows;
use super::known::{KnownInstance, KnownRecords};
use super::request::WriteAnswer;
use super::write_error::WriteError;

impl StateWriter {
    pub(super) fn commit(
        &mut self,
        connection: &Connection,
        lease: &Lease,
        expected: Revision,
        entries: &[Entry],
    ) -> Result<WriteAnswer, WriteError> {
        let name = &lease.instance;
        let seen = self.version.map(|version| (lease.epoch, version));
        let known = match self.known.remove(name) {
            Some(known) if seen.is_some() && known.seen == seen => Some(known),
            known => {
                self.check_held(connection, lease)?;
                self.load_known(connection, name, known)?
            }
        };
        let KnownInstance {
            mut head,
            mut journal,
            mut records,
            ..
        } = match known {
            Some(known) => known,
            None => {
                let (journal, records) = (Journal::default(), KnownRecords::none());
                KnownInstance {
                    head: self.new_head(connection)?,
                    journal,
                    records,
                    seen: None,
                }
            }
        };
        let found = Revision(head.revision.unsigned_abs());
        if found != expected {
            self.known.insert(
                name.clone(),
                KnownInstance {
                    head,
                    journal,
                    records,
                    seen,
                },
            );
            return Err(WriteError::Refused(StoreError::Moved {
                instance: name.clone(),
                expected,
                found,
            }));
        }
        // From here on the instance is not in the cache until everything is written.
        let refused = |what| {
            WriteError::Refused(StoreError::Refused {
                instance: name.clone(),
                what,
            })
        };
        journal.check(lease.epoch, entries).map_err(refused)?;
        let began = match entries.first().map(|entry| &entry.kind) {
            Some(EntryKind::Began(operation)) => Some(operation),
            _ => None,
        };
        if let Some(operation) = began
            && connection
                .prepare_cached("SELECT 1 FROM operations WHERE name = ?1")?
                .exists([&*operation.id])?
        {
            let operation = operation.id.clone();
            return Err(WriteError::Refused(StoreError::OperationExists {
                instance: name.clone(),
                operation,
            }));
        }
        if let Some(left) = count_remaining_records(connection, &head, &mut records, entries)? {
            return Err(refused(records_are_left(left)));
        }
        if head.id == 0
            && let Some(operation) = began
        {
            // Bodies are sealed for this uid.
            head.journal.uid = operation.id.clone();
            head.journal.created = operation.began;
        }
        if !self.sealer.can_seal() && entries.iter().any(|entry| entry.kind.has_secret()) {
            return Err(WriteError::Refused(StoreError::NoKey));
        }
        let mut bodies = Vec::with_capacity(entries.len());
        for (entry, sequence) in entries.iter().zip(head.journal.entries + 1..) {
            let place = SealPlace {
                uid: &head.journal.uid,
                record: sequence,
            };
            // Documents are stored with the body of their operation.
            bodies.push(match &entry.kind {
                EntryKind::Began(operation) if body::has_long_text(&operation.desired) => None,
                kind => Some(
                    body::write(&self.sealer, place, kind)
                        .map_err(|error| WriteError::Refused(error.into()))?,
                ),
            });
        }
        if head.id == 0 {
            head.id = self.add_instance(connection, head.tagger.as_ref())?;
            // Operations refer to this row.
            head.write(connection, name)?;
        } else if head.tagger.as_ref().is_some_and(|tagger| !tagger.has_key())
            && self.sealer.can_seal()
        {
            // A key is available for the first time: from here on rows are authenticated.
            let to = self.sealer.tagger();
            let (count, _) = self
                .reading(connection)
                .count()
                .map_err(WriteError::Failed)?;
            upgrade::retag(&self.reading(connection), &mut head, to.clone(), None)
                .map_err(WriteError::Failed)?;
            head::write_count(connection, &to, count)?;
        }
        let mut writing = EntryRows {
            connection,
            path: &self.path,
            sealer: &self.sealer,
            host: &*self.host,
            head: &mut head,
            records: &mut records,
        };
        writing.write(lease, entries, bodies)?;
        journal.follow(lease.epoch, entries);
        head.revision += 1;
        head.journal.settle(&journal);
        head.write(connection, name)?;
        let revision = Revision(head.revision.unsigned_abs());
        self.known.insert(
            name.clone(),
            KnownInstance {
                head,
                journal,
                records,
                seen,
            },
        );
        Ok(WriteAnswer::Committed(revision))
    }

    /// Assigns a number to a new instance, and counts it.
    pub(super) fn add_instance(
        &self,
        connection: &Connection,
        tagger: Option<&Tagger>,
    ) -> Result<i64, WriteError> {
        let Some(tagger) = tagger else {
            return Err(WriteError::Failed(StoreError::WrongKey));
        };
        let (count, _) = self
            .reading(connection)
            .count()
            .map_err(WriteError::Failed)?;
        head::write_count(connection, tagger, count + 1)?;
        let mut statement =
            connection.prepare_cached("SELECT coalesce(max(id), 0) + 1 FROM instances")?;
        Ok(statement.query_row([], |row| row.get(0))?)
    }
}

/// The number of records left by entries that end an operation as `Gone`; `None` if there is no
/// such end or none is left.
fn count_remaining_records(
    connection: &Connection,
    head: &InstanceRow,
    records: &mut KnownRecords,
    entries: &[Entry],
) -> Result<Option<usize>, WriteError> {
    match entries.last().map(|entry| &entry.kind) {
        Some(EntryKind::Finished(finished)) if finished.outcome == OperationOutcome::Gone => {}
        _ => return Ok(None),
    }
    let before = records.at(connection, head)?;
    let mut after: HashMap<&Address, bool> = HashMap::new();
    for entry in entries {
        if let EntryKind::Outcome(outcome) = &entry.kind {
            after.insert(&outcome.address, outcome.record.is_some());
        }
    }
    let (mut added, mut removed) = (0, 0);
    for (address, is_after) in after {
        match (before.contains_key(&*address.to_string()), is_after) {
            (false, true) => added += 1,
            (true, false) => removed += 1,
            _ => {}
        }
    }
    Ok(Some(before.len() + added - removed).filter(|left| *left != 0))
}
