//! The types of real providers, from their recorded schemas.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use blueprint::{IndexMap, Kind, Name, SupportStatus, Value};
use provider::{Direction, FilterType, Fit, TypeSource as _};
use serde_json::Value as Json;
use terraform_wire::{
    AttributeKind, Block, BlockType, FunctionSchema, NestedObject, Nesting, ParameterSchema,
    ProviderSchema, SchemaAttribute, SchemaTypes, TypeNames, TypeSchema, ValueType, function,
    settings,
};

fn text(json: &Json) -> Name {
    json.as_str().unwrap_or_default().into()
}

fn is(json: &Json) -> bool {
    json.as_bool().unwrap_or(false)
}

fn entries<T>(json: &Json, read: impl Fn(&Json) -> T) -> IndexMap<Name, T> {
    json.as_object()
        .into_iter()
        .flatten()
        .map(|(name, json)| (Name::from(name.as_str()), read(json)))
        .collect()
}

fn nesting(json: &Json) -> Nesting {
    match json["nesting_mode"].as_str().unwrap() {
        "single" => Nesting::Single,
        "group" => Nesting::Group,
        "list" => Nesting::List,
        "set" => Nesting::Set,
        "map" => Nesting::Map,
        other => panic!("{other}"),
    }
}

fn attribute(json: &Json) -> SchemaAttribute {
    let kind = match json.get("type") {
        Some(ty) => AttributeKind::Plain(ValueType::of_json(ty).unwrap()),
        None => {
            let nested = &json["nested_type"];
            AttributeKind::Nested(NestedObject {
                nesting: nesting(nested),
                attributes: entries(&nested["attributes"], attribute),
            })
        }
    };
    SchemaAttribute {
        kind,
        required: is(&json["required"]),
        optional: is(&json["optional"]),
        computed: is(&json["computed"]),
        sensitive: is(&json["sensitive"]),
        write_only: is(&json["write_only"]),
        deprecated: is(&json["deprecated"]),
        docs: text(&json["description"]),
    }
}

fn block(json: &Json) -> Block {
    let inner = |json: &Json| BlockType {
        nesting: nesting(json),
        block: block(&json["block"]),
        min_items: json["min_items"].as_u64().unwrap_or(0),
        max_items: json["max_items"].as_u64().unwrap_or(0),
    };
    Block {
        attributes: entries(&json["attributes"], attribute),
        blocks: entries(&json["block_types"], inner),
        docs: text(&json["description"]),
        deprecated: is(&json["deprecated"]),
    }
}

fn schema(json: &Json) -> TypeSchema {
    TypeSchema {
        version: json["version"].as_u64().unwrap_or(0),
        block: block(&json["block"]),
    }
}

fn parameter(json: &Json) -> ParameterSchema {
    ParameterSchema {
        name: text(&json["name"]),
        ty: ValueType::of_json(&json["type"]).unwrap(),
        takes_null: is(&json["is_nullable"]),
        takes_unknown: false,
        docs: text(&json["description"]),
    }
}

fn functions(json: &Json) -> FunctionSchema {
    FunctionSchema {
        parameters: json["parameters"]
            .as_array()
            .into_iter()
            .flatten()
            .map(parameter)
            .collect(),
        variadic: json.get("variadic_parameter").map(parameter),
        returns: ValueType::of_json(&json["return_type"]).unwrap(),
        summary: text(&json["summary"]),
        docs: text(&json["description"]),
        deprecated: "".into(),
    }
}

/// The recorded schema of a provider.
fn recorded(provider: &str) -> ProviderSchema {
    let all: Json =
        serde_json::from_str(include_str!("../../../conformance/terraform/schemas.json")).unwrap();
    let json = &all[provider]["schema"];
    let named = |key: &str| entries(&json[key], |json| Arc::new(schema(json)));
    ProviderSchema {
        provider: schema(&json["provider"]),
        resources: named("resource_schemas"),
        data_sources: named("data_source_schemas"),
        ephemerals: named("ephemeral_resource_schemas"),
        functions: entries(&json["functions"], functions),
        ..ProviderSchema::default()
    }
}

fn types(provider: &str) -> SchemaTypes {
    SchemaTypes::new(
        Arc::new(recorded(provider)),
        TypeNames::new(provider, provider),
    )
}

