//! Properties over generated schemas and values: the wire form keeps values, and no input causes a
//! panic.

use std::sync::Arc;

use blueprint::{Name, Value};
use proptest::prelude::*;
use terraform_wire::{
    AttributeKind, Block, BlockType, NestedObject, Nesting, Path, SchemaAttribute, ValueType,
    conform, conform_to, consistency, proposed, same, wire,
};

fn names() -> impl Strategy<Value = Name> {
    prop::sample::select(vec!["a", "b", "c", "d"]).prop_map(Name::from)
}

fn types() -> impl Strategy<Value = ValueType> {
    let leaf = prop_oneof![
        Just(ValueType::Bool),
        Just(ValueType::Number),
        Just(ValueType::String),
        Just(ValueType::Dynamic),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(ValueType::list),
            inner.clone().prop_map(ValueType::set),
            inner.clone().prop_map(ValueType::map),
            prop::collection::vec(inner.clone(), 0..3)
                .prop_map(|items| ValueType::Tuple(items.into())),
            prop::collection::btree_map(names(), inner, 0..3).prop_map(ValueType::object),
        ]
    })
}

fn numbers() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::Int),
        (-3i64..3).prop_map(Value::Int),
        prop::num::f64::NORMAL.prop_map(Value::Float),
        prop::sample::select(vec![0.1, 0.5, 2.5e-7, 1e30]).prop_map(Value::Float),
        "[1-9][0-9]{20,40}".prop_map(|text| Value::Decimal(text.into())),
    ]
}

/// Values of a type. Any part may be unknown or null.
fn values(ty: &ValueType) -> BoxedStrategy<Value> {
    let list = |item: &ValueType| prop::collection::vec(values(item), 0..4);
    let known = match ty {
        ValueType::Dynamic => prop_oneof![
            any::<bool>().prop_map(Value::Bool),
            "[a-z]{0,3}".prop_map(Value::from),
            prop::collection::vec("[a-z]{0,3}".prop_map(Value::from), 0..3).prop_map(Value::list),
            prop::collection::vec((names(), any::<i64>().prop_map(Value::Int)), 0..3)
                .prop_map(Value::map),
        ]
        .boxed(),
        ValueType::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        ValueType::Number => numbers().boxed(),
        ValueType::String => prop_oneof!["[a-c]{0,1}", "\\PC{0,3}"]
            .prop_map(Value::from)
            .boxed(),
        ValueType::List(item) => list(item).prop_map(Value::list).boxed(),
        ValueType::Set(item) => {
            let ty = ty.clone();
            list(item)
                .prop_map(move |items| conform_to(&ty, &Value::Set(Arc::new(items))))
                .boxed()
        }
        ValueType::Tuple(items) => items
            .iter()
            .map(values)
            .collect::<Vec<_>>()
            .prop_map(Value::list)
            .boxed(),
        ValueType::Map(inner) => prop::collection::btree_map(names(), values(inner), 0..3)
            .prop_map(Value::map)
            .boxed(),
        ValueType::Object(attributes) => {
            let parts: Vec<_> = attributes
                .iter()
                .map(|(name, ty)| (Just(name.clone()), values(ty)))
                .collect();
            parts.prop_map(Value::map).boxed()
        }
    };
    let unknown = ty.unknown();
    prop_oneof![8 => known, 1 => Just(Value::Null), 1 => Just(unknown)].boxed()
}

fn nestings() -> impl Strategy<Value = Nesting> {
    prop::sample::select(vec![
        Nesting::Single,
        Nesting::Group,
        Nesting::List,
        Nesting::Set,
        Nesting::Map,
    ])
}

fn attributes(depth: u32) -> BoxedStrategy<SchemaAttribute> {
    let plain = types().prop_map(AttributeKind::Plain);
    let kind = if depth == 0 {
        plain.boxed()
    } else {
        let attributes = prop::collection::btree_map(names(), attributes(depth - 1), 0..3);
        let nested = (nestings(), attributes).prop_map(|(nesting, attributes)| {
            let nesting = if nesting == Nesting::Group {
                Nesting::Single
            } else {
                nesting
            };
            AttributeKind::Nested(NestedObject {
                nesting,
                attributes: attributes.into_iter().collect(),
            })
        });
        prop_oneof![2 => plain, 1 => nested].boxed()
    };
    (kind, 0..4u8, any::<bool>(), any::<bool>())
        .prop_map(|(kind, flags, sensitive, write_only)| SchemaAttribute {
            kind,
            required: flags == 0,
            optional: flags == 1 || flags == 2,
            computed: flags >= 2,
            sensitive,
            write_only: write_only && flags < 2,
            ..SchemaAttribute::default()
        })
        .boxed()
}

