//! Tests of the form of test files and of the judgement.

use blueprint::{Name, Value};
use diag::Files;

use super::*;

/// The messages and help about a text, each after its line and column.
fn mistakes(text: &str) -> Vec<String> {
    let mut files = Files::new();
    let id = files.add("a.test.yaml", text);
    let (_, found) = read(id, text);
    let lines = found.iter().map(|one| line(one, &files));
    lines.collect()
}

fn line(one: &diag::Diagnostic, files: &Files) -> String {
    let span = one.span();
    let position = files.get(span.file).map(|file| file.position(span.start));
    let place = position.map(|at| format!("{}:{} ", at.line, at.column));
    let help = one.help.iter().map(|help| format!(" ({help})"));
    format!(
        "{}{}{}",
        place.unwrap_or_default(),
        one.message,
        help.collect::<String>()
    )
}

/// The failures of the only step of the only case, for what came of it.
fn failures(step: &str, observed: &ObservedStep) -> Vec<String> {
    let text = format!("cases:\n  a: {step}\n");
    let mut files = Files::new();
    let id = files.add("a.test.yaml", text.as_str());
    let (file, found) = read(id, &text);
    assert!(found.is_empty(), "{:?}", mistakes(&text));
    let failures = judge(&file.cases[0].steps[0], observed);
    failures.iter().map(|one| line(one, &files)).collect()
}

fn observed() -> ObservedStep {
    let spec = Value::map([
        ("size", Value::Int(2)),
        (
            "tags",
            Value::map([("a", Value::from("x")), ("b", Value::from("y"))]),
        ),
        ("key", Value::from("hidden").secret()),
    ]);
    ObservedStep {
        actions: [
            ("one", Some(StepAction::Create)),
            ("two", Some(StepAction::Unchanged)),
            ("three", None),
        ]
        .map(|(address, action)| (Name::from(address), action))
        .into_iter()
        .collect(),
        drifted: vec!["two".into()],
        specs: [(Name::from("one"), spec)].into_iter().collect(),
        exports: [(Name::from("url"), Value::from("here"))]
            .into_iter()
            .collect(),
        ..ObservedStep::default()
    }
}

#[test]
fn mistakes_in_a_test_file_are_reported_at_their_places() {
    for (text, expected) in [
        ("", &["1:1 a test file needs `cases`"][..]),
        ("cases: {}", &["1:8 there is no case"]),
        ("cases: {a: 1}", &["1:12 a case is a map"]),
        (
            "case: {}\ncases: {a: }",
            &["1:1 a test file has no `case` (did you mean `cases`?)"],
        ),
        (
            "cases: {a: {creat: x}}",
            &["1:13 a case has no `creat` (did you mean `create`?)"],
        ),
        (
            "cases: {a: {outputs: {}}}",
            &["1:13 a case has no `outputs` (write `exports`)"],
        ),
        (
            "create: a\ncases: {a: }",
            &["1:1 a test file has no `create` (write `create` in a case)"],
        ),
        ("cases: {a: {create: {x: 1}}}", &["1:21 `create` is a list"]),
        ("cases: {a: {steps: []}}", &["1:20 there is no step"]),
        (
            "cases: {a: {update: x, steps: [{answers: {}}]}}",
            &[
                "1:13 a case with `steps` has no `update` (write `update` in a step)",
                "1:33 a step has no `answers` (write `answers` in the case)",
            ],
        ),
        (
            "cases: {a: {refused: x, create: y}}",
            &["1:25 `create` cannot hold of a document that is refused"],
        ),
        (
            "cases: {a: , a: }",
            &["1:14 `a` is written twice (remove or rename one of them)"],
        ),
        (
            "cases: {a: {assert: {value: x}}}",
            &["1:21 an assertion with `value` needs `is`"],
        ),
    ] {
        assert_eq!(mistakes(text), expected, "{text}");
    }
}

