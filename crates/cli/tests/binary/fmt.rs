//! Tests of `cyan fmt`: output, unchanged files, exit codes.

use std::io::Write as _;
use std::process::Stdio;

use crate::place::{Place, ran};

const MESSY: &str = "# top\nversion:   2023-04-20\n\n\nresources: # all\n    a: { type: test/data,spec: {input: ${ trim( \" x\" )}}}\n";
const NEAT: &str = "# top\nversion: 2023-04-20\n\nresources:  # all\n  a: {type: test/data, spec: {input: \"x\"}}\n";

#[test]
fn files_are_rewritten_once_and_named() {
    let messy = MESSY.replace("${ trim( \" x\" )}", "'x'");
    let place = Place::with("blueprint.yaml", &messy);
    let checked = place.ends(3, &["fmt", "--check"]);
    assert_eq!(
        (checked.out.as_str(), place.read("blueprint.yaml") == messy),
        ("blueprint.yaml\n", true)
    );
    assert_eq!(place.ends(0, &["fmt"]).out, "blueprint.yaml\n");
    assert_eq!(place.read("blueprint.yaml"), NEAT);
    assert_eq!(place.ends(0, &["fmt"]).out, "");
    assert_eq!(place.ends(0, &["fmt", "--check"]).out, "");
}

#[test]
fn broken_document_is_unchanged_and_others_are_formatted() {
    let place = Place::with("blueprint.yaml", "a: [1\n");
    place.write("other.jsonc", "{\"a\":1 /* one */}");
    let said = place.ends(1, &["fmt", "blueprint.yaml", "other.jsonc", "missing.yaml"]);
    assert!(
        said.err.contains("error[invalid-syntax]")
            && said.err.contains("`missing.yaml` cannot be read"),
        "{}",
        said.err
    );
    assert_eq!(said.out, "other.jsonc\n");
    assert_eq!(place.read("blueprint.yaml"), "a: [1\n");
    assert_eq!(place.read("other.jsonc"), "{\n  \"a\": 1 /* one */\n}\n");
    // A document with mistakes of its dialect is formatted nevertheless.
    place.write("blueprint.yaml", "bogus:   1\nbogus: 2\n");
    place.ends(0, &["fmt"]);
    assert_eq!(place.read("blueprint.yaml"), "bogus: 1\nbogus: 2\n");
}

#[test]
fn standard_input_goes_to_stdout() {
    let place = Place::new();
    let piped = |arguments: &[&str], text: &str| {
        let mut child = place
            .cyan(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        ran(child.wait_with_output().unwrap())
    };
    let formatted = piped(&["fmt", "-"], "a:   1\n");
    assert_eq!((formatted.code, formatted.out.as_str()), (0, "a: 1\n"));
    assert_eq!(piped(&["fmt", "-"], "{\"a\":1}").out, "{ \"a\": 1 }\n");
    assert_eq!(piped(&["fmt", "--check", "-"], "a:   1\n").code, 3);
    let json: serde_json::Value =
        serde_json::from_str(&piped(&["fmt", "--json", "-"], "a:   1\n").out).unwrap();
    assert_eq!(
        json["result"]["files"][0],
        serde_json::json!({"file": "stdin", "changes": true, "text": "a: 1\n"})
    );
    let odd = piped(&["fmt", "-"], "&a b: c\n");
    assert!(
        odd.code == 0 && odd.out == "&a b: c\n" && odd.err.contains("stays as it is"),
        "{odd:?}"
    );
}

#[test]
fn all_documents_of_a_folder_are_formatted() {
    let messy = &MESSY.replace("${ trim( \" x\" )}", "'x'");
    let place = Place::with("one.blueprint.yaml", messy);
    let object = "apiVersion:   v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    place.write("below/two.blueprint.yaml", messy);
    place.write("k8s/a.yaml", object);
    place.write("k8s/b.yaml", object);
    place.write("data.yaml", "a:   1\n");
    place.write(".hidden/three.blueprint.yaml", messy);
    let named = "./below/two.blueprint.yaml\n./k8s/a.yaml\n./k8s/b.yaml\n./one.blueprint.yaml\n";
    assert_eq!(place.ends(3, &["fmt", "--check", "."]).out, named);
    assert_eq!(place.ends(0, &["fmt", "."]).out, named);
    assert_eq!(place.ends(0, &["fmt", "--check", "."]).out, "");
    assert_eq!(place.read("data.yaml"), "a:   1\n", "data is no document");
    assert_eq!(place.read(".hidden/three.blueprint.yaml"), *messy);
    std::fs::create_dir(place.path().join("empty")).unwrap();
    let nothing = place.ends(1, &["fmt", "empty"]);
    assert!(nothing.err.contains("has no documents"), "{}", nothing.err);
}

#[test]
fn lines_that_would_change_are_printed() {
    let place = Place::with("blueprint.yaml", "version:   2023-04-20\nvalues: {}\n");
    let diff =
        "blueprint.yaml\n  - version:   2023-04-20\n  + version: 2023-04-20\n    values: {}\n\n";
    assert_eq!(place.ends(0, &["fmt", "--diff"]).out, diff);
    assert_eq!(place.ends(3, &["fmt", "--diff", "--check"]).out, diff);
    assert_eq!(
        place.read("blueprint.yaml"),
        "version:   2023-04-20\nvalues: {}\n"
    );
    place.ends(0, &["fmt"]);
    assert_eq!(place.ends(0, &["fmt", "--diff"]).out, "");
}
