//! Carrying a plan out: a pure machine from what happened to what should be done next.
//!
//! The plan decides what happens to each resource. A task begins when the tasks that it waits for have come far enough and the
//! values that it reads are known. Its intent is committed before its call. Its outcome is committed before a call that relies
//! on it: the intent of that call is in the same commit or a later one. While a commit is under way, entries gather for the next.
//! An intent is written when there is room for its call, so a commit holds at most as many intents as calls may run at once.
//! Retries, polling and limits are decided here, as wake-ups, so that a simulator sees them too.
//!
//! ```text
//! ready ──intent──> committed ──call──> answered ──outcome──> committed ──> dependants
//!                                          │ refused, may go away: wake later, call again
//!                                          └ not stable yet: ask again, later and later
//! ```
//!
//! Not here: clocks, stores, providers (the shell carries effects out); what to do (the plan says).

use crate::ask;
use crate::phases;
use crate::ranks;
use crate::until;
use std::sync::Arc;
use std::time::Duration;

use blueprint::{Address, Breakpoint, Name, TypeId, Value};
use diag::Diagnostics;
use provider::{Applied, Catalogs, Operation as Verb, ProviderError, Readiness};
use state::{Entry, EntryKind, Operation, OperationKind, OperationOutcome, Record, Snapshot};

use crate::ask::Asking;
use crate::lanes::Lanes;
use crate::queue::{Queue, Ranks};
use evaluate::event::Event;
use evaluate::questions::{Question, Reply};
use evaluate::resolve::{Evaluation, Need};
use plan::plan::{Plan, Purpose, Staged};
use plan::task::{TaskKind, Until};
use understand::links::FixedMap;

/// What to do when a step fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// Nothing new starts; what runs is waited for.
    #[default]
    Stop,
    /// Only what depends on it is left out.
    KeepGoing,
    /// As `Stop`; then everything goes back to the last generation that ended well (decision 5.3). To the machine itself
    /// it is `Stop`: what follows is another plan (`shell::operate`).
    Rollback,
}

/// How to carry a plan out.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// At most this many calls at once (decision S64).
    pub parallelism: usize,
    /// What to do when a step fails.
    pub on_failure: OnFailure,
    /// How long a thing may take to become stable.
    pub stable_within: Duration,
    /// How long calls in flight are waited for after a stop.
    pub drain: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            parallelism: 16,
            on_failure: OnFailure::Stop,
            stable_within: Duration::from_secs(30 * 60),
            drain: Duration::from_secs(120),
        }
    }
}

/// What the machine wants done.
#[derive(Debug)]
pub enum Effect {
    /// Commit these entries; answer with [`Happened::Committed`]. At most one commit is under way at a time.
    Commit(Vec<Entry>),
    /// Call the provider; answer with [`Happened::Applied`] under the same number.
    Call(u32, CallRequest),
    /// Ask whether the thing is stable; answer with [`Happened::Looked`].
    Look(u32, CallRequest),
    /// Put these questions to the world; answer with [`Happened::Answered`].
    Ask(Asking),
    /// Wake the machine under this number after this long: [`Happened::Woke`].
    Wake(u64, Duration),
    /// End the calls that are in flight; they still answer.
    Cancel,
    /// End the call of this number; it still answers.
    CancelOne(u32),
    /// Tell people.
    Tell(Event),
    /// The operation is over. Nothing follows.
    Finish(Outcome),
}

/// One call of a provider, complete.
#[derive(Clone, Debug)]
pub struct CallRequest {
    /// On what.
    pub address: Address,
    /// Its type.
    pub type_name: TypeId,
    /// Create, update or delete.
    pub operation: Verb,
    /// The provider's id; none for a create.
    pub id: Option<Name>,
    /// The inputs as last sent; null for a create.
    pub prior_inputs: Value,
    /// The fields as last answered; null for a create.
    pub prior: Value,
    /// The spec wanted, known; null for a delete.
    pub desired: Value,
    /// Opaque data of the provider.
    pub private: Value,
    /// The digests that sources had when the plan was made: see [`provider::ApplyRequest::sources`].
    pub sources: Vec<(Name, Value)>,
    /// The same for every try of this step.
    pub token: Name,
    /// The folder of the document that declares it, as in [`ReadQuestion::folder`](evaluate::world::ReadQuestion::folder).
    pub folder: Name,
    /// How long it may take, where something limits it.
    pub limit: Option<Duration>,
}

