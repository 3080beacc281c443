//! Programs of Pulumi YAML: compares what a plan knows with the recorded answer of a preview (see
//! the pack's README). The types of packages come from the schemas of the pack; a simulation stands
//! in for the plugins.
//!
//! Compared are the outcome, the kind and line of one error, and the outputs. Not compared yet: the
//! requests to the engine, warnings, answers of an update.

use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use blueprint::Value;
use engine::{Given, Options};
use serde_json::{Map, Value as Json};

use super::case::{Case, read_json};
use super::monitor::{Behaviours, Requests};
use crate::harness::{Harness, StageResult};
use crate::runtime::in_runtime;

/// The kinds of errors in the pack, with the codes that mean the same.
const KINDS: &[(&str, &[&str])] = &[
    (
        "access-syntax",
        &[
            "access-syntax",
            "substitution-empty",
            "substitution-unterminated",
        ],
    ),
    (
        "bad-access",
        &[
            "wrong-accessor",
            "unknown-field",
            "index-out-of-range",
            "argument-type",
        ],
    ),
    (
        "bad-argument",
        &[
            "argument-type",
            "argument-count",
            "argument-range",
            "argument-format",
            "not-utf8",
            "type-mismatch",
            "wrong-shape",
            "missing-field",
            "function-as-data",
        ],
    ),
    ("bad-version", &["invalid-version"]),
    ("call-failed", &["provider-failed", "provider-refused"]),
    ("config-missing", &["missing-variable"]),
    (
        "config-type",
        &[
            "unparsable-value",
            "type-mismatch",
            "unknown-type",
            "missing-field",
        ],
    ),
    ("cycle", &["cycle", "self-reference"]),
    ("default-provider-conflict", &["default-provider-conflict"]),
    ("required-version", &["required-version"]),
    (
        "duplicate-name",
        &["name-collision", "duplicate-key", "reserved-name"],
    ),
    ("file-unreadable", &["source-unreadable"]),
    (
        "index-out-of-range",
        &["index-out-of-range", "argument-range"],
    ),
    ("key-not-string", &["key-not-text"]),
    ("missing-result", &["unknown-field", "wrong-accessor"]),
    ("missing-type", &["missing-field"]),
    ("option-not-resource", &["not-a-resource", "wrong-shape"]),
    (
        "type-mismatch",
        &[
            "type-mismatch",
            "argument-type",
            "wrong-shape",
            "interpolated-complex",
            "missing-spec-field",
            "no-union-branch",
            "unknown-spec-field",
            "value-not-allowed",
        ],
    ),
    ("get-and-properties", &["wrong-shape"]),
    ("plugin-only", &["unsupported-feature"]),
    ("unknown-field", &["unknown-key"]),
    (
        "unknown-function",
        &[
            "unknown-data-source-type",
            "unknown-function",
            "package-unavailable",
        ],
    ),
    ("unknown-name", &["unknown-name"]),
    ("unknown-option", &["unknown-key"]),
    (
        "unknown-property",
        &[
            "unknown-field",
            "unknown-key",
            "unknown-spec-field",
            "missing-spec-field",
            "absent-element",
            // An option beside `options`, which is read.
            "not-a-resource",
        ],
    ),
    (
        "unknown-token",
        &[
            "unknown-resource-type",
            "invalid-token",
            "package-unavailable",
            "unknown-function",
            "unknown-data-source-type",
        ],
    ),
    ("yaml-alias", &["invalid-syntax"]),
    (
        "yaml-syntax",
        &["invalid-syntax", "wrong-shape", "unknown-dialect"],
    ),
];

/// The key of special values in the protocol: here only of references to resources.
const SPECIAL: &str = "4dabf18193072939515e22adb298388d";

