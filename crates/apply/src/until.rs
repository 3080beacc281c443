//! Finds the tasks that precede the stop of an operation that stops after certain resources. These
//! tasks bring the resources and their dependencies to the wanted state.
//!
//! Not here: stopping (`machine`).

use blueprint::Address;
use state::Snapshot;

use plan::addresses::SelectedAddresses;
use plan::model::Action;
use plan::plan::Plan;
use plan::task::TaskKind;
use understand::documents::group_key;

/// A set with a fixed hash: results do not depend on a random seed.
pub(super) type Tasks = std::collections::HashSet<u32, foldhash::fast::FixedState>;

/// The tasks that must be done before the operation stops; `None` if it does not stop early.
pub(super) fn before_stop(plan: &Plan, snapshot: &Snapshot) -> Option<Tasks> {
    let named = SelectedAddresses::new(std::slice::from_ref(plan.options.until.as_ref()?));
    let mut at: blueprint::IndexMap<&Address, Vec<u32>> = blueprint::IndexMap::default();
    for (number, task) in plan.tasks.iter().enumerate() {
        if let Some(decided) = &task.decision {
            at.entry(&decided.address).or_default().push(number as u32);
        }
    }
    let mut stack: Vec<&Address> = at
        .keys()
        .copied()
        .chain(snapshot.records.keys())
        .filter(|address| named.covers(address))
        .collect();
    let mut seen: std::collections::HashSet<&Address, foldhash::fast::FixedState> =
        Default::default();
    let mut tasks = Tasks::default();
    while let Some(address) = stack.pop() {
        if !seen.insert(address) {
            continue;
        }
        if let Some(group) = group_key(address) {
            let uses = plan
                .groups
                .get(group.as_ref())
                .or_else(|| snapshot.groups.get(group.as_ref()));
            stack.extend(uses.into_iter().flatten());
            continue;
        }
        let here = at.get(address).map_or(&[][..], Vec::as_slice);
        let decided = here
            .first()
            .and_then(|task| plan.tasks[*task as usize].decision.as_ref());
        tasks.extend(
            here.iter()
                .filter(|task| leads_to_wanted_state(plan, **task)),
        );
        match decided {
            // A resource is deleted before its dependencies are.
            Some(decided)
                if matches!(
                    decided.action,
                    Action::Delete | Action::Detach | Action::Unlink
                ) => {}
            Some(decided) => stack.extend(&decided.dependencies),
            None => stack.extend(
                snapshot
                    .records
                    .get(address)
                    .into_iter()
                    .flat_map(|record| &record.dependencies),
            ),
        }
    }
    Some(tasks)
}

/// Whether a resource has its wanted state only after this task. The delete of a deposed object
/// does not count, because it waits for all users. The delete of a resource whose condition is
/// false does not count either.
fn leads_to_wanted_state(plan: &Plan, task: u32) -> bool {
    let task = &plan.tasks[task as usize];
    match task.kind {
        TaskKind::DeleteIfAbsent | TaskKind::Gather | TaskKind::Pause(_) | TaskKind::Settled => {
            false
        }
        TaskKind::DeleteOld(_) => task
            .decision
            .as_ref()
            .is_some_and(|decided| decided.action == Action::None),
        _ => true,
    }
}
