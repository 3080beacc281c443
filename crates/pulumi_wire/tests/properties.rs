//! Properties over generated values and answers: the wire form keeps values, and nothing panics.

use std::collections::BTreeMap;
use std::sync::Arc;

use blueprint::{Asset, Name, Type, Value};
use proptest::prelude::*;
use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Value as Wire};
use pulumi_wire::schema::{PackageSchema, PackageTypes};
use pulumi_wire::{
    Accepts, DecodeProblem, Decoding, EncodeProblem, Encoding, NoLookups, Phase, PropertyPath,
    PropertyStep, RequestPart, decode, encode, mark_like_inputs, same,
};

const KEY: &str = "4dabf18193072939515e22adb298388d";
const KINDS: [&str; 6] = [
    "1b47061264138c4ac30d75fd1eb44270",
    "c44067f5952c0a294b673a41bacd8c17",
    "0def7320c3a5731c473e5ecbe6d01bc7",
    "5cf8f73096256a8f31e491e813e4eb8e",
    "d0e6a833031e9bbcd3f4e8bde6ca49a4",
    "803fd3297a5875dc03ca845dda5d2a98",
];
const UNKNOWNS: [&str; 7] = [
    "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
    "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
    "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
    "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
    "030794c1-ac77-496b-92df-f27374a8bd58",
    "e48ece36-62e2-4504-bad9-02848725956a",
    "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
];
const ALL: Accepts = Accepts {
    secrets: true,
    resources: true,
    outputs: true,
    bytes: true,
};

fn planning<'a>() -> Decoding<'a> {
    Decoding {
        phase: Phase::Planning,
        waits_for: None,
        lookups: &NoLookups,
    }
}

fn full<'a>() -> Encoding<'a> {
    Encoding::of(RequestPart::Check, Phase::Planning, ALL, &NoLookups)
}

fn keys() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-c]", 1 => prop::sample::select(vec!["", "__type", "a.b", "value", "text", "hash"]).prop_map(str::to_owned)]
}

fn assets() -> impl Strategy<Value = Asset> {
    let leaf = prop_oneof![
        "[a-z]{0,3}".prop_map(|text| Asset::Text(text.into())),
        "[a-z]{1,3}".prop_map(|path| Asset::File(path.into())),
        "[a-z]{1,3}".prop_map(|url| Asset::Remote(url.into())),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop::collection::btree_map("[a-c]".prop_map(Name::from), inner, 0..3)
            .prop_map(|entries| Asset::Archive(entries.into_iter().collect()))
    })
}

fn values() -> impl Strategy<Value = Value> {
    let types = vec![
        None,
        Some(Type::Bool),
        Some(Type::number()),
        Some(Type::list(Type::Any)),
        Some(Type::map(Type::Any)),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-(1i64 << 53)..(1i64 << 53)).prop_map(Value::Int),
        (prop::num::f64::NORMAL | prop::num::f64::ZERO).prop_map(Value::Float),
        "\\PC{0,4}".prop_map(Value::from),
        Just(Value::Bytes(vec![0xff, 0xfe].into())),
        prop::sample::select(types).prop_map(|ty| Value::unknown(ty, None)),
        assets().prop_map(|asset| Value::Asset(Arc::new(asset))),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::list),
            prop::collection::btree_map(keys(), inner.clone(), 0..4).prop_map(Value::map),
            inner.prop_map(Value::secret),
        ]
    })
}

fn properties() -> impl Strategy<Value = Value> {
    prop::collection::btree_map(keys(), values(), 0..5).prop_map(Value::map)
}

