//! The rules for blueprints (decisions/cartographer#validation), in the order in which upstream
//! tests them.

use std::collections::{BTreeMap, BTreeSet};

use super::fault::{Fault, FaultClass, ObjectPlace};
use super::selectors::{BLUEPRINT_SELECTOR, OPTION_SELECTOR, selector_identity};
use crate::kinds::CartoKind;

/// Adds the faults of a blueprint that selects owners of a kind.
pub(crate) fn blueprint_faults(
    blueprint: CartoKind,
    owner: CartoKind,
    spec: &ObjectPlace<'_>,
    faults: &mut Vec<Fault>,
) {
    if !spec.is_unknown() && BLUEPRINT_SELECTOR.are_empty(spec) {
        let fault = spec.fault(
            FaultClass::SelectorMissing,
            "the blueprint selects no owner",
        );
        faults.push(
            fault.helped("add `selector`, `selectorMatchExpressions` or `selectorMatchFields`"),
        );
    }
    let resources = spec.field("resources").items();
    param_faults(spec, faults);
    for resource in &resources {
        param_faults(resource, faults);
    }
    BLUEPRINT_SELECTOR.faults(spec, owner, faults);
    duplicate_resources(&resources, faults);
    for resource in &resources {
        duplicate_options(resource, faults);
    }
    for resource in &resources {
        template_ref_faults(resource, owner, faults);
    }
    for resource in &resources {
        pass_through_faults(blueprint, resource, faults);
    }
    match blueprint {
        CartoKind::ClusterSupplyChain => input_faults(&resources, faults),
        _ => deployment_faults(&resources, faults),
    }
}

fn param_faults(holder: &ObjectPlace<'_>, faults: &mut Vec<Fault>) {
    for param in holder.field("params").items() {
        let (value, default) = (param.field("value"), param.field("default"));
        if value.is_unknown() || default.is_unknown() || value.is_set() != default.is_set() {
            continue;
        }
        let found = if value.is_set() { "both" } else { "neither" };
        let name = param.field("name").quoted();
        let message = format!("the param {name} has {found} of `value` and `default`");
        let fault = param.fault(FaultClass::Param, message);
        faults.push(fault.helped("set exactly one of `value` and `default`, and not to null"));
    }
}

