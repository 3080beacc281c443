//! Messages of the tool that a dialect is compatible with.

use blueprint::Child;
use diag::{Diagnostic, NativeMessage};

use crate::{ExpressionPlace, Mistake};

/// The messages of a dialect's original tool, in addition to those of the engine.
pub trait MessageRules: Send + Sync {
    /// The tool's message about a mistake, if it has one.
    fn of(&self, _mistake: &Mistake<'_>) -> Option<NativeMessage> {
        None
    }

    /// Completes the tool's message about a mistake that was found while the expression at a place
    /// was evaluated.
    fn complete_at(&self, _found: &mut Diagnostic, _at: &ExpressionPlace<'_>) {}

    /// Completes the tool's message about a mistake in the document of a child. Called for the
    /// include of the child and of each one above it; `nearest` for the child's own include.
    fn complete_in_child(
        &self,
        _found: &mut Diagnostic,
        _name: &str,
        _child: &Child,
        _nearest: bool,
    ) {
    }
}
