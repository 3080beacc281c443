//! Texts as libyaml reads them, compared with what PyYAML answered (`record.py`).

use std::fmt::Write;

use diag::FileId;
use syntax::{Content, Format, Node, Style, parse, parse_libyaml};

/// The node on one line, each scalar with the sign of its style; as in `record.py`.
fn written(node: &Node, out: &mut String) {
    match &node.content {
        Content::Missing => out.push('?'),
        Content::Scalar(scalar) => {
            out.push(match scalar.style {
                Style::SingleQuoted => '\'',
                Style::DoubleQuoted => '"',
                Style::Literal => '|',
                Style::Folded => '>',
                _ => ':',
            });
            quoted(&scalar.text, out);
        }
        Content::List(items) => {
            out.push('[');
            for (number, item) in items.iter().enumerate() {
                out.push_str(if number == 0 { "" } else { " " });
                written(item, out);
            }
            out.push(']');
        }
        Content::Map(entries) => {
            out.push('{');
            for (number, entry) in entries.iter().enumerate() {
                out.push_str(if number == 0 { "" } else { " " });
                written(&entry.key, out);
                out.push('=');
                written(&entry.value, out);
            }
            out.push('}');
        }
    }
}

/// A text as JSON, with the escapes of Python.
fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// What the reader makes of a text; `None` if it refuses the text.
fn read(text: &str) -> Option<String> {
    let (tree, found) = parse_libyaml(FileId::new(0), text, 0..text.len());
    if found.has_errors() {
        return None;
    }
    let Some(root) = &tree.root else {
        return Some("nothing".to_owned());
    };
    assert_places(root, text);
    for comment in &tree.comments {
        assert!(text[comment.range()].starts_with('#'), "{text:?}");
    }
    let mut out = String::new();
    written(root, &mut out);
    Some(out)
}

/// Every node is within the text, and a parent begins where its first child does, or before.
fn assert_places(node: &Node, text: &str) {
    let slice = text.get(node.span.range());
    assert!(slice.is_some(), "{text:?} {:?}", node.span);
    let inside = |child: &Node| {
        let (own, child) = (node.span, child.span_with_properties());
        assert!(own.start <= child.start && child.end <= own.end, "{text:?}");
    };
    let is_alias = node.alias().is_some();
    match &node.content {
        Content::List(items) if !is_alias => items.iter().for_each(|item| {
            inside(item);
            assert_places(item, text);
        }),
        Content::Map(entries) if !is_alias => entries.iter().for_each(|entry| {
            inside(&entry.key);
            inside(&entry.value);
            assert_places(&entry.key, text);
            assert_places(&entry.value, text);
        }),
        _ => {}
    }
}

#[test]
fn texts_are_read_as_libyaml_reads_them() {
    let other = std::env::var("CYAN_LIBYAML_CASES").ok();
    let cases = match &other {
        Some(path) => std::fs::read_to_string(path).expect("the cases can be read"),
        None => include_str!("cases.json").to_owned(),
    };
    let (tree, found) = parse(FileId::new(0), &cases, Format::Json);
    assert!(found.is_empty(), "{found:?}");
    let root = tree.root.expect("the cases are a map");
    let entries = root.as_map().expect("the cases are a map");
    assert!(entries.len() > 1000, "{}", entries.len());
    let mut wrong = String::new();
    for entry in entries {
        let text = entry.key.text().expect("a text");
        let wanted = entry.value.as_scalar().expect("a text or null");
        let wanted = wanted.style.is_text().then(|| wanted.text.to_string());
        let came = read(text);
        if came != wanted {
            let _ = writeln!(wrong, "{text:?}\n  {came:?}\n  {wanted:?}");
        }
    }
    assert!(
        wrong.is_empty(),
        "text, answer, answer of libyaml:\n{wrong}"
    );
}

/// The mistakes of a text, each with the text that it marks.
fn mistakes(text: &str) -> Vec<(String, &str)> {
    let (_, found) = parse_libyaml(FileId::new(0), text, 0..text.len());
    found
        .iter()
        .map(|one| (one.message.to_string(), &text[one.span().range()]))
        .collect()
}

#[test]
fn what_only_libyaml_refuses_is_reported_at_its_place() {
    for (text, message, marked) in [
        ("a: &x 1\nb: &x 2\n", "`&x` names two values", "&x"),
        (
            "a: 1\n\t\nb: 2\n",
            "a tab where only spaces are allowed",
            "\t",
        ),
        (
            "a: 1\n---\nb: 2\n",
            "a file holds one document, this one holds several",
            "---",
        ),
        ("a: [1\nb: 2\n", "a `[` that is never closed", "["),
    ] {
        assert_eq!(mistakes(text), [(message.to_owned(), marked)], "{text:?}");
    }
    // What libyaml accepts is no mistake, although the other parser refuses it.
    let text = "a: {\n\tb: 1 }\nc: 'x\ny'\nd: \"z\n";
    let message = "a quoted text that does not end";
    assert_eq!(mistakes(text), [(message.to_owned(), "\"")]);
}

#[test]
fn limits_hold() {
    for text in ["[".repeat(300), "- ".repeat(300), "? ".repeat(300)] {
        let found = mistakes(&text);
        assert!(!found.is_empty(), "{text}");
    }
    let nested = format!("{}{}", "[".repeat(256), "]".repeat(256));
    let message = "more than 255 lists and maps inside each other";
    assert_eq!(mistakes(&nested)[0].0, message);
    let copies = "a: &a [1, 1, 1, 1, 1, 1, 1, 1]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\n\
        c: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c]\n\
        e: &e [*d, *d, *d, *d, *d, *d, *d, *d]\nf: [*e, *e, *e, *e, *e, *e, *e, *e]\n\
        g: [*e, *e, *e, *e, *e, *e, *e, *e]\n";
    assert_eq!(mistakes(copies).len(), 1);
}

#[test]
fn a_part_of_a_text_is_read_in_its_place() {
    let text = "  \t a: |\n  b\n \n";
    let part = 4..text.len() - 3;
    let (tree, found) = parse_libyaml(FileId::new(0), text, part);
    assert!(found.is_empty(), "{found:?}");
    let root = tree.root.expect("a map");
    assert_eq!(root.span.start, 4);
    assert_eq!(root.get("a").and_then(Node::text), Some("b"));
}
