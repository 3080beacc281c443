//! Turns ordered tasks into the steps that the user sees.
//!
//! Not here: the order (`tasks`).

use blueprint::{DeleteMode, FieldPath, IndexMap, Value};

use crate::decision::Decision;
use crate::model::{Action, ExistingObject, Reason, Step};
use crate::task::{Task, TaskKind, Until};
use crate::tasks::reads::Deferred;

/// The number of resources behind an intermediate value that a step lists among those that it waits
/// for.
const NAMED: usize = 64;

/// Renumbers the tasks in their order and makes the steps. The step of a replacement has the
/// position of its create, every other step that of its only task.
pub(crate) fn number(
    tasks: Vec<Task>,
    order: &[u32],
    decisions: Vec<Decision>,
    mut reads: IndexMap<u32, Deferred>,
) -> (Vec<Step>, Vec<Task>) {
    let mut position = vec![u32::MAX; tasks.len()];
    for (at, task) in order.iter().enumerate() {
        position[*task as usize] = at as u32;
    }
    let mut slots: Vec<Option<Task>> = tasks.into_iter().map(Some).collect();
    let mut sorted: Vec<Task> = Vec::with_capacity(order.len());
    sorted.extend(order.iter().filter_map(|task| slots[*task as usize].take()));
    drop(slots);
    let mut decisions: Vec<Option<Decision>> = decisions.into_iter().map(Some).collect();
    let mut step_of = vec![None; decisions.len()];
    let mut steps: Vec<Step> = Vec::with_capacity(decisions.len());
    let mut read_by: Vec<(usize, u32)> = Vec::new();
    for (at, task) in sorted.iter_mut().enumerate() {
        for wait in &mut task.waits {
            wait.task = position[wait.task as usize];
        }
        task.waits.retain(|wait| wait.task != u32::MAX);
        if let Some(deferred) = reads.swap_remove(&order[at]) {
            task.kind = TaskKind::Read(deferred.number);
            read_by.push((at, steps.len() as u32));
            steps.push(deferred.step(steps.len() as u32));
            continue;
        }
        let Some(decided) = &task.decision else {
            continue;
        };
        // If the resource itself does not change, its step is about the deposed object of an
        // earlier replacement, also if the record of the resource changes.
        let stays = decided.action == Action::None;
        let left_over = stays && matches!(task.kind, TaskKind::DeleteOld(old) if old > 0);
        let has_old = stays
            && decided
                .prior
                .as_ref()
                .is_some_and(|record| record.deposed.is_some());
        if !left_over
            && matches!(
                task.kind,
                TaskKind::DeleteOld(_)
                    | TaskKind::DeleteIfAbsent
                    | TaskKind::DeleteTemporary
                    | TaskKind::Gather
            )
        {
            continue;
        }
        if let Some(mut decision) = decisions[decided.number].take() {
            let delete_mode = delete_mode_of(&decision);
            if has_old {
                decision.action = Action::Delete;
                decision.reasons = vec![Reason::FailedBefore];
            }
            step_of[decided.number] = Some(steps.len() as u32);
            steps.push(step(steps.len() as u32, decision, delete_mode));
        }
    }
    for task in &mut sorted {
        task.step = task
            .decision
            .as_ref()
            .and_then(|decided| step_of[decided.number]);
    }
    for (task, step) in read_by {
        sorted[task].step = Some(step);
    }
    for task in &sorted {
        let Some(step) = task.step else { continue };
        if matches!(
            task.kind,
            TaskKind::DeleteOld(_) | TaskKind::DeleteIfAbsent | TaskKind::DeleteTemporary
        ) {
            continue;
        }
        let mut waits_on = std::mem::take(&mut steps[step as usize].waits_on);
        for wait in task.waits.iter().filter(|wait| wait.until != Until::Over) {
            let on = &sorted[wait.task as usize];
            match on.step {
                Some(on) => waits_on.push(on),
                None => list_steps_behind(&sorted, wait.task, &mut waits_on),
            }
        }
        waits_on.retain(|on| *on != step);
        waits_on.sort_unstable();
        waits_on.dedup();
        steps[step as usize].waits_on = waits_on;
    }
    (steps, sorted)
}

