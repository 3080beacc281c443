//! Parts of generated values that documents read: entries of maps and items of lists whose names
//! and positions no catalogue knows.
//!
//! Not here: which parts a document reads, which the engine finds.

use std::sync::Arc;

use blueprint::{Field, FieldPath, Kind, Map, Name, PathStep, Schema, Value};

use super::plausible::ValueOwner;

/// The maximum position of an item that is generated because it is read.
const MAX_POSITION: u64 = 999;

/// Adds the parts that are read to the generated fields among `fields`. `sent` are the fields that
/// the document sets.
pub(super) fn add(
    fields: &mut Map,
    schema: &Schema,
    sent: &Value,
    parts: &[FieldPath],
    owner: &ValueOwner<'_>,
) {
    for part in parts {
        if let Some((PathStep::Field(name) | PathStep::Key(name), rest)) = part.0.split_first()
            && !rest.is_empty()
            && let Some(field) = schema.fields.get(name)
            && let Some(value) = fields.get(name)
            && let Some(added) = added(name, field, value, sent.get(name), rest, owner)
        {
            fields.insert(name.clone(), added);
        }
    }
}

/// A value with the part at `steps`; `None` if it has it, or cannot have it.
fn added(
    path: &str,
    field: &Field,
    value: &Value,
    sent: Option<&Value>,
    steps: &[PathStep],
    owner: &ValueOwner<'_>,
) -> Option<Value> {
    let (step, rest) = steps.split_first()?;
    // A part is read of a generated value, or of a field inside an object that is sent.
    let is_sent = sent.is_some_and(|sent| !sent.is_null());
    match &field.kind {
        Kind::Object(schema) => {
            let name = key(step)?;
            let inner = schema.fields.get(name)?;
            let path = format!("{path}.{name}");
            let entries = value.as_map()?;
            let sent = sent.and_then(|sent| sent.get(name));
            let added = added(&path, inner, entries.get(name)?, sent, rest, owner)?;
            Some(with_entry(entries, name, added))
        }
        _ if is_sent => None,
        Kind::Map(inside) => {
            let name = key(step)?;
            let path = format!("{path}.{name}");
            let make = || owner.at(&path, part_name(&path), inside);
            entry(value, name, make, |value| {
                added(&path, inside, value, None, rest, owner)
            })
        }
        Kind::Array(item) if !field.set && field.keyed_by.is_none() => {
            let position = position(step)?;
            let most = field.constraint.max_items.unwrap_or(u64::MAX);
            if position > MAX_POSITION || position >= most {
                return None;
            }
            let make = |at: usize| {
                let path = format!("{path}-{at}");
                owner.at(&path, part_name(&path), item)
            };
            self::item(value, position as usize, make, |value| {
                let path = format!("{path}-{position}");
                added(&path, item, value, None, rest, owner)
            })
        }
        // The kinds of the parts of decoded JSON are not known: a text could be of the wrong kind.
        Kind::Any if part_name(path).ends_with("json") => None,
        Kind::Any => untyped(path, value, steps, owner),
        Kind::Union(branches) => {
            let holds = |branch: &&Field| match step {
                PathStep::Index(_) => matches!(branch.kind, Kind::Array(_) | Kind::Any),
                _ => matches!(
                    branch.kind,
                    Kind::Map(_) | Kind::Object(_) | Kind::Any | Kind::Array(_)
                ),
            };
            let branch = branches.iter().find(holds)?;
            let is_container = value.as_map().is_some() || value.as_list().is_some();
            let made;
            let value = if is_container {
                value
            } else {
                made = owner.at(path, part_name(path), branch);
                &made
            };
            let changed = added(path, branch, value, None, steps, owner);
            changed.or_else(|| (!is_container).then(|| value.clone()))
        }
        _ => None,
    }
}

/// A value of no declared kind with the part at `steps`: the steps decide what is a map and what
/// is a list.
fn untyped(path: &str, value: &Value, steps: &[PathStep], owner: &ValueOwner<'_>) -> Option<Value> {
    let (step, rest) = steps.split_first()?;
    let text = Field::of(Kind::String);
    let is_list = value.as_list().is_some() || value.as_map().is_none() && position(step).is_some();
    if is_list {
        let position = position(step).filter(|position| *position <= MAX_POSITION)?;
        let base = if value.as_list().is_some() {
            value.clone()
        } else {
            Value::list([])
        };
        let make = |at: usize| {
            let path = format!("{path}-{at}");
            owner.at(&path, part_name(&path), &text)
        };
        return item(&base, position as usize, make, |value| {
            untyped(&format!("{path}-{position}"), value, rest, owner)
        });
    }
    let name = key(step)?;
    let base = match value.as_map() {
        Some(_) => value.clone(),
        None => Value::Map(Arc::default()),
    };
    let path = format!("{path}.{name}");
    let make = || owner.at(&path, part_name(&path), &text);
    entry(&base, name, make, |value| {
        untyped(&path, value, rest, owner)
    })
}

