//! Why a value is not taken: a call that gives nothing, a parameter that does not fit.
//!
//! What is told here has no place yet: whoever knows where the value was written turns a refusal into a diagnostic.

use diag::{Code, Diagnostic, Severity, Span, Words};
use expr::Step;

/// Why a value is not taken.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// What kind of mistake it is.
    pub code: &'static Code,
    /// How bad it is here.
    pub severity: Severity,
    /// What is wrong, as a diagnostic says it.
    pub message: String,
    /// What Heat says, without its class and path.
    pub heat: Option<String>,
    /// Heat's class of the error; empty as long as it is for whoever knows the place to say.
    pub class: &'static str,
    /// Where in the value that was refused.
    pub path: Vec<Step>,
    /// What to do.
    pub help: Option<Box<str>>,
}

impl Refusal {
    /// A refusal of the value as a whole.
    pub fn new(code: &'static Code, message: impl Into<String>) -> Refusal {
        Refusal {
            code,
            severity: code.severity,
            message: message.into(),
            heat: None,
            class: "",
            path: Vec::new(),
            help: None,
        }
    }

    /// Makes it as bad as this, which is not what it usually is.
    pub fn graded(mut self, severity: Severity) -> Refusal {
        self.severity = severity;
        self
    }

    /// Sets Heat's words.
    pub fn heat(mut self, words: impl Into<String>) -> Refusal {
        self.heat = Some(words.into());
        self
    }

    /// Sets Heat's class.
    pub fn class(mut self, class: &'static str) -> Refusal {
        self.class = class;
        self
    }

    /// Sets what to do.
    pub fn help(mut self, help: impl Into<Box<str>>) -> Refusal {
        self.help = Some(help.into());
        self
    }

    /// A diagnostic at a place.
    pub fn at(&self, span: Span) -> Diagnostic {
        let mut diagnostic =
            Diagnostic::new(self.code, self.message.clone()).label(span, self.why()).graded(self.severity);
        diagnostic.words = self.words().map(Box::new);
        diagnostic.help.extend(self.help.as_deref().map(str::to_owned));
        diagnostic
    }

    /// Why it is refused just there.
    fn why(&self) -> &'static str {
        match self.code.name {
            "invalid-default" => "this is what counts where nothing is given",
            "unparsable-value" => "not a value of this type",
            "type-mismatch" => "of another kind than is taken here",
            "value-constraint" | "value-not-allowed" => "outside of what is allowed here",
            "missing-variable" => "it has no default",
            "missing-field" | "missing-spec-field" => "missing in this",
            "unknown-key" | "unknown-section" => "nobody knows this key",
            "empty-section" => "there is nothing in it",
            "unknown-type" => "no such type",
            "invalid-constraint" | "unknown-constraint" => "no value can be held to this",
            "constraint-ignored" => "this one does not count",
            "wrong-shape" => "of another shape than is needed here",
            "newer-than-version" => "later than the version of the template",
            "registry-shadowed" => "another entry always goes first",
            "merge-kind" | "merge-conflict" => "this cannot be combined with what came before",
            "event-sink-ignored" => "nothing is sent there",
            "not-checked-offline" => "taken as it is",
            _ => "refused here",
        }
    }

    /// What Heat says.
    pub fn words(&self) -> Option<Words> {
        self.heat.as_ref().map(|heat| Words::of(self.class, heat.as_str()))
    }

    /// Sets Heat's usual class where no other is said: the refusal is of what stands in the template as a whole.
    pub fn invalid(mut self) -> Refusal {
        if self.class.is_empty() {
            self.class = super::way::INVALID;
        }
        self
    }

    /// Says that the fault lies further in: at that step of the value in which the refused one stands.
    pub fn within(mut self, step: impl Into<Step>) -> Refusal {
        self.path.insert(0, step.into());
        self
    }
}

/// As the evaluator takes it: the value that was refused is the first argument of the call.
impl From<Refusal> for expr::Refusal {
    fn from(refusal: Refusal) -> expr::Refusal {
        let words = refusal.words();
        let Refusal { code, message, path, help, .. } = refusal.within(0);
        expr::Refusal { code, message, path, inside: None, help: help.map(String::from), words: words.map(Box::new) }
    }
}
