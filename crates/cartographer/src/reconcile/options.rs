//! What a reconcile is told besides the object.

use crate::compat::Compat;

/// What a reconcile is told besides the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReconcileOptions {
    /// Whose behaviour counts.
    pub compat: Compat,
    /// The time in RFC 3339, in whole seconds: what changes in a status gets it.
    pub now: String,
}
