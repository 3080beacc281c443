//! The stops of a plan as tasks. A gate is a task at a breakpoint, and the tasks behind the
//! breakpoint wait for it. When `apply` stops at a gate, it leaves all tasks that wait for the
//! gate, directly or indirectly, to the next operation.
//!
//! ```text
//! its dependencies ──> gate before ──> the resource, or all of the child ──> gate after ──> its users
//! ```
//!
//! Not here: where a plan stops (`plan::stops`).

use blueprint::{Address, IndexMap, Name};
use state::{Snapshot, StatusOp};
use understand::documents::{address_of_group, group_key};

use crate::draft::Draft;
use crate::model::Gate;
use crate::stops::{AfterGate, BreakpointSubjects};
use crate::task::{TaskKind, Until, Wait};
use crate::tasks::builder::Builder;

/// A set with a fixed hash, so that nothing depends on a random seed.
type Set<T> = indexmap::IndexSet<T, foldhash::fast::FixedState>;

/// The subjects of each task, by the number of the task: the resource itself, and the children that
/// contain it.
struct TaskSubjects<'s> {
    subjects: &'s BreakpointSubjects,
    resource: Vec<Option<u32>>,
    parents: Vec<Vec<u32>>,
    /// The tasks of each subject.
    members: Vec<Vec<u32>>,
}

impl TaskSubjects<'_> {
    /// The subjects that are children and contain this place.
    fn enclosing_children(&self, path: &[Name]) -> Vec<u32> {
        if self.subjects.children.is_empty() {
            return Vec::new();
        }
        (1..=path.len())
            .filter_map(|depth| self.subjects.children.get(&path[..depth]).copied())
            .collect()
    }

    /// Records the subjects of a task. Tasks come in the order of their numbers.
    fn add_task(&mut self, task: u32, resource: Option<u32>, parents: Vec<u32>) {
        resource
            .iter()
            .chain(&parents)
            .for_each(|subject| self.members[*subject as usize].push(task));
        self.resource.push(resource);
        self.parents.push(parents);
        debug_assert_eq!(
            self.resource.len(),
            task as usize + 1,
            "a task has been passed over"
        );
    }

    /// The children that contain all of these tasks.
    fn common_children(&self, waits: &[Wait]) -> Vec<u32> {
        let mut all = waits
            .iter()
            .filter_map(|wait| self.parents.get(wait.task as usize));
        let mut common = all.next().cloned().unwrap_or_default();
        for parents in all {
            if common.is_empty() {
                break;
            }
            common.retain(|child| parents.contains(child));
        }
        common
    }

    fn is_in(&self, task: u32, subject: u32) -> bool {
        self.resource[task as usize] == Some(subject)
            || self.parents[task as usize].contains(&subject)
    }
}

/// The gates for which an intermediate value waits.
struct GatesOfValue {
    /// The gates of resources, as one task.
    resources: Option<u32>,
    /// The children whose gates it waits for.
    children: Set<u32>,
    /// The gates of all these children, as one task; added when first needed.
    all: Option<u32>,
}

/// Adds the gates, and makes other tasks wait for them.
pub(crate) fn add(
    builder: &mut Builder<'_>,
    draft: &Draft,
    subjects: &BreakpointSubjects,
    snapshot: &Snapshot,
) -> Vec<Gate> {
    let mut gates = Vec::new();
    if subjects
        .all
        .iter()
        .all(|subject| !subject.before && subject.after == AfterGate::Nothing)
    {
        return gates;
    }
    let count = subjects.all.len();
    let mut places = TaskSubjects {
        subjects,
        resource: Vec::new(),
        parents: Vec::new(),
        members: vec![Vec::new(); count],
    };
    assign_subjects(builder, &mut places);
    let after = after_gates(builder, &mut places, &mut gates);
    let stops: Vec<Option<u32>> = (0..count)
        .map(|at| after[at].filter(|_| subjects.all[at].after == AfterGate::Stops))
        .collect();
    wait_for_gates_of_predecessors(builder, &places, &stops);
    gate_users(builder, draft, &mut places, &stops);
    gate_deletes_of_dependencies(builder, snapshot, &places, &stops);
    before_gates(builder, &mut places, &mut gates);
    gates
}

