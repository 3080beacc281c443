//! The types of Terraform's values, and their JSON form.

use std::sync::Arc;

use blueprint::{IndexMap, Name, Type, Value};
use serde_json::Value as Json;

/// The type of a value of a Terraform provider.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueType {
    /// Any type; the type is sent with the value.
    Dynamic,
    /// A boolean.
    Bool,
    /// A number of any size and precision.
    Number,
    /// Text.
    String,
    /// A list with items of one type.
    List(Arc<ValueType>),
    /// A set with elements of one type.
    Set(Arc<ValueType>),
    /// A map with any keys and values of one type.
    Map(Arc<ValueType>),
    /// A list of fixed length with a type for each item.
    Tuple(Arc<[ValueType]>),
    /// An object: all of its keys are always present.
    Object(Arc<IndexMap<Name, ValueType>>),
}

/// The error of a text that does not describe a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the type is not in the form of the protocol")]
pub struct TypeError;

/// The maximum nesting depth of a type that is read.
const DEEPEST: usize = 64;

impl ValueType {
    /// Returns a list type.
    pub fn list(item: ValueType) -> ValueType {
        ValueType::List(Arc::new(item))
    }

    /// Returns a set type.
    pub fn set(element: ValueType) -> ValueType {
        ValueType::Set(Arc::new(element))
    }

    /// Returns a map type.
    pub fn map(value: ValueType) -> ValueType {
        ValueType::Map(Arc::new(value))
    }

    /// Returns an object type.
    pub fn object<K: Into<Name>>(
        attributes: impl IntoIterator<Item = (K, ValueType)>,
    ) -> ValueType {
        ValueType::Object(Arc::new(
            attributes
                .into_iter()
                .map(|(name, ty)| (name.into(), ty))
                .collect(),
        ))
    }

    /// Reads the JSON form: `"string"`, `["list", "string"]`, `["object", {"a": "bool"}]`.
    ///
    /// # Errors
    /// If the bytes are not such JSON, or are nested deeper than 64 levels.
    pub fn from_json(bytes: &[u8]) -> Result<ValueType, TypeError> {
        let json: Json = serde_json::from_slice(bytes).map_err(|_| TypeError)?;
        ValueType::of_json(&json)
    }

    /// As [`ValueType::from_json`], from JSON that is already parsed.
    ///
    /// # Errors
    /// If it does not describe a type, or is nested deeper than 64 levels.
    pub fn of_json(json: &Json) -> Result<ValueType, TypeError> {
        read(json, 0)
    }

    /// The JSON form.
    pub fn to_json(&self) -> Json {
        let pair = |word: &str, inner: Json| Json::Array(vec![word.into(), inner]);
        match self {
            ValueType::Dynamic => "dynamic".into(),
            ValueType::Bool => "bool".into(),
            ValueType::Number => "number".into(),
            ValueType::String => "string".into(),
            ValueType::List(item) => pair("list", item.to_json()),
            ValueType::Set(element) => pair("set", element.to_json()),
            ValueType::Map(value) => pair("map", value.to_json()),
            ValueType::Tuple(items) => {
                pair("tuple", items.iter().map(ValueType::to_json).collect())
            }
            ValueType::Object(attributes) => {
                let entries = attributes
                    .iter()
                    .map(|(name, ty)| (name.to_string(), ty.to_json()))
                    .collect();
                pair("object", Json::Object(entries))
            }
        }
    }

    /// The implied type of a value without a declared type: a list is a tuple, a map is an object.
    pub fn implied(value: &Value) -> ValueType {
        match value.unmarked() {
            Value::Bool(_) => ValueType::Bool,
            Value::Int(_) | Value::Float(_) | Value::Decimal(_) => ValueType::Number,
            Value::Text(_) => ValueType::String,
            Value::List(items) => ValueType::Tuple(items.iter().map(ValueType::implied).collect()),
            Value::Set(items) => {
                ValueType::set(items.first().map_or(ValueType::Dynamic, ValueType::implied))
            }
            Value::Map(entries) => ValueType::object(
                entries
                    .iter()
                    .map(|(key, value)| (key.clone(), ValueType::implied(value))),
            ),
            _ => ValueType::Dynamic,
        }
    }

