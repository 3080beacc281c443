//! Lowers the owners: what the chain of a workload or a deliverable stamps for it.

use blueprint::{Expr, Name, PathStep, ReadinessRule, Resource, Value};
use cartographer::compat::Compat;
use cartographer::health::effective_rule;
use cartographer::kinds::CartoKind;
use cartographer::params::{ParamSources, Params};
use cartographer::selection::{Selected, TemplateChoice, choose_template, select_blueprint};
use diag::{Diagnostic, Span};

use super::calls::{OUTPUT, READY, RUN_READY};
use super::chain_resource::{ChainResource, field_path, local, newest_healthy, whole_object};
use super::codes::{NO_CHAIN, NO_OPTION, RUNNABLE_NOT_RUN, SEVERAL_CHAINS, UNKNOWN_TEMPLATE};
use super::parts::LoweredParts;
use super::platform::{CartoObject, Platform};
use super::runs::{as_run, is_run_again};
use super::stamping::{StampedResource, stamp_resource};
use super::written::{part_at, place_at};

/// The type of runnables as objects.
const RUNNABLE_TYPE: &str = "kubernetes/carto.run/Runnable";

/// Lowers owners with the chains and templates of a platform.
pub(super) struct OwnerLowering<'p> {
    /// The platform.
    pub(super) platform: &'p Platform,
    /// Whose behaviour counts.
    pub(super) compat: Compat,
    /// The manifests of the blueprints, in their order.
    pub(super) blueprints: Vec<&'p Value>,
}

impl<'p> OwnerLowering<'p> {
    /// Prepares the lowering of the owners of a platform.
    pub(super) fn new(platform: &'p Platform, compat: Compat) -> OwnerLowering<'p> {
        let blueprints = platform.blueprints.iter();
        OwnerLowering {
            platform,
            compat,
            blueprints: blueprints.map(|blueprint| &blueprint.value).collect(),
        }
    }

    /// Adds what the chain of an owner stamps for it.
    pub(super) fn lower(&self, owner: &CartoObject, parts: &mut LoweredParts) {
        let Some(chain) = self.chain_of(owner, parts) else {
            return;
        };
        let kind = owner.kind.name().to_lowercase();
        let prefix = match &owner.namespace {
            Some(namespace) => format!("{kind}/{namespace}/{}/", owner.name),
            None => format!("{kind}/{}/", owner.name),
        };
        let resources = chain
            .value
            .get("spec")
            .and_then(|spec| spec.get("resources"));
        let resources = resources.and_then(Value::as_list).unwrap_or_default();
        for (at, entry) in resources.iter().enumerate() {
            let Some(Value::Text(name)) = entry.get("name") else {
                continue;
            };
            let path = field_path(["spec", "resources"]).join(PathStep::Index(at as u64));
            let resource = ChainResource {
                owner,
                chain,
                entry,
                path,
                name: name.clone(),
                prefix: &prefix,
            };
            self.resource(&resource, parts);
            // Readers of an output that could not be lowered report nothing themselves.
            let name = resource.local_name(&resource.name);
            if !parts.resources.contains_key(&name) && !parts.locals.contains_key(&name) {
                let span = resource.place(&["name"]);
                parts.add_output(name, span, Expr::error(span));
            }
        }
    }

    /// The chain that selects an owner.
    fn chain_of(&self, owner: &CartoObject, parts: &mut LoweredParts) -> Option<&'p CartoObject> {
        let selection = select_blueprint(&owner.value, &self.blueprints, self.compat);
        let shown = owner.shown();
        let what = match owner.kind {
            CartoKind::Deliverable => "delivery",
            _ => "supply chain",
        };
        match selection.selected {
            Selected::One(at) => self.platform.blueprints.get(at),
            Selected::None => {
                let place = labels_place(owner);
                parts.found.push(
                    NO_CHAIN
                        .new(format!("no {what} matches `{shown}`"))
                        .label(place, "neither its labels nor its fields are selected")
                        .help(format!(
                            "give it the labels that a {what} selects, or add the {what} to the folder"
                        )),
                );
                None
            }
            Selected::Several(all) => {
                let mut mistake = SEVERAL_CHAINS
                    .new(format!(
                        "several {what} objects match `{shown}` equally well"
                    ))
                    .label(labels_place(owner), "selected by all of them");
                for chain in all
                    .iter()
                    .filter_map(|at| self.platform.blueprints.get(*at))
                {
                    mistake = mistake.label(chain.span, "selects it");
                }
                parts
                    .found
                    .push(mistake.help("add a requirement to one of them, or change the labels"));
                None
            }
        }
    }

