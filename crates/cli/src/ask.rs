//! Questions for inputs without a value, on a terminal.

use blueprint::{Input, Name, Type};
use engine::{Checked, Given};
use provider::CustomType;

use crate::exit::CommandError;

/// Asks for each input without a value. The plan reports what is still missing.
pub(crate) fn ask(checked: &Checked, given: &mut Given) -> Result<(), CommandError> {
    for (at, (name, input)) in checked.blueprint.inputs.iter().enumerate() {
        let is_given = given.text.contains_key(name) || given.typed.get(name).is_some_and(|value| !value.is_null());
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
            Err(inquire::InquireError::OperationCanceled | inquire::InquireError::OperationInterrupted) => {
                return Err(CommandError::Refused);
            }
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

/// The input with a description that is safe to show.
fn described(input: &Input) -> Input {
    let description = input.description.as_deref().map(|text| diag::visible(text).into());
    Input { description, ..input.clone() }
}

/// An option of a custom type, shown with what it is about; the answer is its label.
fn option(name: &str, input: &Input, custom: &CustomType) -> Result<String, inquire::InquireError> {
    let question = format!("{name} ({})", custom.name);
    let mut asked = inquire::Select::new(&question, offered(input, custom));
    asked.help_message = input.description.as_deref().or(asked.help_message);
    asked.prompt().map(|choice| choice.label)
}

/// The options that an input may take, in the order of the catalogue.
fn offered(input: &Input, custom: &CustomType) -> Vec<Choice> {
    let allowed = |label: &str| {
        input.allowed.is_empty() || input.allowed.iter().any(|allowed| allowed.item.as_text() == Some(label))
    };
    let options = custom.options.iter().filter(|option| allowed(&option.label));
    options.map(|option| Choice { label: option.label.to_string(), docs: option.docs.clone() }).collect()
}

/// An option as it is offered.
struct Choice {
    label: String,
    docs: Name,
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&diag::visible_line(&self.label))?;
        if self.docs.is_empty() { Ok(()) } else { write!(f, "  {}", diag::visible_line(&self.docs)) }
    }
}

fn answer(name: &str, input: &Input) -> Result<String, inquire::InquireError> {
    let question = format!("{name} ({})", input.ty);
    let help = input.description.as_deref();
    if input.secret {
        let mut asked = inquire::Password::new(&question).without_confirmation();
        asked.help_message = help.or(asked.help_message);
        return asked.prompt();
    }
    let labels: Vec<String> = if input.ty == Type::Bool {
        vec!["true".to_owned(), "false".to_owned()]
    } else {
        input
            .allowed
            .iter()
            .map(|allowed| allowed.item.as_text().map_or_else(|| allowed.item.to_string(), str::to_owned))
            .collect()
    };
    if !labels.is_empty() {
        let options = labels.into_iter().map(|label| Choice { label, docs: Name::default() }).collect();
        let mut asked = inquire::Select::new(&question, options);
        asked.help_message = help.or(asked.help_message);
        return asked.prompt().map(|choice| choice.label);
    }
    let ty = input.ty.clone();
    let fits = move |text: &str| match expr::parse_as(text, &ty) {
        Some(_) => Ok(inquire::validator::Validation::Valid),
        None => Ok(inquire::validator::Validation::Invalid(format!("this is no {ty}").into())),
    };
    let mut asked = inquire::Text::new(&question).with_validator(fits);
    asked.help_message = help;
    asked.prompt()
}
