//! Decoding of values from bytes.

use std::sync::Arc;

use blueprint::{Map, Name, Value};
use rmp::Marker;

use super::{DEEPEST, REFINED, UNKNOWN, WireError, WireProblem};
use crate::number::Decimal;
use crate::path::PathTrail;
use crate::{Path, ValueType};

/// Decodes a value of a type.
///
/// # Errors
/// If the bytes are not exactly one value of the type.
pub fn decode(bytes: &[u8], ty: &ValueType) -> Result<Value, WireError> {
    decode_with_types(bytes, ty).map(|(value, _)| value)
}

/// Decodes as [`decode`] does, and returns the type of each known part whose type in the schema is
/// dynamic.
///
/// # Errors
/// If the bytes are not exactly one value of the type.
pub fn decode_with_types(
    bytes: &[u8],
    ty: &ValueType,
) -> Result<(Value, Vec<(Path, ValueType)>), WireError> {
    let mut reader = MsgpackReader {
        rest: bytes,
        dynamic: Vec::new(),
    };
    let value = reader.value(ty, &PathTrail::Top, 0)?;
    match reader.rest.len() {
        0 => Ok((value, reader.dynamic)),
        left => Err(WireError {
            path: Path::default(),
            problem: WireProblem::Trailing(left),
        }),
    }
}

struct MsgpackReader<'a> {
    rest: &'a [u8],
    dynamic: Vec<(Path, ValueType)>,
}

/// The start of a value: its kind and, for some kinds, its length.
enum ValueStart {
    Nil,
    Bool(bool),
    Int(i64),
    Unsigned(u64),
    Float(f64),
    Text(usize),
    Binary(usize),
    Array(usize),
    Map(usize),
    Extension(i8, usize),
}

impl ValueStart {
    fn word(&self) -> &'static str {
        match self {
            ValueStart::Nil => "nil",
            ValueStart::Bool(_) => "a boolean",
            ValueStart::Int(_) | ValueStart::Unsigned(_) | ValueStart::Float(_) => "a number",
            ValueStart::Text(_) => "a string",
            ValueStart::Binary(_) => "binary data",
            ValueStart::Array(_) => "a list",
            ValueStart::Map(_) => "a map",
            ValueStart::Extension(..) => "an extension",
        }
    }
}

impl<'a> MsgpackReader<'a> {
    fn value(
        &mut self,
        ty: &ValueType,
        path: &PathTrail<'_>,
        depth: usize,
    ) -> Result<Value, WireError> {
        let fail = |problem| WireError {
            path: path.to_path(),
            problem,
        };
        if depth > DEEPEST {
            return Err(fail(WireProblem::TooDeep));
        }
        let start = self.start().map_err(fail)?;
        match start {
            ValueStart::Nil => return Ok(Value::Null),
            ValueStart::Extension(kind, length) => {
                self.extension(kind, length).map_err(fail)?;
                return Ok(ty.unknown());
            }
            _ => {}
        }
        let wrong = |wanted| {
            fail(WireProblem::Kind {
                wanted,
                found: start.word(),
            })
        };
        match (ty, &start) {
            (ValueType::Dynamic, ValueStart::Array(2)) => {
                let ty = self.carried_type().map_err(fail)?;
                self.dynamic.push((path.to_path(), ty.clone()));
                self.value(&ty, path, depth + 1)
            }
            (ValueType::Dynamic, _) => Err(wrong("a pair of a type and a value")),
            (ValueType::Bool, ValueStart::Bool(flag)) => Ok(Value::Bool(*flag)),
            (ValueType::Bool, _) => Err(wrong("a boolean")),
            (ValueType::String, ValueStart::Text(length) | ValueStart::Binary(length)) => {
                self.text(*length).map(Value::text).map_err(fail)
            }
            (ValueType::String, _) => Err(wrong("a string")),
            (ValueType::Number, ValueStart::Int(number)) => Ok(Value::Int(*number)),
            (ValueType::Number, ValueStart::Unsigned(number)) => {
                self.number(&number.to_string()).map_err(fail)
            }
            (ValueType::Number, ValueStart::Float(number)) if number.is_infinite() => {
                Ok(Value::Float(*number))
            }
            (ValueType::Number, ValueStart::Float(number)) => {
                self.number(&format!("{number:e}")).map_err(fail)
            }
            (ValueType::Number, ValueStart::Text(length)) => {
                let text = self.text(*length).map_err(fail)?;
                self.number(text).map_err(fail)
            }
            (ValueType::Number, _) => Err(wrong("a number")),
            (ValueType::List(item), ValueStart::Array(length)) => Ok(Value::List(Arc::new(
                self.items(*length, item, path, depth)?,
            ))),
            (ValueType::Set(element), ValueStart::Array(length)) => Ok(Value::Set(Arc::new(
                self.items(*length, element, path, depth)?,
            ))),
            (ValueType::List(_) | ValueType::Set(_), _) => Err(wrong("a list")),
            (ValueType::Tuple(types), ValueStart::Array(length)) => {
                if *length != types.len() {
                    return Err(fail(WireProblem::Length {
                        wanted: types.len(),
                        found: *length,
                    }));
                }
                let items = types
                    .iter()
                    .enumerate()
                    .map(|(at, ty)| self.value(ty, &path.index(at), depth + 1));
                Ok(Value::List(Arc::new(items.collect::<Result<_, _>>()?)))
            }
            (ValueType::Tuple(_), _) => Err(wrong("a list")),
            (ValueType::Map(inner), ValueStart::Map(length)) => {
                let mut map = Map::new();
                for _ in 0..*length {
                    let key = self.key(&map).map_err(fail)?;
                    let part = self.value(inner, &path.key(&key), depth + 1)?;
                    map.insert(key, part);
                }
                Ok(Value::Map(Arc::new(map)))
            }
            (ValueType::Map(_), _) => Err(wrong("a map")),
            (ValueType::Object(attributes), ValueStart::Map(length)) => {
                let mut map = Map::new();
                for _ in 0..*length {
                    let key = self.key(&map).map_err(fail)?;
                    let Some((name, ty)) = attributes.get_key_value(&key) else {
                        return Err(fail(WireProblem::Extra(key)));
                    };
                    let part = self.value(ty, &path.attribute(name), depth + 1)?;
                    map.insert(name.clone(), part);
                }
                match attributes.keys().find(|name| !map.contains_key(name)) {
                    Some(name) => Err(fail(WireProblem::Missing(name.clone()))),
                    None => Ok(Value::Map(Arc::new(map))),
                }
            }
            (ValueType::Object(_), _) => Err(wrong("an object")),
        }
    }

