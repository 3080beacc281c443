//! The places where a plan stops until the user lets it continue: breakpoints of resources and of
//! child documents, the action of each, and the breakpoints at which the last operation waited and
//! from which this one continues.
//!
//! ```text
//! breakpoints, actions ──┐
//! recorded stops ────────┴──> Subject: stops before, stops after, continues ──> gates (`tasks`) ──> apply stops
//! ```
//!
//! A breakpoint is passed once for an action. An action is under way from when the breakpoint
//! before it is passed until the breakpoint after it is passed. Actions under way are committed
//! when an operation begins, so that a cut-off run neither forgets a stop nor repeats it.
//!
//! Not here: which tasks wait for a gate (`tasks::gates`); waiting at a gate (`apply::gates`).

use blueprint::{Address, Breakpoint, Breakpoints, Name};
use evaluate::resolve::Evaluation;
use state::{OperationKind, Snapshot, StatusOp, Stop, Stops};
use understand::documents::{Documents, group_key};
use understand::links::DeterministicMap;

use crate::decision::Decision;
use crate::draft::Draft;
use crate::model::{Action, AddressSet, PlannedStop, Purpose, Step};

/// The kind of gate after an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterGate {
    /// No gate.
    Nothing,
    /// A gate that only tells that the action is over.
    MarksEnd,
    /// A gate at which the operation stops.
    Stops,
}

/// A resource or a child with breakpoints, and the action of this plan on it.
pub(crate) struct BreakpointSubject {
    pub(crate) place: Name,
    /// The path of includes to it, if it is a child.
    pub(crate) path: Option<Box<[Name]>>,
    pub(crate) address: Option<Address>,
    breakpoints: Breakpoints,
    /// The action that is under way from now on, or that the plan stops before.
    pub(crate) action: Option<StatusOp>,
    /// Whether the plan stops before the action.
    pub(crate) before: bool,
    pub(crate) after: AfterGate,
    pub(crate) after_update: bool,
    /// The breakpoint at which the last operation waited and from which this one continues.
    continues_from: Option<Breakpoint>,
    /// For a delete: the resources, and the groups of the state, that it used.
    pub(crate) uses: Vec<Address>,
    declared: bool,
}

/// All subjects, with indexes by address and by path.
#[derive(Default)]
pub(crate) struct BreakpointSubjects {
    pub(crate) all: Vec<BreakpointSubject>,
    pub(crate) resources: DeterministicMap<Address, u32>,
    pub(crate) children: DeterministicMap<Box<[Name]>, u32>,
    /// The stops of the state that the plan does not change.
    untouched_stops: Stops,
}

/// The actions of a plan in a child.
#[derive(Default)]
struct ChildActions {
    /// The plan has a decision about something in it.
    has_decision: bool,
    /// The plan creates or changes something in it.
    creates_or_changes: bool,
    deletes: bool,
    /// Something in it exists already.
    exists: bool,
    uses: AddressSet,
}

impl BreakpointSubjects {
    /// Everything at which a plan may stop, and the actions of the plan there.
    pub(crate) fn of(
        draft: &Draft,
        evaluation: Option<&Evaluation>,
        snapshot: &Snapshot,
        (purpose, kind): (Purpose, OperationKind),
        partial: bool,
    ) -> BreakpointSubjects {
        if purpose == Purpose::Reconcile {
            return BreakpointSubjects {
                untouched_stops: snapshot.stops.clone(),
                ..BreakpointSubjects::default()
            };
        }
        let documents = evaluation.map(|evaluation| &*evaluation.documents);
        let declared = documents.map_or_else(DeterministicMap::default, children_of);
        let anything = !snapshot.stops.is_empty()
            || !declared.is_empty()
            || documents.is_some_and(has_breakpoints);
        let mut subjects = BreakpointSubjects::default();
        if !anything {
            return subjects;
        }
        let known = RecordedStops::of(&snapshot.stops);
        subjects.add_children(draft, documents, &declared, &known, partial);
        subjects.add_resources(draft, documents, snapshot, &known, partial);
        if kind == OperationKind::Rollback {
            // A rollback stops nowhere, and ends every action that was under way.
            for subject in &mut subjects.all {
                (
                    subject.action,
                    subject.before,
                    subject.after,
                    subject.continues_from,
                ) = (None, false, AfterGate::Nothing, None);
            }
        }
        subjects
    }

