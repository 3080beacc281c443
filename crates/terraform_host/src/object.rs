//! An object of a provider, and the form in which it is stored.

use std::fmt;
use std::sync::Arc;

use blueprint::{Name, Value};
use terraform_wire::wire::WireError;
use terraform_wire::{AttributeStep, Path, ValueType};

use crate::json;

/// An object as a provider returned or planned it.
#[derive(Clone, Default, PartialEq)]
pub struct Object {
    /// All attributes and blocks: a map in the shape of the schema. Null if the object does not
    /// exist. Attributes that the schema calls sensitive are marked secret.
    pub value: Value,
    /// The types of those parts whose type in the schema is dynamic.
    pub dynamic: Vec<(Path, ValueType)>,
    /// Opaque data of the provider. It can be any bytes, and may hold secrets.
    pub private: Vec<u8>,
    /// The identity of the object outside: a map. Only some types have it.
    pub identity: Option<Value>,
}

/// Omits the private bytes, because they may hold secrets.
impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let private = format_args!("{} bytes", self.private.len()).to_string();
        let mut debug = f.debug_struct("Object");
        debug
            .field("value", &self.value)
            .field("dynamic", &self.dynamic)
            .field("private", &private);
        debug.field("identity", &self.identity).finish()
    }
}

/// An object in its stored form. It must be upgraded before it is used.
#[derive(Clone, PartialEq)]
pub struct Stored {
    /// The version of the schema with which it was written.
    pub version: u64,
    /// The value in Terraform's JSON form. It may hold secrets.
    pub json: Vec<u8>,
    /// Private data of the provider.
    pub private: Vec<u8>,
    /// Its identity, if it has one.
    pub identity: Option<StoredIdentity>,
}

/// The identity of an object in its stored form.
#[derive(Clone, PartialEq)]
pub struct StoredIdentity {
    /// The version of the schema with which it was written.
    pub version: u64,
    /// The value: a map.
    pub value: Value,
}

// The keys of an envelope.
const PRIVATE: &str = "private";
const VERSION: &str = "version";
const DYNAMIC: &str = "dynamic";
const IDENTITY: &str = "identity";
const IDENTITY_VERSION: &str = "identity_version";

impl Object {
    /// Whether the object does not exist.
    pub fn is_absent(&self) -> bool {
        self.value.is_null()
    }

    /// Returns the data that must be stored beside the value so that the object can be used again:
    /// a map whose private part is secret. `version` and `identity_version` are the versions of the
    /// schemas, which [`envelope`](crate::Client::envelope) of the [`Client`](crate::Client) fills
    /// in.
    pub(crate) fn envelope(&self, version: u64, identity_version: u64) -> Value {
        let mut entries = vec![(VERSION, integer(version))];
        if !self.private.is_empty() {
            entries.push((
                PRIVATE,
                Value::Bytes(self.private.as_slice().into()).secret(),
            ));
        }
        if !self.dynamic.is_empty() {
            let one = |(path, ty): &(Path, ValueType)| {
                let steps = Value::list(path.0.iter().map(|step| match step {
                    AttributeStep::Attribute(name) => Value::Text(name.clone()),
                    AttributeStep::Key(key) => Value::list([Value::Text(key.clone())]),
                    AttributeStep::Index(index) => integer(*index),
                }));
                Value::list([steps, Value::text(ty.to_json().to_string())])
            };
            entries.push((DYNAMIC, Value::list(self.dynamic.iter().map(one))));
        }
        if let Some(identity) = &self.identity {
            entries.push((IDENTITY, identity.clone()));
            entries.push((IDENTITY_VERSION, integer(identity_version)));
        }
        Value::map(entries)
    }
}

/// The parts of an envelope. A missing part is empty.
#[derive(Default)]
pub(crate) struct EnvelopeParts {
    /// The version of the schema.
    pub(crate) version: Option<u64>,
    pub(crate) private: Vec<u8>,
    pub(crate) dynamic: Vec<(Path, ValueType)>,
    pub(crate) identity: Option<StoredIdentity>,
}

/// Returns an envelope with this version of the schema, unless it already has one.
pub(crate) fn versioned(envelope: &Value, version: u64) -> Value {
    if envelope.get(VERSION).is_some() {
        return envelope.clone();
    }
    let mut entries = envelope.as_map().cloned().unwrap_or_default();
    entries.insert(VERSION.into(), integer(version));
    Value::Map(Arc::new(entries))
}

