//! Programs of Pulumi YAML: compares what a plan knows with the recorded answer of a preview (see
//! the pack's README). The types of packages come from the schemas of the pack; a simulation stands
//! in for the plugins.
//!
//! Compared are the outcome, the kind and line of one error, the outputs, the warnings, and the
//! requests with their inputs and most of their options, of a preview and of an update.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use base64::Engine as _;
use blueprint::Value;
use diag::{Diagnostic, Diagnostics, Files, Span};
use engine::{Given, Options};
use serde_json::{Map, Value as Json};

use super::case::{Case, case_program, read_json};
use super::monitor::{Behaviours, Requests};
use super::notation::{is_null, marked, revealed, same};
use super::stacks::StacksOfCase;
use super::{request_options, requests, required_packages};
use crate::harness::{Harness, StageResult, settings};
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
    (
        "option-not-resource",
        &["not-a-resource", "wrong-shape", "provider-name"],
    ),
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
    ("compiler", &["unsupported-feature"]),
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

/// The kinds of warnings in the pack, with the codes that mean the same.
const WARNINGS: &[(&str, &[&str])] = &[
    ("key-casing", &["key-casing"]),
    ("deprecated", &["deprecated-section", "deprecated-function"]),
    ("unknown-field", &["unknown-key"]),
    ("unknown-function", &["function-as-data"]),
];

/// The end of an area with the cases for the texts of today's tool.
const COMPAT: &str = " compat";

