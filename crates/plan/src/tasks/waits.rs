//! The waits because of dependencies: users wait for what they use, deletes wait for the users.
//!
//! Not here: links, gates, batches.

use blueprint::{Address, IndexMap, Name, ReplaceOrder, TypeId, Value};
use evaluate::resolve::Evaluation;
use state::Snapshot;
use understand::documents::{address_of_group, group_key};
use understand::graph::{EdgeKind, GraphNode};

use crate::decision::Decision;
use crate::draft::Draft;
use crate::linked::Linked;
use crate::model::Action;
use crate::task::{Decided, TaskKind, Until};
use crate::tasks::builder::{Builder, DecisionTasks};

/// Makes every create and change wait for what it uses.
pub(crate) fn wait_for_dependencies<'a>(
    builder: &mut Builder<'a>,
    draft: &'a Draft,
    evaluation: Option<&Evaluation>,
) {
    let Some(evaluation) = evaluation else {
        wait_for_records(builder, draft);
        return;
    };
    let documents = &evaluation.documents;
    for decision in &draft.decisions {
        let is_part = matches!(decision.linked.as_deref(), Some(Linked::Part { .. }));
        let Some(tasks) = builder.by_address.get(&decision.address).copied() else {
            continue;
        };
        let Some(forward) = tasks
            .apply_task
            .filter(|_| decision.element.is_some() || is_part)
        else {
            continue;
        };
        let needs_stable = decision.ty.as_ref().map_or(&[][..], |ty| &ty.needs_stable);
        let edges = decision.element.map_or(&[][..], |(index, _)| {
            documents.graph().edges(GraphNode::Resource(index))
        });
        let depends_on: Vec<&Name> = edges
            .iter()
            .filter(|edge| edge.kind == EdgeKind::DependsOn)
            .filter_map(|edge| match edge.to {
                GraphNode::Resource(number) => documents.resource(number).map(|(_, name, _)| name),
                _ => None,
            })
            .collect();
        for used in &decision.dependencies {
            if let Some(group) = group_key(used) {
                for on in builder.tasks_of_types(&group, needs_stable) {
                    builder.wait(forward, on, Until::Ready);
                }
                if let Some(gather) = builder.gather(&group) {
                    builder.wait(forward, gather, Until::Configured);
                    if decision.may_replace {
                        tasks.delete_task.iter().for_each(|backward| {
                            builder.wait(*backward, gather, Until::Configured)
                        });
                    }
                }
                continue;
            }
            let Some(on) = builder.task_before_users(used) else {
                continue;
            };
            let by_type = builder.tasks[on as usize]
                .decision
                .as_ref()
                .is_some_and(|used| needs_stable.iter().any(|ty| used.type_name == *ty));
            let by_name = used.path == decision.address.path && depends_on.contains(&&used.name);
            let until = if by_type || by_name {
                Until::Ready
            } else {
                builder.until_complete(on)
            };
            builder.wait(forward, on, until);
            if decision.may_replace {
                // Whether the old object is deleted is known only once these values are known.
                tasks
                    .delete_task
                    .iter()
                    .for_each(|backward| builder.wait(*backward, on, until));
            }
        }
        if let (Action::Replace, Some(backward)) = (decision.action, tasks.delete_task) {
            match decision.replace_order {
                ReplaceOrder::DeleteFirst => builder.wait(forward, backward, Until::Ready),
                ReplaceOrder::CreateFirst => builder.wait(backward, forward, Until::Ready),
            }
        }
    }
}

/// Adds the same waits for a plan without a document, from the dependencies in the records.
pub(crate) fn wait_for_records<'a>(builder: &mut Builder<'a>, draft: &'a Draft) {
    for decision in draft
        .decisions
        .iter()
        .filter(|decision| decision.action != Action::Delete)
    {
        let Some(tasks) = builder.by_address.get(&decision.address).copied() else {
            continue;
        };
        let Some(forward) = tasks.apply_task else {
            continue;
        };
        for used in &decision.dependencies {
            if let Some(on) = builder.task_before_users(used) {
                builder.wait(forward, on, Until::Configured);
            }
        }
        if let (Action::Replace, Some(backward)) = (decision.action, tasks.delete_task) {
            match decision.replace_order {
                ReplaceOrder::DeleteFirst => builder.wait(forward, backward, Until::Ready),
                ReplaceOrder::CreateFirst => builder.wait(backward, forward, Until::Ready),
            }
        }
    }
}

