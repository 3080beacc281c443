//! A root document with its children, checked.

use std::collections::HashSet;
use std::sync::Arc;

use crate::phases::check::{self, CheckContext, Resolutions};
use crate::phases::run::Shell;
use crate::phases::{
    CheckDepth, Checked, Documents, Given, Pinned, PinnedDocument, ReadingContext, World,
};
use blueprint::{Blueprint, IndexMap, Name, Value};
use diag::{Diagnostic, Diagnostics, FileId, Files};
use source::Location;
use state::Snapshot;

use crate::document_source::{DocumentSource, WITHOUT_FILE};
use crate::installed::Installed;
use crate::library::Library;
use crate::paths::{absolute, relative};
use crate::place::StatePlace;
use crate::root::Root;

/// A document that was read and checked.
pub struct Document {
    /// All texts that diagnostics may show.
    pub files: Files,
    /// The text of the root, with its environment files.
    pub source: DocumentSource,
    /// All diagnostics.
    pub found: Diagnostics,
    /// The checked blueprint of the root; `None` if no dialect recognises it.
    pub checked: Option<Arc<Checked>>,
    /// The document and its children.
    pub documents: Option<Arc<Documents>>,
    /// Inputs from environment files.
    pub environment: IndexMap<Name, Value>,
    /// The catalogues and functions that the document was checked with.
    pub library: Library,
    root: Root,
    installed: Arc<Installed>,
    /// The inputs of the last check; `None` if it had none.
    checked_with: Option<Given>,
}

/// Facts that are known when a document is read.
#[derive(Clone, Copy, Default)]
pub struct ReadingFacts<'a> {
    /// Inputs. Without them, children whose paths depend on inputs are not read.
    pub given: Option<&'a Given>,
    /// Whether all inputs are given.
    pub complete: bool,
    /// Children that were read before.
    pub pinned: Option<&'a Pinned>,
    /// The state.
    pub before: Option<&'a Snapshot>,
}

