//! Checks resources by value: their specs and policies fit their types.

use std::collections::HashSet;

use blueprint::{Name, ReferenceHead, Resource};
use diag::{Diagnostics, Severity, Span};
use dialect::{ExpressionPart, ExpressionPlace, Mistake, SpecAt};

use super::known::KnownValues;
use super::policies::Policies;
use crate::check::TypeOf;
use crate::check::{Checker, codes};

impl Checker<'_> {
    /// Checks every resource.
    pub(crate) fn resources_by_value(&mut self, known: &KnownValues<'_>) {
        let blueprint = self.blueprint;
        let mut absent_types: HashSet<Span, foldhash::fast::FixedState> = HashSet::default();
        for (at, (name, resource)) in blueprint.resources.iter().enumerate() {
            // An absent resource is checked too, but its errors are only notes.
            let condition = resource.condition.as_deref();
            let is_present = condition.is_none_or(|it| !known.is_false(it));
            self.removal(resource.removal.as_deref(), known);
            let mut mistakes = Diagnostics::new();
            match &resource.switched_off {
                Some(spec) => {
                    let whole = Resource {
                        spec: (**spec).clone(),
                        switched_off: None,
                        ..resource.clone()
                    };
                    self.resource_by_value(at, name, &whole, known, &mut mistakes);
                }
                None => self.resource_by_value(at, name, resource, known, &mut mistakes),
            }
            if is_present {
                self.found.append(mistakes);
            } else {
                self.found.extend(
                    mistakes
                        .iter()
                        .map(|one| one.clone().with_severity(Severity::Note)),
                );
                absent_types.insert(resource.type_name.span);
            }
        }
        if !absent_types.is_empty() {
            // An unknown type of an absent resource is not an error either.
            let all = std::mem::take(&mut self.found);
            self.found.extend(all.iter().map(|one| {
                let one = one.clone();
                if absent_types.contains(&one.span()) {
                    one.with_severity(Severity::Note)
                } else {
                    one
                }
            }));
        }
    }

    fn resource_by_value(
        &self,
        at: usize,
        name: &Name,
        resource: &Resource,
        known: &KnownValues<'_>,
        found: &mut Diagnostics,
    ) {
        resource.spec.references(&mut |reference| {
            if matches!(&reference.head, ReferenceHead::Resource { name: read, .. } if read == name)
            {
                let mut itself = codes::SELF_REFERENCE
                    .new(format!("`{name}` reads itself"))
                    .label(reference.head_span, "this is the resource being defined")
                    .help("take the reference away");
                let round = [(name.as_ref(), resource.type_name.item.as_ref())];
                itself.native_message = self
                    .rules
                    .messages
                    .of(&Mistake::Cycle(&round))
                    .map(Box::new);
                found.push(itself);
            }
        });
        if let Some(id) = &resource.lifecycle.external
            && let Some(needed) = resource.depends_on.first()
        {
            let mut depends = codes::EXTERNAL_DEPENDENCY
                .new(format!(
                    "`{name}` exists elsewhere and cannot depend on `{}`",
                    needed.item
                ))
                .label(needed.span, "named here");
            let mistake = Mistake::ExternalDepends {
                type_name: &resource.type_name.item,
                id: &id.item,
            };
            depends.native_message = self.rules.messages.of(&mistake).map(Box::new);
            found.push(depends);
        }
        let spec = ExpressionPlace::new(ExpressionPart::Spec, name, &resource.spec);
        // The spec of a type that accepts anything is not evaluated.
        let takes_anything =
            matches!(&self.resources[at], TypeOf::Known(ty) if ty.takes_anything());
        if !takes_anything {
            self.attributes(spec, found);
        }
        if let Some(metadata) = &resource.metadata.custom {
            let metadata = ExpressionPlace::new(ExpressionPart::Metadata, name, metadata);
            self.attributes(metadata, found);
            let _ = known.value_at(metadata, found);
        }
        if let TypeOf::Known(ty) = &self.resources[at] {
            let policies = Policies {
                type_name: &ty.name,
                removal: resource.removal.as_deref(),
                update: resource
                    .update_policy
                    .as_deref()
                    .filter(|_| !takes_anything),
                allowed: ty.update_policy.as_ref(),
                snapshots: ty.capabilities.snapshots || takes_anything,
            };
            self.policies(name, policies, known, found);
        }
        if takes_anything {
            return;
        }
        // If a part has an error, check the other parts anyway.
        let value = known
            .value_at(spec, found)
            .unwrap_or_else(|| known.parts(&resource.spec));
        if let Some(schema) = self.resources[at].schema() {
            let expr = &resource.spec;
            let holder = resource.spec_key;
            let at = SpecAt {
                expr,
                missing_part_span: holder,
                resource: name,
                part: ExpressionPart::Spec,
                is_external: resource.lifecycle.external.is_some(),
            };
            self.fit(&value, at, schema, found);
        }
    }
}
