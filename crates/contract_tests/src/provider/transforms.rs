//! The suite of transforms. The tests of their provider run it.
//!
//! For each transform of the catalogue it generates documents with its abstract types: one with the
//! required fields, one with all fields. It checks the result against the contract: no abstract
//! resource of the transform is left, other resources are unchanged and in order, generated
//! resources have the spans of their origin, the same input gives the same output, and the output
//! can be written and read back.
//!
//! Not here: the generated resources (tests of each transform).

use blueprint::wire::WireDocument;
use blueprint::{Blueprint, Expr, ExprKind, Field, Kind, Name, Resource, Schema, Value};
use diag::{FileId, Span, Spanned};

use provider::{Provider, Transform, TransformDef};

/// Runs the suite over every transform of a provider. Returns one message per failure; empty on
/// success.
pub async fn check_transforms(provider: &dyn Provider) -> Vec<String> {
    let mut failures = Vec::new();
    for (name, definition) in &provider.catalog().transforms {
        match provider.transform(name) {
            None => failures.push(format!("{name}: the provider does not carry it out")),
            Some(transform) => check_transform(name, definition, transform, &mut failures).await,
        }
    }
    failures
}

async fn check_transform(
    name: &Name,
    definition: &TransformDef,
    transform: &dyn Transform,
    failures: &mut Vec<String>,
) {
    let mut fail = |what: String| failures.push(format!("{name}: {what}"));
    let none = document(&[("first", None), ("second", None)]);
    match transform.transform(none.clone()).await {
        Ok(given) if json(&given) == json(&none) => {}
        Ok(_) => {
            fail("a document without abstract resources is not given back as it is".to_owned())
        }
        Err(error) => fail(format!(
            "a document without abstract resources is refused: {error}"
        )),
    }
    for (type_name, abstract_type) in &definition.abstract_types {
        for all in [false, true] {
            let spec = spec(&abstract_type.schema, all);
            let made_from = Some((type_name, spec));
            let given = document(&[("first", None), ("middle", made_from), ("second", None)]);
            let first = transform.transform(given.clone()).await;
            let second = transform.transform(given.clone()).await;
            let made = match (first, second) {
                (Ok(first), Ok(second)) => {
                    if json(&first) != json(&second) {
                        fail(format!(
                            "{type_name}: the same document gives something else the second time"
                        ));
                    }
                    first
                }
                // Not all fields may be set together. The error must then name the resource.
                (Err(error), _) | (_, Err(error)) => {
                    let known = error
                        .resource
                        .as_deref()
                        .is_none_or(|name| name == "middle");
                    if !all || !known {
                        fail(format!("{type_name}: {error} (of {:?})", error.resource));
                    }
                    continue;
                }
            };
            held(type_name, definition, &given, &made, &mut fail);
        }
    }
}

fn held(
    type_name: &Name,
    definition: &TransformDef,
    given: &WireDocument,
    made: &WireDocument,
    fail: &mut impl FnMut(String),
) {
    if made.resources.iter().any(|(_, it)| {
        definition
            .abstract_types
            .contains_key(it.type_name.item.name())
    }) {
        fail(format!("{type_name}: an abstract resource is left"));
    }
    let others: Vec<&str> = made
        .resources
        .iter()
        .filter(|(_, it)| it.span != span(1))
        .map(|(name, _)| name.as_ref())
        .collect();
    if others != ["first", "second"] {
        fail(format!(
            "{type_name}: elements that are not abstract have changed: {others:?}"
        ));
    }
    let places = [
        given.resources[1].1.span,
        given.resources[1].1.type_name.span,
    ];
    for (name, resource) in made.resources.iter().filter(|(_, it)| it.span == span(1)) {
        if !places.contains(&resource.type_name.span) {
            fail(format!(
                "{type_name}: the type of `{name}` has the place of something else"
            ));
        }
        if resource.made_from.is_some() {
            fail(format!("{type_name}: `{name}` states its own origin"));
        }
    }
    match WireDocument::from_json(&json(made)) {
        Ok(read) if json(&read) == json(made) => {}
        Ok(_) => fail(format!(
            "{type_name}: its result changes when it is read again"
        )),
        Err(error) => fail(format!(
            "{type_name}: its result cannot be read again: {error}"
        )),
    }
}

fn json(document: &WireDocument) -> String {
    document.to_json().unwrap_or_else(|error| error.to_string())
}

/// The span of the name of the resource at that position.
fn span(at: u32) -> Span {
    Span::new(FileId::new(0), at * 100, at * 100 + 5)
}

/// A document of these resources. `None` stands for a resource of a concrete type.
fn document(resources: &[(&str, Option<(&Name, Value)>)]) -> WireDocument {
    let mut blueprint = Blueprint::default();
    for (at, (name, abstract_one)) in resources.iter().enumerate() {
        let place = span(at as u32);
        let inside =
            |offset: u32| Span::new(place.file, place.start + offset, place.start + offset + 5);
        let plain = (
            Name::from("elsewhere/thing"),
            Value::map([("kept", Value::Bool(true))]),
        );
        let (type_name, spec) = match abstract_one {
            Some((type_name, spec)) => ((*type_name).clone(), spec.clone()),
            None => plain,
        };
        let spec = written(&spec, inside(30));
        let resource = Resource::new(
            place,
            Spanned::new(type_name.into(), inside(10)),
            inside(20),
            spec,
        );
        blueprint.resources.insert((*name).into(), resource);
    }
    WireDocument::of(blueprint)
}

/// A value as an expression.
fn written(value: &Value, at: Span) -> Expr {
    match value {
        Value::Map(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| (Spanned::new(key.clone(), at), written(value, at)));
            Expr::new(ExprKind::Map(entries.collect()), at)
        }
        Value::List(items) => Expr::new(
            ExprKind::List(items.iter().map(|item| written(item, at)).collect()),
            at,
        ),
        other => Expr::literal(other.clone(), at),
    }
}

/// A spec with the required fields, or with all fields.
fn spec(schema: &Schema, all: bool) -> Value {
    let fields = schema
        .fields
        .iter()
        .filter(|(_, field)| field.is_settable() && (all || field.required));
    Value::map(fields.map(|(name, field)| (name.clone(), sample(field))))
}

fn sample(field: &Field) -> Value {
    if let Some(value) = field
        .allowed
        .first()
        .or(field.default.as_ref().filter(|value| !value.is_null()))
    {
        return value.clone();
    }
    match &field.kind {
        Kind::String => Value::from("sample"),
        Kind::Integer => Value::Int(1),
        Kind::Float => Value::Float(1.5),
        Kind::Boolean => Value::Bool(true),
        Kind::Array(item) => Value::list([sample(item)]),
        Kind::Map(value) => Value::map([("key", sample(value))]),
        Kind::Object(schema) => spec(schema, true),
        Kind::Union(branches) => branches.first().map(sample).unwrap_or_default(),
        _ => Value::from("sample"),
    }
}
