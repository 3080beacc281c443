//! How large and how deep documents may be.

use diag::{Diagnostic, Span};

use crate::DialectLimits;

/// The sizes that a dialect takes.
pub trait SizeRules: Send + Sync {
    /// How deep documents may be nested: what the root includes stands at level 1 (decision S69).
    fn most_levels(&self, _limits: &DialectLimits) -> u32 {
        16
    }

    /// The diagnostic for a root that has too many resources together with all documents below it; none if it does not.
    fn resources(&self, _count: usize, _limits: &DialectLimits, _place: Span) -> Option<Diagnostic> {
        None
    }
}
