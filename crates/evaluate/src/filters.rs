//! Checks whether a candidate of a data source meets a filter
//! (decisions/documents#filters-of-data-sources).
//!
//! Not here: whether the operator fits the kinds that the catalogue declares
//! (`check::data_sources`).

use std::cmp::Ordering;

use blueprint::Value;

/// Whether a field meets an operator and search value; `None` if the operator is not valid for
/// these kinds.
///
/// A missing field meets only negated operators.
pub fn holds(operator: &str, field: Option<&Value>, search: &Value) -> Option<bool> {
    let field = field.filter(|value| !value.is_null());
    let (plain, negated) = match operator {
        "!=" => ("=", true),
        other => match other.strip_prefix("not ") {
            Some(plain) => (plain, true),
            None => (other, false),
        },
    };
    let Some(field) = field else {
        return Some(negated);
    };
    positive(plain, field.unmarked(), search.unmarked()).map(|holds| holds != negated)
}

fn equal(a: &Value, b: &Value) -> bool {
    match (a.unmarked(), b.unmarked()) {
        (Value::Float(a), Value::Int(b)) => *a == *b as f64,
        (a, b) => a == b,
    }
}

/// Whether a search value has the kind of a field. An integer is widened for a float field.
fn same_kind(field: &Value, search: &Value) -> bool {
    matches!(
        (field.unmarked(), search.unmarked()),
        (Value::Text(_), Value::Text(_))
            | (Value::Int(_), Value::Int(_))
            | (Value::Float(_), Value::Float(_) | Value::Int(_))
            | (Value::Bool(_), Value::Bool(_))
    )
}

fn positive(operator: &str, field: &Value, search: &Value) -> Option<bool> {
    match (field, search) {
        (Value::Map(entries), _) => match (operator, search) {
            ("has key", Value::Text(key)) => Some(entries.contains_key(key)),
            ("contains", Value::Text(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_)) => {
                Some(entries.values().any(|value| equal(value, search)))
            }
            _ => None,
        },
        (Value::List(items) | Value::Set(items), Value::List(wanted) | Value::Set(wanted)) => {
            match operator {
                "=" => Some(
                    items.len() == wanted.len()
                        && items.iter().zip(wanted.iter()).all(|(a, b)| equal(a, b)),
                ),
                _ => None,
            }
        }
        (Value::List(items) | Value::Set(items), _) => match operator {
            "contains" => Some(
                items
                    .iter()
                    .any(|item| same_kind(item, search) && equal(item, search)),
            ),
            _ => None,
        },
        (_, Value::List(wanted) | Value::Set(wanted)) => match operator {
            "in" if wanted.iter().all(|item| same_kind(field, item)) => {
                Some(wanted.iter().any(|item| equal(field, item)))
            }
            _ => None,
        },
        _ if !same_kind(field, search) => None,
        _ => match (operator, field, search) {
            ("=", ..) => Some(equal(field, search)),
            ("contains", Value::Text(field), Value::Text(search)) => {
                Some(field.contains(search.as_ref()))
            }
            ("starts with", Value::Text(field), Value::Text(search)) => {
                Some(field.starts_with(search.as_ref()))
            }
            ("ends with", Value::Text(field), Value::Text(search)) => {
                Some(field.ends_with(search.as_ref()))
            }
            (">" | ">=" | "<" | "<=", ..) => {
                let order = match (field, search) {
                    (Value::Text(a), Value::Text(b)) => a.chars().cmp(b.chars()),
                    (Value::Int(a), Value::Int(b)) => a.cmp(b),
                    (Value::Float(a), Value::Float(b)) => a.partial_cmp(b)?,
                    (Value::Float(a), Value::Int(b)) => a.partial_cmp(&(*b as f64))?,
                    _ => return None,
                };
                Some(match operator {
                    ">" => order == Ordering::Greater,
                    ">=" => order != Ordering::Less,
                    "<" => order == Ordering::Less,
                    _ => order != Ordering::Greater,
                })
            }
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_follow_the_table() {
        let list = |items: &[&str]| Value::list(items.iter().map(|item| Value::from(*item)));
        let text = Value::from;
        assert_eq!(holds("=", Some(&text("a")), &text("a")), Some(true));
        assert_eq!(holds("!=", None, &text("a")), Some(true));
        assert_eq!(holds("=", None, &text("a")), Some(false));
        assert_eq!(
            holds("in", Some(&text("a")), &list(&["b", "a"])),
            Some(true)
        );
        assert_eq!(holds("in", Some(&text("a")), &list(&[])), Some(false));
        assert_eq!(
            holds("contains", Some(&list(&["a", "b"])), &text("b")),
            Some(true)
        );
        assert_eq!(holds("=", Some(&list(&[])), &list(&[])), Some(true));
        assert_eq!(holds("=", Some(&Value::Int(1)), &Value::Float(1.0)), None);
        assert_eq!(
            holds("=", Some(&Value::Float(1.0)), &Value::Int(1)),
            Some(true)
        );
        assert_eq!(
            holds(
                "has key",
                Some(&Value::map([("k", Value::Null)])),
                &text("k")
            ),
            Some(true)
        );
        assert_eq!(holds("not has key", None, &text("k")), Some(true));
        assert_eq!(
            holds("contains", Some(&Value::Bool(true)), &Value::Bool(true)),
            None
        );
    }
}
