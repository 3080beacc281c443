//! `map_merge` and `map_replace`.

use std::collections::HashSet;

use blueprint::{Map, Name, Value};
use pycompat::EqualityKey;

use super::codes::KEY_COLLISION;
use super::function::{
    FunctionResult, HotFunction, PartialArgument, any, example, kind, shortened, wrong_type,
};
use crate::refusal::ValueRefusal;
use crate::version::Version;

pub(super) const FUNCTIONS: &[HotFunction] = &[
    HotFunction {
        name: "map_merge",
        since: Version::V2016_04_08,
        until: None,
        in_conditions: None,
        in_values: true,
        form: any,
        call: merge,
        parts: PartialArgument::Leaves,
        docs: "`[map..]`: one map with the entries of all, the later ones winning. Null items are left out; a null entry overwrites.",
        examples: &[
            example(
                r#"[{"a": 1, "b": 2}, null, {"a": null}]"#,
                r#"{"a": null, "b": 2}"#,
            ),
            example(r#"[]"#, "{}"),
            example(r#""""#, "{}"),
            example(r#""a""#, "! argument-type"),
            example(r#"[["b"]]"#, "! argument-type"),
            example(r#"{"a": 1}"#, "! argument-type"),
            example("null", "! argument-type"),
        ],
    },
    HotFunction {
        name: "map_replace",
        since: Version::V2016_10_14,
        until: None,
        in_conditions: None,
        in_values: true,
        form: any,
        call: |argument, _| replace(argument),
        parts: PartialArgument::Leaves,
        docs: "`[map, {keys, values}]`: the map with keys renamed by `keys`, and values that are keys of `values` replaced. No renamed \
               key may meet another one.",
        examples: &[
            example(
                r#"[{"a": 1, "b": 2}, {"keys": {"a": "z"}, "values": {"2": 9}}]"#,
                r#"{"z": 1, "b": 2}"#,
            ),
            example(r#"[{"a": "x"}, {"values": {"x": null}}]"#, r#"{"a": null}"#),
            example(
                r#"[{"a": "x"}, {"keys": {"a": null, "q": "r"}, "values": null}]"#,
                r#"{"a": "x"}"#,
            ),
            example(r#"[{"a": ["x"]}, {"values": {"x": 1}}]"#, r#"{"a": ["x"]}"#),
            example(
                r#"[{"a": 1, "b": 2}, {"keys": {"a": "b", "b": "a"}}]"#,
                "! key-collision",
            ),
            example(
                r#"[{"a": 1, "b": 2}, {"keys": {"a": "z", "b": "z"}}]"#,
                "! key-collision",
            ),
            example(r#"[{"a": 1}, {"keys": {"a": "a"}}]"#, r#"{"a": 1}"#),
            example(r#"[{"a": 1}, {"keys": {"a": 5}}]"#, r#"{"5": 1}"#),
            example(r#"[null, null]"#, "{}"),
            example(r#"[{"a": 1}]"#, "! argument-type"),
            example(r#"[{"a": 1}, {}, {}]"#, "! argument-type"),
            example(r#"[{"a": 1}, {"kays": {}}]"#, "! argument-type"),
            example(r#"[{"a": 1}, {"keys": ["a"]}]"#, "! argument-type"),
            example(r#""a""#, "! argument-type"),
        ],
    },
];

fn merge(argument: &Value, _: Version) -> FunctionResult {
    let (bare, mut secret) = argument.split_secret();
    let items = match bare {
        Value::Unknown(_) => return Ok(argument.clone()),
        Value::List(items) => items.as_slice(),
        Value::Text(text) if text.is_empty() => &[],
        Value::Text(text) => {
            let first: String = text.chars().take(1).collect();
            return Err(not_a_map(&Value::from(first)));
        }
        other => {
            let words = "Incorrect arguments to \"map_merge\" should be: \"map_merge\" : [ { \"key1\": \"val1\" }, { \"key2\": \"val2\" } ]";
            return Err(wrong_type(
                format!("`map_merge` takes a list of maps, not {}", kind(other)),
                words,
            ));
        }
    };
    let mut merged = Map::new();
    let mut unknown = false;
    for (at, item) in items.iter().enumerate() {
        let (bare, hidden) = item.split_secret();
        secret |= hidden;
        match bare {
            Value::Null => {}
            Value::Unknown(_) => unknown = true,
            Value::Map(entries) => {
                for (key, value) in entries.iter() {
                    merged.insert(key.clone(), value.clone());
                }
            }
            other => return Err(not_a_map(other).within(at)),
        }
    }
    let merged = if unknown {
        argument.as_unknown()
    } else {
        Value::Map(merged.into())
    };
    Ok(merged.tainted(secret))
}

fn not_a_map(item: &Value) -> ValueRefusal {
    let (shown, ty) = (shortened(item), pycompat::type_name(item));
    let words = format!(
        "Incorrect arguments: Items to merge must be maps. {shown} is type <class '{ty}'> instead of a dict"
    );
    wrong_type(
        format!("`map_merge` merges maps, not {}", kind(item)),
        words,
    )
}

/// The entries of a map; `None` for null.
fn entries(value: &Value, step: usize) -> Result<Option<&Map>, ValueRefusal> {
    match value.unmarked() {
        Value::Null => Ok(None),
        Value::Map(entries) => Ok(Some(entries)),
        other => {
            let words = format!(
                "Incorrect arguments: to \"map_replace\", arguments must be a list of maps. Example:  {REPLACE_EXAMPLE}"
            );
            Err(wrong_type(
                format!("`map_replace` takes maps, not {}", kind(other)),
                words,
            )
            .within(step))
        }
    }
}

const REPLACE_EXAMPLE: &str = "\"map_replace\" : [ { \"key1\": \"val1\" }, {\"keys\": {\"key1\": \"key2\"}, \"values\": {\"val1\": \"val2\"}}]";

fn replace(argument: &Value) -> FunctionResult {
    let incorrect = |message: &str| {
        wrong_type(
            message,
            format!("Incorrect arguments to \"map_replace\" should be: {REPLACE_EXAMPLE}"),
        )
    };
    if argument.is_unknown() {
        return Ok(argument.clone());
    }
    let message = "`map_replace` takes a list of a map and what is replaced in it";
    let Some([map, others @ ..]) = super::function::items(argument) else {
        return Err(incorrect(message));
    };
    let input = if map.is_unknown() {
        None
    } else {
        entries(map, 0)?
    };
    let [replacements, rest @ ..] = others else {
        return Err(incorrect(message));
    };
    if map.is_unknown() || replacements.has_unknown() {
        return Ok(argument.as_unknown().tainted(argument.has_secret()));
    }
    if replacements.has_secret() {
        // A secret table makes the whole result secret.
        return replace(&argument.revealed()).map(Value::secret);
    }
    let secret = argument.split_secret().1 || map.split_secret().1;
    let replacements = entries(replacements, 1)?;
    if !rest.is_empty() {
        return Err(incorrect("`map_replace` takes no more than two maps"));
    }
    if let Some(key) = replacements
        .into_iter()
        .flat_map(Map::keys)
        .find(|key| !matches!(key.as_ref(), "keys" | "values"))
    {
        let refusal = incorrect(&format!(
            "`map_replace` replaces `keys` and `values`, not `{key}`"
        ));
        return Err(refusal.within(key.as_ref()).within(1));
    }
    let table = |key: &str| match replacements.and_then(|entries| entries.get(key)) {
        None => Ok(None),
        Some(value) => entries(value, 1).map_err(|mut refusal| {
            refusal.path.push(key.into());
            refusal
        }),
    };
    let (keys, values) = (table("keys")?, table("values")?);
    let mut output = Map::new();
    let mut used: HashSet<EqualityKey> = HashSet::new();
    for (old, value) in input.into_iter().flat_map(Map::iter) {
        let new = keys
            .and_then(|keys| keys.get(old))
            .filter(|new| !new.is_null());
        let key = match new {
            None => Value::Text(old.clone()),
            Some(new) => renamed(new, old, input, &used)?,
        };
        used.insert(EqualityKey::of(&key));
        let (bare, hidden) = value.split_secret();
        let replacement = bare
            .as_text()
            .and_then(|text| values.and_then(|values| values.get(text)));
        output.insert(
            key_text(&key),
            replacement.unwrap_or(bare).clone().tainted(hidden),
        );
    }
    Ok(Value::Map(output.into()).tainted(secret))
}

/// Checks that a new key does not collide with another key, and returns it.
fn renamed(
    new: &Value,
    old: &Name,
    input: Option<&Map>,
    used: &HashSet<EqualityKey>,
) -> Result<Value, ValueRefusal> {
    let refused = |refusal: ValueRefusal| refusal.within(old.as_ref()).within("keys").within(1);
    if matches!(new, Value::List(_) | Value::Map(_)) {
        let words = format!("unhashable type: '{}'", pycompat::type_name(new));
        return Err(refused(wrong_type(
            format!("a key must be text, not {}", kind(new)),
            words,
        )));
    }
    let met = match new {
        Value::Text(text) if input.is_some_and(|input| input.contains_key(text)) && text != old => {
            Some("input")
        }
        other if used.contains(&EqualityKey::of(other)) => Some("output"),
        _ => None,
    };
    match met {
        None => Ok(new.clone()),
        Some(place) => {
            let shown = pycompat::text(new);
            let message = format!("`{old}` cannot become `{shown}`: the map has that key already");
            let words = format!("key replacement {shown} collides with a key in the {place} map");
            Err(refused(
                ValueRefusal::new(&KEY_COLLISION, message).heat(words),
            ))
        }
    }
}

/// A key in JSON, which is always text.
fn key_text(key: &Value) -> Name {
    match key {
        Value::Text(text) => text.clone(),
        other => pycompat::json(other).into(),
    }
}
