//! Finds documents in folders, by their names and by their content.
//!
//! Not here: reading and checking them.

use std::io;
use std::path::{Component, Path, PathBuf};

use diag::FileId;
use dialect::{Dialects, Document, LoadContext, certainty};
use run::shell::read_at_most;

use crate::error::Error;
use crate::paths::{absolute, folder_of};
use crate::text::read_listing;

/// File extensions of texts that may be documents.
const ENDINGS: [&str; 5] = ["yaml", "yml", "json", "jsonc", "template"];

/// The maximum depth of folders.
const DEEPEST: usize = 64;

/// Returns the documents in a folder and below it, sorted by path. Ignores hidden files, hidden
/// folders and symbolic links to folders.
///
/// A folder is a document if a dialect recognises it by its entries, and by its files if other folders
/// may have such entries, too. Its files are then a part of it. A folder that a dialect recognises only
/// to refuse it is passed over, with everything below it.
/// A file is a document if it has the name of one (`*.blueprint.yaml`) or if a dialect recognises
/// its content. Environments, files of inputs and other data are no documents.
pub fn documents_below(folder: &Path, dialects: &Dialects) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let unreadable = |source: io::Error| Error::Unreadable {
            name: folder.display().to_string(),
            source,
        };
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let path = entry.path();
            if name.starts_with('.') {
                continue;
            }
            // For a symbolic link this is the type of the link.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                match folder_content(&path, dialects) {
                    FolderContent::Document => found.push(path),
                    FolderContent::Refused => {}
                    FolderContent::Other if depth < DEEPEST => folders.push((path, depth + 1)),
                    FolderContent::Other => {}
                }
            } else if has_native_name(&name) || is_document(&path, &name, dialects) {
                found.push(path);
            }
        }
    }
    let parts: Vec<PathBuf> = found
        .iter()
        .filter_map(|path| Some((path, path.file_name()?.to_str()?)))
        .flat_map(|(path, name)| {
            let parts = dialects.project_files(name);
            parts
                .map(|part| path.with_file_name(part))
                .collect::<Vec<_>>()
        })
        .collect();
    let programs: Vec<PathBuf> = found
        .iter()
        .filter_map(|path| Some(absolute(&program_of(path, dialects)?)))
        .collect();
    found.retain(|path| !parts.contains(path) && !programs.contains(&absolute(path)));
    found.sort();
    Ok(found)
}

/// Returns the files that belong to a path, sorted: the path itself if it is no folder, the texts of a
/// folder that is a document, else the documents in the folder and below it, with the files of
/// those that are folders.
///
/// # Errors
/// If a folder cannot be read.
pub fn files_of(path: &Path, dialects: &Dialects) -> Result<Vec<PathBuf>, Error> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    if is_folder_document(path, dialects) {
        return texts_in(path).map_err(|source| Error::Unreadable {
            name: path.display().to_string(),
            source,
        });
    }
    let mut files = Vec::new();
    for document in documents_below(path, dialects)? {
        files.extend(files_of(&document, dialects)?);
    }
    Ok(files)
}

/// The texts directly in a folder that may be documents, without hidden ones, sorted.
fn texts_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| !name.starts_with('.') && is_text(name)) && path.is_file() {
            texts.push(path);
        }
    }
    texts.sort();
    Ok(texts)
}

/// The folders above a program in which the file of its project is looked for.
const PROJECT_DEPTH: usize = 8;

/// The file of the project, in a folder above a file, that says that its program is this file.
pub(crate) fn project_above(path: &Path, dialects: &Dialects) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let names: Vec<&str> = dialects.project_files(name).collect();
    let own = absolute(path);
    let folders = own.ancestors().skip(2).take(PROJECT_DEPTH);
    let mut places = folders.flat_map(|folder| names.iter().map(|name| folder.join(name)));
    let project = places.find(|file| file.is_file())?;
    let program = program_of(&project, dialects)?;
    (absolute(&program) == own).then_some(project)
}

/// The program of a project that stands in another folder than the file of the project; `None` for
/// every other file, and if there is no such program.
pub(crate) fn program_of(project: &Path, dialects: &Dialects) -> Option<PathBuf> {
    let name = project.file_name()?.to_str()?;
    // Other files are not read.
    dialects.companion_names(name)?;
    let programs = dialects.programs_of(name, &small_text(project)?);
    let mut programs = programs.into_iter().map(|path| {
        // Without `.` and `..`, so that a path is compared by its text.
        let whole = project.with_file_name(path.as_ref());
        whole
            .components()
            .filter(|part| *part != Component::CurDir)
            .collect()
    });
    programs.find(|program: &PathBuf| program.is_file())
}

/// What a folder is for the dialects.
#[derive(Clone, Copy, PartialEq)]
enum FolderContent {
    /// A document.
    Document,
    /// A document that its dialect refuses, with the reason.
    Refused,
    /// No document.
    Other,
}

/// Whether a path is a folder that a dialect recognises as a document.
pub fn is_folder_document(path: &Path, dialects: &Dialects) -> bool {
    folder_content(path, dialects) != FolderContent::Other
}

