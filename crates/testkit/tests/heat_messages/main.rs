//! Messages of Heat for invalid templates: `recorded.json` has templates with mistakes of all kinds
//! and the messages of Heat 27. The messages of `cyan` must be equal.
//!
//! An entry has a name, a template, optional inputs, and either the `phase` and the `error` of the
//! template or the `output_errors` of single outputs. Messages of Python itself are left out.

use std::path::Path;

use serde_json::{Map, Value as Json, json};
use testkit::conformance::run;

/// The minimum of equal messages. The minimum is never lowered.
const SAME: usize = 566;

/// Writes the entries as a pack. Returns their number.
fn lay_out(entries: &[Json], folder: &Path) -> usize {
    let cases = folder.join("cases");
    std::fs::create_dir_all(&cases).expect("a folder can be made");
    std::fs::write(cases.join("MATCH.json"), "{}").expect("it can be written");
    for entry in entries {
        let name = entry["name"]
            .as_str()
            .expect("an entry has a name and a template");
        let file = |end: &str, text: &str| {
            std::fs::write(cases.join(format!("{name}.{end}")), text).expect("it can be written")
        };
        file(
            "yaml",
            entry["template"]
                .as_str()
                .expect("an entry has a name and a template"),
        );
        let mut params = Map::new();
        for key in ["parameters", "files", "resource_registry", "mode"] {
            params.extend(entry.get(key).map(|value| (key.to_owned(), value.clone())));
        }
        let mut expected = json!({"ok": true});
        if let Some(error) = entry.get("error") {
            expected = json!({"ok": false, "phase": entry["phase"], "error": error});
        } else {
            expected["output_errors"] = entry["output_errors"].clone();
        }
        if let Some(update) = entry["update"].as_str() {
            file("v2.yaml", update);
            params.insert(
                "update".into(),
                json!({"template": format!("{name}.v2.yaml")}),
            );
            expected = json!({"ok": false, "create": {"ok": true}, "update": expected});
        }
        file("params.json", &Json::Object(params).to_string());
        file("expected.json", &expected.to_string());
    }
    entries.len()
}

#[test]
fn messages_equal_those_of_heat() {
    let entries: Vec<Json> = serde_json::from_str(include_str!("recorded.json")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    lay_out(&entries, folder.path());
    let tally = run(folder.path(), "hot").unwrap();
    for failure in &tally.failures {
        println!("{failure}");
    }
    for line in tally.messages.missed() {
        println!("{line}");
    }
    let (same, all) = tally.messages.counts();
    println!("heat words: {same} of {all}");
    assert!(
        same >= SAME,
        "{same} of {all} are the same, {SAME} were before"
    );
}
