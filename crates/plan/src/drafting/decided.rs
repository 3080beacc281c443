//! The decisions about the levels that are done, and the information that later levels read from
//! them.

use std::sync::Arc;

use blueprint::{Address, Unknown, Value};
use dialect::rules::Reads;
use evaluate::resolve::{Evaluation, Outputs, RuledReadiness};
use provider::Verdict;
use state::StatusWord;

use crate::decision::Decision;
use crate::draft::Obstacle;
use crate::drafting::opinions::changing_fields;
use crate::drafting::preflight::PendingChanges;
use crate::linked::Linked;
use crate::model::{Action, HashSet, Reason};
use crate::record_ties::record_ties;

/// The decisions about the levels that are done.
#[derive(Default)]
pub(crate) struct DecidedSoFar {
    /// The decisions about resources, by the resource's position in the document.
    pub(crate) by_resource: Vec<Vec<Decision>>,
    /// The resources that this plan replaces. The reasons of their dependants name them.
    pub(crate) replaced: HashSet<Address>,
    /// The decisions about parts of links.
    pub(crate) parts: Vec<Decision>,
    /// The objects and resources that these decisions create or change.
    pub(crate) changing: PendingChanges,
    /// The obstacles to operations.
    pub(crate) obstacles: Vec<Obstacle>,
}

/// Sets the outputs that readers of a resource see, and stores the decision.
pub(crate) fn conclude(
    evaluation: &mut Evaluation,
    mut decision: Decision,
    decided: &mut DecidedSoFar,
) {
    follow_rule_for_readiness(evaluation, &mut decision);
    if matches!(decision.action, Action::Update | Action::Replace)
        && decision
            .changes
            .iter()
            .filter_map(|change| change.after.as_ref())
            .any(|after| waits_for_any(after, &decided.replaced))
    {
        decision.reasons.push(Reason::DependencyReplaced);
    }
    if decision.action == Action::Replace || decision.reasons.contains(&Reason::Vanished) {
        decided.replaced.insert(decision.address.clone());
    }
    let opinion = evaluation.answers.opinions.get(&decision.address);
    // The provider finds no difference, but the engine makes the call anyway.
    let is_overruled = decision.action == Action::Update
        && opinion.is_some_and(|opinion| opinion.verdict == Verdict::Same);
    // The provider has planned an update of the old object.
    let is_about_old_object = decision.action == Action::Replace
        && decision
            .ty
            .as_ref()
            .is_some_and(|ty| ty.capabilities.judges_replacements());
    let planned = opinion
        .filter(|_| !is_overruled && !is_about_old_object)
        .and_then(|opinion| opinion.outputs.as_ref());
    let outputs = match decision.action {
        Action::Create | Action::Replace | Action::Update if planned.is_some() => {
            let fields = planned.map(|planned| waiting_for(planned, &decision.address));
            Outputs::Planned(fields.unwrap_or_default(), Arc::default())
        }
        Action::Create | Action::Replace => Outputs::Unknown,
        Action::Update if is_overruled => {
            let fields = decision.ty.iter().flat_map(|ty| ty.schema.fields.iter());
            let computed = fields
                .filter(|(_, field)| field.computed)
                .map(|(name, _)| name.clone());
            Outputs::Planned(decision.outputs.clone(), computed.collect())
        }
        Action::Update if decision.only_recorded => Outputs::Known(decision.outputs.clone()),
        Action::Update => {
            let changing = changing_fields(&decision, evaluation.simulated, &evaluation.answers);
            Outputs::Planned(decision.outputs.clone(), changing.into())
        }
        // Others fill in the fields until the object is ready.
        Action::None if is_completed_later(&decision) => {
            let fields = decision.ty.iter().flat_map(|ty| ty.schema.fields.iter());
            let open = fields
                .filter(|(_, field)| !field.is_settable())
                .map(|(name, _)| name.clone());
            Outputs::Planned(decision.outputs.clone(), open.collect())
        }
        Action::None
        | Action::Move
        | Action::Import
        | Action::Delete
        | Action::Detach
        | Action::Link
        | Action::Relink
        | Action::Unlink
        | Action::Read => Outputs::Known(decision.outputs.clone()),
    };
    decided.changing.add(&decision, &evaluation.answers);
    if let Some(Linked::Part { link, part }) = decision.linked.as_deref() {
        if let Some(member) = evaluation.part_mut(*link, *part) {
            member.outputs = outputs;
        }
        decided.parts.push(decision);
        return;
    }
    let Some((index, position)) = decision.element else {
        return;
    };
    decision.record_differs |= is_declared_otherwise(evaluation, index, &decision);
    if let Some(member) = evaluation.member_mut(index, position) {
        member.outputs = outputs;
    }
    let list = &mut decided.by_resource[index as usize];
    if list.capacity() == 0 {
        list.reserve_exact(evaluation.resources[index as usize].count());
    }
    list.push(decision);
}

