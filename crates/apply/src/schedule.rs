//! Decides which tasks may begin: tracks the progress of each task, the tasks that it waits for,
//! and which tasks are ready.
//!
//! Not here: whether a call slot is free (`limits`), the work of a task (`starting`).

use std::sync::Arc;
use std::time::Duration;

use blueprint::Name;
use plan::plan::Plan;
use plan::task::Until;
use provider::{Operation as Verb, ProviderError};
use state::{Record, Snapshot};

use crate::model::CallRequest;
use crate::queue::{Queue, Ranks};
use crate::{ranks, until};

/// The progress of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskProgress {
    /// Waits for this number of other tasks.
    Waiting(u32),
    /// All tasks that it waits for have progressed far enough.
    Ready,
    /// Waits for answers that determine its call.
    Asking,
    /// Its intent is in the commit in progress, or in the next one.
    Intending,
    /// Its call is running.
    Calling,
    /// Will be called again at a wake-up.
    Resting,
    /// Its outcome is in the commit in progress, or in the next one.
    Recording,
    /// Accepted and recorded, but not ready yet.
    Configured,
    /// Done, and recorded if there is something to record.
    Done,
    /// Failed, and recorded if there is something to record.
    Failed,
    /// Its call did not end when it was cancelled. Its outcome is unknown.
    Abandoned,
    /// Skipped because the operation stops or a task that it needs has failed.
    Skipped,
    /// The operation stands at this gate, or the task waits for such a gate.
    Held,
}

/// The state of a task during the run.
#[derive(Clone, Debug)]
pub(crate) struct TaskState {
    progress: TaskProgress,
    /// The number of calls, or of replies to questions, with a temporary error.
    tries: u32,
    /// The last temporary error of these.
    last_error: Option<Box<ProviderError>>,
    /// What the resource waits for until it is ready, as its provider says.
    waits_for: Option<Name>,
    /// Whether one of these calls may have taken effect.
    is_unsure: bool,
    /// The number of polls that found the resource not ready.
    polls: u32,
    /// The number of rounds in which the task has asked questions.
    rounds: u32,
    /// The time between the polls so far.
    polled_for: Duration,
    /// The time of the first call in milliseconds after the start of the run; `None` if the shell
    /// does not report times.
    called_at: Option<u32>,
    /// The time limit of the task, if the document declares one.
    limit: Option<Duration>,
    /// Whether the time limit has passed.
    late: bool,
    /// The operation of the successful call.
    did: Option<Verb>,
    /// Whether the task is a gate at which the operation stands.
    is_current_stop: bool,
    /// Whether the resource is only polled: it needed no call in this run.
    only_polls: bool,
    /// The call, from its intent to its outcome.
    request: Option<Box<CallRequest>>,
    /// The record that is being written, or whose resource is polled until it is ready.
    record: Option<Arc<Record>>,
}

impl TaskState {
    fn new(progress: TaskProgress) -> TaskState {
        TaskState {
            progress,
            tries: 0,
            last_error: None,
            waits_for: None,
            is_unsure: false,
            polls: 0,
            rounds: 0,
            polled_for: Duration::ZERO,
            called_at: None,
            limit: None,
            late: false,
            did: None,
            is_current_stop: false,
            only_polls: false,
            request: None,
            record: None,
        }
    }

    pub(crate) fn progress(&self) -> TaskProgress {
        self.progress
    }

    pub(crate) fn tries(&self) -> u32 {
        self.tries
    }

    /// What the resource waits for until it is ready, as its provider says.
    pub(crate) fn waits_for(&self) -> Option<&Name> {
        self.waits_for.as_ref()
    }

    /// The last temporary error since the last success.
    pub(crate) fn last_error(&self) -> Option<&ProviderError> {
        self.last_error.as_deref()
    }

    /// Whether a call that failed since the last success may have taken effect.
    pub(crate) fn is_unsure(&self) -> bool {
        self.is_unsure
    }

