//! What a simulated provider fills in: computed fields by the templates of the catalogue, or plausibly where there are
//! none. Everything follows from the hash of a thing, so equal calls give equal things.

use std::sync::Arc;

use blueprint::{Field, Kind, Map, Name, Schema, Value};
use sha2::{Digest, Sha256};

/// The first 8 hexadecimal digits of SHA-256 over a text.
pub(super) fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(4).map(|byte| [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]).fold(
        String::with_capacity(8),
        |mut text, [high, low]| {
            text.push(high);
            text.push(low);
            text
        },
    )
}

const HEX: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];

/// What the templates of one thing may name.
pub(super) struct Facts<'a> {
    /// Stands for `{hash}`.
    pub(super) hash: &'a str,
    /// Stands for `{id}`.
    pub(super) id: &'a str,
    /// Stands for `{updates}`: 1 at creation.
    pub(super) updates: i64,
}

/// The value of a computed field.
pub(super) fn computed(name: &str, field: &Field, facts: &Facts<'_>) -> Value {
    match (&field.value, &field.kind) {
        (Some(template), _) => filled(template, facts),
        (None, Kind::Object(schema)) => Value::Map(Arc::new(
            schema.fields.iter().map(|(name, field)| (name.clone(), computed(name, field, facts))).collect(),
        )),
        (None, _) => plausible(name, field, facts.hash),
    }
}

/// A template with its marks filled in, at any depth.
fn filled(template: &Value, facts: &Facts<'_>) -> Value {
    match template {
        Value::Text(text) if text.as_ref() == "{updates}" => Value::Int(facts.updates),
        Value::Text(text) if text.contains('{') => Value::text(
            text.replace("{hash}", facts.hash)
                .replace("{id}", facts.id)
                .replace("{updates}", &facts.updates.to_string()),
        ),
        Value::List(items) => Value::list(items.iter().map(|item| filled(item, facts))),
        Value::Map(entries) => {
            Value::Map(Arc::new(entries.iter().map(|(key, value)| (key.clone(), filled(value, facts))).collect()))
        }
        other => other.clone(),
    }
}

/// A value that the field could have, the same for the same hash.
pub(super) fn plausible(name: &str, field: &Field, hash: &str) -> Value {
    if let Some(value) = field.default.as_ref().or(field.allowed.first()) {
        return value.clone();
    }
    let limits = &field.constraint;
    match &field.kind {
        Kind::Any | Kind::String => Value::text(format!("{name}-{hash}")),
        Kind::Integer => {
            let number = i64::from_str_radix(hash, 16).unwrap_or(0) % 1000;
            let number = limits.max.map_or(number, |most| number.min(most as i64));
            Value::Int(limits.min.map_or(number, |least| number.max(least.ceil() as i64)))
        }
        Kind::Float => Value::Float(limits.min.or(limits.max).unwrap_or(1.0)),
        Kind::Boolean => Value::Bool(true),
        Kind::Array(item) => {
            let least = limits.min_items.unwrap_or(0);
            Value::list((0..least).map(|at| plausible(&format!("{name}-{at}"), item, hash)))
        }
        Kind::Map(_) => Value::Map(Arc::default()),
        Kind::Object(schema) => Value::Map(Arc::new(
            schema.fields.iter().map(|(name, field)| (name.clone(), plausible(name, field, hash))).collect(),
        )),
        Kind::Union(branches) => branches.first().map_or(Value::Null, |branch| plausible(name, branch, hash)),
    }
}

/// The id of a new thing: its id field, where that is the provider's to fill, else made from the name of its type.
pub(super) fn id(type_name: &str, id_field: Option<&Name>, schema: &Schema, hash: &str) -> Name {
    let facts = Facts { hash, id: "", updates: 1 };
    let field =
        id_field.and_then(|name| schema.fields.get(name)).filter(|field| field.computed && field.value.is_some());
    match field.map(|field| computed("", field, &facts)) {
        Some(Value::Text(id)) => id,
        _ => format!("{}-{hash}", type_name.rsplit('/').next().unwrap_or(type_name)).into(),
    }
}

/// The hash with which a thing of that id would have been made, so that what somebody else made looks alike.
pub(super) fn hash_of_id(id: &str, id_field: Option<&Name>, schema: &Schema) -> String {
    let template = id_field.and_then(|name| schema.fields.get(name)).and_then(|field| field.value.as_ref());
    let rest = match template {
        Some(Value::Text(template)) => template.strip_suffix("{hash}").and_then(|start| id.strip_prefix(start)),
        _ => None,
    };
    rest.map_or_else(|| hash(id), str::to_owned)
}

/// All fields of a thing: what was sent, what was kept of fields that either side may fill, and what is computed.
pub(super) fn complete(
    schema: &Schema,
    id_field: Option<&Name>,
    sent: &Value,
    before: Option<&Value>,
    facts: &Facts<'_>,
) -> Value {
    let empty = Map::default();
    let sent = sent.as_map().unwrap_or(&empty);
    let mut fields = Map::with_capacity_and_hasher(schema.fields.len(), Default::default());
    for (name, field) in &schema.fields {
        match sent.get(name) {
            Some(value) => {
                let value = match &field.kind {
                    Kind::Object(inner) if matches!(value, Value::Map(_)) => {
                        complete(inner, None, value, before.and_then(|before| before.get(name)), facts)
                    }
                    _ => value.clone(),
                };
                fields.insert(name.clone(), value);
            }
            None if field.computed => {
                let kept = before.and_then(|before| before.get(name)).filter(|_| field.optional);
                let value = match kept {
                    Some(value) => value.clone(),
                    None if id_field == Some(name) => Value::text(facts.id),
                    None => computed(name, field, facts),
                };
                fields.insert(name.clone(), value);
            }
            None => {}
        }
    }
    Value::Map(Arc::new(fields))
}

/// The path of a field that differs although it, or something above it, cannot be changed in place.
pub(super) fn forced(schema: &Schema, before: &Value, after: &Value) -> Option<String> {
    for (name, field) in &schema.fields {
        if !field.is_settable() {
            continue;
        }
        let (old, new) = (before.get(name).unwrap_or(&Value::Null), after.get(name).unwrap_or(&Value::Null));
        if field.must_recreate {
            // A field that the provider filled in stays as it is where nothing is sent for it.
            let left_alone = field.computed && new.is_null();
            if !left_alone && !same(field, old, new) {
                return Some(name.to_string());
            }
        } else if let Kind::Object(inner) = &field.kind
            && let Some(path) = forced(inner, old, new)
        {
            return Some(format!("{name}.{path}"));
        }
    }
    None
}

/// Equal as the field compares: the order and repetition of a set do not count.
fn same(field: &Field, one: &Value, other: &Value) -> bool {
    match (one.as_list(), other.as_list()) {
        (Some(one), Some(other)) if field.set => {
            one.iter().all(|item| other.contains(item)) && other.iter().all(|item| one.contains(item))
        }
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}
