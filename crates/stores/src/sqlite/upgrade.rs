//! Writes new tags for existing rows: when the file is converted from an older format, when a key
//! is available for the first time, and when the key changes. Each function expects a transaction
//! of the caller.
//!
//! Not here: the changes of the tables (`schema`); the seals of entries under a new key (`rekey`).

use rusqlite::{Connection, params};
use state::seal::Sealer;
use state::tag::{Tag, Tagger};
use state::{Host, InstanceName, StoreError};
use std::path::Path;

use super::digest::RecordsDigest;
use super::failure::{damaged, damaged_row, failed};
use super::head::{self, EntryRow, InstanceRow};
use super::lease;
use super::reading::{StateReader, text};

/// Reads the rows of the instances of a file of an older format, and checks each instance as far as
/// that format allows: the digest of its records if there is one, and that no entry is missing.
pub(super) fn checked(
    reading: &StateReader<'_>,
) -> Result<Vec<(InstanceName, InstanceRow)>, StoreError> {
    let mut heads = Vec::new();
    for name in reading.names()? {
        let name: InstanceName = name.parse().map_err(|_| damaged(reading.path))?;
        let head = reading.require_head(&name)?;
        reading.record_entries(&head)?;
        reading.check_none_missing(&head, 1, head.entries())?;
        heads.push((name, head));
    }
    Ok(heads)
}

/// Tags all rows of a file of format 1 or 2, which have no tags yet, and numbers the operations.
/// `heads` is the result of [`checked`].
pub(super) fn tag_all(
    connection: &Connection,
    path: &Path,
    sealer: &Sealer,
    host: &dyn Host,
    heads: Vec<(InstanceName, InstanceRow)>,
) -> Result<(), StoreError> {
    let at = |error| failed(path, error);
    let tagger = sealer.tagger();
    head::write_count(connection, &tagger, heads.len() as i64).map_err(at)?;
    for (name, mut head) in heads {
        let sql = "SELECT count(*) FROM operations WHERE instance = ?1";
        let operations: i64 = connection
            .query_row(sql, [head.id], |row| row.get(0))
            .map_err(at)?;
        head.journal.operations = operations.unsigned_abs();
        let sql = "UPDATE operations SET number = (SELECT count(*) FROM operations o WHERE o.instance = operations.instance \
                   AND o.first <= operations.first) WHERE instance = ?1";
        connection.execute(sql, [head.id]).map_err(at)?;
        // `format: 2` reads the rows without a check, because they have no tags yet.
        let reading = StateReader {
            connection,
            format: 2,
            has_digests: false,
            display_only: false,
            path,
            sealer,
            host,
        };
        let operations = reading.operations(&head, i64::MAX)?;
        head.tagger = Some(tagger.clone());
        for (mut operation, number) in operations.into_iter().zip((1..=head.operations()).rev()) {
            operation.number = number;
            operation.write(connection, &head).map_err(at)?;
        }
        tag_entries(connection, path, &head, None)?;
        head.records_digest = compute_records_digest(connection, path, &head, &tagger)?;
        head.write(connection, &name).map_err(at)?;
    }
    let reading = StateReader {
        connection,
        format: 2,
        has_digests: false,
        display_only: false,
        path,
        sealer,
        host,
    };
    tag_leases(&reading, sealer)
}

/// Replaces the tags of the operations, documents and entries of an instance, and the digest of its
/// records, with those under another key. Checks the rows under the present key first. With
/// `sealer`, also seals the documents again.
///
/// Changes `head`, but does not write its row. Does not change the tag of the lease.
pub(super) fn retag(
    reading: &StateReader<'_>,
    head: &mut InstanceRow,
    to: Tagger,
    sealer: Option<&Sealer>,
) -> Result<(), StoreError> {
    let (connection, path) = (reading.connection, reading.path);
    let at = |error| reading.at(error);
    let from = head
        .tagger
        .clone()
        .ok_or_else(|| StoreError::from(reading.sealer.cannot_open()))?;
    let operations = reading.operations(head, i64::MAX)?;
    reading.check_none_missing(head, head.pruned + 1, head.entries())?;
    reading.write_documents_again(head, &to, sealer)?;
    if compute_records_digest(connection, path, head, &from)? != head.records_digest {
        return Err(damaged_row(
            path,
            "the records of an instance are not what was written",
        ));
    }
    head.records_digest = compute_records_digest(connection, path, head, &to)?;
    head.tagger = Some(to);
    tag_entries(connection, path, head, Some(&from))?;
    for operation in operations {
        operation.write(connection, head).map_err(at)?;
    }
    Ok(())
}

