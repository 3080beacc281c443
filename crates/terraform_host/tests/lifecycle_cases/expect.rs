//! Compares the results with the expectations of a case.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use blueprint::{FieldPath, PathStep, Value};
use provider::ProviderSeverity;
use serde_json::Value as Json;

use super::{RecordedMessage, list, text_of};

/// The values of variables, by name.
#[derive(Default)]
pub(crate) struct Vars {
    bound: HashMap<String, Value>,
}

impl Vars {
    /// Compares a value with an expected one. A field that is missing in an expected map must be
    /// null.
    pub(crate) fn matches(
        &mut self,
        what: &str,
        wanted: &Json,
        found: &Value,
    ) -> Result<(), String> {
        let differs = || {
            Err(format!(
                "{what}: expected {wanted}, found {:?}",
                found.revealed()
            ))
        };
        if let Some(name) = wanted.get("$var") {
            let bound = self
                .bound
                .entry(text_of(name).to_owned())
                .or_insert_with(|| found.revealed());
            return if terraform_wire::same(bound, found) {
                Ok(())
            } else {
                differs()
            };
        }
        if let Some(kind) = wanted.get("$any") {
            let fits = matches!(
                (text_of(kind), found.unmarked()),
                ("integer", Value::Int(_))
                    | ("boolean", Value::Bool(_))
                    | ("list", Value::List(_) | Value::Set(_))
                    | ("map", Value::Map(_))
            );
            return if fits { Ok(()) } else { differs() };
        }
        match (wanted, found.unmarked()) {
            (Json::Object(entries), Value::Map(fields)) => {
                for (key, wanted) in entries {
                    self.matches(
                        &format!("{what}.{key}"),
                        wanted,
                        fields.get(key.as_str()).unwrap_or(&Value::Null),
                    )?;
                }
                match fields
                    .iter()
                    .find(|(key, value)| !entries.contains_key(key.as_ref()) && !value.is_null())
                {
                    Some((key, value)) => {
                        Err(format!("{what}.{key}: expected nothing, found {value:?}"))
                    }
                    None => Ok(()),
                }
            }
            (Json::Array(items), Value::List(found)) if items.len() == found.len() => items
                .iter()
                .zip(found.iter())
                .try_for_each(|(wanted, found)| self.matches(what, wanted, found)),
            (Json::Object(_) | Json::Array(_), _) => differs(),
            (wanted, found) if terraform_wire::same(&plain(wanted), found) => Ok(()),
            _ => differs(),
        }
    }

    /// Compares the messages with the expected ones. Messages of the host are compared by their
    /// place.
    pub(crate) fn match_messages(
        &mut self,
        wanted: &Json,
        found: &[RecordedMessage],
    ) -> Result<(), String> {
        let mut left: Vec<&RecordedMessage> = found.iter().collect();
        for wanted in list(wanted) {
            let severity = match text_of(&wanted["severity"]) {
                "error" => ProviderSeverity::Error,
                _ => ProviderSeverity::Warning,
            };
            let at = wanted.get("at").map(path).unwrap_or_default();
            let is = |one: &&RecordedMessage| {
                let address = wanted.get("address").map(text_of);
                let place = address.is_none_or(|address| one.address == address)
                    && one.diagnostic.severity == severity;
                let of_provider = wanted["by"] == "provider";
                // A function does not know its place in the document, and a message without an
                // address has none.
                let anywhere = address.is_none() || one.address.starts_with("output.");
                let at = anywhere || one.diagnostic.path.to_string() == at;
                let words = one.diagnostic.text();
                let full = format!(
                    "{}\n{}",
                    text_of(&wanted["summary"]),
                    text_of(&wanted["detail"])
                );
                place
                    && at
                    && (!of_provider
                        || words == full
                        || says_alone(&words, text_of(&wanted["detail"])))
            };
            match left.iter().position(is) {
                Some(at) => {
                    left.remove(at);
                }
                None => {
                    let found: Vec<_> = found
                        .iter()
                        .map(|one| (&one.address, &one.diagnostic))
                        .collect();
                    return Err(format!("expected the message {wanted}, found {found:?}"));
                }
            }
        }
        match left.first() {
            Some(one) => Err(format!(
                "unexpected message about {}: {:?}",
                one.address, one.diagnostic
            )),
            None => Ok(()),
        }
    }
}

