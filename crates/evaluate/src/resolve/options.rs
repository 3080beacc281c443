//! Inputs of custom types: given by the label of an option, read as its value
//! (decisions/documents#custom-types).
//!
//! Not here: labels in the document itself, which the check validates.

use blueprint::{Input, Name, Value};
use diag::{Diagnostic, Diagnostics};
use provider::CustomType;

use crate::codes;

/// The value of an input of a custom type, whose option is given by its label. `None` after an
/// error, which is reported.
pub(super) fn value_of(
    name: &Name,
    input: &Input,
    custom: &CustomType,
    given: Option<dialect::GivenValue<'_>>,
    found: &mut Diagnostics,
) -> Option<Value> {
    let Some(label) = label_of(input, given) else {
        found.push(missing(name, input));
        return None;
    };
    let Value::Text(label) = label.unmarked() else {
        found.push(
            expr::codes::TYPE_MISMATCH
                .new(format!(
                    "`{name}` must be the label of an option of `{}`, found {}",
                    custom.name,
                    label.kind_word()
                ))
                .label(input.span, "options are named by text")
                .help(format!("give one of {}", listed(custom, input))),
        );
        return None;
    };
    let option = custom.option(label).filter(|_| allows(input, label));
    let Some(option) = option else {
        let shown = if input.secret {
            "the value".to_owned()
        } else {
            format!("`{label}`")
        };
        let what = match custom.option(label) {
            Some(_) => format!("{shown} is not among the values allowed for `{name}`"),
            None => format!(
                "{shown}, given for `{name}`, is no option of `{}`",
                custom.name
            ),
        };
        let diagnostic = dialect::codes::VALUE_NOT_ALLOWED
            .new(what)
            .label(input.span, format!("one of {}", listed(custom, input)));
        let near = custom
            .options
            .iter()
            .map(|option| option.label.as_ref())
            .filter(|label| allows(input, label));
        found.push(if input.secret {
            diagnostic
        } else {
            diagnostic.help_nearest(label, near)
        });
        return None;
    };
    Some(option.value.clone().tainted(input.secret))
}

/// The label of the given option, or of the input's default.
fn label_of(input: &Input, given: Option<dialect::GivenValue<'_>>) -> Option<Value> {
    let typed = match given {
        Some(dialect::GivenValue::Text(text)) => return Some(Value::text(text)),
        Some(dialect::GivenValue::Typed(value)) => Some(value).filter(|value| !value.is_null()),
        None => None,
    };
    typed
        .or(input
            .default
            .as_ref()
            .map(|default| &default.item)
            .filter(|default| !default.is_null()))
        .cloned()
}

/// Whether the input's own list of options allows a label. An empty list allows every label.
fn allows(input: &Input, label: &str) -> bool {
    input.allowed.is_empty()
        || input
            .allowed
            .iter()
            .any(|allowed| allowed.item.as_text() == Some(label))
}

fn listed(custom: &CustomType, input: &Input) -> String {
    let labels = custom
        .options
        .iter()
        .map(|option| option.label.as_ref())
        .filter(|label| allows(input, label));
    labels.collect::<Vec<_>>().join(", ")
}

/// The diagnostic for an input that has no value.
pub(super) fn missing(name: &Name, input: &Input) -> Diagnostic {
    codes::MISSING_VARIABLE
        .new(format!("no value is given for `{name}`"))
        .label(input.span, "has no default")
        .help(format!(
            "give one with `--var {name}=..`, in a file with `--vars`, or as `CYAN_VAR_{name}`"
        ))
}
