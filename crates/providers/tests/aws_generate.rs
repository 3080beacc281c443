//! The conversion from a resource schema to a type: read, written in the compact form, opened,
//! built.

#[path = "../examples/aws_catalog/generate/mod.rs"]
mod generate;

use std::borrow::Cow;

use blueprint::{Field, Kind, Name, ReplaceOrder, Value};
use provider::{ResourceType, TypeSource};
use providers::aws::PackedTypes;
use providers::aws::format::Packed;
use serde_json::{Value as Json, json};

fn packed(schemas: Vec<Json>) -> PackedTypes {
    let (types, wrong) = generate::types(schemas);
    assert!(wrong.is_empty(), "{wrong:?}");
    let bytes = generate::pack::pack(&types, "a sample");
    PackedTypes::new(Packed::open(Cow::Owned(bytes)).expect("it was just written"))
}

/// The type of a schema with these parts.
fn made(mut schema: Json) -> ResourceType {
    schema["typeName"] = json!("AWS::Sample::Thing");
    let types = packed(vec![schema]);
    (*types
        .resource_type("aws/sample/thing")
        .expect("it was just written"))
    .clone()
}

/// The field of a property in a schema with these definitions.
fn field_with(property: Json, definitions: Json) -> Field {
    made(json!({"properties": {"Field": property}, "definitions": definitions}))
        .schema
        .fields["field"]
        .clone()
}

fn field(property: Json) -> Field {
    field_with(property, json!({}))
}

fn at<'f>(field: &'f Field, path: &[&str]) -> &'f Field {
    path.iter()
        .fold(field, |field, step| match (&field.kind, *step) {
            (Kind::Array(item), "*") | (Kind::Map(item), "*") => item,
            (Kind::Object(schema), name) => &schema.fields[name],
            (kind, step) => panic!("`{step}` leads nowhere in {kind:?}"),
        })
}

fn words(field: &Field) -> Vec<&'static str> {
    let all = [
        ("required", field.required),
        ("computed", field.computed),
        ("optional", field.optional),
        ("sensitive", field.sensitive),
        ("unique", field.unique),
        ("mustRecreate", field.must_recreate),
        ("changesOnUpdate", field.changes_on_update),
        ("ignoreDrift", field.ignore_drift),
        ("set", field.set),
        ("nullable", field.nullable),
    ];
    all.into_iter()
        .filter(|(_, is)| *is)
        .map(|(word, _)| word)
        .collect()
}

#[test]
fn scalars_with_their_limits() {
    let text =
        field(json!({"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^\\w+$"}));
    assert_eq!(text.kind, Kind::String);
    let limits = &text.constraint;
    assert_eq!((limits.min_length, limits.max_length), (Some(1), Some(9)));
    assert_eq!(limits.pattern.as_deref(), Some("^[0-9A-Za-z_]+$"));
    let number = field(json!({"type": "integer", "minimum": -1, "maximum": 10}));
    assert_eq!(
        (number.constraint.min, number.constraint.max),
        (Some(-1.0), Some(10.0))
    );
    assert_eq!(field(json!({"type": "number"})).kind, Kind::Float);
    assert_eq!(field(json!({"type": "boolean"})).kind, Kind::Boolean);
    assert_eq!(
        words(&field(json!({"type": ["string", "null"]}))),
        ["nullable"]
    );
}

#[test]
fn allowed_values() {
    let texts = |field: Field| field.allowed;
    assert_eq!(
        texts(field(json!({"type": "string", "enum": ["a", "b"]}))),
        [Value::from("a"), Value::from("b")]
    );
    assert_eq!(texts(field(json!({"enum": ["a"]}))), [Value::from("a")]);
    assert_eq!(
        texts(field(json!({"type": "integer", "enum": [1, 7]}))),
        [Value::Int(1), Value::Int(7)]
    );
    assert_eq!(
        texts(field(json!({"type": "string", "const": "only"}))),
        [Value::from("only")]
    );
    assert!(
        texts(field(
            json!({"type": "string", "enum": ["a"], "enumCaseInsensitive": ["a"]})
        ))
        .is_empty()
    );
}

