//! The examples of types, as `cyan types` and the reference show them: documents that run.

use serde_json::Value;

use crate::place::{Place, ran};

#[test]
fn the_example_of_every_type_is_a_document_that_runs() {
    let place = Place::new();
    let key = place.path().join("key");
    place.ends(0, &["key", "new", &key.to_string_lossy()]);
    let listed: Value = serde_json::from_str(&place.ends(0, &["types", "--json"]).out).unwrap();
    let names: std::collections::BTreeSet<&str> = listed["result"]["types"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["name"].as_str())
        // Those of clouds are many, and are shown by examples of their own.
        .filter(|name| !name.starts_with("aws/"))
        .collect();
    assert!(names.len() > 20, "{names:?}");
    let mut wrong = Vec::new();
    for name in names {
        let one: Value = serde_json::from_str(&place.ends(0, &["types", name, "--json"]).out).unwrap();
        for kind in ["resource", "datasource"] {
            let Some(example) = one["result"][kind]["example"].as_str() else { continue };
            let file = format!("{}-{kind}.yaml", name.replace('/', "-"));
            place.write(&file, format!("{}\n", example.trim_end()));
            let mut say = |what: &str, ran: crate::place::Ran| {
                if ran.code != 0 || what == "validate" && ran.err.contains("warning") {
                    wrong.push(format!("{name}: {what}\n{}{}\n{example}", ran.out, ran.err));
                }
            };
            say("validate", place.run(&["validate", &file]));
            say("fmt", place.run(&["fmt", "--check", &file]));
            let state = format!("sqlite:{file}.db");
            let mut deploy = place.cyan(&["deploy", "--simulate", "--yes", "--state", &state, &file]);
            say("deploy", ran(deploy.env("CYAN_KEY_FILE", &key).output().unwrap()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