/// What happened.
#[derive(Debug)]
pub enum Happened {
    /// The run begins, at this instant (seconds since 1970 UTC).
    Began(i64),
    /// The commit under way is durable, at this instant.
    Committed(i64),
    /// The commit under way was refused: nothing can be written any more. Why, for people.
    CommitFailed(String),
    /// A call was answered.
    Applied(u32, Result<Applied, ProviderError>),
    /// A thing was looked at.
    Looked(u32, Result<Readiness, ProviderError>),
    /// Questions of a task, or of the exported values, were answered, each with what the world said.
    Answered(Option<u32>, Vec<(Question, Reply)>),
    /// A wake-up came.
    Woke(u64),
    /// So long after it began what follows happened. Who never says so learns nothing of how long things take.
    At(Duration),
    /// A person asked to stop: nothing new starts.
    Interrupt,
}

/// How it went.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended; none if nothing could be recorded any more.
    pub outcome: Option<OperationOutcome>,
    /// Created, updated, deleted, replaced.
    pub counts: [u64; 4],
    /// What went wrong, at the places of the document.
    pub diagnostics: Diagnostics,
    /// Calls that were still in flight when it ended.
    pub left_in_flight: Vec<Address>,
    /// What waits because the operation was to stop before it ([`Options::until`](plan::options::Options)), or stands at a breakpoint
    /// that it waits for.
    pub waiting: Vec<Address>,
    /// Where it stands: the thing or the child, and the breakpoint.
    pub stops: Vec<(Name, Breakpoint)>,
    /// Things that could not be deleted and were forgotten all the same: address, type and the provider's id.
    pub left_behind: Vec<(Address, TypeId, Name)>,
    /// What was to be done and was not: failed, left out, or never begun.
    pub undone: Vec<Address>,
    /// How the rollback went that followed by itself ([`OnFailure::Rollback`]), if one did.
    pub rolled_back: Option<Box<Outcome>>,
}

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// For so many others.
    Waiting(u32),
    Ready,
    /// Waits for answers before it can be told what to call.
    Asking,
    /// Its intent is in the commit under way, or in the next.
    Intending,
    Calling,
    /// Will be called again at a wake-up.
    Resting,
    /// Its outcome is in the commit under way, or in the next.
    Recording,
    /// Accepted and recorded; becoming stable.
    Configured,
    Done,
    Failed,
    /// Its call did not even end when it was told to: nobody knows what became of it.
    Abandoned,
    Skipped,
    /// The operation stands at it, or at what it waits for.
    Held,
}

/// What is known of a task while it runs.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) progress: Progress,
    pub(crate) tries: u32,
    pub(crate) looks: u32,
    /// How often it has asked.
    pub(crate) rounds: u32,
    pub(crate) waited: Duration,
    /// When it was first called, if anybody said: in milliseconds after the run began.
    pub(crate) called_at: Option<u32>,
    /// How long it may take, if not as long as everything else.
    pub limit: Option<Duration>,
    /// That time is over.
    pub(crate) late: bool,
    /// The call that was answered well.
    pub(crate) did: Option<Verb>,
    /// It is a gate at which the operation stands.
    pub(crate) turn: bool,
    /// It needed no call, and waits for what an earlier operation did.
    pub(crate) looks_on: bool,
    /// Its provider was asked what is at the place of the thing, since its spec was not known when the plan was made.
    pub(crate) has_looked: bool,
    pub(crate) request: Option<Box<CallRequest>>,
    /// The record to be, while it is being recorded or becomes stable.
    pub(crate) record: Option<Arc<Record>>,
}

/// What an entry under way means for its task once it is durable.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Durable {
    Nothing,
    /// Its intent is: call now.
    Intent(u32),
    /// Its outcome is: configured, not stable yet.
    Configured(u32),
    /// Its outcome is: done.
    Done(u32),
    /// Its outcome is: failed.
    Failed(u32),
}

