//! Builds the tree from the events of the YAML parser.
//!
//! Not here: reading the events (`yaml`), recovery from errors (`recovery`).

use std::borrow::Cow;

use diag::{Diagnostics, FileId, Span};

use crate::parser_stop::ParserStop;
use crate::place::{after_colon, after_dash, block_span, missing_value_offset};
use crate::scan::{SplitSubstitution, unclosed};
use crate::{
    Content, Format, MAX_COPIED, MAX_NODES, MULTIPLE_DOCUMENTS, MapEntry, Node, Scalar, Style,
    Tree, alias, decode,
};

/// A container whose end has not been read.
pub(crate) struct OpenContainer {
    /// The node under construction. Its span begins at the start of the container.
    pub(crate) node: Node,
    /// A key whose value has not been read; only in maps.
    pub(crate) key: Option<Node>,
    /// Whether the container is written in brackets.
    pub(crate) flow: bool,
}

/// The state of reading a text.
pub(crate) struct TreeBuilder<'t> {
    pub(crate) file: FileId,
    pub(crate) text: &'t str,
    pub(crate) found: &'t mut Diagnostics,
    pub(crate) root: Option<Node>,
    pub(crate) open: Vec<OpenContainer>,
    pub(crate) comments: Vec<Span>,
    /// Substitutions that are masked for the parser, in ascending order.
    pub(crate) masks: Vec<SplitSubstitution>,
    /// The place of the last event.
    pub(crate) last_event_offset: usize,
    pub(crate) nodes: usize,
    /// The place of the last reported error.
    pub(crate) last_error_offset: Option<usize>,
    pub(crate) aliases: bool,
    /// Reusable vectors of closed containers: a container grows in one of them and is then stored
    /// without excess capacity.
    pub(crate) spare_entries: Vec<Vec<MapEntry>>,
    pub(crate) spare_items: Vec<Vec<Node>>,
    /// Whether all documents of the text are read, or only the first one.
    pub(crate) reads_all_documents: bool,
    /// The start of the current document.
    pub(crate) begin: usize,
    /// The end of the `...` that closed the document, if there was one.
    pub(crate) ended: Option<usize>,
    /// The completed documents.
    pub(crate) documents: Vec<Tree>,
    pub(crate) total: Total,
}

/// The size of the completed documents of a text: limits apply to the whole text.
#[derive(Default)]
pub(crate) struct Total {
    /// The number of nodes, including the copies made by aliases.
    pub(crate) nodes: usize,
    /// The number of written nodes.
    pub(crate) written: usize,
}