/// Terraform puts its own words around the provider's text about the failure of a function.
fn says_alone(words: &str, detail: &str) -> bool {
    let own = words
        .strip_prefix("argument ")
        .and_then(|rest| rest.split_once(": "))
        .map(|(_, own)| own);
    own.is_some_and(|own| {
        detail.starts_with("Invalid value for ") && detail.contains(own.trim_end_matches('.'))
    })
}

/// Compares a value with an expected one without variables.
pub(crate) fn equal(what: &str, wanted: &Json, found: &Value) -> Result<(), String> {
    Vars::default().matches(what, wanted, found)
}

/// Converts a JSON value without expressions.
pub(crate) fn plain(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Value::Int(number),
            (None, Some(number)) => Value::Float(number),
            (None, None) => Value::Null,
        },
        Json::String(text) => Value::text(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(plain)),
        Json::Object(entries) => Value::map(
            entries
                .iter()
                .map(|(key, part)| (key.as_str(), plain(part))),
        ),
    }
}

/// Converts a path of the pack to the form of the contract.
pub(crate) fn path(json: &Json) -> String {
    let step = |step: &Json| match step.as_u64() {
        Some(index) => PathStep::Index(index),
        None => PathStep::Field(text_of(step).into()),
    };
    FieldPath(list(json).iter().map(step).collect()).to_string()
}

/// Splits a value into its known part and the places that are unknown.
pub(crate) fn split(value: &Value) -> (Value, Option<Json>) {
    match value.unmarked() {
        Value::Unknown(_) => (Value::Null, Some(Json::Bool(true))),
        Value::Map(entries) => {
            let parts: Vec<_> = entries
                .iter()
                .map(|(key, part)| (key.clone(), split(part)))
                .collect();
            let unknown = parts
                .iter()
                .filter_map(|(key, (_, unknown))| Some((key.to_string(), unknown.clone()?)));
            let unknown: serde_json::Map<String, Json> = unknown.collect();
            let known = Value::map(parts.into_iter().map(|(key, (known, _))| (key, known)));
            (
                known,
                Some(Json::Object(unknown))
                    .filter(|unknown| *unknown != Json::Object(Default::default())),
            )
        }
        other => (other.clone(), None),
    }
}

/// Compares the files of a folder with the expected ones.
pub(crate) fn files(wanted: &Json, folder: &Path) -> Result<(), String> {
    let mut found = BTreeMap::new();
    collect(folder, folder, &mut found);
    let none = serde_json::Map::new();
    let wanted = wanted.as_object().unwrap_or(&none);
    if !found.keys().eq(wanted.keys()) {
        let (found, wanted): (Vec<_>, Vec<_>) = (found.keys().collect(), wanted.keys().collect());
        return Err(format!("files: expected {wanted:?}, found {found:?}"));
    }
    for (name, wanted) in wanted {
        let (mode, bytes) = &found[name];
        if text_of(&wanted["mode"]) != mode {
            return Err(format!(
                "file {name}: expected mode {}, found {mode}",
                wanted["mode"]
            ));
        }
        let differs = wanted
            .get("text")
            .is_some_and(|text| text_of(text).as_bytes() != bytes);
        if differs {
            return Err(format!(
                "file {name}: expected {}, found {:?}",
                wanted["text"],
                String::from_utf8_lossy(bytes)
            ));
        }
    }
    Ok(())
}

fn collect(folder: &Path, root: &Path, found: &mut BTreeMap<String, (String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, root, found);
        } else {
            let name = path
                .strip_prefix(root)
                .unwrap()
                .to_string_lossy()
                .into_owned();
            let mode = format!(
                "{:04o}",
                fs::metadata(&path).unwrap().permissions().mode() & 0o7777
            );
            found.insert(name, (mode, fs::read(&path).unwrap()));
        }
    }
}
