//! The value of a YAML node without expressions.
//!
//! Not here: the texts of dialects, whose scalars may hold expressions.

use blueprint::{Name, Value};
use syntax::{Content, Node, Scalar};

/// Returns the value of a node whose texts hold no expressions. Scalars follow the core schema of
/// YAML 1.2 (section 10.3). Keys that are no texts are left out.
pub fn plain_value(node: &Node) -> Value {
    match &node.content {
        Content::Map(entries) => Value::map(entries.iter().filter_map(|entry| {
            let key = Name::from(entry.key.text()?);
            Some((key, plain_value(&entry.value)))
        })),
        Content::List(items) => Value::list(items.iter().map(plain_value)),
        Content::Scalar(scalar) => scalar_value(scalar),
        Content::Missing => Value::Null,
    }
}

fn scalar_value(scalar: &Scalar) -> Value {
    let text = scalar.text.as_ref();
    if scalar.style.is_text() {
        return Value::from(text);
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => match blueprint::parse_integer(text) {
            Some(number) => Value::Int(number),
            None => blueprint::parse_float(text).map_or_else(|| Value::from(text), Value::Float),
        },
    }
}
