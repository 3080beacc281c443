//! Whether a value matches the declaration of a field exactly, without conversions.
//!
//! Users: catalogues (a default must match its field), the suite of providers (an answer must match
//! the declaration), and the simulated cloud, which is stricter than a real one.
//!
//! Not here: conversions of dialects, and diagnostics about a document (`engine`).

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Mutex;

use blueprint::{Field, Kind, Name, Schema, Value};
use regex::Regex;

/// A mismatch and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The path from the checked value: dots and `[n]`; empty for the value itself.
    pub path: String,
    /// A lower-case phrase. It does not show the value.
    pub message: String,
}

/// The direction in which a value is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the provider: required fields must exist, fields that only the provider sets must not.
    Sent,
    /// From the provider: required and computed fields must exist.
    Answered,
    /// From the provider, for a type with partial specs: required fields must exist. A field that
    /// others fill in exists if they have done so.
    AnsweredAsIs,
}

/// Compares values with fields. It caches compiled patterns, so one instance should serve many
/// calls.
#[derive(Debug, Default)]
pub struct Fit {
    /// Compiled patterns, by pattern and whether it must match the whole text. `None` for an
    /// invalid one.
    patterns: Mutex<HashMap<(Name, bool), Option<Regex>>>,
}

impl Fit {
    /// Returns an instance with an empty cache.
    pub fn new() -> Fit {
        Fit::default()
    }

    /// Returns the first mismatch in a map of fields. Values must be known and without secret
    /// marks.
    pub fn fields(&self, value: &Value, schema: &Schema, direction: Direction) -> Option<Misfit> {
        let mut path = String::new();
        self.object(value, schema, direction, &mut path)
            .map(|message| Misfit { path, message })
    }

    /// Returns the first mismatch in the value of a field. The value must be known and without
    /// secret marks.
    pub fn field(&self, value: &Value, field: &Field, direction: Direction) -> Option<Misfit> {
        let mut path = String::new();
        self.value(value, field, direction, &mut path)
            .map(|message| Misfit { path, message })
    }

    /// Returns the first mismatch, and extends `path` to it. Without a mismatch, `path` is
    /// unchanged.
    fn object(
        &self,
        value: &Value,
        schema: &Schema,
        direction: Direction,
        path: &mut String,
    ) -> Option<String> {
        let Value::Map(map) = value else {
            return Some(format!("must be an object, found {}", found(value)));
        };
        for (name, value) in map.iter() {
            let before = path.len();
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(name);
            let Some(field) = schema.fields.get(name) else {
                let problem = if schema.open {
                    plain(value, path)
                } else {
                    Some("there is no such field".into())
                };
                if problem.is_some() {
                    return problem;
                }
                path.truncate(before);
                continue;
            };
            if direction == Direction::Sent && !field.is_settable() {
                return Some("is filled in by the provider".into());
            }
            if let Some(message) = self.value(value, field, direction, path) {
                return Some(message);
            }
            path.truncate(before);
        }
        // Every key is in the schema: if there are as many keys as fields, no field is missing.
        if schema.open || map.len() < schema.fields.len() {
            for (name, field) in &schema.fields {
                let needed = match direction {
                    Direction::Sent | Direction::AnsweredAsIs => field.required,
                    Direction::Answered => field.required || field.computed,
                };
                if needed && !map.contains_key(name) {
                    return Some(format!("`{name}` is missing"));
                }
            }
        }
        None
    }

