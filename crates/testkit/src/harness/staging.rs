//! Reading and checking documents, and making plans.

use std::sync::Arc;

use blueprint::Value;
use diag::{Diagnostics, Files};
use dialect::{Companion, LoadContext};
use engine::{
    Answers, Checked, Documents, Error, Given, Options, Pinned, PinnedDocument, PlannedOperation,
    ReadingFacts, Refresh, Request, Session, StageRequest, Staged,
};
use state::{Generation, StoreError};

use super::Harness;
use super::session::{Reports, inputs};

/// A document that was read and checked.
pub struct CheckedDocument {
    /// The texts of the document and of its children.
    pub files: Files,
    /// Errors, warnings and notes.
    pub diagnostics: Diagnostics,
    /// The checked root; `None` if it could not be lowered.
    pub checked: Option<Arc<Checked>>,
    /// The root with its children.
    pub documents: Option<Arc<Documents>>,
    /// The text of the root, as a generation keeps it.
    pub document: PinnedDocument,
}

/// The result of staging a document.
pub struct StageResult {
    /// The texts of the document and of its children.
    pub files: Files,
    /// Errors, warnings and notes.
    pub diagnostics: Diagnostics,
    /// The plan; `None` if there was an error.
    pub staged: Option<Staged>,
}

impl Harness {
    /// Reads and checks a document and those children whose locations the inputs determine.
    /// `complete`: all inputs are given.
    pub async fn read_all(
        &self,
        name: &str,
        text: &str,
        given: &Given,
        complete: bool,
    ) -> CheckedDocument {
        let before = self.snapshot().await;
        self.read_knowing(
            name,
            text,
            ReadingFacts {
                given: Some(given),
                complete,
                pinned: None,
                before: Some(&before),
            },
        )
        .await
    }

    /// Reads a document like a saved plan, with the bytes that the plan pinned.
    pub async fn read_with(&self, text: &str, pinned: &Pinned) -> CheckedDocument {
        let before = self.snapshot().await;
        self.read_knowing(
            "main.yaml",
            text,
            ReadingFacts::saved(&Given::default(), pinned, &before),
        )
        .await
    }

    /// Reads and checks a document without inputs.
    pub async fn read(&self, name: &str, text: &str) -> CheckedDocument {
        self.read_knowing(name, text, ReadingFacts::default()).await
    }

    async fn read_knowing(
        &self,
        name: &str,
        text: &str,
        known: ReadingFacts<'_>,
    ) -> CheckedDocument {
        let session = self.session();
        let document = session.check(self.source(name, text), known).await;
        self.checked_document(document, &session)
    }

    fn checked_document(&self, document: engine::Document, session: &Session) -> CheckedDocument {
        let pinned = document.pinned(&session.place);
        let engine::Document {
            files,
            found,
            checked,
            documents,
            ..
        } = document;
        let mut diagnostics = self.contradictions_found();
        diagnostics.append(found);
        CheckedDocument {
            files,
            diagnostics,
            checked,
            documents,
            document: pinned,
        }
    }

    fn contradictions_found(&self) -> Diagnostics {
        self.contradictions
            .iter()
            .map(|one| provider::codes::INVALID_CATALOG.new(one.clone()))
            .collect()
    }

    /// Reads, checks and stages a document. A document with errors gets no plan.
    pub async fn stage(
        &self,
        name: &str,
        text: &str,
        given: Given,
        options: Options,
    ) -> StageResult {
        let (session, mut reports) = (self.session(), self.reports());
        let mut request = StageRequest::new(self.source(name, text));
        (request.instance, request.inputs, request.options) =
            (Some(self.name.clone()), inputs(&given), options);
        // Boxed, because the runner of scenarios nests it in further futures.
        match Box::pin(session.stage(request, &mut reports)).await {
            Ok(staged) => StageResult {
                files: staged.document.files,
                diagnostics: reports.diagnostics,
                staged: Some(staged.planned.staged).filter(|_| self.contradictions.is_empty()),
            },
            Err(error) => failed(error, reports),
        }
    }