    fn add_children(
        &mut self,
        draft: &Draft,
        documents: Option<&Documents>,
        declared: &DeterministicMap<Box<[Name]>, Breakpoints>,
        known: &RecordedStops<'_>,
        partial: bool,
    ) {
        let mut inside: DeterministicMap<Box<[Name]>, ChildActions> = DeterministicMap::default();
        for path in declared.keys().chain(known.children.keys()) {
            inside.entry(path.clone()).or_default();
        }
        if inside.is_empty() {
            return;
        }
        for decision in &draft.decisions {
            let path = &decision.address.path;
            for depth in 1..=path.len() {
                if let Some(child) = inside.get_mut(&path[..depth]) {
                    child.add_decision(decision, &path[..depth]);
                }
            }
        }
        let mut units: DeterministicMap<&[Name], ()> = DeterministicMap::default();
        units.extend(
            documents
                .into_iter()
                .flat_map(|all| all.units())
                .map(|unit| (&*unit.path, ())),
        );
        // In the order of the documents; then children that only the state knows.
        let first = documents
            .into_iter()
            .flat_map(|all| all.units())
            .map(|unit| Box::from(&*unit.path));
        let paths: indexmap::IndexSet<Box<[Name]>, foldhash::fast::FixedState> =
            first.chain(known.children.keys().cloned()).collect();
        for path in paths {
            let Some(child) = inside.remove(&path) else {
                continue;
            };
            let place = Stop::of_child(&path);
            let is_declared = units.contains_key(&*path);
            let before = known.children.get(&path).copied();
            if partial && !child.has_decision {
                self.keep_untouched(place, before);
                continue;
            }
            let breakpoints = if is_declared {
                declared.get(&path).copied().unwrap_or_default()
            } else {
                before.map_or(Breakpoints::NONE, |stop| stop.breakpoints)
            };
            // Deletes wait for users, so they may be the rest of an update whose breakpoint has
            // been passed.
            let is_rest = before.and_then(|stop| stop.waiting) == Some(Breakpoint::PostUpdate);
            let does = child.creates_or_changes || child.deletes && !is_rest;
            let now = if !is_declared {
                child.deletes.then_some(StatusOp::Delete)
            } else if !does {
                None
            } else if child.exists {
                Some(StatusOp::Update)
            } else {
                Some(StatusOp::Create)
            };
            let is_done = |action| match action {
                StatusOp::Delete => !is_declared,
                _ => is_declared && child.has_decision,
            };
            let mut subject =
                BreakpointSubject::new(place, breakpoints, before, now, is_done, is_declared);
            subject.path = Some(path.clone());
            subject.keep_uses(child.uses, before);
            self.children.insert(path, self.all.len() as u32);
            self.all.push(subject);
        }
    }

    fn add_resources(
        &mut self,
        draft: &Draft,
        documents: Option<&Documents>,
        snapshot: &Snapshot,
        known: &RecordedStops<'_>,
        partial: bool,
    ) {
        for decision in draft
            .decisions
            .iter()
            .filter(|decision| decision.linked.is_none())
        {
            let of_document = decision
                .element
                .and_then(|(index, _)| Some(documents?.resource(index)?.2));
            let former_address = decision
                .lineage
                .moved_from
                .as_ref()
                .unwrap_or(&decision.address);
            let before = known.resources.get(former_address).copied();
            let breakpoints = match of_document {
                Some(resource) => resource.lifecycle.breakpoints,
                None => before.map_or(Breakpoints::NONE, |stop| stop.breakpoints),
            };
            if breakpoints.is_empty() && before.is_none() {
                continue;
            }
            let is_done = |action| match action {
                StatusOp::Delete => of_document.is_none(),
                _ => {
                    of_document.is_some()
                        && decision
                            .prior
                            .as_ref()
                            .is_some_and(|record| !record.id.is_empty())
                }
            };
            let place = Name::from(decision.address.to_string());
            let mut subject = BreakpointSubject::new(
                place,
                breakpoints,
                before,
                action_of(decision.action),
                is_done,
                of_document.is_some(),
            );
            // The stop before a replacement was passed already; the replacement does not stop there
            // a second time.
            if subject.action == Some(StatusOp::Update) && subject.after == AfterGate::Stops {
                let replaced = decision.action == Action::Replace;
                subject.after = if replaced && !decision.may_replace {
                    AfterGate::MarksEnd
                } else {
                    AfterGate::Stops
                };
                subject.after_update = decision.action != Action::None;
            }
            subject.address = Some(decision.address.clone());
            let uses = decision
                .prior
                .iter()
                .flat_map(|record| record.dependencies.iter().cloned());
            subject.keep_uses(uses, before);
            self.resources
                .insert(decision.address.clone(), self.all.len() as u32);
            self.all.push(subject);
        }
        // Resources that have been deleted have no decision.
        let moved: DeterministicMap<&Address, ()> = draft
            .decisions
            .iter()
            .filter_map(|decision| Some((decision.lineage.moved_from.as_ref()?, ())))
            .collect();
        for (address, stop) in &known.resources {
            if self.resources.contains_key(address) || moved.contains_key(address) {
                continue;
            }
            let place = Name::from(address.to_string());
            let is_gone =
                stop.action == Some(StatusOp::Delete) && !snapshot.records.contains_key(address);
            if !is_gone {
                if partial {
                    self.keep_untouched(place, Some(stop));
                }
                continue;
            }
            let mut subject =
                BreakpointSubject::new(place, stop.breakpoints, Some(stop), None, |_| true, false);
            subject.address = Some(address.clone());
            subject.keep_uses(AddressSet::default(), Some(stop));
            self.resources
                .insert(address.clone(), self.all.len() as u32);
            self.all.push(subject);
        }
    }