/// Marks an object that was ready as not ready, if it does not fulfil the document's rule now.
fn follow_rule_for_readiness(evaluation: &Evaluation, decision: &mut Decision) {
    let (Action::None, Some((resource, _))) = (decision.action, decision.element) else {
        return;
    };
    let verdict = evaluation.ruled_readiness(resource, &decision.desired, &decision.outputs);
    if let (Some(RuledReadiness::NotYet(_)), Some(record)) = (verdict, &mut decision.prior) {
        Arc::make_mut(record).status.word = StatusWord::Configured;
    }
}

/// Whether the object is not ready since the last operation, and is complete only when it is.
fn is_completed_later(decision: &Decision) -> bool {
    let of_type = decision
        .ty
        .as_ref()
        .is_some_and(|ty| ty.capabilities.complete_when_ready);
    let record = decision.prior.as_ref();
    of_type && record.is_some_and(|record| record.status.word == StatusWord::Configured)
}

/// Whether the name of a resource for plugins, or the options that its record keeps, are others than
/// recorded.
fn is_declared_otherwise(evaluation: &Evaluation, index: u32, decision: &Decision) -> bool {
    let Some(record) = decision.prior.as_deref() else {
        return false;
    };
    let documents = &evaluation.documents;
    let unit = documents
        .resource(index)
        .map(|(unit, ..)| documents.unit(unit));
    let is_named = unit.is_some_and(|unit| unit.checked.rules.reads == Reads::OnRequest);
    is_named
        && (evaluation.site_of(Some(index)).urn != record.origin.urn
            || record_ties(documents, index, Some(record)) != record.origin.ties)
}

/// The planned fields for dependants. Each unknown value in them waits for the resource.
fn waiting_for(planned: &Value, address: &Address) -> Value {
    match planned {
        Value::Unknown(unknown) => {
            let waits_for = vec![address.clone()];
            Value::Unknown(Arc::new(Unknown {
                ty: unknown.ty.clone(),
                waits_for,
            }))
        }
        Value::Secret(inner) => waiting_for(inner, address).secret(),
        Value::List(items) => Value::list(items.iter().map(|item| waiting_for(item, address))),
        Value::Set(items) => Value::Set(Arc::new(
            items
                .iter()
                .map(|item| waiting_for(item, address))
                .collect(),
        )),
        Value::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), waiting_for(value, address))),
        ),
        known => known.clone(),
    }
}

/// Whether anything unknown in a value waits for one of these addresses.
pub(crate) fn waits_for_any(value: &Value, addresses: &HashSet<Address>) -> bool {
    match value {
        Value::Unknown(unknown) => unknown
            .waits_for
            .iter()
            .any(|address| addresses.contains(address)),
        Value::Secret(inner) => waits_for_any(inner, addresses),
        Value::List(items) | Value::Set(items) => {
            items.iter().any(|item| waits_for_any(item, addresses))
        }
        Value::Map(entries) => entries
            .values()
            .any(|value| waits_for_any(value, addresses)),
        _ => false,
    }
}
