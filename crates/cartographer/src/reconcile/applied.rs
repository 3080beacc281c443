//! Whether a stamped object needs a write: its digest in an annotation, and the fields that are
//! still as they were stamped (decisions/cartographer#reconcile).

use std::fmt::Write as _;
use std::sync::Arc;

use blueprint::{FieldPath, Map, Name, PathStep, Value};
use jsonpath::json_text;
use sha2::{Digest as _, Sha256};

use super::parts::{annotation, part, text};

/// The annotation with the digest of the object as it was stamped.
pub(super) const APPLIED_HASH: &str = "carto.run/applied-hash";

/// The annotation with the digest of each input at the last write.
pub(super) const INPUTS: &str = "carto.run/inputs";

/// The name under which the controller applies objects.
const MANAGER: &str = "cyan";

/// The digest of data, in hexadecimal digits. `None` for data that JSON cannot express.
pub(super) fn digest(value: &Value) -> Option<Name> {
    let text = json_text(value).ok()?;
    let mut digest = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        // Writing to a string cannot fail.
        let _ = write!(digest, "{byte:02x}");
    }
    Some(Name::from(digest))
}

/// An object with further annotations.
pub(super) fn with_annotations(object: &Value, further: &[(&str, String)]) -> Value {
    let entries = |value: &Value| value.as_map().cloned().unwrap_or_default();
    let metadata = part(object, &["metadata"]);
    let mut annotations = entries(part(metadata, &["annotations"]));
    for (key, value) in further {
        annotations.insert(Name::from(*key), Value::from(value.as_str()));
    }
    let mut metadata = entries(metadata);
    metadata.insert(Name::from("annotations"), map(annotations));
    let mut whole = entries(object);
    whole.insert(Name::from("metadata"), map(metadata));
    map(whole)
}

fn map(entries: Map) -> Value {
    Value::Map(Arc::new(entries))
}

/// Whether a live object is as it was stamped: it carries the digest, and nobody changed a stamped
/// field. What the server spells otherwise or adds is no change: the manager still holds such a
/// field.
pub(super) fn is_current(live: &Value, stamped: &Value, hash: &str) -> bool {
    if annotation(live, APPLIED_HASH) != Some(hash) {
        return false;
    }
    let stamped = without_identity(stamped);
    contains(live, &stamped, 0)
        || held_fields(live).is_some_and(|fields| holds(fields, &stamped, 0))
}

/// What was stamped besides the identity of the object: it was read by that, and a cluster-scoped
/// object has no namespace.
fn without_identity(stamped: &Value) -> Value {
    let without = |object: &Value, keys: &[&str]| {
        let mut entries = object.as_map().cloned().unwrap_or_default();
        entries.retain(|key, _| !keys.contains(&key.as_ref()));
        entries
    };
    let identity = ["name", "namespace", "generateName"];
    let mut metadata = without(part(stamped, &["metadata"]), &identity);
    // Servers drop empty labels and annotations.
    metadata.retain(|_, value| value.as_map().is_none_or(|entries| !entries.is_empty()));
    let mut rest = without(stamped, &["apiVersion", "kind"]);
    rest.insert(Name::from("metadata"), map(metadata));
    map(rest)
}

/// The path of the first stamped field that somebody changed on a live object; `None` if the object
/// was not stamped like this, or is as it was stamped.
pub(super) fn changed_field(live: &Value, stamped: &Value, hash: &str) -> Option<FieldPath> {
    if annotation(live, APPLIED_HASH) != Some(hash) {
        return None;
    }
    let mut path = Vec::new();
    find_change(live, &without_identity(stamped), &mut path).then_some(FieldPath(path))
}

/// Whether a part differs; then the path leads to it.
fn find_change(live: &Value, stamped: &Value, path: &mut Vec<PathStep>) -> bool {
    if contains(live, stamped, path.len()) {
        return false;
    }
    for (key, stamped) in stamped.as_map().into_iter().flat_map(Map::iter) {
        path.push(PathStep::Field(key.clone()));
        if find_change(part(live, &[key]), stamped, path) {
            return true;
        }
        path.pop();
    }
    true
}

/// How deep objects are compared. A deeper part counts as changed.
const DEPTH: usize = 200;

/// Whether the live value has everything that was stamped. It can have further entries of maps.
fn contains(live: &Value, stamped: &Value, depth: usize) -> bool {
    if depth > DEPTH {
        return false;
    }
    match (live.unmarked(), stamped.unmarked()) {
        (Value::Map(live), Value::Map(stamped)) => stamped.iter().all(|(key, stamped)| {
            let live = live.get(key);
            // Servers drop a field that is null.
            live.map_or(stamped.is_null(), |live| contains(live, stamped, depth + 1))
        }),
        (Value::List(live), Value::List(stamped)) => {
            live.len() == stamped.len()
                && live
                    .iter()
                    .zip(stamped.iter())
                    .all(|(live, stamped)| contains(live, stamped, depth + 1))
        }
        (live, stamped) => crate::outputs::are_equal(live, stamped),
    }
}

