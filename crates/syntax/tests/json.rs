//! JSON texts: trees, places and diagnostics.

mod show;

use show::{check, one_line, spans};
use syntax::Format::{Json, JsonWithComments, Yaml};

#[test]
fn values() {
    let text = r#"{"a": [1, -2.50, true, false, null, "x\ty"], "b": {}, "a": []}"#;
    check(
        Json,
        text,
        r#"{"a": [1, -2.50, true, false, null, "x\ty"], "b": {}, "a": []}"#,
        &[],
    );
    check(Json, "\u{feff} \"x\" ", "\"x\"", &[]);
    check(Json, "{\r\n\"a\":\t1}", "{\"a\": 1}", &[]);
    assert_eq!(
        spans(" {\"a\" : [1 , \"b\"] } ", Json),
        [
            "{\"a\" : [1 , \"b\"] }",
            "\"a\"",
            "[1 , \"b\"]",
            "1",
            "\"b\""
        ]
    );
}

#[test]
fn comments_and_trailing_commas() {
    let text = "// a\n{\"b\": [1, /* c */ 2,], // d\n}\n";
    check(JsonWithComments, text, "{\"b\": [1, 2]}", &[]);
    let found = [
        "json-extra-syntax 1:1",
        "json-extra-syntax 2:11",
        "json-extra-syntax 2:20",
        "json-extra-syntax 2:22",
        "json-extra-syntax 2:24",
    ];
    check(Json, text, "{\"b\": [1, 2]}", &found);
    check(
        Json,
        "{\"a\": 1,\n}",
        "{\"a\": 1}",
        &["json-extra-syntax 1:8"],
    );
    check(JsonWithComments, "[,]", "[]", &["invalid-syntax 1:2"]);
    check(
        JsonWithComments,
        "[1,,2]",
        "[1, 2]",
        &["invalid-syntax 1:4"],
    );
}

#[test]
fn each_mistake_is_reported_once() {
    for (text, tree, place) in [
        (
            "{\"version\": \"2023-04-20\", \"resources\": {\n",
            "{\"version\": \"2023-04-20\", \"resources\": {}}",
            "1:40",
        ),
        ("{\"a\": 1 \"b\": 2}", "{\"a\": 1, \"b\": 2}", "1:9"),
        ("[1 2]", "[1, 2]", "1:4"),
        ("{\"a\" 1, \"b\": 2}", "{\"a\": 1, \"b\": 2}", "1:6"),
        ("{\"a\", \"b\": 2}", "{\"a\": ?, \"b\": 2}", "1:5"),
        ("{\"a\": , \"b\": 2}", "{\"a\": ?, \"b\": 2}", "1:7"),
        ("{\"a\": }", "{\"a\": ?}", "1:7"),
        ("{a: 1, \"b\": 2}", "{a: 1, \"b\": 2}", "1:2"),
        ("{'a': 1, \"b\": 2}", "{\"a\": 1, \"b\": 2}", "1:2"),
        ("{\"a\": 'x', \"b\": 2}", "{\"a\": ?, \"b\": 2}", "1:7"),
        ("{\"a\": 0x1F, \"b\": 2}", "{\"a\": ?, \"b\": 2}", "1:7"),
        ("{\"a\": yes, \"b\": 2}", "{\"a\": ?, \"b\": 2}", "1:7"),
        ("{\"a\": +1}", "{\"a\": ?}", "1:7"),
        ("{\"a\": 01}", "{\"a\": ?}", "1:7"),
        ("{\"a\": \"x\\q\"}", "{\"a\": \"x\"}", "1:9"),
        ("{\"a\": \"\\ud800\"}", "{\"a\": \"\"}", "1:8"),
        ("{\"a\": \"x\ty\"}", "{\"a\": \"x\\ty\"}", "1:9"),
        ("{\"a\": \"x,\n\"b\": 2}", "{\"a\": ?, \"b\": 2}", "1:7"),
        (
            "{\"a\": [1, 2}, \"b\": 3}",
            "{\"a\": [1, 2], \"b\": 3}",
            "1:12",
        ),
        ("{1: 2, \"b\": 3}", "{\"b\": 3}", "1:2"),
        ("{\"a\": 1} x", "{\"a\": 1}", "1:10"),
        ("{\"a\": 1} {}", "{\"a\": 1}", "1:10"),
        ("{\"a\": # 1\n2}", "{\"a\": 2}", "1:7"),
        ("[1, /* 2]", "[1]", "1:5"),
        ("", "nothing", "1:1"),
        ("// x", "nothing", "1:5"),
        ("]", "nothing", "1:1"),
    ] {
        let found: Vec<_> = show::diagnostics(text, JsonWithComments);
        let found = found.iter().map(String::as_str).collect::<Vec<_>>();
        let place = format!("invalid-syntax {place}");
        assert_eq!(
            (one_line(text, JsonWithComments).as_str(), found),
            (tree, vec![place.as_str()]),
            "{text}"
        );
    }
}

#[test]
fn nesting_has_a_limit() {
    for text in ["[".repeat(100_000), "{\"a\":".repeat(100_000)] {
        assert_eq!(show::diagnostics(&text, Json).len(), 1);
    }
    let deep = format!("{}{}", "[".repeat(255), "]".repeat(255));
    check(Json, &deep, &deep, &[]);
    let deeper = format!("{{\"a\": [{deep}], \"b\": 1}}");
    assert_eq!(show::diagnostics(&deeper, Json).len(), 1);
    assert!(one_line(&deeper, Json).ends_with("\"b\": 1}"));
}

#[test]
fn substitutions_are_never_split() {
    check(
        Json,
        r#"{"a": ["${f(\"a: b\")} #"]}"#,
        r#"{"a": ["${f(\"a: b\")} #"]}"#,
        &[],
    );
}

#[test]
fn yaml_and_json_give_one_tree() {
    let text = r#"{"a": [1, -2.5, true, null, "x\ty\u00e9"], "b": {"c": {}, "d": []}, "e": "" }"#;
    assert_eq!(one_line(text, Json), one_line(text, Yaml));
}
