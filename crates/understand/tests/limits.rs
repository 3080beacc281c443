//! Limits of fields, and fields that a type does not have, for literals and for results of
//! substitutions.

#![allow(
    clippy::unwrap_used,
    reason = "a test stops where something is not as it should be"
)]

use std::sync::Arc;

use diag::Files;
use dialect::DialectRules;
use provider::{combine, read_catalog};
use understand::check;

const CATALOG: &str = r#"{"format": 1, "namespace": "OS::Shop", "resourceTypes": {
    "OS::Shop::Rack": {"open": true, "fields": {
        "count": {"kind": "integer", "modulo": [4, 1]},
        "name": {"kind": "string", "pattern": "a|b", "whole": true},
        "labels": {"kind": "map", "minItems": 1, "maxItems": 2}}},
    "OS::Shop::Till": {"fields": {"size": {"kind": "integer"}}}}}"#;

/// The codes of a resource's diagnostics.
fn wrong(type_name: &str, spec: &str) -> Vec<&'static str> {
    let text =
        format!("version: 2023-04-20\nresources:\n  a:\n    type: {type_name}\n    spec: {spec}\n");
    let (catalogs, functions, _) = combine([Arc::new(read_catalog(CATALOG).unwrap())]);
    let mut files = Files::new();
    let file = files.add("a.yaml", text.as_str());
    let (tree, mut found) = syntax::parse(file, &text, syntax::Format::Yaml);
    let context = dialect::LoadContext::NONE;
    let document =
        dialect::Document::new(file, "a.yaml", &text, std::slice::from_ref(&tree), &context);
    let lowered = testkit::dialects()
        .get("blueprint")
        .expect("it is installed")
        .lower(&document, &functions, catalogs.packages());
    found.append(lowered.diagnostics);
    let context = check::CheckContext::new(&catalogs, &functions, DialectRules::NATIVE);
    check::check(Arc::new(lowered.blueprint), &context, &mut found);
    found.iter().map(|one| one.code.name).collect()
}

#[test]
fn number_is_checked_against_step_and_offset() {
    for good in ["{count: 1}", "{count: 5}", "{count: -3}"] {
        assert_eq!(wrong("OS::Shop::Rack", good), [""; 0], "{good}");
    }
    for bad in ["{count: 0}", "{count: 6}", "{count: -1}"] {
        assert_eq!(wrong("OS::Shop::Rack", bad), ["value-constraint"], "{bad}");
    }
}

#[test]
fn pattern_can_require_a_whole_match() {
    assert_eq!(wrong("OS::Shop::Rack", "{name: b}"), [""; 0]);
    assert_eq!(wrong("OS::Shop::Rack", "{name: ab}"), ["value-constraint"]);
}

#[test]
fn open_type_accepts_additional_fields() {
    assert_eq!(
        wrong("OS::Shop::Rack", "{count: 1, other: {deep: [1, {x: y}]}}"),
        [""; 0]
    );
    assert_eq!(
        wrong("OS::Shop::Rack", "{count: one, other: 1}"),
        ["type-mismatch"]
    );
    assert_eq!(
        wrong("OS::Shop::Till", "{size: 1, other: 1}"),
        ["unknown-spec-field"]
    );
}

#[test]
fn type_names_with_colons_have_a_namespace() {
    assert_eq!(wrong("OS::Shop::Tll", "{}"), ["unknown-resource-type"]);
    assert_eq!(wrong("OS::Shoe::Till", "{}"), ["unknown-provider"]);
}
