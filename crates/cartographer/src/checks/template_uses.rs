//! Which templates are used by which resources.

use std::collections::BTreeSet;

use blueprint::Value;

use super::object_set::{ObjectSet, SetFault, SetObject};
use crate::kinds::{API_VERSION, CartoKind, KindFamily};
use crate::validation::{FaultClass, ObjectPlace};

/// The use of a template that is at hand, by a resource of a blueprint.
pub(crate) struct TemplateUse<'s, 'a> {
    pub(crate) blueprint: &'s SetObject<'a>,
    pub(crate) resource: ObjectPlace<'a>,
    pub(crate) template: &'s SetObject<'a>,
}

/// The templates that an object names.
pub(crate) struct TemplateUses<'s, 'a> {
    /// The uses of templates that are at hand.
    pub(crate) found: Vec<TemplateUse<'s, 'a>>,
    /// The run templates that are named, by position.
    run_templates: BTreeSet<usize>,
    /// The names that lead to no object, each with the object that has it.
    missing: Vec<(&'s SetObject<'a>, ObjectPlace<'a>, CartoKind)>,
    /// Whether a name is not known yet, so that any template may be used.
    is_uncertain: bool,
}

impl TemplateUses<'_, '_> {
    /// The positions of the objects that name a template that is not at hand.
    pub(crate) fn open(&self) -> impl Iterator<Item = usize> {
        self.missing.iter().map(|(object, _, _)| object.at)
    }
}

/// Finds the uses of templates.
pub(crate) fn uses<'s, 'a>(set: &'s ObjectSet<'a>) -> TemplateUses<'s, 'a> {
    let mut uses = TemplateUses {
        found: Vec::new(),
        run_templates: BTreeSet::new(),
        missing: Vec::new(),
        is_uncertain: false,
    };
    for blueprint in set.of_family(KindFamily::Blueprint) {
        let resources = blueprint.spec().field("resources");
        uses.is_uncertain |= resources.is_unknown();
        for resource in resources.items() {
            of_resource(set, blueprint, &resource, &mut uses);
        }
    }
    for runnable in set.of_family(KindFamily::Runnable) {
        of_runnable(set, runnable, &runnable.place, &mut uses);
    }
    for template in set.of_family(KindFamily::Template) {
        // A template that stamps a runnable names a run template.
        let stamped = template.spec().field("template");
        if stamped.field("apiVersion").text() == Some(API_VERSION)
            && stamped.field("kind").text() == Some(CartoKind::Runnable.name())
        {
            of_runnable(set, template, &stamped, &mut uses);
        }
    }
    uses
}

fn of_resource<'s, 'a>(
    set: &'s ObjectSet<'a>,
    blueprint: &'s SetObject<'a>,
    resource: &ObjectPlace<'a>,
    uses: &mut TemplateUses<'s, 'a>,
) {
    let reference = resource.field("templateRef");
    uses.is_uncertain |= reference.value().is_some_and(Value::has_unknown);
    let kind = reference.field("kind").text().and_then(CartoKind::of_name);
    let Some(kind) = kind.filter(|kind| kind.family() == KindFamily::Template) else {
        return;
    };
    let options = reference.field("options").items();
    let names = options.iter().map(|option| option.field("name"));
    for name in names.chain([reference.field("name")]) {
        let Some(text) = name.text().filter(|text| !text.is_empty()) else {
            continue;
        };
        match set.named(kind, text) {
            Some(template) => uses.found.push(TemplateUse {
                blueprint,
                resource: resource.clone(),
                template,
            }),
            None => uses.missing.push((blueprint, name, kind)),
        }
    }
}

fn of_runnable<'s, 'a>(
    set: &'s ObjectSet<'a>,
    object: &'s SetObject<'a>,
    runnable: &ObjectPlace<'a>,
    uses: &mut TemplateUses<'s, 'a>,
) {
    let name = runnable.field("spec").field("runTemplateRef").field("name");
    uses.is_uncertain |= name.is_unknown();
    let is_plain = |text: &&str| !text.is_empty() && !text.contains("$(");
    let Some(text) = name.text().filter(is_plain) else {
        return;
    };
    match set.named(CartoKind::ClusterRunTemplate, text) {
        Some(template) => {
            uses.run_templates.insert(template.at);
        }
        None => uses
            .missing
            .push((object, name, CartoKind::ClusterRunTemplate)),
    }
}

/// Adds the faults of names without an object, and of templates without a use.
pub(crate) fn check(set: &ObjectSet<'_>, uses: &TemplateUses<'_, '_>, found: &mut Vec<SetFault>) {
    for (object, name, kind) in &uses.missing {
        let message = format!("there is no `{}` {} here", kind.name(), name.quoted());
        let fault = name.fault(FaultClass::UnknownTemplate, message);
        found.push(object.with(fault.helped("add the template, or correct its name")));
    }
    if uses.is_uncertain {
        return;
    }
    let used: BTreeSet<usize> = uses.found.iter().map(|one| one.template.at).collect();
    let has = |family| set.of_family(family).next().is_some();
    if has(KindFamily::Blueprint) {
        for template in set.of_family(KindFamily::Template) {
            if !used.contains(&template.at) {
                found.push(unused(template));
            }
        }
    }
    // A template of ytt can stamp a runnable that nobody sees.
    let has_ytt = set
        .of_family(KindFamily::Template)
        .any(|template| template.spec().field("ytt").is_set());
    if !has_ytt && (has(KindFamily::Runnable) || has(KindFamily::Template)) {
        for template in set.of_family(KindFamily::RunTemplate) {
            if !uses.run_templates.contains(&template.at) {
                found.push(unused(template));
            }
        }
    }
}

fn unused(template: &SetObject<'_>) -> SetFault {
    let name = template.name();
    let message = format!("nothing here uses the template {}", name.quoted());
    template.with(name.fault(FaultClass::UnusedTemplate, message))
}
