//! Diagnostics and the texts that they refer to.

use diag::{Diagnostic, Diagnostics, Files, Severity};

/// The diagnostics of a step.
#[derive(Debug, Default)]
pub struct Findings {
    /// The diagnostics.
    pub diagnostics: Diagnostics,
    /// The texts that they refer to.
    pub files: Files,
}

impl Findings {
    /// Returns findings with one diagnostic that has no place in a text.
    pub fn of(diagnostic: Diagnostic) -> Findings {
        Findings {
            diagnostics: std::iter::once(diagnostic).collect(),
            files: Files::new(),
        }
    }
}

/// Turns warnings into errors if `strict` is set.
pub fn raise_warnings(strict: bool, found: &mut Diagnostics) {
    if strict {
        for diagnostic in found
            .iter_mut()
            .filter(|diagnostic| diagnostic.severity == Severity::Warning)
        {
            diagnostic.severity = Severity::Error;
        }
    }
}
