//! What references mean.

use blueprint::Ref;
use diag::Code;

/// What it means to read something that is declared and, because of its condition, not there.
#[derive(Clone, Copy, Debug)]
pub enum Absence {
    /// The reader can guard against it.
    Guarded,
    /// It is a mistake, reported with this code.
    Mistake(&'static Code),
}

/// What references mean in a dialect.
pub trait ReferenceRules: Send + Sync {
    /// Whether a reference reads an attribute, and not only the name by which others know the element.
    fn reads_attribute(&self, reference: &Ref) -> bool {
        !reference.path.is_empty()
    }

    /// What it means to read something that is not there.
    fn absence(&self) -> Absence {
        Absence::Guarded
    }
}
