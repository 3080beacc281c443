//! Targets on texts: YAML, JSON, expressions, formatting.

use blueprint::{Ref, TextPart, Value};
use diag::{Diagnostics, FileId, Span, TextMap};
use expr::{Ask, AskFailure, EvaluationStop, ResolvedHead, Scope};
use syntax::{Content, Format, Node, Tree, layout, parse};

use super::documents;
use super::target::{FuzzTarget, TEXT, number, roughly};

pub(super) const YAML: FuzzTarget = FuzzTarget {
    name: "yaml",
    invariant: "any text gives a tree whose places nest and cover, and says at least once what is broken",
    run: |input| read(input, Format::Yaml),
    seeds: documents::texts,
    words: &[
        ": ",
        ":",
        "- ",
        "? ",
        "\n",
        "\n  ",
        "# ",
        " #",
        "{",
        "}",
        "[",
        "]",
        ", ",
        "|",
        "|2-\n",
        ">",
        ">+\n",
        "&a ",
        "*a",
        "!t ",
        "!!str ",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "${",
        "${f(\"",
        "\")}",
        "<<: ",
        "\\u00e9",
        "\\n",
        "~",
        "null",
        "''",
        "\"\"",
        "@",
        "`",
        "? - a\n: - b\n",
    ],
    cases: 4_000,
    longest: TEXT,
};

pub(super) const JSON: FuzzTarget = FuzzTarget {
    name: "json",
    invariant: "any text gives a tree whose places nest and cover, strict and with comments",
    run: |input| read(input, Format::Json) ^ read(input, Format::JsonWithComments).rotate_left(1),
    seeds: || {
        let texts = [
            "{\"a\": [1, -2.5e+3, true, false, null, \"x\\ty\\u00e9\\ud83d\\ude00\\\\\"], \"b\": {\"c\": {}, \"d\": []}}",
            "{ // a comment\n  \"a\": [1, /* more */ 2,],\n}\n",
            "[[[]], {\"\": {\"a\": 0}}, \"\"]",
        ];
        texts
            .iter()
            .map(|text| text.as_bytes().to_vec())
            .chain(documents::json_texts())
            .collect()
    },
    words: &[
        "{", "}", "[", "]", ",", ":", "\"a\":", "\"", "//", "/*", "*/", "\\u00e9", "\\ud83d",
        "\\ude00", "true", "null", "-", "1e5", "0.5", "\n", "'", "\\", "NaN", "#",
    ],
    cases: 4_000,
    longest: TEXT,
};

pub(super) const EXPRESSION: FuzzTarget = FuzzTarget {
    name: "expression",
    invariant: "any text with `${..}` is read without a byte lost, and evaluated to an end within its limits",
    run: expression,
    seeds: || {
        let functions = expr::core_functions();
        let examples = functions.iter().flat_map(|function| &function.examples);
        let calls = examples.map(|example| format!("${{{}}}", example.call).into_bytes());
        let others = [
            "a ${variables.x} b ${x.spec.y[0][\"k\"].z}",
            "${map(list(1, 2), compose(to_upper, getattr(\"id\")))}",
            "${if(and(true, x.y), \"a${b}\", none)}",
            "$${not} ${elem.a[i]} ${children.c.e}",
        ];
        calls
            .chain(others.iter().map(|text| text.as_bytes().to_vec()))
            .collect()
    },
    words: &[
        "${",
        "}",
        "(",
        ")",
        "[",
        "]",
        ",",
        ".",
        "=",
        "\"",
        "'",
        "\\",
        "-",
        " ",
        "$",
        "1",
        "2.5",
        "variables.x",
        "values.",
        "elem",
        "i",
        "x.spec.a",
        "none",
        "true",
        "to_upper",
        "map(",
        "list(",
        "object(a = ",
        "getattr(\"a\")",
        "jsondecode(\"[1]\")",
        "reduce(",
        "substr(",
        "split(",
        "replace(",
        "repeat(",
        "range(",
        "cidrsubnet(",
        "format(",
        "flatmap(",
        "sort(",
        "compare",
        "lookup(",
        "coalesce(",
        "merge(",
        "if(",
        "datetime(\"rfc3339\")",
    ],
    cases: 4_000,
    longest: TEXT,
};

