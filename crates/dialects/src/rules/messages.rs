//! Messages of the tool whose documents a dialect reads.

use blueprint::Child;
use diag::{Diagnostic, NativeMessage};

use crate::{ExpressionPlace, Mistake};

/// The messages of a dialect's own tool, besides those of the engine.
pub trait MessageRules: Send + Sync {
    /// The tool's message about a mistake; none if the tool has none.
    fn of(&self, _mistake: &Mistake<'_>) -> Option<NativeMessage> {
        None
    }

    /// Completes the tool's message about a mistake that was found while the expression at that place was evaluated.
    fn complete_at(&self, _found: &mut Diagnostic, _at: &ExpressionPlace<'_>) {}

    /// Completes the tool's message about a mistake in the document of a child, for the include of that child or of one
    /// above it; `nearest` for the child's own include.
    fn complete_below(&self, _found: &mut Diagnostic, _name: &str, _child: &Child, _nearest: bool) {}
}
