//! Reading the records of an instance: in batches, which a second thread helps to parse.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, TrySendError};

use blueprint::{Address, IndexMap, Names};
use rusqlite::params_from_iter;
use state::seal::Sealer;
use state::tag::Tag;
use state::{Outcome, Record, StoreError};

use super::body;
use super::digest::{OldDigest, RecordsDigest};
use super::failure::{damaged, damaged_row};
use super::head::{EntryRow, InstanceRow, sequence_of};
use super::reading::{StateReader, text};

/// The number of records that are passed to the other thread at once.
const BATCH: usize = 256;

/// The number of entries that one statement looks up.
const AT_ONCE: usize = 64;

impl StateReader<'_> {
    pub(super) fn records(
        &self,
        head: &InstanceRow,
    ) -> Result<IndexMap<Address, Arc<Record>>, StoreError> {
        let mut positions = self.record_entries(head)?;
        // Records are read in the order of the file, then sorted.
        positions.sort_by_key(|(_, entry)| *entry);
        let (path, sealer) = (self.path, self.sealer);
        // Parsing takes longer than reading, so a second thread takes as many batches as it can.
        let found = std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::sync_channel::<RecordBatch>(1);
            let mut helper = None;
            let mut receiver = Some(receiver);
            let mut local_parser = RecordParser::new(path, sealer, head);
            for wanted in positions.chunks(BATCH) {
                let batch = self.batch(wanted)?;
                if wanted.len() < BATCH {
                    local_parser.parse_batch(&batch)?;
                    continue;
                }
                if let Some(receiver) = receiver.take() {
                    helper = Some(scope.spawn(move || {
                        let mut helper_parser = RecordParser::new(path, sealer, head);
                        receiver
                            .into_iter()
                            .try_for_each(|batch| helper_parser.parse_batch(&batch))?;
                        Ok::<_, StoreError>(helper_parser.found)
                    }));
                }
                // If the second thread is busy, or has ended with an error, this thread parses the
                // batch.
                if let Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) =
                    sender.try_send(batch)
                {
                    local_parser.parse_batch(&batch)?;
                }
            }
            drop(sender);
            let helper_records = helper
                .map(|helper| helper.join().map_err(|_| damaged(path))?)
                .transpose()?;
            Ok::<_, StoreError>([local_parser.found, helper_records.unwrap_or_default()])
        })?;
        let mut in_order: Vec<Option<(Address, Arc<Record>)>> = vec![None; positions.len()];
        for (rank, address, record) in found.into_iter().flatten() {
            in_order[rank] = Some((address, record));
        }
        Ok(collect_records(in_order))
    }

    /// The rank of each record, from 0, and the id of its entry, in the order of the ranks.
    pub(super) fn record_entries(
        &self,
        head: &InstanceRow,
    ) -> Result<Vec<(usize, i64)>, StoreError> {
        let at = |error| self.at(error);
        let sql = format!(
            "SELECT id, entry, address FROM {} WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
            self.records_table()
        );
        let mut statement = self.connection.prepare_cached(&sql).map_err(at)?;
        let mut rows = statement
            .query([head.entry(0), head.entry(head.entries())])
            .map_err(at)?;
        let mut found = Vec::new();
        let (mut live, mut old_live) = (RecordsDigest::default(), OldDigest::default());
        while let Some(row) = rows.next().map_err(at)? {
            let (position, entry) = (row.get(0).map_err(at)?, row.get(1).map_err(at)?);
            if let Some(tagger) = &head.tagger {
                let address = std::str::from_utf8(text(row, 2).map_err(at)?)
                    .map_err(|_| damaged(self.path))?;
                live.add(tagger, &head.journal.uid, (position, entry, address));
            }
            old_live.add(position, entry);
            found.push((found.len(), entry));
        }
        let is_old = head
            .old_records_digest
            .is_some_and(|of_the_head| of_the_head != old_live);
        if is_old || head.tagger.is_some() && head.records_digest != live {
            return Err(damaged_row(
                self.path,
                "the records of an instance are not what was written",
            ));
        }
        Ok(found)
    }

    /// Reads the bodies of records, given the rank of each and the id of its entry.
    fn batch(&self, wanted: &[(usize, i64)]) -> Result<RecordBatch, StoreError> {
        let at = |error| self.at(error);
        let mut batch = RecordBatch {
            rows: Vec::with_capacity(wanted.len()),
            bodies: Vec::with_capacity(wanted.len() * body::USUAL),
        };
        // One statement looks up many entries, each starting from the position of the previous one.
        for wanted in wanted.chunks(AT_ONCE) {
            let list = vec!["(?)"; wanted.len()].join(",");
            let sql = format!(
                "SELECT {} FROM (VALUES {list}) AS wanted CROSS JOIN entries e ON e.id = wanted.column1",
                self.entry_columns()
            );
            let mut statement = self.connection.prepare_cached(&sql).map_err(at)?;
            let mut rows = statement
                .query(params_from_iter(wanted.iter().map(|(_, entry)| entry)))
                .map_err(at)?;
            for (rank, entry) in wanted {
                let row = rows.next().map_err(at)?.ok_or_else(|| damaged(self.path))?;
                let row = EntryRow::read(row).map_err(at)?;
                if row.id != *entry || row.kind != "outcome" {
                    return Err(damaged(self.path));
                }
                batch.add(*rank, &row);
            }
        }
        Ok(batch)
    }
}

