//! `cyan validate`: checks named documents, and all documents in named folders.

use std::path::{Path, PathBuf};

use engine::discovery::documents_below;
use engine::paths::absolute;
use engine::{Config, Document, DocumentSource, Inputs, raise_warnings};
use serde_json::{Value as Json, json};

use crate::arguments::{Global, Validate};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::view::report::Report;

pub(crate) async fn run(arguments: Validate, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let mut named: Vec<Named> = Vec::new();
    let mut has_folder = false;
    for file in &arguments.files {
        if file.is_dir() {
            has_folder = true;
            let below = documents_below(file, &open::dialects())?;
            if below.is_empty() {
                return Err(CommandError::NoDocument { folder: file.clone() });
            }
            named.extend(below.into_iter().map(|path| Named { path: Some(path), folder: Some(file.clone()) }));
        } else {
            named.push(Named { path: Some(file.clone()), folder: None });
        }
    }
    if arguments.files.is_empty() {
        named.push(Named { path: None, folder: None });
    }
    let mut checked: Vec<Checked> = Vec::new();
    for one in &named {
        let found = open::source(one.path.as_deref()).and_then(|source| source.with(&arguments.inputs.0.environments));
        let outcome = match found {
            Ok(source) => check(source, one, named.len(), &arguments.inputs.0, global, report).await,
            Err(error) => Err(error),
        };
        match outcome {
            Ok(one) => checked.push(one),
            // With one file, its error is the error of the command.
            Err(error) if named.len() == 1 => return Err(error),
            // A mistake in the command line applies to all documents.
            Err(error @ CommandError::Usage { .. }) => return Err(error),
            Err(error) => {
                report.error(&error);
                let file = one.path.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
                let why = match error {
                    CommandError::Reported | CommandError::Catalogs(_) => "not checked".to_owned(),
                    _ => error.to_string().trim_start_matches(&format!("`{file}` ")).to_owned(),
                };
                checked.push(Checked { file, errors: 1, why: vec![why], ..Checked::default() });
            }
        }
    }
    let summary = has_folder || checked.len() > 1;
    if summary && !report.is_json() {
        summarise(&checked, report);
    }
    let valid = checked.iter().filter(|one| one.errors == 0).count();
    let documents: Vec<Json> = checked.iter().map(Checked::json).collect();
    let mut result = json!({"documents": documents});
    if summary {
        result["summary"] = json!({"documents": checked.len(), "valid": valid, "invalid": checked.len() - valid});
    }
    report.set_result(result);
    Ok(if valid == checked.len() { Exit::Done } else { Exit::Unusable })
}

/// A document that was named, or found in a named folder.
struct Named {
    path: Option<PathBuf>,
    folder: Option<PathBuf>,
}

impl Named {
    /// The configuration of the document: in its folder, or for a document found in a named folder also upward to that
    /// folder.
    fn config(&self, global: &Global, beside: &Path) -> Result<Config, CommandError> {
        let config = Config::load(global.config.as_deref(), beside)?;
        let Some(top) = self.folder.as_deref().map(absolute).filter(|_| config.is_usual()) else { return Ok(config) };
        for folder in beside.ancestors().skip(1).take_while(|folder| folder.starts_with(&top)) {
            let above = Config::load(global.config.as_deref(), folder)?;
            if !above.is_usual() {
                return Ok(above);
            }
        }
        Ok(config)
    }
}

/// The result for one document.
#[derive(Default)]
struct Checked {
    file: String,
    errors: usize,
    warnings: usize,
    /// The codes of its errors, each once; or the reason why it could not be read.
    why: Vec<String>,
    declares: Json,
}

impl Checked {
    fn json(&self) -> Json {
        json!({
            "file": self.file,
            "valid": self.errors == 0,
            "errors": self.errors,
            "warnings": self.warnings,
            "why": self.why,
            "declares": self.declares,
        })
    }
}

/// Writes how many documents are valid, and which are not.
fn summarise(checked: &[Checked], report: &mut Report) {
    let wrong: Vec<&Checked> = checked.iter().filter(|one| one.errors > 0).collect();
    let valid = checked.len() - wrong.len();
    let mut text = format!("\n{}: {valid} valid, {} not valid", number(checked.len(), "document"), wrong.len());
    for one in wrong {
        text.push_str(&format!("\n  {}: {} ({})", one.file, counted(one.errors, one.warnings), one.why.join(", ")));
    }
    report.terminal.line(text);
}

async fn check(
    source: DocumentSource,
    named: &Named,
    count: usize,
    inputs: &Inputs,
    global: &Global,
    report: &mut Report,
) -> Result<Checked, CommandError> {
    let config = named.config(global, &source.folder)?;
    let session = open::for_checks(global, config, &source.folder, report)?;
    let before = report.counted();
    let (mut document, given) = session.check_given(source, inputs, report).await?;
    if named.folder.is_some() {
        // The inputs are meant for the documents of the folder that declare them.
        document.found.retain(|one| one.code.name != dialects::codes::UNDECLARED_VARIABLE.name);
    }
    document.check_offline(&given).await;
    raise_warnings(session.strict, &mut document.found);
    report.diagnostics(&document.found, &document.files);
    let after = report.counted();
    let (errors, warnings) = (after.0 - before.0, after.1 - before.1);
    let shown = &document.source.shown;
    if !report.is_json() {
        if errors > 0 {
            let gap = if count > 1 { "\n" } else { "" };
            report.terminal.say(format!("`{shown}` has {}{gap}", counted(errors, warnings)));
        } else {
            let warned = if warnings > 0 { format!(" ({})", number(warnings, "warning")) } else { String::new() };
            report.terminal.line(format!("`{shown}` is valid: {}{warned}", contents(&document)));
        }
    }
    // Only machine output has this list, and a large document declares many names.
    let declares = document.checked.as_ref().filter(|_| report.is_json()).map(|checked| {
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
    let file = document.source.path.as_deref().map(|path| path.display().to_string());
    let mut why: Vec<String> = Vec::new();
    for one in document.found.iter().filter(|one| one.is_error()) {
        if !why.iter().any(|code| code == one.code.name) {
            why.push(one.code.name.to_owned());
        }
    }
    Ok(Checked {
        file: file.unwrap_or_else(|| shown.clone()),
        errors,
        warnings,
        why,
        declares: declares.unwrap_or(Json::Null),
    })
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