    fn value(
        &self,
        value: &Value,
        field: &Field,
        direction: Direction,
        path: &mut String,
    ) -> Option<String> {
        match value {
            Value::Null if field.nullable || matches!(field.kind, Kind::Any) => return None,
            Value::Unknown(_) => return Some("is not known".into()),
            Value::Secret(_) => return Some("is still marked secret".into()),
            _ => {}
        }
        let wrong = |wanted: &str| Some(format!("must be {wanted}, found {}", found(value)));
        let limits = &field.constraint;
        match (&field.kind, value) {
            (Kind::Any, value) => return plain(value, path),
            (Kind::Boolean, Value::Bool(_)) => {}
            (Kind::String, Value::Text(text)) => {
                let length = || text.chars().count() as u64;
                if limits.min_length.is_some_and(|least| length() < least) {
                    return Some("is too short".into());
                }
                if limits.max_length.is_some_and(|most| length() > most) {
                    return Some("is too long".into());
                }
                if limits
                    .pattern
                    .as_ref()
                    .is_some_and(|pattern| !self.matches(pattern, limits.whole, text))
                {
                    return Some("does not match its pattern".into());
                }
            }
            (Kind::Integer, Value::Int(number)) => {
                return limited(*number as f64, field).or_else(|| allowed(value, field));
            }
            (Kind::Float, Value::Float(number)) => {
                return limited(*number, field).or_else(|| allowed(value, field));
            }
            // A dialect may keep an integer as it is written where any number is taken.
            (Kind::Float, Value::Int(number)) => {
                let number = *number as f64;
                return limited(number, field).or_else(|| allowed(&Value::Float(number), field));
            }
            (Kind::Array(item), Value::List(items) | Value::Set(items)) => {
                if limits
                    .min_items
                    .is_some_and(|least| (items.len() as u64) < least)
                {
                    return Some("has too few items".into());
                }
                if limits
                    .max_items
                    .is_some_and(|most| items.len() as u64 > most)
                {
                    return Some("has too many items".into());
                }
                for (at, value) in items.iter().enumerate() {
                    let before = path.len();
                    let _ = write!(path, "[{at}]");
                    if let Some(message) = self.value(value, item, direction, path) {
                        return Some(message);
                    }
                    path.truncate(before);
                }
            }
            (Kind::Map(field), Value::Map(entries)) => {
                if limits
                    .min_items
                    .is_some_and(|least| (entries.len() as u64) < least)
                {
                    return Some("has too few entries".into());
                }
                if limits
                    .max_items
                    .is_some_and(|most| entries.len() as u64 > most)
                {
                    return Some("has too many entries".into());
                }
                for (key, value) in entries.iter() {
                    let before = path.len();
                    path.push('.');
                    path.push_str(key);
                    if let Some(message) = self.value(value, field, direction, path) {
                        return Some(message);
                    }
                    path.truncate(before);
                }
            }
            (Kind::Object(schema), value) => return self.object(value, schema, direction, path),
            (Kind::Union(branches), value) => {
                let before = path.len();
                for branch in branches.iter() {
                    self.value(value, branch, direction, path)?;
                    path.truncate(before);
                }
                let is_number = branches
                    .iter()
                    .all(|it| matches!(it.kind, Kind::Integer | Kind::Float));
                return if is_number {
                    wrong("a number")
                } else {
                    Some("fits no alternative".into())
                };
            }
            (Kind::Boolean, _) => return wrong("a boolean"),
            (Kind::String, _) => return wrong("a string"),
            (Kind::Integer, _) => return wrong("an integer"),
            (Kind::Float, _) => return wrong("a float"),
            (Kind::Array(_), _) => return wrong("an array"),
            (Kind::Map(_), _) => return wrong("a map"),
        }
        allowed(value, field)
    }

    fn matches(&self, pattern: &Name, whole: bool, text: &str) -> bool {
        let Ok(mut patterns) = self.patterns.lock() else {
            return true;
        };
        let compiled = || match whole {
            true => Regex::new(&format!(r"\A(?:{pattern})\z")).ok(),
            false => Regex::new(pattern).ok(),
        };
        let regex = patterns
            .entry((pattern.clone(), whole))
            .or_insert_with(compiled);
        regex.as_ref().is_none_or(|regex| regex.is_match(text))
    }
}

/// Checks free content, which must be plain data without values that have a meaning only inside the
/// engine.
fn plain(value: &Value, path: &mut String) -> Option<String> {
    let before = path.len();
    match value {
        Value::Unknown(_) => return Some("is not known".into()),
        Value::Secret(_) => return Some("is still marked secret".into()),
        Value::Function(_) | Value::Resource(_) => {
            return Some(format!("cannot be {}", found(value)));
        }
        Value::List(items) | Value::Set(items) => {
            for (at, item) in items.iter().enumerate() {
                let _ = write!(path, "[{at}]");
                if let Some(message) = plain(item, path) {
                    return Some(message);
                }
                path.truncate(before);
            }
        }
        Value::Map(entries) => {
            for (key, value) in entries.iter() {
                path.push('.');
                path.push_str(key);
                if let Some(message) = plain(value, path) {
                    return Some(message);
                }
                path.truncate(before);
            }
        }
        _ => {}
    }
    None
}

fn limited(number: f64, field: &Field) -> Option<String> {
    if field.constraint.min.is_some_and(|least| number < least) {
        return Some("is too small".into());
    }
    if field.constraint.max.is_some_and(|most| number > most) {
        return Some("is too large".into());
    }
    if let Some((step, offset)) = field.constraint.modulo
        && (number - offset as f64) % step as f64 != 0.0
    {
        return Some("is no such multiple".into());
    }
    None
}

