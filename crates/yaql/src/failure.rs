//! How an expression can end without a value.

use std::ops::Range;

use crate::Question;

/// What kind of failure it is; the codes of the documents follow it one to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// A character that begins no token.
    Lexical,
    /// A token where none of its kind may stand.
    Syntax,
    /// No function, method or property of that name.
    UnknownFunction,
    /// There is one of that name, but for arguments of other kinds or number.
    NoMatch,
    /// More items, bytes, steps or levels than [`crate::Limits`] allows.
    Limit,
    /// The function was called and could not give a value.
    Failed,
}

/// Why an expression has no value, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// The words that yaql itself uses, without the class name before them; empty where it has none.
    pub message: String,
    /// The bytes of the expression that it is about.
    pub span: Range<usize>,
    /// What to do, as an imperative, where there is something to say.
    pub help: Option<String>,
}

/// Why an evaluation stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// There is no value.
    Failed(Failure),
    /// These must be drawn before there can be one; evaluate again when they are.
    Ask(Vec<Question>),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// A stop without its place yet, small enough to be passed up through every function.
pub(crate) type Step<T> = Result<T, Box<Halt>>;

/// A stop on its way up: the innermost expression that it passes gives it its place.
#[derive(Debug)]
pub(crate) enum Halt {
    /// There is no value.
    Failed { kind: FailureKind, message: String, span: Option<Range<usize>>, help: Option<String> },
    /// This must be drawn first.
    Ask(Vec<Question>),
}

impl Halt {
    fn new(kind: FailureKind, message: impl Into<String>) -> Box<Halt> {
        Box::new(Halt::Failed { kind, message: message.into(), span: None, help: None })
    }

    /// The function could not give a value.
    pub(crate) fn failed(message: impl Into<String>) -> Box<Halt> {
        Halt::new(FailureKind::Failed, message)
    }

    /// A limit was passed.
    pub(crate) fn limit(message: impl Into<String>) -> Box<Halt> {
        Halt::new(FailureKind::Limit, message)
    }

    /// The memory limit was passed.
    pub(crate) fn memory() -> Box<Halt> {
        Halt::limit("Expression consumed too much memory")
    }

    /// Nothing has that name.
    pub(crate) fn unknown(message: impl Into<String>) -> Box<Halt> {
        Halt::new(FailureKind::UnknownFunction, message)
    }

    /// Nothing of that name takes these arguments.
    pub(crate) fn no_match(message: impl Into<String>) -> Box<Halt> {
        Halt::new(FailureKind::NoMatch, message)
    }

    /// The same with a word on what to do.
    pub(crate) fn with_help(mut self: Box<Halt>, text: Option<String>) -> Box<Halt> {
        if let Halt::Failed { help, .. } = &mut *self {
            *help = text;
        }
        self
    }

    /// The same at a place, unless it has one.
    pub(crate) fn at(mut self: Box<Halt>, place: &Range<usize>) -> Box<Halt> {
        if let Halt::Failed { span, .. } = &mut *self
            && span.is_none()
        {
            *span = Some(place.clone());
        }
        self
    }

    /// What kind of failure it is, if it is one.
    pub(crate) fn kind(&self) -> Option<FailureKind> {
        match self {
            Halt::Failed { kind, .. } => Some(*kind),
            Halt::Ask(_) => None,
        }
    }
}

impl From<Box<Halt>> for Stop {
    fn from(halt: Box<Halt>) -> Stop {
        match *halt {
            Halt::Failed { kind, message, span, help } => {
                Stop::Failed(Failure { kind, message, span: span.unwrap_or_default(), help })
            }
            Halt::Ask(questions) => Stop::Ask(questions),
        }
    }
}
