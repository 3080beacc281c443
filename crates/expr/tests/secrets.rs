//! No call reveals a secret: the visible part of a result and the text of a failure do not depend
//! on the secret.
//!
//! The test covers the whole function table and calls each function as its examples do, so a new
//! function is covered by its row. It makes the arguments secret one by one, as a whole and leaf by
//! leaf, also those of nested calls, and replaces them by other secrets of the same kind.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use blueprint::{Expr, ExprKind, Ref, ReferenceHead, Value};
use diag::{Diagnostic, Diagnostics, FileId, Span, TextMap};
use expr::{Ask, AskFailure, EvaluationStop, FunctionTable, Purity, ResolvedHead, Scope};
use proptest::prelude::*;

/// Functions without an example that shows a secret in the result, each with the reason.
const NOTHING_TO_SHOW: [(&str, &str); 4] = [
    ("uuid", "takes no argument"),
    ("cwd", "takes no argument"),
    (
        "link",
        "takes names of resources as they are written, never values",
    ),
    (
        "invoke",
        "its result comes from a provider; `tests/invoke.rs` tests its secrets",
    ),
];

/// The maximum number of distinguishable outcomes of a call: success, or one of a few errors.
const MOST_OUTCOMES: usize = 24;

/// A scope with one variable, in which answers repeat the question.
struct World<'v> {
    secret: Option<&'v Value>,
    /// Whether files and URLs can be read.
    gives: bool,
}

impl Scope for World<'_> {
    fn read(&mut self, reference: &Ref) -> Result<ResolvedHead, EvaluationStop> {
        match (&reference.head, self.secret) {
            (ReferenceHead::Input(_), Some(value)) => Ok(ResolvedHead {
                value: value.clone(),
                used: 0,
            }),
            (ReferenceHead::Resource { .. }, _) => Ok(ResolvedHead {
                value: Value::unknown(Some(blueprint::Type::Text), None),
                used: reference.path.len(),
            }),
            _ => Err(EvaluationStop::Reported),
        }
    }

    fn answer(&mut self, ask: &Ask) -> Option<Result<Value, AskFailure>> {
        let refused = |what: &str| AskFailure {
            code: &expr::codes::SOURCE_UNREADABLE,
            message: format!("`{what}` cannot be read"),
            notes: vec![format!("there is no {what}")],
        };
        Some(match ask {
            Ask::File { path: what, .. } | Ask::Http { url: what } if self.gives => {
                Ok(Value::Bytes(what.as_bytes().into()))
            }
            Ask::File { path: what, .. } | Ask::Http { url: what } => Err(refused(what)),
            Ask::WorkingDirectory => Ok("/w".into()),
            Ask::Memoised {
                function,
                arguments,
                ..
            } => expr::new_memoised_value(function, arguments, 1_672_671_845, [7; 16])
                .ok_or_else(|| refused(&format!("{arguments:?}"))),
            Ask::Provider { arguments, .. } => {
                Ok(arguments.values().next().cloned().unwrap_or_default())
            }
        })
    }

    fn link(&mut self, a: &str, b: &str) -> Result<Value, EvaluationStop> {
        Ok(Value::from(format!("{a}::{b}")))
    }
}

fn parse(table: &FunctionTable, text: &str) -> (Expr, bool) {
    let mut found = Diagnostics::new();
    let length = text.len() as u32;
    let map = TextMap::identity(FileId::new(0), 0, length);
    let expr = expr::parse_text(
        text,
        &map,
        Span::new(FileId::new(0), 0, length),
        table,
        &mut found,
    );
    (expr, !found.has_errors())
}

/// The visible part of an evaluation: the value without its secrets, or the diagnostics.
#[derive(Debug, PartialEq)]
struct Visible {
    value: Option<String>,
    /// The codes, places and advice, which are fixed sentences.
    helps: Vec<String>,
    said: Vec<String>,
}

/// The visible part of an evaluation, and the value with its secrets.
fn evaluated(
    expr: &Expr,
    table: &FunctionTable,
    secret: Option<&Value>,
    gives: bool,
) -> (Visible, Option<Value>) {
    let mut found = Diagnostics::new();
    let result = expr::evaluate(expr, table, &mut World { secret, gives }, &mut found);
    let mut said: Vec<Diagnostic> = found.iter().cloned().collect();
    let value = match result {
        Ok(value) => Some(value),
        Err(EvaluationStop::Failed(one) | EvaluationStop::Absent(one)) => {
            said.push(*one);
            None
        }
        Err(EvaluationStop::Ask(_) | EvaluationStop::Reported) => None,
    };
    let places = |one: &Diagnostic| {
        one.labels
            .iter()
            .map(|label| label.span.range())
            .collect::<Vec<_>>()
    };
    let labels = |one: &Diagnostic| {
        one.labels
            .iter()
            .map(|label| label.text.clone())
            .collect::<Vec<_>>()
    };
    let helps = said
        .iter()
        .map(|one| format!("{} {:?} {:?}", one.code.name, places(one), one.help))
        .collect();
    let said = said.iter().map(|one| {
        without_kinds(&format!(
            "{} {:?} {:?}",
            without_item(&one.message),
            labels(one),
            one.notes
        ))
    });
    let said = said.collect();
    (
        Visible {
            value: value.as_ref().map(Value::to_string),
            helps,
            said,
        },
        value,
    )
}

