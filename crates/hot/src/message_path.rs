//! The path to a value in a template, and the form of Heat's messages about it
//! (decisions/heat#diagnostics).
//!
//! Heat finds a mistake of a function in one of three phases ([`HeatPhase`]), each with its own
//! form of paths; see `messages`.

use std::borrow::Cow;

use blueprint::Name;
use diag::NativeMessage;

/// Heat's usual class of errors.
pub(super) const INVALID: &str = "StackValidationFailed";

/// A message of Heat's usual class, about the template as a whole.
pub(super) fn invalid(message: impl Into<Box<str>>) -> NativeMessage {
    NativeMessage::of(INVALID, message)
}

/// A step of the path to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MessageStep {
    /// The entry of a map.
    Key(Name),
    /// The item of a list.
    Index(usize),
    /// The argument of a function. A branch of `if` is an argument, too.
    Call(Name),
}

/// The part of a template that contains a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TemplatePart {
    /// A part that Heat does not name.
    #[default]
    Nothing,
    /// The properties of a resource.
    Properties,
    /// The metadata of a resource.
    Metadata,
    /// The deletion policy of a resource.
    DeletionPolicy,
    /// The update policy of a resource.
    UpdatePolicy,
    /// The condition of a resource.
    ResourceCondition,
    /// A named condition.
    Condition,
    /// The value of an output.
    Output,
    /// The condition of an output.
    OutputCondition,
    /// The condition that an `if` names.
    Choice,
}

/// The phase in which Heat finds a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeatPhase {
    /// Parsing the template.
    Parse,
    /// Validating the template.
    Validate,
    /// Computing values.
    Evaluate,
}

/// The path to a value: the part of the template, its element, and the steps from there.
#[derive(Clone, Debug, Default)]
pub(super) struct MessagePath {
    pub(super) section: TemplatePart,
    /// The resource, the output or the condition.
    pub(super) of: Name,
    pub(super) steps: Vec<MessageStep>,
}

impl MessagePath {
    /// The path to a part as a whole.
    pub(super) fn to(section: TemplatePart, of: &Name) -> MessagePath {
        MessagePath {
            section,
            of: of.clone(),
            steps: Vec::new(),
        }
    }

    /// The names of the sections down to the part.
    fn names(&self) -> Vec<&str> {
        let of = self.of.as_ref();
        match self.section {
            TemplatePart::Nothing => Vec::new(),
            TemplatePart::Properties => vec!["resources", of, "properties"],
            TemplatePart::Metadata => vec!["resources", of, "metadata"],
            TemplatePart::DeletionPolicy => vec!["resources", of, "deletion_policy"],
            TemplatePart::UpdatePolicy => vec!["resources", of, "update_policy"],
            TemplatePart::ResourceCondition => vec!["resources", of, "condition"],
            TemplatePart::Condition => vec!["conditions", of],
            TemplatePart::Output => vec!["outputs", of, "value"],
            TemplatePart::OutputCondition => vec!["outputs", of, "condition"],
            TemplatePart::Choice => vec!["if"],
        }
    }

    /// Heat's message for a mistake at this place.
    pub(super) fn message(
        &self,
        when: HeatPhase,
        class: &'static str,
        message: &str,
    ) -> NativeMessage {
        match when {
            HeatPhase::Parse => NativeMessage::of(INVALID, message)
                .at(self.written(self.names().join("."), &self.steps)),
            HeatPhase::Validate => self.validated(message),
            HeatPhase::Evaluate => self.evaluated(class, message),
        }
    }

    /// The whole path as one text.
    fn written(&self, mut path: String, steps: &[MessageStep]) -> String {
        for step in steps {
            match step {
                MessageStep::Index(at) => path.push_str(&format!("[{at}]")),
                MessageStep::Key(name) | MessageStep::Call(name) => {
                    path.push('.');
                    path.push_str(name);
                }
            }
        }
        path
    }

