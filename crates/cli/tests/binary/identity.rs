//! Tests of the instance of a document: a document or its folder may be renamed, and one document
//! may have several instances.

use crate::place::Place;

const SHOP: &str = "version: 2023-04-20\nresources:\n  sign: {type: local/file, spec: {path: sign.txt, content: Open}}\nexports:\n  size: {type: integer, field: resources.sign.spec.size}\n";

fn rename(place: &Place, from: &str, to: &str) {
    std::fs::rename(place.path().join(from), place.path().join(to)).unwrap();
}

/// The names of all instances, with their documents.
fn instances(place: &Place) -> Vec<(String, String)> {
    let listed: serde_json::Value =
        serde_json::from_str(&place.ends(0, &["list", "--json"]).out).unwrap();
    let text = |info: &serde_json::Value, key: &str| info[key].as_str().unwrap().to_owned();
    listed["result"]["instances"]
        .as_array()
        .unwrap()
        .iter()
        .map(|info| (text(info, "name"), text(info, "document")))
        .collect()
}

#[test]
fn a_renamed_document_makes_no_second_instance() {
    let place = Place::with("shop.blueprint.yaml", SHOP);
    place.ends(0, &["deploy", "-y"]);
    rename(&place, "shop.blueprint.yaml", "store.blueprint.yaml");
    for command in [
        &["stage"][..],
        &["deploy", "-y"],
        &["deploy"],
        &["destroy", "-y"],
        &["drift", "--accept"],
        &["rollback", "1"],
    ] {
        let refused = place.ends(2, command);
        assert!(
            refused.err.contains("error[document-moved]"),
            "{command:?}: {}",
            refused.err
        );
        assert!(
            refused.err.contains("say `-i shop` to go on with it"),
            "{command:?}: {}",
            refused.err
        );
        assert!(
            refused.err.contains("say `-i store` for a new instance"),
            "{command:?}: {}",
            refused.err
        );
    }
    assert!(place.has("sign.txt"));
    // Read-only commands use the only instance.
    assert_eq!(place.ends(0, &["exports", "size"]).out, "4\n");
    for command in ["show", "history", "drift"] {
        place.ends(0, &[command]);
    }
    // With `-i`, the document continues the old instance and owns it afterwards, although nothing
    // else changes.
    let staged = place.ends(0, &["stage", "-i", "shop"]);
    assert_eq!(staged.last_line(), "0 to create, 0 to update, 0 to delete");
    place.ends(0, &["deploy", "-y", "-i", "shop"]);
    assert_eq!(
        instances(&place),
        [("shop".to_owned(), "store.blueprint.yaml".to_owned())]
    );
    let again = place.ends(0, &["deploy", "-y"]);
    assert_eq!(again.last_line(), "0 created, 0 updated, 0 deleted");
    assert!(
        again.err.contains("belongs to the instance `shop`"),
        "{}",
        again.err
    );
    for command in [
        &["stage"][..],
        &["show"],
        &["drift", "store.blueprint.yaml"],
        &["reconcile"],
    ] {
        place.ends(0, command);
    }
    assert_eq!(
        place.ends(0, &["destroy", "-y"]).last_line(),
        "0 created, 0 updated, 1 deleted"
    );
}

