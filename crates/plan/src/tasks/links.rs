//! The order in which links are created and removed (decisions/links#effects-after-the-target,
//! decisions/links#removal-of-a-link).
//!
//! The parts of a link come first, then its writes into `a`, into `b`, and into neighbours.
//! Removals come in the opposite order, before parts and ends are deleted. Two steps on one target
//! never run together: they run in the order of the links' names, and links come after those whose
//! guarantees they need. Removals come before the target's own step, writes after it.
//!
//! If very many steps have the same target, `apply` carries out several of them by one call. To
//! have several ready, the first step of such a batch waits until everything that the others need
//! is over: [`Until::Over`].

use std::collections::HashMap;

use blueprint::{Address, IndexMap};
use understand::links::address::{ends_of, link_of};

use crate::draft::Draft;
use crate::linked::{LinkWrite, Linked};
use crate::model::Action;
use crate::task::{Task, TaskKind, Until};
use crate::tasks::builder::Builder;

/// The steps of one link.
#[derive(Default)]
struct LinkTasks<'a> {
    writes: Vec<(u32, &'a LinkWrite)>,
    removals: Vec<(u32, &'a LinkWrite)>,
    link_task: Option<u32>,
    guarantee_givers: Vec<Address>,
    /// Whether the link is no longer declared.
    is_removed: bool,
}

/// Adds the waits of the tasks of links, and the waits of other tasks for them. `link_tasks`
/// contains the tasks of writes and links, by the number of their decision.
pub(crate) fn order(
    builder: &mut Builder<'_>,
    draft: &Draft,
    link_tasks: &HashMap<usize, u32, foldhash::fast::FixedState>,
) {
    let mut links: IndexMap<Address, LinkTasks<'_>> = IndexMap::default();
    for (number, decision) in draft.decisions.iter().enumerate() {
        let Some(task) = link_tasks.get(&number).copied() else {
            continue;
        };
        match decision.linked.as_deref() {
            Some(Linked::Write(write)) => {
                let steps = links.entry(write.link.clone()).or_default();
                if write.into.is_some() {
                    &mut steps.writes
                } else {
                    &mut steps.removals
                }
                .push((task, write));
            }
            Some(Linked::Record(whole)) => {
                let steps = links.entry(decision.address.clone()).or_default();
                steps.link_task = Some(task);
                steps.is_removed = decision.action == Action::Unlink;
                steps.guarantee_givers = whole.guarantee_givers.clone();
            }
            _ => {}
        }
    }
    if links.is_empty() {
        return;
    }
    let mut parts: IndexMap<Address, Vec<TaskPair>> = IndexMap::default();
    for decision in &draft.decisions {
        if let Some(link) =
            link_of(&decision.address).filter(|_| decision.ty.is_some() && !is_link_write(decision))
        {
            let tasks = builder
                .by_address
                .get(&decision.address)
                .copied()
                .unwrap_or_default();
            parts
                .entry(link)
                .or_default()
                .push((tasks.apply_task, tasks.delete_task));
        }
    }
    for (address, steps) in &links {
        let parts = parts.get(address).map_or(&[][..], Vec::as_slice);
        order_link(builder, address, steps, parts);
    }
    wait_for_guarantees(builder, &links);
    serialise_writes(builder, &links);
}

fn is_link_write(decision: &crate::decision::Decision) -> bool {
    matches!(decision.linked.as_deref(), Some(Linked::Write(_)))
}

/// Orders the steps of one link among themselves and with its ends.
fn order_link(
    builder: &mut Builder<'_>,
    address: &Address,
    steps: &LinkTasks<'_>,
    parts: &[(Option<u32>, Option<u32>)],
) {
    let ends: Vec<_> = ends_of(address)
        .into_iter()
        .flatten()
        .map(|end| builder.by_address.get(&end).copied().unwrap_or_default())
        .collect();
    let mut writing = steps.writes.clone();
    writing.sort_by_key(|(_, write)| write.write_index);
    let mut before: Option<u32> = None;
    for (task, write) in &writing {
        let target = builder
            .by_address
            .get(&write.target)
            .copied()
            .unwrap_or_default();
        if let Some(on) = target.apply_task {
            builder.wait(*task, on, Until::Ready);
        }
        for on in ends
            .iter()
            .filter_map(|end| end.apply_task)
            .chain(parts.iter().filter_map(|(forward, _)| *forward))
        {
            builder.wait(*task, on, Until::Configured);
        }
        if let Some(on) = before {
            builder.wait(*task, on, Until::Ready);
        }
        before = Some(*task);
    }
    let mut taking = steps.removals.clone();
    taking.sort_by_key(|(_, write)| std::cmp::Reverse(write.write_index));
    let mut before: Option<u32> = None;
    for (task, _) in &taking {
        if let Some(on) = before {
            builder.wait(*task, on, Until::Ready);
        }
        before = Some(*task);
    }
    let taken: Vec<u32> = taking.iter().map(|(task, _)| *task).collect();
    let deleted: Vec<u32> = parts.iter().filter_map(|(_, backward)| *backward).collect();
    if steps.is_removed {
        for part in &deleted {
            taken
                .iter()
                .for_each(|on| builder.wait(*part, *on, Until::Ready));
        }
        for end in ends.iter().filter_map(|end| end.delete_task) {
            taken
                .iter()
                .chain(&deleted)
                .for_each(|on| builder.wait(end, *on, Until::Ready));
        }
    }
    let Some(whole) = steps.link_task else { return };
    let forward = ends
        .iter()
        .filter_map(|end| end.apply_task)
        .chain(parts.iter().filter_map(|(forward, _)| *forward));
    if steps.is_removed {
        taken
            .iter()
            .chain(&deleted)
            .for_each(|on| builder.wait(whole, *on, Until::Ready));
        return;
    }
    let writes = writing.iter().map(|(task, _)| *task).chain(taken);
    for on in forward.chain(deleted).collect::<Vec<_>>() {
        builder.wait(whole, on, Until::Configured);
    }
    for on in writes.collect::<Vec<_>>() {
        builder.wait(whole, on, Until::Ready);
    }
}

/// Makes links that need a guarantee wait for the links that give it.
fn wait_for_guarantees(builder: &mut Builder<'_>, links: &IndexMap<Address, LinkTasks<'_>>) {
    for steps in links.values() {
        let giving: Vec<u32> = steps
            .guarantee_givers
            .iter()
            .filter_map(|giver| links.get(giver)?.link_task)
            .collect();
        if giving.is_empty() {
            continue;
        }
        let first = steps
            .writes
            .iter()
            .map(|(task, _)| *task)
            .chain(steps.link_task);
        for task in first.collect::<Vec<_>>() {
            giving
                .iter()
                .for_each(|on| builder.wait(task, *on, Until::Ready));
        }
    }
}

/// The tasks of a part: the one that creates it and the one that deletes it.
type TaskPair = (Option<u32>, Option<u32>);

/// A task on a target: whether it writes, its rank, its link, its place in the link, and its
/// number. These tuples sort in the order in which the tasks run.
type QueuedWrite<'a> = (bool, u32, &'a Address, u32, u32);