/// The text without permitted information: the kind of a value, and the index of a list item.
fn without_kinds(words: &str) -> String {
    const KINDS: [&str; 9] = [
        "none", "boolean", "integer", "float", "number", "string", "array", "object", "binary",
    ];
    let mut plain = words.to_owned();
    for kind in KINDS {
        for before in ["of kind", "found", "an", "a", "gives"] {
            plain = plain.replace(&format!("{before} {kind}"), "of some kind");
        }
    }
    plain
}

fn without_item(message: &str) -> String {
    let cut = message.rfind(" (item ").map_or(message.len(), |at| at);
    let said = message[..cut].to_owned();
    said.split_once(", for item ")
        .map_or(said.clone(), |(said, rest)| {
            format!(
                "{said}{}",
                rest.trim_start_matches(|letter: char| letter.is_ascii_digit())
            )
        })
}

/// A call from which one argument, at any depth, has been removed.
struct RemovedArgument {
    function: String,
    call: String,
    /// The call with `variables.s` in place of the argument.
    expr: Expr,
    argument: Value,
}

/// All holes of all examples.
fn removed_arguments(table: &FunctionTable) -> Vec<RemovedArgument> {
    let map = || Value::map([("host", Value::from("h")), ("port", Value::Int(80))]);
    let paths = [
        ("${variables.s.hots}", map()),
        ("${variables.s.host.x}", map()),
        ("${variables.s[7]}", Value::list(["a".into(), "b".into()])),
        ("${coalesce(variables.s.hots, 1)}", map()),
        ("a ${variables.s} b", Value::from("text")),
        ("a ${variables.s.host} b", map()),
        ("a ${variables.s} b", Value::Bytes(vec![0xff, 1].into())),
    ];
    let mut holes: Vec<RemovedArgument> = Vec::new();
    for (text, argument) in paths {
        holes.push(RemovedArgument {
            function: "a path".into(),
            call: text.into(),
            expr: parse(table, text).0,
            argument,
        });
    }
    for def in table.iter() {
        for example in &def.examples {
            let text = format!("${{{}}}", example.call);
            let (whole, _) = parse(table, &text);
            let mut spans = Vec::new();
            whole.walk(&mut |inner| {
                if let ExprKind::Call(call) = &inner.kind {
                    spans.extend(call.arguments.iter().map(|argument| argument.value.clone()));
                }
            });
            for argument in spans {
                let (Some(value), range) = (
                    evaluated(&argument, table, None, true).1,
                    argument.span.range(),
                ) else {
                    continue;
                };
                let call = format!("{}variables.s{}", &text[..range.start], &text[range.end..]);
                let (expr, is_well) = parse(table, &call);
                if is_well && !matches!(value, Value::Function(_)) && !value.has_unknown() {
                    holes.push(RemovedArgument {
                        function: def.name.to_string(),
                        call,
                        expr,
                        argument: value,
                    });
                }
            }
        }
    }
    holes
}

/// The value with a secret mark around it, and with one around each of its leaves.
fn marked(value: &Value) -> Vec<Value> {
    let mut all = vec![value.clone().secret()];
    match value {
        Value::List(items) => {
            for at in 0..items.len() {
                for inner in marked(&items[at]) {
                    let mut items = items.as_ref().clone();
                    items[at] = inner;
                    all.push(Value::list(items));
                }
            }
        }
        Value::Map(entries) => {
            for (key, value) in entries.iter() {
                for inner in marked(value) {
                    let mut entries = entries.as_ref().clone();
                    entries.insert(key.clone(), inner);
                    all.push(Value::Map(entries.into()));
                }
            }
        }
        _ => {}
    }
    all
}

/// The kinds of a value and of a list's items, which may be visible.
fn shape(value: &Value) -> BTreeSet<&'static str> {
    let items = value.as_list().unwrap_or_default().iter();
    items
        .map(Value::kind_word)
        .chain([value.kind_word()])
        .collect()
}

/// The value with another secret of the same kind in each marked place.
fn other_secret(value: &Value, other: &Value) -> Value {
    match value {
        Value::Secret(inner) if shape(inner) == shape(other) => other.clone().secret(),
        Value::List(items) => Value::list(items.iter().map(|item| other_secret(item, other))),
        Value::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), other_secret(value, other))),
        ),
        value => value.clone(),
    }
}

