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
    same_apart_from(a, b, &["metadata"])
        && same_apart_from(
            &a["metadata"],
            &b["metadata"],
            &["resourceVersion", "managedFields"],
        )
        && same_managers(&a["metadata"], &b["metadata"])
}

fn same_managers(a: &Json, b: &Json) -> bool {
    match (a.get("managedFields"), b.get("managedFields")) {
        (Some(Json::Array(a)), Some(Json::Array(b))) => {
            let mut pairs = a.iter().zip(b);
            a.len() == b.len() && pairs.all(|(a, b)| same_apart_from(a, b, &["time"]))
        }
        (a, b) => a == b,
    }
}

/// Whether two maps are equal apart from some fields. Other values must be equal.
pub(crate) fn same_apart_from(a: &Json, b: &Json, ignored: &[&str]) -> bool {
    let (Some(a), Some(b)) = (a.as_object(), b.as_object()) else {
        return a == b;
    };
    let counts = |name: &String| !ignored.contains(&name.as_str());
    let count = |entries: &Map<String, Json>| entries.keys().filter(|name| counts(name)).count();
    let mut own = a.iter().filter(|(name, _)| counts(name));
    count(a) == count(b) && own.all(|(name, value)| b.get(name) == Some(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn content_is_what_is_neither_version_nor_time() {
        let object = |version: &str, time: &str, manager: &str| {
            json!({"kind": "Thing", "metadata": {"name": "a", "resourceVersion": version,
                "managedFields": [{"manager": manager, "time": time}]}})
        };
        let a = object("1", "10:00", "m");
        assert!(same_content(&a, &object("2", "11:00", "m")));
        assert!(!same_content(&a, &object("1", "10:00", "other")));
        for (path, value) in [("/kind", json!("Other")), ("/metadata/name", json!("b"))] {
            let mut changed = a.clone();
            *changed.pointer_mut(path).unwrap() = value;
            assert!(!same_content(&a, &changed), "{path}");
        }
        for place in ["", "/metadata", "/metadata/managedFields/0"] {
            let mut longer = a.clone();
            longer.pointer_mut(place).unwrap()["further"] = json!(1);
            assert!(!same_content(&a, &longer), "{place}");
            assert!(!same_content(&longer, &a), "{place}");
        }
    }
}
