//! The row of an instance, its tag, and the row of the file with the number of instances.

use rusqlite::{Connection, OptionalExtension, Row, params};
use state::seal::{SealPlace, Sealer};
use state::tag::{Tag, Tagger};
use state::{Generation, InstanceName, Revision, StoreError};

use super::digest::{OldDigest, RecordsDigest};
use super::failure::damaged_row;
use super::reading::{FORMAT, SHIFT, StateReader, text};

/// The row of an instance.
#[derive(Clone, Debug)]
pub(super) struct InstanceRow {
    pub(super) id: i64,
    pub(super) revision: i64,
    /// The position of its journal.
    pub(super) journal: state::JournalHead,
    /// The sequence of the last pruned entry; entries of current records are kept. 0 if none was
    /// pruned.
    pub(super) pruned: i64,
    /// The number of pruned operations.
    pub(super) pruned_operations: i64,
    /// The last number that was given to a document.
    pub(super) documents: i64,
    /// The digest of the records.
    pub(super) records_digest: RecordsDigest,
    /// The tagger that checks the rows of the instance; `None` for an older format, or if the key
    /// is not available.
    pub(super) tagger: Option<Tagger>,
    /// The digest of the records in format 2, if it belongs to this revision.
    pub(super) old_records_digest: Option<OldDigest>,
}

impl InstanceRow {
    /// Returns the row of an instance that is not stored yet.
    pub(super) fn new_instance(tagger: Tagger) -> InstanceRow {
        InstanceRow {
            id: 0,
            revision: 0,
            journal: state::JournalHead::default(),
            pruned: 0,
            pruned_operations: 0,
            documents: 0,
            records_digest: RecordsDigest::default(),
            tagger: Some(tagger),
            old_records_digest: None,
        }
    }

    /// The sequence of the last entry.
    pub(super) fn entries(&self) -> i64 {
        self.journal.entries.cast_signed()
    }

    /// The sequence before which every call has its outcome.
    pub(super) fn unsettled(&self) -> i64 {
        self.journal.unsettled.cast_signed()
    }

    /// The sequence of the last `Finished` entry.
    pub(super) fn finished(&self) -> Option<i64> {
        self.journal.finished.map(u64::cast_signed)
    }

    /// The sequence of the `Finished` entry whose exports are current.
    pub(super) fn exports(&self) -> Option<i64> {
        self.journal.exports.map(u64::cast_signed)
    }

    /// The number of operations.
    pub(super) fn operations(&self) -> i64 {
        self.journal.operations.cast_signed()
    }

    fn generation(&self) -> i64 {
        self.journal.generation.0.cast_signed()
    }

    /// The id of an entry of this instance.
    pub(super) fn entry(&self, sequence: i64) -> i64 {
        self.id << SHIFT | sequence
    }

