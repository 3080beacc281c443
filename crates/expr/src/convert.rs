//! The blueprint dialect's conversions of values and types (decisions/blueprint#conversion-table).

use std::sync::Arc;

use blueprint::{Map, Type, Unknown, Value};

/// The origin of a value: a literal of the document allows fewer conversions than the result of a
/// substitution (decisions/blueprint#literals-of-the-wrong-kind,
/// decisions/blueprint#floats-as-text).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    /// A literal of the document.
    Literal,
    /// The result of a substitution.
    Substitution,
}

/// The reason why a value does not fit a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The value has another kind (`type-mismatch`).
    Kind,
    /// Text is required, but the bytes are not UTF-8 (`not-utf8`).
    NotUtf8,
    /// The value fits no alternative (`no-union-branch`).
    NoBranch,
}

/// Converts a value to a type by the conversion table (decisions/blueprint#conversion-table).
/// Unknown values and secret marks pass through.
pub fn convert(value: &Value, ty: &Type, source: ValueOrigin) -> Result<Value, Mismatch> {
    let as_text = source == ValueOrigin::Substitution;
    match (value, ty) {
        (_, Type::Any | Type::Error) => Ok(value.clone()),
        (Value::Secret(inner), _) => convert(inner, ty, source).map(Value::secret),
        (Value::Unknown(unknown), _) => match &unknown.ty {
            Some(from) if !convert_type(from, ty, source) => Err(Mismatch::Kind),
            Some(from) if from == ty => Ok(value.clone()),
            _ => Ok(Value::Unknown(Arc::new(Unknown {
                ty: Some(ty.clone()),
                waits_for: unknown.waits_for.clone(),
            }))),
        },
        (_, Type::Union(types)) => types
            .iter()
            .find_map(|ty| convert(value, ty, source).ok())
            .ok_or(Mismatch::NoBranch),
        (Value::Null, Type::Null)
        | (Value::Bool(_), Type::Bool)
        | (Value::Int(_), Type::Int)
        | (Value::Float(_) | Value::Decimal(_), Type::Float)
        | (Value::Text(_), Type::Text)
        | (Value::Bytes(_), Type::Bytes)
        | (Value::Function(_), Type::Function) => Ok(value.clone()),
        (Value::Int(int), Type::Float) => Ok(Value::Float(*int as f64)),
        (
            Value::Int(_) | Value::Float(_) | Value::Decimal(_) | Value::Bool(_) | Value::Bytes(_),
            Type::Text,
        ) if as_text => to_text(value).unwrap_or(Err(Mismatch::Kind)),
        (Value::List(items), Type::List(item)) => {
            let items: Result<Vec<Value>, Mismatch> = items
                .iter()
                .map(|value| convert(value, item, source))
                .collect();
            Ok(Value::List(Arc::new(items?)))
        }
        (Value::Set(items), Type::List(item)) => {
            let items: Result<Vec<Value>, Mismatch> = items
                .iter()
                .map(|value| convert(value, item, source))
                .collect();
            Ok(Value::Set(Arc::new(items?)))
        }
        (Value::Map(entries), Type::Map(ty)) => {
            let converted = entries
                .iter()
                .map(|(key, value)| Ok((key.clone(), convert(value, ty, source)?)));
            Ok(Value::Map(Arc::new(
                converted.collect::<Result<Map, Mismatch>>()?,
            )))
        }
        (Value::Map(entries), Type::Object(object)) => {
            let converted = entries
                .iter()
                .map(|(key, value)| match object.fields.get(key) {
                    Some(ty) if !value.is_null() => Ok((key.clone(), convert(value, ty, source)?)),
                    _ => Ok((key.clone(), value.clone())),
                });
            Ok(Value::Map(Arc::new(
                converted.collect::<Result<Map, Mismatch>>()?,
            )))
        }
        _ => Err(Mismatch::Kind),
    }
}

/// Whether values of type `from` may convert to `to`. False only if no value can, apart from empty
/// lists and maps.
pub fn convert_type(from: &Type, to: &Type, source: ValueOrigin) -> bool {
    if from.is_open() || to.is_open() {
        return true;
    }
    from.alternatives().iter().any(|from| {
        to.alternatives()
            .iter()
            .any(|to| convert_one(from, to, source))
    })
}

