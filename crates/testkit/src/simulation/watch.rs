//! Watches that no breakpoint is passed unseen: before anything goes on behind one, an operation has ended that told of it.
//!
//! Not here: what is there in the end (a run without breakpoints says that).

use std::collections::{HashMap, HashSet};

use blueprint::{Address, Breakpoint, Breakpoints, IndexMap, Name};
use engine::{Action, Event, PlannedStop, Reason, Staged, Step};
use provider::Operation;
use state::{OperationKind, StatusOp, Stop, Stops};

use crate::lab::Run;

/// What is known of breakpoints so far.
#[derive(Default)]
pub(crate) struct Watch {
    /// Where an operation has told that it waits, since the action was last done.
    told: HashSet<(String, Breakpoint)>,
    /// Things that were made or changed, with a breakpoint behind that of which nobody has told yet.
    owed: HashSet<(String, Breakpoint)>,
}

/// What a plan promises.
pub(crate) struct Promise {
    /// Addresses at which nothing may begin.
    closed: HashSet<String>,
    /// What waits for steps with a breakpoint behind them, by their address.
    behind: HashMap<String, Vec<String>>,
    /// Breakpoints that count, by address.
    counts: HashMap<String, Breakpoints>,
    /// What is to go: with it goes what was left to tell of it, also where it comes back before it has gone.
    given_up: HashSet<String>,
    /// What an operation that stops nowhere sets out to do: where it is cut off, whoever goes on does not stop before that either.
    begun: Vec<(String, Breakpoint)>,
    is_quiet: bool,
    broken: Vec<String>,
}

fn action(step: &Step) -> Option<StatusOp> {
    match step.action {
        Action::Create => Some(StatusOp::Create),
        Action::Update | Action::Replace => Some(StatusOp::Update),
        // What is left over of an earlier replacement goes without a word.
        Action::Delete if step.reasons != [Reason::FailedBefore] => Some(StatusOp::Delete),
        _ => None,
    }
}

/// The breakpoints of what an address is a member of, as they were last said.
fn of(stops: &IndexMap<Name, Breakpoints>, address: &Address) -> Breakpoints {
    let declared = address.path.is_empty() && address.link.is_none();
    stops.get(&address.name).copied().filter(|_| declared).unwrap_or_default()
}

