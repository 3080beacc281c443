//! Specs that control only a part of their objects: other controllers own the rest.
//!
//! Not here: which types have such specs ([`Capabilities::partial`](provider::Capabilities::partial)).

use std::sync::Arc;

use blueprint::{Field, Map, Value};

use crate::compare::{entry_of, item_of, same_field};

/// The part of an object's value that a spec declares: the entries of maps that it writes, and the
/// items of keyed lists that it names. Other lists are declared as a whole.
pub fn declared_part(field: Option<&Field>, declared: &Value, actual: &Value) -> Value {
    match (declared.unmarked(), actual) {
        (_, Value::Secret(actual)) => declared_part(field, declared, actual).secret(),
        (Value::Map(own), Value::Map(entries)) => {
            let parts = own.iter().filter_map(|(name, own)| {
                let entry = entries.get(name)?;
                Some((
                    name.clone(),
                    declared_part(entry_of(field, name), own, entry),
                ))
            });
            Value::Map(Arc::new(parts.collect()))
        }
        (Value::List(own), Value::List(items)) => {
            let pairs = pair_items(field, own, items);
            let Some(pairs) = pairs else {
                return actual.clone();
            };
            let parts = pairs
                .into_iter()
                .map(|(own, item)| declared_part(item_of(field), own, item));
            Value::list(parts)
        }
        _ => actual.clone(),
    }
}

/// The spec with the values that have changed: where `then` and `now` are the same, the spec keeps
/// its own form of the value. Both are the declared parts of an object.
pub fn with_changes(field: Option<&Field>, declared: &Value, then: &Value, now: &Value) -> Value {
    let any = Field::of(blueprint::Kind::Any);
    if same_field(field.unwrap_or(&any), then, now) {
        return declared.clone();
    }
    match (declared, then.unmarked(), now.unmarked()) {
        (Value::Secret(declared), ..) => with_changes(field, declared, then, now).secret(),
        (Value::Map(own), Value::Map(before), Value::Map(after)) => {
            let mut parts = Map::default();
            for (name, own) in own.iter() {
                let value = match (before.get(name), after.get(name)) {
                    (Some(before), Some(after)) => {
                        with_changes(entry_of(field, name), own, before, after)
                    }
                    (None, Some(after)) => after.clone(),
                    (Some(_), None) => continue,
                    // The server never returned it.
                    (None, None) => own.clone(),
                };
                parts.insert(name.clone(), value);
            }
            Value::Map(Arc::new(parts))
        }
        (Value::List(own), Value::List(before), Value::List(after))
            if own.len() == before.len() && own.len() == after.len() =>
        {
            let items = own.iter().zip(before.iter().zip(after.iter()));
            Value::list(
                items
                    .map(|(own, (before, after))| with_changes(item_of(field), own, before, after)),
            )
        }
        _ => now.clone(),
    }
}

/// The recorded spec with the values of an object for what the desired spec declares and the record
/// does not: what the object has there already.
pub fn with_actual(
    field: Option<&Field>,
    recorded: &Value,
    desired: &Value,
    actual: &Value,
) -> Value {
    let (Some(wanted), Some(now)) = (desired.as_map(), actual.as_map()) else {
        return recorded.clone();
    };
    let (Value::Map(own), false) = (recorded.unmarked(), recorded.is_null()) else {
        return recorded.clone();
    };
    let mut all = Map::clone(own);
    for (name, desired) in wanted.iter() {
        let Some(actual) = now.get(name).filter(|actual| !actual.is_null()) else {
            continue;
        };
        let field = entry_of(field, name);
        let value = match own.get(name) {
            Some(own) => with_actual(field, own, desired, actual),
            None => declared_part(field, desired, actual),
        };
        all.insert(name.clone(), value);
    }
    Value::Map(Arc::new(all)).tainted(matches!(recorded, Value::Secret(_)))
}

