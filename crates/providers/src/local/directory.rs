//! `local/directory`: one folder.
//!
//! An existing folder is used unchanged: the provider neither sets its mode nor removes it. A
//! folder that the provider created is removed only when it is empty.

use std::fs;
use std::io;
use std::path::Path;

use blueprint::Value;
use provider::{Applied, ErrorKind, Observed, Operation, ProviderError, ReadOutcome};

use super::existing::{self, Existing};
use super::own_paths::OwnPaths;
use super::place::{PathContext, entries, failed, id_of, text};
use super::requests::{OwnedApplyRequest, OwnedReadRequest, deleted};
use super::unix;
use super::whole_file::{self, PathContent};

const DEFAULT_MODE: u32 = 0o755;
/// Maximum number of remaining names in a warning.
const MOST_LISTED: usize = 10;

/// Whether the provider created a recorded folder.
pub(super) fn is_created(private: &Value) -> bool {
    private
        .get("made")
        .and_then(Value::as_bool)
        .unwrap_or(false)
}

/// The opaque data of a folder: whether the provider created it, and the number of folders above it
/// that were created for it.
fn ownership(created: bool, parents: usize) -> Value {
    let created = [("made".into(), Value::Bool(created))].into_iter();
    Value::map(created.chain(entries(&existing::ownership(true, parents))))
}

/// Compares the object at the path of a folder to be created with the folder.
pub(super) fn existing(own: &OwnPaths, path: &Path) -> Result<Existing, ProviderError> {
    Ok(match whole_file::inspect_path(path)? {
        PathContent::Nothing => existing::nothing_at(path, own),
        PathContent::Folder { .. } => Existing::Matching,
        _ => Existing::Different,
    })
}

/// Reads whether the folder exists, and its mode if the provider created it.
pub(super) fn read(
    place: &PathContext,
    own: &OwnPaths,
    recorded: OwnedReadRequest,
) -> Result<ReadOutcome, ProviderError> {
    let Some(path) = recorded.path(place)? else {
        return Ok(ReadOutcome::Unknown);
    };
    let PathContent::Folder { mode } = whole_file::inspect_path(&path)? else {
        return Ok(ReadOutcome::Absent);
    };
    let parents = existing::parents(&recorded.private);
    own.add_parents(&path, parents);
    let ours = match Existing::of(&recorded.private) {
        // An interrupted create made the folder.
        Existing::Nothing { .. } => true,
        _ => is_created(&recorded.private) || recorded.id.is_none() && own.has(&path),
    };
    let mut fields = entries(&recorded.inputs);
    if fields.is_empty() {
        fields.insert("path".into(), place.as_written(&path).into());
        fields.insert("mode".into(), whole_file::mode_text(mode).into());
    } else if ours {
        fields.insert(
            "mode".into(),
            whole_file::observed_mode(text(&recorded.inputs, "mode"), mode).into(),
        );
    }
    fields.insert("id".into(), Value::Text(id_of(&path)));
    existing::set_existed(&mut fields, &ownership(ours, 0));
    Ok(ReadOutcome::Present(Observed {
        id: id_of(&path),
        fields: Value::map(fields),
        private: ownership(ours, parents),
        expired: None,
        ..Observed::default()
    }))
}