    fn resource(&self, resource: &ChainResource<'_>, parts: &mut LoweredParts) {
        let choice = match choose_template(&resource.owner.value, resource.entry, self.compat) {
            Ok(choice) => choice,
            Err(failure) => {
                let shown = resource.owner.shown();
                let mut mistake = NO_OPTION
                    .new(format!(
                        "`{}` has no template for `{shown}`: {}",
                        resource.name, failure.message
                    ))
                    .label(resource.place(&["templateRef", "options"]), "these options")
                    .label(labels_place(resource.owner), "for this owner");
                for at in &failure.options {
                    let options = resource.path_of(&["templateRef", "options"]);
                    let path = options.join(PathStep::Index(*at as u64));
                    let place = place_at(&resource.chain.written, &path.0);
                    mistake = mistake.label(place, "this one");
                }
                parts.found.push(mistake);
                return;
            }
        };
        match choice {
            TemplateChoice::PassThrough(input) => {
                let Some(producer) = resource.producer(&input) else {
                    return;
                };
                let span = resource.place(&["name"]);
                let value = local(&resource.local_name(&producer), span);
                parts.add_output(resource.local_name(&resource.name), span, value);
            }
            TemplateChoice::Template(name) => self.stamped(resource, &name, parts),
        }
    }

    /// Adds the resource that a template stamps, and its output.
    fn stamped(&self, resource: &ChainResource<'_>, template: &Name, parts: &mut LoweredParts) {
        let reference = resource.entry.get("templateRef");
        let kind = reference.and_then(|reference| reference.get("kind"));
        let Some(kind) = kind.and_then(Value::as_text).and_then(CartoKind::of_name) else {
            return;
        };
        let Some(found) = self.platform.templates.get(&(kind, template.clone())) else {
            self.missing_template(resource, kind, template, parts);
            return;
        };
        let part = |object: &CartoObject| object.value.get("spec")?.get("params").cloned();
        let params = Params::merge(&ParamSources {
            template: &part(found).unwrap_or_default(),
            blueprint: &part(resource.chain).unwrap_or_default(),
            resource: resource.entry.get("params").unwrap_or(&Value::Null),
            owner: &part(resource.owner).unwrap_or_default(),
        });
        let stamped = stamp_resource(resource, found, &params, self.compat, &mut parts.found);
        let Some(stamped) = stamped else {
            return;
        };
        if **stamped.type_name.item.name() == *RUNNABLE_TYPE {
            parts.found.push(stamped_runnable(resource, &stamped));
        }
        let is_run = is_run_again(found);
        let stamped = match is_run {
            true => as_run(stamped, &effective_rule(&found.value), found),
            false => stamped,
        };
        let StampedResource {
            type_name, spec, ..
        } = stamped;
        let span = resource.place(&["name"]);
        let name = resource.local_name(&resource.name);
        let rule = Value::map([
            ("kind", Value::text(kind.name())),
            ("spec", found.value.get("spec").cloned().unwrap_or_default()),
        ]);
        let mut declared = Resource::new(span, type_name, spec.span, spec);
        declared.readiness = Some(Box::new(ReadinessRule {
            function: if is_run { RUN_READY } else { READY }.into(),
            rule: rule.clone(),
        }));
        if kind != CartoKind::ClusterTemplate {
            let object = match is_run {
                true => newest_healthy(&name, span),
                false => whole_object(&name, span),
            };
            let mut arguments = vec![Expr::literal(rule, span), object];
            if let Some(producer) = resource.deployment() {
                arguments.push(local(&resource.local_name(&producer), span));
            }
            let value = Expr::call(OUTPUT, span, arguments, span);
            parts.add_output(name.clone(), span, value);
        }
        parts.add(name, declared);
    }

    fn missing_template(
        &self,
        resource: &ChainResource<'_>,
        kind: CartoKind,
        template: &Name,
        parts: &mut LoweredParts,
    ) {
        let reference = resource.entry.get("templateRef").unwrap_or(&Value::Null);
        let options = reference.get("options").and_then(Value::as_list);
        let is_named =
            |option: &Value| option.get("name").and_then(Value::as_text) == Some(template);
        let option = options.and_then(|options| options.iter().position(is_named));
        let path = match option {
            Some(at) => resource
                .path_of(&["templateRef", "options"])
                .join(PathStep::Index(at as u64))
                .join(PathStep::Field("name".into())),
            None => resource.path_of(&["templateRef", "name"]),
        };
        let place = place_at(&resource.chain.written, &path.0);
        let names = self.platform.templates.keys();
        let of_kind = names.filter(|(known, _)| *known == kind);
        parts.found.push(
            UNKNOWN_TEMPLATE
                .new(format!("there is no {} `{template}`", kind.name()))
                .label(place, "not in this document")
                .help_nearest(template, of_kind.map(|(_, name)| name.as_ref())),
        );
    }
}

/// The place by which people find why an owner is or is not selected: its labels, or its name.
fn labels_place(owner: &CartoObject) -> Span {
    let path = field_path(["metadata", "labels"]).0;
    match part_at(&owner.written, &path) {
        Some(_) => place_at(&owner.written, &path),
        None => owner.span,
    }
}

/// Reports a runnable that a chain stamps: it is an object like others, and nothing here runs it.
fn stamped_runnable(resource: &ChainResource<'_>, stamped: &StampedResource) -> Diagnostic {
    RUNNABLE_NOT_RUN
        .new(format!(
            "`{}` stamps a runnable for `{}`, which is written to the cluster and not run",
            resource.name,
            resource.owner.shown()
        ))
        .label(stamped.type_name.span, "only Cartographer runs it")
        .help("stamp its object itself, in a template with `lifecycle: tekton`")
}
