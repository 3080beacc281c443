//! Functions of maps.

use std::rc::Rc;

use super::given::CallArguments;
use super::row::{Row, both, method, operator, plain};
use crate::failure::{Evaluated, Halt};
use crate::key::equal;
use crate::model::{Cursor, Datum, DatumEntries, DatumKey, DatumMap, Keys, Lambda, Machine, View};
use crate::text;

pub(super) const ROWS: &[Row] = &[
    operator("#map", "*args: rule", dict).taking_rules().documented(
        "A map; of equal keys the last one counts.",
        "{a => 1}",
        r#"{"a": 1}"#,
    ),
    plain("dict", "*args: rule", dict).taking_rules().documented(
        "A map; of equal keys the last one counts.",
        "dict(a => 1, b => 2)",
        r#"{"a": 1, "b": 2}"#,
    ),
    plain("dict", "items: iterable", dict_of_pairs).taking_rules().documented(
        "A map of pairs.",
        "dict([[a, 1], [b, 2]])",
        r#"{"a": 1, "b": 2}"#,
    ),
    method("toDict", "collection: iterable, keySelector: lambda, valueSelector: lambda = null", to_dict).documented(
        "A map with a key and a value for each item; by default the value is the item.",
        "[1, 2].toDict(str($), $ * 10)",
        r#"{"1": 10, "2": 20}"#,
    ),
    operator("#indexer", "dict: map, key: any?", index).documented("The entry of a key.", "{a => 1}[a]", "1"),
    operator("#indexer", "dict: map, key: any?, default: any?", get).documented(
        "The entry of a key, or a default.",
        "{a => 1}[b, 0]",
        "0",
    ),
    method("get", "dict: map, key: any?, default: any? = null", get).documented(
        "The entry of a key, or a default.",
        "{a => 1}.get(b, 0)",
        "0",
    ),
    method("set", "dict: map, key: any?, value: any?", set).taking_rules().documented(
        "The map with one entry set.",
        "{a => 1}.set(b, 2)",
        r#"{"a": 1, "b": 2}"#,
    ),
    method("set", "dict: map, replacements: map", set_all).taking_rules().documented(
        "The map with the entries of another set.",
        "{a => 1}.set({a => 2})",
        r#"{"a": 2}"#,
    ),
    method("set", "dict: map, *args: rule", set_rules).taking_rules().documented(
        "The map with entries set.",
        "{a => 1}.set(a => 2, b => 3)",
        r#"{"a": 2, "b": 3}"#,
    ),
    method("keys", "dict: map", keys).documented("The keys, which can be used as a set.", "{a => 1}.keys().toList()", r#"["a"]"#),
    method("values", "dict: map", values).documented("The values.", "{a => 1}.values().toList()", "[1]"),
    method("items", "dict: map", items).documented("The entries as pairs.", "{a => 1}.items().toList()", r#"[["a", 1]]"#),
    method("containsKey", "dict: map, key: any?", contains_key).documented(
        "Whether the map has a key.",
        "{a => 1}.containsKey(a)",
        "true",
    ),
    method("containsValue", "dict: map, value: any?", contains_value).documented(
        "Whether the map has a value.",
        "{a => 1}.containsValue(2)",
        "false",
    ),
    operator("#operator_+", "left: map, right: map", add).documented(
        "The entries of both; those of the right side override the left.",
        "{a => 1} + {a => 2, b => 3}",
        r#"{"a": 2, "b": 3}"#,
    ),
    plain("isDict", "arg: any?", is_dict).documented("Whether a value is a map.", "isDict({})", "true"),
    both("len", "dict: map", len).documented("The number of entries of a map.", "{a => 1}.len()", "1"),
    method("delete", "dict: map, *keys: any?", delete).documented(
        "The map without some keys.",
        "{a => 1, b => 2}.delete(a)",
        r#"{"b": 2}"#,
    ),
    method("deleteAll", "dict: map, keys: iterable", delete_all).documented(
        "The map without the keys of a list.",
        "{a => 1, b => 2}.deleteAll([a, c])",
        r#"{"b": 2}"#,
    ),
    method(
        "mergeWith",
        "dict: map, another: map, listMerger: lambda = null, itemMerger: lambda = null, maxLevels: int = 0",
        merge_with,
    )
    .documented(
        "Two maps merged: inner maps are merged, lists are joined without duplicates, other values come from the right side.",
        "{a => [1], b => {c => 1}}.mergeWith({a => [2], b => {d => 2}})",
        r#"{"a": [1, 2], "b": {"c": 1, "d": 2}}"#,
    ),
];

fn dict(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    machine.weigh(28 * given.rest.len())?;
    machine.entries(rules(given.rest)).map(Datum::map)
}

fn rules(values: Vec<Datum>) -> impl Iterator<Item = (Datum, Datum)> {
    values.into_iter().filter_map(|value| match value {
        Datum::Rule(rule) => Some((rule.0.clone(), rule.1.clone())),
        _ => None,
    })
}

fn dict_of_pairs(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let mut pairs = given.items(0);
    let mut entries = DatumEntries::default();
    while let Some(pair) = pairs.next(machine)? {
        let mut pair = Cursor::of(pair);
        let key = pair.next(machine)?.ok_or_else(|| Halt::failed(""))?;
        let value = pair.next(machine)?.ok_or_else(|| Halt::failed(""))?;
        entries.insert(DatumKey::of(key)?, value);
        machine.weigh(56 + 8 * entries.len())?;
    }
    Ok(Datum::map(entries))
}

fn to_dict(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (mut items, key_of, value_of) = (given.items(0), given.lambda(1), given.lambda(2));
    let key_of = key_of.ok_or_else(|| Halt::failed("'NoneType' object is not callable"))?;
    let mut entries = DatumEntries::default();
    while let Some(item) = items.next(machine)? {
        let item = [item];
        let key = machine.apply(&key_of, &item)?;
        let value = match &value_of {
            Some(value_of) => machine.apply(value_of, &item)?,
            None => {
                let [item] = item;
                item
            }
        };
        entries.insert(DatumKey::of(key)?, value);
        machine.weigh(56 + 8 * entries.len())?;
    }
    Ok(Datum::open_map(entries))
}

fn index(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (map, key) = (given.map(0), DatumKey::of(given.take(1))?);
    map.entries
        .get(&key)
        .cloned()
        .ok_or_else(|| Halt::failed(text::repr(&key.value)))
}

fn get(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (map, key, default) = (given.map(0), DatumKey::of(given.take(1))?, given.take(2));
    Ok(map.entries.get(&key).cloned().unwrap_or(default))
}

fn changed(
    machine: &mut Machine<'_>,
    map: &DatumMap,
    changes: impl Iterator<Item = (Datum, Datum)>,
) -> Evaluated<Datum> {
    let mut entries = map.entries.clone();
    machine.step(entries.len() as u64)?;
    for (key, value) in changes {
        entries.insert(DatumKey::of(key)?, value);
    }
    Ok(Datum::map(entries))
}

fn set(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let map = given.map(0);
    let (key, value) = (given.take(1), given.take(2));
    machine.weigh(56 + key.size() + value.size())?;
    changed(machine, &map, [(key, value)].into_iter())
}

fn set_all(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (map, changes) = (given.map(0), given.map(1));
    changed(
        machine,
        &map,
        changes
            .entries
            .iter()
            .map(|(key, value)| (key.value.clone(), value.clone())),
    )
}

fn set_rules(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let map = given.map(0);
    machine.weigh(56 + 28 * given.rest.len())?;
    changed(machine, &map, rules(given.rest))
}

fn keys(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::View(View::Keys, given.map(0)))
}

fn values(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::View(View::Values, given.map(0)))
}

