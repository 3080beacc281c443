//! The rows of operations: read, checked and written.

use blueprint::Name;
use rusqlite::{Connection, Row, params};
use state::StoreError;
use state::tag::{Tag, Tagger};

use super::failure::damaged_row;
use super::head::InstanceRow;
use super::reading::StateReader;

/// The row of an operation.
#[derive(Clone, Debug)]
pub(super) struct OperationRow {
    pub(super) name: Name,
    /// The position among the operations of the instance, from 1, without a gap.
    pub(super) number: i64,
    /// The sequence of its first entry.
    pub(super) first: i64,
    pub(super) epoch: i64,
    pub(super) kind: String,
    pub(super) who: Name,
    pub(super) began: i64,
    pub(super) document: Name,
    /// Outcome, end time and generation; the numbers of resources created, updated, deleted and
    /// replaced.
    pub(super) outcome: Option<String>,
    pub(super) ended: Option<i64>,
    pub(super) generation: Option<i64>,
    pub(super) counts: [Option<i64>; 4],
}

const COLUMNS: &str = "name, first, epoch, kind, who, began, document, outcome, ended, generation, created, updated, deleted, replaced";

fn read(row: &Row<'_>) -> Result<OperationRow, rusqlite::Error> {
    Ok(OperationRow {
        name: row.get(0)?,
        number: 0,
        first: row.get(1)?,
        epoch: row.get(2)?,
        kind: row.get(3)?,
        who: row.get(4)?,
        began: row.get(5)?,
        document: row.get(6)?,
        outcome: row.get(7)?,
        ended: row.get(8)?,
        generation: row.get(9)?,
        counts: [row.get(10)?, row.get(11)?, row.get(12)?, row.get(13)?],
    })
}

impl OperationRow {
    fn tag(&self, tagger: &Tagger, uid: &str) -> Tag {
        let row = tagger
            .row("operation")
            .text(uid)
            .number(self.number)
            .text(&self.name)
            .number(self.first);
        let row = row
            .number(self.epoch)
            .text(&self.kind)
            .text(&self.who)
            .number(self.began)
            .text(&self.document);
        let row = row
            .number(i64::from(self.outcome.is_some()))
            .text(self.outcome.as_deref().unwrap_or_default());
        let row = row.optional(self.ended).optional(self.generation);
        self.counts
            .iter()
            .fold(row, |row, count| row.optional(*count))
            .finish()
    }

    /// Writes the row; replaces the row with the same name.
    pub(super) fn write(
        &self,
        connection: &Connection,
        head: &InstanceRow,
    ) -> Result<(), rusqlite::Error> {
        let mac = head
            .tagger
            .as_ref()
            .map(|tagger| self.tag(tagger, &head.journal.uid));
        let sql = "INSERT INTO operations (name, instance, first, epoch, kind, who, began, document, outcome, ended, \
                   generation, created, updated, deleted, replaced, number, mac) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17) \
                   ON CONFLICT (name) DO UPDATE SET outcome = ?9, ended = ?10, generation = ?11, created = ?12, \
                   updated = ?13, deleted = ?14, replaced = ?15, number = ?16, mac = ?17";
        let [created, updated, deleted, replaced] = self.counts;
        connection.prepare_cached(sql)?.execute(params![
            &*self.name,
            head.id,
            self.first,
            self.epoch,
            self.kind,
            &*self.who,
            self.began,
            &*self.document,
            self.outcome,
            self.ended,
            self.generation,
            created,
            updated,
            deleted,
            replaced,
            self.number,
            mac,
        ])?;
        Ok(())
    }
}

impl StateReader<'_> {
    /// The oldest operation that the current state depends on.
    pub(super) fn needed(&self, head: &InstanceRow) -> Result<Option<Name>, StoreError> {
        let at = |error| self.at(error);
        let tags = if self.format < 3 {
            "NULL, NULL"
        } else {
            "number, mac"
        };
        let sql = format!(
            "SELECT {COLUMNS}, {tags} FROM operations WHERE instance = ?1 AND (first <= ?2 OR first = ?3) \
             ORDER BY first DESC LIMIT 1"
        );
        let mut statement = self.connection.prepare_cached(&sql).map_err(at)?;
        let needed = head.journal.needed().unwrap_or(0).cast_signed();
        let mut rows = statement
            .query([head.id, needed, head.pruned + 1])
            .map_err(at)?;
        let row = rows.next().map_err(at)?;
        Ok(row
            .map(|row| self.checked_operation(head, row))
            .transpose()?
            .map(|operation| operation.name))
    }

    /// The operation of this name; `None` if the instance never had it.
    pub(super) fn operation_row(
        &self,
        head: &InstanceRow,
        name: &str,
    ) -> Result<Option<OperationRow>, StoreError> {
        let at = |error| self.at(error);
        let tags = if self.format < 3 {
            "NULL, NULL"
        } else {
            "number, mac"
        };
        let sql =
            format!("SELECT {COLUMNS}, {tags} FROM operations WHERE instance = ?1 AND name = ?2");
        let mut statement = self.connection.prepare_cached(&sql).map_err(at)?;
        let mut rows = statement.query(params![head.id, name]).map_err(at)?;
        let row = rows.next().map_err(at)?;
        row.map(|row| self.checked_operation(head, row)).transpose()
    }

    /// Reads a row of [`COLUMNS`], number and tag, and checks that it is unchanged.
    fn checked_operation(
        &self,
        head: &InstanceRow,
        row: &Row<'_>,
    ) -> Result<OperationRow, StoreError> {
        let at = |error| self.at(error);
        let mut operation = read(row).map_err(at)?;
        if self.format >= 3 {
            operation.number = row.get(14).map_err(at)?;
            let mac: Tag = row.get(15).map_err(at)?;
            if head
                .tagger
                .as_ref()
                .is_some_and(|tagger| operation.tag(tagger, &head.journal.uid) != mac)
            {
                return Err(self.changed_operation(&operation));
            }
        }
        Ok(operation)
    }

    fn changed_operation(&self, operation: &OperationRow) -> StoreError {
        damaged_row(
            self.path,
            &format!("the operation `{}` is not what was written", operation.name),
        )
    }

    /// The newest operations, newest first, at most `limit`. Checks that none of them is missing.
    pub(super) fn operations(
        &self,
        head: &InstanceRow,
        limit: i64,
    ) -> Result<Vec<OperationRow>, StoreError> {
        let at = |error| self.at(error);
        let tags = if self.format < 3 {
            "NULL, NULL"
        } else {
            "number, mac"
        };
        let sql = format!(
            "SELECT {COLUMNS}, {tags} FROM operations WHERE instance = ?1 ORDER BY first DESC LIMIT ?2"
        );
        let mut statement = self.connection.prepare_cached(&sql).map_err(at)?;
        let mut rows = statement.query([head.id, limit]).map_err(at)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(at)? {
            let operation = self.checked_operation(head, row)?;
            if self.format >= 3 && operation.number != head.operations() - found.len() as i64 {
                return Err(self.changed_operation(&operation));
            }
            found.push(operation);
        }
        if self.format >= 3
            && found.len() as i64 != (head.operations() - head.pruned_operations).min(limit)
        {
            return Err(damaged_row(self.path, "an operation is missing"));
        }
        Ok(found)
    }
}