    pub(super) fn place(&self, entry: i64) -> SealPlace<'_> {
        SealPlace {
            uid: &self.journal.uid,
            record: sequence_of(entry),
        }
    }

    /// The tag of an entry. It covers the uid of the instance, so that no entry can be moved to
    /// another one.
    pub(super) fn entry_tag(&self, tagger: &Tagger, row: &EntryRow<'_>) -> Tag {
        let row_of = tagger
            .row("entry")
            .text(&self.journal.uid)
            .number(sequence_of(row.id).cast_signed())
            .number(row.step);
        row_of
            .text(row.kind)
            .number(i64::from(row.sealed))
            .bytes(row.body)
            .finish()
    }

    /// Whether an entry is unchanged and at its place.
    pub(super) fn is_genuine(&self, row: &EntryRow<'_>) -> bool {
        match (&self.tagger, row.mac) {
            (Some(tagger), Some(mac)) => self.entry_tag(tagger, row) == mac,
            (tagger, _) => tagger.is_none(),
        }
    }

    fn tag(&self, tagger: &Tagger, name: &str, format: i64) -> Tag {
        let at = &self.journal;
        let row = tagger
            .row("instance")
            .text(name)
            .number(self.id)
            .text(&at.uid)
            .text(&at.document);
        let row = row
            .number(at.created)
            .number(self.revision)
            .number(self.generation())
            .number(self.entries());
        let row = row
            .number(self.unsettled())
            .optional(self.finished())
            .optional(self.exports());
        let row = row
            .number(i64::from(at.exports_old))
            .number(self.operations())
            .bytes(&self.records_digest.bytes());
        let row = row.text(tagger.key());
        // Format 3 had neither documents nor pruning.
        let row = if format < 4 {
            row
        } else {
            row.number(self.pruned)
                .number(self.pruned_operations)
                .number(self.documents)
        };
        row.finish()
    }

    /// Writes the row. Its id must be set.
    pub(super) fn write(
        &self,
        connection: &Connection,
        name: &InstanceName,
    ) -> Result<(), rusqlite::Error> {
        let tagger = self.tagger.clone().unwrap_or_else(Tagger::plain);
        let sql = "INSERT INTO instances (id, name, uid, document, created, revision, generation, entries, unsettled, \
                   finished, exports, exports_old, operations, live, auth, mac, pruned, pruned_operations, documents) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19) \
                   ON CONFLICT (id) DO UPDATE SET document = ?4, revision = ?6, generation = ?7, entries = ?8, unsettled = ?9, \
                   finished = ?10, exports = ?11, exports_old = ?12, operations = ?13, live = ?14, auth = ?15, \
                   mac = ?16, pruned = ?17, pruned_operations = ?18, documents = ?19";
        connection.prepare_cached(sql)?.execute(params![
            self.id,
            name.as_str(),
            &*self.journal.uid,
            &*self.journal.document,
            self.journal.created,
            self.revision,
            self.generation(),
            self.entries(),
            self.unsettled(),
            self.finished(),
            self.exports(),
            self.journal.exports_old,
            self.operations(),
            self.records_digest.bytes(),
            tagger.key(),
            self.tag(&tagger, name.as_str(), FORMAT),
            self.pruned,
            self.pruned_operations,
            self.documents,
        ])?;
        Ok(())
    }
}

/// The row of an entry.
pub(super) struct EntryRow<'a> {
    pub(super) id: i64,
    pub(super) step: i64,
    pub(super) kind: &'a str,
    pub(super) sealed: bool,
    pub(super) body: &'a [u8],
    pub(super) mac: Option<Tag>,
}

impl<'a> EntryRow<'a> {
    /// Reads a row with the columns of [`StateReader::entry_columns`](super::reading::StateReader).
    pub(super) fn read(row: &'a Row<'_>) -> Result<EntryRow<'a>, rusqlite::Error> {
        let kind = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
        Ok(EntryRow {
            id: row.get(0)?,
            step: row.get(1)?,
            kind,
            sealed: row.get(3)?,
            body: text(row, 4)?,
            mac: row.get(5)?,
        })
    }
}

pub(super) fn sequence_of(entry: i64) -> u64 {
    (entry & ((1 << SHIFT) - 1)).unsigned_abs()
}

/// The columns of an instance's row, in the order in which [`read_stored`] reads them.
fn columns(format: i64) -> String {
    let added = if format < 4 {
        "0, 0, 0"
    } else {
        "pruned, pruned_operations, documents"
    };
    format!(
        "id, uid, document, created, revision, generation, entries, unsettled, finished, exports, exports_old, name, \
         operations, live, auth, mac, {added}"
    )
}

/// The row of an instance with its name, key and tag.
struct StoredHead {
    head: InstanceRow,
    name: String,
    key: String,
    mac: Tag,
}

fn read_old(row: &Row<'_>) -> Result<InstanceRow, rusqlite::Error> {
    let count = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
    let entry = |column| {
        row.get::<_, Option<i64>>(column)
            .map(|entry| entry.map(i64::unsigned_abs))
    };
    Ok(InstanceRow {
        id: row.get(0)?,
        revision: row.get(4)?,
        journal: state::JournalHead {
            uid: row.get(1)?,
            document: row.get(2)?,
            created: row.get(3)?,
            generation: Generation(count(5)?),
            entries: count(6)?,
            unsettled: count(7)?,
            finished: entry(8)?,
            exports: entry(9)?,
            exports_old: row.get(10)?,
            operations: 0,
        },
        pruned: 0,
        pruned_operations: 0,
        documents: 0,
        records_digest: RecordsDigest::default(),
        tagger: None,
        old_records_digest: None,
    })
}

