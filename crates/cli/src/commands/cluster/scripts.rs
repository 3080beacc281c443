//! `cyan cluster scripts`, and the scripts that other commands name.

use cluster_scripts::{Script, read, ready_made, ready_made_names, ready_made_text};
use diag::Files;
use serde_json::json;

use crate::arguments::Scripts;
use crate::exit::{CommandError, Exit};
use crate::view::report::Report;

pub(super) fn run(name: Option<&str>, report: &mut Report) -> Result<Exit, CommandError> {
    let Some(name) = name else {
        let names: Vec<&str> = ready_made_names().collect();
        report.set_result(json!({"scripts": names}));
        if !report.is_json() {
            for name in names {
                report.terminal.line(name);
            }
        }
        return Ok(Exit::Done);
    };
    let Some(text) = ready_made_text(name) else {
        return Err(unknown(name));
    };
    report.set_result(json!({"name": name, "text": text}));
    if !report.is_json() {
        report.terminal.write_result(text);
    }
    Ok(Exit::Done)
}

/// The scripts that options name: the named ones, then the ready-made ones.
///
/// # Errors
/// If a script cannot be read, or has a mistake, which is reported.
pub(super) fn wanted(
    wanted: &Scripts,
    report: &mut Report,
) -> Result<Option<Vec<Script>>, CommandError> {
    let Some(mut scripts) = named(&wanted.scripts, report)? else {
        return Ok(None);
    };
    if !wanted.no_ready_made {
        scripts.extend(ready_made_names().filter_map(ready_made).flatten());
    }
    Ok(Some(scripts))
}

/// The scripts with these names; `None` if one has a mistake, which is reported.
///
/// # Errors
/// If a file cannot be read, or a name is not known.
pub(super) fn named(
    names: &[String],
    report: &mut Report,
) -> Result<Option<Vec<Script>>, CommandError> {
    let mut scripts = Vec::new();
    let mut files = Files::new();
    let mut failed = false;
    for name in names {
        if let Some(found) = ready_made(name) {
            scripts.extend(found);
            continue;
        }
        let text = std::fs::read_to_string(name).map_err(|source| {
            let is_name = !name.contains(['/', '\\', '.']);
            match (source.kind(), is_name) {
                (std::io::ErrorKind::NotFound, true) => unknown(name),
                _ => CommandError::Unreadable {
                    name: name.clone(),
                    source,
                },
            }
        })?;
        let file = files.add(name.clone(), text.clone());
        let (found, mistakes) = read(file, &text);
        failed |= mistakes.has_errors();
        report.diagnostics(&mistakes, &files);
        scripts.extend(found);
    }
    Ok(Some(scripts).filter(|_| !failed))
}

fn unknown(name: &str) -> CommandError {
    let near = diag::nearest(name, ready_made_names());
    CommandError::Usage {
        message: format!("there is no ready-made script `{name}`"),
        help: Some(match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`cyan cluster scripts` lists them; a file is named with its ending".to_owned(),
        }),
    }
}
