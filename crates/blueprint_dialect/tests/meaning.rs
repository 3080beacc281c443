//! Tests of lowered documents, and of recognising documents of this dialect.

use std::time::Duration;

use blueprint::{Blueprint, ExprKind, ReplaceOrder, Type, Value};
use blueprint_dialect::BlueprintDialect;
use diag::FileId;
use dialect::{Dialect as _, Document};
use syntax::Format;

const FILE: FileId = FileId::new(0);

fn lower(text: &str) -> Blueprint {
    let (tree, _) = syntax::parse(FILE, text, Format::Yaml);
    let context = dialect::LoadContext::NONE;
    let document = Document::new(
        FILE,
        "main.yaml",
        text,
        std::slice::from_ref(&tree),
        &context,
    );
    BlueprintDialect
        .lower(&document, expr::core_functions(), &Default::default())
        .blueprint
}

fn recognise(name: &str, text: &str) -> u8 {
    let (tree, _) = syntax::parse(FILE, text, Format::of_name(name));
    let context = dialect::LoadContext::NONE;
    let trees = std::slice::from_ref(&tree);
    BlueprintDialect.recognise(&Document::new(FILE, name, text, trees, &context))
}

#[test]
fn a_document_is_recognised_by_version_then_name_then_sections() {
    assert_eq!(recognise("x.yaml", "version: 2023-04-20\nfoo: 1"), 100);
    assert_eq!(recognise("x.yaml", "version: \"2025-11-02\""), 100);
    assert_eq!(recognise("blueprint.yaml", ""), 60);
    assert_eq!(recognise("a/orders.blueprint.jsonc", "{"), 60);
    assert_eq!(recognise("myblueprint.yaml", ""), 0);
    assert_eq!(recognise("x.yaml", "resources: {}"), 30);
    assert_eq!(
        recognise("x.yaml", "heat_template_version: 2021-04-16\nresources: {}"),
        0
    );
    assert_eq!(recognise("x.yaml", "runtime: yaml\nresources: {}"), 0);
    assert_eq!(recognise("x.yaml", "apiVersion: v1\nmetadata: {}"), 0);
    assert_eq!(recognise("x.yaml", "- a"), 0);
}

#[test]
fn names_keep_their_order_and_their_places() {
    let text = "version: 2023-04-20\nresources:\n  z: { type: a/b, spec: {} }\n  a: { type: a/c, spec: {} }\n";
    let blueprint = lower(text);
    let names: Vec<&str> = blueprint.resources.keys().map(|name| &**name).collect();
    assert_eq!(names, ["z", "a"]);
    let resource = &blueprint.resources["a"];
    assert_eq!(&text[resource.span.range()], "a");
    assert_eq!(&text[resource.type_name.span.range()], "a/c");
    assert_eq!(&text[resource.spec_key.range()], "spec");
    assert_eq!(&text[resource.spec.span.range()], "{}");
}

#[test]
fn the_first_of_two_definitions_counts() {
    let blueprint = lower(
        "version: 2023-04-20\nresources: { r: { type: a/b, spec: {} }, r: { type: a/c, spec: {} } }",
    );
    assert_eq!(&*blueprint.resources["r"].type_name.item, "a/b");
}

#[test]
fn literals_have_their_kinds() {
    let blueprint = lower(
        "version: 2023-04-20\nvariables:\n  v: { type: float, default: 1, allowedValues: [1, 2.5] }\n  c: { type: test/size, default: s }\nvalues:\n  i: { type: integer, value: ' 7 ' }\n  a: { type: array, value: '${list()}' }\nresources:\n  r: { type: a/b, spec: { a: [1, 1.5, yes, true, ~, '1'], b: { c: 'x ${1}' } } }\n",
    );
    let input = &blueprint.inputs["v"];
    assert_eq!(input.ty, Type::Float);
    assert_eq!(
        input.default.as_ref().map(|value| &value.item),
        Some(&Value::Float(1.0))
    );
    assert_eq!(input.allowed.len(), 2);
    let custom = &blueprint.inputs["c"];
    assert_eq!(
        (
            &custom.ty,
            custom.custom_type.as_ref().map(|name| &*name.item)
        ),
        (&Type::Any, Some("test/size"))
    );
    assert_eq!(
        blueprint.locals["i"].value.as_literal(),
        Some(&Value::Int(7))
    );
    assert_eq!(blueprint.locals["a"].ty, Type::list(Type::Any));
    let ExprKind::Map(entries) = &blueprint.resources["r"].spec.kind else {
        panic!("a spec is a map")
    };
    let ExprKind::List(items) = &entries[0].1.kind else {
        panic!("a list")
    };
    let kinds: Vec<Value> = items
        .iter()
        .filter_map(|item| item.as_literal().cloned())
        .collect();
    assert_eq!(
        kinds,
        [
            Value::Int(1),
            Value::Float(1.5),
            Value::text("yes"),
            Value::Bool(true),
            Value::Null,
            Value::text("1")
        ]
    );
}

