//! Data that a dialect needs in addition to the text of a document before it can lower it, and the
//! answers.
//!
//! Not here: obtaining the data. The engine asks the world, the settings and the catalogues, and
//! loads the document again.

use std::sync::Arc;

use blueprint::{IndexMap, Name, Package, Schema, Value};
use diag::FileId;

/// A request for data that a dialect needs before it can lower a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// The text of a file, by its path relative to the document.
    File(Name),
    /// The text of a file that is a part of the document: the dialect can parse it, and diagnostics
    /// can show its lines.
    Text(Name),
    /// The entries of a folder, by its path relative to the document.
    Folder(Name),
    /// The value of a setting of the dialect.
    Setting(Name),
    /// The schema of a resource type. Its package is opened first.
    Schema(Name),
    /// A hosted package, opened, so that its types are known when the document is lowered. A dialect
    /// that lowers without them need not ask: the packages that a lowered document names are opened
    /// before it is checked.
    Package(PackageRequest),
}

/// A hosted package that is to be opened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PackageRequest {
    /// The name of the package in documents.
    pub name: Name,
    /// The version that the document states.
    pub version: Option<Name>,
    /// The URL from which the document wants the plugin to be downloaded.
    pub url: Option<Name>,
    /// The parameters of a parameterized package, as JSON text.
    pub parameters: Option<Name>,
    /// The path of the program or of its folder, as the document states it: relative to the
    /// document. Only a document on this machine can state one.
    pub path: Option<Name>,
}

impl PackageRequest {
    /// A request for a package by its name alone.
    pub fn named(name: impl Into<Name>) -> PackageRequest {
        PackageRequest {
            name: name.into(),
            ..PackageRequest::default()
        }
    }
}

/// The answer to a [`Wanted`].
#[derive(Clone, Debug)]
pub enum Answer {
    /// The text of a file.
    File(Name),
    /// The text of a file, with the id by which spans refer to it.
    Text(FileId, Arc<str>),
    /// The entries of a folder, sorted by name. Hidden entries are left out.
    Folder(Arc<[FolderEntry]>),
    /// The value of a setting; null if it is not set.
    Setting(Value),
    /// The schema of a type.
    Schema(Arc<Schema>),
    /// The opened package.
    Package(Arc<Package>),
    /// The reason for a missing answer, as a phrase.
    Missing(Name),
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// The name, without a path.
    pub name: Name,
    /// Whether the entry is a folder; a file otherwise.
    pub is_folder: bool,
}

impl FolderEntry {
    /// The entries of a listing: the text that a source of documents answers for a folder. It has a
    /// line for each entry, with a `/` after the name of a folder.
    pub fn of_listing(text: &str) -> Arc<[FolderEntry]> {
        text.lines()
            .map(|line| FolderEntry {
                name: line.strip_suffix('/').unwrap_or(line).into(),
                is_folder: line.ends_with('/'),
            })
            .collect()
    }
}

/// The answers for one document.
#[derive(Clone, Debug, Default)]
pub struct Answers(Option<Arc<IndexMap<Wanted, Answer>>>);

impl Answers {
    /// No answers.
    pub const NONE: Answers = Answers(None);

    /// The answer to a request; `None` if it was not requested yet.
    pub fn get(&self, wanted: &Wanted) -> Option<&Answer> {
        self.0.as_deref()?.get(wanted)
    }

    /// A copy with further answers.
    pub fn with(&self, more: impl IntoIterator<Item = (Wanted, Answer)>) -> Answers {
        let mut all = self.0.as_deref().cloned().unwrap_or_default();
        all.extend(more);
        Answers(Some(Arc::new(all)))
    }

    /// The number of answers.
    pub fn len(&self) -> usize {
        self.0.as_deref().map_or(0, IndexMap::len)
    }

    /// Whether there is no answer.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
