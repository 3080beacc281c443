//! The tasks of a plan while their order is found: the tasks of each decision, and their waits.
//!
//! Not here: which tasks must wait (`waits`, `links`, `gates`, `batches`).

use std::borrow::Cow;

use blueprint::{Address, IndexMap, Name};
use state::Snapshot;
use understand::documents::group_key;

use crate::draft::Draft;
use crate::task::{Decided, Task, TaskKind, Until, Wait};

/// Tasks of one decision, by what they do.
#[derive(Clone, Copy, Default)]
pub(crate) struct DecisionTasks {
    /// Create, update, record or condition.
    pub(crate) apply_task: Option<u32>,
    /// Delete, or the delete of a replacement.
    pub(crate) delete_task: Option<u32>,
    /// The first of the deletes of deposed objects; the others follow it.
    pub(crate) deposed_delete: Option<u32>,
}

pub(crate) struct Builder<'a> {
    pub(crate) tasks: Vec<Task>,
    /// The tasks of each address; addresses without tasks are left out.
    pub(crate) by_address: IndexMap<Address, DecisionTasks>,
    /// Gathers of intermediate values: `gathers` wait for the value, `releases` wait for all users
    /// of the value.
    pub(crate) gathers: IndexMap<Name, Option<u32>>,
    pub(crate) releases: IndexMap<Name, u32>,
    /// The tasks that users of unchanged resources wait for: see [`Builder::task_before_users`].
    pub(crate) behind_unchanged: IndexMap<Address, Option<u32>>,
    pub(crate) draft: &'a Draft,
    pub(crate) snapshot: &'a Snapshot,
}

/// An unchanged resource whose recorded dependencies are being followed.
struct UnchangedResource<'a> {
    address: &'a Address,
    dependencies: std::slice::Iter<'a, Address>,
    waits: Vec<u32>,
}

impl<'a> Builder<'a> {
    pub(crate) fn add(
        &mut self,
        kind: TaskKind,
        decision: Option<&std::sync::Arc<Decided>>,
    ) -> u32 {
        self.tasks.push(Task {
            kind,
            step: None,
            waits: Vec::new(),
            decision: decision.cloned(),
        });
        self.tasks.len() as u32 - 1
    }