#[test]
fn conditions_become_lazy_choices() {
    let blueprint = lower(
        "version: 2023-04-20\nresources:\n  r:\n    type: a/b\n    spec: {}\n    condition: { or: ['${true}', { not: '${false}' }] }\n",
    );
    let condition = blueprint.resources["r"]
        .condition
        .as_ref()
        .expect("a condition");
    let ExprKind::Choice(choice) = &condition.kind else {
        panic!("a choice")
    };
    assert!(matches!(choice.condition.kind, ExprKind::Substitution(_)));
    assert_eq!(choice.then.as_literal(), Some(&Value::Bool(true)));
    let ExprKind::Choice(not) = &choice.otherwise.kind else {
        panic!("a choice")
    };
    assert_eq!(not.then.as_literal(), Some(&Value::Bool(false)));
    assert_eq!(not.otherwise.as_literal(), Some(&Value::Bool(true)));
}

#[test]
fn a_long_list_of_conditions_is_not_a_deep_tree() {
    let list = "'${true}', ".repeat(20_000);
    let blueprint = lower(&format!(
        "version: 2023-04-20\nresources: {{ r: {{ type: a/b, spec: {{}}, condition: {{ and: [{list}] }} }} }}"
    ));
    let mut substitutions = 0;
    blueprint.resources["r"]
        .condition
        .as_ref()
        .expect("a condition")
        .walk(&mut |expr| {
            substitutions += usize::from(matches!(expr.kind, ExprKind::Substitution(_)));
        });
    assert_eq!(substitutions, 20_000);
}

#[test]
fn hints_are_read_into_the_lifecycle() {
    let blueprint = lower(
        "version: 2025-11-02\nmetadata: { cyan.moved: { gone: r, old: \"s[0]\" }, kept: 1 }\nresources:\n  r:\n    type: a/b\n    each: ${list()}\n    removalPolicy: retain\n    metadata:\n      annotations:\n        cyan.protect: true\n        cyan.replaceOrder: create-first\n        cyan.ignoreChanges: a, b.c\n        cyan.timeout.create: 1m30s\n        cyan.import: id-1\n        cyan.movedFrom: before\n        cyan.eachKey: ${elem}\n        acme.x: 1\n    spec: {}\n  s: { type: a/b, spec: {} }\n",
    );
    let resource = &blueprint.resources["r"];
    let lifecycle = &resource.lifecycle;
    assert!(lifecycle.protect && lifecycle.retain);
    assert_eq!(lifecycle.replace_order, Some(ReplaceOrder::CreateFirst));
    assert_eq!(lifecycle.ignore_changes, ["a".into(), "b.c".into()]);
    assert_eq!(lifecycle.timeouts.create, Some(Duration::from_secs(90)));
    assert_eq!(lifecycle.import.as_deref(), Some("id-1"));
    assert_eq!(lifecycle.moved_from, ["before".into()]);
    let moves: Vec<String> = blueprint
        .moves
        .iter()
        .map(|it| format!("{} -> {}", it.from, it.to))
        .collect();
    assert_eq!(moves, ["gone -> r", "old -> s[0]"]);
    assert!(
        resource
            .each
            .as_ref()
            .is_some_and(|each| each.key.is_some())
    );
    assert!(
        resource
            .metadata
            .annotations
            .iter()
            .all(|(name, _)| &*name.item != "cyan.eachKey")
    );
    let ExprKind::Map(metadata) = &blueprint.metadata.as_ref().expect("metadata").kind else {
        panic!("a map")
    };
    assert_eq!(metadata.len(), 1);
}

#[test]
fn only_reported_parts_become_errors() {
    let blueprint = lower(
        "version: 2023-04-20\nvalues: { v: { type: text, value: x } }\nresources:\n  r: { spec: { a: 99999999999999999999, b: 1 } }\n  s: []\n",
    );
    assert_eq!(blueprint.locals["v"].ty, Type::Error);
    let resource = &blueprint.resources["r"];
    assert_eq!(&*resource.type_name.item, "");
    let ExprKind::Map(entries) = &resource.spec.kind else {
        panic!("a spec is a map")
    };
    assert_eq!(entries[0].1.kind, ExprKind::Error);
    assert_eq!(entries[1].1.as_literal(), Some(&Value::Int(1)));
    assert_eq!(blueprint.resources["s"].spec.kind, ExprKind::Error);
}

#[test]
fn parts_of_a_data_source_in_error_are_empty() {
    let blueprint = lower(
        "version: 2023-04-20\ndatasources:\n  d:\n    type: a/b\n    filter: { field: '${x}', operator: [a], search: 1 }\n    exports: { e: { type: string, aliasFor: '${x}' }, f: { type: string } }\n",
    );
    let source = &blueprint.data_sources["d"];
    assert_eq!(
        (
            &*source.filters[0].field.item,
            &*source.filters[0].operator.item
        ),
        ("", "")
    );
    assert_eq!(
        source.exports["e"]
            .alias_for
            .as_ref()
            .map(|name| &*name.item),
        Some("")
    );
    assert!(source.exports["f"].alias_for.is_none());
}
