//! Walks a path into a value, for `get_param` and `get_attr`.
//!
//! A key is text or an integer; a boolean counts as an integer. A list and a text are sequences, a
//! text of characters, and a negative index counts from the end. A path never fails: a missing step
//! gives a default value.

use blueprint::Value;

/// The value at a path of `get_param`. In a sequence, a text key is converted to an integer if
/// possible. A missing step gives an empty text.
pub fn parameter(value: &Value, path: &[Value]) -> Value {
    walk(value, path, true).unwrap_or_else(|| Value::from(""))
}

/// The value at a path of `get_attr`. Keys are not converted. A missing step gives null.
pub fn attribute(value: &Value, path: &[Value]) -> Value {
    walk(value, path, false).unwrap_or_default()
}

fn walk(value: &Value, path: &[Value], converts: bool) -> Option<Value> {
    let mut current = value.clone();
    for key in path {
        let (bare, mut secret) = current.split_secret();
        secret |= key.split_secret().1;
        current = match (bare, key.unmarked()) {
            (Value::Unknown(_), _) => bare.as_unknown(),
            (Value::Map(_) | Value::List(_) | Value::Text(_), Value::Unknown(_)) => {
                key.as_unknown()
            }
            (Value::Map(entries), Value::Text(key)) => entries.get(key)?.clone(),
            (Value::List(items), key) => at(items, index(key, converts)?)?.clone(),
            (Value::Text(text), key) => character(text, index(key, converts)?)?,
            _ => return None,
        }
        .tainted(secret);
    }
    Some(current)
}

/// Converts the key of a sequence to an index.
fn index(key: &Value, converts: bool) -> Option<i64> {
    match key {
        Value::Int(index) => Some(*index),
        Value::Bool(index) => Some(i64::from(*index)),
        Value::Text(text) if converts => pycompat::integer_of_text(text)?.as_int(),
        _ => None,
    }
}

/// The item at an index; a negative index counts from the end.
pub fn at(items: &[Value], index: i64) -> Option<&Value> {
    items.get(position(index, items.len())?)
}

fn position(index: i64, length: usize) -> Option<usize> {
    if index >= 0 {
        usize::try_from(index).ok()
    } else {
        length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)
    }
}

fn character(text: &str, index: i64) -> Option<Value> {
    let found = if index >= 0 {
        text.chars().nth(position(index, 0)?)
    } else {
        text.chars()
            .rev()
            .nth(usize::try_from(index.unsigned_abs()).ok()? - 1)
    };
    found.map(|character| Value::from(character.to_string()))
}
