//! Tests of rollbacks to an earlier generation, after a failure or on request.

use crate::place::Place;

const SHOP: &str = "version: 2023-04-20
variables:
  text: {type: string, default: one}
  word: {type: string, secret: true, default: sesame}
datasources:
  list:
    type: local/file
    metadata: {displayName: What is sold}
    filter: {field: path, operator: '=', search: list.txt}
    exports: {content: {type: string}}
resources:
  page: {type: local/file, spec: {path: page.txt, content: '${variables.text} ${datasources.list.content}'}}
  check:
    type: local/command
    dependsOn: page
    spec: {create: test -f fine, delete: 'true', triggers: {text: '${variables.text}'}}
include:
  side: {path: side.yaml, variables: {text: '${variables.text}'}, metadata: {}}
";

const SIDE: &str = "version: 2023-04-20
variables:
  text: {type: string}
resources:
  note: {type: local/file, spec: {path: note.txt, content: 'side ${variables.text}'}}
";

#[test]
fn failed_deploy_is_rolled_back_and_reported() {
    let place = Place::with("shop.blueprint.yaml", SHOP);
    place.write("side.yaml", SIDE);
    place.ends(0, &["key", "new"]);
    place.write("fine", "");
    place.write("list.txt", "fern");
    place.ends(0, &["deploy", "--yes"]);
    assert_eq!(
        (place.read("page.txt"), place.read("note.txt")),
        ("one fern".into(), "side one".into())
    );

    // The generation contains its documents and all data that they read. Later changes of these
    // files have no effect.
    place.write("list.txt", "moss");
    place.write("side.yaml", SIDE.replace("side $", "another side $"));
    std::fs::remove_file(place.path().join("fine")).unwrap();
    let failed = place.ends(
        4,
        &[
            "deploy",
            "--yes",
            "--on-failure",
            "rollback",
            "--var",
            "text=two",
        ],
    );
    assert!(
        failed.err.contains("rolling back to generation 1"),
        "{}",
        failed.err
    );
    assert_eq!(
        (place.read("page.txt"), place.read("note.txt")),
        ("one fern".into(), "side one".into())
    );
    // The rollback cannot run the command either.
    assert!(
        failed.err.contains("error[rollback-incomplete]") && failed.err.contains("`check`"),
        "{}",
        failed.err
    );
    assert!(failed.err.contains("(generation 1):"), "{}", failed.err);

    place.write("fine", "");
    place.write("list.txt", "fern");
    place.write("list.txt", "moss");
    let back = place.ends(0, &["rollback", "--yes"]);
    assert_eq!(back.last_line(), "1 created, 0 updated, 0 deleted");
    let history = place.ends(0, &["history", "--json"]).out;
    assert_eq!(history.matches("\"rollback\"").count(), 2, "{history}");
}

#[test]
fn rollback_returns_to_a_successful_generation() {
    let place = Place::with(
        "shop.blueprint.yaml",
        &SHOP
            .replace("include:\n", "#")
            .replace("  side:", "# side:"),
    );
    place.ends(0, &["key", "new"]);
    place.write("fine", "");
    place.write("list.txt", "fern");
    for text in ["one", "two", "three", "four", "five", "six"] {
        place.ends(0, &["deploy", "--yes", "--var", &format!("text={text}")]);
    }
    let newest = place.ends(0, &["rollback", "--yes"]);
    assert!(
        newest.err.contains("nothing came after it"),
        "{}",
        newest.err
    );
    assert_eq!(place.read("page.txt"), "six fern");
    // A command in a pipe cannot ask for confirmation.
    assert!(place.ends(2, &["rollback", "1"]).err.contains("--yes"));
    place.ends(0, &["rollback", "1", "--yes"]);
    assert_eq!(place.read("page.txt"), "one fern");
    assert!(
        place
            .ends(1, &["rollback", "77", "--yes"])
            .err
            .contains("there is no generation 77")
    );
    place.ends(1, &["rollback", "--yes", "--instance", "missing"]);

    // A new instance has no generation to return to.
    std::fs::remove_file(place.path().join("fine")).unwrap();
    let fresh = [
        "deploy",
        "--yes",
        "--instance",
        "fresh",
        "--on-failure",
        "rollback",
    ];
    place.ends(0, &["destroy", "--yes"]);
    let failed = place.ends(4, &fresh);
    assert!(
        failed
            .err
            .contains("It was rolled back: 0 created, 0 updated, 1 deleted"),
        "{}",
        failed.err
    );
    assert!(!place.has("page.txt"));
}
