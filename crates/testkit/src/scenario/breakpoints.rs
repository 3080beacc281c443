//! Checks that no operation passes a breakpoint unreported: an operation must end and report the
//! breakpoint before anything after the breakpoint starts.
//!
//! Not here: the resources at the end (`settling` compares these with a run without breakpoints).

use std::collections::{HashMap, HashSet};

use blueprint::{Address, Breakpoint, Breakpoints, IndexMap, Name};
use engine::run::Operated;
use engine::{Action, Event, Plan, PlannedStop, Reason, Staged, Step};
use provider::Operation;
use state::{OperationKind, StatusOp, Stop, Stops};

use crate::harness::RunResult;

/// The breakpoints that operations have reported so far.
#[derive(Default)]
pub(super) struct Monitor {
    /// Breakpoints that an operation reported since the action was last completed.
    reported: HashSet<(String, Breakpoint)>,
    /// Breakpoints after a completed action that no operation has reported yet.
    unreported: HashSet<(String, Breakpoint)>,
    /// Actions that began and have not ended, by address.
    under_way: HashMap<String, ActionInProgress>,
}

/// An action that an operation has begun.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ActionInProgress {
    Create,
    Update,
    Replace,
    Delete,
}

impl ActionInProgress {
    /// Whether a step with this action continues the begun one, so that no operation stops before
    /// the step.
    ///
    /// A resource in creation may be updated before the creation ends. A resource in an update may
    /// have to be created again: its replacement is half done, or it has been deleted meanwhile.
    fn continues_with(self, action: StatusOp) -> bool {
        (self == ActionInProgress::Delete) == (action == StatusOp::Delete)
    }
}

/// The expectations of a run of a plan.
pub(super) struct Expectations {
    /// Addresses at which no call may start.
    blocked: HashSet<String>,
    /// Addresses that wait for a step with a breakpoint after it, by the address of that step.
    dependants: HashMap<String, Vec<String>>,
    /// The breakpoints of changed resources, by address.
    breakpoints: HashMap<String, Breakpoints>,
    /// Resources that the plan deletes. Their owed reports are dropped.
    deleted: HashSet<String>,
    /// Actions of an operation that ignores breakpoints. An operation that continues it does not
    /// stop before them.
    ignored_breakpoints: Vec<(String, Breakpoint)>,
    /// All existing and planned addresses.
    addresses: HashSet<String>,
    /// The actions that the run begins or continues, by address.
    under_way: HashMap<String, ActionInProgress>,
    /// Whether the operation ignores breakpoints.
    ignores_breakpoints: bool,
    violations: Vec<String>,
}

