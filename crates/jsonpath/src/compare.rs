//! Comparisons of conditions. Only booleans, integers, floats and texts are compared, and only with
//! their own kind: an integer with a float is a failure, as in the original.

use std::cmp::Ordering;

use blueprint::Value;

use crate::failure::{FailureClass, PathFailure};

/// A value that can be compared.
enum Comparable<'a> {
    Flag(bool),
    Int(i64),
    Float(f64),
    Text(&'a str),
}

/// Whether `left operator right` holds.
pub(crate) fn holds(operator: &str, left: &Value, right: &Value) -> Result<bool, PathFailure> {
    type Decide = fn(Ordering) -> bool;
    let (is_equality, decide): (bool, Decide) = match operator {
        "==" => (true, |order| order.is_eq()),
        "!=" => (true, |order| order.is_ne()),
        "<" => (false, |order| order.is_lt()),
        "<=" => (false, |order| order.is_le()),
        ">" => (false, |order| order.is_gt()),
        ">=" => (false, |order| order.is_ge()),
        _ => {
            return Err(PathFailure::new(
                FailureClass::Evaluate,
                format!("`{operator}` is no comparison"),
            ));
        }
    };
    let order = match (comparable(left)?, comparable(right)?) {
        (Comparable::Flag(left), Comparable::Flag(right)) if is_equality => left.cmp(&right),
        (Comparable::Int(left), Comparable::Int(right)) => left.cmp(&right),
        (Comparable::Float(left), Comparable::Float(right)) => left.total_cmp(&(right + 0.0)),
        (Comparable::Text(left), Comparable::Text(right)) => left.cmp(right),
        _ => {
            return Err(PathFailure::new(
                FailureClass::Compare,
                format!(
                    "{} cannot be compared with {} by `{operator}`",
                    word(left),
                    word(right)
                ),
            ));
        }
    };
    Ok(decide(order))
}

fn comparable(value: &Value) -> Result<Comparable<'_>, PathFailure> {
    Ok(match value.unmarked() {
        Value::Bool(flag) => Comparable::Flag(*flag),
        Value::Int(number) => Comparable::Int(*number),
        // Zero has one sign here.
        Value::Float(number) => Comparable::Float(number + 0.0),
        Value::Decimal(text) => Comparable::Float(text.parse().unwrap_or(f64::NAN)),
        Value::Text(text) => Comparable::Text(text),
        _ => {
            return Err(PathFailure::new(
                FailureClass::Compare,
                format!("{} cannot be compared", word(value)),
            ));
        }
    })
}

fn word(value: &Value) -> &'static str {
    match value.unmarked() {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Int(_) => "an integer",
        Value::Float(_) | Value::Decimal(_) => "a float",
        Value::Text(_) => "a text",
        Value::List(_) | Value::Set(_) => "a list",
        Value::Map(_) => "a map",
        _ => "this value",
    }
}

#[cfg(test)]
mod tests {
    use blueprint::Value;

    use super::holds;
    use crate::failure::FailureClass;

    fn of(operator: &str, left: impl Into<Value>, right: impl Into<Value>) -> Option<bool> {
        match holds(operator, &left.into(), &right.into()) {
            Ok(holds) => Some(holds),
            Err(failure) => {
                assert_eq!(failure.class, FailureClass::Compare);
                None
            }
        }
    }

    #[test]
    fn only_equal_kinds_are_compared() {
        assert_eq!(of("<", 2, 10), Some(true));
        assert_eq!(of("<", "2", "10"), Some(false));
        assert_eq!(of("==", 0.0, -0.0), Some(true));
        assert_eq!(of("==", 1, 1.0), None);
        assert_eq!(of("==", 1, "1"), None);
        assert_eq!(of("==", Value::Null, Value::Null), None);
    }

    #[test]
    fn booleans_have_no_order() {
        assert_eq!(of("!=", true, false), Some(true));
        assert_eq!(of("<", false, true), None);
    }
}
