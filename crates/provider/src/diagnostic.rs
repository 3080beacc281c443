//! The messages of a provider beside its answer: refusals, warnings and notes, each about a place
//! of a spec.
//!
//! Not here: positions in documents (`plan` finds the span of a path), errors of calls
//! (`operation`).

use blueprint::FieldPath;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProviderSeverity {
    /// For information.
    Note,
    /// The provider continues, but the user should know.
    Warning,
    /// The provider refuses.
    Error,
}

/// The kind of problem with a value, for dialects that distinguish the kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finding {
    /// The provider refuses the value.
    #[default]
    Refused,
    /// The value has the wrong type, given the other fields.
    WrongType,
    /// The value is outside the limits that other fields set.
    OutOfRange,
}

/// One message of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderDiagnostic {
    /// The severity.
    pub severity: ProviderSeverity,
    /// The kind of problem with the value at the path.
    pub finding: Finding,
    /// The message in one line, in the provider's own words, without secrets.
    pub summary: String,
    /// Further details; empty if there are none.
    pub detail: String,
    /// The field at fault; empty for the resource as a whole. It may be a field that the spec does
    /// not set.
    pub path: FieldPath,
}

impl ProviderDiagnostic {
    /// An error at a path.
    pub fn error(path: impl Into<FieldPath>, summary: impl Into<String>) -> ProviderDiagnostic {
        ProviderDiagnostic {
            severity: ProviderSeverity::Error,
            finding: Finding::Refused,
            summary: summary.into(),
            detail: String::new(),
            path: path.into(),
        }
    }

    /// A warning at a path.
    pub fn warning(path: impl Into<FieldPath>, summary: impl Into<String>) -> ProviderDiagnostic {
        ProviderDiagnostic {
            severity: ProviderSeverity::Warning,
            ..ProviderDiagnostic::error(path, summary)
        }
    }

    /// Adds details to the diagnostic.
    pub fn detailed(self, detail: impl Into<String>) -> ProviderDiagnostic {
        ProviderDiagnostic {
            detail: detail.into(),
            ..self
        }
    }

    /// Sets the kind of problem.
    pub fn about(self, finding: Finding) -> ProviderDiagnostic {
        ProviderDiagnostic { finding, ..self }
    }

    /// Summary and detail as one text.
    pub fn text(&self) -> String {
        if self.detail.is_empty() {
            self.summary.clone()
        } else {
            format!("{}\n{}", self.summary, self.detail)
        }
    }
}
