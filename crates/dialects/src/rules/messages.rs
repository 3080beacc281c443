//! Messages of the tool whose documents a dialect reads.

use blueprint::Child;
use diag::{Diagnostic, Words};

use crate::{Mistake, Place};

/// The messages of a dialect's own tool, besides those of the engine.
pub trait MessageRules: Send + Sync {
    /// The tool's message about a mistake; none if the tool has none.
    fn of(&self, _mistake: &Mistake<'_>) -> Option<Words> {
        None
    }

    /// Completes what the tool says of a mistake that was found while the value of an expression was made there.
    fn complete_at(&self, _found: &mut Diagnostic, _at: &Place<'_>) {}

    /// Completes what the tool says of a mistake in the document of a child, where that is included; `nearest` for the
    /// include that the document itself is, and not one above it.
    fn complete_below(&self, _found: &mut Diagnostic, _name: &str, _child: &Child, _nearest: bool) {}
}
