//! Answers of providers that agree with or contradict the requests.

use std::sync::Arc;

use blueprint::{Name, Value};
use terraform_wire::consistency::{
    Problem, Violation, check_apply, check_plan, check_replan, replacing,
};
use terraform_wire::{
    AttributeKind, Block, BlockType, NestedObject, Nesting, Path, SchemaAttribute, ValueType,
    conform,
};

fn attribute(flags: &str, ty: ValueType) -> SchemaAttribute {
    SchemaAttribute {
        kind: AttributeKind::Plain(ty),
        required: flags.contains('r'),
        optional: flags.contains('o'),
        computed: flags.contains('c'),
        sensitive: flags.contains('s'),
        write_only: flags.contains('w'),
        ..SchemaAttribute::default()
    }
}

fn nested(nesting: Nesting) -> SchemaAttribute {
    let attributes = [
        ("set", attribute("o", ValueType::String)),
        ("made", attribute("c", ValueType::String)),
    ];
    let attributes = attributes
        .map(|(name, one)| (Name::from(name), one))
        .into_iter()
        .collect();
    SchemaAttribute {
        kind: AttributeKind::Nested(NestedObject {
            nesting,
            attributes,
        }),
        ..attribute("o", ValueType::Bool)
    }
}

fn schema() -> Block {
    let attributes = [
        ("id", attribute("c", ValueType::String)),
        ("name", attribute("r", ValueType::String)),
        ("size", attribute("oc", ValueType::Number)),
        ("tags", attribute("o", ValueType::map(ValueType::String))),
        ("password", attribute("os", ValueType::String)),
        ("token", attribute("ow", ValueType::String)),
        ("parts", nested(Nesting::Set)),
        ("rows", nested(Nesting::List)),
    ];
    let inner = Block {
        attributes: [
            ("port", attribute("r", ValueType::Number)),
            ("id", attribute("c", ValueType::String)),
        ]
        .map(|(name, one)| (Name::from(name), one))
        .into_iter()
        .collect(),
        ..Block::default()
    };
    let blocks = [
        ("rule", Nesting::Set),
        ("step", Nesting::List),
        ("zone", Nesting::Map),
        ("one", Nesting::Single),
    ];
    Block {
        attributes: attributes
            .map(|(name, one)| (Name::from(name), one))
            .into_iter()
            .collect(),
        blocks: blocks
            .map(|(name, nesting)| {
                (
                    Name::from(name),
                    BlockType {
                        nesting,
                        block: inner.clone(),
                        min_items: 0,
                        max_items: 0,
                    },
                )
            })
            .into_iter()
            .collect(),
        ..Block::default()
    }
}

fn unknown() -> Value {
    Value::unknown(None, None)
}

fn object(entries: &[(&str, Value)]) -> Value {
    conform(&schema(), &Value::map(entries.iter().cloned()))
}

fn port(port: i64, id: Value) -> Value {
    Value::map([("port", Value::Int(port)), ("id", id)])
}

fn problems(violations: &[Violation]) -> Vec<(String, &Problem)> {
    violations
        .iter()
        .map(|one| (one.path.to_string(), &one.problem))
        .collect()
}

#[test]
fn plan_may_fill_in_computed_attributes() {
    let config = object(&[
        ("name", "a".into()),
        ("step", Value::list([port(1, Value::Null)])),
    ]);
    let plan = object(&[
        ("name", "a".into()),
        ("id", unknown()),
        ("size", Value::Int(3)),
        ("step", Value::list([port(1, unknown())])),
    ]);
    assert_eq!(check_plan(&schema(), &Value::Null, &config, &plan), []);
}

