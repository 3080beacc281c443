//! Cases about a document alone, or about one expression.

use std::path::Path;
use std::sync::Arc;

use blueprint::{Address, ExprKind, Key};
use diag::{Diagnostic, Files, Severity};
use engine::Options;
use serde_json::Value as Json;

use super::case::{Case, differences, folder, read, read_json};
use crate::harness::Harness;
use crate::json_values::{equal, given, to_json};
use crate::runtime::in_runtime;

fn codes(diagnostics: &diag::Diagnostics, severity: Severity) -> Vec<&'static str> {
    let mut codes: Vec<_> = diagnostics
        .iter()
        .filter(|it| it.severity == severity)
        .map(|it| it.code.name)
        .collect();
    codes.sort_unstable();
    codes
}

/// The cases of `functions.json`.
pub(super) fn functions(pack: &Path) -> Result<Vec<Case>, String> {
    let path = pack.join("cases/functions.json");
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let Json::Array(cases) = read_json(&path)? else {
        return Err("functions.json is not a list".to_owned());
    };
    Ok(cases
        .into_iter()
        .map(|case| Case {
            id: text_of(&case, "id"),
            run: Box::new(move || function(&case)),
        })
        .collect())
}

fn text_of(case: &Json, key: &str) -> String {
    case[key].as_str().unwrap_or_default().to_owned()
}

fn folder_with(files: Option<&Json>) -> Result<tempfile::TempDir, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    for (name, text) in files.and_then(Json::as_object).into_iter().flatten() {
        let path = folder.path().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|error| error.to_string())?;
        }
        std::fs::write(path, text.as_str().unwrap_or_default())
            .map_err(|error| error.to_string())?;
    }
    Ok(folder)
}

