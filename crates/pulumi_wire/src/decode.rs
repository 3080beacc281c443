//! Decodes the wire form to a value.

use std::collections::BTreeMap;
use std::sync::Arc;

use blueprint::{Address, Map, Name, Unknown, Value};
use data_encoding::BASE64;
use prost_types::value::Kind;
use prost_types::{Struct, Value as Wire};

use crate::asset;
use crate::encode::DEPTH;
use crate::lookups::Lookups;
use crate::path::{PropertyPath, PropertyStep};
use crate::rules::Phase;
use crate::signature::{KEY, Special, UNKNOWN_TEXT, unknown_of_text};

/// The rules for decoding an answer.
#[derive(Clone, Copy)]
pub struct Decoding<'a> {
    /// The phase of the call. Unknown values are allowed only while planning.
    pub phase: Phase,
    /// The resource that unknown values of the answer wait for.
    pub waits_for: Option<&'a Address>,
    /// Facts about resources.
    pub lookups: &'a dyn Lookups,
}

/// An answer that cannot be decoded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{problem}")]
pub struct DecodeError {
    /// The path of the invalid part.
    pub path: PropertyPath,
    /// The problem of the part.
    pub problem: DecodeProblem,
}

/// A problem of an answer. The text does not show the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeProblem {
    /// A value is unknown although everything must be known.
    #[error("the plugin answered an unknown value where all values must be known")]
    Unknown,
    /// A number that is infinite or no number.
    #[error("the plugin answered a number that is infinite or not a number")]
    Number,
    /// A special value without the parts that it must have.
    #[error("the plugin answered a special value without its content")]
    Special,
    /// Too many levels.
    #[error("the plugin answered a value that is nested too deeply")]
    Depth,
}

impl DecodeError {
    fn at(problem: DecodeProblem) -> DecodeError {
        DecodeError {
            path: PropertyPath::default(),
            problem,
        }
    }

    fn prepend_step(mut self, step: PropertyStep) -> DecodeError {
        self.path.0.insert(0, step);
        self
    }
}

/// Decodes an answer, which is a map. Assets with a recorded digest, and references to resources
/// that `lookups` does not know, stay maps in their wire form; [`encode`](crate::encode) sends such
/// maps unchanged.
///
/// # Errors
/// If the answer contains something that the protocol does not allow.
pub fn decode(answer: Struct, decoding: &Decoding<'_>) -> Result<Value, DecodeError> {
    Ok(Value::Map(Arc::new(entries(answer.fields, decoding, 0)?)))
}

fn entries(
    fields: BTreeMap<String, Wire>,
    decoding: &Decoding<'_>,
    depth: usize,
) -> Result<Map, DecodeError> {
    let mut all = Map::with_capacity(fields.len());
    for (key, wire) in fields {
        let key = Name::from(key);
        let value = value(wire, decoding, depth + 1)
            .map_err(|error| error.prepend_step(PropertyStep::Property(key.clone())))?;
        all.insert(key, value);
    }
    Ok(all)
}

fn value(wire: Wire, decoding: &Decoding<'_>, depth: usize) -> Result<Value, DecodeError> {
    let refused = |problem| Err(DecodeError::at(problem));
    if depth > DEPTH {
        return refused(DecodeProblem::Depth);
    }
    Ok(match wire.kind {
        None | Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::BoolValue(value)) => Value::Bool(value),
        Some(Kind::NumberValue(number)) if number.is_finite() => number_value(number),
        Some(Kind::NumberValue(_)) => return refused(DecodeProblem::Number),
        Some(Kind::StringValue(text)) => match unknown_of_text(&text) {
            Some(ty) => unknown(ty, Vec::new(), decoding)?,
            None => Value::from(text),
        },
        Some(Kind::ListValue(list)) => {
            let item = |(at, item)| {
                value(item, decoding, depth + 1).map_err(|error: DecodeError| {
                    error.prepend_step(PropertyStep::Index(at as u64))
                })
            };
            Value::List(Arc::new(
                list.values
                    .into_iter()
                    .enumerate()
                    .map(item)
                    .collect::<Result<_, _>>()?,
            ))
        }
        Some(Kind::StructValue(inner)) => match special_of(&inner.fields) {
            None => Value::Map(Arc::new(entries(inner.fields, decoding, depth)?)),
            Some(special) => special_value(special, inner.fields, decoding, depth)?,
        },
    })
}

