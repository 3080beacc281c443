//! Tests of the examples of every row, and of unknown and secret arguments.

use blueprint::Value;

use super::*;
use crate::version::Version;

fn json(text: &str) -> Value {
    pycompat::parse_json(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The latest version that has a function.
fn latest(function: &HotFunction) -> Version {
    let before = |until: Version| Version::at(until.number() - 1);
    function.until.map_or(Version::V2021_04_16, before)
}

fn gives(function: &HotFunction, argument: &Value, version: Version) -> String {
    let outcome = (function.form)(argument, version).and_then(|()| function.run(argument, version));
    match outcome {
        Ok(value) => pycompat::json(&value),
        Err(refusal) => format!("! {}", refusal.code.name),
    }
}

#[test]
fn every_example_evaluates_to_its_result() {
    let mut wrong = Vec::new();
    for function in functions() {
        assert!(
            function.docs.ends_with('.') && function.examples.len() > 1,
            "{}",
            function.name
        );
        for example in function.examples {
            let version = example.version.unwrap_or_else(|| latest(function));
            let found = gives(function, &json(example.argument), version);
            let expected = match example.expected.strip_prefix("! ") {
                Some(_) => example.expected.to_owned(),
                None => pycompat::json(&json(example.expected)),
            };
            if found != expected {
                wrong.push(format!(
                    "{}: {} gives {found}, not {expected}",
                    function.name, example.argument
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_refusal_has_heats_message_and_a_valid_place() {
    for function in functions() {
        for example in function
            .examples
            .iter()
            .filter(|example| example.expected.starts_with('!'))
        {
            let version = example.version.unwrap_or_else(|| latest(function));
            let argument = json(example.argument);
            let refused = (function.form)(&argument, version)
                .and_then(|()| function.run(&argument, version).map(|_| ()));
            let refusal = refused.expect_err("the example is refused");
            assert!(
                refusal.heat.is_some(),
                "{} {}",
                function.name,
                example.argument
            );
            assert!(
                refusal
                    .message
                    .starts_with(|first: char| first == '`' || first.is_lowercase()),
                "{}",
                refusal.message
            );
            let mut at = argument;
            for step in &refusal.path {
                let inner = match step {
                    expr::ValueStep::Key(key) => at.get(key).cloned(),
                    expr::ValueStep::Index(index) => {
                        at.as_list().and_then(|items| items.get(*index)).cloned()
                    }
                };
                at = inner.unwrap_or_else(|| {
                    panic!("{} {}: {:?}", function.name, example.argument, refusal.path)
                });
            }
        }
    }
}

fn unknown() -> Value {
    Value::unknown(None, None)
}

#[test]
fn calls_are_accepted_as_arguments() {
    let call = unknown();
    for (name, argument, good) in [
        ("list_join", call.clone(), false),
        ("list_join", Value::list(["-".into(), call.clone()]), true),
        (
            "str_replace",
            Value::map([("template", call.clone()), ("params", call.clone())]),
            true,
        ),
        (
            "repeat",
            Value::map([("template", call.clone()), ("for_each", call.clone())]),
            true,
        ),
        (
            "repeat",
            Value::map([
                ("template", "a".into()),
                ("for_each", Value::map([("a", call.clone())])),
            ]),
            true,
        ),
        ("repeat", call.clone(), false),
        ("make_url", call.clone(), false),
        (
            "make_url",
            Value::map([
                ("host", call.clone()),
                ("port", call.clone()),
                ("query", call.clone()),
            ]),
            true,
        ),
        ("map_merge", call.clone(), true),
        ("str_split", call.clone(), true),
        ("digest", call.clone(), true),
        ("filter", call.clone(), false),
        ("equals", call.clone(), false),
        ("not", call.clone(), true),
        ("and", call.clone(), false),
        ("Fn::Select", call.clone(), false),
    ] {
        let function = function(name).expect("a row");
        assert_eq!(
            (function.form)(&argument, latest(function)).is_ok(),
            good,
            "{name} {argument}"
        );
    }
}

#[test]
fn parts_may_be_unknown_or_secret() {
    let secret = Value::from("s").secret();
    let run = |name: &str, argument: Value| {
        let function = function(name).expect("a row");
        function
            .run(&argument, latest(function))
            .expect("a value")
            .to_string()
    };
    let pair = || Value::map([("a", unknown()), ("b", secret.clone())]);
    assert_eq!(
        run(
            "map_merge",
            Value::list([pair(), Value::map([("c", 1.into())])])
        ),
        r#"{"a": (known on deploy), "b": (secret), "c": 1}"#
    );
    assert_eq!(
        run("map_merge", Value::list([pair(), unknown()])),
        "(secret)".replace("secret", "known on deploy")
    );
    assert_eq!(run("map_merge", Value::list([pair().secret()])), "(secret)");
    assert_eq!(
        run(
            "list_concat",
            Value::list([Value::list([unknown(), 1.into()])])
        ),
        "[(known on deploy), 1]"
    );
    assert_eq!(
        run(
            "list_join",
            Value::list(["-".into(), Value::list([secret.clone()])])
        ),
        "(secret)"
    );
    assert_eq!(
        run(
            "list_join",
            Value::list(["-".into(), Value::list([unknown()])])
        ),
        "(known on deploy)"
    );
    let each = Value::map([("%", Value::list([unknown(), secret.clone(), "x".into()]))]);
    let template = Value::map([("k", "a%".into()), ("l", "b".into())]);
    assert_eq!(
        run(
            "repeat",
            Value::map([("template", template), ("for_each", each.clone())])
        ),
        r#"[{"k": (known on deploy), "l": "b"}, {"k": (secret), "l": "b"}, {"k": "ax", "l": "b"}]"#
    );
    let keyed = Value::map([("%", 1.into())]);
    assert_eq!(
        run(
            "repeat",
            Value::map([("template", keyed), ("for_each", each)])
        ),
        r#"[(known on deploy), (secret), {"x": 1}]"#
    );
    let replaced = Value::list([
        pair(),
        Value::map([("values", Value::map([("s", "t".into())]))]),
    ]);
    assert_eq!(
        run("map_replace", replaced),
        r#"{"a": (known on deploy), "b": (secret)}"#
    );
    assert_eq!(
        run("Fn::Select", Value::list(["a".into(), pair()])),
        "(known on deploy)"
    );
    assert_eq!(
        run("Fn::Select", Value::list(["b".into(), pair()])),
        "(secret)"
    );
}

/// The value with an unknown value for each text `?`.
fn with_unknown(value: &Value) -> Value {
    match value {
        Value::Text(text) if text.as_ref() == "?" => unknown(),
        Value::List(items) => Value::list(items.iter().map(with_unknown)),
        Value::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, entry)| (key.clone(), with_unknown(entry))),
        ),
        other => other.clone(),
    }
}

#[test]
fn known_argument_is_checked_beside_an_unknown_one() {
    let refused = |name: &str, argument: &str, version: Option<Version>| {
        let function = function(name).expect("a row");
        let argument = with_unknown(&json(argument));
        let version = version.unwrap_or_else(|| latest(function));
        let refusal = function.refusal_regardless(&argument, version);
        refusal.map(|refusal| refusal.code.name)
    };
    let wrong = [
        (
            "str_replace",
            r#"{"template": "a b", "params": {"a": "?", "b": [1]}}"#,
            Some(Version::V2014_10_16),
            "argument-type",
        ),
        (
            "str_replace",
            r#"{"template": 5, "params": {"a": "?"}}"#,
            None,
            "argument-type",
        ),
        (
            "str_replace_strict",
            r#"{"template": "nothing", "params": {"zz": "?"}}"#,
            None,
            "placeholder-missing",
        ),
        (
            "str_replace_vstrict",
            r#"{"template": "a b", "params": {"a": "?", "b": ""}}"#,
            None,
            "empty-value",
        ),
        ("digest", r#"["md6", "?"]"#, None, "argument-range"),
        ("digest", r#"[5, "?"]"#, None, "argument-type"),
        ("filter", r#"[5, ["?"]]"#, None, "argument-type"),
        ("list_join", r#"[5, ["?"]]"#, None, "argument-type"),
        ("list_join", r#"[",", ["?", 5]]"#, None, "argument-type"),
    ];
    for (name, argument, version, code) in wrong {
        assert_eq!(
            refused(name, argument, version),
            Some(code),
            "{name}: {argument}"
        );
    }
    let may_be_right = [
        ("str_replace", r#"{"template": "?", "params": {"b": [1]}}"#),
        (
            "str_replace_strict",
            r#"{"template": "?", "params": {"zz": 1}}"#,
        ),
        ("digest", r#"["sha256", "?"]"#),
        ("digest", r#"["?", "text"]"#),
        ("filter", r#"[["a"], ["?"]]"#),
        ("list_join", r#"["?", ["a", {"b": 1}]]"#),
        ("list_join", r#"[",", "?", ["b"]]"#),
        ("str_split", r#"[",", "?", 5]"#),
        // Null text gives null, whatever the delimiter is.
        ("str_split", r#"[5, "?"]"#),
        ("str_split", r#"["?", "a,b", 1]"#),
        ("contains", r#"["a", ["?"]]"#),
    ];
    for (name, argument) in may_be_right {
        assert_eq!(refused(name, argument, None), None, "{name}: {argument}");
    }
}

#[test]
fn known_values_of_repeat_are_checked_beside_unknown_ones() {
    let function = function("repeat").expect("a row");
    let run = |for_each: &str, permutations: Value| {
        let for_each = with_unknown(&json(for_each));
        let entries = [
            ("template", "v".into()),
            ("for_each", for_each),
            ("permutations", permutations),
        ];
        function.run(&Value::map(entries), Version::V2018_08_31)
    };
    let code = |for_each: &str, permutations: Value| {
        run(for_each, permutations)
            .err()
            .map(|refusal| refusal.code.name)
    };
    let (all, step) = (Value::Bool(true), Value::Bool(false));
    assert_eq!(
        code(r#"{"v": "?", "w": "text"}"#, all.clone()),
        Some("argument-type")
    );
    assert_eq!(
        code(r#"{"v": "text", "w": "?"}"#, unknown()),
        Some("argument-type")
    );
    assert_eq!(
        code(r#"{"v": "?", "w": {"a": 1}}"#, step.clone()),
        Some("argument-type")
    );
    assert_eq!(
        code(r#"{"v": ["a"], "w": "?", "x": [1, 2]}"#, step.clone()),
        Some("argument-range")
    );
    for (for_each, permutations) in [
        (r#"{"v": "?", "w": ["a"]}"#, all.clone()),
        (r#"{"v": "?", "w": {"a": 1}}"#, all.clone()),
        (r#"{"v": ["a"], "w": "?", "x": [1]}"#, step),
        (r#"{"v": ["a"], "w": ["b", "c"]}"#, unknown()),
        (r#"{"v": {"a": 1}}"#, unknown()),
    ] {
        let came = run(for_each, permutations);
        assert!(came.is_ok_and(|value| value.has_unknown()), "{for_each}");
    }
}

#[test]
fn paths_lead_into_maps_lists_and_texts() {
    let value = json(r#"{"a": ["x", {"b": "c"}], "1": "one", "n": null}"#);
    let texts = |path: &str| -> Vec<String> {
        let path = json(path);
        let path = path.as_list().unwrap_or_default();
        [
            paths::parameter(&value, path),
            paths::attribute(&value, path),
        ]
        .iter()
        .map(ToString::to_string)
        .collect()
    };
    for (path, parameter, attribute) in [
        ("[]", value.to_string().as_str(), value.to_string().as_str()),
        (r#"["a", 1, "b"]"#, "\"c\"", "\"c\""),
        (r#"["a", "0"]"#, "\"x\"", "null"),
        (r#"["a", " -1 ", "b"]"#, "\"c\"", "null"),
        (r#"["a", -1, "b"]"#, "\"c\"", "\"c\""),
        (r#"["a", -3]"#, "\"\"", "null"),
        (r#"["a", true, "b"]"#, "\"c\"", "\"c\""),
        (r#"["a", 1.0]"#, "\"\"", "null"),
        (r#"["1", 1]"#, "\"n\"", "\"n\""),
        (r#"["1", -3]"#, "\"o\"", "\"o\""),
        (r#"["1", -4]"#, "\"\"", "null"),
        (r#"[1]"#, "\"\"", "null"),
        (r#"["n"]"#, "null", "null"),
        (r#"["n", "x"]"#, "\"\"", "null"),
        (r#"["z"]"#, "\"\"", "null"),
    ] {
        assert_eq!(texts(path), [parameter, attribute], "{path}");
    }
    assert!(paths::parameter(&unknown(), &["a".into()]).is_unknown());
}
