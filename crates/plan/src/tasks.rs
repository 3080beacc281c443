//! From decisions to steps in order, and to the tasks that carry them out.
//!
//! A task is one call, or one change of the state alone; a replacement is two. Tasks wait for tasks: users after what
//! they use, deletes after every user has let go (decision S62), ties in document order.

mod batches;
mod gates;
pub mod links;
mod reads;
mod steps;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use blueprint::{Address, IndexMap, Name, ReplaceOrder, TypeId, Value};
use diag::Diagnostics;
use state::{Snapshot, StatusWord};

use self::steps::number;
use super::draft::{Decision, Draft, reads_anew};
use super::links::{LinkChange, link_changes, tell_links, told_of_links};
use super::stops::{Gate, Subjects};
use crate::codes;
use crate::links::Linked;
use crate::plan::{Action, LeftAlone, Reason, Step};
use crate::task::{Decided, Task, TaskKind, Until, Wait};
use evaluate::resolve::Evaluation;
use understand::documents::{address_of_group, group_key};
use understand::graph::{EdgeKind, Node};

/// The ordered plan.
pub(super) struct Ordered {
    pub(crate) steps: Vec<Step>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) groups: IndexMap<Name, Vec<Address>>,
    pub(crate) left_alone: LeftAlone,
    pub(crate) links: Vec<LinkChange>,
    pub(crate) gates: Vec<Gate>,
    pub(crate) secret: bool,
}

/// Tasks of one decision, by what they do.
#[derive(Clone, Copy, Default)]
struct Tasks {
    /// Create, update, record or condition.
    forward: Option<u32>,
    /// Delete, or the old half of a replacement.
    backward: Option<u32>,
    /// The first of the deletes of old halves left over from earlier replacements; the others follow it.
    left_over: Option<u32>,
}

pub(crate) struct Builder<'a> {
    tasks: Vec<Task>,
    /// What has no task is not among them.
    of: IndexMap<Address, Tasks>,
    /// Gathers of intermediate values: what waits for the value, and what waits for all its users.
    gathers: IndexMap<Name, Option<u32>>,
    releases: IndexMap<Name, u32>,
    /// Data sources that are read in the run.
    deferred: reads::AllDeferred,
    draft: &'a Draft,
}

impl Builder<'_> {
    fn add(&mut self, kind: TaskKind, decision: Option<&std::sync::Arc<Decided>>) -> u32 {
        self.tasks.push(Task { kind, step: None, waits: Vec::new(), decision: decision.cloned() });
        self.tasks.len() as u32 - 1
    }

    /// Deletes of old halves that earlier replacements left over, one after the other, and never beside another call
    /// at the address: after the thing is as it should be, or before it is forgotten.
    fn left_over(&mut self, decided: &std::sync::Arc<Decided>, tasks: Tasks) -> Option<u32> {
        let count = decided.prior.as_ref().map_or(0, |record| record.old_halves().count());
        let (mut first, mut last) = (None, None);
        for old in 1..=count as u32 {
            let task = self.add(TaskKind::DeleteOld(old), Some(decided));
            for on in tasks.forward.into_iter().chain(tasks.backward).chain(last) {
                if self.tasks[on as usize].kind == TaskKind::Forget {
                    self.wait(on, task, Until::Ready);
                } else {
                    self.wait(task, on, Until::Ready);
                }
            }
            first = first.or(Some(task));
            last = Some(task);
        }
        first
    }

    /// A task that does nothing but wait for many, so that many others need to wait for only one.
    fn add_gather(&mut self, mut waits: Vec<u32>) -> u32 {
        waits.sort_unstable();
        waits.dedup();
        let task = self.add(TaskKind::Gather, None);
        self.tasks[task as usize].waits =
            waits.into_iter().map(|task| Wait { task, until: Until::Configured }).collect();
        task
    }

    /// Whoever waits for the same task twice is put right in the end, by `settle_waits`.
    fn wait(&mut self, task: u32, on: u32, until: Until) {
        if task != on {
            self.tasks[task as usize].waits.push(Wait { task: on, until });
        }
    }

    /// Each task waits for another one at most once, as far as the farthest of its reasons says.
    fn settle_waits(&mut self) {
        for task in &mut self.tasks {
            let far = |until| match until {
                Until::Ready => 0,
                Until::Configured => 1,
                Until::Over => 2,
            };
            task.waits.sort_by_key(|wait| (wait.task, far(wait.until)));
            task.waits.dedup_by_key(|wait| wait.task);
        }
    }

    /// The task that stands for an intermediate value's being known; none if nothing it uses changes.
    ///
    /// Groups come in the order in which they were settled, so what a group uses is there before it.
    fn gather(&self, name: &str) -> Option<u32> {
        self.gathers.get(name).copied().flatten()
    }

    /// Tasks of things of these types that an intermediate value uses, however indirectly.
    fn stable_behind(&self, group: &str, types: &[Name]) -> Vec<u32> {
        let mut found = Vec::new();
        if types.is_empty() {
            return found;
        }
        let mut seen: std::collections::HashSet<Cow<'_, str>, foldhash::fast::FixedState> = Default::default();
        let mut stack = vec![Cow::Borrowed(group)];
        while let Some(group) = stack.pop() {
            if !seen.insert(group.clone()) {
                continue;
            }
            for used in self.draft.groups.get(group.as_ref()).into_iter().flatten() {
                match group_key(used) {
                    Some(inner) => stack.push(inner),
                    None => found.extend(self.of.get(used).and_then(|tasks| tasks.forward).filter(|task| {
                        let decided = self.tasks[*task as usize].decision.as_ref();
                        decided.is_some_and(|decided| types.iter().any(|ty| decided.type_name == *ty))
                    })),
                }
            }
        }
        found
    }

    fn make_gathers(&mut self) {
        let groups = &self.draft.groups;
        for (name, uses) in groups {
            let waits: Vec<u32> = uses
                .iter()
                .filter_map(|address| match group_key(address) {
                    Some(inner) => self.gather(&inner),
                    None => self.of.get(address).and_then(|tasks| tasks.forward),
                })
                .collect();
            let waits_for_nothing = waits.is_empty() && !self.deferred.contains_key(name);
            let task = if waits_for_nothing { None } else { Some(self.add_gather(waits)) };
            self.gathers.insert(name.clone(), task);
        }
    }
}

