//! What upstream accepts although it cannot work or works otherwise here
//! (decisions/cartographer#the-setting-compat).

use std::collections::BTreeSet;

use super::blueprint_rules::{INPUT_LISTS, resources_by_name, unknown_producer, wrong_kind};
use super::cycles::components;
use super::fault::{Fault, FaultClass, ObjectPlace};
use super::paths::{template_mistake, wrapped_mistake};
use super::selectors::{BLUEPRINT_SELECTOR, OPTION_SELECTOR, is_selectable};
use super::template_rules::{StatedLifecycle, retention_fault};
use crate::kinds::CartoKind;

/// Adds the lints of a template: a retention policy beside a health rule or without a lifecycle.
pub(crate) fn template_lints(spec: &ObjectPlace<'_>, faults: &mut Vec<Fault>) {
    let class = FaultClass::RetentionOnMutable;
    if spec.field("healthRule").is_set() {
        faults.extend(retention_fault(spec, StatedLifecycle::Mutable, class));
    }
    faults.extend(retention_fault(spec, StatedLifecycle::Omitted, class));
}

/// Adds the lints of a blueprint: order and names of inputs, keys of field requirements, and field
/// requirements that an unset field fulfils.
pub(crate) fn blueprint_lints(
    blueprint: CartoKind,
    spec: &ObjectPlace<'_>,
    faults: &mut Vec<Fault>,
) {
    let Some(owner) = blueprint.owner() else {
        return;
    };
    requirement_lints(&spec.field(BLUEPRINT_SELECTOR.fields), owner, faults);
    let resources = spec.field("resources").items();
    for resource in &resources {
        for option in resource.field("templateRef").field("options").items() {
            let fields = option.field("selector").field(OPTION_SELECTOR.fields);
            requirement_lints(&fields, owner, faults);
        }
        duplicate_inputs(resource, faults);
    }
    if blueprint == CartoKind::ClusterDelivery {
        delivery_inputs(&resources, faults);
    }
    order_lints(&resources, faults);
}

fn requirement_lints(requirements: &ObjectPlace<'_>, owner: CartoKind, faults: &mut Vec<Fault>) {
    for requirement in requirements.items() {
        let key = requirement.field("key");
        let Some(path) = key.text().filter(|path| is_selectable(path, owner)) else {
            continue;
        };
        if template_mistake(path).is_some() {
            continue;
        }
        if let Some(mistake) = wrapped_mistake(path) {
            let reason = key.reason(&mistake.message);
            let message = format!("{} cannot be evaluated{reason}", key.quoted());
            let mut fault = key.fault(FaultClass::SelectorKey, message);
            fault.inside = Some(mistake.span);
            faults.push(fault.helped("correct the path; no owner fulfils the requirement"));
        }
        if let Some(effect) = unset_effect(&requirement, path, owner) {
            let message = format!("an unset {} {effect}", key.quoted());
            let fault = key.fault(FaultClass::ZeroValueExists, message);
            faults.push(fault.helped("select by a label or a param that owners set"));
        }
    }
}

/// Fields that every owner has: an empty text or map where the owner does not set them.
const PLAIN_FIELDS: [&str; 5] = [
    "spec.serviceAccountName",
    "metadata.namespace",
    "metadata.generateName",
    "metadata.uid",
    "metadata.resourceVersion",
];

/// Fields that are null where the owner sets what is around them alone.
const OPTIONAL_FIELDS: [&str; 12] = [
    "spec.source",
    "spec.source.git",
    "spec.source.git.url",
    "spec.source.git.ref",
    "spec.source.git.ref.branch",
    "spec.source.git.ref.tag",
    "spec.source.git.ref.commit",
    "spec.source.image",
    "spec.source.subPath",
    "spec.params",
    "metadata.labels",
    "metadata.annotations",
];

/// The further ones of a workload.
const OPTIONAL_OF_WORKLOADS: [&str; 5] = [
    "spec.image",
    "spec.env",
    "spec.build.env",
    "spec.resources",
    "spec.serviceClaims",
];

/// What a requirement makes of a field that the owner does not set, if that may surprise.
fn unset_effect(
    requirement: &ObjectPlace<'_>,
    path: &str,
    owner: CartoKind,
) -> Option<&'static str> {
    let of_workload = owner == CartoKind::Workload;
    let is_plain = PLAIN_FIELDS.contains(&path) || (of_workload && path == "spec.build");
    let is_optional =
        OPTIONAL_FIELDS.contains(&path) || (of_workload && OPTIONAL_OF_WORKLOADS.contains(&path));
    match requirement.field("operator").text()? {
        "Exists" if is_plain => Some("exists with an empty value, so `Exists` always holds"),
        "DoesNotExist" if is_plain => {
            Some("exists with an empty value, so `DoesNotExist` never holds")
        }
        "NotIn" if is_plain => Some("exists with an empty value, so `NotIn` holds"),
        "NotIn" if is_optional => Some("exists as null, so `NotIn` holds"),
        _ => None,
    }
}

