//! Trees as data: maps with text as keys, merge keys, scalars.

use blueprint::{Expr, ExprKind, IndexMap, Name, Value};
use diag::{Diagnostics, Span, Spanned};
use dialect::codes::{DUPLICATE_KEY, UNPARSABLE_VALUE, UNSUPPORTED_YAML, WRONG_SHAPE};
use syntax::{Content, MapEntry, Node, Scalar, Style};

use crate::codes::{KEY_CONVERTED, NOT_JSON};
use crate::scalar::{self, ScalarError};

/// The entries of a map by their keys.
pub(crate) type Entries<'t> = IndexMap<Name, (Span, &'t Node)>;

/// The span of a value. For the value of an alias, this is the span of the alias.
pub(crate) fn value_span(node: &Node) -> Span {
    node.alias().unwrap_or(node.span)
}

/// The text of a node, if it is text and not a number, boolean or null.
pub(crate) fn text(node: &Node) -> Option<&str> {
    let scalar = node.as_scalar()?;
    match scalar::typed(node, scalar) {
        Ok(Value::Text(_)) => Some(&scalar.text),
        _ => None,
    }
}

/// Whether a node is a written null, or no value at all.
pub(crate) fn is_null(node: &Node) -> bool {
    node.as_scalar()
        .is_some_and(|scalar| scalar::typed(node, scalar) == Ok(Value::Null))
}

/// The kind of a node, for messages.
pub(crate) fn node_kind(node: &Node) -> &'static str {
    match &node.content {
        Content::Map(_) => "a map",
        Content::List(_) => "a list",
        Content::Missing => "invalid text",
        Content::Scalar(scalar) => match scalar::typed(node, scalar) {
            Ok(Value::Null) => "null",
            Ok(Value::Bool(_)) => "a boolean",
            Ok(Value::Text(_)) => "a string",
            _ => "a number",
        },
    }
}

/// The value of a node as an expression without references.
pub(crate) fn value(node: &Node, found: &mut Diagnostics) -> Expr {
    let span = value_span(node);
    match &node.content {
        Content::Missing => Expr::error(span),
        Content::Scalar(scalar) => self::scalar(node, scalar, found),
        Content::List(items) => {
            let items = items.iter().map(|item| value(item, found)).collect();
            Expr::new(ExprKind::List(items), span)
        }
        Content::Map(_) => {
            let map = set_entries(node, found)
                .into_iter()
                .map(|(key, (key_span, node))| (Spanned::new(key, key_span), value(node, found)))
                .collect();
            Expr::new(ExprKind::Map(map), span)
        }
    }
}

fn scalar(node: &Node, scalar: &Scalar, found: &mut Diagnostics) -> Expr {
    let span = value_span(node);
    match scalar::typed(node, scalar) {
        Ok(value) => Expr::literal(value, span),
        Err(error) => {
            found.push(scalar_mistake(node, error));
            Expr::error(span)
        }
    }
}

fn scalar_mistake(node: &Node, error: ScalarError) -> diag::Diagnostic {
    let span = value_span(node);
    let tag = node.tag();
    let shown = tag.map_or("", |tag| &*tag.item);
    let tag_span = tag.map_or(span, |tag| tag.span);
    match error {
        ScalarError::Tag => UNSUPPORTED_YAML
            .new(format!("the tag `{shown}` has no meaning in a manifest"))
            .label(tag_span, "an unknown tag")
            .help("remove the tag"),
        ScalarError::Mismatch => UNPARSABLE_VALUE
            .new(format!("the value is not of the type `{shown}`"))
            .label(span, node_kind_of_text(node)),
        ScalarError::NotJson => NOT_JSON
            .new("JSON has neither infinite numbers nor NaN")
            .label(span, "no number of JSON")
            .help("quote it, if it is a text"),
    }
}

fn node_kind_of_text(node: &Node) -> String {
    format!("`{}`", node.text().unwrap_or_default())
}