/// The machine.
pub struct Apply {
    pub(crate) plan: Arc<Plan>,
    pub(crate) settings: Settings,
    pub(crate) evaluation: Option<Evaluation>,
    pub(crate) catalogs: Arc<Catalogs>,
    pub(crate) operation: Arc<Operation>,
    pub(crate) snapshot: Snapshot,
    pub(crate) running: Vec<Running>,
    /// So many tasks from the first on cannot go on any more.
    pub(crate) over: usize,
    /// Who waits for a task, and how far it must come.
    pub(crate) after: Vec<Vec<(u32, Until)>>,
    pub(crate) ready: Queue,
    pub(crate) ranks: Ranks,
    /// Tasks from their intent to their answer.
    pub(crate) in_flight: usize,
    pub(crate) lanes: Lanes,
    /// Calls and questions that are out.
    pub(crate) calling: usize,
    pub(crate) gathering: Vec<(Entry, Durable)>,
    /// What is told once everything that gathers is durable.
    later: Vec<Event>,
    pub(crate) under_way: Option<(Vec<Durable>, Vec<Event>)>,
    pub(crate) wakes: FixedMap<u64, Wake>,
    next_wake: u64,
    pub(crate) stopping: bool,
    pub(crate) interrupted: bool,
    pub(crate) cancelled: bool,
    /// Calls did not even end when they were told to: nobody waits for them any more.
    pub(crate) abandoned: bool,
    broken: bool,
    pub(crate) finishing: bool,
    pub(crate) began: i64,
    pub(crate) now: i64,
    /// How long after it began, if anybody says.
    pub(crate) elapsed: Option<Duration>,
    pub(crate) counts: [u64; 4],
    /// What went wrong so far.
    pub(crate) found: Diagnostics,
    /// Metadata that was known only on deploy.
    pub(crate) metadata: blueprint::IndexMap<Address, Value>,
    pub(crate) absent: std::collections::HashSet<Address, foldhash::fast::FixedState>,
    /// Which links have written what: by target and identity.
    pub(crate) written: FixedMap<(Address, String), Vec<Address>>,
    /// What links have written in this run: by target and identity.
    pub(crate) rewritten: std::collections::HashSet<(Address, String), foldhash::fast::FixedState>,
    /// Things that links have written into, or been taken out of, in this run.
    pub(crate) touched: std::collections::HashSet<Address, foldhash::fast::FixedState>,
    /// Phases of links that are carried out together.
    pub(crate) batches: phases::Batches,
    /// The tasks that make links, by address.
    pub(crate) wholes: FixedMap<Address, u32>,
    pub(crate) failed: bool,
    /// What stands in the way of the task that is being begun.
    pub(crate) needed: Vec<Need>,
    /// What is being asked, and who waits for answers that another task has asked for.
    pub(crate) in_question: FixedMap<String, Vec<u32>>,
    /// Questions that are put again at a wake-up, with what was said to them, by the task that asks.
    pub(crate) resting: FixedMap<u32, Vec<(Question, Reply)>>,
    /// Questions of the exported values are under way.
    pub(crate) asks_at_the_end: bool,
    pub(crate) rounds_at_the_end: u32,
    pub(crate) tries_at_the_end: u32,
    /// Tasks that are left before the operation is to stop.
    before_stop: Option<until::Tasks>,
    /// It has stopped because it was to.
    held: bool,
    /// It stands at a gate.
    pub(crate) stands: bool,
    /// Tasks whose things could not be deleted and were forgotten.
    pub(crate) forced: std::collections::HashSet<u32, foldhash::fast::FixedState>,
    pub(crate) left_behind: Vec<(Address, TypeId, Name)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Wake {
    /// The time that a step may take is over.
    Deadline(u32),
    /// A call that was told to end is not waited for any longer.
    Abandoned(u32),
    /// The time in which a thing must become stable is over.
    Unstable(u32),
    /// A call, or the questions of a task, are tried again.
    Retry(u32),
    /// A thing is looked at again.
    Look(u32),
    /// A pause is over.
    Pause(u32),
    /// The bucket of a provider is filled, by its lane.
    Refill(u32),
    Drain,
    Abandon,
}

/// How long calls that were told to end are waited for.
pub(crate) const AFTER_CANCEL: Duration = Duration::from_secs(20);

impl Apply {
    /// A machine for a plan that is current. `operation` names the run; its `began`, `kind`, `document` and `stops` are the plan's to know.
    pub fn new(staged: Staged, settings: Settings, mut operation: Operation) -> Apply {
        let Staged { plan, mut snapshot, evaluation, catalogs } = staged;
        operation.stops = (plan.begun != snapshot.stops).then(|| plan.begun.clone());
        let count = plan.tasks.len();
        let new = plan.tasks.iter().filter(|task| task.kind == TaskKind::Create).count();
        snapshot.records.reserve(new);
        let mut after: Vec<Vec<(u32, Until)>> = vec![Vec::new(); count];
        let mut running = Vec::with_capacity(count);
        let ranks = ranks::of(&plan, &snapshot);
        let mut ready = Queue::new(&ranks);
        for (at, task) in plan.tasks.iter().enumerate() {
            for wait in &task.waits {
                after[wait.task as usize].push((at as u32, wait.until));
            }
            let progress = if task.waits.is_empty() {
                ready.push_back(at as u32, &ranks);
                Progress::Ready
            } else {
                Progress::Waiting(task.waits.len() as u32)
            };
            running.push(Running {
                progress,
                tries: 0,
                looks: 0,
                rounds: 0,
                waited: Duration::ZERO,
                called_at: None,
                limit: None,
                late: false,
                did: None,
                turn: false,
                looks_on: false,
                has_looked: false,
                request: None,
                record: None,
            });
        }
        let before_stop = until::before_stop(&plan, &snapshot);
        let wholes = plan.tasks.iter().enumerate().filter(|(_, task)| task.kind == TaskKind::Link);
        let wholes =
            wholes.filter_map(|(at, task)| Some((task.decision.as_ref()?.address.clone(), at as u32))).collect();
        let mut apply = Apply {
            written: FixedMap::default(),
            rewritten: std::collections::HashSet::default(),
            touched: std::collections::HashSet::default(),
            batches: phases::Batches::default(),
            wholes,
            before_stop,
            held: false,
            stands: false,
            forced: std::collections::HashSet::default(),
            left_behind: Vec::new(),
            plan: Arc::new(plan),
            settings: Settings { parallelism: settings.parallelism.max(1), ..settings },
            evaluation,
            operation: Arc::new(operation),
            snapshot,
            running,
            over: 0,
            after,
            ready,
            lanes: Lanes::new(&catalogs, &ranks),
            ranks,
            catalogs,
            in_flight: 0,
            calling: 0,
            gathering: Vec::new(),
            later: Vec::new(),
            under_way: None,
            wakes: FixedMap::default(),
            next_wake: 0,
            stopping: false,
            interrupted: false,
            cancelled: false,
            abandoned: false,
            metadata: blueprint::IndexMap::default(),
            broken: false,
            finishing: false,
            began: 0,
            now: 0,
            elapsed: None,
            counts: [0; 4],
            found: Diagnostics::new(),
            absent: std::collections::HashSet::default(),
            failed: false,
            needed: Vec::new(),
            in_question: FixedMap::default(),
            resting: FixedMap::default(),
            asks_at_the_end: false,
            rounds_at_the_end: 0,
            tries_at_the_end: 0,
        };
        apply.take_in_links();
        apply
    }

