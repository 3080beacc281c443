//! The operators between two values.

use crate::ast::BinaryOperator as B;
use crate::compare::{equal, ordered};
use crate::convert::{ValueMarks, marks, open_leaves};
use crate::halt::{Evaluated, fail};
use crate::heap::Heap;
use crate::keys::{key_of, set_entries};
use crate::string_format::interpolate;
use crate::value::{Secrecy, StarValue};
use crate::yaml_tree::YamlKind;

/// The result of an operator.
///
/// # Errors
/// If the operator has no meaning for the types, or the result is too large.
pub(crate) fn binary(
    heap: &Heap,
    operator: B,
    left: &StarValue,
    right: &StarValue,
) -> Evaluated<StarValue> {
    heap.work.steps(1)?;
    if !heap.has_marks.get() {
        return known(heap, operator, left, right);
    }
    let mut found = ValueMarks::default();
    let passes_items = matches!(operator, B::Plus | B::Star | B::Pipe);
    for value in [left, right] {
        let is_container = matches!(value, StarValue::List(_) | StarValue::Tuple(_));
        if !(passes_items && is_container) {
            marks(heap, value, &mut found)?;
        }
    }
    if let Some(waits_for) = found.waits_for {
        return Ok(StarValue::Unknown(waits_for.into()));
    }
    if !found.has_secret {
        return known(heap, operator, left, right);
    }
    let (left, right) = (open_leaves(heap, left)?, open_leaves(heap, right)?);
    match known(heap, operator, &left, &right) {
        Ok(value) => Ok(value.marked(Secrecy::Secret)),
        Err(crate::halt::Halted::Failed(_)) => fail(format!(
            "the operator {} fails for {} and {}, of which one is secret",
            operator.sign(),
            left.type_name(),
            right.type_name()
        )),
        Err(halt) => Err(halt),
    }
}

fn known(heap: &Heap, operator: B, left: &StarValue, right: &StarValue) -> Evaluated<StarValue> {
    let result = match operator {
        B::Equal => Some(StarValue::Bool(equal(heap, left, right)?)),
        B::NotEqual => Some(StarValue::Bool(!equal(heap, left, right)?)),
        B::Less | B::LessOrEqual | B::Greater | B::GreaterOrEqual => {
            Some(StarValue::Bool(ordered(heap, operator, left, right)?))
        }
        B::In => contains(heap, left, right)?.map(StarValue::Bool),
        B::NotIn => contains(heap, left, right)?.map(|found| StarValue::Bool(!found)),
        B::Plus => plus(heap, left, right)?,
        B::Star => star(heap, left, right)?,
        B::Minus | B::Slash | B::DoubleSlash => arithmetic(operator, left, right)?,
        B::Percent => match left {
            StarValue::Text(format) => Some(interpolate(heap, format, right)?),
            _ => arithmetic(operator, left, right)?,
        },
        B::Pipe | B::Ampersand | B::Caret => bits_or_sets(heap, operator, left, right)?,
        B::ShiftLeft | B::ShiftRight => shift(operator, left, right)?,
    };
    let Some(result) = result else {
        let hint = match operator {
            B::Pipe => " (hint: use 'or' instead of '|' for logical-or)",
            B::Ampersand => " (hint: use 'and' instead of '&' for logical-and)",
            _ => "",
        };
        return fail(format!(
            "unknown binary op: {} {} {}{hint}",
            left.type_name(),
            operator.sign(),
            right.type_name()
        ));
    };
    Ok(result)
}

/// A number for an operation of floats.
#[expect(
    clippy::cast_precision_loss,
    reason = "an operation with a float rounds"
)]
fn as_float(value: &StarValue) -> Option<f64> {
    match value {
        StarValue::Int(number) => Some(*number as f64),
        StarValue::Float(number) => Some(*number),
        _ => None,
    }
}

fn int(number: Option<i128>) -> Evaluated<Option<StarValue>> {
    match number {
        Some(number) => Ok(Some(StarValue::Int(number))),
        None => fail("an integer of more than 127 bits"),
    }
}

