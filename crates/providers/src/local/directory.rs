//! `local/directory`: one folder.
//!
//! A folder that is there already is used as it is: its mode is not touched, and it is not removed. A folder made here is
//! removed only once nothing is in it any more.

use std::fs;
use std::io;
use std::path::Path;

use blueprint::Value;
use provider::{Applied, ErrorKind, Operation, ProviderError, Seen};

use super::place::{Place, entries, failed, id_of, text};
use super::whole_file::{self, Found};
use super::{Change, Made, Recorded, unix};

const DEFAULT_MODE: u32 = 0o755;
/// How many left-over names a warning lists.
const MOST_LISTED: usize = 10;

fn made_here(private: &Value) -> bool {
    private.get("made").and_then(Value::as_bool).unwrap_or(false)
}

fn remembering(made: bool) -> Value {
    Value::map([("made", Value::Bool(made))])
}

/// Whether the folder is there, and its mode where it was made here.
pub(super) fn read(place: &Place, made: &Made, recorded: Recorded) -> Result<Seen, ProviderError> {
    let Some(path) = place.recorded(&recorded)? else { return Ok(Seen::CannotTell) };
    let Found::Folder { mode } = whole_file::look(&path)? else { return Ok(Seen::Gone) };
    let ours = if recorded.private.is_null() { made.has(&path) } else { made_here(&recorded.private) };
    let mut fields = entries(&recorded.inputs);
    if fields.is_empty() {
        fields.insert("path".into(), place.as_written(&path).into());
        fields.insert("mode".into(), whole_file::mode_text(mode).into());
    } else if ours {
        fields.insert("mode".into(), whole_file::observed_mode(text(&recorded.inputs, "mode"), mode).into());
    }
    fields.insert("id".into(), Value::Text(id_of(&path)));
    Ok(Seen::There { id: id_of(&path), fields: Value::map(fields), private: remembering(ours), expired: None })
}

/// Makes the folder, sets its mode, or removes it.
pub(super) fn apply(place: &Place, made: &Made, change: Change) -> Result<Applied, ProviderError> {
    let path = place.target(&change)?;
    if change.operation == Operation::Delete {
        return delete(&path, made, made_here(&change.private));
    }
    let mode = match text(&change.desired, "mode") {
        Some(mode) => whole_file::parse_mode(mode).ok_or_else(|| {
            ProviderError::new(ErrorKind::Document, "`mode` must be octal digits such as `0755`").at("mode")
        })?,
        None => DEFAULT_MODE,
    };
    let mut warnings = Vec::new();
    let ours = match whole_file::look(&path)? {
        Found::Nothing => {
            make(&path, change.desired.get("parents").and_then(Value::as_bool).unwrap_or(true))?;
            made.remember(path.clone());
            true
        }
        Found::Folder { mode: found } => {
            let ours = made_here(&change.private) || made.has(&path);
            if !ours && found != mode {
                let (found, wanted) = (whole_file::mode_text(found), whole_file::mode_text(mode));
                let path = path.display();
                warnings.push(format!("`{path}` was there before: it keeps its mode {found}, and {wanted} is not set"));
            }
            ours
        }
        _ => return Err(whole_file::never_replaced(&path, "a file")),
    };
    if ours {
        unix::set_mode(&path, mode).map_err(|error| failed("set the mode of", &path, &error))?;
    }
    let id = change.id_at(&path);
    let mut fields = entries(&change.desired);
    fields.insert("id".into(), Value::Text(id.clone()));
    Ok(Applied { id, fields: Value::map(fields), private: remembering(ours), stable: true, warnings })
}

fn make(path: &Path, parents: bool) -> Result<(), ProviderError> {
    if parents {
        whole_file::make_parents(path)?;
    }
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = format!(
                "cannot make `{}`: the folder above it is not there; make it first, or leave `parents` at true",
                path.display()
            );
            Err(ProviderError::new(ErrorKind::NotFound, text).at("path"))
        }
        Err(error) => Err(failed("make the folder", path, &error).at("path")),
        Ok(()) => Ok(()),
    }
}

fn delete(path: &Path, made: &Made, ours: bool) -> Result<Applied, ProviderError> {
    let kept = |why: String| Ok(super::deleted(vec![format!("`{}` is kept: {why}", path.display())]));
    match whole_file::look(path)? {
        Found::Nothing => {
            made.forget(path);
            return Ok(super::deleted(Vec::new()));
        }
        Found::Folder { .. } => {}
        _ => return kept("it is no folder any more".into()),
    }
    if !ours {
        return kept("it was there before".into());
    }
    made.forget(path);
    match fs::remove_dir(path) {
        Ok(()) => Ok(super::deleted(Vec::new())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(super::deleted(Vec::new())),
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
            kept(format!("not made here and still in it: {}", contents(path)?))
        }
        Err(error) => Err(failed("remove", path, &error)),
    }
}

fn contents(path: &Path) -> Result<String, ProviderError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| failed("list", path, &error))? {
        let entry = entry.map_err(|error| failed("list", path, &error))?;
        names.push(format!("`{}`", entry.file_name().to_string_lossy()));
    }
    names.sort_unstable();
    let more = names.len().saturating_sub(MOST_LISTED);
    names.truncate(MOST_LISTED);
    let list = names.join(", ");
    Ok(if more > 0 { format!("{list} and {more} more") } else { list })
}