    fn clear_tries(&mut self) {
        self.tries = 0;
        self.is_unsure = false;
        self.last_error = None;
    }

    pub(crate) fn polls(&self) -> u32 {
        self.polls
    }

    pub(crate) fn polled_for(&self) -> Duration {
        self.polled_for
    }

    pub(crate) fn limit(&self) -> Option<Duration> {
        self.limit
    }

    pub(crate) fn request(&self) -> Option<&CallRequest> {
        self.request.as_deref()
    }

    pub(crate) fn record(&self) -> Option<&Arc<Record>> {
        self.record.as_ref()
    }

    /// The time since the first call in milliseconds.
    pub(crate) fn millis_since_call(&self, now: Option<u32>) -> Option<u32> {
        Some(now?.saturating_sub(self.called_at?))
    }

    /// Whether the wake-up of the time limit has arrived.
    pub(crate) fn is_late(&self) -> bool {
        self.late
    }

    /// Whether the time limit has passed. Its wake-up may arrive later.
    pub(crate) fn is_time_over(&self, now: Option<u32>) -> bool {
        let spent = self.millis_since_call(now).zip(self.limit);
        spent.is_some_and(|(spent, limit)| Duration::from_millis(spent.into()) >= limit)
    }

    /// Whether the operation stands at this gate. A held gate at which it does not stand waits for
    /// another gate.
    pub(crate) fn is_current_stop(&self) -> bool {
        self.progress == TaskProgress::Held && self.is_current_stop
    }

    /// The operation of the task's call in this run, successful or not yet answered.
    pub(crate) fn operation(&self) -> Option<Verb> {
        let called = self
            .request
            .as_ref()
            .filter(|_| !self.only_polls)
            .map(|request| request.operation);
        called.or(self.did)
    }
}

/// The tasks of a plan while they are carried out.
pub(crate) struct Schedule {
    /// Each task, by number.
    tasks: Vec<TaskState>,
    /// The number of leading tasks that are over. A task that is over stays over, so a scan resumes
    /// here.
    over: usize,
    /// The tasks that wait for each task, each with the progress that it waits for.
    waiters: Vec<Vec<(u32, Until)>>,
    /// Tasks that may begin.
    ready: Queue,
    /// The order of the queue.
    ranks: Ranks,
    /// The remaining tasks before the operation stops; `None` if it runs to its end.
    before_stop: Option<until::Tasks>,
    /// Tasks whose resources could not be deleted and were forgotten.
    forgotten: std::collections::HashSet<u32, foldhash::fast::FixedState>,
}

impl Schedule {
    /// Creates all tasks of a plan. Tasks that wait for nothing are ready.
    pub(crate) fn new(plan: &Plan, snapshot: &Snapshot) -> Schedule {
        let mut waiters: Vec<Vec<(u32, Until)>> = vec![Vec::new(); plan.tasks.len()];
        let mut tasks = Vec::with_capacity(plan.tasks.len());
        let ranks = ranks::compute(plan, snapshot);
        let mut ready = Queue::new(&ranks);
        for (at, task) in plan.tasks.iter().enumerate() {
            for wait in &task.waits {
                waiters[wait.task as usize].push((at as u32, wait.until));
            }
            tasks.push(TaskState::new(match task.waits.len() as u32 {
                0 => {
                    ready.push_back(at as u32, &ranks);
                    TaskProgress::Ready
                }
                count => TaskProgress::Waiting(count),
            }));
        }
        let before_stop = until::before_stop(plan, snapshot);
        Schedule {
            tasks,
            over: 0,
            waiters,
            ready,
            ranks,
            before_stop,
            forgotten: Default::default(),
        }
    }

    fn at(&mut self, task: u32) -> &mut TaskState {
        &mut self.tasks[task as usize]
    }

    /// The state of a task.
    pub(crate) fn task(&self, task: u32) -> &TaskState {
        &self.tasks[task as usize]
    }