fn read_stored(row: &Row<'_>) -> Result<StoredHead, rusqlite::Error> {
    let mut head = InstanceRow {
        records_digest: RecordsDigest::of_bytes(row.get(13)?),
        ..read_old(row)?
    };
    head.journal.operations = row.get::<_, i64>(12)?.unsigned_abs();
    (head.pruned, head.pruned_operations, head.documents) =
        (row.get(16)?, row.get(17)?, row.get(18)?);
    Ok(StoredHead {
        head,
        name: row.get(11)?,
        key: row.get(14)?,
        mac: row.get(15)?,
    })
}

impl StateReader<'_> {
    /// Checks that the file has the expected tables.
    pub(super) fn check_tables(&self) -> Result<(), StoreError> {
        if self.format < 3 {
            Ok(())
        } else {
            StateReader {
                display_only: true,
                ..*self
            }
            .count()
            .map(|_| ())
        }
    }

    /// The row of an instance; `None` if there is no such instance, which is verified as well.
    pub(super) fn head(&self, name: &InstanceName) -> Result<Option<InstanceRow>, StoreError> {
        let found = if self.format < 3 {
            self.old_head(name)
        } else {
            self.stored_head(name.as_str())
        };
        match found.map_err(|error| self.at(error))? {
            Some(stored) => self.checked(stored).map(Some),
            None if self.format < 3 => Ok(None),
            None => {
                // A damaged index also finds nothing, so all rows are examined.
                let all_names = self.names()?;
                if all_names.iter().any(|other| other == name.as_str()) {
                    return Err(damaged_row(
                        self.path,
                        &format!("the instance `{name}` is not found by its name"),
                    ));
                }
                Ok(None)
            }
        }
    }

    fn old_head(&self, name: &InstanceName) -> Result<Option<StoredHead>, rusqlite::Error> {
        let digest = if self.has_digests {
            "iif(digest_of = revision, digest, NULL)"
        } else {
            "NULL"
        };
        let sql = format!(
            "SELECT id, uid, document, created, revision, generation, entries, unsettled, finished, exports, exports_old, \
             {digest} FROM instances WHERE name = ?1"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let found = statement.query_row([name.as_str()], |row| {
            let old_live = row.get::<_, Option<i64>>(11)?.map(OldDigest);
            let head = InstanceRow {
                old_records_digest: old_live,
                ..read_old(row)?
            };
            Ok(StoredHead {
                head,
                name: name.to_string(),
                key: String::new(),
                mac: Tag::default(),
            })
        });
        found.optional()
    }

    fn stored_head(&self, name: &str) -> Result<Option<StoredHead>, rusqlite::Error> {
        let sql = format!(
            "SELECT {} FROM instances WHERE name = ?1",
            columns(self.format)
        );
        self.connection
            .prepare_cached(&sql)?
            .query_row([name], read_stored)
            .optional()
    }

    fn checked(&self, stored: StoredHead) -> Result<InstanceRow, StoreError> {
        let StoredHead {
            mut head,
            name,
            key,
            mac,
        } = stored;
        if self.format < 3 {
            return Ok(head);
        }
        if let Some(tagger) = self.tagger_of(&key)? {
            if head.tag(&tagger, &name, self.format) != mac {
                return Err(damaged_row(
                    self.path,
                    &format!("the row of the instance `{name}` is not what was written"),
                ));
            }
            head.tagger = Some(tagger);
        }
        Ok(head)
    }

    /// Returns the tagger for rows that were written with that key. If the key is not available:
    /// `WrongKey` or `KeyMissing`, or `None` for callers that only display rows.
    pub(super) fn tagger_of(&self, key: &str) -> Result<Option<Tagger>, StoreError> {
        match self.sealer.tagger_of(key) {
            None if !self.display_only => Err(self.sealer.cannot_open().into()),
            tagger => Ok(tagger),
        }
    }

    /// The names of all instances, sorted. Checks that none is missing.
    pub(super) fn names(&self) -> Result<Vec<String>, StoreError> {
        let at = |error| self.at(error);
        let columns = if self.format < 3 {
            "name".to_owned()
        } else {
            columns(self.format)
        };
        let sql = format!("SELECT {columns} FROM instances NOT INDEXED");
        let mut statement = self.connection.prepare_cached(&sql).map_err(at)?;
        let mut names = Vec::new();
        if self.format < 3 {
            let rows = statement.query_map([], |row| row.get(0)).map_err(at)?;
            names = rows.collect::<Result<_, _>>().map_err(at)?;
        } else {
            let rows = statement.query_map([], read_stored).map_err(at)?;
            for stored in rows {
                let stored = stored.map_err(at)?;
                names.push(stored.name.clone());
                self.checked(stored)?;
            }
            let (count, _) = self.count()?;
            if count != names.len() as i64 {
                let what = format!(
                    "{count} instances were written and {} are there",
                    names.len()
                );
                return Err(damaged_row(self.path, &what));
            }
        }
        names.sort();
        Ok(names)
    }

    /// The number of instances, and the key with which that number was written.
    pub(super) fn count(&self) -> Result<(i64, String), StoreError> {
        let at = |error| self.at(error);
        let row = |row: &Row<'_>| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, Tag>(2)?,
            ))
        };
        let sql = "SELECT instances, auth, mac FROM store WHERE id = 1";
        let (count, key, mac) = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut it| it.query_row([], row))
            .map_err(at)?;
        match self.tagger_of(&key)? {
            Some(tagger) if count_tag(self.connection, &tagger, count).map_err(at)? != mac => Err(
                damaged_row(self.path, "the row of the file is not what was written"),
            ),
            _ => Ok((count, key)),
        }
    }

    /// The revision of an instance; 0 if there is no such instance.
    pub(super) fn revision(&self, name: &InstanceName) -> Result<Revision, StoreError> {
        Ok(Revision(
            self.head(name)?
                .map_or(0, |head| head.revision.unsigned_abs()),
        ))
    }

    pub(super) fn require_head(&self, name: &InstanceName) -> Result<InstanceRow, StoreError> {
        self.head(name)?.ok_or_else(|| StoreError::Unknown {
            instance: name.clone(),
        })
    }
}