fn items(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::View(View::Entries, given.map(0)))
}

fn contains_key(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (map, key) = (given.map(0), DatumKey::of(given.take(1))?);
    Ok(Datum::Bool(map.entries.contains_key(&key)))
}

fn contains_value(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (map, value) = (given.map(0), given.take(1));
    machine.step(map.entries.len() as u64)?;
    Ok(Datum::Bool(
        map.entries.values().any(|held| equal(held, &value)),
    ))
}

fn add(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (left, right) = (given.map(0), given.map(1));
    changed(
        machine,
        &left,
        right
            .entries
            .iter()
            .map(|(key, value)| (key.value.clone(), value.clone())),
    )
}

fn is_dict(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(matches!(given.take(0), Datum::Map(_))))
}

fn len(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::count(given.map(0).entries.len()))
}

fn without(machine: &mut Machine<'_>, map: &DatumMap, mut keys: Cursor) -> Evaluated<Datum> {
    machine.step(map.entries.len() as u64)?;
    let mut gone = Keys::default();
    while let Some(key) = keys.next(machine)? {
        gone.insert(DatumKey::of(key)?);
    }
    let entries = map.entries.iter().filter(|(key, _)| !gone.contains(*key));
    Ok(Datum::open_map(
        entries
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    ))
}

fn delete(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let map = given.map(0);
    without(machine, &map, Cursor::of(Datum::tuple(given.rest)))
}