/// Puts decisions in order.
pub(crate) fn order(
    mut draft: Draft,
    snapshot: &Snapshot,
    evaluation: Option<&Evaluation>,
    subjects: &Subjects,
    partial: bool,
    found: &mut Diagnostics,
) -> Ordered {
    let mut left_alone = LeftAlone { absent: std::mem::take(&mut draft.absent), ..LeftAlone::default() };
    prefer_create_first(&mut draft);
    refuse_create_first(&mut draft, found);
    let mut secret = false;
    let busy = draft.decisions.iter().filter(|decision| decision.action != Action::None).count();
    let mut builder = Builder {
        tasks: Vec::with_capacity(busy),
        of: IndexMap::with_capacity_and_hasher(busy, Default::default()),
        gathers: IndexMap::default(),
        releases: IndexMap::default(),
        deferred: reads::deferred(evaluation),
        draft: &draft,
    };
    let mut open: Vec<std::sync::Arc<Decided>> = Vec::new();
    let mut of_links: std::collections::HashMap<usize, u32, foldhash::fast::FixedState> = Default::default();
    for (number, decision) in draft.decisions.iter().enumerate() {
        secret |= decision.desired.has_secret()
            || decision.metadata.has_secret()
            || decision.action != Action::Delete && decision.ty.as_ref().is_some_and(|ty| has_sensitive_output(ty));
        // Most things of a plan that changes little have no task.
        let decided = std::cell::LazyCell::new(|| std::sync::Arc::new(decided_of(number, decision)));
        if decision.condition_open && decision.prior.as_ref().is_some_and(|record| !record.id.is_empty()) {
            open.push(decided.clone());
        }
        let mut tasks = Tasks::default();
        let of_link = match (decision.linked.as_deref(), decision.action) {
            (Some(Linked::Phase(_)), _) => Some(TaskKind::Phase),
            (Some(Linked::Whole(_)), Action::Unlink) => Some(TaskKind::Forget),
            (Some(Linked::Whole(_)), _) => Some(TaskKind::Link),
            _ => None,
        };
        if let Some(kind) = of_link {
            let task = builder.add(kind, Some(&*decided));
            of_links.insert(number, task);
            match kind {
                TaskKind::Link => tasks.forward = Some(task),
                TaskKind::Forget => tasks.backward = Some(task),
                _ => {}
            }
            if kind != TaskKind::Phase {
                builder.of.insert(decision.address.clone(), tasks);
            }
            continue;
        }
        let retained = decision.action == Action::Replace && decision.retain;
        if retained {
            found.push(
                codes::RETAINED
                    .new(format!("the old `{}` is left in the world and no longer managed", decision.address))
                    .label(decision.span, ""),
            );
        }
        secret |= decision.prior.as_ref().is_some_and(|record| record.has_secret());
        match decision.action {
            Action::Create => {
                tasks.forward = Some(builder.add(TaskKind::Create, Some(&*decided)));
                tasks.backward = decision.temporary.then(|| builder.add(TaskKind::TakeBack, Some(&*decided)));
            }
            Action::Update if decision.only_recorded => {
                tasks.forward = Some(builder.add(TaskKind::Record, Some(&*decided)))
            }
            Action::Update => tasks.forward = Some(builder.add(TaskKind::Update, Some(&*decided))),
            Action::Replace => {
                tasks.forward = Some(builder.add(TaskKind::Create, Some(&*decided)));
                if !retained {
                    tasks.backward = Some(builder.add(TaskKind::DeleteOld(0), Some(&*decided)));
                }
            }
            Action::Delete if nothing_but_old_halves(decision) => {
                tasks.backward = Some(builder.add(TaskKind::Forget, Some(&*decided)));
            }
            Action::Delete => tasks.backward = Some(builder.add(TaskKind::Delete, Some(&*decided))),
            Action::Detach => tasks.backward = Some(builder.add(TaskKind::Forget, Some(&*decided))),
            Action::Move | Action::Import if decision.record_differs => {
                tasks.forward = Some(builder.add(TaskKind::Record, Some(&*decided)));
            }
            Action::Move | Action::Import => {
                tasks.forward = Some(builder.add(TaskKind::Settled, Some(&*decided)));
            }
            Action::Link | Action::Relink | Action::Unlink | Action::Read => {}
            Action::None if decision.element.is_none() && decision.linked.is_none() && !decision.record_differs => {
                tasks.forward = Some(builder.add(TaskKind::Settled, Some(&*decided)));
            }
            Action::None if decision.element.is_none() && decision.linked.is_none() => {
                tasks.backward = Some(builder.add(TaskKind::Forget, Some(&*decided)));
            }
            Action::None => {
                left_alone.unchanged += 1;
                if decision.record_differs {
                    tasks.forward = Some(builder.add(TaskKind::Record, Some(&*decided)));
                } else if decision.condition_open {
                    tasks.forward = Some(builder.add(TaskKind::Condition, Some(&*decided)));
                } else if decision.prior.as_ref().is_some_and(|record| record.status.word == StatusWord::Configured) {
                    tasks.forward = Some(builder.add(TaskKind::Look, Some(&*decided)));
                }
            }
        }
        if decision.prior.as_ref().is_some_and(|record| record.deposed.is_some()) {
            tasks.left_over = builder.left_over(&decided, tasks);
        }
        if decision.action == Action::Detach {
            left_alone.retained.push(decision.address.clone());
        }
        if tasks.forward.or(tasks.backward).or(tasks.left_over).is_some() {
            builder.of.insert(decision.address.clone(), tasks);
        }
    }
    builder.make_gathers();
    wait_for_what_is_used(&mut builder, &draft, evaluation);
    let freed = unique_conflicts(&mut builder, &draft);
    wait_for_users(&mut builder, &draft, snapshot, &freed);
    batches::order(&mut builder, &draft);
    links::order(&mut builder, &draft, &of_links);
    conditions(&mut builder, &open, snapshot);
    let gates = gates::add(&mut builder, &draft, subjects, snapshot);
    builder.settle_waits();
    let reads = reads::by_task(&mut builder, partial);
    let mut tasks = builder.tasks;
    let order = topological(&mut tasks);
    let groups = std::mem::take(&mut draft.groups);
    let links = link_changes(&draft.decisions);
    let told = told_of_links(&draft.decisions);
    let (mut steps, tasks) = number(tasks, &order, draft.decisions, reads);
    tell_links(&mut steps, told);
    subjects.tell(&mut steps);
    Ordered { steps, tasks, groups, left_alone, links, gates, secret }
}

