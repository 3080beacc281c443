//! Checks each resource part by part, and the names in its lists.
//!
//! Not here: the parts of a resource (`each`, `conditions`, `spec`, `metadata`).

use blueprint::{Resource, Type};
use diag::Spanned;

use super::TypeOf;
use super::each::DeployedDependencies;
use super::types::{is_scalar, with_article};
use super::{Checker, ExpressionContext, Repetition, codes};
use crate::graph::{Graph, GraphNode};
use crate::links::Links;

impl Checker<'_> {
    /// Checks every resource.
    pub(super) fn resources(&mut self, graph: &Graph, links: &Links) {
        let blueprint = self.blueprint;
        let leads = if blueprint
            .resources
            .values()
            .any(|resource| resource.each.is_some())
        {
            self.leads(graph)
        } else {
            DeployedDependencies::default()
        };
        for (at, resource) in blueprint.resources.values().enumerate() {
            let node = GraphNode::Resource(at as u32);
            let item = resource
                .each
                .as_ref()
                .map(|each| self.each(each, node, &leads));
            let place = ExpressionContext {
                owner: Some(node),
                repetition: item.as_ref().map_or(Repetition::NoEach, Repetition::Item),
                description: false,
                guarded: false,
            };
            if let Some(condition) = &resource.condition {
                self.condition(condition, place);
            }
            self.names_in_lists(resource, at);
            self.spec(at, resource, place);
            let known = self.annotations_read(at, links);
            let type_name = match &self.resources[at] {
                TypeOf::Known(ty) => ty.name.clone(),
                _ => Default::default(),
            };
            self.resource_metadata(&resource.metadata, &known, &type_name, resource.span, place);
            if let Some(key) = resource.each.as_ref().and_then(|each| each.key.as_ref()) {
                self.infer(key, place);
            }
            if let Some(description) = &resource.description {
                self.infer(description, place.described());
            }
        }
    }

    /// Checks the names of resources in `dependsOn` (decisions/blueprint#explicit-dependencies) and
    /// `linkSelector.exclude`.
    fn names_in_lists(&mut self, resource: &Resource, at: usize) {
        for name in &resource.depends_on {
            if self.blueprint.resources.get_index_of(&name.item) == Some(at) {
                self.found.push(
                    codes::SELF_REFERENCE
                        .new(format!("the resource `{}` waits for itself", name.item))
                        .label(name.span, "this is the resource being defined")
                        .help("take the name away"),
                );
            } else {
                self.declared_resource(name);
            }
        }
        for name in resource
            .link_selector
            .iter()
            .flat_map(|selector| &selector.exclude)
        {
            self.declared_resource(name);
        }
    }

    pub(super) fn declared_resource(&mut self, name: &Spanned<blueprint::Name>) {
        if !name.item.is_empty() && !self.blueprint.resources.contains_key(&name.item) {
            let unknown = self.unknown_resource(&name.item, false, name.span);
            // A name in a list is no path.
            let bare = name.item.strip_prefix("resources.").unwrap_or(&name.item);
            let bare = bare.split(['.', '[']).next().unwrap_or(bare);
            let is_path = self.blueprint.resources.contains_key(bare);
            self.found.push(match is_path {
                true => diag::Diagnostic {
                    help: Vec::new(),
                    ..unknown
                }
                .fix(
                    format!("write `{bare}`, the name alone"),
                    vec![(name.span, bare.to_owned())],
                    false,
                ),
                false => unknown,
            });
        } else {
            self.resolve_name(name);
        }
    }

    /// Checks a description: it must be text.
    pub(super) fn description(
        &mut self,
        description: Option<&blueprint::Expr>,
        place: ExpressionContext<'_>,
    ) {
        if let Some(description) = description {
            let ty = self.infer(description, place.described());
            if !ty.is_open()
                && !ty
                    .alternatives()
                    .iter()
                    .any(|ty| *ty == Type::Null || is_scalar(ty))
            {
                self.found
                    .push(description_mismatch(&with_article(&ty), description.span));
            }
        }
    }
}

/// The diagnostic for a description that is not text and cannot become text.
pub fn description_mismatch(kind: &str, span: diag::Span) -> diag::Diagnostic {
    expr::codes::TYPE_MISMATCH
        .new(format!("a description must be text, found {kind}"))
        .label(span, "only scalars become text")
        .help("join the items with `join(..)`, or write them as text with `jsonencode(..)`")
}
