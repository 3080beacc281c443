//! Saved plans. A saved plan is applied exactly as reviewed, or refused with all differences.

use std::path::{Path, PathBuf};

use crate::codes;
use crate::phases::plan_file::{self, MadeFrom, PlanFile, PlanFileError, hidden_step};
use crate::phases::{Documents, Given, PinnedDocument, Plan};
use blueprint::Value;
use diag::{Diagnostic, Diagnostics, Files};
use state::seal::SealError;
use state::{InstanceName, InstanceNameError, Snapshot, StoreError};
use std::sync::Arc;

use crate::document::ReadingFacts;
use crate::document_source::{DocumentSource, WITHOUT_FILE};
use crate::error::Error;
use crate::frontend::Frontend;
use crate::place::StatePlace;
use crate::session::Session;
use crate::stage::{Basis, PlannedOperation};
use crate::text::{read_listing, read_text};

/// A parsed plan file.
pub struct SavedPlan {
    /// The instance.
    pub instance: InstanceName,
    file: PlanFile,
    made_from: MadeFrom,
}

/// The document of a saved plan, checked again from the text in the plan.
struct RecheckedDocument {
    files: Files,
    document: Option<(Arc<Documents>, PinnedDocument)>,
    root: PathBuf,
}

impl SavedPlan {
    /// The folder of its document; `None` for a plan without a document.
    pub fn folder(&self, place: &StatePlace) -> Option<PathBuf> {
        self.made_from
            .document
            .as_ref()
            .map(|pinned| DocumentSource::pinned(pinned, place).folder)
    }
}

impl Session {
    /// Reads a plan file. `named` is the instance that the request names.
    pub fn read_plan(
        &self,
        source: &DocumentSource,
        named: Option<&InstanceName>,
    ) -> Result<SavedPlan, Error> {
        let (file, made_from) = plan_file::read(&source.text, self.sealer())
            .map_err(|error| unusable(&source.shown, error))?;
        let instance: InstanceName = file
            .instance
            .parse()
            .map_err(|error: InstanceNameError| Error::usage(error.to_string()))?;
        if named.is_some_and(|named| *named != instance) {
            return Err(Error::usage(format!("the plan is for `{instance}`")));
        }
        if file.options.simulated != self.is_simulated() {
            let (what, help) = if file.options.simulated {
                (
                    "is a plan of a rehearsal",
                    "say `--simulate` to rehearse it, or stage again without",
                )
            } else {
                (
                    "is a real plan, not one of a rehearsal",
                    "deploy it without `--simulate`, or stage again with it",
                )
            };
            let name = source.shown.clone();
            let what = what.to_owned();
            return Err(Error::Unfit {
                name,
                what,
                help: Some(help.to_owned()),
            });
        }
        Ok(SavedPlan {
            instance,
            file,
            made_from,
        })
    }

    /// Refuses a saved plan if an operation holds its instance, or if the state has changed since
    /// the plan was made.
    pub async fn refuse_stale(
        &self,
        plan: &SavedPlan,
        frontend: &mut dyn Frontend,
    ) -> Result<(), Error> {
        self.refuse_held(&plan.instance, frontend).await?;
        let head = self.reading().head(&plan.instance).await?;
        if head == plan.file.revision {
            return Ok(());
        }
        let made = plan.file.revision.0;
        let found = head.0;
        let message = format!("the plan was made at revision {made}, the state is at {found}");
        Err(refuse(
            codes::PLAN_STALE.new(message).help("stage again"),
            frontend,
        ))
    }

    /// Makes a saved plan again from its recorded inputs, and refuses it if the result differs.
    pub async fn stage_saved(
        &self,
        plan: SavedPlan,
        frontend: &mut dyn Frontend,
    ) -> Result<(PlannedOperation, Files), Error> {
        let mut run = self.new_run();
        let SavedPlan {
            instance,
            file,
            made_from,
        } = plan;
        let mut differs = Diagnostics::new();
        if let Some(pinned) = &made_from.document {
            document_differs(pinned, &self.place, &mut differs);
        }
        let snapshot = self.reading().load(&instance).await?;
        let given = made_from.given();
        let RecheckedDocument {
            files,
            document,
            root,
        } = self
            .recheck_document(&made_from, &given, &snapshot, frontend)
            .await?;
        self.library.open_recorded(&snapshot).await;
        let documents = document.as_ref().map(|(documents, _)| documents.as_ref());
        let mut shell = self.shell_of(&instance, &root, documents)?;
        let answers = Some(made_from.answers);
        let basis = Basis {
            document,
            given,
            options: file.options.clone(),
            snapshot,
            answers,
        };
        let staged = self
            .plan(basis, &mut shell, &files, &mut run, frontend)
            .await?;
        // Report all differences, not only those of the document.
        if differs.has_errors() {
            crate::phases::unchanged(&staged, &shell.root.to_string_lossy(), &shell, &mut differs)
                .await;
            frontend.found(&differs, &Files::new());
            return Err(Error::Reported);
        }
        if file.format < 2
            && staged
                .plan
                .answers
                .preflights
                .values()
                .any(|looked| !looked.sources.is_empty())
        {
            let format = file.format;
            let message = format!(
                "the plan has format {format}, which does not record the digests of the files that it reads"
            );
            return Err(refuse(
                codes::PLAN_STALE.new(message).help("stage again"),
                frontend,
            ));
        }
        if !is_same(&file, &staged.plan) {
            let stale = codes::PLAN_STALE.new("planning again gives a different plan");
            return Err(refuse(
                stale
                    .note("this version of cyan makes another plan")
                    .help("stage again"),
                frontend,
            ));
        }
        Ok((
            PlannedOperation {
                instance,
                staged,
                shell,
                run,
            },
            files,
        ))
    }

