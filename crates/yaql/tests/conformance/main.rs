//! Runs expressions and compares with the answers that Heat recorded: `yaql.json` of the pack that
//! `CYAN_CONFORMANCE_HOT` names, otherwise of the project's own pack (`conformance/hot`, whose
//! README says when an answer counts).

mod thresholds;

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use blueprint::Value;
use yaql::{
    DrawSite, EvaluationLimits, EvaluationStop, ExternalValue, ExternalValues, FailureKind, Program,
};

/// The time limit of an expression.
const LONGEST: Duration = Duration::from_secs(3);

struct Case {
    expression: String,
    data: Value,
    /// The value, or the class and message of the error and the phase.
    expected: Result<Value, (String, String)>,
    /// Whether the error is a defect of yaql, so that a value is accepted too.
    better: bool,
}

/// The result of a case.
enum Outcome {
    Value(Value),
    Failure {
        phase: &'static str,
        kind: FailureKind,
        message: String,
    },
    Asked,
    Panicked,
    TooLong,
}

fn folder() -> (PathBuf, bool) {
    match std::env::var_os("CYAN_CONFORMANCE_HOT") {
        Some(folder) => (folder.into(), false),
        None => (
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/hot"),
            true,
        ),
    }
}

fn cases(folder: &Path) -> Vec<Case> {
    let path = folder.join("yaql.json");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let pack =
        pycompat::parse_json(&text).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
    let rows = pack.as_list().expect("the pack is a list");
    let text_of = |row: &Value, key: &str| {
        row.get(key)
            .and_then(Value::as_text)
            .unwrap_or_default()
            .to_owned()
    };
    rows.iter()
        .map(|row| Case {
            expression: text_of(row, "expression"),
            data: row.get("data").cloned().unwrap_or_default(),
            expected: match row.get("result") {
                Some(value) => Ok(value.clone()),
                None => Err((text_of(row, "error"), text_of(row, "phase"))),
            },
            better: row.get("better").and_then(Value::as_bool).unwrap_or(false),
        })
        .collect()
}

/// Supplies the same values each time.
struct Drawn;

impl ExternalValues for Drawn {
    fn stored_value(&mut self, site: DrawSite, what: ExternalValue) -> Option<Value> {
        Some(match what {
            ExternalValue::Now => Value::Int(1_577_934_245_000_000),
            ExternalValue::Random => {
                Value::Float(f64::from((site.call * 7 + site.turn) % 10) / 10.0)
            }
        })
    }
}

fn run(expression: &str, data: &Value) -> Outcome {
    let program = match Program::compile(expression) {
        Ok(program) => program,
        Err(failure) => {
            return Outcome::Failure {
                phase: "parse",
                kind: failure.kind,
                message: failure.message,
            };
        }
    };
    let data = Value::map([("data", data.clone())]);
    match program.evaluate(&data, &EvaluationLimits::default(), &mut Drawn) {
        Ok(value) => Outcome::Value(value),
        Err(EvaluationStop::Failed(failure)) => Outcome::Failure {
            phase: "evaluate",
            kind: failure.kind,
            message: failure.message,
        },
        Err(EvaluationStop::Ask(_)) => Outcome::Asked,
    }
}

/// Runs a case on its own thread, so that a panic or an endless loop fails only that case.
fn run_apart(case: &Case) -> Outcome {
    let (sender, receiver) = mpsc::channel();
    let (expression, data) = (case.expression.clone(), case.data.clone());
    std::thread::spawn(move || sender.send(run(&expression, &data)));
    match receiver.recv_timeout(LONGEST) {
        Ok(outcome) => outcome,
        Err(mpsc::RecvTimeoutError::Timeout) => Outcome::TooLong,
        Err(mpsc::RecvTimeoutError::Disconnected) => Outcome::Panicked,
    }
}

/// The kind of failure for a Python exception class.
fn kind_of(class: &str) -> FailureKind {
    match class {
        "YaqlLexicalException" => FailureKind::Lexical,
        "YaqlGrammarException" => FailureKind::Syntax,
        "NoFunctionRegisteredException" | "NoMethodRegisteredException" => {
            FailureKind::UnknownFunction
        }
        "NoMatchingFunctionException"
        | "NoMatchingMethodException"
        | "AmbiguousFunctionException" => FailureKind::NoMatch,
        "CollectionTooLargeException" | "MemoryQuotaExceededException" => FailureKind::Limit,
        _ => FailureKind::Failed,
    }
}