pub(super) const LAYOUT: FuzzTarget = FuzzTarget {
    name: "layout",
    invariant: "house style keeps the tree, is its own house style, and grows no more than its nesting asks for",
    run: |input| {
        house_style(input, Format::Yaml)
            ^ house_style(input, Format::JsonWithComments).rotate_left(1)
    },
    seeds: || {
        documents::texts()
            .into_iter()
            .chain(documents::json_texts())
            .collect()
    },
    words: &[
        ": ",
        "- ",
        "\n",
        "\n\n",
        "\n  ",
        "# c\n",
        " # c",
        "{",
        "}",
        "[",
        "]",
        ", ",
        "|",
        "|2-\n",
        ">-\n",
        "&a ",
        "*a",
        "!t ",
        "? ",
        "''",
        "\"\"",
        "\"a\": ",
        "// c\n",
        "/* c */",
        "${a}",
        "long-word-that-takes-a-good-part-of-a-line-of-a-hundred-characters ",
    ],
    cases: 2_500,
    longest: TEXT,
};

fn read(input: &[u8], format: Format) -> u64 {
    let text = String::from_utf8_lossy(input);
    let file = FileId::new(0);
    let (tree, found) = parse(file, &text, format);
    let fits = |span: Span| text.get(span.range()).is_some() && span.file == file;
    for diagnostic in &found {
        assert!(!diagnostic.labels.is_empty(), "no label: {diagnostic:?}");
        assert!(
            diagnostic.labels.iter().all(|label| fits(label.span)),
            "outside of the text: {diagnostic:?}"
        );
    }
    assert!(
        found.iter().count() <= 4 * text.len() + 4,
        "more is said than was written"
    );
    assert!(
        tree.comments.iter().all(|span| fits(*span)),
        "a comment outside of the text"
    );
    let mut shape = TreeCounts {
        text: &text,
        nodes: 0,
        own: 0,
        kinds: 0,
        deepest: 0,
    };
    if let Some(root) = &tree.root {
        shape.visit(root, 0, false, !found.is_empty());
    }
    assert!(
        shape.own <= 2 * text.len() + 2,
        "{} nodes of {} bytes",
        shape.own,
        text.len()
    );
    assert!(shape.nodes <= syntax::MAX_NODES, "{} nodes", shape.nodes);
    assert!(
        shape.deepest <= syntax::MAX_DEPTH + 1,
        "{} deep",
        shape.deepest
    );
    let is_broken = found
        .iter()
        .any(|diagnostic| diagnostic.code.name == "invalid-syntax");
    if let Some(root) = tree.root.as_ref().filter(|_| !is_broken) {
        check_order(root, 0);
    }
    if format == Format::Yaml {
        read_stream(&text);
    }
    let codes: std::collections::BTreeSet<(&str, u32)> = found
        .iter()
        .map(|found| (found.code.name, number(&found.message) as u32 % 64))
        .collect();
    number((
        codes,
        shape.kinds,
        roughly(shape.nodes),
        roughly(shape.deepest),
        tree.comments.len().min(3),
    ))
}

/// Checks the same invariants for all documents of a text. The documents must not overlap.
fn read_stream(text: &str) {
    let file = FileId::new(0);
    let (documents, found) = syntax::parse_stream(file, text, Format::Yaml);
    assert!(!documents.is_empty(), "a text without a document");
    let mut shape = TreeCounts {
        text,
        nodes: 0,
        own: 0,
        kinds: 0,
        deepest: 0,
    };
    let mut end = 0;
    for root in documents.iter().filter_map(|tree| tree.root.as_ref()) {
        shape.visit(root, 0, false, !found.is_empty());
        let written = root.span_with_properties();
        assert!(
            end <= written.start,
            "a document begins at {} inside another one",
            written.start
        );
        end = written.end;
    }
    assert!(
        shape.nodes <= syntax::MAX_NODES + 1,
        "{} nodes",
        shape.nodes
    );
    assert!(
        documents
            .iter()
            .flat_map(|tree| &tree.comments)
            .is_sorted_by_key(|span| span.start),
        "comments out of order"
    );
}

/// Counts over a tree.
struct TreeCounts<'t> {
    text: &'t str,
    nodes: usize,
    /// The nodes that are not copies by an alias.
    own: usize,
    kinds: u32,
    deepest: usize,
}