fn under_way(step: &Step) -> Option<ActionInProgress> {
    Some(match action(step)? {
        StatusOp::Create => ActionInProgress::Create,
        StatusOp::Update if step.action == Action::Replace => ActionInProgress::Replace,
        StatusOp::Update => ActionInProgress::Update,
        StatusOp::Delete => ActionInProgress::Delete,
    })
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

/// The breakpoint before an operation.
fn breakpoint_before(operation: Operation) -> Breakpoint {
    match operation {
        Operation::Create => Breakpoint::PreCreate,
        Operation::Update => Breakpoint::PreUpdate,
        Operation::Delete => Breakpoint::PreDelete,
    }
}

/// The breakpoints of the declared resource to which an address belongs.
fn breakpoints_of(stops: &IndexMap<Name, Breakpoints>, address: &Address) -> Breakpoints {
    let declared = address.path.is_empty() && address.link.is_none();
    stops
        .get(&address.name)
        .copied()
        .filter(|_| declared)
        .unwrap_or_default()
}

/// The addresses of the steps that wait for a step, directly or through others.
fn dependants(plan: &Plan, waiters: &HashMap<u32, Vec<u32>>, id: u32) -> Vec<String> {
    // A deletion waits only for the deposed object of a replacement, which may be deleted first.
    let is_deposed_delete = |id: u32, next: u32| {
        let of = |id: u32| plan.steps.get(id as usize).map(|step| step.action);
        of(id) == Some(Action::Replace) && of(next) == Some(Action::Delete)
    };
    let mut all = HashSet::new();
    let mut stack = vec![id];
    while let Some(id) = stack.pop() {
        let next = waiters.get(&id).into_iter().flatten();
        for next in next.filter(|next| !is_deposed_delete(id, **next)) {
            if all.insert(*next) {
                stack.push(*next);
            }
        }
    }
    let steps = plan.steps.iter().filter(|step| all.contains(&step.id));
    steps.map(|step| step.address.to_string()).collect()
}

/// Whether a recorded resource was neither found changed nor left out, and the plan does nothing to
/// it.
fn is_untouched(staged: &Staged, name: &str) -> bool {
    let plan = &staged.plan;
    let is_named = |address: &Address| address.to_string() == name;
    plan.steps
        .iter()
        .all(|step| step.action == Action::None || !is_named(&step.address))
        && staged
            .snapshot
            .records
            .iter()
            .any(|(address, record)| !record.id.is_empty() && is_named(address))
        && !plan.answers.seen.keys().any(is_named)
        && !plan.left_alone.out_of_target.iter().any(is_named)
}

impl Monitor {
    /// The expectations of a run of the plan, given the breakpoints of the document.
    pub(super) fn expectations(
        &self,
        staged: &Staged,
        stops: &IndexMap<Name, Breakpoints>,
    ) -> Expectations {
        let plan = &staged.plan;
        let ignores_breakpoints = !matches!(
            plan.kind,
            OperationKind::Deploy | OperationKind::Update | OperationKind::Destroy
        );
        let mut expected = Expectations {
            blocked: HashSet::new(),
            dependants: HashMap::new(),
            breakpoints: HashMap::new(),
            deleted: HashSet::new(),
            ignored_breakpoints: Vec::new(),
            addresses: plan
                .steps
                .iter()
                .map(|step| &step.address)
                .chain(staged.snapshot.records.keys())
                .map(ToString::to_string)
                .collect(),
            under_way: HashMap::new(),
            ignores_breakpoints,
            violations: Vec::new(),
        };
        if ignores_breakpoints {
            let begun = plan
                .steps
                .iter()
                .filter_map(|step| Some((step.address.to_string(), action(step)?.before())));
            expected.ignored_breakpoints.extend(begun);
        }
        if ignores_breakpoints || stops.is_empty() {
            return expected;
        }
        for step in plan.steps.iter().filter(|step| step.stops_before.is_none()) {
            let (name, Some(begins), Some(action)) =
                (step.address.to_string(), under_way(step), action(step))
            else {
                continue;
            };
            let earlier = self
                .under_way
                .get(&name)
                .copied()
                .filter(|earlier| earlier.continues_with(action));
            expected.under_way.insert(name, earlier.unwrap_or(begins));
        }
        let deletions = plan
            .steps
            .iter()
            .filter(|step| step.action == Action::Delete);
        expected
            .deleted
            .extend(deletions.map(|step| step.address.to_string()));
        let mut waiters: HashMap<u32, Vec<u32>> = HashMap::new();
        for step in &plan.steps {
            step.waits_on
                .iter()
                .for_each(|on| waiters.entry(*on).or_default().push(step.id));
        }
        for step in &plan.steps {
            let name = step.address.to_string();
            let breakpoints = breakpoints_of(stops, &step.address);
            let Some(action) = action(step).filter(|_| !breakpoints.is_empty()) else {
                continue;
            };
            expected.breakpoints.insert(name.clone(), breakpoints);
            if step.stops_before.is_some() {
                expected.blocked.extend(dependants(plan, &waiters, step.id));
                expected.blocked.insert(name.clone());
            } else if breakpoints.contains(action.before())
                && !self.may_pass(&name, action, &plan.stops)
            {
                expected.violations.push(format!(
                    "{name} passes {}, which no operation has reported",
                    action.before()
                ));
            }
            if step.stops_after.is_some() {
                let after = dependants(plan, &waiters, step.id);
                expected.dependants.insert(name, after);
            }
        }
        for (name, at) in self
            .unreported
            .iter()
            .filter(|(name, _)| is_untouched(staged, name))
        {
            let is_planned_stop =
                |stop: &PlannedStop| *stop.address == **name && stop.at == *at && !stop.passed;
            let counts = name
                .parse::<Address>()
                .is_ok_and(|address| breakpoints_of(stops, &address).contains(*at));
            if counts && !plan.stops.iter().any(is_planned_stop) {
                expected.violations.push(format!(
                    "{name} is past {at}, which no operation has reported"
                ));
            }
        }
        expected
    }

    /// Whether an action may begin although its resource has a breakpoint before it: the breakpoint
    /// was reported, or the action is under way already.
    fn may_pass(&self, name: &str, action: StatusOp, planned: &[PlannedStop]) -> bool {
        // A resource in creation may be updated or replaced before the creation ends.
        let passed = [
            action.before(),
            Breakpoint::PreCreate,
            Breakpoint::PreUpdate,
        ]
        .map(|at| (name.to_owned(), at));
        let is_made =
            |stop: &PlannedStop| *stop.address == *name && stop.at == Breakpoint::PostCreate;
        let is_under_way = self
            .under_way
            .get(name)
            .is_some_and(|earlier| earlier.continues_with(action));
        passed.iter().any(|passed| self.reported.contains(passed))
            || is_under_way
            || action == StatusOp::Update && planned.iter().any(is_made)
    }

    /// Compares a run with the expectations of its plan; returns violations, each in a sentence.
    /// `stops`: the breakpoints at which operations wait, according to the state. `lost`: commits
    /// were lost, so reports may be missing.
    pub(super) fn check(
        &mut self,
        expected: Expectations,
        run: &RunResult,
        stops: &Stops,
        lost: bool,
    ) -> Vec<String> {
        let mut violations = expected.violations;
        let mut closed = expected.blocked;
        self.unreported
            .retain(|(name, _)| !expected.deleted.contains(name));
        self.reported.extend(expected.ignored_breakpoints);
        let (mut ignores_breakpoints, mut is_rolling_back) = (expected.ignores_breakpoints, false);
        let mut done_now = HashSet::new();
        // Actions that an automatic rollback began. An operation that continues one does not stop
        // before it.
        let mut begun_by_rollback: HashSet<(String, Breakpoint)> = HashSet::new();
        for event in &run.events {
            match event {
                // The failed operation has ended, and a rollback stops at no breakpoint.
                Event::RollingBack { .. } => {
                    closed.clear();
                    (ignores_breakpoints, is_rolling_back) = (true, true);
                }
                // A delete-first replacement may delete the old resource while the new one has to
                // wait.
                Event::Started {
                    operation: Operation::Delete,
                    replacing: true,
                    ..
                } => {}
                Event::Started {
                    address, operation, ..
                } if is_rolling_back => {
                    begun_by_rollback.insert((address.to_string(), breakpoint_before(*operation)));
                }
                Event::Started { address, .. } if closed.contains(&address.to_string()) => {
                    violations.push(format!("{address} starts behind a breakpoint"));
                }
                Event::Done {
                    address,
                    operation,
                    replacing,
                } => {
                    let name = address.to_string();
                    let (done, replaced) = match (expected.under_way.get(&name), operation) {
                        (_, Operation::Delete) if *replacing => continue,
                        (_, Operation::Delete) => (StatusOp::Delete, false),
                        // An update of a resource in creation completes the creation.
                        (Some(ActionInProgress::Create), _) => (StatusOp::Create, *replacing),
                        (Some(ActionInProgress::Replace), Operation::Create) => {
                            (StatusOp::Update, true)
                        }
                        // If the resource of an update no longer exists, it is created. That counts
                        // as the update.
                        (Some(ActionInProgress::Update), Operation::Create) => {
                            (StatusOp::Update, true)
                        }
                        (_, Operation::Create) if !replacing => (StatusOp::Create, false),
                        _ => (StatusOp::Update, *replacing),
                    };
                    self.reported
                        .retain(|(other, at)| *other != name || !at.is_before());
                    begun_by_rollback.retain(|(other, _)| *other != name);
                    self.unreported.retain(|(other, _)| *other != name);
                    if ignores_breakpoints {
                        continue;
                    }
                    done_now.insert(name.clone());
                    let counts = expected
                        .breakpoints
                        .get(&name)
                        .is_some_and(|all| all.contains(done.after()));
                    if counts && !replaced && expected.dependants.contains_key(&name) {
                        closed.extend(
                            expected
                                .dependants
                                .get(&name)
                                .into_iter()
                                .flatten()
                                .cloned(),
                        );
                        if done != StatusOp::Delete {
                            self.unreported.insert((name, done.after()));
                        }
                    }
                }
                _ => {}
            }
        }
        self.reported.extend(begun_by_rollback);
        for (address, at) in Stop::waiting(stops) {
            self.reported.insert((address.to_string(), at));
            self.unreported.remove(&(address.to_string(), at));
        }
        if is_rolling_back && matches!(run.operated, None | Some(Operated::Aborted(_))) {
            // An operation that continues a rollback does not stop before its steps, and the
            // rollback may concern any address.
            let before = [
                Breakpoint::PreCreate,
                Breakpoint::PreUpdate,
                Breakpoint::PreDelete,
            ];
            let all = expected
                .addresses
                .iter()
                .flat_map(|name| before.map(|at| (name.clone(), at)));
            self.reported.extend(all);
        }
        // Operations that ignore breakpoints keep the actions that are under way, or end them.
        if !expected.ignores_breakpoints {
            self.update_in_progress(expected.under_way, &done_now, run);
        }
        if lost || ignores_breakpoints {
            self.unreported.clear();
        }
        // A process may end right after the end of its operation was committed.
        let is_kept =
            |stop: &Stop| stop.action.is_some() && stop.waiting.is_none_or(Breakpoint::is_before);
        self.under_way
            .retain(|name, _| stops.get(name.as_str()).is_some_and(is_kept));
        if lost { Vec::new() } else { violations }
    }
    /// Takes over the actions that a run began, and drops those that it ended.
    fn update_in_progress(
        &mut self,
        began: HashMap<String, ActionInProgress>,
        done: &HashSet<String>,
        run: &RunResult,
    ) {
        match &run.operated {
            Some(Operated::Done(_)) => {
                let owed: HashSet<&String> = self.unreported.iter().map(|(name, _)| name).collect();
                let stays = |name: &String| owed.contains(name) || !done.contains(name);
                self.under_way = began.into_iter().filter(|(name, _)| stays(name)).collect();
            }
            // The state of a run that was cut off has the actions with which it began. It does not
            // tell which of them ended, so the next operation continues all of them.
            None | Some(Operated::Aborted(_)) => self.under_way.extend(began),
            // Nothing has begun.
            Some(_) => {}
        }
    }
}
