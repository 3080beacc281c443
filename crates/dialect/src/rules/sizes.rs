//! The maximum size and depth of documents.

use diag::{Diagnostic, Span};

use crate::DialectLimits;

/// The limits of sizes.
pub trait SizeRules: Send + Sync {
    /// The maximum nesting depth. The includes of the root are at level 1
    /// (decisions/blueprint#depth-of-includes).
    fn most_levels(&self, _limits: &DialectLimits) -> u32 {
        16
    }

    /// The diagnostic for a root that has too many resources together with all documents below it;
    /// `None` if the number is allowed.
    fn resources(
        &self,
        _count: usize,
        _limits: &DialectLimits,
        _place: Span,
    ) -> Option<Diagnostic> {
        None
    }
}
