//! Tests of single paths: unknown and secret values, mistakes, limits.

use blueprint::{Address, Name, Type, Value};

use super::Path;
use crate::evaluate::MissingKeys;
use crate::failure::FailureClass;
use crate::template::PathTemplate;

fn find(path: &str, document: &Value) -> Result<Value, FailureClass> {
    let path = Path::parse(path).expect("a path");
    path.find(document).map_err(|failure| failure.class)
}

fn waiting(name: &str) -> Value {
    Value::unknown(Some(Type::Text), Some(Address::root(Name::from(name))))
}

fn waits_for(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    value.waits_for(&mut found);
    found.iter().map(ToString::to_string).collect()
}

fn items(items: impl IntoIterator<Item = Value>) -> Value {
    Value::map([("items", Value::list(items))])
}

fn item(name: impl Into<Value>, value: impl Into<Value>) -> Value {
    Value::map([("name", name.into()), ("value", value.into())])
}

#[test]
fn a_step_into_an_unknown_value_is_unknown() {
    let document = Value::map([("a", waiting("r"))]);
    for path in ["a.b", "a[0]", "a[*].b", "a..b", "a[?(@.b==1)].c"] {
        let found = find(path, &document).expect("a value");
        assert!(found.is_unknown(), "{path}");
        assert_eq!(waits_for(&found), ["r"], "{path}");
    }
    assert_eq!(find("b.c", &document), Err(FailureClass::Missing));
}

#[test]
fn a_condition_on_an_unknown_value_is_unknown() {
    let document = items([item("x", 1), item(waiting("r"), 2)]);
    assert!(find("items[?(@.name=='x')].value", &document).is_ok_and(|value| value.is_unknown()));
    assert!(find("items[?(@.name=='y')].value", &document).is_ok_and(|value| value.is_unknown()));
    // The field is there, whatever its value is.
    assert_eq!(
        find("items[?(@.name)].value", &document),
        Err(FailureClass::Many)
    );
}

#[test]
fn two_certain_results_are_several_whatever_else_is_unknown() {
    let document = items([item("x", 1), item("x", 2), waiting("r")]);
    assert_eq!(find("items[*].value", &document), Err(FailureClass::Many));
}

#[test]
fn what_a_secret_decides_is_secret() {
    let document = items([item(Value::from("x").secret(), 1), item("y", 2)]);
    let found = find("items[?(@.name=='y')].value", &document).expect("a value");
    assert_eq!(found, Value::Int(2).secret());
    let document = Value::map([("a", item("x", 1).secret())]);
    assert_eq!(find("a.value", &document), Ok(Value::Int(1).secret()));
    let template = PathTemplate::parse("n={.a.name}").expect("a template");
    let text = template.text(&document, MissingKeys::Refused);
    assert_eq!(text, Ok(Value::from("n=x").secret()));
}

#[test]
fn mistakes_have_a_place_in_the_path_as_it_is_written() {
    for (path, place) in [
        ("a[x].b", "x"),
        (".a[x].b", "x"),
        ("{.a[x]}", "x"),
        ("a{b", "{"),
    ] {
        let mistake = Path::parse(path).expect_err("a mistake");
        assert_eq!(path.get(mistake.span), Some(place), "{path}");
    }
    let mistake = Path::parse("").expect_err("a mistake");
    assert_eq!(mistake.class, FailureClass::Empty);
}

#[test]
fn work_is_limited() {
    let row = Value::list((0..1_000).map(Value::Int));
    let document = Value::map([("m", Value::list((0..1_000).map(|_| row.clone())))]);
    assert_eq!(find("m[*][*]", &document), Err(FailureClass::Evaluate));
    let deep = "{range .m[*]}".repeat(10_000);
    let template = PathTemplate::parse(&deep).expect("a template");
    assert!(template.results(&document, MissingKeys::Allowed).is_err());
}

#[test]
fn no_path_makes_the_evaluation_panic() {
    let inner = Value::map([
        ("a", Value::list([Value::Int(1), Value::Null, waiting("r")])),
        ("b", Value::from("text").secret()),
    ]);
    let document = Value::map([
        ("a", inner.clone()),
        ("b", Value::list([inner, Value::Null])),
    ]);
    let pieces = [
        ".a",
        ".b",
        "..",
        "*",
        "[0]",
        "[-1:]",
        "[*]",
        "['a','b']",
        "[?(@.a==1)]",
        "[?(@.b)]",
        "}",
        "{",
        "range ",
        "end",
        "\"x\"",
        "[?(@.a[?(@==@)]<=2.5)]",
        " ",
        "$",
        "true",
        "7",
    ];
    let mut seed: usize = 11;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..6 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(pieces[(seed >> 33) % pieces.len()]);
        }
        let _ = Path::parse(&text).map(|path| path.find(&document));
        if let Ok(template) = PathTemplate::parse(&format!("{{{text}}}")) {
            let _ = template.text(&document, MissingKeys::Allowed);
            let _ = template.results(&Value::Null, MissingKeys::Refused);
        }
    }
}