/// The items of a list that a spec declares, each with the item of the spec: by the key of the
/// list, or by position in a list of maps of the same length. `None` if the list counts as a whole.
fn pair_items<'v>(
    field: Option<&Field>,
    own: &'v [Value],
    items: &'v [Value],
) -> Option<Vec<(&'v Value, &'v Value)>> {
    if let Some(key) = field.and_then(|field| field.keyed_by.as_ref()) {
        let mut by_key: std::collections::HashMap<String, &Value, foldhash::fast::FixedState> =
            std::collections::HashMap::default();
        for item in items {
            if let Some(key) = item.get(key) {
                by_key.entry(key.to_string()).or_insert(item);
            }
        }
        let pair = |own: &'v Value| {
            let key = own.get(key)?.to_string();
            Some((own, *by_key.get(&key)?))
        };
        return Some(own.iter().filter_map(pair).collect());
    }
    let is_map = |value: &Value| value.as_map().is_some();
    let by_position =
        own.len() == items.len() && own.iter().all(is_map) && items.iter().all(is_map);
    by_position.then(|| own.iter().zip(items.iter()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use blueprint::Kind;

    fn read(text: &str) -> Value {
        fn value(json: &serde_json::Value) -> Value {
            match json {
                serde_json::Value::Object(entries) => Value::map(
                    entries
                        .iter()
                        .map(|(name, entry)| (blueprint::Name::from(name.as_str()), value(entry))),
                ),
                serde_json::Value::Array(items) => Value::list(items.iter().map(value)),
                serde_json::Value::String(text) => Value::text(text.as_str()),
                serde_json::Value::Number(number) => Value::Int(number.as_i64().unwrap()),
                other => panic!("no {other} in these tests"),
            }
        }
        value(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn only_declared_entries_count() {
        let declared = read(r#"{"a": 1, "labels": {"own": "x"}, "gone": 1}"#);
        let actual = read(r#"{"b": 2, "a": 3, "labels": {"own": "y", "other": "z"}}"#);
        let part = declared_part(None, &declared, &actual);
        assert_eq!(part, read(r#"{"a": 3, "labels": {"own": "y"}}"#));
    }

    #[test]
    fn items_of_a_keyed_list_are_found_by_their_key() {
        let field = Field {
            keyed_by: Some("name".into()),
            ..Field::of(Kind::Array(Arc::new(Field::of(Kind::Any))))
        };
        let declared = read(r#"[{"name": "app", "image": "a"}]"#);
        let actual = read(r#"[{"name": "proxy"}, {"name": "app", "image": "b", "tty": 1}]"#);
        let part = declared_part(Some(&field), &declared, &actual);
        assert_eq!(part, read(r#"[{"name": "app", "image": "b"}]"#));
        let whole = declared_part(None, &declared, &actual);
        assert_eq!(whole, actual);
    }

    #[test]
    fn values_that_an_object_has_already_are_the_former_ones() {
        let recorded = read(r#"{"labels": {"a": "x"}}"#);
        let desired = read(r#"{"labels": {"a": "z", "b": "z"}, "data": {"k": "v"}, "new": 1}"#);
        let actual =
            read(r#"{"labels": {"a": "y", "b": "y", "c": "y"}, "data": {"k": "w", "l": "w"}}"#);
        let before = with_actual(None, &recorded, &desired, &actual);
        let expected = r#"{"labels": {"a": "x", "b": "y"}, "data": {"k": "w"}}"#;
        assert_eq!(before, read(expected));
    }

    #[test]
    fn unchanged_values_keep_the_form_of_the_spec() {
        let declared = read(r#"{"cpu": "1000m", "memory": "1Gi"}"#);
        let then = read(r#"{"cpu": "1", "memory": "1Gi"}"#);
        let now = read(r#"{"cpu": "1", "memory": "2Gi"}"#);
        let changed = with_changes(None, &declared, &then, &now);
        assert_eq!(changed, read(r#"{"cpu": "1000m", "memory": "2Gi"}"#));
    }
}
