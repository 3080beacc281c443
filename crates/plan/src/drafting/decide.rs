//! Decides about the members of resources: compares the desired spec with the record and with the
//! object as read.
//!
//! Not here: the opinions of providers on a change (`opinions`), links (`links`).

use std::sync::Arc;

use blueprint::{Address, DeleteMode, Field, FieldPath, IndexMap, Kind, Name, Resource, Value};
use diag::Diagnostics;
use evaluate::answers::{Answers, PinnedRead};
use evaluate::question::ProviderInstance;
use evaluate::resolve::{Evaluation, Member, Members, RemovalPolicy};
use evaluate::world::World;
use provider::{Plans, ResourceType};
use state::{Record, Snapshot, StatusOp, StatusWord};
use understand::compare::{Change, differences, with_path_of};
use understand::links::contribution::{Contribution, carry_over};
use understand::partial::with_actual;
use understand::secret_marks::mark_fields;

use crate::addresses::SelectedAddresses;
use crate::decision::{Decision, Lineage, PrivateData, Protection};
use crate::drafting::decided::{DecidedSoFar, conclude};
use crate::drafting::external::settle_external;
use crate::drafting::groups::common_dependencies;
use crate::drafting::link_dependencies::{link_dependencies, mark_link_changes};
use crate::drafting::members::redraw;
use crate::drafting::opinions::ask_providers;
use crate::drafting::preflight;
use crate::drafting::verdicts::apply_opinion;
use crate::drift::prior_spec;
use crate::model::{Action, AddressSet, Reason};
use crate::policies::request_replacements;
use crate::provider_instances::{
    instance_of, replace_changed_instances, replace_managed_resources, replace_switched_resources,
};
use crate::target_set::TargetSet;
use crate::ties::request_tied_replacements;

/// The path that stands for the health of an object in `replaceOnChanges`.
const UNHEALTHY: &str = "#initerror";

/// The context in which the members of a level are decided.
pub(crate) struct LevelContext<'a> {
    pub(crate) snapshot: &'a Snapshot,
    /// Addresses behind intermediate values, by the name of the value.
    pub(crate) groups: &'a IndexMap<Name, Vec<Address>>,
    /// The resources that the user asked to replace.
    pub(crate) replace: &'a SelectedAddresses,
    /// The resources that the user excluded.
    pub(crate) excluded: &'a SelectedAddresses,
    /// The resources that the plan may change. The providers of others are not asked.
    pub(crate) reach: &'a TargetSet<'a>,
    pub(crate) world: &'a dyn World,
}

