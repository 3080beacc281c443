//! What a record still tells of the hints its resource had: they are annotations, and those are remembered.
//!
//! For what the document no longer declares, and for plans without a document.

use std::time::Duration;

use blueprint::{Name, Value, parse_duration};
use state::Record;

fn hint<'r>(record: &'r Record, name: &str) -> Option<&'r Value> {
    record.metadata.get("annotations")?.get(name)
}

/// Paths inside the spec whose changes do not count.
pub(crate) fn ignored_changes(record: &Record) -> Vec<Name> {
    let text = hint(record, "cyan.ignoreChanges").and_then(Value::as_text);
    text.map(|text| text.split(',').map(str::trim).map(Name::from).collect()).unwrap_or_default()
}

/// How long its deletion may take.
pub fn delete_within(record: &Record) -> Option<Duration> {
    hint(record, "cyan.timeout.delete").and_then(Value::as_text).and_then(|text| parse_duration(text).ok())
}