/// The fields that the controller holds by its applies, in the form `FieldsV1`.
fn held_fields(live: &Value) -> Option<&Value> {
    let managers = part(live, &["metadata", "managedFields"]).as_list()?;
    let own = managers.iter().find(|entry| {
        text(entry, &["manager"]) == MANAGER
            && text(entry, &["operation"]) == "Apply"
            && text(entry, &["subresource"]).is_empty()
    });
    Some(part(own?, &["fieldsV1"]))
}

/// Whether a set of fields has every stamped field. An element without parts is the whole value.
fn holds(fields: &Value, stamped: &Value, depth: usize) -> bool {
    let Some(elements) = fields.as_map().filter(|_| depth <= DEPTH) else {
        return false;
    };
    match stamped.unmarked() {
        Value::Map(entries) => entries.iter().all(|(key, value)| {
            let held = elements.get(&format!("f:{key}"));
            value.is_null() || held.is_some_and(|held| holds_value(held, value, depth + 1))
        }),
        // The items of a list are named by their keys, their values or their positions.
        Value::List(items) => {
            let is_item = |key: &str| ["k:", "v:", "i:"].iter().any(|form| key.starts_with(form));
            let held: Vec<&Value> = elements
                .iter()
                .filter(|(key, _)| is_item(key))
                .map(|(_, held)| held)
                .collect();
            held.len() >= items.len()
                && items
                    .iter()
                    .all(|item| held.iter().any(|held| holds_value(held, item, depth + 1)))
        }
        _ => true,
    }
}

fn holds_value(held: &Value, stamped: &Value, depth: usize) -> bool {
    let mut parts = held.as_map().into_iter().flat_map(|parts| parts.keys());
    let is_whole = parts.all(|key| key.as_ref() == ".");
    is_whole || holds(held, stamped, depth)
}

#[cfg(test)]
mod tests {
    use blueprint::Value;

    use super::{contains, digest, holds};

    fn text_map(entries: &[(&'static str, &str)]) -> Value {
        let entries = entries.iter();
        Value::map(entries.map(|(key, text)| (*key, Value::from(*text))))
    }

    #[test]
    fn an_item_that_somebody_removed_is_not_held() {
        let item = |name: &str| text_map(&[("name", name), ("image", "i")]);
        let stamped = Value::map([("items", Value::list([item("a"), item("b")]))]);
        let held = || Value::map(["f:name", "f:image"].map(|key| (key, Value::map::<&str>([]))));
        let fields = |keys: &[&'static str]| {
            let items = Value::map(keys.iter().map(|key| (*key, held())));
            Value::map([("f:items", items)])
        };
        let (one, other) = (r#"k:{"name":"a"}"#, r#"k:{"name":"b"}"#);
        assert!(holds(&fields(&[one, other]), &stamped, 0));
        assert!(!holds(&fields(&[one]), &stamped, 0));
        // An atomic list is held as a whole.
        let whole = Value::map([("f:items", Value::map::<&str>([]))]);
        assert!(holds(&whole, &stamped, 0));
        assert!(!holds(&Value::map::<&str>([]), &stamped, 0));
    }

    #[test]
    fn a_live_object_can_have_more_but_not_other_fields() {
        let stamped = Value::map([
            ("a", Value::Int(1)),
            ("none", Value::Null),
            ("empty", Value::map::<&str>([])),
        ]);
        let live = Value::map([("a", Value::Float(1.0)), ("more", Value::from("theirs"))]);
        assert!(!contains(&live, &stamped, 0));
        let live = Value::map([
            ("a", Value::Float(1.0)),
            ("empty", Value::map::<&str>([])),
            ("more", Value::from("theirs")),
        ]);
        assert!(contains(&live, &stamped, 0));
        let list = |length: usize| Value::list(vec![Value::from("x"); length]);
        assert!(!contains(&list(3), &list(2), 0));
    }

    #[test]
    fn the_order_of_keys_does_not_change_a_digest() {
        let (one, other) = (("a", "1"), ("b", "2"));
        assert_eq!(
            digest(&text_map(&[one, other])),
            digest(&text_map(&[other, one]))
        );
        assert_ne!(digest(&text_map(&[one])), digest(&text_map(&[other])));
        assert_eq!(digest(&Value::unknown(None, None)), None);
    }
}