fn plus(heap: &Heap, left: &StarValue, right: &StarValue) -> Evaluated<Option<StarValue>> {
    Ok(Some(match (left, right) {
        (StarValue::Int(left), StarValue::Int(right)) => return int(left.checked_add(*right)),
        (StarValue::Text(left), StarValue::Text(right)) => {
            heap.work.bytes(left.len() + right.len())?;
            StarValue::Text(format!("{left}{right}").into())
        }
        (StarValue::List(left), StarValue::List(right)) => {
            let (left, right) = (left.items.borrow(), right.items.borrow());
            heap.work.steps(left.len() + right.len())?;
            let items = left.iter().chain(right.iter()).cloned().collect();
            return heap.list(items).map(Some);
        }
        (StarValue::Tuple(left), StarValue::Tuple(right)) => {
            heap.work.steps(left.len() + right.len())?;
            let items = left.iter().chain(right.iter()).cloned().collect();
            return heap.tuple(items).map(Some);
        }
        (left, right) => match (as_float(left), as_float(right)) {
            (Some(left), Some(right)) => StarValue::Float(left + right),
            _ => return Ok(None),
        },
    }))
}

fn star(heap: &Heap, left: &StarValue, right: &StarValue) -> Evaluated<Option<StarValue>> {
    let (times, of) = match (left, right) {
        (StarValue::Int(left), StarValue::Int(right)) => return int(left.checked_mul(*right)),
        (StarValue::Int(times), of) | (of, StarValue::Int(times)) if as_float(of).is_none() => {
            (usize::try_from((*times).max(0)).unwrap_or(usize::MAX), of)
        }
        (left, right) => {
            return Ok(match (as_float(left), as_float(right)) {
                (Some(left), Some(right)) => Some(StarValue::Float(left * right)),
                _ => None,
            });
        }
    };
    let repeated = |items: &[StarValue]| -> Evaluated<Vec<StarValue>> {
        let count = items.len().saturating_mul(times);
        heap.work.items(count)?;
        Ok(items.iter().cycle().take(count).cloned().collect())
    };
    match of {
        StarValue::Text(text) => {
            heap.work.bytes(text.len().saturating_mul(times))?;
            Ok(Some(StarValue::Text(text.repeat(times).into())))
        }
        StarValue::List(list) => {
            let items = repeated(&list.items.borrow())?;
            heap.list(items).map(Some)
        }
        StarValue::Tuple(items) => heap.tuple(repeated(items)?).map(Some),
        _ => Ok(None),
    }
}

fn arithmetic(operator: B, left: &StarValue, right: &StarValue) -> Evaluated<Option<StarValue>> {
    if let (StarValue::Int(left), StarValue::Int(right), false) =
        (left, right, operator == B::Slash)
    {
        return match operator {
            B::Minus => int(left.checked_sub(*right)),
            B::DoubleSlash if *right == 0 => fail("floored division by zero"),
            B::DoubleSlash => int(left.checked_div(*right).map(|quotient| {
                let has_rest = left % right != 0 && (left < &0) != (right < &0);
                if has_rest { quotient - 1 } else { quotient }
            })),
            _ if *right == 0 => fail("integer modulo by zero"),
            _ => int(left.checked_rem(*right).map(|rest| {
                if rest != 0 && (rest < 0) != (*right < 0) {
                    rest + right
                } else {
                    rest
                }
            })),
        };
    }
    let (Some(left), Some(right)) = (as_float(left), as_float(right)) else {
        return Ok(None);
    };
    let result = match operator {
        B::Minus => left - right,
        B::Slash if right == 0.0 => return fail("real division by zero"),
        B::Slash => left / right,
        B::DoubleSlash if right == 0.0 => return fail("floored division by zero"),
        B::DoubleSlash => (left / right).floor(),
        _ if right == 0.0 => return fail("float modulo by zero"),
        _ => left % right,
    };
    Ok(Some(StarValue::Float(result)))
}