/// The cases of a file: without those for the texts of today's tool, or only those if the name ends
/// with ` compat`.
pub(super) fn cases(pack: &Path, area: &str) -> Result<Vec<Case>, String> {
    let file = area.strip_suffix(COMPAT).unwrap_or(area);
    let compat = file != area;
    let folder = pack.join("programs");
    let listed = read_json(&folder.join(format!("{file}.json")))?;
    let behaviours = folder.join("behaviours.json");
    let behaviours = Behaviours::read(&folder.join("schemas"), Some(&behaviours))?;
    let all = listed.as_array().cloned().unwrap_or_default();
    let counted = all
        .into_iter()
        .filter(move |case| (case["compat"] == true) == compat);
    let cases = counted.map(|case| {
        let behaviours = behaviours.clone();
        Case {
            id: case["name"].as_str().unwrap_or_default().to_owned(),
            run: Box::new(move || {
                if case["expect"].get("packages").is_some() {
                    required_packages::compare(&case)?;
                }
                in_runtime(async move { run(&case, &behaviours).await })?
            }),
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
    let Ok((name, text)) = case_program(case) else {
        let no_program = &case["expect"]["both"]["errors"][0]["kind"];
        return match no_program == "no-program" {
            true => Ok(()),
            false => Err("the case has no program".to_owned()),
        };
    };
    let requests = Requests::default();
    let mut real = behaviours.providers(case, &requests);
    real.push(Arc::new(providers::cyan::provider()));
    real.push(Arc::new(providers::std::provider()));
    real.push(Arc::new(StacksOfCase::new(case, &requests)));
    let mut harness = Harness::with(place.path().to_owned(), Vec::new(), real);
    if case["compat"] == true {
        let compat = [("compat".into(), Value::Bool(true))];
        let settings = &mut harness.context.settings;
        harness.dialects.set(settings, "pulumi", &compat)?;
    }
    let stack = case["stack"].as_str().unwrap_or("dev");
    harness.name = state::InstanceName::from_free_text(stack);
    if case["compat"] == true {
        let compat = [("compat".into(), Value::Bool(true))];
        crate::dialects().set(&mut harness.context.settings, "pulumi", &compat)?;
    }
    let folder = place.path().display().to_string();
    harness.working_directory = Some(folder.as_str().into());
    let project = case["project"].as_str().unwrap_or("demo");
    let stack_file = place.path().join(&name);
    let stack_file = stack_file.with_file_name(format!("Pulumi.{stack}.yaml"));
    write_config(case, &stack_file)?;
    let given = secrets(case, project);
    let StageResult {
        files,
        diagnostics,
        staged,
    } = harness.stage(&name, &text, given, Options::default()).await;
    let expect = placed(&case["expect"], &folder);
    let wanted = |mode: &str| expect.get(mode).or_else(|| expect.get("both"));
    let Some(preview) = wanted("preview") else {
        return Ok(());
    };
    let mut answer = Answer::of(&diagnostics, files.clone());
    answer.requests = taken(&requests);
    if let Some(staged) = &staged {
        let exports = staged.plan.exports.iter();
        let known =
            exports.filter_map(|one| Some((one.name.to_string(), marked(one.after.as_ref()?))));
        answer.outputs = Some(known.collect());
        answer.requests.extend(requests::of_providers(staged));
    }
    let options = staged.as_ref().map(request_options::of);
    let options = options.unwrap_or_default();
    requests::add_options(&mut answer.requests, &options);
    answer.requests = in_project(answer.requests, &text, project);
    let leniency = Leniency::of(case);
    let planned = compare(preview, &answer, leniency);
    if may_also(case, staged.is_some()) {
        return Ok(());
    }
    planned?;
    let (Some(staged), Some(update)) = (staged, wanted("update")) else {
        return Ok(());
    };
    // Calls that the plan made are not repeated.
    let asked = answer.requests.into_iter();
    let mut asked: Vec<Json> = asked.filter(|one| one["op"] != "register").collect();
    asked.extend(requests::of_providers(&staged));
    let run = harness
        .run(staged, false, Vec::new(), settings(None, true))
        .await;
    let found = run.outcome().map(|outcome| outcome.diagnostics.clone());
    let mut answer = Answer::of(&found.unwrap_or_default(), files);
    // Warnings are those of the plan.
    answer.warnings.extend(diagnostics.iter().cloned());
    if answer.errors.is_empty() {
        let exports = harness.snapshot().await.exports;
        let exports = exports.iter();
        let known = exports.map(|(name, value)| (name.to_string(), marked(value)));
        answer.outputs = Some(known.collect());
    }
    asked.extend(taken(&requests));
    requests::add_options(&mut asked, &options);
    answer.requests = in_project(asked, &text, project);
    let result =
        compare(update, &answer, leniency).map_err(|difference| format!("update: {difference}"));
    match may_also(case, answer.errors.is_empty()) {
        true => Ok(()),
        false => result,
    }
}

/// Whether the case allows another outcome than the recorded one.
fn may_also(case: &Json, succeeded: bool) -> bool {
    let mut others = case["also"].as_array().into_iter().flatten();
    others.any(|other| other["anything"].is_string() || other["ok"].as_bool() == Some(succeeded))
}

/// Requests of a program without a name, whose project the command line knows.
fn in_project(requests: Vec<Json>, text: &str, project: &str) -> Vec<Json> {
    if text.starts_with("name:") || text.contains("\nname:") {
        return requests;
    }
    let renamed = |mut request: Json| {
        if let Some(urn) = request["urn"].as_str() {
            request["urn"] = Json::from(urn.replace("::project::", &format!("::{project}::")));
        }
        request
    };
    requests.into_iter().map(renamed).collect()
}

/// The requests so far. The next ones begin a new list.
fn taken(requests: &Requests) -> Vec<Json> {
    let mut requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut *requests)
}

/// An answer with the folder of the program in its texts.
fn placed(json: &Json, folder: &str) -> Json {
    match json {
        Json::String(text) => Json::String(text.replace("{dir}", folder)),
        Json::Array(items) => items.iter().map(|item| placed(item, folder)).collect(),
        Json::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(key, one)| (key.clone(), placed(one, folder)));
            Json::Object(entries.collect())
        }
        other => other.clone(),
    }
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

/// What a plan or an operation answers.
struct Answer {
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    files: Files,
    /// The outputs; `None` if the program was refused or something failed.
    outputs: Option<Map<String, Json>>,
    /// The requests to the monitor.
    requests: Vec<Json>,
}

impl Answer {
    fn of(diagnostics: &Diagnostics, files: Files) -> Answer {
        let all = || diagnostics.iter().cloned();
        Answer {
            errors: all().filter(Diagnostic::is_error).collect(),
            warnings: all().filter(|one| !one.is_error()).collect(),
            files,
            outputs: None,
            requests: Vec::new(),
        }
    }

    fn line(&self, span: Span) -> Option<u64> {
        let file = self.files.get(span.file)?;
        Some(u64::from(file.position(span.start).line))
    }

    /// Whether a diagnostic of one of these codes has a label in a line. A circle, for example, has
    /// one at each of its edges.
    fn has(&self, of: &[Diagnostic], codes: &[&str], line: Option<u64>) -> bool {
        of.iter().any(|one| {
            let mut labels = one.labels.iter();
            codes.contains(&one.code.name)
                && line.is_none_or(|line| labels.any(|label| self.line(label.span) == Some(line)))
        })
    }

    fn reported(&self) -> Vec<String> {
        let words = |one: &Diagnostic| {
            let line = self.line(one.span()).unwrap_or_default();
            format!("{} {line}: {}", one.code.name, one.message)
        };
        self.errors.iter().map(words).collect()
    }
}

fn codes_of(table: &'static [(&str, &[&str])], kind: &Json) -> &'static [&'static str] {
    let found = table.iter().find(|(known, _)| kind == known);
    found.map_or(&[][..], |(_, codes)| codes)
}

/// What a comparison leaves out.
#[derive(Clone, Copy, Default)]
pub(super) struct Leniency {
    /// Marks of secrets.
    secrets: bool,
    /// Marks of secrets that the answer has and the wanted one has not.
    further_secrets: bool,
    /// What resources depend on beyond what is wanted, and that they depend on their parent.
    further_edges: bool,
    /// Calls of functions that only the other side makes.
    calls: bool,
}

impl Leniency {
    /// What the list `lenient` of a case names.
    fn of(case: &Json) -> Leniency {
        let named = |what: &str| {
            let mut listed = case["lenient"].as_array().into_iter().flatten();
            listed.any(|one| one == what)
        };
        Leniency {
            secrets: named("secrets"),
            further_secrets: named("further secrets"),
            further_edges: named("further edges"),
            calls: named("calls"),
        }
    }

    fn seen(self, value: &Json) -> Json {
        match self.secrets {
            true => revealed(value),
            false => value.clone(),
        }
    }

    /// The requests as far as they are compared.
    fn requests(self, all: &Json, others: &Json) -> Vec<Json> {
        let all = all.as_array().into_iter().flatten();
        let made_by_both = |one: &&Json| {
            let is_same = |other: &Json| {
                other["op"] == "invoke"
                    && other["token"] == one["token"]
                    && same(&self.seen(&one["inputs"]), &self.seen(&other["inputs"]))
            };
            let mut others = others.as_array().into_iter().flatten();
            !self.calls || one["op"] != "invoke" || others.any(is_same)
        };
        let compared = all.filter(made_by_both).map(|one| {
            let mut one = one.clone();
            one["inputs"] = self.seen(&one["inputs"]);
            one
        });
        compared.collect()
    }
}

fn compare(wanted: &Json, answer: &Answer, leniency: Leniency) -> Result<(), String> {
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
        let mut errors = answer.errors.iter();
        let is_sound = errors.all(|one| FOUND_LATER.contains(&one.code.name));
        return match is_sound == (wanted["loads"] == true) {
            true => Ok(()),
            false => Err(format!("{:?}, wanted {wanted}", answer.reported())),
        };
    }
    if wanted["ok"] != true {
        if answer.errors.is_empty() {
            return Err(format!("no error, wanted {}", wanted["errors"]));
        }
        // Pulumi's own messages are of no kind.
        if wanted["errors"][0]["kind"].is_null() {
            return Ok(());
        }
        let mut listed = wanted["errors"].as_array().into_iter().flatten();
        let matches = listed.any(|error| {
            let codes = codes_of(KINDS, &error["kind"]);
            answer.has(&answer.errors, codes, error["range"][0].as_u64())
        });
        return match matches {
            true => Ok(()),
            false => Err(format!(
                "{:?}, wanted {}",
                answer.reported(),
                wanted["errors"]
            )),
        };
    }
    let Some(outputs) = &answer.outputs else {
        return Err(format!("refused: {:?}", answer.reported()));
    };
    let empty = Json::Object(Map::new());
    let mut expected = without_nulls(&leniency.seen(wanted.get("outputs").unwrap_or(&empty)));
    let mut outputs = without_nulls(&leniency.seen(&Json::Object(outputs.clone())));
    if leniency.further_secrets {
        outputs = without_further_secrets(&outputs, &expected);
    }
    if let Some(entries) = expected.as_object_mut() {
        // What may be anything may also be null.
        entries.retain(|name, one| one["$any"] != true || outputs.get(name).is_some());
    }
    if !same(&expected, &outputs) {
        return Err(format!("outputs {outputs}, wanted {expected}"));
    }
    for warning in wanted["warnings"].as_array().into_iter().flatten() {
        let codes = codes_of(WARNINGS, &warning["kind"]);
        if !answer.has(&answer.warnings, codes, warning["range"][0].as_u64()) {
            return Err(format!("no warning {warning}"));
        }
    }
    let mut found = answer.requests.clone();
    for request in &mut found {
        let mut wanted = wanted["requests"].as_array().into_iter().flatten();
        let wanted = wanted.find(|one| one["urn"] == request["urn"] && !one["urn"].is_null());
        let Some(wanted) = wanted else { continue };
        if leniency.further_secrets {
            request["inputs"] = without_further_secrets(&request["inputs"], &wanted["inputs"]);
        }
        if leniency.further_edges {
            requests::leave_out_further_edges(&mut request["options"], &wanted["options"]);
        }
    }
    let found = Json::from(found);
    let expected = Json::from(leniency.requests(&wanted["requests"], &found));
    requests::compare(&expected, &leniency.requests(&found, &wanted["requests"]))
}

/// A value without the marks of secrets that the wanted one has not.
fn without_further_secrets(found: &Json, wanted: &Json) -> Json {
    match (found, wanted) {
        (found, wanted) if wanted.get("$secret").is_some() => found.clone(),
        (Json::Object(entries), _) if entries.contains_key("$secret") => {
            without_further_secrets(&entries["$secret"], wanted)
        }
        (Json::Object(entries), _) => {
            let entries = entries.iter().map(|(key, one)| {
                let wanted = wanted.get(key).unwrap_or(&Json::Null);
                (key.clone(), without_further_secrets(one, wanted))
            });
            Json::Object(entries.collect())
        }
        (Json::Array(items), _) => {
            let items = items.iter().enumerate();
            let items = items.map(|(at, one)| {
                without_further_secrets(one, wanted.get(at).unwrap_or(&Json::Null))
            });
            items.collect()
        }
        (other, _) => other.clone(),
    }
}

/// Outputs without what is null: the program SDK leaves out some of these entries, depending on their
/// source.
fn without_nulls(outputs: &Json) -> Json {
    match outputs {
        secret if is_null(secret) => Json::Null,
        Json::Object(entries) => {
            let entries = entries.iter().filter(|(_, value)| !is_null(value));
            let entries = entries.map(|(name, value)| (name.clone(), without_nulls(value)));
            Json::Object(entries.collect())
        }
        Json::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}
