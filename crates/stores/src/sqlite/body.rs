//! Bodies of entries: written, sealed where needed, and read back.

use std::sync::Arc;

use blueprint::Value;
use serde::de::DeserializeOwned;
use state::seal::{Place, SealError, Sealer};
use state::{EntryKind, StoreError};

/// About how many bytes an entry has that holds no document.
pub(super) const USUAL: usize = 512;

/// An entry's columns.
pub(super) struct Body {
    pub(super) kind: &'static str,
    pub(super) sealed: bool,
    pub(super) text: String,
}

/// Writes an entry's body for the place where it will stand.
pub(super) fn write(sealer: &Sealer, place: Place<'_>, entry: &EntryKind) -> Result<Body, SealError> {
    let sealed = entry.has_secret();
    let text = match entry {
        EntryKind::Began(operation) => {
            // It holds documents; their line ends and quotes are escaped.
            let texts = texts_in(&operation.desired);
            sealer.write(place, operation.as_ref(), sealed, USUAL + texts + texts / 8)
        }
        EntryKind::Intent(intent) => sealer.write(place, intent.as_ref(), sealed, USUAL),
        EntryKind::Outcome(outcome) => sealer.write(place, outcome.as_ref(), sealed, USUAL),
        EntryKind::Finished(finished) => sealer.write(place, finished.as_ref(), sealed, USUAL),
    }?;
    Ok(Body { kind: entry.word(), sealed, text })
}

/// How many bytes all texts in a value have.
fn texts_in(value: &Value) -> usize {
    match value.bare() {
        Value::Text(text) => text.len(),
        Value::List(items) | Value::Set(items) => items.iter().map(texts_in).sum(),
        Value::Map(entries) => entries.values().map(texts_in).sum(),
        _ => 0,
    }
}

/// Reads one kind of body.
pub(super) fn read<T: DeserializeOwned>(
    sealer: &Sealer,
    place: Place<'_>,
    sealed: bool,
    text: &[u8],
) -> Result<T, StoreError> {
    sealer.read(place, text, sealed).map_err(|error| match error {
        // Not what the parser says: it may repeat what it met.
        SealError::Form(_) => StoreError::Damaged { what: "an entry of the journal is damaged".into() },
        other => other.into(),
    })
}

/// Reads a body of the kind that its row names.
pub(super) fn read_entry(
    sealer: &Sealer,
    place: Place<'_>,
    kind: &str,
    sealed: bool,
    text: &[u8],
) -> Result<EntryKind, StoreError> {
    Ok(match kind {
        "began" => EntryKind::Began(Arc::new(read(sealer, place, sealed, text)?)),
        "intent" => EntryKind::Intent(Arc::new(read(sealer, place, sealed, text)?)),
        "outcome" => EntryKind::Outcome(Arc::new(read(sealer, place, sealed, text)?)),
        "finished" => EntryKind::Finished(Arc::new(read(sealer, place, sealed, text)?)),
        other => {
            return Err(StoreError::Foreign {
                what: format!("an entry of the journal is of an unknown kind `{other}`"),
            });
        }
    })
}
