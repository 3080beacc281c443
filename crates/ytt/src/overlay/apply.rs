//! Applies a tree to another one.

use std::rc::Rc;

use crate::convert::{copy_node, is_empty_document, key_text, plain, to_nodes};
use crate::evaluator::Evaluator;
use crate::halt::{Evaluated, Halted, fail};
use crate::overlay::matching::{Expectation, places};
use crate::overlay::vias::{Via, check};
use crate::value::{NodeRef, StarValue, YamlNode};
use crate::yaml_tree::YamlKind;

/// What is done with an item.
#[derive(Clone, Copy, PartialEq)]
enum OverlayOperation {
    Merge,
    Remove,
    Replace,
    Insert,
    Append,
    Assert,
}

const OPERATIONS: [(&str, OverlayOperation); 6] = [
    ("overlay/merge", OverlayOperation::Merge),
    ("overlay/remove", OverlayOperation::Remove),
    ("overlay/replace", OverlayOperation::Replace),
    ("overlay/insert", OverlayOperation::Insert),
    ("overlay/append", OverlayOperation::Append),
    ("overlay/assert", OverlayOperation::Assert),
];

/// `overlay.apply`: the first tree, changed by the others in order.
///
/// # Errors
/// If an overlay does not apply.
pub(super) fn apply(evaluator: &mut Evaluator<'_>, trees: &[StarValue]) -> Evaluated<StarValue> {
    let Some((first, others)) = trees.split_first() else {
        return fail("expected exactly at least argument");
    };
    let mut left = plain(&evaluator.heap, first)?;
    for right in others {
        let right = plain(&evaluator.heap, right)?;
        left = to_nodes(&evaluator.heap, &left, None)?;
        let right = to_nodes(&evaluator.heap, &right, None)?;
        merge(evaluator, &left, &right, &Expectation::default())?;
        if let StarValue::Fragment(Some(node)) = &left {
            remove_annotations(evaluator, node)?;
        }
    }
    Ok(left)
}

/// Applies the documents that are overlays to the other documents of a set.
///
/// # Errors
/// If an overlay does not apply.
pub(crate) fn apply_documents(evaluator: &mut Evaluator<'_>, set: &NodeRef) -> Evaluated<()> {
    let items = set.borrow().items.clone();
    let (overlays, others): (Vec<NodeRef>, Vec<NodeRef>) = items
        .into_iter()
        .partition(|item| item.borrow().annotation("overlay/match").is_some());
    if overlays.is_empty() {
        return Ok(());
    }
    let is_empty = |item: &NodeRef| is_empty_document(&item.borrow().value);
    set.borrow_mut().items = others.into_iter().filter(|item| !is_empty(item)).collect();
    let left = to_nodes(
        &evaluator.heap,
        &StarValue::Fragment(Some(set.clone())),
        None,
    )?;
    for overlay in overlays {
        let line = overlay.borrow().line;
        let mut right = YamlNode::new(YamlKind::DocumentSet, line);
        right.items.push(overlay);
        let right = StarValue::Fragment(Some(evaluator.heap.node(right)?));
        let right = to_nodes(&evaluator.heap, &right, None)?;
        let at = evaluator.compiled.program_line(line.unwrap_or(1));
        merge(evaluator, &left, &right, &Expectation::default()).map_err(|halt| halt.at(at))?;
        remove_annotations(evaluator, set)?;
    }
    Ok(())
}

fn remove_annotations(evaluator: &Evaluator<'_>, node: &NodeRef) -> Evaluated<()> {
    evaluator.heap.work.nested(|| {
        let (items, value) = {
            let mut node = node.borrow_mut();
            if !node.annotations.is_empty() {
                let kept = node.annotations.iter();
                let kept = kept.filter(|(name, _)| !name.starts_with("overlay/"));
                node.annotations = Rc::new(kept.cloned().collect());
            }
            (node.items.clone(), node.value.clone())
        };
        if let StarValue::Fragment(Some(inner)) = &value {
            remove_annotations(evaluator, inner)?;
        }
        items
            .iter()
            .try_for_each(|item| remove_annotations(evaluator, item))
    })
}

