//! Checks that no operation passes a breakpoint unreported: an operation must end and report the breakpoint before
//! anything behind it starts.
//!
//! Not here: what exists in the end (`settling` compares that with a run without breakpoints).

use std::collections::{HashMap, HashSet};

use blueprint::{Address, Breakpoint, Breakpoints, IndexMap, Name};
use engine::{Action, Event, PlannedStop, Reason, Staged, Step};
use provider::Operation;
use state::{OperationKind, StatusOp, Stop, Stops};

use crate::harness::Run;

/// The breakpoints that operations have reported so far.
#[derive(Default)]
pub(super) struct Monitor {
    /// Breakpoints that an operation reported since the action was last done.
    reported: HashSet<(String, Breakpoint)>,
    /// Breakpoints behind an action that was done, which no operation has reported yet.
    owed: HashSet<(String, Breakpoint)>,
}

/// What a run of a plan must and must not do.
pub(super) struct Expectations {
    /// Addresses at which no call may start.
    closed: HashSet<String>,
    /// Addresses that wait for a step with a breakpoint behind it, by the address of that step.
    behind: HashMap<String, Vec<String>>,
    /// The breakpoints of changed resources, by address.
    breakpoints: HashMap<String, Breakpoints>,
    /// Resources that the plan deletes. Their owed reports are dropped.
    deleted: HashSet<String>,
    /// Actions of an operation that ignores breakpoints. An operation that continues it does not stop before them.
    begun: Vec<(String, Breakpoint)>,
    /// Whether the operation ignores breakpoints.
    ignores_breakpoints: bool,
    violations: Vec<String>,
}

fn action(step: &Step) -> Option<StatusOp> {
    match step.action {
        Action::Create => Some(StatusOp::Create),
        Action::Update | Action::Replace => Some(StatusOp::Update),
        // The deletion of a deposed resource is not reported.
        Action::Delete if step.reasons != [Reason::FailedBefore] => Some(StatusOp::Delete),
        _ => None,
    }
}

/// The breakpoints of the declared resource to which an address belongs.
fn of(stops: &IndexMap<Name, Breakpoints>, address: &Address) -> Breakpoints {
    let declared = address.path.is_empty() && address.link.is_none();
    stops.get(&address.name).copied().filter(|_| declared).unwrap_or_default()
}

impl Monitor {
    /// What a run of the plan must keep, given the breakpoints of the document.
    pub(super) fn expectations(&self, staged: &Staged, stops: &IndexMap<Name, Breakpoints>) -> Expectations {
        let plan = &staged.plan;
        let ignores_breakpoints =
            !matches!(plan.kind, OperationKind::Deploy | OperationKind::Update | OperationKind::Destroy);
        let mut expected = Expectations {
            closed: HashSet::new(),
            behind: HashMap::new(),
            breakpoints: HashMap::new(),
            deleted: HashSet::new(),
            begun: Vec::new(),
            ignores_breakpoints,
            violations: Vec::new(),
        };
        if ignores_breakpoints {
            let begun = plan.steps.iter().filter_map(|step| Some((step.address.to_string(), action(step)?.before())));
            expected.begun.extend(begun);
        }
        if ignores_breakpoints || stops.is_empty() {
            return expected;
        }
        let goes = plan.steps.iter().filter(|step| step.action == Action::Delete);
        expected.deleted.extend(goes.map(|step| step.address.to_string()));
        let mut waiters: HashMap<u32, Vec<u32>> = HashMap::new();
        for step in &plan.steps {
            step.waits_on.iter().for_each(|on| waiters.entry(*on).or_default().push(step.id));
        }
        let after = |id: u32| {
            let (mut all, mut stack) = (HashSet::new(), vec![id]);
            while let Some(id) = stack.pop() {
                // A deletion waits only for the deposed resource of a replacement, whose deletion may come first.
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
            expected.breakpoints.insert(name.clone(), breakpoints);
            if step.stops_before.is_some() {
                expected.closed.extend(after(step.id));
                expected.closed.insert(name.clone());
            } else if breakpoints.contains(action.before()) {
                // A resource whose creation is in progress may be updated or replaced on the way.
                let passed =
                    [action.before(), Breakpoint::PreCreate, Breakpoint::PreUpdate].map(|at| (name.clone(), at));
                let is_made = |stop: &PlannedStop| *stop.address == *name && stop.at == Breakpoint::PostCreate;
                let reported = passed.iter().any(|passed| self.reported.contains(passed));
                let goes_on = reported || action == StatusOp::Update && plan.stops.iter().any(is_made);
                if !goes_on {
                    expected
                        .violations
                        .push(format!("{name} passes {}, which no operation has reported", action.before()));
                }
            }
            if step.stops_after.is_some() {
                expected.behind.insert(name, after(step.id));
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
                expected.violations.push(format!("{name} is past {at}, which no operation has reported"));
            }
        }
        expected
    }

    /// Compares a run with the expectations of its plan; returns violations, each in a sentence. `stops`: where the
    /// state says that operations wait. `lost`: commits were lost, so reports may be missing.
    pub(super) fn check(&mut self, expected: Expectations, run: &Run, stops: &Stops, lost: bool) -> Vec<String> {
        let mut violations = expected.violations;
        let mut closed = expected.closed;
        self.owed.retain(|(name, _)| !expected.deleted.contains(name));
        self.reported.extend(expected.begun);
        for event in &run.events {
            match event {
                // A delete-first replacement may delete the old resource while the new one has to wait.
                Event::Started { operation: Operation::Delete, replacing: true, .. } => {}
                Event::Started { address, .. } if closed.contains(&address.to_string()) => {
                    violations.push(format!("{address} starts behind a breakpoint"));
                }
                Event::Done { address, operation, replacing } => {
                    let name = address.to_string();
                    let done = match operation {
                        Operation::Create if !replacing => StatusOp::Create,
                        Operation::Delete if !replacing => StatusOp::Delete,
                        Operation::Delete => continue,
                        _ => StatusOp::Update,
                    };
                    self.reported.retain(|(other, at)| *other != name || !at.is_before());
                    self.owed.retain(|(other, _)| *other != name);
                    if expected.ignores_breakpoints {
                        continue;
                    }
                    let counts = expected.breakpoints.get(&name).is_some_and(|all| all.contains(done.after()));
                    if counts && !replacing && expected.behind.contains_key(&name) {
                        closed.extend(expected.behind.get(&name).into_iter().flatten().cloned());
                        if done != StatusOp::Delete {
                            self.owed.insert((name, done.after()));
                        }
                    }
                }
                _ => {}
            }
        }
        for (address, at) in Stop::waiting(stops) {
            self.reported.insert((address.to_string(), at));
            self.owed.remove(&(address.to_string(), at));
        }
        let went_back = run.outcome().is_some_and(|outcome| outcome.rolled_back.is_some());
        if lost || went_back || expected.ignores_breakpoints {
            self.owed.clear();
        }
        if lost { Vec::new() } else { violations }
    }
}
