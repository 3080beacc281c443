//! Rollbacks: makes a plan that brings an instance back to an earlier generation, on request or
//! after an operation has failed.

use std::sync::{Mutex, PoisonError};

use crate::phases::generation::RollbackTarget;
use crate::phases::run::{RollbackPlanner, Shell, rollback_target};
use crate::phases::{Given, Options, Refresh, Staged};
use diag::{Diagnostics, Files};
use provider::BoxFuture;
use state::{Generation, InstanceName, Snapshot};

use crate::document::ReadingFacts;
use crate::document_source::DocumentSource;
use crate::error::Error;
use crate::findings::raise_warnings;
use crate::from_state::usual_reads;
use crate::frontend::{Frontend, Notice, SessionEvent, SharedRun};
use crate::installed::Access;
use crate::session::Session;
use crate::stage::{Basis, PlannedOperation};

/// A rollback plan.
struct RollbackPlan {
    /// The documents of the generation, for diagnostics.
    files: Files,
    /// The shell that the plan was made with; `None` if the documents have errors.
    shell: Option<Shell>,
    /// The plan; `None` if there were errors.
    staged: Option<Staged>,
}

/// The inputs of a rollback plan.
struct RollbackRequest<'a> {
    target: RollbackTarget,
    instance: &'a InstanceName,
    snapshot: Snapshot,
    refresh: Refresh,
}

impl Session {
    /// Plans a rollback to a generation. `None` is the generation of the last successful operation,
    /// or no resources if there is none. `refresh` says whether the recorded
    /// objects are read.
    pub async fn rollback(
        &self,
        instance: InstanceName,
        generation: Option<Generation>,
        refresh: Refresh,
        frontend: &mut dyn Frontend,
    ) -> Result<(PlannedOperation, Files), Error> {
        let mut run = self.new_run();
        self.refuse_held(&instance, frontend).await?;
        let target = match rollback_target(self.reading().as_ref(), &instance, generation).await? {
            Ok(goal) => goal,
            Err(diagnostic) => {
                frontend.found(&std::iter::once(*diagnostic).collect(), &Files::new());
                return Err(Error::Reported);
            }
        };
        let snapshot = self.load_state(&instance, frontend).await?;
        if let RollbackTarget::Generation(saved) = &target
            && generation.is_none()
            && saved.generation == snapshot.generation
        {
            run.notice(Notice::AtLastGeneration(saved.generation.0), frontend);
        }
        let refresh = self.refresh(refresh, usual_reads(&snapshot));
        let mut found = Diagnostics::new();
        let request = RollbackRequest {
            target,
            instance: &instance,
            snapshot,
            refresh,
        };
        let plan = self
            .plan_rollback(request, &mut found, &mut |event| run.emit(event, frontend))
            .await?;
        raise_warnings(self.strict, &mut found);
        frontend.found(&found, &plan.files);
        let planned = plan.staged.filter(|_| !found.has_errors()).zip(plan.shell);
        let (staged, shell) = planned.ok_or(Error::Reported)?;
        Ok((
            PlannedOperation {
                instance,
                staged,
                shell,
                run,
            },
            plan.files,
        ))
    }

