//! Tests of structural schemas: what is dropped, added and refused.

use serde_json::{Value as Json, json};

use super::*;
use blueprint::Value;

fn value(json: Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(flag),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => Value::Float(number.as_f64().unwrap_or_default()),
        },
        Json::String(text) => Value::text(text),
        Json::Array(items) => Value::list(items.into_iter().map(value)),
        Json::Object(entries) => {
            Value::map(entries.into_iter().map(|(key, entry)| (key, value(entry))))
        }
    }
}

fn schema(json: Json) -> StructuralSchema {
    StructuralSchema::read(&value(json)).expect("the schema is well formed")
}

/// A schema of an object with one field `spec`.
fn spec(json: Json) -> StructuralSchema {
    schema(json!({"type": "object", "properties": {"spec": json}}))
}

/// The violations of a value as `spec`, one on each line.
fn refused(schema: &StructuralSchema, json: Json) -> String {
    let found = schema.validate(&value(json!({"spec": json})));
    let lines: Vec<String> = found
        .iter()
        .map(|one| format!("{} {one}", one.reason.as_str()))
        .collect();
    lines.join("\n")
}

#[test]
fn undeclared_fields_are_dropped_and_named() {
    let schema = spec(json!({"type": "object", "properties": {
        "list": {"type": "array", "items": {"type": "object", "properties": {"a": {}}}},
        "map": {"type": "object", "additionalProperties": {"type": "object"}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
            "strict": {"type": "object"}}},
        "open": {"type": "object", "additionalProperties": true},
    }}));
    let object = value(json!({
        "apiVersion": "v1", "kind": "K", "extra": 1,
        "metadata": {"name": "n", "other": 1, "labels": {"a": "b"}},
        "spec": {
            "list": [{"a": 1, "b": 2}, {"a": 3}],
            "map": {"x": {"y": 1}},
            "free": {"z": {"zz": 1}, "strict": {"y": 1}},
            "open": {"k": {"y": 1}, "l": 2},
        },
    }));
    let PrunedObject { object, dropped } = schema.prune(&object);
    let dropped: Vec<String> = dropped.iter().map(ToString::to_string).collect();
    assert_eq!(
        dropped,
        [
            "extra",
            "metadata.other",
            "spec.list[0].b",
            "spec.map.x.y",
            "spec.free.strict.y",
            "spec.open.k.y"
        ]
    );
    let rest = json!({
        "apiVersion": "v1", "kind": "K",
        "metadata": {"name": "n", "labels": {"a": "b"}},
        "spec": {
            "list": [{"a": 1}, {"a": 3}],
            "map": {"x": {}},
            "free": {"z": {"zz": 1}, "strict": {}},
            "open": {"k": {}, "l": 2},
        },
    });
    assert_eq!(object, value(rest));
    assert_eq!(schema.prune(&object).dropped, []);
}

#[test]
fn embedded_resources_keep_their_metadata() {
    let schema = spec(json!({"type": "object", "x-kubernetes-embedded-resource": true}));
    let object = value(json!({"spec": {
        "apiVersion": "v1", "kind": "K", "metadata": {"name": 5, "other": 1}, "data": {}}}));
    let pruned = schema.prune(&object);
    let dropped: Vec<String> = pruned.dropped.iter().map(ToString::to_string).collect();
    assert_eq!(dropped, ["spec.metadata.other", "spec.data"]);
    assert_eq!(
        refused(&schema, json!({"kind": "", "metadata": {"name": 5}})),
        "FieldValueRequired spec.apiVersion: Required value: must not be empty\n\
         FieldValueRequired spec.kind: Required value: must not be empty\n\
         FieldValueTypeInvalid spec.metadata.name: Invalid value: \"integer\": \
         spec.metadata.name in body must be of type string: \"integer\""
    );
}

