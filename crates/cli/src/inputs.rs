//! Values for a document's inputs, in order of strength: `CYAN_VAR_K`, then `--vars` and `--var` as they were written;
//! what is still missing is asked for on a terminal.
//!
//! Not here: whether a value fits its input (the engine says).

use std::path::PathBuf;

use blueprint::{Blueprint, IndexMap, Input, Name, Type, Value};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use diag::{Diagnostic, Diagnostics, Files};
use engine::{Checked, Given};
use provider::CustomType;
use state::{InstanceName, Store, StoreError};
use syntax::{Content, Format, Node, Scalar};

use crate::arguments::{Inputs, path};
use crate::exit::CommandError;
use crate::setup::read_text;
use crate::terminal::Terminal;

const PREFIX: &str = "CYAN_VAR_";

/// One of the flags that give inputs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Written {
    /// `--var K=V`.
    Text(Name, Name),
    /// `--vars FILE`.
    File(PathBuf),
}

/// Adds the inputs of the last operation with a document that are not given now and still declared (`--keep-vars`).
pub(crate) async fn keep(
    blueprint: &Blueprint,
    given: &mut Given,
    store: &dyn Store,
    instance: &InstanceName,
) -> Result<(), CommandError> {
    let past = match store.history(instance, usize::MAX).await {
        Ok(past) => past,
        // Nothing was deployed yet, so there is nothing to keep.
        Err(StoreError::Unknown { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let mut desired = Value::Null;
    for past in &past {
        // A destroy, and a change of the state alone, have no inputs.
        if desired.is_null()
            && let Some(operation) = store.operation(instance, &past.operation.id).await?
        {
            desired = operation.desired;
        }
    }
    let desired = desired.bare();
    let is_open = |name: &Name, given: &Given| {
        blueprint.inputs.contains_key(name) && !given.typed.contains_key(name) && !given.text.contains_key(name)
    };
    for (name, value) in desired.get("typed").and_then(Value::as_map).into_iter().flatten() {
        if is_open(name, given) {
            given.typed.insert(name.clone(), value.clone());
        }
    }
    for (name, value) in desired.get("text").and_then(Value::as_map).into_iter().flatten() {
        if let (true, Value::Text(text)) = (is_open(name, given), value.bare()) {
            given.text.insert(name.clone(), text.clone());
        }
    }
    Ok(())
}

fn one(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err("a value is written as NAME=VALUE".to_owned()),
    }
}

// Derived arguments do not tell in which order two flags were written; it matters here.
impl Args for Inputs {
    fn augment_args(command: Command) -> Command {
        let var = Arg::new("var")
            .long("var")
            .value_name("NAME=VALUE")
            .action(ArgAction::Append)
            .value_parser(one)
            .help("Set an input, over `CYAN_VAR_NAME`; repeatable, the last one wins");
        let vars = Arg::new("vars")
            .long("vars")
            .value_name("FILE")
            .action(ArgAction::Append)
            .value_parser(path())
            .help("Read inputs from this YAML or JSON file; repeatable, the last one wins");
        let environment = Arg::new("environment")
            .long("environment")
            .short('e')
            .value_name("FILE")
            .action(ArgAction::Append)
            .value_parser(path())
            .help("Read a Heat environment file, for a template; repeatable, the last one wins");
        command.arg(var).arg(vars).arg(environment)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Inputs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Inputs, clap::Error> {
        let mut written: Vec<(usize, Written)> = Vec::new();
        if let (Some(values), Some(places)) = (matches.get_many::<(String, String)>("var"), matches.indices_of("var")) {
            let texts = values.map(|(name, value)| Written::Text(name.as_str().into(), value.as_str().into()));
            written.extend(places.zip(texts));
        }
        if let (Some(values), Some(places)) = (matches.get_many::<PathBuf>("vars"), matches.indices_of("vars")) {
            written.extend(places.zip(values.map(|file| Written::File(file.clone()))));
        }
        written.sort_by_key(|(place, _)| *place);
        let environments = matches.get_many::<PathBuf>("environment").unwrap_or_default().cloned().collect();
        Ok(Inputs { written: written.into_iter().map(|(_, written)| written).collect(), environments })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Inputs::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Everything that was given. Files are read; what is wrong with their text goes to `found`.
pub(crate) fn gather(
    blueprint: &Blueprint,
    environment: &IndexMap<Name, Value>,
    defaults: &[PathBuf],
    inputs: &Inputs,
    files: &mut Files,
    found: &mut Diagnostics,
) -> Result<Given, CommandError> {
    let mut given = Given::default();
    for (name, value) in std::env::vars_os() {
        // Other documents have inputs too: only those of this one are taken from the environment.
        let Some(name) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        if !blueprint.inputs.contains_key(name) {
            continue;
        }
        let value =
            value.into_string().map_err(|_| CommandError::usage(format!("`{PREFIX}{name}` is no UTF-8 text")))?;
        given.text.insert(name.into(), value.into());
    }
    for (name, value) in environment {
        given.text.shift_remove(name);
        given.typed.insert(name.clone(), value.clone());
    }
    let defaults = defaults.iter().cloned().map(Written::File);
    for written in defaults.chain(inputs.written.iter().cloned()) {
        match written {
            Written::Text(name, value) => {
                given.text.insert(name, value);
            }
            Written::File(path) => {
                for (name, value) in read_file(&path, files, found)? {
                    given.text.shift_remove(&name);
                    given.typed.insert(name, value);
                }
            }
        }
    }
    Ok(given)
}

fn read_file(
    path: &std::path::Path,
    files: &mut Files,
    found: &mut Diagnostics,
) -> Result<Vec<(Name, Value)>, CommandError> {
    let shown = path.display().to_string();
    let text = read_text(path)?;
    let file = files.add_withheld(shown.clone(), text.as_str());
    let (tree, broken) = syntax::parse(file, &text, Format::of_name(&shown));
    let failed = broken.has_errors();
    found.append(broken.into_iter().map(|one| unquoted(one, &text)).collect());
    if failed {
        return Ok(Vec::new());
    }
    let Some(root) = &tree.root else { return Ok(Vec::new()) };
    match &root.content {
        Content::Map(entries) => {
            Ok(entries.iter().filter_map(|entry| Some((entry.key.text()?.into(), value_of(&entry.value)))).collect())
        }
        _ => Err(CommandError::Unfit {
            name: shown,
            what: "is no map of inputs".to_owned(),
            help: Some("write it as `name: value` lines, or as a JSON object".to_owned()),
        }),
    }
}

/// What is said of a file of inputs, without words of the file: they may be secret.
pub(crate) fn unquoted(mut said: Diagnostic, file: &str) -> Diagnostic {
    let clean = |text: &mut String| {
        let parts = text.split('`').enumerate().map(|(at, part)| {
            // Every second part stands in backticks. A single sign is no secret.
            let word = part.trim_start_matches(['&', '*']);
            let is_quoted = at % 2 == 1 && word.chars().nth(1).is_some() && file.contains(word);
            if is_quoted { "(not shown)" } else { part }
        });
        *text = parts.collect::<Vec<_>>().join("`");
    };
    clean(&mut said.message);
    said.labels.iter_mut().for_each(|label| clean(&mut label.text));
    said.notes.iter_mut().chain(&mut said.help).for_each(clean);
    said.fixes.clear();
    said
}

/// The value of a node, scalars as YAML 1.2 reads them.
fn value_of(node: &Node) -> Value {
    match &node.content {
        Content::Map(entries) => {
            Value::map(entries.iter().filter_map(|entry| Some((Name::from(entry.key.text()?), value_of(&entry.value)))))
        }
        Content::List(items) => Value::list(items.iter().map(value_of)),
        Content::Scalar(scalar) => scalar_value(scalar),
        Content::Missing => Value::Null,
    }
}

fn scalar_value(scalar: &Scalar) -> Value {
    let text = scalar.text.as_ref();
    if scalar.style.is_text() {
        return Value::from(text);
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => match blueprint::parse_integer(text) {
            Some(number) => Value::Int(number),
            None => blueprint::parse_float(text).map_or_else(|| Value::from(text), Value::Float),
        },
    }
}

/// Asks for what has no value yet, where somebody is there to answer. What stays missing is the engine's to report.
pub(crate) fn ask(checked: &Checked, given: &mut Given, terminal: &Terminal) -> Result<(), CommandError> {
    if !terminal.can_ask() {
        return Ok(());
    }
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