impl<'a> ReadingFacts<'a> {
    /// Facts for these inputs. The other inputs have their defaults.
    pub fn of(given: &'a Given) -> ReadingFacts<'a> {
        ReadingFacts {
            given: Some(given),
            ..ReadingFacts::default()
        }
    }

    /// Facts for a saved plan or an earlier operation: all inputs, the children and the state.
    pub fn saved(given: &'a Given, pinned: &'a Pinned, before: &'a Snapshot) -> ReadingFacts<'a> {
        ReadingFacts {
            given: Some(given),
            complete: true,
            pinned: Some(pinned),
            before: Some(before),
        }
    }
}

impl Document {
    /// Reads and checks a document.
    pub(crate) async fn check(
        source: DocumentSource,
        library: &Library,
        known: ReadingFacts<'_>,
        installed: Arc<Installed>,
    ) -> Document {
        let mut document = Document::read(source, library, installed);
        document.check_again(known).await;
        document
    }

    /// Reads a document without checking it.
    pub(crate) fn read(
        source: DocumentSource,
        library: &Library,
        installed: Arc<Installed>,
    ) -> Document {
        let root = Root::read(&source, library, &installed.roots);
        Document {
            files: Files::new(),
            source,
            found: Diagnostics::new(),
            checked: None,
            documents: None,
            environment: root.environment.clone(),
            library: library.clone(),
            root,
            installed,
            checked_with: None,
        }
    }

    /// The blueprint of the root; `None` if no dialect recognises it.
    pub(crate) fn blueprint(&self) -> Option<&Blueprint> {
        self.root.loaded.blueprint.as_deref()
    }

    /// Checks the root and its children. The root is not parsed again.
    pub(crate) async fn check_again(&mut self, known: ReadingFacts<'_>) {
        // Drop the documents of the last check first, so that memory holds them only once.
        let before = self
            .documents
            .take()
            .map(|documents| documents.pinned().clone());
        self.checked = None;
        self.checked_with = known.given.cloned();
        let (mut files, mut found) = self.root.files_and_diagnostics(&self.source);
        let world = self.reading_shell();
        let none = Pinned::default();
        let location = self.source.path.as_ref().map(|path| {
            let location = Location::disk(absolute(path).to_string_lossy().as_ref());
            if self.source.is_folder {
                location.into_folder()
            } else {
                location
            }
        });
        let reading = ReadingContext {
            files: &mut files,
            catalogs: &self.library.catalogs,
            functions: &self.library.functions,
            dialects: &self.library.dialects,
            given: known.given,
            context: &self.root.context,
            world: &world,
            location,
            folder: self.source.folder.to_string_lossy().as_ref().into(),
            complete: known.complete,
            earlier_reads: known.pinned.or(before.as_ref()).unwrap_or(&none),
            before: known.before,
        };
        let documents = crate::phases::documents(self.root.loaded.clone(), reading, &mut found)
            .await
            .map(Arc::new);
        self.checked = documents
            .as_ref()
            .map(|documents| documents.root().checked.clone());
        (self.files, self.found, self.documents) = (files, found, documents);
    }

    /// Checks the document again with all inputs, if it was checked with other inputs or if the
    /// paths of children depend on them. Afterwards `found` contains only new diagnostics.
    pub async fn complete(&mut self, given: &Given, before: &Snapshot) {
        let is_open = self
            .documents
            .as_ref()
            .is_some_and(|documents| documents.is_open());
        if !is_open && self.checked_with.clone().unwrap_or_default() == *given {
            self.found = Diagnostics::new();
            return;
        }
        let place = |files: &Files, it: &Diagnostic| {
            let name = files.get(it.span().file).map(|file| file.name().to_owned());
            (it.code.name, name, it.span().start, it.message.clone())
        };
        let reported: HashSet<_> = self.found.iter().map(|it| place(&self.files, it)).collect();
        self.check_again(ReadingFacts {
            given: Some(given),
            complete: true,
            pinned: None,
            before: Some(before),
        })
        .await;
        let files = &self.files;
        self.found
            .retain(|it| !reported.contains(&place(files, it)));
    }

    /// Checks the document again with these inputs, and the inputs themselves. If `all` are given,
    /// a missing input is an error.
    pub async fn check_with(&mut self, given: &Given, all: bool) {
        if *given != Given::default() {
            self.check_again(ReadingFacts::of(given)).await;
        }
        self.validate_inputs(given, all);
    }

    /// Checks the given inputs. If `all` are given, a missing input is an error.
    fn validate_inputs(&mut self, given: &Given, all: bool) {
        if let Some(checked) = &self.checked {
            crate::phases::validate_inputs(checked, given, all, &mut self.found);
        }
    }

    /// Returns the definitions that names in a file of the document resolve to, for an editor;
    /// `None` if the file is none of its checked documents. Each call checks the file again, which
    /// takes as long as the first check: keep the result until the document changes.
    pub fn resolutions(&self, file: FileId) -> Option<Resolutions> {
        let documents = self.documents.as_ref()?;
        let unit = documents
            .units()
            .iter()
            .position(|unit| unit.file == file)?;
        let checked = &documents.units()[unit].checked;
        let context = CheckContext::new(
            &self.library.catalogs,
            &self.library.functions,
            checked.rules,
        );
        Some(check::resolutions(
            &checked.blueprint,
            &documents.children_of(unit as u32),
            &context,
        ))
    }

    /// Whether a document lists transforms.
    pub(crate) fn has_transforms(&self) -> bool {
        let units = self
            .documents
            .iter()
            .flat_map(|documents| documents.units());
        units
            .into_iter()
            .any(|unit| !unit.checked.blueprint.transforms.is_empty())
    }

    /// Returns the documents after their transforms, as a plan uses them; `None` if there are no
    /// transforms or if there are errors. Adds diagnostics to `found`.
    pub async fn transformed(&mut self) -> Option<Arc<Documents>> {
        if !self.has_transforms() || self.found.has_errors() {
            return None;
        }
        let documents = self.documents.clone()?;
        let shell = self.offline_shell();
        let catalogs = &self.library.catalogs;
        let functions = &self.library.functions;
        crate::phases::transform_documents(documents, catalogs, functions, &shell, &mut self.found)
            .await
    }

    /// Adds to `found` the diagnostics of a plan with these inputs that need no question to the
    /// world. With a shell that is not offline, the clouds that it reaches are asked whether they
    /// have the objects that the document names.
    pub async fn check_offline(&mut self, given: &Given, clouds: Option<&Shell>) {
        let transformed = self.transformed().await;
        let Some(documents) = transformed.or_else(|| self.documents.clone()) else {
            return;
        };
        if self.found.has_errors() {
            return;
        }
        let own = self.offline_shell();
        let world: (&dyn World, CheckDepth) = match clouds {
            Some(shell) => (shell, CheckDepth::Clouds),
            None => (&own, CheckDepth::Documents),
        };
        let catalogs = &self.library.catalogs;
        let functions = self.library.functions.clone();
        crate::phases::check_offline(
            documents,
            given,
            catalogs,
            functions,
            world,
            &mut self.found,
        )
        .await;
    }

    /// Returns a shell that reads documents and runs transforms. Neither changes anything, so the
    /// shell has no settings, state or instance.
    fn reading_shell(&self) -> Shell {
        let providers = self.library.providers.clone();
        self.library
            .shell(&self.installed, providers, &self.source.folder)
    }

    /// Returns a shell without network requests, for transforms and for checks of specs.
    fn offline_shell(&self) -> Shell {
        Shell {
            http: None,
            working_directory: None,
            offline: true,
            ..self.reading_shell()
        }
    }

    /// Returns the document in the form that a plan stores. Paths are relative to the state.
    pub fn pinned(&self, place: &StatePlace) -> PinnedDocument {
        let path = self.source.stored_path(&place.base());
        let environments = self.source.environments.iter();
        let companions = environments.map(|file| {
            (
                relative(&place.base(), &file.path).into(),
                file.text.clone(),
            )
        });
        PinnedDocument {
            path: path.unwrap_or_else(|| WITHOUT_FILE.to_owned()).into(),
            read_as: None,
            text: self.source.text.clone(),
            companions: companions.collect(),
        }
    }
}