/// Makes a change that sets a unique value wait for the delete or update that releases the value.
/// Returns the addresses that do not wait for their surviving users.
pub(crate) fn order_unique_values(
    builder: &mut Builder<'_>,
    draft: &Draft,
) -> std::collections::HashSet<Address, foldhash::fast::FixedState> {
    let mut freed = std::collections::HashSet::default();
    let mut releases: IndexMap<(TypeId, Name, String), (Address, u32)> = IndexMap::default();
    let unique = |decision: &Decision, spec: &Value| -> Vec<(TypeId, Name, String)> {
        let Some(ty) = &decision.ty else {
            return Vec::new();
        };
        let values = ty.unique_fields().filter_map(|field| {
            let value = spec
                .get(field)
                .filter(|value| !value.has_unknown() && !value.is_null())?;
            Some((ty.name.clone(), field.clone(), value.revealed().to_string()))
        });
        values.collect()
    };
    for decision in &draft.decisions {
        let tasks = builder
            .by_address
            .get(&decision.address)
            .copied()
            .unwrap_or_default();
        // A value is released by a delete, by the delete of a deposed object, or by an update that
        // sets another one.
        let releasing_task = match decision.action {
            Action::Delete | Action::Replace => tasks.delete_task,
            Action::Update => tasks.apply_task,
            _ => None,
        };
        let Some(gives_up) = releasing_task else {
            continue;
        };
        let inputs = decision
            .prior
            .as_ref()
            .map_or(&Value::Null, |record| &record.inputs);
        let kept = unique(decision, &decision.desired);
        for key in unique(decision, inputs)
            .into_iter()
            .filter(|key| !kept.contains(key))
        {
            releases.insert(key, (decision.address.clone(), gives_up));
        }
    }
    if releases.is_empty() {
        return freed;
    }
    for decision in draft.decisions.iter().filter(|decision| {
        matches!(
            decision.action,
            Action::Create | Action::Replace | Action::Update
        )
    }) {
        let Some(forward) = builder
            .by_address
            .get(&decision.address)
            .and_then(|tasks| tasks.apply_task)
        else {
            continue;
        };
        for key in unique(decision, &decision.desired) {
            if let Some((address, gives_up)) = releases.get(&key).cloned()
                && address != decision.address
            {
                builder.wait(forward, gives_up, Until::Ready);
                freed.insert(address);
            }
        }
    }
    freed
}

/// Makes each delete wait until every user of the object is deleted, or changed so that it no
/// longer uses the object.
pub(crate) fn wait_for_users(
    builder: &mut Builder<'_>,
    draft: &Draft,
    snapshot: &Snapshot,
    freed: &std::collections::HashSet<Address, foldhash::fast::FixedState>,
) {
    let has_deletes = |tasks: &DecisionTasks| tasks.delete_task.or(tasks.deposed_delete).is_some();
    if snapshot.groups.is_empty() && !builder.by_address.values().any(has_deletes) {
        return;
    }
    // Users as the state knows them: by resource and by intermediate value.
    let mut users: IndexMap<&Address, Vec<&Address>> =
        IndexMap::with_capacity_and_hasher(snapshot.records.len(), Default::default());
    // For each address, the last deletes of deposed objects that use it.
    let mut old_users: IndexMap<&Address, Vec<u32>> = IndexMap::default();
    for (address, record) in &snapshot.records {
        for used in &record.dependencies {
            users.entry(used).or_default().push(address);
        }
        if record.deposed.is_some()
            && let Some(first) = builder
                .by_address
                .get(address)
                .and_then(|tasks| tasks.deposed_delete)
        {
            let last = first + record.deposed_objects().count() as u32 - 1;
            for used in record
                .deposed_objects()
                .flat_map(|old| &old.dependencies)
                .filter(|used| *used != address)
            {
                old_users.entry(used).or_default().push(last);
            }
        }
    }
    let mut groups_using: IndexMap<&Address, Vec<&Name>> = IndexMap::default();
    for (name, uses) in &snapshot.groups {
        for used in uses {
            groups_using.entry(used).or_default().push(name);
        }
    }
    // An intermediate value is released by its users, and by the releases of the values that use
    // it. Values were recorded after what they use, so the reverse order finds the users first.
    for (name, _) in snapshot.groups.iter().rev() {
        let address = address_of_group(name);
        let mut waits: Vec<u32> = Vec::new();
        for user in users.get(&address).into_iter().flatten() {
            let tasks = builder.by_address.get(*user).copied().unwrap_or_default();
            waits.extend(tasks.apply_task.into_iter().chain(tasks.delete_task));
        }
        for group in groups_using.get(&address).into_iter().flatten() {
            waits.extend(builder.releases.get(*group));
        }
        if !waits.is_empty() {
            let task = builder.add_gather(waits);
            builder.releases.insert(name.clone(), task);
        }
    }
    // Users as the document has them now: they wait for the new object, and a create-first delete
    // waits for them.
    let mut users_now: IndexMap<&Address, Vec<u32>> =
        IndexMap::with_capacity_and_hasher(draft.decisions.len(), Default::default());
    for decision in &draft.decisions {
        if let Some(forward) = builder
            .by_address
            .get(&decision.address)
            .and_then(|tasks| tasks.apply_task)
        {
            for used in &decision.dependencies {
                users_now.entry(used).or_default().push(forward);
            }
        }
    }
    for decision in &draft.decisions {
        let Some(tasks) = builder.by_address.get(&decision.address).copied() else {
            continue;
        };
        for on in old_users.get(&decision.address).into_iter().flatten() {
            for delete in tasks.delete_task.into_iter().chain(tasks.deposed_delete) {
                builder.wait(delete, *on, Until::Ready);
            }
        }
        if let Some(left_over) = tasks.deposed_delete {
            // A resource that still uses a deposed object releases it first.
            for user in users
                .get(&decision.address)
                .into_iter()
                .flatten()
                .filter(|user| ***user != decision.address)
            {
                let user_tasks = builder.by_address.get(*user).copied().unwrap_or_default();
                for on in user_tasks
                    .apply_task
                    .into_iter()
                    .chain(user_tasks.delete_task)
                {
                    builder.wait(left_over, on, Until::Configured);
                }
            }
            for on in users_now.get(&decision.address).into_iter().flatten() {
                builder.wait(left_over, *on, Until::Configured);
            }
            for group in groups_using.get(&decision.address).into_iter().flatten() {
                if let Some(on) = builder.releases.get(*group).copied() {
                    builder.wait(left_over, on, Until::Configured);
                }
            }
        }
        let Some(backward) = tasks.delete_task else {
            continue;
        };
        let kind = builder.tasks[backward as usize].kind;
        if kind == TaskKind::Forget {
            continue;
        }
        let delete_first = decision.action == Action::Replace
            && decision.replace_order == ReplaceOrder::DeleteFirst;
        for user in users.get(&decision.address).into_iter().flatten() {
            if **user == decision.address {
                continue;
            }
            let user_tasks = builder.by_address.get(*user).copied().unwrap_or_default();
            if let Some(on) = user_tasks
                .delete_task
                .filter(|on| builder.tasks[*on as usize].kind != TaskKind::Forget)
            {
                builder.wait(backward, on, Until::Ready);
            }
            if let Some(on) = user_tasks
                .apply_task
                .filter(|_| !delete_first && !freed.contains(&decision.address))
            {
                builder.wait(backward, on, Until::Configured);
            }
        }
        if !delete_first && !freed.contains(&decision.address) {
            for group in groups_using.get(&decision.address).into_iter().flatten() {
                if let Some(on) = builder.releases.get(*group).copied() {
                    builder.wait(backward, on, Until::Configured);
                }
            }
        }
        if decision.action == Action::Replace && decision.replace_order == ReplaceOrder::CreateFirst
        {
            for on in users_now.get(&decision.address).into_iter().flatten() {
                builder.wait(backward, *on, Until::Configured);
            }
        }
    }
}

