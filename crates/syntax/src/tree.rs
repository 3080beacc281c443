//! The tree: maps, lists and scalars with their places.

use diag::{FileId, Span, Spanned};

use crate::Format;

/// A parsed document.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The root value; `None` if the text has none.
    pub root: Option<Node>,
    /// The comments in the order of the text, each including its `#`, `//` or `/*` and without the
    /// line break.
    pub comments: Vec<Span>,
    /// The encoding of the text.
    pub format: Format,
}

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// The place of the value with its quotes, brackets or block indicator, without anchor and tag.
    /// A block list begins at its first `-`, a block map at its first key; both end with their last
    /// child. The span of an alias is that of the value it refers to, if known.
    pub span: Span,
    /// The value.
    pub content: Content,
    /// The marks are stored separately, because few nodes have any.
    marks: Option<Box<Marks>>,
}

/// An anchor, tag or alias.
#[derive(Clone, Debug, Default)]
struct Marks {
    anchor: Option<Span>,
    alias: Option<Span>,
    tag: Option<Spanned<Box<str>>>,
}

/// The contents of a node.
#[derive(Clone, Debug)]
pub enum Content {
    /// Entries in the order of the text. Duplicate keys and merge keys are kept.
    Map(Vec<MapEntry>),
    /// Items in the order of the text.
    List(Vec<Node>),
    /// A scalar. Dialects determine its type.
    Scalar(Scalar),
    /// Invalid text, which has been reported.
    Missing,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct MapEntry {
    /// The key; almost always a scalar.
    pub key: Node,
    /// The value; an empty plain scalar if none is written.
    pub value: Node,
}

/// A decoded text and its style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// The text without quotes, escapes, folding and indentation. Line breaks are `\n`.
    pub text: Box<str>,
    /// The style.
    pub style: Style,
}

/// The style of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// YAML without quotes; also the empty text of an omitted value.
    Plain,
    /// YAML `'..'`.
    SingleQuoted,
    /// YAML `".."`.
    DoubleQuoted,
    /// YAML `|`.
    Literal,
    /// YAML `>`.
    Folded,
    /// JSON `".."`.
    JsonString,
    /// JSON number, as written.
    JsonNumber,
    /// JSON `true`.
    JsonTrue,
    /// JSON `false`.
    JsonFalse,
    /// JSON `null`.
    JsonNull,
}

impl Style {
    /// Whether quotes or a block make the scalar a string, whatever its content.
    pub fn is_text(self) -> bool {
        matches!(
            self,
            Style::SingleQuoted
                | Style::DoubleQuoted
                | Style::Literal
                | Style::Folded
                | Style::JsonString
        )
    }
}

impl Node {
    /// A node without anchor, alias and tag.
    pub fn new(span: Span, content: Content) -> Node {
        Node {
            span,
            content,
            marks: None,
        }
    }

    /// A node for invalid text.
    pub fn missing(span: Span) -> Node {
        Node::new(span, Content::Missing)
    }

    /// The `&name` before the value.
    pub fn anchor(&self) -> Option<Span> {
        self.marks.as_ref()?.anchor
    }

    /// The `*name` in place of the value. The content is a copy of the value it refers to.
    pub fn alias(&self) -> Option<Span> {
        self.marks.as_ref()?.alias
    }

    /// The `!tag` before the value, as written, with its `!`.
    pub fn tag(&self) -> Option<&Spanned<Box<str>>> {
        self.marks.as_ref()?.tag.as_ref()
    }

    /// Sets the anchor.
    pub(crate) fn set_anchor(&mut self, anchor: Span) {
        self.marks.get_or_insert_default().anchor = Some(anchor);
    }

    /// Sets the alias.
    pub(crate) fn set_alias(&mut self, alias: Span) {
        self.marks.get_or_insert_default().alias = Some(alias);
    }

    /// Sets the tag.
    pub(crate) fn set_tag(&mut self, tag: Spanned<Box<str>>) {
        self.marks.get_or_insert_default().tag = Some(tag);
    }

    /// The place of the value with its anchor and tag; for an alias the `*name`.
    pub fn span_with_properties(&self) -> Span {
        if let Some(alias) = self.alias() {
            return alias;
        }
        let mut span = self.span;
        if let Some(anchor) = self.anchor() {
            span = anchor.to(span);
        }
        if let Some(tag) = self.tag() {
            span = tag.span.to(span);
        }
        span
    }

    /// The entries, if the node is a map.
    pub fn as_map(&self) -> Option<&[MapEntry]> {
        match &self.content {
            Content::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The items, if the node is a list.
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.content {
            Content::List(items) => Some(items),
            _ => None,
        }
    }

    /// The scalar, if the node is one.
    pub fn as_scalar(&self) -> Option<&Scalar> {
        match &self.content {
            Content::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The decoded text, if the node is a scalar.
    pub fn text(&self) -> Option<&str> {
        self.as_scalar().map(|scalar| &*scalar.text)
    }

    /// Whether the node stands for invalid text.
    pub fn is_missing(&self) -> bool {
        matches!(self.content, Content::Missing)
    }

    /// The value of the first entry with this key, if the node is a map with such an entry. Linear
    /// search.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The first entry with this key, if the node is a map with such an entry. Linear search.
    pub fn entry(&self, key: &str) -> Option<&MapEntry> {
        self.as_map()?
            .iter()
            .find(|entry| entry.key.text() == Some(key))
    }

    /// Creates an empty plain scalar at `at` for an omitted value.
    pub(crate) fn empty(file: FileId, at: usize) -> Node {
        let scalar = Scalar {
            text: Box::default(),
            style: Style::Plain,
        };
        Node::new(
            Span::new(file, at as u32, at as u32),
            Content::Scalar(scalar),
        )
    }

    /// The number of nodes, including this one.
    pub(crate) fn count(&self) -> usize {
        1 + match &self.content {
            Content::Map(entries) => entries
                .iter()
                .map(|entry| entry.key.count() + entry.value.count())
                .sum(),
            Content::List(items) => items.iter().map(Node::count).sum(),
            _ => 0,
        }
    }
}
