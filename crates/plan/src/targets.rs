//! Restricts a plan to target addresses: it may change these and everything that they depend on
//! (decisions/plan#targets).
//!
//! The plan is first drafted for the whole document, so that each target is evaluated with the
//! planned values of its dependencies. Then the decisions outside the targets are removed from the
//! draft.

use blueprint::{AccessorKind, Address, Expr, IndexMap, Name, ReferenceHead};
use diag::Diagnostics;
use evaluate::resolve::Evaluation;
use state::Snapshot;
use understand::documents::{Documents, NumberedKind, group_key};
use understand::graph::GraphNode;

use crate::addresses::SelectedAddresses;
use crate::codes;
use crate::decision::Decision;
use crate::draft::Draft;
use crate::linked::Linked;
use crate::model::{Action, AddressSet, HashSet, Purpose};

/// Exports and metadata that keep their values, because they read a resource outside the targets
/// that would change.
#[derive(Clone, Debug, Default)]
pub struct Untouched {
    /// Whether the plan leaves any change out.
    pub partial: bool,
    /// Names of exports, by the document in which they stand.
    exports: HashSet<(u32, Name)>,
    /// Documents whose metadata keeps its value.
    metadata: HashSet<u32>,
}

impl Untouched {
    /// Whether an export of a document keeps its former value.
    pub(crate) fn keeps(&self, unit: u32, export: &Name) -> bool {
        !self.exports.is_empty() && self.exports.contains(&(unit, export.clone()))
    }

    /// Whether a document's metadata stays as it was.
    pub fn keeps_metadata(&self, unit: u32) -> bool {
        self.metadata.contains(&unit)
    }
}

/// The resources that may change.
#[derive(Clone, Copy)]
pub(crate) struct Restriction<'a> {
    /// Only these and what they depend on; all if there are none.
    pub(crate) targets: &'a SelectedAddresses,
    /// Not these.
    pub(crate) excluded: &'a SelectedAddresses,
    /// Whether what depends on a target is a target, and what depends on an excluded resource is
    /// excluded.
    pub(crate) with_dependents: bool,
}

/// Removes the decisions outside the targets from the draft, and returns them in its order.
///
/// Reports `removed-but-needed` for a target that would be deleted while a resource outside the
/// targets still uses it, and `excluded-but-needed` for an excluded resource that does not exist yet
/// and that a resource of the plan uses.
pub(crate) fn restrict(
    draft: &mut Draft,
    restriction: Restriction<'_>,
    purpose: Purpose,
    snapshot: &Snapshot,
    found: &mut Diagnostics,
) -> Vec<Decision> {
    let position: IndexMap<Address, usize> = draft
        .decisions
        .iter()
        .enumerate()
        .map(|(at, decision)| (decision.address.clone(), at))
        .collect();
    // The writes of a link are steps of its own.
    let mut writes: IndexMap<&Address, Vec<usize>> = IndexMap::default();
    for (at, decision) in draft.decisions.iter().enumerate() {
        if let Some(Linked::Write(write)) = decision.linked.as_deref() {
            writes.entry(&write.link).or_default().push(at);
        }
    }
    let mut within = vec![false; draft.decisions.len()];
    let select = |named: &SelectedAddresses| {
        let covered = |decision: &Decision| named.covers(&decision.address);
        let mut selected: Vec<bool> = draft.decisions.iter().map(covered).collect();
        if restriction.with_dependents {
            add_dependents(draft, &position, &mut selected);
        }
        selected
    };
    let excluded = select(restriction.excluded);
    let targets = match restriction.targets.is_empty() {
        true => vec![true; draft.decisions.len()],
        false => select(restriction.targets),
    };
    let mut stack: Vec<usize> = (0..draft.decisions.len())
        .filter(|at| targets[*at] && !excluded[*at])
        .collect();
    let mut groups: HashSet<Name> = HashSet::default();
    while let Some(at) = stack.pop() {
        if excluded[at] || std::mem::replace(&mut within[at], true) {
            continue;
        }
        let decision = &draft.decisions[at];
        // A delete needs no change of the dependencies.
        if decision.element.is_none() && decision.linked.is_none() || purpose != Purpose::Deploy {
            continue;
        }
        stack.extend(writes.get(&decision.address).into_iter().flatten());
        if let Some(Linked::Write(write)) = decision.linked.as_deref() {
            stack.extend(position.get(&write.target).copied());
        }
        let mut uses: Vec<&Address> = decision.dependencies.iter().collect();
        while let Some(used) = uses.pop() {
            match group_key(used) {
                Some(group) => {
                    if groups.insert(group.as_ref().into()) {
                        uses.extend(draft.groups.get(group.as_ref()).into_iter().flatten());
                    }
                }
                None => stack.extend(position.get(used).copied()),
            }
        }
    }
    report_still_needed(draft, &within, &position, snapshot, found);
    report_excluded(draft, &within, &excluded, &position, found);
    let mut number = 0;
    draft
        .decisions
        .extract_if(.., |_| {
            number += 1;
            !within[number - 1]
        })
        .collect()
}

