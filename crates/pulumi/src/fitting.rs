//! Converts properties to the kinds of their fields: a number or boolean where a string is needed,
//! and a string where a number or boolean is needed, if nothing is lost
//! (decisions/pulumi#properties).
//!
//! Not here: the check of the result, which is the native one.

use std::sync::Arc;

use blueprint::{Field, Kind, Map, Schema, Type, Value, parse_integer};

use crate::scalar::float_text;

/// The properties with converted values. Values that do not fit stay as they are.
pub(crate) fn converted(value: &Value, schema: &Schema) -> Value {
    match value {
        Value::Secret(inner) => converted(inner, schema).secret(),
        Value::Map(entries) => {
            let entries = entries.iter().map(|(name, value)| {
                let value = match schema.fields.get(name) {
                    Some(field) => field_value(value, &field.kind),
                    None => value.clone(),
                };
                (name.clone(), value)
            });
            Value::Map(Arc::new(entries.collect::<Map>()))
        }
        other => other.clone(),
    }
}

fn field_value(value: &Value, kind: &Kind) -> Value {
    match (value, kind) {
        (Value::Secret(inner), _) => field_value(inner, kind).secret(),
        (Value::Bool(value), Kind::String) => Value::text(value.to_string()),
        (Value::Int(value), Kind::String) => Value::text(value.to_string()),
        (Value::Decimal(digits), Kind::String) => Value::Text(digits.clone()),
        (Value::Float(value), Kind::String) => Value::text(float_text(*value)),
        (Value::Text(text), Kind::Boolean) => match text.as_ref() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => value.clone(),
        },
        (Value::Text(text), Kind::Integer) => {
            parse_integer(text).map_or_else(|| value.clone(), Value::Int)
        }
        (Value::Text(text), Kind::Float) => number(text).unwrap_or_else(|| value.clone()),
        (Value::List(items), Kind::Array(item)) => {
            let items = items.iter().map(|value| field_value(value, &item.kind));
            Value::list(items)
        }
        (Value::Map(entries), Kind::Map(entry)) => {
            let entries = entries
                .iter()
                .map(|(name, value)| (name.clone(), field_value(value, &entry.kind)));
            Value::Map(Arc::new(entries.collect::<Map>()))
        }
        (Value::Map(_), Kind::Object(schema)) => converted(value, schema),
        _ => value.clone(),
    }
}

/// A number whose shortest text is this one, so that nothing is lost.
fn number(text: &str) -> Option<Value> {
    if let Some(value) = parse_integer(text) {
        return Some(Value::Int(value));
    }
    let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
    (float_text(value) == text).then_some(Value::Float(value))
}

/// Whether a value of this type is converted to the kind of the field.
pub(crate) fn accepts(found: &Type, wanted: &Field) -> bool {
    let is_scalar = |ty: &Type| matches!(ty, Type::Int | Type::Float | Type::Bool | Type::Text);
    let takes = match wanted.kind {
        Kind::String => is_scalar,
        // The value of a text decides.
        Kind::Integer | Kind::Float | Kind::Boolean => |ty: &Type| matches!(ty, Type::Text),
        _ => return false,
    };
    found.alternatives().iter().all(takes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(value: Value, kind: Kind) -> Value {
        let fields = [("f".into(), Field::of(kind))];
        let schema = Schema {
            fields: fields.into_iter().collect(),
            open: false,
        };
        let fitted = converted(&Value::map([("f", value)]), &schema);
        fitted.get("f").cloned().unwrap_or_default()
    }

    #[test]
    fn scalars_are_converted_without_loss() {
        let text = Value::text;
        for (value, kind, fitted) in [
            (Value::Int(5), Kind::String, text("5")),
            (Value::Float(1.5), Kind::String, text("1.5")),
            (Value::Bool(true), Kind::String, text("true")),
            (text("12"), Kind::Integer, Value::Int(12)),
            (text("1.5"), Kind::Float, Value::Float(1.5)),
            (text("1.50"), Kind::Float, text("1.50")),
            (text("false"), Kind::Boolean, Value::Bool(false)),
            (text("no"), Kind::Boolean, text("no")),
            (text("x"), Kind::Integer, text("x")),
            (Value::Int(5).secret(), Kind::String, text("5").secret()),
        ] {
            assert_eq!(
                fit(value.clone(), kind.clone()),
                fitted,
                "{value:?} {kind:?}"
            );
        }
        let list = Kind::Array(Arc::new(Field::of(Kind::String)));
        let items = Value::list([Value::Int(1), text("a")]);
        assert_eq!(fit(items, list), Value::list([text("1"), text("a")]));
    }
}
