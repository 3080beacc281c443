//! What a comparison of two values of a kind must know besides them.

use std::sync::Arc;

use blueprint::{FieldPath, IndexMap, Name, PathStep};
use serde_json::Value as Json;

/// How the items of a list are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListForm {
    /// They are not: the list is one value.
    Atomic,
    /// By their values; their order does not count.
    Set,
    /// By the values of these fields of theirs.
    Map(Vec<Name>),
}

/// How a strategic merge patch treats a list that it does not replace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListPatch {
    /// It adds the values that the list lacks.
    ByValue,
    /// It merges the items with equal values of this field.
    ByKey(Name),
}

/// The forms of a value and of its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueForms {
    /// How the items are told apart, if the value is a list.
    pub list: Option<ListForm>,
    /// Whether the value is a quantity, such as `500m`. Quantities are compared by their amounts.
    pub is_quantity: bool,
    /// Whether the value is a list or a map with any keys. The server leaves out an empty one.
    pub is_collection: bool,
    /// Whether the value is a map that is one value for server-side apply.
    pub is_atomic: bool,
    /// The names of the fields that the schema declares. Other names are entries of a map.
    pub declared: Vec<Name>,
    /// The fields that the program of the server has in every object of a built-in kind, with their
    /// values where a document lacks them: an empty map for a structure, null for a list or map.
    pub always_there: Vec<(Name, Json)>,
    /// The value that the server fills in, unless it is zero or empty.
    pub default: Option<Json>,
    /// How a strategic merge patch treats the value, if it is a list that is merged.
    pub patch: Option<ListPatch>,
    /// The forms of fields. Fields without forms are left out.
    pub fields: IndexMap<Name, Arc<ValueForms>>,
    /// The forms of the items of a list, or of the values of a map.
    pub every: Option<Arc<ValueForms>>,
}

impl ValueForms {
    /// Whether there is nothing to know about the value.
    pub fn is_plain(&self) -> bool {
        *self == ValueForms::default()
    }

    /// The forms of a field or of an entry of a map. `None` if there is nothing to know about it.
    pub fn field(&self, name: &str) -> Option<&ValueForms> {
        self.fields
            .get(name)
            .or(self.every.as_ref())
            .map(|forms| &**forms)
    }

    /// The forms of the items of a list.
    pub fn item(&self) -> Option<&ValueForms> {
        self.every.as_deref()
    }

    /// The forms of the value at a path. `None` if there is nothing to know about it.
    pub fn at(&self, path: &FieldPath) -> Option<&ValueForms> {
        let mut at = self;
        for step in &path.0 {
            at = match step {
                PathStep::Index(_) => at.item()?,
                PathStep::Field(name) | PathStep::Key(name) => at.field(name)?,
            };
        }
        Some(at)
    }
}
