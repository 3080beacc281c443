//! Computed fields of a simulated provider: from the templates of the catalogue, otherwise
//! plausible values (`plausible.rs`). All values are derived from the hash of a resource, so equal
//! calls give equal resources.

use std::sync::Arc;

use blueprint::{Field, FieldPath, Kind, Map, Name, Schema, TypeId, Value};
use provider::Fit;
use sha2::{Digest, Sha256};

use super::plausible::ValueOwner;
use super::read_parts;

/// The first 8 hexadecimal digits of the SHA-256 of a text.
pub(super) fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest
        .iter()
        .take(4)
        .map(|byte| [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]])
        .fold(String::with_capacity(8), |mut text, [high, low]| {
            text.push(high);
            text.push(low);
            text
        })
}

const HEX: [char; 16] = [
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
];

/// The facts from which the values of one resource are derived.
#[derive(Clone, Copy)]
pub(super) struct ValueFacts<'a> {
    /// The value of `{hash}`, which distinguishes resources.
    pub(super) hash: &'a str,
    /// The value of `{id}`.
    pub(super) id: &'a str,
    /// The value of `{updates}`: 1 at creation.
    pub(super) updates: i64,
    /// The resource type.
    pub(super) type_name: &'a TypeId,
    /// The sent fields, for `{spec.PATH}`.
    pub(super) sent: &'a Value,
    /// The name of the resource in the document.
    pub(super) name: Option<&'a str>,
    /// Checks values against fields.
    pub(super) fit: &'a Fit,
    /// The parts of the object that documents read.
    pub(super) parts: &'a [FieldPath],
}

impl<'a> ValueFacts<'a> {
    /// The owner of the values.
    pub(super) fn subject(&self) -> ValueOwner<'a> {
        ValueOwner {
            type_name: self.type_name,
            hash: self.hash,
            name: self.name,
            fit: self.fit,
        }
    }
}

/// The value of a computed field. `path` distinguishes fields of the same name.
pub(super) fn computed(path: &str, name: &str, field: &Field, facts: &ValueFacts<'_>) -> Value {
    match (&field.simulated_value, &field.kind) {
        (Some(template), _) => match filled(template, facts) {
            // A field of the spec that was not sent.
            Value::Null if !template.is_null() && !field.nullable => {
                facts.subject().value(name, field)
            }
            value => value,
        },
        (None, Kind::Object(schema)) => Value::Map(Arc::new(
            schema
                .fields
                .iter()
                .map(|(name, field)| {
                    (
                        name.clone(),
                        computed(&format!("{path}.{name}"), name, field, facts),
                    )
                })
                .collect(),
        )),
        (None, _) => facts.subject().at(path, name, field),
    }
}

/// A template with its placeholders filled in, at any depth.
fn filled(template: &Value, facts: &ValueFacts<'_>) -> Value {
    match template {
        Value::Text(text) if text.contains('{') => filled_text(text, facts),
        Value::List(items) => Value::list(items.iter().map(|item| filled(item, facts))),
        Value::Map(entries) => Value::Map(Arc::new(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), filled(value, facts)))
                .collect(),
        )),
        other => other.clone(),
    }
}

