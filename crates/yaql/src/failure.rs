//! Failures of expressions.

use std::ops::Range;

use crate::DrawRequest;

/// The kind of a failure; each kind has one diagnostic code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// A character that cannot begin a token.
    Lexical,
    /// A token in a wrong place.
    Syntax,
    /// No function, method or property has this name.
    UnknownFunction,
    /// No function with this name takes arguments of these kinds or of this number.
    NoMatch,
    /// More items, bytes, steps or levels than [`crate::EvaluationLimits`] allows.
    Limit,
    /// The function failed.
    Failed,
}

/// A failure and its place in the expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind of the failure.
    pub kind: FailureKind,
    /// yaql's own message, without the class name; empty if yaql has none.
    pub message: String,
    /// The range of bytes in the expression.
    pub span: Range<usize>,
    /// The suggested correction, as an imperative; `None` if there is no suggestion.
    pub help: Option<String>,
}

/// The reason why an evaluation stopped without a value.
#[derive(Clone, Debug, PartialEq)]
pub enum EvaluationStop {
    /// The expression failed.
    Failed(Failure),
    /// The caller must supply these values and evaluate again.
    Ask(Vec<DrawRequest>),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// The result of an internal step. The error is boxed, so that it costs little stack in every
/// function.
pub(crate) type Evaluated<T> = Result<T, Box<Halt>>;

/// An [`EvaluationStop`] that may have no place yet: the innermost enclosing expression supplies
/// the place.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The expression failed.
    Failed {
        kind: FailureKind,
        message: String,
        span: Option<Range<usize>>,
        help: Option<String>,
    },
    /// The caller must supply these values first.
    Ask(Vec<DrawRequest>),
}

impl Halt {
    fn new(kind: FailureKind, message: impl Into<String>) -> Box<Halt> {
        Box::new(Halt::Failed {
            kind,
            message: message.into(),
            span: None,
            help: None,
        })
    }

    /// Creates the failure of a function.
    pub(crate) fn failed(message: impl Into<String>) -> Box<Halt> {
        Halt::new(FailureKind::Failed, message)
    }

    /// Creates the failure for an exceeded limit.
    pub(crate) fn limit(message: impl Into<String>) -> Box<Halt> {
        Halt::new(FailureKind::Limit, message)
    }

    /// Creates the failure for the exceeded memory limit.
    pub(crate) fn memory() -> Box<Halt> {
        Halt::limit("Expression consumed too much memory")
    }

    /// Creates the failure for a name that no function has.
    pub(crate) fn unknown(message: impl Into<String>) -> Box<Halt> {
        Halt::new(FailureKind::UnknownFunction, message)
    }

    /// Creates the failure for arguments that no function with the name takes.
    pub(crate) fn no_match(message: impl Into<String>) -> Box<Halt> {
        Halt::new(FailureKind::NoMatch, message)
    }

    /// Adds a help text.
    pub(crate) fn with_help(mut self: Box<Halt>, text: Option<String>) -> Box<Halt> {
        if let Halt::Failed { help, .. } = &mut *self {
            *help = text;
        }
        self
    }

    /// Sets the place of a failure that has none.
    pub(crate) fn at(mut self: Box<Halt>, place: &Range<usize>) -> Box<Halt> {
        if let Halt::Failed { span, .. } = &mut *self
            && span.is_none()
        {
            *span = Some(place.clone());
        }
        self
    }

    /// The kind of the failure; `None` for a request.
    pub(crate) fn kind(&self) -> Option<FailureKind> {
        match self {
            Halt::Failed { kind, .. } => Some(*kind),
            Halt::Ask(_) => None,
        }
    }
}

impl From<Box<Halt>> for EvaluationStop {
    fn from(halt: Box<Halt>) -> EvaluationStop {
        match *halt {
            Halt::Failed {
                kind,
                message,
                span,
                help,
            } => EvaluationStop::Failed(Failure {
                kind,
                message,
                span: span.unwrap_or_default(),
                help,
            }),
            Halt::Ask(questions) => EvaluationStop::Ask(questions),
        }
    }
}