fn function(case: &Json) -> Result<(), String> {
    let folder = folder_with(case.get("files"))?;
    let mut document = String::from("version: 2025-11-02\n");
    let inputs = case
        .get("inputs")
        .and_then(Json::as_object)
        .cloned()
        .unwrap_or_default();
    if !inputs.is_empty() {
        document.push_str("variables:\n");
    }
    for (name, value) in &inputs {
        let (value, secret) = match value.get("$secret") {
            Some(inner) => (inner, true),
            None => (value, false),
        };
        let kind = match value {
            Json::Bool(_) => "boolean",
            Json::Number(number) if number.is_i64() => "integer",
            Json::Number(_) => "float",
            _ => "string",
        };
        document.push_str(&format!("  {name}: {{ type: {kind}, secret: {secret} }}\n"));
    }
    // A string in double quotes is JSON.
    let expression = serde_json::to_string(&format!("${{{}}}", text_of(case, "expr")))
        .map_err(|error| error.to_string())?;
    document.push_str(&format!(
        "metadata: {{ e: {expression} }}\nresources:\n  r: {{ type: test/data, spec: {{ input: {{ k: v, list: [1, 2] }} }} }}\n"
    ));
    in_runtime(async {
        let mut harness = Harness::new(folder.path().to_path_buf(), Vec::new());
        working_directory(&mut harness, case.get("cwd"), folder.path());
        let mut stage = harness
            .stage(
                "case.yaml",
                &document,
                given(case.get("inputs"), None),
                Options::default(),
            )
            .await;
        let mut value = None;
        if let Some(staged) = &mut stage.staged {
            let read = harness.read("case.yaml", &document).await;
            let expr = read.checked.and_then(|checked| {
                match checked
                    .blueprint
                    .metadata
                    .as_ref()
                    .map(|it| it.kind.clone())
                {
                    Some(ExprKind::Map(mut entries)) => entries.pop().map(|(_, expr)| expr),
                    _ => None,
                }
            });
            // The check has already evaluated the metadata and reported all diagnostics of the
            // document.
            let mut again = diag::Diagnostics::new();
            if let Some(expr) = expr {
                value = harness.evaluate(staged, &expr, &mut again).await;
            }
        }
        let errors = codes(&stage.diagnostics, Severity::Error);
        let warnings = codes(&stage.diagnostics, Severity::Warning);
        if let Some(code) = case["error"].as_str() {
            return if errors == [code] {
                Ok(())
            } else {
                Err(format!(
                    "expected the error {code}, got {errors:?}, value {value:?}"
                ))
            };
        }
        let mut expected: Vec<&str> = case["diagnostics"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
            .collect();
        expected.sort_unstable();
        if !errors.is_empty() || warnings != expected {
            return Err(format!(
                "expected warnings {expected:?}, got errors {errors:?}, warnings {warnings:?}"
            ));
        }
        let value = value.ok_or_else(|| "no value".to_owned())?;
        let json = to_json(&value);
        if equal(&json, &case["expect"], true) {
            Ok(())
        } else {
            Err(format!("expected {}, got {json}", case["expect"]))
        }
    })?
}

pub(super) fn working_directory(harness: &mut Harness, cwd: Option<&Json>, folder: &Path) {
    match cwd {
        None => {}
        Some(Json::String(here)) if here == "." => {
            harness.working_directory = Some(folder.to_string_lossy().as_ref().into())
        }
        Some(Json::String(path)) => harness.working_directory = Some(path.as_str().into()),
        Some(_) => harness.working_directory = None,
    }
}

/// The cases of `syntax.json`.
pub(super) fn syntax(pack: &Path) -> Result<Vec<Case>, String> {
    let path = pack.join("cases/syntax.json");
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let context: Arc<str> = read(&pack.join("syntax-context.yaml"))?.into();
    let Json::Array(cases) = read_json(&path)? else {
        return Err("syntax.json is not a list".to_owned());
    };
    let case = |case: Json| {
        let context = context.clone();
        Case {
            id: text_of(&case, "id"),
            run: Box::new(move || scalar(&case, &context)),
        }
    };
    Ok(cases.into_iter().map(case).collect())
}

fn scalar(case: &Json, context: &str) -> Result<(), String> {
    let text = text_of(case, "text");
    let start = context.find("TEXT").ok_or("the context has no TEXT")?;
    // The text in double quotes, and the place in the document of each of its bytes.
    let mut quoted = String::from("\"");
    let mut places = Vec::with_capacity(text.len() + 1);
    for c in text.chars() {
        let escaped = serde_json::to_string(&c.to_string()).map_err(|error| error.to_string())?;
        for byte in 0..c.len_utf8() {
            let inside = if escaped.len() - 2 == c.len_utf8() {
                byte
            } else {
                0
            };
            places.push(start + quoted.len() + inside);
        }
        quoted.push_str(&escaped[1..escaped.len() - 1]);
    }
    places.push(start + quoted.len());
    quoted.push('"');
    let end = start + quoted.len();
    let document = context.replacen("TEXT", &quoted, 1);
    in_runtime(async {
        let harness = Harness::new(std::env::temp_dir(), Vec::new());
        let stage = harness
            .stage(
                "case.yaml",
                &document,
                given(None, None),
                Options::default(),
            )
            .await;
        let within = |it: &&Diagnostic| {
            let span = it.span();
            span.is_some() && (span.start as usize) >= start && (span.end as usize) <= end
        };
        let decoded = |offset: u32| {
            places
                .iter()
                .position(|place| *place >= offset as usize)
                .unwrap_or(text.len())
        };
        let mut got: Vec<Json> = Vec::new();
        for it in stage.diagnostics.iter().filter(within) {
            let (from, to) = (decoded(it.span().start), decoded(it.span().end));
            let before = &text[..from.min(text.len())];
            let line = before.matches('\n').count() + 1;
            let column = before
                .rsplit('\n')
                .next()
                .unwrap_or_default()
                .chars()
                .count()
                + 1;
            let severity = letter(it.severity);
            got.push(serde_json::json!({"code": it.code.name, "severity": severity, "bytes": [from, to], "line": line, "column": column}));
        }
        let expected: Vec<Json> = case["diagnostics"].as_array().cloned().unwrap_or_default();
        let sorted = |list: &[Json]| {
            let mut texts: Vec<String> = list.iter().map(sorted_keys).collect();
            texts.sort();
            texts
        };
        if sorted(&got) != sorted(&expected) {
            return Err(format!("expected {expected:?}, got {got:?}"));
        }
        let Some(wanted) = case.get("expect") else {
            return Ok(());
        };
        let Some(staged) = &stage.staged else {
            let others: Vec<_> = stage
                .diagnostics
                .iter()
                .filter(|it| it.is_error())
                .map(|it| it.code.name)
                .collect();
            return Err(format!("no plan: {others:?}"));
        };
        let probe = Address::root("probe").with_key(Key::Index(0));
        let value = staged
            .desired(&probe)
            .and_then(|spec| spec.get("input"))
            .map_or(Json::Null, to_json);
        if equal(&value, wanted, true) {
            Ok(())
        } else {
            Err(format!("expected {wanted}, got {value}"))
        }
    })?
}

fn sorted_keys(json: &Json) -> String {
    let mut parts: Vec<String> = json
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    parts.sort();
    parts.join(" ")
}

pub(super) fn letter(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "E",
        Severity::Warning => "W",
        Severity::Note => "N",
    }
}