/// The cases of a file, without those for the texts of today's tool.
pub(super) fn cases(pack: &Path, file: &str) -> Result<Vec<Case>, String> {
    let folder = pack.join("programs");
    let listed = read_json(&folder.join(format!("{file}.json")))?;
    let behaviours = folder.join("behaviours.json");
    let behaviours = Behaviours::read(&folder.join("schemas"), Some(&behaviours))?;
    let all = listed.as_array().cloned().unwrap_or_default();
    let counted = all.into_iter().filter(|case| case["compat"] != true);
    let cases = counted.map(|case| {
        let behaviours = behaviours.clone();
        Case {
            id: case["name"].as_str().unwrap_or_default().to_owned(),
            run: Box::new(move || in_runtime(async move { run(&case, &behaviours).await })?),
        }
    });
    Ok(cases.collect())
}

pub(super) async fn run(case: &Json, behaviours: &Behaviours) -> Result<(), String> {
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    let files = case["files"].as_object();
    for (name, content) in files.into_iter().flatten() {
        let path = place.path().join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        let bytes = match (content.as_str(), content["base64"].as_str()) {
            (Some(text), _) => text.as_bytes().to_vec(),
            (None, Some(text)) => base64::engine::general_purpose::STANDARD
                .decode(text)
                .map_err(|error| error.to_string())?,
            (None, None) => Vec::new(),
        };
        std::fs::write(path, bytes).map_err(|error| error.to_string())?;
    }
    let (name, text) = program(case)?;
    let requests = Requests::default();
    let mut real = behaviours.providers(case, &requests);
    real.push(Arc::new(providers::cyan::provider()));
    real.push(Arc::new(providers::std::provider()));
    let mut harness = Harness::with(place.path().to_owned(), Vec::new(), real);
    let stack = case["stack"].as_str().unwrap_or("dev");
    harness.name = state::InstanceName::from_free_text(stack);
    let project = case["project"].as_str().unwrap_or("demo");
    write_config(
        case,
        &place
            .path()
            .join(&name)
            .with_file_name(format!("Pulumi.{stack}.yaml")),
    )?;
    let staged = harness
        .stage(&name, &text, secrets(case, project), Options::default())
        .await;
    let expect = &case["expect"];
    let wanted = if expect.get("both").is_some() {
        &expect["both"]
    } else {
        &expect["preview"]
    };
    if wanted.is_null() {
        return Ok(());
    }
    let result = compare(wanted, &staged);
    let others = case["also"].as_array().into_iter().flatten();
    let has_other = others.into_iter().any(|other| {
        if other["anything"].is_string() {
            return true;
        }
        other["ok"].as_bool() == Some(staged.staged.is_some())
    });
    if has_other { Ok(()) } else { result }
}

/// The name and the text of the program.
pub(super) fn program(case: &Json) -> Result<(String, String), String> {
    let names = ["Main.json", "Main.yaml", "Pulumi.yaml"];
    let folder = case["programDir"].as_str().unwrap_or_default();
    let folder = folder.trim_start_matches("./").trim_end_matches('/');
    let inside = names.iter().map(|name| format!("{folder}/{name}"));
    let found = inside
        .chain(names.iter().map(|name| (*name).to_owned()))
        .find(|name| case["files"].get(name).is_some());
    let name = found.ok_or("the case has no program")?;
    let text = case["files"][&name].as_str().unwrap_or_default().to_owned();
    Ok((name, text))
}

/// Writes the configuration as the file of the stack.
fn write_config(case: &Json, file: &Path) -> Result<(), String> {
    let Some(config) = case["config"].as_object() else {
        return Ok(());
    };
    let text = serde_json::json!({"config": config}).to_string();
    std::fs::write(file, text).map_err(|error| error.to_string())
}

/// The values of the configuration that are secret.
fn secrets(case: &Json, project: &str) -> Given {
    let mut given = Given::default();
    let keys = case["secretKeys"].as_array().into_iter().flatten();
    for key in keys.filter_map(Json::as_str) {
        let own = key
            .strip_prefix(project)
            .and_then(|rest| rest.strip_prefix(':'));
        let Some(name) = own else { continue };
        let value = Value::text(case["config"][key].as_str().unwrap_or_default());
        given.typed.insert(name.into(), value.secret());
    }
    given
}

