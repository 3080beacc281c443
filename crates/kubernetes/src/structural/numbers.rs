//! Equality and order of values as JSON.

use std::cmp::Ordering;
use std::fmt::Write as _;

use blueprint::Value;

/// Values that are nested deeper have no identity.
const DEEPEST: usize = 128;

/// The order of two numbers; `None` if one is no number.
pub(crate) fn compare(one: &Value, other: &Value) -> Option<Ordering> {
    match (one.unmarked(), other.unmarked()) {
        (Value::Int(one), Value::Int(other)) => Some(one.cmp(other)),
        _ => as_float(one)?.partial_cmp(&as_float(other)?),
    }
}

/// A number as a float; `None` if it is no number.
#[expect(
    clippy::cast_precision_loss,
    reason = "numbers of JSON without exact integers are floats"
)]
pub(crate) fn as_float(value: &Value) -> Option<f64> {
    match value.unmarked() {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Decimal(text) => text.parse().ok(),
        _ => None,
    }
}

/// Whether a number is whole. Above 2^53 a float is not.
pub(crate) fn is_whole(value: &Value) -> bool {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    match value.unmarked() {
        Value::Int(_) => true,
        Value::Float(number) => number.fract() == 0.0 && number.abs() <= LARGEST,
        _ => false,
    }
}

/// JSON that is the same text for equal values: keys are sorted, whole floats are integers. `None`
/// if a part is unknown or no JSON, or nested too deep.
pub(crate) fn identity(value: &Value) -> Option<String> {
    let mut text = String::new();
    write_identity(value, DEEPEST, &mut text)?;
    Some(text)
}

fn write_identity(value: &Value, depth: usize, text: &mut String) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    match value.unmarked() {
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Int(number) => write!(text, "{number}").ok()?,
        Value::Float(number) => write!(text, "{number}").ok()?,
        Value::Decimal(number) => text.push_str(number),
        Value::Text(own) => text.push_str(&serde_json::to_string(&**own).ok()?),
        Value::List(items) | Value::Set(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { "," });
                write_identity(item, depth, text)?;
            }
            text.push(']');
        }
        Value::Map(entries) => {
            let mut sorted: Vec<_> = entries.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (at, (key, entry)) in sorted.into_iter().enumerate() {
                text.push_str(if at == 0 { "" } else { "," });
                text.push_str(&serde_json::to_string(&**key).ok()?);
                text.push(':');
                write_identity(entry, depth, text)?;
            }
            text.push('}');
        }
        _ => return None,
    }
    Some(())
}
