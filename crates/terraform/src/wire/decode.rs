//! Bytes to values.

use std::sync::Arc;

use blueprint::{Map, Name, Value};
use rmp::Marker;

use super::{DEEPEST, REFINED, UNKNOWN, WireError, WireProblem};
use crate::number::Decimal;
use crate::path::Trail;
use crate::{Path, ValueType};

/// The value of a type that the bytes hold.
///
/// # Errors
/// If the bytes are no value of the type, or more than one.
pub fn decode(bytes: &[u8], ty: &ValueType) -> Result<Value, WireError> {
    decode_with_types(bytes, ty).map(|(value, _)| value)
}

/// As [`decode`], with the type of each known part whose type in the schema is dynamic.
///
/// # Errors
/// If the bytes are no value of the type, or more than one.
pub fn decode_with_types(bytes: &[u8], ty: &ValueType) -> Result<(Value, Vec<(Path, ValueType)>), WireError> {
    let mut reader = Reader { rest: bytes, dynamic: Vec::new() };
    let value = reader.value(ty, &Trail::Top, 0)?;
    match reader.rest.len() {
        0 => Ok((value, reader.dynamic)),
        left => Err(WireError { path: Path::default(), problem: WireProblem::Trailing(left) }),
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    dynamic: Vec<(Path, ValueType)>,
}

/// The start of a value: what it is and, where it has one, its length.
enum Start {
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

impl Start {
    fn word(&self) -> &'static str {
        match self {
            Start::Nil => "nil",
            Start::Bool(_) => "a boolean",
            Start::Int(_) | Start::Unsigned(_) | Start::Float(_) => "a number",
            Start::Text(_) => "a string",
            Start::Binary(_) => "binary data",
            Start::Array(_) => "a list",
            Start::Map(_) => "a map",
            Start::Extension(..) => "an extension",
        }
    }
}

impl<'a> Reader<'a> {
    fn value(&mut self, ty: &ValueType, path: &Trail<'_>, depth: usize) -> Result<Value, WireError> {
        let fail = |problem| WireError { path: path.to_path(), problem };
        if depth > DEEPEST {
            return Err(fail(WireProblem::TooDeep));
        }
        let start = self.start().map_err(fail)?;
        match start {
            Start::Nil => return Ok(Value::Null),
            Start::Extension(kind, length) => {
                self.extension(kind, length).map_err(fail)?;
                return Ok(ty.unknown());
            }
            _ => {}
        }
        let wrong = |wanted| fail(WireProblem::Kind { wanted, found: start.word() });
        match (ty, &start) {
            (ValueType::Dynamic, Start::Array(2)) => {
                let ty = self.carried_type().map_err(fail)?;
                self.dynamic.push((path.to_path(), ty.clone()));
                self.value(&ty, path, depth + 1)
            }
            (ValueType::Dynamic, _) => Err(wrong("a pair of a type and a value")),
            (ValueType::Bool, Start::Bool(flag)) => Ok(Value::Bool(*flag)),
            (ValueType::Bool, _) => Err(wrong("a boolean")),
            (ValueType::String, Start::Text(length) | Start::Binary(length)) => {
                self.text(*length).map(Value::text).map_err(fail)
            }
            (ValueType::String, _) => Err(wrong("a string")),
            (ValueType::Number, Start::Int(number)) => Ok(Value::Int(*number)),
            (ValueType::Number, Start::Unsigned(number)) => self.number(&number.to_string()).map_err(fail),
            (ValueType::Number, Start::Float(number)) if number.is_infinite() => Ok(Value::Float(*number)),
            (ValueType::Number, Start::Float(number)) => self.number(&format!("{number:e}")).map_err(fail),
            (ValueType::Number, Start::Text(length)) => {
                let text = self.text(*length).map_err(fail)?;
                self.number(text).map_err(fail)
            }
            (ValueType::Number, _) => Err(wrong("a number")),
            (ValueType::List(item), Start::Array(length)) => {
                Ok(Value::List(Arc::new(self.items(*length, item, path, depth)?)))
            }
            (ValueType::Set(element), Start::Array(length)) => {
                Ok(Value::Set(Arc::new(self.items(*length, element, path, depth)?)))
            }
            (ValueType::List(_) | ValueType::Set(_), _) => Err(wrong("a list")),
            (ValueType::Tuple(types), Start::Array(length)) => {
                if *length != types.len() {
                    return Err(fail(WireProblem::Length { wanted: types.len(), found: *length }));
                }
                let items = types.iter().enumerate().map(|(at, ty)| self.value(ty, &path.index(at), depth + 1));
                Ok(Value::List(Arc::new(items.collect::<Result<_, _>>()?)))
            }
            (ValueType::Tuple(_), _) => Err(wrong("a list")),
            (ValueType::Map(inner), Start::Map(length)) => {
                let mut map = Map::new();
                for _ in 0..*length {
                    let key = self.key(&map).map_err(fail)?;
                    let part = self.value(inner, &path.key(&key), depth + 1)?;
                    map.insert(key, part);
                }
                Ok(Value::Map(Arc::new(map)))
            }
            (ValueType::Map(_), _) => Err(wrong("a map")),
            (ValueType::Object(attributes), Start::Map(length)) => {
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

    /// Every item takes at least one byte, so a length that is a lie ends at the end of the bytes.
    fn items(
        &mut self,
        length: usize,
        ty: &ValueType,
        path: &Trail<'_>,
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
        let (Start::Text(length) | Start::Binary(length)) = start else {
            return Err(WireProblem::Kind { wanted: "a string", found: start.word() });
        };
        let key = Name::from(self.text(length)?);
        if map.contains_key(&key) { Err(WireProblem::Twice(key)) } else { Ok(key) }
    }

    fn carried_type(&mut self) -> Result<ValueType, WireProblem> {
        match self.start()? {
            Start::Text(length) | Start::Binary(length) => {
                ValueType::from_json(self.take(length)?).map_err(|_| WireProblem::Type)
            }
            _ => Err(WireProblem::Type),
        }
    }

    fn number(&self, text: &str) -> Result<Value, WireProblem> {
        match text {
            "inf" | "Inf" | "+Inf" => Ok(Value::Float(f64::INFINITY)),
            "-inf" | "-Inf" => Ok(Value::Float(f64::NEG_INFINITY)),
            _ => Decimal::parse(text).map(|number| number.value()).ok_or(WireProblem::NotANumber),
        }
    }

    /// The body of an extension: an unknown value, of which something may be known.
    fn extension(&mut self, kind: i8, length: usize) -> Result<(), WireProblem> {
        let body = self.take(length)?;
        match kind {
            REFINED if length > 1 => {
                let mut inner = Reader { rest: body, dynamic: Vec::new() };
                inner.refinements()?;
                if inner.rest.is_empty() { Ok(()) } else { Err(WireProblem::Refinement) }
            }
            _ if length <= 1 => Ok(()),
            UNKNOWN => Ok(()),
            _ => Err(WireProblem::Extension(kind)),
        }
    }

    fn refinements(&mut self) -> Result<(), WireProblem> {
        let Start::Map(length) = self.start()? else { return Err(WireProblem::Refinement) };
        for _ in 0..length {
            let (Start::Int(_) | Start::Unsigned(_)) = self.start()? else { return Err(WireProblem::Refinement) };
            self.skip(0)?;
        }
        Ok(())
    }

    /// Passes over one value of any kind.
    fn skip(&mut self, depth: usize) -> Result<(), WireProblem> {
        if depth > DEEPEST {
            return Err(WireProblem::TooDeep);
        }
        match self.start()? {
            Start::Text(length) | Start::Binary(length) | Start::Extension(_, length) => {
                self.take(length)?;
            }
            Start::Array(length) => {
                for _ in 0..length {
                    self.skip(depth + 1)?;
                }
            }
            Start::Map(length) => {
                for _ in 0..length {
                    self.skip(depth + 1)?;
                    self.skip(depth + 1)?;
                }
            }
            Start::Nil | Start::Bool(_) | Start::Int(_) | Start::Unsigned(_) | Start::Float(_) => {}
        }
        Ok(())
    }

    fn text(&mut self, length: usize) -> Result<&'a str, WireProblem> {
        std::str::from_utf8(self.take(length)?).map_err(|_| WireProblem::NotUtf8)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], WireProblem> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(WireProblem::CutOff)?;
        self.rest = rest;
        Ok(taken)
    }

    fn big_endian<const N: usize>(&mut self) -> Result<[u8; N], WireProblem> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(WireProblem::CutOff)?;
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

    fn extension_start(&mut self, length: usize) -> Result<Start, WireProblem> {
        Ok(Start::Extension(i8::from_be_bytes(self.big_endian()?), length))
    }

    fn start(&mut self) -> Result<Start, WireProblem> {
        let [first] = self.big_endian()?;
        Ok(match Marker::from_u8(first) {
            Marker::Null => Start::Nil,
            Marker::True => Start::Bool(true),
            Marker::False => Start::Bool(false),
            Marker::FixPos(number) => Start::Int(i64::from(number)),
            Marker::FixNeg(number) => Start::Int(i64::from(number)),
            Marker::U8 => Start::Int(i64::from(u8::from_be_bytes(self.big_endian()?))),
            Marker::U16 => Start::Int(i64::from(u16::from_be_bytes(self.big_endian()?))),
            Marker::U32 => Start::Int(i64::from(u32::from_be_bytes(self.big_endian()?))),
            Marker::U64 => Start::Unsigned(u64::from_be_bytes(self.big_endian()?)),
            Marker::I8 => Start::Int(i64::from(i8::from_be_bytes(self.big_endian()?))),
            Marker::I16 => Start::Int(i64::from(i16::from_be_bytes(self.big_endian()?))),
            Marker::I32 => Start::Int(i64::from(i32::from_be_bytes(self.big_endian()?))),
            Marker::I64 => Start::Int(i64::from_be_bytes(self.big_endian()?)),
            Marker::F32 => Start::Float(f64::from(f32::from_be_bytes(self.big_endian()?))),
            Marker::F64 => Start::Float(f64::from_be_bytes(self.big_endian()?)),
            Marker::FixStr(length) => Start::Text(usize::from(length)),
            Marker::Str8 => Start::Text(self.length8()?),
            Marker::Str16 => Start::Text(self.length16()?),
            Marker::Str32 => Start::Text(self.length32()?),
            Marker::Bin8 => Start::Binary(self.length8()?),
            Marker::Bin16 => Start::Binary(self.length16()?),
            Marker::Bin32 => Start::Binary(self.length32()?),
            Marker::FixArray(length) => Start::Array(usize::from(length)),
            Marker::Array16 => Start::Array(self.length16()?),
            Marker::Array32 => Start::Array(self.length32()?),
            Marker::FixMap(length) => Start::Map(usize::from(length)),
            Marker::Map16 => Start::Map(self.length16()?),
            Marker::Map32 => Start::Map(self.length32()?),
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
            Marker::Reserved => return Err(WireProblem::Kind { wanted: "a value", found: "a reserved byte" }),
        })
    }
}
