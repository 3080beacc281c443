//! Calls of the package `std` in programs of Pulumi YAML: compares the results with those of
//! Pulumi's own package (see the pack's README). Each call is written as `fn::invoke` and in its
//! short form.

use std::path::Path;
use std::sync::Arc;

use engine::{Given, Options};
use serde_json::{Value as Json, json};

use super::case::{Case, read_json};
use super::notation::{marked, same};
use crate::harness::Harness;
use crate::runtime::in_runtime;

/// The recorded calls.
pub(super) fn cases(pack: &Path) -> Result<Vec<Case>, String> {
    let listed = read_json(&pack.join("std.json"))?;
    let all = listed.as_array().cloned().unwrap_or_default();
    let cases = all.into_iter().map(|case| Case {
        id: format!(
            "{} {}",
            case["name"].as_str().unwrap_or_default(),
            case["function"].as_str().unwrap_or_default()
        ),
        run: Box::new(move || in_runtime(async move { run(&case).await })?),
    });
    Ok(cases.collect())
}

/// A value as it is written in a program: an access is escaped.
fn written(value: &Json) -> Json {
    match value {
        Json::String(text) => json!(text.replace("${", "$${")),
        Json::Array(items) => items.iter().map(written).collect(),
        Json::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(key, entry)| (key.clone(), written(entry)));
            Json::Object(entries.collect())
        }
        other => other.clone(),
    }
}

async fn run(case: &Json) -> Result<(), String> {
    let token = case["function"].as_str().unwrap_or_default();
    let arguments = written(&case["arguments"]);
    let short = format!("fn::{}", token.replacen(":index:", ":", 1));
    let program = json!({
        "name": "demo",
        "runtime": "yaml",
        "outputs": {
            "long": {"fn::invoke": {"function": token, "arguments": arguments, "return": "result"}},
            "short": {short: arguments},
        },
    });
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    let std = Arc::new(providers::std::provider());
    let harness = Harness::with(place.path().to_owned(), Vec::new(), vec![std]);
    let text = program.to_string();
    let staged = harness
        .stage("Main.json", &text, Given::default(), Options::default())
        .await;
    let errors: Vec<&str> = staged
        .diagnostics
        .iter()
        .filter(|one| one.is_error())
        .map(|one| one.message.as_str())
        .collect();
    let Some(wanted) = case.get("result") else {
        return match errors.is_empty() {
            true => Err(format!("no error, wanted {case}")),
            false => Ok(()),
        };
    };
    let Some(plan) = &staged.staged else {
        return Err(format!("{}: refused: {errors:?}", case["arguments"]));
    };
    let output = |name: &str| {
        let mut exports = plan.plan.exports.iter();
        let export = exports.find(|export| export.name.as_ref() == name);
        export
            .and_then(|export| export.after.as_ref())
            .map_or(Json::Null, marked)
    };
    let (long, short) = (output("long"), output("short"));
    if !agrees(wanted, &long) {
        return Err(format!("{}: {long}, wanted {wanted}", case["arguments"]));
    }
    match agrees(&json!({"result": wanted}), &short) {
        true => Ok(()),
        false => Err(format!("in the short form: {short}, wanted {wanted}")),
    }
}

/// Whether a result is the recorded one: of a float, 15 digits count.
fn agrees(wanted: &Json, found: &Json) -> bool {
    match (wanted, found) {
        (Json::Number(one), Json::Number(other)) => {
            let digits = |number: &serde_json::Number| number.as_f64().map(|n| format!("{n:.14e}"));
            digits(one) == digits(other)
        }
        (Json::Array(wanted), Json::Array(found)) => {
            let mut pairs = wanted.iter().zip(found);
            wanted.len() == found.len() && pairs.all(|(one, other)| agrees(one, other))
        }
        (Json::Object(wanted), Json::Object(found)) => {
            let mut entries = wanted.iter();
            wanted.len() == found.len()
                && entries.all(|(key, one)| found.get(key).is_some_and(|other| agrees(one, other)))
        }
        (wanted, found) => same(wanted, found),
    }
}