#[test]
fn inner_inputs_and_answers_override_outer_ones() {
    let text = "inputs: {a: 1, b: 1, c: 1}\nanswers: {x: {y: 1}}\ncases:\n  one:\n    inputs: {b: 2}\n    answers: {x: {y: 2}}\n    steps: [{inputs: {c: 3}}, {}]\n";
    let (file, found) = read(diag::FileId::new(0), text);
    assert!(found.is_empty());
    let case = &file.cases[0];
    let inputs = |at: usize| Value::map(case.steps[at].inputs.clone()).to_string();
    assert_eq!(inputs(0), r#"{"a": 1, "b": 2, "c": 3}"#);
    assert_eq!(inputs(1), r#"{"a": 1, "b": 2, "c": 1}"#);
    let last = case.answers.last().map(|answer| answer.fields.to_string());
    assert_eq!(last.as_deref(), Some(r#"{"y": 2}"#));
}

#[test]
fn an_expression_in_several_lines_keeps_its_indentation() {
    let text = "cases:\n  a:\n    assert:\n      - equals:\n          - 1\n          - 2\n";
    let (file, _) = read(diag::FileId::new(0), text);
    let assertion = &file.cases[0].steps[0].assertions[0];
    assert_eq!(
        &*assertion.yaml,
        "        equals:\n          - 1\n          - 2"
    );
    assert_eq!(assertion.text, None);
}

#[test]
fn expectations_that_are_met_are_no_failures() {
    for step in [
        "",
        "{create: one, unchanged: [two], update: []}",
        "{drifted: two, vanished: []}",
        "{spec: {one: {size: 2.0, tags: {b: y}, none: null, key: hidden}}}",
        "{exports: {url: here}}",
    ] {
        assert_eq!(failures(step, &observed()), [""; 0], "{step}");
    }
}

#[test]
fn failures_name_the_place_and_both_values() {
    for (step, expected) in [
        ("{create: []}", &["2:7 `one` is created too"][..]),
        (
            "{create: [one, two]}",
            &["2:21 `two` is unchanged, not created"],
        ),
        (
            "{create: [one, three]}",
            &["2:21 `three` is something else, not created"],
        ),
        (
            "{create: [one, on]}",
            &["2:21 there is no resource `on` (did you mean `one`?)"],
        ),
        ("{drifted: []}", &["2:7 `two` has drifted too"]),
        ("{vanished: two}", &["2:17 `two` has not vanished"]),
        (
            "{spec: {one: {size: 3}}}",
            &["2:26 `size` of `one` is 2, not 3"],
        ),
        (
            "{spec: {one: {tags: {b: x}}}}",
            &[r#"2:26 `tags` of `one` is {"a": "x", "b": "y"}, not {"b": "x"}"#],
        ),
        (
            "{spec: {one: {sice: 2}}}",
            &["2:26 `sice` of `one` is not set, not 2 (did you mean `size`?)"],
        ),
        (
            "{spec: {one: {key: x}}}",
            &[r#"2:25 `key` of `one` is (secret), not "x""#],
        ),
        (
            "{exports: {url: x}}",
            &[r#"2:22 the export `url` is "here", not "x""#],
        ),
        (
            "{exports: {uri: x}}",
            &["2:17 there is no export `uri` (did you mean `url`?)"],
        ),
        (
            "{refused: bad}",
            &["2:7 nothing is refused; expected: `bad`"],
        ),
    ] {
        assert_eq!(failures(step, &observed()), expected, "{step}");
    }
}

#[test]
fn a_refusal_is_expected_by_its_code_and_a_part_of_its_message() {
    let observed = ObservedStep {
        mistakes: vec![ObservedMistake {
            code: "type-mismatch".into(),
            message: "`size` must be an integer".to_owned(),
            place: "a.yaml:3:4".to_owned(),
        }],
        ..ObservedStep::default()
    };
    for step in [
        "{refused: type-mismatch}",
        "{refused: {message: must be}}",
        "{refused: {code: type-mismatch, message: size}}",
    ] {
        assert_eq!(failures(step, &observed), [""; 0], "{step}");
    }
    let line = "error[type-mismatch]: `size` must be an integer (a.yaml:3:4)";
    assert_eq!(failures("{create: x}", &observed), [format!("2:3 {line}")]);
    assert_eq!(
        failures("{refused: {code: type-mismatch, message: text}}", &observed),
        [format!(
            "2:7 another mistake is found: {line}; expected: `type-mismatch` with `text`"
        )]
    );
}

#[test]
fn a_failed_assertion_shows_both_sides_of_a_comparison() {
    let with = |value: Value, sides| ObservedStep {
        assertions: vec![ObservedAssertion::Value { value, sides }],
        ..ObservedStep::default()
    };
    let sides = Some((Value::Int(1), Value::from("x").secret()));
    for (step, observed, expected) in [
        ("{assert: a}", with(Value::Bool(true), None), None),
        (
            "{assert: {value: a, is: 1}}",
            with(Value::Int(1), None),
            None,
        ),
        (
            "{assert: a}",
            with(Value::Bool(false), sides),
            Some("2:15 the assertion is false: it compares 1 with (secret)"),
        ),
        (
            "{assert: a}",
            with(Value::Int(1), None),
            Some("2:15 the assertion is 1, not true"),
        ),
        (
            "{assert: {value: a, is: 1}}",
            with(Value::Int(2), None),
            Some("2:23 the value is 2, not 1"),
        ),
    ] {
        let expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
        assert_eq!(failures(step, &observed), expected, "{step}");
    }
}