#[test]
fn unsupported_patterns_are_left_out() {
    assert_eq!(
        field(json!({"type": "string", "pattern": "^(?!aws).*$"}))
            .constraint
            .pattern,
        None
    );
}

#[test]
fn lists_sets_and_maps() {
    let list =
        field(json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3}));
    assert_eq!(
        (
            list.constraint.min_items,
            list.constraint.max_items,
            list.set
        ),
        (Some(1), Some(3), false)
    );
    assert_eq!(at(&list, &["*"]).kind, Kind::String);
    let set = field(
        json!({"type": "array", "insertionOrder": false, "uniqueItems": true, "items": {"type": "string"}}),
    );
    assert_eq!(words(&set), ["set"]);
    let map = field(
        json!({"type": "object", "patternProperties": {"^a": {"type": "integer"}, "^b": {"type": "integer"}}}),
    );
    assert_eq!(at(&map, &["*"]).kind, Kind::Integer);
    let map = field(
        json!({"type": "object", "patternProperties": {"^a": {"type": "integer"}, "^b": {"type": "string"}}}),
    );
    assert_eq!(at(&map, &["*"]).kind, Kind::Any);
    let map = field(json!({"type": "object", "additionalProperties": {"type": "string"}}));
    assert_eq!(at(&map, &["*"]).kind, Kind::String);
    let open = field(json!({"type": "object"}));
    assert_eq!(at(&open, &["*"]).kind, Kind::Any);
    let open = field(
        json!({"type": "object", "additionalProperties": true, "properties": {"A": {"type": "string"}}}),
    );
    assert_eq!(at(&open, &["*"]).kind, Kind::Any);
}

#[test]
fn tags_are_identified_by_their_key() {
    let tags =
        json!({"type": "array", "insertionOrder": false, "items": {"$ref": "#/definitions/Tag"}});
    let tag = json!({"type": "object", "required": ["Key"], "properties": {"Key": {"type": "string"}, "Value": {"type": "string"}}});
    let ty = made(json!({
        "properties": {"Tags": tags}, "definitions": {"Tag": tag}, "tagging": {"tagProperty": "/properties/Tags"}
    }));
    assert_eq!(ty.schema.fields["tags"].keyed_by.as_deref(), Some("key"));
    assert!(!ty.schema.fields["tags"].set);
}

#[test]
fn references_are_resolved() {
    let definitions = json!({"Outer": {"$ref": "#/definitions/Inner"}, "Inner": {"type": "string", "maxLength": 5}});
    let found = field_with(
        json!({"$ref": "#/definitions/Outer", "maxLength": 3}),
        definitions,
    );
    // Keywords next to a reference take precedence.
    assert_eq!(
        (found.kind, found.constraint.max_length),
        (Kind::String, Some(3))
    );
    assert_eq!(
        field(json!({"$ref": "#/definitions/Nowhere"})).kind,
        Kind::Any
    );
}

#[test]
fn recursive_shapes_accept_anything_at_the_inner_occurrence() {
    let statement = json!({"type": "object", "properties": {
        "Not": {"$ref": "#/definitions/Statement"},
        "And": {"type": "array", "items": {"$ref": "#/definitions/Statement"}},
        "Name": {"type": "string"}
    }});
    let found = field_with(
        json!({"$ref": "#/definitions/Statement"}),
        json!({"Statement": statement}),
    );
    assert_eq!(at(&found, &["name"]).kind, Kind::String);
    assert_eq!(at(&found, &["not"]).kind, Kind::Any);
    assert_eq!(at(&found, &["and", "*"]).kind, Kind::Any);
    let circle = json!({"A": {"$ref": "#/definitions/B"}, "B": {"$ref": "#/definitions/A"}});
    assert_eq!(
        field_with(json!({"$ref": "#/definitions/A"}), circle).kind,
        Kind::Any
    );
}