/// Whether what is to be deleted is gone already, and only old halves of it are left.
fn nothing_but_old_halves(decision: &Decision) -> bool {
    decision.prior.as_ref().is_some_and(|record| record.deposed.is_some() && record.id.is_empty())
}

impl Decided {
    /// The old thing of that number: 0 is the thing itself, others are old halves left over, the newest first.
    pub fn old_thing(&self, old: u32) -> Option<&state::Record> {
        let prior = self.prior.as_deref()?;
        match old {
            0 => Some(prior),
            more => prior.old_halves().nth(more as usize - 1),
        }
    }
}

fn decided_of(number: usize, decision: &Decision) -> Decided {
    Decided {
        number,
        address: decision.address.clone(),
        element: decision.element,
        linked: decision.linked.clone(),
        type_name: decision.type_name.clone(),
        ty: decision.ty.clone(),
        action: decision.action,
        may_replace: decision.may_replace,
        replace_order: decision.replace_order,
        condition_open: decision.condition_open,
        insist: decision.reasons.iter().any(|reason| matches!(reason, Reason::Drifted | Reason::FailedBefore))
            || reads_anew(decision),
        desired: decision.desired.clone(),
        metadata: decision.metadata.clone(),
        prior: decision.prior.clone(),
        outputs: decision.outputs.clone(),
        private: decision.private.clone(),
        dependencies: decision.dependencies.clone(),
        retain: decision.retain,
        protect: decision.protect,
        made_from: decision.made_from.clone(),
        span: decision.span,
    }
}

