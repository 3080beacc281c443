//! The two views of an owner (section 7 of the reference). The *navigation view* is what paths see:
//! a field that the owner does not set has the zero value of its type. The *serialised view* is
//! what ytt templates get, and what a path gives that ends at a whole part of the owner.

mod quantity;
mod shapes;

use blueprint::Value;
use jsonpath::{Path, PathFailure, ValueShape};

pub(crate) use shapes::{DELIVERABLE, RUNNABLE, WORKLOAD};

/// An owner for paths and templates.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnerView {
    owner: Value,
    shape: &'static ValueShape,
}

impl OwnerView {
    /// The view of a Workload, a Deliverable or a Runnable, given as a whole manifest. An object of
    /// another kind has no zero values.
    pub fn new(owner: &Value) -> OwnerView {
        let shape = match owner.get("kind").and_then(Value::as_text) {
            Some("Workload") => &shapes::WORKLOAD,
            Some("Deliverable") => &shapes::DELIVERABLE,
            Some("Runnable") => &shapes::RUNNABLE,
            _ => &ValueShape::Data,
        };
        OwnerView {
            owner: quantity::with_canonical_quantities(owner),
            shape,
        }
    }

    /// What a path leads to in the navigation view. The failures are those of [`Path::find`].
    pub fn find(&self, path: &Path) -> Result<Value, PathFailure> {
        path.find_in(&self.owner, self.shape)
    }

    /// The serialised view.
    pub fn serialised(&self) -> Value {
        self.shape.serialised(&self.owner)
    }

    /// The value that paths go through, and its shape.
    pub(crate) fn parts(&self) -> (&Value, &'static ValueShape) {
        (&self.owner, self.shape)
    }
}
