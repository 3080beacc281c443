//! Composes the tree of the one document of a text from its tokens.
//!
//! Not here: the tokens (`scanner`), the values of aliases (`alias`).

use std::collections::HashMap;

use diag::{FileId, Span, Spanned};

use super::problem::{Problem, Scan};
use super::scanner::Scanner;
use super::token::YamlTokenKind;
use crate::{Content, MAX_DEPTH, MAX_NODES, MapEntry, Node, Scalar};

/// The forms that a node may have at its place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NodeForm {
    /// Any, outside of brackets.
    Block,
    /// Any, outside of brackets; a list may begin in the column of the key above.
    BlockOrUnindentedList,
    /// Any inside brackets.
    Flow,
}

/// The forms of containers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ContainerForm {
    BlockList,
    /// A list in the column of the key above.
    UnindentedList,
    BlockMap,
    FlowList,
    FlowMap,
    /// `a: b` as an item of a list in brackets.
    Pair,
}

/// What comes next in a container.
enum Step {
    /// A node that is written.
    Node(NodeForm),
    /// A node that is not written, and its place.
    Empty(usize),
    /// A pair that begins at a place.
    Pair(usize),
    /// The end. A bracket that closes the container ends at a place; 0 without one.
    Close(usize),
}

/// A node whose first token has been read.
enum Begun {
    Leaf(Node),
    Container(OpenNode),
}

/// A container whose end has not been read.
struct OpenNode {
    form: ContainerForm,
    start: usize,
    anchor: Option<Span>,
    tag: Option<Spanned<Box<str>>>,
    /// The items of a list.
    items: Vec<Node>,
    /// The entries of a map.
    entries: Vec<MapEntry>,
    /// A key whose value has not been read.
    key: Option<Node>,
    /// Whether the next key has no value, because it is not followed by a colon.
    lacks_value: bool,
}

impl OpenNode {
    fn new(form: ContainerForm, start: usize) -> OpenNode {
        OpenNode {
            form,
            start,
            anchor: None,
            tag: None,
            items: Vec::new(),
            entries: Vec::new(),
            key: None,
            lacks_value: false,
        }
    }

    fn is_list(&self) -> bool {
        matches!(
            self.form,
            ContainerForm::BlockList | ContainerForm::UnindentedList | ContainerForm::FlowList
        )
    }

    /// Adds an item, a key, or the value of the last key.
    fn add(&mut self, node: Node) {
        if self.is_list() {
            self.items.push(node);
            return;
        }
        match self.key.take() {
            Some(key) => self.entries.push(MapEntry { key, value: node }),
            None => self.key = Some(node),
        }
    }

    /// The container, which ends at `end` or with its last child.
    fn finish(mut self, file: FileId, end: usize) -> Node {
        let last = match self.entries.last() {
            Some(entry) => end_of(&entry.key).max(end_of(&entry.value)),
            None => self.items.last().map_or(self.start, end_of),
        };
        let is_list = self.is_list();
        self.items.shrink_to_fit();
        self.entries.shrink_to_fit();
        let content = if is_list {
            Content::List(self.items)
        } else {
            Content::Map(self.entries)
        };
        let span = Span::new(file, self.start as u32, end.max(last) as u32);
        let mut node = Node::new(span, content);
        set_marks(&mut node, self.anchor, self.tag);
        node
    }
}

fn set_marks(node: &mut Node, anchor: Option<Span>, tag: Option<Spanned<Box<str>>>) {
    if let Some(anchor) = anchor {
        node.set_anchor(anchor);
    }
    if let Some(tag) = tag {
        node.set_tag(tag);
    }
}

fn end_of(node: &Node) -> usize {
    node.span_with_properties().end as usize
}

/// Composes nodes and remembers what they need from each other.
pub(super) struct Composer<'t> {
    file: FileId,
    pub(super) scanner: Scanner<'t>,
    /// The places of the anchors, by name.
    anchors: HashMap<&'t str, Span>,
    /// The handles of tags and their prefixes.
    handles: Vec<(String, String)>,
    pub(super) nodes: usize,
    pub(super) has_aliases: bool,
}

