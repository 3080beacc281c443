//! Resolving names in small documents: a marker in the text, and the expected kind, line of the
//! definition and type.

#[expect(dead_code, reason = "this file uses a part")]
mod checking;

use std::sync::Arc;

use checking::{catalogs, check_including};
use diag::Files;
use understand::check::{self, CheckContext, Included};

const MARKER: char = '▸';

/// Checks a document. The name after each marker must resolve as `expected` says, one line for each
/// marker: `KIND LINE TYPE`. LINE is the line of the definition, `-` if the name has none.
/// `nothing` stands for a name that does not resolve.
fn expect(text: &str, expected: &[&str]) {
    expect_with(text, &[], expected);
}

/// Like [`expect`], for a document whose includes, by position, are `children`.
fn expect_with(text: &str, children: &[&str], expected: &[&str]) {
    let mut plain = String::new();
    let mut offsets = Vec::new();
    for part in text.split(MARKER) {
        plain.push_str(part);
        offsets.push(plain.len() as u32);
    }
    offsets.pop();
    let mut files = Files::new();
    let included = children.iter().map(|text| {
        let child = check_including(std::mem::take(&mut files), "child.yaml", text, &[]);
        files = child.files;
        Some(Included {
            checked: Arc::new(child.checked),
        })
    });
    let included: Vec<_> = included.collect();
    let checked = check_including(files, "case.yaml", &plain, &included);
    let (catalogs, functions) = catalogs();
    let context = CheckContext::new(catalogs, functions, checked.checked.rules);
    let resolutions = check::resolutions(&checked.checked.blueprint, &included, &context);
    // The children are the first files.
    let file = diag::FileId::new(children.len() as u32);
    let mut found = Vec::new();
    for offset in offsets {
        let Some(one) = resolutions.at(file, offset) else {
            found.push("nothing".to_owned());
            continue;
        };
        let line = one
            .definition
            .and_then(|span| Some(checked.files.get(span.file)?.position(span.start).line));
        let line = line.map_or("-".to_owned(), |line| line.to_string());
        found.push(format!("{:?} {line} {}", one.kind, one.ty));
    }
    assert_eq!(found, expected, "in\n{plain}\n{:#?}", checked.found);
}

#[test]
fn references_resolve_to_their_elements() {
    expect(
        r#"version: 2023-04-20
variables:
  region: { type: string, default: eu }
values:
  c: { type: object, value: "${object(host = 'h', ports = list(80))}" }
resources:
  x: { type: test/record, spec: { title: "${variables.re▸gion}" } }
  a: { type: test/data, spec: { input: ["${▸values.c.host}", "${values.c.p▸orts[0]}", "${values▸.c}"] } }
  b: { type: test/data, spec: { input: ["${resources.▸x.spec.title}", "${x.spec.ti▸tle}"] }, dependsOn: [▸a] }
"#,
        &[
            "Input(0) 3 string",
            "Local(0) 5 string",
            "Local(0) 5 integer",
            "Local(0) 5 object",
            "Resource(0) 7 string",
            "Resource(0) 7 string",
            "Resource(1) 8 any",
        ],
    );
}

#[test]
fn items_positions_and_functions_resolve() {
    expect(
        r#"version: 2023-04-20
resources:
  b:
    type: test/data
    each: "${▸list(1, 2)}"
    spec: { input: "${▸elem}-${▸i}" }
  a: { type: test/data, spec: { input: "${map(split('a', ','), ▸to_upper)}" } }
"#,
        &[
            "Function(\"list\") - array of integer",
            "EachItem(0) 5 integer",
            "EachPosition(0) 5 integer",
            "Function(\"to_upper\") - function",
        ],
    );
}

#[test]
fn exports_and_their_elements_resolve_separately() {
    expect(
        r#"version: 2023-04-20
datasources:
  d:
    type: acme/file
    filter: { field: path, operator: "=", search: /a }
    exports:
      text: { type: string }
include:
  c: { path: ./other.yaml }
resources:
  a: { type: test/data, spec: { input: ["${datasources.▸d.text}", "${datasources.d.▸text}", "${children.▸c.x}", "${children.c.▸x}"] } }
"#,
        &[
            "DataSource(0) 3 any",
            "DataSourceExport(0) 7 string",
            "Child(0) 9 any",
            "nothing",
        ],
    );
}

#[test]
fn text_and_unknown_names_resolve_to_nothing() {
    expect(
        r#"version: 2023-04-20
variables:
  region: { type: string, default: eu }
resources:
  a: { type: test/data, spec: { input: "▸text ▸${variables.nop▸e}${variables.region▸} ${variables▸.region.x}" } }
"#,
        &["nothing", "nothing", "nothing", "nothing", "Input(0) 3 any"],
    );
}

#[test]
fn heat_functions_resolve_to_parameters_resources_and_conditions() {
    expect(
        r#"heat_template_version: 2018-08-31
parameters:
  size: { type: number }
  name: { type: string }
  flag: { type: boolean }
conditions:
  big: { get_param: ▸flag }
resources:
  shop: { type: acme/shop, properties: { name: { get_param: na▸me } } }
  other:
    type: acme/shop
    condition: ▸big
    depends_on: [▸shop]
    properties: { name: { get_attr: [▸shop, na▸me] } }
outputs:
  id: { value: { get_resource: sh▸op } }
  size: { value: { get_param: ▸size } }
"#,
        &[
            "Input(2) 5 any",
            "Input(1) 4 any",
            "Local(0) 7 any",
            "Resource(0) 9 any",
            "Resource(0) 9 string",
            "Resource(0) 9 string",
            "Resource(0) 9 string",
            "Input(0) 3 any",
        ],
    );
}

#[test]
fn exports_of_children_are_defined_in_the_child() {
    expect_with(
        r#"version: 2023-04-20
include:
  c: { path: ./other.yaml }
resources:
  a: { type: test/data, spec: { input: "${▸children.▸c.si▸ze}${children.c▸.nope}" } }
"#,
        &[
            "version: 2023-04-20\nvalues:\n  v: { type: integer, value: 1 }\nexports:\n  size: { type: integer, field: values.v }\n",
        ],
        &[
            "Child(0) 3 any",
            "Child(0) 3 any",
            "ChildExport(0) 5 integer",
            "nothing",
        ],
    );
    expect_with(
        r#"heat_template_version: 2018-08-31
resources:
  c: { type: other.yaml }
  d: { type: acme/shop, properties: { name: { get_attr: [▸c, si▸ze] } }, depends_on: ▸c }
"#,
        &[
            "heat_template_version: 2018-08-31\n\n\noutputs:\n  a: { value: 1 }\n  size: { value: 1 }\n",
        ],
        &["Child(0) 3 any", "ChildExport(0) 6 any", "Child(0) 3 any"],
    );
}

#[test]
fn names_of_linked_resources_resolve() {
    expect(
        r#"version: 2023-04-20
resources:
  a: { type: test/data, linkSelector: { byLabel: { x: y }, exclude: [▸b] }, spec: { input: 1 } }
  b: { type: test/data, metadata: { labels: { x: y } }, spec: { input: "${link(▸a, '▸b')}" } }
"#,
        &[
            "Resource(1) 4 any",
            "Resource(0) 3 any",
            "Resource(1) 4 any",
        ],
    );
}