/// Lists the steps behind an intermediate value, also through other values, up to a limit for
/// readers. The tasks have all waits.
fn list_steps_behind(tasks: &[Task], gather: u32, named: &mut Vec<u32>) {
    let mut stack = vec![gather];
    let mut left = NAMED;
    while let Some(gather) = stack.pop() {
        for wait in &tasks[gather as usize].waits {
            if left == 0 {
                return;
            }
            left -= 1;
            match tasks[wait.task as usize].step {
                Some(step) => named.push(step),
                None => stack.push(wait.task),
            }
        }
    }
}

/// How a step deletes the objects of a resource: with a snapshot if one of them gets one.
fn delete_mode_of(decision: &Decision) -> DeleteMode {
    let Some(prior) = decision.prior.as_deref() else {
        return DeleteMode::Delete;
    };
    let deletes_prior = match decision.action {
        Action::Delete => true,
        Action::Replace => !decision.protection.retain,
        _ => false,
    };
    let prior_objects =
        std::iter::once(prior).filter(|prior| deletes_prior && !prior.id.is_empty());
    let mut deleted = prior_objects.chain(prior.deposed_objects());
    match deleted.any(|object| object.effective_delete_mode() == DeleteMode::SnapshotFirst) {
        true => DeleteMode::SnapshotFirst,
        false => DeleteMode::Delete,
    }
}

fn step(id: u32, mut decision: Decision, delete_mode: DeleteMode) -> Step {
    let hidden: Vec<FieldPath> = decision
        .hidden
        .iter()
        .map(|path| FieldPath::parse(path))
        .collect();
    decision.changes.retain(|change| {
        let path = FieldPath::parse(change.path.trim_start_matches("spec."));
        !hidden.iter().any(|one| one.covers(&path))
    });
    decision.changes.shrink_to_fit();
    let computed = decision
        .ty
        .as_ref()
        .filter(|_| matches!(decision.action, Action::Create | Action::Replace))
        .map(|ty| {
            let computed = ty
                .schema
                .fields
                .iter()
                .filter(|(name, field)| field.computed && decision.desired.get(name).is_none());
            computed.map(|(name, _)| name.clone()).collect()
        });
    let unchanged = match decision.action {
        Action::Update | Action::Replace => {
            let changed = decision
                .changes
                .iter()
                .filter(|change| change.after.is_some())
                .count() as u64;
            leaves(&decision.desired).saturating_sub(changed)
        }
        _ => 0,
    };
    Step {
        id,
        address: decision.address,
        type_name: decision.type_name,
        action: decision.action,
        reasons: decision.reasons,
        changes: decision.changes,
        replace_order: (decision.action == Action::Replace).then_some(decision.replace_order),
        may_replace: decision.may_replace,
        condition_known: !decision.condition_open,
        computed: computed.unwrap_or_default(),
        expired: decision.private.expired,
        needs: decision.private.needs,
        made_from: decision.lineage.made_from,
        moved_from: decision.lineage.moved_from,
        temporary: decision.rolling.temporary,
        batch: decision.rolling.batch,
        stops_before: None,
        stops_after: None,
        waits_on: Vec::new(),
        not_observed: false,
        delete_mode,
        existing: ExistingObject {
            id: decision
                .prior
                .as_ref()
                .map(|record| record.shown_id().into())
                .filter(|id: &blueprint::Name| !id.is_empty()),
            unchanged,
        },
        adopts: false,
        links: None,
        span: decision.span,
    }
}

/// The number of values in a value that contain no other values. Null does not count.
fn leaves(value: &Value) -> u64 {
    match value {
        Value::Null => 0,
        Value::Map(entries) if !entries.is_empty() => entries.values().map(leaves).sum(),
        Value::List(items) | Value::Set(items) if !items.is_empty() => {
            items.iter().map(leaves).sum()
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_leaf_values_are_counted() {
        let count = |text: &str| leaves(&serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(
            count(r#"{"a":{"b":1,"c":null,"d":[2,{"e":3,"f":4}]},"g":{},"h":[]}"#),
            6
        );
        assert_eq!(count("null"), 0);
    }
}
