//! Reads nodes as Heat does: merge keys are resolved, keys become text, the last of equal keys
//! counts, scalars have their values.

use blueprint::{Name, Value};
use diag::{Diagnostics, Severity, Span, Spanned};
use syntax::{Content, Node};

use super::{scalar, template_text};
use dialect::codes::DUPLICATE_KEY;

/// Reads nodes and collects their mistakes.
pub(super) struct NodeReader {
    pub(super) found: Diagnostics,
}

/// An entry of a map: its key as text, and its value.
pub(super) struct TextEntry<'t> {
    pub(super) key: Spanned<Name>,
    /// The original key, if it is not text. In Python `1` and `true` are the same key.
    typed: Option<Value>,
    pub(super) value: &'t Node,
}

/// The span of a value. For the value of an alias, this is the span of the alias.
pub(super) fn value_span(node: &Node) -> Span {
    node.alias().unwrap_or(node.span)
}

impl NodeReader {
    /// The entries of a map, in order: merged entries first, then its own. The last of equal keys
    /// counts.
    pub(super) fn pairs<'t>(&mut self, node: &'t Node) -> Option<Vec<TextEntry<'t>>> {
        let entries = node.as_map()?;
        let mut pairs: Vec<TextEntry<'t>> = Vec::with_capacity(entries.len());
        for entry in entries.iter().filter(|entry| is_merge(&entry.key)) {
            // The first of several maps takes precedence, so it is added last.
            let merged: Vec<&'t Node> = match &entry.value.content {
                Content::List(items) => items.iter().rev().collect(),
                _ => vec![&entry.value],
            };
            for map in merged {
                match self.pairs(map) {
                    Some(more) => pairs.extend(more),
                    None => self.found.push(
                        syntax::INVALID_SYNTAX
                            .new("`<<` merges maps")
                            .label(value_span(map), "not a map")
                            .with_native_message(
                                "while constructing a mapping: expected a mapping or list of mappings for merging",
                            ),
                    ),
                }
            }
        }
        let merged = pairs.len();
        for entry in entries.iter().filter(|entry| !is_merge(&entry.key)) {
            match self.key(&entry.key) {
                Some((key, typed)) => {
                    let key = Spanned::new(key, value_span(&entry.key));
                    pairs.push(TextEntry {
                        key,
                        typed,
                        value: &entry.value,
                    });
                }
                None => self.found.push(
                    syntax::INVALID_SYNTAX
                        .new("a key must be text, a number, a boolean or null")
                        .label(value_span(&entry.key), "a list or a map")
                        .help("write a single value as the key"),
                ),
            }
        }
        if pairs.len() > 1 {
            self.drop_repeated(&mut pairs, merged);
        }
        Some(pairs)
    }

    /// Keeps the last of equal keys, at the position of the first. Keys that are written twice are
    /// reported.
    fn drop_repeated(&mut self, pairs: &mut Vec<TextEntry<'_>>, merged: usize) {
        if pairs.iter().filter(|pair| pair.typed.is_some()).count() > 1 {
            // Of keys that are equal in Python, the first gives the text and the last gives the
            // value.
            let mut first: blueprint::IndexMap<pycompat::EqualityKey, Name> =
                blueprint::IndexMap::default();
            for pair in pairs.iter_mut() {
                if let Some(typed) = &pair.typed {
                    let name = first
                        .entry(pycompat::EqualityKey::of(typed))
                        .or_insert_with(|| pair.key.item.clone());
                    pair.key.item = name.clone();
                }
            }
        }
        let mut last: blueprint::IndexMap<Name, usize> = blueprint::IndexMap::default();
        for (at, pair) in pairs.iter().enumerate() {
            if let Some(earlier) = last.insert(pair.key.item.clone(), at)
                && earlier >= merged
            {
                self.found.push(
                    DUPLICATE_KEY
                        .new(format!("`{}` is written twice", pair.key.item))
                        .label(pairs[earlier].key.span, "the later one counts")
                        .with_severity(Severity::Warning),
                );
            }
        }
        if last.len() < pairs.len() {
            let mut slots: Vec<Option<TextEntry<'_>>> =
                std::mem::take(pairs).into_iter().map(Some).collect();
            pairs.extend(last.values().filter_map(|at| slots[*at].take()));
        }
    }

    fn key(&mut self, node: &Node) -> Option<(Name, Option<Value>)> {
        let scalar = node.as_scalar()?;
        let tag = node.tag().map(|tag| &*tag.item);
        // PyYAML reads `=` as text where it is a key.
        if tag.is_none() && scalar.style == syntax::Style::Plain && &*scalar.text == "=" {
            return Some((Name::from("="), None));
        }
        match scalar::typed(scalar, tag)? {
            Value::Text(text) => Some((text, None)),
            value => Some((scalar::key_text(&value)?, Some(value))),
        }
    }

    /// The value of a node as data.
    pub(super) fn value(&mut self, node: &Node) -> Value {
        let tag = node.tag().map(|tag| scalar::short(&tag.item));
        let tag = tag.as_deref();
        // A lone `!` changes nothing.
        let of_collection = tag.filter(|tag| *tag != "!");
        match &node.content {
            Content::Missing => Value::Null,
            Content::Scalar(scalar) => match scalar::typed(scalar, tag) {
                Some(value) => value,
                None => {
                    self.unreadable(node);
                    Value::Null
                }
            },
            Content::List(items) => match of_collection {
                Some("!!omap" | "!!pairs") => {
                    let mut pairs = Vec::new();
                    for item in items {
                        for pair in self.pairs(item).unwrap_or_default() {
                            pairs.push(Value::list([
                                Value::Text(pair.key.item),
                                self.value(pair.value),
                            ]));
                        }
                    }
                    Value::list(pairs)
                }
                Some("!!seq") | None => Value::list(
                    items
                        .iter()
                        .map(|item| self.value(item))
                        .collect::<Vec<_>>(),
                ),
                Some(_) => {
                    self.unreadable(node);
                    Value::Null
                }
            },
            Content::Map(_) => {
                let pairs = self.pairs(node).unwrap_or_default();
                match of_collection {
                    Some("!!set") => {
                        Value::list(pairs.into_iter().map(|pair| Value::Text(pair.key.item)))
                    }
                    Some("!!map") | None => {
                        let entries: Vec<(Name, Value)> = pairs
                            .into_iter()
                            .map(|pair| (pair.key.item, self.value(pair.value)))
                            .collect();
                        Value::map(entries)
                    }
                    Some(_) => {
                        self.unreadable(node);
                        Value::Null
                    }
                }
            }
        }
    }

    /// Whether a collection has a tag that changes its data.
    pub(super) fn has_converting_tag(node: &Node) -> bool {
        node.tag().is_some_and(|tag| {
            !matches!(scalar::short(&tag.item).as_ref(), "!!map" | "!!seq" | "!")
        })
    }

    /// Reports an unknown tag, or a text that does not fit its tag.
    fn unreadable(&mut self, node: &Node) {
        let diagnostic = match node.tag() {
            Some(tag) => syntax::INVALID_SYNTAX
                .new(format!("the tag `{}` is not supported here", tag.item))
                .label(tag.span, "not a tag of YAML 1.1, or not of this kind")
                .with_native_message(format!(
                    "could not determine a constructor for the tag '{}'",
                    tag.item
                )),
            None => {
                let text = node.as_scalar().map_or("=", |scalar| &*scalar.text);
                let tag = if text == "=" { "value" } else { "merge" };
                syntax::INVALID_SYNTAX
                    .new(format!("a lone `{text}` means nothing"))
                    .label(value_span(node), "YAML 1.1 reserves this")
                    .help(format!("quote it: `\"{text}\"`"))
                    .with_native_message(format!(
                        "could not determine a constructor for the tag 'tag:yaml.org,2002:{tag}'"
                    ))
            }
        };
        self.found.push(diagnostic);
    }
}

fn is_merge(key: &Node) -> bool {
    let plain = key
        .as_scalar()
        .is_some_and(|scalar| scalar.style == syntax::Style::Plain && &*scalar.text == "<<");
    plain && key.tag().is_none()
}

/// Parses a text as Heat parses templates and environments; `None` if it is no map.
pub(super) fn data(text: &str) -> Option<Value> {
    let mut files = diag::Files::new();
    let file = files.add("text", text);
    let (tree, found) = template_text::parse_data(file, text);
    let mut reader = NodeReader {
        found: Diagnostics::new(),
    };
    let value = reader.value(tree.root.as_ref()?);
    (!found.has_errors() && value.as_map().is_some()).then_some(value)
}
