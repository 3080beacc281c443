//! Conforming an evaluated spec: conversions, defaults, secrets, and errors that only results of
//! substitutions show.

mod checking;

use blueprint::{Map, Value};
use checking::{Checked, check_text};
use diag::Diagnostics;
use understand::check::{spec, value};

/// A document with one `test/record` named `r` that has this spec (lines after `spec:`), checked
/// without errors.
fn record(spec: &str) -> Checked {
    let text = format!(
        "version: 2025-11-02\nvariables:\n  x: {{ type: string }}\nvalues:\n  any: {{ type: array, value: \"${{jsondecode(variables.x)}}\" }}\nresources:\n  r:\n    type: test/record\n    spec:\n{spec}"
    );
    let checked = check_text("case.yaml", &text);
    assert!(
        !checked.diagnostics.has_errors(),
        "{text}\n{:?}",
        checked.found
    );
    checked
}

/// Conforms a value to the spec of `r`. Returns the result, and `code line:column` of each
/// diagnostic.
fn conform(checked: &Checked, given: Value) -> (Value, Vec<String>) {
    let resource = &checked.checked.blueprint.resources["r"];
    let ty = checked.checked.resource_types[0]
        .as_ref()
        .expect("the type is known");
    let mut found = Diagnostics::new();
    let out = spec::conform_resource(&given, resource, ty, &mut found);
    let found = found
        .iter()
        .map(|diagnostic| {
            let span = diagnostic.span();
            let at = checked
                .files
                .get(span.file)
                .map(|file| file.position(span.start))
                .expect("it has a place");
            format!("{} {}:{}", diagnostic.code.name, at.line, at.column)
        })
        .collect();
    (out, found)
}

fn entry(value: &Value, name: &str) -> Value {
    value.get(name).cloned().unwrap_or_default()
}

fn text(text: &str) -> Value {
    Value::text(text)
}

#[test]
fn results_are_converted_and_defaults_added() {
    let checked = record(
        "      title: ${values.any[2]}\n      ratio: ${values.any[0]}\n      settings: ${values.any[1]}\n",
    );
    let given = Value::map([
        ("title", Value::Int(5)),
        ("ratio", Value::Int(1)),
        ("settings", Value::map([("mode", Value::Bool(true))])),
    ]);
    let (out, found) = conform(&checked, given);
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(entry(&out, "title"), text("5"));
    assert_eq!(entry(&out, "ratio"), Value::Float(1.0));
    assert_eq!(entry(&out, "size"), text("small"));
    assert_eq!(
        entry(&out, "settings"),
        Value::map([("mode", text("true")), ("level", Value::Int(1))])
    );
}

#[test]
fn absent_object_gets_no_defaults() {
    let checked = record("      title: t\n");
    let (out, found) = conform(&checked, Value::map([("title", text("t"))]));
    assert!(found.is_empty());
    assert_eq!(out.as_map().map(Map::len), Some(2), "{out}");
}

#[test]
fn errors_of_results_are_reported_at_the_substitution() {
    let checked = record(
        "      title: ${values.any[0]}\n      code: ${values.any[0]}\n      size: ${values.any[0]}\n      count: ${values.any[0]}\n      tags: ${values.any[0]}\n      amount: ${values.any[0]}\n",
    );
    let given = Value::map([
        ("title", text("a title that is much too long")),
        ("code", text("x")),
        ("size", text("huge")),
        ("count", text("5")),
        (
            "tags",
            Value::list([text("a"), text("b"), text("c"), text("d")]),
        ),
        ("amount", text("many")),
    ]);
    let (out, found) = conform(&checked, given);
    let wanted = [
        "value-constraint 10:14",
        "value-constraint 11:13",
        "value-not-allowed 12:13",
        "type-mismatch 13:14",
        "value-constraint 14:13",
        "no-union-branch 15:15",
    ];
    assert_eq!(found, wanted);
    assert_eq!(
        entry(&out, "count"),
        text("5"),
        "what is wrong is kept as it is"
    );
}

#[test]
fn required_field_that_evaluates_to_none_is_missing() {
    let checked =
        record("      title: ${values.any[0]}\n      settings:\n        mode: ${values.any[0]}\n");
    let (_, found) = conform(&checked, Value::map([("settings", Value::map::<&str>([]))]));
    assert_eq!(found, ["missing-spec-field 11:7", "missing-spec-field 9:5"]);
}