fn has_sensitive_output(ty: &provider::ResourceType) -> bool {
    ty.schema.fields.values().any(|field| field.computed && understand::compare::has_sensitive(Some(field)))
}

/// What a create-first replacement uses and is replaced too must come create-first as well, or its old half would lose
/// what it stands on (decision 5.2).
fn prefer_create_first(draft: &mut Draft) {
    let is_create_first =
        |decision: &Decision| decision.action == Action::Replace && decision.replace_order == ReplaceOrder::CreateFirst;
    let mut stack: Vec<usize> =
        (0..draft.decisions.len()).filter(|at| is_create_first(&draft.decisions[*at])).collect();
    if stack.is_empty() {
        return;
    }
    let position: IndexMap<Address, usize> =
        draft.decisions.iter().enumerate().map(|(at, decision)| (decision.address.clone(), at)).collect();
    let mut seen_groups: std::collections::HashSet<Name, foldhash::fast::FixedState> = Default::default();
    while let Some(at) = stack.pop() {
        let mut uses = draft.decisions[at].dependencies.clone();
        while let Some(address) = uses.pop() {
            if let Some(group) = group_key(&address) {
                if seen_groups.insert(group.as_ref().into()) {
                    uses.extend(draft.groups.get(group.as_ref()).cloned().unwrap_or_default());
                }
                continue;
            }
            let Some(used) = position.get(&address) else { continue };
            let decision = &mut draft.decisions[*used];
            if decision.action == Action::Replace && decision.replace_order == ReplaceOrder::DeleteFirst {
                decision.replace_order = ReplaceOrder::CreateFirst;
                stack.push(*used);
            }
        }
    }
}

/// Two things cannot share a unique value even for a moment: then the old one goes first, and that is said.
fn refuse_create_first(draft: &mut Draft, found: &mut Diagnostics) {
    for decision in &mut draft.decisions {
        if decision.action != Action::Replace || decision.replace_order != ReplaceOrder::CreateFirst {
            continue;
        }
        let (Some(ty), Some(prior)) = (&decision.ty, &decision.prior) else { continue };
        let shared = ty.unique_fields().find(|field| {
            let (old, new) = (prior.inputs.get(field), decision.desired.get(field));
            old.zip(new).is_some_and(|(old, new)| understand::compare::same(old, new) && !new.is_null())
        });
        if let Some(field) = shared {
            found.push(
                codes::REPLACE_ORDER_CHANGED
                    .new(format!("`{}` is replaced delete-first", decision.address))
                    .label(decision.span, format!("the old and the new one share the unique value of `{field}`")),
            );
            decision.replace_order = ReplaceOrder::DeleteFirst;
        }
    }
}