    /// Checks a document offline, and evaluates the parts that the inputs determine.
    pub async fn validate(&self, name: &str, text: &str, given: &Given) -> CheckedDocument {
        let (session, mut reports) = (self.session(), self.reports());
        let validated = session
            .validate(self.source(name, text), &inputs(given), &mut reports)
            .await;
        let document = validated.unwrap_or_else(|error| panic!("{error}"));
        self.checked_document(document, &session)
    }

    /// Plans without a document: a destroy, unless the options say otherwise.
    pub async fn stage_destroy(&self, options: Options) -> StageResult {
        let (session, mut reports) = (self.session(), self.reports());
        let planned = Box::pin(session.stage_state(self.name.clone(), options, &mut reports)).await;
        match planned {
            Ok(planned) => staged(planned, reports),
            Err(error) => failed(error, reports),
        }
    }

    /// Stages a rollback to a generation; `None` means the last one that succeeded.
    ///
    /// # Errors
    /// The error of the store, for example if the instance does not exist.
    pub async fn stage_rollback(
        &self,
        generation: Option<Generation>,
    ) -> Result<StageResult, StoreError> {
        let (session, mut reports) = (self.session(), self.reports());
        match Box::pin(session.rollback(
            self.name.clone(),
            generation,
            Refresh::Usual,
            &mut reports,
        ))
        .await
        {
            Ok((planned, files)) => Ok(StageResult {
                files,
                ..staged(planned, reports)
            }),
            Err(Error::State(error)) => Err(error),
            Err(error) => Ok(failed(error, reports)),
        }
    }

    fn reports(&self) -> Reports {
        Reports {
            diagnostics: self.contradictions_found(),
            ..Reports::default()
        }
    }

    /// Makes a plan with kept answers, as for a saved plan.
    pub async fn plan(
        &self,
        document: Option<(Arc<Documents>, PinnedDocument)>,
        given: Given,
        options: Options,
        answers: Option<Answers>,
        found: &mut Diagnostics,
    ) -> Option<Staged> {
        let request = Request {
            instance: self.name.name().clone(),
            document,
            given,
            options,
            snapshot: self.snapshot().await,
            catalogs: self.catalogs.clone(),
            functions: self.functions.clone(),
            answers,
            others: None,
            world: &self.shell(),
        };
        engine::plan(request, found).await
    }

    /// Evaluates an expression in a staged document.
    pub async fn evaluate(
        &self,
        staged: &mut Staged,
        expr: &blueprint::Expr,
        found: &mut Diagnostics,
    ) -> Option<Value> {
        staged.evaluate(expr, &self.shell(), found).await
    }

    /// The shell of a process without faults.
    fn shell(&self) -> engine::run::Shell {
        let shell = self.session().shell(&self.name, &self.whole_folder());
        shell.unwrap_or_else(|error| panic!("{error}"))
    }
}

/// The result of staging: the plan and the reports.
fn staged(planned: PlannedOperation, reports: Reports) -> StageResult {
    StageResult {
        files: reports.files,
        diagnostics: reports.diagnostics,
        staged: Some(planned.staged),
    }
}

/// The result of staging without a plan. The diagnostics give the reason.
fn failed(error: Error, mut reports: Reports) -> StageResult {
    match error {
        Error::Reported | Error::Held => {}
        Error::Diagnosed(diagnostic) => reports.diagnostics.push(*diagnostic),
        error => panic!("{error}: {:?}", error.causes()),
    }
    StageResult {
        files: reports.files,
        diagnostics: reports.diagnostics,
        staged: None,
    }
}

/// The load context that an environment of Heat gives to a root document. Drops the environment's
/// diagnostics.
pub fn heat_environment(root: &str, text: &str, name: &str, environment: &str) -> LoadContext {
    let mut files = Files::new();
    let (file, beside) = (files.add(root, text), files.add(name, environment));
    let dialects = crate::dialects();
    let alone = LoadContext::NONE;
    let parsed = dialects.parse(file, root, text, &alone);
    let (given, _) = dialects.parse_companion(beside, name, environment);
    dialects
        .read_companions(
            &parsed.document(),
            &[Companion {
                file: beside,
                name,
                folder: "",
                tree: &given,
                is_check: false,
            }],
        )
        .context
}
