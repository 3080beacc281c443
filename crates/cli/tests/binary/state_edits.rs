//! Tests of plans with targets and of state edits, from the command line.

use crate::place::{Place, ran};

const SHOP: &str = "version: 2023-04-20\nresources:\n  a: { type: local/file, spec: { path: a.txt, content: one } }\n  b: { type: local/file, spec: { path: b.txt, content: \"${a.spec.sha256}\" } }\n  c: { type: local/file, spec: { path: c.txt, content: \"${uuid()}\" } }\n";

#[test]
fn a_target_changes_with_what_it_depends_on() {
    let place = Place::with("blueprint.yaml", SHOP);
    assert!(
        place
            .ends(1, &["stage", "--target", "nope"])
            .err
            .contains("error[unknown-address]")
    );
    let deployed = place.ends(0, &["deploy", "-y", "--target", "b"]);
    assert_eq!(deployed.last_line(), "2 created, 0 updated, 0 deleted");
    assert!(
        deployed.out.contains("out of target: 1"),
        "{}",
        deployed.out
    );
    assert!(!place.has("c.txt"));
    place.ends(0, &["deploy", "-y"]);
    assert_eq!(
        place.ends(0, &["stage", "--renew", "c"]).last_line(),
        "0 to create, 1 to update, 0 to delete"
    );
    assert!(
        place
            .ends(0, &["stage", "--replace", "c"])
            .last_line()
            .contains("1 to replace")
    );
    place.ends(2, &["stage", "--target", "b["]);
}

