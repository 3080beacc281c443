//! YAML to a tree. The only module that names granit-parser.

use diag::{Diagnostics, FileId, Span, Spanned};
use granit_parser::{Event, Options, Parser, ScalarStyle};

use crate::{Content, Entry, Format, INVALID_SYNTAX, Node, Scalar, Style, Tree};

enum Open {
    Map { node: Node, entries: Vec<Entry>, key: Option<Node> },
    List { node: Node, items: Vec<Node> },
}

pub(crate) fn parse(file: FileId, text: &str, found: &mut Diagnostics) -> Tree {
    let mut options = Options::default();
    options.max_buffered_comment_events = usize::MAX;
    options.emit_anchor_events = true;
    options.emit_unresolved_aliases = true;
    let mut tree = Tree { root: None, comments: Vec::new(), format: Format::Yaml };
    let mut open: Vec<Open> = Vec::new();
    let mut parser = Parser::new_from_str_with_options(text, options);
    while let Some(next) = parser.next_event() {
        let (event, at) = match next {
            Ok(next) => next,
            Err(error) => {
                let offset = error.marker().byte_offset().unwrap_or(0) as u32;
                found.push(INVALID_SYNTAX.new(error.info()).label(Span::new(file, offset, offset), "here"));
                break;
            }
        };
        let range = at.byte_range().unwrap_or(0..0);
        let span = Span::new(file, range.start as u32, range.end as u32);
        let tag = at.tag_span().and_then(|tag| {
            let range = tag.byte_range()?;
            let span = Span::new(file, range.start as u32, range.end as u32);
            Some(Box::new(Spanned::new(text.get(range)?.into(), span)))
        });
        let mut node = Node { tag, ..Node::missing(span) };
        match event {
            Event::Scalar(text, style, _, _) => {
                let style = match style {
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted => Style::SingleQuoted,
                    ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
                    ScalarStyle::Literal => Style::Literal,
                    ScalarStyle::Folded => Style::Folded,
                };
                let text = if style == Style::Plain && span.is_empty() { "".into() } else { text.into() };
                node.content = Content::Scalar(Scalar { text, style });
                put(&mut open, &mut tree.root, node);
            }
            Event::MappingStart(..) => open.push(Open::Map { node, entries: Vec::new(), key: None }),
            Event::SequenceStart(..) => open.push(Open::List { node, items: Vec::new() }),
            Event::MappingEnd | Event::SequenceEnd => close(&mut open, &mut tree.root),
            Event::Comment(..) => tree.comments.push(span),
            Event::DocumentEnd => break,
            _ => {}
        }
    }
    while !open.is_empty() {
        close(&mut open, &mut tree.root);
    }
    tree
}

fn close(open: &mut Vec<Open>, root: &mut Option<Node>) {
    let node = match open.pop() {
        Some(Open::Map { mut node, mut entries, key }) => {
            if let Some(key) = key {
                let end = Span { start: key.span.end, ..key.span };
                entries.push(Entry { key, value: Node::missing(end) });
            }
            node.content = Content::Map(entries);
            node
        }
        Some(Open::List { mut node, items }) => {
            node.content = Content::List(items);
            node
        }
        None => return,
    };
    put(open, root, node);
}

fn put(open: &mut [Open], root: &mut Option<Node>, node: Node) {
    match open.last_mut() {
        Some(Open::Map { entries, key, .. }) => match key.take() {
            Some(key) => entries.push(Entry { key, value: node }),
            None => *key = Some(node),
        },
        Some(Open::List { items, .. }) => items.push(node),
        None => *root = Some(node),
    }
}
