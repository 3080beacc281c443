//! The text of a root document, or the listing of a root folder: named by a request or stored in a
//! state.
//!
//! Not here: reading standard input (`cli`); parsing the text.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use blueprint::Name;
use diag::{FileId, Files};
use dialect::{Companion, Dialects, LoadContext};
use state::InstanceName;

use crate::phases::PinnedDocument;

use crate::discovery::{documents_in, is_recognised_folder, program_of, project_above};
use crate::error::Error;
use crate::named_file::{NamedFile, is_read_once};
use crate::paths::{absolute, folder_of, relative};
use crate::place::StatePlace;
use crate::text::{read_listing, read_text};

/// The name of a text without a file, such as standard input or a pipe, in plans and states.
pub(crate) const WITHOUT_FILE: &str = "-";

/// A root document with its text.
#[derive(Clone, Debug)]
pub struct DocumentSource {
    /// Its name in messages.
    pub shown: String,
    /// The file; `None` for a text without a file, such as standard input.
    pub path: Option<PathBuf>,
    /// The absolute path of the folder that paths in the document are relative to.
    pub folder: PathBuf,
    /// Its text; for a folder, the listing of its entries.
    pub text: Arc<str>,
    /// Whether the document is a folder, which is then `folder`.
    pub is_folder: bool,
    /// Environment files, in order.
    pub environments: Vec<EnvironmentFile>,
    /// The file of its project, if that stands in another folder. Files of instances stand beside it.
    pub project: Option<PathBuf>,
}

/// An environment file of a root document.
#[derive(Clone, Debug)]
pub struct EnvironmentFile {
    /// Its name in messages.
    pub shown: String,
    /// Its absolute path.
    pub path: PathBuf,
    /// Its text.
    pub text: Arc<str>,
    /// Whether its lines may be shown. Others may hold secrets.
    pub is_shown: bool,
    /// Whether only a check reads it: values that need a secret of the user may be unknown.
    pub is_check: bool,
}

impl DocumentSource {
    /// Returns a document for a text without a file. Its paths are relative to the current folder.
    /// If the name has no ending, a text that begins with `{` is JSON with comments.
    pub fn of_text(shown: &str, text: impl Into<Arc<str>>) -> DocumentSource {
        let text = text.into();
        let has_ending = Path::new(shown).extension().is_some();
        let is_json = !has_ending && text.trim_start().starts_with('{');
        let end = if is_json { ".jsonc" } else { "" };
        DocumentSource {
            shown: format!("{shown}{end}"),
            path: None,
            folder: absolute(Path::new("")),
            text,
            is_folder: false,
            environments: Vec::new(),
            project: None,
        }
    }

    /// Returns a document whose text is stored in the state or in a saved plan.
    pub fn pinned(document: &PinnedDocument, place: &StatePlace) -> DocumentSource {
        let written = document.read_as.as_ref().unwrap_or(&document.path);
        let path = (&**written != WITHOUT_FILE).then(|| place.base().join(written.as_ref()));
        let folder = DocumentSource::stored_folder(written, place);
        let environments = document
            .companions
            .iter()
            .map(|(path, text)| EnvironmentFile {
                shown: path.to_string(),
                path: place.base().join(path.as_ref()),
                text: text.clone(),
                is_shown: false,
                is_check: false,
            });
        let environments = environments.collect();
        DocumentSource {
            shown: written.to_string(),
            path,
            folder,
            text: document.text.clone(),
            is_folder: written.ends_with('/'),
            environments,
            project: None,
        }
    }

    /// Returns the folder of a document from its path in a state.
    pub(crate) fn stored_folder(path: &Name, place: &StatePlace) -> PathBuf {
        // A path that ends with `/` is a folder.
        match place.base().join(path.as_ref()) {
            _ if &**path == WITHOUT_FILE => absolute(Path::new("")),
            folder if path.ends_with('/') => absolute(&folder),
            file => folder_of(&file),
        }
    }