fn wires() -> impl Strategy<Value = Wire> {
    let texts = [
        KINDS.as_slice(),
        &UNKNOWNS,
        &["", "x", "AA==", "urn:pulumi:a::b::c:d:e::f"],
    ]
    .concat();
    let leaf = prop_oneof![
        Just(None),
        any::<i32>().prop_map(|number| Some(Kind::NullValue(number))),
        any::<bool>().prop_map(|value| Some(Kind::BoolValue(value))),
        any::<f64>().prop_map(|number| Some(Kind::NumberValue(number))),
        prop::sample::select(texts).prop_map(|text| Some(Kind::StringValue(text.to_owned()))),
    ]
    .prop_map(|kind| Wire { kind });
    leaf.prop_recursive(5, 32, 4, |inner| {
        let parts = vec![
            "value",
            "secret",
            "dependencies",
            "text",
            "path",
            "uri",
            "assets",
            "hash",
            "urn",
            "id",
        ];
        let parts = || prop::sample::select(parts.clone()).prop_map(str::to_owned);
        let fields =
            |keys: BoxedStrategy<String>| prop::collection::btree_map(keys, inner.clone(), 0..4);
        let kind = prop::sample::select(KINDS.to_vec());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|values| Kind::ListValue(ListValue { values })),
            fields(keys().boxed()).prop_map(|fields| Kind::StructValue(Struct { fields })),
            (kind, fields(parts().boxed())).prop_map(|(kind, mut fields)| {
                fields.insert(
                    KEY.to_owned(),
                    Wire {
                        kind: Some(Kind::StringValue(kind.to_owned())),
                    },
                );
                Kind::StructValue(Struct { fields })
            }),
        ]
        .prop_map(|kind| Wire { kind: Some(kind) })
    })
}

fn structs() -> impl Strategy<Value = Struct> {
    prop::collection::btree_map(keys(), wires(), 0..4).prop_map(|fields| Struct { fields })
}

/// Whether two values are equal except for facts that the wire form loses: kinds of numbers, sets,
/// and digests of assets.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Secret(a), Value::Secret(b)) => equal(a, b),
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equal(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        (Value::Secret(_), _) | (_, Value::Secret(_)) => false,
        (a, b) => same(a, b),
    }
}

proptest! {
    #[test]
    fn a_value_returns_from_the_wire(value in properties()) {
        let wire = encode(&value, &full()).unwrap().unwrap();
        let back = decode(wire, &planning()).unwrap();
        prop_assert!(equal(&value, &back), "{:?} {:?}", value.revealed(), back.revealed());
    }

    #[test]
    fn any_answer_is_refused_or_is_a_stable_value(answer in structs()) {
        if let Ok(value) = decode(answer.clone(), &planning()) {
            let again = decode(encode(&value, &full()).unwrap().unwrap(), &planning()).unwrap();
            prop_assert_eq!(&value, &again);
            if let Ok(known) = decode(answer, &Decoding { phase: Phase::Applying, ..planning() }) {
                prop_assert!(!known.has_unknown());
                prop_assert_eq!(&value, &known);
            }
        }
    }

    #[test]
    fn encoding_follows_the_accepted_features(value in properties(), bare in any::<bool>()) {
        let accepts = if bare { Accepts::default() } else { ALL };
        for part in [RequestPart::Config, RequestPart::Check, RequestPart::Diff, RequestPart::Desired, RequestPart::Recorded, RequestPart::Arguments] {
            for phase in [Phase::Planning, Phase::Applying] {
                let encoding = Encoding::of(part, phase, accepts, &NoLookups);
                let Ok(sent) = encode(&value, &encoding) else { continue };
                let back = decode(sent.unwrap_or_default(), &planning()).unwrap();
                let unknowns = phase == Phase::Planning && !matches!(part, RequestPart::Recorded | RequestPart::Arguments);
                prop_assert!(unknowns || !back.has_unknown());
                prop_assert!(!unknowns || value.has_unknown() == back.has_unknown());
                prop_assert!((accepts.secrets && part != RequestPart::Config) || !back.has_secret());
            }
        }
    }

    #[test]
    fn marks_return_where_they_were(value in properties()) {
        let bare = value.revealed();
        let marked = mark_like_inputs(bare.clone(), &value);
        prop_assert_eq!(marked.revealed(), bare);
        prop_assert_eq!(marked.has_secret(), value.has_secret());
    }

    #[test]
    fn a_path_prints_and_reads_back(steps in prop::collection::vec(prop_oneof![
        "\\PC{0,4}".prop_map(|name| PropertyStep::Property(name.into())),
        any::<u64>().prop_map(PropertyStep::Index),
        Just(PropertyStep::Every),
    ], 0..5)) {
        let path = PropertyPath(steps);
        prop_assert_eq!(PropertyPath::parse(&path.to_string()), Ok(path));
    }

    #[test]
    fn no_text_breaks_the_reader_of_paths(text in "[a\\[\\]\".*0\\\\é]{0,8}") {
        let path = PropertyPath::parse_or_name(&text);
        prop_assert_eq!(PropertyPath::parse(&path.to_string()), Ok(path));
    }

    #[test]
    fn no_schema_breaks_the_types(entry in json(), kind in json()) {
        let text = serde_json::json!({"name": "x", "resources": {"x:index:A": entry}, "functions": {"x:index:f": entry},
            "types": {"x:index:T": kind}, "provider": entry, "config": kind}).to_string();
        let types = PackageTypes::new(Arc::new(PackageSchema::parse(text).unwrap()), "x");
        use provider::TypeSource as _;
        prop_assert!(types.resource_type("x/A").is_some() && types.resource_facts("x/index:a").is_some());
        prop_assert!(types.data_source_type("x/f").is_some());
        types.settings();
    }
}

