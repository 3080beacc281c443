//! Asks the user on a terminal for the inputs that have neither a value nor a default.
//!
//! Not here: detection of a terminal (`view::report`); reading an answer (`prompt`).

use blueprint::{Input, Type, Value};
use engine::{Checked, Given};
use provider::CustomType;

use crate::exit::CommandError;
use crate::prompt::{Choice, Question, Unanswered};

/// Asks for each input without a value and without a default, and adds the answers to `given`. A
/// null counts as no value. Stops without an error if the terminal cannot be read: staging reports
/// the inputs that are still missing. `Refused` if the user cancels.
pub(crate) fn ask(checked: &Checked, given: &mut Given) -> Result<(), CommandError> {
    for (at, (name, input)) in checked.blueprint.inputs.iter().enumerate() {
        let is_given = given.text.contains_key(name)
            || given.typed.get(name).is_some_and(|value| !value.is_null());
        if is_given || input.default.is_some() {
            continue;
        }
        let input = &described(input);
        let answered = match checked.custom_types.get(at).and_then(Option::as_ref) {
            Some(custom) => option(name, input, custom),
            None => answer(name, input),
        };
        match answered {
            Ok(text) => {
                given.text.insert(name.clone(), text.into());
            }
            Err(Unanswered::Cancelled) => return Err(CommandError::Refused),
            Err(Unanswered::Unreadable) => return Ok(()),
        }
    }
    Ok(())
}

/// Returns a copy of the input with a description that is safe to show.
fn described(input: &Input) -> Input {
    let description = input
        .description
        .as_deref()
        .map(|text| diag::visible(text).into());
    Input {
        description,
        ..input.clone()
    }
}

/// Asks for an option of a custom type. Returns the label of the option.
fn option(name: &str, input: &Input, custom: &CustomType) -> Result<String, Unanswered> {
    let text = format!("{name} ({})", custom.name);
    Question {
        text: &text,
        help: input.description.as_deref(),
    }
    .choice(&offered(input, custom))
}

/// The options of a custom type that the input allows, in the order of the type.
fn offered(input: &Input, custom: &CustomType) -> Vec<Choice> {
    let allowed = |label: &str| {
        input.allowed.is_empty()
            || input
                .allowed
                .iter()
                .any(|allowed| allowed.item.as_text() == Some(label))
    };
    let options = custom
        .options
        .iter()
        .filter(|option| allowed(&option.label));
    options
        .map(|option| Choice {
            label: option.label.to_string(),
            docs: option.docs.to_string(),
        })
        .collect()
}

/// Asks for the value of an input of a built-in type: for a hidden text if the input is secret,
/// else for one of the allowed values, else for a text until it has the type of the input.
fn answer(name: &str, input: &Input) -> Result<String, Unanswered> {
    let text = format!("{name} ({})", input.ty);
    let question = Question {
        text: &text,
        help: input.description.as_deref(),
    };
    if input.secret {
        return question.secret();
    }
    let labels: Vec<String> = if input.ty == Type::Bool {
        vec!["true".to_owned(), "false".to_owned()]
    } else {
        let label = |value: &Value| {
            value
                .as_text()
                .map_or_else(|| value.to_string(), str::to_owned)
        };
        input
            .allowed
            .iter()
            .map(|allowed| label(&allowed.item))
            .collect()
    };
    if !labels.is_empty() {
        let options: Vec<Choice> = labels
            .into_iter()
            .map(|label| Choice {
                label,
                docs: String::new(),
            })
            .collect();
        return question.choice(&options);
    }
    question.text(|text| match expr::parse_as(text, &input.ty) {
        Some(_) => Ok(()),
        None => Err(format!("this is no {}", input.ty)),
    })
}
