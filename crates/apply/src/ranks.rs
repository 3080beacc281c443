//! How much work waits behind each task, as far as earlier operations have told how long things take (the critical path).
//!
//! A record keeps how long its last create or update took. A task is expected to take as long; one about a thing that has
//! not been made yet as long as others of its type do, or as all do. What the plan says, and whether it is there at all,
//! does not depend on any of that: the order of calls alone does.
//!
//! Not here: who is called when (`queue`, `run`).

use state::{Record, Snapshot};

use super::queue::Ranks;
use plan::linked::Linked;
use plan::plan::Plan;
use plan::task::Task;
use plan::task::TaskKind;
use understand::links::FixedMap;

/// What is known of the durations of some things.
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

/// The work that begins with each task: its own, and the longest of what waits for it. Nothing if no duration is known.
///
/// Tasks stand behind what they wait for, so one way back through them is enough.
pub(crate) fn of(plan: &Plan, snapshot: &Snapshot) -> Ranks {
    let mut all = Mean::default();
    let mut by_type: FixedMap<&str, Mean> = FixedMap::default();
    for record in snapshot.records.values().filter(|record| record.took > 0) {
        all.add(record.took);
        by_type.entry(record.type_name.as_ref()).or_default().add(record.took);
    }
    let usual = all.get()?;
    let expected = |task: &Task| -> u64 {
        let Some(decided) = &task.decision else {
            return if matches!(task.kind, TaskKind::Read(_)) { usual } else { 0 };
        };
        let record: Option<&Record> = match (task.kind, decided.linked.as_deref()) {
            (TaskKind::Phase, Some(Linked::Phase(phase))) => snapshot.records.get(&phase.target).map(AsRef::as_ref),
            (TaskKind::DeleteOld(old), _) => decided.old_thing(old),
            (TaskKind::Create | TaskKind::Update | TaskKind::Delete | TaskKind::Look, _) => decided.prior.as_deref(),
            _ => return 0,
        };
        let own = record.map(|record| record.took).filter(|took| *took > 0).map(u64::from);
        let others = || by_type.get(decided.type_name.as_ref()).and_then(Mean::get);
        own.or_else(others).unwrap_or(usual)
    };
    let mut ranks = vec![0; plan.tasks.len()].into_boxed_slice();
    for (number, task) in plan.tasks.iter().enumerate().rev() {
        let whole = ranks[number] + expected(task);
        ranks[number] = whole;
        for wait in &task.waits {
            let behind = &mut ranks[wait.task as usize];
            *behind = whole.max(*behind);
        }
    }
    Some(ranks)
}
