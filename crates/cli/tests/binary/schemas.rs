//! Checks that machine output of every command matches its schema in `docs/json`. `Place::run`
//! checks the output of all tests. This file covers the remaining output, and checks that no
//! command is left out.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::machine::{FOLDER, fits};
use crate::place::Place;

/// The commands and events whose output was checked.
#[derive(Default)]
struct Observed {
    commands: BTreeSet<String>,
    events: BTreeSet<String>,
}

impl Observed {
    /// Runs a command that prints one value.
    #[track_caller]
    fn value(&mut self, place: &Place, code: i32, arguments: &[&str]) -> Value {
        let out = place.ends(code, &[arguments, &["--json"]].concat()).out;
        let value: Value = serde_json::from_str(&out)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}"));
        if let Some(command) = value["command"].as_str() {
            self.commands.insert(command.to_owned());
        }
        value
    }

    /// Runs an operation, which prints one line per event.
    #[track_caller]
    fn lines(&mut self, place: &Place, code: i32, arguments: &[&str]) -> Vec<Value> {
        let out = place.ends(code, &[arguments, &["--json"]].concat()).out;
        self.commands.insert(arguments[0].to_owned());
        let lines: Vec<Value> = out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        self.events.extend(
            lines
                .iter()
                .map(|line| line["event"].as_str().unwrap().to_owned()),
        );
        lines
    }
}

const SHOP: &str = "version: 2023-04-20
metadata: {team: base}
variables:
  size: {type: integer, default: 1}
values:
  key: {type: string, secret: true, value: hidden}
include:
  core: {path: core.yaml}
datasources:
  readme:
    type: local/command
    metadata: {displayName: The kind of this system}
    filter: {field: command, operator: '=', search: echo hello}
    exports: {stdout: {type: string}}
