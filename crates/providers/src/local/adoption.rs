//! The check before a create: a matching resource of others is adopted, a different one is a
//! conflict.

use std::path::Path;

use blueprint::Value;
use provider::{Planned, ProviderError, RecordedObject};

use super::existing::{Existing, is_created_by_provider, nothing_at, parents};
use super::own_paths::OwnPaths;
use super::place::{PathContext, absolute, flag, text};
use super::whole_file::{self, PathContent};
use super::{archive, directory, file, symlink};

/// Checks the place of a resource before its create.
///
/// `replaced` are the inputs of the replaced resource, which is deleted first if it is at the same
/// place.
pub(super) fn plan(
    place: &PathContext,
    own: &OwnPaths,
    type_name: &str,
    replaced: &Value,
    desired: &Value,
) -> Result<Planned, ProviderError> {
    let Some(path) = text(desired, "path") else {
        return Ok(Planned::default());
    };
    let is_replaced = text(replaced, "path") == Some(path);
    let path = place.target_path(path)?;
    let before = if is_replaced || own.has(&path) {
        nothing_at(&path, own)
    } else {
        existing(place, own, type_name, &path, desired)?
    };
    Ok(Planned {
        adopts: before == Existing::Matching,
        private: before.private(),
        ..Planned::default()
    })
}

/// Compares the object at a path with the resource to be created there.
pub(super) fn existing(
    place: &PathContext,
    own: &OwnPaths,
    type_name: &str,
    path: &Path,
    desired: &Value,
) -> Result<Existing, ProviderError> {
    match type_name {
        "local/file" => file::existing(place, own, path, desired),
        "local/directory" => directory::existing(own, path),
        "local/archive" => archive::existing(place, own, path, desired),
        "local/symlink" => symlink::existing(own, path, desired),
        _ => Ok(Existing::NotChecked),
    }
}

/// The refusal of a create at a path with a different object. `None` if that object may be
/// replaced.
pub(super) fn refusal(
    type_name: &str,
    path: &Path,
    desired: &Value,
) -> Result<Option<ProviderError>, ProviderError> {
    let is_link = || {
        path.symlink_metadata()
            .is_ok_and(|found| found.is_symlink())
    };
    let kind = match (type_name, whole_file::inspect_path(path)?) {
        (_, PathContent::Nothing) => return Ok(None),
        ("local/directory", _) => return Ok(Some(whole_file::never_replaced(path, "a file"))),
        (_, PathContent::Folder { .. }) => {
            return Ok(Some(whole_file::never_replaced(path, "a folder")));
        }
        ("local/symlink", _) if is_link() => "a link",
        ("local/symlink", _) | (_, PathContent::File { .. }) => "a file",
        (_, PathContent::Other) => {
            return Ok(Some(whole_file::never_replaced(
                path,
                "something that is no file",
            )));
        }
    };
    Ok((!flag(desired, "overwrite")).then(|| whole_file::in_the_way(path, kind)))
}

/// Finds in the state the paths that earlier processes created.
pub(super) fn recall(root: &Path, own: &OwnPaths, objects: &[RecordedObject<'_>]) {
    for object in objects {
        let is_folder = match object.type_name {
            "local/directory" => true,
            "local/file" | "local/archive" | "local/symlink" => false,
            _ => continue,
        };
        let Some(path) = text(object.inputs, "path").or(object.id) else {
            continue;
        };
        let Ok(path) = absolute(&root.join(path)) else {
            continue;
        };
        own.add_parents(&path, parents(object.private));
        let is_ours = match (object.id, is_folder) {
            (Some(_), true) => directory::is_created(object.private),
            (Some(_), false) => is_created_by_provider(object.private),
            // A failed create may have created the folder. A file is written completely or not at
            // all.
            (None, true) => matches!(Existing::of(object.private), Existing::Nothing { .. }),
            (None, false) => false,
        };
        if is_ours {
            own.add(path);
        }
    }
}