impl<'t> Composer<'t> {
    /// A composer of the text from `at` on.
    pub(super) fn new(file: FileId, text: &'t str, at: usize) -> Composer<'t> {
        Composer {
            file,
            scanner: Scanner::new(file, text, at),
            anchors: HashMap::new(),
            handles: Vec::new(),
            nodes: 0,
            has_aliases: false,
        }
    }

    /// Composes the document; `None` if the text has none. A second document is a problem.
    pub(super) fn document(&mut self) -> Scan<Option<Node>> {
        use YamlTokenKind::{
            DocumentEnd, DocumentStart, StreamEnd, TagDirective, VersionDirective,
        };
        let root = match self.scanner.peek()?.0 {
            StreamEnd => return Ok(None),
            VersionDirective(..) | TagDirective | DocumentStart => {
                self.directives()?;
                let (kind, at, _) = self.scanner.peek()?;
                if kind != DocumentStart {
                    return Err(Problem::new("did not find expected <document start>", at));
                }
                let end = self.scanner.take()?.end;
                match self.scanner.peek()?.0 {
                    VersionDirective(..) | TagDirective | DocumentStart | DocumentEnd
                    | StreamEnd => self.empty(end),
                    _ => self.root()?,
                }
            }
            _ => {
                self.add_default_handles();
                self.root()?
            }
        };
        while self.scanner.peek()?.0 == DocumentEnd {
            self.scanner.take()?;
        }
        let (kind, at, _) = self.scanner.peek()?;
        match kind {
            StreamEnd => Ok(Some(root)),
            VersionDirective(..) | TagDirective | DocumentStart => {
                Err(Problem::several_documents(at))
            }
            _ => Err(Problem::new("did not find expected <document start>", at)),
        }
    }

    fn directives(&mut self) -> Scan<()> {
        let mut has_version = false;
        loop {
            match self.scanner.peek()? {
                (YamlTokenKind::VersionDirective(major, minor), at, _) => {
                    if has_version {
                        return Err(Problem::new("found duplicate %YAML directive", at));
                    }
                    if major != 1 || !matches!(minor, 1 | 2) {
                        return Err(Problem::new("found incompatible YAML document", at));
                    }
                    has_version = true;
                    self.scanner.take()?;
                }
                (YamlTokenKind::TagDirective, at, _) => {
                    let text = self.scanner.take()?.text;
                    let (handle, prefix) = text.split_once(' ').unwrap_or((&text, ""));
                    if self.prefix(handle).is_some() {
                        return Err(Problem::new("found duplicate %TAG directive", at));
                    }
                    self.handles.push((handle.to_owned(), prefix.to_owned()));
                }
                _ => break,
            }
        }
        self.add_default_handles();
        Ok(())
    }

    fn add_default_handles(&mut self) {
        for (handle, prefix) in [("!", "!"), ("!!", STANDARD_PREFIX)] {
            if self.prefix(handle).is_none() {
                self.handles.push((handle.to_owned(), prefix.to_owned()));
            }
        }
    }

    fn prefix(&self, handle: &str) -> Option<&str> {
        let known = self.handles.iter().find(|known| known.0 == handle);
        known.map(|(_, prefix)| prefix.as_str())
    }

    /// Composes a node outside of brackets, with everything in it. The open containers are a list,
    /// so that a deep text needs no deep stack.
    fn root(&mut self) -> Scan<Node> {
        let mut open: Vec<OpenNode> = Vec::new();
        let mut next = Step::Node(NodeForm::Block);
        loop {
            let node = match next {
                Step::Empty(at) => self.empty(at),
                Step::Node(form) => match self.begin(form)? {
                    Begun::Leaf(node) => node,
                    Begun::Container(container) => {
                        next = self.enter(&mut open, container)?;
                        continue;
                    }
                },
                Step::Pair(at) => {
                    self.count(at)?;
                    next = self.enter(&mut open, OpenNode::new(ContainerForm::Pair, at))?;
                    continue;
                }
                Step::Close(end) => match open.pop() {
                    Some(container) => container.finish(self.file, end),
                    None => self.empty(self.scanner.cursor.at),
                },
            };
            match open.last_mut() {
                Some(container) => {
                    container.add(node);
                    next = self.advance(container)?;
                }
                None => return Ok(node),
            }
        }
    }

    /// Opens a container, unless it is nested too deep. Returns the first step inside.
    fn enter(&mut self, open: &mut Vec<OpenNode>, mut container: OpenNode) -> Scan<Step> {
        if open.len() >= MAX_DEPTH {
            return Err(Problem::too_deep(container.start));
        }
        if container.form != ContainerForm::UnindentedList {
            self.scanner.take()?;
        }
        let step = self.advance(&mut container)?;
        open.push(container);
        Ok(step)
    }

    /// Reads the properties of a node, and the node if it is no container.
    fn begin(&mut self, form: NodeForm) -> Scan<Begun> {
        use YamlTokenKind::{
            Alias, Anchor, BlockEntry, BlockMappingStart, BlockSequenceStart, FlowMappingStart,
            FlowSequenceStart, Scalar as ScalarToken, Tag,
        };
        let (kind, start, end) = self.scanner.peek()?;
        self.count(start)?;
        if kind == Alias {
            self.scanner.take()?;
            let span = self.span(start, end);
            let mut node = Node::missing(span);
            node.set_alias(span);
            self.has_aliases = true;
            return Ok(Begun::Leaf(node));
        }
        let (mut anchor, mut tag) = (None, None);
        let mut after = start;
        loop {
            match self.scanner.peek()?.0 {
                Anchor if anchor.is_none() => {
                    let token = self.scanner.take()?;
                    after = token.end;
                    anchor = Some(self.anchor(token.start, token.end)?);
                }
                Tag if tag.is_none() => {
                    let token = self.scanner.take()?;
                    after = token.end;
                    tag = Some(self.tag(&token.text, token.start, token.end)?);
                }
                _ => break,
            }
        }
        let (kind, at, _) = self.scanner.peek()?;
        let is_block = form != NodeForm::Flow;
        let container = match kind {
            BlockEntry if form == NodeForm::BlockOrUnindentedList => ContainerForm::UnindentedList,
            FlowSequenceStart => ContainerForm::FlowList,
            FlowMappingStart => ContainerForm::FlowMap,
            BlockSequenceStart if is_block => ContainerForm::BlockList,
            BlockMappingStart if is_block => ContainerForm::BlockMap,
            _ => {
                let mut node = match kind {
                    ScalarToken(style) => {
                        let token = self.scanner.take()?;
                        let text = token.text.into();
                        let content = Content::Scalar(Scalar { text, style });
                        Node::new(self.span(token.start, token.end), content)
                    }
                    _ if anchor.is_some() || tag.is_some() => Node::empty(self.file, after),
                    _ => {
                        let what = "did not find expected node content";
                        return Err(Problem::new(what, at).within(start));
                    }
                };
                set_marks(&mut node, anchor, tag);
                return Ok(Begun::Leaf(node));
            }
        };
        Ok(Begun::Container(OpenNode {
            anchor,
            tag,
            ..OpenNode::new(container, at)
        }))
    }

    fn count(&mut self, at: usize) -> Scan<()> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(Problem::too_many_nodes(at));
        }
        Ok(())
    }

    fn anchor(&mut self, start: usize, end: usize) -> Scan<Span> {
        let text: &'t str = self.scanner.cursor.text;
        let span = self.span(start, end);
        match self.anchors.insert(&text[start + 1..end], span) {
            Some(first) => Err(Problem::repeated_anchor(span, first)),
            None => Ok(span),
        }
    }

    /// A tag as it is written. A tag with a handle of `%TAG` is written in full.
    fn tag(&self, handle: &str, start: usize, end: usize) -> Scan<Spanned<Box<str>>> {
        let written = &self.scanner.cursor.text[start..end];
        let span = self.span(start, end);
        if handle.is_empty() {
            return Ok(Spanned::new(written.into(), span));
        }
        let Some(prefix) = self.prefix(handle) else {
            return Err(Problem::new("found undefined tag handle", start));
        };
        let is_usual = matches!((handle, prefix), ("!", "!") | ("!!", STANDARD_PREFIX));
        let suffix = written.get(handle.len()..).unwrap_or_default();
        // A lone `!` is no handle.
        let tag = if is_usual || written == "!" {
            written.into()
        } else {
            format!("!<{prefix}{suffix}>").into()
        };
        Ok(Spanned::new(tag, span))
    }

    /// The next step inside an open container.
    fn advance(&mut self, open: &mut OpenNode) -> Scan<Step> {
        match open.form {
            ContainerForm::UnindentedList => self.advance_unindented_list(),
            ContainerForm::BlockList => self.advance_block_list(open.start),
            ContainerForm::BlockMap => self.advance_block_map(open),
            ContainerForm::FlowList => self.advance_flow_list(open),
            ContainerForm::FlowMap => self.advance_flow_map(open),
            ContainerForm::Pair => self.advance_pair(open),
        }
    }

    fn advance_unindented_list(&mut self) -> Scan<Step> {
        use YamlTokenKind::{BlockEnd, BlockEntry, Key, Value};
        if self.scanner.peek()?.0 != BlockEntry {
            return Ok(Step::Close(0));
        }
        let end = self.scanner.take()?.end;
        Ok(match self.scanner.peek()?.0 {
            BlockEntry | Key | Value | BlockEnd => Step::Empty(end),
            _ => Step::Node(NodeForm::Block),
        })
    }

    fn advance_block_list(&mut self, start: usize) -> Scan<Step> {
        use YamlTokenKind::{BlockEnd, BlockEntry};
        let (kind, at, end) = self.scanner.peek()?;
        if !matches!(kind, BlockEntry | BlockEnd) {
            let what = "did not find expected '-' indicator";
            return Err(Problem::new(what, at).within(start));
        }
        self.scanner.take()?;
        if kind == BlockEnd {
            return Ok(Step::Close(0));
        }
        Ok(match self.scanner.peek()?.0 {
            BlockEntry | BlockEnd => Step::Empty(end),
            _ => Step::Node(NodeForm::Block),
        })
    }

    fn advance_block_map(&mut self, open: &OpenNode) -> Scan<Step> {
        use YamlTokenKind::{BlockEnd, Key, Value};
        let (kind, at, end) = self.scanner.peek()?;
        match (&open.key, kind) {
            (None, Key) | (Some(_), Value) => {}
            (None, BlockEnd) => {
                self.scanner.take()?;
                return Ok(Step::Close(0));
            }
            (None, _) => {
                return Err(Problem::new("did not find expected key", at).within(open.start));
            }
            (Some(key), _) => return Ok(Step::Empty(end_of(key))),
        }
        self.scanner.take()?;
        Ok(match self.scanner.peek()?.0 {
            Key | Value | BlockEnd => Step::Empty(end),
            _ => Step::Node(NodeForm::BlockOrUnindentedList),
        })
    }

    fn advance_flow_list(&mut self, open: &OpenNode) -> Scan<Step> {
        use YamlTokenKind::{FlowEntry, FlowSequenceEnd, Key};
        let (mut kind, mut at, mut end) = self.scanner.peek()?;
        if kind != FlowSequenceEnd && !open.items.is_empty() {
            if kind != FlowEntry {
                let what = "did not find expected ',' or ']'";
                return Err(Problem::new(what, at).within(open.start));
            }
            self.scanner.take()?;
            (kind, at, end) = self.scanner.peek()?;
        }
        Ok(match kind {
            FlowSequenceEnd => {
                self.scanner.take()?;
                Step::Close(end)
            }
            Key => Step::Pair(at),
            _ => Step::Node(NodeForm::Flow),
        })
    }

    /// A map of one entry that is an item of a list in brackets.
    fn advance_pair(&mut self, open: &OpenNode) -> Scan<Step> {
        use YamlTokenKind::{FlowEntry, FlowSequenceEnd, Value};
        if !open.entries.is_empty() {
            return Ok(Step::Close(0));
        }
        if let Some(key) = &open.key {
            return self.flow_value(key, FlowSequenceEnd);
        }
        let (kind, _, end) = self.scanner.peek()?;
        Ok(match kind {
            FlowSequenceEnd => Step::Empty(open.start),
            // After an empty key libyaml loses the token.
            Value | FlowEntry => {
                self.scanner.take()?;
                Step::Empty(end)
            }
            _ => Step::Node(NodeForm::Flow),
        })
    }

    fn advance_flow_map(&mut self, open: &mut OpenNode) -> Scan<Step> {
        use YamlTokenKind::{FlowEntry, FlowMappingEnd, Key, Value};
        if let Some(key) = &open.key {
            if std::mem::take(&mut open.lacks_value) {
                return Ok(Step::Empty(end_of(key)));
            }
            return self.flow_value(key, FlowMappingEnd);
        }
        let (mut kind, at, mut end) = self.scanner.peek()?;
        if kind != FlowMappingEnd && !open.entries.is_empty() {
            if kind != FlowEntry {
                let what = "did not find expected ',' or '}'";
                return Err(Problem::new(what, at).within(open.start));
            }
            self.scanner.take()?;
            (kind, _, end) = self.scanner.peek()?;
        }
        Ok(match kind {
            FlowMappingEnd => {
                self.scanner.take()?;
                Step::Close(end)
            }
            Key => {
                self.scanner.take()?;
                match self.scanner.peek()?.0 {
                    Value | FlowEntry | FlowMappingEnd => Step::Empty(end),
                    _ => Step::Node(NodeForm::Flow),
                }
            }
            _ => {
                open.lacks_value = true;
                Step::Node(NodeForm::Flow)
            }
        })
    }

    /// The value after a key in brackets that `close` ends.
    fn flow_value(&mut self, key: &Node, close: YamlTokenKind) -> Scan<Step> {
        if self.scanner.peek()?.0 != YamlTokenKind::Value {
            return Ok(Step::Empty(end_of(key)));
        }
        let end = self.scanner.take()?.end;
        let next = self.scanner.peek()?.0;
        Ok(if next == YamlTokenKind::FlowEntry || next == close {
            Step::Empty(end)
        } else {
            Step::Node(NodeForm::Flow)
        })
    }

    fn empty(&mut self, at: usize) -> Node {
        self.nodes += 1;
        Node::empty(self.file, at)
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start as u32, end as u32)
    }
}

/// The prefix of the tags that YAML defines.
const STANDARD_PREFIX: &str = "tag:yaml.org,2002:";