impl TreeCounts<'_> {
    fn visit(&mut self, node: &Node, deep: usize, copied: bool, has_errors: bool) {
        let file = FileId::new(0);
        let fits = |span: Span| self.text.get(span.range()).is_some() && span.file == file;
        assert!(
            fits(node.span) && fits(node.span_with_properties()),
            "outside of the text: {node:?}"
        );
        self.nodes += 1;
        self.deepest = self.deepest.max(deep);
        let copied = copied || node.alias().is_some();
        self.own += usize::from(!copied);
        let kind = match &node.content {
            Content::Map(_) => 0,
            Content::List(_) => 1,
            Content::Scalar(scalar) => 2 + scalar.style as u32,
            Content::Missing => 15,
        };
        assert!(
            kind != 15 || has_errors,
            "something is missing, and nothing was said"
        );
        self.kinds |= 1 << kind;
        self.kinds |= u32::from(node.anchor().is_some()) << 16
            | u32::from(node.alias().is_some()) << 17
            | u32::from(node.tag().is_some()) << 18;
        if let Content::Scalar(scalar) = &node.content {
            let map = node.text_map(self.text);
            assert_eq!(
                map.len() as usize,
                scalar.text.len(),
                "the map of {scalar:?}"
            );
            for (at, _) in scalar.text.char_indices() {
                let span = map.span(at as u32, at as u32);
                assert!(fits(span), "the map of {scalar:?} leads outside at {at}");
            }
        }
        match &node.content {
            Content::Map(entries) => {
                for entry in entries {
                    self.visit(&entry.key, deep + 1, copied, has_errors);
                    self.visit(&entry.value, deep + 1, copied, has_errors);
                }
            }
            Content::List(items) => items
                .iter()
                .for_each(|item| self.visit(item, deep + 1, copied, has_errors)),
            _ => {}
        }
    }
}

/// Checks that nodes follow each other in the text and are inside their container. The nodes of an
/// alias are elsewhere.
fn check_order(node: &Node, from: u32) -> u32 {
    let written = node.span_with_properties();
    assert!(from <= written.start, "{node:?} begins before {from}");
    if node.alias().is_some() {
        return written.end;
    }
    let mut at = node.span.start.min(written.end);
    match &node.content {
        Content::Map(entries) => {
            for entry in entries {
                at = check_order(&entry.key, at);
                at = check_order(&entry.value, at);
            }
        }
        Content::List(items) => items.iter().for_each(|item| at = check_order(item, at)),
        _ => {}
    }
    assert!(at <= written.end, "{node:?} ends before {at}");
    written.end
}

fn house_style(input: &[u8], format: Format) -> u64 {
    let text = String::from_utf8_lossy(input);
    let (tree, found) = parse(FileId::new(0), &text, format);
    if found.has_errors() {
        return 0;
    }
    let Some(formatted) = layout(&text, &tree) else {
        return number(("not laid out", parts(&tree)));
    };
    let (again, found) = parse(FileId::new(0), &formatted, format);
    assert!(
        !found.has_errors(),
        "house style breaks the text: {formatted:?}"
    );
    assert!(
        syntax::is_same(&text, &tree, &formatted, &again),
        "house style says something else: {formatted:?}"
    );
    assert_eq!(
        layout(&formatted, &again).as_deref(),
        Some(formatted.as_str()),
        "house style is not its own"
    );
    let (nodes, deepest) = parts(&tree);
    let most = text.len() * 2 + (nodes + text.lines().count() + 1) * (2 * deepest + 8);
    assert!(
        formatted.len() <= most,
        "{} bytes became {}",
        text.len(),
        formatted.len()
    );
    number((
        roughly(nodes),
        roughly(deepest),
        formatted == text,
        formatted.lines().count().cmp(&text.lines().count()),
        tree.comments.len().min(4),
    ))
}

/// The number of nodes of a tree, and its depth.
fn parts(tree: &Tree) -> (usize, usize) {
    fn count(node: &Node, deep: usize, found: &mut (usize, usize)) {
        found.0 += 1;
        found.1 = found.1.max(deep);
        match &node.content {
            Content::Map(entries) => entries.iter().for_each(|entry| {
                count(&entry.key, deep + 1, found);
                count(&entry.value, deep + 1, found);
            }),
            Content::List(items) => items.iter().for_each(|item| count(item, deep + 1, found)),
            _ => {}
        }
    }
    let mut found = (0, 0);
    tree.root.iter().for_each(|root| count(root, 1, &mut found));
    found
}

/// A scope in which every name has a value, of a kind that depends on the name.
struct PermissiveScope {
    asked: usize,
}

