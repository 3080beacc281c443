//! `local/directory`: one folder.
//!
//! A folder that is there already is used as it is: its mode is not touched, and it is not removed. A folder made here is
//! removed only once nothing is in it any more.

use std::fs;
use std::io;
use std::path::Path;

use blueprint::Value;
use provider::{Applied, ErrorKind, Operation, ProviderError, Seen};

use super::before::{self, Before};
use super::place::{Place, entries, failed, id_of, text};
use super::whole_file::{self, Found};
use super::{Change, Made, Recorded, unix};

const DEFAULT_MODE: u32 = 0o755;
/// How many left-over names a warning lists.
const MOST_LISTED: usize = 10;

/// Whether a recorded folder is ours.
pub(super) fn made_here(private: &Value) -> bool {
    private.get("made").and_then(Value::as_bool).unwrap_or(false)
}

fn remembering(made: bool, parents: usize) -> Value {
    let made = [("made".into(), Value::Bool(made))].into_iter();
    Value::map(made.chain(entries(&before::ownership(true, parents))))
}

/// What is at the place of a folder that is to be created.
pub(super) fn before(made: &Made, path: &Path) -> Result<Before, ProviderError> {
    Ok(match whole_file::look(path)? {
        Found::Nothing => before::nothing_at(path, made),
        Found::Folder { .. } => Before::Wanted,
        _ => Before::Other,
    })
}

/// Whether the folder is there, and its mode where it was made here.
pub(super) fn read(place: &Place, made: &Made, recorded: Recorded) -> Result<Seen, ProviderError> {
    let Some(path) = place.recorded(&recorded)? else { return Ok(Seen::CannotTell) };
    let Found::Folder { mode } = whole_file::look(&path)? else { return Ok(Seen::Gone) };
    let parents = before::parents(&recorded.private);
    made.remember_parents(&path, parents);
    let ours = match Before::of(&recorded.private) {
        // A create that was cut off made it.
        Before::Nothing { .. } => true,
        _ => made_here(&recorded.private) || recorded.id.is_none() && made.has(&path),
    };
    let mut fields = entries(&recorded.inputs);
    if fields.is_empty() {
        fields.insert("path".into(), place.as_written(&path).into());
        fields.insert("mode".into(), whole_file::mode_text(mode).into());
    } else if ours {
        fields.insert("mode".into(), whole_file::observed_mode(text(&recorded.inputs, "mode"), mode).into());
    }
    fields.insert("id".into(), Value::Text(id_of(&path)));
    before::tell(&mut fields, &remembering(ours, 0));
    Ok(Seen::There { id: id_of(&path), fields: Value::map(fields), private: remembering(ours, parents), expired: None })
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
    let mut parents = before::parents(&change.private);
    // Nothing was there when the plan was made: what is there now comes from another step of this run, as the folder above its file.
    let was_nothing = matches!(Before::of(&change.private), Before::Nothing { .. });
    let mut found = whole_file::look(&path)?;
    let mut ours = made_here(&change.private) || made.has(&path) || was_nothing;
    if matches!(found, Found::Nothing) {
        let above = change.desired.get("parents").and_then(Value::as_bool).unwrap_or(true);
        match make(&path, above, made)? {
            Some(levels) => (ours, parents) = (true, levels.max(parents)),
            None => (ours, found) = (ours || made.has(&path), whole_file::look(&path)?),
        }
    }
    match found {
        Found::Nothing | Found::Folder { .. } if ours => {}
        Found::Nothing => return Err(ProviderError::new(ErrorKind::Transient, "the folder was removed meanwhile")),
        Found::Folder { mode: found } if found != mode => {
            let (found, wanted) = (whole_file::mode_text(found), whole_file::mode_text(mode));
            let path = path.display();
            warnings.push(format!("`{path}` was there before: it keeps its mode {found}, and {wanted} is not set"));
        }
        Found::Folder { .. } => {}
        _ => return Err(whole_file::never_replaced(&path, "a file")),
    }
    if ours {
        unix::set_mode(&path, mode).map_err(|error| failed("set the mode of", &path, &error))?;
    }
    let id = change.id_at(&path);
    let mut fields = entries(&change.desired);
    fields.insert("id".into(), Value::Text(id.clone()));
    let private = remembering(ours, parents);
    before::tell(&mut fields, &private);
    Ok(Applied { id, fields: Value::map(fields), private, stable: true, warnings })
}

/// Makes the folder, and says what [`whole_file::make_parents`] says; nothing where somebody else has made it meanwhile.
fn make(path: &Path, parents: bool, made: &Made) -> Result<Option<usize>, ProviderError> {
    let levels = if parents { whole_file::make_parents(path, made)? } else { 0 };
    match made.create_folder(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = format!(
                "cannot make `{}`: the folder above it is not there; make it first, or leave `parents` at true",
                path.display()
            );
            Err(ProviderError::new(ErrorKind::NotFound, text).at("path"))
        }
        Err(error) => Err(failed("make the folder", path, &error).at("path")),
        Ok(()) => {
            whole_file::sync_folder_of(path).map_err(|error| failed("make the folder", path, &error))?;
            Ok(Some(levels))
        }
    }
}

fn delete(path: &Path, made: &Made, ours: bool) -> Result<Applied, ProviderError> {
    let kept = |why: String| Ok(super::deleted(vec![format!("`{}` is kept: {why}", path.display())]));
    match whole_file::look(path)? {
        Found::Nothing => {
            made.forget(path);
            whole_file::sync_folder_of(path).map_err(|error| failed("remove", path, &error))?;
            return Ok(super::deleted(Vec::new()));
        }
        Found::Folder { .. } => {}
        _ => return kept("it is no folder any more".into()),
    }
    if !ours {
        return kept("it was there before".into());
    }
    made.sweep(path);
    if let Some(left) = remove(path, made)? {
        if made.may_become_empty(path) {
            let text = format!("`{}` is not empty yet: {left}", path.display());
            return Err(ProviderError::new(ErrorKind::Transient, text));
        }
        return kept(format!("not made here and still in it: {left}"));
    }
    whole_file::sync_folder_of(path).map_err(|error| failed("remove", path, &error))?;
    made.forget(path);
    made.remove_waiting_folder_of(path);
    Ok(super::deleted(Vec::new()))
}

/// Removes the folder, or says what is still in it. What is in it may be deleted later in the same run; then it goes too.
fn remove(path: &Path, made: &Made) -> Result<Option<String>, ProviderError> {
    for _ in 0..2 {
        match fs::remove_dir(path) {
            Ok(()) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => made.wait_for(path),
            Err(error) => return Err(failed("remove", path, &error)),
        }
    }
    contents(path).map(Some).or_else(|error| if error.kind == ErrorKind::NotFound { Ok(None) } else { Err(error) })
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