#[test]
fn defaults_fill_missing_fields_and_replace_nulls() {
    let schema = spec(json!({"type": "object", "properties": {
        "a": {"type": "integer", "default": 1},
        "b": {"type": "object", "default": {}, "properties": {
            "c": {"type": "string", "default": "x"}}},
        "d": {"type": "string"},
        "e": {"type": "string", "nullable": true, "default": "y"},
        "f": {"type": "array", "items": {"type": "integer", "default": 7}},
        "g": {"type": "object", "additionalProperties": {"type": "string"}},
        "h": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }}));
    let of = |json| {
        let object = schema.default(&value(json!({"spec": json})));
        object.get("spec").cloned().unwrap_or_default()
    };
    assert_eq!(
        of(json!({})),
        value(json!({"a": 1, "b": {"c": "x"}, "e": "y"}))
    );
    assert_eq!(
        of(json!({
            "a": null, "b": {"c": null}, "d": null, "e": null, "f": [null, 1],
            "g": {"k": null, "l": "m"}, "h": {"k": null},
        })),
        value(json!({
            "a": 1, "b": {"c": "x"}, "e": null, "f": [7, 1], "g": {"l": "m"}, "h": {"k": null},
        }))
    );
}

#[test]
fn types_are_those_of_json() {
    let of = |ty: Json, json| refused(&spec(ty), json);
    for (ty, fitting) in [
        (json!({"type": "integer"}), json!(1.0)),
        (json!({"type": "number"}), json!(1)),
        (json!({"x-kubernetes-int-or-string": true}), json!("1")),
        (json!({"type": "string", "nullable": true}), json!(null)),
        (json!({}), json!([null])),
    ] {
        assert_eq!(of(ty.clone(), fitting), "", "{ty}");
    }
    for (ty, other, wanted, found) in [
        (json!({"type": "integer"}), json!(1.5), "integer", "number"),
        (json!({"type": "string"}), json!(null), "string", "null"),
        (json!({"type": "array"}), json!({}), "array", "object"),
        (
            json!({"x-kubernetes-int-or-string": true}),
            json!(true),
            "integer,string",
            "boolean",
        ),
    ] {
        assert_eq!(
            of(ty, other),
            format!(
                "FieldValueTypeInvalid spec: Invalid value: \"{found}\": spec in body must be of \
                 type {wanted}: \"{found}\""
            )
        );
    }
}

#[test]
fn rules_about_values_are_reported_in_the_words_of_the_server() {
    let rules = spec(json!({"type": "object", "required": ["a"], "properties": {
        "a": {"type": "string", "enum": ["x", "y"]},
        "b": {"type": "string", "pattern": "^[a-z]+$", "minLength": 2, "maxLength": 3},
        "c": {"type": "integer", "minimum": 1, "maximum": 5, "exclusiveMaximum": true},
        "d": {"type": "array", "minItems": 1, "maxItems": 2, "items": {}},
        "e": {"type": "object", "minProperties": 1, "maxProperties": 1,
              "additionalProperties": {}},
        "f": {"type": "number", "multipleOf": 0.5},
        "g": {"type": "string", "format": "date-time"},
    }}));
    assert_eq!(
        refused(&rules, json!({"a": "x", "b": "éé", "c": 4}))
            .lines()
            .count(),
        1
    );
    let accepted = json!({
        "a": "x", "b": "ab", "c": 1, "d": [1], "e": {"k": 1}, "f": 1.5,
        "g": "2026-02-28T01:02:03.5+01:00",
    });
    assert_eq!(refused(&rules, accepted), "");
    assert_eq!(
        refused(
            &rules,
            json!({"b": "A", "c": 5, "d": [], "e": {}, "f": 0.7, "g": "2026-02-30T01:02:03Z"})
        ),
        "FieldValueRequired spec.a: Required value\n\
         FieldValueInvalid spec.b: Invalid value: \"A\": spec.b in body should be at least 2 \
         chars long\n\
         FieldValueInvalid spec.b: Invalid value: \"A\": spec.b in body should match '^[a-z]+$'\n\
         FieldValueInvalid spec.c: Invalid value: 5: spec.c in body should be less than 5\n\
         FieldValueInvalid spec.d: Invalid value: 0: spec.d in body should have at least 1 \
         items\n\
         FieldValueInvalid spec.e: Invalid value: {}: spec.e in body should have at least 1 \
         properties\n\
         FieldValueInvalid spec.f: Invalid value: 0.7: spec.f in body should be a multiple of \
         0.5\n\
         FieldValueInvalid spec.g: Invalid value: \"2026-02-30T01:02:03Z\": spec.g in body must \
         be of type date-time: \"2026-02-30T01:02:03Z\""
    );
    assert_eq!(
        refused(&rules, json!({"a": "z", "b": "abcd", "d": [1, 2, 3]})),
        "FieldValueNotSupported spec.a: Unsupported value: \"z\": supported values: \"x\", \
         \"y\"\n\
         FieldValueTooLong spec.b: Too long: may not be more than 3 bytes\n\
         FieldValueTooMany spec.d: Too many: 3: must have at most 2 items"
    );
}

