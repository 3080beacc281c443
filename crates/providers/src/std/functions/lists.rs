//! Lists and maps.

use blueprint::{Map, Name, Value};

use super::arguments::{
    FunctionError, StdCode, form, given, integer_at, kind, list_at, range, text_at,
};
use super::format::scalar_text;

pub(super) fn body(name: &str) -> Option<StdCode> {
    Some(match name {
        "length" => length,
        "alltrue" => |a| truth(a, |mut items| items.all(|item| item)),
        "anytrue" => |a| truth(a, |mut items| items.any(|item| item)),
        "chunklist" => chunks,
        "coalesce" => |a| first(a, |item| !item.is_null() && item.as_text() != Some("")),
        "coalescelist" => |a| {
            first(a, |item| {
                item.as_list().is_some_and(|items| !items.is_empty())
            })
        },
        "compact" => |a| {
            Ok(Value::list(
                list_at(a, 0).iter().filter(|item| !is_empty(item)).cloned(),
            ))
        },
        "concat" => concat,
        "contains" => |a| Ok(list_at(a, 0).iter().any(|item| same(item, &a[1])).into()),
        "csvdecode" => csv,
        "distinct" => |a| Ok(Value::list(distinct(list_at(a, 0)))),
        "element" => element,
        "flatten" => |a| Ok(Value::list(flat(list_at(a, 0)))),
        "index" => index,
        "join" => join,
        "keys" => keys,
        "values" => |a| {
            Ok(Value::list(
                sorted(&a[0]).into_iter().map(|(_, value)| value),
            ))
        },
        "lookup" => lookup,
        "map" => map,
        "merge" => merge,
        "reverse" => |a| Ok(Value::list(list_at(a, 0).iter().rev().cloned())),
        "setintersection" => intersection,
        "slice" => slice,
        "sort" => sort,
        "tolist" => |a| {
            Ok(Value::list(
                texts(list_at(a, 0), 0)?.into_iter().map(Value::from),
            ))
        },
        "toset" => to_set,
        "transpose" => transpose,
        "zipmap" => zip,
        _ => return None,
    })
}

