//! Runs `cyan state import` on an export in the format of another tool. Writes the documents of the
//! export below the current folder, deploys them, and adopts the existing resources instead of
//! creating them.
//!
//! Not here: the formats and their meaning (`engine::foreign`).

use std::path::Path;

use engine::foreign::{self, FileWrite, Form};
use engine::{DocumentSource, StageRequest, StagedDocument};

use crate::arguments::{Consent, Global, InstanceFlag};
use crate::exit::{CommandError, Exit};
use crate::view::report::Report;
use crate::{open, operation};

/// Imports an export. The instance is that of `flag`, or else the one that the export names. Asks
/// for consent as a deploy does.
pub(crate) async fn run(
    form: &'static dyn Form,
    text: &str,
    flag: InstanceFlag,
    consent: Consent,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let stack = foreign::read(form, text)?;
    for (name, text) in &stack.files {
        report
            .terminal
            .write_message(match foreign::lay_out(form, name, text)? {
                FileWrite::Written => format!("wrote `{name}`"),
                FileWrite::Present => format!("`{name}` is there already and stays as it is"),
            });
    }
    let instance = match flag.instance {
        Some(instance) => instance,
        None => stack
            .instance
            .parse()
            .map_err(|error: state::InstanceNameError| CommandError::usage(error.to_string()))?,
    };
    let source = DocumentSource::find(Some(Path::new(&stack.document)), &open::dialects())?;
    let mut session = open::session_in(global, &source.project_folder(), report)?;
    let request = StageRequest {
        instance: Some(instance),
        ..stack.request(source)
    };
    let StagedDocument { document, planned } = session.stage(request, report).await?;
    operation::carry_out(
        planned,
        &document.files,
        false,
        &mut session,
        &consent.into(),
        report,
    )
    .await
}
