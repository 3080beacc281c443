//! `cyan validate`.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::arguments::{Global, Inputs, Validate};
use crate::catalogs;
use crate::config::Config;
use crate::exit::{CommandError, Exit};
use crate::setup::{Document, Source, raise_warnings};
use crate::view::report::Report;

pub(crate) async fn run(arguments: Validate, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let named: Vec<Option<PathBuf>> =
        if arguments.files.is_empty() { vec![None] } else { arguments.files.into_iter().map(Some).collect() };
    let mut results = Vec::new();
    let mut fine = true;
    for file in &named {
        match Source::find(file.as_deref()).and_then(|source| source.with(&arguments.inputs.environments)) {
            Ok(source) => {
                let (valid, result) = one(source, named.len(), &arguments.inputs, global, report).await?;
                fine &= valid;
                results.push(result);
            }
            // With one file there is nothing else to say.
            Err(error) if named.len() == 1 => return Err(error),
            Err(error) => {
                fine = false;
                report.error(&error);
            }
        }
    }
    report.set_result(json!({"documents": results}));
    Ok(if fine { Exit::Done } else { Exit::Unusable })
}

async fn one(
    source: Source,
    named: usize,
    inputs: &Inputs,
    global: &Global,
    report: &mut Report,
) -> Result<(bool, serde_json::Value), CommandError> {
    let config = Config::load(global.config.as_deref(), &source.folder)?;
    let strict = global.strict || config.strict;
    let offer = catalogs::offer(global, &config, report)?;
    let before = report.counted();
    let mut document = Document::check_given(source, &offer, &config, inputs, strict, report).await?;
    document.transformed().await;
    raise_warnings(strict, &mut document.found);
    report.diagnostics(&document.found, &document.files);
    let after = report.counted();
    let (errors, warnings) = (after.0 - before.0, after.1 - before.1);
    let shown = &document.source.shown;
    if !report.is_json() {
        if errors > 0 {
            let gap = if named > 1 { "\n" } else { "" };
            report.terminal.say(format!("`{shown}` has {}{gap}", counted(errors, warnings)));
        } else {
            let warned = if warnings > 0 { format!(" ({})", number(warnings, "warning")) } else { String::new() };
            report.terminal.line(format!("`{shown}` is valid: {}{warned}", contents(&document)));
        }
    }
    // Nobody else looks at it, and a large document names much.
    let declared = document.checked.as_ref().filter(|_| report.is_json()).map(|checked| {
        let blueprint = &checked.blueprint;
        json!({
            "dialect": blueprint.dialect,
            "variables": blueprint.inputs.keys().collect::<Vec<_>>(),
            "datasources": blueprint.data_sources.keys().collect::<Vec<_>>(),
            "resources": blueprint.resources.keys().collect::<Vec<_>>(),
            "children": blueprint.children.keys().collect::<Vec<_>>(),
            "exports": blueprint.exports.keys().collect::<Vec<_>>(),
        })
    });
    let file = document.source.path.as_deref().map(Path::display).map(|path| path.to_string());
    Ok((
        errors == 0,
        json!({"file": file.unwrap_or_else(|| shown.clone()), "valid": errors == 0, "declares": declared}),
    ))
}

fn number(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

fn counted(errors: usize, warnings: usize) -> String {
    let more = if warnings > 0 { format!(", {}", number(warnings, "warning")) } else { String::new() };
    format!("{}{more}", number(errors, "error"))
}

fn contents(document: &Document) -> String {
    let Some(checked) = &document.checked else { return String::new() };
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
    let below = document.documents.as_ref().map_or(&[][..], |documents| &documents.units()[1..]);
    if !below.is_empty() {
        let resources = below.iter().map(|unit| unit.blueprint().resources.len()).sum();
        let word = if below.len() == 1 { "child document" } else { "child documents" };
        parts.push(format!("{} {word} with {}", below.len(), number(resources, "resource")));
    }
    parts.join(", ")
}
