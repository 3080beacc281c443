//! Bodies of entries: written, sealed if they contain secrets, and read back.

use std::sync::Arc;

use blueprint::Value;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use state::seal::{SealError, SealPlace, Sealer};
use state::{EntryKind, Operation, StoreError};

/// The approximate size in bytes of an entry without documents.
pub(super) const USUAL: usize = 512;

/// The length in bytes from which a text is stored on its own, once.
pub(super) const LONG: usize = 256;

/// An entry's columns.
pub(super) struct EntryBody {
    pub(super) kind: &'static str,
    pub(super) sealed: bool,
    pub(super) text: String,
}

/// Writes an entry's body for its place in the journal.
pub(super) fn write(
    sealer: &Sealer,
    place: SealPlace<'_>,
    entry: &EntryKind,
) -> Result<EntryBody, SealError> {
    let sealed = entry.has_secret();
    let text = match entry {
        EntryKind::Began(operation) => sealer.write(place, operation.as_ref(), sealed, USUAL),
        EntryKind::Intent(intent) => sealer.write(place, intent.as_ref(), sealed, USUAL),
        EntryKind::Outcome(outcome) => sealer.write(place, outcome.as_ref(), sealed, USUAL),
        EntryKind::Finished(finished) => sealer.write(place, finished.as_ref(), sealed, USUAL),
    }?;
    Ok(EntryBody {
        kind: entry.word(),
        sealed,
        text,
    })
}

/// Whether a value contains a text that is long enough to be stored on its own.
pub(super) fn has_long_text(value: &Value) -> bool {
    match value.unmarked() {
        Value::Text(text) => text.len() >= LONG,
        Value::Bytes(bytes) => bytes.len() >= LONG / 2,
        Value::List(items) | Value::Set(items) => items.iter().any(has_long_text),
        Value::Map(entries) => entries.values().any(has_long_text),
        _ => false,
    }
}

/// Writes the body of `began`, without its long texts.
pub(super) fn write_began(
    sealer: &Sealer,
    place: SealPlace<'_>,
    operation: &Operation,
    json: &Json,
) -> Result<EntryBody, SealError> {
    let sealed = operation.has_secret();
    Ok(EntryBody {
        kind: "began",
        sealed,
        text: sealer.write(place, json, sealed, USUAL)?,
    })
}

/// Reads one kind of body.
pub(super) fn read<T: DeserializeOwned>(
    sealer: &Sealer,
    place: SealPlace<'_>,
    sealed: bool,
    text: &[u8],
) -> Result<T, StoreError> {
    sealer
        .read(place, text, sealed)
        .map_err(|error| match error {
            // Omits the parser's message, which may repeat content.
            SealError::Form(_) => StoreError::Damaged {
                what: "an entry of the journal is damaged".into(),
            },
            other => other.into(),
        })
}

/// Reads a body of the kind that its row names. The kind is not `began`, whose body has documents.
pub(super) fn read_entry(
    sealer: &Sealer,
    place: SealPlace<'_>,
    kind: &str,
    sealed: bool,
    text: &[u8],
) -> Result<EntryKind, StoreError> {
    Ok(match kind {
        "intent" => EntryKind::Intent(Arc::new(read(sealer, place, sealed, text)?)),
        "outcome" => EntryKind::Outcome(Arc::new(read(sealer, place, sealed, text)?)),
        "finished" => EntryKind::Finished(Arc::new(read(sealer, place, sealed, text)?)),
        other => {
            return Err(StoreError::Newer {
                what: format!("an entry of the journal is of an unknown kind `{other}`"),
            });
        }
    })
}