#[test]
fn every_recorded_type_is_converted() {
    for provider in [
        "archive", "external", "http", "local", "null", "random", "time", "tls",
    ] {
        let types = types(provider);
        let names: Vec<String> = types.resource_type_names().map(str::to_owned).collect();
        for name in &names {
            let ty = types.resource_type(name).unwrap();
            assert_eq!(ty.name.as_ref(), name);
            assert!(!ty.schema.fields.is_empty(), "{name}");
        }
        let names: Vec<String> = types.data_source_type_names().map(str::to_owned).collect();
        assert!(
            names
                .iter()
                .all(|name| types.data_source_type(name).is_some()),
            "{names:?}"
        );
    }
}

#[test]
fn a_type_keeps_names_flags_and_kinds() {
    let types = types("random");
    let ty = types.resource_type("random/password").unwrap();
    assert_eq!(
        (ty.name.as_ref(), ty.schema_version),
        ("random/password", 3)
    );
    assert!(Arc::ptr_eq(
        &ty,
        &types.resource_type("random/random_password").unwrap()
    ));
    assert_eq!(ty.id_field.as_deref(), Some("id"));
    let length = ty.field("length").unwrap();
    assert!(length.required && !length.nullable && matches!(length.kind, Kind::Union(_)));
    let result = ty.field("result").unwrap();
    assert!(result.computed && result.sensitive && !result.is_settable());
    let upper = ty.field("upper").unwrap();
    assert!(upper.computed && upper.is_settable() && upper.nullable);
    assert_eq!(
        ty.field("number").unwrap().support_status,
        SupportStatus::Deprecated
    );
    let spec = Value::map([
        ("length", Value::Int(12)),
        ("keepers", Value::map([("a", Value::from("b"))])),
    ]);
    assert_eq!(
        Fit::new()
            .fields(&spec, &ty.schema, Direction::Sent)
            .map(|misfit| misfit.message),
        None
    );
    let wrong = Value::map([("length", Value::from("12"))]);
    assert!(
        Fit::new()
            .fields(&wrong, &ty.schema, Direction::Sent)
            .is_some()
    );
    assert!(
        types.resource_type("random/nothing").is_none()
            && types.resource_type("tls/private_key").is_none()
    );
}

#[test]
fn blocks_become_fields_with_their_limits() {
    let types = types("tls");
    let ty = types.resource_type("tls/self_signed_cert").unwrap();
    let subject = ty.field("subject").unwrap();
    assert!(matches!(&subject.kind, Kind::Array(item) if matches!(item.kind, Kind::Object(_))));
    let source = recorded("tls").resources["tls_self_signed_cert"]
        .block
        .blocks["subject"]
        .clone();
    assert_eq!(subject.required, source.min_items > 0);
    assert_eq!(
        subject.constraint.max_items,
        (source.max_items > 0).then_some(source.max_items)
    );
}

#[test]
fn arguments_of_a_data_source_are_its_filters() {
    let types = types("http");
    let ty = types.data_source_type("http/http").unwrap();
    assert!(matches!(ty.filters["url"].ty, FilterType::Scalar(_)));
    assert!(matches!(
        ty.filters["request_headers"].ty,
        FilterType::Map(_)
    ));
    assert_eq!(ty.required, ["url".into()]);
    assert!(
        !ty.filters.contains_key("response_body") && ty.schema.fields.contains_key("response_body")
    );
}

#[test]
fn a_function_keeps_its_parameters() {
    let all = recorded("time");
    let parse = function(
        &"time".into(),
        &"rfc3339_parse".into(),
        &all.functions["rfc3339_parse"],
    );
    assert_eq!(
        (
            parse.name.as_ref(),
            parse.parameters.len(),
            parse.min_arguments
        ),
        ("rfc3339_parse", 1, 1)
    );
    assert!(parse.rest.is_none() && !parse.parameters[0].optional);
}

#[test]
fn required_settings_are_checked_by_the_provider() {
    let token = attribute(&serde_json::json!({"type": "string", "required": true}));
    let block = Block {
        attributes: IndexMap::from_iter([("token".into(), token)]),
        ..Block::default()
    };
    let settings = settings(&block);
    assert!(!settings[0].field.required, "its environment may supply it");
}