/// Everything that is made or changed waits for what it uses.
fn wait_for_what_is_used(builder: &mut Builder<'_>, draft: &Draft, evaluation: Option<&Evaluation>) {
    let Some(evaluation) = evaluation else {
        wait_for_records(builder, draft);
        return;
    };
    let documents = &evaluation.documents;
    for decision in &draft.decisions {
        let is_part = matches!(decision.linked.as_deref(), Some(Linked::Part { .. }));
        let Some(tasks) = builder.of.get(&decision.address).copied() else { continue };
        let Some(forward) = tasks.forward.filter(|_| decision.element.is_some() || is_part) else { continue };
        let needs_stable = decision.ty.as_ref().map_or(&[][..], |ty| &ty.needs_stable);
        let edges = decision.element.map_or(&[][..], |(index, _)| documents.graph().edges(Node::Resource(index)));
        let depends_on: Vec<&Name> = edges
            .iter()
            .filter(|edge| edge.kind == EdgeKind::DependsOn)
            .filter_map(|edge| match edge.to {
                Node::Resource(number) => documents.resource(number).map(|(_, name, _)| name),
                _ => None,
            })
            .collect();
        for used in &decision.dependencies {
            if let Some(group) = group_key(used) {
                for on in builder.stable_behind(&group, needs_stable) {
                    builder.wait(forward, on, Until::Ready);
                }
                if let Some(gather) = builder.gather(&group) {
                    builder.wait(forward, gather, Until::Configured);
                    if decision.may_replace {
                        tasks.backward.iter().for_each(|backward| builder.wait(*backward, gather, Until::Configured));
                    }
                }
                continue;
            }
            let Some(on) = builder.of.get(used).and_then(|tasks| tasks.forward) else { continue };
            let by_type = builder.tasks[on as usize]
                .decision
                .as_ref()
                .is_some_and(|used| needs_stable.iter().any(|ty| used.type_name == *ty));
            let by_name = used.path == decision.address.path && depends_on.contains(&&used.name);
            let until = if by_type || by_name { Until::Ready } else { Until::Configured };
            builder.wait(forward, on, until);
            if decision.may_replace {
                // Whether the old one has to go is only known once these values are.
                tasks.backward.iter().for_each(|backward| builder.wait(*backward, on, until));
            }
        }
        if let (Action::Replace, Some(backward)) = (decision.action, tasks.backward) {
            match decision.replace_order {
                ReplaceOrder::DeleteFirst => builder.wait(forward, backward, Until::Ready),
                ReplaceOrder::CreateFirst => builder.wait(backward, forward, Until::Ready),
            }
        }
    }
}

/// The same without a document: each waits for what its record says that it uses.
fn wait_for_records(builder: &mut Builder<'_>, draft: &Draft) {
    for decision in draft.decisions.iter().filter(|decision| decision.action != Action::Delete) {
        let Some(tasks) = builder.of.get(&decision.address).copied() else { continue };
        let Some(forward) = tasks.forward else { continue };
        for used in &decision.dependencies {
            let on = match group_key(used) {
                Some(group) => builder.gather(&Name::from(group.as_ref())),
                None => builder.of.get(used).and_then(|tasks| tasks.forward),
            };
            if let Some(on) = on {
                builder.wait(forward, on, Until::Configured);
            }
        }
        if let (Action::Replace, Some(backward)) = (decision.action, tasks.backward) {
            match decision.replace_order {
                ReplaceOrder::DeleteFirst => builder.wait(forward, backward, Until::Ready),
                ReplaceOrder::CreateFirst => builder.wait(backward, forward, Until::Ready),
            }
        }
    }
}