    /// Reads items. Every item takes at least one byte, so reading stops at the end of the bytes if
    /// the length is wrong.
    fn items(
        &mut self,
        length: usize,
        ty: &ValueType,
        path: &PathTrail<'_>,
        depth: usize,
    ) -> Result<Vec<Value>, WireError> {
        let mut items = Vec::with_capacity(length.min(self.rest.len()).min(1024));
        for at in 0..length {
            items.push(self.value(ty, &path.index(at), depth + 1)?);
        }
        Ok(items)
    }

    fn key(&mut self, map: &Map) -> Result<Name, WireProblem> {
        let start = self.start()?;
        let (ValueStart::Text(length) | ValueStart::Binary(length)) = start else {
            return Err(WireProblem::Kind {
                wanted: "a string",
                found: start.word(),
            });
        };
        let key = Name::from(self.text(length)?);
        if map.contains_key(&key) {
            Err(WireProblem::Twice(key))
        } else {
            Ok(key)
        }
    }

    fn carried_type(&mut self) -> Result<ValueType, WireProblem> {
        match self.start()? {
            ValueStart::Text(length) | ValueStart::Binary(length) => {
                ValueType::from_json(self.take(length)?).map_err(|_| WireProblem::Type)
            }
            _ => Err(WireProblem::Type),
        }
    }

    fn number(&self, text: &str) -> Result<Value, WireProblem> {
        match text {
            "inf" | "Inf" | "+Inf" => Ok(Value::Float(f64::INFINITY)),
            "-inf" | "-Inf" => Ok(Value::Float(f64::NEG_INFINITY)),
            _ => Decimal::parse(text)
                .map(|number| number.value())
                .ok_or(WireProblem::NotANumber),
        }
    }

    /// Reads the body of an extension: an unknown value, perhaps with refinements.
    fn extension(&mut self, kind: i8, length: usize) -> Result<(), WireProblem> {
        let body = self.take(length)?;
        match kind {
            REFINED if length > 1 => {
                let mut inner = MsgpackReader {
                    rest: body,
                    dynamic: Vec::new(),
                };
                inner.refinements()?;
                if inner.rest.is_empty() {
                    Ok(())
                } else {
                    Err(WireProblem::Refinement)
                }
            }
            _ if length <= 1 => Ok(()),
            UNKNOWN => Ok(()),
            _ => Err(WireProblem::Extension(kind)),
        }
    }

    fn refinements(&mut self) -> Result<(), WireProblem> {
        let ValueStart::Map(length) = self.start()? else {
            return Err(WireProblem::Refinement);
        };
        for _ in 0..length {
            let (ValueStart::Int(_) | ValueStart::Unsigned(_)) = self.start()? else {
                return Err(WireProblem::Refinement);
            };
            self.skip(0)?;
        }
        Ok(())
    }

