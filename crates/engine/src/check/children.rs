//! Included documents, as far as the including one tells: their place is known at stage, their inputs are scalars
//! (sections 1.6, 4.2).
//!
//! Not here: reading them, and whether they declare those inputs.

use blueprint::{Child, Expr, ExprKind, Part, SourceMetadata, Type, Value};
use diag::Span;
use expr::codes as language;

use super::edges::{Edges, reads_metadata};
use super::providers::TypeOf;
use super::types::{is_scalar, with_article};
use super::{Checker, Place, codes};
use crate::{EdgeKind, Graph, Node};

/// Kinds of remote sources with the keys that each needs.
const SOURCES: [(&str, &[&str]); 4] = [
    ("https", &["host"]),
    ("aws/s3", &["bucket", "region"]),
    ("googlecloud/storage", &["bucket"]),
    ("azure/blob", &["container"]),
];

impl Checker<'_> {
    /// Checks every include.
    pub(super) fn children(&mut self, graph: &Graph) {
        let blueprint = self.blueprint;
        if blueprint.children.is_empty() {
            return;
        }
        let computed = self.computed_locals(graph);
        for (at, child) in blueprint.children.values().enumerate() {
            let place = Place::of(Node::Child(at as u32), "an include");
            let ty = self.infer(&child.path, place);
            if !ty.is_open() && !ty.alternatives().contains(&Type::Text) {
                self.found.push(
                    language::TYPE_MISMATCH
                        .new("the path of an include must be a string")
                        .label(child.path.span, format!("this is {}", with_article(&ty))),
                );
            } else if ty != Type::Error {
                self.known_at_stage(&child.path, "path", &computed);
            }
            self.child_inputs(child, place);
            if let Some(source) = &child.source {
                self.source(source, place, &computed);
            }
            if let Some(condition) = &child.condition {
                self.condition(condition, place);
            }
            if let Some(expansion) = &child.expansion {
                self.infer(&expansion.size, place);
            }
            self.description(child.description.as_ref(), place);
        }
    }

    fn child_inputs(&mut self, child: &Child, place: Place<'_>) {
        for (name, value) in &child.inputs {
            let ty = self.infer(value, place);
            if !ty.alternatives().iter().any(is_scalar) {
                self.found.push(
                    language::TYPE_MISMATCH
                        .new(format!("the input `{}` of an include must be a scalar", name.item))
                        .label(value.span, format!("this is {}", with_article(&ty)))
                        .help("hand it over as text: `jsonencode(..)`, and read it with `jsondecode(..)`"),
                );
            }
        }
    }

    fn source(&mut self, source: &SourceMetadata, place: Place<'_>, computed: &[bool]) {
        for (key, value) in &source.entries {
            let ty = self.infer(value, place);
            if ty != Type::Error {
                self.known_at_stage(value, &format!("`{}`", key.item), computed);
            }
        }
        let kind = source.entries.iter().find(|(key, _)| key.item.as_ref() == "sourceType");
        let keys: &[&str] = match kind.map(|(_, value)| (value, value.inner())) {
            None => &[],
            Some((written, Expr { kind: ExprKind::Literal(Value::Text(kind)), .. })) => {
                let Some((_, keys)) = SOURCES.iter().find(|(name, _)| *name == kind.as_ref()) else {
                    self.found.push(
                        codes::UNKNOWN_SOURCE_TYPE
                            .new(format!("unknown source type `{kind}`"))
                            .label(written.span, "no such kind of remote source")
                            .help_nearest(kind, SOURCES.iter().map(|(name, _)| *name)),
                    );
                    return;
                };
                keys
            }
            // Known at stage.
            Some(_) => return,
        };
        let has = |name: &str| {
            source
                .entries
                .iter()
                .any(|(key, value)| key.item.as_ref() == name && value.as_literal() != Some(&Value::Null))
        };
        let missing: Vec<&str> = keys.iter().copied().filter(|key| !has(key)).collect();
        let wrong: Vec<&diag::Spanned<blueprint::Name>> = source
            .entries
            .iter()
            .map(|(key, _)| key)
            .filter(|key| !keys.contains(&key.item.as_ref()) && !matches!(key.item.as_ref(), "sourceType" | "checksum"))
            .collect();
        if missing.is_empty() && wrong.is_empty() {
            return;
        }
        let mut parts = Vec::new();
        if !missing.is_empty() {
            parts.push(format!("`{}` missing", missing.join("`, `")));
        }
        if let Some(first) = wrong.first() {
            parts.push(format!("`{}` not known", first.item));
        }
        let mut diagnostic = codes::SOURCE_METADATA
            .new("keys of a remote source are missing or wrong")
            .label(source.span, parts.join(", "));
        for key in &wrong {
            diagnostic = diagnostic.label(key.span, "no such key for this kind of source");
        }
        self.found.push(match kind {
            None => diagnostic.help("name the kind of source with `sourceType`"),
            Some(_) => diagnostic.help(format!("keys of this kind: {}", [keys, &["checksum"]].concat().join(", "))),
        });
    }

    /// `include-path-unknown`: a part of it comes from a field that a provider fills.
    fn known_at_stage(&mut self, expr: &Expr, what: &str, computed: &[bool]) {
        let mut places: Vec<(Span, &Expr)> = Vec::new();
        substitutions(expr, &mut places);
        for (span, inner) in places {
            if self.is_computed(inner, computed) {
                self.found.push(
                    codes::INCLUDE_PATH_UNKNOWN
                        .new(format!("the {what} of an include must be known before the deployment"))
                        .label(span, "this is known on deploy")
                        .help("use variables, or values made from them"),
                );
            }
        }
    }

    /// For each value, whether it reads a field that is known on deploy only.
    fn computed_locals(&self, graph: &Graph) -> Vec<bool> {
        let mut computed = vec![false; self.blueprint.locals.len()];
        for node in graph.order() {
            if let Node::Local(at) = node
                && let Some((_, local)) = self.blueprint.locals.get_index(at as usize)
            {
                computed[at as usize] = self.is_computed(&local.value, &computed);
            }
        }
        computed
    }

    fn is_computed(&self, expr: &Expr, computed: &[bool]) -> bool {
        let mut found = false;
        Edges { blueprint: self.blueprint, links: &self.links }.each_need(expr, EdgeKind::Reads, &mut |need| {
            found |= match need.edge.to {
                Node::Local(at) => computed.get(at as usize).copied().unwrap_or(false),
                Node::Resource(at) => need
                    .reference
                    .is_some_and(|reference| !reads_metadata(reference) && self.computed_field(at as usize, reference)),
                Node::Link(_) => true,
                Node::DataSource(_) | Node::Child(_) | Node::Input(_) => false,
            };
        });
        found
    }

    /// Whether a reference reads a field that the provider fills and the document does not set.
    fn computed_field(&self, at: usize, reference: &blueprint::Ref) -> bool {
        let TypeOf::Known(ty) = &self.resources[at] else { return false };
        let mut names = reference.path.iter().filter_map(|accessor| match &accessor.kind {
            blueprint::AccessorKind::Name(name) => Some(name),
            blueprint::AccessorKind::Index(_) => None,
        });
        let name = match (names.next(), names.next()) {
            (None, _) => ty.id_field.as_ref(),
            (_, field) => field,
        };
        let written = |name: &str| match self.blueprint.resources.get_index(at).map(|(_, resource)| &resource.spec.kind)
        {
            Some(ExprKind::Map(entries)) => entries.iter().any(|(key, _)| key.item.as_ref() == name),
            _ => false,
        };
        name.is_some_and(|name| ty.schema.fields.get(name).is_some_and(|field| field.computed) && !written(name))
    }
}

/// The substitutions in an expression with their places.
pub(super) fn substitutions<'e>(expr: &'e Expr, found: &mut Vec<(Span, &'e Expr)>) {
    match &expr.kind {
        ExprKind::Substitution(inner) => found.push((expr.span, inner)),
        ExprKind::Text(parts) => found.extend(parts.iter().filter_map(|part| match part {
            Part::Expr(inner, span) => Some((*span, inner)),
            Part::Text(_) => None,
        })),
        ExprKind::List(items) => items.iter().for_each(|item| substitutions(item, found)),
        ExprKind::Map(entries) => entries.iter().for_each(|(_, value)| substitutions(value, found)),
        _ => {}
    }
}
