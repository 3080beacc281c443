//! Removing past operations, and restoring the remains of operations that were pruned elsewhere.
//!
//! Outcomes of current records stay in their places, with their seals and tags; only the other
//! entries are removed.

use rusqlite::{Connection, params};
use state::{Lease, Pruned, StoreError, is_needed};

use super::head::InstanceRow;
use super::reading::StateReader;

/// Removes the operations before this one, in the transaction of the caller. Returns the new row of
/// the instance, which is not written yet, and the numbers of removed items; `None` if there is
/// nothing to remove.
pub(super) fn prune(
    reading: &StateReader<'_>,
    lease: &Lease,
    first: &str,
) -> Result<Option<(InstanceRow, Pruned)>, StoreError> {
    let at = |error| reading.at(error);
    let refused = |what| StoreError::Refused {
        instance: lease.instance.clone(),
        what,
    };
    let mut head = reading.require_head(&lease.instance)?;
    let Some(operation) = reading.operation_row(&head, first)? else {
        return Err(refused(format!("there is no operation `{first}`")));
    };
    if head
        .journal
        .needed()
        .is_none_or(|needed| operation.first.unsigned_abs() > needed)
    {
        return Err(refused(is_needed(first)));
    }
    let operations = operation.number - 1 - head.pruned_operations;
    if operations == 0 {
        return Ok(None);
    }
    // The records decide which entries stay, so they are checked first.
    reading.record_entries(&head)?;
    let connection = reading.connection;
    let remove = |sql: &str, from: i64, to: i64| -> Result<u64, StoreError> {
        let count = connection
            .prepare_cached(sql)
            .and_then(|mut it| it.execute(params![from, to]))
            .map_err(at)?;
        Ok(count as u64)
    };
    let entries = remove(
        "DELETE FROM entries WHERE id BETWEEN ?1 AND ?2 AND id NOT IN \
         (SELECT entry FROM records WHERE id >> 40 = ?1 >> 40)",
        head.entry(1),
        head.entry(operation.first - 1),
    )?;
    remove(
        "DELETE FROM operations WHERE instance = ?1 AND first < ?2",
        head.id,
        operation.first,
    )?;
    head.pruned = operation.first - 1;
    head.pruned_operations = operation.number - 1;
    let documents = remove_unnamed(connection, reading, &head)?;
    Ok(Some((
        head,
        Pruned {
            operations: operations.unsigned_abs(),
            entries,
            documents,
        },
    )))
}

/// Removes the documents to which no operation refers any more.
fn remove_unnamed(
    connection: &Connection,
    reading: &StateReader<'_>,
    head: &InstanceRow,
) -> Result<u64, StoreError> {
    let at = |error| reading.at(error);
    let named = reading.named_documents(head)?;
    let mut removed = 0;
    for number in reading
        .stored_documents(head)?
        .into_iter()
        .filter(|number| !named.contains(number))
    {
        let mut statement = connection
            .prepare_cached("DELETE FROM documents WHERE id = ?1")
            .map_err(at)?;
        removed += statement.execute([head.entry(number)]).map_err(at)? as u64;
    }
    Ok(removed)
}
