//! Equality and order of values.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::ast::BinaryOperator;
use crate::halt::{Evaluated, Halted, fail};
use crate::heap::Heap;
use crate::value::{StarDict, StarValue};

/// Whether two values are equal.
///
/// # Errors
/// If they are YAML fragments, too deep, or not known.
pub(crate) fn equal(heap: &Heap, one: &StarValue, other: &StarValue) -> Evaluated<bool> {
    heap.work
        .nested(|| equal_inside(heap, one.open(), other.open()))
}

fn equal_inside(heap: &Heap, one: &StarValue, other: &StarValue) -> Evaluated<bool> {
    Ok(match (one, other) {
        (StarValue::Unknown(waits_for), _) | (_, StarValue::Unknown(waits_for)) => {
            return Err(Halted::Unknown(waits_for.to_vec()));
        }
        (StarValue::None, StarValue::None) => true,
        (StarValue::Bool(one), StarValue::Bool(other)) => one == other,
        (StarValue::Text(one), StarValue::Text(other)) => {
            heap.work.steps(one.len().min(other.len()) / 16)?;
            one == other
        }
        (StarValue::List(one), StarValue::List(other)) => {
            if Rc::ptr_eq(one, other) {
                return Ok(true);
            }
            let (ones, others) = (one.items.borrow(), other.items.borrow());
            equal_items(heap, &ones, &others)?
        }
        (StarValue::Tuple(one), StarValue::Tuple(other)) => equal_items(heap, one, other)?,
        (StarValue::Dict(one), StarValue::Dict(other)) => equal_dicts(heap, one, other)?,
        (StarValue::Set(one), StarValue::Set(other)) => {
            let (ones, others) = (one.entries.borrow(), other.entries.borrow());
            heap.work.steps(ones.len())?;
            ones.len() == others.len() && ones.keys().all(|key| others.contains_key(key))
        }
        (StarValue::Range(one), StarValue::Range(other)) => {
            one.len == other.len
                && (one.len == 0
                    || one.start == other.start && (one.len == 1 || one.step == other.step))
        }
        (StarValue::Struct(one), StarValue::Struct(other)) => Rc::ptr_eq(one, other),
        (StarValue::Function(one), StarValue::Function(other)) => Rc::ptr_eq(one, other),
        (StarValue::Native(one), StarValue::Native(other)) => Rc::ptr_eq(one, other),
        (StarValue::Fragment(_), StarValue::Fragment(_)) => {
            return fail("yamlfragment.CompareSameType: Not implemented");
        }
        _ => numbers(one, other) == Some(Ordering::Equal),
    })
}

fn equal_items(heap: &Heap, ones: &[StarValue], others: &[StarValue]) -> Evaluated<bool> {
    if ones.len() != others.len() {
        return Ok(false);
    }
    for (one, other) in ones.iter().zip(others) {
        if !equal(heap, one, other)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn equal_dicts(heap: &Heap, one: &Rc<StarDict>, other: &Rc<StarDict>) -> Evaluated<bool> {
    if Rc::ptr_eq(one, other) {
        return Ok(true);
    }
    let (ones, others) = (one.entries.borrow(), other.entries.borrow());
    if ones.len() != others.len() {
        return Ok(false);
    }
    for (key, (_, value)) in ones.iter() {
        match others.get(key) {
            Some((_, other)) if equal(heap, value, other)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// The order of two numbers.
fn numbers(one: &StarValue, other: &StarValue) -> Option<Ordering> {
    match (one, other) {
        (StarValue::Int(one), StarValue::Int(other)) => Some(one.cmp(other)),
        (StarValue::Float(one), StarValue::Float(other)) => one.partial_cmp(other),
        (StarValue::Int(one), StarValue::Float(other)) => int_and_float(*one, *other),
        (StarValue::Float(one), StarValue::Int(other)) => {
            int_and_float(*other, *one).map(Ordering::reverse)
        }
        _ => None,
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "numbers that a float cannot hold are compared as integers"
)]
fn int_and_float(int: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    if float.fract() == 0.0 && float.abs() < 1e30 {
        return Some(int.cmp(&(float as i128)));
    }
    (int as f64).partial_cmp(&float)
}

/// The result of a comparison with an operator of order.
///
/// # Errors
/// If values of their types have no order.
pub(crate) fn ordered(
    heap: &Heap,
    operator: BinaryOperator,
    one: &StarValue,
    other: &StarValue,
) -> Evaluated<bool> {
    let (one, other) = (one.open(), other.open());
    let is_float = matches!(one, StarValue::Float(_)) || matches!(other, StarValue::Float(_));
    let Some(order) = order(heap, one, other)? else {
        if is_float && is_number(one) && is_number(other) {
            return Ok(false);
        }
        return fail(format!(
            "{} {} {} not implemented",
            one.type_name(),
            operator.sign(),
            other.type_name()
        ));
    };
    Ok(match operator {
        BinaryOperator::Less => order.is_lt(),
        BinaryOperator::LessOrEqual => order.is_le(),
        BinaryOperator::Greater => order.is_gt(),
        _ => order.is_ge(),
    })
}

fn is_number(value: &StarValue) -> bool {
    matches!(value, StarValue::Int(_) | StarValue::Float(_))
}

/// The order of two values; `None` if they have none.
pub(crate) fn order(
    heap: &Heap,
    one: &StarValue,
    other: &StarValue,
) -> Evaluated<Option<Ordering>> {
    heap.work.nested(|| match (one.open(), other.open()) {
        (StarValue::None, StarValue::None) => Ok(Some(Ordering::Equal)),
        (StarValue::Bool(one), StarValue::Bool(other)) => Ok(Some(one.cmp(other))),
        (StarValue::Text(one), StarValue::Text(other)) => {
            heap.work.steps(one.len().min(other.len()) / 16)?;
            Ok(Some(one.cmp(other)))
        }
        (StarValue::List(one), StarValue::List(other)) => {
            let (ones, others) = (one.items.borrow(), other.items.borrow());
            order_of_items(heap, &ones, &others)
        }
        (StarValue::Tuple(one), StarValue::Tuple(other)) => order_of_items(heap, one, other),
        (StarValue::Unknown(waits_for), _) | (_, StarValue::Unknown(waits_for)) => {
            Err(Halted::Unknown(waits_for.to_vec()))
        }
        (one, other) => Ok(numbers(one, other)),
    })
}

fn order_of_items(
    heap: &Heap,
    ones: &[StarValue],
    others: &[StarValue],
) -> Evaluated<Option<Ordering>> {
    for (one, other) in ones.iter().zip(others) {
        if !equal(heap, one, other)? {
            return order(heap, one, other);
        }
    }
    Ok(Some(ones.len().cmp(&others.len())))
}
