//! Resources wait for others that refer to the same third resource, if their types declare it.

#![allow(
    clippy::unwrap_used,
    reason = "a test stops where something is not as it should be"
)]

use std::sync::Arc;

use diag::Files;
use dialect::DialectRules;
use provider::{combine, read_catalog};
use understand::check;
use understand::graph::{Edge, EdgeKind, GraphNode};

const CATALOG: &str = r#"{"format": 1, "namespace": "net", "resourceTypes": {
    "net/net": {"idField": "id", "fields": {"name": {"kind": "string"}, "id": {"kind": "string", "computed": true}}},
    "net/subnet": {"idField": "id", "fields": {"network": {"kind": "string"}, "id": {"kind": "string", "computed": true}}},
    "net/port": {"idField": "id", "fields": {"network": {"kind": "string"}, "id": {"kind": "string", "computed": true},
        "fixed": {"kind": "array", "items": {"kind": "object", "fields": {"subnet": {"kind": "string"}}}}},
        "waits": [{"for": "net/subnet", "own": ["network"], "its": ["network"]}]},
    "net/interface": {"fields": {"subnet": {"kind": "string"}}},
    "net/address": {"fields": {"port": {"kind": "string"}}, "waits": [{"for": "net/interface", "own": ["port"], "its": ["subnet"],
        "through": {"type": "net/port", "fields": ["fixed[].subnet"]}}]},
    "net/server": {"fields": {"networks": {"kind": "array", "items": {"kind": "object", "fields": {"network": {"kind": "string"}}}}},
        "waits": [{"for": "net/subnet", "own": ["networks[].network"], "its": ["network"]}]}}}"#;

/// The dependencies as `a > b`, without those of references, and the codes of the diagnostics.
fn waits(resources: &str) -> (Vec<String>, Vec<&'static str>) {
    let text =
        format!("version: 2023-04-20\nvariables:\n  id: {{type: string}}\nresources:\n{resources}");
    let catalog = read_catalog(CATALOG).unwrap();
    let (catalogs, functions, wrong) = combine([Arc::new(catalog)]);
    assert!(wrong.is_empty());
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
    let blueprint = Arc::new(lowered.blueprint);
    let checked = check::check(
        blueprint.clone(),
        &check::CheckContext::new(&catalogs, &functions, DialectRules::NATIVE),
        &mut found,
    );
    let name = |node: GraphNode| match node {
        GraphNode::Resource(at) => blueprint
            .resources
            .get_index(at as usize)
            .unwrap()
            .0
            .to_string(),
        other => format!("{other:?}"),
    };
    let mut all = Vec::new();
    for node in checked.graph.nodes() {
        let waiting = |edge: &&Edge| edge.kind == EdgeKind::DependsOn;
        all.extend(
            checked
                .graph
                .edges(*node)
                .iter()
                .filter(waiting)
                .map(|edge| {
                    assert!(edge.span.is_some(), "the field says why");
                    format!("{} > {}", name(*node), name(edge.to))
                }),
        );
    }
    (
        all,
        found
            .iter()
            .filter(|one| one.severity == diag::Severity::Error)
            .map(|one| one.code.name)
            .collect(),
    )
}

#[test]
fn a_port_waits_for_the_subnets_of_its_network() {
    let resources = r#"
  front: {type: net/net, spec: {name: a}}
  back: {type: net/net, spec: {name: b}}
  port: {type: net/port, spec: {network: "${resources.front}"}}
  one: {type: net/subnet, spec: {network: "${resources.front}"}}
  two: {type: net/subnet, spec: {network: "${resources.front}"}}
  other: {type: net/subnet, spec: {network: "${resources.back}"}}
  named: {type: net/subnet, spec: {network: "${resources.front.spec.name}"}}
"#;
    assert_eq!(
        waits(resources),
        (
            vec!["port > one".to_owned(), "port > two".to_owned()],
            vec![]
        )
    );
}

#[test]
fn equal_texts_and_equal_references_name_the_same_resource() {
    let resources = r#"
  port: {type: net/port, spec: {network: public}}
  server: {type: net/server, spec: {networks: [{network: "${variables.id}"}, {network: public}]}}
  one: {type: net/subnet, spec: {network: public}}
  two: {type: net/subnet, spec: {network: "${variables.id}"}}
  empty: {type: net/subnet, spec: {}}
"#;
    let (waits, wrong) = waits(resources);
    assert_eq!(waits, ["port > one", "server > two", "server > one"]);
    assert!(wrong.is_empty());
}

#[test]
fn wait_can_go_through_another_resource() {
    let resources = r#"
  inside: {type: net/subnet, spec: {network: a}}
  outside: {type: net/subnet, spec: {network: b}}
  port: {type: net/port, spec: {network: c, fixed: [{subnet: "${resources.inside}"}]}}
  address: {type: net/address, spec: {port: "${resources.port}"}}
  near: {type: net/interface, spec: {subnet: "${resources.inside}"}}
  far: {type: net/interface, spec: {subnet: "${resources.outside}"}}
"#;
    assert_eq!(waits(resources).0, ["address > near"]);
}

#[test]
fn cycle_closed_by_a_declared_wait_is_reported() {
    let resources = r#"
  port: {type: net/port, spec: {network: a, fixed: []}}
  one: {type: net/subnet, metadata: {annotations: {}}, dependsOn: [port], spec: {network: a}}
"#;
    assert_eq!(waits(resources).1, ["cycle"]);
}