fn allowed(value: &Value, field: &Field) -> Option<String> {
    (!field.allowed.is_empty() && !field.allowed.contains(value))
        .then(|| "is not among the allowed values".into())
}

fn found(value: &Value) -> String {
    match value.kind_word() {
        word @ ("integer" | "array" | "object" | "asset") => format!("an {word}"),
        word @ "none" => word.into(),
        word => format!("a {word}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_catalog;

    /// Returns the mismatch in a spec of a type with these fields.
    fn problem(fields: &str, spec: &str) -> Option<String> {
        let text = format!(
            r#"{{"format": 1, "namespace": "x", "resourceTypes": {{"x/a": {{{fields}}}}}}}"#
        );
        let catalog = read_catalog(&text).unwrap();
        let value: Value = serde_json::from_str(spec).unwrap();
        let schema = &catalog.resource_types["x/a"].schema;
        Fit::new()
            .fields(&value, schema, Direction::Sent)
            .map(|misfit| format!("{}: {}", misfit.path, misfit.message))
    }

    #[test]
    fn an_open_schema_takes_any_plain_field_beside_its_own() {
        let open = r#""open": true, "fields": {"a": {"kind": "integer", "required": true}}"#;
        assert_eq!(problem(open, r#"{"a": 1, "b": {"c": [null]}}"#), None);
        assert_eq!(
            problem(open, r#"{"a": "1", "b": 2}"#).unwrap(),
            "a: must be an integer, found a string"
        );
        assert_eq!(problem(open, r#"{"b": 2}"#).unwrap(), ": `a` is missing");
        assert_eq!(
            problem(r#""fields": {}"#, r#"{"b": 2}"#).unwrap(),
            "b: there is no such field"
        );
    }

    #[test]
    fn union_of_integer_and_float_is_a_number() {
        let number =
            r#""fields": {"n": {"kind": "union", "of": [{"kind": "integer"}, {"kind": "float"}]}}"#;
        assert_eq!(
            (
                problem(number, r#"{"n": 7}"#),
                problem(number, r#"{"n": 1.5}"#)
            ),
            (None, None)
        );
        assert_eq!(
            problem(number, r#"{"n": "7"}"#).unwrap(),
            "n: must be a number, found a string"
        );
    }

    #[test]
    fn integer_is_a_number_where_a_float_is_declared() {
        let least = r#""fields": {"n": {"kind": "float", "min": 1}}"#;
        assert_eq!(problem(least, r#"{"n": 600}"#), None);
        assert_eq!(problem(least, r#"{"n": 0}"#).unwrap(), "n: is too small");
        assert_eq!(
            problem(least, r#"{"n": "600"}"#).unwrap(),
            "n: must be a float, found a string"
        );
        let some = r#""fields": {"n": {"kind": "float", "allowed": [1.0, 2.5]}}"#;
        assert_eq!(problem(some, r#"{"n": 1}"#), None);
        assert_eq!(
            problem(some, r#"{"n": 2}"#).unwrap(),
            "n: is not among the allowed values"
        );
    }

    #[test]
    fn limits_of_numbers_texts_and_maps_hold() {
        let odd = r#""fields": {"n": {"kind": "integer", "modulo": [2, 1]}}"#;
        assert_eq!(
            (problem(odd, r#"{"n": 7}"#), problem(odd, r#"{"n": -3}"#)),
            (None, None)
        );
        assert!(problem(odd, r#"{"n": 4}"#).is_some());
        let part = r#""fields": {"t": {"kind": "string", "pattern": "a|ab"}}"#;
        let whole = r#""fields": {"t": {"kind": "string", "pattern": "a|b", "whole": true}}"#;
        assert_eq!(problem(part, r#"{"t": "xax"}"#), None);
        assert_eq!(problem(whole, r#"{"t": "b"}"#), None);
        assert!(
            problem(whole, r#"{"t": "ab"}"#).is_some()
                && problem(whole, r#"{"t": "a\n"}"#).is_some()
        );
        let map = r#""fields": {"m": {"kind": "map", "minItems": 1, "maxItems": 2}}"#;
        assert_eq!(problem(map, r#"{"m": {"a": 1}}"#), None);
        assert_eq!(
            problem(map, r#"{"m": {}}"#).unwrap(),
            "m: has too few entries"
        );
        assert_eq!(
            problem(map, r#"{"m": {"a": 1, "b": 1, "c": 1}}"#).unwrap(),
            "m: has too many entries"
        );
    }
}
