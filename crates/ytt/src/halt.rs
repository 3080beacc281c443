//! What ends an evaluation before its end.

use blueprint::Address;

/// The result of an operation of the evaluator.
pub(crate) type Evaluated<T> = Result<T, Halted>;

/// Why an evaluation ends before its end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Halted {
    /// A mistake of the template. `assert.try_to` catches it.
    Failed(TemplateFault),
    /// A limit is reached.
    Limit(TemplateFault),
    /// The template needs a value that is not known yet.
    Unknown(Vec<Address>),
}

/// A mistake of the template.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TemplateFault {
    /// The mistake in words.
    pub(crate) message: String,
    /// The line of the program; `None` until an expression sets it.
    pub(crate) line: Option<u32>,
}

impl Halted {
    /// The same with a line of the program, unless it has one.
    pub(crate) fn at(mut self, line: u32) -> Halted {
        if let Halted::Failed(fault) | Halted::Limit(fault) = &mut self {
            fault.line.get_or_insert(line);
        }
        self
    }

    /// The same with words before its message.
    pub(crate) fn within(mut self, place: &str) -> Halted {
        if let Halted::Failed(fault) = &mut self {
            fault.message = format!("{place}: {}", fault.message);
        }
        self
    }
}

/// A mistake without a place.
pub(crate) fn fault(message: impl Into<String>) -> Halted {
    Halted::Failed(TemplateFault {
        message: message.into(),
        line: None,
    })
}

/// A limit that is reached.
pub(crate) fn limit(message: impl Into<String>) -> Halted {
    Halted::Limit(TemplateFault {
        message: message.into(),
        line: None,
    })
}

/// A failed operation.
///
/// # Errors
/// Always.
pub(crate) fn fail<T>(message: impl Into<String>) -> Evaluated<T> {
    Err(fault(message))
}
