//! Runs `cyan state import` on an export in the format of another tool. Writes the documents of the export below
//! the current folder, deploys them, and adopts the existing resources without creating any of these again.
//!
//! Not here: the formats (`engine::foreign`); how existing resources become managed (`plan::imports`).

use std::path::{Component, Path};

use engine::Options;
use engine::foreign::{ForeignStack, Form};
use engine::{DocumentSource, Inputs, StageRequest, StagedDocument};
use state::InstanceName;

use crate::arguments::{Consent, Global, InstanceFlag};
use crate::exit::{CommandError, Exit};
use crate::view::report::Report;
use crate::{open, operation};

/// Imports an export. The instance is that of `which`, or else the one that the export names. Asks for consent as a
/// deploy does.
pub(crate) async fn run(
    form: &'static dyn Form,
    text: &str,
    flag: InstanceFlag,
    consent: Consent,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let tree: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let ForeignStack { instance, document, environment, files, things } =
        form.read(&tree).map_err(|what| unusable(form, what, None))?;
    for (name, text) in &files {
        lay_out(form, name, text, report)?;
    }
    let instance = match flag.instance {
        Some(instance) => instance,
        None => instance.parse().map_err(|error: state::InstanceNameError| CommandError::usage(error.to_string()))?,
    };
    let source = DocumentSource::find(Some(Path::new(&document)), &open::dialects())?;
    let mut session = open::session_in(global, &source.folder, report)?;
    let inputs = Inputs { written: Vec::new(), environments: environment.into_iter().map(Into::into).collect() };
    let options = Options { taken: things, ..Options::default() };
    let instance = Some::<InstanceName>(instance);
    let request = StageRequest { instance, inputs, options, ..StageRequest::new(source) };
    let StagedDocument { document, planned } = session.stage(request, report).await?;
    operation::carry_out(planned, &document.files, false, &mut session, &consent.into(), report).await
}

/// Writes a file below the current folder. Does not overwrite an existing file, because a user may have corrected it.
/// Refuses a name that leads out of the folder.
fn lay_out(form: &dyn Form, name: &str, text: &str, report: &mut Report) -> Result<(), CommandError> {
    let path = Path::new(name);
    if name.is_empty() || !path.components().all(|part| matches!(part, Component::Normal(_))) {
        let help = "give it another name there, and where it is named";
        return Err(unusable(form, format!("has a file `{name}`, which is not below this folder"), Some(help)));
    }
    if path.exists() {
        report.terminal.say(format!("`{name}` is there already and stays as it is"));
        return Ok(());
    }
    let unwritable = |source| CommandError::Unreadable { name: name.to_owned(), source };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(unwritable)?;
    }
    std::fs::write(path, text).map_err(unwritable)?;
    report.terminal.say(format!("wrote `{name}`"));
    Ok(())
}

/// The error for an export that cannot be imported. `what` is a phrase about the format.
fn unusable(form: &dyn Form, what: String, help: Option<&str>) -> CommandError {
    CommandError::Unfit { name: format!("the {} form", form.name()), what, help: help.map(str::to_owned) }
}