    /// The plan that is carried out.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The state as far as it has been recorded.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// What was given and what is remembered: values that may have secrets in them.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        let given = self.evaluation.iter().flat_map(|evaluation| evaluation.inputs.iter().chain(evaluation.settled()));
        let records = self.snapshot.records.values();
        given.chain(records.flat_map(|record| [&record.inputs, &record.outputs, &record.private]))
    }

    /// Created, updated, deleted, replaced so far, as far as it is durable.
    pub fn counts(&self) -> [u64; 4] {
        self.counts
    }

    /// Takes in everything that happened since the last turn and says what should be done next, in order.
    ///
    /// What happened at once is taken in at once, so that one commit serves it all.
    pub fn step(&mut self, happened: impl IntoIterator<Item = Happened>, effects: &mut Vec<Effect>) {
        for happened in happened {
            match happened {
                Happened::Began(now) => self.begin(now, effects),
                Happened::Committed(now) => self.committed(now, effects),
                Happened::CommitFailed(why) => self.commit_failed(why, effects),
                Happened::Applied(task, answer) => self.applied(task, answer, effects),
                Happened::Looked(task, answer) => self.looked(task, answer, effects),
                Happened::Answered(task, replies) => self.answered(task, replies, effects),
                Happened::Woke(number) => self.woke(number, effects),
                Happened::At(after) => self.elapsed = Some(after),
                Happened::Interrupt => {
                    self.interrupted = true;
                    self.stop(effects);
                }
            }
        }
        if self.broken {
            self.end_broken(effects);
            return;
        }
        self.start_what_is_ready(effects);
        self.fill_buckets(effects);
        self.finish_if_over(effects);
        self.commit(effects);
    }

