//! Parts of objects, by path.

use blueprint::{Name, Value};

use super::requests::FoundObject;

/// The value at a path; null if there is none.
pub(super) fn part<'a>(object: &'a Value, path: &[&str]) -> &'a Value {
    let found = path.iter().try_fold(object, |value, key| value.get(key));
    found.unwrap_or(&Value::Null)
}

/// The text at a path; empty if there is none.
pub(super) fn text<'a>(object: &'a Value, path: &[&str]) -> &'a str {
    part(object, path).as_text().unwrap_or_default()
}

/// The text at a path as a name.
pub(super) fn name(object: &Value, path: &[&str]) -> Name {
    Name::from(text(object, path))
}

/// The items of the list at a path; none if there is no list.
pub(super) fn items<'a>(object: &'a Value, path: &[&str]) -> &'a [Value] {
    part(object, path).as_list().unwrap_or_default()
}

/// The value of an annotation.
pub(super) fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    part(object, &["metadata", "annotations", key]).as_text()
}

/// The value of a label.
pub(super) fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    part(object, &["metadata", "labels", key]).as_text()
}

/// The group of an `apiVersion`; empty for the core group.
pub(super) fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// An object as events name it, as in `deployments.apps/web`.
pub(super) fn shown(found: &FoundObject) -> String {
    let name = text(&found.object, &["metadata", "name"]);
    format!("{}/{name}", found.resource)
}
