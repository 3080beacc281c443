//! Orders batches: a task that creates or changes in a batch waits for all tasks of the batch
//! before it, and for the pause between them.
//!
//! A delete waits for them too, but no batch waits for a delete: it runs when the last dependant no
//! longer uses the object, which may be long after the last batch.
//!
//! Not here: the contents of batches (`plan::batches`).

use blueprint::Address;
use understand::documents::group_key;

use crate::draft::Draft;
use crate::task::{TaskKind, Until, Wait};
use crate::tasks::builder::Builder;

/// Makes each batch wait for the one before. Deletes temporary members after the tasks that used
/// them.
pub(crate) fn order(builder: &mut Builder<'_>, draft: &Draft) {
    for line in &draft.batches {
        let mut gate: Option<u32> = None;
        for batch in line {
            let of =
                |address: &Address| builder.by_address.get(address).copied().unwrap_or_default();
            let forward: Vec<u32> = batch
                .changed
                .iter()
                .filter_map(|address| of(address).apply_task)
                .collect();
            // A delete-first replacement deletes its old object when its batch begins, not earlier.
            let first =
                |task: &u32| matches!(builder.tasks[*task as usize].kind, TaskKind::DeleteOld(_));
            let old: Vec<u32> = batch
                .changed
                .iter()
                .filter_map(|address| of(address).delete_task)
                .filter(first)
                .collect();
            let deletes: Vec<u32> = batch
                .deleted
                .iter()
                .filter_map(|address| of(address).delete_task)
                .collect();
            if let Some(gate) = gate {
                for task in forward.iter().chain(&old).chain(&deletes) {
                    builder.wait(*task, gate, Until::Ready);
                }
            }
            let mut waits: Vec<u32> = forward;
            waits.extend(gate);
            let next = builder.add(TaskKind::Gather, None);
            if !batch.pause.is_zero() {
                builder.tasks[next as usize].kind = TaskKind::Pause(batch.pause);
            }
            builder.tasks[next as usize].waits = waits
                .into_iter()
                .map(|task| Wait {
                    task,
                    until: Until::Ready,
                })
                .collect();
            gate = Some(next);
        }
    }
    order_temporary_deletes(builder, draft);
}

/// Deletes a temporary member after its creation, and everything that uses the member before the
/// member.
fn order_temporary_deletes(builder: &mut Builder<'_>, draft: &Draft) {
    for decision in draft
        .decisions
        .iter()
        .filter(|decision| decision.rolling.temporary)
    {
        let Some(tasks) = builder.by_address.get(&decision.address).copied() else {
            continue;
        };
        let (Some(forward), Some(backward)) = (tasks.apply_task, tasks.delete_task) else {
            continue;
        };
        builder.wait(backward, forward, Until::Ready);
        let mut uses: Vec<&Address> = decision.dependencies.iter().collect();
        let mut seen: std::collections::HashSet<&Address, foldhash::fast::FixedState> =
            Default::default();
        while let Some(used) = uses.pop() {
            if !seen.insert(used) {
                continue;
            }
            if let Some(group) = group_key(used) {
                uses.extend(draft.groups.get(group.as_ref()).into_iter().flatten());
                continue;
            }
            let user_delete = builder
                .by_address
                .get(used)
                .and_then(|tasks| tasks.delete_task);
            if let Some(theirs) = user_delete
                .filter(|on| builder.tasks[*on as usize].kind == TaskKind::DeleteTemporary)
            {
                builder.wait(theirs, backward, Until::Ready);
            }
        }
    }
}