fn bits_or_sets(
    heap: &Heap,
    operator: B,
    left: &StarValue,
    right: &StarValue,
) -> Evaluated<Option<StarValue>> {
    match (left, right) {
        (StarValue::Int(left), StarValue::Int(right)) => Ok(Some(StarValue::Int(match operator {
            B::Pipe => left | right,
            B::Ampersand => left & right,
            _ => left ^ right,
        }))),
        (StarValue::Set(left), StarValue::Set(right)) => {
            let (ones, others) = (left.entries.borrow(), right.entries.borrow());
            heap.work.items(ones.len() + others.len())?;
            let of_left = ones.iter().filter(|(key, _)| match operator {
                B::Pipe => true,
                B::Ampersand => others.contains_key(*key),
                _ => !others.contains_key(*key),
            });
            let of_right = others
                .iter()
                .filter(|(key, _)| operator != B::Ampersand && !ones.contains_key(*key));
            let items = of_left
                .chain(of_right)
                .map(|(_, own)| own.0.clone())
                .collect();
            heap.set(set_entries(heap, items)?).map(Some)
        }
        _ => Ok(None),
    }
}

fn shift(operator: B, left: &StarValue, right: &StarValue) -> Evaluated<Option<StarValue>> {
    let (StarValue::Int(left), StarValue::Int(count)) = (left, right) else {
        return Ok(None);
    };
    if *count < 0 {
        return fail(format!("negative shift count: {count}"));
    }
    if operator == B::ShiftRight {
        let count = u32::try_from(*count).unwrap_or(127).min(127);
        return Ok(Some(StarValue::Int(left >> count)));
    }
    if *count >= 512 {
        return fail(format!("shift count too large: {count}"));
    }
    let factor = u32::try_from(*count)
        .ok()
        .and_then(|count| 2_i128.checked_pow(count));
    int(match (left, factor) {
        (0, _) => Some(0),
        (left, Some(factor)) => left.checked_mul(factor),
        _ => None,
    })
}

/// Whether a value is in another; `None` if the other holds nothing.
fn contains(heap: &Heap, needle: &StarValue, hay: &StarValue) -> Evaluated<Option<bool>> {
    let among = |items: &[StarValue]| -> Evaluated<Option<bool>> {
        for item in items {
            if equal(heap, item, needle)? {
                return Ok(Some(true));
            }
        }
        Ok(Some(false))
    };
    match hay {
        StarValue::List(list) => among(&list.items.borrow()),
        StarValue::Tuple(items) => among(items),
        StarValue::Dict(dict) => Ok(Some(match key_of(heap, needle) {
            Ok(key) => dict.entries.borrow().contains_key(&key),
            Err(crate::halt::Halted::Failed(_)) => false,
            Err(halt) => return Err(halt),
        })),
        StarValue::Set(set) => {
            let key = key_of(heap, needle)?;
            Ok(Some(set.entries.borrow().contains_key(&key)))
        }
        StarValue::Struct(data) if data.kind == crate::value::StructKind::Plain => {
            let name = needle.as_text();
            Ok(Some(
                name.is_some_and(|name| data.fields.contains_key(name)),
            ))
        }
        StarValue::Fragment(None) => Ok(Some(false)),
        StarValue::Fragment(Some(node)) => {
            let node = node.borrow();
            heap.work.steps(node.items.len())?;
            if node.kind == YamlKind::Map {
                for item in &node.items {
                    if equal(heap, &item.borrow().key, needle)? {
                        return Ok(Some(true));
                    }
                }
                return Ok(Some(false));
            }
            let count = node.items.len() as i128;
            Ok(Some(
                matches!(needle, StarValue::Int(at) if (0..count).contains(at)),
            ))
        }
        StarValue::Text(text) => match needle {
            StarValue::Text(part) => {
                heap.work.steps(text.len() / 16)?;
                Ok(Some(text.contains(&**part)))
            }
            other => fail(format!(
                "'in <string>' requires string as left operand, not {}",
                other.type_name()
            )),
        },
        StarValue::Range(range) => match needle {
            StarValue::Int(number) => {
                let offset = number - i128::from(range.start);
                let at = offset / i128::from(range.step);
                let is_item = offset % i128::from(range.step) == 0;
                Ok(Some(is_item && (0..i128::from(range.len)).contains(&at)))
            }
            other => fail(format!(
                "'in <range>' requires integer as left operand, not {}",
                other.type_name()
            )),
        },
        _ => Ok(None),
    }
}
