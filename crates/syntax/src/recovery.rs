//! Recovers from YAML errors: reports the error, and finds the line at which parsing resumes.
//!
//! * A substitution that YAML cut is masked for the parser, and its lines are parsed again.
//! * After any other error the containers keep what they have. Parsing resumes at the next line
//!   whose indentation makes it an entry of an open container.
//!
//! Parsing stops after many errors, so that the cost stays linear.

use diag::Span;

use crate::parser_stop::{ParserErrorKind, ParserStop};
use crate::place::{
    line_is_document_end, line_is_document_start, line_start, missing_value_offset, next_line_start,
};
use crate::reader::{OpenContainer, TreeBuilder};
use crate::scan::{ScanFindings, SplitSubstitution, is_item_line, is_key_line, scan_text};
use crate::{Content, MAX_DEPTH, MapEntry, Node, SPLIT_SUBSTITUTION, syntax_error};

/// The number of errors after which parsing stops.
const MAX_ERRORS: usize = 100;

impl<'t> TreeBuilder<'t> {
    /// Reports the trouble. Returns the offset of the line at which parsing resumes, if there is
    /// one.
    ///
    /// `from` is the start of the current attempt. Nothing before it is parsed again.
    pub(crate) fn recover(&mut self, trouble: ParserStop, from: usize) -> Option<usize> {
        if self.found.len() >= MAX_ERRORS {
            if let Some(last) = self.found.iter_mut().last() {
                last.notes.push(format!(
                    "after {MAX_ERRORS} errors the rest of the text is not read"
                ));
            }
            return None;
        }
        let (at, end) = match trouble {
            ParserStop::Cut { at, end } => (at, end),
            // Reported at the opening bracket, which comes before the closing one.
            ParserStop::Error {
                at,
                kind: ParserErrorKind::MismatchedFlowCollectionEnd { .. },
            } => (at, at + 1),
            ParserStop::Error { at, .. } | ParserStop::TooDeep { at } => (at, at),
        };
        let start = self.checkpoint(at, from);
        if let ParserStop::Error { at, .. } = trouble
            && self.mask_dashes(at, start)
        {
            self.roll_back(start);
            return Some(start);
        }
        let mut seen = scan_text(self.text, start, end);
        seen.cuts
            .retain(|cut| !self.masks.iter().any(|mask| mask.start == cut.start));
        if seen.cuts.is_empty()
            && let ParserStop::Cut { .. } = trouble
        {
            seen.cuts.push(SplitSubstitution {
                start: at,
                end,
                closed: false,
                scalar: (at, end),
                first: true,
            });
        }
        if !seen.cuts.is_empty() {
            for cut in seen.cuts.iter().filter(|cut| cut.first) {
                self.report_cut(*cut);
            }
            self.masks.append(&mut seen.cuts);
            self.masks.sort_by_key(|mask| mask.start);
            self.roll_back(start);
            return Some(start);
        }
        if let ParserStop::Error {
            at,
            kind: ParserErrorKind::MappingValueNotAllowed,
        } = trouble
        {
            self.mark_missing(at);
        }
        // Failing at the same place again is not another error.
        let again = self.last_error_offset.replace(at) == Some(at);
        let next = self.next_line(if again { from.max(at) } else { from }, at);
        if !again {
            self.report(trouble, &seen, next.map(|(line, _)| line));
        }
        let (line, keep) = next?;
        if self.reads_all_documents
            && (line_is_document_start(self.text, line) || line_is_document_end(self.text, line))
        {
            let is_end = line_is_document_end(self.text, line);
            let next = if is_end {
                next_line_start(self.text.as_bytes(), line)
            } else {
                line
            };
            if next == self.text.len() {
                return None;
            }
            self.finish_document(next);
            return Some(next);
        }
        if line_is_document_start(self.text, line) {
            self.second_document(Span::new(self.file, line as u32, line as u32 + 3));
            return None;
        }
        self.close_to(keep, line);
        Some(line)
    }