impl Watch {
    /// What the plan must keep, given where operations stop.
    pub(crate) fn plan(&self, staged: &Staged, stops: &IndexMap<Name, Breakpoints>) -> Promise {
        let plan = &staged.plan;
        let is_quiet = !matches!(plan.kind, OperationKind::Deploy | OperationKind::Update | OperationKind::Destroy);
        let mut promise = Promise {
            closed: HashSet::new(),
            behind: HashMap::new(),
            counts: HashMap::new(),
            given_up: HashSet::new(),
            begun: Vec::new(),
            is_quiet,
            broken: Vec::new(),
        };
        if is_quiet {
            let begun = plan.steps.iter().filter_map(|step| Some((step.address.to_string(), action(step)?.before())));
            promise.begun.extend(begun);
        }
        if is_quiet || stops.is_empty() {
            return promise;
        }
        let goes = plan.steps.iter().filter(|step| step.action == Action::Delete);
        promise.given_up.extend(goes.map(|step| step.address.to_string()));
        let mut waiters: HashMap<u32, Vec<u32>> = HashMap::new();
        for step in &plan.steps {
            step.waits_on.iter().for_each(|on| waiters.entry(*on).or_default().push(step.id));
        }
        let after = |id: u32| {
            let (mut all, mut stack) = (HashSet::new(), vec![id]);
            while let Some(id) = stack.pop() {
                // What goes waits for the old half of a replacement alone, and that may come before anything else.
                let goes = |next: &&u32| {
                    let of = |id: u32| plan.steps.get(id as usize).map(|step| step.action);
                    of(id) == Some(Action::Replace) && of(**next) == Some(Action::Delete)
                };
                let next = waiters.get(&id).into_iter().flatten().filter(|next| !goes(next));
                let more = next.filter(|next| all.insert(**next)).copied();
                stack.extend(more.collect::<Vec<_>>());
            }
            let named = plan.steps.iter().filter(|step| all.contains(&step.id));
            named.map(|step| step.address.to_string()).collect::<Vec<_>>()
        };
        for step in &plan.steps {
            let name = step.address.to_string();
            let breakpoints = of(stops, &step.address);
            let Some(action) = action(step).filter(|_| !breakpoints.is_empty()) else { continue };
            promise.counts.insert(name.clone(), breakpoints);
            if step.stops_before.is_some() {
                promise.closed.extend(after(step.id));
                promise.closed.insert(name.clone());
            } else if breakpoints.contains(action.before()) {
                // Something that is being made may be changed or made anew on the way.
                let passed =
                    [action.before(), Breakpoint::PreCreate, Breakpoint::PreUpdate].map(|at| (name.clone(), at));
                let is_made = |stop: &PlannedStop| *stop.address == *name && stop.at == Breakpoint::PostCreate;
                let told = passed.iter().any(|passed| self.told.contains(passed));
                let goes_on = told || action == StatusOp::Update && plan.stops.iter().any(is_made);
                if !goes_on {
                    promise.broken.push(format!("{name} passes {} of which nobody has told", action.before()));
                }
            }
            if step.stops_after.is_some() {
                promise.behind.insert(name, after(step.id));
            }
        }
        let still_there = |name: &str| {
            plan.steps.iter().all(|step| step.action == Action::None || step.address.to_string() != name)
                && staged.snapshot.records.keys().any(|address| address.to_string() == name)
                && !plan.answers.seen.keys().any(|address| address.to_string() == name)
                && !plan.left_alone.out_of_target.iter().any(|address| address.to_string() == name)
        };
        for (name, at) in self.owed.iter().filter(|(name, _)| still_there(name)) {
            let stands = |stop: &PlannedStop| *stop.address == **name && stop.at == *at && !stop.passed;
            let counts = name.parse::<Address>().is_ok_and(|address| of(stops, &address).contains(*at));
            if counts && !plan.stops.iter().any(stands) {
                promise.broken.push(format!("{name} is past {at}, of which nobody has told"));
            }
        }
        promise
    }

    /// Judges a run by what its plan promised, and learns from it. Where commits were lost nobody can say what was told.
    ///
    /// What the state says after it that it waits, a person can see.
    pub(crate) fn run(&mut self, promise: Promise, run: &Run, stops: &Stops, lost: bool) -> Vec<String> {
        let mut broken = promise.broken;
        let mut closed = promise.closed;
        self.owed.retain(|(name, _)| !promise.given_up.contains(name));
        self.told.extend(promise.begun);
        for event in &run.events {
            match event {
                // The old half of what is replaced delete-first may go while the new one has to wait.
                Event::Started { operation: Operation::Delete, replacing: true, .. } => {}
                Event::Started { address, .. } if closed.contains(&address.to_string()) => {
                    broken.push(format!("{address} begins behind a breakpoint"));
                }
                Event::Done { address, operation, replacing } => {
                    let name = address.to_string();
                    let done = match operation {
                        Operation::Create if !replacing => StatusOp::Create,
                        Operation::Delete if !replacing => StatusOp::Delete,
                        Operation::Delete => continue,
                        _ => StatusOp::Update,
                    };
                    self.told.retain(|(other, at)| *other != name || !at.is_before());
                    self.owed.retain(|(other, _)| *other != name);
                    if promise.is_quiet {
                        continue;
                    }
                    let counts = promise.counts.get(&name).is_some_and(|all| all.contains(done.after()));
                    if counts && !replacing && promise.behind.contains_key(&name) {
                        closed.extend(promise.behind.get(&name).into_iter().flatten().cloned());
                        if done != StatusOp::Delete {
                            self.owed.insert((name, done.after()));
                        }
                    }
                }
                _ => {}
            }
        }
        for (address, at) in Stop::waiting(stops) {
            self.told.insert((address.to_string(), at));
            self.owed.remove(&(address.to_string(), at));
        }
        let went_back = run.outcome().is_some_and(|outcome| outcome.rolled_back.is_some());
        if lost || went_back || promise.is_quiet {
            self.owed.clear();
        }
        if lost { Vec::new() } else { broken }
    }
}