/// Where a thing that comes has a value that a thing that goes must give up first, the delete comes first. Gives the
/// addresses that do not wait for their surviving users.
fn unique_conflicts(
    builder: &mut Builder<'_>,
    draft: &Draft,
) -> std::collections::HashSet<Address, foldhash::fast::FixedState> {
    let mut freed = std::collections::HashSet::default();
    let mut going: IndexMap<(TypeId, Name, String), (Address, u32)> = IndexMap::default();
    let unique = |decision: &Decision, spec: &Value| -> Vec<(TypeId, Name, String)> {
        let Some(ty) = &decision.ty else { return Vec::new() };
        let values = ty.unique_fields().filter_map(|field| {
            let value = spec.get(field).filter(|value| !value.has_unknown() && !value.is_null())?;
            Some((ty.name.clone(), field.clone(), value.revealed().to_string()))
        });
        values.collect()
    };
    for decision in &draft.decisions {
        let tasks = builder.of.get(&decision.address).copied().unwrap_or_default();
        // A value is given up by a delete, by the delete of an old half, or by an update that sets another one.
        let gives_up = match decision.action {
            Action::Delete | Action::Replace => tasks.backward,
            Action::Update => tasks.forward,
            _ => None,
        };
        let Some(gives_up) = gives_up else { continue };
        let inputs = decision.prior.as_ref().map_or(&Value::Null, |record| &record.inputs);
        let kept = unique(decision, &decision.desired);
        for key in unique(decision, inputs).into_iter().filter(|key| !kept.contains(key)) {
            going.insert(key, (decision.address.clone(), gives_up));
        }
    }
    if going.is_empty() {
        return freed;
    }
    for decision in draft
        .decisions
        .iter()
        .filter(|decision| matches!(decision.action, Action::Create | Action::Replace | Action::Update))
    {
        let Some(forward) = builder.of.get(&decision.address).and_then(|tasks| tasks.forward) else { continue };
        for key in unique(decision, &decision.desired) {
            if let Some((address, gives_up)) = going.get(&key).cloned()
                && address != decision.address
            {
                builder.wait(forward, gives_up, Until::Ready);
                freed.insert(address);
            }
        }
    }
    freed
}

/// A delete waits until every user of the thing is deleted, or changed so that it no longer uses it.
fn wait_for_users(
    builder: &mut Builder<'_>,
    draft: &Draft,
    snapshot: &Snapshot,
    freed: &std::collections::HashSet<Address, foldhash::fast::FixedState>,
) {
    let goes = |tasks: &Tasks| tasks.backward.or(tasks.left_over).is_some();
    if snapshot.groups.is_empty() && !builder.of.values().any(goes) {
        return;
    }
    // Users as the state knows them: by thing and by intermediate value.
    let mut users: IndexMap<&Address, Vec<&Address>> =
        IndexMap::with_capacity_and_hasher(snapshot.records.len(), Default::default());
    // Those of which old halves do: these are done when the last of them is gone.
    let mut old_users: IndexMap<&Address, Vec<u32>> = IndexMap::default();
    for (address, record) in &snapshot.records {
        for used in &record.dependencies {
            users.entry(used).or_default().push(address);
        }
        if record.deposed.is_some()
            && let Some(first) = builder.of.get(address).and_then(|tasks| tasks.left_over)
        {
            let last = first + record.old_halves().count() as u32 - 1;
            for used in record.old_halves().flat_map(|old| &old.dependencies).filter(|used| *used != address) {
                old_users.entry(used).or_default().push(last);
            }
        }
    }
    let mut groups_using: IndexMap<&Address, Vec<&Name>> = IndexMap::default();
    for (name, uses) in &snapshot.groups {
        for used in uses {
            groups_using.entry(used).or_default().push(name);
        }
    }
    // What lets go of an intermediate value: its users, and what lets go of the values that use it. Values were
    // recorded after what they use, so going backwards finds the users first.
    for (name, _) in snapshot.groups.iter().rev() {
        let address = address_of_group(name);
        let mut waits: Vec<u32> = Vec::new();
        for user in users.get(&address).into_iter().flatten() {
            let tasks = builder.of.get(*user).copied().unwrap_or_default();
            waits.extend(tasks.forward.into_iter().chain(tasks.backward));
        }
        for group in groups_using.get(&address).into_iter().flatten() {
            waits.extend(builder.releases.get(*group));
        }
        if !waits.is_empty() {
            let task = builder.add_gather(waits);
            builder.releases.insert(name.clone(), task);
        }
    }
    // Users as the document has them now: they wait for the new thing, and the old half of a create-first for them.
    let mut users_now: IndexMap<&Address, Vec<u32>> =
        IndexMap::with_capacity_and_hasher(draft.decisions.len(), Default::default());
    for decision in &draft.decisions {
        if let Some(forward) = builder.of.get(&decision.address).and_then(|tasks| tasks.forward) {
            for used in &decision.dependencies {
                users_now.entry(used).or_default().push(forward);
            }
        }
    }
    for decision in &draft.decisions {
        let Some(tasks) = builder.of.get(&decision.address).copied() else { continue };
        for on in old_users.get(&decision.address).into_iter().flatten() {
            for goes in tasks.backward.into_iter().chain(tasks.left_over) {
                builder.wait(goes, *on, Until::Ready);
            }
        }
        if let Some(left_over) = tasks.left_over {
            // Who still uses an old half lets go of it first.
            for user in users.get(&decision.address).into_iter().flatten().filter(|user| ***user != decision.address) {
                let theirs = builder.of.get(*user).copied().unwrap_or_default();
                for on in theirs.forward.into_iter().chain(theirs.backward) {
                    builder.wait(left_over, on, Until::Configured);
                }
            }
            for on in users_now.get(&decision.address).into_iter().flatten() {
                builder.wait(left_over, *on, Until::Configured);
            }
            for group in groups_using.get(&decision.address).into_iter().flatten() {
                if let Some(on) = builder.releases.get(*group).copied() {
                    builder.wait(left_over, on, Until::Configured);
                }
            }
        }
        let Some(backward) = tasks.backward else { continue };
        let kind = builder.tasks[backward as usize].kind;
        if kind == TaskKind::Forget {
            continue;
        }
        let delete_first = decision.action == Action::Replace && decision.replace_order == ReplaceOrder::DeleteFirst;
        for user in users.get(&decision.address).into_iter().flatten() {
            if **user == decision.address {
                continue;
            }
            let theirs = builder.of.get(*user).copied().unwrap_or_default();
            if let Some(on) = theirs.backward.filter(|on| builder.tasks[*on as usize].kind != TaskKind::Forget) {
                builder.wait(backward, on, Until::Ready);
            }
            if let Some(on) = theirs.forward.filter(|_| !delete_first && !freed.contains(&decision.address)) {
                builder.wait(backward, on, Until::Configured);
            }
        }
        if !delete_first && !freed.contains(&decision.address) {
            for group in groups_using.get(&decision.address).into_iter().flatten() {
                if let Some(on) = builder.releases.get(*group).copied() {
                    builder.wait(backward, on, Until::Configured);
                }
            }
        }
        if decision.action == Action::Replace && decision.replace_order == ReplaceOrder::CreateFirst {
            for on in users_now.get(&decision.address).into_iter().flatten() {
                builder.wait(backward, *on, Until::Configured);
            }
        }
    }
}