#[test]
fn a_plan_that_changes_the_document_is_found() {
    let config = object(&[("name", "a".into()), ("password", "old".into())]);
    let plan = object(&[
        ("name", "b".into()),
        ("password", "hidden".into()),
        ("tags", Value::map([("k", Value::from("v"))])),
        ("token", "x".into()),
        ("step", unknown()),
    ]);
    let found = check_plan(&schema(), &Value::Null, &config, &plan);
    assert_eq!(
        problems(&found),
        [
            ("name".into(), &Problem::NotAsConfigured),
            ("tags".into(), &Problem::NotComputed),
            ("password".into(), &Problem::NotAsConfigured),
            ("token".into(), &Problem::WriteOnly),
            ("step".into(), &Problem::UnknownBlocks),
        ]
    );
    assert_eq!(
        found[0].to_string(),
        r#"the document has "a", the plan has "b""#
    );
    assert_eq!(
        found[2].to_string(),
        "the document has (secret), the plan has (secret)"
    );
}

#[test]
fn a_plan_may_keep_an_equivalent_prior_value() {
    let (prior, config) = (
        object(&[("name", "A".into())]),
        object(&[("name", "a".into())]),
    );
    assert_eq!(check_plan(&schema(), &prior, &config, &prior), []);
    assert_eq!(
        check_plan(&schema(), &Value::Null, &config, &prior).len(),
        1
    );
}

#[test]
fn blocks_are_counted_and_matched() {
    let set = |items: &[Value]| Value::Set(Arc::new(items.to_vec()));
    let config = object(&[
        ("name", "a".into()),
        ("rule", set(&[port(1, Value::Null), port(2, Value::Null)])),
        ("zone", Value::map([("x", port(1, Value::Null))])),
    ]);
    let good = object(&[
        ("name", "a".into()),
        ("rule", set(&[port(2, unknown()), port(1, "i".into())])),
        ("zone", Value::map([("x", port(1, unknown()))])),
    ]);
    assert_eq!(check_plan(&schema(), &Value::Null, &config, &good), []);
    let bad = object(&[
        ("name", "a".into()),
        ("rule", set(&[port(2, unknown()), port(3, unknown())])),
        ("zone", Value::map([("y", port(1, unknown()))])),
        ("step", Value::list([port(1, unknown())])),
        ("one", port(1, unknown())),
    ]);
    let found = check_plan(&schema(), &Value::Null, &config, &bad);
    assert_eq!(
        problems(&found),
        [
            ("rule".into(), &Problem::Element),
            (
                "step".into(),
                &Problem::Count {
                    expected: 0,
                    found: 1
                }
            ),
            ("zone".into(), &Problem::ExtraKey("y".into())),
            ("zone".into(), &Problem::MissingKey("x".into())),
            ("one".into(), &Problem::Appeared),
        ]
    );
}

#[test]
fn nested_attributes_are_checked_one_by_one() {
    let one = |set: &str, made: Value| Value::map([("set", Value::from(set)), ("made", made)]);
    let config = object(&[
        ("name", "a".into()),
        ("parts", Value::list([one("x", Value::Null)])),
        (
            "rows",
            Value::list([one("x", Value::Null), one("y", Value::Null)]),
        ),
    ]);
    let good = object(&[
        ("name", "a".into()),
        ("parts", Value::list([one("x", unknown())])),
        (
            "rows",
            Value::list([one("x", unknown()), one("y", "m".into())]),
        ),
    ]);
    assert_eq!(check_plan(&schema(), &Value::Null, &config, &good), []);
    let bad = object(&[
        ("name", "a".into()),
        ("parts", Value::list([one("z", unknown())])),
        (
            "rows",
            Value::list([one("x", unknown()), one("w", "m".into())]),
        ),
    ]);
    let found = check_plan(&schema(), &Value::Null, &config, &bad);
    assert_eq!(
        problems(&found),
        [
            ("parts".into(), &Problem::Element),
            ("rows[1].set".into(), &Problem::NotAsConfigured)
        ]
    );
}