    fn keep_untouched(&mut self, place: Name, stop: Option<&Stop>) {
        self.untouched_stops
            .extend(stop.map(|stop| (place, stop.clone())));
    }

    /// The stops to store when the operation begins.
    pub(crate) fn stops_at_start(&self) -> Stops {
        let entries = self.all.iter().filter_map(|subject| {
            let action = subject.action.filter(|_| !subject.before);
            let stop = Stop {
                breakpoints: subject.breakpoints,
                action,
                waiting: None,
                uses: subject
                    .uses
                    .iter()
                    .filter(|_| action == Some(StatusOp::Delete))
                    .cloned()
                    .collect(),
            };
            let stays = subject.declared && !stop.breakpoints.is_empty()
                || subject.action == Some(StatusOp::Delete);
            stays.then(|| (subject.place.clone(), stop))
        });
        self.untouched_stops
            .iter()
            .map(|(place, stop)| (place.clone(), stop.clone()))
            .chain(entries)
            .collect()
    }

    /// Sets in the steps where the plan stops.
    pub(crate) fn report(&self, steps: &mut [Step]) {
        for step in steps.iter_mut().filter(|_| !self.resources.is_empty()) {
            let Some(at) = self.resources.get(&step.address) else {
                continue;
            };
            let subject = &self.all[*at as usize];
            step.stops_before = subject
                .action
                .filter(|_| subject.before)
                .map(StatusOp::before);
            step.stops_after = subject
                .action
                .filter(|_| subject.after == AfterGate::Stops)
                .map(StatusOp::after);
        }
    }

    /// The places where the plan stops, and those from which it continues, for the user.
    pub(crate) fn planned(&self) -> Vec<PlannedStop> {
        let mut planned = Vec::new();
        for subject in &self.all {
            let child = subject.path.is_some();
            let address: Name = subject.place.trim_end_matches('/').into();
            let mut add = |at, passed| {
                planned.push(PlannedStop {
                    address: address.clone(),
                    child,
                    at,
                    passed,
                })
            };
            if let Some(at) = subject.continues_from {
                add(at, true);
            }
            if let Some(action) = subject.action {
                if subject.before {
                    add(action.before(), false);
                }
                if subject.after == AfterGate::Stops {
                    add(action.after(), false);
                }
            }
        }
        planned
    }
}

/// The stored stops, by resource and by child.
struct RecordedStops<'s> {
    resources: indexmap::IndexMap<Address, &'s Stop, foldhash::fast::FixedState>,
    children: indexmap::IndexMap<Box<[Name]>, &'s Stop, foldhash::fast::FixedState>,
}

