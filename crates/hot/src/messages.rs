//! Heat's messages, in Heat's form: class, path and message (decisions/heat#diagnostics).
//!
//! Heat finds a mistake of a function in one of three phases, each with its own form of messages.
//! While Heat parses a template, the path is one text, including calls. While Heat validates it,
//! every call begins its own path, and its message becomes part of the message of the enclosing
//! call. While Heat computes values, it knows only the property, and for an output not even that.
//!
//! Code that finds a mistake without knowing the path leaves the class empty; [`complete_message`]
//! completes such messages.

use std::borrow::Cow;

use blueprint::{Child, Expr, ExprKind, ReferenceHead, Value};
use diag::{Diagnostic, NativeMessage, Span};

use super::kinds::{CHAIN, RESOURCE_GROUP, SCALING_GROUP};
use super::message_path::{
    HeatPhase, INVALID, MessagePath, MessageStep, TemplatePart, invalid, joined, path,
};
use dialect::codes::VALUE_CONSTRAINT;
use dialect::{ExpressionPart, ExpressionPlace, Mistake};

/// Heat's message about a property. The path consists of these names and then these steps.
pub(super) fn property(names: &[&str], steps: &[expr::ValueStep], message: &str) -> NativeMessage {
    let mut all: Vec<Cow<'_, str>> = names.iter().map(|name| Cow::Borrowed(*name)).collect();
    all.extend(steps.iter().map(|step| match step {
        expr::ValueStep::Key(key) => Cow::Borrowed(key.as_ref()),
        expr::ValueStep::Index(at) => Cow::Owned(at.to_string()),
    }));
    invalid(message).error("Property error").at(joined(&all))
}

/// The message for a cycle of elements: names and types, each depending on the next.
pub(super) fn cycle_message(round: &[(&str, &str)]) -> NativeMessage {
    // The name of Python's class is usually the last part of the type.
    let shown = |(name, ty): &(&str, &str)| match ty.rsplit("::").next().unwrap_or_default() {
        "None" => format!("NoneResource \"{name}\""),
        kind if ty.ends_with(".yaml") || ty.ends_with(".template") => {
            let _ = kind;
            format!("TemplateResource \"{name}\"")
        }
        kind => format!("{kind} \"{name}\""),
    };
    let needs = round.iter().enumerate().map(|(at, one)| {
        let next = round.get(at + 1).or(round.first()).unwrap_or(one);
        format!("{}: {{{}}}", shown(one), shown(next))
    });
    let needs: Vec<String> = needs.collect();
    NativeMessage::of(
        "CircularDependencyException",
        format!("Circular Dependency Found: {{{}}}", needs.join(", ")),
    )
}

/// The class of a message about an absent element whose path is not known yet. The message is the
/// name of the element.
const ABSENT_ELEMENT_CLASS: &str = "(not there)";