#[test]
fn items_of_sets_and_maps_differ() {
    let set = spec(json!({
        "type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}));
    assert_eq!(
        refused(&set, json!(["a", "b", "a"])),
        "FieldValueDuplicate spec[2]: Duplicate value: \"a\""
    );
    let map = spec(json!({
        "type": "array", "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port", "protocol"],
        "items": {"type": "object", "properties": {
            "port": {"type": "integer"},
            "protocol": {"type": "string", "default": "TCP"}}},
    }));
    assert_eq!(
        refused(
            &map,
            json!([{"port": 1}, {"port": 1, "protocol": "UDP"}, {"port": 1, "protocol": "TCP"}])
        ),
        "FieldValueDuplicate spec[2]: Duplicate value: {\"port\":1,\"protocol\":\"TCP\"}"
    );
}

#[test]
fn combined_schemas_name_no_field_of_their_own() {
    let any = spec(json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}));
    assert_eq!(refused(&any, json!("a")), "");
    assert!(refused(&any, json!(true)).starts_with(
        "FieldValueInvalid <nil>: Invalid value: \"\": \"spec\" must validate at least one \
             schema (anyOf)\nFieldValueTypeInvalid spec: "
    ));
    let one = spec(json!({"type": "object", "oneOf": [
        {"required": ["a"]}, {"required": ["b"]}]}));
    assert_eq!(refused(&one, json!({"a": 1})), "");
    assert!(refused(&one, json!({"a": 1, "b": 1})).ends_with("Found 2 valid alternatives"));
    assert!(refused(&one, json!({})).contains("Found none valid\nFieldValueRequired spec.a"));
    let not = spec(json!({"type": "object", "not": {"required": ["a"]}}));
    assert_eq!(refused(&not, json!({"b": 1})), "");
    assert!(refused(&not, json!({"a": 1})).ends_with("must not validate the schema (not)"));
    let all = spec(json!({"type": "integer", "allOf": [{"minimum": 1}, {"maximum": 2}]}));
    assert_eq!(refused(&all, json!(2)), "");
    assert_eq!(refused(&all, json!(3)).lines().count(), 2);
}

#[test]
fn a_status_that_is_a_subresource_is_not_created() {
    let definition = value(json!({"spec": {"versions": [{
        "name": "v1", "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "status": {"type": "string"}}}},
    }]}}));
    let schema = StructuralSchema::of_definition(&definition, "v1").expect("there is a v1");
    let admitted = schema.admit(&value(json!({"kind": "K", "status": 5})));
    assert_eq!(admitted.object, value(json!({"kind": "K"})));
    assert_eq!(admitted.violations, []);
    assert_eq!(
        StructuralSchema::of_definition(&definition, "v2").err(),
        Some(StructuralSchemaError::NoVersion("v2".into()))
    );
}

