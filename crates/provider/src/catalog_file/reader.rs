//! JSON with places: each value has a path for messages, and each map states its keys.
//!
//! Stricter than plain JSON: duplicate and unknown keys are errors, so that a typing error in a
//! catalogue is reported.

use std::fmt;

use blueprint::{Map, Name, Value};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// The error of an invalid catalogue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (at {place})")]
pub struct CatalogError {
    /// The JSON path of the place, such as `$.resourceTypes["test/x"].idField`.
    pub place: String,
    /// The message: a lower-case phrase.
    pub message: String,
    /// Line and column, from 1, if the text is not JSON or has a duplicate key: then values have no
    /// path yet.
    pub position: Option<(usize, usize)>,
}

/// Parses a JSON text.
///
/// # Errors
/// With line and column for a syntax error or a duplicate key.
pub(super) fn parse(text: &str) -> Result<Value, CatalogError> {
    serde_json::from_str::<Json>(text)
        .map(|json| json.0)
        .map_err(|error| CatalogError {
            place: "$".into(),
            message: format!("not a catalogue in JSON: {error}"),
            position: Some((error.line(), error.column())),
        })
}

/// A JSON value as data. The marks of the wire form, such as `$secret`, have no meaning here.
struct Json(Value);

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json(Value::Int(value)))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Json, E> {
        i64::try_from(value)
            .map(|value| Json(Value::Int(value)))
            .map_err(|_| E::custom("an integer beyond 64 bits"))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json(Value::Float(value)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json(Value::text(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(Json(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Json(Value::list(list)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut map = Map::default();
        while let Some((key, Json(value))) = entries.next_entry::<Name, Json>()? {
            if map.insert(Name::clone(&key), value).is_some() {
                return Err(A::Error::custom(format!(
                    "the key `{key}` is written twice"
                )));
            }
        }
        Ok(Json(Value::Map(std::sync::Arc::new(map))))
    }
}

/// One step of a path.
#[derive(Clone, Copy)]
enum JsonStep<'a> {
    Top,
    Key(&'a str),
    Index(usize),
}

/// The path of a value: a chain to the top, which is formatted only for a message.
#[derive(Clone, Copy)]
pub(super) struct JsonPlace<'a> {
    parent: Option<&'a JsonPlace<'a>>,
    step: JsonStep<'a>,
}

impl<'a> JsonPlace<'a> {
    /// The whole catalogue.
    pub(super) fn top() -> JsonPlace<'static> {
        JsonPlace {
            parent: None,
            step: JsonStep::Top,
        }
    }

    /// The value of a key.
    pub(super) fn key(&'a self, key: &'a str) -> JsonPlace<'a> {
        JsonPlace {
            parent: Some(self),
            step: JsonStep::Key(key),
        }
    }

    /// An item of a list.
    pub(super) fn index(&'a self, index: usize) -> JsonPlace<'a> {
        JsonPlace {
            parent: Some(self),
            step: JsonStep::Index(index),
        }
    }

    /// An error at this place.
    pub(super) fn error(&self, message: impl Into<String>) -> CatalogError {
        CatalogError {
            place: self.to_string(),
            message: message.into(),
            position: None,
        }
    }
}

impl fmt::Display for JsonPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.step {
            JsonStep::Top => f.write_str("$"),
            JsonStep::Index(index) => write!(f, "[{index}]"),
            JsonStep::Key(key)
                if key
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) =>
            {
                write!(f, ".{key}")
            }
            JsonStep::Key(key) => write!(f, "[{key:?}]"),
        }
    }
}

/// A map with known keys only, and its place.
pub(super) struct JsonObject<'a> {
    /// Its place.
    pub(super) place: &'a JsonPlace<'a>,
    map: &'a Map,
}

