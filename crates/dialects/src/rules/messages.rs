//! What the tool whose documents these are says of a mistake.

use blueprint::Child;
use diag::{Diagnostic, Words};

use crate::{Mistake, Place};

/// The messages of a dialect's own tool, beside those of the engine.
pub trait MessageRules: Send + Sync {
    /// What the tool says of a mistake, where it says anything.
    fn of(&self, _mistake: &Mistake<'_>) -> Option<Words> {
        None
    }

    /// Completes what the tool says of a mistake that was found while the value of an expression was made there.
    fn complete_at(&self, _found: &mut Diagnostic, _at: &Place<'_>) {}

    /// Completes what the tool says of a mistake in the document of a child, where that is included; `nearest` for the include
    /// that the document itself is, and not one above it.
    fn complete_below(&self, _found: &mut Diagnostic, _name: &str, _child: &Child, _nearest: bool) {}
}
