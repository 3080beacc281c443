//! Faults: errors of a call before they have a place.

use diag::Code;

/// An error of a call, without a place.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) code: &'static Code,
    pub(crate) message: String,
    pub(crate) at: At,
    pub(crate) label: String,
    pub(crate) help: Option<String>,
}

/// A place within a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At {
    /// At an argument.
    Argument(usize),
    /// At the called name.
    Name,
    /// At the whole call.
    Call,
}

impl Fault {
    pub(crate) fn new(code: &'static Code, at: At, message: impl Into<String>) -> Fault {
        Fault {
            code,
            message: message.into(),
            at,
            label: String::new(),
            help: None,
        }
    }

    pub(crate) fn label(mut self, text: impl Into<String>) -> Fault {
        self.label = text.into();
        self
    }

    pub(crate) fn help(mut self, text: impl Into<String>) -> Fault {
        self.help = Some(text.into());
        self
    }
}

/// The fault for a result beyond the limit (decisions/blueprint#limits-of-evaluation).
pub(crate) fn too_large(limit: &str) -> Fault {
    let message = format!("the result is larger than {limit} or deeper than 256 levels");
    Fault::new(&crate::codes::ARGUMENT_RANGE, At::Call, message)
        .label("grows beyond the limit")
        .help("make it from less, or raise `value-bytes` under `[documents]` in `cyan.toml`")
}