    /// Masks lone dashes before a comma or a closing bracket: they are plain scalars that the
    /// parser does not accept. Masks all of them from `start` on. Returns false if the error has
    /// another cause.
    fn mask_dashes(&mut self, at: usize, start: usize) -> bool {
        let bytes = self.text.as_bytes();
        let is_lone = |at: usize| {
            let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
            bytes.get(at) == Some(&b'-')
                && matches!(bytes.get(at + 1), Some(b',' | b']' | b'}'))
                && (before.is_ascii_whitespace() || matches!(before, b'[' | b'{' | b',' | b':'))
        };
        let is_known = |at: usize| {
            self.masks
                .binary_search_by_key(&at, |mask| mask.start)
                .is_ok()
        };
        if !(at.saturating_sub(1)..=at).any(|at| is_lone(at) && !is_known(at)) {
            return false;
        }
        let dashes = memchr::memchr_iter(b'-', &bytes[start..])
            .map(|at| start + at)
            .filter(|at| is_lone(*at));
        let hidden: Vec<SplitSubstitution> = dashes
            .filter(|at| !is_known(*at))
            .map(|at| SplitSubstitution {
                start: at,
                end: at + 1,
                closed: true,
                scalar: (at, at + 1),
                first: false,
            })
            .collect();
        self.masks.extend(hidden);
        self.masks.sort_by_key(|mask| mask.start);
        true
    }

    /// Marks a plain value that ends at the error as missing, because it is probably not the
    /// intended value.
    fn mark_missing(&mut self, at: usize) {
        let text = self.text;
        if let Some(OpenContainer {
            node:
                Node {
                    content: Content::Map(entries),
                    ..
                },
            key: None,
            ..
        }) = self.open.last_mut()
            && let Some(MapEntry { value, .. }) = entries.last_mut()
            && value.as_scalar().is_some()
            && text
                .get(value.span.end as usize..at)
                .is_some_and(|between| between.trim().is_empty())
        {
            value.content = Content::Missing;
        }
    }

    fn report_cut(&mut self, cut: SplitSubstitution) {
        let span = Span::new(self.file, cut.start as u32, cut.end as u32);
        let mut diagnostic = SPLIT_SUBSTITUTION
            .new("YAML cuts this text inside `${`")
            .label(
                span,
                "`: `, ` #` and, inside brackets, `,` `[` `]` `{` `}` end a text without quotes",
            );
        let cut_text = self.text.get(cut.start..cut.end).unwrap_or("");
        diagnostic = diagnostic.help(match cut_text.starts_with("${{") {
            true => "write a map as `object(a = 1)`, and a reference in one pair of braces",
            false => "quote the whole value",
        });
        if cut.closed
            && let Some(edits) = self.quotes_around(cut)
        {
            diagnostic = diagnostic.fix("quote the value", edits, true);
        }
        self.found.push(diagnostic);
    }

    /// The edits that quote the text around a cut substitution; `None` if the text has several
    /// lines.
    fn quotes_around(&self, cut: SplitSubstitution) -> Option<Vec<(Span, String)>> {
        let (start, end) = cut.scalar;
        let bytes = self.text.as_bytes();
        let line = line_start(self.text, start);
        let first_on_line = bytes.get(line..start)?.iter().all(|byte| *byte == b' ');
        let indent_of = |at: usize| bytes[at..].iter().take_while(|byte| **byte == b' ').count();
        let next = next_line_start(bytes, end);
        let rest = bytes.get(end..next)?;
        let ends_line = rest.iter().all(u8::is_ascii_whitespace);
        let inside = self.text.get(start..end)?;
        if first_on_line
            || ends_line && indent_of(next) > indent_of(line)
            || inside.contains(['\n', '\r'])
        {
            return None;
        }
        let quote = if !inside.contains('\'') {
            "'"
        } else if !inside.contains(['"', '\\']) {
            "\""
        } else {
            return None;
        };
        let place = |at: usize| Span::new(self.file, at as u32, at as u32);
        Some(vec![
            (place(start), quote.to_owned()),
            (place(end), quote.to_owned()),
        ])
    }

    fn report(&mut self, trouble: ParserStop, seen: &ScanFindings, next: Option<usize>) {
        let diagnostic = match trouble {
            ParserStop::Error { at, kind } => {
                syntax_error::yaml(self.file, self.text, at, &kind, seen, next)
            }
            ParserStop::TooDeep { at } | ParserStop::Cut { at, .. } => {
                syntax_error::too_deep(self.file, at, MAX_DEPTH)
            }
        };
        self.found.push(diagnostic);
    }

    /// The start of a line of block content from which the error can be scanned.
    fn checkpoint(&self, at: usize, from: usize) -> usize {
        let flow = self
            .open
            .iter()
            .find(|open| open.flow)
            .map(|open| open.node.span_with_properties().start as usize);
        let mut start = line_start(
            self.text,
            self.last_event_offset.min(at).min(flow.unwrap_or(at)),
        );
        while let Some(leaf) = self.last_leaf()
            && (leaf.start as usize) < start
            && (leaf.end as usize) > start
        {
            start = line_start(self.text, leaf.start as usize);
        }
        start.max(from)
    }

