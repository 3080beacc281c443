//! Encoding of values to bytes.

use blueprint::Value;

use super::{DEEPEST, UNKNOWN, WireError, WireProblem};
use crate::number::{Decimal, WireNumber};
use crate::path::PathTrail;
use crate::{Path, ValueType, conform_to};

/// Encodes a value of a type. Missing attributes are written as null. Secret marks are left out, so
/// the bytes must not be shown.
///
/// # Errors
/// If the value does not fit the type.
pub fn encode(value: &Value, ty: &ValueType) -> Result<Vec<u8>, WireError> {
    encode_with_types(value, ty, &[])
}

/// Encodes as [`encode`] does, with the types of parts of dynamic type, as
/// [`decode_with_types`](super::decode_with_types) returned them. A part that is not listed, or no
/// longer fits its type, gets the type that its value implies.
///
/// # Errors
/// If the value does not fit the type.
pub fn encode_with_types(
    value: &Value,
    ty: &ValueType,
    dynamic: &[(Path, ValueType)],
) -> Result<Vec<u8>, WireError> {
    let mut writer = MsgpackWriter {
        out: Vec::new(),
        dynamic,
        depth: 0,
    };
    writer.value(value, ty, &PathTrail::Top)?;
    Ok(writer.out)
}

struct MsgpackWriter<'a> {
    out: Vec<u8>,
    dynamic: &'a [(Path, ValueType)],
    depth: usize,
}

/// Ignores the result, because writing to memory cannot fail.
macro_rules! write_to {
    ($function:ident, $out:expr, $($argument:expr),*) => {
        let _ = rmp::encode::$function(&mut $out, $($argument),*);
    };
}