fn same(a: &Value, b: &Value) -> bool {
    match (a.unmarked(), b.unmarked()) {
        (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
        (a, b) => a == b,
    }
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_text() == Some("")
}

/// The number of bytes of a text, of items of a list, or of entries of a map.
fn length(arguments: &[Value]) -> Result<Value, FunctionError> {
    let count = match arguments[0].unmarked() {
        Value::Text(text) => text.len(),
        Value::List(items) | Value::Set(items) => items.len(),
        Value::Map(entries) => entries.len(),
        _ => return Err(kind(0, "input must be a string, list, or map")),
    };
    Ok(Value::Int(count as i64))
}

fn truth(
    arguments: &[Value],
    all: fn(std::vec::IntoIter<bool>) -> bool,
) -> Result<Value, FunctionError> {
    let of = |item: &Value| match item.unmarked() {
        Value::Bool(value) => Ok(*value),
        Value::Text(text) if matches!(text.as_ref(), "true" | "false") => {
            Ok(text.as_ref() == "true")
        }
        other => Err(kind(
            0,
            format!("a list of booleans is needed, found {}", other.kind_word()),
        )),
    };
    let items: Vec<bool> = list_at(arguments, 0)
        .iter()
        .map(of)
        .collect::<Result<_, _>>()?;
    Ok(all(items.into_iter()).into())
}

fn chunks(arguments: &[Value]) -> Result<Value, FunctionError> {
    let size = integer_at(arguments, 1)?;
    let Some(size) = usize::try_from(size).ok().filter(|size| *size > 0) else {
        return Err(range(1, "size must be greater than 0"));
    };
    Ok(Value::list(
        list_at(arguments, 0)
            .chunks(size)
            .map(|chunk| Value::list(chunk.iter().cloned())),
    ))
}

fn first(arguments: &[Value], counts: fn(&Value) -> bool) -> Result<Value, FunctionError> {
    let found = list_at(arguments, 0).iter().find(|item| counts(item));
    found
        .cloned()
        .ok_or_else(|| range(0, "no non-empty values found"))
}

fn concat(arguments: &[Value]) -> Result<Value, FunctionError> {
    let mut all = Vec::new();
    for list in list_at(arguments, 0) {
        match list.as_list() {
            Some(items) => all.extend(items.iter().cloned()),
            None => {
                return Err(kind(
                    0,
                    format!(
                        "a list of lists is needed, found {} in it",
                        list.kind_word()
                    ),
                ));
            }
        }
    }
    Ok(Value::list(all))
}

/// Parses CSV: one map per line after the first, which holds the names.
fn csv(arguments: &[Value]) -> Result<Value, FunctionError> {
    let rows = csv_rows(text_at(arguments, 0))?;
    let Some((names, rows)) = rows.split_first() else {
        return Ok(Value::list([]));
    };
    let mut out = Vec::with_capacity(rows.len());
    for row in rows {
        if row.len() != names.len() {
            return Err(form(0, "each line must have the same number of fields"));
        }
        out.push(Value::map(names.iter().zip(row).map(|(name, field)| {
            (Name::from(&**name), field.as_str().into())
        })));
    }
    Ok(Value::list(out))
}

fn csv_rows(text: &str) -> Result<Vec<Vec<String>>, FunctionError> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut any) = (false, false);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        any = true;
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => field.extend(characters.next()),
            '"' if quoted => quoted = false,
            '"' if field.is_empty() => quoted = true,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\r' if !quoted && characters.peek() == Some(&'\n') => {}
            '\n' if !quoted => {
                // An empty line is not a row.
                if !row.is_empty() || !field.is_empty() {
                    row.push(std::mem::take(&mut field));
                    rows.push(std::mem::take(&mut row));
                }
                any = false;
            }
            other => field.push(other),
        }
    }
    if quoted {
        return Err(form(0, "a quoted field has no end"));
    }
    if any {
        row.push(field);
        rows.push(row);
    }
    Ok(rows)
}

fn distinct(items: &[Value]) -> Vec<Value> {
    let mut seen = std::collections::HashSet::new();
    items
        .iter()
        .filter(|item| seen.insert(serde_json::to_string(item.unmarked()).unwrap_or_default()))
        .cloned()
        .collect()
}

/// The item at a position modulo the length.
fn element(arguments: &[Value]) -> Result<Value, FunctionError> {
    let items = list_at(arguments, 0);
    if items.is_empty() {
        return Err(range(0, "input list must not be empty"));
    }
    let at = integer_at(arguments, 1)?.rem_euclid(items.len() as i64);
    Ok(items[at as usize].clone())
}

fn flat(items: &[Value]) -> Vec<Value> {
    let mut out = Vec::new();
    for item in items {
        match item.as_list() {
            Some(inner) => out.extend(flat(inner)),
            None => out.push(item.clone()),
        }
    }
    out
}

fn index(arguments: &[Value]) -> Result<Value, FunctionError> {
    let found = list_at(arguments, 0)
        .iter()
        .position(|item| same(item, &arguments[1]));
    found
        .map(|at| Value::Int(at as i64))
        .ok_or_else(|| range(1, "the list does not have this element"))
}

/// Converts scalars to texts.
fn texts(items: &[Value], argument: usize) -> Result<Vec<String>, FunctionError> {
    let text = |item: &Value| {
        scalar_text(item).ok_or_else(|| {
            kind(
                argument,
                format!("a list of scalars is needed, found {}", item.kind_word()),
            )
        })
    };
    items.iter().map(text).collect()
}

fn join(arguments: &[Value]) -> Result<Value, FunctionError> {
    Ok(texts(list_at(arguments, 0), 0)?
        .join(text_at(arguments, 1))
        .into())
}

/// The entries of a map, sorted by key.
pub(super) fn sorted(map: &Value) -> Vec<(Name, Value)> {
    let mut entries: Vec<(Name, Value)> = map
        .as_map()
        .into_iter()
        .flat_map(|map| map.iter())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    entries
}