fn blocks(depth: u32) -> BoxedStrategy<Block> {
    let attributes = prop::collection::btree_map(names(), attributes(1), 0..4);
    if depth == 0 {
        return attributes
            .prop_map(|attributes| Block {
                attributes: attributes.into_iter().collect(),
                ..Block::default()
            })
            .boxed();
    }
    let kinds = prop::collection::btree_map(
        "[x-z]".prop_map(Name::from),
        (nestings(), blocks(depth - 1)),
        0..3,
    );
    (attributes, kinds)
        .prop_map(|(attributes, kinds)| Block {
            attributes: attributes.into_iter().collect(),
            blocks: kinds
                .into_iter()
                .map(|(name, (nesting, block))| {
                    (
                        name,
                        BlockType {
                            nesting,
                            block,
                            min_items: 0,
                            max_items: 0,
                        },
                    )
                })
                .collect(),
            ..Block::default()
        })
        .boxed()
}

fn schema_and_values(count: usize) -> impl Strategy<Value = (Block, Vec<Value>)> {
    blocks(2).prop_flat_map(move |schema| {
        let values = prop::collection::vec(values(&schema.ty()), count);
        (Just(schema), values)
    })
}

fn type_and_value() -> impl Strategy<Value = (ValueType, Value)> {
    types().prop_flat_map(|ty| (Just(ty.clone()), values(&ty)))
}

proptest! {
    #[test]
    fn a_value_survives_the_wire((ty, value) in type_and_value()) {
        let bytes = wire::encode(&value, &ty).unwrap();
        let (again, dynamic) = wire::decode_with_types(&bytes, &ty).unwrap();
        prop_assert!(same(&again, &value), "{value} became {again}");
        prop_assert_eq!(wire::encode_with_types(&again, &ty, &dynamic).unwrap(), bytes);
    }

    #[test]
    fn any_bytes_are_a_value_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..64), ty in types()) {
        if let Ok((value, dynamic)) = wire::decode_with_types(&bytes, &ty) {
            prop_assert!(wire::encode_with_types(&value, &ty, &dynamic).is_ok());
        }
    }

    #[test]
    fn cut_and_changed_bytes_are_a_value_or_an_error(
        (ty, value) in type_and_value(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = wire::encode(&value, &ty).unwrap();
        let at = place.index(bytes.len());
        prop_assert!(wire::decode(&bytes[..at], &ty).is_err());
        bytes[at] = byte;
        let _ = wire::decode(&bytes, &ty);
    }

    #[test]
    fn a_value_in_shape_stays_as_it_is((schema, values) in schema_and_values(1)) {
        let once = conform(&schema, &values[0]);
        let twice = conform(&schema, &once);
        prop_assert!(same(&once, &twice));
    }

    #[test]
    fn what_is_proposed_can_be_sent_and_agrees_with_the_document((schema, values) in schema_and_values(2)) {
        let (prior, config) = (conform(&schema, &values[0]), conform(&schema, &values[1]));
        let found = proposed::proposed(&schema, &prior, &config);
        prop_assert!(wire::encode(&found, &schema.ty()).is_ok(), "{found}");
        let _ = proposed::unread_data_source(&schema, &config);
        // The parts of an unknown object may become unknown attributes.
        if config.has_unknown() {
            return Ok(());
        }
        // The same document again changes nothing.
        let again = proposed::proposed(&schema, &found, &config);
        prop_assert!(same(&again, &found), "{again} after {found}");
    }

    #[test]
    fn checks_of_answers_never_panic((schema, values) in schema_and_values(3)) {
        let values: Vec<Value> = values.iter().map(|value| conform(&schema, value)).collect();
        let _ = consistency::check_plan(&schema, &values[0], &values[1], &values[2]);
        let _ = consistency::check_apply(&schema, &values[0], &values[1]);
        let _ = consistency::check_replan(&schema, &values[0], &values[1]);
        let paths: Vec<Path> = schema.attributes.keys().map(|name| Path::default().attribute(name)).collect();
        let _ = consistency::replacing(&values[0], &values[1], &paths);
    }

    #[test]
    fn an_answer_that_repeats_a_known_plan_agrees((schema, values) in schema_and_values(1)) {
        let value = conform(&schema, &values[0]);
        if value.has_unknown() {
            return Ok(());
        }
        let found = consistency::check_replan(&schema, &value, &value);
        prop_assert!(found.is_empty(), "{found:?} in {value}");
    }
}