fn compare(wanted: &Json, staged: &StageResult) -> Result<(), String> {
    let errors: Vec<_> = staged
        .diagnostics
        .iter()
        .filter(|one| one.is_error())
        .collect();
    let reported = || -> Vec<String> {
        let line = |one: &diag::Diagnostic| {
            let file = staged.files.get(one.span().file);
            file.map_or(0, |file| file.position(one.span().start).line)
        };
        errors
            .iter()
            .map(|one| format!("{} {}: {}", one.code.name, line(one), one.message))
            .collect()
    };
    if wanted.get("crash").is_some() {
        return Ok(());
    }
    if wanted["loads"].is_boolean() {
        // The schemas are not at hand: whether the document can be read is what counts, not what a
        // check finds with types, names and values.
        const FOUND_LATER: [&str; 5] = [
            "package-unavailable",
            "unknown-resource-type",
            "unknown-data-source-type",
            "missing-variable",
            "unknown-name",
        ];
        let is_sound = errors
            .iter()
            .all(|one| FOUND_LATER.contains(&one.code.name));
        return match is_sound == (wanted["loads"] == true) {
            true => Ok(()),
            false => Err(format!("{:?}, wanted {wanted}", reported())),
        };
    }
    if wanted["ok"] != true {
        if errors.is_empty() {
            return Err(format!("no error, wanted {}", wanted["errors"]));
        }
        let listed = wanted["errors"].as_array();
        let matches = listed.into_iter().flatten().any(|error| {
            let kind = error["kind"].as_str().unwrap_or_default();
            let codes = KINDS.iter().find(|(known, _)| *known == kind);
            let codes = codes.map_or(&[][..], |(_, codes)| codes);
            let wanted_line = error["range"][0].as_u64();
            errors.iter().any(|one| {
                codes.contains(&one.code.name)
                    && wanted_line.is_none_or(|wanted| is_at_line(one, staged, wanted))
            })
        });
        return match matches {
            true => Ok(()),
            false => Err(format!("{:?}, wanted {}", reported(), wanted["errors"])),
        };
    }
    let Some(plan) = &staged.staged else {
        return Err(format!("refused: {:?}", reported()));
    };
    let outputs: Map<String, Json> = plan
        .plan
        .exports
        .iter()
        .filter_map(|export| Some((export.name.to_string(), marked(export.after.as_ref()?))))
        .collect();
    let empty = Json::Object(Map::new());
    let wanted = without_nulls(wanted.get("outputs").unwrap_or(&empty));
    let outputs = without_nulls(&Json::Object(outputs));
    match same(&wanted, &outputs) {
        true => Ok(()),
        false => Err(format!("outputs {outputs}, wanted {wanted}")),
    }
}

/// Outputs without those that are null: whether such an output is registered depends on its source.
fn without_nulls(outputs: &Json) -> Json {
    let entries = outputs.as_object().into_iter().flatten();
    let entries = entries.filter(|(_, value)| !value.is_null());
    Json::Object(
        entries
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    )
}

/// Whether a diagnostic has a label in a line. A circle, for example, has one at each of its edges.
fn is_at_line(one: &diag::Diagnostic, staged: &StageResult, wanted: u64) -> bool {
    one.labels.iter().any(|label| {
        let file = staged.files.get(label.span.file);
        let line = file.map(|file| u64::from(file.position(label.span.start).line));
        line == Some(wanted)
    })
}

