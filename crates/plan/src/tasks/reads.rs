//! Data sources that can be read only during apply, because they depend on something that does not
//! exist yet. Each is read by a step of its own, before everything that reads it
//! (decisions/blueprint#reading-of-data-sources, decisions/plan#contents-of-a-plan).
//!
//! Not here: reading them (`apply`); which data sources they are (`evaluate`).

use blueprint::{Address, DeleteMode, IndexMap, Name, TypeId};
use diag::Span;
use evaluate::resolve::{Evaluation, Slot};
use understand::documents::group_key;

use crate::drafting::groups::data_source_group_name;
use crate::model::{Action, ExistingObject, Step};
use crate::task::Task;
use crate::tasks::builder::Builder;

/// A data source that is read during apply.
pub(crate) struct Deferred {
    pub(crate) number: u32,
    address: Address,
    type_name: TypeId,
    /// The names of the fields that it will have.
    exported: Vec<Name>,
    span: Span,
}

/// All deferred data sources, by the key of their group.
pub(crate) type AllDeferred = IndexMap<Name, Deferred>;

/// The data sources that have readers and could not be read at stage.
pub(crate) fn deferred(evaluation: Option<&Evaluation>) -> AllDeferred {
    let mut all = AllDeferred::default();
    let Some(evaluation) = evaluation else {
        return all;
    };
    for (number, slot) in (0..).zip(&evaluation.data) {
        let Slot::Partial(fields) = slot else {
            continue;
        };
        let Some((unit, name, source)) = evaluation.documents.data_source(number) else {
            continue;
        };
        let unit = evaluation.documents.unit(unit);
        let Some(key) = group_key(&unit.group_address(&data_source_group_name(name)))
            .map(|key| Name::from(key.as_ref()))
        else {
            continue;
        };
        let deferred = Deferred {
            number,
            address: Address::inside(&unit.path, format!("datasources.{name}")),
            type_name: source.type_name.item.clone(),
            exported: fields
                .as_map()
                .into_iter()
                .flat_map(|fields| fields.keys().cloned())
                .collect(),
            span: source.span,
        };
        all.insert(key, deferred);
    }
    all
}

/// The deferred data sources by their gathers. If the plan is partial, data sources that nothing in
/// target reads are left out.
pub(crate) fn by_task(
    builder: &Builder<'_>,
    deferred: AllDeferred,
    partial: bool,
) -> IndexMap<u32, Deferred> {
    if deferred.is_empty() {
        return IndexMap::default();
    }
    let read = partial.then(|| tasks_before_resources(&builder.tasks));
    let tasks = deferred
        .into_iter()
        .filter_map(|(key, one)| Some((builder.gather(&key)?, one)));
    tasks
        .filter(|(task, _)| read.as_ref().is_none_or(|read| read[*task as usize]))
        .collect()
}

/// Whether a task of a resource waits for each task, directly or indirectly.
fn tasks_before_resources(tasks: &[Task]) -> Vec<bool> {
    let mut behind = vec![false; tasks.len()];
    let mut stack: Vec<u32> = Vec::new();
    for (at, task) in tasks.iter().enumerate() {
        if task.decision.is_some() {
            stack.push(at as u32);
        }
    }
    while let Some(at) = stack.pop() {
        for wait in &tasks[at as usize].waits {
            if !std::mem::replace(&mut behind[wait.task as usize], true) {
                stack.push(wait.task);
            }
        }
    }
    behind
}

impl Deferred {
    /// Its step.
    pub(crate) fn step(self, id: u32) -> Step {
        Step {
            id,
            address: self.address,
            type_name: self.type_name,
            action: Action::Read,
            reasons: Vec::new(),
            changes: Vec::new(),
            replace_order: None,
            may_replace: false,
            condition_known: true,
            computed: self.exported,
            expired: None,
            needs: None,
            made_from: None,
            moved_from: None,
            temporary: false,
            batch: None,
            stops_before: None,
            stops_after: None,
            waits_on: Vec::new(),
            not_observed: false,
            delete_mode: DeleteMode::Delete,
            existing: ExistingObject::default(),
            adopts: false,
            links: None,
            span: self.span,
        }
    }
}