/// Finds the subjects of each task. A gather of a value belongs to the document of the value; a
/// gather of other tasks belongs to the children that contain all of these tasks.
fn assign_subjects(builder: &Builder<'_>, places: &mut TaskSubjects<'_>) {
    let mut of_values: IndexMap<u32, Vec<u32>> = IndexMap::default();
    if !places.subjects.children.is_empty() {
        let gathers = builder
            .gathers
            .iter()
            .filter_map(|(name, task)| Some((name, (*task)?)));
        for (name, task) in gathers.chain(builder.releases.iter().map(|(name, task)| (name, *task)))
        {
            of_values.insert(
                task,
                places.enclosing_children(&address_of_group(name).path),
            );
        }
    }
    for (number, task) in (0..).zip(&builder.tasks) {
        let (resource, parents) = match &task.decision {
            Some(decided) => (
                places.subjects.resources.get(&decided.address).copied(),
                places.enclosing_children(&decided.address.path),
            ),
            None => (
                None,
                of_values
                    .swap_remove(&number)
                    .unwrap_or_else(|| places.common_children(&task.waits)),
            ),
        };
        places.add_task(number, resource, parents);
    }
}

fn is_backward(kind: TaskKind) -> bool {
    matches!(
        kind,
        TaskKind::Delete
            | TaskKind::DeleteOld(_)
            | TaskKind::DeleteIfAbsent
            | TaskKind::DeleteTemporary
            | TaskKind::Forget
    )
}

fn is_intermediate(kind: TaskKind) -> bool {
    matches!(
        kind,
        TaskKind::Gather | TaskKind::Pause(_) | TaskKind::Read(_) | TaskKind::Gate(_)
    )
}

fn new_gate(
    builder: &mut Builder<'_>,
    places: &mut TaskSubjects<'_>,
    subject: u32,
    gates: &mut Vec<Gate>,
    gate: Gate,
) -> u32 {
    let task = builder.add(TaskKind::Gate(gates.len() as u32), None);
    gates.push(gate);
    let of = &places.subjects.all[subject as usize];
    let path = of
        .path
        .as_deref()
        .or(of.address.as_ref().map(|address| &*address.path))
        .unwrap_or_default();
    let parents = places.enclosing_children(path);
    places.resource.push(of.path.is_none().then_some(subject));
    places.parents.push(parents);
    task
}

/// Adds the gates after actions. Such a gate waits for all tasks of the action, and for all gates
/// after actions inside.
fn after_gates(
    builder: &mut Builder<'_>,
    places: &mut TaskSubjects<'_>,
    gates: &mut Vec<Gate>,
) -> Vec<Option<u32>> {
    let subjects = places.subjects;
    let mut after: Vec<Option<u32>> = vec![None; subjects.all.len()];
    for (number, subject) in (0..).zip(&subjects.all) {
        let Some(action) = subject
            .action
            .filter(|_| !subject.before && subject.after != AfterGate::Nothing)
        else {
            continue;
        };
        let gate = Gate {
            place: subject.place.clone(),
            at: action.after(),
            stops: subject.after == AfterGate::Stops,
            after_update: subject.after_update,
        };
        let members = std::mem::take(&mut places.members[number as usize]);
        let task = new_gate(builder, places, number, gates, gate);
        for member in &members {
            let of = &builder.tasks[*member as usize];
            let inside_only = || of.waits.iter().all(|wait| places.is_in(wait.task, number));
            let counts = match of.kind {
                kind if is_intermediate(kind) => false,
                TaskKind::DeleteOld(_) => false,
                kind if action == StatusOp::Delete => is_backward(kind),
                // Deletes inside a child that no outside dependant waits for are a part of the
                // child's update.
                TaskKind::Delete => subject.path.is_some() && inside_only(),
                kind => !is_backward(kind),
            };
            if counts {
                builder.wait(task, *member, Until::Ready);
            }
        }
        places.members[number as usize] = members;
        after[number as usize] = Some(task);
    }
    // The gates inside a child are passed before the gate after the child.
    for (number, gate) in after
        .iter()
        .enumerate()
        .filter_map(|(number, gate)| Some((number as u32, (*gate)?)))
    {
        for outer in places.parents[gate as usize]
            .iter()
            .filter(|outer| **outer != number)
        {
            if let Some(outer) = after[*outer as usize] {
                builder.wait(outer, gate, Until::Ready);
            }
        }
    }
    after
}

