//! Variable types with options of AWS: regions, and instance sizes.
//!
//! `options.txt` is generated with the catalogue: the name of a type, its options on the next
//! lines, an empty line. Labels equal values.

use std::sync::Arc;

use blueprint::{Name, Type, Value};
use provider::{CustomType, OptionOf};

const OPTIONS: &str = include_str!("options.txt");

/// The types: name and unparsed options.
fn types() -> impl Iterator<Item = (&'static str, &'static str)> {
    OPTIONS
        .split("\n\n")
        .filter_map(|part| part.trim().split_once('\n'))
}

/// The names of all types.
pub(super) fn names<'n>() -> impl Iterator<Item = &'n str> {
    types().map(|(name, _)| name)
}

/// The type with a name, in any spelling of case and hyphens.
pub(super) fn variable_type(name: &str) -> Option<Arc<CustomType>> {
    let plain = provider::plain_name(name);
    let (name, options) = types().find(|(name, _)| provider::plain_name(name) == plain)?;
    let option = |label: &str| {
        let label: Name = label.into();
        OptionOf {
            value: Value::Text(label.clone()),
            label,
            docs: "".into(),
        }
    };
    Some(Arc::new(CustomType {
        name: name.into(),
        ty: Type::Text,
        options: options.lines().map(option).collect(),
        docs: docs(name).into(),
    }))
}

fn docs(name: &str) -> &'static str {
    match name {
        "aws/region" => "A region of AWS.",
        "aws/ec2/instance-size" => "A type of EC2 instance, by its size.",
        _ => "",
    }
}
