//! Diagnostics together with the texts that they point into.

use diag::{Diagnostic, Diagnostics, Files, Severity};

/// What a step found wrong.
#[derive(Debug, Default)]
pub struct Findings {
    /// The diagnostics.
    pub diagnostics: Diagnostics,
    /// The texts that they point into.
    pub files: Files,
}

impl Findings {
    /// One diagnostic without a place in a text.
    pub fn of(diagnostic: Diagnostic) -> Findings {
        Findings { diagnostics: std::iter::once(diagnostic).collect(), files: Files::new() }
    }
}

/// Turns warnings into errors if `strict` is set.
pub fn raise_warnings(strict: bool, found: &mut Diagnostics) {
    if strict {
        for diagnostic in found.iter_mut().filter(|diagnostic| diagnostic.severity == Severity::Warning) {
            diagnostic.severity = Severity::Error;
        }
    }
}