/// The tag of the row of the file. It covers all tables, indexes and triggers: a renamed column or
/// an added trigger is detected before the file is used.
fn count_tag(connection: &Connection, tagger: &Tagger, count: i64) -> Result<Tag, rusqlite::Error> {
    let sql = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND tbl_name IN \
               ('instances', 'operations', 'entries', 'records', 'documents', 'leases', 'store') ORDER BY type, name";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut row_of = tagger.row("store").number(count).text(tagger.key());
    while let Some(row) = rows.next()? {
        for column in 0..3 {
            row_of = row_of.text(
                row.get_ref(column)?
                    .as_str()
                    .map_err(rusqlite::Error::from)?,
            );
        }
    }
    Ok(row_of.finish())
}

/// Writes the number of instances.
pub(super) fn write_count(
    connection: &Connection,
    tagger: &Tagger,
    count: i64,
) -> Result<(), rusqlite::Error> {
    let sql = "INSERT OR REPLACE INTO store (id, instances, auth, mac) VALUES (1, ?1, ?2, ?3)";
    let tag = count_tag(connection, tagger, count)?;
    connection
        .prepare_cached(sql)?
        .execute(params![count, tagger.key(), tag])?;
    Ok(())
}

/// The tagger for new rows if the others were written with that key: the same key, or the first one
/// now.
pub(super) fn tagger_after(sealer: &Sealer, key: &str) -> Result<Tagger, StoreError> {
    if key.is_empty() {
        Ok(sealer.tagger())
    } else {
        sealer
            .tagger_of(key)
            .ok_or_else(|| sealer.cannot_open().into())
    }
}