#[test]
fn null_plan_is_valid_only_for_a_destroy() {
    let object = object(&[("name", "a".into())]);
    assert_eq!(
        check_plan(&schema(), &object, &Value::Null, &Value::Null),
        []
    );
    assert_eq!(
        problems(&check_plan(&schema(), &object, &object, &Value::Null)),
        [("".into(), &Problem::Vanished)]
    );
    assert_eq!(
        problems(&check_plan(&schema(), &object, &Value::Null, &object)),
        [("".into(), &Problem::Appeared)]
    );
}

#[test]
fn apply_may_fill_in_only_unknown_values() {
    let set = |items: &[Value]| Value::Set(Arc::new(items.to_vec()));
    let plan = object(&[
        ("name", "a".into()),
        ("id", unknown()),
        ("size", Value::Int(1)),
        ("tags", Value::map([("k", unknown())])),
        ("rule", set(&[port(1, unknown()), port(2, unknown())])),
    ]);
    let good = object(&[
        ("name", "a".into()),
        ("id", "i".into()),
        ("size", Value::Float(1.0)),
        ("tags", Value::map([("k", Value::from("v"))])),
        ("rule", set(&[port(2, "q".into()), port(1, "p".into())])),
    ]);
    assert_eq!(check_apply(&schema(), &plan, &good), []);
    let bad = object(&[
        ("name", "b".into()),
        ("id", unknown()),
        ("size", Value::Null),
        ("tags", Value::map([("l", Value::from("v"))])),
        ("token", "secret".into()),
        ("rule", set(&[port(2, "q".into()), port(3, "p".into())])),
    ]);
    let found = check_apply(&schema(), &plan, &bad);
    assert_eq!(
        problems(&found),
        [
            ("id".into(), &Problem::StillUnknown),
            ("name".into(), &Problem::NotAsPlanned),
            ("size".into(), &Problem::Vanished),
            ("tags".into(), &Problem::MissingKey("k".into())),
            ("tags".into(), &Problem::ExtraKey("l".into())),
            ("rule".into(), &Problem::Element),
            ("token".into(), &Problem::WriteOnly),
        ]
    );
    let standing: Vec<String> = found
        .iter()
        .filter(|one| one.counts_for(true))
        .map(|one| one.path.to_string())
        .collect();
    assert_eq!(standing, ["id", "token"]);
}

#[test]
fn an_object_that_is_gone_contradicts_its_plan() {
    let plan = object(&[("name", "a".into())]);
    assert_eq!(
        problems(&check_apply(&schema(), &plan, &Value::Null)),
        [("".into(), &Problem::Vanished)]
    );
    assert_eq!(
        problems(&check_apply(&schema(), &Value::Null, &plan)),
        [("".into(), &Problem::Appeared)]
    );
}

#[test]
fn second_plan_may_only_add_known_values() {
    let first = object(&[
        ("name", "a".into()),
        ("id", unknown()),
        ("size", Value::Int(1)),
    ]);
    let more = object(&[
        ("name", "a".into()),
        ("id", "i".into()),
        ("size", Value::Int(1)),
    ]);
    let less = object(&[("name", "a".into()), ("id", unknown()), ("size", unknown())]);
    assert_eq!(check_replan(&schema(), &first, &more), []);
    assert_eq!(check_replan(&schema(), &first, &first), []);
    assert_eq!(
        problems(&check_replan(&schema(), &first, &less)),
        [("size".into(), &Problem::NotAsPlanned)]
    );
}

#[test]
fn only_paths_that_differ_replace() {
    let prior = object(&[
        ("name", "a".into()),
        ("id", "i".into()),
        ("size", Value::Int(1)),
    ]);
    let plan = object(&[
        ("name", "b".into()),
        ("id", unknown()),
        ("size", Value::Float(1.0)),
    ]);
    let path = |name: &str| Path::default().attribute(&name.into());
    let all = [path("name"), path("id"), path("size"), path("nothing")];
    assert_eq!(replacing(&prior, &plan, &all), [path("name"), path("id")]);
    assert_eq!(replacing(&Value::Null, &plan, &all), []);
    assert_eq!(replacing(&prior, &Value::Null, &all), []);
}
