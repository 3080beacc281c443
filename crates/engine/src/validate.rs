//! Checks of documents without a state, and the verdicts on them.

use std::path::{Path, PathBuf};

use crate::phases::{CheckDepth, Checked, Given};
use blueprint::{IndexMap, Name};
use diag::{Diagnostics, Files, Severity};
use dialect::Dialects;

use crate::config::Config;
use crate::discovery::{documents_below, is_folder_document};
use crate::document::{Document, ReadingFacts};
use crate::document_source::DocumentSource;
use crate::error::Error;
use crate::findings::raise_warnings;
use crate::frontend::{Envelope, Frontend, Renamed};
use crate::inputs::Inputs;
use crate::paths::absolute;
use crate::session::Session;

/// A document that a request names directly or by its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedDocument {
    /// Its path; `None` for the document in the current folder.
    pub path: Option<PathBuf>,
    /// The folder that the request names.
    pub folder: Option<PathBuf>,
}

/// The verdict on one document.
#[derive(Clone, Debug, Default)]
pub struct DocumentVerdict {
    /// The document.
    pub file: String,
    /// The number of errors.
    pub errors: usize,
    /// The number of warnings.
    pub warnings: usize,
    /// The distinct codes of its errors, or the reason why it could not be read.
    pub why: Vec<String>,
    /// The declared names; `None` if the document has no blueprint.
    pub declares: Option<DeclaredNames>,
}

/// The names that a document declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredNames {
    /// The dialect.
    pub dialect: &'static str,
    /// Variables.
    pub variables: Vec<Name>,
    /// Data sources.
    pub data_sources: Vec<Name>,
    /// Resources.
    pub resources: Vec<Name>,
    /// Child documents.
    pub children: Vec<Name>,
    /// Exports.
    pub exports: Vec<Name>,
}

/// The verdicts on all documents of a request.
#[derive(Clone, Debug, Default)]
pub struct Verdicts {
    /// One for each document.
    pub documents: Vec<DocumentVerdict>,
    /// Whether the request names a folder.
    pub has_folder: bool,
}

impl NamedDocument {
    /// Returns the documents at paths: files, folders that are documents, and all documents in other
    /// folders. Without paths, returns
    /// the document in the current folder. A folder without documents is an error.
    pub fn of_paths(paths: &[PathBuf], dialects: &Dialects) -> Result<Vec<NamedDocument>, Error> {
        let mut named = Vec::new();
        for path in paths {
            if !path.is_dir() || is_folder_document(path, dialects) {
                named.push(NamedDocument {
                    path: Some(path.clone()),
                    folder: None,
                });
                continue;
            }
            let below = documents_below(path, dialects)?;
            if below.is_empty() {
                return Err(Error::NoDocument {
                    folder: path.clone(),
                });
            }
            let folder = Some(path.clone());
            named.extend(below.into_iter().map(|path| NamedDocument {
                path: Some(path),
                folder: folder.clone(),
            }));
        }
        if paths.is_empty() {
            named.push(NamedDocument::default());
        }
        Ok(named)
    }

    /// Loads the configuration of the document: `given`, or the one in its folder `beside`. For a
    /// document in a named folder, searches upward as far as that folder.
    pub fn config(&self, given: Option<&Path>, beside: &Path) -> Result<Config, Error> {
        let config = Config::load(given, beside)?;
        let Some(top) = self
            .folder
            .as_deref()
            .map(absolute)
            .filter(|_| config.is_default())
        else {
            return Ok(config);
        };
        for folder in beside
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(&top))
        {
            let above = Config::load(given, folder)?;
            if !above.is_default() {
                return Ok(above);
            }
        }
        Ok(config)
    }
}

impl DocumentVerdict {
    /// Returns the verdict on a document that could not be checked.
    pub fn unreadable(named: &NamedDocument, error: &Error) -> DocumentVerdict {
        let file = named
            .path
            .as_deref()
            .map(|path| path.display().to_string())
            .unwrap_or_default();
        let why = match error {
            Error::Reported | Error::Catalogs(_) => "not checked".to_owned(),
            _ => error
                .to_string()
                .trim_start_matches(&format!("`{file}` "))
                .to_owned(),
        };
        DocumentVerdict {
            file,
            errors: 1,
            why: vec![why],
            ..DocumentVerdict::default()
        }
    }

    /// Whether the document has no error.
    pub fn is_valid(&self) -> bool {
        self.errors == 0
    }
}

impl DeclaredNames {
    fn of(checked: &Checked) -> DeclaredNames {
        fn names<T>(map: &IndexMap<Name, T>) -> Vec<Name> {
            map.keys().cloned().collect()
        }
        let blueprint = &checked.blueprint;
        DeclaredNames {
            dialect: blueprint.dialect,
            variables: names(&blueprint.inputs),
            data_sources: names(&blueprint.data_sources),
            resources: names(&blueprint.resources),
            children: names(&blueprint.children),
            exports: names(&blueprint.exports),
        }
    }
}

