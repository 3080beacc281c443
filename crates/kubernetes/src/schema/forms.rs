//! What a comparison of two values of a kind must know besides them.

use std::sync::Arc;

use blueprint::{FieldPath, IndexMap, Name, PathStep};

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

/// The forms of a value and of its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueForms {
    /// How the items are told apart, if the value is a list.
    pub list: Option<ListForm>,
    /// Whether the value is a quantity, such as `500m`. Quantities are compared by their amounts.
    pub is_quantity: bool,
    /// Whether the value is a list or a map with any keys. The server leaves out an empty one.
    pub is_collection: bool,
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
