//! Base folders of paths, threads for blocking work, and helpers for fields.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use blueprint::{Map, Name, Value};
use provider::{Call, CheckFindings, ErrorKind, FileAccess, ProviderError};
use tokio_util::sync::CancellationToken;

/// The two base folders of paths, and the cancellation of the call.
pub(super) struct PathContext {
    /// The folder of the root document. Paths of written files are relative to it.
    pub(super) root: Arc<Path>,
    /// The folder of the document that names a path. Paths of files that are read are relative to
    /// it.
    pub(super) folder: Arc<Path>,
    /// What the document may read.
    pub(super) files: FileAccess,
    /// The cancellation, checked between the parts of long work.
    pub(super) cancel: CancellationToken,
}

impl PathContext {
    /// The absolute path of a file that is written.
    pub(super) fn target_path(&self, path: &str) -> Result<PathBuf, ProviderError> {
        refuse_home_path(path)?;
        absolute(&self.root.join(path))
    }

    /// The absolute path of a file that is read.
    pub(super) fn source(&self, path: &str) -> Result<PathBuf, ProviderError> {
        refuse_home_path(path)?;
        self.files.refuse_remote("")?;
        if is_address(&self.folder) && !path.starts_with('/') {
            let text = format!(
                "`{path}` is relative to a remote document: only the function `file` reads remote files"
            );
            return Err(ProviderError::new(ErrorKind::Document, text));
        }
        absolute(&self.folder.join(path))
    }

    /// A path as a document would write it: relative to the root folder if it lies below it.
    pub(super) fn as_written(&self, path: &Path) -> String {
        let root = absolute(&self.root).unwrap_or_else(|_| self.root.to_path_buf());
        match path.strip_prefix(&root) {
            Ok(below) if !below.as_os_str().is_empty() => below.display().to_string(),
            _ => path.display().to_string(),
        }
    }

    /// Fails if the call is cancelled.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`] once the call is cancelled.
    pub(super) fn check_cancelled(&self) -> Result<(), ProviderError> {
        if self.cancel.is_cancelled() {
            Err(cancelled())
        } else {
            Ok(())
        }
    }
}

fn refuse_home_path(path: &str) -> Result<(), ProviderError> {
    match blueprint::home_mistake(path) {
        Some(why) => Err(ProviderError::new(ErrorKind::Document, why)),
        None => Ok(()),
    }
}

/// The fields that are paths.
const PATHS: [&str; 5] = ["path", "source", "root", "target", "workingDir"];

/// Refuses fields that read this machine, in a document that may not.
pub(super) fn check_access(
    files: FileAccess,
    type_name: &str,
    spec: &Value,
    mut checked: CheckFindings,
) -> CheckFindings {
    let reading: &[&str] = match type_name {
        "local/file" => &["source"],
        "local/archive" => &["root"],
        "local/command" => &["create", "update", "read", "delete"],
        _ => &[],
    };
    if let Some(why) = files.refusal()
        && let Some(field) = reading.iter().find(|field| is_set(spec, field))
    {
        checked.refuse(*field, why);
    }
    checked
}

/// The folder in which a command runs that names none, and to which the folder that it names is
/// relative. A remote document has no folder on this machine.
pub(super) fn folder_of_commands(call: &Call) -> &Arc<Path> {
    if is_address(&call.folder) {
        &call.root
    } else {
        &call.folder
    }
}

/// Whether the folder of a document is an address.
fn is_address(folder: &Path) -> bool {
    folder.to_str().is_some_and(|folder| folder.contains("://"))
}

/// Refuses paths that begin with `~` or `$HOME`, which only a shell expands.
pub(super) fn check_paths(spec: &Value, mut checked: CheckFindings) -> CheckFindings {
    for field in PATHS {
        if let Some(why) = text(spec, field).and_then(blueprint::home_mistake) {
            checked.refuse(
                field,
                format!("{why}; a data source of type `local/environment` reads `HOME`"),
            );
        }
    }
    checked
}

