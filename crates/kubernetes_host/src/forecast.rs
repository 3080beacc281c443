//! Planned fields: what is known of an object before it is made or changed.

use blueprint::{PathStep, Value};
use serde_json::Value as Json;

use crate::manifest::PlacedManifest;
use crate::observed::fields_of;
use ::kubernetes::json::from_json;

/// Metadata that the server sets when it makes an object.
const MADE_BY_SERVER: [&str; 4] = ["uid", "creationTimestamp", "resourceVersion", "generation"];

/// Metadata that every change sets.
const CHANGED_BY_SERVER: [&str; 2] = ["resourceVersion", "generation"];

fn open() -> Value {
    Value::unknown(None, None)
}

/// The fields of an object that is not made yet, as far as its spec alone tells them: the server
/// adds others to maps.
pub(crate) fn forecast(desired: &Value) -> Value {
    let written = desired.as_map().into_iter().flat_map(|map| map.iter());
    let written = written.filter(|(name, _)| &***name != "status");
    let fields = written.map(|(name, value)| {
        let value = match &**name {
            "apiVersion" | "kind" | "data" | "binaryData" => value.clone(),
            "metadata" => {
                let entries = value.as_map().into_iter().flat_map(|map| map.iter());
                let known = entries.map(|(name, value)| (name.clone(), value.clone()));
                let later = MADE_BY_SERVER.map(|name| (name.into(), open()));
                Value::map(known.chain(later))
            }
            _ => open(),
        };
        (name.clone(), value)
    });
    Value::map(fields.chain([("status".into(), open())]))
}

/// The fields of a new object after a dry run: those that the document sets are known, the others
/// may become different from those of the dry run.
pub(crate) fn outputs_of_new(placed: &PlacedManifest, answer: &Json) -> Value {
    let planned = fields_of(&placed.api.group_kind(), answer);
    let known = known_where_written(&planned, &from_json(&placed.body));
    let entries = known.as_map().into_iter().flat_map(|map| map.iter());
    let entries = entries.filter(|(name, _)| &***name != "status");
    let entries = entries.map(|(name, value)| (name.clone(), value.clone()));
    let fields = Value::map(entries.chain([("status".into(), open())]));
    match &placed.name {
        // The dry run of a replacement has another name.
        Some(name) => with_part(
            &fields,
            &steps(["metadata", "name"]),
            &Value::Text(name.clone()),
        ),
        None => fields,
    }
}

/// The fields of an object after a dry run of its change. Its status, and what counts changes, is
/// known later, as well as the parts that the document does not know yet.
pub(crate) fn outputs_of_change(placed: &PlacedManifest, answer: &Json) -> Value {
    let fields = fields_of(&placed.api.group_kind(), answer);
    let counted = CHANGED_BY_SERVER.map(|name| steps(["metadata", name]));
    let status = steps(["status"]);
    let unknown = placed.unknown.iter().map(|path| path.0.clone());
    let open_parts = [status].into_iter().chain(counted).chain(unknown);
    open_parts.fold(fields, |fields, path| with_part(&fields, &path, &open()))
}

fn steps<const N: usize>(names: [&str; N]) -> Vec<PathStep> {
    names.map(|name| PathStep::Field(name.into())).into()
}

/// The same value with another part. A part that does not exist is not added.
fn with_part(value: &Value, path: &[PathStep], part: &Value) -> Value {
    let Some((first, rest)) = path.split_first() else {
        return part.clone();
    };
    match (value, first) {
        (Value::Secret(inner), _) => with_part(inner, path, part).secret(),
        (Value::Map(entries), PathStep::Field(name) | PathStep::Key(name)) => {
            Value::map(entries.iter().map(|(key, entry)| {
                let entry = match key == name {
                    true => with_part(entry, rest, part),
                    false => entry.clone(),
                };
                (key.clone(), entry)
            }))
        }
        (Value::List(items), PathStep::Index(index)) => {
            let items = items.iter().enumerate();
            Value::list(items.map(|(at, item)| match at as u64 == *index {
                true => with_part(item, rest, part),
                false => item.clone(),
            }))
        }
        _ => value.clone(),
    }
}

/// The planned value, unknown wherever the document writes nothing. Where it writes something, the
/// form of the server counts.
fn known_where_written(planned: &Value, written: &Value) -> Value {
    match (planned, written) {
        (Value::Secret(planned), written) => known_where_written(planned, written).secret(),
        (Value::Map(entries), Value::Map(own)) => {
            Value::map(entries.iter().map(|(name, entry)| {
                let entry = match own.get(name) {
                    Some(own) => known_where_written(entry, own),
                    None => open(),
                };
                (name.clone(), entry)
            }))
        }
        (Value::List(items), Value::List(own)) if items.len() == own.len() => {
            let both = items.iter().zip(own.iter());
            Value::list(both.map(|(item, own)| known_where_written(item, own)))
        }
        (Value::List(_), Value::List(_)) => open(),
        (planned, _) => planned.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_written_parts_of_a_new_object_are_known() {
        let planned = serde_json::json!({"spec": {"clusterIP": "10.0.0.1", "ports": [
            {"port": 80, "protocol": "TCP"}]}});
        let written = serde_json::json!({"spec": {"ports": [{"port": 80}]}});
        let known = known_where_written(&from_json(&planned), &from_json(&written));
        assert_eq!(
            known.to_string(),
            r#"{"spec": {"clusterIP": (known on deploy), "ports": [{"port": 80, "protocol": (known on deploy)}]}}"#
        );
    }
}
