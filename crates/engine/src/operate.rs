//! Carrying a plan out.

use crate::phases::apply::ApplySettings;
use crate::phases::shell::{Interrupt, Operated, operate};
use state::OperationOutcome;
use tokio::sync::mpsc;

use crate::config::OnFailure;
use crate::frontend::{Frontend, Notice, SessionEvent, SharedRun};
use crate::retention;
use crate::rollback::Planner;
use crate::session::Session;
use crate::stage::PlannedOperation;

/// A plan to be carried out.
pub struct OperateRequest {
    /// The plan.
    pub planned: PlannedOperation,
    /// Whether everything that the plan was made from is compared again first, because time has passed since.
    pub looks_again: bool,
    /// How it is carried out.
    pub settings: ApplySettings,
    /// Who carries it out, for the history.
    pub who: String,
    /// Requests of a person to stop.
    pub interrupts: mpsc::UnboundedReceiver<Interrupt>,
}

impl OperateRequest {
    /// A plan that was just made, carried out with the default settings and to its end.
    pub fn of(planned: PlannedOperation, who: &str) -> OperateRequest {
        // The sender is dropped: no request to stop comes.
        let (_, interrupts) = mpsc::unbounded_channel();
        OperateRequest {
            planned,
            looks_again: false,
            settings: ApplySettings::default(),
            who: who.to_owned(),
            interrupts,
        }
    }
}

impl Session {
    /// How an operation is carried out, by the request and by the configuration.
    pub fn run_settings(&self, parallelism: Option<u16>, on_failure: Option<OnFailure>) -> ApplySettings {
        let mut settings = ApplySettings::default();
        if let Some(parallelism) = parallelism.or(self.config.parallelism) {
            settings.parallelism = usize::from(parallelism);
        }
        settings.on_failure = match on_failure.or(self.config.on_failure) {
            None | Some(OnFailure::Stop) => crate::phases::apply::OnFailure::Stop,
            Some(OnFailure::KeepGoing) => crate::phases::apply::OnFailure::KeepGoing,
            Some(OnFailure::Rollback) => crate::phases::apply::OnFailure::Rollback,
        };
        settings
    }

    /// Carries a plan out under a lease. Events go to the front end; diagnostics are in the result.
    pub async fn operate(&self, request: OperateRequest, frontend: &mut dyn Frontend) -> Operated {
        let OperateRequest { planned, looks_again, settings, who, interrupts } = request;
        let PlannedOperation { instance, staged, shell, mut run } = planned;
        let store = self.writing();
        let id = run.id().clone();
        let operated = {
            let shared = SharedRun::new(&mut run, frontend);
            let back = Planner::new(self, &instance, &shared);
            let tell = |event| shared.emit(SessionEvent::Operation(event));
            let request = crate::phases::shell::OperateRequest {
                staged,
                looks_again,
                shell: &shell,
                store: store.as_ref(),
                instance: &instance,
                id,
                who: &who,
                settings,
                back: Some(&back),
                interrupts,
            };
            operate(request, tell).await
        };
        if ended_well(&operated)
            && let Err(error) =
                retention::after_an_operation(store.as_ref(), &instance, &who, self.config.history.keep).await
        {
            run.notice(Notice::NotPruned { instance: instance.clone(), why: error.to_string() }, frontend);
        }
        for notice in store.notices() {
            run.notice(Notice::Store(notice), frontend);
        }
        operated
    }
}

/// Whether an operation did what it was to do, up to the stops of its plan.
fn ended_well(operated: &Operated) -> bool {
    match operated {
        Operated::Nothing => true,
        Operated::Done(outcome) => match outcome.outcome {
            Some(OperationOutcome::Ready | OperationOutcome::Gone) => true,
            Some(OperationOutcome::Interrupted) => !outcome.stops.is_empty() || !outcome.waiting.is_empty(),
            _ => false,
        },
        _ => false,
    }
}