/// Makes each task that waits for another task also wait for the gate after that task.
fn wait_for_gates_of_predecessors(
    builder: &mut Builder<'_>,
    places: &TaskSubjects<'_>,
    stops: &[Option<u32>],
) {
    for task in 0..places.resource.len() as u32 {
        let mut more: Vec<u32> = Vec::new();
        for wait in builder.tasks[task as usize]
            .waits
            .iter()
            .filter(|wait| wait.until != Until::Over)
        {
            let kind = builder.tasks[wait.task as usize].kind;
            let of = places.resource[wait.task as usize]
                .iter()
                .chain(&places.parents[wait.task as usize]);
            for subject in of.filter(|subject| !places.is_in(task, **subject)) {
                let backward =
                    places.subjects.all[*subject as usize].action == Some(StatusOp::Delete);
                if is_intermediate(kind) || is_backward(kind) == backward {
                    more.extend(
                        stops[*subject as usize].filter(|gate| *gate != task && *gate != wait.task),
                    );
                }
            }
        }
        more.into_iter()
            .for_each(|gate| builder.wait(task, gate, Until::Ready));
    }
}

/// Makes users of a subject wait for its gate, even if the subject has no task left to wait for.
fn gate_users(
    builder: &mut Builder<'_>,
    draft: &Draft,
    places: &mut TaskSubjects<'_>,
    stops: &[Option<u32>],
) {
    let subjects = places.subjects;
    let has_forward_stop = |subject: &u32| {
        stops[*subject as usize].is_some()
            && subjects.all[*subject as usize].action != Some(StatusOp::Delete)
    };
    if !(0..stops.len() as u32).any(|subject| has_forward_stop(&subject)) {
        return;
    }
    let mut gates_of_values: IndexMap<Name, GatesOfValue> = IndexMap::default();
    for (name, uses) in &draft.groups {
        let own = address_of_group(name);
        let mut resources: Vec<u32> = Vec::new();
        let mut children: Set<u32> = places
            .enclosing_children(&own.path)
            .into_iter()
            .filter(has_forward_stop)
            .collect();
        for used in uses {
            match group_key(used).map(|inner| gates_of_values.get(inner.as_ref())) {
                Some(inner) => {
                    resources.extend(inner.and_then(|inner| inner.resources));
                    children.extend(
                        inner
                            .into_iter()
                            .flat_map(|inner| inner.children.iter().copied()),
                    );
                }
                None => {
                    resources.extend(
                        subjects
                            .resources
                            .get(used)
                            .filter(|it| has_forward_stop(it))
                            .and_then(|it| stops[*it as usize]),
                    );
                    children.extend(
                        places
                            .enclosing_children(&used.path)
                            .into_iter()
                            .filter(has_forward_stop),
                    );
                }
            }
        }
        if resources.is_empty() && children.is_empty() {
            continue;
        }
        let resources = (!resources.is_empty()).then(|| gather(builder, places, resources, &own));
        gates_of_values.insert(
            name.clone(),
            GatesOfValue {
                resources,
                children,
                all: None,
            },
        );
    }
    for decision in &draft.decisions {
        let Some(forward) = builder
            .by_address
            .get(&decision.address)
            .and_then(|tasks| tasks.apply_task)
        else {
            continue;
        };
        for used in &decision.dependencies {
            let Some(group) = group_key(used) else {
                let resource = subjects.resources.get(used).copied();
                for subject in resource
                    .into_iter()
                    .chain(places.enclosing_children(&used.path))
                    .filter(has_forward_stop)
                {
                    if let Some(gate) =
                        stops[subject as usize].filter(|_| !places.is_in(forward, subject))
                    {
                        builder.wait(forward, gate, Until::Ready);
                    }
                }
                continue;
            };
            let Some(group) = gates_of_values.get_mut(group.as_ref()) else {
                continue;
            };
            if let Some(resources) = group.resources {
                builder.wait(forward, resources, Until::Ready);
            }
            if !places.parents[forward as usize]
                .iter()
                .any(|own| group.children.contains(own))
            {
                if group.all.is_none() && !group.children.is_empty() {
                    let all = group
                        .children
                        .iter()
                        .filter_map(|child| stops[*child as usize])
                        .collect();
                    group.all = Some(gather(builder, places, all, &Address::root("")));
                }
                group
                    .all
                    .into_iter()
                    .for_each(|all| builder.wait(forward, all, Until::Ready));
                continue;
            }
            let others = group
                .children
                .iter()
                .filter(|child| !places.is_in(forward, **child));
            others
                .filter_map(|child| stops[*child as usize])
                .for_each(|gate| builder.wait(forward, gate, Until::Ready));
        }
    }
}