    /// The last completed scalar or bracketed container.
    fn last_leaf(&self) -> Option<Span> {
        let mut node = match self.open.last() {
            Some(open) => open.key.as_ref().or_else(|| last_child(&open.node))?,
            None => self.root.as_ref()?,
        };
        while !self.is_flow(node)
            && let Some(child) = last_child(node)
        {
            node = child;
        }
        Some(node.span_with_properties())
    }

    fn is_flow(&self, node: &Node) -> bool {
        matches!(
            self.text.as_bytes().get(node.span.start as usize),
            Some(b'[' | b'{')
        )
    }

    /// Discards everything that was read from `start` on.
    fn roll_back(&mut self, start: usize) {
        let start = start as u32;
        self.comments.truncate(
            self.comments
                .partition_point(|comment| comment.start < start),
        );
        while let Some(node) = self.take_block_around(start) {
            self.open.push(OpenContainer {
                node,
                key: None,
                flow: false,
            });
        }
        while self
            .open
            .last()
            .is_some_and(|open| open.node.span_with_properties().start >= start)
        {
            self.open.pop();
        }
        match self.open.last_mut() {
            Some(open) => {
                open.key
                    .take_if(|key| key.span_with_properties().start >= start);
                match &mut open.node.content {
                    Content::Map(entries) => {
                        while entries
                            .last()
                            .is_some_and(|entry| entry.key.span_with_properties().start >= start)
                        {
                            entries.pop();
                        }
                        if let Some(MapEntry { key, .. }) = entries
                            .pop_if(|entry| entry.value.span_with_properties().start >= start)
                        {
                            open.key = Some(key);
                        }
                    }
                    Content::List(items) => {
                        while items
                            .last()
                            .is_some_and(|item| item.span_with_properties().start >= start)
                        {
                            items.pop();
                        }
                    }
                    _ => {}
                }
            }
            None => {
                self.root
                    .take_if(|root| root.span_with_properties().start >= start);
            }
        }
        self.nodes = self.root.iter().map(Node::count).sum::<usize>()
            + self
                .open
                .iter()
                .map(|open| open.node.count())
                .sum::<usize>();
    }

    /// Removes the last completed block container from the tree if it extends over `start`.
    fn take_block_around(&mut self, start: u32) -> Option<Node> {
        let text = self.text;
        let around = |node: &Node| {
            matches!(node.content, Content::Map(_) | Content::List(_))
                && node.span.start < start
                && node.span.end > start
                && !matches!(
                    text.as_bytes().get(node.span.start as usize),
                    Some(b'[' | b'{')
                )
        };
        let Some(open) = self.open.last_mut() else {
            return self.root.take_if(|root| around(root));
        };
        if open.key.is_some() {
            return None;
        }
        match &mut open.node.content {
            Content::Map(entries) => {
                let entry = entries.pop_if(|entry| around(&entry.value))?;
                open.key = Some(entry.key);
                Some(entry.value)
            }
            Content::List(items) => items.pop_if(|item| around(item)),
            _ => None,
        }
    }

    /// The next line after the last node that continues an open container, and the number of
    /// containers that stay open there.
    fn next_line(&self, from: usize, at: usize) -> Option<(usize, usize)> {
        let bytes = self.text.as_bytes();
        let columns: Vec<Option<usize>> = self
            .open
            .iter()
            .map(|open| (!open.flow).then(|| self.column(open)))
            .collect();
        let mut line = next_line_start(bytes, self.last_event_offset.max(from));
        if self.open.is_empty() {
            // No container is open: the error may be in the line of the first key.
            let own = line_start(self.text, at);
            line = if own > from {
                own
            } else {
                next_line_start(bytes, at.max(self.last_event_offset))
            };
        }
        while line < bytes.len() {
            if line_is_document_start(self.text, line) {
                return Some((line, 0));
            }
            let rest = &bytes[line..];
            let indent = rest.iter().take_while(|byte| **byte == b' ').count();
            if line_is_document_end(self.text, line) {
                return self.reads_all_documents.then_some((line, 0));
            }
            let fits = columns
                .iter()
                .rposition(|column| *column == Some(indent))
                .and_then(|last| {
                    let fits =
                        |level: usize| match self.open.get(level).map(|open| &open.node.content) {
                            Some(Content::Map(_)) => is_key_line(bytes, line),
                            Some(Content::List(_)) => is_item_line(bytes, line),
                            _ => false,
                        };
                    // A list may be in the column of its key.
                    [
                        Some(last),
                        last.checked_sub(1)
                            .filter(|other| columns.get(*other) == Some(&Some(indent))),
                    ]
                    .into_iter()
                    .flatten()
                    .find(|level| fits(*level))
                });
            if let Some(level) = fits {
                return Some((line, level + 1));
            }
            if self.open.is_empty() && indent == 0 && is_key_line(bytes, line) {
                return Some((line, 0));
            }
            line = next_line_start(bytes, line);
        }
        None
    }

