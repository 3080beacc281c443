//! `cyan validate`: checks named documents, and all documents in named folders.

use engine::validate::{DocumentVerdict, NamedDocument, Verdicts};
use engine::{CheckDepth, Document, DocumentSource, json};

use crate::arguments::{Global, Validate};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::view::report::Report;

pub(crate) async fn run(
    arguments: Validate,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let named = NamedDocument::of_paths(&arguments.files, &open::dialects())?;
    let has_folder = named.iter().any(|one| one.folder.is_some());
    let mut verdicts = Verdicts {
        documents: Vec::new(),
        has_folder,
    };
    for one in &named {
        let found = open::source(one.path.as_deref())
            .and_then(|source| source.with_companions(&open::dialects(), None))
            .and_then(|source| source.with(&arguments.inputs.0.environments));
        let outcome = match found {
            Ok(source) => check(source, one, named.len(), &arguments, global, report).await,
            Err(error) => Err(error),
        };
        match outcome {
            Ok(one) => verdicts.documents.push(one),
            // With one file, its error is the error of the command.
            Err(error) if named.len() == 1 => return Err(error),
            // A mistake in the command line applies to all documents.
            Err(error @ CommandError::Usage { .. }) => return Err(error),
            Err(error) => {
                report.error(&error);
                verdicts
                    .documents
                    .push(DocumentVerdict::unreadable(one, &error));
            }
        }
    }
    if verdicts.has_summary() && !report.is_json() {
        summarise(&verdicts, report);
    }
    report.set_result(json::verdicts(&verdicts));
    Ok(if verdicts.valid() == verdicts.documents.len() {
        Exit::Done
    } else {
        Exit::Unusable
    })
}

/// Writes the number of valid documents, and lists the invalid ones.
fn summarise(verdicts: &Verdicts, report: &mut Report) {
    let (all, valid) = (verdicts.documents.len(), verdicts.valid());
    let mut text = format!(
        "\n{}: {valid} valid, {} not valid",
        number(all, "document"),
        all - valid
    );
    for one in verdicts.documents.iter().filter(|one| !one.is_valid()) {
        text.push_str(&format!(
            "\n  {}: {} ({})",
            one.file,
            counted(one.errors, one.warnings),
            one.why.join(", ")
        ));
    }
    report.terminal.line(text);
}

async fn check(
    source: DocumentSource,
    named: &NamedDocument,
    count: usize,
    arguments: &Validate,
    global: &Global,
    report: &mut Report,
) -> Result<DocumentVerdict, CommandError> {
    let config = named.config(global.config.as_deref(), &source.project_folder())?;
    let config = open::with_provider_settings(config, global);
    let mut session = open::for_checks(global, config, &source.project_folder(), report)?;
    if arguments.deep {
        session.depth = CheckDepth::Clouds;
    }
    let inputs = &arguments.inputs.0;
    let (verdict, document) = session.verdict(named, source, inputs, report).await?;
    if !report.is_json() {
        let (shown, errors, warnings) = (&document.source.shown, verdict.errors, verdict.warnings);
        if errors > 0 {
            let gap = if count > 1 { "\n" } else { "" };
            report
                .terminal
                .write_message(format!("`{shown}` has {}{gap}", counted(errors, warnings)));
        } else {
            let warned = if warnings > 0 {
                format!(" ({})", number(warnings, "warning"))
            } else {
                String::new()
            };
            report.terminal.line(format!(
                "`{shown}` is valid: {}{warned}",
                contents(&document)
            ));
        }
    }
    Ok(verdict)
}

fn number(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

fn counted(errors: usize, warnings: usize) -> String {
    let more = if warnings > 0 {
        format!(", {}", number(warnings, "warning"))
    } else {
        String::new()
    };
    format!("{}{more}", number(errors, "error"))
}

fn contents(document: &Document) -> String {
    let Some(checked) = &document.checked else {
        return String::new();
    };
    let blueprint = &checked.blueprint;
    let mut parts = vec![number(blueprint.resources.len(), "resource")];
    for (count, word) in [
        (blueprint.data_sources.len(), "data source"),
        (blueprint.inputs.len(), "variable"),
        (blueprint.exports.len(), "export"),
    ] {
        if count > 0 {
            parts.push(number(count, word));
        }
    }
    let below = document
        .documents
        .as_ref()
        .map_or(&[][..], |documents| &documents.units()[1..]);
    if !below.is_empty() {
        let resources = below
            .iter()
            .map(|unit| unit.blueprint().resources.len())
            .sum();
        let word = if below.len() == 1 {
            "child document"
        } else {
            "child documents"
        };
        parts.push(format!(
            "{} {word} with {}",
            below.len(),
            number(resources, "resource")
        ));
    }
    parts.join(", ")
}
