//! Values: known data, unknown values and secrets.

use std::sync::Arc;

use crate::map::{Entries, IndexMap};
use crate::{Address, Name, Names, Type};

/// The entries of a map value, in order; keys are unique.
pub type Map = Entries<Value>;

/// A value. Cloning copies at most a pointer.
#[derive(Clone, PartialEq, Default)]
pub enum Value {
    /// Null: JSON's null, and `none` of the blueprint dialect.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A 64-bit float. It is finite except in dialects with infinite values or NaN.
    Float(f64),
    /// A number outside the range of both, as exact decimal text.
    Decimal(Name),
    /// Text.
    Text(Name),
    /// Binary data.
    Bytes(Arc<[u8]>),
    /// Items, in order.
    List(Arc<Vec<Value>>),
    /// Items whose order and repetition do not matter.
    Set(Arc<Vec<Value>>),
    /// Entries, in order.
    Map(Arc<Map>),
    /// A file or archive for a provider.
    Asset(Arc<Asset>),
    /// A reference to a whole resource.
    Resource(Arc<Address>),
    /// A function. It is never stored, sent or printed.
    Function(Arc<Function>),
    /// A value that is not known yet.
    Unknown(Arc<Unknown>),
    /// A value that must not be shown. Never directly around another `Secret`.
    Secret(Arc<Value>),
}

/// Content that a provider takes as a file or an archive.
#[derive(Clone, Debug, PartialEq)]
pub enum Asset {
    /// The text itself.
    Text(Name),
    /// A local path.
    File(Name),
    /// A remote file.
    Remote(Name),
    /// An archive of named entries.
    Archive(IndexMap<Name, Asset>),
    /// A local archive file, or a folder as an archive.
    LocalArchive(Name),
    /// A remote archive file.
    RemoteArchive(Name),
    /// An asset with the digest of its content when it was sent, so that a change of the content is
    /// a change of the value. Never directly around another one.
    Sent(Box<Asset>, Name),
}

impl Asset {
    /// Whether it is an archive.
    pub fn is_archive(&self) -> bool {
        match self {
            Asset::Archive(_) | Asset::LocalArchive(_) | Asset::RemoteArchive(_) => true,
            Asset::Sent(asset, _) => asset.is_archive(),
            Asset::Text(_) | Asset::File(_) | Asset::Remote(_) => false,
        }
    }
}

/// A function value: a named function of a function table, with bound arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name in the table.
    pub name: Name,
    /// The bound arguments. The named function defines their meaning.
    pub bound: Vec<Value>,
}

/// The known facts about an unknown value.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Unknown {
    /// The type, if known.
    pub ty: Option<Type>,
    /// The resources that must exist first, as far as known.
    pub waits_for: Vec<Address>,
}

impl Value {
    /// Creates a text.
    pub fn text(text: impl Into<Name>) -> Value {
        Value::Text(text.into())
    }

    /// Creates a list.
    pub fn list(items: impl IntoIterator<Item = Value>) -> Value {
        Value::List(Arc::new(items.into_iter().collect()))
    }

    /// Creates a map.
    pub fn map<K: Into<Name>>(entries: impl IntoIterator<Item = (K, Value)>) -> Value {
        Value::Map(Arc::new(
            entries
                .into_iter()
                .map(|(key, value)| (key.into(), value))
                .collect(),
        ))
    }

    /// Creates an unknown value of a type that waits for one resource.
    pub fn unknown(ty: Option<Type>, waits_for: Option<Address>) -> Value {
        Value::Unknown(Arc::new(Unknown {
            ty,
            waits_for: waits_for.into_iter().collect(),
        }))
    }

    /// An unknown value that waits for everything that the unknown parts of this one wait for.
    pub fn as_unknown(&self) -> Value {
        let mut waits_for = Vec::new();
        self.waits_for(&mut waits_for);
        Value::Unknown(Arc::new(Unknown {
            ty: None,
            waits_for,
        }))
    }