/// A map with an entry, which `change` completes.
fn entry(
    map: &Value,
    name: &Name,
    make: impl FnOnce() -> Value,
    change: impl FnOnce(&Value) -> Option<Value>,
) -> Option<Value> {
    let entries = map.as_map()?;
    match entries.get(name) {
        Some(value) => Some(with_entry(entries, name, change(value)?)),
        None => {
            let made = make();
            let made = change(&made).unwrap_or(made);
            Some(with_entry(entries, name, made))
        }
    }
}

fn with_entry(entries: &Map, name: &Name, value: Value) -> Value {
    let mut entries = entries.clone();
    entries.insert(name.clone(), value);
    Value::Map(Arc::new(entries))
}

/// A list with an item at `position`, which `change` completes.
fn item(
    list: &Value,
    position: usize,
    make: impl Fn(usize) -> Value,
    change: impl FnOnce(&Value) -> Option<Value>,
) -> Option<Value> {
    let known = list.as_list()?;
    let mut items = known.to_vec();
    items.extend((known.len()..=position).map(make));
    let changed = items.get(position).and_then(change);
    if changed.is_none() && items.len() == known.len() {
        return None;
    }
    if let (Some(changed), Some(slot)) = (changed, items.get_mut(position)) {
        *slot = changed;
    }
    Some(Value::list(items))
}

/// The name of an entry.
fn key(step: &PathStep) -> Option<&Name> {
    match step {
        PathStep::Field(name) | PathStep::Key(name) => Some(name),
        PathStep::Index(_) => None,
    }
}

/// The position of an item. Some languages write it as text.
fn position(step: &PathStep) -> Option<u64> {
    match step {
        PathStep::Index(position) => Some(*position),
        PathStep::Field(name) | PathStep::Key(name) => name.parse().ok(),
    }
}

/// The name from which the value of a part is generated: that of its field, in the singular. The
/// parts of networks are addresses.
fn part_name(path: &str) -> &str {
    let field = path.split(['.', '-']).next().unwrap_or(path);
    // The field of an attribute of Heat that has the name of a property.
    let field = field.strip_prefix("attribute_").unwrap_or(field);
    match field {
        "networks" | "addresses" | "ips" => "ip_address",
        _ => field
            .strip_suffix('s')
            .filter(|one| !one.is_empty())
            .unwrap_or(field),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use provider::Fit;

    /// The text of the part at `path` of a generated field of a kind.
    fn part(kind: Kind, path: &str) -> Option<Value> {
        let fit = Fit::new();
        let owner = ValueOwner {
            type_name: &"shop/db".into(),
            hash: "3f2a9c1d",
            name: None,
            fit: &fit,
        };
        let mut schema = Schema::default();
        let path = FieldPath::parse(path);
        let Some(PathStep::Field(name)) = path.0.first() else {
            return None;
        };
        schema.fields.insert(name.clone(), Field::of(kind));
        let mut fields = Map::default();
        fields.insert(name.clone(), owner.value(name, &schema.fields[name]));
        let again = {
            add(
                &mut fields,
                &schema,
                &Value::Null,
                std::slice::from_ref(&path),
                &owner,
            );
            let once = fields.clone();
            add(
                &mut fields,
                &schema,
                &Value::Null,
                std::slice::from_ref(&path),
                &owner,
            );
            once
        };
        assert_eq!(fields, again, "a second time changes nothing");
        path.select(&Value::Map(Arc::new(fields))).cloned()
    }

    fn list(item: Kind) -> Kind {
        Kind::Array(Arc::new(Field::of(item)))
    }

    fn map(inside: Kind) -> Kind {
        Kind::Map(Arc::new(Field::of(inside)))
    }

    #[test]
    fn parts_that_are_read_are_made() {
        for (kind, path) in [
            (map(Kind::String), "ids.reader"),
            (map(Kind::String), "ids[\"a.b\"]"),
            (list(Kind::String), "hosts[7]"),
            (map(list(Kind::String)), "pools.front[3]"),
            (list(map(Kind::Integer)), "sizes[2].small"),
            (Kind::Any, "networks.front[0].addr"),
            (Kind::Any, "networks[2]"),
            (
                Kind::Union(Arc::new(vec![
                    Field::of(Kind::String),
                    Field::of(map(Kind::String)),
                ])),
                "either.one",
            ),
        ] {
            let value = part(kind, path);
            assert!(value.is_some_and(|value| !value.is_null()), "{path}");
        }
        let address = part(Kind::Any, "networks.front[0]");
        assert!(
            address.is_some_and(|text| text.as_text().is_some_and(|text| text.starts_with("10.")))
        );
    }

    #[test]
    fn impossible_parts_are_not_made() {
        let mut limited = Field::of(list(Kind::String));
        limited.constraint.max_items = Some(2);
        for (kind, path) in [
            (Kind::String, "name.first"),
            (list(Kind::String), "hosts[1000000]"),
            (Kind::Union(Arc::new(vec![limited])), "hosts[2]"),
            (list(Kind::String), "hosts.first"),
        ] {
            assert_eq!(part(kind, path), None, "{path}");
        }
    }
}