    /// Adds the deletes of deposed objects, one after the other. They never run concurrently with
    /// another call at the address: they run after the resource is as desired, or before its record
    /// is dropped.
    pub(crate) fn deposed_deletes(
        &mut self,
        decided: &std::sync::Arc<Decided>,
        tasks: DecisionTasks,
    ) -> Option<u32> {
        let count = decided
            .prior
            .as_ref()
            .map_or(0, |record| record.deposed_objects().count());
        let mut first = None;
        let mut last = None;
        for old in 1..=count as u32 {
            let task = self.add(TaskKind::DeleteOld(old), Some(decided));
            for on in tasks
                .apply_task
                .into_iter()
                .chain(tasks.delete_task)
                .chain(last)
            {
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

    /// Adds a task that does nothing but wait for many tasks, so that many others need to wait for
    /// only one.
    pub(crate) fn add_gather(&mut self, mut waits: Vec<u32>) -> u32 {
        waits.sort_unstable();
        waits.dedup();
        let task = self.add(TaskKind::Gather, None);
        self.tasks[task as usize].waits = waits
            .into_iter()
            .map(|task| Wait {
                task,
                until: Until::Configured,
            })
            .collect();
        task
    }

    /// Adds a gather of tasks whose resources are read.
    fn add_gather_of_read(&mut self, waits: Vec<u32>) -> u32 {
        let task = self.add_gather(waits);
        let mut waits = std::mem::take(&mut self.tasks[task as usize].waits);
        for wait in &mut waits {
            wait.until = self.until_complete(wait.task);
        }
        self.tasks[task as usize].waits = waits;
        task
    }

    /// The progress of a task after which the fields of its resource are complete.
    pub(crate) fn until_complete(&self, task: u32) -> Until {
        let decision = self.tasks[task as usize].decision.as_ref();
        let ty = decision.and_then(|decided| decided.ty.as_ref());
        if ty.is_some_and(|ty| ty.capabilities.complete_when_ready) {
            Until::Ready
        } else {
            Until::Configured
        }
    }

    /// The task that users of a resource wait for. An unchanged resource has no task; its users
    /// then wait for the tasks of its dependencies, directly or indirectly. `None` if none of these
    /// changes. Each unchanged resource is visited once.
    pub(crate) fn task_before_users(&mut self, used: &'a Address) -> Option<u32> {
        if let Some(known) = self.known_task_before_users(used) {
            return known;
        }
        let mut stack = vec![self.unchanged(used)];
        while let Some(top) = stack.last_mut() {
            if let Some(next) = top.dependencies.next() {
                match self.known_task_before_users(next) {
                    Some(task) => top.waits.extend(task),
                    None => stack.push(self.unchanged(next)),
                }
                continue;
            }
            let Some(UnchangedResource { address, waits, .. }) = stack.pop() else {
                break;
            };
            // A gather also for one wait: `topological` can take it out of a cycle.
            let task = if waits.is_empty() {
                None
            } else {
                Some(self.add_gather_of_read(waits))
            };
            self.behind_unchanged.insert(address.clone(), task);
            match stack.last_mut() {
                Some(user) => user.waits.extend(task),
                None => return task,
            }
        }
        None
    }

    /// The same without following dependencies; the outer `None` if they must be followed.
    fn known_task_before_users(&self, used: &Address) -> Option<Option<u32>> {
        if let Some(group) = group_key(used) {
            return Some(self.gather(&group));
        }
        let changed = self
            .by_address
            .get(used)
            .filter(|tasks| tasks.apply_task.or(tasks.delete_task).is_some());
        match changed {
            Some(tasks) => Some(tasks.apply_task),
            // Without tasks there is nothing to wait for.
            None if self.by_address.is_empty() || !self.snapshot.records.contains_key(used) => {
                Some(None)
            }
            None => self.behind_unchanged.get(used).copied(),
        }
    }

    fn unchanged(&mut self, address: &'a Address) -> UnchangedResource<'a> {
        // Recorded dependencies may form a cycle after deploys with targets. A resource that is
        // being followed counts as done.
        self.behind_unchanged.insert(address.clone(), None);
        let dependencies = self
            .snapshot
            .records
            .get(address)
            .map_or(&[][..], |record| &record.dependencies);
        UnchangedResource {
            address,
            dependencies: dependencies.iter(),
            waits: Vec::new(),
        }
    }

    /// Duplicate waits are removed by `merge_waits`.
    pub(crate) fn wait(&mut self, task: u32, on: u32, until: Until) {
        if task != on {
            self.tasks[task as usize]
                .waits
                .push(Wait { task: on, until });
        }
    }

    /// Merges the waits of a task for the same task: the one that needs the most progress stays.
    pub(crate) fn merge_waits(&mut self) {
        for task in &mut self.tasks {
            let progress_order = |until| match until {
                Until::Ready => 0,
                Until::Configured => 1,
                Until::Over => 2,
            };
            task.waits
                .sort_by_key(|wait| (wait.task, progress_order(wait.until)));
            task.waits.dedup_by_key(|wait| wait.task);
        }
    }

    /// The gather of an intermediate value; `None` if nothing that the value uses changes.
    ///
    /// Groups come in the order in which they were settled, so a gather is added after those of the
    /// groups that its group uses.
    pub(crate) fn gather(&self, name: &str) -> Option<u32> {
        self.gathers.get(name).copied().flatten()
    }

    /// The tasks of resources of these types that an intermediate value uses, directly or
    /// indirectly.
    pub(crate) fn tasks_of_types(&self, group: &str, types: &[Name]) -> Vec<u32> {
        let mut found = Vec::new();
        if types.is_empty() {
            return found;
        }
        let mut seen: std::collections::HashSet<Cow<'_, str>, foldhash::fast::FixedState> =
            Default::default();
        let mut stack = vec![Cow::Borrowed(group)];
        while let Some(group) = stack.pop() {
            if !seen.insert(group.clone()) {
                continue;
            }
            for used in self.draft.groups.get(group.as_ref()).into_iter().flatten() {
                match group_key(used) {
                    Some(inner) => stack.push(inner),
                    None => found.extend(
                        self.by_address
                            .get(used)
                            .and_then(|tasks| tasks.apply_task)
                            .filter(|task| {
                                let decided = self.tasks[*task as usize].decision.as_ref();
                                decided.is_some_and(|decided| {
                                    types.iter().any(|ty| decided.type_name == *ty)
                                })
                            }),
                    ),
                }
            }
        }
        found
    }

    pub(crate) fn make_gathers(&mut self, is_deferred: impl Fn(&Name) -> bool) {
        let groups = &self.draft.groups;
        for (name, uses) in groups {
            let waits: Vec<u32> = uses
                .iter()
                .filter_map(|address| self.task_before_users(address))
                .collect();
            let waits_for_nothing = waits.is_empty() && !is_deferred(name);
            let task = if waits_for_nothing {
                None
            } else {
                Some(self.add_gather_of_read(waits))
            };
            self.gathers.insert(name.clone(), task);
        }
    }
}