/// A value in the notation of the pack.
pub(super) fn marked(value: &Value) -> Json {
    match value {
        Value::Secret(inner) => serde_json::json!({"$secret": marked(inner)}),
        Value::Unknown(_) => serde_json::json!({"$unknown": true}),
        Value::List(items) | Value::Set(items) => items.iter().map(marked).collect(),
        Value::Map(entries) => {
            let is_reference = entries.contains_key(SPECIAL);
            let entries = entries
                .iter()
                .filter(|(key, _)| key.as_ref() != SPECIAL)
                .map(|(key, entry)| (key.to_string(), marked(entry)));
            let entries = Json::Object(entries.collect());
            match is_reference {
                true => serde_json::json!({"$ref": entries}),
                false => entries,
            }
        }
        Value::Asset(asset) => asset_json(asset),
        Value::Float(float) if float.is_nan() => serde_json::json!({"$float": "NaN"}),
        Value::Float(float) if float.is_infinite() => {
            let sign = if *float > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            };
            serde_json::json!({"$float": sign})
        }
        other => serde_json::to_value(other).unwrap_or(Json::Null),
    }
}

fn asset_json(asset: &blueprint::Asset) -> Json {
    use blueprint::Asset;
    match asset {
        Asset::Text(text) => serde_json::json!({"$asset": {"text": text.to_string()}}),
        Asset::File(path) => serde_json::json!({"$asset": {"path": path.to_string()}}),
        Asset::Remote(url) => serde_json::json!({"$asset": {"uri": url.to_string()}}),
        Asset::LocalArchive(path) => serde_json::json!({"$archive": {"path": path.to_string()}}),
        Asset::RemoteArchive(url) => serde_json::json!({"$archive": {"uri": url.to_string()}}),
        Asset::Sent(asset, _) => asset_json(asset),
        Asset::Archive(entries) => {
            let entries = entries
                .iter()
                .map(|(name, entry)| (name.to_string(), asset_json(entry)));
            let entries: Map<String, Json> = entries.collect();
            serde_json::json!({"$archive": {"assets": entries}})
        }
    }
}

/// Whether an answer is the recorded one: numbers are doubles, and a digest of an asset may be
/// missing. An unknown value may also be a list or map with an unknown part, and a secret list or
/// map one with secret parts.
pub(super) fn same(wanted: &Json, found: &Json) -> bool {
    if wanted["$any"] == true {
        return true;
    }
    match (wanted, found) {
        (Json::Number(wanted), Json::Number(found)) => wanted.as_f64() == found.as_f64(),
        (Json::Array(wanted), Json::Array(found)) => {
            wanted.len() == found.len()
                && wanted
                    .iter()
                    .zip(found)
                    .all(|(one, other)| same(one, other))
        }
        (Json::Object(marks), _) if marks.contains_key("$unknown") => has_unknown(found),
        (Json::Object(marks), _) if marks.contains_key("$secret") => {
            let is_secret = has_secret(found);
            is_secret && same(&revealed(&marks["$secret"]), &revealed(found))
        }
        (Json::Object(wanted), Json::Object(found)) => {
            let counted = |key: &&String| key.as_str() != "hash";
            wanted.keys().filter(counted).count() == found.keys().filter(counted).count()
                && wanted
                    .iter()
                    .filter(|(key, _)| counted(key))
                    .all(|(key, one)| found.get(key).is_some_and(|other| same(one, other)))
        }
        (wanted, found) => wanted == found,
    }
}

/// Whether a value has a part with this mark.
fn has_mark(json: &Json, mark: &str) -> bool {
    match json {
        Json::Array(items) => items.iter().any(|item| has_mark(item, mark)),
        Json::Object(entries) => {
            entries.contains_key(mark) || entries.values().any(|entry| has_mark(entry, mark))
        }
        _ => false,
    }
}

fn has_unknown(json: &Json) -> bool {
    has_mark(json, "$unknown")
}

fn has_secret(json: &Json) -> bool {
    has_mark(json, "$secret")
}

/// A value without its marks of secrets.
fn revealed(json: &Json) -> Json {
    match json {
        Json::Array(items) => items.iter().map(revealed).collect(),
        Json::Object(entries) => match entries.get("$secret") {
            Some(inner) => revealed(inner),
            None => {
                let entries = entries
                    .iter()
                    .map(|(key, one)| (key.clone(), revealed(one)));
                Json::Object(entries.collect())
            }
        },
        other => other.clone(),
    }
}