impl Scope for PermissiveScope {
    fn read(&mut self, reference: &Ref) -> Result<ResolvedHead, EvaluationStop> {
        let value = match reference.path.len() % 5 {
            0 => Value::from("text"),
            1 => Value::unknown(None, None),
            2 => Value::map([("a", Value::list([Value::Int(1), Value::from("b").secret()]))]),
            3 => Value::list([Value::Float(0.5), Value::Null, Value::from("{\"a\":[1]}")]).secret(),
            _ => Value::Null,
        };
        Ok(ResolvedHead { value, used: 0 })
    }

    fn answer(&mut self, _: &Ask) -> Option<Result<Value, AskFailure>> {
        self.asked += 1;
        Some(Ok("answer".into()))
    }

    fn link(&mut self, _: &str, _: &str) -> Result<Value, EvaluationStop> {
        Ok(Value::Null)
    }
}

fn expression(input: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(input);
    let table = expr::core_functions();
    let length = text.len() as u32;
    let map = TextMap::identity(FileId::new(0), 0, length);
    let mut found = Diagnostics::new();
    let expr = expr::parse_text(
        &text,
        &map,
        Span::new(FileId::new(0), 0, length),
        table,
        &mut found,
    );
    assert!(
        found.iter().count() <= 2 * text.len() + 2,
        "more is said than was written"
    );
    for one in &found {
        for label in &one.labels {
            assert!(
                text.get(label.span.range()).is_some(),
                "outside of the text: {one:?}"
            );
        }
    }
    if let blueprint::ExprKind::Text(parts) = &expr.kind {
        let whole: String = parts
            .iter()
            .map(|part| match part {
                TextPart::Text(text) => text.to_string(),
                TextPart::Expr(_, span) => text[span.range()].to_string(),
            })
            .collect();
        assert_eq!(whole, text, "something is lost or said twice");
    }
    let mut nodes = 0;
    expr.walk(&mut |_| nodes += 1);
    assert!(
        nodes <= 2 * text.len() + 2,
        "{nodes} parts of {} bytes",
        text.len()
    );
    let parsed = found.iter().count();
    let mut scope = PermissiveScope { asked: 0 };
    let result = expr::evaluate(&expr, table, &mut scope, &mut found);
    assert!(scope.asked <= 100_000, "{} questions", scope.asked);
    let what = match &result {
        Ok(value) => {
            assert!(
                size(value) <= (11 << 20),
                "a value of {} bytes",
                size(value)
            );
            value.kind_word()
        }
        Err(EvaluationStop::Failed(one)) => one.code.name,
        Err(EvaluationStop::Absent(_)) => "absent",
        Err(EvaluationStop::Ask(_)) => panic!("everything was answered"),
        Err(EvaluationStop::Reported) => "reported",
    };
    // A second evaluation gives the same result.
    let again = expr::evaluate(
        &expr,
        table,
        &mut PermissiveScope { asked: 0 },
        &mut Diagnostics::new(),
    );
    match (result, again) {
        (Ok(one), Ok(other)) => assert!(
            one == other || has_nan(&one),
            "evaluated twice, {one} and {other}"
        ),
        (Err(_), Err(_)) => {}
        _ => panic!("evaluated twice, once with a value and once without"),
    }
    let _ = expr::parse_reference(&text, &map, Span::NONE, &mut Diagnostics::new());
    let codes: std::collections::BTreeSet<&str> =
        found.iter().map(|found| found.code.name).collect();
    let mut called = std::collections::BTreeSet::new();
    expr.walk(&mut |expr| {
        if let blueprint::ExprKind::Call(call) = &expr.kind {
            called.insert(number(&call.function) as u8);
        }
    });
    number((
        codes,
        what,
        roughly(nodes),
        parsed.min(3),
        called.into_iter().take(2).collect::<Vec<_>>(),
    ))
}

/// Whether a value has a NaN, which differs from itself.
fn has_nan(value: &Value) -> bool {
    match value.unmarked() {
        Value::Float(float) => {
            assert!(float.is_finite(), "a float that is no number");
            false
        }
        Value::List(items) | Value::Set(items) => items.iter().any(has_nan),
        Value::Map(entries) => entries.values().any(has_nan),
        _ => false,
    }
}

/// The approximate size of a value in bytes.
fn size(value: &Value) -> usize {
    match value.unmarked() {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(items) | Value::Set(items) => items.iter().map(size).sum::<usize>(),
        Value::Map(entries) => entries
            .iter()
            .map(|(key, value)| key.len() + size(value))
            .sum(),
        _ => 1,
    }
}
