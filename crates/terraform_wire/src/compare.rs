//! Equality of values as Terraform sees it.

use blueprint::Value;

use crate::number::{Decimal, is_number};

/// Whether two values are equal. Numbers are compared by size, sets without order, and secret marks
/// are ignored. An unknown value equals any other unknown value.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a.unmarked(), b.unmarked()) {
        (Value::Unknown(_), Value::Unknown(_)) => true,
        (Value::Set(a), Value::Set(b) | Value::List(b)) | (Value::List(a), Value::Set(b)) => {
            same_set(a, b)
        }
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) if is_number(a) && is_number(b) => match (Decimal::of(a), Decimal::of(b)) {
            (Some(a), Some(b)) => a == b,
            _ => a == b,
        },
        (a, b) => a == b,
    }
}

/// Whether two sets have the same elements. The search is fast if the elements are in the same
/// order.
fn same_set(a: &[Value], b: &[Value]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut rest: Vec<&Value> = b.iter().collect();
    for value in a.iter().rev() {
        let Some(at) = rest.iter().rposition(|other| same(value, other)) else {
            return false;
        };
        rest.swap_remove(at);
    }
    true
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn numbers_and_sets_compare_by_meaning() {
        assert!(same(&Value::Int(2), &Value::Float(2.0)));
        assert!(same(&Value::Decimal("0.10".into()), &Value::Float(0.1)));
        assert!(!same(&Value::Int(2), &Value::from("2")));
        let set = |items: &[i64]| {
            Value::Set(Arc::new(
                items.iter().map(|item| Value::Int(*item)).collect(),
            ))
        };
        assert!(same(&set(&[1, 2, 3]), &set(&[3, 1, 2])));
        assert!(!same(&set(&[1, 2]), &set(&[1, 3])));
        assert!(same(&Value::from("a").secret(), &Value::from("a")));
        assert!(!same(&Value::Null, &Value::unknown(None, None)));
    }
}
