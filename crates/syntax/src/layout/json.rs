//! JSON in the house style. Brackets on one line stay there if they fit; others are broken into
//! lines. A comma after the last member stays if comments are allowed, and is removed otherwise.

use super::lines::{LayoutText, STEP, WIDTH};
use crate::{Content, Format, MapEntry, Node, Tree};

pub(super) fn layout(text: &str, tree: &Tree) -> Option<String> {
    let commas = tree.format == Format::JsonWithComments;
    let mut writer = JsonLayout {
        lines: LayoutText::new(text, &tree.comments),
        commas,
    };
    if let Some(root) = &tree.root {
        let start = root.span.start as usize;
        writer.lines.write_leading_comments(start, 0);
        writer.lines.write_empty_line(start);
        writer.lines.start(0);
        writer.value(root, 0)?;
        writer.write_trailing_comment(root.span.end as usize, usize::MAX);
    }
    let mut lines = writer.lines;
    lines.write_leading_comments(usize::MAX, 0);
    lines.end();
    Some(lines.out)
}

/// A member between two brackets.
struct BracketMember<'n> {
    key: Option<&'n Node>,
    value: &'n Node,
}

impl BracketMember<'_> {
    fn start(&self) -> usize {
        self.key.unwrap_or(self.value).span.start as usize
    }
}

struct JsonLayout<'t> {
    lines: LayoutText<'t>,
    /// Whether an existing comma after the last member stays.
    commas: bool,
}

impl JsonLayout<'_> {
    fn value<'n>(&mut self, node: &'n Node, indent: usize) -> Option<()> {
        let (open, close, members): (_, _, Vec<BracketMember<'n>>) = match &node.content {
            Content::Map(entries) => {
                let member = |entry: &'n MapEntry| BracketMember {
                    key: Some(&entry.key),
                    value: &entry.value,
                };
                ('{', '}', entries.iter().map(member).collect())
            }
            Content::List(items) => (
                '[',
                ']',
                items
                    .iter()
                    .map(|value| BracketMember { key: None, value })
                    .collect(),
            ),
            Content::Scalar(_) => {
                self.lines
                    .out
                    .push_str(self.lines.text.get(node.span.range())?);
                return Some(());
            }
            Content::Missing => return None,
        };
        let end = node.span.end as usize;
        let has_comments = self.lines.comment_before(end).is_some();
        if !has_comments {
            if members.is_empty() {
                self.lines.out.extend([open, close]);
                return Some(());
            }
            let mut flat = String::new();
            let room = WIDTH.saturating_sub(self.lines.line_length());
            if self.lines.is_one_line(node.span.start as usize, end)
                && self.flat(node, room, &mut flat).is_some()
            {
                self.lines.out.push_str(&flat);
                return Some(());
            }
        }
        self.lines.out.push(open);
        let start = node.span.start as usize;
        if members
            .first()
            .is_none_or(|first| !self.lines.is_one_line(start, first.start()))
        {
            self.write_trailing_comment(start + 1, end);
        }
        self.lines.suppress_empty_line = true;
        let count = members.len();
        let last = members
            .last()
            .map_or(end, |last| last.value.span.end as usize);
        let comma = self.commas && has_comma(self.lines.text.get(last..end).unwrap_or_default());
        for (at, member) in members.iter().enumerate() {
            let value = member.value.span.start as usize;
            let inline = self.inline_comments(member, value);
            self.lines
                .write_leading_comments(if inline { member.start() } else { value }, indent + STEP);
            self.lines.write_empty_line(member.start());
            self.lines.start(indent + STEP);
            if let Some(key) = member.key {
                self.lines
                    .out
                    .push_str(self.lines.text.get(key.span.range())?);
                self.lines.out.push_str(": ");
                while self.lines.comment_before(value).is_some() {
                    self.lines.comment();
                    self.lines.out.push(' ');
                }
            }
            self.value(member.value, indent + STEP)?;
            if at + 1 < count || comma {
                self.lines.out.push(',');
            }
            let next = members.get(at + 1).map_or(end, BracketMember::start);
            self.write_trailing_comment(member.value.span.end as usize, next);
        }
        self.lines.write_leading_comments(end, indent + STEP);
        self.lines.start(indent);
        self.lines.out.push(close);
        Some(())
    }

    /// Whether the comments between a key and its value can stay in line: none of them ends a line.
    fn inline_comments(&self, member: &BracketMember<'_>, value: usize) -> bool {
        let comments = self.lines.comments_before(value).iter();
        let between = comments.skip_while(|comment| (comment.start as usize) < member.start());
        between
            .map(|comment| self.lines.text.get(comment.range()).unwrap_or_default())
            .all(|comment| comment.starts_with("/*") && !comment.contains(['\n', '\r']))
    }

    /// Writes the next comment after the element that ends at `end`, if it is on the same line and
    /// nothing else follows there.
    fn write_trailing_comment(&mut self, end: usize, limit: usize) {
        let Some(comment) = self.lines.comment_before(limit) else {
            return;
        };
        let rest = self
            .lines
            .text
            .get(comment.end as usize..)
            .unwrap_or_default();
        let rest = rest.split(['\n', '\r']).next().unwrap_or_default();
        if rest
            .chars()
            .all(|character| matches!(character, ' ' | '\t' | ',' | ']' | '}'))
        {
            self.lines.write_trailing_comment(end, limit, " ");
        }
    }

    /// A value on one line; `None` if it is longer than `room` characters.
    fn flat(&self, node: &Node, room: usize, flat: &mut String) -> Option<()> {
        match &node.content {
            Content::Map(entries) => {
                // An empty map has no inner blanks.
                if entries.is_empty() {
                    flat.push_str("{}");
                    return Some(());
                }
                flat.push_str("{ ");
                for (at, entry) in entries.iter().enumerate() {
                    flat.push_str(if at == 0 { "" } else { ", " });
                    flat.push_str(self.lines.text.get(entry.key.span.range())?);
                    flat.push_str(": ");
                    self.flat(&entry.value, room, flat)?;
                }
                flat.push_str(" }");
            }
            Content::List(items) => {
                flat.push('[');
                for (at, item) in items.iter().enumerate() {
                    flat.push_str(if at == 0 { "" } else { ", " });
                    self.flat(item, room, flat)?;
                }
                flat.push(']');
            }
            Content::Scalar(_) => flat.push_str(self.lines.text.get(node.span.range())?),
            Content::Missing => return None,
        }
        (flat.len() <= room || flat.chars().count() <= room).then_some(())
    }
}

/// Whether there is a comma outside comments.
fn has_comma(mut text: &str) -> bool {
    while let Some(at) = text.find([',', '/']) {
        let rest = &text[at..];
        let comment = if rest.starts_with("//") {
            rest.find(['\n', '\r'])
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|end| end + 2)
        } else {
            return rest.starts_with(',');
        };
        text = &rest[comment.unwrap_or(rest.len())..];
    }
    false
}
