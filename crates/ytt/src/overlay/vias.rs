//! The annotations `replace`, `insert` and `assert`, which can have a function.

use crate::convert::{copy_value, plain, to_nodes};
use crate::evaluator::Evaluator;
use crate::halt::{Evaluated, fail};
use crate::native_call::as_bool;
use crate::overlay::subset::difference;
use crate::value::{NodeRef, StarValue};

/// The arguments of `overlay/replace` or `overlay/insert`.
#[derive(Default)]
pub(super) struct Via {
    function: Option<StarValue>,
    pub(super) or_add: bool,
    pub(super) before: bool,
    pub(super) after: bool,
}

impl Via {
    /// The arguments of an annotation of a node, which may have these names.
    ///
    /// # Errors
    /// If an argument is unknown, or of another type.
    pub(super) fn of(node: &NodeRef, annotation: &str, names: &[&str]) -> Evaluated<Via> {
        let mut via = Via::default();
        let node = node.borrow();
        let named = node.annotation(annotation).map(|own| own.named.as_slice());
        for (name, value) in named.unwrap_or_default() {
            match &**name {
                known if !names.contains(&known) => {
                    return fail(format!(
                        "Unknown '{annotation}' annotation keyword argument '{name}'"
                    ));
                }
                "via" if value.is_callable() => via.function = Some(value.clone()),
                "via" => {
                    let kind = value.type_name();
                    return fail(format!(
                        "Expected '{annotation}' annotation keyword argument 'via' to be \
                         function, but was {kind}"
                    ));
                }
                "or_add" => via.or_add = as_bool(value)?,
                "before" => via.before = as_bool(value)?,
                _ => via.after = as_bool(value)?,
            }
        }
        Ok(via)
    }

    /// The new value: that of the new node, or the result of the function.
    ///
    /// # Errors
    /// If the function fails.
    pub(super) fn value(
        &self,
        evaluator: &mut Evaluator<'_>,
        old: Option<&NodeRef>,
        new: &NodeRef,
    ) -> Evaluated<StarValue> {
        let new = new.borrow().value.clone();
        let new = copy_value(&evaluator.heap, &new)?;
        let Some(function) = &self.function else {
            return Ok(new);
        };
        let old = match old {
            Some(old) => old.borrow().value.clone(),
            None => StarValue::None,
        };
        let old = copy_value(&evaluator.heap, &old)?;
        let result = evaluator.call_with(function, vec![old, new])?;
        plain(&evaluator.heap, &result)
    }
}

/// Checks `overlay/assert` of a new node for an old one.
///
/// # Errors
/// If the assertion does not hold.
pub(super) fn check(evaluator: &mut Evaluator<'_>, old: &NodeRef, new: &NodeRef) -> Evaluated<()> {
    let annotation = new.borrow().annotation("overlay/assert").cloned();
    let mut function = None;
    for (name, value) in annotation.map(|own| own.named).unwrap_or_default() {
        if &*name != "via" {
            return fail(format!(
                "Unknown 'overlay/assert' annotation keyword argument '{name}'"
            ));
        }
        function = Some(value);
    }
    let (old, new) = (old.borrow().value.clone(), new.borrow().value.clone());
    let heap = &evaluator.heap;
    let (old, new) = (copy_value(heap, &old)?, copy_value(heap, &new)?);
    let Some(function) = function else {
        let (old, new) = (to_nodes(heap, &old, None)?, to_nodes(heap, &new, None)?);
        return match difference(heap, &old, &new)? {
            None => Ok(()),
            Some(words) => fail(format!("Expected objects to equal, but did not: {words}")),
        };
    };
    if !function.is_callable() {
        let kind = function.type_name();
        return fail(format!(
            "Expected 'overlay/assert' annotation keyword argument 'via' to be function, but was \
             {kind}"
        ));
    }
    let result = evaluator.call_with(&function, vec![old, new])?;
    let parts = match &result {
        StarValue::None | StarValue::Bool(true) => return Ok(()),
        StarValue::Bool(false) => {
            return fail("Expected via invocation to return true, but was false");
        }
        StarValue::Tuple(parts) => parts.to_vec(),
        StarValue::List(list) => list.items.borrow().clone(),
        _ => Vec::new(),
    };
    match parts.as_slice() {
        [StarValue::Bool(true), StarValue::Text(_)] => Ok(()),
        [StarValue::Bool(false), StarValue::Text(words)] => fail(format!(
            "Expected via invocation to return true, but was false with message: {words}"
        )),
        _ => fail(
            "Expected via invocation to return NoneType, Bool or Tuple(Bool,String), but returned \
             neither of those",
        ),
    }
}
