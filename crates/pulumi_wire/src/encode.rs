//! Encodes a value to its wire form.

use std::collections::BTreeMap;

use blueprint::{Address, Map, Unknown, Value};
use data_encoding::BASE64;
use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Value as Wire};

use crate::asset;
use crate::lookups::{Lookups, Reference};
use crate::path::{PropertyPath, PropertyStep};
use crate::signature::{KEY, Special, UNKNOWN_TEXT, unknown_text};

/// The maximum depth of values, so that no value exhausts the stack. Plugins refuse even less deep
/// values.
pub(crate) const DEPTH: usize = 100;

/// The rules for encoding values. [`Encoding::of`] returns those of a call.
#[derive(Clone, Copy)]
pub struct Encoding<'a> {
    /// Whether unknown values are sent. If not, an unknown entry is left out, and an unknown item
    /// of a list becomes null.
    pub unknowns: bool,
    /// Whether secrets are sent with their mark.
    pub secrets: bool,
    /// Whether references to resources are sent as references.
    pub references: bool,
    /// Whether bytes that are not UTF-8 are sent.
    pub bytes: bool,
    /// Whether assets are sent as their digest only, if it is known.
    pub hash_only: bool,
    /// Facts about resources and files.
    pub lookups: &'a dyn Lookups,
}

/// A value that has no wire form.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{problem}")]
pub struct EncodeError {
    /// The path of the value.
    pub path: PropertyPath,
    /// The problem of the value.
    pub problem: EncodeProblem,
}

/// The reason why a value has no wire form. The text does not show the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeProblem {
    /// The properties as a whole are neither a map nor null.
    #[error("must be an object")]
    NotAnObject,
    /// A number that no 64-bit float holds exactly.
    #[error("the number cannot be sent exactly; the protocol has only 64-bit floats")]
    Number,
    /// A function.
    #[error("a function cannot be sent")]
    Function,
    /// A reference to a resource that `lookups` does not know.
    #[error("the resource is not known to this provider")]
    Resource,
    /// Bytes that are not UTF-8, for a plugin that does not accept them.
    #[error("the plugin takes only text, and these bytes are not UTF-8")]
    Bytes,
    /// Too many levels.
    #[error("the value is nested too deeply")]
    Depth,
}

impl EncodeError {
    fn at(problem: EncodeProblem) -> EncodeError {
        EncodeError {
            path: PropertyPath::default(),
            problem,
        }
    }

    fn prepend_step(mut self, step: PropertyStep) -> EncodeError {
        self.path.0.insert(0, step);
        self
    }
}

/// Encodes properties to a map, or to `None` for null. A secret mark around the map moves to each
/// of its entries.
///
/// # Errors
/// If a part of the properties has no wire form.
pub fn encode(properties: &Value, encoding: &Encoding<'_>) -> Result<Option<Struct>, EncodeError> {
    match properties.split_secret() {
        (Value::Null, _) => Ok(None),
        (Value::Map(entries), secret) => {
            let mut whole = fields(entries, encoding, 0)?;
            if secret && encoding.secrets {
                for value in whole.fields.values_mut() {
                    *value = secret_wire(std::mem::take(value));
                }
            }
            Ok(Some(whole))
        }
        _ => Err(EncodeError::at(EncodeProblem::NotAnObject)),
    }
}

fn fields(entries: &Map, encoding: &Encoding<'_>, depth: usize) -> Result<Struct, EncodeError> {
    let mut all = BTreeMap::new();
    for (key, value) in entries.iter() {
        let sent = wire(value, encoding, depth + 1)
            .map_err(|error| error.prepend_step(PropertyStep::Property(key.clone())))?;
        if let Some(sent) = sent {
            all.insert(key.to_string(), sent);
        }
    }
    Ok(Struct { fields: all })
}