impl<'a> JsonObject<'a> {
    /// The map at a place.
    ///
    /// # Errors
    /// If the value is not a map, or has a key other than `known`.
    pub(super) fn new(
        value: &'a Value,
        place: &'a JsonPlace<'a>,
        known: &[&str],
    ) -> Result<JsonObject<'a>, CatalogError> {
        let map = entries(value, place)?;
        for key in map.keys() {
            if !known.contains(&key.as_ref()) {
                let near = match diag::nearest(key, known.iter().copied()) {
                    Some(near) => format!("; did you mean `{near}`?"),
                    None => String::new(),
                };
                return Err(place.key(key).error(format!("unknown key `{key}`{near}")));
            }
        }
        Ok(JsonObject { place, map })
    }

    /// The value of a key. `None` if the value is null or the key is absent.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// Whether the key is written, null included.
    pub(super) fn has(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    /// A required value.
    pub(super) fn need(&self, key: &str) -> Result<&'a Value, CatalogError> {
        self.get(key)
            .ok_or_else(|| self.place.error(format!("`{key}` is missing")))
    }

    /// An error about a key.
    pub(super) fn error(&self, key: &str, message: impl Into<String>) -> CatalogError {
        self.place.key(key).error(message)
    }

    /// A text, if written.
    pub(super) fn text(&self, key: &str) -> Result<Option<Name>, CatalogError> {
        self.get(key)
            .map(|value| text(value, &self.place.key(key)))
            .transpose()
    }

    /// A required text.
    pub(super) fn need_text(&self, key: &str) -> Result<Name, CatalogError> {
        text(self.need(key)?, &self.place.key(key))
    }

    /// The text under `docs`, else under `about`, else an empty text.
    pub(super) fn docs(&self) -> Result<Name, CatalogError> {
        Ok(match self.text("docs")? {
            Some(docs) => docs,
            None => self.text("about")?.unwrap_or_else(|| "".into()),
        })
    }

    /// A flag; false by default.
    pub(super) fn flag(&self, key: &str) -> Result<bool, CatalogError> {
        self.flag_or(key, false)
    }

    /// A flag with its default.
    pub(super) fn flag_or(&self, key: &str, otherwise: bool) -> Result<bool, CatalogError> {
        match self.get(key) {
            None => Ok(otherwise),
            Some(Value::Bool(value)) => Ok(*value),
            Some(_) => Err(self.error(key, "must be true or false")),
        }
    }

    /// An integer from 0, if written.
    pub(super) fn count(&self, key: &str) -> Result<Option<u64>, CatalogError> {
        self.get(key)
            .map(|value| {
                value
                    .as_int()
                    .and_then(|value| u64::try_from(value).ok())
                    .ok_or_else(|| self.error(key, "must be an integer from 0"))
            })
            .transpose()
    }

    /// An integer from 0 that fits 32 bits, if written.
    pub(super) fn small_count(&self, key: &str) -> Result<Option<u32>, CatalogError> {
        self.count(key)?
            .map(|count| u32::try_from(count).map_err(|_| self.error(key, "is too large")))
            .transpose()
    }

    /// A number, if written.
    pub(super) fn number(&self, key: &str) -> Result<Option<f64>, CatalogError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Int(value)) => Ok(Some(*value as f64)),
            Some(Value::Float(value)) => Ok(Some(*value)),
            Some(_) => Err(self.error(key, "must be a number")),
        }
    }

    /// The items of a list; empty by default.
    pub(super) fn items(&self, key: &str) -> Result<&'a [Value], CatalogError> {
        match self.get(key) {
            None => Ok(&[]),
            Some(Value::List(items)) => Ok(items),
            Some(_) => Err(self.error(key, "must be a list")),
        }
    }

    /// The texts of a list; empty by default.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<Name>, CatalogError> {
        let place = self.place.key(key);
        self.items(key)?
            .iter()
            .enumerate()
            .map(|(at, item)| text(item, &place.index(at)))
            .collect()
    }

    /// The entries of a map with any keys; empty by default.
    pub(super) fn entries(
        &self,
        key: &str,
    ) -> Result<impl Iterator<Item = (&'a Name, &'a Value)>, CatalogError> {
        let map = self
            .get(key)
            .map(|value| entries(value, &self.place.key(key)))
            .transpose()?;
        Ok(map.into_iter().flatten())
    }
}

fn entries<'a>(value: &'a Value, place: &JsonPlace<'_>) -> Result<&'a Map, CatalogError> {
    match value {
        Value::Map(map) => Ok(map),
        _ => Err(place.error("must be an object")),
    }
}

/// The text at a place.
pub(super) fn text(value: &Value, place: &JsonPlace<'_>) -> Result<Name, CatalogError> {
    match value {
        Value::Text(text) => Ok(text.clone()),
        _ => Err(place.error("must be a string")),
    }
}
