//! Tests of `cyan state export --as pulumi` and of the import of deployments.
//!
//! `deployments/sealed.json` has the form of `pulumi stack export`, with a component, an old object of
//! a replacement, a member of a later version, and secrets that another implementation encrypted with
//! the passphrase `correct horse`. `plain.json` is the same in clear text.

use serde_json::{Value, json};

use crate::place::{Place, Ran, ran};

const SEALED: &str = include_str!("../deployments/sealed.json");
const PLAIN: &str = include_str!("../deployments/plain.json");

fn with_passphrase(place: &Place, words: &[&str]) -> Ran {
    let mut command = place.cyan(words);
    command.env("PULUMI_CONFIG_PASSPHRASE", "correct horse");
    ran(command.output().unwrap())
}

fn exported(place: &Place, words: &[&str]) -> Value {
    let done = with_passphrase(
        place,
        &[&["state", "export", "--as", "pulumi"], words].concat(),
    );
    assert_eq!(done.code, 0, "{}", done.err);
    serde_json::from_str(&done.out).unwrap()
}

#[test]
fn a_deployment_of_pulumi_is_imported_and_exported_without_loss() {
    let place = Place::with("Pulumi.yaml", "name: lamps\nruntime: yaml\n");
    place.ends(0, &["key", "new"]);
    place.write("stack.json", SEALED);
    let said = place
        .ends(1, &["state", "import", "stack.json", "--yes"])
        .err;
    assert!(said.contains("none is given"), "{said}");
    let imported = with_passphrase(&place, &["state", "import", "stack.json", "--yes"]);
    assert_eq!(imported.code, 0, "{}", imported.err);
    let listed = place.ends(0, &["list"]).out;
    assert!(
        listed.contains("dev ") && listed.contains("Pulumi.yaml"),
        "{listed}"
    );
    let exports = place.ends(0, &["exports"]).out;
    assert!(exports.contains("pin = (secret)"), "{exports}");
    let plain: Value = serde_json::from_str(PLAIN).unwrap();
    assert_eq!(exported(&place, &["--reveal"]), plain);
    let sealed = exported(&place, &[]);
    assert!(!sealed.to_string().contains("s3cret"));
    let before: Value = serde_json::from_str(SEALED).unwrap();
    let provider = "secrets_providers";
    assert_eq!(
        sealed["deployment"][provider],
        before["deployment"][provider]
    );
    // What was exported is imported elsewhere as the same.
    let other = Place::with("Pulumi.yaml", "name: lamps\nruntime: yaml\n");
    other.ends(0, &["key", "new"]);
    other.write("again.json", sealed.to_string());
    let imported = with_passphrase(&other, &["state", "import", "again.json", "--yes"]);
    assert_eq!(imported.code, 0, "{}", imported.err);
    assert_eq!(exported(&other, &["--reveal"]), plain);
    let state = std::fs::read(place.path().join(".cyan/state.db")).unwrap();
    assert!(!String::from_utf8_lossy(&state).contains("s3cret"));
    let said = with_passphrase(&place, &["state", "import", "stack.json", "--yes"]).err;
    assert!(said.contains("has a state already"), "{said}");
}

#[test]
fn the_folder_of_a_file_store_is_imported() {
    let place = Place::with("Pulumi.yaml", "name: lamps\nruntime: yaml\n");
    place.ends(0, &["key", "new"]);
    let tree: Value = serde_json::from_str(PLAIN).unwrap();
    let deployment = &tree["deployment"];
    let file = json!({"version": 3, "checkpoint": {"stack": "dev", "latest": deployment}});
    place.write("store/.pulumi/meta.yaml", "version: 1\n");
    place.write("store/.pulumi/stacks/lamps/dev.json", file.to_string());
    place.write("store/.pulumi/stacks/lamps/dev.json.bak", "{");
    place.ends(0, &["state", "import", "store", "--yes"]);
    assert_eq!(exported(&place, &["--reveal"]), tree);
    place.write("store/.pulumi/stacks/lamps/prod.json", file.to_string());
    let said = place.ends(2, &["state", "import", "store", "--yes"]).err;
    assert!(said.contains("has several stacks"), "{said}");
    place.ends(0, &["state", "import", "store", "-i", "prod", "--yes"]);
    let said = place.ends(1, &["state", "import", "home", "--yes"]).err;
    assert!(said.contains("has no state of a stack"), "{said}");
}

#[test]
fn a_wrong_deployment_changes_nothing() {
    let place = Place::with("Pulumi.yaml", "name: lamps\nruntime: yaml\n");
    let room = "urn:pulumi:dev::lamps::home:index:Room::room\"";
    let wrong = PLAIN.replacen(
        &format!("\"urn\": \"{room}"),
        "\"urn\": \"urn:pulumi:dev::lamps::x:y:Z::z\"",
        1,
    );
    for (text, part) in [
        (
            wrong,
            "`parent` of `urn:pulumi:dev::lamps::home:index:Room$sim:index:Res::lamp`",
        ),
        (
            PLAIN.replace("\"version\": 3,", "\"version\": 1,"),
            "has the version 1",
        ),
        (PLAIN.replace("v3.255.0", "v3.255.1"), "`magic`"),
    ] {
        place.write("stack.json", &text);
        let said = place
            .ends(1, &["state", "import", "stack.json", "--yes"])
            .err;
        assert!(said.contains(part), "{part}: {said}");
    }
    place.write("key.json", SEALED.replace("\"passphrase\"", "\"awskms\""));
    let said = place.ends(1, &["state", "import", "key.json", "--yes"]).err;
    for part in ["key service `awskms`", "--show-secrets"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!place.has(".cyan/state.db"));
    let other = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n",
    );
    other.ends(0, &["deploy", "--yes"]);
    let said = other.ends(2, &["state", "export", "--as", "pulumi"]).err;
    assert!(said.contains("`a` is a `test/data`"), "{said}");
}