/// Checks a hole with these secrets. Returns whether the secrets changed the hidden part of the
/// result.
fn check_secrecy(
    hole: &RemovedArgument,
    table: &FunctionTable,
    secret: &Value,
    others: &[&Value],
) -> bool {
    let mut seen: BTreeMap<String, (Visible, Value)> = BTreeMap::new();
    let mut hidden = BTreeSet::new();
    for gives in [true, false] {
        for other in std::iter::once(None).chain(others.iter().map(Some)) {
            let secret = other.map_or_else(|| secret.clone(), |other| other_secret(secret, other));
            let (visible, value) = evaluated(&hole.expr, table, Some(&secret), gives);
            // Only the kind of failure may be visible.
            let outcome = match &value {
                Some(_) => format!("{gives}, a value and {:?}", visible.helps),
                None => format!("{gives}, {:?}", visible.helps),
            };
            hidden.extend(
                value
                    .as_ref()
                    .filter(|value| value.has_secret())
                    .map(|value| value.revealed().to_string()),
            );
            match seen.get(&outcome) {
                Some((before, with)) => assert_eq!(
                    before,
                    &visible,
                    "`{}` shows which secret it was given: {} or {}",
                    hole.call,
                    with.revealed(),
                    secret.revealed()
                ),
                None => drop(seen.insert(outcome, (visible, secret))),
            }
        }
    }
    assert!(
        seen.len() <= MOST_OUTCOMES,
        "`{}` says too much: {:#?}",
        hole.call,
        seen.keys()
    );
    hidden.len() > 1
}

#[test]
fn no_function_shows_which_secret_it_was_given() {
    let table = expr::core_functions();
    let holes = removed_arguments(table);
    let extremes = [
        Value::Int(i64::MIN),
        Value::Int(i64::MAX),
        Value::Float(-1e300),
        Value::Float(1e300),
        Value::Bool(true),
        Value::Bool(false),
        "".into(),
        "\u{10ffff}".into(),
        "https://a.example/x".into(),
        "https://b.example/y".into(),
    ];
    let pool: Vec<&Value> = holes
        .iter()
        .map(|hole| &hole.argument)
        .chain(&extremes)
        .collect();
    let mut shown: BTreeSet<&str> = BTreeSet::new();
    for hole in &holes {
        for secret in marked(&hole.argument) {
            let others: Vec<&Value> = pool
                .iter()
                .copied()
                .filter(|other| **other != hole.argument)
                .collect();
            if check_secrecy(hole, table, &secret, &others) {
                shown.insert(&hole.function);
            }
        }
    }
    for def in table.iter() {
        assert!(matches!(
            def.purity,
            Purity::Pure | Purity::Memoised | Purity::World | Purity::Link
        ));
        let exception = NOTHING_TO_SHOW
            .iter()
            .find(|(name, _)| *name == def.name.as_ref());
        assert!(
            shown.contains(def.name.as_ref()) || exception.is_some(),
            "`{}`: give it an example whose result depends on an argument, or say here why there can be none",
            def.name
        );
    }
}

/// Generates secrets of every kind that functions take.
fn any_secret() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[ -~]{0,24}",
        "[a-z]{1,4}(,[a-z]{1,4}){0,3}",
        "[0-9]{1,3}\\.[0-9]{1,3}\\.0\\.0/[0-9]{1,2}",
        "\\{\"a\":[0-9]{1,9}\\}",
        "[A-Za-z0-9+/]{4,8}=",
        "\\PC{0,12}",
    ];
    prop_oneof![
        6 => text.prop_map(Value::from),
        2 => any::<i64>().prop_map(Value::Int),
        1 => (-40..400_i64).prop_map(Value::Int),
        1 => any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::Float),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => prop::collection::vec("[a-z]{0,6}", 0..4).prop_map(|items| Value::list(items.into_iter().map(Value::from))),
        1 => prop::collection::vec(("[a-z]{1,6}", "[a-z]{0,6}"), 0..4)
            .prop_map(|entries| Value::map(entries.into_iter().map(|(key, value)| (key, Value::from(value))))),
        1 => prop::collection::vec(any::<u8>(), 0..12).prop_map(|bytes| Value::Bytes(bytes.into())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_function_shows_any_secret(secrets in prop::collection::vec(any_secret(), 12)) {
        let table = expr::core_functions();
        for hole in &removed_arguments(table) {
            let others: Vec<&Value> = secrets.iter().collect();
            for secret in marked(&hole.argument) {
                check_secrecy(hole, table, &secret, &others);
            }
        }
    }
}
