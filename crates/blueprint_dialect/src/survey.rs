//! Mistakes of a tree that do not depend on its sections: unsupported YAML features, and keys.
//!
//! The survey is one walk over the whole document before lowering
//! (decisions/blueprint#duplicate-keys, decisions/blueprint#refused-yaml-features,
//! decisions/blueprint#encoding-and-keys). It records the keys that lowering must ignore.

use std::collections::HashSet;

use blueprint::IndexMap;
use diag::{Diagnostics, Span};
use syntax::{Content, MapEntry, Node};

use super::scalar::{has_substitution, is_merge};
use dialect::codes::{DUPLICATE_KEY, SUBSTITUTION_IN_KEY, UNSUPPORTED_YAML, WRONG_SHAPE};

/// The result of the walk.
#[derive(Default)]
pub(super) struct Survey {
    /// The start positions of ignored keys: duplicates, substituted keys, merge keys.
    pub(super) bad_keys: HashSet<u32>,
    /// Whether the document has aliases. A mistake in an aliased value could be found several
    /// times.
    pub(super) aliases: bool,
}

/// Walks the whole tree.
pub(super) fn survey(root: &Node, found: &mut Diagnostics) -> Survey {
    let mut survey = Survey::default();
    survey.node(root, found);
    survey
}

/// The largest number of keys in a map that are compared pairwise.
const FEW: usize = 8;

impl Survey {
    fn node(&mut self, node: &Node, found: &mut Diagnostics) {
        if let Some(alias) = node.alias() {
            // The value of an alias is walked at its anchor.
            self.aliases = true;
            found.push(unsupported(alias, "an alias").help("write the value out, or use `values`"));
            return;
        }
        if let Some(anchor) = node.anchor() {
            found.push(unsupported(anchor, "an anchor").help(
                "leave it out; write what several places read under `values`, and what several maps share into a document that they `include`",
            ));
        }
        if let Some(tag) = node.tag() {
            found.push(unsupported(tag.span, "a tag").help("leave it out; quotes make a text"));
        }
        match &node.content {
            Content::Map(entries) => self.map(entries, found),
            Content::List(items) => items.iter().for_each(|item| self.node(item, found)),
            Content::Scalar(_) | Content::Missing => {}
        }
    }

    fn map(&mut self, entries: &[MapEntry], found: &mut Diagnostics) {
        let mut seen: IndexMap<&str, Span> = IndexMap::default();
        if entries.len() > FEW {
            seen.reserve(entries.len());
        }
        for (at, entry) in entries.iter().enumerate() {
            self.node(&entry.key, found);
            let span = entry.key.span;
            match entry.key.text() {
                None => {
                    if !entry.key.is_missing() {
                        found.push(
                            WRONG_SHAPE
                                .new("a key must be text")
                                .label(span, "a list or map as a key"),
                        );
                    }
                    self.bad_keys.insert(span.start);
                }
                Some(_) if is_merge(&entry.key) => {
                    found.push(unsupported(span, "a merge key").help("write the keys out, or put what the maps share into a document and `include` it"));
                    self.bad_keys.insert(span.start);
                }
                Some(text) => {
                    if has_substitution(text) {
                        found.push(
                            SUBSTITUTION_IN_KEY
                                .new("a key takes no substitution")
                                .label(span, "`${` in a key")
                                .help("write the key out; a map with computed keys comes from a function"),
                        );
                        self.bad_keys.insert(span.start);
                        self.node(&entry.value, found);
                        continue;
                    }
                    let first = if entries.len() <= FEW {
                        entries
                            .iter()
                            .take(at)
                            .find(|other| other.key.text() == Some(text))
                            .map(|other| other.key.span)
                    } else {
                        let first = *seen.entry(text).or_insert(span);
                        (first != span).then_some(first)
                    };
                    if let Some(first) = first {
                        found.push(
                            DUPLICATE_KEY
                                .new(format!("`{text}` is written twice"))
                                .label(span, "ignored")
                                .label(first, "used, because it is the first")
                                .help("remove one of them"),
                        );
                        self.bad_keys.insert(span.start);
                    }
                }
            }
            self.node(&entry.value, found);
        }
    }
}

fn unsupported(span: Span, what: &str) -> diag::Diagnostic {
    UNSUPPORTED_YAML
        .new(format!("{what} is not part of the language"))
        .label(span, "not supported")
}