#[test]
fn unknown_parts_are_accepted_and_secrets_are_not_shown() {
    let unknown = || Value::unknown(None, None);
    let schema = spec(json!({"type": "object", "properties": {
        "a": {"type": "string", "enum": ["x"]},
        "b": {"type": "object", "not": {"type": "object"}},
        "c": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
    }}));
    let parts = [
        ("a", unknown()),
        ("b", Value::map([("k", unknown())])),
        ("c", Value::list([unknown(), unknown()])),
    ];
    let object = Value::map([("spec", Value::map(parts))]);
    assert_eq!(schema.validate(&object), []);
    assert_eq!(schema.default(&object), object);
    for object in [unknown(), Value::map([("spec", unknown())])] {
        let admitted = schema.admit(&object);
        assert_eq!((admitted.violations, admitted.dropped), (vec![], vec![]));
    }
    let hidden = Value::map([("a", Value::from("hidden")), ("z", Value::Int(1))]);
    let object = Value::map([("spec", hidden.secret())]);
    let admitted = schema.admit(&object);
    let message = admitted.violations[0].to_string();
    assert!(!message.contains("hidden"), "{message}");
    assert_eq!(admitted.dropped.len(), 1);
    assert!(matches!(
        admitted.object.get("spec"),
        Some(Value::Secret(_))
    ));
}

#[test]
fn schemas_that_are_not_well_formed_are_refused() {
    let error = |json| {
        StructuralSchema::read(&value(json))
            .err()
            .map(|error| error.to_string())
    };
    assert_eq!(
        error(json!({"properties": {"a": {"type": "text"}}})).as_deref(),
        Some("`properties.a.type` of the schema is not a type")
    );
    assert_eq!(
        error(json!({"items": {"minLength": -1}})).as_deref(),
        Some("`items.minLength` of the schema is not a size")
    );
    assert!(error(json!({"pattern": "("})).is_some_and(|text| text.contains("regular expression")));
    let mut deep = json!({});
    for _ in 0..400 {
        deep = json!({"items": deep});
    }
    assert_eq!(
        StructuralSchema::read(&value(deep)).err(),
        Some(StructuralSchemaError::TooDeep)
    );
}

#[test]
fn deep_lists_without_a_schema_do_not_end_the_stack() {
    let schema = spec(json!({}));
    let mut deep = Value::Int(1);
    for _ in 0..2_000 {
        deep = Value::list([deep]);
    }
    let admitted = schema.admit(&Value::map([("spec", deep)]));
    assert_eq!(admitted.violations, []);
}

#[test]
fn the_deepest_schema_needs_no_large_stack() {
    let (mut deep, mut object) = (json!({"type": "string", "default": "x"}), json!({}));
    for _ in 0..60 {
        deep = json!({"type": "object", "properties": {"a": deep}, "anyOf": [{}]});
        object = json!({"a": object, "b": 1});
    }
    let admitted = schema(deep).admit(&value(object));
    assert_eq!(admitted.dropped.len(), 60);
    assert_eq!(admitted.violations.len(), 1);
}

#[test]
fn a_schema_knows_which_parts_objects_have() {
    let schema = spec(json!({"type": "object", "properties": {
        "list": {"type": "array", "items": {"type": "object", "properties": {"a": {}}}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
    }}));
    for (path, presence) in [
        ("spec.list[0].a", FieldPresence::Declared),
        ("spec.map.x", FieldPresence::Declared),
        ("metadata.labels.x", FieldPresence::Declared),
        ("spec.free.x.y", FieldPresence::Open),
        ("spec.list[0].b", FieldPresence::Absent),
        ("spec.list.a", FieldPresence::Absent),
        ("spec.map[0]", FieldPresence::Absent),
        ("status", FieldPresence::Absent),
        ("metadata.other", FieldPresence::Absent),
    ] {
        assert_eq!(schema.presence(&path.into()), presence, "{path}");
    }
}
