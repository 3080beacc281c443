//! The events that a session sends to its front end, and the two questions that it may ask.
//!
//! Not here: output.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::phases::run::{Clock, Rng, operation_id};
use crate::phases::{Checked, Given};
use blueprint::{Address, Name};
use diag::{Diagnostics, Files};
use state::InstanceName;

use crate::error::Error;

/// Receives diagnostics and events as they occur, in display order.
pub trait Frontend: Send {
    /// Receives the diagnostics of a step and the texts that they refer to.
    fn found(&mut self, found: &Diagnostics, files: &Files);

    /// Receives an event.
    fn event(&mut self, envelope: Envelope);

    /// Asks whether a document belongs to an existing instance and was renamed. Returns `None` if
    /// there is no person to ask.
    fn is_renamed(&mut self, renamed: &Renamed) -> Option<bool> {
        let _ = renamed;
        None
    }

    /// Whether a person answers questions about missing inputs.
    fn can_ask(&self) -> bool {
        false
    }

    /// Asks for inputs that have no value yet. Inputs that are still missing are an error of the
    /// plan.
    fn inputs(&mut self, checked: &Checked, given: &mut Given) -> Result<(), Error> {
        let _ = (checked, given);
        Ok(())
    }
}

/// A document without an instance, and an instance whose document no longer exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// The document, relative to the state.
    pub document: String,
    /// The instance.
    pub instance: InstanceName,
    /// The document from which the instance was deployed.
    pub before: String,
}

/// An event with its operation, sequence number and time.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The id of the operation that the event belongs to, as in the history. The id is chosen
    /// before planning, so events of a plan name the operation that later applies the plan. An
    /// automatic rollback reports under the id of the operation that failed.
    pub operation: Name,
    /// The number of the event in the operation, from 1.
    pub sequence: u64,
    /// The time of the event, in milliseconds since 1970 UTC.
    pub at_ms: i64,
    /// The event.
    pub event: SessionEvent,
}

/// An event of a session.
#[derive(Clone, Debug)]
pub enum SessionEvent {
    /// A fact to report to the user.
    Notice(Notice),
    /// A resource is read for a plan.
    Reading(Address),
    /// A request to a provider for a plan failed and is repeated after a pause.
    ProviderRetry {
        /// The subject of the request.
        what: String,
        /// The pause.
        pause: Duration,
        /// The provider's message.
        why: String,
    },
    /// An event of the operation.
    Operation(crate::phases::Event),
}

/// A fact to report to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The document belongs to an instance with another name.
    BelongsTo(InstanceName),
    /// The user said that the document is new; this is its instance.
    NewInstance(InstanceName),
    /// A data source is read whose type runs a command or sends a request.
    DataSourceHasEffects {
        /// The data source.
        name: Name,
        /// Its type.
        type_name: Name,
    },
    /// The rollback targets this generation, and no later operation exists.
    AtLastGeneration(u64),
    /// The request waits for another operation on the instance.
    WaitsForOperation {
        /// The instance.
        instance: InstanceName,
        /// Who runs the operation.
        who: Name,
    },
    /// Old operations could not be removed from the history.
    NotPruned {
        /// The instance.
        instance: InstanceName,
        /// The reason.
        why: String,
    },
    /// The store reports an action of its own, as a sentence without its full stop.
    Store(String),
}

/// A plan and its operation. Numbers their events and sets the time and the operation id of each.
#[derive(Debug)]
pub struct FrontendRun {
    id: Name,
    clock: Clock,
    sequence: u64,
}

impl FrontendRun {
    /// Creates a run. Draws its id from `ids` and reads the times of events from `clock`.
    pub fn new(ids: &Rng, clock: &Clock) -> FrontendRun {
        FrontendRun {
            id: operation_id(ids),
            clock: clock.clone(),
            sequence: 0,
        }
    }

    /// The id of the operation in the history, if the plan is applied.
    pub fn id(&self) -> &Name {
        &self.id
    }

    /// Passes an event to a front end, with its number and time.
    pub fn emit(&mut self, event: SessionEvent, frontend: &mut dyn Frontend) {
        self.sequence += 1;
        let operation = self.id.clone();
        let at_ms = self.clock.now_ms();
        frontend.event(Envelope {
            operation,
            sequence: self.sequence,
            at_ms,
            event,
        });
    }

    /// Sends a notice to a front end.
    pub fn notice(&mut self, notice: Notice, frontend: &mut dyn Frontend) {
        self.emit(SessionEvent::Notice(notice), frontend);
    }
}

/// A run with its front end, shared by an operation and the plan of its rollback, which report in
/// turn.
pub(crate) struct SharedRun<'a>(Mutex<(&'a mut FrontendRun, &'a mut dyn Frontend)>);

impl<'a> SharedRun<'a> {
    pub(crate) fn new(run: &'a mut FrontendRun, frontend: &'a mut dyn Frontend) -> SharedRun<'a> {
        SharedRun(Mutex::new((run, frontend)))
    }

    /// Passes an event to the front end, with its number and time.
    pub(crate) fn emit(&self, event: SessionEvent) {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (run, frontend) = &mut *shared;
        run.emit(event, *frontend);
    }
}

/// A front end that shows nothing and answers no questions. It collects the diagnostics and the
/// events.
#[derive(Debug, Default)]
pub struct Silent {
    /// All diagnostics.
    pub diagnostics: Diagnostics,
    /// All events.
    pub events: Vec<Envelope>,
}

impl Frontend for Silent {
    fn found(&mut self, found: &Diagnostics, _: &Files) {
        self.diagnostics.extend(found.iter().cloned());
    }

    fn event(&mut self, envelope: Envelope) {
        self.events.push(envelope);
    }
}