impl Verdicts {
    /// The number of valid documents.
    pub fn valid(&self) -> usize {
        self.documents.iter().filter(|one| one.is_valid()).count()
    }

    /// Whether the output has a summary: for several documents or for a folder.
    pub fn has_summary(&self) -> bool {
        self.has_folder || self.documents.len() > 1
    }
}

/// A front end that counts errors and warnings, and forwards everything to another one.
struct DiagnosticCounter<'a> {
    frontend: &'a mut dyn Frontend,
    errors: usize,
    warnings: usize,
}

impl Frontend for DiagnosticCounter<'_> {
    fn found(&mut self, found: &Diagnostics, files: &Files) {
        self.errors += found.dropped().0;
        for diagnostic in found.iter() {
            match diagnostic.severity {
                Severity::Error => self.errors += 1,
                Severity::Warning => self.warnings += 1,
                Severity::Note => {}
            }
        }
        self.frontend.found(found, files);
    }

    fn event(&mut self, envelope: Envelope) {
        self.frontend.event(envelope);
    }

    fn is_renamed(&mut self, renamed: &Renamed) -> Option<bool> {
        self.frontend.is_renamed(renamed)
    }

    fn can_ask(&self) -> bool {
        self.frontend.can_ask()
    }

    fn inputs(&mut self, checked: &Checked, given: &mut Given) -> Result<(), Error> {
        self.frontend.inputs(checked, given)
    }
}

impl Session {
    /// Checks a document with the given inputs. Mistakes in files of inputs are reported; all
    /// others are in `found` of the document.
    pub async fn check_given(
        &self,
        source: DocumentSource,
        inputs: &Inputs,
        frontend: &mut dyn Frontend,
    ) -> Result<(Document, Given), Error> {
        let none = Given::default();
        let mut document = self.check(source, ReadingFacts::of(&none)).await;
        let Some(checked) = document.checked.clone() else {
            return Ok((document, none));
        };
        let mut found = Diagnostics::new();
        let given = self.gather(&checked, &mut document, None, inputs, &mut found);
        raise_warnings(self.strict, &mut found);
        frontend.found(&found, &document.files);
        let given = given?;
        document.check_with(&given, false).await;
        Ok((document, given))
    }

    /// Checks a document with the given inputs. Also finds the diagnostics of a plan that need no
    /// question to the world.
    pub async fn validate(
        &self,
        source: DocumentSource,
        inputs: &Inputs,
        frontend: &mut dyn Frontend,
    ) -> Result<Document, Error> {
        let (mut document, given) = self.check_given(source, inputs, frontend).await?;
        self.check_given_values(&mut document, &given).await?;
        Ok(document)
    }

    /// Adds the diagnostics that need values: those of the document, and at the depth of the session
    /// those that clouds find.
    async fn check_given_values(
        &self,
        document: &mut Document,
        given: &Given,
    ) -> Result<(), Error> {
        if self.depth == CheckDepth::Documents || document.checked.is_none() {
            document.check_offline(given, None).await;
            return Ok(());
        }
        let instance = self.instance_without_state(&document.source);
        let folder = document.source.folder.clone();
        let shell = self.shell(&instance, &folder)?;
        document.check_offline(given, Some(&shell)).await;
        Ok(())
    }

    /// Checks a document as [`Session::validate`] does, reports all diagnostics and counts them.
    pub async fn verdict(
        &self,
        named: &NamedDocument,
        source: DocumentSource,
        inputs: &Inputs,
        frontend: &mut dyn Frontend,
    ) -> Result<(DocumentVerdict, Document), Error> {
        let mut counting = DiagnosticCounter {
            frontend,
            errors: 0,
            warnings: 0,
        };
        let (mut document, given) = self.check_given(source, inputs, &mut counting).await?;
        if named.folder.is_some() {
            // The inputs are meant for those documents of the folder that declare them.
            document
                .found
                .retain(|one| one.code.name != dialect::codes::UNDECLARED_VARIABLE.name);
        }
        self.check_given_values(&mut document, &given).await?;
        raise_warnings(self.strict, &mut document.found);
        counting.found(&document.found, &document.files);
        let mut why: Vec<String> = Vec::new();
        for one in document.found.iter().filter(|one| one.is_error()) {
            if !why.iter().any(|code| code == one.code.name) {
                why.push(one.code.name.to_owned());
            }
        }
        let source = &document.source;
        let file = source
            .path
            .as_deref()
            .map_or_else(|| source.shown.clone(), |path| path.display().to_string());
        let declares = document.checked.as_deref().map(DeclaredNames::of);
        let DiagnosticCounter {
            errors, warnings, ..
        } = counting;
        Ok((
            DocumentVerdict {
                file,
                errors,
                warnings,
                why,
                declares,
            },
            document,
        ))
    }
}