fn keys(arguments: &[Value]) -> Result<Value, FunctionError> {
    Ok(Value::list(
        sorted(&arguments[0])
            .into_iter()
            .map(|(key, _)| Value::Text(key)),
    ))
}

fn lookup(arguments: &[Value]) -> Result<Value, FunctionError> {
    let key = text_at(arguments, 1);
    let found = arguments[0].get(key).or_else(|| given(arguments, 2));
    found
        .cloned()
        .ok_or_else(|| range(1, "key not found in input map"))
}

/// A map from alternating keys and values.
fn map(arguments: &[Value]) -> Result<Value, FunctionError> {
    let mut map = Map::default();
    for (at, pair) in list_at(arguments, 0).chunks(2).enumerate() {
        let Some(key) = pair[0].as_text() else {
            return Err(kind(
                0,
                format!("expected a string key at index {}", 2 * at),
            ));
        };
        let [_, value] = pair else {
            return Err(range(0, "the last key has no value"));
        };
        map.insert(key.into(), value.clone());
    }
    Ok(Value::map(map))
}

fn merge(arguments: &[Value]) -> Result<Value, FunctionError> {
    let mut merged = Map::default();
    for part in list_at(arguments, 0) {
        let Some(part) = part.as_map() else {
            return Err(kind(
                0,
                format!("a list of maps is needed, found {} in it", part.kind_word()),
            ));
        };
        merged.extend(part.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    Ok(Value::map(merged))
}

fn intersection(arguments: &[Value]) -> Result<Value, FunctionError> {
    let mut lists = list_at(arguments, 0)
        .iter()
        .map(|list| list.as_list().unwrap_or_default());
    let Some(first) = lists.next() else {
        return Ok(Value::list([]));
    };
    let mut kept = distinct(first);
    for list in lists {
        kept.retain(|item| list.iter().any(|other| same(item, other)));
    }
    Ok(Value::list(kept))
}

fn slice(arguments: &[Value]) -> Result<Value, FunctionError> {
    let items = list_at(arguments, 0);
    let count = items.len() as i64;
    let within = |at: i64| {
        if at < 0 {
            (count + at).max(0)
        } else {
            at.min(count)
        }
    };
    let from = within(integer_at(arguments, 1)?);
    let to = if given(arguments, 2).is_some() {
        within(integer_at(arguments, 2)?)
    } else {
        count
    };
    Ok(Value::list(
        items[from as usize..to.max(from) as usize].iter().cloned(),
    ))
}

fn sort(arguments: &[Value]) -> Result<Value, FunctionError> {
    let mut items = texts(list_at(arguments, 0), 0)?;
    items.sort();
    Ok(Value::list(items.into_iter().map(Value::from)))
}

fn to_set(arguments: &[Value]) -> Result<Value, FunctionError> {
    let items: Vec<Value> = texts(list_at(arguments, 0), 0)?
        .into_iter()
        .map(Value::from)
        .collect();
    Ok(Value::list(distinct(&items)))
}

/// Inverts a map of lists: from each item to the keys of the lists that hold it.
fn transpose(arguments: &[Value]) -> Result<Value, FunctionError> {
    let mut out: blueprint::IndexMap<String, Vec<Value>> = Default::default();
    for (key, list) in sorted(&arguments[0]) {
        for item in texts(list.as_list().unwrap_or_default(), 0)? {
            out.entry(item).or_default().push(Value::Text(key.clone()));
        }
    }
    out.sort_keys();
    Ok(Value::map(
        out.into_iter()
            .map(|(key, keys)| (Name::from(key), Value::list(keys))),
    ))
}

fn zip(arguments: &[Value]) -> Result<Value, FunctionError> {
    let (keys, values) = (texts(list_at(arguments, 0), 0)?, list_at(arguments, 1));
    if keys.len() != values.len() {
        return Err(range(1, "there must be as many values as keys"));
    }
    Ok(Value::map(
        keys.into_iter()
            .map(Name::from)
            .zip(values.iter().cloned())
            .collect::<Map>(),
    ))
}