/// The wire form of a value; `None` if it is left out.
fn wire(value: &Value, encoding: &Encoding<'_>, depth: usize) -> Result<Option<Wire>, EncodeError> {
    let refused = |problem| Err(EncodeError::at(problem));
    if depth > DEPTH {
        return refused(EncodeProblem::Depth);
    }
    let kind = match value {
        Value::Null => Kind::NullValue(0),
        Value::Bool(value) => Kind::BoolValue(*value),
        Value::Int(value) => match *value as f64 {
            number if number as i128 == i128::from(*value) => Kind::NumberValue(number),
            _ => return refused(EncodeProblem::Number),
        },
        Value::Float(value) if value.is_finite() => Kind::NumberValue(*value),
        Value::Float(_) | Value::Decimal(_) => return refused(EncodeProblem::Number),
        Value::Text(value) => Kind::StringValue(value.to_string()),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Kind::StringValue(text.to_owned()),
            Err(_) if encoding.bytes => {
                return Ok(Some(special(
                    Special::Bytes,
                    [("value", text(BASE64.encode(bytes)))],
                )));
            }
            Err(_) => return refused(EncodeProblem::Bytes),
        },
        Value::List(items) | Value::Set(items) => {
            let item = |(at, item): (usize, &Value)| {
                let sent = wire(item, encoding, depth + 1)
                    .map_err(|error| error.prepend_step(PropertyStep::Index(at as u64)))?;
                Ok(sent.unwrap_or(Wire {
                    kind: Some(Kind::NullValue(0)),
                }))
            };
            Kind::ListValue(ListValue {
                values: items
                    .iter()
                    .enumerate()
                    .map(item)
                    .collect::<Result<_, _>>()?,
            })
        }
        Value::Map(entries) => return map(entries, encoding, depth),
        Value::Asset(asset) => {
            return Ok(Some(asset::to_wire(
                asset,
                encoding.hash_only,
                encoding.lookups,
            )));
        }
        Value::Resource(address) => return resource(address, encoding),
        Value::Function(_) => return refused(EncodeProblem::Function),
        Value::Unknown(unknown) => return Ok(unknown_wire(unknown, encoding)),
        Value::Secret(inner) => {
            let sent = wire(inner, encoding, depth)?;
            return Ok(if encoding.secrets {
                sent.map(secret_wire)
            } else {
                sent
            });
        }
    };
    Ok(Some(Wire { kind: Some(kind) }))
}

/// The wire form of a map, which may itself be a special value in wire form.
fn map(entries: &Map, encoding: &Encoding<'_>, depth: usize) -> Result<Option<Wire>, EncodeError> {
    let known = if entries.contains_key(KEY) {
        asset::special_of(entries)
    } else {
        None
    };
    if known == Some(Special::Reference) && !encoding.references {
        let part = |key: &str| match entries.get(key)?.unmarked() {
            // As in the protocol, the id of a resource that does not exist yet is empty.
            Value::Unknown(_) => Some(""),
            known => known.as_text(),
        };
        return Ok(downgraded(
            part("urn").unwrap_or_default(),
            part("id"),
            encoding,
        ));
    }
    let is_asset = matches!(known, Some(Special::Asset | Special::Archive));
    if is_asset && encoding.hash_only && entries.contains_key("hash") {
        let bare = entries
            .iter()
            .filter(|(key, _)| matches!(&***key, KEY | "hash"));
        let bare: Map = bare
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        return Ok(Some(Wire {
            kind: Some(Kind::StructValue(fields(&bare, encoding, depth)?)),
        }));
    }
    Ok(Some(Wire {
        kind: Some(Kind::StructValue(fields(entries, encoding, depth)?)),
    }))
}

fn unknown_wire(unknown: &Unknown, encoding: &Encoding<'_>) -> Option<Wire> {
    encoding
        .unknowns
        .then(|| text(unknown_text(unknown.ty.as_ref()).to_owned()))
}

fn resource(address: &Address, encoding: &Encoding<'_>) -> Result<Option<Wire>, EncodeError> {
    let Some(Reference {
        urn,
        id,
        name,
        type_name,
        package_version,
    }) = encoding.lookups.reference(address)
    else {
        return Err(EncodeError::at(EncodeProblem::Resource));
    };
    if !encoding.references {
        return Ok(downgraded(&urn, id.as_deref(), encoding));
    }
    let mut parts = vec![("urn", text(urn.to_string()))];
    if let Some(id) = id {
        parts.push(("id", text(id.to_string())));
    }
    for (key, part) in [
        ("name", name),
        ("type", type_name),
        ("packageVersion", package_version),
    ] {
        if !part.is_empty() {
            parts.push((key, text(part.to_string())));
        }
    }
    Ok(Some(special(Special::Reference, parts)))
}

/// A reference for a plugin that does not accept references: its id, or its URN if it has no id.
fn downgraded(urn: &str, id: Option<&str>, encoding: &Encoding<'_>) -> Option<Wire> {
    match id {
        Some("") => encoding.unknowns.then(|| text(UNKNOWN_TEXT.to_owned())),
        Some(id) => Some(text(id.to_owned())),
        None => Some(text(urn.to_owned())),
    }
}

fn secret_wire(inner: Wire) -> Wire {
    special(Special::Secret, [("value", inner)])
}

fn special<'k>(kind: Special, parts: impl IntoIterator<Item = (&'k str, Wire)>) -> Wire {
    let mut fields: BTreeMap<String, Wire> = parts
        .into_iter()
        .map(|(key, part)| (key.to_owned(), part))
        .collect();
    fields.insert(KEY.to_owned(), text(kind.text().to_owned()));
    Wire {
        kind: Some(Kind::StructValue(Struct { fields })),
    }
}

fn text(text: String) -> Wire {
    Wire {
        kind: Some(Kind::StringValue(text)),
    }
}
