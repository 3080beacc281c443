//! What the owners among the objects show: which blueprint and options match them, and parameters
//! that nothing reads.

use std::collections::{BTreeMap, BTreeSet};

use blueprint::Value;

use super::object_set::{ObjectSet, SetFault, SetObject};
use super::template_tags::{TagsOfSet, names_in, params_of_template};
use super::template_uses::TemplateUses;
use crate::compat::Compat;
use crate::kinds::{CartoKind, KindFamily};
use crate::selection::{
    OptionFailureClass, RefusedSelector, Selection, choose_template, select_blueprint,
};
use crate::validation::{FaultClass, ObjectPlace};

/// Adds the faults of owners.
pub(crate) fn check(
    set: &ObjectSet<'_>,
    tags: &TagsOfSet<'_>,
    uses: &TemplateUses<'_, '_>,
    found: &mut Vec<SetFault>,
) {
    let mut blueprints: BTreeMap<CartoKind, Vec<&SetObject<'_>>> = BTreeMap::new();
    for blueprint in set.of_family(KindFamily::Blueprint) {
        if let Some(owner) = blueprint.kind.owner() {
            blueprints.entry(owner).or_default().push(blueprint);
        }
    }
    let known = known_params(set, tags, uses);
    for owner in set.of_family(KindFamily::Owner) {
        let Some(candidates) = blueprints.get(&owner.kind) else {
            continue;
        };
        let manifests: Vec<&Value> = candidates.iter().map(|one| one.object).collect();
        let selection = select_blueprint(owner.object, &manifests, Compat::Ours);
        match selection.matches() {
            [] if may_match(owner, candidates) => {}
            [] => found.extend(unmatched(owner, &selection)),
            [one] => {
                if let Some(blueprint) = candidates.get(*one) {
                    option_faults(owner, blueprint, found);
                    if let Some(Some(known)) = known.get(&blueprint.at) {
                        unused_params(owner, known, found);
                    }
                }
            }
            several => {
                let names: Vec<String> = several
                    .iter()
                    .filter_map(|at| candidates.get(*at))
                    .map(|blueprint| blueprint.name().quoted())
                    .collect();
                let message = format!("{} match the owner equally well", names.join(", "));
                let place = owner.place.field("metadata");
                let fault = place.fault(FaultClass::SelectorTie, message);
                found.push(owner.with(fault.helped("add a requirement to one of the selectors")));
            }
        }
    }
}

/// Whether a blueprint may match an owner once everything is known.
fn may_match(owner: &SetObject<'_>, blueprints: &[&SetObject<'_>]) -> bool {
    let is_open = |place: ObjectPlace<'_>| place.value().is_some_and(Value::has_unknown);
    let selects_unknown = |blueprint: &&SetObject<'_>| {
        let spec = blueprint.spec();
        spec.is_unknown()
            || SELECTOR_FIELDS
                .iter()
                .any(|field| is_open(spec.field(field)))
    };
    is_open(owner.place.field("metadata"))
        || is_open(owner.spec())
        || blueprints.iter().any(selects_unknown)
}

/// The parts of the selector of a blueprint.
const SELECTOR_FIELDS: [&str; 3] = [
    "selector",
    "selectorMatchExpressions",
    "selectorMatchFields",
];

fn unmatched(owner: &SetObject<'_>, selection: &Selection) -> Option<SetFault> {
    // A selector that cannot be evaluated may match once its fault is corrected.
    let refused: &[RefusedSelector] = &selection.refused;
    if !refused.is_empty() {
        return None;
    }
    let kind = owner.kind.blueprint()?.name();
    let message = format!("no `{kind}` here selects {}", owner.name().quoted());
    let place = owner.place.field("metadata");
    let fault = place.fault(FaultClass::NoBlueprint, message);
    Some(owner.with(fault.helped("set the labels and fields that a blueprint selects")))
}

fn option_faults(owner: &SetObject<'_>, blueprint: &SetObject<'_>, found: &mut Vec<SetFault>) {
    let entries = blueprint.spec().field("resources");
    for resource in entries.items() {
        let Some(entry) = resource.value() else {
            continue;
        };
        let Err(failure) = choose_template(owner.object, entry, Compat::Ours) else {
            continue;
        };
        if failure.class != OptionFailureClass::TemplateOptionsMatchError {
            continue;
        }
        let class = match failure.options.is_empty() {
            true => FaultClass::NoOption,
            false => FaultClass::SelectorTie,
        };
        let message = format!(
            "for the resource {} of {}, {}",
            resource.field("name").quoted(),
            blueprint.name().quoted(),
            failure.message
        );
        let place = owner.place.field("metadata");
        found.push(owner.with(place.fault(class, message)));
    }
}

/// The parameters that a blueprint and its templates declare or read, by the position of the
/// blueprint; `None` if its templates may read any.
type KnownParams<'p> = BTreeMap<usize, Option<BTreeSet<&'p str>>>;

fn known_params<'p>(
    set: &'p ObjectSet<'_>,
    tags: &'p TagsOfSet<'_>,
    uses: &'p TemplateUses<'_, '_>,
) -> KnownParams<'p> {
    let of_template = |template: &'p SetObject<'_>| {
        let names = params_of_template(template, tags);
        (template.at, names)
    };
    let templates: KnownParams<'p> = set
        .of_family(KindFamily::Template)
        .map(of_template)
        .collect();
    let mut known = KnownParams::new();
    for blueprint in set.of_family(KindFamily::Blueprint) {
        let spec = blueprint.spec();
        let mut names: BTreeSet<&str> = names_in(&spec.field("params")).into_iter().collect();
        for resource in spec.field("resources").items() {
            names.extend(names_in(&resource.field("params")));
        }
        known.insert(blueprint.at, Some(names));
    }
    for one in &uses.found {
        let names = known.entry(one.blueprint.at).or_default();
        match (names.as_mut(), templates.get(&one.template.at)) {
            (Some(names), Some(Some(more))) => names.extend(more),
            _ => *names = None,
        }
    }
    for at in uses.open() {
        known.insert(at, None);
    }
    known
}

fn unused_params(owner: &SetObject<'_>, known: &BTreeSet<&str>, found: &mut Vec<SetFault>) {
    for param in owner.spec().field("params").items() {
        let name = param.field("name");
        if name.text().is_none_or(|text| known.contains(text)) {
            continue;
        }
        let message = format!("nothing reads the param {}", name.quoted());
        let fault = name.fault(FaultClass::UnusedParam, message);
        found.push(owner.with(fault.helped("remove the param, or correct its name")));
    }
}