#[test]
fn keys_of_results_are_checked() {
    let checked = record("      title: t\n      settings: ${values.any[0]}\n");
    let given = Value::map([
        ("title", text("t")),
        (
            "settings",
            Value::map([("mode", text("m")), ("modes", text("m"))]),
        ),
    ]);
    let (_, found) = conform(&checked, given);
    assert_eq!(found, ["unknown-spec-field 11:17"]);
}

#[test]
fn rejection_by_the_provider_is_reported_once() {
    let checked = record("      title: ${values.any[0]}\n");
    let (_, found) = conform(&checked, Value::map([("title", text("forbidden"))]));
    assert_eq!(found, ["rejected-by-provider 10:14"]);
    let (_, found) = conform(
        &checked,
        Value::map([("title", text("forbidden").secret())]),
    );
    assert_eq!(found, ["rejected-by-provider 10:14"]);
}

#[test]
fn secret_and_unknown_parts_are_preserved() {
    let checked = record(
        "      title: ${values.any[0]}\n      password: ${values.any[0]}\n      count: ${values.any[0]}\n      zone: ${values.any[0]}\n",
    );
    let given = Value::map([
        ("title", Value::Int(5).secret()),
        ("password", text("p")),
        ("count", Value::unknown(None, None)),
        ("zone", Value::Bytes(vec![0xff].into())),
    ]);
    let (out, found) = conform(&checked, given);
    assert_eq!(found, ["not-utf8 13:13"]);
    assert_eq!(entry(&out, "title"), text("5").secret());
    assert_eq!(entry(&out, "password"), text("p").secret());
    assert!(entry(&out, "count").is_unknown());
}

#[test]
fn literal_null_is_kept_in_a_nullable_field() {
    let checked = record("      title: t\n      note: ~\n");
    let (out, found) = conform(&checked, Value::map([("title", text("t"))]));
    assert!(found.is_empty());
    assert_eq!(out.get("note"), Some(&Value::Null));
}

#[test]
fn unions_take_the_first_branch_that_fits() {
    let checked = record("      title: t\n      target: ${values.any[0]}\n");
    let port = |port: Value| {
        Value::map([
            ("title", text("t")),
            ("target", Value::map([("host", text("h")), ("port", port)])),
        ])
    };
    let (out, found) = conform(&checked, port(Value::Int(80)));
    assert!(found.is_empty());
    assert_eq!(entry(&out, "target").get("port"), Some(&Value::Int(80)));
    assert_eq!(
        conform(&checked, port(text("80"))).1,
        ["no-union-branch 11:15"]
    );
    let (out, _) = conform(
        &checked,
        Value::map([("title", text("t")), ("target", Value::Int(5))]),
    );
    assert_eq!(entry(&out, "target"), text("5"));
}

#[test]
fn values_are_converted_to_their_declared_type() {
    let checked = record("      title: t\n");
    let expr = &checked.checked.blueprint.resources["r"].spec;
    let declared = |value: Value, ty: &blueprint::Type| {
        let mut found = Diagnostics::new();
        let value = value::declared(value, ty, expr, &mut found);
        value.map_err(|_| {
            found
                .iter()
                .map(|diagnostic| diagnostic.code.name)
                .collect::<Vec<_>>()
        })
    };
    use blueprint::Type;
    assert_eq!(declared(text(" 12 "), &Type::Int), Ok(Value::Int(12)));
    assert_eq!(
        declared(text("1.5").secret(), &Type::Float),
        Ok(Value::Float(1.5).secret())
    );
    assert_eq!(
        declared(text("x"), &Type::Int),
        Err(vec!["unparsable-value"])
    );
    assert_eq!(declared(Value::Int(1), &Type::Float), Ok(Value::Float(1.0)));
    assert_eq!(
        declared(Value::Int(1), &Type::Text),
        Err(vec!["type-mismatch"])
    );
    assert_eq!(
        declared(text("[]"), &Type::list(Type::Any)),
        Err(vec!["type-mismatch"])
    );
    assert_eq!(declared(Value::Null, &Type::Int), Ok(Value::Null));
    let mut found = Diagnostics::new();
    assert!(
        value::exported(text("12"), &Type::Int, expr, &mut found).is_err(),
        "only values parse text"
    );
}