/// Records as read from the file, with their bodies in one buffer.
struct RecordBatch {
    rows: Vec<RecordRow>,
    bodies: Vec<u8>,
}

struct RecordRow {
    rank: usize,
    entry: i64,
    step: i64,
    sealed: bool,
    mac: Option<Tag>,
    body: Range<usize>,
}

impl RecordBatch {
    fn add(&mut self, rank: usize, row: &EntryRow<'_>) {
        let start = self.bodies.len();
        self.bodies.extend_from_slice(row.body);
        let EntryRow {
            id: entry,
            step,
            sealed,
            mac,
            ..
        } = *row;
        self.rows.push(RecordRow {
            rank,
            entry,
            step,
            sealed,
            mac,
            body: start..self.bodies.len(),
        });
    }
}

/// The records that one thread parses.
struct RecordParser<'a> {
    path: &'a Path,
    sealer: &'a Sealer,
    head: &'a InstanceRow,
    /// Shared texts of types and fields, and shared addresses of dependencies. Each thread shares
    /// only those that it allocated itself: freeing the memory of another thread is slower.
    names: Names,
    known: IndexMap<Address, ()>,
    /// Ranks, addresses and records.
    found: Vec<(usize, Address, Arc<Record>)>,
}

impl<'a> RecordParser<'a> {
    fn new(path: &'a Path, sealer: &'a Sealer, head: &'a InstanceRow) -> RecordParser<'a> {
        RecordParser {
            path,
            sealer,
            head,
            names: Names::default(),
            known: IndexMap::default(),
            found: Vec::new(),
        }
    }

    fn parse_batch(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        self.found.reserve(batch.rows.len());
        for RecordRow {
            rank,
            entry,
            step,
            sealed,
            mac,
            body,
        } in &batch.rows
        {
            let text = &batch.bodies[body.clone()];
            // This takes about as long as reading, so both threads do it.
            let row = EntryRow {
                id: *entry,
                step: *step,
                kind: "outcome",
                sealed: *sealed,
                body: text,
                mac: *mac,
            };
            if !self.head.is_genuine(&row) {
                let what = format!("entry {} is not what was written", sequence_of(*entry));
                return Err(damaged_row(self.path, &what));
            }
            let outcome: Outcome = body::read(self.sealer, self.head.place(*entry), *sealed, text)?;
            let mut record = outcome.record.ok_or_else(|| damaged(self.path))?;
            if let Some(record) = Arc::get_mut(&mut record) {
                record.type_name.share(&mut self.names);
                record.origin.path = self.names.share(&record.origin.path);
                for value in [
                    &mut record.inputs,
                    &mut record.outputs,
                    &mut record.private,
                    &mut record.metadata,
                ] {
                    value.share_keys(&mut self.names);
                }
                record
                    .dependencies
                    .iter_mut()
                    .for_each(|address| self.share(address));
            }
            let mut address = outcome.address;
            self.share(&mut address);
            self.found.push((*rank, address, record));
        }
        Ok(())
    }

    fn share(&mut self, address: &mut Address) {
        match self.known.get_key_value(address) {
            Some((known, ())) => *address = known.clone(),
            None => drop(self.known.insert(address.clone(), ())),
        }
    }
}

/// The records by address. Addresses of dependencies that name other records are shared with them.
fn collect_records(found: Vec<Option<(Address, Arc<Record>)>>) -> IndexMap<Address, Arc<Record>> {
    let mut records: IndexMap<Address, Arc<Record>> =
        IndexMap::with_capacity_and_hasher(found.len(), Default::default());
    records.extend(found.into_iter().flatten());
    for at in 0..records.len() {
        let Some(record) = records
            .get_index_mut(at)
            .and_then(|(_, record)| Arc::get_mut(record))
        else {
            continue;
        };
        let mut dependencies = std::mem::take(&mut record.dependencies);
        for address in &mut dependencies {
            if let Some((known, _)) = records.get_key_value(address) {
                *address = known.clone();
            }
        }
        if let Some(record) = records
            .get_index_mut(at)
            .and_then(|(_, record)| Arc::get_mut(record))
        {
            record.dependencies = dependencies;
        }
    }
    records
}
