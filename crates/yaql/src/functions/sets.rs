//! Functions of sets.

use super::given::CallArguments;
use super::lists;
use super::row::{Row, both, method, operator, plain};
use crate::failure::{Evaluated, Halt};
use crate::key::set_of;
use crate::model::{Datum, DatumKey, Keys, Machine};

pub(super) const ROWS: &[Row] = &[
    plain("set", "*args: any?", set).documented(
        "A set of values; lazy sequences are spread into it.",
        "set(1, 2, 1).len()",
        "2",
    ),
    method("toSet", "collection: iterable", to_set).documented(
        "The items of a collection as a set.",
        "[1, 1.0].toSet().len()",
        "1",
    ),
    plain("isSet", "arg: any?", is_set).documented(
        "Whether a value is a set or can be used as one.",
        "isSet(set())",
        "true",
    ),
    both("len", "set: set", len).documented(
        "The number of items of a set.",
        "{a => 1}.keys().len()",
        "1",
    ),
    method("union", "left: set, right: set", union).documented(
        "The union of two sets.",
        "set(1).union(set(2)).orderBy($)",
        "[1, 2]",
    ),
    method("intersect", "left: set, right: set", intersect).documented(
        "The intersection of two sets.",
        "set(1, 2).intersect(set(2)).toList()",
        "[2]",
    ),
    method("difference", "left: set, right: set", difference).documented(
        "The difference of two sets.",
        "set(1, 2).difference(set(2)).toList()",
        "[1]",
    ),
    operator("#operator_-", "left: set, right: set", difference).documented(
        "The difference of two sets.",
        "(set(1, 2) - set(2)).toList()",
        "[1]",
    ),
    method(
        "symmetricDifference",
        "left: set, right: set",
        symmetric_difference,
    )
    .documented(
        "The symmetric difference of two sets.",
        "set(1, 2).symmetricDifference(set(2, 3)).orderBy($)",
        "[1, 3]",
    ),
    method("add", "set: set, *values: any?", add).documented(
        "The set with further items.",
        "set(1).add(2, 3).len()",
        "3",
    ),
    method("remove", "set: set, *values: any?", remove).documented(
        "The set without some items.",
        "set(1, 2).remove(2).toList()",
        "[1]",
    ),
];

fn keys_of(values: Vec<Datum>) -> Evaluated<Keys> {
    values.into_iter().map(DatumKey::of).collect()
}

fn set(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    let items = lists::spread(machine, given.rest)?;
    keys_of(items).map(Datum::set)
}

fn to_set(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    match given.take(0) {
        set @ Datum::Set(_) => Ok(set),
        other => keys_of(machine.collect(other)?).map(Datum::set),
    }
}

fn is_set(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(given.take(0).is_set()))
}

fn len(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(match given.take(0) {
        Datum::Set(set) => Datum::count(set.items.len()),
        Datum::View(_, map) => Datum::count(map.entries.len()),
        _ => Datum::Null,
    })
}

/// Returns the items of the receiver. Fails for views of a map, which do not have these methods.
fn first(machine: &mut Machine<'_>, set: &Datum, name: &str) -> Evaluated<Keys> {
    match set {
        Datum::Set(set) => {
            machine.step(set.items.len() as u64)?;
            Ok(set.items.clone())
        }
        other => Err(Halt::failed(format!(
            "'{}' object has no attribute '{name}'",
            other.type_name()
        ))),
    }
}

fn union(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let mut items = first(machine, &given.take(0), "union")?;
    items.extend(set_of(&given.take(1))?);
    Ok(Datum::set(items))
}

fn intersect(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let mut items = first(machine, &given.take(0), "intersection")?;
    let other = set_of(&given.take(1))?;
    items.retain(|key| other.contains(key));
    Ok(Datum::set(items))
}

fn difference(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let mut items = first(machine, &given.take(0), "difference")?;
    let other = set_of(&given.take(1))?;
    items.retain(|key| !other.contains(key));
    Ok(Datum::set(items))
}

fn symmetric_difference(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let items = first(machine, &given.take(0), "symmetric_difference")?;
    let other = set_of(&given.take(1))?;
    Ok(Datum::set(
        items.symmetric_difference(&other).cloned().collect(),
    ))
}

fn add(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let mut items = first(machine, &given.take(0), "union")?;
    items.extend(keys_of(given.rest)?);
    Ok(Datum::set(items))
}

fn remove(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let mut items = first(machine, &given.take(0), "difference")?;
    let gone = keys_of(given.rest)?;
    items.retain(|key| !gone.contains(key));
    Ok(Datum::set(items))
}
