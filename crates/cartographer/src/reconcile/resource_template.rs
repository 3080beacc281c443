//! The template of a resource: chooses it, and stamps it.

use std::sync::Arc;

use blueprint::{Map, Name, Value};

use crate::compat::Compat;
use crate::context::TemplateContext;
use crate::inputs::ResourceInputs;
use crate::kinds::CartoKind;
use crate::params::{ParamSources, Params};
use crate::selection::{TemplateChoice, choose_template};
use crate::stamp::{
    LabelSubject, OwnerReference, StampFailure, StampRequest, stamp, stamped_labels,
};

use super::failure::Failure;
use super::owner_context::OwnerContext;
use super::parts::{part, text};
use super::requests::Platform;

/// What a resource is made with.
pub(super) enum Choice {
    /// An object of this template.
    Template(Template),
    /// The input with this name, passed through.
    PassThrough(Name),
    /// Nothing.
    Failed(Failure),
}

/// A template that was chosen.
#[derive(Clone)]
pub(super) struct Template {
    /// The whole manifest.
    pub(super) object: Arc<Value>,
    /// Whether it was chosen among options.
    is_option: bool,
}

impl Choice {
    /// Chooses for an owner and a resource, an entry of its blueprint. Returns the template that was
    /// looked for, too.
    pub(super) fn of(
        owner: &Value,
        entry: &Value,
        platform: &dyn Platform,
        compat: Compat,
    ) -> (Choice, Vec<(CartoKind, Name)>) {
        let kind = CartoKind::of_name(text(entry, &["templateRef", "kind"]));
        let mut templates = Vec::new();
        let choice = match choose_template(owner, entry, compat) {
            Err(failure) => {
                Choice::Failed(Failure::lasting(failure.class.as_str(), failure.message))
            }
            Ok(TemplateChoice::PassThrough(input)) => Choice::PassThrough(input),
            Ok(TemplateChoice::Template(template)) => {
                let found = kind.and_then(|kind| platform.find(kind, &template));
                templates.extend(kind.map(|kind| (kind, template.clone())));
                match found {
                    Some(object) => Choice::Template(Template {
                        object,
                        is_option: text(entry, &["templateRef", "name"]).is_empty(),
                    }),
                    None => Choice::Failed(Failure::lasting(
                        "TemplateObjectRetrievalFailure",
                        format!(
                            "there is no {} `{template}`",
                            text(entry, &["templateRef", "kind"])
                        ),
                    )),
                }
            }
        };
        (choice, templates)
    }
}

impl Template {
    /// Its lifecycle: `mutable`, `immutable` or `tekton`.
    pub(super) fn lifecycle(&self) -> &str {
        match text(&self.object, &["spec", "lifecycle"]) {
            "" => "mutable",
            lifecycle => lifecycle,
        }
    }

    /// The labels of an object of a resource, an entry of the blueprint.
    pub(super) fn labels(&self, context: &OwnerContext, entry: &Value) -> Map {
        let chosen = text(&self.object, &["metadata", "name"]);
        stamped_labels(&LabelSubject {
            owner: &context.owner,
            blueprint: text(&context.blueprint, &["metadata", "name"]),
            resource: text(entry, &["name"]),
            template_kind: text(entry, &["templateRef", "kind"]),
            // Upstream does not name a template that was chosen among options.
            template: match context.compat.is_upstream() && self.is_option {
                true => "",
                false => chosen,
            },
            lifecycle: self.lifecycle(),
        })
    }

    /// The object of a resource, an entry of the blueprint, or why there is none.
    pub(super) fn stamped(
        &self,
        context: &OwnerContext,
        entry: &Value,
        inputs: &ResourceInputs,
        labels: &Map,
    ) -> Result<Value, Failure> {
        let params = Params::merge(&ParamSources {
            template: part(&self.object, &["spec", "params"]),
            blueprint: part(&context.blueprint, &["spec", "params"]),
            resource: part(entry, &["params"]),
            owner: part(&context.owner, &["spec", "params"]),
        });
        let tags = TemplateContext::of_resource(&context.owner, &params, inputs, labels);
        let stamped = stamp(&StampRequest {
            template: &self.object,
            context: &tags,
            owner: &context.owner,
            labels,
            owner_reference: OwnerReference::Written,
            compat: context.compat,
            ytt: context.ytt.as_ref(),
        });
        stamped
            .map(|stamped| stamped.object)
            .map_err(|failures| stamp_failure(&failures))
    }
}

/// The first failure, unless all are due to inputs that will come.
fn stamp_failure(failures: &[StampFailure]) -> Failure {
    let definite = failures.iter().find(|failure| failure.waits_for.is_empty());
    let place = |failure: &StampFailure| match (failure.path.0.is_empty(), failure.line) {
        (false, _) => format!("`{}`: {}", failure.path, failure.message),
        (true, Some(line)) => format!("line {line} of the template: {}", failure.message),
        (true, None) => failure.message.clone(),
    };
    match (definite, failures.first()) {
        (Some(failure), _) => Failure::lasting("TemplateStampFailure", place(failure)),
        (None, Some(failure)) => {
            let producers: Vec<String> = failure
                .waits_for
                .iter()
                .map(|input| format!("`{}`", input.producer))
                .collect();
            let message = format!("waiting for the output of {}", producers.join(", "));
            Failure::waiting("MissingValueAtPath", message)
        }
        (None, None) => Failure::lasting("TemplateStampFailure", "the template cannot be stamped"),
    }
}
