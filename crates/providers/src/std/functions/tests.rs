//! Checks that the catalogue matches the implementations, that the examples are true, and that the
//! results equal Pulumi's recorded answers.

use std::collections::BTreeSet;

use blueprint::Value;
use serde_json::Value as Json;

use super::super::CATALOG;
use super::{body, call, own_name};

/// A JSON value in the form of Pulumi: all numbers are floats.
fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => Value::Float(number.as_f64().unwrap()),
        Json::String(text) => Value::text(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(value)),
        Json::Object(entries) => match entries.get("$float").and_then(Json::as_str) {
            Some(text) => Value::Float(text.replace("Infinity", "inf").parse().unwrap()),
            None => Value::map(
                entries
                    .iter()
                    .map(|(key, item)| (key.as_str(), value(item))),
            ),
        },
    }
}

fn same(a: &Value, b: &Value) -> bool {
    match (a.unmarked(), b.unmarked()) {
        (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

/// The recorded answers, if the shared pack exists.
fn pack() -> Option<Vec<Json>> {
    let folder = std::env::var("CYAN_CONFORMANCE_PULUMI").unwrap_or_else(|_| {
        concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../../shared/conformance/pulumi"
        )
        .to_owned()
    });
    let text = std::fs::read_to_string(format!("{folder}/std.json")).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

#[test]
fn every_declared_function_has_a_body() {
    for definition in &CATALOG.functions {
        assert!(
            definition.native.is_some(),
            "`{}` has no body",
            definition.name
        );
        let own = own_name(&definition.name);
        // `values.x` is a reference, so a call cannot start with that name.
        let taken = expr::core_functions().get(own).is_some() || own == "values";
        assert_eq!(
            taken,
            definition.name.starts_with("std_"),
            "`{}`",
            definition.name
        );
    }
}

struct Nothing;

impl expr::Scope for Nothing {
    fn read(&mut self, _: &blueprint::Ref) -> Result<expr::ResolvedHead, expr::EvaluationStop> {
        Err(expr::EvaluationStop::Reported)
    }

    fn answer(&mut self, _: &expr::Ask) -> Option<Result<Value, expr::AskFailure>> {
        None
    }

    fn link(&mut self, _: &str, _: &str) -> Result<Value, expr::EvaluationStop> {
        Err(expr::EvaluationStop::Reported)
    }
}

/// The result of an expression: its value, or the code of its error.
fn evaluated(text: &str) -> Result<Value, &'static str> {
    let (_, functions, wrong) = provider::combine([CATALOG.clone()]);
    assert_eq!(wrong, Vec::<String>::new());
    let text = format!("${{{text}}}");
    let span = diag::Span::new(diag::FileId::new(0), 0, text.len() as u32);
    let map = diag::TextMap::identity(diag::FileId::new(0), 0, text.len() as u32);
    let mut found = diag::Diagnostics::new();
    let expr = expr::parse_text(&text, &map, span, &functions, &mut found);
    assert!(found.is_empty(), "{text}: {found:?}");
    match expr::evaluate(&expr, &functions, &mut Nothing, &mut found) {
        Ok(value) => Ok(value),
        Err(expr::EvaluationStop::Failed(diagnostic)) => Err(diagnostic.code.name),
        Err(other) => panic!("{text}: {other:?}"),
    }
}

#[test]
fn every_example_is_true() {
    for definition in &CATALOG.functions {
        for example in &definition.examples {
            let answer = evaluated(&example.call);
            match example.expected.strip_prefix("! ") {
                Some(code) => assert_eq!(answer.unwrap_err(), code, "{}", example.call),
                None => {
                    let expected: Json = serde_json::from_str(&example.expected).unwrap();
                    let answer = answer.unwrap_or_else(|code| panic!("{}: {code}", example.call));
                    assert!(
                        same(&answer, &value(&expected)),
                        "{}: {answer:?}",
                        example.call
                    );
                }
            }
        }
    }
}

#[test]
fn functions_give_none_for_none_and_refuse_the_wrong_kind() {
    assert_eq!(evaluated("subtract(none, 1)"), Ok(Value::Null));
    assert_eq!(evaluated("round(2.5, none)"), Ok(Value::Int(3)));
    assert_eq!(evaluated(r#"subtract("1", 1)"#), Err("argument-type"));
    assert_eq!(evaluated("subtract(1)"), Err("argument-count"));
    assert_eq!(
        evaluated("multiply(9223372036854775807, 2)"),
        Err("argument-range")
    );
    assert_eq!(
        evaluated("map(list(1, 2), floor)"),
        Ok(Value::list([Value::Int(1), Value::Int(2)]))
    );
}

/// Functions with known differences: Pulumi refuses every text of several lines.
const DIFFERENT: &[&str] = &["csvdecode"];

#[test]
fn answers_are_those_that_pulumi_gave() {
    let Some(pack) = pack() else {
        eprintln!("the pack is not there");
        return;
    };
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for case in &pack {
        let name = case["function"]
            .as_str()
            .unwrap()
            .rsplit(':')
            .next()
            .unwrap();
        if body(name).is_none()
            || DIFFERENT.contains(&name)
            || case.get("crash").is_some()
            || case.get("failures").is_some()
        {
            continue;
        }
        seen.insert(name);
        let definition = CATALOG
            .functions
            .iter()
            .find(|it| own_name(&it.name) == name)
            .unwrap();
        let argument =
            |parameter: &str| case["arguments"].get(parameter).map_or(Value::Null, value);
        let mut arguments: Vec<Value> = match name {
            // The order of parameters differs from Pulumi's if `start` is omitted.
            "range" if case["arguments"].get("start").is_none() => vec![argument("limit")],
            _ => definition
                .parameters
                .iter()
                .map(|parameter| argument(&parameter.name))
                .collect(),
        };
        if let Some(rest) = &definition.rest {
            arguments.extend(
                argument(&rest.name)
                    .as_list()
                    .unwrap_or_default()
                    .iter()
                    .cloned(),
            );
        }
        let answer = call(name, &arguments).unwrap();
        let right = match (&answer, case.get("result")) {
            (Ok(answer), Some(result)) => same(answer, &value(result)),
            (Err(_), None) => true,
            _ => false,
        };
        if !right {
            wrong.push(format!(
                "{name}{}: {answer:?}, recorded {:?}",
                case["arguments"],
                case.get("result")
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        pack.len(),
        wrong.join("\n")
    );
    assert!(seen.len() >= 69, "only {} functions: {seen:?}", seen.len());
}

#[test]
fn yaml_is_read_back_as_it_was_written() {
    let texts = [
        "",
        " a",
        "a ",
        "yes",
        "No",
        "null",
        "~",
        "1",
        "0x1f",
        "1e3",
        ".5",
        "true",
        "a: b",
        "a #b",
        "- a",
        "*x",
        "&x",
        "!x",
        "%x",
        "@x",
        "`x",
        "'x",
        "\"x",
        "{",
        "[",
        "a\nb",
        "\t",
        "é",
        "\u{85}",
        "\u{feff}",
        "a,b",
        "=",
        "<<",
        "2023-01-01",
        "---",
    ];
    let list = Value::list(texts.iter().map(|text| Value::text(*text)));
    let map = Value::map(texts.iter().map(|text| (*text, Value::text(*text))));
    let nested = Value::map([
        ("list", list.clone()),
        ("map", map),
        ("empty", Value::list([])),
        ("none", Value::map::<&str>([])),
        (
            "deep",
            Value::list([Value::list([
                Value::Int(1),
                Value::map([("a", Value::list([Value::Null]))]),
            ])]),
        ),
        ("float", Value::Float(1.0)),
    ]);
    for whole in [list, nested, Value::text("x"), Value::Int(-3)] {
        let text = call("yamlencode", std::slice::from_ref(&whole))
            .unwrap()
            .unwrap();
        let back = call("yamldecode", std::slice::from_ref(&text))
            .unwrap()
            .unwrap_or_else(|why| panic!("{why}\n{text}"));
        assert_eq!(back, whole, "{}", text.as_text().unwrap());
    }
}

#[test]
fn aliases_in_yaml_do_not_grow_without_limit() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for at in 1..12 {
        let before = format!("*a{}, ", at - 1).repeat(10);
        text.push_str(&format!(
            "a{at}: &a{at} [{}]\n",
            before.trim_end_matches(", ")
        ));
    }
    assert!(call("yamldecode", &[Value::from(text)]).unwrap().is_err());
}

#[test]
fn ranges_have_a_limit() {
    for arguments in [
        vec![Value::Int(100_001)],
        vec![Value::Int(0), Value::Int(i64::MAX)],
        vec![Value::Float(1e300)],
    ] {
        assert!(call("range", &arguments).unwrap().is_err(), "{arguments:?}");
    }
    assert!(
        call(
            "range",
            &[
                Value::Int(i64::MIN),
                Value::Int(i64::MAX),
                Value::Int(i64::MAX)
            ]
        )
        .unwrap()
        .is_ok()
    );
}

#[test]
fn known_argument_is_checked_beside_an_unknown_one() {
    let refused = |name: &str, arguments: &[Value]| {
        let function = CATALOG
            .functions
            .iter()
            .find(|function| own_name(&function.name) == name)
            .unwrap();
        let refusal = function
            .native
            .as_ref()
            .unwrap()
            .refusal_regardless(arguments);
        refusal.map(|refusal| refusal.message)
    };
    let unknown = || Value::unknown(None, None);
    let integer = || Value::unknown(Some(blueprint::Type::Int), None);
    let text = || Value::unknown(Some(blueprint::Type::Text), None);
    let wrong = [
        ("divide", vec![integer(), Value::Int(0)]),
        ("cidrhost", vec![Value::text("nonsense"), integer()]),
        (
            "cidrsubnet",
            vec![Value::text("10.0.0.0"), integer(), Value::Int(1)],
        ),
        (
            "regex_replace",
            vec![text(), Value::text("("), Value::text("x")],
        ),
        ("regex", vec![text(), Value::text("(")]),
        ("modulo", vec![integer(), Value::Int(0)]),
    ];
    for (name, arguments) in wrong {
        assert!(refused(name, &arguments).is_some(), "{name}");
    }
    let may_be_right = [
        // Null gives null, whatever the divisor is.
        ("divide", vec![unknown(), Value::Int(0)]),
        ("divide", vec![unknown(), Value::Int(3)]),
        ("divide", vec![Value::Int(1), unknown()]),
        ("cidrhost", vec![Value::text("10.0.0.0/8"), unknown()]),
        ("cidrhost", vec![unknown(), Value::Int(5)]),
        ("cidrsubnet", vec![unknown(), Value::Int(8), Value::Int(1)]),
        (
            "regex_replace",
            vec![unknown(), Value::text("a+"), Value::text("x")],
        ),
        ("substr", vec![unknown(), Value::Int(100), Value::Int(5)]),
        ("element", vec![unknown(), Value::Int(7)]),
        ("index", vec![unknown(), Value::text("zz")]),
        ("lookup", vec![unknown(), Value::text("zz")]),
        ("slice", vec![unknown(), Value::Int(3), Value::Int(9)]),
        ("format", vec![Value::text("%d %s"), unknown(), unknown()]),
        ("parseint", vec![unknown(), Value::Int(16)]),
    ];
    for (name, arguments) in may_be_right {
        assert_eq!(refused(name, &arguments), None, "{name}");
    }
}
