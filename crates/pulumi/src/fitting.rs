//! Converts properties to the kinds of their fields: a string where a number or boolean is needed,
//! if nothing is lost (decisions/pulumi#properties).
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

/// Whether a value of this type can be the value of a field, as it is or converted. The value of a
/// text decides whether it is a number or a boolean.
pub(crate) fn accepts(found: &Type, wanted: &Field) -> bool {
    if found.is_open() {
        return true;
    }
    if wanted.opaque.is_some() {
        // Values with a type of their own are texts, numbers, lists and maps.
        return false;
    }
    found.alternatives().iter().any(|one| fits(one, wanted))
}

fn fits(found: &Type, wanted: &Field) -> bool {
    match (found, &wanted.kind) {
        (Type::Null | Type::Any | Type::Error, _) | (_, Kind::Any) => true,
        (Type::Union(_), _) => accepts(found, wanted),
        (_, Kind::Union(branches)) => branches.iter().any(|branch| fits(found, branch)),
        (Type::Int | Type::Float | Type::Bool | Type::Text, Kind::String) => true,
        (Type::Int | Type::Float | Type::Text, Kind::Integer | Kind::Float) => true,
        (Type::Bool | Type::Text, Kind::Boolean) => true,
        (Type::List(item), Kind::Array(wanted)) => accepts(item, wanted),
        (Type::Map(value), Kind::Map(wanted)) => accepts(value, wanted),
        (Type::Object(object), Kind::Map(wanted)) => {
            object.fields.values().all(|one| accepts(one, wanted))
        }
        // Which entries a map has shows only its value.
        (Type::Map(value), Kind::Object(schema)) => {
            schema.fields.values().any(|field| accepts(value, field))
        }
        (Type::Object(object), Kind::Object(schema)) => {
            let mut entries = object.fields.iter();
            entries.all(|(name, one)| match schema.fields.get(name) {
                Some(field) => accepts(one, field),
                None => schema.open,
            })
        }
        _ => false,
    }
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
            (Value::Int(5), Kind::String, Value::Int(5)),
            (text("12"), Kind::Integer, Value::Int(12)),
            (text("1.5"), Kind::Float, Value::Float(1.5)),
            (text("1.50"), Kind::Float, text("1.50")),
            (text("false"), Kind::Boolean, Value::Bool(false)),
            (text("no"), Kind::Boolean, text("no")),
            (text("x"), Kind::Integer, text("x")),
            (text("5").secret(), Kind::Integer, Value::Int(5).secret()),
        ] {
            assert_eq!(
                fit(value.clone(), kind.clone()),
                fitted,
                "{value:?} {kind:?}"
            );
        }
        let list = Kind::Array(Arc::new(Field::of(Kind::Integer)));
        let items = Value::list([text("1"), text("a")]);
        assert_eq!(fit(items, list), Value::list([Value::Int(1), text("a")]));
    }

    #[test]
    fn a_type_fits_a_field_if_a_value_of_it_can() {
        let list = |kind: Kind| Kind::Array(Arc::new(Field::of(kind)));
        let object = |fields: &[(&str, Type)]| {
            let fields = fields.iter().map(|(name, ty)| ((*name).into(), ty.clone()));
            Type::object(fields.collect::<Vec<_>>())
        };
        let schema = Schema {
            fields: [("name".into(), Field::of(Kind::String))]
                .into_iter()
                .collect(),
            open: false,
        };
        let item = Kind::Object(Arc::new(schema));
        for (found, kind, fits) in [
            (Type::Int, Kind::String, true),
            (Type::Text, Kind::Integer, true),
            (Type::Bool, Kind::Integer, false),
            (Type::list(Type::Text), Kind::String, false),
            (Type::list(Type::Bool), list(Kind::Boolean), true),
            (Type::list(Type::map(Type::Text)), list(Kind::String), false),
            (object(&[("name", Type::Text)]), item.clone(), true),
            (object(&[("other", Type::Text)]), item.clone(), false),
            (Type::map(Type::Text), item, true),
            (Type::union([Type::Bool, Type::Int]), Kind::Float, true),
            (Type::Any, list(Kind::String), true),
        ] {
            assert_eq!(
                accepts(&found, &Field::of(kind.clone())),
                fits,
                "{found} {kind:?}"
            );
        }
        let asset = Field {
            opaque: Some(blueprint::OpaqueKind::Asset),
            ..Field::of(Kind::Any)
        };
        assert!(!accepts(&Type::Text, &asset));
    }
}
