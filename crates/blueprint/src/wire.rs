//! The serialised form of a [`Value`] outside the process: JSON with marks. [`VERSION`] is the
//! version of the form.
//!
//! Null, booleans, numbers, texts, lists and maps are plain JSON. A number with a fraction or an
//! exponent is a float. Any other number is an integer, or a decimal if it is too large for `i64`
//! and fits `u64`.
//!
//! A mark is a map with a single key. The key tells the kind of value:
//!
//! - `{"$unknown": [ADDRESS, ..]}`: an unknown value and the resources for which it waits. The form
//!   does not keep its type.
//! - `{"$secret": VALUE}`
//! - `{"$bytes": BASE64}`
//! - `{"$decimal": TEXT}`
//! - `{"$float": "NaN"}`, `"inf"` or `"-inf"`: a float that is not a JSON number.
//! - `{"$set": [VALUE, ..]}`
//! - `{"$asset": {"text": TEXT}}`, with `file`, `remote` or `archive` for the other kinds of
//!   assets.
//! - `{"$resource": ADDRESS}`
//! - `{"$map": MAP}`: a map whose first key begins with `$`.
//!
//! A function has no serialised form: writing it is an error.
//!
//! Secrets are in clear text here. Seal them before writing to storage that outlives the process
//! (`state::seal`).

mod document;

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Address, Asset, IndexMap, Map, Name, Unknown, Value};

pub use document::{WireDocument, WireDocumentError};

/// The version of the form described above.
pub const VERSION: u32 = 1;

/// Writes a map with a single entry.
fn single<S: Serializer>(
    serializer: S,
    key: &str,
    value: &impl Serialize,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(key, value)?;
    map.end()
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Int(value) => serializer.serialize_i64(*value),
            Value::Float(value) if value.is_finite() => serializer.serialize_f64(*value),
            Value::Float(value) => single(serializer, "$float", &value.to_string()),
            Value::Decimal(text) => single(serializer, "$decimal", &text.as_ref()),
            Value::Text(text) => serializer.serialize_str(text),
            Value::Bytes(bytes) => single(serializer, "$bytes", &STANDARD.encode(bytes)),
            Value::List(items) => items.serialize(serializer),
            Value::Set(items) => single(serializer, "$set", &items.as_ref()),
            Value::Map(entries) => {
                if entries
                    .keys()
                    .next()
                    .is_some_and(|key| key.starts_with('$'))
                {
                    single(serializer, "$map", &PlainEntries(entries))
                } else {
                    PlainEntries(entries).serialize(serializer)
                }
            }
            Value::Asset(asset) => single(serializer, "$asset", asset.as_ref()),
            Value::Resource(address) => single(serializer, "$resource", address.as_ref()),
            Value::Function(function) => Err(serde::ser::Error::custom(format!(
                "the function `{}` cannot be stored",
                function.name
            ))),
            Value::Unknown(unknown) => single(serializer, "$unknown", &unknown.waits_for),
            Value::Secret(inner) => single(serializer, "$secret", inner.as_ref()),
        }
    }
}

/// The entries of a map, written without a mark around them.
struct PlainEntries<'a>(&'a Map);

impl Serialize for PlainEntries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in self.0 {
            map.serialize_entry(key.as_ref(), value)?;
        }
        map.end()
    }
}

impl Serialize for Asset {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Asset::Text(text) => single(serializer, "text", &text.as_ref()),
            Asset::File(path) => single(serializer, "file", &path.as_ref()),
            Asset::Remote(url) => single(serializer, "remote", &url.as_ref()),
            Asset::Archive(parts) => {
                struct ArchiveParts<'a>(&'a IndexMap<Name, Asset>);
                impl Serialize for ArchiveParts<'_> {
                    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                        let mut map = serializer.serialize_map(Some(self.0.len()))?;
                        for (name, part) in self.0 {
                            map.serialize_entry(name.as_ref(), part)?;
                        }
                        map.end()
                    }
                }
                single(serializer, "archive", &ArchiveParts(parts))
            }
            Asset::LocalArchive(path) => single(serializer, "localArchive", &path.as_ref()),
            Asset::RemoteArchive(url) => single(serializer, "remoteArchive", &url.as_ref()),
            Asset::Sent(asset, digest) => single(serializer, "sent", &(asset, digest.as_ref())),
        }
    }
}

