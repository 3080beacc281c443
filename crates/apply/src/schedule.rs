//! Which tasks may begin: how far each task is, what it waits for, and the queue of those that are ready.
//!
//! Not here: whether there is room for a call (`limits`), what a task does (`start`).

use std::sync::Arc;
use std::time::Duration;

use plan::plan::Plan;
use plan::task::Until;
use provider::Operation as Verb;
use state::{Record, Snapshot};

use crate::model::CallRequest;
use crate::queue::{Queue, Ranks};
use crate::{ranks, until};

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Waits for this many other tasks.
    Waiting(u32),
    /// Everything that it waits for has come far enough.
    Ready,
    /// Waits for answers that determine its call.
    Asking,
    /// Its intent is in the commit under way, or in the next.
    Intending,
    /// Its call is out.
    Calling,
    /// Will be called again at a wake-up.
    Resting,
    /// Its outcome is in the commit under way, or in the next.
    Recording,
    /// Accepted and recorded; becoming stable.
    Configured,
    /// Done, and recorded as far as there is something to record.
    Done,
    /// Failed, and recorded as far as there is something to record.
    Failed,
    /// Its call did not end when it was cancelled. Its outcome is unknown.
    Abandoned,
    /// Left out because the operation stops or something that it needs has failed.
    Skipped,
    /// The operation stands at it, or at what it waits for.
    Held,
}

/// What is known of a task while it runs.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) progress: Progress,
    /// How often its call was made.
    pub(crate) tries: u32,
    /// How often its readiness was polled.
    pub(crate) polls: u32,
    /// How often it has asked questions.
    pub(crate) rounds: u32,
    /// How long it has been polled.
    pub(crate) waited: Duration,
    /// When it was first called, in milliseconds after the run began; none where the shell does not report times.
    pub(crate) called_at: Option<u32>,
    /// How long it may take, if not as long as everything else.
    pub(crate) limit: Option<Duration>,
    /// That time is over.
    pub(crate) late: bool,
    /// The call that was answered well.
    pub(crate) did: Option<Verb>,
    /// Whether it is a gate at which the operation stands.
    pub(crate) turn: bool,
    /// It needed no call, and waits for what an earlier operation did.
    pub(crate) only_polls: bool,
    /// The call, from its intent to its outcome.
    pub(crate) request: Option<Box<CallRequest>>,
    /// The record to be, while it is being recorded or becomes stable.
    pub(crate) record: Option<Arc<Record>>,
}

impl Running {
    fn new(progress: Progress) -> Running {
        Running {
            progress,
            tries: 0,
            polls: 0,
            rounds: 0,
            waited: Duration::ZERO,
            called_at: None,
            limit: None,
            late: false,
            did: None,
            turn: false,
            only_polls: false,
            request: None,
            record: None,
        }
    }
}

/// The tasks of a plan while they are carried out.
pub(crate) struct Schedule {
    /// Each task, by number.
    pub(crate) running: Vec<Running>,
    /// The number of tasks from the first one on that are over. Tasks never become open again, so a scan resumes here.
    pub(crate) over: usize,
    /// The tasks that wait for each task, and how far it must come.
    pub(crate) after: Vec<Vec<(u32, Until)>>,
    /// Tasks that may begin.
    pub(crate) ready: Queue,
    /// The order of the queue.
    pub(crate) ranks: Ranks,
    /// Tasks that are left before the operation stops; none if it runs to its end.
    before_stop: Option<until::Tasks>,
    /// Tasks whose resources could not be deleted and were forgotten.
    pub(crate) forced: std::collections::HashSet<u32, foldhash::fast::FixedState>,
}

impl Schedule {
    /// All tasks of a plan; those that wait for nothing are ready.
    pub(crate) fn new(plan: &Plan, snapshot: &Snapshot) -> Schedule {
        let mut after: Vec<Vec<(u32, Until)>> = vec![Vec::new(); plan.tasks.len()];
        let mut running = Vec::with_capacity(plan.tasks.len());
        let ranks = ranks::compute(plan, snapshot);
        let mut ready = Queue::new(&ranks);
        for (at, task) in plan.tasks.iter().enumerate() {
            for wait in &task.waits {
                after[wait.task as usize].push((at as u32, wait.until));
            }
            running.push(Running::new(match task.waits.len() as u32 {
                0 => {
                    ready.push_back(at as u32, &ranks);
                    Progress::Ready
                }
                count => Progress::Waiting(count),
            }));
        }
        let before_stop = until::before_stop(plan, snapshot);
        Schedule { running, over: 0, after, ready, ranks, before_stop, forced: Default::default() }
    }

    /// Puts a task at the end of the queue.
    pub(crate) fn enqueue(&mut self, task: u32) {
        self.ready.push_back(task, &self.ranks);
    }

    /// Puts a task at the head of the queue.
    pub(crate) fn enqueue_first(&mut self, task: u32) {
        self.ready.push_front(task, &self.ranks);
    }

    /// Releases the tasks that wait for a task: all of them, or only those for which `only` is far enough.
    pub(crate) fn release(&mut self, task: u32, only: Option<Until>) {
        let waiters = std::mem::take(&mut self.after[task as usize]);
        let (now, later): (Vec<_>, Vec<_>) =
            waiters.into_iter().partition(|(_, until)| only.is_none_or(|only| *until == only));
        self.after[task as usize] = later;
        for (waiter, _) in now {
            self.waited(waiter);
        }
    }

    /// A task waits for one task less.
    pub(crate) fn waited(&mut self, waiter: u32) {
        let running = &mut self.running[waiter as usize];
        if let Progress::Waiting(count) = running.progress {
            if count <= 1 {
                running.progress = Progress::Ready;
                self.ready.push_back(waiter, &self.ranks);
            } else {
                running.progress = Progress::Waiting(count - 1);
            }
        }
    }

    /// Takes a task that is done out of those that are left before the operation stops; whether it was one of them.
    pub(crate) fn count_down(&mut self, task: u32) -> bool {
        self.before_stop.as_mut().is_some_and(|left| left.remove(&task))
    }

    /// Whether everything before the point at which the operation stops is done.
    pub(crate) fn has_reached_stop(&self) -> bool {
        self.before_stop.as_ref().is_some_and(until::Tasks::is_empty)
    }
}
