//! Diagnostics of a provider, and failures of calls.

use std::fmt;
use std::sync::Arc;

use blueprint::Name;
use plugins::grpc::{CallError, ConnectError};
use terraform_wire::consistency::Violation;
use terraform_wire::wire::WireError;
use terraform_wire::{AttributeStep, Path};

use crate::ProtocolVersion;
use crate::messages::{AttributePath, DeferredMessage, NoticeMessage, Selector};

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The requested action was not done, or not completely.
    Error,
    /// The action was done, but the user should know about something.
    Warning,
}

/// A message of a provider. Its texts are the provider's: they may repeat secrets of the call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TerraformDiagnostic {
    /// The severity.
    pub severity: Severity,
    /// One line.
    pub summary: String,
    /// The explanation. Empty if there is none.
    pub detail: String,
    /// The part of the configuration at fault. Empty for the whole.
    pub path: Path,
}

impl TerraformDiagnostic {
    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Shows the place, the summary and the detail.
impl fmt::Display for TerraformDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.0.is_empty() {
            write!(f, "`{}`: ", self.path)?;
        }
        f.write_str(&self.summary)?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

/// The number for a warning. Any other severity counts as an error, so that none is missed.
const WARNING: i32 = 2;

pub(crate) fn diagnostics(notices: Vec<NoticeMessage>) -> Vec<TerraformDiagnostic> {
    notices.into_iter().map(diagnostic).collect()
}

fn diagnostic(notice: NoticeMessage) -> TerraformDiagnostic {
    TerraformDiagnostic {
        severity: if notice.severity == WARNING {
            Severity::Warning
        } else {
            Severity::Error
        },
        summary: notice.summary,
        detail: notice.detail,
        path: notice.place.map(path).unwrap_or_default(),
    }
}

/// Converts a path. The result ends before a step that selects nothing, such as an element of a
/// set.
pub(crate) fn path(place: AttributePath) -> Path {
    let step = |selector| match selector {
        Selector::Attribute(name) => Some(AttributeStep::Attribute(name.into())),
        Selector::Key(key) => Some(AttributeStep::Key(key.into())),
        Selector::Index(index) => u64::try_from(index).ok().map(AttributeStep::Index),
    };
    Path(
        place
            .steps
            .into_iter()
            .map_while(|one| one.selector.and_then(step))
            .collect(),
    )
}

/// The reason why a call has no usable answer. The messages are lower-case phrases without values
/// of the call; the provider's own texts are in [`CallFailure::Rejected`] and in the status of
/// [`CallFailure::Call`].
#[derive(Clone, Debug, thiserror::Error)]
pub enum CallFailure {
    /// The provider answered with errors. The list also has its warnings.
    #[error("the provider refused: {}", first(.0))]
    Rejected(Vec<TerraformDiagnostic>),
    /// The plugin cannot be reached.
    #[error(transparent)]
    Connect(Arc<ConnectError>),
    /// There is no answer.
    #[error("{method}: {error}")]
    Call {
        /// The method that was called.
        method: &'static str,
        /// The reason why there is no answer.
        error: CallError,
    },
    /// The answer does not have the form that the protocol requires.
    #[error("{method}: the provider's answer is not in the form of the protocol: {problem}")]
    Malformed {
        /// The method that was called.
        method: &'static str,
        /// The problem.
        problem: Malformed,
    },
    /// The answer contradicts the request. This is a bug of the provider.
    #[error("{method}: the provider contradicts itself: {}", contradictions(.violations))]
    Inconsistent {
        /// The method that was called.
        method: &'static str,
        /// The contradictions. Never empty.
        violations: Vec<Violation>,
    },
    /// A value of the caller does not fit the type's schema.
    #[error("the value does not fit the provider's schema: {0}")]
    Unfit(WireError),
    /// The provider does not have that resource type, data source or function.
    #[error("the provider has no {kind} `{name}`")]
    NoSuchType {
        /// The kind of thing: resource type, data source or function.
        kind: &'static str,
        /// Its name.
        name: Name,
    },
    /// The stored object was written by a newer version of the provider.
    #[error(
        "the stored object has version {stored} of its schema; the provider knows version {known}"
    )]
    Newer {
        /// The version of the stored object.
        stored: u64,
        /// The version of the provider.
        known: u64,
    },
    /// The object to import does not exist.
    #[error("there is no such object")]
    NothingImported,
    /// The provider does not support the request.
    #[error("the provider does not support {0}")]
    Unsupported(&'static str),
    /// The provider cannot decide yet, although the host asked for a decision.
    #[error("{method}: the provider defers: {reason}")]
    Deferred {
        /// The method that was called.
        method: &'static str,
        /// The reason.
        reason: Deferral,
    },
    /// The plugin uses another version of the protocol.
    #[error("the plugin speaks {}; supported are versions 5 and 6", spoken(*.0))]
    Protocol(Option<u32>),
}