    async fn recheck_document(
        &self,
        made_from: &MadeFrom,
        given: &Given,
        snapshot: &Snapshot,
        frontend: &mut dyn Frontend,
    ) -> Result<RecheckedDocument, Error> {
        let Some(pinned) = &made_from.document else {
            return Ok(RecheckedDocument {
                files: Files::new(),
                document: None,
                root: self.root_of(snapshot),
            });
        };
        let source = DocumentSource::pinned(pinned, &self.place);
        let root = source.folder.clone();
        let document = self
            .check(
                source,
                ReadingFacts::saved(given, &made_from.answers.pinned(), snapshot),
            )
            .await;
        frontend.found(&document.found, &document.files);
        if document.has_transforms() {
            self.library.open_all();
        }
        let documents = document
            .documents
            .filter(|_| !document.found.has_errors())
            .ok_or(Error::Reported)?;
        Ok(RecheckedDocument {
            files: document.files,
            document: Some((documents, pinned.clone())),
            root,
        })
    }
}

fn refuse(diagnostic: Diagnostic, frontend: &mut dyn Frontend) -> Error {
    frontend.found(&std::iter::once(diagnostic).collect(), &Files::new());
    Error::Reported
}

/// Adds to `differs` the files of a document that differ from the plan.
fn document_differs(pinned: &PinnedDocument, place: &StatePlace, differs: &mut Diagnostics) {
    if pinned.path.as_ref() != WITHOUT_FILE {
        differs.extend(file_differs(
            &place.base().join(pinned.path.as_ref()),
            &pinned.path,
            &pinned.text,
        ));
    }
    // The text of a pipe is only in the plan.
    let is_file = |path: &str| !Path::new(path).ends_with(WITHOUT_FILE);
    let companions = pinned.companions.iter();
    for (path, text) in companions.filter(|(path, _)| is_file(path)) {
        differs.extend(file_differs(&place.base().join(path.as_ref()), path, text));
    }
}

fn file_differs(path: &Path, shown: &str, recorded: &str) -> Option<Diagnostic> {
    // A path that ends with `/` is a folder.
    let now = if shown.ends_with('/') {
        read_listing(path)
    } else {
        read_text(path)
    };
    let (what, help) = match now {
        Ok(text) if *text == *recorded => return None,
        Ok(_) => (
            "has changed since the plan was made".to_owned(),
            "stage again",
        ),
        Err(_) => (
            format!(
                "is not there any more, as seen from `{}`",
                path.parent().unwrap_or(path).display()
            ),
            "stage again, or name the place of the state with `--state`",
        ),
    };
    Some(
        codes::INPUT_CHANGED
            .new(format!("`{shown}` {what}"))
            .help(help),
    )
}

/// Whether a plan equals that of the file. Compares the serialised forms, because that is what was
/// reviewed.
fn is_same(file: &PlanFile, plan: &Plan) -> bool {
    if file.format < 3 {
        return has_same_steps(file, plan);
    }
    let reviewed = PlanFile {
        made_from: Value::Null,
        ..file.clone()
    };
    serde_json::to_value(&reviewed).ok()
        == serde_json::to_value(plan_file::contents(plan, Value::Null)).ok()
}

/// Whether the steps equal those of a file of an earlier format.
fn has_same_steps(file: &PlanFile, plan: &Plan) -> bool {
    let written = |mut steps: Vec<crate::phases::Step>| {
        // Format 1 has no `not_observed`.
        steps
            .iter_mut()
            .filter(|_| file.format < 2)
            .for_each(|step| step.not_observed = false);
        serde_json::to_value(steps).ok()
    };
    written(file.steps.clone()) == written(plan.steps.iter().map(hidden_step).collect())
}

fn unusable(name: &str, error: PlanFileError) -> Error {
    match error {
        PlanFileError::Sealed {
            source: SealError::NoKey,
            ..
        } => Error::State(StoreError::NoKey),
        PlanFileError::Sealed {
            source: SealError::WrongKey,
            ..
        } => Error::State(StoreError::WrongKey),
        PlanFileError::Sealed {
            source: SealError::KeyMissing,
            ..
        } => Error::State(StoreError::KeyMissing),
        source => Error::Plan {
            name: name.to_owned(),
            source,
        },
    }
}
