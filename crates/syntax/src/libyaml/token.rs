//! The tokens of a text.

use crate::Style;

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum YamlTokenKind {
    StreamEnd,
    /// `%YAML`, with its version.
    VersionDirective(u32, u32),
    /// `%TAG`; the text is the handle, a blank and the prefix.
    TagDirective,
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias,
    Anchor,
    /// The text is the handle; empty for a tag in full, `!<..>`.
    Tag,
    /// The text is the decoded content.
    Scalar(Style),
}

/// A token. Its place is in bytes.
#[derive(Debug)]
pub(super) struct YamlToken {
    pub(super) kind: YamlTokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Only directives, tags and scalars have a text.
    pub(super) text: String,
}

impl YamlToken {
    pub(super) fn new(kind: YamlTokenKind, start: usize, end: usize) -> YamlToken {
        YamlToken {
            kind,
            start,
            end,
            text: String::new(),
        }
    }
}