/// Decides about the members of a level's resources, asking their providers together.
pub(crate) async fn decide_level(
    evaluation: &mut Evaluation,
    resources: &[u32],
    with: LevelContext<'_>,
    decided: &mut DecidedSoFar,
    found: &mut Diagnostics,
) {
    let LevelContext {
        snapshot,
        groups,
        replace,
        excluded,
        reach,
        world,
    } = with;
    let documents = evaluation.documents.clone();
    let mut drafts = Vec::with_capacity(resources.len());
    let mut kept = Vec::new();
    let mut external = Vec::new();
    for index in resources {
        let Some((unit, _, resource)) = documents.resource(*index) else {
            continue;
        };
        let Some(ty) = documents.resource_type(*index) else {
            continue;
        };
        if resource.lifecycle.external.is_some() {
            external.push(*index);
            continue;
        }
        let provider = instance_of(evaluation, *index, snapshot, found);
        let common = common_dependencies(evaluation, &documents, unit, *index, resource, groups);
        let every: Vec<(Option<u32>, &Member)> = match &evaluation.resources[*index as usize] {
            Members::Single(member) => vec![(None, member.as_ref())],
            Members::Many(members) => members
                .iter()
                .enumerate()
                .filter_map(|(at, member)| Some((Some(at as u32), member.as_deref()?)))
                .collect(),
            _ => Vec::new(),
        };
        for (position, member) in every {
            let linked = link_dependencies(evaluation, *index, position);
            let dependencies = if linked.is_empty() {
                common.clone()
            } else {
                merged_dependencies(&common, linked)
            };
            let written = evaluation.links.written_into(&member.address);
            let wanted = DesiredMember {
                member,
                resource,
                ty,
                dependencies,
                provider: provider.clone(),
                written,
            };
            let mut decision = decide(wanted, snapshot, &evaluation.answers);
            mark_link_changes(evaluation, *index, position, &mut decision);
            decision.element = Some((*index, position));
            match excluded.covers(&decision.address) {
                true => kept.push(decision),
                false => drafts.push(decision),
            }
        }
    }
    settle_external(evaluation, &external, snapshot, world, found).await;
    request_replacements(&mut drafts, replace);
    replace_managed_resources(&mut drafts, &decided.replaced);
    request_tied_replacements(&mut drafts, &documents, &decided.replaced);
    replace_switched_resources(evaluation, &mut drafts, snapshot, world, found).await;
    replace_changed_instances(evaluation, &mut drafts, world, found).await;
    preflight::ask(
        evaluation,
        &mut drafts,
        &decided.changing,
        &mut decided.obstacles,
        world,
        found,
    )
    .await;
    keep_as_recorded(evaluation, &mut kept);
    let beyond = drafts.extract_if(.., |decision| !reach.covers(&decision.address));
    kept.extend(beyond);
    ask_providers(evaluation, &mut drafts, world, found).await;
    if !kept.is_empty() {
        drafts.append(&mut kept);
        drafts.sort_by_key(|decision| decision.element);
    }
    for mut decision in drafts {
        let Some((index, position)) = decision.element else {
            continue;
        };
        if decision.action == Action::Replace {
            if redraw(evaluation, index, position, snapshot, world, found).await {
                let resource = documents.resource(index);
                let ty = documents.resource_type(index);
                if let (Some((.., resource)), Some(ty), Some(member)) =
                    (resource, ty, evaluation.member(index, position))
                {
                    let written = evaluation.links.written_into(&member.address);
                    let dependencies = decision.dependencies.clone();
                    let provider = decision.provider.clone();
                    let wanted = DesiredMember {
                        member,
                        resource,
                        ty,
                        dependencies,
                        provider,
                        written,
                    };
                    let again = decide(wanted, snapshot, &evaluation.answers);
                    decision =
                        redecided_replacement(decision, again, &evaluation.answers, resource);
                }
            }
            decision.may_replace &= !is_redrawn(evaluation, &decision.address, snapshot);
        }
        conclude(evaluation, decision, decided);
    }
}

/// Decides that excluded resources stay as they are recorded, without asking their providers. Others
/// read their recorded values. One that does not exist yet remains a create, which is left out later.
fn keep_as_recorded(evaluation: &mut Evaluation, kept: &mut [Decision]) {
    for decision in kept {
        let record = decision.prior.clone();
        let existing = record.filter(|record| !record.id.is_empty() && record.is_managed());
        let (Some(record), Some((index, position))) = (existing, decision.element) else {
            continue;
        };
        decision.action = Action::None;
        decision.reasons.clear();
        decision.changes.clear();
        decision.may_replace = false;
        decision.only_recorded = false;
        decision.record_differs = false;
        decision.desired = record.inputs.clone();
        if let Some(member) = evaluation.member_mut(index, position) {
            member.spec = record.inputs.clone();
            member.metadata = record.metadata.clone();
        }
    }
}

/// A replacement that is decided again, because its memoised values were drawn again
/// (decisions/blueprint#memoised-values) and its spec has changed. The reasons of the replacement
/// stay.
pub(crate) fn redecided_replacement(
    first: Decision,
    mut again: Decision,
    answers: &Answers,
    resource: &Resource,
) -> Decision {
    again.element = first.element;
    if let Some(opinion) = answers.opinions.get(&again.address) {
        apply_opinion(&mut again, opinion, Some(resource));
    }
    if again.action != Action::Replace {
        again.reasons = first.reasons;
        again.action = first.action;
        again.only_recorded = false;
    }
    again.private = first.private;
    again
}

/// Whether memoised values of a resource differ from the former ones, although the document
/// requests them as before. Such a resource is always replaced.
pub(crate) fn is_redrawn(evaluation: &Evaluation, address: &Address, snapshot: &Snapshot) -> bool {
    let sites = evaluation.sites.get(address.to_string().as_str());
    sites.into_iter().flatten().any(|site| {
        let before = snapshot.memoised.get(site);
        let now = evaluation.answers.memoised.get(site);
        before.zip(now).is_some_and(|(before, now)| {
            before.fingerprint == now.fingerprint && before.value != now.value
        })
    })
}

pub(crate) fn merged_dependencies(common: &[Address], more: Vec<Address>) -> Vec<Address> {
    common
        .iter()
        .cloned()
        .chain(more)
        .collect::<AddressSet>()
        .into_iter()
        .collect()
}