resources:
  a: {type: test/data, spec: {input: \"${variables.size}\"}}
  b: {type: test/data, spec: {input: \"${a.spec.input}\"}}
  c: {type: test/data, metadata: {displayName: The third}, spec: {input: \"${values.key}\"}}
  note: {type: local/file, spec: {path: note.txt, content: \"${datasources.readme.stdout}\\n\"}}
  made: {type: random/uuid, spec: {}}
exports:
  out: {type: integer, field: resources.b.spec.input}
";
const CORE: &str = "version: 2023-04-20\nmetadata: {team: base}\nresources:\n  thing: {type: test/data, spec: {input: {name: one}}}\nexports:\n  name: {type: string, field: thing.spec.input.name}\n";

#[test]
fn machine_output_of_every_command_fits_its_schema() {
    let mut seen = Observed::default();
    let place = Place::with("shop.blueprint.yaml", SHOP);
    place.write("core.yaml", CORE);
    deploy_and_inspect(&mut seen, &place);
    change_and_edit_the_state(&mut seen, &place);
    run_without_a_document(&mut seen, &place);
    make_mistakes(&mut seen);
    fail_and_stop_early(&mut seen);
    manage_stacks(&mut seen);

    let help = place.ends(0, &["--help"]).out;
    let listed = help
        .split_once("\nCommands:\n")
        .unwrap()
        .1
        .lines()
        .take_while(|line| !line.is_empty());
    let commands: BTreeSet<&str> = listed
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    let missing: Vec<&&str> = commands
        .iter()
        .filter(|name| **name != "help" && !seen.commands.contains(**name))
        .collect();
    assert!(
        missing.is_empty(),
        "no output of these was looked at: {missing:?}"
    );
    for event in [
        "plan",
        "began",
        "started",
        "done",
        "failed",
        "recorded",
        "rolling-back",
        "finished",
        "diagnostic",
    ] {
        assert!(seen.events.contains(event), "{event}: {:?}", seen.events);
    }
}

/// Creates keys and folders, checks and stages the documents, deploys them, and shows the result.
fn deploy_and_inspect(seen: &mut Observed, place: &Place) {
    for file in ["key", "key"] {
        seen.value(place, 0, &["key", "new", file]);
    }
    place.ends(0, &["key", "new"]);
    seen.value(place, 0, &["init", "fresh"]);
    seen.value(place, 0, &["init", "fresh"]);
    seen.value(place, 0, &["validate"]);
    place.write("shop.test.yaml", "cases:\n  one: {create: [b]}\n  two:\n");
    seen.value(place, 4, &["test", "--only", "o"]);
    std::fs::remove_file(place.path().join("shop.test.yaml")).unwrap();
    seen.value(place, 1, &["validate", "core.yaml", "missing.yaml"]);
    seen.value(place, 0, &["fmt", "core.yaml"]);
    seen.value(place, 0, &["graph"]);
    seen.value(place, 0, &["list"]);
    seen.value(place, 0, &["stage"]);
    seen.value(place, 0, &["stage", "--simulate", "core.yaml"]);
    seen.lines(place, 2, &["deploy"]);
    seen.lines(place, 0, &["deploy", "--yes"]);
    seen.lines(place, 0, &["deploy", "--yes", "--simulate"]);
    for arguments in [
        &["show"][..],
        &["show", "a"],
        &["show", "core"],
        &["show", "missing"],
    ] {
        let code = i32::from(arguments.contains(&"missing"));
        seen.value(place, code, arguments);
    }
    seen.value(place, 0, &["exports"]);
    seen.value(place, 0, &["exports", "out"]);
    seen.value(place, 0, &["list"]);
    seen.value(place, 0, &["unlock"]);
}

/// Changes, drifts, replaces, rolls back, edits the state, and destroys.
fn change_and_edit_the_state(seen: &mut Observed, place: &Place) {
    place.write("core.yaml", CORE.replace("one", "two"));
    place.write("note.txt", "Mine.\n");
    seen.value(place, 0, &["drift"]);
    let staged = seen.value(place, 0, &["stage", "--var", "size=2", "--replace", "made"]);
    let actions: BTreeSet<&str> = staged["result"]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["action"].as_str().unwrap())
        .collect();
    assert!(
        actions.is_superset(&["replace", "update"].into()),
        "{actions:?}"
    );
    seen.lines(
        place,
        0,
        &["deploy", "--yes", "--var", "size=2", "--replace", "made"],
    );
    seen.value(place, 0, &["history"]);
    place.write("note.txt", "Mine.\n");
    seen.lines(place, 0, &["drift", "--accept", "--yes"]);
    std::fs::remove_file(place.path().join("note.txt")).unwrap();
    seen.value(place, 3, &["drift", "--exit-code"]);
    seen.lines(place, 0, &["reconcile", "--yes"]);
    seen.lines(place, 0, &["rollback", "1", "--yes"]);
    seen.value(place, 0, &["eval", "resources.a.spec.input"]);
    seen.value(place, 1, &["eval", "resources.x"]);
    seen.value(place, 0, &["console"]);
    seen.lines(place, 0, &["state", "move", "a", "d", "--yes"]);
    seen.lines(place, 0, &["state", "move", "d", "a", "--yes"]);
    seen.value(place, 0, &["state", "export", "kept.json"]);
    seen.value(place, 0, &["state", "export"]);
    seen.value(place, 0, &["state", "verify"]);
    seen.lines(
        place,
        0,
        &["state", "import", "kept.json", "-i", "copy", "--yes"],
    );
    seen.lines(place, 0, &["state", "remove", "b", "-i", "copy", "--yes"]);
    // The file of `note` belongs to the first instance.
    seen.lines(
        place,
        0,
        &["state", "remove", "note", "-i", "copy", "--yes"],
    );
    let pruned = seen.lines(
        place,
        0,
        &["state", "prune", "--keep", "1", "--yes", "-i", "copy"],
    );
    assert!(
        pruned.last().unwrap()["result"]["operations"].is_array(),
        "{pruned:?}"
    );
    let rekeyed = seen.lines(place, 0, &["state", "rekey", "second.key", "--yes"]);
    assert!(
        rekeyed.last().unwrap()["result"]["sealed"].is_u64(),
        "{rekeyed:?}"
    );
    let _ = std::fs::rename(
        place.path().join("second.key"),
        place.path().join("home/.config/cyan/key"),
    );
    seen.lines(place, 0, &["destroy", "--yes", "-i", "shop"]);
    seen.value(place, 0, &["list", "--all"]);
}

/// Runs the commands that need no document, and an import into a new state.
fn run_without_a_document(seen: &mut Observed, place: &Place) {
    #[cfg(feature = "kubernetes")]
    for words in [
        &["render"][..],
        &["cluster", "scripts"],
        &["cluster", "scripts", "kpack"],
        &["cluster", "manifests", "--definitions"],
        &["cluster", "manifests", "--image", "registry/cyan:1"],
        &["cluster", "manifests", "--dockerfile"],
    ] {
        seen.value(place, 0, words);
    }
    for arguments in [
        &["explain"][..],
        &["explain", "unknown-key"],
        &["types"],
        &["types", "local/file"],
        &["types", "local/command"],
        &["types", "aws/vpc"],
        &["functions"],
        &["functions", "substr"],
        &["schema"],
        &["completions", "zsh"],
        &["man", "deploy"],
        &["man", "--out", "pages"],
    ] {
        seen.value(place, 0, arguments);
    }
    let only = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nresources:\n  f: {type: local/file, spec: {path: there.txt, content: \"There.\\n\"}}\n",
    );
    only.write("there.txt", "There.\n");
    seen.lines(
        &only,
        0,
        &["import", "local/file", "there.txt", "f", "--yes"],
    );
}

/// Makes, configures, selects and removes stacks.
fn manage_stacks(seen: &mut Observed) {
    let place = Place::with("Pulumi.yaml", "name: app\nruntime: yaml\n");
    seen.value(&place, 0, &["stack", "ls"]);
    seen.value(&place, 0, &["stack", "init", "dev"]);
    seen.value(&place, 0, &["config", "set", "size", "3"]);
    seen.value(&place, 0, &["config"]);
    seen.value(&place, 0, &["config", "get", "size"]);
    seen.value(&place, 1, &["config", "rm", "sise"]);
    seen.value(&place, 0, &["stack", "ls"]);
    seen.value(&place, 0, &["stack", "select", "dev"]);
    seen.value(&place, 0, &["stack", "rm", "dev", "--yes"]);
    let other = Place::with("blueprint.yaml", &TWO.replace("SECOND", "2"));
    seen.lines(&other, 0, &["deploy", "--yes", "-i", "b"]);
    seen.lines(&other, 0, &["refresh", "--yes"]);
    seen.value(&other, 0, &["stack", "ls"]);
    seen.lines(&other, 0, &["stack", "rm", "b", "--force", "--yes"]);
}

/// Runs commands with mistakes in documents and in arguments.
fn make_mistakes(seen: &mut Observed) {
    let wrong = Place::with("blueprint.yaml", &CORE.replace("input:", "inptu:"));
    seen.value(&wrong, 1, &["validate"]);
    seen.value(&wrong, 1, &["stage"]);
    seen.lines(&wrong, 1, &["deploy", "--yes"]);
    seen.value(&wrong, 2, &["types", "local/fil"]);
    seen.value(&wrong, 2, &["depoly"]);
    seen.value(&wrong, 2, &["stage", "--bogus"]);
    seen.lines(&wrong, 2, &["deploy", "--bogus"]);
}

/// Deploys a document that fails, with and without a rollback, and one that stops at `--until`.
fn fail_and_stop_early(seen: &mut Observed) {
    let failing = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n  b: {type: local/command, spec: {create: 'echo no >&2; exit 1'}, dependsOn: a}\n  c: {type: test/data, spec: {input: 2}, dependsOn: b}\n",
    );
    let failed = seen.lines(&failing, 4, &["deploy", "--yes"]);
    let left: Vec<&str> = failed.last().unwrap()["not_done"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["address"].as_str().unwrap())
        .collect();
    assert_eq!(left, ["b", "c"]);
    seen.lines(
        &failing,
        4,
        &["deploy", "--yes", "--on-failure", "rollback"],
    );
    let until = Place::with("blueprint.yaml", &TWO.replace("SECOND", "2"));
    seen.lines(&until, 0, &["deploy", "--yes", "--until", "a"]);
}

#[test]
fn the_json_page_links_every_schema_and_has_an_example_of_it() {
    let documented = std::fs::read_to_string(format!("{FOLDER}/../json.md")).unwrap();
    for entry in std::fs::read_dir(FOLDER).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let row = documented
            .lines()
            .find(|line| line.contains(&format!("(json/{name})")));
        let row = row.unwrap_or_else(|| panic!("docs/json.md does not link {name}"));
        let command = name.replace(".schema.json", "").replace('-', " ");
        let has_example = row.contains("/tests/samples/")
            || documented.contains(&format!("$ cyan {command} "))
            || documented.contains(&format!("| cyan {command} "))
            || ["common", "operation", "usage"].contains(&&*command);
        assert!(has_example, "docs/json.md has no example of {name}");
    }
}

const TWO: &str = "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n  b: {type: test/data, spec: {input: SECOND}, dependsOn: a}\n";

/// The samples of format 1 match their schemas too.
#[test]
fn samples_fit_their_schemas() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        // The samples have placeholders for times.
        let text = std::fs::read_to_string(&path)
            .unwrap()
            .replace("\"[TIME]\"", "\"2026-01-01T00:00:00Z\"")
            .replace("\"[MILLISECONDS]\"", "1");
        let values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
        for value in values.map(Result::unwrap) {
            if value.get("event").is_some() {
                let mut line = value.clone();
                line["time"] = json!("2026-01-01T00:00:00.000Z");
                let end = if line["event"] == "summary" {
                    String::new()
                } else {
                    SUMMARY.to_owned()
                };
                fits(&[], &format!("{line}\n{end}"));
            } else {
                fits(&[], &value.to_string());
            }
        }
    }
}

const SUMMARY: &str = "{\"event\":\"summary\",\"time\":\"2026-01-01T00:00:00.000Z\",\"created\":0,\"updated\":0,\"deleted\":0,\"replaced\":0,\"exit\":0}\n";