/// Selects everything that depends on a selected decision, directly or not.
fn add_dependents(draft: &Draft, position: &IndexMap<Address, usize>, selected: &mut [bool]) {
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); draft.decisions.len()];
    for (at, decision) in draft.decisions.iter().enumerate() {
        for used in used_resources(draft, decision) {
            if let Some(used) = position.get(used) {
                users[*used].push(at);
            }
        }
    }
    let chosen = |at: &usize| selected[*at];
    let mut stack: Vec<usize> = (0..draft.decisions.len()).filter(chosen).collect();
    while let Some(at) = stack.pop() {
        for user in &users[at] {
            if !std::mem::replace(&mut selected[*user], true) {
                stack.push(*user);
            }
        }
    }
}

/// The resources that a decision depends on, also through intermediate values.
fn used_resources<'d>(draft: &'d Draft, decision: &'d Decision) -> Vec<&'d Address> {
    let mut resources = Vec::new();
    let mut groups: HashSet<Name> = HashSet::default();
    let mut uses: Vec<&Address> = decision.dependencies.iter().collect();
    while let Some(used) = uses.pop() {
        match group_key(used) {
            Some(group) if groups.insert(group.as_ref().into()) => {
                uses.extend(draft.groups.get(group.as_ref()).into_iter().flatten());
            }
            Some(_) => {}
            None => resources.push(used),
        }
    }
    resources
}

/// Reports each excluded resource that does not exist yet although the plan needs it.
fn report_excluded(
    draft: &Draft,
    within: &[bool],
    excluded: &[bool],
    position: &IndexMap<Address, usize>,
    found: &mut Diagnostics,
) {
    for (decision, _) in draft
        .decisions
        .iter()
        .zip(within)
        .filter(|(decision, within)| {
            **within
                && matches!(
                    decision.action,
                    Action::Create | Action::Update | Action::Replace
                )
        })
    {
        let uses = used_resources(draft, decision).into_iter();
        let missing = uses.filter_map(|used| {
            let at = *position.get(used)?;
            let is_new = draft.decisions[at].action == Action::Create;
            (excluded[at] && is_new).then_some(used)
        });
        for used in missing {
            found.push(
                codes::EXCLUDED_BUT_NEEDED
                    .new(format!(
                        "`{}` needs `{used}`, which is excluded",
                        decision.address
                    ))
                    .label(decision.span, "uses it")
                    .note(format!("`{used}` does not exist yet"))
                    .help("exclude its users too, with `--exclude-dependents`"),
            );
        }
    }
}

/// Reports each target that would be deleted although a resource outside the targets uses it.
fn report_still_needed(
    draft: &Draft,
    within: &[bool],
    position: &IndexMap<Address, usize>,
    snapshot: &Snapshot,
    found: &mut Diagnostics,
) {
    let deleted: AddressSet = draft
        .decisions
        .iter()
        .zip(within)
        .filter(|(decision, within)| **within && decision.action == Action::Delete)
        .map(|(decision, _)| decision.address.clone())
        .collect();
    if deleted.is_empty() {
        return;
    }
    let mut deleted_by_group: IndexMap<&str, AddressSet> = IndexMap::default();
    // The snapshot lists a group after the groups that it uses.
    for (name, uses) in &snapshot.groups {
        let mut all = AddressSet::default();
        for used in uses {
            match group_key(used) {
                Some(inner) => all.extend(
                    deleted_by_group
                        .get(inner.as_ref())
                        .into_iter()
                        .flatten()
                        .cloned(),
                ),
                None => drop(deleted.contains(used).then(|| all.insert(used.clone()))),
            }
        }
        if !all.is_empty() {
            deleted_by_group.insert(name, all);
        }
    }
    let mut users: IndexMap<Address, Vec<&Address>> = IndexMap::default();
    for (user, record) in &snapshot.records {
        if position.get(user).is_some_and(|at| within[*at]) {
            continue;
        }
        for used in &record.dependencies {
            match group_key(used) {
                Some(group) => deleted_by_group
                    .get(group.as_ref())
                    .into_iter()
                    .flatten()
                    .for_each(|used| users.entry(used.clone()).or_default().push(user)),
                None if deleted.contains(used) => users.entry(used.clone()).or_default().push(user),
                None => {}
            }
        }
    }
    for (address, mut users) in users {
        users.dedup();
        let shown = users
            .iter()
            .take(5)
            .map(|user| format!("`{user}`"))
            .collect::<Vec<_>>()
            .join(", ");
        let more = if users.len() > 5 {
            format!(" and {} more", users.len() - 5)
        } else {
            String::new()
        };
        let span = users
            .iter()
            .filter_map(|user| position.get(*user))
            .map(|at| draft.decisions[*at].span);
        let diagnostic = codes::REMOVED_BUT_NEEDED
            .new(format!(
                "`{address}` would be deleted, but a resource outside the targets still uses it"
            ))
            .note(format!("used by {shown}{more}"));
        let diagnostic = match span.into_iter().find(|span| span.is_some()) {
            Some(span) => diagnostic.label(span, "still uses it"),
            None => diagnostic,
        };
        found.push(diagnostic.help("name its users with `--target` too, or leave the target away"));
    }
}