/// Creates the folder, sets its mode, or removes it.
pub(super) fn apply(
    place: &PathContext,
    own: &OwnPaths,
    change: OwnedApplyRequest,
) -> Result<Applied, ProviderError> {
    let path = change.path(place)?;
    if change.operation == Operation::Delete {
        return delete(&path, own, is_created(&change.private));
    }
    let mode = match text(&change.desired, "mode") {
        Some(mode) => whole_file::parse_mode(mode).ok_or_else(|| {
            ProviderError::new(
                ErrorKind::Document,
                "`mode` must be octal digits such as `0755`",
            )
            .at("mode")
        })?,
        None => DEFAULT_MODE,
    };
    let mut warnings = Vec::new();
    let mut parents = existing::parents(&change.private);
    // Nothing existed when the plan was made, so another step of this run created the folder, for
    // example for a file in it.
    let was_nothing = matches!(Existing::of(&change.private), Existing::Nothing { .. });
    let mut found = whole_file::inspect_path(&path)?;
    let mut ours = is_created(&change.private) || own.has(&path) || was_nothing;
    if matches!(found, PathContent::Nothing) {
        let above = change
            .desired
            .get("parents")
            .and_then(Value::as_bool)
            .unwrap_or(true);
        match make(&path, above, own)? {
            Some(levels) => (ours, parents) = (true, levels.max(parents)),
            None => (ours, found) = (ours || own.has(&path), whole_file::inspect_path(&path)?),
        }
    }
    match found {
        PathContent::Nothing | PathContent::Folder { .. } if ours => {}
        PathContent::Nothing => {
            return Err(ProviderError::new(
                ErrorKind::Transient,
                "the folder was removed meanwhile",
            ));
        }
        PathContent::Folder { mode: found } if found != mode => {
            let (found, wanted) = (whole_file::mode_text(found), whole_file::mode_text(mode));
            let path = path.display();
            warnings.push(format!(
                "`{path}` was there before: it keeps its mode {found}, and {wanted} is not set"
            ));
        }
        PathContent::Folder { .. } => {}
        _ => return Err(whole_file::never_replaced(&path, "a file")),
    }
    if ours {
        unix::set_mode(&path, mode).map_err(|error| failed("set the mode of", &path, &error))?;
    }
    let id = change.id_at(&path);
    let mut fields = entries(&change.desired);
    fields.insert("id".into(), Value::Text(id.clone()));
    let private = ownership(ours, parents);
    existing::set_existed(&mut fields, &private);
    Ok(Applied::ready(id, Value::map(fields))
        .with_private(private)
        .with_warnings(warnings))
}

/// Creates the folder. Returns the number of [`whole_file::make_parents`], or `None` if the folder
/// exists by now.
fn make(path: &Path, parents: bool, own: &OwnPaths) -> Result<Option<usize>, ProviderError> {
    let levels = if parents {
        whole_file::make_parents(path, own)?
    } else {
        0
    };
    match own.create_folder(path) {
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
            unix::sync_folder_of(path).map_err(|error| failed("make the folder", path, &error))?;
            Ok(Some(levels))
        }
    }
}

fn delete(path: &Path, own: &OwnPaths, ours: bool) -> Result<Applied, ProviderError> {
    let kept = |why: String| {
        Ok(deleted(vec![format!(
            "`{}` is kept: {why}",
            path.display()
        )]))
    };
    match whole_file::inspect_path(path)? {
        PathContent::Nothing => {
            own.forget(path);
            unix::sync_folder_of(path).map_err(|error| failed("remove", path, &error))?;
            return Ok(deleted(Vec::new()));
        }
        PathContent::Folder { .. } => {}
        _ => return kept("it is no folder any more".into()),
    }
    if !ours {
        return kept("it was there before".into());
    }
    own.sweep(path);
    if let Some(left) = remove(path, own)? {
        if own.may_become_empty(path) {
            let text = format!("`{}` is not empty yet: {left}", path.display());
            return Err(ProviderError::new(ErrorKind::Transient, text));
        }
        return kept(format!("not made here and still in it: {left}"));
    }
    unix::sync_folder_of(path).map_err(|error| failed("remove", path, &error))?;
    own.forget(path);
    own.delete_emptied_parents(path);
    Ok(deleted(Vec::new()))
}

/// Removes the folder if it is empty. Otherwise returns its content, and marks it for deletion in
/// case the same run empties it.
fn remove(path: &Path, own: &OwnPaths) -> Result<Option<String>, ProviderError> {
    for _ in 0..2 {
        match fs::remove_dir(path) {
            Ok(()) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                own.delete_when_empty(path)
            }
            Err(error) => return Err(failed("remove", path, &error)),
        }
    }
    contents(path).map(Some).or_else(|error| {
        if error.kind == ErrorKind::NotFound {
            Ok(None)
        } else {
            Err(error)
        }
    })
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
    Ok(if more > 0 {
        format!("{list} and {more} more")
    } else {
        list
    })
}