/// Entries of schemas, most of them valid.
fn json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value as Json;
    let words = vec![
        "string",
        "integer",
        "number",
        "boolean",
        "array",
        "object",
        "#/types/x:index:T",
        "a",
        "",
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i32>().prop_map(Json::from),
        prop::sample::select(words).prop_map(Json::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let keys = prop::sample::select(vec![
            "inputProperties",
            "properties",
            "requiredInputs",
            "required",
            "type",
            "$ref",
            "items",
            "oneOf",
            "enum",
            "additionalProperties",
            "const",
            "secret",
            "replaceOnChanges",
            "value",
            "inputs",
            "outputs",
            "aliases",
            "a",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
            prop::collection::btree_map(keys, inner, 0..5).prop_map(|entries| entries
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

#[test]
fn a_deep_answer_is_refused() {
    let mut wire = Wire {
        kind: Some(Kind::BoolValue(true)),
    };
    for _ in 0..5_000 {
        wire = Wire {
            kind: Some(Kind::ListValue(ListValue { values: vec![wire] })),
        };
    }
    let error = decode(
        Struct {
            fields: BTreeMap::from([("a".to_owned(), wire)]),
        },
        &planning(),
    )
    .unwrap_err();
    assert_eq!(error.problem, DecodeProblem::Depth);
}

#[test]
fn values_without_a_wire_form_are_refused_at_their_place() {
    let refused = |value: Value, encoding: &Encoding<'_>| {
        let error = encode(
            &Value::map([("a", Value::list([Value::Null, value]))]),
            encoding,
        )
        .unwrap_err();
        assert_eq!(error.path.to_string(), "a[1]");
        error.problem
    };
    let bare = Encoding::of(
        RequestPart::Check,
        Phase::Applying,
        Accepts::default(),
        &NoLookups,
    );
    assert_eq!(refused(Value::Int(i64::MAX), &bare), EncodeProblem::Number);
    assert_eq!(
        refused(Value::Decimal("1e400".into()), &bare),
        EncodeProblem::Number
    );
    assert_eq!(
        refused(Value::Float(f64::NAN), &full()),
        EncodeProblem::Number
    );
    assert_eq!(
        refused(Value::Bytes(vec![0xff].into()), &bare),
        EncodeProblem::Bytes
    );
    assert_eq!(
        encode(&Value::Int(1), &full()).unwrap_err().problem,
        EncodeProblem::NotAnObject
    );
    assert_eq!(encode(&Value::Null, &full()), Ok(None));
}

#[test]
fn an_unknown_answer_is_refused_at_its_place_while_applying() {
    let wire = encode(
        &Value::map([("a", Value::map([("b", Value::unknown(None, None))]))]),
        &full(),
    )
    .unwrap()
    .unwrap();
    let error = decode(
        wire,
        &Decoding {
            phase: Phase::Applying,
            ..planning()
        },
    )
    .unwrap_err();
    assert_eq!(
        (error.path.to_string().as_str(), error.problem),
        ("a.b", DecodeProblem::Unknown)
    );
}
