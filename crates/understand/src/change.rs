//! The difference between two specs at one leaf.

use std::sync::Arc;

use blueprint::{FieldPath, Value};
use serde::{Deserialize, Serialize};

/// A changed leaf: a scalar, or an empty list or map. A field that is Unknown or secret as a whole
/// is one leaf.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The path of the leaf: `spec.a.b[0]`.
    pub path: String,
    /// The old value; `None` if the leaf is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The new value, which may be Unknown; `None` if the leaf is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
    /// Whether the change forces a replacement of the resource.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forces: bool,
    /// The outermost list that has the leaf, if the list exists before and after. It is for people:
    /// the leaves of a list are compared by position, so one inserted item changes all items after
    /// it.
    #[serde(skip)]
    pub list: Option<Arc<ListChange>>,
}

impl Change {
    /// Whether the leaf is at a path of the spec, or below it.
    pub fn is_under(&self, path: &FieldPath) -> bool {
        let rest = self
            .path
            .strip_prefix("spec.")
            .or(self.path.strip_prefix("spec"))
            .unwrap_or(&self.path);
        path.covers(&FieldPath::parse(rest))
    }
}

/// A changed list, as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct ListChange {
    /// Its path: `spec.a.b`.
    pub path: String,
    /// The old list.
    pub before: Value,
    /// The new list.
    pub after: Value,
    /// Whether the order of the items counts.
    pub ordered: bool,
}

/// Appends the key of a map to a path.
pub(crate) fn push_key(path: &mut String, key: &str) {
    if key
        .chars()
        .all(|c| c.is_alphanumeric() || c == '_' || c == '-')
        && !key.is_empty()
    {
        path.push('.');
        path.push_str(key);
    } else {
        path.push_str("[\"");
        path.push_str(key);
        path.push_str("\"]");
    }
}

/// Appends the position of an item to a path.
pub(crate) fn push_index(path: &mut String, at: usize) {
    path.push('[');
    path.push_str(&at.to_string());
    path.push(']');
}