/// The exports that keep their former values: those that read, also indirectly, a resource whose
/// change is left out.
pub(crate) fn untouched(left_out: &[Decision], evaluation: &Evaluation) -> Untouched {
    let would_change: HashSet<(u32, Option<u32>)> = left_out
        .iter()
        .filter(|decision| decision.action != Action::None)
        .filter_map(|decision| decision.element)
        .collect();
    let mut untouched = Untouched {
        partial: true,
        ..Untouched::default()
    };
    if would_change.is_empty() {
        return untouched;
    }
    let documents = &evaluation.documents;
    let mut stale = Stale {
        documents,
        would_change,
        locals: HashSet::default(),
        data: HashSet::default(),
        passed: HashSet::default(),
    };
    for node in documents.graph().order() {
        match node {
            GraphNode::Local(number) => {
                if let Some((unit, _, local)) = documents.local(number)
                    && stale.is_read_by(unit, &local.value)
                {
                    stale.locals.insert(number);
                }
            }
            GraphNode::DataSource(number) => {
                if let Some((unit, _, source)) = documents.data_source(number)
                    && source
                        .filters
                        .iter()
                        .any(|filter| stale.is_read_by(unit, &filter.search))
                {
                    stale.data.insert(number);
                }
            }
            GraphNode::Input(number) => {
                if let Some(passed) = documents.passed_input(number)
                    && passed
                        .given
                        .is_some_and(|given| stale.is_read_by(passed.above, given))
                {
                    stale.passed.insert(number);
                }
            }
            _ => {}
        }
    }
    for (number, unit) in (0..).zip(documents.units()) {
        let blueprint = unit.blueprint();
        let kept = blueprint
            .exports
            .iter()
            .filter(|(_, export)| stale.is_read_by(number, &export.field));
        untouched
            .exports
            .extend(kept.map(|(name, _)| (number, name.clone())));
        if blueprint
            .metadata
            .as_ref()
            .is_some_and(|expr| stale.is_read_by(number, expr))
        {
            untouched.metadata.insert(number);
        }
    }
    untouched
}

/// The elements whose values would differ if the whole document were deployed.
struct Stale<'a> {
    documents: &'a Documents,
    would_change: HashSet<(u32, Option<u32>)>,
    locals: HashSet<u32>,
    data: HashSet<u32>,
    /// Inputs of children.
    passed: HashSet<u32>,
}

impl Stale<'_> {
    /// Whether an expression of a document reads one of these elements.
    fn is_read_by(&self, number: u32, expr: &Expr) -> bool {
        let unit = self.documents.unit(number);
        let blueprint = unit.blueprint();
        let mut reads = false;
        expr.references(&mut |reference| {
            reads |= match &reference.head {
                ReferenceHead::Local(name) => blueprint
                    .locals
                    .get_index_of(name)
                    .is_some_and(|at| self.locals.contains(&unit.local(at))),
                ReferenceHead::DataSource(name) => blueprint
                    .data_sources
                    .get_index_of(name)
                    .is_some_and(|at| self.data.contains(&unit.data_source(at))),
                ReferenceHead::Resource { name, .. } => {
                    blueprint.resources.get_index_of(name).is_some_and(|at| {
                        let position =
                            reference
                                .path
                                .first()
                                .and_then(|accessor| match accessor.kind {
                                    AccessorKind::Index(position) => u32::try_from(position).ok(),
                                    _ => None,
                                });
                        let number = unit.resource(at);
                        [None, position]
                            .iter()
                            .any(|at| self.would_change.contains(&(number, *at)))
                    })
                }
                ReferenceHead::Input(name) if number > 0 => blueprint
                    .inputs
                    .get_index_of(name)
                    .is_some_and(|at| self.passed.contains(&unit.number(NumberedKind::Input, at))),
                // The recursion into the child's export ends, because the nesting of documents is
                // limited.
                ReferenceHead::Child(name) => {
                    let child = blueprint
                        .children
                        .get_index_of(name)
                        .and_then(|at| unit.child(at));
                    let export = match reference.path.first().map(|accessor| &accessor.kind) {
                        Some(AccessorKind::Name(export)) => Some(export),
                        _ => None,
                    };
                    child.zip(export).is_some_and(|(child, export)| {
                        let export = self.documents.unit(child).blueprint().exports.get(export);
                        export.is_some_and(|export| self.is_read_by(child, &export.field))
                    })
                }
                _ => false,
            };
        });
        reads
    }
}