/// The cases of `validation/`.
pub(super) fn validation(pack: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for (id, document, expect) in folder(pack, "validation")? {
        let Some(document) = document else {
            return Err(format!("validation {id} has no document"));
        };
        cases.push(Case {
            id,
            run: Box::new(move || validate(&document, &expect)),
        });
    }
    Ok(cases)
}

/// Code, severity letter, and line and column if the diagnostic has a place.
type PlacedCode = (String, String, Option<(u64, u64)>);

/// Code, severity, line and column of each diagnostic in the form of the pack; with the file first
/// on request.
fn placed(diagnostics: &diag::Diagnostics, files: &Files) -> Vec<PlacedCode> {
    let place = |it: &Diagnostic| {
        let span = it.span();
        let position = files.get(span.file).map(|file| file.position(span.start))?;
        Some((u64::from(position.line), u64::from(position.column)))
    };
    diagnostics
        .iter()
        .map(|it| {
            (
                it.code.name.to_owned(),
                letter(it.severity).to_owned(),
                place(it),
            )
        })
        .collect()
}

fn validate(document: &Path, expect: &Json) -> Result<(), String> {
    // The document is stored as bytes, since it may not be UTF-8.
    let text = read(document)?;
    let name = document
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
        .to_owned();
    let folder = document.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut more = Vec::new();
    let mut broken = Vec::new();
    if let Some(catalog) = expect["catalog"].as_str() {
        match provider::read_catalog(&read(&folder.join(catalog))?) {
            Ok(catalog) => more.push(Arc::new(catalog)),
            Err(error) => broken.push(error.to_string()),
        }
    }
    in_runtime(async {
        let mut harness = Harness::new(folder.clone(), more);
        harness.contradictions.extend(broken);
        working_directory(&mut harness, expect.get("cwd"), &folder);
        let (files, diagnostics) = if expect["run"] == "stage" {
            let stage = harness
                .stage(
                    &name,
                    &text,
                    given(expect.get("inputs"), expect.get("vars")),
                    Options::default(),
                )
                .await;
            (stage.files, stage.diagnostics)
        } else {
            let read = harness
                .read_all(&name, &text, &given(None, None), false)
                .await;
            (read.files, read.diagnostics)
        };
        compare(placed(&diagnostics, &files), expect)
    })?
}

fn compare(mut got: Vec<PlacedCode>, expect: &Json) -> Result<(), String> {
    let mut wrong = Vec::new();
    for wanted in expect["diagnostics"].as_array().into_iter().flatten() {
        let at = wanted[2].as_u64().zip(wanted[3].as_u64());
        let fits = |it: &PlacedCode| {
            wanted[0] == it.0.as_str() && wanted[1] == it.1.as_str() && (at.is_none() || it.2 == at)
        };
        match got.iter().position(fits) {
            Some(found) => {
                got.remove(found);
            }
            None => wrong.push(format!("missing {wanted}")),
        }
    }
    if expect["atLeast"] != true {
        wrong.extend(got.iter().map(|it| format!("unexpected {it:?}")));
    }
    differences(&wrong)
}
