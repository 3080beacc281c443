//! The conversion table (decisions/blueprint#conversion-table), for values and for types.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use blueprint::{Type, Value};
use expr::{Mismatch, ValueOrigin, convert, convert_type, parse_as, to_text};

use ValueOrigin::{Literal, Substitution};

fn bytes(bytes: &[u8]) -> Value {
    Value::Bytes(bytes.into())
}

#[test]
fn scalars_become_text_only_from_substitutions() {
    for (value, text) in [
        (Value::Int(5432), "5432"),
        (Value::Float(2.0), "2.0"),
        (Value::Float(1e21), "1e21"),
        (Value::Bool(true), "true"),
        (bytes("é".as_bytes()), "é"),
    ] {
        assert_eq!(convert(&value, &Type::Text, Substitution), Ok(text.into()));
        assert_eq!(convert(&value, &Type::Text, Literal), Err(Mismatch::Kind));
        let secret = convert(&value.clone().secret(), &Type::Text, Substitution);
        assert_eq!(secret, Ok(Value::from(text).secret()));
        assert!(convert_type(&Type::of(&value), &Type::Text, Substitution));
        assert!(!convert_type(&Type::of(&value), &Type::Text, Literal));
    }
    assert_eq!(
        convert(&bytes(&[0xff]), &Type::Text, Substitution),
        Err(Mismatch::NotUtf8)
    );
}

#[test]
fn other_values_are_not_converted_to_numbers() {
    for source in [Literal, Substitution] {
        assert_eq!(
            convert(&"5".into(), &Type::Int, source),
            Err(Mismatch::Kind)
        );
        assert_eq!(
            convert(&Value::Float(5.0), &Type::Int, source),
            Err(Mismatch::Kind)
        );
        assert_eq!(
            convert(&Value::Int(5), &Type::Float, source),
            Ok(Value::Float(5.0))
        );
        assert!(!convert_type(&Type::Text, &Type::Int, source));
        assert!(convert_type(&Type::Int, &Type::Float, source));
        assert!(!convert_type(&Type::Float, &Type::Int, source));
    }
}

#[test]
fn lists_and_maps_are_converted_item_by_item() {
    let list = Value::list([Value::Int(1), "a".into()]);
    assert_eq!(
        convert(&list, &Type::list(Type::Text), Substitution),
        Ok(Value::list(["1".into(), "a".into()]))
    );
    assert_eq!(
        convert(&list, &Type::list(Type::Int), Substitution),
        Err(Mismatch::Kind)
    );
    let object = Type::object([("port".into(), Type::Float)]);
    let map = Value::map([("port", Value::Int(80)), ("other", Value::Bool(true))]);
    let converted = convert(&map, &object, Literal).unwrap();
    assert_eq!(converted.get("port"), Some(&Value::Float(80.0)));
    assert_eq!(converted.get("other"), Some(&Value::Bool(true)));
    assert!(!convert_type(
        &Type::list(Type::Text),
        &Type::list(Type::Int),
        Substitution
    ));
    assert!(convert_type(
        &Type::list(Type::Any),
        &Type::list(Type::Int),
        Substitution
    ));
    assert!(!convert_type(&Type::list(Type::Int), &object, Substitution));
}

#[test]
fn a_union_takes_its_first_branch_that_fits() {
    let union = Type::union([Type::list(Type::Text), Type::Float, Type::Int]);
    assert_eq!(
        convert(&Value::Int(1), &union, Literal),
        Ok(Value::Float(1.0))
    );
    assert_eq!(
        convert(&Value::Bool(true), &union, Literal),
        Err(Mismatch::NoBranch)
    );
    assert!(!convert_type(&Type::Bool, &union, Literal));
    assert!(convert_type(
        &Type::union([Type::Bool, Type::Int]),
        &union,
        Literal
    ));
}

#[test]
fn unknown_values_pass_if_their_type_may_fit() {
    let unknown = Value::unknown(Some(Type::Int), None);
    let Ok(Value::Unknown(converted)) = convert(&unknown, &Type::Text, Substitution) else {
        panic!("not unknown")
    };
    assert_eq!(converted.ty, Some(Type::Text));
    assert_eq!(
        convert(&unknown, &Type::Bool, Substitution),
        Err(Mismatch::Kind)
    );
    assert!(
        convert(&Value::unknown(None, None), &Type::Bool, Substitution)
            .unwrap()
            .is_unknown()
    );
}

#[test]
fn text_is_parsed_by_a_declared_type() {
    for (text, ty, value) in [
        (" 12 ", Type::Int, Some(Value::Int(12))),
        ("012", Type::Int, Some(Value::Int(12))),
        ("1.0", Type::Int, None),
        ("12", Type::Float, Some(Value::Float(12.0))),
        ("1e3", Type::Float, Some(Value::Float(1000.0))),
        ("inf", Type::Float, None),
        ("true\n", Type::Bool, Some(Value::Bool(true))),
        ("True", Type::Bool, None),
        ("yes", Type::Bool, None),
        (" a ", Type::Text, Some(" a ".into())),
        ("[1]", Type::list(Type::Int), None),
    ] {
        assert_eq!(parse_as(text, &ty), value, "{text}");
    }
}

#[test]
fn only_scalars_have_a_text() {
    assert_eq!(to_text(&Value::Null), Some(Ok("".into())));
    assert_eq!(to_text(&Value::list([])), None);
    assert_eq!(
        to_text(&Value::unknown(Some(Type::list(Type::Any)), None)),
        None
    );
    assert!(
        to_text(&Value::unknown(None, None))
            .unwrap()
            .unwrap()
            .is_unknown()
    );
    assert_eq!(to_text(&bytes(&[0xff])), Some(Err(Mismatch::NotUtf8)));
}