    fn begin(&mut self, now: i64, effects: &mut Vec<Effect>) {
        (self.began, self.now) = (now, now);
        self.gathering.push((Entry { step: 0, kind: EntryKind::Began(self.operation.clone()) }, Durable::Nothing));
        let calls = self.plan.tasks.iter().filter(|task| {
            matches!(
                task.kind,
                TaskKind::Create
                    | TaskKind::Update
                    | TaskKind::Delete
                    | TaskKind::DeleteOld(_)
                    | TaskKind::TakeBack
                    | TaskKind::Phase
            )
        });
        effects.push(Effect::Tell(Event::Began { instance: self.plan.instance.clone(), calls: calls.count() as u64 }));
        for settled in &self.plan.settled {
            let outcome =
                state::Outcome { address: settled.address.clone(), record: settled.record.clone(), error: None };
            self.gathering.push((Entry { step: 0, kind: EntryKind::Outcome(Arc::new(outcome)) }, Durable::Nothing));
        }
        self.stop_if_there(effects);
    }

    /// Sends what has gathered, unless a commit is under way.
    fn commit(&mut self, effects: &mut Vec<Effect>) {
        if self.under_way.is_some() || self.gathering.is_empty() {
            return;
        }
        let (entries, durable) = std::mem::take(&mut self.gathering).into_iter().unzip();
        self.under_way = Some((durable, std::mem::take(&mut self.later)));
        effects.push(Effect::Commit(entries));
    }

    /// Tells an event behind those of what has been recorded before it.
    pub(crate) fn tell(&mut self, event: Event, effects: &mut Vec<Effect>) {
        match &mut self.under_way {
            _ if !self.gathering.is_empty() => self.later.push(event),
            Some((_, later)) => later.push(event),
            None => effects.push(Effect::Tell(event)),
        }
    }

    fn committed(&mut self, now: i64, effects: &mut Vec<Effect>) {
        self.now = now;
        let Some((durable, later)) = self.under_way.take() else { return };
        if self.finishing && self.gathering.is_empty() {
            effects.extend(later.into_iter().map(Effect::Tell));
            let outcome = self.outcome();
            effects.push(Effect::Tell(Event::Finished {
                outcome,
                created: self.counts[0],
                updated: self.counts[1],
                deleted: self.counts[2],
                replaced: self.counts[3],
            }));
            effects.push(Effect::Finish(Outcome {
                outcome: Some(outcome),
                counts: self.counts,
                diagnostics: std::mem::take(&mut self.found),
                left_in_flight: self.left_in_flight(),
                waiting: self.waiting(),
                stops: self.standing_at(),
                left_behind: std::mem::take(&mut self.left_behind),
                undone: self.undone(),
                rolled_back: None,
            }));
            return;
        }
        let mut failed = Vec::new();
        for durable in durable {
            match durable {
                Durable::Nothing => {}
                Durable::Intent(task) => self.stated(task, effects),
                Durable::Configured(task) => self.configured(task, effects),
                Durable::Done(task) => self.done(task, effects),
                Durable::Failed(task) => failed.push(task),
            }
        }
        effects.extend(later.into_iter().map(Effect::Tell));
        for task in failed {
            self.settle_failed(task, effects);
        }
    }

    fn commit_failed(&mut self, why: String, effects: &mut Vec<Effect>) {
        if self.broken {
            return;
        }
        let under_way = self.under_way.take().map(|(_, later)| later).unwrap_or_default();
        self.gathering.clear();
        // A failure is told although it could not be recorded.
        let failures = under_way
            .into_iter()
            .chain(std::mem::take(&mut self.later))
            .filter(|event| matches!(event, Event::Failed { .. }));
        effects.extend(failures.map(Effect::Tell));
        self.broken = true;
        self.finishing = false;
        // Whose intent could not be written is not called.
        for task in 0..self.running.len() as u32 {
            if self.running[task as usize].progress == Progress::Intending {
                self.vacate(task);
                self.running[task as usize].progress = Progress::Skipped;
            }
        }
        let number = self.wake(Wake::Drain);
        effects.push(Effect::Wake(number, AFTER_CANCEL));
        self.found.push(
            crate::codes::PROVIDER_FAILED.new("the state could not be written; nothing more was started").note(why),
        );
        effects.push(Effect::Cancel);
    }

    /// Nothing can be recorded: waits for what is in flight, then ends. The intents of what ran stay open in the state.
    fn end_broken(&mut self, effects: &mut Vec<Effect>) {
        if self.finishing || self.in_flight > 0 && !self.cancelled {
            return;
        }
        self.finishing = true;
        effects.push(Effect::Finish(Outcome {
            outcome: None,
            counts: self.counts,
            diagnostics: std::mem::take(&mut self.found),
            left_in_flight: self.left_in_flight(),
            waiting: Vec::new(),
            stops: Vec::new(),
            left_behind: std::mem::take(&mut self.left_behind),
            undone: self.undone(),
            rolled_back: None,
        }));
    }