/// Things whose conditions are known only on deploy and that are there already: if a condition comes out false, the
/// thing goes after everything else (decision S32), users before what they use. A link is forgotten once its parts are gone.
fn conditions(builder: &mut Builder<'_>, open: &[std::sync::Arc<Decided>], snapshot: &Snapshot) {
    if open.is_empty() {
        return;
    }
    let everything = builder.add_gather((0..builder.tasks.len() as u32).collect());
    let mut going: IndexMap<&Address, u32> = IndexMap::default();
    for decided in open {
        let task = builder.add(TaskKind::DeleteIfAbsent, Some(decided));
        builder.wait(task, everything, Until::Configured);
        going.insert(&decided.address, task);
    }
    let mut users: IndexMap<&Address, Vec<u32>> = IndexMap::default();
    for decided in open {
        let (Some(own), Some(prior)) = (going.get(&decided.address).copied(), &decided.prior) else { continue };
        for used in prior.dependencies.iter().filter(|used| **used != decided.address) {
            let part_of_it = understand::links::address::link_of(used).is_some_and(|link| link == decided.address);
            match going.get(used).copied().filter(|_| part_of_it) {
                Some(part) => builder.wait(own, part, Until::Ready),
                None => users.entry(used).or_default().push(own),
            }
        }
    }
    // Values were recorded after what they use, so going backwards finds the users first.
    for (name, uses) in snapshot.groups.iter().rev() {
        let Some(tasks) = users.get(&address_of_group(name)).cloned() else { continue };
        let task = builder.add_gather(tasks);
        uses.iter().for_each(|used| users.entry(used).or_default().push(task));
    }
    for (address, task) in going {
        users.get(address).into_iter().flatten().for_each(|user| builder.wait(task, *user, Until::Ready));
    }
}

