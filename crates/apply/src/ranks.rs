//! The critical path: how much work waits behind each task, estimated from the durations of earlier
//! operations.
//!
//! The estimate of a call is the duration of the last create or update in its record, also for a
//! delete. Without a record, the estimate is the mean of the type, and without any record of the
//! type, the mean of all records. Estimates affect only the order of calls, never the content of
//! the plan.
//!
//! Not here: the order of calls itself (`queue`, `schedule`).

use state::{Record, Snapshot};

use super::queue::Ranks;
use plan::linked::Linked;
use plan::plan::Plan;
use plan::task::Task;
use plan::task::TaskKind;
use understand::links::DeterministicMap;

/// The mean of known durations in milliseconds.
#[derive(Default)]
struct Mean {
    sum: u64,
    count: u64,
}

impl Mean {
    fn add(&mut self, millis: u32) {
        self.sum += u64::from(millis);
        self.count += 1;
    }

    fn get(&self) -> Option<u64> {
        self.sum.checked_div(self.count)
    }
}

/// The rank of each task in milliseconds: its own estimate plus the longest rank of the tasks that
/// wait for it. `None` if no duration is known.
///
/// Each task comes after the tasks that it waits for, so one backward pass is enough.
pub(crate) fn compute(plan: &Plan, snapshot: &Snapshot) -> Ranks {
    let mut all = Mean::default();
    let mut by_type: DeterministicMap<&str, Mean> = DeterministicMap::default();
    for record in snapshot
        .records
        .values()
        .filter(|record| record.duration_ms > 0)
    {
        all.add(record.duration_ms);
        by_type
            .entry(record.type_name.as_ref())
            .or_default()
            .add(record.duration_ms);
    }
    let overall_mean = all.get()?;
    let estimate = |task: &Task| -> u64 {
        let Some(decided) = &task.decision else {
            return if matches!(task.kind, TaskKind::Read(_)) {
                overall_mean
            } else {
                0
            };
        };
        let record: Option<&Record> = match (task.kind, decided.linked.as_deref()) {
            (TaskKind::LinkWrite, Some(Linked::Write(write))) => {
                snapshot.records.get(&write.target).map(AsRef::as_ref)
            }
            (TaskKind::DeleteOld(old), _) => decided.old_object(old),
            (
                TaskKind::Create | TaskKind::Update | TaskKind::Delete | TaskKind::PollUntilReady,
                _,
            ) => decided.prior.as_deref(),
            _ => return 0,
        };
        let own = record
            .map(|record| record.duration_ms)
            .filter(|duration| *duration > 0)
            .map(u64::from);
        let type_mean = || by_type.get(decided.type_name.as_ref()).and_then(Mean::get);
        own.or_else(type_mean).unwrap_or(overall_mean)
    };
    let mut ranks = vec![0; plan.tasks.len()].into_boxed_slice();
    for (number, task) in plan.tasks.iter().enumerate().rev() {
        let whole = ranks[number] + estimate(task);
        ranks[number] = whole;
        for wait in &task.waits {
            let prerequisite = &mut ranks[wait.task as usize];
            *prerequisite = whole.max(*prerequisite);
        }
    }
    Some(ranks)
}