    /// The value marked secret. A secret value stays as it is.
    pub fn secret(self) -> Value {
        match self {
            Value::Secret(_) => self,
            other => Value::Secret(Arc::new(other)),
        }
    }

    /// The value without an outer secret mark, and whether it had one.
    pub fn split_secret(&self) -> (&Value, bool) {
        match self {
            Value::Secret(inner) => (inner, true),
            other => (other, false),
        }
    }

    /// The value without an outer secret mark.
    pub fn unmarked(&self) -> &Value {
        self.split_secret().0
    }

    /// The value, marked secret if `secret` is true.
    pub fn tainted(self, secret: bool) -> Value {
        if secret { self.secret() } else { self }
    }

    /// Whether the value itself is unknown. Parts of it do not matter.
    pub fn is_unknown(&self) -> bool {
        matches!(self.unmarked(), Value::Unknown(_))
    }

    /// Whether the value is null or a secret null.
    pub fn is_null(&self) -> bool {
        matches!(self.unmarked(), Value::Null)
    }

    /// Whether the value or a part of it is unknown.
    pub fn has_unknown(&self) -> bool {
        match self {
            Value::Unknown(_) => true,
            Value::Secret(inner) => inner.has_unknown(),
            Value::List(items) | Value::Set(items) => items.iter().any(Value::has_unknown),
            Value::Map(entries) => entries.values().any(Value::has_unknown),
            _ => false,
        }
    }

    /// Whether the value or a part of it is secret.
    // Most values are scalars and answer without a call.
    #[inline]
    pub fn has_secret(&self) -> bool {
        match self {
            Value::Secret(_) => true,
            Value::List(_) | Value::Set(_) | Value::Map(_) => self.holds_secret(),
            _ => false,
        }
    }

    /// Whether a part of a list, set or map is secret.
    fn holds_secret(&self) -> bool {
        match self {
            Value::List(items) | Value::Set(items) => items.iter().any(Value::has_secret),
            Value::Map(entries) => entries.values().any(Value::has_secret),
            _ => false,
        }
    }

    /// Replaces the keys of maps, at any depth, by equal ones that `names` holds, so that records
    /// of one type share the names of their fields. Parts that are shared with other values stay as
    /// they are.
    pub fn share_keys(&mut self, names: &mut Names) {
        match self {
            Value::Map(entries) => {
                if let Some(entries) = Arc::get_mut(entries) {
                    entries.share_keys(names, Value::share_keys);
                }
            }
            Value::List(items) | Value::Set(items) => {
                if let Some(items) = Arc::get_mut(items) {
                    items.iter_mut().for_each(|item| item.share_keys(names));
                }
            }
            Value::Secret(inner) => {
                if let Some(inner) = Arc::get_mut(inner) {
                    inner.share_keys(names);
                }
            }
            _ => {}
        }
    }

    /// The same value without secret marks at any depth.
    pub fn revealed(&self) -> Value {
        match self {
            Value::Secret(inner) => inner.revealed(),
            Value::List(items) if self.has_secret() => {
                Value::list(items.iter().map(Value::revealed))
            }
            Value::Set(items) if self.has_secret() => {
                Value::Set(Arc::new(items.iter().map(Value::revealed).collect()))
            }
            Value::Map(entries) if self.has_secret() => Value::Map(Arc::new(
                entries
                    .iter()
                    .map(|(key, value)| (key.clone(), value.revealed()))
                    .collect(),
            )),
            other => other.clone(),
        }
    }

    /// Adds to `found` everything that the unknown parts of the value wait for, each once.
    pub fn waits_for(&self, found: &mut Vec<Address>) {
        match self {
            Value::Unknown(unknown) => {
                for address in &unknown.waits_for {
                    if !found.contains(address) {
                        found.push(address.clone());
                    }
                }
            }
            Value::Secret(inner) => inner.waits_for(found),
            Value::List(items) | Value::Set(items) => {
                items.iter().for_each(|item| item.waits_for(found))
            }
            Value::Map(entries) => entries.values().for_each(|value| value.waits_for(found)),
            _ => {}
        }
    }

