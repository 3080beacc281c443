//! The module `overlay`: changes a tree by another one whose annotations say what to do.

mod apply;
mod matching;
mod subset;
mod vias;

pub(crate) use apply::apply_documents;

use crate::convert::{plain, to_nodes};
use crate::evaluator::Evaluator;
use crate::halt::{Evaluated, fail};
use crate::native_call::{NativeCall, as_bool};
use crate::value::StarValue;
use crate::yaml_tree::YamlKind;

/// Calls a function of the module, or a matcher that one of them made.
///
/// # Errors
/// If the arguments do not fit, or an overlay does not apply.
pub(crate) fn call(
    evaluator: &mut Evaluator<'_>,
    function: &str,
    call: &NativeCall,
) -> Evaluated<StarValue> {
    match function {
        "apply" => apply::apply(evaluator, &call.items),
        "index" => {
            call.exactly(1)?;
            evaluator
                .heap
                .native("overlay.index_matcher", vec![integer(call.item(0))?])
        }
        "all" => {
            call.exactly(3)?;
            Ok(StarValue::Bool(true))
        }
        "map_key" => {
            call.exactly(1)?;
            call.text(0)?;
            evaluator
                .heap
                .native("overlay.map_key_matcher", call.items.clone())
        }
        "subset" => {
            call.exactly(1)?;
            evaluator
                .heap
                .native("overlay.subset_matcher", call.items.clone())
        }
        "and_op" | "or_op" if call.items.is_empty() => fail("expected at least one argument"),
        "and_op" => evaluator
            .heap
            .native("overlay.and_matcher", call.items.clone()),
        "or_op" => evaluator
            .heap
            .native("overlay.or_matcher", call.items.clone()),
        "not_op" => {
            call.exactly(1)?;
            evaluator
                .heap
                .native("overlay.not_matcher", call.items.clone())
        }
        matcher => {
            call.exactly(3)?;
            matches(evaluator, matcher, call).map(StarValue::Bool)
        }
    }
}

fn integer(value: &StarValue) -> Evaluated<StarValue> {
    match value {
        StarValue::Int(_) => Ok(value.clone()),
        _ => fail("expected starlark.Int"),
    }
}

/// Whether an item matches: the arguments are its index or key, it, and the new item.
fn matches(evaluator: &mut Evaluator<'_>, matcher: &str, call: &NativeCall) -> Evaluated<bool> {
    match matcher {
        "index_matcher" => {
            let (StarValue::Int(wanted), StarValue::Int(at)) = (call.receiver(), call.item(0))
            else {
                return fail("expected starlark.Int");
            };
            Ok(wanted == at)
        }
        "map_key_matcher" => {
            let heap = &evaluator.heap;
            let (old, new) = (plain(heap, call.item(1))?, plain(heap, call.item(2))?);
            let old = map_value(&old, call.receiver())?;
            let new = map_value(&new, call.receiver())?;
            subset::is_same_leaf(heap, &old, &new)
        }
        "subset_matcher" => {
            let heap = &evaluator.heap;
            let actual = to_nodes(heap, &plain(heap, call.item(1))?, None)?;
            let expected = to_nodes(heap, &plain(heap, call.receiver())?, None)?;
            Ok(subset::difference(heap, &actual, &expected)?.is_none())
        }
        _ => {
            let wanted = matcher == "or_matcher";
            for matcher in &call.bound {
                let result = evaluator.call_with(matcher, call.items.clone())?;
                if as_bool(&result)? == wanted && call.name != "overlay.not_matcher" {
                    return Ok(wanted);
                }
                if call.name == "overlay.not_matcher" {
                    return Ok(!as_bool(&result)?);
                }
            }
            Ok(!wanted)
        }
    }
}

/// The value of a key of a map node.
fn map_value(of: &StarValue, key: &StarValue) -> Evaluated<StarValue> {
    let wanted = key.as_text().cloned().unwrap_or_default();
    let StarValue::Fragment(Some(node)) = of else {
        return fail(format!(
            "Expected value to be map, but was {}",
            of.type_name()
        ));
    };
    let node = node.borrow();
    if node.kind != YamlKind::Map {
        return fail(format!(
            "Expected value to be map, but was {}",
            node.kind.words()
        ));
    }
    for item in &node.items {
        let item = item.borrow();
        if item.key.as_text() == Some(&wanted) {
            return Ok(item.value.clone());
        }
    }
    fail(format!(
        "Expected to find map item with key '{wanted}', but did not"
    ))
}
