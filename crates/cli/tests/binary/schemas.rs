//! Machine output of every command fits its schema in `docs/json`, and has no field that the schema does not describe.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::place::Place;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json");

/// The schemas by kind, and which commands were seen.
struct Schemas {
    all: BTreeMap<String, Value>,
    seen: BTreeSet<String>,
    events: BTreeSet<String>,
}

/// Puts all files into one schema, and allows no field that is not described: fields may be added to the output, but not
/// without a word about them.
fn bundled(value: &Value, all: &BTreeMap<String, Value>) -> Value {
    match value {
        Value::Object(entries) => {
            let mut entries: serde_json::Map<String, Value> =
                entries.iter().map(|(name, value)| (name.clone(), bundled(value, all))).collect();
            if let Some(Value::String(to)) = entries.get_mut("$ref") {
                *to = to.replace("common.schema.json#/", "#/");
            }
            if entries.get("properties").is_some_and(Value::is_object) && entries.contains_key("type") {
                entries.entry("additionalProperties").or_insert(json!(false));
            }
            if entries.contains_key("$schema") {
                entries.insert("$defs".into(), strict_definitions(all));
            }
            Value::Object(entries)
        }
        Value::Array(items) => items.iter().map(|item| bundled(item, all)).collect(),
        other => other.clone(),
    }
}

fn strict_definitions(all: &BTreeMap<String, Value>) -> Value {
    bundled(&all["common"]["$defs"], all)
}

