//! Fields of an object that the schema of a built-in kind does not declare, and nulls: the server
//! reads built-in kinds into typed objects, which have neither.

use blueprint::{Field, Kind, Schema};
use serde_json::Value as Json;

/// Removes nulls and the fields that the schema does not declare. Returns the paths of the latter.
pub(crate) fn undeclared_fields(schema: &Schema, object: &mut Json) -> Vec<String> {
    let mut found = Vec::new();
    remove(schema, object, "", &mut found);
    found
}

fn remove(schema: &Schema, value: &mut Json, path: &str, found: &mut Vec<String>) {
    let Some(entries) = value.as_object_mut() else {
        return;
    };
    entries.retain(|_, entry| !entry.is_null());
    let mut undeclared = Vec::new();
    for (name, entry) in entries.iter_mut() {
        let below = match path {
            "" => name.clone(),
            path => format!("{path}.{name}"),
        };
        match schema.fields.get(name.as_str()) {
            Some(field) => inside(field, entry, &below, found),
            // The types of documents leave out what a document does not write.
            None if schema.open || path.is_empty() && is_common(name) => {}
            None => undeclared.push((name.clone(), below)),
        }
    }
    for (name, path) in undeclared {
        entries.shift_remove(&name);
        found.push(path);
    }
}

fn inside(field: &Field, value: &mut Json, path: &str, found: &mut Vec<String>) {
    match (&field.kind, value) {
        (Kind::Object(schema), value) => remove(schema, value, path, found),
        (Kind::Array(item), Json::Array(items)) => {
            for (at, value) in items.iter_mut().enumerate() {
                inside(item, value, &format!("{path}[{at}]"), found);
            }
        }
        (Kind::Map(item), Json::Object(entries)) => {
            if item.kind == Kind::String {
                for value in entries.values_mut().filter(|value| value.is_null()) {
                    *value = Json::from("");
                }
            }
            for (name, value) in entries.iter_mut() {
                inside(item, value, &format!("{path}.{name}"), found);
            }
        }
        _ => {}
    }
}

fn is_common(name: &str) -> bool {
    matches!(name, "apiVersion" | "kind" | "metadata" | "status")
}
