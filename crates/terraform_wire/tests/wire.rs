//! The bytes of values that providers and hosts write.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use blueprint::Value;
use terraform_wire::wire::{WireProblem, decode, decode_with_types, encode, encode_with_types};
use terraform_wire::{Path, ValueType};

fn ty(json: &str) -> ValueType {
    ValueType::from_json(json.as_bytes()).unwrap()
}

#[test]
fn numbers_are_written_in_their_shortest_exact_form() {
    for (value, bytes) in [
        (Value::Int(7), &b"\x07"[..]),
        (Value::Int(-300), b"\xd1\xfe\xd4"),
        (Value::Float(2.0), b"\x02"),
        (Value::Float(0.5), b"\xcb\x3f\xe0\0\0\0\0\0\0"),
        (Value::Float(0.1), b"\xa30.1"),
        (
            Value::Decimal("36893488147419103233".into()),
            b"\xb436893488147419103233",
        ),
    ] {
        assert_eq!(
            encode(&value, &ValueType::Number).unwrap(),
            bytes,
            "{value}"
        );
    }
    assert_eq!(
        decode(b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", &ValueType::Number)
            .unwrap()
            .to_string(),
        u64::MAX.to_string()
    );
    assert_eq!(
        decode(b"\xca\x3f\0\0\0", &ValueType::Number).unwrap(),
        Value::Float(0.5)
    );
    assert_eq!(
        decode(b"\xa41e-2", &ValueType::Number).unwrap(),
        Value::Float(0.01)
    );
    assert_eq!(
        decode(b"\xa3NaN", &ValueType::Number).unwrap_err().problem,
        WireProblem::NotANumber
    );
    assert!(decode(b"\xcb\x7f\xf8\0\0\0\0\0\0", &ValueType::Number).is_err());
}

#[test]
fn unknown_values_are_read_with_and_without_a_description() {
    for bytes in [
        &b"\xd4\0\0"[..],
        b"\xc7\0\0",
        b"\xd4\x05\0",
        b"\xc7\x07\x0c\x82\x01\xc2\x02\xa2w-",
    ] {
        assert!(
            decode(bytes, &ValueType::String).unwrap().is_unknown(),
            "{bytes:?}"
        );
    }
    // A description that ends early, a description that is not a map, and another extension.
    for bytes in [
        &b"\xc7\x03\x0c\x82\x01\xc2"[..],
        b"\xc7\x02\x0c\xa1x",
        b"\xd5\x07\0\0",
    ] {
        assert!(decode(bytes, &ValueType::String).is_err(), "{bytes:?}");
    }
    assert_eq!(
        encode(&Value::unknown(None, None), &ValueType::Number).unwrap(),
        b"\xd4\0\0"
    );
}

#[test]
fn a_dynamic_value_carries_its_type() {
    let value = Value::map([("a", Value::list([Value::from("x")]))]);
    let bytes = encode(&value, &ValueType::Dynamic).unwrap();
    assert_eq!(&bytes[..2], b"\x92\xc4");
    assert!(String::from_utf8_lossy(&bytes).contains(r#"["object",{"a":["tuple",["string"]]}]"#));
    assert_eq!(decode(&bytes, &ValueType::Dynamic).unwrap(), value);
    assert_eq!(encode(&Value::Null, &ValueType::Dynamic).unwrap(), b"\xc0");
}

#[test]
fn the_type_of_a_dynamic_value_is_kept_while_the_value_fits() {
    let list = b"\x92\xc4\x11[\"list\",\"string\"]\x91\xa1x";
    let (value, types) = decode_with_types(list, &ValueType::Dynamic).unwrap();
    assert_eq!(types, [(Path::default(), ty(r#"["list","string"]"#))]);
    assert_eq!(
        encode_with_types(&value, &ValueType::Dynamic, &types).unwrap(),
        list
    );
    let other = encode_with_types(&Value::Int(1), &ValueType::Dynamic, &types).unwrap();
    assert_eq!(other, b"\x92\xc4\x08\"number\"\x01");
}

#[test]
fn an_error_names_the_place() {
    let object = ty(r#"["object",{"a":["list",["map","string"]]}]"#);
    let error = decode(b"\x81\xa1a\x91\x81\xa1k\x05", &object).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"`a[0]["k"]`: must be a string, found a number"#
    );
    assert_eq!(
        decode(b"\x80", &object).unwrap_err().problem,
        WireProblem::Missing("a".into())
    );
    assert_eq!(
        decode(b"\x81\xa1b\xc0", &object).unwrap_err().problem,
        WireProblem::Extra("b".into())
    );
    assert_eq!(
        decode(b"\x82\xa1a\xc0\xa1a\xc0", &object)
            .unwrap_err()
            .problem,
        WireProblem::Twice("a".into())
    );
    assert_eq!(
        decode(b"\x81\xa1a\xc0\0", &object).unwrap_err().problem,
        WireProblem::Trailing(1)
    );
    assert_eq!(
        decode(b"\xdd\xff\xff\xff\xff", &ty(r#"["list","bool"]"#))
            .unwrap_err()
            .problem,
        WireProblem::CutOff
    );
    assert_eq!(
        decode(b"\xa2\xff\xfe", &ValueType::String)
            .unwrap_err()
            .problem,
        WireProblem::NotUtf8
    );
    let value = Value::map([("a", Value::list([Value::map([("k", Value::Int(1))])]))]);
    assert_eq!(
        encode(&value, &object).unwrap_err().to_string(),
        r#"`a[0]["k"]`: must be a string, found integer"#
    );
}

#[test]
fn nesting_without_end_is_refused() {
    let bytes = b"\x92\xa9\"dynamic\"".repeat(10_000);
    assert_eq!(
        decode(&bytes, &ValueType::Dynamic).unwrap_err().problem,
        WireProblem::TooDeep
    );
    let refined = [&b"\xc8\x27\x11\x0c\x81\x01"[..], &b"\x91".repeat(10_000)].concat();
    assert!(decode(&refined, &ValueType::String).is_err());
}

#[test]
fn secret_values_are_written_as_they_are() {
    let object = ty(r#"["object",{"a":"string","b":"string"}]"#);
    let value = Value::map([("a", Value::from("hidden").secret())]).secret();
    assert_eq!(
        encode(&value, &object).unwrap(),
        b"\x82\xa1a\xa6hidden\xa1b\xc0"
    );
}
