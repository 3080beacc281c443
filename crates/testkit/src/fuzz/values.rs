//! A target on the values of Terraform's providers: a line with a type, then the value as msgpack.

use blueprint::Value;
use terraform_wire::wire::{WireProblem, decode_with_types, encode, encode_with_types};
use terraform_wire::{ValueType, same};

use super::target::{FuzzTarget, TEXT, number, roughly};

pub(super) const TERRAFORM_VALUE: FuzzTarget = FuzzTarget {
    name: "terraform-value",
    invariant: "any bytes are refused with a typed error, or are a value that is the same after it is written and read",
    run,
    seeds,
    words: &[
        "\"dynamic\"",
        "\"number\"",
        "\"string\"",
        "[\"list\",",
        "[\"set\",",
        "[\"map\",",
        "[\"tuple\",[",
        "[\"object\",{",
        "]",
        "}]",
        "\n",
        "0.1",
        "1e30",
        "Inf",
    ],
    cases: 20_000,
    longest: TEXT,
};

fn run(input: &[u8]) -> u64 {
    let Some(end) = input.iter().position(|byte| *byte == b'\n') else {
        return 0;
    };
    let (head, bytes) = (&input[..end], &input[end + 1..]);
    let Ok(ty) = ValueType::from_json(head) else {
        return 1;
    };
    match decode_with_types(bytes, &ty) {
        Err(error) => number((
            kind(&ty),
            std::mem::discriminant::<WireProblem>(&error.problem),
            error.path.0.len(),
        )),
        Ok((value, dynamic)) => {
            let bytes =
                encode_with_types(&value, &ty, &dynamic).expect("what was read can be written");
            let (again, types) =
                decode_with_types(&bytes, &ty).expect("what was written can be read");
            assert!(same(&again, &value), "{value} became {again}");
            assert_eq!(types.len(), dynamic.len(), "the types of {value} changed");
            number((
                kind(&ty),
                roughly(bytes.len()),
                value.has_unknown(),
                dynamic.len().min(4),
            ))
        }
    }
}

fn kind(ty: &ValueType) -> u8 {
    match ty {
        ValueType::Dynamic => 0,
        ValueType::Bool => 1,
        ValueType::Number => 2,
        ValueType::String => 3,
        ValueType::List(item) => 10 + kind(item).min(10),
        ValueType::Set(item) => 30 + kind(item).min(10),
        ValueType::Map(item) => 50 + kind(item).min(10),
        ValueType::Tuple(items) => 70 + roughly(items.len()).min(8) as u8,
        ValueType::Object(attributes) => 80 + roughly(attributes.len()).min(8) as u8,
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let list = |items: &[&str]| Value::list(items.iter().map(|item| Value::from(*item)));
    let values = [
        ("\"number\"", Value::Int(-7)),
        ("\"number\"", Value::Decimal("18446744073709551616".into())),
        ("\"number\"", Value::Float(0.5)),
        ("\"string\"", Value::from("text")),
        ("[\"list\",\"string\"]", list(&["a", "b"])),
        ("[\"set\",\"string\"]", list(&["a", "b"])),
        (
            "[\"map\",\"bool\"]",
            Value::map([("k", Value::Bool(true)), ("l", Value::Null)]),
        ),
        (
            "[\"tuple\",[\"string\",\"number\"]]",
            Value::list([Value::from("a"), Value::Int(300)]),
        ),
        (
            "[\"object\",{\"a\":\"string\",\"b\":[\"list\",\"number\"]}]",
            Value::map([("a", Value::from("x"))]),
        ),
        (
            "\"dynamic\"",
            Value::map([("a", list(&["x"])), ("b", Value::Int(1))]),
        ),
        (
            "[\"object\",{\"a\":\"dynamic\"}]",
            Value::map([("a", Value::unknown(None, None))]),
        ),
    ];
    let mut seeds: Vec<Vec<u8>> = values
        .into_iter()
        .map(|(ty, value)| {
            let bytes = encode(
                &value,
                &ValueType::from_json(ty.as_bytes()).expect("a type"),
            )
            .expect("of that type");
            [ty.as_bytes(), b"\n", &bytes].concat()
        })
        .collect();
    // An unknown text that is not null and starts with `w-`.
    seeds.push(b"\"string\"\n\xc7\x07\x0c\x82\x01\xc2\x02\xa2w-".to_vec());
    seeds
}