/// Adds a gather of gates that belongs to the document of a value.
fn gather(
    builder: &mut Builder<'_>,
    places: &mut TaskSubjects<'_>,
    gates: Vec<u32>,
    of: &Address,
) -> u32 {
    let task = builder.add_gather(gates);
    places.add_task(task, None, places.enclosing_children(&of.path));
    task
}

/// Makes the deletes of what a deleted resource used wait for the gate of that resource.
fn gate_deletes_of_dependencies(
    builder: &mut Builder<'_>,
    snapshot: &Snapshot,
    places: &TaskSubjects<'_>,
    stops: &[Option<u32>],
) {
    for (number, subject) in (0..).zip(&places.subjects.all) {
        let Some(gate) =
            stops[number as usize].filter(|_| subject.action == Some(StatusOp::Delete))
        else {
            continue;
        };
        let mut seen: Set<&Address> = Set::default();
        let mut stack: Vec<&Address> = subject.uses.iter().collect();
        while let Some(used) = stack.pop() {
            if !seen.insert(used) {
                continue;
            }
            if let Some(group) = group_key(used) {
                stack.extend(snapshot.groups.get(group.as_ref()).into_iter().flatten());
                continue;
            }
            let Some(goes) = builder
                .by_address
                .get(used)
                .and_then(|tasks| tasks.delete_task)
            else {
                continue;
            };
            if !places.is_in(goes, number) {
                builder.wait(goes, gate, Until::Ready);
            }
        }
    }
}

/// Adds the gates before actions. Such a gate waits for everything that the resource, or the child
/// as a whole, waits for. Outer gates are added first, so that inner gates wait for them.
fn before_gates(builder: &mut Builder<'_>, places: &mut TaskSubjects<'_>, gates: &mut Vec<Gate>) {
    let subjects = places.subjects;
    let mut order: Vec<u32> = (0..subjects.all.len() as u32)
        .filter(|at| subjects.all[*at as usize].before)
        .collect();
    order.sort_by_key(|at| {
        subjects.all[*at as usize]
            .path
            .as_ref()
            .map_or(usize::MAX, |path| path.len())
    });
    for number in order {
        let subject = &subjects.all[number as usize];
        let Some(action) = subject.action else {
            continue;
        };
        let gate = Gate {
            place: subject.place.clone(),
            at: action.before(),
            stops: true,
            after_update: false,
        };
        let members = std::mem::take(&mut places.members[number as usize]);
        let task = new_gate(builder, places, number, gates, gate);
        let mut waits: Vec<Wait> = Vec::new();
        for member in &members {
            let of = &builder.tasks[*member as usize];
            if is_intermediate(of.kind) || is_backward(of.kind) == (action == StatusOp::Delete) {
                let outside =
                    |wait: &&Wait| wait.until != Until::Over && !places.is_in(wait.task, number);
                waits.extend(of.waits.iter().filter(outside));
            }
            if !is_intermediate(of.kind) {
                builder.wait(*member, task, Until::Ready);
            }
        }
        builder.tasks[task as usize].waits.extend(waits);
        places.members[number as usize] = members;
    }
}
