//! What a session tells its front end while it works, and the two questions that it may ask.
//!
//! Not here: how any of it is shown.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::phases::shell::{Clock, Rng, operation_id};
use crate::phases::{Checked, Given};
use blueprint::{Address, Name};
use diag::{Diagnostics, Files};
use state::InstanceName;

use crate::error::Error;

/// Receives diagnostics and events as they come, in the order in which they are to be shown.
pub trait Frontend: Send {
    /// A step found this, and the texts that it points into.
    fn found(&mut self, found: &Diagnostics, files: &Files);

    /// Something happened.
    fn event(&mut self, envelope: Envelope);

    /// Whether a document is that of an existing instance under a new name. `None` if there is no person to ask.
    fn is_renamed(&mut self, renamed: &Renamed) -> Option<bool> {
        let _ = renamed;
        None
    }

    /// Whether a person answers questions about missing inputs.
    fn can_ask(&self) -> bool {
        false
    }

    /// Asks for inputs that have no value yet. Inputs that still have none are an error of the plan.
    fn inputs(&mut self, checked: &Checked, given: &mut Given) -> Result<(), Error> {
        let _ = (checked, given);
        Ok(())
    }
}

/// A document without an instance, while one instance has lost its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// The document, relative to the state.
    pub document: String,
    /// The instance.
    pub instance: InstanceName,
    /// The document from which the instance was deployed.
    pub before: String,
}

/// An event with what orders it.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The id of the operation that it belongs to, as the history shows it. The id is chosen before planning, so events
    /// of a plan name the operation that carries the plan out. An automatic rollback reports under the id of the
    /// operation that failed.
    pub operation: Name,
    /// Its number in the operation, from 1.
    pub sequence: u64,
    /// When it happened, in milliseconds since 1970 UTC.
    pub at_ms: i64,
    /// The event.
    pub event: SessionEvent,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum SessionEvent {
    /// A fact that the person should know.
    Notice(Notice),
    /// A resource is read for a plan.
    Reading(Address),
    /// A provider was asked for a plan, and is asked again after a pause.
    AskedAgain {
        /// About what.
        what: String,
        /// The pause.
        pause: Duration,
        /// Why: the provider's words.
        why: String,
    },
    /// An event of the operation.
    Operation(crate::phases::Event),
}

/// A fact that the person should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The document belongs to an instance with another name.
    BelongsTo(InstanceName),
    /// The person said that a document is new: this is its instance.
    NewInstance(InstanceName),
    /// A data source of this type is read, which runs a command or sends a request.
    ReadingActs {
        /// The data source.
        name: Name,
        /// Its type.
        type_name: Name,
    },
    /// The rollback has this generation as its goal, and no operation came after it.
    AtLastGeneration(u64),
    /// Old operations could not be removed from the history.
    NotPruned {
        /// The instance.
        instance: InstanceName,
        /// Why.
        why: String,
    },
    /// The store reports what it did on its own, as a sentence without its full stop.
    Store(String),
}

/// A plan and its operation: has the id of the operation, numbers the events and says when they happened.
#[derive(Debug)]
pub struct FrontendRun {
    id: Name,
    clock: Clock,
    sequence: u64,
}

impl FrontendRun {
    /// A new run: its id is drawn from `ids`, and its events happen at times of `clock`.
    pub fn new(ids: &Rng, clock: &Clock) -> FrontendRun {
        FrontendRun { id: operation_id(ids), clock: clock.clone(), sequence: 0 }
    }

    /// The id that the operation has in the history, if the plan is carried out.
    pub fn id(&self) -> &Name {
        &self.id
    }

    /// Passes an event to a front end, with its number and time.
    pub fn emit(&mut self, event: SessionEvent, frontend: &mut dyn Frontend) {
        self.sequence += 1;
        let (operation, at_ms) = (self.id.clone(), self.clock.now_ms());
        frontend.event(Envelope { operation, sequence: self.sequence, at_ms, event });
    }

    /// Tells a front end of a fact.
    pub fn notice(&mut self, notice: Notice, frontend: &mut dyn Frontend) {
        self.emit(SessionEvent::Notice(notice), frontend);
    }
}

/// A run with its front end. An operation and the plan of its rollback report to it in turn.
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

/// A front end that shows nothing and has no answers. It keeps the diagnostics as text and the events.
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
