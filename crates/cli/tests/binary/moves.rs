//! Tests of resources that keep their object under another name.

use crate::named_files::refusal;
use crate::place::Place;

const BEFORE: &str = "version: 2023-04-20
resources:
  a: {type: random/uuid, spec: {}}
exports: {id: {type: string, field: resources.a.spec.uuid}}
";

/// Deploys a document with the resource `a`, then this one. Returns the ids before and after.
fn ids_after(document: &str) -> (String, String) {
    let place = Place::with("shop.blueprint.yaml", BEFORE);
    place.ends(0, &["deploy", "--yes"]);
    let before = place.ends(0, &["exports", "id"]).out;
    place.write("shop.blueprint.yaml", document);
    place.ends(0, &["deploy", "--yes"]);
    (before, place.ends(0, &["exports", "id"]).out)
}

#[test]
fn chain_of_former_names_is_followed_to_the_declared_name() {
    let by_document = "version: 2023-04-20
metadata: {cyan.moved: {a: c, c: d}}
resources:
  d: {type: random/uuid, spec: {}}
exports: {id: {type: string, field: resources.d.spec.uuid}}
";
    let by_both = "version: 2023-04-20
metadata: {cyan.moved: {a: b, b: c}}
resources:
  d: {type: random/uuid, metadata: {annotations: {cyan.movedFrom: c}}, spec: {}}
exports: {id: {type: string, field: resources.d.spec.uuid}}
";
    for document in [by_document, by_both] {
        let (before, after) = ids_after(document);
        assert_eq!(before, after, "{document}");
    }
}

#[test]
fn chain_into_a_template_ends_at_its_first_member() {
    let (before, after) = ids_after(
        "version: 2023-04-20
metadata: {cyan.moved: {a: b, b: many}}
resources:
  many: {type: random/uuid, each: '${list(1, 2)}', spec: {}}
exports: {id: {type: string, field: 'resources.many[0].spec.uuid'}}
",
    );
    assert_eq!(before, after);
}

#[test]
fn circle_of_former_names_is_refused() {
    let place = Place::with(
        "shop.blueprint.yaml",
        "version: 2023-04-20
resources:
  a: {type: local/file, metadata: {annotations: {cyan.movedFrom: b}}, spec: {path: two.txt, content: two}}
  b: {type: local/file, metadata: {annotations: {cyan.movedFrom: a}}, spec: {path: one.txt, content: one}}
",
    );
    for command in [&["validate"][..], &["deploy", "--yes"]] {
        let err = refusal(&place, command);
        assert!(err.contains("former addresses form a circle"), "{err}");
    }
}
