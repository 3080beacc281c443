//! How large and how deep a value may be (ruling A17).

use blueprint::Value;

/// The largest result, in bytes.
pub(crate) const LIMIT: usize = 10 * 1024 * 1024;

/// The greatest depth of lists and maps in each other.
const DEPTH: usize = 256;

/// Whether a value keeps to both limits. Stops counting where it does not, so shared parts cannot make it long.
pub(crate) fn within_limits(value: &Value) -> bool {
    let mut left = LIMIT;
    fits(value, &mut left, DEPTH)
}

fn fits(value: &Value, left: &mut usize, depth: usize) -> bool {
    let own = match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    let Some(rest) = left.checked_sub(own + std::mem::size_of::<Value>()) else { return false };
    *left = rest;
    match value {
        Value::List(items) | Value::Set(items) => depth > 0 && items.iter().all(|item| fits(item, left, depth - 1)),
        Value::Map(entries) => {
            depth > 0
                && entries.iter().all(|(key, value)| {
                    *left = left.saturating_sub(key.len());
                    fits(value, left, depth - 1)
                })
        }
        Value::Secret(inner) => fits(inner, left, depth),
        Value::Function(function) => depth > 0 && function.bound.iter().all(|value| fits(value, left, depth - 1)),
        _ => true,
    }
}