/// Orders the steps on one target: first the removals, then the target's own step, then the writes.
fn serialise_writes(builder: &mut Builder<'_>, links: &IndexMap<Address, LinkTasks<'_>>) {
    let mut targets: IndexMap<&Address, Vec<QueuedWrite<'_>>> = IndexMap::default();
    let mut batches: Vec<Vec<u32>> = Vec::new();
    for (link, steps) in links {
        for (task, write) in &steps.removals {
            let place = u32::MAX - write.write_index;
            targets.entry(&write.target).or_default().push((
                false,
                write.guarantee_depth,
                link,
                place,
                *task,
            ));
        }
        for (task, write) in &steps.writes {
            targets.entry(&write.target).or_default().push((
                true,
                write.guarantee_depth,
                link,
                write.write_index,
                *task,
            ));
        }
    }
    for (target, mut line) in targets {
        line.sort_unstable();
        // Removals run in the opposite order.
        let taken = line.iter().take_while(|(writes, ..)| !writes).count();
        line[..taken].reverse();
        let own = builder
            .by_address
            .get(target)
            .and_then(|tasks| tasks.apply_task);
        for line in [&line[..taken], &line[taken..]] {
            batches.extend(batches_of(line.iter().map(|(.., task)| *task)));
        }
        if let (Some(own), Some((.., last))) = (own, line[..taken].last()) {
            builder.wait(own, *last, Until::Ready);
        }
        for pair in line.windows(2) {
            if let [(.., before), (.., task)] = pair {
                builder.wait(*task, *before, Until::Ready);
            }
        }
    }
    gather_batches(builder, &batches);
}