impl MsgpackWriter<'_> {
    fn value(
        &mut self,
        value: &Value,
        ty: &ValueType,
        path: &PathTrail<'_>,
    ) -> Result<(), WireError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(WireError {
                path: path.to_path(),
                problem: WireProblem::TooDeep,
            });
        }
        self.part(value, ty, path)?;
        self.depth -= 1;
        Ok(())
    }

    fn part(
        &mut self,
        value: &Value,
        ty: &ValueType,
        path: &PathTrail<'_>,
    ) -> Result<(), WireError> {
        let mismatch = |wanted| {
            let problem = WireProblem::Kind {
                wanted,
                found: value.kind_word(),
            };
            Err(WireError {
                path: path.to_path(),
                problem,
            })
        };
        match (ty, value.unmarked()) {
            (_, Value::Unknown(_)) => {
                write_to!(write_ext_meta, self.out, 1, UNKNOWN);
                self.out.push(0);
            }
            (_, Value::Null) => {
                let _ = rmp::encode::write_nil(&mut self.out);
            }
            (ValueType::Dynamic, bare) => return self.dynamic(bare, path),
            (ValueType::Bool, Value::Bool(flag)) => {
                write_to!(write_bool, self.out, *flag);
            }
            (ValueType::Bool, _) => return mismatch("a boolean"),
            (ValueType::String, Value::Text(text)) => {
                write_to!(write_str, self.out, text);
            }
            (ValueType::String, _) => return mismatch("a string"),
            (ValueType::Number, Value::Float(number)) if number.is_infinite() => {
                write_to!(write_f64, self.out, *number);
            }
            (ValueType::Number, number) => match Decimal::of(number).map(|number| number.written())
            {
                Some(WireNumber::Int(number)) => {
                    write_to!(write_sint, self.out, number);
                }
                Some(WireNumber::Float(number)) => {
                    write_to!(write_f64, self.out, number);
                }
                Some(WireNumber::Text(text)) => {
                    write_to!(write_str, self.out, &text);
                }
                None => return mismatch("a number"),
            },
            (
                ValueType::List(item) | ValueType::Set(item),
                Value::List(items) | Value::Set(items),
            ) => {
                self.array(items.len(), path)?;
                for (at, part) in items.iter().enumerate() {
                    self.value(part, item, &path.index(at))?;
                }
            }
            (ValueType::List(_) | ValueType::Set(_), _) => return mismatch("a list"),
            (ValueType::Tuple(types), Value::List(items)) => {
                if types.len() != items.len() {
                    let problem = WireProblem::Length {
                        wanted: types.len(),
                        found: items.len(),
                    };
                    return Err(WireError {
                        path: path.to_path(),
                        problem,
                    });
                }
                self.array(items.len(), path)?;
                for (at, (part, ty)) in items.iter().zip(types.iter()).enumerate() {
                    self.value(part, ty, &path.index(at))?;
                }
            }
            (ValueType::Tuple(_), _) => return mismatch("a list"),
            (ValueType::Map(inner), Value::Map(entries)) => {
                self.map(entries.len(), path)?;
                for (key, part) in entries.iter() {
                    write_to!(write_str, self.out, key);
                    self.value(part, inner, &path.key(key))?;
                }
            }
            (ValueType::Map(_), _) => return mismatch("a map"),
            (ValueType::Object(attributes), Value::Map(entries)) => {
                if let Some((name, _)) = entries
                    .iter()
                    .find(|(name, _)| !attributes.contains_key(*name))
                {
                    return Err(WireError {
                        path: path.to_path(),
                        problem: WireProblem::Extra(name.clone()),
                    });
                }
                self.map(attributes.len(), path)?;
                for (name, ty) in attributes.iter() {
                    write_to!(write_str, self.out, name);
                    self.value(
                        entries.get(name).unwrap_or(&Value::Null),
                        ty,
                        &path.attribute(name),
                    )?;
                }
            }
            (ValueType::Object(_), _) => return mismatch("an object"),
        }
        Ok(())
    }

    /// Writes a pair of a type and a value.
    fn dynamic(&mut self, value: &Value, path: &PathTrail<'_>) -> Result<(), WireError> {
        let own = path.to_path();
        let known = self
            .dynamic
            .iter()
            .find(|(place, ty)| *place == own && is_of(value, ty));
        let known = known.map(|(_, ty)| ty.clone());
        let implied = || match value {
            Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Decimal(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Set(_)
            | Value::Map(_) => Ok(ValueType::implied(value)),
            _ => {
                let problem = WireProblem::Kind {
                    wanted: "data",
                    found: value.kind_word(),
                };
                Err(WireError {
                    path: path.to_path(),
                    problem,
                })
            }
        };
        let ty = known.map_or_else(implied, Ok)?;
        self.array(2, path)?;
        write_to!(write_bin, self.out, ty.to_json().to_string().as_bytes());
        self.value(&conform_to(&ty, value), &ty, path)
    }

    fn array(&mut self, length: usize, path: &PathTrail<'_>) -> Result<(), WireError> {
        write_to!(write_array_len, self.out, count(length, path)?);
        Ok(())
    }

    fn map(&mut self, length: usize, path: &PathTrail<'_>) -> Result<(), WireError> {
        write_to!(write_map_len, self.out, count(length, path)?);
        Ok(())
    }
}

fn count(length: usize, path: &PathTrail<'_>) -> Result<u32, WireError> {
    let wanted = u32::MAX as usize;
    let problem = WireProblem::Length {
        wanted,
        found: length,
    };
    u32::try_from(length).map_err(|_| WireError {
        path: path.to_path(),
        problem,
    })
}

/// Whether a value has a type without any conversion.
fn is_of(value: &Value, ty: &ValueType) -> bool {
    match (ty, value.unmarked()) {
        (_, Value::Null | Value::Unknown(_)) | (ValueType::Dynamic, _) => true,
        (ValueType::Bool, Value::Bool(_)) | (ValueType::String, Value::Text(_)) => true,
        (ValueType::Number, value) => crate::number::is_number(value),
        (ValueType::List(item), Value::List(items)) | (ValueType::Set(item), Value::Set(items)) => {
            items.iter().all(|part| is_of(part, item))
        }
        (ValueType::Tuple(types), Value::List(items)) => {
            types.len() == items.len()
                && items
                    .iter()
                    .zip(types.iter())
                    .all(|(part, ty)| is_of(part, ty))
        }
        (ValueType::Map(inner), Value::Map(entries)) => {
            entries.values().all(|part| is_of(part, inner))
        }
        (ValueType::Object(attributes), Value::Map(entries)) => {
            attributes.len() == entries.len()
                && entries
                    .iter()
                    .all(|(name, part)| attributes.get(name).is_some_and(|ty| is_of(part, ty)))
        }
        _ => false,
    }
}