#[test]
fn alternatives_of_objects_are_one_object() {
    let found = field(json!({"oneOf": [
        {"type": "object", "required": ["Kind", "Size"], "properties": {"Kind": {"type": "string"}, "Size": {"type": "integer"}}},
        {"type": "object", "required": ["Kind"], "properties": {"Kind": {"type": "string"}, "Size": {"type": "string"}}}
    ]}));
    assert_eq!(words(at(&found, &["kind"])), ["required"]);
    let size = at(&found, &["size"]);
    assert!(!size.required);
    let Kind::Union(branches) = &size.kind else {
        panic!("{size:?}")
    };
    assert_eq!(
        branches
            .iter()
            .map(|branch| branch.kind.clone())
            .collect::<Vec<_>>(),
        [Kind::Integer, Kind::String]
    );
}

#[test]
fn alternatives_of_several_types_are_a_union() {
    let found = field(
        json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
    );
    let Kind::Union(branches) = &found.kind else {
        panic!("{found:?}")
    };
    assert_eq!(branches.len(), 2);
    // Two forms of a text become text. An alternative with a document as JSON text is dropped.
    assert_eq!(
        field(json!({"oneOf": [{"type": "string", "pattern": "a"}, {"type": "string", "pattern": "b"}]})).kind,
        Kind::String
    );
    let found = field(
        json!({"oneOf": [{"type": "boolean"}, {"type": ["object", "string"], "format": "json"}]}),
    );
    assert_eq!(found.kind, Kind::Boolean);
    // One alternative is unknown, so any value is accepted.
    assert_eq!(
        field(json!({"anyOf": [{"type": "string"}, {}]})).kind,
        Kind::Any
    );
}

#[test]
fn conditional_rules_refuse_nothing() {
    let found = field(
        json!({"type": "object", "oneOf": [{"required": ["A"]}, {"required": ["B"]}],
        "if": {"required": ["A"]}, "then": {"required": ["B"]}, "dependentRequired": {"A": ["B"]},
        "properties": {"A": {"type": "string"}, "B": {"type": "string"}}}),
    );
    assert!(!at(&found, &["a"]).required && !at(&found, &["b"]).required);
    let found = field(
        json!({"type": "object", "allOf": [{"required": ["A"]}], "properties": {"A": {"type": "string"}}}),
    );
    assert!(at(&found, &["a"]).required);
}

#[test]
fn computed_fields() {
    let ty = made(json!({
        "properties": {
            "Arn": {"type": "string"},
            "Status": {"type": "string"},
            "Endpoint": {"type": "object", "properties": {"Address": {"type": "string"}, "Port": {"type": "string"}}},
            "Rules": {"type": "array", "items": {"type": "object", "required": ["Name", "Version"],
                "properties": {"Name": {"type": "string"}, "Version": {"type": "string"}}}}
        },
        "required": ["Arn", "Rules"],
        "readOnlyProperties": ["/properties/Arn", "/properties/Status", "/properties/Endpoint/Address", "/properties/Endpoint/Port",
            "/properties/Rules/*/Version"]
    }));
    let fields = &ty.schema.fields;
    assert_eq!(words(&fields["arn"]), ["computed"]);
    assert_eq!(words(&fields["status"]), ["computed", "changesOnUpdate"]);
    // All fields are computed, so the object is not settable.
    assert_eq!(words(&fields["endpoint"]), ["computed", "changesOnUpdate"]);
    assert_eq!(words(at(&fields["rules"], &["*", "version"])), ["computed"]);
    assert_eq!(words(at(&fields["rules"], &["*", "name"])), ["required"]);
    assert_eq!(words(&fields["rules"]), ["required"]);
}

#[test]
fn replacing_and_write_only_fields() {
    let ty = made(json!({
        "properties": {
            "Zone": {"type": "string"},
            "MasterPassword": {"type": "string"},
            "Source": {"type": "object", "properties": {"Key": {"type": "string"}, "Bucket": {"type": "string"}}}
        },
        "createOnlyProperties": ["/properties/Zone", "/properties/Source/Bucket"],
        "writeOnlyProperties": ["/properties/MasterPassword", "/properties/Source/Key"],
        "handlers": {"create": {}, "read": {}, "update": {}, "delete": {}}
    }));
    let fields = &ty.schema.fields;
    assert_eq!(words(&fields["zone"]), ["mustRecreate"]);
    assert_eq!(
        words(&fields["masterPassword"]),
        ["sensitive", "ignoreDrift"]
    );
    assert_eq!(words(at(&fields["source"], &["bucket"])), ["mustRecreate"]);
    assert_eq!(words(at(&fields["source"], &["key"])), ["ignoreDrift"]);
    assert!(words(&fields["source"]).is_empty());
}