/// Writes the rows of the instances of a file of format 3, and the row with their number, with the
/// tags of this format. `key` is the id of the key of that file; `WrongKey` if that key is not
/// available.
pub(super) fn write_heads(
    connection: &Connection,
    path: &Path,
    sealer: &Sealer,
    key: &str,
    heads: Vec<(InstanceName, InstanceRow)>,
) -> Result<(), StoreError> {
    let at = |error| failed(path, error);
    let tagger = sealer
        .tagger_of(key)
        .ok_or_else(|| StoreError::from(sealer.cannot_open()))?;
    head::write_count(connection, &tagger, heads.len() as i64).map_err(at)?;
    heads
        .iter()
        .try_for_each(|(name, head)| head.write(connection, name).map_err(at))
}

/// Computes the digest of the records of an instance from their rows.
pub(super) fn compute_records_digest(
    connection: &Connection,
    path: &Path,
    head: &InstanceRow,
    tagger: &Tagger,
) -> Result<RecordsDigest, StoreError> {
    let at = |error| failed(path, error);
    let sql = "SELECT id, entry, address FROM records WHERE id BETWEEN ?1 AND ?2";
    let mut statement = connection.prepare_cached(sql).map_err(at)?;
    let mut rows = statement
        .query([head.entry(0), head.entry(head.entries())])
        .map_err(at)?;
    let mut digest = RecordsDigest::default();
    while let Some(row) = rows.next().map_err(at)? {
        let address: String = row.get(2).map_err(at)?;
        digest.add(
            tagger,
            &head.journal.uid,
            (row.get(0).map_err(at)?, row.get(1).map_err(at)?, &address),
        );
    }
    Ok(digest)
}

/// Tags the entries of an instance with the tagger of `head`. With `from`, the former tagger, first
/// checks each entry against its present tag. Only entries up to `head.pruned` may be missing.
fn tag_entries(
    connection: &Connection,
    path: &Path,
    head: &InstanceRow,
    from: Option<&Tagger>,
) -> Result<(), StoreError> {
    let at = |error| failed(path, error);
    let Some(to) = &head.tagger else {
        return Err(StoreError::WrongKey);
    };
    let mut read = connection
        .prepare_cached("SELECT id, step, kind, sealed, body, mac FROM entries WHERE id = ?1")
        .map_err(at)?;
    let mut write = connection
        .prepare_cached("UPDATE entries SET mac = ?2 WHERE id = ?1")
        .map_err(at)?;
    for sequence in 1..=head.entries() {
        let id = head.entry(sequence);
        let mut rows = read.query([id]).map_err(at)?;
        let row = match rows.next().map_err(at)? {
            Some(row) => row,
            None if sequence <= head.pruned => continue,
            None => return Err(damaged(path)),
        };
        let (kind, mac): (String, Option<Tag>) = (row.get(2).map_err(at)?, row.get(5).map_err(at)?);
        let (step, sealed) = (row.get(1).map_err(at)?, row.get(3).map_err(at)?);
        let entry = EntryRow {
            id,
            step,
            kind: &kind,
            sealed,
            body: text(row, 4).map_err(at)?,
            mac,
        };
        if from.is_some_and(|from| Some(head.entry_tag(from, &entry)) != mac) {
            return Err(damaged_row(
                path,
                &format!("entry {sequence} is not what was written"),
            ));
        }
        let tag = head.entry_tag(to, &entry);
        drop(rows);
        write.execute(params![id, tag]).map_err(at)?;
    }
    Ok(())
}

/// The names of the instances that have a row in the table of leases, whether or not the lease is
/// held.
pub(super) fn leased(
    connection: &Connection,
    path: &Path,
) -> Result<Vec<InstanceName>, StoreError> {
    let at = |error| failed(path, error);
    let mut statement = connection.prepare("SELECT name FROM leases").map_err(at)?;
    let rows = statement
        .query_map([], |row| row.get::<_, String>(0))
        .map_err(at)?;
    rows.map(|name| name.map_err(at)?.parse().map_err(|_| damaged(path)))
        .collect()
}

/// Checks the rows of all leases and tags them with the key of `to`. The leases stay in effect.
pub(super) fn tag_leases(reading: &StateReader<'_>, to: &Sealer) -> Result<(), StoreError> {
    for name in leased(reading.connection, reading.path)? {
        let Some(held) = reading.read_lease(&name)? else {
            continue;
        };
        lease::rewrite(reading.connection, to, &name, &held).map_err(|error| reading.at(error))?;
    }
    Ok(())
}

/// Ends all leases, and tags their rows with the key of `to`. The epochs stay.
pub(super) fn end_leases(reading: &StateReader<'_>, to: &Sealer) -> Result<(), StoreError> {
    for name in leased(reading.connection, reading.path)? {
        let Some(held) = reading.read_lease(&name)? else {
            continue;
        };
        lease::end(reading.connection, to, name.as_str(), held.epoch)
            .map_err(|error| reading.at(error))?;
    }
    Ok(())
}
