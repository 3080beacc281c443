//! Tests of `cyan console` in a pipe.

use std::io::Write as _;
use std::process::Stdio;

use crate::place::{Place, Ran, ran};

const DOCUMENT: &str = "version: 2023-04-20\nvariables:\n  size: {type: integer, default: 3}\nresources:\n  a: {type: test/data, spec: {input: \"${variables.size}\"}}\n";

fn asked(place: &Place, arguments: &[&str], lines: &str) -> Ran {
    let mut command = place.cyan(&[&["console"], arguments].concat());
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(lines.as_bytes())
        .unwrap();
    ran(child.wait_with_output().unwrap())
}

#[test]
fn each_line_is_evaluated_like_an_expression_of_the_document() {
    let place = Place::with("blueprint.yaml", DOCUMENT);
    let lines = "variables.size\n\n${variables.size} beds\nadd(variables.size,\n  list(1, 2)[1])\nresources.a.spec.id\n";
    let all = asked(&place, &[], lines);
    assert_eq!(
        (all.code, all.out.as_str(), all.err.as_str()),
        (0, "3\n3 beds\n5\n(known on deploy)\n", "")
    );
    assert_eq!(
        asked(&place, &["--var", "size=7"], "variables.size").out,
        "7\n"
    );
    place.ends(0, &["deploy", "-y"]);
    assert!(
        asked(&place, &[], "a.spec.id\n").out.starts_with("data-"),
        "what the state knows is known"
    );
    assert_eq!(
        asked(&Place::new(), &[], "to_upper(\"a\")\n").out,
        "A\n",
        "no document is needed"
    );
}

#[test]
fn a_mistake_is_shown_in_the_typed_line_and_the_next_line_is_read() {
    let place = Place::with("blueprint.yaml", DOCUMENT);
    let wrong = asked(&place, &[], "variables.sise\n:bogus\nvariables.size\n");
    assert_eq!((wrong.code, wrong.out.as_str()), (1, "3\n"));
    assert!(
        wrong.err.contains("1 | variables.sise\n  | ^^^^^^^^^^^^^^"),
        "{}",
        wrong.err
    );
    assert!(
        wrong.err.contains("did you mean `size`?")
            && wrong.err.contains("there is no `:bogus` here"),
        "{}",
        wrong.err
    );
    let broken = asked(&place, &[], "trim(\"a\"\n");
    assert!(
        broken.code == 1 && broken.err.contains("error[unexpected-token]"),
        "{}",
        broken.err
    );
}

#[test]
fn console_lists_known_names() {
    let place = Place::with("blueprint.yaml", DOCUMENT);
    let help = asked(&place, &[], ":help\n:names\n:quit\nvariables.size\n");
    assert!(help.code == 0 && help.out.is_empty(), "{help:?}");
    assert!(
        help.err.contains(":names   what can be read")
            && help.err.contains("variables: size\nresources: a\n")
    );
    let json: serde_json::Value =
        serde_json::from_str(&asked(&place, &["--json"], "variables.size\na.spec.id\n").out)
            .unwrap();
    assert_eq!(
        json["result"]["values"][0],
        serde_json::json!({"expression": "variables.size", "value": 3, "known": true})
    );
    assert_eq!(json["result"]["values"][1]["known"], false);
    assert_eq!(asked(&place, &["-"], "version: 2023-04-20\n").code, 2);
}