/// Whether the value on the left is to be replaced by the one on the right.
#[derive(Clone, Copy, PartialEq)]
enum Merged {
    InPlace,
    Replace,
}

/// Merges a value into another one.
fn merge(
    evaluator: &mut Evaluator<'_>,
    left: &StarValue,
    right: &StarValue,
    defaults: &Expectation,
) -> Evaluated<Merged> {
    if right.unknown().is_some() {
        return Ok(Merged::Replace);
    }
    let StarValue::Fragment(Some(right)) = right else {
        return Ok(Merged::Replace);
    };
    let kind = right.borrow().kind;
    if let Some(waits_for) = left.unknown() {
        return Err(Halted::Unknown(waits_for.to_vec()));
    }
    let found = match left {
        StarValue::Fragment(Some(left)) if left.borrow().kind == kind => left,
        StarValue::Fragment(Some(left)) => {
            let own = left.borrow().kind.words();
            return fail(format!("Expected {}, but was {own}", kind.words()));
        }
        other => {
            let own = other.type_name();
            return fail(format!("Expected {}, but was {own}", kind.words()));
        }
    };
    let items = right.borrow().items.clone();
    evaluator.heap.work.enter()?;
    for item in &items {
        let item = copy_node(&evaluator.heap, item)?;
        let result = apply_item(evaluator, found, &item, defaults);
        if let Err(halt) = result {
            evaluator.heap.work.leave();
            return Err(halt.within(&place_words(&item)));
        }
    }
    evaluator.heap.work.leave();
    Ok(Merged::InPlace)
}

/// An item in messages.
fn place_words(item: &NodeRef) -> String {
    let item = item.borrow();
    let place = match item.line {
        Some(line) => format!("line {line}"),
        None => "an unknown line".to_owned(),
    };
    match item.kind {
        YamlKind::MapItem => {
            let key = match item.key {
                StarValue::Secret(_) => "(secret)".into(),
                _ => key_text(&item.key).unwrap_or_default(),
            };
            format!("Map item (key '{key}') on {place}")
        }
        YamlKind::Document => format!("Document on {place}"),
        _ => format!("Array item on {place}"),
    }
}

fn operation(item: &NodeRef) -> Evaluated<OverlayOperation> {
    let item = item.borrow();
    let mut found = OPERATIONS
        .iter()
        .filter(|(name, _)| item.annotation(name).is_some());
    match (found.next(), found.next()) {
        (None, _) => Ok(OverlayOperation::Merge),
        (Some((_, operation)), None) => Ok(*operation),
        (Some(_), Some(_)) => fail("Expected to find only one overlay operation"),
    }
}

fn apply_item(
    evaluator: &mut Evaluator<'_>,
    left: &NodeRef,
    item: &NodeRef,
    defaults: &Expectation,
) -> Evaluated<()> {
    let operation = operation(item)?;
    let is_map_item = item.borrow().kind == YamlKind::MapItem;
    if is_map_item
        && matches!(
            operation,
            OverlayOperation::Insert | OverlayOperation::Append
        )
    {
        let name = match operation {
            OverlayOperation::Insert => "insert",
            _ => "append",
        };
        return fail(format!(
            "Found @overlay/{name} on map item; only array items can be annotated with \
             @overlay/{name}"
        ));
    }
    if operation == OverlayOperation::Append {
        left.borrow_mut().items.push(item.clone());
        return Ok(());
    }
    let inside = Expectation::inside(item, defaults)?;
    let Some(places) = places(evaluator, left, item, defaults)? else {
        return Ok(());
    };
    match operation {
        OverlayOperation::Merge | OverlayOperation::Append => {
            merge_item(evaluator, left, item, &places, &inside)
        }
        OverlayOperation::Remove => {
            let mut at = 0;
            evaluator.heap.work.steps(left.borrow().items.len())?;
            left.borrow_mut().items.retain(|_| {
                at += 1;
                places.binary_search(&(at - 1)).is_err()
            });
            Ok(())
        }
        OverlayOperation::Replace => replace_item(evaluator, left, item, &places),
        OverlayOperation::Insert => insert_item(evaluator, left, item, &places),
        OverlayOperation::Assert => {
            for at in places {
                let old = left.borrow().items[at].clone();
                check(evaluator, &old, item)?;
                let (old, new) = (old.borrow().value.clone(), item.borrow().value.clone());
                merge(evaluator, &old, &new, &inside)?;
            }
            Ok(())
        }
    }
}