/// The desired state of a member.
pub(crate) struct DesiredMember<'a> {
    pub(crate) member: &'a Member,
    pub(crate) resource: &'a Resource,
    pub(crate) ty: &'a Arc<ResourceType>,
    pub(crate) dependencies: Vec<Address>,
    /// The configuration of its provider, if a resource declares it.
    pub(crate) provider: Option<Arc<ProviderInstance>>,
    /// The values that links write into it.
    pub(crate) written: &'a [Contribution],
}

/// Compares the desired state of a member with its record and with the object as read.
pub(crate) fn decide(
    wanted: DesiredMember<'_>,
    snapshot: &Snapshot,
    answers: &Answers,
) -> Decision {
    let DesiredMember {
        resource,
        ty,
        written,
        ..
    } = wanted;
    let address = &wanted.member.address;
    let record = snapshot.records.get(address);
    let seen = answers.seen.get(address);
    let mut decision = initial_decision(wanted, record);
    // An object that was only read so far stays as it is: the resource gets one of its own.
    let is_managed = record.is_none_or(|record| record.is_managed());
    let existing = record.filter(|record| !record.id.is_empty() && is_managed);
    let Some(record) = existing.filter(|_| !matches!(seen, Some(PinnedRead::Absent))) else {
        decision.reasons = vec![match (existing, record) {
            (Some(_), _) => Reason::Vanished,
            (None, Some(_)) if is_managed => Reason::FailedBefore,
            (None, _) => Reason::New,
        }];
        differences(
            &ty.schema,
            &Value::Null,
            &decision.desired,
            &mut decision.changes,
        );
        decision
            .changes
            .iter_mut()
            .for_each(|change| change.forces = false);
        return decision;
    };
    let seen = match seen {
        Some(PinnedRead::Present {
            fields,
            private,
            expired,
            ..
        }) => Some((fields, private, expired)),
        _ => None,
    };
    decision.private.now = seen
        .map_or(&record.private, |(_, private, _)| private)
        .clone();
    decision.private.expired = seen.and_then(|(_, _, expired)| expired.clone());
    decision.outputs = match seen {
        Some((fields, ..)) => mark_fields(&ty.schema, fields, &record.outputs),
        None => record.outputs.clone(),
    };
    if record.type_name != ty.name {
        decision.action = Action::Replace;
        decision.reasons = vec![Reason::TypeChanged];
        differences(
            &ty.schema,
            &record.inputs,
            &decision.desired,
            &mut decision.changes,
        );
        return decision;
    }
    compare(
        &mut decision,
        resource,
        record,
        seen.map(|(fields, ..)| fields),
        written,
    );
    decision
}

/// Compares the desired spec with the record and the fields as read, and sets the action, its
/// reasons and changes.
fn compare(
    decision: &mut Decision,
    resource: &Resource,
    record: &Record,
    seen: Option<&Value>,
    written: &[Contribution],
) {
    let Some(ty) = decision.ty.clone() else {
        return;
    };
    let ignored = &resource.lifecycle.ignore_changes;
    let (mut prior, drifted) = prior_spec(&ty, record, seen, ignored, written);
    if ty.capabilities.partial {
        let actual = decision.outputs.clone();
        let object = Field::of(Kind::Object(ty.schema.clone()));
        prior = with_actual(Some(&object), &prior, &decision.desired, &actual);
    }
    for path in ignored {
        decision.desired = with_path_of(&decision.desired, &prior, path);
    }
    let unmerged = decision.desired.clone();
    if !written.is_empty() {
        // Only links change the values that links have written.
        decision.desired = carry_over(&decision.desired, written.iter(), &prior, &unmerged);
    }
    differences(&ty.schema, &prior, &decision.desired, &mut decision.changes);
    let forcing: Vec<&Change> = decision
        .changes
        .iter()
        .filter(|change| change.forces)
        .collect();
    let failed = matches!(
        record.status.word,
        StatusWord::Failed | StatusWord::Interrupted
    );
    // A provider that plans every change may repair the existing object.
    let repairs = ty.capabilities.plans == Plans::Always && !record.unhealthy.is_empty();
    // A create that failed may have left an incomplete object, and the user may ask to replace any
    // object whose last operation failed.
    let repairs_update = ty.capabilities.repairs_updates
        && record.status.op == StatusOp::Update
        && record.unhealthy.is_empty();
    let is_broken = failed
        && (record.status.op == StatusOp::Create && !repairs
            || resource.lifecycle.replace_if_failed && !repairs_update)
        || !record.unhealthy.is_empty() && replaces_if_unhealthy(resource);
    let mut reasons = Vec::new();
    if !forcing.is_empty() {
        // If each forcing value is still unknown, it may turn out equal: `apply` decides then.
        decision.may_replace = forcing
            .iter()
            .all(|change| change.after.as_ref().is_some_and(Value::has_unknown));
        decision.action = Action::Replace;
        reasons.push(Reason::FieldForces);
    } else if decision.private.expired.is_some() {
        decision.action = Action::Replace;
        reasons.push(Reason::Drifted);
    } else if is_broken {
        decision.action = Action::Replace;
        reasons.push(Reason::FailedBefore);
    } else if !decision.changes.is_empty() || failed || drifted {
        decision.action = Action::Update;
    } else {
        decision.action = Action::None;
    }
    // Further reasons, besides the one that decided the action.
    if decision.action == Action::Update
        && is_changed_by_document(&ty, decision, record, &unmerged, written)
    {
        reasons.push(Reason::Changed);
    }
    if decision.action != Action::None {
        if drifted && !reasons.contains(&Reason::Drifted) {
            reasons.push(Reason::Drifted);
        }
        if failed && !reasons.contains(&Reason::FailedBefore) {
            reasons.push(Reason::FailedBefore);
        }
    }
    // A new object has no contributions of links yet: their steps write them again.
    if decision.action == Action::Replace {
        decision.desired = unmerged;
    }
    decision.reasons = reasons;
    decision.record_differs = decision.differs_from(record);
}

