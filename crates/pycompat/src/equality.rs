//! Equality and truth of values.
//!
//! Numbers and booleans are one kind: `1 == 1.0 == true`. The order of lists counts, the order of
//! maps does not. A text equals texts only.

use blueprint::Value;
use num_bigint::BigInt;

use crate::number::{exact, exact_of_float};

/// Whether `left == right`. NaN equals nothing.
pub fn equal(left: &Value, right: &Value) -> bool {
    match (left.unmarked(), right.unmarked()) {
        (Value::Null, Value::Null) => true,
        (Value::Text(left), Value::Text(right)) => left == right,
        (Value::Bytes(left), Value::Bytes(right)) => left == right,
        (Value::Int(left), Value::Int(right)) => left == right,
        (Value::Float(left), Value::Float(right)) => left == right,
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right.iter())
                    .all(|(left, right)| equal(left, right))
        }
        (Value::Map(left), Value::Map(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, left)| right.get(key).is_some_and(|right| equal(left, right)))
        }
        (Value::Set(_), Value::Set(_)) => EqualityKey::of(left) == EqualityKey::of(right),
        (left, right) => match (Number::of(left), Number::of(right)) {
            (Some(left), Some(right)) => {
                left == right && !matches!(left, Number::Float(value) if value.is_nan())
            }
            (None, None) => left == right,
            _ => false,
        },
    }
}

/// Whether a list contains a value that equals `value`.
pub fn contains<'a>(items: impl IntoIterator<Item = &'a Value>, value: &Value) -> bool {
    items.into_iter().any(|item| equal(item, value))
}

/// Python's `bool(value)`: null, false, zero and empty values are false.
pub fn truth(value: &Value) -> bool {
    match value.unmarked() {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Int(value) => *value != 0,
        Value::Float(value) => *value != 0.0,
        Value::Decimal(digits) => digits.bytes().any(|byte| matches!(byte, b'1'..=b'9')),
        Value::Text(text) => !text.is_empty(),
        Value::Bytes(bytes) => !bytes.is_empty(),
        Value::List(items) | Value::Set(items) => !items.is_empty(),
        Value::Map(entries) => !entries.is_empty(),
        _ => true,
    }
}

/// A number in a form that is the same for equal numbers.
#[derive(PartialEq)]
enum Number {
    Small(i64),
    Large(BigInt),
    /// A number that is not integral or not finite.
    Float(f64),
}

impl Number {
    fn of(value: &Value) -> Option<Number> {
        let large = match value {
            Value::Bool(value) => return Some(Number::Small(i64::from(*value))),
            Value::Int(value) => return Some(Number::Small(*value)),
            Value::Decimal(_) => exact(value)?,
            Value::Float(float) => match exact_of_float(*float) {
                Some(exact) if *float == float.trunc() => exact,
                _ => return Some(Number::Float(*float)),
            },
            _ => return None,
        };
        Some(i64::try_from(&large).map_or(Number::Large(large), Number::Small))
    }
}

/// A key that is the same for equal values. It can be hashed and ordered, so that finding equal
/// values takes linear time.
///
/// Two values have the same key exactly if they are [`equal`]; in addition all NaN have the same
/// key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EqualityKey(Box<[u8]>);

impl EqualityKey {
    /// Returns the key of a value.
    pub fn of(value: &Value) -> EqualityKey {
        let mut bytes = Vec::new();
        write_key(value, &mut bytes);
        EqualityKey(bytes.into())
    }
}

fn write_sized(tag: u8, content: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend((content.len() as u64).to_be_bytes());
    out.extend(content);
}

fn write_key(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(b'0'),
        Value::Text(text) => write_sized(b't', text.as_bytes(), out),
        Value::Bytes(bytes) => write_sized(b'b', bytes, out),
        Value::List(items) => {
            out.push(b'[');
            out.extend((items.len() as u64).to_be_bytes());
            items.iter().for_each(|item| write_key(item, out));
        }
        Value::Set(items) => {
            let mut keys: Vec<EqualityKey> = items.iter().map(EqualityKey::of).collect();
            keys.sort();
            keys.dedup();
            out.push(b'(');
            out.extend((keys.len() as u64).to_be_bytes());
            keys.iter().for_each(|key| out.extend(&key.0));
        }
        Value::Map(entries) => {
            let mut sorted: Vec<_> = entries.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            out.push(b'{');
            out.extend((sorted.len() as u64).to_be_bytes());
            for (key, value) in sorted {
                write_sized(b't', key.as_bytes(), out);
                write_key(value, out);
            }
        }
        Value::Secret(inner) => write_key(inner, out),
        other => match Number::of(other) {
            Some(Number::Small(value)) => {
                out.push(b'i');
                out.extend(value.to_be_bytes());
            }
            Some(Number::Large(value)) => write_sized(b'l', &value.to_signed_bytes_be(), out),
            Some(Number::Float(value)) if value.is_nan() => out.push(b'n'),
            Some(Number::Float(value)) => {
                out.push(b'f');
                out.extend(value.to_bits().to_be_bytes());
            }
            None => write_sized(b'o', other.to_string().as_bytes(), out),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn big(digits: &str) -> Value {
        Value::Decimal(digits.into())
    }

    #[test]
    fn numbers_and_booleans_are_one_kind() {
        let ones = [Value::from(1), Value::from(1.0), Value::from(true)];
        for one in &ones {
            for other in &ones {
                assert!(equal(one, other));
                assert_eq!(EqualityKey::of(one), EqualityKey::of(other));
            }
            assert!(!equal(one, &Value::from("1")));
            assert_ne!(EqualityKey::of(one), EqualityKey::of(&Value::from("1")));
        }
        assert!(equal(&Value::from(0), &Value::from(-0.0)));
        assert!(equal(&big("100000000000000000000"), &Value::from(1e20)));
        assert!(!equal(&big("100000000000000000001"), &Value::from(1e20)));
        assert!(!equal(
            &Value::from(9_007_199_254_740_993),
            &Value::from(9_007_199_254_740_992.0)
        ));
        assert!(!equal(&Value::from(f64::NAN), &Value::from(f64::NAN)));
        assert!(equal(
            &Value::from(f64::INFINITY),
            &Value::from(f64::INFINITY)
        ));
    }

    #[test]
    fn order_counts_in_lists_and_not_in_maps() {
        let one = Value::map([
            ("a", Value::from(1)),
            ("b", Value::list([Value::from(true)])),
        ]);
        let other = Value::map([
            ("b", Value::list([Value::from(1.0)])),
            ("a", Value::from(1.0)),
        ]);
        assert!(equal(&one, &other));
        assert_eq!(EqualityKey::of(&one), EqualityKey::of(&other));
        let (ab, ba) = (
            Value::list(["a".into(), "b".into()]),
            Value::list(["b".into(), "a".into()]),
        );
        assert!(!equal(&ab, &ba));
        assert_ne!(EqualityKey::of(&ab), EqualityKey::of(&ba));
    }

    #[test]
    fn empty_values_are_false() {
        for value in [
            Value::Null,
            false.into(),
            0.into(),
            0.0.into(),
            "".into(),
            Value::list([]),
            big("-0"),
        ] {
            assert!(!truth(&value), "{value}");
        }
        for value in [
            Value::from(true),
            "false".into(),
            f64::NAN.into(),
            Value::list([Value::Null]),
            big("10"),
        ] {
            assert!(truth(&value), "{value}");
        }
    }
}
