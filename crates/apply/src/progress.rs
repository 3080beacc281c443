//! The state of a run: whether and why it stops, and its results so far.

use blueprint::{Address, Name, TypeId};
use diag::{Diagnostic, Diagnostics};
use provider::Operation as Verb;
use state::Counts;

/// Whether and why an operation stops.
#[derive(Default)]
pub(crate) struct RunState {
    /// Whether no new task starts.
    stopping: bool,
    /// Whether a person asked to stop.
    interrupted: bool,
    /// Whether the running calls were cancelled.
    cancelled: bool,
    /// Whether cancelled calls did not end and are no longer awaited.
    abandoned: bool,
    /// Whether a step failed.
    failed: bool,
    /// Whether the operation has stopped after the resources that its options name.
    at_until: bool,
    /// Whether the operation stands at a breakpoint.
    at_breakpoint: bool,
}

impl RunState {
    /// Stops the start of new tasks. Returns false if the operation is stopping already.
    pub(crate) fn begin_stop(&mut self) -> bool {
        !std::mem::replace(&mut self.stopping, true)
    }

    /// Records that a person asks to stop.
    pub(crate) fn interrupt(&mut self) {
        self.interrupted = true;
    }

    /// Records that the running calls are cancelled.
    pub(crate) fn cancel(&mut self) {
        self.cancelled = true;
    }

    /// Records that cancelled calls are no longer awaited. Their outcomes are unknown, so the
    /// operation fails.
    pub(crate) fn abandon(&mut self) {
        self.abandoned = true;
        self.failed = true;
    }

    /// Records that a step failed.
    pub(crate) fn fail(&mut self) {
        self.failed = true;
    }

    /// Records that the operation stops after the resources that its options name.
    pub(crate) fn stop_at_until(&mut self) {
        self.at_until = true;
    }

    /// Records that the operation holds tasks: at a breakpoint, or behind a resource that is not
    /// ready in time.
    pub(crate) fn hold_tasks(&mut self) {
        self.at_breakpoint = true;
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    pub(crate) fn is_at_until(&self) -> bool {
        self.at_until
    }

    pub(crate) fn is_at_breakpoint(&self) -> bool {
        self.at_breakpoint
    }
}

/// A resource that was not ready in time: its address, and what it waits for.
pub(crate) type Unready = (Address, Name);

/// A resource that could not be deleted and was forgotten: address, type and the provider's id.
pub(crate) type LeftBehind = (Address, TypeId, Name);

/// The results of an operation so far.
#[derive(Default)]
pub(crate) struct Results {
    counts: Counts,
    diagnostics: Diagnostics,
    left_behind: Vec<LeftBehind>,
    unready: Vec<Unready>,
}

impl Results {
    /// The numbers of resources that were changed.
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// Counts a durable operation on a resource.
    pub(crate) fn count(&mut self, operation: Verb) {
        match operation {
            Verb::Create => self.counts.created += 1,
            Verb::Update => self.counts.updated += 1,
            Verb::Delete => self.counts.deleted += 1,
        }
    }

    /// Counts a durable replacement of a resource.
    pub(crate) fn count_replacement(&mut self) {
        self.counts.replaced += 1;
    }

    /// Adds an error or a note.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Adds the errors among the mistakes of an evaluation. Returns whether there are any.
    pub(crate) fn report_errors(&mut self, mut mistakes: Diagnostics) -> bool {
        mistakes.retain(Diagnostic::is_error);
        let failed = mistakes.has_errors();
        self.diagnostics.append(mistakes);
        failed
    }

    /// Errors and notes, for functions that add their own.
    pub(crate) fn diagnostics(&mut self) -> &mut Diagnostics {
        &mut self.diagnostics
    }

    /// Whether an error was reported.
    pub(crate) fn has_errors(&self) -> bool {
        self.diagnostics.has_errors()
    }

    /// Adds a resource that could not be deleted and is forgotten.
    pub(crate) fn leave_behind(&mut self, resource: LeftBehind) {
        self.left_behind.push(resource);
    }

    /// Adds a resource that was not ready in time and is held.
    pub(crate) fn hold(&mut self, resource: Unready) {
        self.unready.push(resource);
    }

    /// The resources that were not ready in time.
    pub(crate) fn unready(&self) -> &[Unready] {
        &self.unready
    }

    /// Takes the errors and notes for the report of the operation.
    pub(crate) fn take_diagnostics(&mut self) -> Diagnostics {
        std::mem::take(&mut self.diagnostics)
    }

    /// Takes the forgotten resources for the report of the operation.
    pub(crate) fn take_left_behind(&mut self) -> Vec<LeftBehind> {
        std::mem::take(&mut self.left_behind)
    }
}