fn special_of(fields: &BTreeMap<String, Wire>) -> Option<Special> {
    match &fields.get(KEY)?.kind {
        Some(Kind::StringValue(text)) => Special::of_text(text),
        _ => None,
    }
}

/// A whole number becomes an integer, because the wire form does not distinguish integers and
/// floats.
fn number_value(number: f64) -> Value {
    // 2^63 itself is outside the range of integers.
    if number.fract() == 0.0 && number.abs() < 9_223_372_036_854_775_808.0 {
        Value::Int(number as i64)
    } else {
        Value::Float(number)
    }
}

fn unknown(
    ty: Option<blueprint::Type>,
    mut waits_for: Vec<Address>,
    decoding: &Decoding<'_>,
) -> Result<Value, DecodeError> {
    if decoding.phase == Phase::Applying {
        return Err(DecodeError::at(DecodeProblem::Unknown));
    }
    if let Some(address) = decoding
        .waits_for
        .filter(|address| !waits_for.contains(address))
    {
        waits_for.push(address.clone());
    }
    Ok(Value::Unknown(Arc::new(Unknown { ty, waits_for })))
}

fn special_value(
    special: Special,
    mut fields: BTreeMap<String, Wire>,
    decoding: &Decoding<'_>,
    depth: usize,
) -> Result<Value, DecodeError> {
    let missing = || DecodeError::at(DecodeProblem::Special);
    match special {
        Special::Secret => {
            let inner = fields.remove("value").ok_or_else(missing)?;
            Ok(value(inner, decoding, depth + 1)?.secret())
        }
        Special::Output => {
            let flag = |wire: Option<&Wire>| {
                matches!(
                    wire,
                    Some(Wire {
                        kind: Some(Kind::BoolValue(true))
                    })
                )
            };
            let secret = flag(fields.get("secret"));
            let known = match fields.remove("value") {
                Some(inner) => value(inner, decoding, depth + 1)?,
                None => unknown(
                    None,
                    dependencies(fields.get("dependencies"), decoding),
                    decoding,
                )?,
            };
            Ok(known.tainted(secret))
        }
        Special::Bytes => match fields.get("value").and_then(|wire| wire.kind.as_ref()) {
            Some(Kind::StringValue(text)) => {
                let bytes = BASE64.decode(text.as_bytes()).map_err(|_| missing())?;
                Ok(Value::Bytes(bytes.into()))
            }
            _ => Err(missing()),
        },
        Special::Asset | Special::Archive => {
            let parts = entries(fields, decoding, depth)?;
            Ok(asset::of_wire(&parts).map_or_else(
                || Value::Map(Arc::new(parts)),
                |asset| Value::Asset(Arc::new(asset)),
            ))
        }
        Special::Reference => {
            let Some(Kind::StringValue(urn)) =
                fields.get("urn").and_then(|wire| wire.kind.as_ref())
            else {
                return Err(missing());
            };
            match decoding.lookups.address(urn) {
                Some(address) => Ok(Value::Resource(Arc::new(address))),
                None => {
                    // A reference that stays a map. An empty text stands for an unknown id too.
                    let is_unknown =
                        |text: &str| text.is_empty() || unknown_of_text(text).is_some();
                    if let Some(id) = fields.get_mut("id")
                        && matches!(&id.kind, Some(Kind::StringValue(text)) if is_unknown(text))
                    {
                        let text = match decoding.phase {
                            Phase::Planning => UNKNOWN_TEXT,
                            Phase::Applying => "",
                        };
                        id.kind = Some(Kind::StringValue(text.to_owned()));
                    }
                    Ok(Value::Map(Arc::new(entries(fields, decoding, depth)?)))
                }
            }
        }
    }
}

fn dependencies(wire: Option<&Wire>, decoding: &Decoding<'_>) -> Vec<Address> {
    let Some(Kind::ListValue(list)) = wire.and_then(|wire| wire.kind.as_ref()) else {
        return Vec::new();
    };
    let address = |wire: &Wire| match &wire.kind {
        Some(Kind::StringValue(urn)) => decoding.lookups.address(urn),
        _ => None,
    };
    list.values.iter().filter_map(address).collect()
}