impl EnvelopeParts {
    pub(crate) fn of(envelope: &Value) -> EnvelopeParts {
        let number = |key: &str| {
            envelope
                .get(key)
                .and_then(Value::as_int)
                .and_then(|number| u64::try_from(number).ok())
        };
        let private = match envelope.get(PRIVATE).map(Value::unmarked) {
            Some(Value::Bytes(bytes)) => bytes.to_vec(),
            _ => Vec::new(),
        };
        let dynamic: Vec<_> = envelope
            .get(DYNAMIC)
            .and_then(Value::as_list)
            .unwrap_or_default()
            .iter()
            .filter_map(|pair| dynamic_part(pair.as_list()?))
            .collect();
        let identity = envelope
            .get(IDENTITY)
            .filter(|identity| !identity.is_null());
        EnvelopeParts {
            version: number(VERSION),
            private,
            dynamic,
            identity: identity.map(|identity| StoredIdentity {
                version: number(IDENTITY_VERSION).unwrap_or_default(),
                value: identity.clone(),
            }),
        }
    }
}

impl Stored {
    /// Returns the stored object of a value and its envelope. A missing part of the envelope counts
    /// as empty.
    ///
    /// # Errors
    /// If the value cannot be stored, for example because a part of it is unknown.
    pub fn restore(value: &Value, envelope: &Value) -> Result<Stored, WireError> {
        let EnvelopeParts {
            version,
            private,
            dynamic,
            identity,
        } = EnvelopeParts::of(envelope);
        Ok(Stored {
            version: version.unwrap_or_default(),
            json: json::write(value, &dynamic)?,
            private,
            identity,
        })
    }
}

fn dynamic_part(pair: &[Value]) -> Option<(Path, ValueType)> {
    let [steps, ty] = pair else { return None };
    let step = |step: &Value| match step.unmarked() {
        Value::Text(name) => Some(AttributeStep::Attribute(name.clone())),
        Value::Int(index) => u64::try_from(*index).ok().map(AttributeStep::Index),
        Value::List(key) => Some(AttributeStep::Key(Name::from(key.first()?.as_text()?))),
        _ => None,
    };
    let path = Path(steps.as_list()?.iter().map(step).collect::<Option<_>>()?);
    Some((path, ValueType::from_json(ty.as_text()?.as_bytes()).ok()?))
}

fn integer(number: u64) -> Value {
    // A larger version is refused when the schema is read again, so nothing is lost by the limit.
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_gives_the_object_back() {
        let path = Path::default()
            .attribute(&"d".into())
            .index(1)
            .key(&"k".into());
        let value = Value::map([(
            "d",
            Value::list([Value::Null, Value::map([("k", Value::Int(7))])]),
        )]);
        let object = Object {
            value: value.clone(),
            dynamic: vec![(path, ValueType::Number)],
            private: vec![0, 255, 7],
            identity: Some(Value::map([("id", Value::from("x"))])),
        };
        let stored = Stored::restore(&value, &object.envelope(4, 2)).unwrap();
        assert_eq!(
            (stored.version, stored.private.as_slice()),
            (4, [0, 255, 7].as_slice())
        );
        assert_eq!(
            stored.json,
            br#"{"d":[null,{"k":{"value":7,"type":"number"}}]}"#
        );
        let identity = stored.identity.unwrap();
        assert_eq!(
            (identity.version, Some(identity.value)),
            (2, object.identity)
        );
    }

    #[test]
    fn private_data_is_secret() {
        let object = Object {
            private: b"p".to_vec(),
            ..Object::default()
        };
        assert!(matches!(
            object.envelope(0, 0).get(PRIVATE),
            Some(Value::Secret(_))
        ));
        assert!(
            !format!("{object:?}").contains("112"),
            "private bytes are shown"
        );
    }

    #[test]
    fn a_foreign_envelope_is_empty() {
        let stored =
            Stored::restore(&Value::map([("a", Value::Int(1))]), &Value::from("x")).unwrap();
        assert_eq!(
            (
                stored.version,
                stored.private.len(),
                stored.identity.is_none()
            ),
            (0, 0, true)
        );
    }
}