    /// The files beside the document that give values for instances, with the names of the
    /// instances. Lists the folder only if a document of this name may have such files. Fails if the
    /// folder cannot be listed, or if one of them is a pipe or a device.
    pub(crate) fn companion_files(
        &self,
        dialects: &Dialects,
    ) -> Result<Vec<(InstanceName, PathBuf)>, Error> {
        let Some(path) = self.main_file().filter(|_| !self.is_folder) else {
            return Ok(Vec::new());
        };
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(instance_in) = name.and_then(|name| dialects.companion_names(name)) else {
            return Ok(Vec::new());
        };
        let folder = folder_of(path);
        let unreadable = |source| Error::Unreadable {
            name: folder.display().to_string(),
            source,
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            let file = entry.map_err(unreadable)?.file_name();
            let Some(instance) = file.to_str().and_then(instance_in) else {
                continue;
            };
            // A path as the request writes that of the document.
            let beside = path.with_file_name(&file);
            if is_read_once(&beside) {
                return Err(Error::Unfit {
                    name: beside.display().to_string(),
                    what: "is no regular file".to_owned(),
                    help: Some("name a pipe with `-e`".to_owned()),
                });
            }
            files.push((InstanceName::from_free_text(instance), beside));
        }
        files.sort();
        Ok(files)
    }

    /// The context of the document from the files beside it that belong to it, which are added to `files`.
    pub(crate) fn project_context(&self, dialects: &Dialects, files: &mut Files) -> LoadContext {
        let own = self.environments.iter().filter(|file| file.is_shown);
        let trees: Vec<_> = own
            .map(|file| {
                let id = files.add(file.shown.clone(), file.text.clone());
                let (tree, _) = dialects.parse_companion(id, &file.shown, &file.text);
                (id, file, tree)
            })
            .collect();
        if trees.is_empty() {
            return LoadContext::NONE;
        }
        let companions: Vec<Companion<'_>> = trees
            .iter()
            .map(|(file, own, tree)| Companion {
                file: *file,
                name: &own.shown,
                folder: "",
                tree,
                is_check: true,
            })
            .collect();
        let root = FileId::new(0);
        let context = LoadContext::NONE;
        let parsed = dialects.parse(root, &self.shown, &self.text, &context);
        dialects
            .read_companions(&parsed.document(), &companions)
            .context
    }

    /// Adds the files beside the document that give values for this instance; those for all
    /// instances, for a check that is about none of them.
    pub fn with_companions(
        self,
        dialects: &Dialects,
        instance: Option<&InstanceName>,
    ) -> Result<DocumentSource, Error> {
        let files = self.companion_files(dialects)?.into_iter();
        let wanted = files.filter(|(of, _)| instance.is_none_or(|instance| of == instance));
        let files: Vec<NamedFile> = wanted.map(|(_, path)| NamedFile::new(path)).collect();
        let mut source = self.with(&files)?;
        for file in &mut source.environments {
            file.is_check = instance.is_none();
        }
        Ok(source)
    }

    /// Reads environment files and adds them. Paths in a pipe are relative to the current folder.
    pub fn with(mut self, environments: &[NamedFile]) -> Result<DocumentSource, Error> {
        for file in environments {
            let path = match is_read_once(file.path()) {
                true => Path::new(WITHOUT_FILE),
                false => file.path(),
            };
            self.environments.push(EnvironmentFile {
                shown: file.path().display().to_string(),
                path: absolute(path),
                text: file.text()?,
                is_shown: false,
                is_check: false,
            });
        }
        Ok(self)
    }

    /// Reads the document at a path, or the only document in the current folder.
    pub fn find(named: Option<&Path>, dialects: &Dialects) -> Result<DocumentSource, Error> {
        match named {
            Some(path) => DocumentSource::read(path, dialects),
            None => match DocumentSource::only_document_in_folder(dialects)? {
                Some(name) => DocumentSource::read(Path::new(&name), dialects),
                None => Err(Error::NoDocument {
                    folder: absolute(Path::new("")),
                }),
            },
        }
    }

