//! The files of an archive and their order.
//!
//! Not here: the formats (`archive`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use blueprint::{Name, Value};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use provider::{ErrorKind, ProviderError};

use super::place::{PathContext, failed, id_of, text};
use super::unix;

/// An entry of an archive.
pub(super) enum ArchiveEntry {
    /// A file of this machine.
    File { path: PathBuf, executable: bool },
    /// A text from the document.
    Text(String),
}

/// The entries of an archive by name, sorted. Names use `/`.
pub(super) struct ArchiveEntries {
    pub(super) parts: BTreeMap<String, ArchiveEntry>,
    /// Warnings about files that match the globs and are left out.
    pub(super) warnings: Vec<String>,
}

/// A set of globs. A glob that names a folder matches everything in it.
///
/// # Errors
/// At `field`, for an invalid pattern.
pub(super) fn globs(patterns: &[&str], field: &str) -> Result<GlobSet, ProviderError> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let pattern = pattern
            .strip_prefix("./")
            .unwrap_or(pattern)
            .trim_end_matches('/');
        let glob = GlobBuilder::new(pattern)
            .literal_separator(true)
            .build()
            .map_err(|error| {
                ProviderError::new(
                    ErrorKind::Document,
                    format!("`{pattern}` is no pattern: {}", error.kind()),
                )
                .at(field)
            })?;
        set.add(glob);
    }
    set.build()
        .map_err(|error| ProviderError::new(ErrorKind::Document, error.to_string()).at(field))
}

fn texts<'a>(spec: &'a Value, field: &str) -> Vec<&'a str> {
    spec.get(field)
        .and_then(Value::as_list)
        .unwrap_or_default()
        .iter()
        .filter_map(Value::as_text)
        .collect()
}

/// The entries that a spec selects. `own` is the path of the archive itself, which is left out.
pub(super) fn parts(
    place: &PathContext,
    spec: &Value,
    own: &Path,
) -> Result<ArchiveEntries, ProviderError> {
    let mut found = ArchiveEntries {
        parts: BTreeMap::new(),
        warnings: Vec::new(),
    };
    if let Some(root) = text(spec, "root") {
        let root = place.source(root)?;
        if !root.is_dir() {
            let text = format!("there is no folder `{}` to take files from", root.display());
            return Err(ProviderError::new(ErrorKind::NotFound, text).at("root"));
        }
        let include = texts(spec, "include");
        let walk = FolderWalk {
            place,
            own,
            everything: include.is_empty(),
            include: globs(&include, "include")?,
            exclude: globs(&texts(spec, "exclude"), "exclude")?,
        };
        walk.folder(&root, "", false, &mut found)?;
    }
    for (name, written) in entry_names(spec)? {
        let Some(entry) = written.as_text() else {
            continue;
        };
        found
            .parts
            .insert(name, ArchiveEntry::Text(entry.to_owned()));
    }
    match nested(found.parts.keys()) {
        Some((file, below)) => Err(cannot_be_both(file, below).at("entries")),
        None => Ok(found),
    }
}

/// The names of the entries that a spec writes itself, normalised, each with its value.
///
/// # Errors
/// At the entry, if an archive must not have such a name, or if two names are the same.
pub(super) fn entry_names(spec: &Value) -> Result<BTreeMap<String, &Value>, ProviderError> {
    let mut names = BTreeMap::new();
    let entries = spec.get("entries").map(Value::unmarked);
    for (written, entry) in entries.and_then(Value::as_map).into_iter().flatten() {
        let refused = |why: String| {
            ProviderError::new(ErrorKind::Document, format!("`{written}` {why}")).at("entries")
        };
        let name = normalised(written).map_err(|why| refused(why.to_owned()))?;
        if names.insert(name.clone(), entry).is_some() {
            return Err(refused(format!(
                "is the same entry as another one: `{name}`"
            )));
        }
    }
    match nested(names.keys()) {
        Some((file, below)) => Err(cannot_be_both(file, below).at("entries")),
        None => Ok(names),
    }
}

/// The name of an entry without `.` parts and repeated slashes. The error is a phrase.
fn normalised(name: &str) -> Result<String, &'static str> {
    if name.ends_with('/') {
        return Err("names a folder, and an entry is a file");
    }
    if name.contains('\0') {
        return Err("contains a character that names of files do not have");
    }
    // On some systems a backslash separates folders too.
    if name.split(['/', '\\']).any(|part| part == "..") {
        return Err("leads out of the folder into which the archive is unpacked");
    }
    let parts: Vec<&str> = name
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    if parts.is_empty() {
        return Err("is no name of a file");
    }
    Ok(parts.join("/"))
}