/// Returns the key for an expected key: `__key_int__1` is the text of the integer 1.
fn key(expected: &str) -> String {
    let Some((kind, text)) = expected
        .strip_prefix("__key_")
        .and_then(|rest| rest.split_once("__"))
    else {
        return expected.to_owned();
    };
    match (kind, text) {
        ("bool", text) => text.to_lowercase(),
        ("NoneType", _) => "null".to_owned(),
        _ => text.to_owned(),
    }
}

/// The value of a map's only entry, if the entry has this key.
fn only<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value
        .get(key)
        .filter(|_| value.as_map().is_some_and(|map| map.len() == 1))
}

/// Whether two values are equal; with `loosely` the order of lists is ignored.
fn agree(expected: &Value, found: &Value, loosely: bool) -> bool {
    if let Some(items) = only(expected, "__set__") {
        return agree(items, found, true);
    }
    if let Some(float) = only(expected, "__float__") {
        return matches!(found, Value::Float(value) if float.as_text() == Some(&pycompat::float_text(*value)));
    }
    match (expected, found) {
        (Value::List(expected), Value::List(found)) if loosely => {
            let mut left: Vec<_> = found.iter().collect();
            expected.len() == found.len()
                && expected.iter().all(|item| {
                    let at = left.iter().position(|other| agree(item, other, true));
                    at.map(|at| left.swap_remove(at)).is_some()
                })
        }
        (Value::List(expected), Value::List(found)) => {
            expected.len() == found.len()
                && expected
                    .iter()
                    .zip(found.iter())
                    .all(|(one, other)| agree(one, other, false))
        }
        (Value::Map(expected), Value::Map(found)) => {
            expected.len() == found.len()
                && expected.iter().all(|(name, value)| {
                    found
                        .get(&key(name))
                        .is_some_and(|other| agree(value, other, loosely))
                })
        }
        (expected, found) => expected == found,
    }
}

/// Describes the difference between the expected and the actual result. Also returns whether the
/// messages are equal.
fn compare(case: &Case, outcome: &Outcome) -> (Option<String>, bool) {
    let shown = match outcome {
        Outcome::Value(value) => value.to_string(),
        Outcome::Failure {
            phase,
            kind,
            message,
        } => format!("{kind:?} in {phase}: {message}"),
        Outcome::Asked => "asked for something to be drawn".into(),
        Outcome::Panicked => "panicked".into(),
        Outcome::TooLong => "took too long".into(),
    };
    // A list that was a set has no order.
    let unordered = ["set(", "toSet", "characters("]
        .iter()
        .any(|word| case.expression.contains(word));
    match (&case.expected, outcome) {
        (Ok(expected), Outcome::Value(found)) if agree(expected, found, false) => (None, true),
        (Ok(expected), Outcome::Value(found)) if unordered && agree(expected, found, true) => {
            (None, true)
        }
        (Ok(expected), _) => (Some(format!("expected {expected}, found {shown}")), false),
        (Err(_), Outcome::Value(_)) if case.better => (None, true),
        (
            Err((error, phase)),
            Outcome::Failure {
                phase: found,
                kind,
                message,
            },
        ) => {
            let (class, words) = error
                .split_once(": ")
                .unwrap_or((error.trim_end_matches(':'), ""));
            if *kind == kind_of(class) && phase == found {
                (None, words == message)
            } else {
                (
                    Some(format!("expected {error} in {phase}, found {shown}")),
                    false,
                )
            }
        }
        (Err((error, phase)), _) => (
            Some(format!("expected {error} in {phase}, found {shown}")),
            false,
        ),
    }
}

#[test]
fn conformance_of_yaql() {
    let (folder, own) = folder();
    let mut cases = cases(&folder);
    cases.sort_by(|one, other| one.expression.cmp(&other.expression));
    let (mut passed, mut worded) = (0, 0);
    for case in &cases {
        let (difference, same_words) = compare(case, &run_apart(case));
        worded += usize::from(same_words);
        match difference {
            None => passed += 1,
            Some(difference) => println!("{}: {difference}", case.expression),
        }
        if std::env::var_os("CYAN_CONFORMANCE_WORDS").is_some() && !same_words {
            println!("words differ: {}: {:?}", case.expression, case.expected);
        }
    }
    println!("yaql messages: {worded} of {}", cases.len());
    println!("\nyaql conformance: {passed} of {}", cases.len());
    assert!(!cases.is_empty(), "the pack has no expressions");
    assert!(
        !own || passed >= thresholds::YAQL,
        "{passed} right answers, there were {} before",
        thresholds::YAQL
    );
}