    async fn plan_rollback(
        &self,
        request: RollbackRequest<'_>,
        found: &mut Diagnostics,
        emit: &mut (dyn FnMut(SessionEvent) + Send),
    ) -> Result<RollbackPlan, Error> {
        let RollbackRequest {
            target: goal,
            instance,
            snapshot,
            refresh,
        } = request;
        let options = Options {
            rollback: true,
            refresh,
            simulated: self.is_simulated(),
            ..Options::default()
        };
        let (files, root, document, given, answers) = match goal {
            RollbackTarget::Nothing => (
                Files::new(),
                self.root_of(&snapshot),
                None,
                Given::default(),
                None,
            ),
            RollbackTarget::Generation(saved) => {
                let saved = saved.with_document_at(&snapshot.document);
                let source = DocumentSource::pinned(&saved.document, &self.place);
                // Resources are made where the document is now.
                let folder = DocumentSource::stored_folder(&saved.document.path, &self.place);
                let shown = format!("{} (generation {})", source.shown, saved.generation.0);
                let children = saved.answers.pinned();
                let known = ReadingFacts::saved(&saved.given, &children, &snapshot);
                let document = self.check(DocumentSource { shown, ..source }, known).await;
                // Transforms can make resources of any provider.
                if document.has_transforms() {
                    self.library.open_all();
                }
                found.append(document.found);
                let Some(documents) = document.documents.filter(|_| !found.has_errors()) else {
                    return Ok(RollbackPlan {
                        files: document.files,
                        shell: None,
                        staged: None,
                    });
                };
                let planned = Some((documents, saved.document));
                (
                    document.files,
                    folder,
                    planned,
                    saved.given,
                    Some(saved.answers),
                )
            }
        };
        self.library.open_recorded(&snapshot).await;
        let documents = document.as_ref().map(|(documents, _)| documents.as_ref());
        let mut shell = self.shell_of(instance, &root, documents)?;
        let basis = Basis {
            document,
            given,
            options,
            snapshot,
            answers,
        };
        let staged = self.plan_quietly(basis, &mut shell, found, emit).await;
        Ok(RollbackPlan {
            files,
            shell: Some(shell),
            staged,
        })
    }
}

/// Makes the plan for the automatic rollback of an operation of this process that has failed.
pub(crate) struct SessionRollbackPlanner<'a> {
    session: &'a Session,
    instance: &'a InstanceName,
    /// Receives the events of planning. They have the id of the failed operation.
    run: &'a SharedRun<'a>,
    /// The documents of the target generation, once they have been read.
    files: Mutex<Files>,
}

impl<'a> SessionRollbackPlanner<'a> {
    pub(crate) fn new(
        session: &'a Session,
        instance: &'a InstanceName,
        run: &'a SharedRun<'a>,
    ) -> SessionRollbackPlanner<'a> {
        SessionRollbackPlanner {
            session,
            instance,
            run,
            files: Mutex::default(),
        }
    }
}

impl RollbackPlanner for SessionRollbackPlanner<'_> {
    fn stage<'a>(
        &'a self,
        goal: RollbackTarget,
        found: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Option<Staged>> {
        Box::pin(async move {
            let plan = async {
                let snapshot = self.session.open(Access::Read).load(self.instance).await?;
                let usual = usual_reads(&snapshot);
                let request = RollbackRequest {
                    target: goal,
                    instance: self.instance,
                    snapshot,
                    refresh: self.session.refresh(Refresh::Usual, usual),
                };
                self.session
                    .plan_rollback(request, found, &mut |event| self.run.emit(event))
                    .await
            };
            match plan.await {
                Ok(plan) => {
                    *self.files.lock().unwrap_or_else(PoisonError::into_inner) = plan.files;
                    plan.staged
                }
                Err(error) => {
                    found.push(
                        crate::codes::ROLLBACK_INCOMPLETE
                            .new("the rollback has not begun: its plan could not be made")
                            .note(error.to_string()),
                    );
                    None
                }
            }
        })
    }

    // The front end does not have the documents of the target generation, so it cannot show labels
    // in them.
    fn flatten_places(&self, mut found: Diagnostics) -> Diagnostics {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        for diagnostic in found.iter_mut() {
            if let Some(label) = diagnostic.labels.first()
                && let Some(file) = files.get(label.span.file)
            {
                let place = file.position(label.span.start);
                diagnostic
                    .notes
                    .push(format!("{}:{}:{}", file.name(), place.line, place.column));
            }
            diagnostic.labels.clear();
            diagnostic.fixes.clear();
            diagnostic.trail.clear();
        }
        found
    }
}