/// Adds deletes of existing resources whose conditions are known only on deploy. If a condition
/// turns out to be false, the resource is deleted after everything else
/// (decisions/blueprint#conditions-that-read-resources), users before what they use. The record of
/// a link is dropped after its parts are deleted.
pub(crate) fn add_conditional_deletes(
    builder: &mut Builder<'_>,
    open: &[std::sync::Arc<Decided>],
    snapshot: &Snapshot,
) {
    if open.is_empty() {
        return;
    }
    let everything = builder.add_gather((0..builder.tasks.len() as u32).collect());
    let mut deletes: IndexMap<&Address, u32> = IndexMap::default();
    for decided in open {
        let task = builder.add(TaskKind::DeleteIfAbsent, Some(decided));
        builder.wait(task, everything, Until::Configured);
        deletes.insert(&decided.address, task);
    }
    let mut users: IndexMap<&Address, Vec<u32>> = IndexMap::default();
    for decided in open {
        let (Some(own), Some(prior)) = (deletes.get(&decided.address).copied(), &decided.prior)
        else {
            continue;
        };
        for used in prior
            .dependencies
            .iter()
            .filter(|used| **used != decided.address)
        {
            let part_of_it = understand::links::address::link_of(used)
                .is_some_and(|link| link == decided.address);
            match deletes.get(used).copied().filter(|_| part_of_it) {
                Some(part) => builder.wait(own, part, Until::Ready),
                None => users.entry(used).or_default().push(own),
            }
        }
    }
    // Values were recorded after what they use, so the reverse order finds the users first.
    for (name, uses) in snapshot.groups.iter().rev() {
        let Some(tasks) = users.get(&address_of_group(name)).cloned() else {
            continue;
        };
        let task = builder.add_gather(tasks);
        uses.iter()
            .for_each(|used| users.entry(used).or_default().push(task));
    }
    for (address, task) in deletes {
        users
            .get(address)
            .into_iter()
            .flatten()
            .for_each(|user| builder.wait(task, *user, Until::Ready));
    }
}