fn duplicate_resources(resources: &[ObjectPlace<'_>], faults: &mut Vec<Fault>) {
    let mut names = BTreeSet::new();
    for resource in resources {
        let name = resource.field("name");
        if name.text().is_some_and(|text| !names.insert(text)) {
            let message = format!("another resource has the name {}", name.quoted());
            let fault = name.fault(FaultClass::DuplicateResource, message);
            faults.push(fault.helped("give each resource a name of its own"));
        }
    }
}

fn duplicate_options(resource: &ObjectPlace<'_>, faults: &mut Vec<Fault>) {
    let mut names = BTreeSet::new();
    for option in resource.field("templateRef").field("options").items() {
        let name = option.field("name");
        match name.text() {
            Some(text) if !names.insert(text) => {
                let message = match text {
                    "" => "another option of the resource has no template name either".to_owned(),
                    _ => format!("another option of the resource names {}", name.quoted()),
                };
                faults.push(name.fault(FaultClass::DuplicateOption, message));
            }
            _ => {}
        }
    }
}

fn template_ref_faults(resource: &ObjectPlace<'_>, owner: CartoKind, faults: &mut Vec<Fault>) {
    let template = resource.field("templateRef");
    let (name, listed) = (template.field("name"), template.field("options"));
    let options = listed.items();
    if !name.is_unknown() && !listed.is_unknown() {
        let found = match (name.is_empty(), options.len()) {
            (false, 0) | (true, 2..) => None,
            (true, 1) => {
                let fault = listed.fault(FaultClass::SingleOption, "there is only one option");
                let help = "add an option, or name the template in `templateRef.name`";
                faults.push(fault.helped(help));
                None
            }
            (false, _) => Some("both"),
            (true, _) => Some("neither"),
        };
        if let Some(found) = found {
            let resource = resource.field("name").quoted();
            let message = format!("the resource {resource} has {found} of `name` and `options`");
            let fault = template.fault(FaultClass::TemplateRef, message);
            faults.push(fault.helped("set exactly one of `name` and `options`"));
        }
    }
    several_pass_through(&options, faults);
    for option in &options {
        option_faults(option, owner, faults);
    }
    duplicate_selectors(&options, faults);
}

fn several_pass_through(options: &[ObjectPlace<'_>], faults: &mut Vec<Fault>) {
    let is_passing = |option: &&ObjectPlace<'_>| !option.field("passThrough").is_empty();
    for option in options.iter().filter(is_passing).skip(1) {
        let message = "another option of the resource passes an input through";
        let place = option.field("passThrough");
        let fault = place.fault(FaultClass::SeveralPassThrough, message);
        faults.push(fault.helped("keep one option with `passThrough`"));
    }
}

fn option_faults(option: &ObjectPlace<'_>, owner: CartoKind, faults: &mut Vec<Fault>) {
    let (name, passes) = (option.field("name"), option.field("passThrough"));
    if !name.is_unknown() && !passes.is_unknown() && name.is_empty() == passes.is_empty() {
        let found = if name.is_empty() { "neither" } else { "both" };
        let message = format!("the option has {found} of `name` and `passThrough`");
        let fault = option.fault(FaultClass::OptionShape, message);
        faults.push(fault.helped("set exactly one of `name` and `passThrough`"));
    }
    let selector = option.field("selector");
    if !selector.is_unknown() && OPTION_SELECTOR.are_empty(&selector) {
        let message = "the selector of the option has no requirement";
        let fault = selector.fault(FaultClass::OptionSelectorEmpty, message);
        faults.push(fault.helped("add `matchLabels`, `matchExpressions` or `matchFields`"));
    }
    OPTION_SELECTOR.faults(&selector, owner, faults);
}

fn duplicate_selectors(options: &[ObjectPlace<'_>], faults: &mut Vec<Fault>) {
    let mut known: BTreeMap<String, &ObjectPlace<'_>> = BTreeMap::new();
    for option in options {
        let selector = option.field("selector");
        if selector.is_unknown() || OPTION_SELECTOR.are_empty(&selector) {
            // An empty selector is a fault of its own.
            continue;
        }
        let Some(identity) = selector_identity(&selector) else {
            continue;
        };
        let Some(first) = known.get(&identity) else {
            known.insert(identity, option);
            continue;
        };
        if first.field("name").text() == option.field("name").text() {
            continue;
        }
        let message = format!("{} has the same selector", option_name(first));
        let fault = selector.fault(FaultClass::DuplicateOptionSelector, message);
        faults.push(fault.helped("give each option a selector of its own"));
    }
}

fn option_name(option: &ObjectPlace<'_>) -> String {
    let name = option.field("name");
    match name.is_empty() {
        true => "the option that passes an input through".to_owned(),
        false => format!("the option {}", name.quoted()),
    }
}

fn pass_through_faults(blueprint: CartoKind, resource: &ObjectPlace<'_>, faults: &mut Vec<Fault>) {
    let template = resource.field("templateRef");
    let kind = template.field("kind");
    let Some(kind_name) = kind.text() else {
        return;
    };
    let inputs = CartoKind::of_name(kind_name)
        .filter(|kind| blueprint.templates().contains(kind))
        .and_then(CartoKind::inputs_field);
    let mut names: Option<Option<BTreeSet<&str>>> = None;
    for option in template.field("options").items() {
        let passes = option.field("passThrough");
        let Some(input) = passes.text().filter(|input| !input.is_empty()) else {
            continue;
        };
        let Some(field) = inputs else {
            let message = format!(
                "a resource of kind {} passes nothing through",
                kind.quoted()
            );
            faults.push(passes.fault(FaultClass::PassThroughKind, message));
            continue;
        };
        let names = names.get_or_insert_with(|| resource.field(field).known_names());
        if names.as_ref().is_some_and(|names| !names.contains(input)) {
            let message = format!("the resource has no input {} in `{field}`", passes.quoted());
            faults.push(passes.fault(FaultClass::PassThroughUnknown, message));
        }
    }
}

/// The three lists of inputs, each with the kind that a producer must have.
pub(crate) const INPUT_LISTS: [(&str, CartoKind); 3] = [
    ("sources", CartoKind::ClusterSourceTemplate),
    ("images", CartoKind::ClusterImageTemplate),
    ("configs", CartoKind::ClusterConfigTemplate),
];

/// The resources by name; the first one counts.
pub(crate) fn resources_by_name<'a, 'b>(
    resources: &'b [ObjectPlace<'a>],
) -> BTreeMap<&'a str, (usize, &'b ObjectPlace<'a>)> {
    let mut by_name = BTreeMap::new();
    for (at, resource) in resources.iter().enumerate() {
        if let Some(name) = resource.field("name").text() {
            by_name.entry(name).or_insert((at, resource));
        }
    }
    by_name
}

fn input_faults(resources: &[ObjectPlace<'_>], faults: &mut Vec<Fault>) {
    let by_name = resources_by_name(resources);
    let is_open = resources.iter().any(|one| one.field("name").is_unknown());
    for resource in resources {
        for (list, kind) in INPUT_LISTS {
            for input in resource.field(list).items() {
                let producer = input.field("resource");
                let Some(name) = producer.text() else {
                    continue;
                };
                match by_name.get(name) {
                    None if is_open => {}
                    None => faults.push(unknown_producer(&producer, FaultClass::InputUnknown)),
                    Some((_, found)) => {
                        faults.extend(wrong_kind(&producer, found, &[kind], FaultClass::InputKind));
                    }
                }
            }
        }
    }
}

/// The fault of an input from a resource that does not exist.
pub(crate) fn unknown_producer(producer: &ObjectPlace<'_>, class: FaultClass) -> Fault {
    let message = format!("there is no resource {}", producer.quoted());
    producer
        .fault(class, message)
        .helped("name a resource of the blueprint")
}

/// The fault of an input from a resource of another kind than these; `None` if it has one of them,
/// or if its kind is unknown.
pub(crate) fn wrong_kind(
    producer: &ObjectPlace<'_>,
    found: &ObjectPlace<'_>,
    kinds: &[CartoKind],
    class: FaultClass,
) -> Option<Fault> {
    let kind = found.field("templateRef").field("kind");
    let is_fitting = |name| kinds.iter().any(|kind| kind.name() == name);
    if kind.text().is_none_or(is_fitting) {
        return None;
    }
    let wanted: Vec<String> = kinds
        .iter()
        .map(|kind| format!("`{}`", kind.name()))
        .collect();
    let message = format!(
        "the resource {} is of kind {}, not {}",
        producer.quoted(),
        kind.quoted(),
        wanted.join(" or ")
    );
    Some(producer.fault(class, message))
}

fn deployment_faults(resources: &[ObjectPlace<'_>], faults: &mut Vec<Fault>) {
    let deploys = |resource: &ObjectPlace<'_>| {
        let kind = resource.field("templateRef").field("kind");
        kind.text()
            .map(|kind| kind == CartoKind::ClusterDeploymentTemplate.name())
    };
    for resource in resources {
        let (deployment, name) = (resource.field("deployment"), resource.field("name"));
        let class = FaultClass::Deployment;
        match (deploys(resource), deployment.is_set()) {
            (Some(true), false) => {
                let message = format!("the resource {} lacks `deployment`", name.quoted());
                let help = "name the resource to deploy in `deployment.resource`";
                faults.push(deployment.fault(class, message).helped(help));
            }
            (Some(false), true) if !deployment.is_unknown() => {
                let message = format!("the resource {} deploys nothing", name.quoted());
                let help = "remove `deployment`, or use a `ClusterDeploymentTemplate`";
                faults.push(deployment.fault(class, message).helped(help));
            }
            _ => {}
        }
    }
    for resource in resources {
        let configs = resource.field("configs");
        if deploys(resource) == Some(true) && configs.is_set() && !configs.is_unknown() {
            let name = resource.field("name").quoted();
            let message = format!("the resource {name} deploys and takes no `configs`");
            let fault = configs.fault(FaultClass::Deployment, message);
            faults.push(fault.helped("remove `configs`"));
        }
    }
}
