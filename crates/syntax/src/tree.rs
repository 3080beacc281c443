//! The tree: maps, lists and scalars, each with its place.

use diag::{FileId, Span, Spanned};

use crate::Format;

/// A document as it was written.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The document's one value; `None` if the text holds none.
    pub root: Option<Node>,
    /// Comments, each with its `#`, `//` or `/*` and without the line break, in the order of the text.
    pub comments: Vec<Span>,
    /// What the text was read as.
    pub format: Format,
}

/// A value and where it was written.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value proper with its quotes, brackets or block indicator, without anchor and tag. A block list begins at
    /// its first `-`, a block map at its first key; both end with their last child. Of an alias it is the place of the
    /// value that the alias stands for, where that is known.
    pub span: Span,
    /// The value.
    pub content: Content,
    /// Kept apart, because nearly no node has any.
    marks: Option<Box<Marks>>,
}

/// What can stand before a value, or in its place.
#[derive(Clone, Debug, Default)]
struct Marks {
    anchor: Option<Span>,
    alias: Option<Span>,
    tag: Option<Spanned<Box<str>>>,
}

/// What a node holds.
#[derive(Clone, Debug)]
pub enum Content {
    /// Keys and values in the order of the text; equal keys and merge keys are kept as they are.
    Map(Vec<Entry>),
    /// Items in the order of the text.
    List(Vec<Node>),
    /// A text that no dialect has given a type yet.
    Scalar(Scalar),
    /// Nothing that can be told: the text is broken here, which was reported.
    Missing,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Nearly always a scalar.
    pub key: Node,
    /// The value; an empty plain scalar if none was written.
    pub value: Node,
}

/// A decoded text and how it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Without quotes, escapes, folding and indentation; line breaks are `\n`.
    pub text: Box<str>,
    /// How it was written.
    pub style: Style,
}

/// How a scalar was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// YAML without quotes; the empty text where a value was left out.
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
    /// JSON number, as it was written.
    JsonNumber,
    /// JSON `true`.
    JsonTrue,
    /// JSON `false`.
    JsonFalse,
    /// JSON `null`.
    JsonNull,
}

impl Style {
    /// Whether the way of writing says that this is text, whatever it looks like: quotes or a block.
    pub fn is_text(self) -> bool {
        matches!(self, Style::SingleQuoted | Style::DoubleQuoted | Style::Literal | Style::Folded | Style::JsonString)
    }
}

impl Node {
    /// A node without anchor, alias and tag.
    pub fn new(span: Span, content: Content) -> Node {
        Node { span, content, marks: None }
    }

    /// A place where the text is broken.
    pub fn missing(span: Span) -> Node {
        Node::new(span, Content::Missing)
    }

    /// The `&name` before the value.
    pub fn anchor(&self) -> Option<Span> {
        self.marks.as_ref()?.anchor
    }

    /// The `*name` that stands where the value would; the content is a copy of what the name stands for.
    pub fn alias(&self) -> Option<Span> {
        self.marks.as_ref()?.alias
    }

    /// The `!tag` before the value, as it was written, with its `!`.
    pub fn tag(&self) -> Option<&Spanned<Box<str>>> {
        self.marks.as_ref()?.tag.as_ref()
    }

    /// Puts an anchor before the value.
    pub(crate) fn set_anchor(&mut self, anchor: Span) {
        self.marks.get_or_insert_default().anchor = Some(anchor);
    }

    /// Says that the value stands for an alias.
    pub(crate) fn set_alias(&mut self, alias: Span) {
        self.marks.get_or_insert_default().alias = Some(alias);
    }

    /// Puts a tag before the value.
    pub(crate) fn set_tag(&mut self, tag: Spanned<Box<str>>) {
        self.marks.get_or_insert_default().tag = Some(tag);
    }

    /// The place at which the value was written, with its anchor and tag; of an alias the `*name`.
    pub fn written(&self) -> Span {
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

    /// The entries, if it is a map.
    pub fn as_map(&self) -> Option<&[Entry]> {
        match &self.content {
            Content::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The items, if it is a list.
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.content {
            Content::List(items) => Some(items),
            _ => None,
        }
    }

    /// The scalar, if it is one.
    pub fn as_scalar(&self) -> Option<&Scalar> {
        match &self.content {
            Content::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The decoded text, if it is a scalar.
    pub fn text(&self) -> Option<&str> {
        self.as_scalar().map(|scalar| &*scalar.text)
    }

    /// Whether nothing can be told here because the text is broken.
    pub fn is_missing(&self) -> bool {
        matches!(self.content, Content::Missing)
    }

    /// The value of the first entry with this key, if it is a map that has one. Walks the entries.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The first entry with this key, if it is a map that has one. Walks the entries.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.as_map()?.iter().find(|entry| entry.key.text() == Some(key))
    }

    /// A plain scalar without text at `at`: a value that was left out.
    pub(crate) fn empty(file: FileId, at: usize) -> Node {
        let scalar = Scalar { text: Box::default(), style: Style::Plain };
        Node::new(Span::new(file, at as u32, at as u32), Content::Scalar(scalar))
    }

    /// How many nodes it is made of, itself included.
    pub(crate) fn count(&self) -> usize {
        1 + match &self.content {
            Content::Map(entries) => entries.iter().map(|entry| entry.key.count() + entry.value.count()).sum(),
            Content::List(items) => items.iter().map(Node::count).sum(),
            _ => 0,
        }
    }
}
