//! The order of the elements of a set.
//!
//! Elements have no order of their own. When Terraform has to choose among several elements, it
//! visits them in the order of this file: texts, numbers and booleans by size, all others by a key
//! that is written from their parts; unknown and null elements last.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt::Write as _;

use blueprint::Value;

use crate::number::Decimal;
use crate::{ValueType, same};

/// The elements of a set, sorted.
pub(crate) fn ordered<'a>(items: &'a [Value], ty: &ValueType) -> Vec<&'a Value> {
    let mut keyed: Vec<(&Value, Option<String>)> = items
        .iter()
        .map(|item| (item, written_key(item, ty)))
        .collect();
    keyed.sort_by(|(a, a_key), (b, b_key)| {
        rank(a)
            .cmp(&rank(b))
            .then_with(|| by_content(a, b, a_key, b_key))
    });
    keyed.into_iter().map(|(item, _)| item).collect()
}

/// Returns the elements without those that equal an earlier one.
pub(crate) fn distinct(items: Vec<Value>, ty: &ValueType) -> Vec<Value> {
    let mut by_key: HashMap<String, Vec<usize>> = HashMap::with_capacity(items.len());
    let mut kept: Vec<Value> = Vec::with_capacity(items.len());
    for item in items {
        let positions = by_key.entry(key(&item, ty)).or_default();
        if !positions
            .iter()
            .any(|at| kept.get(*at).is_some_and(|other| same(other, &item)))
        {
            positions.push(kept.len());
            kept.push(item);
        }
    }
    kept
}

/// The key of a value. Values with different keys are different.
pub(crate) fn key(value: &Value, ty: &ValueType) -> String {
    let mut out = String::new();
    write_key(value, ty, &mut out);
    out
}

fn written_key(value: &Value, ty: &ValueType) -> Option<String> {
    let is_plain = matches!(ty, ValueType::String | ValueType::Number | ValueType::Bool);
    (!is_plain).then(|| key(value, ty))
}

fn rank(value: &Value) -> u8 {
    match value.unmarked() {
        Value::Unknown(_) => 1,
        Value::Null => 2,
        _ => 0,
    }
}

fn by_content(a: &Value, b: &Value, a_key: &Option<String>, b_key: &Option<String>) -> Ordering {
    match (a.unmarked(), b.unmarked()) {
        _ if a_key.is_some() => a_key.cmp(b_key),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (a, b) => Decimal::of(a).cmp(&Decimal::of(b)),
    }
}

fn write_key(value: &Value, ty: &ValueType, out: &mut String) {
    match (value.unmarked(), ty) {
        (Value::Unknown(_), _) => out.push('?'),
        (Value::Null, _) => out.push('~'),
        (Value::Bool(value), _) => out.push(if *value { 'T' } else { 'F' }),
        (Value::Text(text), _) => quote(text, out),
        (Value::List(items), ValueType::Tuple(types)) => {
            out.push('<');
            for (at, item) in items.iter().enumerate() {
                write_key(item, types.get(at).unwrap_or(&ValueType::Dynamic), out);
                out.push(';');
            }
            out.push('>');
        }
        (Value::Set(items) | Value::List(items), ValueType::Set(element)) => {
            out.push('[');
            for item in ordered(items, element) {
                write_key(item, element, out);
                out.push(';');
            }
            out.push(']');
        }
        (Value::List(items) | Value::Set(items), ty) => {
            let item_type = if let ValueType::List(item) = ty {
                item
            } else {
                &ValueType::Dynamic
            };
            out.push('[');
            for item in items.iter() {
                write_key(item, item_type, out);
                out.push(';');
            }
            out.push(']');
        }
        (Value::Map(entries), ty) => {
            let mut keys: Vec<_> = entries.iter().collect();
            keys.sort_by(|a, b| a.0.cmp(b.0));
            out.push(if matches!(ty, ValueType::Object(_)) {
                '<'
            } else {
                '{'
            });
            for (key, value) in keys {
                let part = match ty {
                    ValueType::Object(attributes) => {
                        attributes.get(key).unwrap_or(&ValueType::Dynamic)
                    }
                    ValueType::Map(value) => value,
                    _ => &ValueType::Dynamic,
                };
                if !matches!(ty, ValueType::Object(_)) {
                    quote(key, out);
                    out.push(':');
                }
                write_key(value, part, out);
                out.push(';');
            }
            out.push(if matches!(ty, ValueType::Object(_)) {
                '>'
            } else {
                '}'
            });
        }
        (number, _) => match Decimal::of(number) {
            Some(number) => out.push_str(&number.short_text()),
            None => {
                let _ = write!(out, "{}", number);
            }
        },
    }
}

/// Writes a text in quotes, with the escapes of Go.
fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        let short = match character {
            '"' => Some("\\\""),
            '\\' => Some("\\\\"),
            '\u{7}' => Some("\\a"),
            '\u{8}' => Some("\\b"),
            '\u{c}' => Some("\\f"),
            '\n' => Some("\\n"),
            '\r' => Some("\\r"),
            '\t' => Some("\\t"),
            '\u{b}' => Some("\\v"),
            _ => None,
        };
        let _ = match (short, u32::from(character)) {
            (Some(short), _) => write!(out, "{short}"),
            (None, code) if code < 0x20 || code == 0x7f => write!(out, "\\x{code:02x}"),
            (None, code)
                if character.is_control() || (code > 0x7f && character.is_whitespace()) =>
            {
                write!(out, "\\u{code:04x}")
            }
            _ => write!(out, "{character}"),
        };
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_and_null_elements_come_last() {
        let items = [
            Value::Null,
            Value::from("b"),
            Value::unknown(None, None),
            Value::from("a"),
        ];
        let sorted: Vec<String> = ordered(&items, &ValueType::String)
            .into_iter()
            .map(Value::to_string)
            .collect();
        assert_eq!(sorted, ["\"a\"", "\"b\"", "(known on deploy)", "null"]);
    }

    #[test]
    fn objects_are_ordered_by_their_attributes() {
        let ty = ValueType::object([("a", ValueType::Number), ("b", ValueType::String)]);
        let object = |a: Value, b: &str| Value::map([("b", Value::from(b)), ("a", a)]);
        let items = [
            object(Value::Null, "x"),
            object(Value::Int(2), "y"),
            object(Value::Int(10), "z"),
        ];
        let keys: Vec<String> = ordered(&items, &ty)
            .into_iter()
            .map(|item| key(item, &ty))
            .collect();
        assert_eq!(keys, ["<10;\"z\";>", "<2;\"y\";>", "<~;\"x\";>"]);
    }

    #[test]
    fn equal_elements_are_kept_once() {
        let items = vec![Value::Int(1), Value::Float(1.0), Value::Int(2)];
        assert_eq!(
            distinct(items, &ValueType::Number),
            [Value::Int(1), Value::Int(2)]
        );
    }
}
