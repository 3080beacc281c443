//! The keys of dicts and sets.

use crate::halt::{Evaluated, Halted, fail};
use crate::heap::{DictEntries, Heap};
use crate::value::{StarKey, StarValue};

/// The key of a value.
///
/// # Errors
/// If values of its type are no keys, or it is not known.
pub(crate) fn key_of(heap: &Heap, value: &StarValue) -> Evaluated<StarKey> {
    Ok(match value.open() {
        StarValue::None => StarKey::None,
        StarValue::Bool(flag) => StarKey::Bool(*flag),
        StarValue::Int(number) => StarKey::Int(*number),
        StarValue::Float(number) => float_key(*number),
        StarValue::Text(text) => StarKey::Text(text.clone()),
        StarValue::Tuple(items) => {
            heap.work.steps(items.len())?;
            let keys = heap
                .work
                .nested(|| items.iter().map(|item| key_of(heap, item)).collect());
            StarKey::Tuple(keys?)
        }
        StarValue::Unknown(waits_for) => return Err(Halted::Unknown(waits_for.to_vec())),
        other => return fail(format!("unhashable type: {}", other.type_name())),
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the conversion is exact for the numbers that it is used for"
)]
fn float_key(number: f64) -> StarKey {
    if number.fract() == 0.0 && number.abs() < 1e30 {
        StarKey::Int(number as i128)
    } else {
        StarKey::Float(number.to_bits())
    }
}

/// Sets an entry.
///
/// # Errors
/// If the key cannot be one.
pub(crate) fn insert(
    heap: &Heap,
    entries: &mut DictEntries,
    key: StarValue,
    value: StarValue,
) -> Evaluated<()> {
    let own = key_of(heap, &key)?;
    match entries.get_mut(&own) {
        Some(entry) => entry.1 = value,
        None => {
            heap.work.bytes(64)?;
            entries.insert(own, (key, value));
        }
    }
    Ok(())
}

/// A set of values.
///
/// # Errors
/// If a value cannot be a key.
pub(crate) fn set_entries(heap: &Heap, items: Vec<StarValue>) -> Evaluated<DictEntries> {
    let mut entries = DictEntries::default();
    for item in items {
        let key = key_of(heap, &item)?;
        entries.entry(key).or_insert((item, StarValue::None));
    }
    Ok(entries)
}
