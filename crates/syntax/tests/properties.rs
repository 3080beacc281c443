//! Properties that every text must have.

mod show;

use proptest::prelude::*;
use show::{one_line, origins, walk};
use syntax::Format::{self, Json, JsonWithComments, Yaml};
use syntax::{Content, Node, Style, parse};

const YAML: &str = r#"%YAML 1.2
---
# comment
version: 2023-04-20 # more
"quoted \"key\" é": 'single ''quoted''
  on two lines'
list: &anchor
  - a
  - - b
    - {c: [d, "e\u00e9", f: g], h: }
  - |2-
      literal

     text
  - >+
    folded
    text

      more

copy: *anchor
? complex
: !tag value of
  two lines
cut: [${a["b"]}, x ${f("c: d")}]
also: ${f("c: d #")}
last: ~
"#;

const JSON: &str = r#"{ // comment
  "a": [1, -2.5e+3, true, false, null, "x\ty\u00e9\ud83d\ude00\\", ],
  "b": {"c": {}, "d": []}, /* more */ "e": ""
}
"#;

/// Checks that a tree is consistent.
fn sound(text: &str, format: Format) {
    let file = diag::FileId::new(0);
    let (tree, found) = parse(file, text, format);
    let fits = |span: diag::Span| text.get(span.range()).is_some() && span.file == file;
    for diagnostic in &found {
        assert!(
            !diagnostic.labels.is_empty() && diagnostic.labels.iter().all(|label| fits(label.span)),
            "{diagnostic:?}"
        );
    }
    assert!(tree.comments.iter().all(|span| fits(*span)));
    walk(&tree, &mut |node| {
        assert!(
            fits(node.span) && fits(node.span_with_properties()),
            "{node:?}"
        );
        if node.is_missing() {
            assert!(
                !found.is_empty(),
                "something is missing, and nothing was said"
            );
        }
    });
    // After a syntax error a container may begin in the skipped text.
    let broken = found
        .iter()
        .any(|diagnostic| diagnostic.code.name == "invalid-syntax");
    if let Some(root) = tree.root.as_ref().filter(|_| !broken) {
        in_order(root, 0);
    }
    for (style, characters) in origins(text, format) {
        for (character, _, source) in characters {
            let made_by = match character {
                _ if source == character.to_string() => true,
                ' ' => source.contains(['\n', '\r']) || source.starts_with('\\'),
                '\n' => {
                    source.starts_with(['\n', '\r', '\\']) || source.is_empty() && is_block(style)
                }
                '\'' => source == "''" || source == "\\'",
                _ => {
                    source.starts_with('\\')
                        && matches!(style, Style::DoubleQuoted | Style::JsonString)
                }
            };
            assert!(made_by, "{character:?} came from {source:?} in {text:?}");
        }
    }
}

/// Checks that nodes are in the order of the text and inside their container. Aliases show a value
/// from elsewhere.
fn in_order(node: &Node, from: u32) -> u32 {
    let written = node.span_with_properties();
    assert!(from <= written.start, "{node:?} begins before {from}");
    if node.alias().is_some() {
        return written.end;
    }
    let mut at = node.span.start.min(written.end);
    match &node.content {
        Content::Map(entries) => {
            for entry in entries {
                at = in_order(&entry.key, at);
                at = in_order(&entry.value, at);
            }
        }
        Content::List(items) => items.iter().for_each(|item| at = in_order(item, at)),
        _ => {}
    }
    assert!(at <= written.end, "{node:?} ends before {at}");
    written.end
}

fn is_block(style: Style) -> bool {
    matches!(style, Style::Literal | Style::Folded)
}

fn formats() -> impl Strategy<Value = Format> {
    prop_oneof![Just(Yaml), Just(Json), Just(JsonWithComments)]
}