fn delete_all(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let map = given.map(0);
    let keys = given.items(1);
    without(machine, &map, keys)
}

/// The lambdas that merge two lists, and two values of other kinds.
struct Mergers {
    lists: Option<Rc<Lambda>>,
    others: Option<Rc<Lambda>>,
}

fn merge_with(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let levels = given.int(4);
    let (left, right) = (given.map(0), given.map(1));
    let mergers = Mergers {
        lists: given.lambda(2),
        others: given.lambda(3),
    };
    merge(machine, &left, &right, &mergers, levels)
}

fn merge(
    machine: &mut Machine<'_>,
    left: &DatumMap,
    right: &DatumMap,
    mergers: &Mergers,
    levels: i64,
) -> Evaluated<Datum> {
    machine.step((left.entries.len() + right.entries.len()) as u64)?;
    let mut merged = left.entries.clone();
    for (key, value) in &right.entries {
        let Some(held) = merged.get(key) else {
            merged.insert(key.clone(), value.clone());
            continue;
        };
        let one = match (held, value) {
            (Datum::Map(held), Datum::Map(value)) if levels != 1 => {
                machine.budget.enter_item()?;
                let inner = merge(
                    machine,
                    held,
                    value,
                    mergers,
                    if levels == 0 { 0 } else { levels - 1 },
                )?;
                machine.budget.leave_item();
                inner
            }
            (Datum::List(_), Datum::List(_)) if levels != 1 => {
                merge_lists(machine, held.clone(), value.clone(), mergers)?
            }
            (_, Datum::Map(_) | Datum::List(_)) if levels != 1 => {
                let class = |value: &Datum| match value {
                    Datum::Map(map) if map.frozen => "yaql.language.utils.FrozenDict",
                    other => other.type_name(),
                };
                let (held, value) = (class(held), class(value));
                return Err(Halt::failed(format!(
                    "Cannot merge <class '{held}'> with <class '{value}'>"
                )));
            }
            _ => match &mergers.others {
                Some(merger) => machine.apply(merger, &[held.clone(), value.clone()])?,
                None => value.clone(),
            },
        };
        merged.insert(key.clone(), one);
    }
    Ok(Datum::open_map(merged))
}

fn merge_lists(
    machine: &mut Machine<'_>,
    left: Datum,
    right: Datum,
    mergers: &Mergers,
) -> Evaluated<Datum> {
    if let Some(merger) = &mergers.lists {
        return machine.apply(merger, &[left, right]);
    }
    if left.type_name() != right.type_name() {
        let (left, right) = (left.type_name(), right.type_name());
        return Err(Halt::failed(format!(
            "can only concatenate {left} (not \"{right}\") to {left}"
        )));
    }
    let mut items = Keys::default();
    for item in machine
        .collect(left)?
        .into_iter()
        .chain(machine.collect(right)?)
    {
        machine.step(1)?;
        items.insert(DatumKey::of(item)?);
        machine.weigh(56 + 8 * items.len())?;
    }
    let most = machine.budget.limits.items;
    if items.len() > most {
        return Err(Halt::limit(format!(
            "Collection length exceeds {most} elements"
        )));
    }
    Ok(Datum::tuple(
        items.into_iter().map(|key| key.value).collect(),
    ))
}