    /// Skips one value of any kind.
    fn skip(&mut self, depth: usize) -> Result<(), WireProblem> {
        if depth > DEEPEST {
            return Err(WireProblem::TooDeep);
        }
        match self.start()? {
            ValueStart::Text(length)
            | ValueStart::Binary(length)
            | ValueStart::Extension(_, length) => {
                self.take(length)?;
            }
            ValueStart::Array(length) => {
                for _ in 0..length {
                    self.skip(depth + 1)?;
                }
            }
            ValueStart::Map(length) => {
                for _ in 0..length {
                    self.skip(depth + 1)?;
                    self.skip(depth + 1)?;
                }
            }
            ValueStart::Nil
            | ValueStart::Bool(_)
            | ValueStart::Int(_)
            | ValueStart::Unsigned(_)
            | ValueStart::Float(_) => {}
        }
        Ok(())
    }

    fn text(&mut self, length: usize) -> Result<&'a str, WireProblem> {
        std::str::from_utf8(self.take(length)?).map_err(|_| WireProblem::NotUtf8)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], WireProblem> {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(WireProblem::CutOff)?;
        self.rest = rest;
        Ok(taken)
    }

    fn big_endian<const N: usize>(&mut self) -> Result<[u8; N], WireProblem> {
        let (taken, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(WireProblem::CutOff)?;
        self.rest = rest;
        Ok(*taken)
    }

    fn length8(&mut self) -> Result<usize, WireProblem> {
        Ok(usize::from(u8::from_be_bytes(self.big_endian()?)))
    }

    fn length16(&mut self) -> Result<usize, WireProblem> {
        Ok(usize::from(u16::from_be_bytes(self.big_endian()?)))
    }

    fn length32(&mut self) -> Result<usize, WireProblem> {
        usize::try_from(u32::from_be_bytes(self.big_endian()?)).map_err(|_| WireProblem::CutOff)
    }

    fn extension_start(&mut self, length: usize) -> Result<ValueStart, WireProblem> {
        Ok(ValueStart::Extension(
            i8::from_be_bytes(self.big_endian()?),
            length,
        ))
    }

    fn start(&mut self) -> Result<ValueStart, WireProblem> {
        let [first] = self.big_endian()?;
        Ok(match Marker::from_u8(first) {
            Marker::Null => ValueStart::Nil,
            Marker::True => ValueStart::Bool(true),
            Marker::False => ValueStart::Bool(false),
            Marker::FixPos(number) => ValueStart::Int(i64::from(number)),
            Marker::FixNeg(number) => ValueStart::Int(i64::from(number)),
            Marker::U8 => ValueStart::Int(i64::from(u8::from_be_bytes(self.big_endian()?))),
            Marker::U16 => ValueStart::Int(i64::from(u16::from_be_bytes(self.big_endian()?))),
            Marker::U32 => ValueStart::Int(i64::from(u32::from_be_bytes(self.big_endian()?))),
            Marker::U64 => ValueStart::Unsigned(u64::from_be_bytes(self.big_endian()?)),
            Marker::I8 => ValueStart::Int(i64::from(i8::from_be_bytes(self.big_endian()?))),
            Marker::I16 => ValueStart::Int(i64::from(i16::from_be_bytes(self.big_endian()?))),
            Marker::I32 => ValueStart::Int(i64::from(i32::from_be_bytes(self.big_endian()?))),
            Marker::I64 => ValueStart::Int(i64::from_be_bytes(self.big_endian()?)),
            Marker::F32 => ValueStart::Float(f64::from(f32::from_be_bytes(self.big_endian()?))),
            Marker::F64 => ValueStart::Float(f64::from_be_bytes(self.big_endian()?)),
            Marker::FixStr(length) => ValueStart::Text(usize::from(length)),
            Marker::Str8 => ValueStart::Text(self.length8()?),
            Marker::Str16 => ValueStart::Text(self.length16()?),
            Marker::Str32 => ValueStart::Text(self.length32()?),
            Marker::Bin8 => ValueStart::Binary(self.length8()?),
            Marker::Bin16 => ValueStart::Binary(self.length16()?),
            Marker::Bin32 => ValueStart::Binary(self.length32()?),
            Marker::FixArray(length) => ValueStart::Array(usize::from(length)),
            Marker::Array16 => ValueStart::Array(self.length16()?),
            Marker::Array32 => ValueStart::Array(self.length32()?),
            Marker::FixMap(length) => ValueStart::Map(usize::from(length)),
            Marker::Map16 => ValueStart::Map(self.length16()?),
            Marker::Map32 => ValueStart::Map(self.length32()?),
            Marker::FixExt1 => self.extension_start(1)?,
            Marker::FixExt2 => self.extension_start(2)?,
            Marker::FixExt4 => self.extension_start(4)?,
            Marker::FixExt8 => self.extension_start(8)?,
            Marker::FixExt16 => self.extension_start(16)?,
            Marker::Ext8 => {
                let length = self.length8()?;
                self.extension_start(length)?
            }
            Marker::Ext16 => {
                let length = self.length16()?;
                self.extension_start(length)?
            }
            Marker::Ext32 => {
                let length = self.length32()?;
                self.extension_start(length)?
            }
            Marker::Reserved => {
                return Err(WireProblem::Kind {
                    wanted: "a value",
                    found: "a reserved byte",
                });
            }
        })
    }
}