impl Schemas {
    fn read() -> Schemas {
        let mut all = BTreeMap::new();
        for entry in std::fs::read_dir(FOLDER).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().strip_suffix(".schema.json").unwrap().to_owned();
            let schema: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
            all.insert(name, schema);
        }
        Schemas { all, seen: BTreeSet::new(), events: BTreeSet::new() }
    }

    #[track_caller]
    fn fits(&self, kind: &str, value: &Value) {
        let strict = bundled(&self.all[kind], &self.all);
        let validator = jsonschema::validator_for(&strict).unwrap();
        let wrong: Vec<String> =
            validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(wrong.is_empty(), "{kind}: {wrong:#?}\n{value:#}");
    }

    /// Runs a command that prints one value.
    #[track_caller]
    fn value(&mut self, kind: &str, place: &Place, code: i32, arguments: &[&str]) -> Value {
        let out = place.ends(code, &[arguments, &["--json"]].concat()).out;
        let value: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}"));
        self.fits(kind, &value);
        if let Some(command) = value["command"].as_str() {
            self.seen.insert(command.to_owned());
        }
        value
    }

    /// Runs an operation, which prints a line per event.
    #[track_caller]
    fn lines(&mut self, place: &Place, code: i32, arguments: &[&str]) -> Vec<Value> {
        let out = place.ends(code, &[arguments, &["--json"]].concat()).out;
        self.seen.insert(arguments[0].to_owned());
        self.all_fit(&out)
    }

    #[track_caller]
    fn all_fit(&mut self, out: &str) -> Vec<Value> {
        let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let branches = self.all["operation"]["oneOf"].as_array().unwrap().clone();
        for line in &lines {
            // Only the branch of this event: its errors say what is wrong, those of all others do not.
            let branch = branches.iter().find(|one| one["properties"]["event"]["const"] == line["event"]);
            let mut branch = branch.unwrap_or_else(|| panic!("no schema for the event: {line}")).clone();
            branch["$schema"] = self.all["operation"]["$schema"].clone();
            let strict = bundled(&branch, &self.all);
            let validator = jsonschema::validator_for(&strict).unwrap();
            let wrong: Vec<String> =
                validator.iter_errors(line).map(|error| format!("{}: {error}", error.instance_path())).collect();
            assert!(wrong.is_empty(), "{wrong:#?}\n{line:#}");
            self.events.insert(line["event"].as_str().unwrap().to_owned());
        }
        assert_eq!(lines.last().unwrap()["event"], "summary");
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
    let mut schemas = Schemas::read();
    let place = Place::with("shop.blueprint.yaml", SHOP);
    place.write("core.yaml", CORE);
    for file in ["key", "key"] {
        schemas.value("key", &place, 0, &["key", "new", file]);
    }
    place.ends(0, &["key", "new"]);
    schemas.value("init", &place, 0, &["init", "fresh"]);
    schemas.value("init", &place, 0, &["init", "fresh"]);
    schemas.value("validate", &place, 0, &["validate"]);
    schemas.value("validate", &place, 1, &["validate", "core.yaml", "missing.yaml"]);
    schemas.value("fmt", &place, 0, &["fmt", "core.yaml"]);
    schemas.value("graph", &place, 0, &["graph"]);
    schemas.value("list", &place, 0, &["list"]);
    schemas.value("stage", &place, 0, &["stage"]);
    schemas.value("stage", &place, 0, &["stage", "--simulate", "core.yaml"]);
    schemas.lines(&place, 2, &["deploy"]);
    schemas.lines(&place, 0, &["deploy", "--yes"]);
    schemas.lines(&place, 0, &["deploy", "--yes", "--simulate"]);
    for arguments in [&["show"][..], &["show", "a"], &["show", "core"], &["show", "missing"]] {
        let code = i32::from(arguments.contains(&"missing"));
        schemas.value("show", &place, code, arguments);
    }
    schemas.value("exports", &place, 0, &["exports"]);
    schemas.value("exports", &place, 0, &["exports", "out"]);
    schemas.value("list", &place, 0, &["list"]);
    schemas.value("unlock", &place, 0, &["unlock"]);
    // Changed, drifted, and replaced.
    place.write("core.yaml", CORE.replace("one", "two"));
    place.write("note.txt", "Mine.\n");
    schemas.value("drift", &place, 0, &["drift"]);
    let staged = schemas.value("stage", &place, 0, &["stage", "--var", "size=2", "--replace", "made"]);
    let actions: BTreeSet<&str> =
        staged["result"]["steps"].as_array().unwrap().iter().map(|step| step["action"].as_str().unwrap()).collect();
    assert!(actions.is_superset(&["replace", "update"].into()), "{actions:?}");
    schemas.lines(&place, 0, &["deploy", "--yes", "--var", "size=2", "--replace", "made"]);
    schemas.value("history", &place, 0, &["history"]);
    place.write("note.txt", "Mine.\n");
    schemas.lines(&place, 0, &["drift", "--accept", "--yes"]);
    std::fs::remove_file(place.path().join("note.txt")).unwrap();
    schemas.value("drift", &place, 3, &["drift", "--exit-code"]);
    schemas.lines(&place, 0, &["reconcile", "--yes"]);
    schemas.lines(&place, 0, &["rollback", "1", "--yes"]);
    schemas.value("eval", &place, 0, &["eval", "resources.a.spec.input"]);
    schemas.value("eval", &place, 1, &["eval", "resources.x"]);
    schemas.value("console", &place, 0, &["console"]);
    schemas.lines(&place, 0, &["state", "move", "a", "d", "--yes"]);
    schemas.lines(&place, 0, &["state", "move", "d", "a", "--yes"]);
    schemas.value("state-export", &place, 0, &["state", "export", "kept.json"]);
    schemas.value("state-export", &place, 0, &["state", "export"]);
    schemas.value("state-verify", &place, 0, &["state", "verify"]);
    schemas.lines(&place, 0, &["state", "import", "kept.json", "-i", "copy", "--yes"]);
    schemas.lines(&place, 0, &["state", "remove", "b", "-i", "copy", "--yes"]);
    let rekeyed = schemas.lines(&place, 0, &["state", "rekey", "second.key"]);
    assert!(rekeyed.last().unwrap()["result"]["sealed"].is_u64(), "{rekeyed:?}");
    let _ = std::fs::rename(place.path().join("second.key"), place.path().join("home/.config/cyan/key"));
    schemas.lines(&place, 0, &["destroy", "--yes", "-i", "shop"]);
    schemas.value("list", &place, 0, &["list", "--all"]);
    // What needs no document.
    for (kind, arguments) in [
        ("explain", &["explain"][..]),
        ("explain", &["explain", "unknown-key"]),
        ("types", &["types"]),
        ("types", &["types", "local/file"]),
        ("types", &["types", "local/command"]),
        ("types", &["types", "aws/vpc"]),
        ("functions", &["functions"]),
        ("functions", &["functions", "substr"]),
        ("schema", &["schema"]),
        ("completions", &["completions", "zsh"]),
        ("man", &["man", "deploy"]),
        ("man", &["man", "--out", "pages"]),
    ] {
        schemas.value(kind, &place, 0, arguments);
    }
    let only = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nresources:\n  f: {type: local/file, spec: {path: there.txt, content: \"There.\\n\"}}\n",
    );
    only.write("there.txt", "There.\n");
    schemas.lines(&only, 0, &["import", "local/file", "there.txt", "f", "--yes"]);
    // Mistakes, in documents and on the command line.
    let wrong = Place::with("blueprint.yaml", &CORE.replace("input:", "inptu:"));
    schemas.value("validate", &wrong, 1, &["validate"]);
    schemas.value("stage", &wrong, 1, &["stage"]);
    schemas.lines(&wrong, 1, &["deploy", "--yes"]);
    schemas.value("types", &wrong, 2, &["types", "local/fil"]);
    schemas.value("usage", &wrong, 2, &["depoly"]);
    schemas.value("usage", &wrong, 2, &["stage", "--bogus"]);
    schemas.lines(&wrong, 2, &["deploy", "--bogus"]);
    // A failure, a rollback after it, and what was left out.
    let failing = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n  b: {type: local/command, spec: {create: 'echo no >&2; exit 1'}, dependsOn: a}\n  c: {type: test/data, spec: {input: 2}, dependsOn: b}\n",
    );
    let failed = schemas.lines(&failing, 4, &["deploy", "--yes"]);
    let left: Vec<&str> = failed.last().unwrap()["not_done"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["address"].as_str().unwrap())
        .collect();
    assert_eq!(left, ["b", "c"]);
    schemas.lines(&failing, 4, &["deploy", "--yes", "--on-failure", "rollback"]);
    let until = Place::with("blueprint.yaml", &TWO.replace("SECOND", "2"));
    schemas.lines(&until, 0, &["deploy", "--yes", "--until", "a"]);

    let help = place.ends(0, &["--help"]).out;
    let listed = help.split_once("\nCommands:\n").unwrap().1.lines().take_while(|line| !line.is_empty());
    let commands: BTreeSet<&str> = listed.map(|line| line.split_whitespace().next().unwrap()).collect();
    let missing: Vec<&&str> =
        commands.iter().filter(|name| **name != "help" && !schemas.seen.contains(**name)).collect();
    assert!(missing.is_empty(), "no output of these was looked at: {missing:?}");
    for event in ["plan", "began", "started", "done", "failed", "recorded", "rolling-back", "finished", "diagnostic"] {
        assert!(schemas.events.contains(event), "{event}: {:?}", schemas.events);
    }
    let kinds: BTreeSet<&str> = schemas.all.keys().map(String::as_str).collect();
    let documented = std::fs::read_to_string(format!("{FOLDER}/../json.md")).unwrap();
    for kind in kinds {
        assert!(documented.contains(&format!("(json/{kind}.schema.json)")), "docs/json.md does not link {kind}");
    }
}

const TWO: &str = "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n  b: {type: test/data, spec: {input: SECOND}, dependsOn: a}\n";

/// The samples of format 1 are machine output too.
#[test]
fn samples_fit_their_schemas() {
    let mut schemas = Schemas::read();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        // Times and ids were replaced by words.
        let text = std::fs::read_to_string(&path).unwrap().replace("\"[TIME]\"", "1");
        let values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
        for value in values.map(Result::unwrap) {
            if value.get("event").is_some() {
                let mut line = value.clone();
                line["time"] = json!("2026-01-01T00:00:00.000Z");
                let end = if line["event"] == "summary" { String::new() } else { SUMMARY.to_owned() };
                schemas.all_fit(&format!("{line}\n{end}"));
            } else {
                schemas.fits(value["command"].as_str().unwrap_or(&name), &value);
            }
        }
    }
}

const SUMMARY: &str = "{\"event\":\"summary\",\"time\":\"2026-01-01T00:00:00.000Z\",\"created\":0,\"updated\":0,\"deleted\":0,\"replaced\":0,\"exit\":0}\n";