/// Generates texts in which characters with a meaning for parsers are frequent.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        5 => "[a-c]{1,3}",
        5 => prop::sample::select(vec![
            ": ", ":", "- ", "-", "? ", "\n", "\n", "\n  ", "\n    ", " ", "\t", "\r\n", "\r", "# ", " #", "{", "}", "[", "]", ",", "\"",
            "'", "|", "|2", ">", ">-", "&a ", "*a", "!t ", "---", "...", "%", "@", "`", "${", "${f(\"", "\")}", "}", "\\", "\\u00e9", "\\n",
            "//", "/*", "*/", "1", "-1.5", "true", "null", "\u{feff}", "é", "😀", "\0", "\u{85}", "\u{2028}", "\u{7f}", "<<: ",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Generates a value as JSON text.
fn value() -> impl Strategy<Value = String> {
    let text = "[a-z \\\\\"\n\té😀:#,${}-]{0,12}".prop_map(|text| {
        let escaped = text
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n")
            .replace('\t', "\\t");
        format!("\"{escaped}\"")
    });
    let leaf = prop_oneof![
        text.clone(),
        Just("true".to_owned()),
        Just("null".to_owned()),
        (-99..99i32).prop_map(|n| n.to_string())
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        let key = text.clone();
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5)
                .prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec((key, inner), 0..5).prop_map(|entries| {
                let entries: Vec<_> = entries
                    .iter()
                    .map(|(key, value)| format!("{key}: {value}"))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gives_a_tree(text in pieces(), format in formats()) {
        sound(&text, format);
    }

    #[test]
    fn any_characters_give_a_tree(text in "\\PC{0,60}", format in formats()) {
        sound(&text, format);
    }

    #[test]
    fn a_document_may_be_cut_anywhere(at in 0..YAML.len(), yaml in any::<bool>(), format in formats()) {
        let text = if yaml { YAML } else { JSON };
        let mut at = at % text.len();
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        sound(&text[..at], format);
        sound(&text[at..], format);
    }

    #[test]
    fn bytes_may_be_replaced(changes in prop::collection::vec((0..YAML.len(), pieces()), 1..4), yaml in any::<bool>()) {
        let (text, format) = if yaml { (YAML, Yaml) } else { (JSON, JsonWithComments) };
        let mut bytes = text.as_bytes().to_vec();
        for (at, piece) in changes {
            let at = at % bytes.len();
            bytes.splice(at..=at, piece.bytes());
        }
        sound(&String::from_utf8_lossy(&bytes), format);
    }

    #[test]
    fn yaml_and_json_give_one_tree(text in value()) {
        let (tree, found) = parse(diag::FileId::new(0), &text, Json);
        prop_assert!(found.is_empty(), "{:?}", found);
        prop_assert!(tree.root.is_some());
        let (_, found) = parse(diag::FileId::new(0), &text, Yaml);
        prop_assert!(found.is_empty(), "{:?}", found);
        prop_assert_eq!(one_line(&text, Json), one_line(&text, Yaml));
    }
}

#[test]
fn a_colon_that_begins_the_next_key_is_not_that_of_the_last() {
    sound("? complex\n:<<: a!tag\n", Yaml);
}

#[test]
fn samples_are_valid() {
    let codes: Vec<_> = show::diagnostics(YAML, Yaml)
        .iter()
        .map(|found| found.split(' ').next().unwrap().to_owned())
        .collect();
    assert_eq!(codes, ["split-substitution"; 3]);
    assert_eq!(show::diagnostics(JSON, JsonWithComments), [""; 0]);
    sound(YAML, Yaml);
    sound(JSON, JsonWithComments);
}

/// A lone carriage return ends a line, also where parsing resumes after an error.
#[test]
fn a_carriage_return_ends_a_line() {
    for text in [
        "l:\r  - |2-\r    a\rb: a${c: d\r\re: f\r",
        "l: |\n  a\rb: a${c: d\n\ne: f\n",
    ] {
        sound(text, Yaml);
        let (tree, found) = parse(diag::FileId::new(0), text, Yaml);
        assert_eq!(
            found.iter().map(|it| it.code.name).collect::<Vec<_>>(),
            ["split-substitution"]
        );
        let keys: Vec<_> = tree
            .root
            .iter()
            .flat_map(|root| root.as_map().unwrap_or_default())
            .collect();
        assert_eq!(
            keys.iter()
                .filter_map(|entry| entry.key.text())
                .collect::<Vec<_>>(),
            ["l", "b", "e"]
        );
    }
}