/// The reason why a provider cannot decide yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deferral {
    /// No reason is given.
    NoReason,
    /// A part of the resource's configuration is unknown.
    ResourceConfig,
    /// A part of the provider's configuration is unknown.
    ProviderConfig,
    /// A prerequisite does not exist yet.
    Prerequisite,
}

impl Deferral {
    pub(crate) fn of(message: DeferredMessage) -> Deferral {
        match message.reason {
            1 => Deferral::ResourceConfig,
            2 => Deferral::ProviderConfig,
            3 => Deferral::Prerequisite,
            _ => Deferral::NoReason,
        }
    }
}

/// Shows a phrase for people.
impl fmt::Display for Deferral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Deferral::NoReason => "it gives no reason",
            Deferral::ResourceConfig => "the configuration of the resource is not known yet",
            Deferral::ProviderConfig => "the configuration of the provider is not known yet",
            Deferral::Prerequisite => "something that must exist first does not exist",
        })
    }
}

/// The problem of a malformed answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Malformed {
    /// A value is not valid msgpack of its type.
    #[error("{0}")]
    Value(#[from] WireError),
    /// A required value is missing.
    #[error("the {0} is missing")]
    Missing(&'static str),
    /// A value that must not be null is null.
    #[error("the {0} is null")]
    Null(&'static str),
    /// A part of an existing object is unknown.
    #[error("`{0}` is unknown")]
    Unknown(Path),
    /// A value is in JSON where msgpack is expected.
    #[error("the {0} is in JSON")]
    Json(&'static str),
    /// A schema is invalid.
    #[error("the schema of `{0}` is malformed: {1}")]
    Schema(Name, &'static str),
}

impl CallFailure {
    /// Whether the call may have taken effect. Then only a read of the object shows the outcome.
    pub fn is_outcome_unknown(&self) -> bool {
        match self {
            CallFailure::Call { error, .. } => !matches!(error, CallError::NotSent(_)),
            CallFailure::Malformed { .. } => true,
            _ => false,
        }
    }

    /// The provider's own messages.
    pub fn diagnostics(&self) -> &[TerraformDiagnostic] {
        match self {
            CallFailure::Rejected(diagnostics) => diagnostics,
            _ => &[],
        }
    }

    /// Converts a version of the protocol; an error if it is not supported.
    pub(crate) fn version(number: Option<u32>) -> Result<ProtocolVersion, CallFailure> {
        number
            .and_then(ProtocolVersion::of)
            .ok_or(CallFailure::Protocol(number))
    }
}

fn first(diagnostics: &[TerraformDiagnostic]) -> String {
    diagnostics
        .iter()
        .find(|one| one.is_error())
        .map(TerraformDiagnostic::to_string)
        .unwrap_or_default()
}

fn contradictions(violations: &[Violation]) -> String {
    let one = |violation: &Violation| match violation.path.0.is_empty() {
        true => violation.to_string(),
        false => format!("`{}`: {violation}", violation.path),
    };
    violations.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn spoken(number: Option<u32>) -> String {
    number.map_or_else(
        || "an unknown version of the protocol".into(),
        |number| format!("protocol {number}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::AttributePathStep;

    fn step(selector: Option<Selector>) -> AttributePathStep {
        AttributePathStep { selector }
    }

    #[test]
    fn a_path_ends_at_an_element_that_cannot_be_named() {
        let steps = vec![
            step(Some(Selector::Attribute("a".into()))),
            step(Some(Selector::Key("k".into()))),
            step(Some(Selector::Index(2))),
            step(None),
            step(Some(Selector::Attribute("b".into()))),
        ];
        assert_eq!(path(AttributePath { steps }).to_string(), r#"a["k"][2]"#);
        assert!(
            path(AttributePath {
                steps: vec![step(Some(Selector::Index(-1)))]
            })
            .0
            .is_empty()
        );
    }

    #[test]
    fn a_message_of_an_unknown_severity_is_an_error() {
        let notice = |severity| NoticeMessage {
            severity,
            summary: "s".into(),
            detail: "d".into(),
            place: None,
        };
        let severities: Vec<_> = diagnostics([0, 1, 2, 9].map(notice).into())
            .iter()
            .map(TerraformDiagnostic::is_error)
            .collect();
        assert_eq!(severities, [true, true, false, true]);
    }

    #[test]
    fn the_message_of_a_wrong_version_names_it() {
        assert_eq!(
            CallFailure::version(Some(4)).unwrap_err().to_string(),
            "the plugin speaks protocol 4; supported are versions 5 and 6"
        );
        assert_eq!(CallFailure::version(Some(6)).unwrap(), ProtocolVersion::Six);
    }
}
