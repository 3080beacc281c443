//! `cyan fmt`.

use std::path::PathBuf;

use engine::DocumentSource;
use engine::format::{Formatted, formatted};
use serde_json::{Value as Json, json};

use crate::arguments::Fmt;
use crate::exit::{CommandError, Exit};
use crate::view::report::Report;
use crate::{open, registry};

pub(crate) fn run(arguments: Fmt, report: &mut Report) -> Result<Exit, CommandError> {
    let named: Vec<Option<PathBuf>> = if arguments.files.is_empty() {
        vec![None]
    } else {
        arguments.files.into_iter().map(Some).collect()
    };
    let mut results = Vec::new();
    let (mut broken, mut differs) = (false, false);
    for file in &named {
        let one = open::source(file.as_deref())
            .and_then(|source| format_document(&source, arguments.check, report));
        match one {
            Ok(Some((changes, result))) => {
                differs |= changes;
                results.push(result);
            }
            Ok(None) => broken = true,
            // With one file, its error is the error of the command.
            Err(error) if named.len() == 1 => return Err(error),
            Err(error) => {
                broken = true;
                report.error(&error);
            }
        }
    }
    report.set_result(json!({"files": results}));
    Ok(match (broken, arguments.check && differs) {
        (true, _) => Exit::Unusable,
        (false, true) => Exit::Differences,
        (false, false) => Exit::Done,
    })
}

/// Formats one document. Returns whether its text changes; `None` if the document cannot be parsed.
fn format_document(
    source: &DocumentSource,
    check: bool,
    report: &mut Report,
) -> Result<Option<(bool, Json)>, CommandError> {
    if source.is_folder {
        return Err(CommandError::Unfit {
            name: source.shown.clone(),
            what: "is a folder".to_owned(),
            help: Some("name the files in it".to_owned()),
        });
    }
    let Formatted {
        text,
        is_unformattable: is_left,
        found,
        files,
    } = formatted(source, &registry::dialects());
    report.diagnostics(&found, &files);
    let Some(text) = text else { return Ok(None) };
    if is_left {
        report_unformattable(source, report);
    }
    let changes = text != *source.text;
    let mut result = json!({"file": source.shown, "changes": changes});
    match &source.path {
        Some(path) if changes => {
            if !check {
                std::fs::write(path, &text).map_err(|error| CommandError::Unwritable {
                    name: source.shown.clone(),
                    source: error,
                })?;
            }
            if !report.is_json() {
                report.terminal.line(&source.shown);
            }
        }
        Some(_) => {}
        None if check => {
            if changes && !report.is_json() {
                report.terminal.line(&source.shown);
            }
        }
        None if report.is_json() => result["text"] = json!(text),
        None => report.terminal.write_value(&text),
    }
    Ok(Some((changes, result)))
}

/// Reports that a document is unchanged.
fn report_unformattable(source: &DocumentSource, report: &mut Report) {
    let words = format!(
        "`{}` stays as it is: it has a key or a value that is not rearranged (a key that is no plain text, one with an anchor or a tag)",
        source.shown
    );
    if !report.is_json() {
        report.terminal.write_message(words);
    }
}
