//! Makes nodes: the calls of instructions build a tree of nodes in a context.

use std::collections::HashMap;
use std::rc::Rc;

use blueprint::Name;

use crate::ast::NodeDialect;
use crate::compile::TemplateNode;
use crate::convert::{key_text, plain, scalar, to_nodes};
use crate::halt::{Evaluated, fail};
use crate::heap::Heap;
use crate::keys::key_of;
use crate::value::{AnnotationValue, NodeRef, StarValue, YamlNode};
use crate::yaml_tree::YamlKind;

/// The annotation that lets a map item replace one with the same key.
const OVERRIDE: &str = "yaml/map-key-override";

/// A context: the nodes of a template or of a call of a function.
pub(crate) struct NodeContext {
    dialect: NodeDialect,
    root: Option<NodeRef>,
    /// The open nodes and their tags, the innermost last.
    open: Vec<(usize, NodeRef)>,
    annotations: HashMap<usize, Vec<(Name, AnnotationValue)>>,
    keys: HashMap<usize, StarValue>,
}

impl NodeContext {
    /// A context without nodes.
    pub(crate) fn new(dialect: NodeDialect) -> NodeContext {
        NodeContext {
            dialect,
            root: None,
            open: Vec::new(),
            annotations: HashMap::new(),
            keys: HashMap::new(),
        }
    }

    /// The root, if a node was made.
    pub(crate) fn root(&self) -> Option<&NodeRef> {
        self.root.as_ref()
    }

    /// The result of the context as a value.
    ///
    /// # Errors
    /// If it is a text that is too long.
    pub(crate) fn value(&self, heap: &Heap) -> Evaluated<StarValue> {
        match self.dialect {
            NodeDialect::Yaml => Ok(StarValue::Fragment(self.root.clone())),
            NodeDialect::Text => match &self.root {
                Some(root) => text_value(heap, root),
                None => fail("Unexpected root value"),
            },
        }
    }

    /// Annotates the next node with a tag.
    pub(crate) fn annotate(&mut self, tag: usize, name: Name, annotation: AnnotationValue) {
        let own = self.annotations.entry(tag).or_default();
        own.retain(|(known, _)| *known != name);
        own.push((name, annotation));
    }

    /// Sets the key of the next node with a tag.
    ///
    /// # Errors
    /// If the value is no key.
    pub(crate) fn set_key(&mut self, heap: &Heap, tag: usize, key: &StarValue) -> Evaluated<()> {
        let key = plain(heap, key)?;
        self.keys.insert(tag, key);
        Ok(())
    }

    /// Begins a node inside the open node that its place in the template says.
    ///
    /// # Errors
    /// If there is no such node, or the key occurs twice.
    pub(crate) fn start(
        &mut self,
        heap: &Heap,
        nodes: &[TemplateNode],
        tag: usize,
    ) -> Evaluated<()> {
        let Some(template) = nodes.get(tag) else {
            return fail(format!("expected to find node tag {tag}"));
        };
        let mut node = YamlNode::new(template.kind, template.line);
        node.key = scalar(&template.key);
        if let Some(annotations) = self.annotations.remove(&tag) {
            node.annotations = Rc::new(annotations);
        }
        if let Some(key) = self.keys.remove(&tag) {
            node.key = key;
        }
        let node = heap.node(node)?;
        if self.root.is_none() {
            match self.is_root(template.kind) {
                true => self.root = Some(node.clone()),
                false => match template.parent {
                    Some(parent) => self.start(heap, nodes, parent)?,
                    None => return fail(format!("expected to find parent tag for {tag}")),
                },
            }
        }
        if !self.open.is_empty() {
            self.unwind(heap, nodes, tag)?;
        }
        if let Some((_, around)) = self.open.last() {
            prepare(heap, around, &node)?;
            add(around, &node)?;
        }
        self.open.push((tag, node));
        Ok(())
    }

    fn is_root(&self, kind: YamlKind) -> bool {
        match self.dialect {
            NodeDialect::Yaml => !matches!(
                kind,
                YamlKind::Document | YamlKind::MapItem | YamlKind::ArrayItem
            ),
            NodeDialect::Text => kind == YamlKind::TextRoot,
        }
    }

    /// Closes the open nodes that are not around the node with a tag.
    fn unwind(&mut self, heap: &Heap, nodes: &[TemplateNode], tag: usize) -> Evaluated<()> {
        let ancestors = |mut tag: usize| {
            let mut found = Vec::new();
            while let Some(parent) = nodes.get(tag).and_then(|node| node.parent) {
                found.push(parent);
                tag = parent;
            }
            found.reverse();
            found
        };
        let Some((current, _)) = self.open.last() else {
            return Ok(());
        };
        let mut around = ancestors(*current);
        around.push(*current);
        let of_new = ancestors(tag);
        heap.work.steps(around.len() + of_new.len())?;
        let pairs = around.iter().zip(&of_new);
        let common = pairs.take_while(|(one, other)| one == other).last();
        let place =
            common.and_then(|(common, _)| self.open.iter().position(|(open, _)| open == common));
        let Some(place) = place else {
            return fail("a node is made outside of its place in the template");
        };
        self.open.truncate(place + 1);
        Ok(())
    }

