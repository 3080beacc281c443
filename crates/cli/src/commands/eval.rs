//! `cyan eval`.

use std::path::Path;

use diag::Diagnostics;
use engine::{Document, DocumentSource, PlannedOperation, StageRequest, StagedDocument, json};
use serde_json::json;

use super::exports::bare;
use crate::arguments::{Eval, Global};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::view::report::Report;

/// The placeholder for a missing document. A document must declare something; this one is only
/// staged, never deployed.
const NO_DOCUMENT: &str =
    "version: 2023-04-20\nresources: {nothing: {type: random/uuid, spec: {}}}\n";
/// The placeholder as a Heat template.
const NO_TEMPLATE: &str = "heat_template_version: wallaby\n";

pub(crate) async fn run(
    arguments: Eval,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let reading = &arguments.reading;
    let mut source = source(reading.file.as_deref())?;
    let mut typed = arguments.expression.clone();
    if arguments.yaql {
        typed = json!({"yaql": {"expression": typed, "data": {}}}).to_string();
        if &*source.text == NO_DOCUMENT {
            source.text = NO_TEMPLATE.into();
        }
    }
    let session = open::session_in(global, &source.project_folder(), report)?;
    let (sender, parsed) = std::sync::mpsc::channel();
    let examine = move |document: &mut Document| {
        let (expr, found) = document.parse_expression(&typed);
        // The receiver waits until the document is staged.
        let _ = sender.send(expr);
        found
    };
    let request = StageRequest {
        instance: reading.flag.instance.clone(),
        inputs: reading.inputs.0.clone(),
        extra_check: Some(Box::new(examine)),
        ..StageRequest::new(source)
    };
    let StagedDocument { document, planned } = session.stage(request, report).await?;
    let PlannedOperation {
        shell, mut staged, ..
    } = planned;
    let Ok(expr) = parsed.recv() else {
        return Ok(Exit::Unusable);
    };
    let mut found = Diagnostics::new();
    let value = staged.evaluate(&expr, &shell, &mut found).await;
    report.diagnostics(&found, &document.files);
    let Some(value) = value.filter(|_| !found.has_errors()) else {
        return Ok(Exit::Unusable);
    };
    report.set_result(json::evaluated(&value, reading.secrets.reveal));
    if !report.is_json() {
        let value = if reading.secrets.reveal {
            value.revealed()
        } else {
            value
        };
        report.terminal.write_value(&format!("{}\n", bare(&value)));
    }
    Ok(Exit::Done)
}

/// Returns the named document, or the one in the current folder, or the placeholder.
pub(super) fn source(named: Option<&Path>) -> Result<DocumentSource, CommandError> {
    match named {
        None if open::document_in_folder()?.is_none() => {
            Ok(DocumentSource::of_text("(no document)", NO_DOCUMENT))
        }
        _ => open::source(named),
    }
}
