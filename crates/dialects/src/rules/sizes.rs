//! How large and how deep documents may be.

use diag::{Diagnostic, Span};

use crate::Limits;

/// The sizes that a dialect takes.
pub trait SizeRules: Send + Sync {
    /// How deep documents may be nested: what the root includes stands at level 1 (decision S69).
    fn most_levels(&self, _limits: &Limits) -> u32 {
        16
    }

    /// What is wrong with a root that has this many resources together with all documents below it; `place` is where.
    fn resources(&self, _count: usize, _limits: &Limits, _place: Span) -> Option<Diagnostic> {
        None
    }
}