    /// The corresponding type of the engine.
    pub fn engine_type(&self) -> Type {
        match self {
            ValueType::Dynamic => Type::Any,
            ValueType::Bool => Type::Bool,
            ValueType::Number => Type::number(),
            ValueType::String => Type::Text,
            ValueType::List(item) | ValueType::Set(item) => Type::list(item.engine_type()),
            ValueType::Map(value) => Type::map(value.engine_type()),
            ValueType::Tuple(items) => Type::list(match items.is_empty() {
                true => Type::Any,
                false => Type::union(items.iter().map(ValueType::engine_type)),
            }),
            ValueType::Object(attributes) => Type::object(
                attributes
                    .iter()
                    .map(|(name, ty)| (name.clone(), ty.engine_type())),
            ),
        }
    }

    /// An unknown value of this type.
    pub fn unknown(&self) -> Value {
        Value::unknown(Some(self.engine_type()), None)
    }
}

fn read(json: &Json, depth: usize) -> Result<ValueType, TypeError> {
    if depth > DEEPEST {
        return Err(TypeError);
    }
    match json {
        Json::String(word) => match word.as_str() {
            "dynamic" => Ok(ValueType::Dynamic),
            "bool" => Ok(ValueType::Bool),
            "number" => Ok(ValueType::Number),
            "string" => Ok(ValueType::String),
            _ => Err(TypeError),
        },
        Json::Array(parts) => match parts.as_slice() {
            [Json::String(word), inner] => compound(word, inner, depth + 1),
            // The third part lists attributes that a document may leave out.
            [Json::String(word), inner, Json::Array(_)] if word == "object" => {
                compound(word, inner, depth + 1)
            }
            _ => Err(TypeError),
        },
        _ => Err(TypeError),
    }
}

fn compound(word: &str, inner: &Json, depth: usize) -> Result<ValueType, TypeError> {
    match (word, inner) {
        ("list", inner) => Ok(ValueType::list(read(inner, depth)?)),
        ("set", inner) => Ok(ValueType::set(read(inner, depth)?)),
        ("map", inner) => Ok(ValueType::map(read(inner, depth)?)),
        ("tuple", Json::Array(items)) => Ok(ValueType::Tuple(
            items
                .iter()
                .map(|item| read(item, depth))
                .collect::<Result<_, _>>()?,
        )),
        ("object", Json::Object(entries)) => {
            let types = entries
                .iter()
                .map(|(name, ty)| Ok((Name::from(name.as_str()), read(ty, depth)?)));
            Ok(ValueType::Object(Arc::new(
                types.collect::<Result<_, TypeError>>()?,
            )))
        }
        _ => Err(TypeError),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_keep_their_json_form() {
        for text in [
            r#""dynamic""#,
            r#"["list","string"]"#,
            r#"["set",["map","number"]]"#,
            r#"["tuple",["bool","dynamic"]]"#,
            r#"["object",{"a":"bool","b":["list","string"]}]"#,
        ] {
            assert_eq!(
                ValueType::from_json(text.as_bytes())
                    .unwrap()
                    .to_json()
                    .to_string(),
                text
            );
        }
        assert!(ValueType::from_json(br#"["object",{"a":"bool"},["a"]]"#).is_ok());
    }

    #[test]
    fn other_texts_are_no_types() {
        let deep = format!("{}\"bool\"{}", r#"["list","#.repeat(100), "]".repeat(100));
        for text in [
            "",
            "{}",
            "7",
            r#""int""#,
            r#"["list"]"#,
            r#"["object","a"]"#,
            r#"["tuple",{}]"#,
            &deep,
        ] {
            assert_eq!(
                ValueType::from_json(text.as_bytes()),
                Err(TypeError),
                "{text}"
            );
        }
    }
}
