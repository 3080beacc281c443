//! Conversion between [`blueprint::Value`] and the values of an evaluation.

use std::rc::Rc;

use blueprint::{Name, Value};

use crate::failure::{Evaluated, Halt};
use crate::model::{Cursor, Datum, DatumEntries, DatumKey, Machine};
use crate::text;

/// Converts data for an expression. Lists become tuples, so that all data can be keys; values of
/// types that yaql lacks become their text.
pub(crate) fn from_value(value: &Value) -> Datum {
    match value {
        Value::Null => Datum::Null,
        Value::Bool(value) => Datum::Bool(*value),
        Value::Int(value) => Datum::Int(*value),
        Value::Float(value) => Datum::Float(*value),
        Value::Decimal(digits) => match pycompat::exact(value) {
            Some(exact) => Datum::integer(exact),
            None => digits
                .parse()
                .map_or_else(|_| Datum::Text(digits.clone()), Datum::Float),
        },
        Value::Text(text) => Datum::Text(text.clone()),
        Value::List(items) | Value::Set(items) => {
            Datum::tuple(items.iter().map(from_value).collect())
        }
        Value::Map(entries) => {
            let entries: DatumEntries = entries
                .iter()
                .map(|(key, value)| (DatumKey::text(key.clone()), from_value(value)))
                .collect();
            Datum::map(entries)
        }
        Value::Secret(inner) => from_value(inner),
        other => Datum::text(other.to_string()),
    }
}

/// Converts the result of an expression: sequences become lists, keys become texts. Fails if a
/// collection has too many items, or if a list or map is a key or in a set.
pub(crate) fn to_value(machine: &mut Machine<'_>, value: Datum) -> Evaluated<Value> {
    machine.step(1)?;
    machine.budget.enter_item()?;
    let value = data(machine, value)?;
    machine.budget.leave_item();
    Ok(value)
}

fn data(machine: &mut Machine<'_>, value: Datum) -> Evaluated<Value> {
    Ok(match value {
        Datum::Null | Datum::Absent => Value::Null,
        Datum::Bool(value) => Value::Bool(value),
        Datum::Int(value) => Value::Int(value),
        Datum::Big(value) => pycompat::from_exact(Rc::unwrap_or_clone(value)),
        Datum::Float(value) => Value::Float(value),
        Datum::Text(text) => Value::Text(text),
        Datum::Map(map) => {
            machine.limited(Datum::Map(map.clone()))?;
            let mut entries = blueprint::Map::with_capacity(map.entries.len());
            for (key, value) in &map.entries {
                let key = key_text(machine, &key.value)?;
                let value = to_value(machine, value.clone())?;
                entries.insert(key, value);
            }
            Value::Map(entries.into())
        }
        value if value.is_iterable() => {
            let set = value.is_set();
            let mut items = Vec::new();
            let mut cursor = Cursor::of(machine.limited(value)?);
            while let Some(item) = cursor.next(machine)? {
                let inner_set = item.is_set();
                let item = to_value(machine, item)?;
                if set {
                    hashable(&item, inner_set)?;
                }
                items.push(item);
            }
            Value::list(items)
        }
        other => Value::text(text::text(&other)),
    })
}

/// A key as text, as Python's JSON encoder writes it.
fn key_text(machine: &mut Machine<'_>, key: &Datum) -> Evaluated<Name> {
    Ok(match key {
        Datum::Text(text) => text.clone(),
        Datum::Null => "null".into(),
        Datum::Bool(true) => "true".into(),
        Datum::Bool(false) => "false".into(),
        key if key.is_iterable() || matches!(key, Datum::Map(_)) => {
            let set = key.is_set();
            let key = to_value(machine, key.clone())?;
            hashable(&key, set)?;
            text::repr(&from_value(&key)).into()
        }
        other => text::text(other).into(),
    })
}

/// Fails for lists and maps: they become Python's mutable lists and maps, which can be neither keys
/// nor items of a set.
fn hashable(value: &Value, set: bool) -> Evaluated<()> {
    let kind = match value {
        Value::List(_) if set => "set",
        Value::List(_) => "list",
        Value::Map(_) => "dict",
        _ => return Ok(()),
    };
    let help = "make a list of it: `.toList()`".to_owned();
    Err(Halt::failed(format!("unhashable type: '{kind}'"))
        .with_help((kind == "list").then_some(help)))
}