/// The message for a mistake that was found without knowledge of Heat.
pub(super) fn of(mistake: &Mistake<'_>) -> Option<NativeMessage> {
    Some(match *mistake {
        Mistake::NoAttribute { of, attribute, at } => {
            let message = format!("The Referenced Attribute ({of} {attribute}) is incorrect.");
            at.map_or_else(
                || NativeMessage::from(&*message),
                |(place, span)| checked(&message, &place, span),
            )
        }
        Mistake::NoInput { child, input } => property(
            &["resources", child, "properties"],
            &[],
            &format!("Unknown Property {input}"),
        ),
        Mistake::InputMissing { child, input } => property(
            &["resources", child, "properties"],
            &[],
            &format!("Property {input} not assigned"),
        ),
        Mistake::NoType(name) => invalid(format!("The Resource Type ({name}) could not be found.")),
        Mistake::ExternalDepends { type_name, id } => NativeMessage::of(
            "InvalidExternalResourceDependency",
            format!("Invalid dependency with external {type_name} resource: {id}"),
        ),
        Mistake::ExternalChanged {
            resource,
            type_name,
        } => NativeMessage::of(
            "UPDATE_FAILED",
            format!("Update to property external_id of {resource} ({type_name}) is not supported."),
        )
        .error("NotSupported")
        .at(path(&["resources", resource])),
        // Heat fetches templates from web servers only.
        Mistake::UnreadableChild(file) if !file.contains("://") => {
            let scheme = file.split_once(':').map_or("", |(scheme, _)| scheme);
            invalid(format!(
                "Could not fetch remote template \"{file}\": Invalid URL scheme {scheme}"
            ))
        }
        Mistake::UnreadableChild(file) => {
            invalid(format!("Could not fetch remote template \"{file}\""))
        }
        Mistake::TooDeep(most) => NativeMessage::of(
            "RequestLimitExceeded",
            format!("Request limit exceeded: Recursion depth exceeds {most}."),
        ),
        Mistake::Undeclared(name) => NativeMessage::of(
            "UnknownUserParameter",
            format!("The Parameter ({name}) was not defined in template."),
        ),
        Mistake::InvalidSpec {
            resource,
            field,
            why,
            is_kind: true,
        } => {
            let mut words = property(&["resources", resource, "properties"], &[], why);
            words.path = format!("{}.{field}", words.path).into();
            words
        }
        // A message by a provider of `cyan` begins in lower case, or with a name. Heat has no
        // message for it.
        Mistake::InvalidSpec { why, .. } if !why.starts_with(char::is_uppercase) => return None,
        Mistake::InvalidSpec { why, .. } => invalid(why),
        // `complete_message` knows the expression, and so can compute the path.
        Mistake::Absent(name) => NativeMessage::of(ABSENT_ELEMENT_CLASS, name),
        Mistake::AbsentAttribute {
            of,
            at: (place, span),
        } => checked(
            &format!("The specified reference \"{of}\" (in unknown) is incorrect."),
            &place,
            span,
        ),
        Mistake::NoSnapshot(resource) => {
            let way = path(&["resources", resource, "deletion_policy"]);
            invalid("\"Snapshot\" deletion policy not supported").at(way)
        }
        Mistake::Cycle(round) => cycle_message(round),
        Mistake::Restricted { resource, action } => NativeMessage::of(
            "UPDATE_FAILED",
            format!("{action} is restricted for resource."),
        )
        .error("ResourceActionRestricted")
        .at(path(&["resources", resource])),
        Mistake::Immutable {
            field,
            resource,
            type_name,
        } => NativeMessage::of(
            "UPDATE_FAILED",
            format!("Update to properties {field} of {resource} ({type_name}) is not supported."),
        )
        .error("NotSupported")
        .at(path(&["resources", resource])),
        Mistake::ImmutableInput(name) => NativeMessage::of(
            "ImmutableParameterModified",
            format!("The following parameters are immutable and may not be updated: {name}"),
        ),
        Mistake::Refused {
            operation,
            children,
            resource,
            message,
        } => {
            let operation = operation.to_ascii_uppercase();
            let above = children
                .iter()
                .flat_map(|name| ["resources", name.as_ref()]);
            let way: Vec<&str> = above.chain(["resources", resource]).collect();
            // Heat reports the class of a failed update unchanged.
            let error = match operation.as_str() {
                "UPDATE" => "ValueError".to_owned(),
                _ => format!("Resource {operation} failed: ValueError"),
            };
            NativeMessage::of(format!("{operation}_FAILED"), message)
                .error(error)
                .at(path(&way))
        }
    })
}

