//! Values for the inputs of a document. In order of increasing precedence: environment variables
//! `CYAN_VAR_NAME`, environment files, files and values of the configuration, then files and single
//! values in the order of the request.
//!
//! Not here: checks of values (`engine`); questions about missing inputs (the front end).

use crate::phases::Given;
use blueprint::{Blueprint, IndexMap, Name, Value};
use diag::{Diagnostic, Diagnostics, Files};
use dialect::plain_value;
use state::{InstanceName, Store, StoreError};
use syntax::{Content, Format};

use crate::error::Error;
use crate::named_file::NamedFile;
use crate::withheld::unquoted;

/// The beginning of the names of variables that give values.
pub(crate) const PREFIX: &str = "CYAN_VAR_";

/// A value, or a file of values, in a request.
#[derive(Clone, Debug, PartialEq)]
pub enum InputSource {
    /// An input and its text.
    Text(Name, Name),
    /// An input and its value.
    Value(Name, Value),
    /// A YAML or JSON file with a map of inputs.
    File(NamedFile),
}

/// The inputs of a request.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Values and files in order. Later ones override earlier ones.
    pub written: Vec<InputSource>,
    /// Environment files in order.
    pub environments: Vec<NamedFile>,
    /// Whether environment variables give values.
    pub variables: InputVariables,
}

/// Whether environment variables `CYAN_VAR_NAME` give values for inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputVariables {
    /// They do.
    #[default]
    Read,
    /// They do not: the result does not depend on who runs the program.
    Ignored,
}

/// Collects all given values. Files of inputs may have `most` bytes each; mistakes in them are
/// added to `found`.
pub(crate) fn gather(
    blueprint: &Blueprint,
    environment: &IndexMap<Name, Value>,
    defaults: &[InputSource],
    inputs: &Inputs,
    most: usize,
    files: &mut Files,
    found: &mut Diagnostics,
) -> Result<Given, Error> {
    let mut given = Given::default();
    let variables = (inputs.variables == InputVariables::Read).then(std::env::vars_os);
    for (name, value) in variables.into_iter().flatten() {
        // The variable may be meant for another document.
        let Some(name) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else {
            continue;
        };
        if !blueprint.inputs.contains_key(name) {
            continue;
        }
        let value = value
            .into_string()
            .map_err(|_| Error::usage(format!("`{PREFIX}{name}` is no UTF-8 text")))?;
        given.text.insert(name.into(), value.into());
    }
    for (name, value) in environment {
        given.text.shift_remove(name);
        given.typed.insert(name.clone(), value.clone());
    }
    for written in defaults.iter().chain(&inputs.written).cloned() {
        match written {
            InputSource::Text(name, value) => {
                given.text.insert(name, value);
            }
            InputSource::Value(name, value) => {
                given.text.shift_remove(&name);
                given.typed.insert(name, value);
            }
            InputSource::File(file) => {
                for (name, value) in read_file(&file, most, files, found)? {
                    given.text.shift_remove(&name);
                    given.typed.insert(name, value);
                }
            }
        }
    }
    Ok(given)
}

/// Reads the names and values in a file of inputs. Mistakes in it are added to `found`.
pub(crate) fn read_file(
    named: &NamedFile,
    most: usize,
    files: &mut Files,
    found: &mut Diagnostics,
) -> Result<Vec<(Name, Value)>, Error> {
    let shown = named.path().display().to_string();
    let text = named.text()?;
    let file = files.add_withheld(shown.clone(), text.clone());
    let format = Format::of_name(&shown);
    let (tree, broken) = syntax::refuse_longer(file, &text, format, most)
        .unwrap_or_else(|| syntax::parse(file, &text, format));
    let failed = broken.has_errors();
    found.append(broken.into_iter().map(|one| unquoted(one, &text)).collect());
    if failed {
        return Ok(Vec::new());
    }
    let root = match &tree.root {
        Some(root) if !matches!(root.content, Content::Missing) => root,
        _ => {
            found.push(empty_file(&shown));
            return Ok(Vec::new());
        }
    };
    match &root.content {
        Content::Map(entries) => Ok(entries
            .iter()
            .filter_map(|entry| Some((entry.key.text()?.into(), plain_value(&entry.value))))
            .collect()),
        _ => Err(Error::Unfit {
            name: shown,
            what: "is no map of inputs".to_owned(),
            help: Some(form_of_inputs(&text).to_owned()),
        }),
    }
}

/// What a file of inputs should look like. A file of another tool has lines `name = value`.
fn form_of_inputs(text: &str) -> &'static str {
    let lines = text.lines().map(str::trim);
    let mut written = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let assigns = |line: &str| {
        let name = line.split_once('=').map(|(name, _)| name.trim_end());
        name.is_some_and(|name| !name.is_empty() && !name.contains([':', ' ', '"']))
    };
    match written.next().is_some_and(assigns) {
        true => "write `name: value` in place of `name = value`, one input per line",
        false => "write it as `name: value` lines, or as a JSON object",
    }
}

/// Returns the warning about a file of inputs without a value. It is no error, because a script may
/// write a file that happens to be empty.
pub(crate) fn empty_file(shown: &str) -> Diagnostic {
    crate::codes::EMPTY_INPUT_FILE
        .new(format!("`{shown}` is empty: it sets no input"))
        .help("check the command that writes it, or leave the file out")
}

/// Adds inputs of the last operation that had inputs, if they are declared and not given now.
pub(crate) async fn keep_previous_inputs(
    blueprint: &Blueprint,
    given: &mut Given,
    store: &dyn Store,
    instance: &InstanceName,
) -> Result<(), Error> {
    let past = match store.history(instance, usize::MAX).await {
        Ok(past) => past,
        // The instance does not exist yet.
        Err(StoreError::Unknown { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let mut desired = Value::Null;
    for past in &past {
        // A destroy and a state edit have no inputs.
        if desired.is_null()
            && let Some(operation) = store.operation(instance, &past.operation.id).await?
        {
            desired = operation.desired;
        }
    }
    let desired = desired.unmarked();
    let is_open = |name: &Name, given: &Given| {
        blueprint.inputs.contains_key(name)
            && !given.typed.contains_key(name)
            && !given.text.contains_key(name)
    };
    for (name, value) in desired
        .get("typed")
        .and_then(Value::as_map)
        .into_iter()
        .flatten()
    {
        if is_open(name, given) {
            given.typed.insert(name.clone(), value.clone());
        }
    }
    for (name, value) in desired
        .get("text")
        .and_then(Value::as_map)
        .into_iter()
        .flatten()
    {
        if let (true, Value::Text(text)) = (is_open(name, given), value.unmarked()) {
            given.text.insert(name.clone(), text.clone());
        }
    }
    Ok(())
}
