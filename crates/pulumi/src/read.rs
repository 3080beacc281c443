//! Reads maps: merge keys, keys without regard to case, repeated keys.
//!
//! Not here: the values of scalars (`scalar`), which keys a section has (`shape`).

use blueprint::Name;
use diag::{Diagnostics, Severity, Span, Spanned};
use syntax::{Content, MapEntry, Node, Style};

use crate::codes::KEY_NOT_TEXT;
use crate::scalar;
use dialect::codes::{DUPLICATE_KEY, WRONG_SHAPE};

/// An entry of a map: its key as text, and its value.
#[derive(Clone)]
pub(crate) struct TextEntry<'t> {
    /// The key.
    pub(crate) key: Spanned<Name>,
    /// The node of the key.
    pub(crate) key_node: &'t Node,
    /// The value.
    pub(crate) value: &'t Node,
}

/// What happens with a key that is written twice.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum RepeatedKey {
    /// It is a mistake: the entries are definitions of names.
    Mistake,
    /// The last entry counts, with a warning.
    LastCounts,
}

/// The span of a value. For the value of an alias, this is the span of the alias.
pub(crate) fn value_span(node: &Node) -> Span {
    node.alias().unwrap_or(node.span)
}

/// Whether a node is a written null, or no value at all.
pub(crate) fn is_null(node: &Node) -> bool {
    node.as_scalar()
        .is_some_and(|scalar| scalar::typed(node, scalar).is_null())
}

/// The text of a node, if it is text and not a number, boolean or null.
pub(crate) fn text(node: &Node) -> Option<&str> {
    let scalar = node.as_scalar()?;
    scalar::typed(node, scalar).as_text().map(|_| &*scalar.text)
}

/// The kind of a node, for messages.
pub(crate) fn node_kind(node: &Node) -> &'static str {
    match &node.content {
        Content::Map(_) => "a map",
        Content::List(_) => "a list",
        Content::Scalar(scalar) => scalar::kind_words(&scalar::typed(node, scalar)),
        Content::Missing => "invalid text",
    }
}

/// The entries of a map in order, merged entries last. An entry of the map itself takes precedence
/// over a merged one, and an earlier merged map over a later one. `None` if the node is no map.
pub(crate) fn entries<'t>(
    node: &'t Node,
    repeated: RepeatedKey,
    found: &mut Diagnostics,
) -> Option<Vec<TextEntry<'t>>> {
    let map = node.as_map()?;
    let mut entries: Vec<TextEntry<'t>> = Vec::with_capacity(map.len());
    let mut at: blueprint::IndexMap<Name, usize> = blueprint::IndexMap::default();
    for entry in map.iter().filter(|entry| !is_merge(&entry.key)) {
        let Some(read) = text_entry(entry, found) else {
            continue;
        };
        let Some(earlier) = at.get(&read.key.item).copied() else {
            at.insert(read.key.item.clone(), entries.len());
            entries.push(read);
            continue;
        };
        let first = entries[earlier].key.span;
        let duplicate = DUPLICATE_KEY.new(format!("`{}` is written twice", read.key.item));
        found.push(match repeated {
            RepeatedKey::Mistake => duplicate
                .label(read.key.span, "ignored")
                .label(first, "used, because it is the first")
                .help("remove one of them"),
            RepeatedKey::LastCounts => duplicate
                .label(first, "ignored: the later one counts")
                .with_severity(Severity::Warning),
        });
        if repeated == RepeatedKey::LastCounts {
            entries[earlier] = read;
        }
    }
    for entry in map.iter().filter(|entry| is_merge(&entry.key)) {
        let merged = match &entry.value.content {
            Content::List(items) => items.as_slice(),
            _ => std::slice::from_ref(&entry.value),
        };
        for map in merged {
            let Some(more) = self::entries(map, RepeatedKey::LastCounts, found) else {
                found.push(
                    syntax::INVALID_SYNTAX
                        .new("`<<` merges maps")
                        .label(value_span(map), "not a map"),
                );
                continue;
            };
            for one in more {
                if !at.contains_key(&one.key.item) {
                    at.insert(one.key.item.clone(), entries.len());
                    entries.push(one);
                }
            }
        }
    }
    Some(entries)
}

fn text_entry<'t>(entry: &'t MapEntry, found: &mut Diagnostics) -> Option<TextEntry<'t>> {
    if entry.key.is_missing() {
        return None;
    }
    let Some(key) = text(&entry.key) else {
        let kind = node_kind(&entry.key);
        let mistake = KEY_NOT_TEXT
            .new(format!("a key must be a string, found {kind}"))
            .label(value_span(&entry.key), kind);
        let written = entry.key.text().filter(|text| !text.is_empty());
        found.push(match written {
            Some(written) => mistake.fix(
                "quote it",
                vec![(value_span(&entry.key), format!("\"{written}\""))],
                false,
            ),
            None => mistake.help("write a string as the key"),
        });
        return None;
    };
    Some(TextEntry {
        key: Spanned::new(Name::from(key), value_span(&entry.key)),
        key_node: &entry.key,
        value: &entry.value,
    })
}

fn is_merge(key: &Node) -> bool {
    key.as_scalar()
        .is_some_and(|scalar| scalar.style == Style::Plain && &*scalar.text == "<<")
}

/// Reports a value of the wrong kind. Invalid text was reported already.
pub(crate) fn wrong_shape(node: &Node, what: &str, wanted: &str, found: &mut Diagnostics) {
    if node.is_missing() {
        return;
    }
    let kind = node_kind(node);
    found.push(
        WRONG_SHAPE
            .new(format!("{what} must be {wanted}, found {kind}"))
            .label(value_span(node), kind),
    );
}