    /// Sets the value of the current node.
    ///
    /// # Errors
    /// If the node cannot hold the value.
    pub(crate) fn set(&mut self, heap: &Heap, value: &StarValue) -> Evaluated<()> {
        if matches!(value, StarValue::Replaced) {
            return Ok(());
        }
        let value = plain(heap, value)?;
        let Some((_, node)) = self.open.last() else {
            return fail("no node is open");
        };
        let kind = node.borrow().kind;
        let fits = match kind {
            YamlKind::Text => match value.open() {
                StarValue::Text(_) | StarValue::Unknown(_) => true,
                other => {
                    return fail(format!(
                        "cannot set non-string value ({}), consider using str(...) to convert to \
                         string",
                        other.type_name()
                    ));
                }
            },
            YamlKind::Document | YamlKind::MapItem | YamlKind::ArrayItem => match &value {
                StarValue::Fragment(Some(node)) => {
                    matches!(node.borrow().kind, YamlKind::Map | YamlKind::Array)
                }
                _ => true,
            },
            kind => return fail(format!("cannot set value on a {}", kind.words())),
        };
        if !fits {
            let words = kind.words();
            return fail(format!(
                "{words}s can only contain arrays, maps, or scalars; this is a document set"
            ));
        }
        node.borrow_mut().value = value;
        Ok(())
    }

    /// Sets the value of the current node to the scalar of the template.
    ///
    /// # Errors
    /// If there is no such node.
    pub(crate) fn set_default(&mut self, nodes: &[TemplateNode], tag: usize) -> Evaluated<()> {
        let (Some(template), Some((_, node))) = (nodes.get(tag), self.open.last()) else {
            return fail("no node is open");
        };
        node.borrow_mut().value = scalar(&template.value);
        Ok(())
    }

    /// `template.replace`: puts items in place of the current node.
    ///
    /// # Errors
    /// If the value does not fit.
    pub(crate) fn replace(&mut self, heap: &Heap, value: &StarValue) -> Evaluated<()> {
        let value = plain(heap, value)?;
        if self.dialect == NodeDialect::Text {
            return fail("unsupported operation");
        }
        let count = self.open.len();
        let around = match count {
            0 => None,
            1 => self.root.as_ref(),
            _ => self.open.get(count - 2).map(|(_, node)| node),
        };
        let (Some((_, current)), Some(around)) = (self.open.last(), around) else {
            return fail("no node is open");
        };
        let (kind, line) = {
            let current = current.borrow();
            (current.kind, current.line)
        };
        let (wanted, item_kind) = match kind {
            YamlKind::Document => (YamlKind::DocumentSet, YamlKind::Document),
            YamlKind::MapItem => (YamlKind::Map, YamlKind::MapItem),
            YamlKind::ArrayItem => (YamlKind::Array, YamlKind::ArrayItem),
            kind => {
                return fail(format!(
                    "expected to replace document value, map item or array item, but found {}",
                    kind.words()
                ));
            }
        };
        if around.borrow().kind != wanted {
            return fail(format!("expected the parent to be a {}", wanted.words()));
        }
        let (items, has_annotations) = replacements(heap, &value, wanted, item_kind, line)?;
        if wanted == YamlKind::Map {
            for item in &items {
                let rule = match has_annotations {
                    true => KeyRepetition::NeedsAnnotation,
                    false => KeyRepetition::Allowed,
                };
                replace_key(heap, around, item, rule)?;
            }
        }
        let mut around = around.borrow_mut();
        heap.work.steps(around.items.len() + items.len())?;
        let place = around
            .items
            .iter()
            .position(|item| Rc::ptr_eq(item, current));
        let Some(place) = place else {
            return fail("expected to find the node that is replaced");
        };
        around.items.splice(place..=place, items);
        Ok(())
    }
}