    /// What has not been begun because the operation was to stop.
    fn waiting(&self) -> Vec<Address> {
        match (self.held, self.stands && !self.interrupted) {
            (false, false) => Vec::new(),
            (held, _) => self.acting(|progress| match progress {
                Progress::Waiting(_) | Progress::Ready => held,
                progress => progress == Progress::Held,
            }),
        }
    }

    /// What was to be done and was not.
    pub fn undone(&self) -> Vec<Address> {
        self.acting(|progress| progress != Progress::Done)
    }

    /// The addresses of tasks that act on the world or the state and have come so far.
    fn acting(&self, so_far: impl Fn(Progress) -> bool) -> Vec<Address> {
        let left = self.running.iter().zip(&self.plan.tasks).filter(|(running, task)| {
            let acts = !matches!(task.kind, TaskKind::Gather | TaskKind::Pause(_) | TaskKind::Settled);
            acts && so_far(running.progress)
        });
        let addresses = left.filter_map(|(_, task)| task.decision.as_ref().map(|decided| decided.address.clone()));
        addresses.collect::<indexmap::IndexSet<Address, foldhash::fast::FixedState>>().into_iter().collect()
    }

    /// A task is done: if it was the last one before the operation is to stop, it stops.
    pub(crate) fn count_down(&mut self, task: u32, effects: &mut Vec<Effect>) {
        if self.before_stop.as_mut().is_some_and(|left| left.remove(&task)) {
            self.stop_if_there(effects);
        }
    }

    fn stop_if_there(&mut self, effects: &mut Vec<Effect>) {
        if self.before_stop.as_ref().is_some_and(until::Tasks::is_empty) && !self.stopping {
            self.held = true;
            self.stop(effects);
        }
    }

    /// Calls that nobody waits for any more. Their intents stay open in the state.
    pub fn left_in_flight(&self) -> Vec<Address> {
        let left = self.running.iter().zip(&self.plan.tasks);
        let left = left.filter(|(running, _)| matches!(running.progress, Progress::Calling | Progress::Abandoned));
        left.filter_map(|(_, task)| task.decision.as_ref().map(|decided| decided.address.clone())).collect()
    }

    /// Nothing new starts from now on; what runs is waited for, but not for ever.
    pub(crate) fn stop(&mut self, effects: &mut Vec<Effect>) {
        if self.stopping {
            return;
        }
        self.stopping = true;
        // What waits to be tried again is not tried again.
        let resting: Vec<u32> = (0..self.running.len() as u32)
            .filter(|task| self.running[*task as usize].progress == Progress::Resting)
            .collect();
        for task in resting {
            if !self.end_pause(task) {
                self.give_up(task, effects);
            }
        }
        self.ask_no_more(ask::AT_THE_END);
        if self.calling > 0 {
            effects.push(Effect::Tell(Event::Draining { running: self.calling as u64 }));
        }
        if !self.held {
            let number = self.wake(Wake::Drain);
            effects.push(Effect::Wake(number, self.settings.drain));
        }
    }

    pub(crate) fn wake(&mut self, wake: Wake) -> u64 {
        self.next_wake += 1;
        self.wakes.insert(self.next_wake, wake);
        self.next_wake
    }

    pub(crate) fn outcome(&self) -> OperationOutcome {
        let stopped = self.held || self.stands;
        match (self.failed, (self.interrupted || stopped) && self.unfinished(), self.plan.purpose) {
            (false, true, _) if stopped => OperationOutcome::Interrupted,
            (_, true, _) if self.interrupted => OperationOutcome::Interrupted,
            (true, ..) => OperationOutcome::Failed,
            (.., Purpose::Destroy) if self.plan.options.targets.is_empty() => OperationOutcome::Gone,
            _ => OperationOutcome::Ready,
        }
    }

    pub(crate) fn unfinished(&self) -> bool {
        // What stands for values, and what was written when the operation began, has nothing left to do.
        let acts = |kind| !matches!(kind, TaskKind::Gather | TaskKind::Pause(_) | TaskKind::Settled);
        let running = self.running.iter().zip(&self.plan.tasks);
        running.into_iter().any(|(running, task)| running.progress != Progress::Done && acts(task.kind))
    }
}

/// What an operation is called, given the plan.
pub fn kind_of(plan: &Plan) -> OperationKind {
    plan.kind
}
