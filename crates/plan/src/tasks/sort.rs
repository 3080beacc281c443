//! Sorts tasks into an order in which they can run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use blueprint::IndexMap;

use crate::model::Gate;
use crate::task::{Task, TaskKind};

/// Returns the tasks in an order in which they can run; ties in the order in which they were added,
/// which is document order. If tasks wait for each other in a cycle, a dispensable wait is removed
/// from the cycle.
pub(crate) fn topological(tasks: &mut [Task], gates: &[Gate]) -> Vec<u32> {
    let mut waiting: Vec<u32> = tasks.iter().map(|task| task.waits.len() as u32).collect();
    let mut after: Vec<Vec<u32>> = vec![Vec::new(); tasks.len()];
    for (at, task) in tasks.iter().enumerate() {
        for wait in &task.waits {
            after[wait.task as usize].push(at as u32);
        }
    }
    let mut ready: BinaryHeap<Reverse<u32>> = waiting
        .iter()
        .enumerate()
        .filter(|(_, count)| **count == 0)
        .map(|(at, _)| Reverse(at as u32))
        .collect();
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
        let Some((task, on)) = find_dispensable_wait(tasks, gates, &done, first as u32) else {
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

/// Finds a wait in a cycle that can be removed: the delete of an object need not wait until a
/// surviving resource no longer uses the object. Such a cycle arises if the survivor waits for a
/// delete-first replacement, and the replacement for the delete. The survivor then uses a deleted
/// object for a moment, as it does with the replaced object.
fn find_dispensable_wait(
    tasks: &[Task],
    gates: &[Gate],
    done: &[bool],
    from: u32,
) -> Option<(u32, u32)> {
    let mut path: Vec<u32> = Vec::new();
    let mut seen: IndexMap<u32, usize> = IndexMap::default();
    let mut at = from;
    // Each task that is not done waits for another one that is not done, so the walk comes back to
    // a task on its path.
    while !seen.contains_key(&at) {
        seen.insert(at, path.len());
        path.push(at);
        at = tasks[at as usize]
            .waits
            .iter()
            .find(|wait| !done[wait.task as usize])?
            .task;
    }
    let circle = &path[seen.get(&at).copied()?..];
    // A delete does not wait for a gate after an action. If that gate did not wait for its action,
    // each operation would stop at it again.
    let waits_for_stop = circle.iter().enumerate().position(|(at, task)| {
        let next = tasks[circle[(at + 1) % circle.len()] as usize].kind;
        let is_behind = |number: u32| {
            gates
                .get(number as usize)
                .is_some_and(|gate| !gate.at.is_before())
        };
        let is_delete = matches!(
            tasks[*task as usize].kind,
            TaskKind::Delete | TaskKind::DeleteOld(_)
        );
        is_delete && matches!(next, TaskKind::Gate(number) if is_behind(number))
    });
    if let Some(at) = waits_for_stop {
        return Some((circle[at], circle[(at + 1) % circle.len()]));
    }
    // A gate does not wait for the next task in the cycle: the operation stops earlier.
    let gate = circle
        .iter()
        .position(|at| matches!(tasks[*at as usize].kind, TaskKind::Gate(_)));
    if let Some(gate) = gate {
        return Some((circle[gate], circle[(gate + 1) % circle.len()]));
    }
    let kind = |at: usize| tasks[circle[at % circle.len()] as usize].kind;
    let decision = |at: usize| tasks[circle[at % circle.len()] as usize].decision.as_ref();
    let wait_for_survivor = |wanted: fn(TaskKind) -> bool| {
        (0..circle.len()).find_map(|start| {
            let is_removable =
                wanted(kind(start)) && !decision(start).is_some_and(|decided| decided.may_replace);
            let mut end = start + 1;
            while is_removable && matches!(kind(end), TaskKind::Gather | TaskKind::Pause(_)) {
                end += 1;
            }
            let is_survivor = matches!(
                kind(end),
                TaskKind::Create
                    | TaskKind::Update
                    | TaskKind::Record
                    | TaskKind::Settled
                    | TaskKind::Condition
            );
            let another = decision(start).map(|it| it.number) != decision(end).map(|it| it.number);
            (is_removable && is_survivor && another)
                .then(|| (circle[(end - 1) % circle.len()], circle[end % circle.len()]))
        })
    };
    // The old object of a create-first user is deleted after its new object exists, which may wait
    // for this replacement.
    let deposed_object_of_a_user = || {
        (0..circle.len()).find_map(|start| {
            let is_deposed_delete =
                matches!(kind(start), TaskKind::Delete | TaskKind::DeleteOld(_))
                    && matches!(kind(start + 1), TaskKind::DeleteOld(_));
            is_deposed_delete.then(|| (circle[start], circle[(start + 1) % circle.len()]))
        })
    };
    // The recorded dependencies of an unchanged resource may be older than those of the document.
    let behind_unchanged = || {
        let at = (0..circle.len()).find(|at| kind(*at) == TaskKind::Gather)?;
        Some((circle[at], circle[(at + 1) % circle.len()]))
    };
    wait_for_survivor(|kind| kind == TaskKind::Delete)
        .or_else(|| wait_for_survivor(|kind| matches!(kind, TaskKind::DeleteOld(_))))
        .or_else(deposed_object_of_a_user)
        .or_else(behind_unchanged)
        // The rules above break all known cycles. Any other cycle is broken anywhere, so that no
        // step is lost.
        .or_else(|| Some((*circle.first()?, circle[1 % circle.len()])))
}
