//! A YAML text as a tree of nodes with lines and comments.

use blueprint::Name;

/// The kinds of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum YamlKind {
    DocumentSet,
    Document,
    Map,
    MapItem,
    Array,
    ArrayItem,
    TextRoot,
    Text,
}

impl YamlKind {
    /// The kind in messages.
    pub(crate) fn words(self) -> &'static str {
        match self {
            YamlKind::DocumentSet => "document set",
            YamlKind::Document => "document",
            YamlKind::Map => "map",
            YamlKind::MapItem => "map item",
            YamlKind::Array => "array",
            YamlKind::ArrayItem => "array item",
            YamlKind::TextRoot => "text",
            YamlKind::Text => "piece of text",
        }
    }
}

/// A scalar of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum YamlScalar {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(Name),
}

/// A comment without its `#`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SourceComment {
    pub(crate) line: u32,
    pub(crate) text: String,
}

/// A node of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SourceNode {
    pub(crate) kind: YamlKind,
    /// The key of a map item.
    pub(crate) key: YamlScalar,
    /// The value of a document or item that has no children.
    pub(crate) value: YamlScalar,
    /// The items of a collection; the one map or list of a document or item.
    pub(crate) children: Vec<SourceNode>,
    pub(crate) line: Option<u32>,
    /// The comments that belong to a document or item.
    pub(crate) comments: Vec<SourceComment>,
}

impl SourceNode {
    /// A node without content.
    pub(crate) fn new(kind: YamlKind, line: Option<u32>) -> SourceNode {
        SourceNode {
            kind,
            key: YamlScalar::Null,
            value: YamlScalar::Null,
            children: Vec::new(),
            line,
            comments: Vec::new(),
        }
    }

    /// The same without children and comments.
    pub(crate) fn clone_head(&self) -> SourceNode {
        SourceNode {
            key: self.key.clone(),
            value: self.value.clone(),
            ..SourceNode::new(self.kind, self.line)
        }
    }
}
