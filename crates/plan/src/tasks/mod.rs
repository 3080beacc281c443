//! Turns decisions into ordered steps, and into the tasks that carry them out.
//!
//! A task is one call, or one change of the state alone; a replacement has two. Tasks wait for
//! tasks: users run after what they use, and a delete runs after every user has released the object
//! (decisions/blueprint#order-of-deletions). Ties are in document order.

mod batches;
mod builder;
mod gates;
pub mod links;
mod reads;
mod replace_order;
mod sort;
mod steps;
mod waits;

use std::ops::Deref;
use std::sync::Arc;

use blueprint::{Address, IndexMap, Name};
use diag::Diagnostics;
use evaluate::resolve::Evaluation;
use state::{Snapshot, StatusWord};

use crate::codes;
use crate::decision::Decision;
use crate::draft::Draft;
use crate::drafting::preflight::needs_second_read;
use crate::linked::Linked;
use crate::links::report::{link_changes, links_by_resource, store_links_in_steps};
use crate::model::{Action, Gate, LeftAlone, LinkChange, Reason, Step};
use crate::stops::BreakpointSubjects;
use crate::task::{Decided, Task, TaskKind};
use crate::tasks::builder::{Builder, DecisionTasks};
use crate::tasks::sort::topological;
use crate::tasks::steps::number;
use crate::tasks::waits::{
    add_conditional_deletes, order_unique_values, wait_for_dependencies, wait_for_users,
};

/// The ordered plan.
pub(crate) struct Ordered {
    pub(crate) steps: Vec<Step>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) groups: IndexMap<Name, Vec<Address>>,
    pub(crate) left_alone: LeftAlone,
    pub(crate) links: Vec<LinkChange>,
    pub(crate) gates: Vec<Gate>,
    pub(crate) secret: bool,
}

/// Orders decisions, and makes their tasks and steps.
pub(crate) fn order(
    mut draft: Draft,
    snapshot: &Snapshot,
    evaluation: Option<&Evaluation>,
    subjects: &BreakpointSubjects,
    partial: bool,
    found: &mut Diagnostics,
) -> Ordered {
    let mut left_alone = LeftAlone {
        absent: std::mem::take(&mut draft.absent),
        ..LeftAlone::default()
    };
    replace_order::settle(&mut draft, evaluation.map(|it| &it.answers), found);
    let mut secret = false;
    let busy = draft
        .decisions
        .iter()
        .filter(|decision| decision.action != Action::None)
        .count();
    let mut builder = Builder {
        tasks: Vec::with_capacity(busy),
        by_address: IndexMap::with_capacity_and_hasher(busy, Default::default()),
        gathers: IndexMap::default(),
        releases: IndexMap::default(),
        behind_unchanged: IndexMap::default(),
        draft: &draft,
        snapshot,
    };
    let mut open: Vec<std::sync::Arc<Decided>> = Vec::new();
    let mut of_links: std::collections::HashMap<usize, u32, foldhash::fast::FixedState> =
        Default::default();
    for (number, decision) in draft.decisions.iter().enumerate() {
        secret |= decision.desired.has_secret()
            || decision.metadata.has_secret()
            || decision.action != Action::Delete
                && decision
                    .ty
                    .as_ref()
                    .is_some_and(|ty| has_sensitive_output(ty));
        // Most resources of a plan that changes little have no task.
        let decided =
            std::cell::LazyCell::new(|| std::sync::Arc::new(decided_of(number, decision)));
        if decision.condition_open
            && decision
                .prior
                .as_ref()
                .is_some_and(|record| !record.id.is_empty())
        {
            open.push(decided.clone());
        }
        if let Some(kind) = link_task(decision) {
            let task = builder.add(kind, Some(&*decided));
            of_links.insert(number, task);
            let tasks = match kind {
                TaskKind::Link => DecisionTasks {
                    apply_task: Some(task),
                    ..DecisionTasks::default()
                },
                TaskKind::Forget => DecisionTasks {
                    delete_task: Some(task),
                    ..DecisionTasks::default()
                },
                _ => continue,
            };
            builder.by_address.insert(decision.address.clone(), tasks);
            continue;
        }
        if decision.action == Action::Replace && decision.protection.retain {
            found.push(
                codes::RETAINED
                    .new(format!(
                        "the old `{}` is left in the world and no longer managed",
                        decision.address
                    ))
                    .label(decision.span, ""),
            );
        }
        secret |= decision
            .prior
            .as_ref()
            .is_some_and(|record| record.has_secret());
        let mut tasks = resource_tasks(&mut builder, decision, &decided);
        if decision
            .prior
            .as_ref()
            .is_some_and(|record| record.deposed.is_some())
        {
            tasks.deposed_delete = builder.deposed_deletes(&decided, tasks);
        }
        match decision.action {
            Action::None if decision.element.is_some() || decision.linked.is_some() => {
                left_alone.unchanged += 1
            }
            Action::Detach => left_alone.retained.push(decision.address.clone()),
            _ => {}
        }
        if tasks
            .apply_task
            .or(tasks.delete_task)
            .or(tasks.deposed_delete)
            .is_some()
        {
            builder.by_address.insert(decision.address.clone(), tasks);
        }
    }
    let deferred = reads::deferred(evaluation);
    builder.make_gathers(|name| deferred.contains_key(name));
    wait_for_dependencies(&mut builder, &draft, evaluation);
    let freed = order_unique_values(&mut builder, &draft);
    wait_for_users(&mut builder, &draft, snapshot, &freed);
    batches::order(&mut builder, &draft);
    links::order(&mut builder, &draft, &of_links);
    add_conditional_deletes(&mut builder, &open, snapshot);
    let gates = gates::add(&mut builder, &draft, subjects, snapshot);
    builder.merge_waits();
    let reads = reads::by_task(&builder, deferred, partial);
    let mut tasks = builder.tasks;
    let order = topological(&mut tasks, &gates);
    let groups = std::mem::take(&mut draft.groups);
    let links = link_changes(&draft.decisions);
    let links_of_steps = links_by_resource(&draft.decisions);
    let (mut steps, tasks) = number(tasks, &order, draft.decisions, reads);
    store_links_in_steps(&mut steps, links_of_steps);
    subjects.report(&mut steps);
    Ordered {
        steps,
        tasks,
        groups,
        left_alone,
        links,
        gates,
        secret,
    }
}

