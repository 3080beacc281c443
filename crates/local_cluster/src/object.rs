//! Access to the parts that all objects have.

use serde_json::{Map, Value as Json};

/// A text of the metadata; empty if there is none.
pub(crate) fn meta_text<'o>(object: &'o Json, field: &str) -> &'o str {
    object["metadata"][field].as_str().unwrap_or_default()
}

/// The metadata of an object, which becomes a map if it is none. `None` if the object is no map.
pub(crate) fn metadata_of(object: &mut Json) -> Option<&mut Map<String, Json>> {
    let entry = object.as_object_mut()?.entry("metadata");
    let metadata = entry.or_insert_with(|| Json::Object(Map::new()));
    if metadata.is_null() {
        *metadata = Json::Object(Map::new());
    }
    metadata.as_object_mut()
}

/// Sets a field of the metadata, or removes it.
pub(crate) fn set_meta(object: &mut Json, field: &str, value: Option<Json>) {
    let Some(metadata) = metadata_of(object) else {
        return;
    };
    match value {
        Some(value) => {
            metadata.insert(field.to_owned(), value);
        }
        None => {
            metadata.shift_remove(field);
        }
    }
}

/// The texts of a list of the metadata, such as `finalizers`.
pub(crate) fn meta_list<'o>(object: &'o Json, field: &str) -> Vec<&'o str> {
    let list = object["metadata"][field].as_array().into_iter().flatten();
    list.filter_map(Json::as_str).collect()
}

/// Whether a deletion of the object has begun.
pub(crate) fn is_deleting(object: &Json) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

/// The revision of the last change of an object.
pub(crate) fn revision_of(object: &Json) -> u64 {
    meta_text(object, "resourceVersion").parse().unwrap_or(0)
}

/// Replaces a field of an object, or removes it.
pub(crate) fn set_field(object: &mut Json, field: &str, value: Option<Json>) {
    let Some(entries) = object.as_object_mut() else {
        return;
    };
    match value {
        Some(value) => {
            entries.insert(field.to_owned(), value);
        }
        None => {
            entries.shift_remove(field);
        }
    }
}

/// Whether two objects are equal but for `metadata.managedFields[].time` and the resource version.
pub(crate) fn same_content(a: &Json, b: &Json) -> bool {
    without_times(a) == without_times(b)
}

fn without_times(object: &Json) -> Json {
    let mut object = object.clone();
    if let Some(entries) = object["metadata"]["managedFields"].as_array_mut() {
        for entry in entries {
            set_field(entry, "time", None);
        }
    }
    set_meta(&mut object, "resourceVersion", None);
    object
}
