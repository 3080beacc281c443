//! Sorting by what an expression says, which may fail and need be no order at all.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::failure::Step;
use crate::model::{Datum, Lambda, Machine};

/// An item with what it is compared by, as far as that was needed.
struct Entry {
    item: Datum,
    fields: Vec<Datum>,
}

/// Items in the order that `fields` say; equal ones stay as they stand. With one item or none nothing is compared.
pub(crate) fn sort(items: Vec<Datum>, fields: &[(Rc<Lambda>, bool)], machine: &mut Machine<'_>) -> Step<Vec<Datum>> {
    let entries = items.into_iter().map(|item| Entry { item, fields: Vec::new() }).collect();
    Ok(merge_sort(entries, fields, machine)?.into_iter().map(|entry| entry.item).collect())
}

fn merge_sort(mut left: Vec<Entry>, fields: &[(Rc<Lambda>, bool)], machine: &mut Machine<'_>) -> Step<Vec<Entry>> {
    if left.len() < 2 {
        return Ok(left);
    }
    let right = left.split_off(left.len() / 2);
    let left = merge_sort(left, fields, machine)?;
    let right = merge_sort(right, fields, machine)?;
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(first), Some(second)) = (left.peek_mut(), right.peek_mut()) {
        let next = match compare(second, first, fields, machine)? {
            Ordering::Less => right.next(),
            _ => left.next(),
        };
        merged.extend(next);
    }
    merged.extend(left);
    merged.extend(right);
    Ok(merged)
}

fn compare(
    left: &mut Entry,
    right: &mut Entry,
    fields: &[(Rc<Lambda>, bool)],
    machine: &mut Machine<'_>,
) -> Step<Ordering> {
    for (at, (selector, ascending)) in fields.iter().enumerate() {
        let (a, b) = (field(left, at, selector, machine)?, field(right, at, selector, machine)?);
        let found = if machine.operator("#operator_<", &a, &b)?.truth() {
            Ordering::Less
        } else if machine.operator("#operator_>", &a, &b)?.truth() {
            Ordering::Greater
        } else {
            continue;
        };
        return Ok(if *ascending { found } else { found.reverse() });
    }
    Ok(Ordering::Equal)
}

/// What an item is compared by, evaluated once.
fn field(entry: &mut Entry, at: usize, selector: &Lambda, machine: &mut Machine<'_>) -> Step<Datum> {
    if let Some(known) = entry.fields.get(at) {
        return Ok(known.clone());
    }
    let value = machine.apply(selector, std::slice::from_ref(&entry.item))?;
    entry.fields.push(value.clone());
    Ok(value)
}