/// Adds the path to a resource to the message about its nested template. With `nearest`, the
/// template belongs to this resource, and not to one below it.
pub(super) fn prepend_child_path(found: &mut Diagnostic, name: &str, child: &Child, nearest: bool) {
    let code = found.code.name;
    let Some(words) = found.native_message.as_deref_mut() else {
        return;
    };
    // A failed output is reported only for the output, and a failed operation already has its path.
    if words.class.is_empty() || words.class.ends_with("_FAILED") {
        return;
    }
    let kind = child
        .expansion
        .as_ref()
        .map(|expansion| expansion.kind.item.as_ref());
    if nearest {
        // Heat looks up types and reads the schema of a template before it creates the stack.
        if words.message.starts_with("The Resource Type (")
            && matches!(kind, Some(RESOURCE_GROUP | CHAIN))
        {
            return;
        }
        // The group itself reports mistakes in its sizes.
        if kind == Some(SCALING_GROUP) && code == VALUE_CONSTRAINT.name && words.path.is_empty() {
            return;
        }
        match words.class.as_ref() {
            "InvalidTemplateVersion" => return,
            "InvalidSchemaError" if !words.message.starts_with("Parameter '") => return,
            "ValueError" => {
                words.class = INVALID.into();
                return;
            }
            _ if words.error == "Output validation error"
                && words.message.starts_with("Each output") =>
            {
                *words = invalid("Each output must contain a value key.");
                return;
            }
            // Heat checks the sections of the root before it creates the stack.
            INVALID if words.message.starts_with("The template section is invalid") => {
                words.class = "InvalidTemplateSection".into();
            }
            _ => {}
        }
    }
    let file = match (kind, child.path.as_literal().and_then(Value::as_text)) {
        (None, Some(path)) => path,
        _ => "nested_stack",
    };
    let above = format!("resources.{name}<{file}>");
    if words.class != INVALID {
        // Any other class becomes the text before the path.
        words.error = std::mem::replace(&mut words.class, Cow::Borrowed(INVALID));
        words.path = above.into();
        return;
    }
    let dot = if words.path.is_empty() || words.path.starts_with('[') {
        ""
    } else {
        "."
    };
    words.path = format!("{above}{dot}{}", words.path).into();
}

/// The class of Heat's exception, by the diagnostic code.
pub(super) fn class_of(code: &str) -> &'static str {
    match code {
        "unknown-variable" => "UserParameterMissing",
        "unknown-resource" => "InvalidTemplateReference",
        "unknown-field" => "InvalidTemplateAttribute",
        "argument-type" => "TypeError",
        _ => "ValueError",
    }
}

impl From<ExpressionPart> for TemplatePart {
    fn from(part: ExpressionPart) -> TemplatePart {
        match part {
            ExpressionPart::Spec | ExpressionPart::Given => TemplatePart::Properties,
            ExpressionPart::Metadata => TemplatePart::Metadata,
            ExpressionPart::Removal => TemplatePart::DeletionPolicy,
            ExpressionPart::UpdatePolicy => TemplatePart::UpdatePolicy,
            ExpressionPart::Local => TemplatePart::Condition,
            ExpressionPart::Export => TemplatePart::Output,
        }
    }
}

/// Completes a message without a class: class and path are those of the value at `place`.
pub(super) fn complete_message(diagnostic: &mut Diagnostic, place: &ExpressionPlace<'_>) {
    let span = diagnostic.span();
    let code = diagnostic.code.name;
    let mut message_path = MessagePath::to(place.part.into(), &place.of.into());
    message_path
        .steps
        .extend(place.input.map(|input| MessageStep::Key(input.into())));
    if code == expr::codes::SOURCE_UNREADABLE.name && diagnostic.native_message.is_none() {
        // The engine reads files, and does not know the section `files`.
        append_steps_to_span(place.expr, span, &mut message_path.steps);
        let Some(file) = literal_in(place.expr, span) else {
            return;
        };
        let message =
            format!("No content found in the \"files\" section for get_file path: {file}");
        diagnostic.native_message = Some(Box::new(message_path.message(
            HeatPhase::Evaluate,
            "ValueError",
            &message,
        )));
        return;
    }
    let Some(words) = diagnostic.native_message.as_deref_mut() else {
        return;
    };
    match words.class.as_ref() {
        "" => {
            append_steps_to_span(place.expr, span, &mut message_path.steps);
            *words = message_path.message(HeatPhase::Evaluate, class_of(code), &words.message);
        }
        ABSENT_ELEMENT_CLASS => {
            append_steps_to_span(place.expr, span, &mut message_path.steps);
            *words = message_path.no_resource(&words.message);
        }
        _ => {}
    }
}