/// Whether the document says that an unhealthy object is replaced.
fn replaces_if_unhealthy(resource: &Resource) -> bool {
    let mut paths = resource.lifecycle.replace_on_changes.iter();
    let unhealthy = FieldPath::field(UNHEALTHY);
    paths.any(|path| *path == unhealthy)
}

/// Whether the document itself changes the inputs that were last sent. Values that links have
/// written do not count.
fn is_changed_by_document(
    ty: &ResourceType,
    decision: &Decision,
    record: &Record,
    unmerged: &Value,
    written: &[Contribution],
) -> bool {
    let mut changes = Vec::new();
    if written.is_empty() {
        differences(&ty.schema, &record.inputs, &decision.desired, &mut changes);
    } else {
        let with_links = carry_over(unmerged, written.iter(), &record.inputs, unmerged);
        differences(&ty.schema, &record.inputs, &with_links, &mut changes);
    }
    !changes.is_empty()
}

/// The decision to create a member, before anything is compared.
fn initial_decision(wanted: DesiredMember<'_>, record: Option<&Arc<Record>>) -> Decision {
    let DesiredMember {
        member,
        resource,
        ty,
        dependencies,
        provider,
        ..
    } = wanted;
    let address = &member.address;
    Decision {
        address: address.clone(),
        element: None,
        linked: None,
        type_name: ty.name.clone(),
        ty: Some(ty.clone()),
        action: Action::Create,
        reasons: vec![Reason::New],
        changes: Vec::new(),
        hidden: resource
            .ties
            .as_ref()
            .map(|ties| ties.hidden.clone())
            .unwrap_or_default(),
        replace_order: match resource.lifecycle.replace_order {
            // The place of such an object is unique: a new one cannot be made beside it.
            Some(_) if ty.capabilities.partial => ty.replace_order,
            Some(order) => order,
            None => ty.replace_order,
        },
        may_replace: false,
        condition_open: member.condition_open,
        only_recorded: false,
        record_differs: false,
        desired: member.spec.clone(),
        metadata: member.metadata.clone(),
        prior: record.cloned(),
        outputs: Value::Null,
        private: PrivateData::default(),
        provider,
        dependencies,
        protection: Protection {
            retain: resource.lifecycle.retain || member.removal == RemovalPolicy::Retain,
            protect: resource.lifecycle.protect || member.protect,
            delete_mode: match member.removal {
                RemovalPolicy::Snapshot => DeleteMode::SnapshotFirst,
                RemovalPolicy::Delete | RemovalPolicy::Retain => DeleteMode::Delete,
            },
            restricted: resource.lifecycle.restricted,
        },
        lineage: Lineage {
            made_from: resource
                .made_from
                .as_ref()
                .map(|name| abstract_source(address, name)),
            moved_from: None,
        },
        rolling: Default::default(),
        span: resource.span,
    }
}

/// The abstract resource behind a resource, in the notation of addresses.
pub(crate) fn abstract_source(address: &Address, name: &Name) -> Name {
    if address.path.is_empty() {
        name.clone()
    } else {
        Address::inside(&address.path, name.clone())
            .to_string()
            .into()
    }
}
