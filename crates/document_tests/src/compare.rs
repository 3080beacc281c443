//! Compares an expected value with the actual one.

use blueprint::Value;

/// Whether a value is as expected: numbers by value, maps whatever the order of their entries,
/// secrets by what they hide.
pub(crate) fn is_equal(expected: &Value, actual: &Value) -> bool {
    match (expected.unmarked(), actual.unmarked()) {
        (Value::Map(expected), Value::Map(actual)) => {
            let mut pairs = expected.iter();
            expected.len() == actual.len()
                && pairs.all(|(key, value)| {
                    let actual = actual.get(key);
                    actual.is_some_and(|actual| is_equal(value, actual))
                })
        }
        (expected, actual) => is_equal_leaf(expected, actual, is_equal),
    }
}

/// Whether a value has at least what is expected: maps may have further entries. Null is expected
/// of an entry that is missing.
pub(crate) fn contains(expected: &Value, actual: &Value) -> bool {
    match (expected.unmarked(), actual.unmarked()) {
        (Value::Map(expected), Value::Map(actual)) => {
            let mut pairs = expected.iter();
            pairs.all(|(key, value)| contains(value, actual.get(key).unwrap_or(&Value::Null)))
        }
        (expected, actual) => is_equal_leaf(expected, actual, contains),
    }
}

/// Compares two values, at least one of which is no map, and the items of two lists with `of_items`.
fn is_equal_leaf(expected: &Value, actual: &Value, of_items: fn(&Value, &Value) -> bool) -> bool {
    match (expected, actual) {
        (Value::List(expected), Value::List(actual) | Value::Set(actual)) => {
            let mut pairs = expected.iter().zip(actual.iter());
            expected.len() == actual.len()
                && pairs.all(|(expected, actual)| of_items(expected, actual))
        }
        (Value::Int(expected), Value::Float(actual)) => *expected as f64 == *actual,
        (Value::Float(expected), Value::Int(actual)) => *expected == *actual as f64,
        (expected, actual) => expected == actual,
    }
}