fn merge_item(
    evaluator: &mut Evaluator<'_>,
    left: &NodeRef,
    item: &NodeRef,
    places: &[usize],
    inside: &Expectation,
) -> Evaluated<()> {
    let (kind, value, line) = {
        let item = item.borrow();
        (item.kind, item.value.clone(), item.line)
    };
    if places.is_empty() && kind != YamlKind::Document {
        left.borrow_mut().items.push(item.clone());
        return Ok(());
    }
    for at in places {
        let old = left.borrow().items[*at].clone();
        let old_value = old.borrow().value.clone();
        let merged = match &old_value {
            StarValue::None => Merged::Replace,
            old_value => merge(evaluator, old_value, &value, inside)?,
        };
        if merged == Merged::Replace {
            let mut old = old.borrow_mut();
            old.value = value.clone();
            old.line = line;
        }
    }
    Ok(())
}

/// A copy of a new item with another value.
fn with_value(evaluator: &Evaluator<'_>, item: &NodeRef, value: StarValue) -> Evaluated<NodeRef> {
    if let StarValue::Fragment(Some(node)) = &value
        && node.borrow().kind == YamlKind::DocumentSet
    {
        let words = item.borrow().kind.words();
        return fail(format!(
            "{words}s can only contain arrays, maps, or scalars; this is a document set"
        ));
    }
    let value = to_nodes(&evaluator.heap, &value, item.borrow().line)?;
    let mut copy = item.borrow().clone();
    copy.value = value;
    evaluator.heap.node(copy)
}

fn replace_item(
    evaluator: &mut Evaluator<'_>,
    left: &NodeRef,
    item: &NodeRef,
    places: &[usize],
) -> Evaluated<()> {
    let via = Via::of(item, "overlay/replace", &["via", "or_add"])?;
    for at in places {
        let old = left.borrow().items[*at].clone();
        let value = via.value(evaluator, Some(&old), item)?;
        let new = with_value(evaluator, item, value)?;
        left.borrow_mut().items[*at] = new;
    }
    if places.is_empty() && via.or_add {
        let value = via.value(evaluator, None, item)?;
        let new = with_value(evaluator, item, value)?;
        left.borrow_mut().items.push(new);
    }
    Ok(())
}

fn insert_item(
    evaluator: &mut Evaluator<'_>,
    left: &NodeRef,
    item: &NodeRef,
    places: &[usize],
) -> Evaluated<()> {
    let has_arguments = item
        .borrow()
        .annotation("overlay/insert")
        .is_some_and(|annotation| !annotation.named.is_empty());
    if !has_arguments {
        return fail(
            "Expected 'overlay/insert' annotation to have at least one keyword argument \
             (before=..., after=...)",
        );
    }
    let via = Via::of(item, "overlay/insert", &["via", "before", "after"])?;
    let old = left.borrow().items.clone();
    evaluator.heap.work.items(old.len())?;
    let mut items = Vec::with_capacity(old.len() + places.len());
    for (at, own) in old.iter().enumerate() {
        if places.binary_search(&at).is_err() {
            items.push(own.clone());
            continue;
        }
        let value = via.value(evaluator, Some(own), item)?;
        let new = with_value(evaluator, item, value)?;
        if via.before {
            items.push(new.clone());
        }
        items.push(own.clone());
        if via.after {
            items.push(new);
        }
    }
    left.borrow_mut().items = items;
    Ok(())
}