/// The nodes that a value stands for, and whether they can have annotations.
fn replacements(
    heap: &Heap,
    value: &StarValue,
    wanted: YamlKind,
    item_kind: YamlKind,
    line: Option<u32>,
) -> Evaluated<(Vec<NodeRef>, bool)> {
    match (value, wanted) {
        (StarValue::Fragment(Some(node)), _) if node.borrow().kind == wanted => {
            let items = node.borrow().items.clone();
            heap.work.items(items.len())?;
            Ok((items, true))
        }
        (StarValue::List(list), YamlKind::DocumentSet | YamlKind::Array) => {
            let values = list.items.borrow().clone();
            let items = values.iter().map(|value| {
                let mut item = YamlNode::new(item_kind, line);
                item.value = match item_kind {
                    YamlKind::Document => value.clone(),
                    _ => to_nodes(heap, value, line)?,
                };
                heap.node(item)
            });
            Ok((items.collect::<Evaluated<_>>()?, false))
        }
        (StarValue::Dict(dict), YamlKind::Map) => {
            let entries: Vec<_> = dict.entries.borrow().values().cloned().collect();
            let items = entries.iter().map(|(key, value)| {
                let mut item = YamlNode::new(item_kind, line);
                item.key = key.clone();
                item.value = to_nodes(heap, value, line)?;
                heap.node(item)
            });
            Ok((items.collect::<Evaluated<_>>()?, false))
        }
        (StarValue::Unknown(waits_for), _) => Err(crate::halt::Halted::Unknown(waits_for.to_vec())),
        (other, wanted) => fail(format!(
            "expected value to be {}, but was {}",
            wanted.words(),
            other.type_name()
        )),
    }
}

/// Whether a key may occur again.
#[derive(Clone, Copy, PartialEq)]
enum KeyRepetition {
    NeedsAnnotation,
    Allowed,
}

fn prepare(heap: &Heap, around: &NodeRef, node: &NodeRef) -> Evaluated<()> {
    let is_item = node.borrow().kind == YamlKind::MapItem;
    match is_item && around.borrow().kind == YamlKind::Map {
        true => replace_key(heap, around, node, KeyRepetition::NeedsAnnotation),
        false => Ok(()),
    }
}

/// Removes the item of a map that has the key of a new one.
fn replace_key(heap: &Heap, map: &NodeRef, item: &NodeRef, rule: KeyRepetition) -> Evaluated<()> {
    let (key, may_replace) = {
        let item = item.borrow();
        let may_replace = rule == KeyRepetition::Allowed || item.annotation(OVERRIDE).is_some();
        (item.key.clone(), may_replace)
    };
    let wanted = key_of(heap, &key)?;
    let mut map = map.borrow_mut();
    heap.work.steps(map.items.len() / 8)?;
    let mut place = None;
    for (at, own) in map.items.iter().enumerate() {
        if key_of(heap, &own.borrow().key)? == wanted {
            place = Some(at);
        }
    }
    let Some(place) = place else {
        return Ok(());
    };
    if !may_replace {
        let key = match key {
            StarValue::Secret(_) => "(secret)".into(),
            key => key_text(&key)?,
        };
        return fail(format!(
            "expected key '{key}' to not be specified again (unless '{OVERRIDE}' annotation is \
             added)"
        ));
    }
    map.items.remove(place);
    Ok(())
}

/// Adds a node to one that is open.
fn add(around: &NodeRef, node: &NodeRef) -> Evaluated<()> {
    let kind = node.borrow().kind;
    let mut around = around.borrow_mut();
    let fits = match around.kind {
        YamlKind::DocumentSet => kind == YamlKind::Document,
        YamlKind::Map => kind == YamlKind::MapItem,
        YamlKind::Array => kind == YamlKind::ArrayItem,
        YamlKind::TextRoot => kind == YamlKind::Text,
        YamlKind::Document | YamlKind::MapItem | YamlKind::ArrayItem => {
            if !matches!(kind, YamlKind::Map | YamlKind::Array) {
                return fail(format!(
                    "{}s can only contain arrays, maps, or scalars; this is a {}",
                    around.kind.words(),
                    kind.words()
                ));
            }
            around.value = StarValue::Fragment(Some(node.clone()));
            return Ok(());
        }
        YamlKind::Text => false,
    };
    if !fits {
        let words = around.kind.words();
        return fail(format!("a {words} cannot contain a {}", kind.words()));
    }
    around.items.push(node.clone());
    Ok(())
}

/// The text of the pieces below a root: unknown or secret if a piece is.
pub(crate) fn text_value(heap: &Heap, root: &NodeRef) -> Evaluated<StarValue> {
    let mut text = String::new();
    let mut secrecy = crate::value::Secrecy::Open;
    let mut waits_for: Option<Vec<blueprint::Address>> = None;
    for piece in &root.borrow().items {
        let value = piece.borrow().value.clone();
        let (inner, own) = value.split();
        secrecy = secrecy.and(own);
        match inner {
            StarValue::Text(part) => {
                heap.work.bytes(part.len())?;
                text.push_str(part);
            }
            StarValue::Unknown(more) => waits_for
                .get_or_insert_default()
                .extend(more.iter().cloned()),
            _ => {}
        }
    }
    match waits_for {
        Some(waits_for) => Ok(StarValue::Unknown(Rc::new(waits_for))),
        None => Ok(heap.text(text)?.marked(secrecy)),
    }
}
