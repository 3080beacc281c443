//! The preflight of an operation: the files that it reads, and obstacles at its place.
//!
//! A preflight changes nothing. Its verdicts are those of the operations (`file`, `archive`,
//! `directory`, `symlink`), found before the first change of a plan.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use blueprint::{Name, Value};
use provider::{
    Operation, Preflight, PreflightRequest, ProviderError, SourceContent, SourceRead, SourceTexts,
};

use super::existing::Existing;
use super::own_paths::OwnPaths;
use super::place::{PathContext, failed, id_of, text};
use super::requests::unknown_type;
use super::whole_file::{self, PathContent};
use super::{adoption, archive, archive_list};
use crate::regular_file;

/// A preflight request, owned, so that another thread can work on it.
pub(super) struct OwnedRequest {
    operation: Operation,
    type_name: String,
    id: Option<String>,
    prior_inputs: Value,
    desired: Value,
    changing: Arc<BTreeSet<Name>>,
    text_limit: u64,
}

impl OwnedRequest {
    /// Copies a request.
    pub(super) fn of(request: &PreflightRequest<'_>) -> OwnedRequest {
        OwnedRequest {
            operation: request.operation,
            type_name: request.type_name.to_owned(),
            id: request.id.map(str::to_owned),
            prior_inputs: request.prior_inputs.clone(),
            desired: request.desired.clone(),
            changing: request.changing.clone(),
            text_limit: request.text_limit,
        }
    }

    /// Whether the plan creates or changes the resource at a path.
    fn changes(&self, path: &Path) -> bool {
        self.changing.contains(&id_of(path))
    }
}

/// Checks the sources of a spec and the place of the resource.
pub(super) fn preflight(
    place: &PathContext,
    own: &OwnPaths,
    request: &OwnedRequest,
) -> Result<Preflight, ProviderError> {
    let sources = match request.type_name.as_str() {
        _ if request.operation == Operation::Delete => Vec::new(),
        "local/file" => source_of_file(place, request),
        "local/archive" => source_of_archive(place, request),
        "local/directory" | "local/symlink" => Vec::new(),
        other => return Err(unknown_type(other)),
    };
    let spec = if request.operation == Operation::Delete {
        &request.prior_inputs
    } else {
        &request.desired
    };
    let path = match (text(spec, "path"), request.id.as_deref()) {
        (Some(path), _) => place.target_path(path)?,
        (None, Some(id)) if request.operation == Operation::Delete => place.target_path(id)?,
        _ => {
            return Ok(Preflight {
                sources,
                ..Preflight::default()
            });
        }
    };
    let id = id_of(&path);
    let existing = existing(request, &path)?;
    let is_own = request.id.as_deref() == Some(&*id) || request.changing.contains(&id);
    let refused = match request.operation {
        Operation::Create if !is_own => {
            match create_refusal(place, own, request, &path, &sources) {
                Ok(None) => blocking_parent(&path)
                    .filter(|above| !request.changes(above))
                    .map(|above| {
                        format!(
                            "cannot make the folder `{}`: a file is in the way",
                            above.display()
                        )
                    }),
                Ok(Some(error)) | Err(error) => Some(error.message),
            }
        }
        _ => None,
    };
    Ok(Preflight {
        id: Some(id),
        sources,
        existing,
        refused,
    })
}

fn source_of_file(place: &PathContext, request: &OwnedRequest) -> Vec<SourceRead> {
    let Some(written) = text(&request.desired, "source") else {
        return Vec::new();
    };
    let content = match place.source(written) {
        Ok(path) if request.changes(&path) => SourceContent::Open,
        Ok(path) => match whole_file::digest_of(&path) {
            Ok(digest) => SourceContent::Digest(digest.into()),
            Err(error) => SourceContent::Unreadable(error.message),
        },
        Err(error) => SourceContent::Unreadable(error.message),
    };
    let texts = match &content {
        SourceContent::Digest(digest) => source_texts(place, request, digest),
        SourceContent::Open | SourceContent::Unreadable(_) => None,
    };
    vec![SourceRead {
        field: "source".into(),
        name: written.into(),
        content,
        texts,
    }]
}

/// The text of the source with this digest and the text that an update replaces. What only its
/// owner may read is not shown.
fn source_texts(
    place: &PathContext,
    request: &OwnedRequest,
    digest: &Value,
) -> Option<SourceTexts> {
    let desired = &request.desired;
    let is_wanted = request.text_limit > 0 && request.operation == Operation::Update;
    // The object may still have a secret that the last spec wrote.
    let is_secret = desired.has_secret() || request.prior_inputs.has_secret();
    let is_private = text(desired, "mode")
        .and_then(whole_file::parse_mode)
        .is_some_and(is_private);
    if !is_wanted || is_secret || is_private {
        return None;
    }
    let read = |path: std::path::PathBuf| shown_text(&path, request.text_limit);
    let before = read(place.target_path(text(desired, "path")?).ok()?)?;
    let after = read(place.source(text(desired, "source")?).ok()?)?;
    let is_same_source = digest.as_text() == Some(whole_file::digest(after.as_bytes()).as_str());
    (before != after && is_same_source).then(|| SourceTexts {
        before: before.into(),
        after: after.into(),
    })
}

