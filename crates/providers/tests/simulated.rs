//! The simulation of every house catalogue under the contract, with specs that follow from the catalogue alone.

#![allow(clippy::unwrap_used, reason = "a test ends at the first thing that is not as expected")]

use std::sync::Arc;

use blueprint::{Field, Kind, Map, Schema, Value};
use provider::conformance::{Case, Setup};
use provider::{Catalog, Direction, Fit, Provider};
use providers::fake::{FakeOptions, SharedWorld, provider};

/// The smallest value of a field.
fn smallest(field: &Field) -> Value {
    if let Some(value) = field.allowed.first() {
        return value.clone();
    }
    let limits = &field.constraint;
    match &field.kind {
        Kind::Any => Value::from("anything"),
        Kind::String => match limits.pattern.as_deref() {
            Some(_) => ["a", "1", "1h", "https://a.example", "application/json", "2030-01-01T00:00:00Z"]
                .into_iter()
                .map(Value::from)
                .find(|value| Fit::new().field(value, field, Direction::Sent).is_none())
                .unwrap_or_else(|| panic!("no text fits {:?}", limits.pattern)),
            None => Value::from("x".repeat(limits.min_length.unwrap_or(1).max(1) as usize)),
        },
        Kind::Integer => Value::Int(limits.min.unwrap_or(1.0) as i64),
        Kind::Float => Value::Float(limits.min.unwrap_or(1.0)),
        Kind::Boolean => Value::Bool(true),
        Kind::Array(item) => Value::list((0..limits.min_items.unwrap_or(0)).map(|_| smallest(item))),
        Kind::Map(_) => Value::Map(Arc::default()),
        Kind::Object(schema) => spec(schema),
        Kind::Union(branches) => smallest(&branches[0]),
    }
}

fn spec(schema: &Schema) -> Value {
    let required = schema.fields.iter().filter(|(_, field)| field.required);
    Value::Map(Arc::new(required.map(|(name, field)| (name.clone(), smallest(field))).collect()))
}

/// The spec with a field more, or with another value, that needs no replacement; none if the type has no such field.
fn changed(schema: &Schema, spec: &Value) -> Option<Value> {
    let mut fields: Map = spec.as_map().unwrap().clone();
    let (name, field) = schema.fields.iter().find(|(name, field)| {
        field.is_settable()
            && !field.must_recreate
            && field.default.is_none()
            && !fields.contains_key(name.as_ref())
            && matches!(field.kind, Kind::String | Kind::Integer | Kind::Boolean | Kind::Map(_) | Kind::Any)
            && field.constraint.pattern.is_none()
    })?;
    fields.insert(name.clone(), smallest(field));
    Some(Value::Map(Arc::new(fields)))
}

async fn keeps_the_contract(catalog: Arc<Catalog>) {
    let world = SharedWorld::default();
    let cases: Vec<Case> = catalog
        .resource_types
        .values()
        .map(|resource_type| {
            let spec = spec(&resource_type.schema);
            let case = Case::new(&resource_type.name, spec.clone());
            match changed(&resource_type.schema, &spec) {
                Some(changed) => case.changed(changed),
                None => case,
            }
        })
        .collect();
    let make = || -> Arc<dyn Provider> {
        let options =
            FakeOptions { catalog: Some(catalog.clone()), world: Some(world.clone()), ..FakeOptions::default() };
        Arc::new(provider(options))
    };
    let failures = provider::conformance::provider(make, &Setup::in_folder("/w"), &cases).await;
    assert!(failures.is_empty(), "{:?}: {failures:#?}", catalog.namespaces);
    assert_eq!(world.lock().unwrap().things().count(), 0);
}

#[tokio::test]
async fn the_simulation_of_every_house_provider_keeps_the_contract() {
    let house: [Arc<dyn Provider>; 6] = [
        Arc::new(providers::local::provider()),
        Arc::new(providers::random::provider()),
        Arc::new(providers::tls::provider()),
        Arc::new(providers::http::provider()),
        Arc::new(providers::time::provider()),
        Arc::new(providers::std::provider()),
    ];
    for provider in house {
        keeps_the_contract(provider.catalog().clone()).await;
    }
}
