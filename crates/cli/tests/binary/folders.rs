//! Tests of `cyan validate` with folders.

use serde_json::{Value as Json, json};

use crate::place::Place;

const VALID: &str = "heat_template_version: 2018-08-31\nresources: {r: {type: OS::Heat::Value, properties: {value: 1}}}\n";
const WRONG: &str = "heat_template_version: 2018-08-31\nresources: {r: {type: OS::Heat::None, propertiez: {value: 1}}, s: {type: Nope}}\n";
const NATIVE: &str =
    "version: 2023-04-20\nresources: {a: {type: local/file, spec: {path: x, content: y}}}\n";

fn place() -> Place {
    let place = Place::new();
    place.write("all/a.yaml", VALID);
    place.write("all/b/c.template", VALID);
    place.write("all/b/wrong.yaml", WRONG);
    place.write(
        "all/b/broken.yaml",
        "heat_template_version: 2018-08-31\nresources: {r: [}\n",
    );
    place.write("all/n.yml", NATIVE);
    place.write("all/bytes.blueprint.yaml", b"\xff\xfe");
    // Files that are no documents.
    place.write(
        "all/env.yaml",
        "parameters: {a: 1}\nresource_registry: {}\n",
    );
    place.write("all/vars.yaml", "owner: Ada\nversion: 3\n");
    place.write("all/data.json", "{\"resources\": {}}");
    place.write("all/notes.md", "heat_template_version: 2018-08-31\n");
    place.write("all/.git/d.yaml", WRONG);
    place.write("all/.hidden.yaml", WRONG);
    place
}

#[test]
fn every_document_of_a_folder_is_checked_and_summed_up() {
    let place = place();
    let ran = place.ends(1, &["validate", "all"]);
    for valid in ["all/a.yaml", "all/b/c.template", "all/n.yml"] {
        assert!(
            ran.out
                .contains(&format!("`{valid}` is valid: 1 resource\n")),
            "{}",
            ran.out
        );
    }
    let (_, summary) = ran.out.split_once("\n\n").unwrap();
    assert_eq!(
        summary,
        "6 documents: 3 valid, 3 not valid\n  \
         all/b/broken.yaml: 1 error (invalid-syntax)\n  \
         all/b/wrong.yaml: 2 errors (unknown-key, unknown-resource-type)\n  \
         all/bytes.blueprint.yaml: 1 error (is no UTF-8 text: byte 1 cannot be read)\n"
    );
    for other in [
        "env.yaml",
        "vars.yaml",
        "data.json",
        "notes.md",
        ".git",
        ".hidden",
    ] {
        assert!(
            !ran.out.contains(other) && !ran.err.contains(other),
            "{other}: {}{}",
            ran.out,
            ran.err
        );
    }
    assert!(
        ran.err.contains("`all/b/wrong.yaml` has 2 errors"),
        "{}",
        ran.err
    );
    for wrong in ["b/wrong.yaml", "b/broken.yaml", "bytes.blueprint.yaml"] {
        std::fs::remove_file(place.path().join("all").join(wrong)).unwrap();
    }
    let ran = place.ends(0, &["validate", "all"]);
    assert!(
        ran.out.ends_with("\n\n3 documents: 3 valid, 0 not valid\n"),
        "{}",
        ran.out
    );
    assert_eq!(ran.err, "");
}

#[test]
fn the_summary_of_a_folder_is_data_too() {
    let place = place();
    let value: Json =
        serde_json::from_str(&place.ends(1, &["validate", "all", "--json"]).out).unwrap();
    assert_eq!(
        value["result"]["summary"],
        json!({"documents": 6, "valid": 3, "invalid": 3})
    );
    let documents = value["result"]["documents"].as_array().unwrap();
    let of = |file: &str| documents.iter().find(|one| one["file"] == file).unwrap();
    assert_eq!(of("all/a.yaml")["errors"], 0);
    assert_eq!(
        of("all/b/wrong.yaml")["why"],
        json!(["unknown-key", "unknown-resource-type"])
    );
    assert_eq!(of("all/bytes.blueprint.yaml")["valid"], false);
    let files: Vec<&str> = documents
        .iter()
        .map(|one| one["file"].as_str().unwrap())
        .collect();
    assert!(files.is_sorted(), "{files:?}");
}

#[test]
fn inputs_apply_to_the_documents_that_declare_them() {
    let place = Place::new();
    place.write("all/a.yaml", VALID);
    place.write(
        "all/b.yaml",
        "heat_template_version: 2018-08-31\nparameters: {count: {type: number}}\nresources: {r: {type: My::Own}}\n",
    );
    place.write(
        "env.yaml",
        "parameters: {count: many}\nresource_registry: {My::Own: OS::Heat::None}\n",
    );
    let ran = place.ends(1, &["validate", "all", "-e", "env.yaml"]);
    assert!(ran.out.contains("`all/a.yaml` is valid"), "{}", ran.out);
    assert!(
        ran.out.contains(
            "2 documents: 1 valid, 1 not valid\n  all/b.yaml: 1 error (unparsable-value)"
        ),
        "{}",
        ran.out
    );
    let ran = place.ends(
        0,
        &["validate", "all", "-e", "env.yaml", "--var", "count=3"],
    );
    assert!(ran.out.contains("2 documents: 2 valid"), "{}", ran.out);
}

#[test]
fn the_configuration_of_the_folder_counts_below_it() {
    let place = Place::new();
    place.write("all/b/c/a.yaml", VALID);
    place.write("all/b/c/cyan.toml", "strict = true\n");
    place.write("all/b/d/a.yaml", VALID);
    place.write("all/cyan.toml", "[dialects.hot]\ndocument-bytes = 10\n");
    // A configuration above the named folder is ignored.
    place.write("cyan.toml", "nonsense = 1\n");
    let ran = place.ends(0, &["validate", "all"]);
    assert!(
        ran.out.contains("`all/b/c/a.yaml` is valid: 1 resource\n"),
        "{}",
        ran.out
    );
    assert!(
        ran.out
            .contains("`all/b/d/a.yaml` is valid: 1 resource (1 warning)\n"),
        "{}",
        ran.out
    );
}

#[test]
fn a_folder_without_documents_is_refused() {
    let place = Place::new();
    place.write("all/env.yaml", "parameters: {}\n");
    assert!(
        place
            .ends(1, &["validate", "all"])
            .err
            .contains("there is no document in `all`")
    );
}