/// Tasks in an order in which they can be done; ties in the order in which they were made, which is document order.
/// Where they wait for each other in a circle, a wait that can be spared is taken out of it.
fn topological(tasks: &mut [Task]) -> Vec<u32> {
    let mut waiting: Vec<u32> = tasks.iter().map(|task| task.waits.len() as u32).collect();
    let mut after: Vec<Vec<u32>> = vec![Vec::new(); tasks.len()];
    for (at, task) in tasks.iter().enumerate() {
        for wait in &task.waits {
            after[wait.task as usize].push(at as u32);
        }
    }
    let mut ready: BinaryHeap<Reverse<u32>> =
        waiting.iter().enumerate().filter(|(_, count)| **count == 0).map(|(at, _)| Reverse(at as u32)).collect();
    let mut order = Vec::with_capacity(tasks.len());
    let mut done = vec![false; tasks.len()];
    let mut first = 0;
    loop {
        while let Some(Reverse(at)) = ready.pop() {
            order.push(at);
            done[at as usize] = true;
            for next in &after[at as usize] {
                waiting[*next as usize] -= 1;
                if waiting[*next as usize] == 0 {
                    ready.push(Reverse(*next));
                }
            }
        }
        while done.get(first).copied().unwrap_or(false) {
            first += 1;
        }
        if first == tasks.len() {
            return order;
        }
        let Some((task, on)) = dispensable(tasks, &done, first as u32) else {
            debug_assert!(false, "tasks wait for each other in a circle");
            return order;
        };
        tasks[task as usize].waits.retain(|wait| wait.task != on);
        after[on as usize].retain(|waiter| *waiter != task);
        waiting[task as usize] -= 1;
        if waiting[task as usize] == 0 {
            ready.push(Reverse(task));
        }
    }
}

/// A wait in a circle that can be spared: a thing that goes for good need not wait until a survivor has turned away from
/// it. A circle comes about where the survivor waits for a delete-first replacement, and that one for the thing to go;
/// the survivor then reads something that is gone for a moment, as it does of the replaced thing itself.
fn dispensable(tasks: &[Task], done: &[bool], from: u32) -> Option<(u32, u32)> {
    let mut path: Vec<u32> = Vec::new();
    let mut seen: IndexMap<u32, usize> = IndexMap::default();
    let mut at = from;
    // Whatever is not done waits for something that is not done, so the walk comes back to where it was.
    while !seen.contains_key(&at) {
        seen.insert(at, path.len());
        path.push(at);
        at = tasks[at as usize].waits.iter().find(|wait| !done[wait.task as usize])?.task;
    }
    let circle = &path[seen.get(&at).copied()?..];
    // A stop comes earlier rather than never.
    let gate = circle.iter().position(|at| matches!(tasks[*at as usize].kind, TaskKind::Gate(_)));
    if let Some(gate) = gate {
        return Some((circle[gate], circle[(gate + 1) % circle.len()]));
    }
    let kind = |at: usize| tasks[circle[at % circle.len()] as usize].kind;
    let decision = |at: usize| tasks[circle[at % circle.len()] as usize].decision.as_ref();
    let spared = |wanted: fn(TaskKind) -> bool| {
        (0..circle.len()).find_map(|start| {
            let goes = wanted(kind(start)) && !decision(start).is_some_and(|decided| decided.may_replace);
            let mut end = start + 1;
            while goes && matches!(kind(end), TaskKind::Gather | TaskKind::Pause(_)) {
                end += 1;
            }
            let turns_away = matches!(
                kind(end),
                TaskKind::Create | TaskKind::Update | TaskKind::Record | TaskKind::Settled | TaskKind::Condition
            );
            let another = decision(start).map(|it| it.number) != decision(end).map(|it| it.number);
            (goes && turns_away && another).then(|| (circle[(end - 1) % circle.len()], circle[end % circle.len()]))
        })
    };
    // The old half of a create-first user goes after its new half, and that one may wait for what replaces us.
    let old_half_of_a_user = || {
        (0..circle.len()).find_map(|start| {
            let goes = matches!(kind(start), TaskKind::Delete | TaskKind::DeleteOld(_))
                && matches!(kind(start + 1), TaskKind::DeleteOld(_));
            goes.then(|| (circle[start], circle[(start + 1) % circle.len()]))
        })
    };
    spared(|kind| kind == TaskKind::Delete)
        .or_else(|| spared(|kind| matches!(kind, TaskKind::DeleteOld(_))))
        .or_else(old_half_of_a_user)
        // No circle is left that these do not break; should there be one all the same, no step may be lost over it.
        .or_else(|| Some((*circle.first()?, circle[1 % circle.len()])))
}
