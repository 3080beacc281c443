//! What an operation would meet: files that it reads, and things that stand in its way.
//!
//! Nothing is changed here. The verdicts are those of the operations themselves (`file`, `archive`, `directory`,
//! `symlink`), found before the first change of a plan.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use blueprint::{Name, Value};
use provider::{Operation, Preflight, PreflightRequest, ProviderError, SourceContent, SourceRead};

use super::before::{self, Before};
use super::place::{Place, failed, id_of, text};
use super::whole_file::{self, Found};
use super::{Made, archive, archive_list, unknown_type};

/// A request, owned, for a thread of its own.
pub(super) struct Asked {
    operation: Operation,
    type_name: String,
    id: Option<String>,
    prior_inputs: Value,
    desired: Value,
    changing: Arc<BTreeSet<Name>>,
}

impl Asked {
    /// What is asked.
    pub(super) fn of(request: &PreflightRequest<'_>) -> Asked {
        Asked {
            operation: request.operation,
            type_name: request.type_name.to_owned(),
            id: request.id.map(str::to_owned),
            prior_inputs: request.prior_inputs.clone(),
            desired: request.desired.clone(),
            changing: request.changing.clone(),
        }
    }

    /// Whether the plan makes or changes the thing at a path.
    fn changes(&self, path: &Path) -> bool {
        self.changing.contains(&id_of(path))
    }
}

/// Looks at the sources of a spec and at the place of the thing.
pub(super) fn look(place: &Place, made: &Made, asked: &Asked) -> Result<Preflight, ProviderError> {
    let sources = match asked.type_name.as_str() {
        _ if asked.operation == Operation::Delete => Vec::new(),
        "local/file" => source_of_file(place, asked),
        "local/archive" => source_of_archive(place, asked),
        "local/directory" | "local/symlink" => Vec::new(),
        other => return Err(unknown_type(other)),
    };
    let spec = if asked.operation == Operation::Delete { &asked.prior_inputs } else { &asked.desired };
    let path = match (text(spec, "path"), asked.id.as_deref()) {
        (Some(path), _) => place.written(path)?,
        (None, Some(id)) if asked.operation == Operation::Delete => place.written(id)?,
        _ => return Ok(Preflight { sources, ..Preflight::default() }),
    };
    let id = id_of(&path);
    let standing = standing(asked, &path)?;
    let own = asked.id.as_deref() == Some(&*id) || asked.changing.contains(&id);
    let refused = match asked.operation {
        Operation::Create if !own => match in_the_way(place, made, asked, &path, &sources) {
            Ok(None) => above(&path)
                .filter(|above| !asked.changes(above))
                .map(|above| format!("cannot make the folder `{}`: a file is in the way", above.display())),
            Ok(Some(error)) | Err(error) => Some(error.message),
        },
        _ => None,
    };
    Ok(Preflight { id: Some(id), sources, standing, refused })
}

fn source_of_file(place: &Place, asked: &Asked) -> Vec<SourceRead> {
    let Some(written) = text(&asked.desired, "source") else { return Vec::new() };
    let content = match place.source(written) {
        Ok(path) if asked.changes(&path) => SourceContent::Open,
        Ok(path) => match whole_file::digest_of(&path) {
            Ok(digest) => SourceContent::Digest(digest.into()),
            Err(error) => SourceContent::Unreadable(error.message),
        },
        Err(error) => SourceContent::Unreadable(error.message),
    };
    vec![SourceRead { field: "source".into(), name: written.into(), content }]
}

fn source_of_archive(place: &Place, asked: &Asked) -> Vec<SourceRead> {
    let spec = &asked.desired;
    let Some(written) = text(spec, "root") else { return Vec::new() };
    let unknown =
        ["include", "exclude", "entries", "path"].iter().any(|name| spec.get(name).is_some_and(Value::has_unknown));
    let content = if unknown || archive_list::takes_any(place, spec, &asked.changing) {
        SourceContent::Open
    } else {
        match archive::digest_now(place, spec) {
            Ok(digest) => SourceContent::Digest(digest),
            Err(error) => SourceContent::Unreadable(error.message),
        }
    };
    vec![SourceRead { field: "root".into(), name: written.into(), content }]
}

/// What stands at the path: its kind, and as much of it as the operation would replace or remove.
fn standing(asked: &Asked, path: &Path) -> Result<Value, ProviderError> {
    if asked.type_name == "local/symlink"
        && let Ok(target) = std::fs::read_link(path)
    {
        return Ok(Value::map([("link", Value::from(target.display().to_string()))]));
    }
    Ok(match whole_file::look(path)? {
        Found::Nothing => match above(path) {
            Some(above) => Value::map([("above", Value::from(above.display().to_string()))]),
            None => Value::Null,
        },
        Found::File { mode, link, .. } => {
            let kind = if link { "link" } else { "file" };
            // What a create replaces is seen by nobody else.
            let content = match asked.operation {
                Operation::Create => Value::from(whole_file::digest_of(path)?),
                _ => Value::Null,
            };
            Value::map([("kind", kind.into()), ("mode", whole_file::mode_text(mode).into()), ("sha256", content)])
        }
        Found::Folder { .. } if asked.operation == Operation::Delete => {
            let mut names = Vec::new();
            for entry in std::fs::read_dir(path).map_err(|error| failed("list", path, &error))? {
                let entry = entry.map_err(|error| failed("list", path, &error))?;
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
            names.sort_unstable();
            Value::map([("kind", "folder".into()), ("holds", Value::list(names.into_iter().map(Value::from)))])
        }
        Found::Folder { .. } => Value::map([("kind", Value::from("folder"))]),
        Found::Other => Value::map([("kind", Value::from("other"))]),
    })
}

/// The refusal of a create, as the operation itself would give it.
fn in_the_way(
    place: &Place,
    made: &Made,
    asked: &Asked,
    path: &Path,
    sources: &[SourceRead],
) -> Result<Option<ProviderError>, ProviderError> {
    // A source that is written before the create's turn may then be as what is there, or not.
    let is_open = sources.iter().any(|source| source.content == SourceContent::Open);
    match before::look(place, made, &asked.type_name, path, &asked.desired)? {
        Before::Nothing { .. } => Ok(None),
        Before::Wanted if !is_open => Ok(None),
        _ => before::refusal(&asked.type_name, path, &asked.desired),
    }
}

/// What stands above the path and is no folder.
fn above(path: &Path) -> Option<&Path> {
    for folder in path.ancestors().skip(1) {
        // Of what cannot be looked at, a part above may be a file.
        if let Ok(found) = std::fs::metadata(folder) {
            return (!found.is_dir()).then_some(folder);
        }
    }
    None
}