#[test]
fn drift_is_refused_or_accepted() {
    let place = Place::with("blueprint.yaml", SHOP);
    place.ends(0, &["deploy", "-y"]);
    place.write("a.txt", "two");
    assert!(
        place
            .ends(1, &["stage", "--drift", "refuse"])
            .err
            .contains("error[drift-refused]")
    );
    assert_eq!(
        place.ends(0, &["stage", "--drift", "ignore"]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
    place.ends(2, &["drift", "--accept"]);
    place.ends(0, &["drift", "--accept", "-y"]);
    assert_eq!(
        place.ends(0, &["drift"]).last_line(),
        "0 drifted, 0 vanished"
    );
    assert!(place.ends(0, &["stage"]).out.contains("changed"));
}

#[test]
fn state_is_moved_removed_imported_and_exported() {
    let place = Place::with("blueprint.yaml", SHOP);
    place.ends(0, &["deploy", "-y"]);
    place.ends(2, &["state", "move", "a", "z"]);
    assert!(
        place
            .ends(1, &["state", "move", "q", "z", "-y"])
            .err
            .contains("error[unknown-address]")
    );
    assert!(
        place
            .ends(1, &["state", "move", "a", "b", "-y"])
            .err
            .contains("error[move-conflict]")
    );
    place.ends(0, &["state", "move", "a", "z", "-y"]);
    place.ends(0, &["state", "move", "z", "a", "-y"]);
    assert_eq!(
        place.ends(0, &["stage"]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
    place.ends(0, &["state", "export", "kept.json"]);
    place.ends(0, &["state", "remove", "c", "-y"]);
    assert!(place.has("c.txt"), "it stays in the world");
    let id = place.path().join("c.txt").display().to_string();
    assert!(
        place
            .ends(1, &["import", "local/file", "/nowhere/x", "c", "-y"])
            .err
            .contains("error[import-failed]")
    );
    place.ends(0, &["import", "local/file", &id, "c", "-y"]);
    assert_eq!(
        place.ends(0, &["stage"]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
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
    // There is no state yet. Only the key file is created.
    assert_eq!(
        place.ends(0, &["state", "rekey", "first.key", "-y"]).out,
        "0 entries are sealed with the key in first.key now\n"
    );
    assert!(!place.has(".cyan"));
    place.ends(0, &["deploy", "--yes"]);
    let rekeyed = place.ends(0, &["state", "rekey", "second.key", "-y"]);
    assert!(
        rekeyed
            .out
            .ends_with("sealed with the key in second.key now\n")
            && !rekeyed.out.starts_with("0 "),
        "{}",
        rekeyed.out
    );
    assert!(
        rekeyed.err.contains("CYAN_KEY_FILE=second.key"),
        "{}",
        rekeyed.err
    );
    assert!(
        place
            .ends(1, &["show"])
            .err
            .contains("cannot be opened with this key")
    );
    assert!(
        place
            .ends(1, &["state", "rekey", "third.key", "-y"])
            .err
            .contains("cannot be opened with this key")
    );
    let shown = ran(place
        .cyan(&["show"])
        .env("CYAN_KEY_FILE", "second.key")
        .output()
        .unwrap());
    assert!(
        shown.out.contains("create ready"),
        "{}{}",
        shown.out,
        shown.err
    );
    place.write("bad.key", "no key");
    place.ends(1, &["state", "rekey", "bad.key"]);
    place.ends(2, &["state", "rekey"]);
}

#[test]
fn only_a_declared_address_can_be_imported() {
    let place = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nresources:\n  page: {type: local/file, spec: {path: page.txt, content: x}}\n  pages:\n    type: local/file\n    each: ${list(1, 2)}\n    spec: {path: \"${elem}.txt\", content: x}\n",
    );
    place.write("mine.txt", "x");
    let import = |type_name: &str, address: &str| {
        let ran = place.ends(1, &["import", type_name, "mine.txt", address, "-y"]);
        assert!(ran.err.contains("error[unknown-address]"), "{}", ran.err);
        ran.err
    };
    assert!(import("local/file", "pge").contains("did you mean `page`?"));
    assert!(import("local/file", "other").contains("write the resource first"));
    assert!(import("local/file", "page[0]").contains("leave the key away"));
    assert!(import("local/file", "pages").contains("`pages[0]`"));
    assert!(import("local/file", "child/page").contains("does not declare"));
    assert!(import("local/directory", "page").contains("is declared as `local/file`"));
    assert!(import("local/file", "pages[2]").contains("there is no `pages[2]`"));
    assert!(!place.has(".cyan"), "nothing was recorded");
    place.write("page.txt", "x");
    place.ends(0, &["import", "local/file", "page.txt", "page", "-y"]);
    place.write("2.txt", "x");
    place.ends(0, &["import", "local/file", "2.txt", "pages[1]", "-y"]);
    let elsewhere = Place::new();
    elsewhere.write("mine.txt", "x");
    let ran = elsewhere.ends(
        1,
        &["import", "local/file", "mine.txt", "page", "-y", "-i", "x"],
    );
    assert!(
        ran.err
            .contains("there is no document that declares `page`"),
        "{}",
        ran.err
    );
}

#[test]
fn address_with_a_false_condition_cannot_be_imported() {
    let place = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20
variables: {on: {type: boolean, default: false}}
resources:
  page: {type: local/file, condition: \"${variables.on}\", spec: {path: page.txt, content: x}}
  pages:
    type: local/file
    each: ${list(1, 2)}
    condition: \"${eq(elem, 1)}\"
    spec: {path: \"${elem}.txt\", content: x}
",
    );
    for name in ["page.txt", "1.txt", "2.txt"] {
        place.write(name, "x");
    }
    for (file, address) in [("page.txt", "page"), ("2.txt", "pages[1]")] {
        let ran = place.ends(1, &["import", "local/file", file, address, "-y"]);
        let says =
            format!("error[import-failed]: `{address}` cannot be imported: its condition is false");
        assert!(
            ran.err.contains(&says) && ran.err.contains("condition: "),
            "{}",
            ran.err
        );
    }
    assert!(!place.has(".cyan"), "nothing was recorded");
    place.ends(0, &["import", "local/file", "1.txt", "pages[0]", "-y"]);
    place.write(
        "blueprint.yaml",
        "version: 2023-04-20
variables: {on: {type: boolean, default: true}}
resources:
  page: {type: local/file, condition: \"${variables.on}\", spec: {path: page.txt, content: x}}
",
    );
    place.ends(0, &["import", "local/file", "page.txt", "page", "-y"]);
}

/// Different paths of the same file name the same object.
#[cfg(unix)]
#[test]
fn one_file_cannot_be_imported_twice() {
    let text = "version: 2023-04-20\nresources:\n  a: {type: local/file, spec: {path: real/f, content: x}}\n  b: {type: local/file, spec: {path: other, content: x}}\n";
    let place = Place::with("blueprint.yaml", text);
    place.write("real/f", "x");
    std::os::unix::fs::symlink("real", place.path().join("linked")).unwrap();
    place.ends(0, &["import", "local/file", "real/f", "a", "-y"]);
    let whole = place.path().join("real/f").display().to_string();
    for id in ["real/f", "./real/f", "real/../real/f", "linked/f", &whole] {
        let ran = place.ends(1, &["import", "local/file", id, "b", "-y"]);
        assert!(
            ran.err.contains("is managed already, as `a`"),
            "{id}: {}",
            ran.err
        );
    }
    // An import by an annotation in the document is refused too.
    place.write(
        "blueprint.yaml",
        text.replace(
            "b: {type: local/file,",
            "b: {type: local/file, metadata: {annotations: {cyan.import: linked/f}},",
        ),
    );
    let ran = place.ends(1, &["stage"]);
    assert!(
        ran.err.contains("is managed already, as `a`"),
        "{}",
        ran.err
    );
}

#[test]
fn two_instances_cannot_manage_one_object() {
    let text = "version: 2023-04-20\nresources:\n  a: {type: local/file, spec: {path: out/a.txt, content: one}}\n";
    let place = Place::with("one.blueprint.yaml", text);
    place.ends(0, &["deploy", "-y", "one.blueprint.yaml"]);
    // Another document manages the same file.
    place.write("two.blueprint.yaml", text.replace("one", "two"));
    for words in [
        &["stage", "two.blueprint.yaml"][..],
        &["deploy", "-y", "two.blueprint.yaml"],
    ] {
        let ran = place.ends(1, words);
        assert!(ran.err.contains("error[claimed-twice]"), "{}", ran.err);
        assert!(
            ran.err.contains("`a` of `two`") && ran.err.contains("`a` of `one`"),
            "{}",
            ran.err
        );
        assert!(ran.err.contains("--instance one"), "{}", ran.err);
    }
    assert_eq!(place.read("out/a.txt"), "one");
    let ran = place.ends(
        1,
        &[
            "import",
            "local/file",
            "out/../out/a.txt",
            "a",
            "-y",
            "-i",
            "two",
            "-C",
            ".",
        ],
    );
    assert!(
        ran.err.contains("claimed-twice") || ran.err.contains("unknown-address"),
        "{}",
        ran.err
    );
    // After one instance has removed the file from its state, the other one can manage it.
    place.ends(0, &["state", "remove", "a", "-y", "-i", "one"]);
    std::fs::remove_file(place.path().join("out/a.txt")).unwrap();
    place.ends(0, &["deploy", "-y", "two.blueprint.yaml"]);
    assert_eq!(place.read("out/a.txt"), "two");
}

/// A destroy of a state that was imported under another name must not delete resources of the first
/// instance.
#[test]
fn a_copy_of_an_instance_deletes_nothing_of_it() {
    let place = Place::with("blueprint.yaml", SHOP);
    place.ends(0, &["deploy", "-y", "-i", "one"]);
    place.ends(0, &["state", "export", "kept.json", "-i", "one"]);
    place.ends(0, &["state", "import", "kept.json", "-y", "-i", "copy"]);
    let ran = place.ends(1, &["destroy", "-y", "-i", "copy"]);
    assert_eq!(
        ran.err.matches("error[claimed-twice]").count(),
        3,
        "{}",
        ran.err
    );
    assert!(place.has("a.txt"));
    place.ends(0, &["state", "remove", "a", "b", "c", "-y", "-i", "one"]);
    assert_eq!(
        place.ends(0, &["destroy", "-y", "-i", "copy"]).last_line(),
        "0 created, 0 updated, 3 deleted"
    );
    assert!(!place.has("a.txt"));
}

#[test]
fn two_resources_cannot_manage_one_object() {
    let two = |a: &str, b: &str| {
        format!(
            "version: 2023-04-20\nresources:\n  {a}: {{type: local/file, spec: {{path: x.txt, content: x}}}}\n  {b}: {{type: local/file, spec: {{path: y.txt, content: y}}}}\n"
        )
    };
    let place = Place::with("blueprint.yaml", &two("a", "b").replace("y.txt", "./x.txt"));
    assert!(
        place
            .ends(1, &["stage"])
            .err
            .contains("`a` and `b` would both manage"),
        "one path, written in two ways"
    );
    place.write("blueprint.yaml", two("a", "b"));
    place.ends(0, &["deploy", "-y"]);
    // A renamed resource would be created at the path at which the old one is deleted.
    place.write("blueprint.yaml", two("a", "c"));
    let ran = place.ends(1, &["stage"]);
    assert!(
        ran.err.contains("error[claimed-twice]") && ran.err.contains("cyan state move 'b' 'c'"),
        "{}",
        ran.err
    );
    place.ends(0, &["state", "move", "b", "c", "-y"]);
    assert_eq!(
        place.ends(0, &["stage"]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
}

#[test]
fn object_that_differs_in_its_identity_is_not_imported() {
    let place = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nresources:\n  page: {type: local/file, spec: {path: page.txt, content: x}}\n",
    );
    place.write("mine.txt", "x");
    let import = || {
        let ran = place.ends(1, &["import", "local/file", "mine.txt", "page", "-y"]);
        assert!(
            ran.err.contains("declared as another object"),
            "{}",
            ran.err
        );
        ran.err
    };
    assert!(import().contains("`spec.path` differs"));
    // The plan is refused, because a file is where the replacement would be.
    place.write("page.txt", "y");
    import();
    assert_eq!(place.read("mine.txt"), "x");
    // Other differences are changed in place.
    place.ends(0, &["import", "local/file", "page.txt", "page", "-y"]);
    assert_eq!(
        place.ends(0, &["stage"]).last_line(),
        "0 to create, 1 to update, 0 to delete"
    );
}

#[test]
fn new_key_for_the_state_is_confirmed() {
    let place = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nresources:\n  word: {type: random/password, spec: {length: 20}}\n",
    );
    place.ends(0, &["key", "new"]);
    place.ends(0, &["deploy", "--yes"]);
    let refused = place.ends(2, &["state", "rekey", "typo.key"]);
    assert!(
        refused.err.contains("there is no key in `typo.key`"),
        "{}",
        refused.err
    );
    assert!(!place.has("typo.key"));
    place.ends(0, &["show"]);
}

#[test]
fn help_for_a_truncated_state_names_commands_that_work() {
    let place = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nresources:\n  a: {type: local/file, spec: {path: a.txt, content: x}}\n",
    );
    place.ends(0, &["deploy", "--yes"]);
    place.ends(0, &["state", "export", "kept.json"]);
    let state = place.path().join(".cyan/state.db");
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(&state)
        .unwrap();
    file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    let refused = place.ends(1, &["show"]);
    assert!(
        refused.err.contains("is cut off") && !refused.err.contains("state verify"),
        "{}",
        refused.err
    );
    assert!(
        refused.err.contains("move the file away"),
        "{}",
        refused.err
    );
    std::fs::rename(&state, place.path().join("away")).unwrap();
    place.ends(0, &["state", "import", "kept.json", "-y"]);
    assert_eq!(
        place.ends(0, &["stage"]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
}