/// The entries of a map in their order, with merged ones at the place of `<<`. A merged entry replaces
/// an earlier one, and a later one replaces a merged one. Empty if the node is no map.
pub(crate) fn entries<'t>(node: &'t Node, found: &mut Diagnostics) -> Entries<'t> {
    let mut entries = Entries::default();
    let mut written: IndexMap<Name, Span> = IndexMap::default();
    for entry in node.as_map().unwrap_or_default() {
        if is_merge(&entry.key) {
            merge(&entry.value, &mut entries, found);
            continue;
        }
        let Some(key) = key(entry, found) else {
            continue;
        };
        let span = value_span(&entry.key);
        if let Some(first) = written.get(&key) {
            found.push(
                DUPLICATE_KEY
                    .new(format!("`{key}` is written twice"))
                    .label(span, "written again")
                    .label(*first, "first written here")
                    .help("remove one of them"),
            );
            continue;
        }
        written.insert(key.clone(), span);
        entries.insert(key, (span, &entry.value));
    }
    entries
}

/// The entries of a map without those whose value is null: null is taken as not written, as
/// `kubectl apply` takes it (decisions/manifests#null).
pub(crate) fn set_entries<'t>(node: &'t Node, found: &mut Diagnostics) -> Entries<'t> {
    let mut entries = entries(node, found);
    entries.retain(|_, (_, node)| !is_null(node));
    entries
}

fn is_merge(key: &Node) -> bool {
    key.as_scalar()
        .is_some_and(|scalar| scalar.style == Style::Plain && &*scalar.text == "<<")
}

/// Adds the entries of merged maps; of several maps, the first takes precedence.
fn merge<'t>(merged: &'t Node, entries: &mut Entries<'t>, found: &mut Diagnostics) {
    let maps = match &merged.content {
        Content::List(items) => items.as_slice(),
        Content::Missing => return,
        _ => std::slice::from_ref(merged),
    };
    for map in maps.iter().rev() {
        if map.as_map().is_none() {
            found.push(
                WRONG_SHAPE
                    .new(format!("`<<` merges maps, found {}", node_kind(map)))
                    .label(value_span(map), "not a map"),
            );
            continue;
        }
        entries.extend(self::entries(map, found));
    }
}

/// The key of an entry as text. Other scalars are converted, as the tools of Kubernetes convert them.
fn key(entry: &MapEntry, found: &mut Diagnostics) -> Option<Name> {
    let node = &entry.key;
    let span = value_span(node);
    let refuse = |kind: &str, found: &mut Diagnostics| {
        found.push(
            NOT_JSON
                .new(format!("a key must be a string, found {kind}"))
                .label(span, kind.to_owned())
                .help(match node.as_map() {
                    Some(_) => "write a string as the key; a template with `{{ .. }}`, as Helm's, is no manifest before it is rendered",
                    None => "write a string as the key",
                }),
        );
    };
    let scalar = match &node.content {
        Content::Missing => return None,
        Content::Scalar(scalar) => scalar,
        Content::Map(_) | Content::List(_) => {
            refuse(node_kind(node), found);
            return None;
        }
    };
    let text: Name = match scalar::typed(node, scalar) {
        Ok(Value::Text(text)) => return Some(text),
        Ok(Value::Bool(flag)) => if flag { "true" } else { "false" }.into(),
        Ok(Value::Int(number)) => number.to_string().into(),
        Ok(Value::Float(number)) => number.to_string().into(),
        Ok(Value::Decimal(text)) => text,
        Ok(_) => {
            refuse(node_kind(node), found);
            return None;
        }
        Err(error) => {
            found.push(scalar_mistake(node, error));
            return None;
        }
    };
    if *text != *scalar.text {
        let written = &scalar.text;
        found.push(
            KEY_CONVERTED
                .new(format!("the key `{written}` is read as `{text}`"))
                .label(span, format!("{} without quotes", node_kind(node)))
                .fix("quote it", vec![(span, format!("\"{written}\""))], false),
        );
    }
    Some(text)
}
