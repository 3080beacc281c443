//! YAML in the house style.
//!
//! Block maps and lists stay blocks; lists are indented below their key. Brackets stay if they are
//! on one line that is not too long. Otherwise they become blocks, which can express everything
//! that brackets can.

use super::block_scalar;
use super::lines::{LayoutText, STEP, WIDTH};
use crate::place::after_dash;
use crate::{Content, MapEntry, Node, Scalar, Style, Tree};

pub(super) fn layout(text: &str, tree: &Tree) -> Option<String> {
    let mut writer = YamlLayout {
        lines: LayoutText::new(text, &tree.comments),
    };
    let from = tree.root.as_ref().map_or(text.len(), |root| {
        root.span_with_properties().start as usize
    });
    writer.prologue(from);
    if let Some(root) = &tree.root {
        writer.root(root)?;
    }
    let mut lines = writer.lines;
    lines.write_leading_comments(usize::MAX, 0);
    lines.end();
    Some(lines.out)
}

/// A level in the new text and in the source.
#[derive(Clone, Copy)]
struct LayoutLevel {
    /// The indentation of the elements in columns.
    indent: usize,
    /// The column of the parent's elements in the source.
    parent_column: Option<usize>,
    /// The offset in the source at which this level ends.
    limit: usize,
}

struct YamlLayout<'t> {
    lines: LayoutText<'t>,
}

