//! Secret marks that values get from the schema and from earlier values.

use blueprint::{Field, Kind, Schema, Value};

use crate::compare::{entry_of, item_of, same, unordered};

/// `value` with the secret marks that `like` has at the same paths, and those of the schema's
/// sensitive fields.
pub fn with_secret_marks_of(value: &Value, like: Option<&Value>, field: Option<&Field>) -> Value {
    // A missing value is not secret, and needs no key to be stored.
    let sensitive = field.is_some_and(|field| field.sensitive) && !value.is_null();
    if sensitive || matches!(like, Some(Value::Secret(_))) {
        return value.clone().secret();
    }
    // The branch of a union that the provider's value has is not known here.
    if field.is_some_and(|field| matches!(field.kind, Kind::Union(_))) && has_sensitive(field) {
        return value.clone().secret();
    }
    if !(like.is_some_and(Value::has_secret) || has_sensitive(field)) {
        return value.clone();
    }
    match value {
        Value::Map(entries) => Value::map(entries.iter().map(|(key, value)| {
            (
                key.clone(),
                with_secret_marks_of(
                    value,
                    like.and_then(|like| like.get(key)),
                    entry_of(field, key),
                ),
            )
        })),
        Value::List(items) | Value::Set(items) => {
            let other = like.and_then(Value::as_list);
            let secret = other.is_some_and(|other| {
                let in_place = |(a, b)| same(a, b);
                // Secrets may have moved in a list of another length, or of which the provider
                // decides the order. Mark the whole list.
                let moved = field.is_some_and(unordered) && !items.iter().zip(other).all(in_place);
                other.len() != items.len() || moved && other.iter().any(Value::has_secret)
            });
            if secret {
                return value.clone().secret();
            }
            let item = item_of(field);
            Value::list(items.iter().enumerate().map(|(at, value)| {
                with_secret_marks_of(value, other.and_then(|other| other.get(at)), item)
            }))
        }
        other => other.clone(),
    }
}

/// Whether the schema marks a field, or anything in it, as sensitive.
pub fn has_sensitive(field: Option<&Field>) -> bool {
    field.is_some_and(Field::has_sensitive)
}

/// The fields of a resource with the secret marks of an earlier answer and of the schema.
pub fn mark_fields(schema: &Schema, fields: &Value, like: &Value) -> Value {
    let Some(entries) = fields.as_map() else {
        return fields.clone();
    };
    if !like.has_secret()
        && !schema
            .fields
            .values()
            .any(|field| has_sensitive(Some(field)))
    {
        return fields.clone();
    }
    Value::map(entries.iter().map(|(key, value)| {
        (
            key.clone(),
            with_secret_marks_of(value, like.get(key), schema.fields.get(key.as_ref())),
        )
    }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn read(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    fn keyed_list() -> Field {
        let item = Schema {
            fields: [
                ("name".into(), Field::of(Kind::String)),
                ("key".into(), Field::of(Kind::String)),
            ]
            .into_iter()
            .collect(),
            open: false,
        };
        let items = Kind::Array(Arc::new(Field::of(Kind::Object(Arc::new(item)))));
        Field {
            keyed_by: Some("name".into()),
            ..Field::of(items)
        }
    }

    #[test]
    fn secrets_stay_hidden_if_a_provider_reorders_a_list() {
        let field = keyed_list();
        let like = Value::list([
            Value::map([
                ("name", Value::from("a")),
                ("key", Value::from("hidden").secret()),
            ]),
            Value::map([("name", Value::from("b")), ("key", Value::from("open"))]),
        ]);
        let answered = read(r#"[{"name":"b","key":"open"},{"name":"a","key":"hidden"}]"#);
        assert_eq!(
            with_secret_marks_of(&answered, Some(&like), Some(&field)).to_string(),
            "(secret)"
        );
        let in_place = with_secret_marks_of(&like.revealed(), Some(&like), Some(&field));
        assert_eq!(in_place, like);
    }

    #[test]
    fn sensitive_fields_are_marked_without_an_earlier_mark() {
        let secret = Field {
            sensitive: true,
            ..Field::of(Kind::String)
        };
        let fields = [
            ("key".into(), secret),
            ("name".into(), Field::of(Kind::String)),
        ]
        .into_iter()
        .collect();
        let schema = Schema {
            fields,
            open: false,
        };
        let marked = mark_fields(
            &schema,
            &read(r#"{"name":"n","key":"hidden"}"#),
            &Value::Null,
        );
        assert_eq!(marked.to_string(), r#"{"name": "n", "key": (secret)}"#);
        let absent = read(r#"{"name":"n","key":null}"#);
        assert_eq!(mark_fields(&schema, &absent, &Value::Null), absent);
    }

    #[test]
    fn union_with_a_sensitive_branch_is_marked() {
        let secret = Field {
            sensitive: true,
            ..Field::of(Kind::String)
        };
        let object = Schema {
            fields: [("token".into(), secret)].into_iter().collect(),
            open: false,
        };
        let union = Field::of(Kind::Union(Arc::new(vec![
            Field::of(Kind::String),
            Field::of(Kind::Object(Arc::new(object))),
        ])));
        assert_eq!(
            with_secret_marks_of(&read(r#"{"token":"hidden"}"#), None, Some(&union)).to_string(),
            "(secret)"
        );
    }
}