    /// The text, if the value is a text or a secret text.
    pub fn as_text(&self) -> Option<&str> {
        match self.unmarked() {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean, if the value is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.unmarked() {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The integer, if the value is one.
    pub fn as_int(&self) -> Option<i64> {
        match self.unmarked() {
            Value::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// The items, if the value is a list or set.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self.unmarked() {
            Value::List(items) | Value::Set(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, if the value is a map.
    pub fn as_map(&self) -> Option<&Map> {
        match self.unmarked() {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The entry with a key, if the value is a map with this key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_map()?.get(key)
    }

    /// The kind of the value in the blueprint dialect, for messages: `string`, `array`, ...
    pub fn kind_word(&self) -> &'static str {
        match self.unmarked() {
            Value::Null => "none",
            Value::Bool(_) => "boolean",
            Value::Int(_) => "integer",
            Value::Float(_) => "float",
            Value::Decimal(_) => "number",
            Value::Text(_) => "string",
            Value::Bytes(_) => "binary",
            Value::List(_) | Value::Set(_) => "array",
            Value::Map(_) => "object",
            Value::Asset(_) => "asset",
            Value::Resource(_) => "resource",
            Value::Function(_) => "function",
            Value::Unknown(_) => "value known on deploy",
            Value::Secret(_) => "secret",
        }
    }
}

impl Type {
    /// The most specific type of a value.
    pub fn of(value: &Value) -> Type {
        match value {
            Value::Null => Type::Null,
            Value::Bool(_) => Type::Bool,
            Value::Int(_) => Type::Int,
            Value::Float(_) | Value::Decimal(_) => Type::Float,
            Value::Text(_) => Type::Text,
            Value::Bytes(_) => Type::Bytes,
            Value::List(items) | Value::Set(items) => {
                if items.is_empty() {
                    Type::list(Type::Any)
                } else {
                    Type::list(Type::union(items.iter().map(Type::of)))
                }
            }
            Value::Map(entries) => Type::object(
                entries
                    .iter()
                    .map(|(key, value)| (key.clone(), Type::of(value))),
            ),
            Value::Asset(_) | Value::Resource(_) => Type::Any,
            Value::Function(_) => Type::Function,
            Value::Unknown(unknown) => unknown.ty.clone().unwrap_or(Type::Any),
            Value::Secret(inner) => Type::of(inner),
        }
    }
}

/// Formats data as JSON, unknown values as `(known on deploy)` and secrets as `(secret)`: safe for
/// any output.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Float(value) => f.write_str(&crate::format_float(*value)),
            Value::Decimal(text) => f.write_str(text),
            Value::Text(text) => {
                f.write_str(&serde_json::to_string(text.as_ref()).unwrap_or_default())
            }
            Value::Bytes(bytes) => write!(f, "({} bytes)", bytes.len()),
            Value::List(items) | Value::Set(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Value::Map(entries) => {
                f.write_str("{")?;
                for (at, (key, value)) in entries.iter().enumerate() {
                    let key = serde_json::to_string(key.as_ref()).unwrap_or_default();
                    write!(f, "{}{key}: {value}", if at == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
            Value::Asset(_) => f.write_str("(asset)"),
            Value::Resource(address) => write!(f, "{address}"),
            Value::Function(function) => write!(f, "(function {})", function.name),
            Value::Unknown(_) => f.write_str("(known on deploy)"),
            Value::Secret(_) => f.write_str("(secret)"),
        }
    }
}

/// The same as `Display`, so that debug output shows no secret.
impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::text(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::text(text)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Float(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_prints_nothing() {
        let value = Value::map([
            ("a", Value::from("open")),
            ("b", Value::from("hidden").secret()),
        ]);
        assert_eq!(value.to_string(), r#"{"a": "open", "b": (secret)}"#);
        assert!(!format!("{value:?}").contains("hidden"));
        assert!(value.has_secret() && !value.revealed().has_secret());
    }
}