impl YamlLayout<'_> {
    /// Writes directives, and the `---` of the document if it has one.
    fn prologue(&mut self, from: usize) {
        let text = self.lines.text;
        let before = text.get(..from).unwrap_or_default();
        let is_marker =
            |line: &str| line == "---" || line.starts_with("--- ") || line.starts_with("---\t");
        let mut at = 0;
        let mut marker = None;
        for line in before.split_inclusive(['\n', '\r']) {
            if is_marker(
                line.trim_start_matches('\u{feff}')
                    .trim_end_matches(['\n', '\r']),
            ) {
                marker = Some(at);
            }
            at += line.len();
        }
        let Some(marker) = marker else { return };
        let mut at = 0;
        for line in text[..marker].split_inclusive(['\n', '\r']) {
            let content = line.trim_start_matches('\u{feff}').trim_end();
            if content.starts_with('%') {
                self.lines.write_leading_comments(at, 0);
                self.lines.start(0);
                // A comment after a directive is handled as a comment.
                let end = self
                    .lines
                    .comment_before(at + line.len())
                    .map_or(at + line.len(), |one| one.start as usize);
                self.lines.out.push_str(
                    text.get(at..end)
                        .unwrap_or(content)
                        .trim_start_matches('\u{feff}')
                        .trim_end(),
                );
                self.lines.write_trailing_comment(at, usize::MAX, "  ");
            }
            at += line.len();
        }
        self.lines.write_leading_comments(marker, 0);
        self.lines.start(0);
        self.lines.out.push_str("---");
        self.lines.write_trailing_comment(marker, usize::MAX, "  ");
        self.lines.suppress_empty_line = true;
    }

    fn root(&mut self, root: &Node) -> Option<()> {
        let level = LayoutLevel {
            indent: 0,
            parent_column: None,
            limit: self.lines.text.len(),
        };
        if root.alias().is_some() || matches!(root.content, Content::Scalar(_) | Content::Missing) {
            return None;
        }
        self.lines
            .write_leading_comments(root.span_with_properties().start as usize, 0);
        self.lines
            .write_empty_line(root.span_with_properties().start as usize);
        if let Some(properties) = self.properties(root)? {
            self.lines.start(0);
            self.lines.out.push_str(&properties);
            self.lines.write_trailing_comment(
                root.span_with_properties().start as usize,
                usize::MAX,
                "  ",
            );
            self.lines.suppress_empty_line = true;
        } else if let Some(flow) = self.flow(root, WIDTH) {
            self.lines.start(0);
            self.lines.out.push_str(&flow);
            self.lines
                .write_trailing_comment(root.span.end as usize, usize::MAX, "  ");
            return Some(());
        }
        self.block(root, level, false)
    }

    /// Writes the elements of a map or list, each on lines of its own. With `inline` the first one
    /// continues the current line.
    fn block(&mut self, node: &Node, level: LayoutLevel, inline: bool) -> Option<()> {
        let brackets = is_flow(self.lines.text, node);
        let place = match &node.content {
            Content::Map(entries) => entries.first()?.key.span_with_properties().start,
            _ => node.span.start,
        } as usize;
        let column = (!brackets).then(|| self.lines.column(place));
        match &node.content {
            Content::Map(entries) => {
                for (at, entry) in entries.iter().enumerate() {
                    let next = entries
                        .get(at + 1)
                        .map(|next| next.key.span_with_properties().start as usize);
                    let limit = next.unwrap_or(level.limit);
                    self.element(
                        entry.key.span_with_properties().start as usize,
                        level.indent,
                        inline && at == 0,
                    );
                    self.entry(
                        entry,
                        LayoutLevel {
                            limit,
                            parent_column: column,
                            ..level
                        },
                    )?;
                }
            }
            Content::List(items) => {
                let mut start = self.dash(node.span.start as usize, items.first()?, brackets);
                for (at, item) in items.iter().enumerate() {
                    let next = items.get(at + 1).map(|next| {
                        self.dash(item.span_with_properties().end as usize, next, brackets)
                    });
                    let limit = next.unwrap_or(level.limit);
                    self.element(start, level.indent, inline && at == 0);
                    self.lines.out.push('-');
                    self.value(
                        item,
                        start,
                        true,
                        LayoutLevel {
                            limit,
                            parent_column: column,
                            ..level
                        },
                    )?;
                    start = limit;
                }
            }
            _ => return None,
        }
        self.write_trailing_comments(node, level, column);
        Some(())
    }

    /// The start of an item: the first dash from `from` on, if the item has one.
    fn dash(&self, from: usize, item: &Node, brackets: bool) -> usize {
        let dash = (!brackets)
            .then(|| after_dash(self.lines.text.as_bytes(), from))
            .flatten();
        dash.map_or(item.span_with_properties().start as usize, |after| {
            after - 1
        })
    }

    /// Writes the comments at the end of a block that belong to it: those inside its brackets, or
    /// in its columns.
    fn write_trailing_comments(&mut self, node: &Node, level: LayoutLevel, column: Option<usize>) {
        let Some(column) = column else {
            self.lines
                .write_leading_comments(node.span.end as usize, level.indent);
            if let Some(comment) = self.lines.comment_before(level.limit)
                && self
                    .lines
                    .is_one_line(node.span.end as usize, comment.start as usize)
            {
                self.lines
                    .write_leading_comments(comment.start as usize + 1, level.indent);
            }
            return;
        };
        while let Some(comment) = self.lines.comment_before(level.limit) {
            let own = self.lines.column_on_own_line(comment.start as usize);
            if own.is_none_or(|own| {
                own < column || level.parent_column.is_some_and(|around| own <= around)
            }) {
                return;
            }
            self.lines
                .write_leading_comments(comment.start as usize + 1, level.indent);
        }
    }

    /// Writes the parts before an element: comments, an empty line, the start of its line.
    fn element(&mut self, start: usize, indent: usize, inline: bool) {
        if inline {
            return;
        }
        self.lines.write_leading_comments(start, indent);
        self.lines.write_empty_line(start);
        self.lines.start(indent);
    }

    fn entry(&mut self, entry: &MapEntry, level: LayoutLevel) -> Option<()> {
        let key = self.key(&entry.key)?;
        self.lines.out.push_str(&key);
        self.lines.out.push(':');
        self.value(&entry.value, entry.key.span.end as usize, false, level)
    }

    /// Writes the value after a key or a dash that ends at `after`, up to the end of its last line.
    fn value(&mut self, node: &Node, after: usize, item: bool, level: LayoutLevel) -> Option<()> {
        let below = LayoutLevel {
            indent: level.indent + STEP,
            ..level
        };
        if let (Some(scalar), None) = (node.as_scalar(), node.alias())
            && scalar.style == Style::Plain
            && node.span.is_empty()
        {
            if self.properties(node)?.is_some() {
                return None;
            }
            self.lines.write_trailing_comment(after, level.limit, "  ");
            self.write_comments_of_empty_value(level);
            return Some(());
        }
        let properties = if node.alias().is_some() {
            None
        } else {
            self.properties(node)?
        };
        let is_container =
            node.alias().is_none() && matches!(node.content, Content::Map(_) | Content::List(_));
        let room = WIDTH.saturating_sub(
            self.lines.line_length() + 1 + properties.as_ref().map_or(0, |text| text.len() + 1),
        );
        let flow = if is_container {
            self.flow(node, room)
        } else {
            None
        };
        if !is_container || flow.is_some() {
            // The span of an alias is that of its target.
            let start = node.alias().unwrap_or(node.span).start as usize;
            let comments = self.lines.comments_before(start).len();
            if comments > 0 {
                self.write_comments_before_value(after, start, below.indent);
                self.lines.start(below.indent);
            } else {
                self.lines.out.push(' ');
            }
            if let Some(properties) = properties {
                self.lines.out.push_str(&format!("{properties} "));
            }
            let end = node.span_with_properties().end as usize;
            match (&node.content, flow) {
                (_, Some(flow)) => self.lines.out.push_str(&flow),
                (_, None) if node.alias().is_some() => self.source(node.span_with_properties())?,
                (Content::Scalar(scalar), None) => {
                    return self.scalar(node, scalar, comments > 0, level);
                }
                _ => return None,
            }
            self.lines.write_trailing_comment(end, level.limit, "  ");
            // Comments inside otherwise empty brackets.
            self.lines.write_leading_comments(end, below.indent);
            if matches!(&node.content, Content::Map(entries) if entries.is_empty())
                || matches!(&node.content, Content::List(items) if items.is_empty())
            {
                self.write_comments_of_empty_value(level);
            }
            return Some(());
        }
        if let Some(properties) = &properties {
            self.lines.out.push_str(&format!(" {properties}"));
        }
        let brackets = is_flow(self.lines.text, node);
        let first = match &node.content {
            Content::Map(entries) => entries.first()?.key.span_with_properties().start as usize,
            Content::List(items) if brackets => {
                items.first()?.span_with_properties().start as usize
            }
            _ => node.span.start as usize,
        };
        let inline = item && properties.is_none() && self.lines.comment_before(first).is_none();
        if inline {
            self.lines.out.push(' ');
        } else {
            self.lines.suppress_empty_line = true;
            if !brackets {
                self.write_comments_before_value(after, first, below.indent);
            }
        }
        self.block(node, below, inline)
    }

    /// Writes comments below an empty value that are indented more than its key or dash: they
    /// belong to it.
    fn write_comments_of_empty_value(&mut self, level: LayoutLevel) {
        while let Some(comment) = self.lines.comment_before(level.limit)
            && let Some(own) = self.lines.column_on_own_line(comment.start as usize)
            && level.parent_column.is_some_and(|around| own > around)
        {
            self.lines.suppress_empty_line = true;
            self.lines
                .write_leading_comments(comment.start as usize + 1, level.indent + STEP);
        }
    }

    /// Writes the comments between a key and its value: the first on the line of the key, the
    /// others below it.
    fn write_comments_before_value(&mut self, after: usize, start: usize, indent: usize) {
        if self.lines.comment_before(start).is_some() {
            self.lines.write_trailing_comment(after, start, "  ");
        }
        let close = std::mem::replace(&mut self.lines.suppress_empty_line, true);
        if self.lines.comment_before(start).is_some() {
            self.lines.write_leading_comments(start, indent);
        } else {
            self.lines.suppress_empty_line = close;
        }
    }

    fn scalar(
        &mut self,
        node: &Node,
        scalar: &Scalar,
        own_line: bool,
        level: LayoutLevel,
    ) -> Option<()> {
        let indent = level.indent + STEP;
        if matches!(scalar.style, Style::Literal | Style::Folded) {
            // The block indicator would be alone on a line below the comment.
            if own_line {
                return None;
            }
            let block = block_scalar::block(self.lines.text, node.span.start as usize, scalar)?;
            self.lines.out.push_str(&block.header);
            self.lines
                .write_trailing_comment(node.span.start as usize, level.limit, "  ");
            for line in &block.lines {
                self.lines.out.push('\n');
                if !line.is_empty() {
                    self.lines.out.extend(std::iter::repeat_n(' ', indent));
                    self.lines.out.push_str(line);
                }
            }
            self.lines.out.push('\n');
            self.lines.suppress_empty_line = block.keeps_trailing_lines;
            return Some(());
        }
        let written = self.lines.text.get(node.span.range())?;
        if let Some(text) = in_double_quotes(written, scalar) {
            self.lines.out.push_str(&text);
        } else {
            for (at, line) in block_scalar::lines(written, scalar.style)
                .iter()
                .enumerate()
            {
                if at > 0 {
                    self.lines.out.push('\n');
                    if !line.is_empty() {
                        self.lines.out.extend(std::iter::repeat_n(' ', indent));
                    }
                }
                self.lines.out.push_str(line);
            }
        }
        self.lines
            .write_trailing_comment(node.span.end as usize, level.limit, "  ");
        Some(())
    }

    /// A key on one line; `None` if it cannot be written so.
    fn key(&self, key: &Node) -> Option<String> {
        /// The maximum distance in which YAML searches for the colon.
        const LONGEST: usize = 1000;
        let scalar = key.as_scalar()?;
        let written = self.lines.text.get(key.span.range())?;
        let odd = key.alias().is_some() || key.anchor().is_some() || key.tag().is_some();
        let block = matches!(scalar.style, Style::Literal | Style::Folded);
        if odd
            || block
            || written.is_empty()
            || written.len() > LONGEST
            || written.contains(['\n', '\r'])
        {
            return None;
        }
        Some(in_double_quotes(written, scalar).unwrap_or_else(|| written.to_owned()))
    }

    /// The anchor and the tag of a node as written. Fails if something is between them.
    fn properties(&self, node: &Node) -> Option<Option<String>> {
        if node.anchor().is_none() && node.tag().is_none() {
            return Some(None);
        }
        let written = node.span_with_properties();
        let range = written.start as usize..(node.span.start.max(written.start)) as usize;
        let text = self.lines.text.get(range)?;
        let words: Vec<&str> = text.split_whitespace().collect();
        let known = usize::from(node.anchor().is_some()) + usize::from(node.tag().is_some());
        // A list's dash or a comment may follow.
        let fine = words.len() >= known
            && words
                .iter()
                .take(known)
                .all(|word| word.starts_with(['&', '!']))
            && words.get(known).is_none_or(|word| word.starts_with('#'));
        fine.then(|| Some(words[..known].join(" ")))
    }

    fn source(&mut self, span: diag::Span) -> Option<()> {
        let written = self.lines.text.get(span.range())?;
        self.lines.out.push_str(written);
        Some(())
    }

    /// A container in brackets on one line, if it is written on one line and fits.
    fn flow(&self, node: &Node, room: usize) -> Option<String> {
        let text = self.lines.text;
        if !is_flow(text, node) {
            return None;
        }
        match &node.content {
            Content::Map(entries) if entries.is_empty() => return Some("{}".to_owned()),
            Content::List(items) if items.is_empty() => return Some("[]".to_owned()),
            _ if text.get(node.span.range())?.contains(['\n', '\r']) => return None,
            _ => {}
        }
        let mut flow = String::new();
        self.write_flow_content(node, room, &mut flow)?;
        Some(flow)
    }

    /// Writes a node inside brackets; `None` if it is longer than `room` characters.
    fn write_flow(&self, node: &Node, room: usize, flow: &mut String) -> Option<()> {
        if node.alias().is_some() {
            flow.push_str(self.lines.text.get(node.span_with_properties().range())?);
            return (flow.chars().count() <= room).then_some(());
        }
        if let Some(properties) = self.properties(node)? {
            if node.span.is_empty() {
                return None;
            }
            flow.push_str(&properties);
            flow.push(' ');
        }
        self.write_flow_content(node, room, flow)
    }

    fn write_flow_content(&self, node: &Node, room: usize, flow: &mut String) -> Option<()> {
        match &node.content {
            Content::Map(entries) => {
                flow.push('{');
                for (at, entry) in entries.iter().enumerate() {
                    flow.push_str(if at == 0 { "" } else { ", " });
                    flow.push_str(&self.key(&entry.key)?);
                    flow.push_str(": ");
                    self.write_flow(&entry.value, room, flow)?;
                }
                flow.push('}');
            }
            Content::List(items) => {
                flow.push('[');
                for (at, item) in items.iter().enumerate() {
                    flow.push_str(if at == 0 { "" } else { ", " });
                    self.write_flow(item, room, flow)?;
                }
                flow.push(']');
            }
            Content::Scalar(scalar) => {
                let written = self.lines.text.get(node.span.range())?;
                match in_double_quotes(written, scalar) {
                    Some(quoted) => flow.push_str(&quoted),
                    None => flow.push_str(written),
                }
            }
            Content::Missing => return None,
        }
        // Compare bytes first: the number of characters is never larger.
        (flow.len() <= room || flow.chars().count() <= room).then_some(())
    }
}

/// Whether a container is written in brackets.
fn is_flow(text: &str, node: &Node) -> bool {
    let start = node.span.start as usize;
    match (&node.content, text.as_bytes().get(start)) {
        (Content::Map(entries), Some(b'{')) => entries
            .first()
            .is_none_or(|first| first.key.span_with_properties().start as usize > start),
        (Content::List(_), Some(b'[')) => true,
        _ => false,
    }
}

/// A single-quoted text in double quotes, if it needs no escapes there.
fn in_double_quotes(written: &str, scalar: &Scalar) -> Option<String> {
    let plain = scalar.style == Style::SingleQuoted
        && !written.contains(['\n', '\r'])
        && !scalar
            .text
            .contains(|character: char| matches!(character, '"' | '\\') || character.is_control());
    plain.then(|| format!("\"{}\"", scalar.text))
}