/// The number of steps on one target that are carried out one by one. Each further batch has as
/// many steps as there were before it, so that the whole spec of a target with very many links is
/// sent a few times, not once for each link.
pub const ONE_BY_ONE: usize = 8;

/// The batches among the tasks on one target. The first `ONE_BY_ONE` tasks are left out.
fn batches_of(line: impl Iterator<Item = u32>) -> Vec<Vec<u32>> {
    let line: Vec<u32> = line.collect();
    let mut batches = Vec::new();
    let mut at = ONE_BY_ONE;
    while at < line.len() {
        batches.push(line[at..line.len().min(2 * at)].to_vec());
        at *= 2;
    }
    batches
}

/// Makes the first task of each batch wait for what the others wait for, except tasks that
/// themselves wait for a link.
fn gather_batches(builder: &mut Builder<'_>, batches: &[Vec<u32>]) {
    if batches.is_empty() {
        return;
    }
    let behind = link_dependent_tasks(&builder.tasks);
    for batch in batches {
        let [first, rest @ ..] = &batch[..] else {
            continue;
        };
        let needed = rest
            .iter()
            .flat_map(|task| builder.tasks[*task as usize].waits.iter());
        let needed: Vec<u32> = needed
            .map(|wait| wait.task)
            .filter(|on| !behind[*on as usize])
            .collect();
        needed
            .into_iter()
            .for_each(|on| builder.wait(*first, on, Until::Over));
    }
}

/// Whether each task is a step of a link or waits for one, directly or indirectly.
fn link_dependent_tasks(tasks: &[Task]) -> Vec<bool> {
    let is_link = |task: &Task| {
        matches!(
            task.kind,
            TaskKind::LinkWrite | TaskKind::Link | TaskKind::Forget
        )
    };
    let mut after: Vec<Vec<u32>> = vec![Vec::new(); tasks.len()];
    for (at, task) in tasks.iter().enumerate() {
        task.waits
            .iter()
            .for_each(|wait| after[wait.task as usize].push(at as u32));
    }
    let mut behind: Vec<bool> = tasks.iter().map(is_link).collect();
    let mut stack: Vec<u32> = (0..tasks.len() as u32)
        .filter(|at| behind[*at as usize])
        .collect();
    while let Some(at) = stack.pop() {
        for next in &after[at as usize] {
            if !std::mem::replace(&mut behind[*next as usize], true) {
                stack.push(*next);
            }
        }
    }
    behind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_batch_is_as_long_as_all_before_it() {
        assert_eq!(batches_of(0..8), Vec::<Vec<u32>>::new());
        let batches = batches_of(0..40);
        let ends: Vec<(u32, u32)> = batches
            .iter()
            .map(|batch| (batch[0], batch[batch.len() - 1]))
            .collect();
        assert_eq!(ends, [(8, 15), (16, 31), (32, 39)]);
    }
}