    /// Closes all containers except the first `keep`, which stay open at `line`.
    fn close_to(&mut self, keep: usize, line: usize) {
        let end = self.text.get(..line).unwrap_or("").trim_end().len() as u32;
        match self.open.last_mut() {
            Some(OpenContainer { key: Some(key), .. }) => clip(key, end),
            Some(OpenContainer { node, .. }) => clip_last(node, end),
            None => self.root.iter_mut().for_each(|root| clip(root, end)),
        }
        while self.open.len() > keep.max(1) {
            self.close(None);
        }
        if keep == 0 {
            // Keys without indentation belong to a map, even if the text began with another value.
            let place = Span::new(self.file, line as u32, line as u32);
            let root = self
                .root
                .take()
                .filter(|root| root.as_map().is_some() && !self.is_flow(root));
            let node = root.unwrap_or_else(|| Node::new(place, Content::Map(Vec::new())));
            self.open = vec![OpenContainer {
                node,
                key: None,
                flow: false,
            }];
        }
        let text = self.text;
        let file = self.file;
        if let Some(OpenContainer {
            node:
                Node {
                    content: Content::Map(entries),
                    ..
                },
            key,
            ..
        }) = self.open.last_mut()
            && let Some(key) = key.take()
        {
            let at = missing_value_offset(text, key.span_with_properties().end);
            entries.push(MapEntry {
                key,
                value: Node::missing(Span::new(file, at, at)),
            });
        }
    }

    /// The text with which the parser continues at `from` inside the open containers, and the
    /// length of the prefix before the text of `from`.
    pub(crate) fn continuation_text(&self, from: usize) -> (String, usize) {
        let mut part = String::with_capacity(self.text.len() - from + 64);
        let rest = self.text.get(from..).unwrap_or("").trim_start_matches(' ');
        let explicit =
            rest.starts_with(": ") && self.open.last().is_some_and(|open| open.key.is_some());
        for (level, open) in self.open.iter().enumerate() {
            part.extend(std::iter::repeat_n(' ', self.column(open)));
            part.push_str(match open.node.content {
                Content::List(_) => "-\n",
                _ if explicit && level + 1 == self.open.len() => "? x\n",
                _ => "x:\n",
            });
        }
        let prefix = part.len();
        let mut done = from;
        for mask in self.masks.iter().filter(|mask| mask.start >= from) {
            if mask.start < done {
                continue;
            }
            part.push_str(self.text.get(done..mask.start).unwrap_or(""));
            let hidden = self.text.get(mask.start..mask.end).unwrap_or("");
            part.extend(hidden.bytes().map(|byte| {
                if byte.is_ascii_whitespace() {
                    byte as char
                } else {
                    'x'
                }
            }));
            done = mask.end;
        }
        part.push_str(self.text.get(done..).unwrap_or(""));
        (part, prefix)
    }

    /// The 0-based column, in characters, of the first entry of a container.
    fn column(&self, open: &OpenContainer) -> usize {
        let first = match &open.node.content {
            Content::Map(entries) => entries
                .first()
                .map(|entry| &entry.key)
                .or(open.key.as_ref()),
            _ => None,
        };
        let start = first.map_or(open.node.span.start, |key| {
            key.span_with_properties().start.min(open.node.span.start)
        }) as usize;
        let before = self
            .text
            .get(line_start(self.text, start)..start)
            .unwrap_or("");
        before.trim_start_matches('\u{feff}').chars().count()
    }
}

/// Limits a node to `end`. A scalar that extended beyond the line at which parsing resumes is
/// marked as missing.
fn clip(node: &mut Node, end: u32) {
    if node.span.end > end {
        node.span = Span {
            start: node.span.start.min(end),
            end,
            ..node.span
        };
        if node.as_scalar().is_some() {
            node.content = Content::Missing;
        }
        clip_last(node, end);
    }
}

fn clip_last(node: &mut Node, end: u32) {
    match &mut node.content {
        Content::Map(entries) => {
            if let Some(MapEntry { key, value }) = entries.last_mut() {
                clip(key, end);
                clip(value, end);
            }
        }
        Content::List(items) => items
            .last_mut()
            .into_iter()
            .for_each(|item| clip(item, end)),
        _ => {}
    }
}

fn last_child(node: &Node) -> Option<&Node> {
    match &node.content {
        Content::Map(entries) => entries.last().map(|entry| &entry.value),
        Content::List(items) => items.last(),
        _ => None,
    }
}
