//! The types of a package, from a schema that shows each form.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use blueprint::{Kind, OpaqueKind, SupportStatus, Type, Value};
use provider::{Direction, FilterType, Fit, TypeSource as _};
use pulumi_wire::schema::{PackageSchema, PackageTypes};

const SCHEMA: &str = r##"{
  "name": "shop", "version": "1.2.0", "description": "A shop.",
  "config": {"variables": {"folder": {"type": "string"}, "token": {"type": "string", "secret": true}}},
  "provider": {
    "inputProperties": {
      "folder": {"type": "string"},
      "zone": {"type": "string", "defaultInfo": {"environment": ["SHOP_ZONE"]}}
    },
    "requiredInputs": ["folder", "zone"]
  },
  "types": {
    "shop:index:Size": {"type": "string", "enum": [{"value": "small"}, {"name": "Big", "value": "big"}]},
    "shop:index/tree:Tree": {"type": "object", "properties": {
      "name": {"type": "string"}, "child": {"$ref": "#/types/shop:index%2Ftree:Tree"}}, "required": ["name"]}
  },
  "resources": {
    "shop:index:Till": {
      "description": "A till.\n\nMore about it.",
      "inputProperties": {
        "name": {"type": "string", "description": "Its name."},
        "count": {"type": "integer"},
        "kind": {"type": "string", "const": "till"},
        "size": {"oneOf": [{"type": "string"}, {"$ref": "#/types/shop:index:Size"}]},
        "exact": {"$ref": "#/types/shop:index:Size"},
        "tree": {"$ref": "#/types/shop:index%2Ftree:Tree"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "ratio": {"type": "number"},
        "source": {"$ref": "pulumi.json#/Asset"},
        "files": {"$ref": "pulumi.json#/Archive"},
        "owner": {"$ref": "#/resources/shop:mod%2Fdoor:Door"},
        "password": {"type": "string", "secret": true, "replaceOnChanges": true},
        "old": {"type": "string", "deprecationMessage": "use `name`"}
      },
      "requiredInputs": ["count"],
      "properties": {
        "name": {"type": "string"}, "count": {"type": "integer"}, "serial": {"type": "string", "secret": true}
      },
      "required": ["name", "count", "serial"],
      "aliases": [{"type": "shop:old:Till"}]
    },
    "shop:mod/door:Door": {"isComponent": true}
  },
  "functions": {
    "shop:index:count": {"outputs": {"type": "integer"}},
    "shop:index:getTill": {
      "inputs": {"properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
        "required": ["name"]},
      "outputs": {"properties": {"serial": {"type": "string"}}, "required": ["serial"]}
    }
  }
}"##;

fn types() -> PackageTypes {
    PackageTypes::new(Arc::new(PackageSchema::parse(SCHEMA).unwrap()), "shop")
}

#[test]
fn names_are_listed_and_found_in_each_form() {
    let types = types();
    assert_eq!(
        types.resource_type_names().collect::<Vec<_>>(),
        ["shop/index:Till", "shop/mod/door:Door"]
    );
    assert_eq!(
        types.data_source_type_names().collect::<Vec<_>>(),
        ["shop/index:count", "shop/index:getTill"]
    );
    for name in [
        "shop/index:Till",
        "shop/Till",
        "shop/till",
        "shop/shop:index:Till",
        "shop/old:Till",
    ] {
        assert_eq!(
            types.resource_type(name).unwrap().name.as_ref(),
            "shop/index:Till",
            "{name}"
        );
    }
    assert_eq!(
        types.resource_type("shop/mod:Door").unwrap().name.as_ref(),
        "shop/mod/door:Door"
    );
    assert!(
        types.resource_type("shop/Window").is_none() && types.resource_type("other/Till").is_none()
    );
    assert!(Arc::ptr_eq(
        &types.resource_type("shop/Till").unwrap(),
        &types.resource_type("shop/index:Till").unwrap()
    ));
}

#[test]
fn a_type_keeps_its_properties() {
    let ty = types().resource_type("shop/Till").unwrap();
    assert_eq!(
        (ty.docs.as_ref(), ty.id_field.as_deref()),
        ("A till.", Some("id"))
    );
    let field = |name: &str| ty.field(name).unwrap();
    assert!(field("count").required && !field("count").nullable && !field("count").computed);
    assert!(
        field("name").computed && field("name").is_settable() && field("name").changes_on_update
    );
    assert!(
        field("serial").computed && !field("serial").is_settable() && field("serial").sensitive
    );
    assert!(field("id").computed && !field("id").is_settable());
    assert_eq!(field("kind").default, Some(Value::from("till")));
    assert!(matches!(field("size").kind, Kind::Union(_)));
    assert_eq!(
        field("exact").allowed,
        [Value::from("small"), Value::from("big")]
    );
    assert_eq!(field("ratio").ty(), Type::number());
    assert!(matches!(field("source").kind, Kind::Any));
    assert!(field("password").sensitive && field("password").must_recreate);
    assert_eq!(field("old").support_status, SupportStatus::Deprecated);
}

