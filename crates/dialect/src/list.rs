//! The dialects that documents may be written in.

use std::sync::Arc;

use blueprint::{Name, Value};
use diag::Code;
use expr::FunctionTable;

use crate::{
    Companion, CompanionNames, Dialect, DialectRules, DialectSettings, Document, DocumentSettings,
    InstanceFiles, LoadedCompanions, SecretManager, certainty,
};

/// The dialects that documents may be written in, as the program hands them in. Cheap to clone;
/// empty by default.
#[derive(Clone)]
pub struct Dialects(Arc<[&'static dyn Dialect]>);

impl Default for Dialects {
    fn default() -> Dialects {
        Dialects::new([])
    }
}

impl Dialects {
    /// Creates the list of dialects, in the order in which they try to recognise a document.
    pub fn new(dialects: impl IntoIterator<Item = &'static dyn Dialect>) -> Dialects {
        Dialects(dialects.into_iter().collect())
    }

    /// A copy with a further dialect. An earlier dialect of the same name takes precedence.
    pub fn with(&self, dialect: &'static dyn Dialect) -> Dialects {
        Dialects::new(self.iter().chain([dialect]))
    }

    /// All dialects, in the order in which they try to recognise a document.
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn Dialect> {
        self.0.iter().copied()
    }

    /// The dialect with a name, if it exists.
    pub fn get(&self, name: &str) -> Option<&'static dyn Dialect> {
        self.iter().find(|dialect| dialect.name() == name)
    }

    /// The rules of the dialect with a name; the native rules for a document that no dialect
    /// recognised.
    pub fn rules(&self, name: &str) -> DialectRules {
        self.get(name)
            .map_or(DialectRules::NATIVE, |dialect| dialect.rules())
    }

    /// The dialect that recognises a document with the highest certainty; the first one on a tie,
    /// `None` if no dialect recognises it.
    pub fn detect(&self, document: &Document<'_>) -> Option<&'static dyn Dialect> {
        let mut best: (u8, Option<&'static dyn Dialect>) = (0, None);
        for dialect in self.readers(document) {
            let sure = dialect.recognise(document);
            if sure > best.0 {
                best = (sure, Some(dialect));
            }
        }
        best.1
    }

    /// Whether a text is certainly a document: by its version or its name, not only by keys that
    /// other files may have.
    pub fn recognise(&self, document: &Document<'_>) -> bool {
        self.readers(document)
            .any(|dialect| dialect.recognise(document) >= certainty::NAMED)
    }

    /// Whether a dialect reads folders.
    pub fn read_folders(&self) -> bool {
        self.iter().any(|dialect| dialect.reads_folders())
    }

    /// The dialects that may recognise a document.
    fn readers(&self, document: &Document<'_>) -> impl Iterator<Item = &'static dyn Dialect> {
        let is_folder = document.entries().is_some();
        self.iter()
            .filter(move |dialect| !is_folder || dialect.reads_folders())
    }

    /// How the files are named that give values for the instances of a document of this name: see
    /// [`Dialect::companion_names`].
    pub fn companion_names(&self, document: &str) -> Option<CompanionNames> {
        self.iter()
            .find_map(|dialect| dialect.companion_names(document))
    }

    /// The files beside a document of this name that belong to it: see [`Dialect::project_files`].
    pub fn project_files(&self, document: &str) -> impl Iterator<Item = &'static str> {
        self.iter()
            .flat_map(move |dialect| dialect.project_files(document))
            .copied()
    }

    /// The folders beside a document of this name whose files belong to it: see
    /// [`Dialect::project_folders`].
    pub fn project_folders(&self, document: &str) -> impl Iterator<Item = &'static str> {
        self.iter()
            .flat_map(move |dialect| dialect.project_folders(document))
            .copied()
    }

    /// Where the program of a project may stand: see [`Dialect::programs_of`].
    pub fn programs_of(&self, name: &str, text: &str) -> Vec<Name> {
        self.iter()
            .flat_map(|dialect| dialect.programs_of(name, text))
            .collect()
    }

    /// How the files of the instances of a document of this name are made and edited: see
    /// [`Dialect::instance_files`].
    pub fn instance_files(&self, document: &str) -> Option<&'static dyn InstanceFiles> {
        self.iter()
            .find_map(|dialect| dialect.instance_files(document))
    }

    /// The secret managers of the tool of a dialect.
    pub fn secret_manager(&self, dialect: &str) -> Option<&'static dyn SecretManager> {
        self.get(dialect)?.secret_manager()
    }

    /// Reads the companion files of a root. If the root's own dialect has no such files, another
    /// dialect reads them for the children, and the root takes their values for its inputs. Empty
    /// if no dialect has such files.
    pub fn read_companions(
        &self,
        root: &Document<'_>,
        beside: &[Companion<'_>],
    ) -> LoadedCompanions {
        let own = self
            .detect(root)
            .and_then(|dialect| dialect.read_companions(root, beside));
        let other = || {
            self.iter()
                .find_map(|dialect| dialect.read_companions(root, beside))
        };
        own.or_else(other).unwrap_or_default()
    }

    /// Every diagnostic code that a dialect reports: shared codes, then those of single dialects.
    pub fn codes(&self) -> impl Iterator<Item = &'static Code> {
        let own = self
            .iter()
            .flat_map(|dialect| dialect.codes().iter().copied());
        crate::codes::CODES
            .iter()
            .copied()
            .chain(own.flatten().copied())
    }

    /// Adds the functions of all dialects, with their settings, to the functions of the native
    /// dialect and of providers.
    pub fn insert_functions(&self, table: &mut FunctionTable, settings: &DocumentSettings) {
        self.iter()
            .for_each(|dialect| dialect.insert_functions(table, settings.of(dialect.name())));
    }

    /// Sets the written settings of a dialect. An error is the rest of a sentence that begins with
    /// the place of the settings.
    pub fn set(
        &self,
        settings: &mut DocumentSettings,
        dialect: &str,
        written: &[(Name, Value)],
    ) -> Result<(), String> {
        let Some(dialect) = self.get(dialect) else {
            return Err("is about no dialect".to_owned());
        };
        settings.set(
            dialect.name(),
            DialectSettings::read(dialect.settings(), written)?,
        );
        Ok(())
    }
}

impl std::fmt::Debug for Dialects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.iter().map(|dialect| dialect.name()))
            .finish()
    }
}
