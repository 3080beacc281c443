//! The documents in a folder and all folders below it.
//!
//! Not here: the one document that is meant where none is named (`setup`); reading and checking them.

use std::io;
use std::path::{Path, PathBuf};

use diag::FileId;

use crate::exit::CommandError;

/// Endings of files that may hold a document.
const ENDINGS: [&str; 5] = ["yaml", "yml", "json", "jsonc", "template"];

/// Folders are not followed deeper than this.
const DEEPEST: usize = 64;

/// The documents in a folder and below it, sorted by path. Hidden files and folders are left out, and so are links to folders.
///
/// What counts is a name (`*.blueprint.yaml`), else the version that a document states. Environments, files of inputs and other
/// data are no documents.
pub(crate) fn documents_below(folder: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let unreadable = |source: io::Error| CommandError::Unreadable { name: folder.display().to_string(), source };
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = entry.path();
            if name.starts_with('.') {
                continue;
            }
            // Of a link this is the link itself.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if depth < DEEPEST {
                    folders.push((path, depth + 1));
                }
            } else if has_native_name(&name) || is_document(&path, &name) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a file is a document of the native dialect by its name.
pub(crate) fn has_native_name(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    extension == "blueprint" || is_text(name) && (stem == "blueprint" || stem.ends_with(".blueprint"))
}

/// Whether a file has an ending of texts in which documents are written.
pub(crate) fn is_text(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending.to_ascii_lowercase().as_str()))
}

/// Whether a dialect is certain that a file is a document of its own.
fn is_document(path: &Path, name: &str) -> bool {
    is_text(name) && with_tree(path, name, |document| dialects::Dialects::BUILT_IN.recognise(document)).unwrap_or(false)
}

/// What is told of a file by its tree; none for what is no text, or so large that nobody forgot to name it.
pub(crate) fn with_tree<T>(path: &Path, name: &str, tell: impl FnOnce(&dialects::Document<'_>) -> T) -> Option<T> {
    const MOST: u64 = 4 << 20;
    if !std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() <= MOST) {
        return None;
    }
    let text = std::fs::read_to_string(path).ok()?;
    let file = FileId::new(0);
    let (tree, _) = syntax::parse(file, &text, syntax::Format::of_name(name));
    Some(tell(&dialects::Document { file, name, text: &text, tree: &tree, around: &Default::default() }))
}
