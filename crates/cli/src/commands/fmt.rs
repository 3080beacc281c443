//! `cyan fmt`.

use std::path::PathBuf;

use engine::DocumentSource;
use engine::discovery::files_of;
use engine::format::{Formatted, formatted};
use serde_json::{Value as Json, json};

use crate::arguments::Fmt;
use crate::exit::{CommandError, Exit};
use crate::view::drawing::Drawing;
use crate::view::lines::write_difference;
use crate::view::report::Report;
use crate::{open, registry};

/// What is done with a formatted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FormatMode {
    /// It is written to its file.
    Write,
    /// The names of files that would change are printed.
    Names,
    /// The lines that would change are printed.
    Lines,
}

pub(crate) fn run(arguments: Fmt, report: &mut Report) -> Result<Exit, CommandError> {
    let mode = match (arguments.diff, arguments.check) {
        (true, _) => FormatMode::Lines,
        (false, true) => FormatMode::Names,
        (false, false) => FormatMode::Write,
    };
    let named = files(&arguments.files)?;
    let mut results = Vec::new();
    let (mut broken, mut differs) = (false, false);
    for file in &named {
        let one =
            open::source(file.as_deref()).and_then(|source| format_document(&source, mode, report));
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

/// The files of named documents and folders; `None` stands for the document in the current folder.
fn files(named: &[PathBuf]) -> Result<Vec<Option<PathBuf>>, CommandError> {
    if named.is_empty() {
        return Ok(vec![None]);
    }
    let mut files = Vec::new();
    for path in named {
        let found = files_of(path, &registry::dialects())?;
        if found.is_empty() {
            return Err(CommandError::Unfit {
                name: path.display().to_string(),
                what: "has no documents".to_owned(),
                help: Some("name a file, or a folder with documents".to_owned()),
            });
        }
        files.extend(found.into_iter().map(Some));
    }
    Ok(files)
}

/// Formats one document. Returns whether its text changes; `None` if the document cannot be parsed.
fn format_document(
    source: &DocumentSource,
    mode: FormatMode,
    report: &mut Report,
) -> Result<Option<(bool, Json)>, CommandError> {
    if source.is_folder {
        return Err(CommandError::Unfit {
            name: source.shown.clone(),
            what: "is a folder".to_owned(),
            help: Some("say `cyan fmt .` to format the files in it".to_owned()),
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
            if mode == FormatMode::Write {
                std::fs::write(path, &text).map_err(|error| CommandError::Unwritable {
                    name: source.shown.clone(),
                    source: error,
                })?;
            }
            show_change(source, &text, mode, report);
        }
        Some(_) => {}
        None if mode != FormatMode::Write => {
            if changes {
                show_change(source, &text, mode, report);
            }
        }
        None if report.is_json() => result["text"] = json!(text),
        None => report.terminal.write_value(&text),
    }
    Ok(Some((changes, result)))
}

/// Prints the name of a document that changes, and the lines if the mode is to print them.
fn show_change(source: &DocumentSource, text: &str, mode: FormatMode, report: &mut Report) {
    if report.is_json() {
        return;
    }
    report.terminal.line(&source.shown);
    if mode == FormatMode::Lines {
        let drawing = Drawing {
            whole: true,
            ..Drawing::on(&report.terminal)
        };
        let mut lines = String::new();
        write_difference(&mut lines, &source.text, text, "  ", drawing);
        lines.push('\n');
        report.terminal.write_result(&lines);
    }
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