#[test]
fn types_without_update_replace_on_any_change() {
    let ty = made(
        json!({"properties": {"A": {"type": "string"}}, "handlers": {"create": {}, "delete": {}}}),
    );
    assert_eq!(words(&ty.schema.fields["a"]), ["mustRecreate"]);
    assert!(!ty.capabilities.reads && !ty.capabilities.imports);
}

#[test]
fn identifying_fields() {
    let two = |identifier: Json, read_only: Json, required: Json| {
        made(json!({
            "properties": {"Name": {"type": "string"}, "Id": {"type": "string"}},
            "primaryIdentifier": identifier, "readOnlyProperties": read_only, "required": required
        }))
    };
    let id = |ty: &ResourceType| ty.id_field.as_deref().map(str::to_owned);
    let given = two(
        json!(["/properties/Id"]),
        json!(["/properties/Id"]),
        json!([]),
    );
    assert_eq!(
        (id(&given).as_deref(), given.replace_order),
        (Some("id"), ReplaceOrder::CreateFirst)
    );
    assert_eq!(words(&given.schema.fields["id"]), ["computed"]);
    let named = two(json!(["/properties/Name"]), json!([]), json!(["Name"]));
    assert_eq!(
        (id(&named).as_deref(), named.replace_order),
        (Some("name"), ReplaceOrder::DeleteFirst)
    );
    assert_eq!(words(&named.schema.fields["name"]), ["required", "unique"]);
    // CloudFormation generates a name that is not set.
    let named = two(json!(["/properties/Name"]), json!([]), json!([]));
    assert_eq!(
        words(&named.schema.fields["name"]),
        ["computed", "optional", "unique"]
    );
    let both = two(
        json!(["/properties/Name", "/properties/Id"]),
        json!(["/properties/Id"]),
        json!(["Name"]),
    );
    assert_eq!(id(&both).as_deref(), Some("id"));
    let both = two(
        json!(["/properties/Name", "/properties/Id"]),
        json!([]),
        json!(["Name", "Id"]),
    );
    assert_eq!(id(&both), None);
    assert!(
        words(&both.schema.fields["name"]) == ["required"],
        "neither is unique alone"
    );
}

#[test]
fn both_spellings_are_kept() {
    let types = packed(vec![json!({
        "typeName": "AWS::Sample::DBThing",
        "properties": {
            "SSEKMSKeyId": {"type": "string"},
            "VPCs": {"type": "array", "items": {"$ref": "#/definitions/Vpc"}},
            "Policy": {"type": ["object", "string"]},
            "Size": {"oneOf": [{"type": "integer"}, {"type": "array", "items": {"type": "object", "properties": {"MaxGBs": {"type": "integer"}}}}]}
        },
        "definitions": {"Vpc": {"type": "object", "properties": {"VPCId": {"type": "string"}, "Peers": {"type": "array", "items": {"$ref": "#/definitions/Vpc"}}}}},
        "primaryIdentifier": ["/properties/SSEKMSKeyId"]
    })]);
    let names: Vec<&str> = types.resource_type_names().collect();
    assert_eq!(names, ["aws/sample/db-thing"]);
    assert_eq!(
        types.original_name("AWS/Sample/dbThing"),
        Some("AWS::Sample::DBThing")
    );
    assert_eq!(types.identifier("aws/sample/db-thing"), ["SSEKMSKeyId"]);
    let text = |text: &str| Value::from(text);
    let vpc = |id: &str, name: &str, peers: &str, inner: Value| {
        Value::map::<Name>([
            (name.into(), text(id)),
            (peers.into(), Value::list([inner])),
        ])
    };
    let deep = |name: &str, peers: &str| {
        vpc(
            "a",
            name,
            peers,
            vpc("b", name, peers, Value::map::<Name>([])),
        )
    };
    let ours = Value::map::<Name>([
        ("sseKmsKeyId".into(), text("k")),
        ("vpcs".into(), Value::list([deep("vpcId", "peers")])),
        (
            "policy".into(),
            Value::map::<Name>([("Statement".into(), text("x"))]),
        ),
        (
            "size".into(),
            Value::list([Value::map::<Name>([("maxGbs".into(), Value::Int(1))])]),
        ),
    ]);
    let theirs = Value::map::<Name>([
        ("SSEKMSKeyId".into(), text("k")),
        ("VPCs".into(), Value::list([deep("VPCId", "Peers")])),
        (
            "Policy".into(),
            Value::map::<Name>([("Statement".into(), text("x"))]),
        ),
        (
            "Size".into(),
            Value::list([Value::map::<Name>([("MaxGBs".into(), Value::Int(1))])]),
        ),
    ]);
    assert_eq!(types.to_original("aws/sample/db-thing", &ours), theirs);
    assert_eq!(types.from_original("aws/sample/db-thing", &theirs), ours);
}

