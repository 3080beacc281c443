//! The cases of the conformance pack that need no document: functions without resources, provider
//! functions, and the parser's diagnostics of the syntax cases.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it skips"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use blueprint::{Ref, ReferenceHead, Value};
use diag::{Diagnostics, FileId, Severity, Span, TextMap};
use expr::{Ask, AskFailure, EvaluationStop, FunctionDef, Purity, ResolvedHead, Scope};
use serde_json::Value as Json;

/// The clock of every case: 2023-01-02T15:04:05Z.
const NOW: i64 = 1_672_671_845;

fn pack(name: &str) -> Option<Vec<Json>> {
    let folder = std::env::var_os("CYAN_CONFORMANCE_BLUEPRINT").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/blueprint")
    });
    let path = folder.join("cases").join(name);
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(serde_json::from_str(&text).unwrap()),
        Err(_) => {
            println!("skipped: there is no {}", path.display());
            None
        }
    }
}

struct Given {
    inputs: BTreeMap<String, Value>,
    files: BTreeMap<String, String>,
}

impl Scope for Given {
    fn read(&mut self, reference: &Ref) -> Result<ResolvedHead, EvaluationStop> {
        match &reference.head {
            ReferenceHead::Input(name) => match self.inputs.get(name.as_ref()) {
                Some(value) => Ok(ResolvedHead {
                    value: value.clone(),
                    used: 0,
                }),
                None => Err(EvaluationStop::Reported),
            },
            ReferenceHead::Resource { .. } => Ok(ResolvedHead {
                value: Value::unknown(Some(blueprint::Type::Text), None),
                used: 2,
            }),
            _ => Err(EvaluationStop::Reported),
        }
    }

    fn answer(&mut self, ask: &Ask) -> Option<Result<Value, AskFailure>> {
        Some(match ask {
            Ask::File { path, .. } => match self.files.get(path.as_ref()) {
                Some(text) => Ok(Value::Bytes(text.as_bytes().into())),
                None => Err(AskFailure {
                    code: &expr::codes::SOURCE_UNREADABLE,
                    message: format!("`{path}` cannot be read"),
                    notes: Vec::new(),
                }),
            },
            Ask::WorkingDirectory => Ok("/w".into()),
            Ask::Memoised {
                function,
                arguments,
                ..
            } => Ok(expr::new_memoised_value(function, arguments, NOW, [7; 16])?),
            Ask::Provider { arguments, .. } => match arguments.positional() {
                Some([Value::Int(number)]) => Ok(Value::Int(2 * number)),
                _ => return None,
            },
            Ask::Http { .. } => return None,
        })
    }

    /// The function of the test provider that doubles a number.
    fn package_function(&mut self, name: &str) -> Option<Arc<FunctionDef>> {
        let doubles = FunctionDef {
            purity: Purity::Provider {
                namespace: "test".into(),
                name: "test_double".into(),
            },
            ..expr::core_functions().get("abs")?.clone()
        };
        (name == "test/test_double").then(|| Arc::new(doubles))
    }

    fn link(&mut self, _: &str, _: &str) -> Result<Value, EvaluationStop> {
        Ok(Value::map([("path", Value::from("/x"))]))
    }
}

fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(value) => Value::Int(value),
            None => Value::Float(number.as_f64().unwrap()),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::list(items.iter().map(from_json)),
        Json::Object(entries) => {
            if entries.contains_key("$none") {
                return Value::Null;
            }
            if entries.contains_key("$unknown") {
                return Value::unknown(None, None);
            }
            if let Some(inner) = entries.get("$secret") {
                return from_json(inner).secret();
            }
            if let Some(text) = entries.get("$binary") {
                let encoded = text.as_str().unwrap();
                let (value, _) = run(&format!("base64decode(\"{encoded}\")"), &mut empty());
                return value.unwrap();
            }
            Value::map(
                entries
                    .iter()
                    .map(|(key, value)| (key.as_str(), from_json(value))),
            )
        }
    }
}

fn empty() -> Given {
    Given {
        inputs: BTreeMap::new(),
        files: BTreeMap::new(),
    }
}

/// The value of an expression, or the code of its error; and the codes of the warnings.
fn run(expression: &str, scope: &mut dyn Scope) -> (Result<Value, String>, Vec<&'static str>) {
    let table = expr::core_functions();
    let text = format!("${{{expression}}}");
    let file = FileId::new(0);
    let map = TextMap::identity(file, 0, text.len() as u32);
    let mut found = Diagnostics::new();
    let tree = expr::parse_text(
        &text,
        &map,
        Span::new(file, 0, text.len() as u32),
        table,
        &mut found,
    );
    let mut result = expr::evaluate(&tree, table, scope, &mut found).map_err(|stop| match stop {
        EvaluationStop::Failed(diagnostic) | EvaluationStop::Absent(diagnostic) => {
            assert!(
                diagnostic.span().is_some(),
                "{expression}: the error has no place"
            );
            diagnostic.code.name.to_string()
        }
        EvaluationStop::Ask(asks) => format!("asks {asks:?}"),
        EvaluationStop::Reported => "reported".into(),
    });
    if let Some(error) = found.iter().find(|diagnostic| diagnostic.is_error()) {
        result = Err(error.code.name.into());
    }
    let warnings = found
        .iter()
        .filter(|one| one.severity == Severity::Warning)
        .map(|one| one.code.name)
        .collect();
    (result, warnings)
}

