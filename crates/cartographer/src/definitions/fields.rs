//! The parts of schemas: types of fields, and how schemas are put together.

use std::sync::Arc;

use blueprint::{Map, Value};

/// A schema of a type.
fn of_type(name: &str) -> Value {
    Value::map([("type", Value::from(name))])
}

/// A text.
pub(crate) fn text() -> Value {
    of_type("string")
}

/// A text of at least one character.
pub(crate) fn filled_text() -> Value {
    with(text(), "minLength", Value::Int(1))
}

/// One of several texts.
pub(crate) fn one_of<'a>(values: impl IntoIterator<Item = &'a str>) -> Value {
    let values = Value::list(values.into_iter().map(Value::from));
    with(text(), "enum", values)
}

/// True or false.
pub(crate) fn boolean() -> Value {
    of_type("boolean")
}

/// A text of a format.
pub(crate) fn formatted(format: &str) -> Value {
    with(text(), "format", Value::from(format))
}

/// An integer of 64 bits.
pub(crate) fn integer() -> Value {
    with(of_type("integer"), "format", Value::from("int64"))
}

/// Any value.
pub(crate) fn any() -> Value {
    Value::map([KEEP])
}

/// An object with any fields.
pub(crate) fn any_object() -> Value {
    with(of_type("object"), KEEP.0, KEEP.1)
}

const KEEP: (&str, Value) = ("x-kubernetes-preserve-unknown-fields", Value::Bool(true));

/// A quantity of Kubernetes: an integer, or a number with a suffix such as `500m`.
pub(crate) fn quantity() -> Value {
    const NUMBER: &str = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))";
    let suffix = format!(r"([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{NUMBER})");
    Value::map([
        (
            "anyOf",
            Value::list([of_type("integer"), of_type("string")]),
        ),
        (
            "pattern",
            Value::from(format!(r"^(\+|-)?{NUMBER}({suffix})?$")),
        ),
        ("x-kubernetes-int-or-string", Value::Bool(true)),
    ])
}

/// A list.
pub(crate) fn list(items: Value) -> Value {
    with(of_type("array"), "items", items)
}

/// An object with any names and values of one schema.
pub(crate) fn map_of(values: Value) -> Value {
    with(of_type("object"), "additionalProperties", values)
}

/// An object with these fields. A name that ends with `!` is that of a required one.
pub(crate) fn object<'a>(fields: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let mut required = Vec::new();
    let mut properties = Map::new();
    for (name, schema) in fields {
        let plain = name.trim_end_matches('!');
        if plain.len() < name.len() {
            required.push(Value::from(plain));
        }
        properties.insert(plain.into(), schema);
    }
    let mut schema = of_type("object");
    if !properties.is_empty() {
        schema = with(schema, "properties", Value::Map(Arc::new(properties)));
    }
    if !required.is_empty() {
        schema = with(schema, "required", Value::list(required));
    }
    schema
}

/// An object that server-side apply replaces as a whole.
pub(crate) fn atomic(object: Value) -> Value {
    with(object, "x-kubernetes-map-type", Value::from("atomic"))
}

/// A schema with one more keyword.
pub(crate) fn with(schema: Value, key: &str, value: Value) -> Value {
    match schema {
        Value::Map(mut entries) => {
            Arc::make_mut(&mut entries).insert(key.into(), value);
            Value::Map(entries)
        }
        other => other,
    }
}

/// The operators of requirements about fields.
pub(crate) fn field_requirement() -> Vec<(&'static str, Value)> {
    vec![
        ("key!", filled_text()),
        (
            "operator!",
            one_of(["In", "NotIn", "Exists", "DoesNotExist"]),
        ),
        ("values", list(text())),
    ]
}

/// How many objects of immutable templates and runnables stay.
pub(crate) fn retention_policy() -> Value {
    let count = || with(integer(), "minimum", Value::Int(1));
    object([("maxFailedRuns!", count()), ("maxSuccessfulRuns!", count())])
}