impl TreeBuilder<'_> {
    /// Adds the empty value of the last key, if one is pending, at the end of the prefix that only
    /// opens containers.
    pub(crate) fn add_empty_value_of_prefix(&mut self, empty: bool) {
        if empty
            && let Some(OpenContainer {
                key: Some(key),
                node,
                ..
            }) = self.open.last()
        {
            let at = after_colon(self.text, key.span_with_properties().end, node.span.start);
            self.add_node(Node::empty(self.file, at));
        }
    }

    /// Completes the current document. The next one begins at `next`.
    pub(crate) fn finish_document(&mut self, next: usize) {
        while !self.open.is_empty() {
            self.close(None);
        }
        let mut root = self.root.take();
        let next_comments = match self.ended.take() {
            _ if next == self.text.len() => Vec::new(),
            ended => {
                let boundary = ended.unwrap_or(next) as u32;
                self.comments.split_off(
                    self.comments
                        .partition_point(|comment| comment.start < boundary),
                )
            }
        };
        let comments = std::mem::replace(&mut self.comments, next_comments);
        let nodes = std::mem::take(&mut self.nodes);
        self.total.written += nodes.max(1);
        self.total.nodes += nodes.max(1);
        if std::mem::take(&mut self.aliases)
            && let Some(root) = &mut root
        {
            let most = MAX_NODES.min(self.total.written + MAX_COPIED);
            self.total.nodes = alias::resolve(root, self.text, self.total.nodes, most, self.found);
        }
        self.documents.push(Tree {
            root,
            comments,
            format: Format::Yaml,
        });
        self.begin = next;
        self.last_event_offset = next;
        self.last_error_offset = None;
    }

    pub(crate) fn second_document(&mut self, span: Span) {
        let text = if span.is_empty() {
            "this begins another document"
        } else {
            "another document begins here"
        };
        self.found.push(
            MULTIPLE_DOCUMENTS
                .new("a file holds one document, this one holds several")
                .label(span, text)
                .help("move what follows into a separate file"),
        );
    }

    /// Whether YAML ended a plain scalar inside a substitution.
    pub(crate) fn detect_split(&self, span: Span, block: bool) -> Option<ParserStop> {
        let (start, end) = (span.start as usize, span.end as usize);
        let bytes = self.text.as_bytes();
        let slice = self.text.get(start..end)?;
        if !slice.contains('$') || self.mask_in(span).is_some() {
            return None;
        }
        if !block && slice.ends_with('$') && bytes.get(end) == Some(&b'{') {
            return Some(ParserStop::Cut { at: end - 1, end });
        }
        let at = unclosed(self.text, start, end)?;
        let blanks = bytes[end..]
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
        let cut = match bytes.get(end + blanks) {
            Some(b'#') => blanks > 0,
            Some(b':') => true,
            Some(b',' | b'[' | b']' | b'{' | b'}') => !block,
            _ => false,
        };
        cut.then_some(ParserStop::Cut { at, end })
    }

    pub(crate) fn scalar(&self, node: &mut Node, mut text: Cow<'_, str>, style: Style) {
        if style == Style::Plain && node.span.is_empty() {
            node.content = Content::Scalar(Scalar {
                text: Box::default(),
                style,
            });
            if node.tag().is_none() {
                let at = self.empty_value_offset(node.span.start as usize) as u32;
                node.span = Span::new(self.file, at, at);
            }
            return;
        }
        if matches!(style, Style::Literal | Style::Folded) {
            let after = node
                .tag()
                .map_or(self.parsed_end(), |tag| tag.span.end as usize);
            node.span = block_span(self.text, after, node.span);
            // The parser adds a line break if the text ends with the scalar.
            if node.span.end as usize == self.text.len() && !self.text.ends_with(['\n', '\r']) {
                let content = text.strip_suffix('\n').unwrap_or(&text).to_owned();
                text = content.into();
            }
        }
        node.content = match self.mask_in(node.span) {
            Some(mask) if !mask.closed && style == Style::Plain => Content::Missing,
            Some(_) => Content::Scalar(Scalar {
                text: decode::text(node.span, style, &text, self.text),
                style,
            }),
            None => Content::Scalar(Scalar {
                text: text.into(),
                style,
            }),
        };
    }

    /// The first mask inside `span`; an unclosed one takes precedence.
    fn mask_in(&self, span: Span) -> Option<SplitSubstitution> {
        if self.masks.is_empty() {
            return None;
        }
        let first = self
            .masks
            .partition_point(|mask| mask.end <= span.start as usize);
        let inside = self
            .masks
            .get(first..)?
            .iter()
            .take_while(|mask| mask.start < span.end as usize);
        inside
            .copied()
            .reduce(|one, other| if one.closed { other } else { one })
    }

    /// The offset of an empty value: right after its colon or dash.
    fn empty_value_offset(&self, at: usize) -> usize {
        match self.open.last() {
            Some(OpenContainer {
                key: Some(key),
                node,
                ..
            }) => after_colon(self.text, key.span_with_properties().end, node.span.start),
            Some(OpenContainer {
                node:
                    Node {
                        content: Content::List(_),
                        ..
                    },
                flow: false,
                ..
            }) => after_dash(self.text.as_bytes(), self.parsed_end()).unwrap_or(at),
            // An empty key is placed after its `?`, even at the end of a line.
            Some(OpenContainer {
                key: None,
                node:
                    Node {
                        content: Content::Map(_),
                        span,
                        ..
                    },
                ..
            }) => {
                let before = self.text.get(..at).unwrap_or_default().trim_end();
                let stands_alone =
                    |rest: &str| rest.is_empty() || rest.ends_with(char::is_whitespace);
                let is_own = before.len() > span.start as usize;
                if is_own && before.strip_suffix('?').is_some_and(stands_alone) {
                    before.len()
                } else {
                    at
                }
            }
            _ => at,
        }
    }

    /// The start of a block list, given the parser's `start`. For a list in the column of its key
    /// the parser reports the item.
    pub(crate) fn first_dash(&self, start: u32) -> u32 {
        let Some(OpenContainer {
            key: Some(key),
            node,
            ..
        }) = self.open.last()
        else {
            return start;
        };
        let after = after_colon(self.text, key.span_with_properties().end, node.span.start);
        after_dash(self.text.as_bytes(), after).map_or(start, |after| start.min(after as u32 - 1))
    }

    /// The end of the text that has been turned into nodes.
    fn parsed_end(&self) -> usize {
        let Some(OpenContainer { node, key, .. }) = self.open.last() else {
            return self.begin;
        };
        let last = match (key, &node.content) {
            (Some(key), _) => Some(key),
            (None, Content::Map(entries)) => entries.last().map(|entry| &entry.value),
            (None, Content::List(items)) => items.last(),
            _ => None,
        };
        last.map_or(node.span.start, |last| last.span_with_properties().end) as usize
    }

    pub(crate) fn in_flow(&self) -> bool {
        self.open.last().is_some_and(|open| open.flow)
    }

    /// Sets the anchor of the node that began last.
    pub(crate) fn anchor(&mut self, span: Span) {
        if let Some(node) = self.latest_node() {
            node.set_anchor(span);
        }
    }

    /// The node that began last.
    fn latest_node(&mut self) -> Option<&mut Node> {
        let Some(OpenContainer { node, key, .. }) = self.open.last_mut() else {
            return self.root.as_mut();
        };
        if key.is_some() {
            return key.as_mut();
        }
        if node.as_map().is_none_or(<[MapEntry]>::is_empty)
            && node.as_list().is_none_or(<[Node]>::is_empty)
        {
            return Some(node);
        }
        match &mut node.content {
            Content::Map(entries) => entries.last_mut().map(|entry| &mut entry.value),
            Content::List(items) => items.last_mut(),
            _ => None,
        }
    }

    /// Adds a completed node to the innermost container.
    pub(crate) fn add_node(&mut self, node: Node) {
        self.nodes += 1;
        if !node.span.is_empty() {
            self.last_event_offset = self
                .last_event_offset
                .max(node.span_with_properties().start as usize);
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        match &mut open.node.content {
            Content::Map(entries) => match open.key.take() {
                Some(key) => entries.push(MapEntry { key, value: node }),
                None => open.key = Some(node),
            },
            Content::List(items) => items.push(node),
            _ => {}
        }
    }

    /// Closes the innermost container at `end`, or at the end of its last child.
    pub(crate) fn close(&mut self, end: Option<u32>) {
        let Some(OpenContainer {
            mut node,
            key,
            flow,
        }) = self.open.pop()
        else {
            return;
        };
        if let (Some(key), Content::Map(entries)) = (key, &mut node.content) {
            let at = missing_value_offset(self.text, key.span_with_properties().end);
            entries.push(MapEntry {
                key,
                value: Node::missing(Span::new(self.file, at, at)),
            });
        }
        let last = match &node.content {
            Content::Map(entries) => entries.last().map(|entry| {
                entry
                    .value
                    .span_with_properties()
                    .end
                    .max(entry.key.span_with_properties().end)
            }),
            Content::List(items) => items.last().map(|item| item.span_with_properties().end),
            _ => None,
        };
        let last = last.unwrap_or(node.span.end);
        node.span.end = if flow { end.unwrap_or(last) } else { last }.max(node.span.end);
        match &mut node.content {
            Content::Map(entries) => {
                let mut exact = Vec::with_capacity(entries.len());
                exact.append(entries);
                self.spare_entries.push(std::mem::replace(entries, exact));
            }
            Content::List(items) => {
                let mut exact = Vec::with_capacity(items.len());
                exact.append(items);
                self.spare_items.push(std::mem::replace(items, exact));
            }
            _ => {}
        }
        let before = self.last_event_offset;
        self.add_node(node);
        self.last_event_offset = before;
    }
}