/// Whether two values are equal. An unknown value equals any unknown value.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Unknown(_), Value::Unknown(_)) => true,
        (Value::Secret(a), Value::Secret(b)) => same(a, b),
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b.iter())
                    .all(|((k, a), (l, b))| k == l && same(a, b))
        }
        (a, b) => a == b,
    }
}

#[test]
fn conformance_functions() {
    let Some(cases) = pack("functions.json") else {
        return;
    };
    let mut failed = Vec::new();
    let mut tried = 0;
    for case in &cases {
        let (id, expression) = (case["id"].as_str().unwrap(), case["expr"].as_str().unwrap());
        // The check of whole documents reports these cases: provider functions, duplicate entry
        // names, static types of expressions that are never evaluated, bare function names as data.
        let checked_elsewhere = [
            "higher-03",
            "higher-08",
            "structures-14",
            "choice-07",
            "logic-09",
            "logic-20",
        ];
        if checked_elsewhere.contains(&id) {
            continue;
        }
        tried += 1;
        let mut given = empty();
        for (name, value) in case["inputs"].as_object().into_iter().flatten() {
            given.inputs.insert(name.clone(), from_json(value));
        }
        for (name, text) in case["files"].as_object().into_iter().flatten() {
            given
                .files
                .insert(name.clone(), text.as_str().unwrap().into());
        }
        let (result, warnings) = run(expression, &mut given);
        let fits = match (&result, case.get("error")) {
            (Err(code), Some(expected)) => Some(code.as_str()) == expected.as_str(),
            (Ok(value), None) => same(value, &from_json(&case["expect"])),
            _ => false,
        };
        let expected_warnings: Vec<&str> = case["diagnostics"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
            .collect();
        if !fits || warnings != expected_warnings {
            failed.push(format!("{id}: {expression} gave {result:?}, {warnings:?}"));
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {tried} differ:\n{}",
        failed.len(),
        failed.join("\n")
    );
}

#[test]
fn conformance_syntax() {
    let Some(cases) = pack("syntax.json") else {
        return;
    };
    let parsers = [
        "substitution-empty",
        "substitution-unterminated",
        "substitution-in-literal",
        "unexpected-token",
        "unterminated-string",
        "invalid-literal",
        "accessor-charset",
        "named-argument-ignored",
    ];
    let table = expr::core_functions();
    for case in &cases {
        let (id, text) = (case["id"].as_str().unwrap(), case["text"].as_str().unwrap());
        let file = FileId::new(0);
        let map = TextMap::identity(file, 0, text.len() as u32);
        let mut found = Diagnostics::new();
        expr::parse_text(
            text,
            &map,
            Span::new(file, 0, text.len() as u32),
            table,
            &mut found,
        );
        let found: Vec<(String, u64, u64)> = found
            .iter()
            .map(|one| {
                (
                    one.code.name.to_string(),
                    u64::from(one.span().start),
                    u64::from(one.span().end),
                )
            })
            .collect();
        let expected: Vec<(String, u64, u64)> = case["diagnostics"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|one| parsers.contains(&one["code"].as_str().unwrap()))
            .map(|one| {
                (
                    one["code"].as_str().unwrap().to_string(),
                    one["bytes"][0].as_u64().unwrap(),
                    one["bytes"][1].as_u64().unwrap(),
                )
            })
            .collect();
        assert_eq!(found, expected, "{id}: {text}");
    }
}

#[test]
fn every_example_of_the_table_is_true() {
    let table = expr::core_functions();
    assert_eq!(table.iter().count(), 72);
    assert_eq!(
        table
            .iter()
            .filter(|function| !function.not_in_specification)
            .count(),
        50
    );
    for function in table.iter() {
        assert!(
            !function.examples.is_empty(),
            "`{}` has no example",
            function.name
        );
        for example in &function.examples {
            let mut given = empty();
            given.files.insert("a.txt".into(), "hi".into());
            let (result, _) = run(&example.call, &mut given);
            match example.expected.strip_prefix("! ") {
                Some(code) => assert_eq!(result.unwrap_err(), code, "{}", example.call),
                None => {
                    let expected: Json = serde_json::from_str(&example.expected).unwrap();
                    assert_eq!(result, Ok(from_json(&expected)), "{}", example.call);
                }
            }
        }
    }
}
