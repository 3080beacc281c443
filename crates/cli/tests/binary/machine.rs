//! Checks that machine output matches its schema in `docs/json` and has no undescribed field.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

/// The folder with the schemas.
pub(crate) const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json");

/// The schemas by kind. Each event of an operation has its own validator, so that errors refer to
/// that event.
struct Schemas {
    all: BTreeMap<String, Value>,
    made: Mutex<BTreeMap<String, Arc<Validator>>>,
}

static SCHEMAS: LazyLock<Schemas> = LazyLock::new(Schemas::read);

/// Combines all files into one schema that allows no undescribed field. This way a new field needs
/// a description.
fn bundled(value: &Value, all: &BTreeMap<String, Value>) -> Value {
    match value {
        Value::Object(entries) => {
            let mut entries: serde_json::Map<String, Value> = entries
                .iter()
                .map(|(name, value)| (name.clone(), bundled(value, all)))
                .collect();
            if let Some(Value::String(to)) = entries.get_mut("$ref") {
                *to = to.replace("common.schema.json#/", "#/");
            }
            if entries.get("properties").is_some_and(Value::is_object)
                && entries.contains_key("type")
            {
                entries
                    .entry("additionalProperties")
                    .or_insert(json!(false));
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
            let name = path
                .file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .strip_suffix(".schema.json")
                .unwrap()
                .to_owned();
            let schema: Value =
                serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
            all.insert(name, schema);
        }
        Schemas {
            all,
            made: Mutex::default(),
        }
    }

    /// Returns the cached validator of a kind or of an event; `schema` makes its schema at the
    /// first use.
    fn validator(&self, name: &str, schema: impl FnOnce() -> Value) -> Arc<Validator> {
        if let Some(made) = self.made.lock().unwrap().get(name) {
            return made.clone();
        }
        let made = Arc::new(jsonschema::validator_for(&bundled(&schema(), &self.all)).unwrap());
        self.made
            .lock()
            .unwrap()
            .insert(name.to_owned(), made.clone());
        made
    }

    /// Returns the validator of a kind of value.
    fn of_kind(&self, kind: &str) -> Arc<Validator> {
        let schema = self
            .all
            .get(kind)
            .unwrap_or_else(|| panic!("no schema for {kind}"));
        self.validator(kind, || schema.clone())
    }

    /// Returns the validator of a line with an event.
    fn of_event(&self, event: &str) -> Arc<Validator> {
        self.validator(&format!("event {event}"), || {
            let operation = &self.all["operation"];
            let branches = operation["oneOf"].as_array().unwrap();
            let branch = branches
                .iter()
                .find(|one| one["properties"]["event"]["const"] == event);
            let mut branch = branch
                .unwrap_or_else(|| panic!("no schema for the event `{event}`"))
                .clone();
            branch["$schema"] = operation["$schema"].clone();
            branch
        })
    }
}

#[track_caller]
fn fits_one(validator: &Validator, value: &Value) {
    let wrong: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}\n{value:#}");
}

/// Checks the output of a run with these arguments and `--json`.
#[track_caller]
pub(crate) fn fits(arguments: &[&str], out: &str) {
    let values: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    match values.as_slice() {
        [value] if value["event"].is_null() => {
            let kind = match value["command"].as_str() {
                None => "usage",
                Some("state") if arguments.contains(&"verify") => "state-verify",
                Some("state") => "state-export",
                Some(command) => command,
            };
            fits_one(&SCHEMAS.of_kind(kind), value);
        }
        lines => {
            for line in lines {
                let event = line["event"]
                    .as_str()
                    .unwrap_or_else(|| panic!("a line without an event: {line}"));
                fits_one(&SCHEMAS.of_event(event), line);
            }
            assert_eq!(
                lines.last().map(|line| &line["event"]),
                Some(&json!("summary")),
                "{out}"
            );
        }
    }
}
