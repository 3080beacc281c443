//! What a provider says to the user beside its answer: refusals, warnings and notes, each about a place of a spec.
//!
//! Not here: positions in documents (`plan` finds the span of a path), errors of calls (`operation`).

use blueprint::FieldPath;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProviderSeverity {
    /// For information.
    Note,
    /// The provider goes on, but the user should know.
    Warning,
    /// The provider refuses.
    Error,
}

/// What is wrong with a value, for dialects that tell these apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finding {
    /// The provider refuses it.
    #[default]
    Refused,
    /// It has the wrong type, given the other fields.
    WrongType,
    /// It is outside the limits that other fields set.
    OutOfRange,
}

/// One message of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderDiagnostic {
    /// How bad it is.
    pub severity: ProviderSeverity,
    /// What is wrong with the value at the path.
    pub finding: Finding,
    /// The message in one line, in the provider's own words, without secrets.
    pub summary: String,
    /// More of it; empty if there is no more.
    pub detail: String,
    /// The field that it is about; empty for the resource as a whole. It may name a field that the spec does not set.
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
        ProviderDiagnostic { severity: ProviderSeverity::Warning, ..ProviderDiagnostic::error(path, summary) }
    }

    /// The same diagnostic with more words.
    pub fn detailed(self, detail: impl Into<String>) -> ProviderDiagnostic {
        ProviderDiagnostic { detail: detail.into(), ..self }
    }

    /// The same diagnostic about another kind of mistake.
    pub fn about(self, finding: Finding) -> ProviderDiagnostic {
        ProviderDiagnostic { finding, ..self }
    }

    /// Summary and detail as one text.
    pub fn text(&self) -> String {
        if self.detail.is_empty() { self.summary.clone() } else { format!("{}\n{}", self.summary, self.detail) }
    }
}
