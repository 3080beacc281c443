//! Writes the rows of the entries of one commit.

use std::path::Path;

use rusqlite::{Connection, params};
use state::seal::{SealPlace, Sealer};
use state::tag::Tagger;
use state::{Entry, EntryKind, Finished, Host, Lease, Operation, Outcome, StoreError};

use super::super::body::EntryBody;
use super::super::documents;
use super::super::head::{EntryRow, InstanceRow};
use super::super::operations::OperationRow;
use super::super::reading::{self, StateReader};
use super::known::KnownRecords;
use super::write_error::WriteError;

/// Writes the rows of entries whose bodies are ready, and updates the head.
pub(super) struct EntryRows<'a> {
    pub(super) connection: &'a Connection,
    pub(super) path: &'a Path,
    pub(super) sealer: &'a Sealer,
    pub(super) host: &'a dyn Host,
    pub(super) head: &'a mut InstanceRow,
    pub(super) records: &'a mut KnownRecords,
}

impl EntryRows<'_> {
    pub(super) fn write(
        &mut self,
        lease: &Lease,
        entries: &[Entry],
        bodies: Vec<Option<EntryBody>>,
    ) -> Result<(), WriteError> {
        let Some(tagger) = self.head.tagger.clone() else {
            return Err(WriteError::Failed(StoreError::WrongKey));
        };
        let sql = "INSERT INTO entries (id, step, kind, sealed, body, mac) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let mut add = self.connection.prepare_cached(sql)?;
        for (entry, body) in entries.iter().zip(bodies) {
            self.head.journal.follow(entry);
            let (sequence, id) = (self.head.entries(), self.head.entry(self.head.entries()));
            let body = match (body, &entry.kind) {
                (None, EntryKind::Began(operation)) => self.operation(operation)?,
                (None, _) => return Err(WriteError::InconsistentRevisions),
                (Some(body), _) => body,
            };
            let (step, text) = (i64::from(entry.step), body.text.as_bytes());
            let row = EntryRow {
                id,
                step,
                kind: body.kind,
                sealed: body.sealed,
                body: text,
                mac: None,
            };
            add.execute(params![
                id,
                step,
                body.kind,
                body.sealed,
                body.text,
                self.head.entry_tag(&tagger, &row)
            ])?;
            match &entry.kind {
                EntryKind::Intent(_) => {}
                EntryKind::Outcome(outcome) => self.outcome(&tagger, id, outcome)?,
                EntryKind::Began(operation) => {
                    let row = OperationRow {
                        name: operation.id.clone(),
                        number: self.head.operations(),
                        first: sequence,
                        epoch: lease.epoch.cast_signed(),
                        kind: operation.kind.word().to_owned(),
                        who: operation.who.clone(),
                        began: operation.began,
                        document: operation.document.clone(),
                        outcome: None,
                        ended: None,
                        generation: None,
                        counts: [None; 4],
                    };
                    row.write(self.connection, self.head)?;
                }
                EntryKind::Finished(finished) => self.finished(finished)?,
            }
        }
        Ok(())
    }

    /// Stores the documents of an operation that begins, and returns its body.
    fn operation(&mut self, operation: &Operation) -> Result<EntryBody, WriteError> {
        let uid = self.head.journal.uid.clone();
        let place = SealPlace {
            uid: &uid,
            record: self.head.journal.entries,
        };
        let EntryRows {
            connection,
            path,
            sealer,
            head,
            ..
        } = self;
        documents::write_operation(connection, path, sealer, head, place, operation)
            .map_err(WriteError::Failed)
    }

    /// Adds, changes or removes the row of a record.
    fn outcome(&mut self, tagger: &Tagger, id: i64, outcome: &Outcome) -> Result<(), WriteError> {
        let address = outcome.address.to_string();
        let EntryRows {
            connection,
            head,
            records,
            ..
        } = self;
        let known = records.at(connection, head)?;
        let (live, uid) = (&mut head.records_digest, &head.journal.uid);
        match (outcome.record.is_some(), known.get_mut(&*address)) {
            (true, None) => {
                let sql = "INSERT INTO records (id, address, entry) VALUES (?1, ?2, ?1)";
                connection
                    .prepare_cached(sql)?
                    .execute(params![id, address])?;
                live.add(tagger, uid, (id, id, &address));
                known.insert(address.into(), (id, id));
            }
            (true, Some((lies_at, of))) => {
                let sql = "UPDATE records SET entry = ?2 WHERE id = ?1";
                connection
                    .prepare_cached(sql)?
                    .execute(params![*lies_at, id])?;
                live.remove(tagger, uid, (*lies_at, *of, &address));
                live.add(tagger, uid, (*lies_at, id, &address));
                *of = id;
            }
            (false, Some((lies_at, of))) => {
                connection
                    .prepare_cached("DELETE FROM records WHERE id = ?1")?
                    .execute(params![*lies_at])?;
                live.remove(tagger, uid, (*lies_at, *of, &address));
                known.swap_remove(&*address);
            }
            (false, None) => {}
        }
        Ok(())
    }

    /// Writes the end of the running operation.
    fn finished(&mut self, finished: &Finished) -> Result<(), WriteError> {
        let EntryRows {
            connection,
            path,
            sealer,
            host,
            head,
            ..
        } = self;
        let format = reading::FORMAT;
        let reading = StateReader {
            connection,
            format,
            has_digests: false,
            display_only: false,
            path,
            sealer,
            host: *host,
        };
        let Some(last) = reading
            .operations(head, 1)
            .map_err(WriteError::Failed)?
            .pop()
        else {
            return Err(WriteError::InconsistentRevisions);
        };
        let ended = OperationRow {
            outcome: Some(finished.outcome.word().to_owned()),
            ended: Some(finished.at),
            generation: Some(finished.generation.0.cast_signed()),
            counts: <[u64; 4]>::from(finished.counts).map(|count| Some(count.cast_signed())),
            ..last
        };
        Ok(ended.write(connection, head)?)
    }
}