/// The task of a decision about a link: one of its writes, or the link as a whole.
fn link_task(decision: &Decision) -> Option<TaskKind> {
    match (decision.linked.as_deref(), decision.action) {
        (Some(Linked::Write(_)), _) => Some(TaskKind::LinkWrite),
        (Some(Linked::Record(_)), Action::Unlink) => Some(TaskKind::Forget),
        (Some(Linked::Record(_)), _) => Some(TaskKind::Link),
        _ => None,
    }
}

/// Adds the tasks of a decision about a resource. `decided` is made only if there is a task.
fn resource_tasks(
    builder: &mut Builder<'_>,
    decision: &Decision,
    decided: &impl Deref<Target = Arc<Decided>>,
) -> DecisionTasks {
    let is_known_only_to_state = decision.element.is_none() && decision.linked.is_none();
    let configured = || {
        decision
            .prior
            .as_ref()
            .is_some_and(|record| record.status.word == StatusWord::Configured)
    };
    let apply_kind = match decision.action {
        Action::Create | Action::Replace => Some(TaskKind::Create),
        Action::Update if decision.only_recorded => Some(TaskKind::Record),
        Action::Update => Some(TaskKind::Update),
        Action::Move | Action::Import if decision.record_differs => Some(TaskKind::Record),
        Action::Move | Action::Import => Some(TaskKind::Settled),
        // Nothing is left of a resource that is no longer declared. Its record is dropped by the
        // task below, or has been dropped when its cut-off call was settled.
        Action::None if is_known_only_to_state => {
            (!decision.record_differs).then_some(TaskKind::Settled)
        }
        Action::None if decision.record_differs => Some(TaskKind::Record),
        Action::None if decision.condition_open => Some(TaskKind::Condition),
        Action::None if configured() => Some(TaskKind::PollUntilReady),
        Action::None | Action::Delete | Action::Detach => None,
        // Links have tasks of their own kinds; reads are added to the gathers of data sources.
        Action::Link | Action::Relink | Action::Unlink | Action::Read => None,
    };
    let delete_kind = match decision.action {
        // The member is deleted again when the others are in service.
        Action::Create if decision.rolling.temporary => Some(TaskKind::DeleteTemporary),
        Action::Replace if !decision.protection.retain => Some(TaskKind::DeleteOld(0)),
        // The deposed objects have deletes of their own; only the record is left to drop.
        Action::Delete if only_deposed_left(decision) => Some(TaskKind::Forget),
        Action::Delete => Some(TaskKind::Delete),
        Action::Detach => Some(TaskKind::Forget),
        Action::None if is_known_only_to_state && decision.record_differs => Some(TaskKind::Forget),
        _ => None,
    };
    DecisionTasks {
        apply_task: apply_kind.map(|kind| builder.add(kind, Some(&**decided))),
        delete_task: delete_kind.map(|kind| builder.add(kind, Some(&**decided))),
        deposed_delete: None,
    }
}

/// Whether the object to delete is gone already, and only deposed objects are left.
pub(crate) fn only_deposed_left(decision: &Decision) -> bool {
    decision
        .prior
        .as_ref()
        .is_some_and(|record| record.deposed.is_some() && record.id.is_empty())
}

pub(crate) fn decided_of(number: usize, decision: &Decision) -> Decided {
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
        forces_call: decision
            .reasons
            .iter()
            .any(|reason| matches!(reason, Reason::Drifted | Reason::FailedBefore))
            || needs_second_read(decision),
        desired: decision.desired.clone(),
        metadata: decision.metadata.clone(),
        prior: decision.prior.clone(),
        outputs: decision.outputs.clone(),
        private: decision.private.now.clone(),
        planned_private: decision.private.planned.clone(),
        provider: decision.provider.clone(),
        dependencies: decision.dependencies.clone(),
        retain: decision.protection.retain,
        protect: decision.protection.protect,
        delete_mode: decision.protection.delete_mode,
        made_from: decision.lineage.made_from.clone(),
        span: decision.span,
    }
}

pub(crate) fn has_sensitive_output(ty: &provider::ResourceType) -> bool {
    ty.schema
        .fields
        .values()
        .any(|field| field.computed && understand::secret_marks::has_sensitive(Some(field)))
}
