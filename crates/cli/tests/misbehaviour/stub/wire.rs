//! The values of both protocols as JSON. An unknown value is the text [`UNKNOWN`].

use prost_types::value::Kind;
use prost_types::{ListValue, Struct};
use serde_json::{Map, Value as Json};

/// An unknown value, in Pulumi's form.
pub(crate) const UNKNOWN: &str = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/// The members of a struct as JSON.
pub(crate) fn json_of(values: &Struct) -> Json {
    let members = values.fields.iter();
    Json::Object(
        members
            .map(|(name, value)| (name.clone(), json_of_value(value)))
            .collect(),
    )
}

fn json_of_value(value: &prost_types::Value) -> Json {
    match &value.kind {
        None | Some(Kind::NullValue(_)) => Json::Null,
        Some(Kind::NumberValue(number)) if number.fract() == 0.0 => Json::from(*number as i64),
        Some(Kind::NumberValue(number)) => Json::from(*number),
        Some(Kind::StringValue(text)) => Json::from(text.as_str()),
        Some(Kind::BoolValue(truth)) => Json::from(*truth),
        Some(Kind::StructValue(values)) => json_of(values),
        Some(Kind::ListValue(list)) => list.values.iter().map(json_of_value).collect(),
    }
}

/// The members of a JSON object as a struct.
pub(crate) fn struct_of(value: &Json) -> Struct {
    let members = value.as_object().into_iter().flatten();
    Struct {
        fields: members
            .map(|(name, value)| (name.clone(), value_of(value)))
            .collect(),
    }
}

fn value_of(value: &Json) -> prost_types::Value {
    let kind = match value {
        Json::Null => Kind::NullValue(0),
        Json::Bool(truth) => Kind::BoolValue(*truth),
        Json::Number(number) => Kind::NumberValue(number.as_f64().unwrap()),
        Json::String(text) => Kind::StringValue(text.clone()),
        Json::Array(items) => Kind::ListValue(ListValue {
            values: items.iter().map(value_of).collect(),
        }),
        Json::Object(_) => Kind::StructValue(struct_of(value)),
    };
    prost_types::Value { kind: Some(kind) }
}

/// Encodes a value in msgpack, in the form of Terraform.
pub(crate) fn pack(value: &Json, out: &mut Vec<u8>) {
    let long = |length: usize| u32::try_from(length).unwrap().to_be_bytes();
    match value {
        Json::Null => out.push(0xc0),
        Json::Bool(truth) => out.push(0xc2 + u8::from(*truth)),
        Json::Number(number) if number.is_i64() => {
            out.push(0xd3);
            out.extend(number.as_i64().unwrap().to_be_bytes());
        }
        Json::Number(number) => {
            out.push(0xcb);
            out.extend(number.as_f64().unwrap().to_be_bytes());
        }
        Json::String(text) if text == UNKNOWN => out.extend([0xd4, 0, 0]),
        Json::String(text) => {
            out.push(0xdb);
            out.extend(long(text.len()));
            out.extend(text.as_bytes());
        }
        Json::Array(items) => {
            out.push(0xdd);
            out.extend(long(items.len()));
            items.iter().for_each(|item| pack(item, out));
        }
        Json::Object(members) => {
            out.push(0xdf);
            out.extend(long(members.len()));
            for (name, value) in members {
                pack(&Json::from(name.as_str()), out);
                pack(value, out);
            }
        }
    }
}

/// Decodes a value in msgpack, and moves `bytes` behind it.
pub(crate) fn unpack(bytes: &mut &[u8]) -> Json {
    let head = take(bytes, 1)[0];
    match head {
        0x00..=0x7f => Json::from(head),
        0x80..=0x8f => members(bytes, usize::from(head & 0x0f)),
        0x90..=0x9f => items(bytes, usize::from(head & 0x0f)),
        0xa0..=0xbf => text(bytes, usize::from(head & 0x1f)),
        0xc0 => Json::Null,
        0xc2 | 0xc3 => Json::from(head == 0xc3),
        0xca => Json::from(f32::from_be_bytes(take(bytes, 4).try_into().unwrap())),
        0xcb => Json::from(f64::from_be_bytes(take(bytes, 8).try_into().unwrap())),
        0xcc..=0xcf => Json::from(number(bytes, 1 << (head - 0xcc))),
        0xd0 => Json::from(take(bytes, 1)[0].cast_signed()),
        0xd1 => Json::from(i16::from_be_bytes(take(bytes, 2).try_into().unwrap())),
        0xd2 => Json::from(i32::from_be_bytes(take(bytes, 4).try_into().unwrap())),
        0xd3 => Json::from(i64::from_be_bytes(take(bytes, 8).try_into().unwrap())),
        // An extension is an unknown value.
        0xd4..=0xd8 => {
            take(bytes, 1 + (1 << (head - 0xd4)));
            Json::from(UNKNOWN)
        }
        0xc7 => {
            let length = usize::try_from(number(bytes, 1)).unwrap();
            take(bytes, 1 + length);
            Json::from(UNKNOWN)
        }
        0xd9..=0xdb => {
            let length = number(bytes, 1 << (head - 0xd9));
            text(bytes, usize::try_from(length).unwrap())
        }
        0xdc | 0xdd => {
            let length = number(bytes, 2 << (head - 0xdc));
            items(bytes, usize::try_from(length).unwrap())
        }
        0xde | 0xdf => {
            let length = number(bytes, 2 << (head - 0xde));
            members(bytes, usize::try_from(length).unwrap())
        }
        0xe0..=0xff => Json::from(head.cast_signed()),
        _ => panic!("{head:#x} is not read"),
    }
}

fn take<'b>(bytes: &mut &'b [u8], length: usize) -> &'b [u8] {
    let (taken, rest) = bytes.split_at(length);
    *bytes = rest;
    taken
}

fn number(bytes: &mut &[u8], length: usize) -> u64 {
    let digits = take(bytes, length).iter();
    digits.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn text(bytes: &mut &[u8], length: usize) -> Json {
    Json::from(std::str::from_utf8(take(bytes, length)).unwrap())
}

fn items(bytes: &mut &[u8], length: usize) -> Json {
    (0..length).map(|_| unpack(bytes)).collect()
}

fn members(bytes: &mut &[u8], length: usize) -> Json {
    let mut all = Map::new();
    for _ in 0..length {
        let name = unpack(bytes);
        all.insert(name.as_str().unwrap().to_owned(), unpack(bytes));
    }
    Json::Object(all)
}

/// A value of lists in lists, so deep.
pub(crate) fn nested(depth: usize) -> Json {
    (0..depth).fold(Json::from("x"), |inner, _| Json::Array(vec![inner]))
}