impl<'de> Deserialize<'de> for Asset {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Asset, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        enum AssetForm {
            Text(Name),
            File(Name),
            Remote(Name),
            Archive(IndexMap<Name, Asset>),
            LocalArchive(Name),
            RemoteArchive(Name),
            Sent(Box<Asset>, Name),
        }
        Ok(match AssetForm::deserialize(deserializer)? {
            AssetForm::Text(text) => Asset::Text(text),
            AssetForm::File(path) => Asset::File(path),
            AssetForm::Remote(url) => Asset::Remote(url),
            AssetForm::Archive(parts) => Asset::Archive(parts),
            AssetForm::LocalArchive(path) => Asset::LocalArchive(path),
            AssetForm::RemoteArchive(url) => Asset::RemoteArchive(url),
            AssetForm::Sent(asset, digest) => Asset::Sent(asset, digest),
        })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value)
            .map_or_else(|_| Value::Decimal(value.to_string().into()), Value::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::with_capacity(items.size_hint().unwrap_or(0).min(4096));
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(Arc::new(list)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::default();
        while let Some(WireKey(key)) = entries.next_key()? {
            if map.is_empty() && key.starts_with('$') {
                let marked = match key.as_ref() {
                    "$secret" => entries.next_value::<Value>()?.secret(),
                    "$unknown" => {
                        let waits_for = entries
                            .next_value::<Option<Vec<Address>>>()?
                            .unwrap_or_default();
                        Value::Unknown(Arc::new(Unknown {
                            ty: None,
                            waits_for,
                        }))
                    }
                    "$bytes" => {
                        let text = entries.next_value::<String>()?;
                        Value::Bytes(STANDARD.decode(text).map_err(A::Error::custom)?.into())
                    }
                    "$decimal" => Value::Decimal(entries.next_value()?),
                    "$float" => {
                        let text = entries.next_value::<String>()?;
                        Value::Float(text.parse().map_err(A::Error::custom)?)
                    }
                    "$set" => Value::Set(Arc::new(entries.next_value()?)),
                    "$asset" => Value::Asset(Arc::new(entries.next_value()?)),
                    "$resource" => Value::Resource(Arc::new(entries.next_value()?)),
                    "$map" => Value::Map(Arc::new(entries.next_value()?)),
                    // Any other key that begins with `$` is an ordinary key.
                    _ => {
                        let value = entries.next_value()?;
                        map.insert(key, value);
                        continue;
                    }
                };
                if entries.next_key::<WireKey>()?.is_some() {
                    return Err(A::Error::custom(format!(
                        "nothing may stand beside `{key}`"
                    )));
                }
                return Ok(marked);
            }
            let value = entries.next_value()?;
            map.insert(key, value);
        }
        Ok(Value::Map(Arc::new(map)))
    }
}

/// Reads a map and takes each of its own keys as an ordinary key, also if it is spelled like a
/// mark. The values may have marks.
impl<'de> Deserialize<'de> for Map {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Map, D::Error> {
        deserializer.deserialize_map(PlainMap)
    }
}

struct PlainMap;

impl<'de> Visitor<'de> for PlainMap {
    type Value = Map;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Map, A::Error> {
        let mut map = Map::new();
        while let Some((WireKey(key), value)) = entries.next_entry()? {
            map.insert(key, value);
        }
        Ok(map)
    }
}

/// Deserialises a name without an intermediate `String`, for `deserialize_with` of fields that are
/// read thousands of times.
pub fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
    WireKey::deserialize(deserializer).map(|WireKey(name)| name)
}

/// A key or name that is deserialised without an intermediate `String`.
struct WireKey(Name);

impl<'de> Deserialize<'de> for WireKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WireKey, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}

struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = WireKey;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, text: &str) -> Result<WireKey, E> {
        Ok(WireKey(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_back_as_they_were() {
        let value = Value::map([
            ("int", Value::Int(3)),
            ("float", Value::Float(3.0)),
            ("none", Value::Null),
            ("secret", Value::from("s").secret()),
            ("bytes", Value::Bytes(Arc::from([0u8, 255].as_slice()))),
            (
                "unknown",
                Value::unknown(
                    None,
                    Some(Address::root("a").with_key(crate::Key::Index(0))),
                ),
            ),
            ("dollar", Value::map([("$secret", Value::Int(1))])),
            ("set", Value::Set(Arc::new(vec![Value::Int(1)]))),
            ("big", Value::Decimal("18446744073709551616".into())),
        ]);
        let text = serde_json::to_string(&value).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap(),
            value,
            "{text}"
        );
        assert!(text.contains("\"float\":3.0"), "{text}");
    }
}