    /// Heat's message from the validation: every call begins its own path, which is part of the
    /// message of the enclosing call.
    fn validated(&self, message: &str) -> NativeMessage {
        let calls = self
            .steps
            .iter()
            .filter(|step| matches!(step, MessageStep::Call(_)))
            .count();
        let mut paths = self
            .steps
            .split_inclusive(|step| matches!(step, MessageStep::Call(_)));
        let mut names: Vec<Cow<'_, str>> = match self.section {
            // Heat gives no path for a condition.
            TemplatePart::Condition
            | TemplatePart::ResourceCondition
            | TemplatePart::OutputCondition
            | TemplatePart::Choice => Vec::new(),
            _ => self.names().into_iter().map(Cow::Borrowed).collect(),
        };
        // Heat looks up the name of the part before it removes the position from it.
        if self.section == TemplatePart::Output
            && matches!(self.steps.first(), Some(MessageStep::Index(_)))
        {
            names.pop();
            names.push("Value".into());
        }
        step_by_step(&mut names, paths.next().unwrap_or_default());
        let mut words = invalid("").at(joined(&names));
        let mut inner: Vec<String> = Vec::new();
        for path in paths.take(calls.saturating_sub(1)) {
            let mut names = Vec::new();
            step_by_step(&mut names, path);
            inner.push(joined(&names));
        }
        inner.push(message.to_owned());
        words.message = inner.join(": ").into();
        words
    }

    fn evaluated(&self, class: &'static str, message: &str) -> NativeMessage {
        let of = self.of.as_ref();
        let property = |part: &'static str| {
            let mut names = vec![
                Cow::Borrowed("resources"),
                Cow::Borrowed(of),
                Cow::Borrowed(part),
            ];
            if let Some(MessageStep::Key(first)) = self.steps.first() {
                names.push(Cow::Borrowed(first.as_ref()));
            }
            invalid(message).error("Property error").at(joined(&names))
        };
        match self.section {
            TemplatePart::Properties => property("properties"),
            TemplatePart::UpdatePolicy => property("update_policy"),
            TemplatePart::Metadata => NativeMessage::of("CREATE_FAILED", message)
                .error(format!("Resource CREATE failed: {class}"))
                .at(joined(&["resources".into(), of.into()])),
            TemplatePart::ResourceCondition => {
                invalid(message).at(joined(&["resources".into(), of.into(), "condition".into()]))
            }
            TemplatePart::OutputCondition => {
                invalid(message).at(joined(&["outputs".into(), of.into(), "condition".into()]))
            }
            TemplatePart::Output => NativeMessage::from(message),
            // Heat catches one class of Python's exceptions here, and three for a deletion policy.
            TemplatePart::Condition if class == "ValueError" => invalid(message),
            TemplatePart::DeletionPolicy
                if matches!(class, "TypeError" | "ValueError" | "KeyError") =>
            {
                invalid(message)
            }
            _ => NativeMessage::of(class, message),
        }
    }

    /// The message for a function that cannot be called in a condition. The function is the last
    /// step of the path.
    pub(super) fn invalid_in_context(&self, function: &str) -> NativeMessage {
        self.message(
            HeatPhase::Parse,
            INVALID,
            &format!("The function \"{function}\" is invalid in this context"),
        )
    }

    /// Heat's message for the name of an unknown resource in the call at the end of the path.
    pub(super) fn no_resource(&self, name: &str) -> NativeMessage {
        const CLASS: &str = "InvalidTemplateReference";
        let message =
            |key: &str| format!("The specified reference \"{name}\" (in {key}) is incorrect.");
        let last = match self.steps.last() {
            Some(MessageStep::Call(call)) => call.as_ref(),
            _ => "",
        };
        let part = match self.section {
            TemplatePart::Properties => "Properties",
            TemplatePart::Metadata => "Metadata",
            // Heat checks the dependencies of a policy separately for each property.
            TemplatePart::UpdatePolicy if last == "get_resource" => {
                let steps = self
                    .steps
                    .split_last()
                    .and_then(|(_, steps)| steps.get(1..))
                    .unwrap_or_default();
                return self.message(
                    HeatPhase::Evaluate,
                    CLASS,
                    &message(&self.written(String::new(), steps)),
                );
            }
            // Heat knows the path only for values that cause dependencies.
            _ if last == "get_attr" => {
                return self.message(HeatPhase::Validate, CLASS, &message("unknown"));
            }
            _ => return self.message(HeatPhase::Evaluate, CLASS, &message("unknown")),
        };
        let steps = self.steps.split_last().map_or(&[][..], |(_, steps)| steps);
        NativeMessage::of(
            CLASS,
            message(&self.written(format!("{}.{part}", self.of), steps)),
        )
    }
}

/// Appends the names of some steps. A position is appended to the name before it.
fn step_by_step<'s>(names: &mut Vec<Cow<'s, str>>, steps: &'s [MessageStep]) {
    for step in steps {
        match step {
            MessageStep::Key(name) | MessageStep::Call(name) => {
                names.push(Cow::Borrowed(name.as_ref()))
            }
            MessageStep::Index(at) => {
                let name = names.pop().unwrap_or_default();
                names.push(format!("{name}[{at}]").into());
            }
        }
    }
}

/// Joins names as Heat does. A name of digits is written as a position.
pub(super) fn joined(names: &[Cow<'_, str>]) -> String {
    let mut path = String::new();
    for name in names {
        if !name.is_empty() && name.chars().all(|character| character.is_ascii_digit()) {
            path.push_str(&format!("[{name}]"));
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(name);
        }
    }
    path
}

/// A path of names.
pub(super) fn path(names: &[&str]) -> String {
    joined(
        &names
            .iter()
            .map(|name| Cow::Borrowed(*name))
            .collect::<Vec<_>>(),
    )
}