/// Fills a text template. A template that is a single placeholder keeps the type of the value;
/// otherwise the result is text.
fn filled_text(text: &str, facts: &ValueFacts<'_>) -> Value {
    let alone = text
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    let alone = alone.filter(|mark| !mark.contains(['{', '}']));
    if let Some(value) = alone.and_then(|mark| placeholder_value(mark, facts)) {
        return value;
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let mark = rest.find('}').map(|end| &rest[1..end]);
        match mark.and_then(|mark| Some((mark, placeholder_value(mark, facts)?))) {
            Some((mark, value)) => {
                match value {
                    Value::Null => {}
                    Value::Text(text) => out.push_str(&text),
                    other => out.push_str(&other.to_string()),
                }
                rest = &rest[mark.len() + 2..];
            }
            // A brace that starts no placeholder stays.
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    Value::text(out)
}

/// The value of a placeholder. Null if the spec has no value at its path. `None` if `mark` is not a
/// placeholder.
fn placeholder_value(mark: &str, facts: &ValueFacts<'_>) -> Option<Value> {
    Some(match mark {
        "hash" => Value::text(facts.hash),
        "id" => Value::text(facts.id),
        "updates" => Value::Int(facts.updates),
        _ => {
            let path = mark.strip_prefix("spec.")?;
            let at = path
                .split('.')
                .try_fold(facts.sent, |value, name| value.get(name));
            at.cloned().unwrap_or_default()
        }
    })
}

/// The id of a new resource: the computed id field, otherwise an id from the name of its type.
pub(super) fn id(id_field: Option<&Name>, schema: &Schema, facts: &ValueFacts<'_>) -> Name {
    let field = id_field.and_then(|name| Some((name, schema.fields.get(name)?)));
    if let Some((name, field)) = field.filter(|(_, field)| field.computed)
        && let Value::Text(id) = computed(name, name, field, &ValueFacts { id: "", ..*facts })
    {
        return id;
    }
    plain_id(facts.type_name, facts.hash)
}

/// An id from the name of a type.
pub(super) fn plain_id(type_name: &TypeId, hash: &str) -> Name {
    format!("{}-{hash}", type_name.last_part()).into()
}

/// The hash that gives this id, so that resources created from outside look the same.
pub(super) fn hash_of_id(id: &str, id_field: Option<&Name>, schema: &Schema) -> String {
    let template = id_field
        .and_then(|name| schema.fields.get(name))
        .and_then(|field| field.simulated_value.as_ref());
    let rest = match template {
        Some(Value::Text(template)) => template
            .strip_suffix("{hash}")
            .and_then(|start| id.strip_prefix(start)),
        _ => None,
    };
    rest.map_or_else(|| hash(id), str::to_owned)
}

/// All fields of a resource: the sent ones, the previous values of fields that both sides may set,
/// and the computed ones.
pub(super) fn complete(
    schema: &Schema,
    id_field: Option<&Name>,
    sent: &Value,
    before: Option<&Value>,
    facts: &ValueFacts<'_>,
) -> Value {
    with_parts(
        complete_at("", schema, id_field, sent, before, facts),
        schema,
        facts,
    )
}

/// All fields of a resource, with the parts that documents read.
pub(super) fn with_parts(fields: Value, schema: &Schema, facts: &ValueFacts<'_>) -> Value {
    match fields {
        Value::Map(mut entries) if !facts.parts.is_empty() => {
            let made = Arc::make_mut(&mut entries);
            read_parts::add(made, schema, facts.sent, facts.parts, &facts.subject());
            Value::Map(entries)
        }
        fields => fields,
    }
}

fn complete_at(
    path: &str,
    schema: &Schema,
    id_field: Option<&Name>,
    sent: &Value,
    before: Option<&Value>,
    facts: &ValueFacts<'_>,
) -> Value {
    let empty = Map::default();
    let sent = sent.as_map().unwrap_or(&empty);
    let mut fields = Map::with_capacity(schema.fields.len());
    for (name, field) in &schema.fields {
        let before = before.and_then(|before| before.get(name));
        let path = || {
            if path.is_empty() {
                name.to_string()
            } else {
                format!("{path}.{name}")
            }
        };
        match sent.get(name) {
            Some(value) if fills_in(field) => {
                fields.insert(
                    name.clone(),
                    with_computed(&path(), field, value, before, facts),
                );
            }
            Some(value) => {
                fields.insert(name.clone(), value.clone());
            }
            None if field.computed => {
                let kept = before.filter(|_| field.optional);
                let value = match kept {
                    Some(value) => value.clone(),
                    None if id_field == Some(name) => Value::text(facts.id),
                    None => computed(&path(), name, field, facts),
                };
                fields.insert(name.clone(), value);
            }
            None => {}
        }
    }
    fields.shrink_to_fit();
    Value::Map(Arc::new(fields))
}

/// Whether the provider may set a field inside this field.
fn fills_in(field: &Field) -> bool {
    match &field.kind {
        Kind::Object(_) => true,
        Kind::Array(inside) | Kind::Map(inside) => fills_in(inside),
        _ => false,
    }
}

/// A sent value with the computed values inside it.
fn with_computed(
    path: &str,
    field: &Field,
    sent: &Value,
    before: Option<&Value>,
    facts: &ValueFacts<'_>,
) -> Value {
    match (&field.kind, sent) {
        (Kind::Object(inner), Value::Map(_)) => complete_at(path, inner, None, sent, before, facts),
        (Kind::Array(item), Value::List(items)) => {
            let before = before.and_then(Value::as_list).unwrap_or_default();
            Value::list(items.iter().enumerate().map(|(at, value)| {
                with_computed(&format!("{path}[{at}]"), item, value, before.get(at), facts)
            }))
        }
        (Kind::Map(inside), Value::Map(entries)) => {
            let entries = entries.iter().map(|(key, value)| {
                let before = before.and_then(|before| before.get(key));
                (
                    key.clone(),
                    with_computed(&format!("{path}.{key}"), inside, value, before, facts),
                )
            });
            Value::Map(Arc::new(entries.collect()))
        }
        _ => sent.clone(),
    }
}

/// The path of a field that differs although it, or a parent, cannot be changed in place.
pub(super) fn immutable_change(schema: &Schema, before: &Value, after: &Value) -> Option<String> {
    for (name, field) in &schema.fields {
        if !field.is_settable() {
            continue;
        }
        let (old, new) = (
            before.get(name).unwrap_or(&Value::Null),
            after.get(name).unwrap_or(&Value::Null),
        );
        if field.must_recreate {
            // A field that the provider set does not change if no value is sent for it.
            let left_alone = field.computed && new.is_null();
            if !left_alone && !same(field, old, new) {
                return Some(name.to_string());
            }
        } else if let Kind::Object(inner) = &field.kind
            && let Some(path) = immutable_change(inner, old, new)
        {
            return Some(format!("{name}.{path}"));
        }
    }
    None
}

/// Whether two values are equal for the field: order and repetition in a set have no meaning.
fn same(field: &Field, one: &Value, other: &Value) -> bool {
    match (one.as_list(), other.as_list()) {
        (Some(one), Some(other)) if field.set => {
            one.iter().all(|item| other.contains(item))
                && other.iter().all(|item| one.contains(item))
        }
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}