fn duplicate_inputs(resource: &ObjectPlace<'_>, faults: &mut Vec<Fault>) {
    for (list, _) in INPUT_LISTS {
        let mut names = BTreeSet::new();
        for input in resource.field(list).items() {
            let name = input.field("name");
            if name.text().is_some_and(|text| !names.insert(text)) {
                let quoted = name.quoted();
                let message = format!("another input in `{list}` has the name {quoted}");
                let fault = name.fault(FaultClass::DuplicateInput, message);
                faults.push(fault.helped("give each input a name of its own"));
            }
        }
    }
}

/// The kinds whose output is a source: a deployment passes its own on.
const SOURCES: [CartoKind; 2] = [
    CartoKind::ClusterSourceTemplate,
    CartoKind::ClusterDeploymentTemplate,
];

/// Rule 2: upstream does not check the inputs of deliveries.
fn delivery_inputs(resources: &[ObjectPlace<'_>], faults: &mut Vec<Fault>) {
    let by_name = resources_by_name(resources);
    let is_open = resources.iter().any(|one| one.field("name").is_unknown());
    let class = FaultClass::UnknownInput;
    let mut check = |producer: &ObjectPlace<'_>, kinds: &[CartoKind]| {
        let Some(name) = producer.text() else {
            return;
        };
        match by_name.get(name) {
            None if is_open => {}
            None => faults.push(unknown_producer(producer, class)),
            Some((_, found)) => faults.extend(wrong_kind(producer, found, kinds, class)),
        }
    };
    for resource in resources {
        for (list, kind) in INPUT_LISTS {
            let own = [kind];
            let kinds = match kind {
                CartoKind::ClusterSourceTemplate => SOURCES.as_slice(),
                _ => own.as_slice(),
            };
            for input in resource.field(list).items() {
                check(&input.field("resource"), kinds);
            }
        }
        let deployment = resource.field("deployment");
        if deployment.is_set() {
            check(&deployment.field("resource"), &SOURCES);
        }
    }
}

/// The need of a resource for another one.
struct Need<'a> {
    producer: usize,
    /// The field that names the producer.
    place: ObjectPlace<'a>,
}

fn needs<'a>(resources: &[ObjectPlace<'a>]) -> Vec<Vec<Need<'a>>> {
    let by_name = resources_by_name(resources);
    let of_resource = |resource: &ObjectPlace<'a>| {
        let mut places: Vec<ObjectPlace<'a>> = Vec::new();
        for (list, _) in INPUT_LISTS {
            places.extend(resource.field(list).items());
        }
        places.push(resource.field("deployment"));
        let need = |place: ObjectPlace<'a>| {
            let place = place.field("resource");
            let (producer, _) = by_name.get(place.text()?)?;
            let producer = *producer;
            place.is_set().then_some(Need { producer, place })
        };
        places.into_iter().filter_map(need).collect()
    };
    resources.iter().map(of_resource).collect()
}

/// Rule 1: cycles, and inputs that upstream never fills because their producer is further down.
fn order_lints(resources: &[ObjectPlace<'_>], faults: &mut Vec<Fault>) {
    let needs = needs(resources);
    let edges: Vec<Vec<usize>> = needs
        .iter()
        .map(|needs| needs.iter().map(|need| need.producer).collect())
        .collect();
    let components = components(&edges);
    let mut reported = BTreeSet::new();
    for (at, needs) in needs.iter().enumerate() {
        let name = resources[at].field("name").quoted();
        for need in needs {
            let producer = need.place.quoted();
            if need.producer == at {
                let message = format!("the resource {name} needs its own output");
                faults.push(need.place.fault(FaultClass::SelfReference, message));
            } else if components[need.producer] == components[at] {
                if reported.insert(components[at]) {
                    let message = format!("the resources {name} and {producer} need each other");
                    let fault = need.place.fault(FaultClass::InputCycle, message);
                    faults.push(fault.helped("remove one of the inputs of the cycle"));
                }
            } else if need.producer > at {
                let message = format!("the resource {producer} is further down the list");
                let fault = need.place.fault(FaultClass::InputAfterUse, message);
                faults.push(fault.helped(format!("move {producer} above {name}")));
            }
        }
    }
}