/// Whether a dialect recognises a folder with this listing.
pub(crate) fn is_recognised_folder(path: &Path, listing: &str, dialects: &Dialects) -> bool {
    content_of_listing(path, listing, dialects) != FolderContent::Other
}

fn folder_content(path: &Path, dialects: &Dialects) -> FolderContent {
    if !dialects.read_folders() || !path.is_dir() {
        return FolderContent::Other;
    }
    match read_listing(path) {
        Ok(listing) => content_of_listing(path, &listing, dialects),
        Err(_) => FolderContent::Other,
    }
}

/// Finds out what a folder with this listing is. If its names are not certain, its files are looked at:
/// none may be a document of another dialect, and if the names are common ones, one must be a document
/// of the same dialect.
fn content_of_listing(path: &Path, listing: &str, dialects: &Dialects) -> FolderContent {
    let context = LoadContext {
        is_folder: true,
        ..LoadContext::NONE
    };
    let shown = path.to_string_lossy();
    let parsed = dialects.parse(FileId::new(0), &shown, listing, &context);
    let document = parsed.document();
    let Some(dialect) = parsed.dialect else {
        return FolderContent::Other;
    };
    let sure = dialect.recognise(&document);
    if sure >= certainty::SURE {
        return FolderContent::Document;
    }
    let mut has_own = sure >= certainty::NAMED;
    for entry in document.entries().unwrap_or_default() {
        let name = entry.name.as_ref();
        if entry.is_folder || !is_text(name) && !has_native_name(name) {
            continue;
        }
        let found = with_trees(&path.join(name), name, dialects, |file| {
            dialects.detect(file)
        });
        match found.flatten() {
            Some(found) if found.name() == dialect.name() => has_own = true,
            Some(found) if found.shares_folders_of() == Some(dialect.name()) => has_own = true,
            Some(_) => return FolderContent::Other,
            None => {}
        }
    }
    match (sure <= certainty::REFUSED, has_own) {
        (true, _) => FolderContent::Refused,
        (false, true) => FolderContent::Document,
        (false, false) => FolderContent::Other,
    }
}

/// Returns the folder that the document at a path belongs to: a folder itself, that of the project of a
/// program, or the folder that contains the file.
pub fn folder_of_document(path: &Path, dialects: &Dialects) -> PathBuf {
    if is_folder_document(path, dialects) {
        return absolute(path);
    }
    folder_of(project_above(path, dialects).as_deref().unwrap_or(path))
}

/// Whether a file is a document of the native dialect by its name.
pub fn has_native_name(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return false;
    };
    extension == "blueprint"
        || is_text(name) && (stem == "blueprint" || stem.ends_with(".blueprint"))
}

/// Whether a file has the extension of a text that may be a document.
pub fn is_text(name: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| ENDINGS.contains(&ending.to_ascii_lowercase().as_str()))
}

/// Whether a dialect certainly recognises a file.
fn is_document(path: &Path, name: &str, dialects: &Dialects) -> bool {
    is_text(name)
        && with_trees(path, name, dialects, |document| {
            dialects.recognise(document)
        })
        .unwrap_or(false)
}

/// Returns the result of `visit` for the trees of a file; `None` for a file that is no text or has
/// more than 4 MiB.
fn with_trees<T>(
    path: &Path,
    name: &str,
    dialects: &Dialects,
    visit: impl FnOnce(&Document<'_>) -> T,
) -> Option<T> {
    let text = small_text(path)?;
    let file = FileId::new(0);
    let context = LoadContext::NONE;
    let parsed = dialects.parse(file, name, &text, &context);
    Some(visit(&parsed.document()))
}

/// The text of a file that is small enough to be looked at; `None` for every other file.
fn small_text(path: &Path) -> Option<String> {
    const MOST: u64 = 4 << 20;
    if !std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() <= MOST) {
        return None;
    }
    // The file may grow while it is read.
    String::from_utf8(read_at_most(std::fs::File::open(path).ok()?, MOST).ok()??).ok()
}

/// Returns the names of the documents in a folder: the files with a native name or, if there are
/// none, the files that a dialect recognises.
pub fn documents_in(within: &Path, dialects: &Dialects) -> io::Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    let mut others: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(within)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if entry.path().is_dir() || name.starts_with('.') {
            continue;
        }
        if has_native_name(&name) {
            names.push(name);
        } else if is_text(&name) {
            others.push(name);
        }
    }
    if names.is_empty() {
        others.retain(|name| is_recognised(&within.join(name), name, dialects));
        names = others;
    }
    let parts: Vec<&str> = names
        .iter()
        .flat_map(|name| dialects.project_files(name))
        .collect();
    names.retain(|name| !parts.contains(&name.as_str()));
    names.sort();
    Ok(names)
}

fn is_recognised(path: &Path, name: &str, dialects: &Dialects) -> bool {
    with_trees(path, name, dialects, |document| {
        dialects.detect(document).is_some()
    })
    .unwrap_or(false)
}
