//! Test files, and the documents that they are about.

use std::io;
use std::path::{Path, PathBuf};

use dialect::Dialects;

use crate::discovery::{documents_in, is_folder_document};
use crate::document_source::DocumentSource;
use crate::error::Error;
use crate::paths::folder_of;

/// The ends of the names of test files.
const ENDS: [&str; 2] = [".test.yaml", ".test.yml"];

/// The ends of the names of the documents that a test file can be about, in the order in which they
/// are looked for. The last one is a folder.
const DOCUMENT_ENDS: [&str; 11] = [
    ".blueprint.yaml",
    ".blueprint.yml",
    ".blueprint.json",
    ".blueprint.jsonc",
    ".blueprint",
    ".yaml",
    ".yml",
    ".json",
    ".jsonc",
    ".template",
    "",
];

/// The maximum depth of folders.
const DEEPEST: usize = 64;

/// Whether a file has the name of a test file.
pub fn is_test_file(path: &Path) -> bool {
    stem(path).is_some()
}

/// The name of a test file without its end.
fn stem(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let stem = ENDS.iter().find_map(|end| name.strip_suffix(end))?;
    (!stem.is_empty() && !stem.starts_with('.')).then_some(stem)
}

/// Returns the test files that paths name: files, and all test files in folders and below them,
/// sorted. Hidden files and folders and symbolic links to folders are passed over, and so is a file
/// that configures an instance of a document beside it.
///
/// # Errors
/// If a folder cannot be read, or a path names no test file.
pub fn test_files(paths: &[PathBuf], dialects: &Dialects) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = found.len();
            collect(path, dialects, &mut found)?;
            if found.len() == before {
                return Err(Error::Unfit {
                    name: path.display().to_string(),
                    what: "has no test file in it or below it".to_owned(),
                    help: Some("name a test file `NAME.test.yaml`, beside its document".to_owned()),
                });
            }
        } else if path.exists() && !is_test_file(path) {
            return Err(Error::Unfit {
                name: path.display().to_string(),
                what: "has not the name of a test file".to_owned(),
                help: Some("name a test file `NAME.test.yaml`, beside its document".to_owned()),
            });
        } else {
            found.push(path.clone());
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|path| seen.insert(path.clone()));
    Ok(found)
}

/// Adds the test files in a folder and below it, sorted.
fn collect(folder: &Path, dialects: &Dialects, found: &mut Vec<PathBuf>) -> Result<(), Error> {
    let mut own = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let unreadable = |source: io::Error| Error::Unreadable {
            name: folder.display().to_string(),
            source,
        };
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if name.starts_with('.') {
                continue;
            }
            // For a symbolic link this is the type of the link.
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && depth < DEEPEST {
                folders.push((shortened(&folder, &name), depth + 1));
            } else if !is_folder {
                names.push(name);
            }
        }
        let tests = names.iter().filter(|name| is_test_file(Path::new(name)));
        let tests = tests.filter(|name| !configures_instance(name, &names, dialects));
        own.extend(tests.map(|name| shortened(&folder, name)));
    }
    own.sort();
    found.append(&mut own);
    Ok(())
}

/// The path of an entry of a folder, without `./` before it.
fn shortened(folder: &Path, name: &str) -> PathBuf {
    match folder == Path::new(".") {
        true => PathBuf::from(name),
        false => folder.join(name),
    }
}

/// Whether a file gives the values of an instance of one of the documents beside it.
fn configures_instance(name: &str, names: &[String], dialects: &Dialects) -> bool {
    let mut others = names.iter();
    others.any(|other| {
        let instance_in = dialects.companion_names(other);
        instance_in.is_some_and(|instance_in| instance_in(name).is_some())
    })
}

/// Returns the document that a test file is about: the one that it names; else the one beside it
/// with its name, such as `site.blueprint.yaml` for `site.test.yaml`; else the only document of the
/// folder. `named` is a path relative to the folder of the test file.
///
/// # Errors
/// If there is no such document, or it cannot be read.
pub fn document_of_test(
    test: &Path,
    named: Option<&str>,
    dialects: &Dialects,
) -> Result<DocumentSource, Error> {
    if let Some(named) = named {
        return DocumentSource::find(Some(&beside(test, named)), dialects);
    }
    let stem = stem(test).unwrap_or_default();
    for end in DOCUMENT_ENDS {
        let path = beside(test, &format!("{stem}{end}"));
        if path.is_file() || end.is_empty() && is_folder_document(&path, dialects) {
            return DocumentSource::find(Some(&path), dialects);
        }
    }
    let folder = folder_of(test);
    let names = documents_in(&folder, dialects).map_err(|source| Error::Unreadable {
        name: folder.display().to_string(),
        source,
    })?;
    match names.as_slice() {
        [one] => DocumentSource::find(Some(&beside(test, one)), dialects),
        _ => Err(Error::Unfit {
            name: test.display().to_string(),
            what: format!("is about no document: there is no `{stem}.blueprint.yaml` beside it"),
            help: Some(
                "give it the name of its document, or name the document with `document: FILE`"
                    .to_owned(),
            ),
        }),
    }
}

/// A path relative to the folder of a test file.
pub(super) fn beside(test: &Path, path: &str) -> PathBuf {
    match test.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.join(path),
        _ => PathBuf::from(path),
    }
}
