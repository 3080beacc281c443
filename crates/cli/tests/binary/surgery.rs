//! Plans of a part, and changes of the state alone, from the command line.

use crate::place::{Place, ran};

const SHOP: &str = "version: 2023-04-20\nresources:\n  a: { type: local/file, spec: { path: a.txt, content: one } }\n  b: { type: local/file, spec: { path: b.txt, content: \"${a.spec.sha256}\" } }\n  c: { type: local/file, spec: { path: c.txt, content: \"${uuid()}\" } }\n";

#[test]
fn a_target_changes_with_what_it_depends_on() {
    let place = Place::with("blueprint.yaml", SHOP);
    assert!(place.ends(1, &["stage", "--target", "nope"]).err.contains("error[unknown-address]"));
    let deployed = place.ends(0, &["deploy", "-y", "--target", "b"]);
    assert_eq!(deployed.last_line(), "2 created, 0 updated, 0 deleted");
    assert!(deployed.out.contains("out of target: 1"), "{}", deployed.out);
    assert!(!place.has("c.txt"));
    place.ends(0, &["deploy", "-y"]);
    assert_eq!(place.ends(0, &["stage", "--renew", "c"]).last_line(), "0 to create, 1 to update, 0 to delete");
    assert!(place.ends(0, &["stage", "--replace", "c"]).last_line().contains("1 to replace"));
    place.ends(2, &["stage", "--target", "b["]);
}

#[test]
fn drift_is_refused_or_accepted() {
    let place = Place::with("blueprint.yaml", SHOP);
    place.ends(0, &["deploy", "-y"]);
    place.write("a.txt", "two");
    assert!(place.ends(1, &["stage", "--drift", "refuse"]).err.contains("error[drift-refused]"));
    assert_eq!(place.ends(0, &["stage", "--drift", "ignore"]).last_line(), "0 to create, 0 to update, 0 to delete");
    place.ends(2, &["drift", "--accept"]);
    place.ends(0, &["drift", "--accept", "-y"]);
    assert_eq!(place.ends(0, &["drift"]).last_line(), "0 drifted, 0 vanished");
    assert!(place.ends(0, &["stage"]).out.contains("changed"));
}

#[test]
fn the_state_is_moved_forgotten_imported_and_kept_as_text() {
    let place = Place::with("blueprint.yaml", SHOP);
    place.ends(0, &["deploy", "-y"]);
    place.ends(2, &["state", "move", "a", "z"]);
    assert!(place.ends(1, &["state", "move", "q", "z", "-y"]).err.contains("error[unknown-address]"));
    assert!(place.ends(1, &["state", "move", "a", "b", "-y"]).err.contains("error[move-conflict]"));
    place.ends(0, &["state", "move", "a", "z", "-y"]);
    place.ends(0, &["state", "move", "z", "a", "-y"]);
    assert_eq!(place.ends(0, &["stage"]).last_line(), "0 to create, 0 to update, 0 to delete");
    place.ends(0, &["state", "export", "kept.json"]);
    place.ends(0, &["state", "remove", "c", "-y"]);
    assert!(place.has("c.txt"), "it stays in the world");
    let id = place.path().join("c.txt").display().to_string();
    assert!(place.ends(1, &["import", "local/file", "/nowhere/x", "c", "-y"]).err.contains("error[import-failed]"));
    place.ends(0, &["import", "local/file", &id, "c", "-y"]);
    assert_eq!(place.ends(0, &["stage"]).last_line(), "0 to create, 0 to update, 0 to delete");
    place.ends(1, &["state", "import", "kept.json", "-y"]);
    place.ends(0, &["state", "import", "kept.json", "-i", "other", "-y"]);
    place.ends(1, &["state", "import", "blueprint.yaml", "-y"]);
    place.ends(2, &["state", "rekey"]);
}

#[test]
fn secrets_are_sealed_with_another_key() {
    let place = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nresources:\n  word: {type: random/password, spec: {length: 20}}\n",
    );
    place.ends(0, &["key", "new"]);
    // Nothing is there yet, and nothing is made but the key.
    assert_eq!(
        place.ends(0, &["state", "rekey", "first.key"]).out,
        "0 entries are sealed with the key in first.key now\n"
    );
    assert!(!place.has(".cyan"));
    place.ends(0, &["deploy", "--yes"]);
    let rekeyed = place.ends(0, &["state", "rekey", "second.key"]);
    assert!(
        rekeyed.out.ends_with("sealed with the key in second.key now\n") && !rekeyed.out.starts_with("0 "),
        "{}",
        rekeyed.out
    );
    assert!(rekeyed.err.contains("CYAN_KEY_FILE=second.key"), "{}", rekeyed.err);
    assert!(place.ends(1, &["show"]).err.contains("cannot be opened with this key"));
    assert!(place.ends(1, &["state", "rekey", "third.key"]).err.contains("cannot be opened with this key"));
    let shown = ran(place.cyan(&["show"]).env("CYAN_KEY_FILE", "second.key").output().unwrap());
    assert!(shown.out.contains("create ready"), "{}{}", shown.out, shown.err);
    place.write("bad.key", "no key");
    place.ends(1, &["state", "rekey", "bad.key"]);
    place.ends(2, &["state", "rekey"]);
}