    /// The progress of a task.
    pub(crate) fn progress(&self, task: u32) -> TaskProgress {
        self.task(task).progress
    }

    /// The states of all tasks, in the order of the plan.
    pub(crate) fn tasks(&self) -> std::slice::Iter<'_, TaskState> {
        self.tasks.iter()
    }

    /// The numbers of the tasks with this progress.
    pub(crate) fn all_with(&self, progress: TaskProgress) -> Vec<u32> {
        (0..self.tasks.len() as u32)
            .filter(|task| self.progress(*task) == progress)
            .collect()
    }

    /// The order of ready tasks.
    pub(crate) fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    /// The tasks that wait for a task.
    pub(crate) fn waiters(&self, task: u32) -> impl Iterator<Item = u32> {
        self.waiters[task as usize]
            .iter()
            .map(|(waiter, _)| *waiter)
    }

    /// Takes the next ready task out of the queue.
    pub(crate) fn next(&mut self) -> Option<u32> {
        self.ready.pop()
    }

    /// Puts a task at the head of the queue.
    pub(crate) fn enqueue_first(&mut self, task: u32) {
        self.ready.push_front(task, &self.ranks);
    }

    /// Makes a task ready again and puts it at the head of the queue.
    pub(crate) fn restart(&mut self, task: u32) {
        self.set_ready(task);
        self.enqueue_first(task);
    }

    /// Makes a task ready again without a place in the queue.
    pub(crate) fn set_ready(&mut self, task: u32) {
        self.at(task).progress = TaskProgress::Ready;
    }

    /// Counts a round of questions of a task, which is ready until it asks them. Returns the number
    /// of its rounds.
    pub(crate) fn begin_round(&mut self, task: u32) -> u32 {
        let state = self.at(task);
        state.progress = TaskProgress::Ready;
        state.rounds += 1;
        state.rounds
    }

    /// Takes back the count of a round in which a task could not ask its questions.
    pub(crate) fn uncount_round(&mut self, task: u32) {
        self.at(task).rounds -= 1;
    }

    /// Marks a task as waiting for replies.
    pub(crate) fn ask(&mut self, task: u32) {
        self.at(task).progress = TaskProgress::Asking;
    }

    /// Makes a task ready that has the reply to a question of another task.
    pub(crate) fn resume(&mut self, task: u32) {
        if self.progress(task) == TaskProgress::Asking {
            self.set_ready(task);
            self.ready.push_back(task, &self.ranks);
        }
    }

    /// Restarts a task that has all its replies.
    pub(crate) fn answered(&mut self, task: u32) {
        self.at(task).clear_tries();
        self.restart(task);
    }

    /// Marks the intent of a task's call as recorded.
    pub(crate) fn intend(&mut self, task: u32, request: CallRequest) {
        let state = self.at(task);
        state.request = Some(Box::new(request));
        state.progress = TaskProgress::Intending;
    }

    /// Sets the time limit of a task.
    pub(crate) fn set_limit(&mut self, task: u32, limit: Duration) {
        self.at(task).limit = Some(limit);
    }

    /// Records that the time limit of a task has passed.
    pub(crate) fn set_late(&mut self, task: u32) {
        self.at(task).late = true;
    }

    /// Marks the call of a task as running. Returns the remaining time of its limit.
    pub(crate) fn call(&mut self, task: u32, now: Option<u32>) -> Option<Duration> {
        let state = self.at(task);
        state.progress = TaskProgress::Calling;
        state.called_at = state.called_at.or(now);
        let spent = Duration::from_millis(state.millis_since_call(now).unwrap_or_default().into());
        state.limit.map(|limit| limit.saturating_sub(spent))
    }

    /// Makes a task rest until a wake-up.
    pub(crate) fn rest(&mut self, task: u32) {
        self.at(task).progress = TaskProgress::Resting;
    }

    /// Counts a temporary error of a task. Returns the number of the next attempt.
    pub(crate) fn count_try(&mut self, task: u32, error: Option<&ProviderError>) -> u32 {
        let state = self.at(task);
        state.is_unsure |= error.is_some_and(ProviderError::leaves_outcome_open);
        state.last_error = error.cloned().map(Box::new);
        state.tries += 1;
        state.tries + 1
    }

    /// Drops the call of a task, because its intent is withdrawn.
    pub(crate) fn withdraw(&mut self, task: u32) {
        self.at(task).request = None;
        self.set_ready(task);
    }

    /// Drops the call of a task. The task starts again as if it had not been called.
    pub(crate) fn start_over(&mut self, task: u32) {
        let state = self.at(task);
        state.request = None;
        state.clear_tries();
        state.late = false;
        self.restart(task);
    }

    /// Marks the outcome of a task as recorded.
    pub(crate) fn record(&mut self, task: u32, record: Option<Arc<Record>>) {
        let state = self.at(task);
        state.progress = TaskProgress::Recording;
        state.record = record;
    }

    /// Marks a task whose outcome is durable and whose resource is polled until it is ready.
    pub(crate) fn set_configured(&mut self, task: u32) {
        let state = self.at(task);
        state.progress = TaskProgress::Configured;
        state.clear_tries();
    }

    /// Stores what a resource waits for until it is ready.
    pub(crate) fn set_waits_for(&mut self, task: u32, waits_for: Option<Name>) {
        self.at(task).waits_for = waits_for;
    }

    /// Marks a task that needs no call. Its resource is only polled, once its record is durable.
    pub(crate) fn only_poll(&mut self, task: u32, request: CallRequest) {
        let state = self.at(task);
        state.request = Some(Box::new(request));
        state.only_polls = true;
    }

    /// Marks a task that makes no call of its own in this run.
    pub(crate) fn set_only_polls(&mut self, task: u32) {
        self.at(task).only_polls = true;
    }

    /// Starts polling a resource that an earlier operation left accepted but not ready. The state
    /// holds its values already, so readers need not wait.
    pub(crate) fn poll_prior(&mut self, task: u32, request: CallRequest, prior: Arc<Record>) {
        let state = self.at(task);
        state.progress = TaskProgress::Configured;
        state.request = Some(Box::new(request));
        state.record = Some(prior);
        self.release(task, Some(Until::Configured));
    }

    /// Counts a poll that found the resource not ready. The next poll follows after this time.
    pub(crate) fn count_poll(&mut self, task: u32, after: Duration) {
        let state = self.at(task);
        state.polls += 1;
        state.clear_tries();
        state.polled_for += after;
    }

    /// Completes a task whose outcome is durable. Returns its call if it made one.
    pub(crate) fn finish(&mut self, task: u32) -> Option<Box<CallRequest>> {
        let state = self.at(task);
        let called = state.request.take().filter(|_| !state.only_polls);
        state.record = None;
        state.did = called.as_ref().map(|request| request.operation);
        state.progress = TaskProgress::Done;
        called
    }

    /// Completes a task that records nothing.
    pub(crate) fn complete(&mut self, task: u32) {
        self.at(task).progress = TaskProgress::Done;
        self.release(task, None);
    }

    /// Marks a task as failed.
    pub(crate) fn fail(&mut self, task: u32) {
        self.at(task).progress = TaskProgress::Failed;
    }

    /// Marks a task whose call is no longer awaited.
    pub(crate) fn abandon(&mut self, task: u32) {
        self.at(task).progress = TaskProgress::Abandoned;
    }

    /// Marks a task as skipped.
    pub(crate) fn skip(&mut self, task: u32) {
        self.at(task).progress = TaskProgress::Skipped;
    }

    /// Marks a task whose resource could not be deleted and is forgotten.
    pub(crate) fn forget(&mut self, task: u32) {
        self.forgotten.insert(task);
    }

    /// Whether the resource of a task could not be deleted and was forgotten.
    pub(crate) fn is_forgotten(&self, task: u32) -> bool {
        self.forgotten.contains(&task)
    }

    /// Releases the tasks that wait for a task: all of them, or only those that wait for the
    /// progress `only`.
    pub(crate) fn release(&mut self, task: u32, only: Option<Until>) {
        let waiters = std::mem::take(&mut self.waiters[task as usize]);
        let (now, later): (Vec<_>, Vec<_>) = waiters
            .into_iter()
            .partition(|(_, until)| only.is_none_or(|only| *until == only));
        self.waiters[task as usize] = later;
        for (waiter, _) in now {
            self.count_wait_done(waiter);
        }
    }

    /// Counts one task less that a task waits for.
    fn count_wait_done(&mut self, waiter: u32) {
        let state = &mut self.tasks[waiter as usize];
        if let TaskProgress::Waiting(count) = state.progress {
            if count <= 1 {
                state.progress = TaskProgress::Ready;
                self.ready.push_back(waiter, &self.ranks);
            } else {
                state.progress = TaskProgress::Waiting(count - 1);
            }
        }
    }

    /// Skips the tasks that depend on a failed task, except those for which `goes_on` returns true.
    /// Its arguments are the failed task, the waiting task and the progress that it waits for.
    /// Returns the skipped tasks.
    pub(crate) fn skip_dependants(
        &mut self,
        task: u32,
        goes_on: impl Fn(u32, u32, Until) -> bool,
    ) -> Vec<u32> {
        let mut skipped = Vec::new();
        let mut stack = vec![task];
        while let Some(task) = stack.pop() {
            for (waiter, until) in std::mem::take(&mut self.waiters[task as usize]) {
                if goes_on(task, waiter, until) {
                    self.count_wait_done(waiter);
                } else if matches!(
                    self.progress(waiter),
                    TaskProgress::Waiting(_) | TaskProgress::Ready
                ) {
                    self.skip(waiter);
                    skipped.push(waiter);
                    stack.push(waiter);
                }
            }
        }
        skipped
    }

    /// Stops the operation at a gate. Holds all tasks that wait for the gate, except those that
    /// wait only until it is over.
    pub(crate) fn stop_at_gate(&mut self, gate: u32) {
        self.at(gate).is_current_stop = true;
        self.hold(gate);
    }

    /// Holds a task, and all tasks that wait for it, except those that wait only until it is over.
    pub(crate) fn hold(&mut self, task: u32) {
        self.at(task).progress = TaskProgress::Held;
        let mut stack = vec![task];
        while let Some(task) = stack.pop() {
            for (waiter, until) in std::mem::take(&mut self.waiters[task as usize]) {
                if until == Until::Over {
                    self.count_wait_done(waiter);
                } else if matches!(self.progress(waiter), TaskProgress::Waiting(_)) {
                    self.at(waiter).progress = TaskProgress::Held;
                    stack.push(waiter);
                }
            }
        }
    }

    /// Whether all tasks are over. `can_go_on` says whether a task with this progress may still go
    /// on.
    pub(crate) fn is_over(&mut self, can_go_on: impl Fn(TaskProgress) -> bool) -> bool {
        self.over += self.tasks[self.over..]
            .iter()
            .take_while(|task| !can_go_on(task.progress))
            .count();
        self.over >= self.tasks.len()
    }

    /// Removes a done task from the remaining tasks before the operation stops. Returns whether it
    /// was one of them.
    pub(crate) fn remove_before_stop(&mut self, task: u32) -> bool {
        self.before_stop
            .as_mut()
            .is_some_and(|left| left.remove(&task))
    }

    /// Whether all tasks before the point at which the operation stops are done.
    pub(crate) fn has_reached_stop(&self) -> bool {
        self.before_stop
            .as_ref()
            .is_some_and(until::Tasks::is_empty)
    }
}