impl<'s> RecordedStops<'s> {
    fn of(stops: &'s Stops) -> RecordedStops<'s> {
        let mut known = RecordedStops {
            resources: Default::default(),
            children: Default::default(),
        };
        for (name, stop) in stops {
            match (Stop::child(name), name.parse()) {
                (Some(path), _) => drop(known.children.insert(path, stop)),
                (None, Ok(address)) => drop(known.resources.insert(address, stop)),
                (None, Err(_)) => {}
            }
        }
        known
    }
}

impl ChildActions {
    fn add_decision(&mut self, decision: &Decision, path: &[Name]) {
        self.has_decision = true;
        let action = action_of(decision.action);
        self.creates_or_changes |= matches!(action, Some(StatusOp::Create | StatusOp::Update));
        self.deletes |= action == Some(StatusOp::Delete);
        self.exists |= decision
            .prior
            .as_ref()
            .is_some_and(|record| !record.id.is_empty());
        if action == Some(StatusOp::Delete) {
            let uses = decision
                .prior
                .iter()
                .flat_map(|record| &record.dependencies);
            self.uses.extend(
                uses.filter(|used| group_key(used).is_some() || !used.path.starts_with(path))
                    .cloned(),
            );
        }
    }
}

impl BreakpointSubject {
    /// Creates a subject. `now` is the action of the plan there; `is_done` tells whether nothing is
    /// left to do of an action that is under way.
    fn new(
        place: Name,
        breakpoints: Breakpoints,
        before: Option<&Stop>,
        now: Option<StatusOp>,
        is_done: impl Fn(StatusOp) -> bool,
        declared: bool,
    ) -> BreakpointSubject {
        let waited = before.and_then(|stop| stop.waiting);
        let was_over = waited.is_some_and(|at| !at.is_before());
        let under_way = before.and_then(|stop| stop.action).filter(|_| !was_over);
        let (action, begun) = match (under_way, now) {
            // A create that is under way stays a create, even if the plan now updates the resource.
            (Some(StatusOp::Create), Some(StatusOp::Create | StatusOp::Update)) => {
                (Some(StatusOp::Create), true)
            }
            // An update stays an update, even if the resource has vanished meanwhile and is created
            // again.
            (Some(StatusOp::Update), Some(StatusOp::Create | StatusOp::Update)) => {
                (Some(StatusOp::Update), true)
            }
            (Some(action), Some(now)) if action == now => (Some(action), true),
            (_, Some(now)) => (Some(now), false),
            (Some(action), None) if waited.is_none() && is_done(action) => (Some(action), true),
            (_, None) => (None, false),
        };
        let has_breakpoint = |action: &StatusOp| {
            breakpoints.contains(action.before()) || breakpoints.contains(action.after())
        };
        let action = action.filter(has_breakpoint);
        let has = |at: fn(StatusOp) -> Breakpoint| {
            action.is_some_and(|action| breakpoints.contains(at(action)))
        };
        let after = match action {
            None => AfterGate::Nothing,
            Some(_) if has(StatusOp::after) => AfterGate::Stops,
            Some(_) => AfterGate::MarksEnd,
        };
        // If the plan now has another action than the one that waited, nothing continues.
        let continues_from = waited.filter(|_| was_over || begun);
        BreakpointSubject {
            place,
            path: None,
            address: None,
            breakpoints,
            action,
            before: !begun && has(StatusOp::before),
            after,
            after_update: false,
            continues_from,
            uses: Vec::new(),
            declared,
        }
    }

    fn keep_uses(&mut self, uses: impl IntoIterator<Item = Address>, before: Option<&Stop>) {
        if self.action == Some(StatusOp::Delete) {
            let earlier = before
                .into_iter()
                .flat_map(|stop| stop.uses.iter().cloned());
            self.uses = earlier
                .chain(uses)
                .collect::<AddressSet>()
                .into_iter()
                .collect();
        }
    }
}

/// The kind of operation to which an action of the plan belongs.
fn action_of(action: Action) -> Option<StatusOp> {
    match action {
        Action::Create => Some(StatusOp::Create),
        Action::Update | Action::Replace => Some(StatusOp::Update),
        Action::Delete | Action::Detach => Some(StatusOp::Delete),
        Action::Import
        | Action::Move
        | Action::Link
        | Action::Relink
        | Action::Unlink
        | Action::Read
        | Action::None => None,
    }
}

/// The declared children at which operations stop.
fn children_of(documents: &Documents) -> DeterministicMap<Box<[Name]>, Breakpoints> {
    let mut found = DeterministicMap::default();
    for unit in documents.units() {
        let Some((above, position)) = unit.parent else {
            continue;
        };
        let children = &documents.unit(above).blueprint().children;
        let breakpoints = children
            .get_index(position as usize)
            .map_or(Breakpoints::NONE, |(_, it)| it.breakpoints);
        if !breakpoints.is_empty() {
            found.insert(Box::from(&*unit.path), breakpoints);
        }
    }
    found
}

fn has_breakpoints(documents: &Documents) -> bool {
    let mut resources = documents
        .distinct()
        .flat_map(|checked| checked.blueprint.resources.values());
    resources.any(|resource| !resource.lifecycle.breakpoints.is_empty())
}
