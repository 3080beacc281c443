//! The meaning of references.

use blueprint::Ref;
use diag::Code;

/// The consequence of reading a declared element that is absent because of its condition.
#[derive(Clone, Copy, Debug)]
pub enum Absence {
    /// The reader can guard against it.
    Guarded,
    /// The read is a mistake with this code.
    Mistake(&'static Code),
}

/// The meaning of references in a dialect.
pub trait ReferenceRules: Send + Sync {
    /// Whether a reference reads an attribute, and not only the id of the element.
    fn reads_attribute(&self, reference: &Ref) -> bool {
        !reference.path.is_empty()
    }

    /// The consequence of reading an absent element.
    fn absence(&self) -> Absence {
        Absence::Guarded
    }
}