fn convert_one(from: &Type, to: &Type, source: ValueOrigin) -> bool {
    match (from, to) {
        (Type::Any | Type::Error, _) | (_, Type::Any | Type::Error) => true,
        (Type::Union(_), _) | (_, Type::Union(_)) => convert_type(from, to, source),
        (Type::Int, Type::Float) => true,
        (Type::Int | Type::Float | Type::Bool | Type::Bytes, Type::Text) => {
            source == ValueOrigin::Substitution
        }
        // An empty list or map fits any item type. A list or map with known items that cannot fit
        // is a mistake.
        (Type::List(from), Type::List(to)) | (Type::Map(from), Type::Map(to)) => {
            convert_type(from, to, source)
        }
        (Type::Object(from), Type::Map(to)) => from
            .fields
            .values()
            .all(|from| fits_or_none(from, to, source)),
        (Type::Map(from), Type::Object(to)) => {
            to.fields.is_empty() || to.fields.values().any(|to| fits_or_none(from, to, source))
        }
        (Type::Object(from), Type::Object(to)) => from.fields.iter().all(|(key, from)| {
            to.fields
                .get(key)
                .is_none_or(|to| fits_or_none(from, to, source))
        }),
        (from, to) => from == to,
    }
}

/// Whether an entry fits, or may be `none` and so be dropped (decisions/blueprint#none).
fn fits_or_none(from: &Type, to: &Type, source: ValueOrigin) -> bool {
    from.alternatives().contains(&Type::Null) || convert_type(from, to, source)
}

/// Parses a text as a declared scalar type (decisions/blueprint#text-of-typed-values,
/// decisions/blueprint#inputs). `None` if it does not parse.
///
/// White space around it is ignored, except for text.
pub fn parse_as(text: &str, ty: &Type) -> Option<Value> {
    let trimmed = text.trim();
    match ty {
        Type::Text | Type::Any => Some(Value::text(text)),
        Type::Int => blueprint::parse_integer(trimmed).map(Value::Int),
        Type::Float => blueprint::parse_float(trimmed).map(Value::Float),
        Type::Bool => match trimmed {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        Type::Union(types) => types.iter().find_map(|ty| parse_as(text, ty)),
        _ => None,
    }
}

/// The text of a scalar in an interpolation (decisions/blueprint#interpolation,
/// decisions/blueprint#floats-as-text): `none` gives "", a secret stays secret, an unknown value
/// becomes an unknown string. `None` for arrays, objects and functions. An error for bytes that are
/// not UTF-8.
pub fn to_text(value: &Value) -> Option<Result<Value, Mismatch>> {
    let text = match value {
        Value::Text(_) => return Some(Ok(value.clone())),
        Value::Null => Value::text(""),
        Value::Bool(value) => Value::text(if *value { "true" } else { "false" }),
        Value::Int(value) => Value::text(value.to_string()),
        Value::Float(value) => Value::text(blueprint::format_float(*value)),
        Value::Decimal(text) => Value::Text(text.clone()),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Value::text(text),
            Err(_) => return Some(Err(Mismatch::NotUtf8)),
        },
        Value::Secret(inner) => return to_text(inner).map(|text| text.map(Value::secret)),
        Value::Unknown(unknown) if unknown.ty == Some(Type::Text) => {
            return Some(Ok(value.clone()));
        }
        Value::Unknown(unknown) => {
            let scalar = unknown.ty.as_ref().is_none_or(|ty| {
                ty.alternatives().iter().any(|ty| {
                    !matches!(
                        ty,
                        Type::List(_) | Type::Map(_) | Type::Object(_) | Type::Function
                    )
                })
            });
            if !scalar {
                return None;
            }
            Value::Unknown(Arc::new(Unknown {
                ty: Some(Type::Text),
                waits_for: unknown.waits_for.clone(),
            }))
        }
        _ => return None,
    };
    Some(Ok(text))
}