/// Completes a message without a class in a condition.
pub(super) fn complete_condition_message(diagnostic: &mut Diagnostic, condition: &Expr) {
    let (span, code) = (diagnostic.span(), diagnostic.code.name);
    let Some(words) = diagnostic.native_message.as_deref_mut() else {
        return;
    };
    if words.class.is_empty() {
        let mut message_path = MessagePath::to(TemplatePart::Choice, &"".into());
        append_steps_to_span(condition, span, &mut message_path.steps);
        *words = message_path.message(HeatPhase::Evaluate, class_of(code), &words.message);
    }
}

/// The literal text at a place in an expression.
fn literal_in(expr: &Expr, span: Span) -> Option<&str> {
    match &expr.kind {
        ExprKind::Literal(value) if expr.span == span => value.as_text(),
        ExprKind::List(items) => items.iter().find_map(|item| literal_in(item, span)),
        ExprKind::Map(entries) => entries
            .iter()
            .find_map(|(_, value)| literal_in(value, span)),
        ExprKind::Choice(choice) => [&choice.then, &choice.otherwise]
            .into_iter()
            .find_map(|branch| literal_in(branch, span)),
        ExprKind::Call(call) if call.function.as_ref() == "file" => call
            .arguments
            .first()
            .and_then(|argument| argument.value.as_literal())
            .and_then(Value::as_text),
        ExprKind::Call(call) => call
            .arguments
            .iter()
            .find_map(|argument| literal_in(&argument.value, span)),
        _ => None,
    }
}

/// Heat's message for a mistake in the call at a place, from the validation.
pub(super) fn checked(message: &str, place: &ExpressionPlace<'_>, span: Span) -> NativeMessage {
    let mut message_path = MessagePath::to(place.part.into(), &place.of.into());
    if let Some(input) = place.input {
        message_path.steps.push(MessageStep::Key(input.into()));
    }
    append_steps_to_span(place.expr, span, &mut message_path.steps);
    message_path.message(HeatPhase::Validate, INVALID, message)
}

/// Appends the steps from an expression to the part of it with this span.
fn append_steps_to_span(expr: &Expr, span: Span, steps: &mut Vec<MessageStep>) {
    let holds = |expr: &Expr| {
        expr.span.file == span.file && expr.span.start <= span.start && span.end <= expr.span.end
    };
    match &expr.kind {
        ExprKind::List(items) => {
            if let Some((at, item)) = items.iter().enumerate().find(|(_, item)| holds(item)) {
                steps.push(MessageStep::Index(at));
                append_steps_to_span(item, span, steps);
            }
        }
        ExprKind::Map(entries) => {
            if let Some((key, value)) = entries.iter().find(|(_, value)| holds(value)) {
                steps.push(MessageStep::Key(key.item.clone()));
                append_steps_to_span(value, span, steps);
            }
        }
        ExprKind::Choice(choice) => {
            steps.push(MessageStep::Call("if".into()));
            if let Some(branch) = [&choice.then, &choice.otherwise]
                .into_iter()
                .find(|branch| holds(branch))
            {
                append_steps_to_span(branch, span, steps);
            }
        }
        ExprKind::Call(call) => {
            // Internal functions belong to calls such as `get_attr`.
            let own = call.function.starts_with('(')
                || matches!(call.function.as_ref(), "get_attr" | "get_param" | "file");
            let inner = call
                .arguments
                .iter()
                .map(|argument| &argument.value)
                .find(|argument| holds(argument));
            match inner {
                Some(inner) if own => append_steps_to_span(inner, span, steps),
                Some(inner) => {
                    steps.push(MessageStep::Call(call.function.clone()));
                    append_steps_to_span(inner, span, steps);
                }
                None if own => {}
                None => steps.push(MessageStep::Call(call.function.clone())),
            }
        }
        ExprKind::Ref(reference) => {
            let function = match &reference.head {
                ReferenceHead::Input(_) => "get_param",
                ReferenceHead::Resource { .. } | ReferenceHead::Child(_)
                    if reference.path.is_empty() =>
                {
                    "get_resource"
                }
                _ => "get_attr",
            };
            steps.push(MessageStep::Call(function.into()));
        }
        _ => {}
    }
}