/// A file, and another one that would lie in it.
fn nested<'n>(names: impl Iterator<Item = &'n String>) -> Option<(&'n str, &'n str)> {
    let names: BTreeSet<&str> = names.map(String::as_str).collect();
    names.iter().copied().find_map(|name| {
        let mut above = name.rmatch_indices('/').map(|(at, _)| &name[..at]);
        let file = above.find(|above| names.contains(above))?;
        Some((file, name))
    })
}

fn cannot_be_both(file: &str, below: &str) -> ProviderError {
    let text = format!("`{file}` cannot be a file and the folder of `{below}`");
    ProviderError::new(ErrorKind::Document, text)
}

/// Whether a spec packs any of these paths.
pub(super) fn takes_any(place: &PathContext, spec: &Value, paths: &BTreeSet<Name>) -> bool {
    let Some(root) = text(spec, "root").and_then(|root| place.source(root).ok()) else {
        return false;
    };
    let include = texts(spec, "include");
    let (Ok(taken), Ok(left_out)) = (
        globs(&include, "include"),
        globs(&texts(spec, "exclude"), "exclude"),
    ) else {
        return false;
    };
    // The root may be a link. The ids of files in it begin with the target of the link.
    let within = id_of(&root.join("x"));
    let folder = within.trim_end_matches('x');
    let from = (Bound::Included(folder), Bound::Unbounded);
    let below = paths
        .range::<str, _>(from)
        .map_while(|path| path.strip_prefix(folder));
    let mut below = below.map(|name| {
        Path::new(name)
            .ancestors()
            .filter(|part| !part.as_os_str().is_empty())
    });
    below.any(|mut parts| {
        let is_left_out = parts.clone().any(|part| left_out.is_match(part));
        !is_left_out && (include.is_empty() || parts.any(|part| taken.is_match(part)))
    })
}

/// The error for a file that cannot be named in an answer or in an archive.
pub(super) fn not_utf8(path: &Path) -> ProviderError {
    let text = format!("the name of `{}` is not UTF-8", path.display());
    ProviderError::new(ErrorKind::Document, text)
}

struct FolderWalk<'a> {
    place: &'a PathContext,
    own: &'a Path,
    everything: bool,
    include: GlobSet,
    exclude: GlobSet,
}

impl FolderWalk<'_> {
    fn folder(
        &self,
        folder: &Path,
        prefix: &str,
        taken: bool,
        found: &mut ArchiveEntries,
    ) -> Result<(), ProviderError> {
        self.place.check_cancelled()?;
        for entry in fs::read_dir(folder).map_err(|error| failed("list", folder, &error))? {
            let entry = entry.map_err(|error| failed("list", folder, &error))?;
            let path = entry.path();
            let file_name = entry.file_name();
            let Some(file_name) = file_name.to_str() else {
                let shown = file_name.to_string_lossy();
                let name = match prefix {
                    "" => shown.into_owned(),
                    prefix => format!("{prefix}/{shown}"),
                };
                let is_wanted = taken || self.everything || self.include.is_match(&name);
                if is_wanted && !self.exclude.is_match(&name) {
                    return Err(not_utf8(&path).at("root"));
                }
                continue;
            };
            let name = if prefix.is_empty() {
                file_name.to_owned()
            } else {
                format!("{prefix}/{file_name}")
            };
            if path == self.own || self.exclude.is_match(&name) {
                continue;
            }
            let taken = taken || self.everything || self.include.is_match(&name);
            let kind = entry
                .file_type()
                .map_err(|error| failed("look at", &path, &error))?;
            if kind.is_dir() {
                self.folder(&path, &name, taken, found)?;
            } else if taken {
                // A link is packed as its target. Links to folders are left out, because they may
                // form cycles.
                let metadata =
                    fs::metadata(&path).map_err(|error| failed("look at", &path, &error))?;
                if metadata.is_file() {
                    let executable = unix::mode_of(&metadata) & 0o100 != 0;
                    found
                        .parts
                        .insert(name, ArchiveEntry::File { path, executable });
                } else {
                    found
                        .warnings
                        .push(format!("`{}` is left out: it is no file", path.display()));
                }
            }
        }
        Ok(())
    }
}