    /// Returns the name of the only document in the current folder, if there is one.
    pub fn only_document_in_folder(dialects: &Dialects) -> Result<Option<String>, Error> {
        let folder = Path::new(".");
        let names = documents_in(folder, dialects).map_err(|source| Error::Unreadable {
            name: ".".to_owned(),
            source,
        })?;
        match names.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one.clone())),
            _ => Err(Error::SeveralDocuments {
                folder: absolute(Path::new("")),
                names,
            }),
        }
    }

    /// Returns the path in the form that plans and states store: relative to `base`, with a `/`
    /// after a folder. `None` for a text without a file.
    pub(crate) fn stored_path(&self, base: &Path) -> Option<String> {
        let path = relative(base, &absolute(self.path.as_deref()?));
        Some(match (self.is_folder, path.is_empty()) {
            (true, true) => "./".to_owned(),
            (true, false) => format!("{path}/"),
            (false, _) => path,
        })
    }

    fn read(path: &Path, dialects: &Dialects) -> Result<DocumentSource, Error> {
        if path.is_dir() && dialects.read_folders() {
            let listing = read_listing(path)?;
            if is_recognised_folder(path, &listing, dialects) {
                let shown = path.display().to_string();
                return Ok(DocumentSource {
                    shown: format!("{}/", shown.trim_end_matches('/')),
                    path: Some(path.to_owned()),
                    folder: absolute(path),
                    text: listing.into(),
                    is_folder: true,
                    environments: Vec::new(),
                    project: None,
                });
            }
        }
        let text: Arc<str> = match read_text(path) {
            Err(Error::Unfit { name, what, .. }) if path.is_dir() => {
                let names = documents_in(path, dialects).unwrap_or_default();
                let first = names.first().map(|first| path.join(first));
                let help =
                    first.map(|first| format!("name a file in it, as `{}`", first.display()));
                return Err(Error::Unfit { name, what, help });
            }
            text => text?.into(),
        };
        let shown = path.display().to_string();
        if is_read_once(path) {
            return Ok(DocumentSource::of_text(&shown, text));
        }
        if let Some(program) = program_of(path, dialects) {
            let text = read_text(&program)?.into();
            return DocumentSource::of_program(program, text, Some(path.to_owned()), dialects);
        }
        let project = project_above(path, dialects);
        DocumentSource::of_program(path.to_owned(), text, project, dialects)
    }

    /// The document in a file with the files that belong to it. `project` is the file of its project in
    /// another folder.
    fn of_program(
        path: PathBuf,
        text: Arc<str>,
        project: Option<PathBuf>,
        dialects: &Dialects,
    ) -> Result<DocumentSource, Error> {
        let mut environments = Vec::new();
        if let Some(project) = &project {
            environments.push(project_file(project)?);
            environments.extend(project_files_of(project, dialects)?);
        }
        environments.extend(project_files_of(&path, dialects)?);
        Ok(DocumentSource {
            shown: path.display().to_string(),
            folder: folder_of(&path),
            path: Some(path),
            text,
            is_folder: false,
            environments,
            project,
        })
    }

    /// The folder that the document belongs to: that of its project, else its own. Its state and its
    /// configuration are found from there.
    pub fn project_folder(&self) -> PathBuf {
        let project = self.project.as_deref();
        project.map_or_else(|| self.folder.clone(), folder_of)
    }

    /// The file that names the document to people, and beside which the files of its instances stand:
    /// that of its project, else its own.
    pub(crate) fn main_file(&self) -> Option<&Path> {
        self.project.as_deref().or(self.path.as_deref())
    }
}

/// A file that belongs to a document.
fn project_file(path: &Path) -> Result<EnvironmentFile, Error> {
    Ok(EnvironmentFile {
        shown: path.display().to_string(),
        text: read_text(path)?.into(),
        path: absolute(path),
        is_shown: true,
        is_check: false,
    })
}

/// The files `*.yaml` in a folder, sorted; none if there is no such folder.
fn yaml_files_in(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let unreadable = |source| Error::Unreadable {
        name: folder.display().to_string(),
        source,
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        let is_yaml = file.extension().is_some_and(|ending| ending == "yaml");
        if is_yaml && file.is_file() {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

/// The files beside a document that belong to it.
fn project_files_of(path: &Path, dialects: &Dialects) -> Result<Vec<EnvironmentFile>, Error> {
    let name = path.file_name().and_then(|name| name.to_str());
    let beside = dialects.project_files(name.unwrap_or_default());
    let beside = beside.map(|file| path.with_file_name(file));
    let existing = beside.filter(|path| path.is_file());
    let folders = dialects.project_folders(name.unwrap_or_default());
    let mut inside = Vec::new();
    for folder in folders.map(|folder| path.with_file_name(folder)) {
        inside.extend(yaml_files_in(&folder)?);
    }
    let all = existing.chain(inside);
    all.map(|path| project_file(&path)).collect()
}