#[test]
fn new_name_makes_a_new_instance_if_requested() {
    let place = Place::with("shop.blueprint.yaml", SHOP);
    place.ends(0, &["deploy", "-y"]);
    std::fs::remove_file(place.path().join("shop.blueprint.yaml")).unwrap();
    place.write(
        "store.blueprint.yaml",
        SHOP.replace("sign.txt", "other.txt"),
    );
    place.ends(2, &["deploy", "-y"]);
    place.ends(0, &["deploy", "-y", "-i", "store"]);
    assert_eq!(
        place.ends(0, &["stage"]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
    assert_eq!(instances(&place).len(), 2);
    assert!(place.has("sign.txt") && place.has("other.txt"));
    // Both documents are gone, so either instance may belong to the new document.
    rename(&place, "store.blueprint.yaml", "third.blueprint.yaml");
    let refused = place.ends(2, &["deploy", "-y"]);
    for name in ["-i shop", "-i store", "-i third"] {
        assert!(refused.err.contains(name), "{}", refused.err);
    }
    // An instance without resources belongs to no document.
    place.ends(0, &["destroy", "-y", "-i", "shop"]);
    place.ends(0, &["destroy", "-y", "-i", "store"]);
    assert_eq!(
        place.ends(0, &["deploy", "-y"]).last_line(),
        "1 created, 0 updated, 0 deleted"
    );
    assert_eq!(
        instances(&place),
        [("third".to_owned(), "third.blueprint.yaml".to_owned())]
    );
}

#[test]
fn a_renamed_folder_keeps_its_instance() {
    let place = Place::with("site/blueprint.yaml", SHOP);
    let inside =
        |folder: &str, command: &[&str]| place.ends(0, &[&["-C", folder], command].concat());
    inside("site", &["deploy", "-y"]);
    rename(&place, "site", "home");
    assert_eq!(
        inside("home", &["stage"]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
    assert!(inside("home", &["list"]).out.contains("site "));
    assert_eq!(inside("home", &["exports", "size"]).out, "4\n");
    assert_eq!(
        inside("home", &["deploy", "-y"]).last_line(),
        "0 created, 0 updated, 0 deleted"
    );
    assert_eq!(
        inside("home", &["destroy", "-y"]).last_line(),
        "0 created, 0 updated, 1 deleted"
    );
}

#[test]
fn a_document_that_moved_to_another_folder_is_distinguished_from_a_second_one() {
    let place = Place::with("old/shop.blueprint.yaml", SHOP);
    let state = ["--state", "sqlite:state.db"];
    let run = |code: i32, command: &[&str]| place.ends(code, &[command, &state].concat());
    run(0, &["deploy", "-y", "old/shop.blueprint.yaml"]);
    place.write("new/shop.blueprint.yaml", SHOP);
    let taken = run(1, &["deploy", "-y", "new/shop.blueprint.yaml"]);
    assert!(
        taken.err.contains("error[instance-document-differs]"),
        "{}",
        taken.err
    );
    std::fs::remove_file(place.path().join("old/shop.blueprint.yaml")).unwrap();
    let moved = run(2, &["deploy", "-y", "new/shop.blueprint.yaml"]);
    assert!(
        moved.err.contains("error[document-moved]") && moved.err.contains("-i shop"),
        "{}",
        moved.err
    );
}

#[test]
fn a_document_may_state_the_name_of_its_instance() {
    let stated = SHOP.replacen(
        "resources:",
        "metadata: {cyan: {instance: market}, team: web}\nresources:",
        1,
    );
    let place = Place::with("shop.blueprint.yaml", &stated);
    place.ends(0, &["deploy", "-y"]);
    assert_eq!(
        instances(&place),
        [("market".to_owned(), "shop.blueprint.yaml".to_owned())]
    );
    rename(&place, "shop.blueprint.yaml", "store.blueprint.yaml");
    assert_eq!(
        place.ends(0, &["stage"]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
    place.ends(0, &["show", "sign"]);
    place.ends(0, &["deploy", "-y"]);
    assert_eq!(
        instances(&place),
        [("market".to_owned(), "store.blueprint.yaml".to_owned())]
    );
    // The annotation is a hint for this tool and no data of the document.
    let shown = place.ends(0, &["show", "--json"]).out;
    assert!(
        shown.contains("\"team\":\"web\"") && !shown.contains("\"cyan\""),
        "{shown}"
    );
    // A copy of the document would take over the instance.
    place.write("copy.blueprint.yaml", &stated);
    let refused = place.ends(1, &["deploy", "-y", "copy.blueprint.yaml"]);
    assert!(
        refused.err.contains("error[instance-document-differs]"),
        "{}",
        refused.err
    );
    // The flag overrides the annotation. The conflict that remains is the file that both instances
    // would manage.
    let refused = place.ends(1, &["stage", "copy.blueprint.yaml", "-i", "copy"]);
    assert!(
        refused.err.contains("error[claimed-twice]"),
        "{}",
        refused.err
    );
    place.ends(0, &["destroy", "-y", "store.blueprint.yaml"]);
}

#[test]
fn one_document_may_have_many_instances() {
    let place = Place::with(
        "shop.blueprint.yaml",
        &SHOP
            .replacen(
                "resources:",
                "variables: {name: {type: string}}\nresources:",
                1,
            )
            .replace("sign.txt", "'${variables.name}.txt'"),
    );
    for name in ["one", "two"] {
        place.ends(
            0,
            &["deploy", "-y", "-i", name, "--var", &format!("name={name}")],
        );
    }
    for command in [
        &["stage", "--var", "name=x"][..],
        &["destroy", "-y"],
        &["show"],
    ] {
        let refused = place.ends(2, command);
        assert!(
            refused.err.contains("several instances: one, two"),
            "{command:?}: {}",
            refused.err
        );
    }
    // The instance with the document's own name is the default.
    place.ends(0, &["deploy", "-y", "-i", "shop", "--var", "name=shop"]);
    assert_eq!(
        place.ends(0, &["stage", "--var", "name=shop"]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
    assert_eq!(place.ends(0, &["exports", "-i", "two", "size"]).out, "4\n");
    place.ends(0, &["destroy", "-y", "-i", "one"]);
    place.ends(0, &["destroy", "-y", "-i", "shop"]);
    // The only remaining instance is the default.
    assert_eq!(
        place.ends(0, &["destroy", "-y"]).last_line(),
        "0 created, 0 updated, 1 deleted"
    );
}

#[test]
fn rollback_keeps_the_renamed_document() {
    let place = Place::with("shop.blueprint.yaml", SHOP);
    place.ends(0, &["deploy", "-y"]);
    // The new name says another format, so the former text is read under its former name.
    std::fs::remove_file(place.path().join("shop.blueprint.yaml")).unwrap();
    let closed = r#"{"version": "2023-04-20", "resources": {"sign": {"type": "local/file", "spec": {"path": "sign.txt", "content": "Closed"}}}}"#;
    place.write("store.blueprint.json", closed);
    place.ends(0, &["deploy", "-y", "-i", "shop"]);
    assert_eq!(place.read("sign.txt"), "Closed");
    let store = [("shop".to_owned(), "store.blueprint.json".to_owned())];
    for generation in ["1", "3"] {
        place.ends(0, &["rollback", "-y", generation]);
        assert_eq!(place.read("sign.txt"), "Open");
        assert_eq!(instances(&place), store);
        let staged = place.ends(0, &["stage"]);
        assert!(staged.out.contains("sign"), "{}", staged.out);
        place.ends(0, &["deploy", "-y"]);
        assert_eq!(place.read("sign.txt"), "Closed");
    }
    // An automatic rollback keeps the document, too.
    rename(&place, "store.blueprint.json", "third.blueprint.json");
    let broken = closed.replace(
        "}}}}",
        r#"}}, "check": {"type": "local/command", "dependsOn": "sign", "spec": {"create": "false"}}}}"#,
    );
    place.write("third.blueprint.json", broken);
    place.ends(
        4,
        &["deploy", "-y", "-i", "shop", "--on-failure", "rollback"],
    );
    assert_eq!(
        instances(&place),
        [("shop".to_owned(), "third.blueprint.json".to_owned())]
    );
    place.ends(0, &["stage"]);
}

#[test]
fn rollback_in_a_renamed_folder_restores_its_files() {
    let document = "version: 2023-04-20
resources:
  sign: {type: local/file, spec: {path: sign.txt, content: Open}}
include:
  side: {path: side.yaml, metadata: {}}
";
    let side = "version: 2023-04-20\nresources:\n  note: {type: local/file, spec: {path: note.txt, content: one}}\n";
    let place = Place::with("site/shop.blueprint.yaml", document);
    place.write("site/side.yaml", side);
    let state = format!("sqlite:{}", place.path().join("state").display());
    let inside = |folder: &str, arguments: &[&str]| {
        place.ends(0, &[&["-C", folder, "--state", &state], arguments].concat())
    };
    inside("site", &["deploy", "-y"]);
    rename(&place, "site", "place");
    place.write("place/side.yaml", side.replace("one", "two"));
    inside("place", &["deploy", "-y", "-i", "shop"]);
    inside("place", &["rollback", "-y", "1"]);
    assert!(!place.has("site"));
    assert_eq!(place.read("place/note.txt"), "one");
    inside("place", &["deploy", "-y"]);
    assert_eq!(place.read("place/note.txt"), "two");
}
