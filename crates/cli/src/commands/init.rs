//! `cyan init`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use engine::discovery::documents_in;
use serde_json::json;

use crate::arguments::Init;
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::view::report::Report;

const DOCUMENT: &str = "blueprint.yaml";
const TEXT: &str = include_str!("init.blueprint.yaml");
const IGNORED: &str = ".cyan/";

pub(crate) fn run(arguments: Init, report: &mut Report) -> Result<Exit, CommandError> {
    let folder = arguments.folder.unwrap_or_else(|| PathBuf::from("."));
    std::fs::create_dir_all(&folder).map_err(|source| CommandError::Unwritable {
        name: folder.display().to_string(),
        source,
    })?;
    // A second document in the folder would make every command ask which one is meant.
    let others =
        documents_in(&folder, &open::dialects()).map_err(|source| CommandError::Unreadable {
            name: folder.display().to_string(),
            source,
        })?;
    let first = others.into_iter().next();
    let made = match first {
        Some(_) => false,
        None => write_new(&folder.join(DOCUMENT))?,
    };
    let document = folder.join(first.as_deref().unwrap_or(DOCUMENT));
    let ignore = folder.join(".gitignore");
    let ignored = add_line(&ignore)?;
    report.set_result(
        json!({"document": document.display().to_string(), "made": made, "ignored": ignored}),
    );
    if !report.is_json() {
        report
            .terminal
            .line(document.strip_prefix(".").unwrap_or(&document).display());
        let at = if folder == Path::new(".") {
            String::new()
        } else {
            format!(" -C {}", folder.display())
        };
        report.terminal.write_message(match made {
            true => format!(
                "Written. `cyan{at} stage` shows what it would make, `cyan{at} deploy` makes it."
            ),
            false => "There is a document already; it stays as it is.".to_owned(),
        });
    }
    Ok(Exit::Done)
}

/// Writes the document unless it exists. Returns whether it was written.
fn write_new(path: &Path) -> Result<bool, CommandError> {
    let unwritable = |source| CommandError::Unwritable {
        name: path.display().to_string(),
        source,
    };
    match std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
    {
        Ok(mut file) => file
            .write_all(TEXT.as_bytes())
            .map_err(unwritable)
            .map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(unwritable(error)),
    }
}

/// Adds the line unless the file has it. Returns whether it was added.
fn add_line(path: &Path) -> Result<bool, CommandError> {
    let unwritable = |source| CommandError::Unwritable {
        name: path.display().to_string(),
        source,
    };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(source) => {
            return Err(CommandError::Unreadable {
                name: path.display().to_string(),
                source,
            });
        }
    };
    let is_there = |line: &str| [IGNORED, ".cyan", "/.cyan", "/.cyan/"].contains(&line.trim());
    if text.lines().any(is_there) {
        return Ok(false);
    }
    let gap = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .map_err(unwritable)?;
    writeln!(file, "{gap}{IGNORED}").map_err(unwritable)?;
    Ok(true)
}
