//! Short texts of trees, for comparison.
#![expect(dead_code, unreachable_pub, reason = "each test file uses a part")]

use diag::Files;
use syntax::{Content, Format, Node, Style, Tree, parse};

/// The tree on one line: `{key: value}`, `[item]`, quoted texts as in Rust, `?` for missing values.
pub fn one_line(text: &str, format: Format) -> String {
    let file = Files::new().add("a", text);
    let (tree, _) = parse(file, text, format);
    tree.root.as_ref().map_or(String::from("nothing"), node)
}

pub fn node(of: &Node) -> String {
    let mut out = String::new();
    if of.anchor().is_some() {
        out.push('&');
    }
    if of.alias().is_some() {
        out.push('*');
    }
    if let Some(tag) = of.tag() {
        out.push_str(&tag.item);
        out.push(' ');
    }
    match &of.content {
        Content::Map(entries) => {
            let inner: Vec<_> = entries
                .iter()
                .map(|entry| format!("{}: {}", node(&entry.key), node(&entry.value)))
                .collect();
            out.push_str(&format!("{{{}}}", inner.join(", ")));
        }
        Content::List(items) => out.push_str(&format!(
            "[{}]",
            items.iter().map(node).collect::<Vec<_>>().join(", ")
        )),
        Content::Scalar(scalar) if scalar.style.is_text() => {
            out.push_str(&format!("{:?}", scalar.text))
        }
        Content::Scalar(scalar) => out.push_str(if scalar.text.is_empty() {
            "~"
        } else {
            &scalar.text
        }),
        Content::Missing => out.push('?'),
    }
    out
}

/// The diagnostics in order, each as `code line:column`.
pub fn diagnostics(text: &str, format: Format) -> Vec<String> {
    let mut files = Files::new();
    let file = files.add("a", text);
    let (_, found) = parse(file, text, format);
    found
        .iter()
        .map(|diagnostic| {
            let position = files
                .get(file)
                .expect("just added")
                .position(diagnostic.span().start);
            format!(
                "{} {}:{}",
                diagnostic.code.name, position.line, position.column
            )
        })
        .collect()
}

/// The source text of each node, parents first, keys before values.
pub fn spans(text: &str, format: Format) -> Vec<String> {
    let mut files = Files::new();
    let file = files.add("a", text);
    let (tree, _) = parse(file, text, format);
    let mut all = Vec::new();
    walk(&tree, &mut |node| {
        all.push(files.slice(node.span).to_owned())
    });
    all
}

/// Visits all nodes, parents first.
pub fn walk<'t>(tree: &'t Tree, visit: &mut dyn FnMut(&'t Node)) {
    fn node<'t>(of: &'t Node, visit: &mut dyn FnMut(&'t Node)) {
        visit(of);
        match &of.content {
            Content::Map(entries) => entries.iter().for_each(|entry| {
                node(&entry.key, visit);
                node(&entry.value, visit);
            }),
            Content::List(items) => items.iter().for_each(|item| node(item, visit)),
            _ => {}
        }
    }
    if let Some(root) = &tree.root {
        node(root, visit);
    }
}

/// A decoded character, and the offset and text of its source.
pub type Origin = (char, usize, String);

/// The source of each decoded character of each scalar: offset and text.
pub fn origins(text: &str, format: Format) -> Vec<(Style, Vec<Origin>)> {
    let mut files = Files::new();
    let file = files.add("a", text);
    let (tree, _) = parse(file, text, format);
    let mut all = Vec::new();
    walk(&tree, &mut |node| {
        if let Some(scalar) = node.as_scalar() {
            let map = node.text_map(text);
            let origin = |(at, character): (usize, char)| {
                let span = map.span(at as u32, (at + character.len_utf8()) as u32);
                (character, span.start as usize, files.slice(span).to_owned())
            };
            assert_eq!(
                map.len() as usize,
                scalar.text.len(),
                "length of the map of {:?} in {text:?}",
                scalar
            );
            all.push((
                scalar.style,
                scalar.text.char_indices().map(origin).collect(),
            ));
        }
    });
    all
}

/// Compares the tree and the diagnostics of a text.
#[track_caller]
pub fn check(format: Format, text: &str, tree: &str, found: &[&str]) {
    let short: String = text.chars().take(200).collect();
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        (one_line(text, format).as_str(), diagnostics(text, format)),
        (tree, found),
        "{short}"
    );
}

/// Visits all nodes with a function that returns the text of a span.
pub fn with_nodes<'a>(
    text: &'a str,
    format: Format,
    mut visit: impl FnMut(&Node, &dyn Fn(diag::Span) -> &'a str),
) {
    let file = Files::new().add("a", text);
    let (tree, _) = parse(file, text, format);
    walk(&tree, &mut |node| visit(node, &|span| &text[span.range()]));
}