#[test]
fn a_type_that_contains_itself_takes_anything_inside() {
    let ty = types().resource_type("shop/Till").unwrap();
    let Kind::Object(tree) = &ty.field("tree").unwrap().kind else {
        panic!("an object")
    };
    assert!(tree.fields["name"].required && matches!(tree.fields["child"].kind, Kind::Any));
}

#[test]
fn documents_are_checked_by_the_type() {
    let ty = types().resource_type("shop/Till").unwrap();
    let misfit = |value: Value| {
        Fit::new()
            .fields(&value, &ty.schema, Direction::Sent)
            .map(|misfit| misfit.path)
    };
    let with =
        |name: &'static str, value: Value| Value::map([("count", Value::Int(1)), (name, value)]);
    assert_eq!(misfit(with("ratio", Value::Float(0.5))), None);
    assert_eq!(misfit(with("size", Value::from("any"))), None);
    assert_eq!(
        misfit(with("exact", Value::from("any"))),
        Some("exact".into())
    );
    assert_eq!(
        misfit(with("labels", Value::map([("a", Value::Int(1))]))),
        Some("labels.a".into())
    );
    assert_eq!(misfit(with("wrong", Value::Null)), Some("wrong".into()));
    assert_eq!(
        misfit(Value::map([("name", Value::from("x"))])),
        Some("".into())
    );
}

#[test]
fn facts_for_calls_come_with_the_type() {
    let types = types();
    let facts = types.resource_facts("shop/Till").unwrap();
    assert_eq!(facts.token.as_ref(), "shop:index:Till");
    assert_eq!(facts.secret_inputs, ["password".into()]);
    assert_eq!(facts.secret_outputs, ["serial".into()]);
    assert_eq!(facts.constants, [("kind".into(), Value::from("till"))]);
    assert_eq!(facts.replace_on_changes, ["password".into()]);
    assert_eq!(
        facts
            .outputs
            .keys()
            .map(AsRef::as_ref)
            .collect::<Vec<&str>>(),
        ["name", "count", "serial"]
    );
    assert!(!facts.own_id && !facts.component);
    assert!(types.resource_facts("shop/mod:Door").unwrap().component);
    assert!(
        types
            .resource_type("shop/mod:Door")
            .unwrap()
            .capabilities
            .described_only
    );
}

#[test]
fn a_function_is_a_data_source() {
    let types = types();
    let ty = types.data_source_type("shop/getTill").unwrap();
    assert!(matches!(ty.filters["tags"].ty, FilterType::List(_)));
    assert_eq!(ty.required, ["name".into()]);
    assert!(ty.schema.fields["serial"].computed && !ty.filters.contains_key("serial"));
    assert_eq!(
        types.function_facts("shop/getTill").unwrap().token.as_ref(),
        "shop:index:getTill"
    );
}

#[test]
fn settings_come_from_config_and_provider() {
    let settings = types().settings();
    let names: Vec<&str> = settings
        .iter()
        .map(|setting| setting.name.as_ref())
        .collect();
    assert_eq!(names, ["folder", "token", "zone"]);
    assert!(settings[0].field.required && settings[1].field.sensitive);
    // Settings that the plugin can take from its environment are optional.
    assert!(!settings[2].field.required);
}

#[test]
fn assets_archives_and_references_have_fields_of_their_own() {
    let ty = types().resource_type("shop/index:Till").unwrap();
    let opaque = |name: &str| ty.schema.fields[name].opaque;
    assert_eq!(opaque("source"), Some(OpaqueKind::AssetOrArchive));
    assert_eq!(opaque("files"), Some(OpaqueKind::Archive));
    assert_eq!(opaque("owner"), Some(OpaqueKind::Resource));
    assert_eq!(opaque("name"), None);
}

#[test]
fn a_function_with_a_single_result_gives_no_map() {
    let types = types();
    let count = types.function("shop/index:count").unwrap();
    assert_eq!(count.returns.ty(), Type::Int);
    let facts = types.function_facts("shop/index:count").unwrap();
    let wrapped = Value::map([("result", Value::Int(3))]);
    assert_eq!(facts.unwrapped(wrapped.clone()), Value::Int(3));
    let facts = types.function_facts("shop/index:getTill").unwrap();
    assert_eq!(facts.unwrapped(wrapped.clone()), wrapped);
}
