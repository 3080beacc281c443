//! The refusal of a value, for example of an argument or of a parameter.
//!
//! A refusal has no place. Code that knows the place of the value turns it into a diagnostic.

use diag::{Code, Diagnostic, NativeMessage, Severity, Span};
use expr::ValueStep;

/// The refusal of a value.
#[derive(Clone, Debug)]
pub struct ValueRefusal {
    /// The code of the mistake.
    pub code: &'static Code,
    /// The severity.
    pub severity: Severity,
    /// The message of the diagnostic.
    pub message: String,
    /// Heat's message, without its class and path.
    pub heat: Option<String>,
    /// Heat's class of the error; empty until the place is known.
    pub class: &'static str,
    /// The path in the refused value.
    pub path: Vec<ValueStep>,
    /// The help text.
    pub help: Option<Box<str>>,
}

impl ValueRefusal {
    /// A refusal of the value as a whole.
    pub fn new(code: &'static Code, message: impl Into<String>) -> ValueRefusal {
        ValueRefusal {
            code,
            severity: code.severity,
            message: message.into(),
            heat: None,
            class: "",
            path: Vec::new(),
            help: None,
        }
    }

    /// Sets a severity other than that of the code.
    pub fn graded(mut self, severity: Severity) -> ValueRefusal {
        self.severity = severity;
        self
    }

    /// Sets Heat's message.
    pub fn heat(mut self, words: impl Into<String>) -> ValueRefusal {
        self.heat = Some(words.into());
        self
    }

    /// Sets Heat's class.
    pub fn class(mut self, class: &'static str) -> ValueRefusal {
        self.class = class;
        self
    }

    /// Sets the help text.
    pub fn help(mut self, help: impl Into<Box<str>>) -> ValueRefusal {
        self.help = Some(help.into());
        self
    }

    /// Creates the diagnostic at a place.
    pub fn at(&self, span: Span) -> Diagnostic {
        let mut diagnostic = Diagnostic::new(self.code, self.message.clone())
            .label(span, self.label())
            .with_severity(self.severity);
        diagnostic.native_message = self.words().map(Box::new);
        diagnostic
            .help
            .extend(self.help.as_deref().map(str::to_owned));
        diagnostic
    }

    /// The text of the label.
    fn label(&self) -> &'static str {
        match self.code.name {
            "invalid-default" => "this default applies if no value is given",
            "unparsable-value" => "not a value of this type",
            "type-mismatch" => "of another kind than is taken here",
            "value-constraint" | "value-not-allowed" => "outside of what is allowed here",
            "missing-variable" => "it has no default",
            "missing-field" | "missing-spec-field" => "missing in this",
            "unknown-key" | "unknown-section" => "this key is not known",
            "empty-section" => "there is nothing in it",
            "unknown-type" => "no such type",
            "invalid-constraint" | "unknown-constraint" => "not a valid constraint",
            "constraint-ignored" => "this constraint is ignored",
            "wrong-shape" => "of another shape than is needed here",
            "newer-than-version" => "later than the version of the template",
            "registry-shadowed" => "another entry always goes first",
            "merge-kind" | "merge-conflict" => "this cannot be combined with what came before",
            "event-sink-ignored" => "nothing is sent there",
            "not-checked-offline" => "taken as it is",
            _ => "refused here",
        }
    }

    /// Heat's message with its class.
    pub fn words(&self) -> Option<NativeMessage> {
        self.heat
            .as_ref()
            .map(|heat| NativeMessage::of(self.class, heat.as_str()))
    }

    /// Sets Heat's usual class, for errors of the template as a whole, if the refusal has none.
    pub fn invalid(mut self) -> ValueRefusal {
        if self.class.is_empty() {
            self.class = super::message_path::INVALID;
        }
        self
    }

    /// Prepends a step to the path of the refused value.
    pub fn within(mut self, step: impl Into<ValueStep>) -> ValueRefusal {
        self.path.insert(0, step.into());
        self
    }
}

/// The refused value is the first argument of the call.
impl From<ValueRefusal> for expr::Refusal {
    fn from(refusal: ValueRefusal) -> expr::Refusal {
        let words = refusal.words();
        let ValueRefusal {
            code,
            message,
            path,
            help,
            ..
        } = refusal.within(0);
        expr::Refusal {
            code,
            message,
            path,
            inside: None,
            help: help.map(String::from),
            words: words.map(Box::new),
        }
    }
}
