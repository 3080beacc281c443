//! Finds dependencies that types declare: a resource waits for resources of another type that refer
//! to the same third resource, as far as literals and references show it (see
//! `provider::ImplicitDependency`).
//!
//! The work is linear in the document and the resulting edges.
//!
//! Not here: references and `dependsOn` (`edges`).

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use blueprint::{AccessorKind, Blueprint, Expr, ExprKind, Name, ReferenceHead, Resource, Value};
use diag::Span;
use provider::ImplicitDependency;

use super::TypeOf;
use crate::graph::{Edge, EdgeKind, GraphNode};

/// The resources, by position, that refer to each third resource, by the spelling of the reference.
type ResourcesBySpelling = HashMap<String, Vec<usize>>;

/// The edges of each resource that waits for others, by its position.
pub(super) fn edges(blueprint: &Blueprint, types: &[TypeOf]) -> HashMap<u32, Vec<Edge>> {
    let mut edges = HashMap::new();
    let of = |at: usize| match types.get(at) {
        Some(TypeOf::Known(ty)) => Some(ty),
        _ => None,
    };
    if !(0..types.len()).any(|at| of(at).is_some_and(|ty| !ty.waits.is_empty())) {
        return edges;
    }
    let mut by_type: HashMap<&str, Vec<usize>> = HashMap::new();
    for at in 0..blueprint.resources.len() {
        if let Some(ty) = of(at) {
            by_type.entry(&ty.name).or_default().push(at);
        }
    }
    let spec = |at: usize| {
        blueprint
            .resources
            .get_index(at)
            .map(|(_, resource)| resource)
    };
    // The resources that certain fields of the resources of a type refer to, computed once per type
    // and fields.
    let mut named: HashMap<(&Name, &[Name]), ResourcesBySpelling> = HashMap::new();
    for at in 0..blueprint.resources.len() {
        let (Some(ty), Some(resource)) = (of(at), spec(at)) else {
            continue;
        };
        let mut edges_of_resource: Vec<Edge> = Vec::new();
        let mut seen: HashSet<usize> = HashSet::new();
        for wait in &ty.waits {
            let by_spelling = named
                .entry((&wait.type_name, &wait.awaited_fields))
                .or_insert_with(|| {
                    let mut resources_by_spelling = ResourcesBySpelling::new();
                    for at in by_type.get(wait.type_name.as_ref()).into_iter().flatten() {
                        for (meant, _) in spec(*at)
                            .into_iter()
                            .flat_map(|other| field_spellings(other, &wait.awaited_fields))
                        {
                            resources_by_spelling.entry(meant).or_default().push(*at);
                        }
                    }
                    resources_by_spelling
                });
            for (meant, span) in third_resources_of(resource, wait, blueprint, types) {
                for other in by_spelling
                    .get(&meant)
                    .into_iter()
                    .flatten()
                    .filter(|other| **other != at)
                {
                    if seen.insert(*other) {
                        edges_of_resource.push(Edge {
                            to: GraphNode::Resource(*other as u32),
                            kind: EdgeKind::DependsOn,
                            span,
                        });
                    }
                }
            }
        }
        if !edges_of_resource.is_empty() {
            edges.insert(at as u32, edges_of_resource);
        }
    }
    edges
}

/// The spellings of the third resources that a resource refers to, with their places. With
/// `through`, they are taken from the resource that the own fields refer to.
fn third_resources_of(
    resource: &Resource,
    wait: &ImplicitDependency,
    blueprint: &Blueprint,
    types: &[TypeOf],
) -> Vec<(String, Span)> {
    let Some((type_name, fields)) = &wait.through else {
        return field_spellings(resource, &wait.own_fields);
    };
    let mut all = Vec::new();
    for path in &wait.own_fields {
        visit_path(&resource.spec, path, &mut |expr| {
            let ExprKind::Ref(reference) = &expr.inner().kind else {
                return;
            };
            let ReferenceHead::Resource { name, .. } = &reference.head else {
                return;
            };
            let Some((at, _, other)) = blueprint.resources.get_full(name) else {
                return;
            };
            if matches!(types.get(at), Some(TypeOf::Known(ty)) if ty.name == *type_name) {
                all.extend(
                    field_spellings(other, fields)
                        .into_iter()
                        .map(|(meant, _)| (meant, expr.span)),
                );
            }
        });
    }
    all
}

/// The spellings of the values of fields of a resource, with their places.
fn field_spellings(resource: &Resource, paths: &[Name]) -> Vec<(String, Span)> {
    let mut all = Vec::new();
    for path in paths {
        visit_path(&resource.spec, path, &mut |expr| {
            let mut meant = String::new();
            if write_spelling(expr, &mut meant) {
                all.push((meant, expr.span));
            }
        });
    }
    all
}

/// Calls `visit` with every expression at a path: dotted names, with `[]` after a name for every
/// item.
fn visit_path<'e>(expr: &'e Expr, path: &str, visit: &mut impl FnMut(&'e Expr)) {
    let (first, rest) = path
        .split_once('.')
        .map_or((path, None), |(first, rest)| (first, Some(rest)));
    let name = first.strip_suffix("[]").unwrap_or(first);
    let ExprKind::Map(entries) = &expr.kind else {
        return;
    };
    let Some((_, found)) = entries.iter().find(|(key, _)| key.item.as_ref() == name) else {
        return;
    };
    let mut go = |expr: &'e Expr| match rest {
        Some(rest) => visit_path(expr, rest, visit),
        None => visit(expr),
    };
    if name.len() == first.len() {
        go(found);
    } else if let ExprKind::List(items) = &found.kind {
        items.iter().for_each(go);
    }
}

/// Writes an expression without its places, so that equal expressions have equal spellings. Returns
/// false if the expression cannot be compared.
fn write_spelling(expr: &Expr, out: &mut String) -> bool {
    match &expr.kind {
        ExprKind::Literal(Value::Text(text)) => {
            let _ = write!(out, "{text:?}");
            !text.is_empty()
        }
        ExprKind::Literal(Value::Null) => false,
        ExprKind::Literal(value) => write!(out, "{value}").is_ok(),
        ExprKind::Substitution(inner) => write_spelling(inner, out),
        ExprKind::Ref(reference) => {
            let _ = match &reference.head {
                ReferenceHead::Resource { name, .. } => write!(out, "resource {name:?}"),
                head => write!(out, "{head:?}"),
            };
            for accessor in &reference.path {
                let _ = match &accessor.kind {
                    AccessorKind::Name(name) => write!(out, ".{name:?}"),
                    AccessorKind::Index(at) => write!(out, "[{at}]"),
                };
            }
            true
        }
        ExprKind::Call(call) => {
            let _ = write!(out, "{}(", call.function);
            let all = call.arguments.iter().all(|argument| {
                let _ = write!(out, "{:?}=", argument.name.as_ref().map(|name| &name.item));
                let known = write_spelling(&argument.value, out);
                out.push(',');
                known
            });
            out.push(')');
            all
        }
        _ => false,
    }
}
