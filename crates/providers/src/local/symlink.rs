//! `local/symlink`: one symbolic link. Its target stays as written; a relative target is relative
//! to the link's folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use blueprint::Value;
use provider::{Applied, ErrorKind, Observed, Operation, ProviderError, ReadOutcome};

use super::existing::{self, Existing};
use super::own_paths::OwnPaths;
use super::place::{PathContext, entries, failed, flag, id_of, text};
use super::requests::{OwnedApplyRequest, OwnedReadRequest, deleted};
use super::{temporary, unix, whole_file};

/// The object at the path of a link.
enum LinkPathContent {
    Nothing,
    Link(PathBuf),
    File,
    Folder,
}

fn inspect_link(path: &Path) -> Result<LinkPathContent, ProviderError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => fs::read_link(path)
            .map(LinkPathContent::Link)
            .map_err(|error| failed("read the link", path, &error)),
        Ok(found) if found.is_dir() => Ok(LinkPathContent::Folder),
        Ok(_) => Ok(LinkPathContent::File),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(LinkPathContent::Nothing)
        }
        Err(error) => Err(failed("look at", path, &error)),
    }
}

/// Compares the object at the path of a link to be created with the spec.
pub(super) fn existing(
    own: &OwnPaths,
    path: &Path,
    desired: &Value,
) -> Result<Existing, ProviderError> {
    Ok(match (inspect_link(path)?, text(desired, "target")) {
        (LinkPathContent::Nothing, _) => existing::nothing_at(path, own),
        (LinkPathContent::Link(there), Some(target)) if there == Path::new(target) => {
            Existing::Matching
        }
        (LinkPathContent::Link(_), None) => Existing::Undecided,
        _ => Existing::Different,
    })
}

/// Reads the current target of the link.
pub(super) fn read(
    place: &PathContext,
    own: &OwnPaths,
    recorded: OwnedReadRequest,
) -> Result<ReadOutcome, ProviderError> {
    let Some(path) = recorded.path(place)? else {
        return Ok(ReadOutcome::Unknown);
    };
    let private = own.ownership_of_read(&path, &recorded);
    let LinkPathContent::Link(target) = inspect_link(&path)? else {
        return Ok(ReadOutcome::Absent);
    };
    let target = target.display().to_string();
    let wanted = text(&recorded.inputs, "target");
    if recorded.id.is_none() && wanted != Some(target.as_str()) {
        return Ok(ReadOutcome::Absent);
    }
    let mut fields = entries(&recorded.inputs);
    if fields.is_empty() {
        fields.insert("path".into(), place.as_written(&path).into());
    }
    if wanted != Some(target.as_str()) {
        let secret = recorded.inputs.get("target").is_some_and(Value::has_secret);
        fields.insert("target".into(), Value::from(target).tainted(secret));
    }
    fields.insert("id".into(), Value::Text(id_of(&path)));
    existing::set_existed(&mut fields, &private);
    Ok(ReadOutcome::Present(Observed {
        id: id_of(&path),
        fields: Value::map(fields),
        private,
        expired: None,
        ..Observed::default()
    }))
}

/// Creates, changes or removes the link.
pub(super) fn apply(
    place: &PathContext,
    own: &OwnPaths,
    change: OwnedApplyRequest,
) -> Result<Applied, ProviderError> {
    let path = change.path(place)?;
    let found = inspect_link(&path)?;
    if change.operation == Operation::Delete {
        return match found {
            LinkPathContent::Nothing => {
                whole_file::remove(&path, own).map(|()| deleted(Vec::new()))
            }
            _ if !existing::is_created_by_provider(&change.private) => Ok(existing::kept(&path)),
            LinkPathContent::Link(_) => {
                whole_file::remove(&path, own).map(|()| deleted(Vec::new()))
            }
            _ => Ok(deleted(vec![format!(
                "`{}` is no link any more, so it was not made here: it is kept",
                path.display()
            )])),
        };
    }
    let target = text(&change.desired, "target").ok_or_else(|| {
        ProviderError::new(ErrorKind::Document, "`target` is missing").at("target")
    })?;
    let may_replace = change.operation == Operation::Update || flag(&change.desired, "overwrite");
    let is_up_to_date = match found {
        LinkPathContent::Nothing => false,
        LinkPathContent::Link(there) if there == Path::new(target) => true,
        LinkPathContent::Link(_) if may_replace => false,
        LinkPathContent::Link(_) => return Err(whole_file::in_the_way(&path, "a link")),
        LinkPathContent::File if flag(&change.desired, "overwrite") => false,
        LinkPathContent::File => return Err(whole_file::in_the_way(&path, "a file")),
        LinkPathContent::Folder => return Err(whole_file::never_replaced(&path, "a folder")),
    };
    let create = change.operation == Operation::Create;
    let mut private = if create {
        Value::Null
    } else {
        change.private.clone()
    };
    if !is_up_to_date {
        let parents = write_link(&path, target, own)?;
        if create {
            private = existing::ownership_of_created(parents, &change.private);
        }
    } else if create {
        private = own.ownership_of_found(&path, &change.private);
    }
    let id = change.id_at(&path);
    let mut fields = entries(&change.desired);
    fields.insert("id".into(), Value::Text(id.clone()));
    existing::set_existed(&mut fields, &private);
    Ok(Applied::ready(id, Value::map(fields)).with_private(private))
}

/// Creates the link under a temporary name and renames it, so that the link is never missing in
/// between. Returns the number of [`whole_file::make_parents`].
fn write_link(path: &Path, target: &str, own: &OwnPaths) -> Result<usize, ProviderError> {
    let parents = whole_file::make_parents(path, own)?;
    own.sweep_parent(path);
    let parent = path.parent().unwrap_or(Path::new("/"));
    let (folder, _lock) =
        temporary::folder_in(parent).map_err(|error| failed("write into", parent, &error))?;
    let temporary = folder.path().join("link");
    unix::link(Path::new(target), &temporary)
        .and_then(|()| fs::rename(&temporary, path))
        .map_err(|error| failed("make the link", path, &error))?;
    own.add(path.to_path_buf());
    // The folder is dropped before the sync, so that the sync covers its removal too.
    drop(folder);
    unix::sync_folder_of(path).map_err(|error| failed("make the link", path, &error))?;
    Ok(parents)
}
