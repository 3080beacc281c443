//! Applies a plan.

use std::time::Duration;

use crate::phases::apply::{ApplySettings, OnFailure};
use crate::phases::run::{Interrupt, Operated, operate};
use state::OperationOutcome;
use tokio::sync::mpsc;

use crate::frontend::{Frontend, Notice, SessionEvent, SharedRun};
use crate::retention;
use crate::rollback::SessionRollbackPlanner;
use crate::session::Session;
use crate::stage::PlannedOperation;

/// A plan to apply.
pub struct OperateRequest {
    /// The plan.
    pub planned: PlannedOperation,
    /// Whether the inputs of the plan are compared with the current ones first, because the plan
    /// may be out of date.
    pub recheck_inputs: bool,
    /// The settings of the operation.
    pub settings: ApplySettings,
    /// The name of the operator, for the history.
    pub who: String,
    /// Stop requests of the user.
    pub interrupts: mpsc::UnboundedReceiver<Interrupt>,
}

impl OperateRequest {
    /// Returns a request for a plan that was just made, with the default settings and without stop
    /// requests.
    pub fn of(planned: PlannedOperation, who: &str) -> OperateRequest {
        // The sender is dropped, so no stop request can arrive.
        let (_, interrupts) = mpsc::unbounded_channel();
        OperateRequest {
            planned,
            recheck_inputs: false,
            settings: ApplySettings::default(),
            who: who.to_owned(),
            interrupts,
        }
    }
}

impl Session {
    /// Returns the settings of an operation. The arguments override the configuration.
    pub fn run_settings(
        &self,
        parallelism: Option<u16>,
        on_failure: Option<OnFailure>,
        wait: Option<Duration>,
    ) -> ApplySettings {
        let mut settings = ApplySettings::default();
        if let Some(parallelism) = parallelism.or(self.config.parallelism) {
            settings.parallelism = usize::from(parallelism);
        }
        if let Some(wait) = wait.or(self.config.wait) {
            settings.hold_after = wait;
        }
        settings.on_failure = on_failure.or(self.config.on_failure).unwrap_or_default();
        settings
    }

    /// Applies a plan under a lease. Events go to the front end; diagnostics are in the result.
    pub async fn operate(&self, request: OperateRequest, frontend: &mut dyn Frontend) -> Operated {
        let OperateRequest {
            planned,
            recheck_inputs: looks_again,
            settings,
            who,
            interrupts,
        } = request;
        let PlannedOperation {
            instance,
            staged,
            shell,
            mut run,
        } = planned;
        let store = self.writing();
        let id = run.id().clone();
        let operated = {
            let shared = SharedRun::new(&mut run, frontend);
            let rollback_planner = SessionRollbackPlanner::new(self, &instance, &shared);
            let emit = |event| shared.emit(SessionEvent::Operation(event));
            let request = crate::phases::run::RunRequest {
                staged,
                recheck_inputs: looks_again,
                shell: &shell,
                store: store.as_ref(),
                instance: &instance,
                id,
                who: &who,
                settings,
                rollback_planner: Some(&rollback_planner),
                interrupts,
            };
            operate(request, emit).await
        };
        if succeeded(&operated)
            && let Err(error) = retention::prune_after_operation(
                store.as_ref(),
                &instance,
                &who,
                self.config.history.keep,
            )
            .await
        {
            run.notice(
                Notice::NotPruned {
                    instance: instance.clone(),
                    why: error.to_string(),
                },
                frontend,
            );
        }
        for notice in store.notices() {
            run.notice(Notice::Store(notice), frontend);
        }
        operated
    }
}

/// Whether an operation succeeded, at least up to the stops of its plan.
fn succeeded(operated: &Operated) -> bool {
    match operated {
        Operated::Nothing => true,
        Operated::Done(outcome) => match outcome.outcome {
            Some(OperationOutcome::Ready | OperationOutcome::Gone) => true,
            Some(OperationOutcome::Interrupted) => {
                !outcome.stops.is_empty() || !outcome.waiting.is_empty()
            }
            _ => false,
        },
        _ => false,
    }
}
