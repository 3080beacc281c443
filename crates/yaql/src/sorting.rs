//! A merge sort with a comparison that may fail and need not be a consistent order.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::failure::Evaluated;
use crate::model::{Datum, Lambda, Machine};

/// An item with the sort keys that have been evaluated so far.
struct SortEntry {
    item: Datum,
    fields: Vec<Datum>,
}

/// Sorts items by `fields`; the sort is stable. Compares nothing if there are fewer than two items.
pub(crate) fn sort(
    items: Vec<Datum>,
    fields: &[(Rc<Lambda>, bool)],
    machine: &mut Machine<'_>,
) -> Evaluated<Vec<Datum>> {
    let entries = items
        .into_iter()
        .map(|item| SortEntry {
            item,
            fields: Vec::new(),
        })
        .collect();
    Ok(merge_sort(entries, fields, machine)?
        .into_iter()
        .map(|entry| entry.item)
        .collect())
}

fn merge_sort(
    mut left: Vec<SortEntry>,
    fields: &[(Rc<Lambda>, bool)],
    machine: &mut Machine<'_>,
) -> Evaluated<Vec<SortEntry>> {
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
    left: &mut SortEntry,
    right: &mut SortEntry,
    fields: &[(Rc<Lambda>, bool)],
    machine: &mut Machine<'_>,
) -> Evaluated<Ordering> {
    for (at, (selector, ascending)) in fields.iter().enumerate() {
        let (a, b) = (
            field(left, at, selector, machine)?,
            field(right, at, selector, machine)?,
        );
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

/// Returns a sort key of an item, which is evaluated once.
fn field(
    entry: &mut SortEntry,
    at: usize,
    selector: &Lambda,
    machine: &mut Machine<'_>,
) -> Evaluated<Datum> {
    if let Some(known) = entry.fields.get(at) {
        return Ok(known.clone());
    }
    let value = machine.apply(selector, std::slice::from_ref(&entry.item))?;
    entry.fields.push(value.clone());
    Ok(value)
}