/// The absolute path without `.` and `..`, computed from its text alone, so that it does not depend
/// on existing files.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, ProviderError> {
    let path = std::path::absolute(path).map_err(|error| failed("find", path, &error))?;
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    Ok(plain)
}

/// Runs file work on another thread.
///
/// A cancellation does not interrupt work that has begun, because it ends soon and its outcome must
/// be known. The deadline still applies, because a file system may hang.
pub(super) async fn run_blocking<T: Send + 'static>(
    call: &Call,
    work: impl FnOnce(&PathContext) -> Result<T, ProviderError> + Send + 'static,
) -> Result<T, ProviderError> {
    if call.cancel.is_cancelled() {
        return Err(cancelled());
    }
    let place = PathContext {
        root: call.root.clone(),
        folder: call.folder.clone(),
        files: call.files,
        cancel: call.cancel.clone(),
    };
    let handle = tokio::task::spawn_blocking(move || work(&place));
    let joined = match call.deadline {
        Some(deadline) => tokio::time::timeout(deadline, handle)
            .await
            .map_err(|_| deadline_exceeded())?,
        None => handle.await,
    };
    joined.unwrap_or_else(|_| {
        Err(ProviderError::new(
            ErrorKind::Permanent,
            "the work on this object was aborted",
        ))
    })
}

/// The error of a cancelled call.
pub(super) fn cancelled() -> ProviderError {
    ProviderError::new(ErrorKind::Cancelled, "cancelled")
}

/// The error of a call after its deadline.
pub(super) fn deadline_exceeded() -> ProviderError {
    ProviderError::new(ErrorKind::TimedOut, "not done in the time given")
}

/// An error of the operating system as a phrase: `cannot write `/x`: permission denied`.
pub(super) fn failed(verb: &str, path: &Path, error: &io::Error) -> ProviderError {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        io::ErrorKind::AlreadyExists => ErrorKind::Conflict,
        io::ErrorKind::Interrupted | io::ErrorKind::TimedOut | io::ErrorKind::ResourceBusy => {
            ErrorKind::Transient
        }
        _ => ErrorKind::Permanent,
    };
    let words = match error.kind() {
        // `/proc` says so of every new file.
        io::ErrorKind::NotFound if ["write into", "make the folder"].contains(&verb) => {
            let mut existing = path.ancestors();
            let folder = existing.find(|above| above.is_dir()).unwrap_or(path);
            format!("`{}` takes no new files or folders", folder.display())
        }
        io::ErrorKind::NotFound => "it is not there".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotADirectory => "a part of the path is not a folder".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        _ => error.to_string(),
    };
    ProviderError::new(kind, format!("cannot {verb} `{}`: {words}", path.display()))
}

/// The text in a field, if it holds one.
pub(super) fn text<'a>(fields: &'a Value, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_text)
}

/// The boolean in a field, or false.
pub(super) fn flag(fields: &Value, name: &str) -> bool {
    fields.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// Whether a field is set. An unknown value counts as set.
pub(super) fn is_set(fields: &Value, name: &str) -> bool {
    fields.get(name).is_some_and(|value| !value.is_null())
}

/// A copy of the fields as a map.
pub(super) fn entries(fields: &Value) -> Map {
    fields.as_map().cloned().unwrap_or_default()
}

/// The path of a resource that its spec shows, without a look at existing links; `None` if the spec
/// has no known path. Resources with the same path have the same id.
pub(super) fn id_shown(root: &Path, spec: &Value) -> Option<Name> {
    let path = absolute(&root.join(text(spec, "path")?)).ok()?;
    Some(path.display().to_string().into())
}

/// The canonical path of a resource, which is its id. Links to folders are resolved; the last part
/// is not, because the resource itself may be a link.
pub(super) fn id_of(path: &Path) -> Name {
    canonical(path).display().to_string().into()
}

fn canonical(path: &Path) -> PathBuf {
    for folder in path.ancestors().skip(1) {
        // Folders that do not exist yet will be plain folders.
        if let Ok(real) = folder.canonicalize() {
            return path
                .strip_prefix(folder)
                .map_or_else(|_| path.to_owned(), |rest| real.join(rest));
        }
    }
    path.to_owned()
}