/// The whole text of a file that others than its owner may read; `None` if it is longer than
/// `limit` bytes, or no text.
fn shown_text(path: &Path, limit: u64) -> Option<String> {
    match whole_file::inspect_path(path).ok()? {
        PathContent::File { mode, size, .. } if size <= limit && !is_private(mode) => {}
        _ => return None,
    }
    let mut bytes = Vec::new();
    let file = regular_file::open(path).ok()?;
    file.take(limit + 1).read_to_end(&mut bytes).ok()?;
    let is_text = bytes.len() as u64 <= limit && !bytes.contains(&0);
    String::from_utf8(bytes).ok().filter(|_| is_text)
}

/// Whether only the owner has access with these permission bits.
fn is_private(mode: u32) -> bool {
    mode & 0o077 == 0
}

fn source_of_archive(place: &PathContext, request: &OwnedRequest) -> Vec<SourceRead> {
    let spec = &request.desired;
    let Some(written) = text(spec, "root") else {
        return Vec::new();
    };
    let unknown = ["include", "exclude", "entries", "path"]
        .iter()
        .any(|name| spec.get(name).is_some_and(Value::has_unknown));
    let content = if unknown || archive_list::takes_any(place, spec, &request.changing) {
        SourceContent::Open
    } else {
        match archive::digest_now(place, spec) {
            Ok(digest) => SourceContent::Digest(digest),
            Err(error) => SourceContent::Unreadable(error.message),
        }
    };
    vec![SourceRead {
        field: "root".into(),
        name: written.into(),
        content,
        texts: None,
    }]
}

/// The object at the path: its kind, and its content if the operation would replace or remove it.
fn existing(request: &OwnedRequest, path: &Path) -> Result<Value, ProviderError> {
    if request.type_name == "local/symlink"
        && let Ok(target) = std::fs::read_link(path)
    {
        return Ok(Value::map([(
            "link",
            Value::from(target.display().to_string()),
        )]));
    }
    Ok(match whole_file::inspect_path(path)? {
        PathContent::Nothing => match blocking_parent(path) {
            Some(above) => Value::map([("above", Value::from(above.display().to_string()))]),
            None => Value::Null,
        },
        PathContent::File { mode, link, .. } => {
            let kind = if link { "link" } else { "file" };
            // No other check compares the content that a create replaces.
            let content = match request.operation {
                Operation::Create => Value::from(whole_file::digest_of(path)?),
                _ => Value::Null,
            };
            Value::map([
                ("kind", kind.into()),
                ("mode", whole_file::mode_text(mode).into()),
                ("sha256", content),
            ])
        }
        PathContent::Folder { .. } if request.operation == Operation::Delete => {
            let mut names = Vec::new();
            for entry in std::fs::read_dir(path).map_err(|error| failed("list", path, &error))? {
                let entry = entry.map_err(|error| failed("list", path, &error))?;
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
            names.sort_unstable();
            Value::map([
                ("kind", "folder".into()),
                ("holds", Value::list(names.into_iter().map(Value::from))),
            ])
        }
        PathContent::Folder { .. } => Value::map([("kind", Value::from("folder"))]),
        PathContent::Other => Value::map([("kind", Value::from("other"))]),
    })
}

/// The refusal that the create would return.
fn create_refusal(
    place: &PathContext,
    own: &OwnPaths,
    request: &OwnedRequest,
    path: &Path,
    sources: &[SourceRead],
) -> Result<Option<ProviderError>, ProviderError> {
    // If the plan writes a source before the create, the source may or may not match the existing
    // content by then.
    let is_open = sources
        .iter()
        .any(|source| source.content == SourceContent::Open);
    match adoption::existing(place, own, &request.type_name, path, &request.desired)? {
        Existing::Nothing { .. } => Ok(None),
        Existing::Matching if !is_open => Ok(None),
        _ => adoption::refusal(&request.type_name, path, &request.desired),
    }
}

/// The nearest existing path above if it is not a folder; `None` if it is a folder.
fn blocking_parent(path: &Path) -> Option<&Path> {
    for folder in path.ancestors().skip(1) {
        // If a path cannot be read, one of its parents may be a file.
        if let Ok(found) = std::fs::metadata(folder) {
            return (!found.is_dir()).then_some(folder);
        }
    }
    None
}
