//! Compares trees: every part of one must be in the other.

use crate::compare::equal;
use crate::halt::Evaluated;
use crate::heap::Heap;
use crate::value::{NodeRef, StarValue};
use crate::yaml_tree::YamlKind;

/// Why a tree does not have all parts of another; `None` if it does.
///
/// # Errors
/// If the trees are too large.
pub(super) fn difference(
    heap: &Heap,
    actual: &StarValue,
    expected: &StarValue,
) -> Evaluated<Option<String>> {
    heap.work.nested(|| match expected {
        StarValue::Fragment(Some(expected)) => match actual {
            StarValue::Fragment(Some(actual)) => nodes(heap, actual, expected),
            other => {
                let (wanted, kind) = (expected.borrow().kind.words(), other.type_name());
                Ok(Some(format!("Expected {wanted}, but was {kind}")))
            }
        },
        expected => match is_same_leaf(heap, actual, expected)? {
            true => Ok(None),
            false => {
                let (one, other) = (actual.type_name(), expected.type_name());
                Ok(Some(format!("Expected leaf values to match {one} {other}")))
            }
        },
    })
}

fn nodes(heap: &Heap, actual: &NodeRef, expected: &NodeRef) -> Evaluated<Option<String>> {
    let (actual, expected) = (actual.borrow(), expected.borrow());
    if actual.kind != expected.kind {
        let (wanted, kind) = (expected.kind.words(), actual.kind.words());
        return Ok(Some(format!("Expected {wanted}, but was {kind}")));
    }
    if expected.kind == YamlKind::Map {
        for wanted in &expected.items {
            heap.work.steps(actual.items.len())?;
            let wanted = wanted.borrow();
            let mut is_found = false;
            for item in &actual.items {
                let item = item.borrow();
                if is_same_leaf(heap, &item.key, &wanted.key)? {
                    is_found = true;
                    let found = difference(heap, &item.value, &wanted.value)?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
            }
            if !is_found {
                let words = "Expected at least one map item to match by key";
                return Ok(Some(words.into()));
            }
        }
        return Ok(None);
    }
    for (at, wanted) in expected.items.iter().enumerate() {
        let Some(item) = actual.items.get(at) else {
            let words = "Expected to have matching number of array items";
            return Ok(Some(words.into()));
        };
        let found = difference(heap, &item.borrow().value, &wanted.borrow().value)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Whether two scalars are the same: of one type, and equal.
///
/// # Errors
/// If one is not known.
pub(super) fn is_same_leaf(heap: &Heap, one: &StarValue, other: &StarValue) -> Evaluated<bool> {
    match (one.open(), other.open()) {
        (StarValue::Fragment(Some(one)), StarValue::Fragment(Some(other))) => {
            // Two collections are the same if each has all parts of the other.
            Ok(nodes(heap, one, other)?.is_none() && nodes(heap, other, one)?.is_none())
        }
        (StarValue::Float(_), StarValue::Int(_)) | (StarValue::Int(_), StarValue::Float(_)) => {
            Ok(false)
        }
        (one, other) => equal(heap, one, other),
    }
}
