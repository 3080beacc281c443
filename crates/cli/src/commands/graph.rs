//! `cyan graph`.

use engine::graph::{picture, to_dot, to_json, to_mermaid, to_svg, to_text};
use engine::raise_warnings;

use crate::arguments::{Global, Graph, GraphFormat};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::view::report::Report;

pub(crate) async fn run(
    arguments: Graph,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let inputs = &arguments.inputs.0;
    let source = open::source(arguments.file.as_deref())?
        .with_companions(&open::dialects(), None)?
        .with(&inputs.environments)?;
    let session = open::session_in(global, &source.project_folder(), report)?;
    let (mut document, _) = session.check_given(source, inputs, report).await?;
    let transformed = document.transformed().await;
    raise_warnings(session.strict, &mut document.found);
    report.diagnostics(&document.found, &document.files);
    let made = transformed.as_ref().or(document.documents.as_ref());
    let Some(documents) = made.filter(|_| !document.found.has_errors()) else {
        return Ok(Exit::Unusable);
    };
    let title = format!("what needs what in {}", document.source.shown);
    let picture = picture(documents, title);
    report.set_result(to_json(&picture));
    if !report.is_json() {
        let text = match arguments.format {
            GraphFormat::Text => to_text(&picture),
            GraphFormat::Dot => to_dot(&picture),
            GraphFormat::Mermaid => to_mermaid(&picture),
            GraphFormat::Svg => to_svg(&picture),
        };
        report.terminal.write_result(&text);
    }
    Ok(Exit::Done)
}
