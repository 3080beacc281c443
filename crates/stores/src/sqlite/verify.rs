//! Checking everything: every row of every instance, and the file itself.

use rusqlite::Row;
use state::tag::Tagger;
use state::{Assurance, Damage, InstanceName, StoreError, Verification, VerifiedInstance};

use super::head::{EntryRow, InstanceRow};
use super::lease::{self, Authenticity};
use super::reading::{StateReader, text};
use super::upgrade;

/// Checks everything, in one transaction, and reports all problems. `WrongKey` or `KeyMissing` if a
/// key is not available.
pub(super) fn all(reading: &StateReader<'_>) -> Result<Verification, StoreError> {
    let mut found = Verification::default();
    let mut report_damage = |instance: Option<&InstanceName>, what: String| {
        found.damaged.push(Damage {
            instance: instance.cloned(),
            what,
        });
    };
    match integrity(reading) {
        Ok(lines) => lines
            .into_iter()
            .for_each(|line| report_damage(None, format!("the file: {line}"))),
        Err(error) => report_damage(None, format!("the file: {error}")),
    }
    let names = match reading.names() {
        Ok(names) => names,
        Err(error @ (StoreError::WrongKey | StoreError::KeyMissing)) => return Err(error),
        Err(error) => {
            report_damage(None, error.to_string());
            readable_names(reading)
        }
    };
    for name in names {
        let Ok(instance) = name.parse::<InstanceName>() else {
            report_damage(None, format!("`{name}` is no name of an instance"));
            continue;
        };
        let head = match reading.require_head(&instance) {
            Ok(head) => head,
            Err(error) => {
                report_damage(Some(&instance), error.to_string());
                continue;
            }
        };
        let mut rows = 1;
        let mut broken = Vec::new();
        match &head.tagger {
            Some(tagger) => {
                rows += entries(reading, &head, &mut broken);
                rows += documents(reading, &head, &mut broken);
                match upgrade::compute_records_digest(
                    reading.connection,
                    reading.path,
                    &head,
                    tagger,
                ) {
                    Ok(live) if live == head.records_digest => {}
                    Ok(_) => {
                        broken.push("a record is missing, changed, or one too many".to_owned())
                    }
                    Err(error) => broken.push(format!("records: {error}")),
                }
                match lease::read(
                    reading.connection,
                    reading.format,
                    reading.sealer,
                    reading.host,
                    &instance,
                ) {
                    Ok(Some(held)) if held.authenticity != Authenticity::Altered => rows += 1,
                    Ok(_) => broken.push("the lease is missing or not what was written".to_owned()),
                    Err(error) => broken.push(format!("the lease: {}", reading.at(error))),
                }
            }
            None => broken.extend(
                reading
                    .check_none_missing(&head, head.pruned + 1, head.entries())
                    .err()
                    .map(|error| error.to_string()),
            ),
        }
        match reading.operations(&head, i64::MAX) {
            Ok(operations) => rows += operations.len() as u64,
            Err(error) => broken.push(error.to_string()),
        }
        // Checks that the rows are consistent: the journal, and the outcome to which each row of
        // the records refers.
        if broken.is_empty() {
            match reading.load(&instance) {
                Ok(snapshot) => rows += snapshot.records.len() as u64,
                Err(error @ (StoreError::WrongKey | StoreError::KeyMissing)) => return Err(error),
                Err(error) => broken.push(error.to_string()),
            }
        }
        broken
            .into_iter()
            .for_each(|what| report_damage(Some(&instance), what));
        found.instances.push(VerifiedInstance {
            name: instance,
            assurance: assurance(head.tagger.as_ref()),
            rows,
        });
    }
    Ok(found)
}

fn assurance(tagger: Option<&Tagger>) -> Assurance {
    match tagger {
        Some(tagger) if tagger.has_key() => Assurance::Key,
        Some(_) => Assurance::Hash,
        None => Assurance::Nothing,
    }
}

/// The problems that SQLite finds in its own structures.
fn integrity(reading: &StateReader<'_>) -> Result<Vec<String>, rusqlite::Error> {
    let mut statement = reading.connection.prepare("PRAGMA integrity_check")?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    lines
        .filter(|line| !matches!(line, Ok(line) if line == "ok"))
        .collect()
}

/// The names that can still be read.
fn readable_names(reading: &StateReader<'_>) -> Vec<String> {
    let Ok(mut statement) = reading
        .connection
        .prepare("SELECT name FROM instances NOT INDEXED")
    else {
        return Vec::new();
    };
    let Ok(rows) = statement.query_map([], |row| row.get(0)) else {
        return Vec::new();
    };
    rows.map_while(Result::ok).collect()
}

/// Checks every entry of an instance; returns the number of intact entries.
fn entries(reading: &StateReader<'_>, head: &InstanceRow, broken: &mut Vec<String>) -> u64 {
    let mut count = 0;
    for sequence in 1..=head.entries() {
        match entry(reading, head, sequence) {
            Ok(None) if sequence <= head.pruned => {}
            Ok(None) => broken.push(format!("entry {sequence} is missing")),
            Ok(Some(true)) => count += 1,
            Ok(Some(false)) => broken.push(format!("entry {sequence} is not what was written")),
            Err(error) => broken.push(format!("entry {sequence}: {error}")),
        }
    }
    count
}

/// Checks every document of an instance, and that operations refer to exactly these; returns their
/// number.
fn documents(reading: &StateReader<'_>, head: &InstanceRow, broken: &mut Vec<String>) -> u64 {
    let stored = match reading.stored_documents(head) {
        Ok(stored) => stored,
        Err(error) => {
            broken.push(error.to_string());
            return 0;
        }
    };
    for number in &stored {
        broken.extend(
            reading
                .check_document(head, *number)
                .err()
                .map(|error| error.to_string()),
        );
    }
    match reading.named_documents(head) {
        Ok(named) => {
            let missing = named.iter().filter(|number| !stored.contains(number));
            broken.extend(missing.map(|number| format!("document {number} is missing")));
            let unnamed = stored.iter().filter(|number| !named.contains(*number));
            broken.extend(unnamed.map(|number| format!("no operation names document {number}")));
        }
        Err(error) => broken.push(error.to_string()),
    }
    stored.len() as u64
}

/// Whether an entry is unchanged; `None` if it is missing.
fn entry(
    reading: &StateReader<'_>,
    head: &InstanceRow,
    sequence: i64,
) -> Result<Option<bool>, StoreError> {
    let at = |error| reading.at(error);
    let is_genuine = |row: &Row<'_>| {
        let kind: String = row.get(2)?;
        let (id, step, sealed, mac) = (row.get(0)?, row.get(1)?, row.get(3)?, row.get(5)?);
        Ok(head.is_genuine(&EntryRow {
            id,
            step,
            kind: &kind,
            sealed,
            body: text(row, 4)?,
            mac,
        }))
    };
    let sql = "SELECT id, step, kind, sealed, body, mac FROM entries WHERE id = ?1";
    let mut statement = reading.connection.prepare_cached(sql).map_err(at)?;
    let mut rows = statement.query([head.entry(sequence)]).map_err(at)?;
    rows.next()
        .map_err(at)?
        .map(|row| is_genuine(row).map_err(at))
        .transpose()
}