#[test]
fn the_order_of_schemas_does_not_matter() {
    let schema = |name: &str| json!({"typeName": format!("AWS::{name}"), "properties": {"A": {"type": "string"}}});
    let bytes = |names: &[&str]| {
        let (types, _) = generate::types(names.iter().map(|name| schema(name)));
        generate::pack::pack(&types, "a sample")
    };
    assert_eq!(
        bytes(&["S3::Bucket", "EC2::VPC", "EC2::EIP"]),
        bytes(&["EC2::EIP", "EC2::VPC", "S3::Bucket"])
    );
}

#[test]
fn colliding_names_are_refused() {
    let fields = json!({"typeName": "AWS::A::B", "properties": {"ARN": {"type": "string"}, "Arn": {"type": "string"}}});
    let (_, wrong) = generate::types([fields]);
    assert_eq!(wrong, ["AWS::A::B: `ARN` and `Arn` are both `arn`"]);
    let named = |name: &str| json!({"typeName": name, "properties": {}});
    let (_, wrong) = generate::types([named("AWS::A::DbThing"), named("AWS::A::DBThing")]);
    assert_eq!(wrong.len(), 1);
}

#[test]
fn types_without_a_resource_are_left_out() {
    let (types, _) =
        generate::types([json!({"typeName": "AWS::Serverless::Function", "properties": {}})]);
    assert!(types.is_empty());
}

#[test]
fn sizes_of_all_regions_smaller_ones_first() {
    let sizes = generate::sizes(&json!({
        "one": {"enum": ["t3.2xlarge", "t3.micro", "m5.metal", "no size"]},
        "two": {"enum": ["t3.12xlarge", "t3.micro", "m5.large"]}
    }));
    assert_eq!(
        sizes,
        [
            "m5.large",
            "m5.metal",
            "t3.micro",
            "t3.2xlarge",
            "t3.12xlarge"
        ]
    );
}

#[test]
fn a_damaged_file_does_not_panic() {
    let (types, _) = generate::types([
        json!({"typeName": "AWS::S3::Bucket", "properties": {"A": {"type": "array", "items": {"type": "string"}}}}),
    ]);
    let whole = generate::pack::pack(&types, "a sample");
    for length in 0..whole.len() {
        assert!(
            look(whole[..length].to_vec()).is_none(),
            "cut off after {length} bytes"
        );
    }
    for at in 0..whole.len() {
        for bit in [0x01, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] ^= bit;
            look(damaged);
        }
    }
}

/// Opens a file and builds a type.
fn look(bytes: Vec<u8>) -> Option<()> {
    let types = PackedTypes::new(Packed::open(Cow::Owned(bytes)).ok()?);
    let names: Vec<String> = types.resource_type_names().map(str::to_owned).collect();
    assert!(names.len() < 100);
    types.resource_type("aws/s3/bucket").map(|_| ())
}
