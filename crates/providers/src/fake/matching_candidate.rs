//! A generated candidate that matches the filters of a document as far as the fields allow.
//!
//! Not here: candidates from the catalogue's rows.

use std::sync::Arc;

use blueprint::{Field, Kind, Map, Name, Schema, Value};
use provider::{Direction, Fit};

/// Changes `fields` so that one filter matches. A filter on a field that is not exported changes
/// nothing.
pub(super) fn satisfy_filter(
    fields: &mut Map,
    schema: &Schema,
    path: &str,
    operator: &str,
    search: &Value,
    fit: &Fit,
) {
    if let Some(field) = schema.fields.get(path) {
        if let Some(wanted) = fields
            .get(path)
            .and_then(|now| satisfying_value(now, field, operator, search))
            && fit.field(&wanted, field, Direction::Answered).is_none()
        {
            fields.insert(path.into(), wanted);
        }
        return;
    }
    // The first step of a path is a field of this schema; the rest is changed inside that field.
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let (name, rest) = path.split_at(end);
    let (Some(field), Some(now)) = (schema.fields.get(name), fields.get(name)) else {
        return;
    };
    if let Some(changed) = satisfy_inner_filter(now, field, rest, operator, search, fit) {
        fields.insert(name.into(), changed);
    }
}

/// The value of a field in which a filter on an inner path matches.
fn satisfy_inner_filter(
    now: &Value,
    field: &Field,
    rest: &str,
    operator: &str,
    search: &Value,
    fit: &Fit,
) -> Option<Value> {
    if rest.is_empty() {
        let wanted = satisfying_value(now, field, operator, search)?;
        return fit
            .field(&wanted, field, Direction::Answered)
            .is_none()
            .then_some(wanted);
    }
    match (&field.kind, now) {
        (Kind::Object(schema), Value::Map(map)) => {
            let mut map = Map::clone(map);
            satisfy_filter(
                &mut map,
                schema,
                rest.strip_prefix('.')?,
                operator,
                search,
                fit,
            );
            Some(Value::Map(Arc::new(map)))
        }
        (Kind::Array(item), Value::List(items)) => {
            let (index, rest) = rest.strip_prefix('[')?.split_once(']')?;
            let index: usize = if index.is_empty() {
                0
            } else {
                index.parse().ok()?
            };
            let mut items: Vec<Value> = items.to_vec();
            let changed =
                satisfy_inner_filter(items.get(index)?, item, rest, operator, search, fit)?;
            *items.get_mut(index)? = changed;
            Some(Value::list(items))
        }
        _ => None,
    }
}

/// A value close to `now` that the operator accepts. `None` if `now` need not change, as for
/// negations.
fn satisfying_value(now: &Value, field: &Field, operator: &str, search: &Value) -> Option<Value> {
    Some(match (operator, now, search) {
        ("=", ..) => widened(search, field),
        ("in", _, Value::List(items)) => widened(items.first()?, field),
        ("contains", Value::Text(now), Value::Text(search)) => {
            Value::text(format!("{search}-{now}"))
        }
        ("contains", Value::List(_), search) => Value::list([search.clone()]),
        ("contains", Value::Map(_), search) => Value::map([(Name::from("key"), search.clone())]),
        ("starts with", Value::Text(now), Value::Text(search)) => {
            Value::text(format!("{search}{now}"))
        }
        ("ends with", Value::Text(now), Value::Text(search)) => {
            Value::text(format!("{now}{search}"))
        }
        ("has key", Value::Map(entries), Value::Text(key)) => {
            let usual = entries
                .values()
                .next()
                .cloned()
                .unwrap_or_else(|| Value::text("value"));
            Value::map([(key.clone(), usual)])
        }
        (">" | ">=", Value::Int(_), Value::Int(least)) => Value::Int(least.saturating_add(1)),
        ("<" | "<=", Value::Int(_), Value::Int(most)) => Value::Int(most.saturating_sub(1)),
        (">" | ">=", Value::Float(_), Value::Float(least)) => Value::Float(least + 1.0),
        ("<" | "<=", Value::Float(_), Value::Float(most)) => Value::Float(most - 1.0),
        (">" | ">=", Value::Text(_), Value::Text(least)) => Value::text(format!("{least}z")),
        ("<" | "<=", Value::Text(_), Value::Text(most)) => {
            most.char_indices().next_back().map_or_else(
                || now.clone(),
                |(at, _)| Value::text(most.get(..at).unwrap_or_default()),
            )
        }
        _ => return None,
    })
}

/// Converts an integer to a float if the field is a float.
fn widened(search: &Value, field: &Field) -> Value {
    match (search, &field.kind) {
        (Value::Int(number), Kind::Float) => Value::Float(*number as f64),
        _ => search.clone(),
    }
}
