//! Every character of a decoded scalar maps to its source.

mod show;

use show::origins;
use syntax::Format::{self, Json, Yaml};
use syntax::Style;

/// The pieces of the last scalar with their sources; unchanged ones are joined.
fn pieces(text: &str, format: Format) -> Vec<(String, String)> {
    let (_, characters) = origins(text, format).pop().expect("a scalar");
    let mut pieces: Vec<(String, String)> = Vec::new();
    let mut next = None;
    for (character, start, source) in characters {
        let end = start + source.len();
        let unchanged = source == character.to_string();
        match pieces.last_mut() {
            Some((made, from)) if unchanged && next == Some(start) && made == from => {
                made.push(character);
                from.push_str(&source);
            }
            _ => pieces.push((character.to_string(), source)),
        }
        next = Some(end);
    }
    pieces
}

#[track_caller]
fn check(format: Format, text: &str, expected: &[(&str, &str)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|(made, from)| (made.to_string(), from.to_string()))
        .collect();
    assert_eq!(pieces(text, format), expected, "{text}");
}

#[test]
fn plain() {
    check(Yaml, "a: b c", &[("b c", "b c")]);
    check(
        Yaml,
        "a: é\n   c  \n\n  d",
        &[
            ("é", "é"),
            (" ", "\n   "),
            ("c", "c"),
            ("\n", "\n"),
            ("d", "d"),
        ],
    );
}

#[test]
fn quoted() {
    check(Yaml, "a: 'b''c'", &[("b", "b"), ("'", "''"), ("c", "c")]);
    check(
        Yaml,
        r#"a: "b\tc\x41\u00e9\U0001F600\"""#,
        &[
            ("b", "b"),
            ("\t", r"\t"),
            ("c", "c"),
            ("A", r"\x41"),
            ("é", r"\u00e9"),
            ("😀", r"\U0001F600"),
            ("\"", "\\\""),
        ],
    );
    check(
        Yaml,
        "a: \"b \n  c\\\n  d\"",
        &[("b", "b"), (" ", " \n  "), ("c", "c"), ("d", "d")],
    );
    check(
        Yaml,
        "a: \"b\\\n\n  c\"",
        &[("b", "b"), ("\n", "\n"), ("c", "c")],
    );
    check(Yaml, "a: \"\\ud83d\\ude00\"", &[("😀", r"\ud83d\ude00")]);
}

#[test]
fn blocks() {
    check(
        Yaml,
        "a: |\n  b\n\n   c\n",
        &[("b\n\n", "b\n\n"), (" c\n", " c\n")],
    );
    check(
        Yaml,
        "a: |2-\n    b\n   c\n",
        &[("  b\n", "  b\n"), (" c", " c")],
    );
    check(
        Yaml,
        "a: |+\r\n  b\r\n\r\n",
        &[("b", "b"), ("\n", "\r\n"), ("\n", "\r\n")],
    );
    check(
        Yaml,
        "a: >\n  b\n  c\n\n  d\n   e\n  f\n\n\n",
        &[
            ("b", "b"),
            (" ", "\n"),
            ("c", "c"),
            ("\n", "\n"),
            ("d\n", "d\n"),
            (" e\n", " e\n"),
            ("f\n", "f\n"),
        ],
    );
    check(
        Yaml,
        "a: >+\n\n  b\n\n",
        &[("\n", "\n"), ("b\n\n", "b\n\n")],
    );
    check(Yaml, "- a:\n    - |2\n      b\n", &[("b\n", "b\n")]);
    check(Yaml, "a: |\n  b", &[("b", "b")]);
}

#[test]
fn json() {
    check(
        Json,
        r#"["a\u00e9\n\ud83d\ude00\/"]"#,
        &[
            ("a", "a"),
            ("é", r"\u00e9"),
            ("\n", r"\n"),
            ("😀", r"\ud83d\ude00"),
            ("/", r"\/"),
        ],
    );
    check(Json, "[-1.50]", &[("-1.50", "-1.50")]);
}

#[test]
fn a_text_put_together_again() {
    check(
        Yaml,
        "a: x ${f(\"b: c\")}\n",
        &[("x ${f(\"b: c\")}", "x ${f(\"b: c\")}")],
    );
}

#[test]
fn an_alias_leads_to_the_anchored_text() {
    let all = origins("a: &x 'b'\nc: *x\n", Yaml);
    assert_eq!(
        all.last(),
        Some(&(Style::SingleQuoted, vec![('b', 7, "b".to_owned())]))
    );
}
