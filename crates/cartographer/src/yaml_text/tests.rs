//! Tests of the text of values.

use blueprint::Value;

use super::yaml_text;

fn text(value: impl Into<Value>) -> String {
    yaml_text(&value.into()).expect("a text")
}

#[test]
fn blocks_have_an_indent_of_four() {
    let inner = Value::map([(
        "b",
        Value::list([Value::from("x"), Value::list([Value::Int(1)])]),
    )]);
    let value = Value::map([
        ("z", inner),
        (
            "a",
            Value::list([Value::map([("k", 1)].map(|(k, v)| (k, Value::Int(v))))]),
        ),
    ]);
    assert_eq!(
        text(value),
        "a:\n    - k: 1\nz:\n    b:\n        - x\n        - - 1\n"
    );
}

#[test]
fn strings_are_quoted_only_where_they_must_be() {
    for (string, written) in [
        ("a: b", "'a: b'"),
        ("a:b", "a:b"),
        ("a #b", "'a #b'"),
        ("a#b", "a#b"),
        ("-a", "-a"),
        ("- a", "'- a'"),
        ("it's", "it's"),
        ("'x", "'''x'"),
        ("yes", "\"yes\""),
        ("a\tb", "\"a\\tb\""),
        ("\u{1f600}", "\"\\U0001F600\""),
        ("é", "é"),
        ("a \n", "\"a \\n\""),
        ("a\r", "\"a\\r\""),
    ] {
        assert_eq!(text(string), format!("{written}\n"), "{string:?}");
    }
}

#[test]
fn several_lines_are_a_literal_block() {
    assert_eq!(text("a\nb"), "|-\n    a\n    b\n");
    assert_eq!(text("a\n\nb\n\n"), "|+\n    a\n\n    b\n\n");
    assert_eq!(text(" a\n"), "|4\n     a\n");
    assert_eq!(text("\n\na"), "|4-\n\n    a\n");
    assert_eq!(text("\n"), "|4+\n");
}

#[test]
fn keys_of_several_lines_stand_apart() {
    let value = Value::map([("a\nb", Value::Int(1))]);
    assert_eq!(text(value), "? |-\n    a\n    b\n: 1\n");
}

#[test]
fn numbers_are_doubles() {
    assert_eq!(text(1_000_000), "1e+06\n");
    assert_eq!(text(100_000), "100000\n");
    assert_eq!(text(0.5), "0.5\n");
}

#[test]
fn unknown_parts_have_no_text() {
    assert_eq!(yaml_text(&Value::list([Value::unknown(None, None)])), None);
}
