//! Finds the links of a document, by label and by reference (decisions/links#activation,
//! decisions/blueprint#feature-table).
//!
//! Labels are looked up in an index, so the cost of a selector is proportional to its matches.

use std::collections::HashSet;
use std::sync::Arc;

use blueprint::{
    AccessorKind, Expr, ExprKind, Field, Kind, LinkSelector, Name, Ref, ReferenceHead, Resource,
    TextPart, TypeId,
};
use diag::Span;
use provider::{LinkKind, Side, TypeRef};

use crate::check::TypeOf;
use crate::check::{Checker, codes};
use crate::links::wiring::Wiring;
use crate::links::{DeterministicMap, LinkedPair, Links, UsedNeighbour};

/// The maximum number of names in a message.
const NAMED: usize = 5;

/// Resources by label, then by type, in document order.
type Labels<'a> = DeterministicMap<(&'a str, &'a str), blueprint::IndexMap<&'a str, Vec<u32>>>;

/// The reason why an end is linked to another.
struct ActivationCause {
    span: Span,
    only: Option<Vec<u32>>,
}

impl<'a> Checker<'a> {
    /// Finds all links. Reports selectors that have no effect.
    pub(crate) fn activate(&mut self) -> Links {
        let blueprint = self.blueprint;
        let by_reference = blueprint.version.as_ref() == "2025-11-02";
        let selects = blueprint
            .resources
            .values()
            .any(|resource| resource.link_selector.is_some());
        if !selects && !by_reference {
            return Links::default();
        }
        let labels = if selects {
            self.labels()
        } else {
            Labels::default()
        };
        let mut wirings: DeterministicMap<(Name, Name), Arc<Wiring>> = DeterministicMap::default();
        let mut marked: DeterministicMap<TypeId, bool> = DeterministicMap::default();
        let mut pairs = Vec::new();
        for (at, (name, resource)) in blueprint.resources.iter().enumerate() {
            let at = at as u32;
            let mut found: DeterministicMap<u32, ActivationCause> = DeterministicMap::default();
            if let Some(selector) = &resource.link_selector {
                self.select(at, name, selector, &labels, &mut found);
            }
            if by_reference {
                self.find_references(at, resource, &mut marked, &mut found);
            }
            let mut found: Vec<(u32, ActivationCause)> = found.into_iter().collect();
            found.sort_unstable_by_key(|(b, _)| *b);
            for (b, ActivationCause { span, only }) in found {
                let Some(kind) = self.kind_between(at, b).cloned() else {
                    continue;
                };
                let wiring = wirings
                    .entry((kind.a.clone(), kind.b.clone()))
                    .or_insert_with(|| Arc::new(Wiring::of(&kind)))
                    .clone();
                let uses = self.uses(at, b, &kind);
                let part_types = kind.parts.values().map(|part| {
                    match self.catalogs.resource_type(&part.type_name) {
                        TypeRef::Known(ty) => Some(ty),
                        _ => None,
                    }
                });
                let part_types = part_types.collect();
                pairs.push(LinkedPair {
                    a: at,
                    b,
                    kind,
                    span,
                    only,
                    uses,
                    wiring,
                    part_types,
                });
            }
        }
        Links::new(pairs)
    }

    fn labels(&self) -> Labels<'a> {
        let mut labels = Labels::default();
        for (at, resource) in self.blueprint.resources.values().enumerate() {
            // Resources of an unknown type are under the empty name.
            let ty = self.type_name(at).unwrap_or("");
            for (key, value) in &resource.metadata.labels {
                let by_type = labels
                    .entry((key.item.as_ref(), value.item.as_ref()))
                    .or_default();
                let of_type = by_type.entry(self.own_name(at, ty)).or_default();
                if of_type.last() != Some(&(at as u32)) {
                    of_type.push(at as u32);
                }
            }
        }
        labels
    }

    /// A type's name with the lifetime of the document.
    fn own_name(&self, at: usize, ty: &str) -> &'a str {
        let written = self
            .blueprint
            .resources
            .get_index(at)
            .map(|(_, resource)| resource.type_name.item.as_ref());
        if ty.is_empty() {
            ""
        } else {
            written.unwrap_or("")
        }
    }

    /// Finds the matches of a selector.
    fn select(
        &mut self,
        a: u32,
        name: &Name,
        selector: &LinkSelector,
        labels: &Labels<'a>,
        found: &mut DeterministicMap<u32, ActivationCause>,
    ) {
        let blueprint = self.blueprint;
        let is_known = self.type_name(a as usize).is_some();
        let postings: Option<Vec<_>> = selector
            .by_label
            .iter()
            .map(|(key, value)| labels.get(&(key.item.as_ref(), value.item.as_ref())))
            .collect();
        let size = |by_type: &&blueprint::IndexMap<&str, Vec<u32>>| {
            by_type.values().map(Vec::len).sum::<usize>()
        };
        let smallest = postings.and_then(|postings| postings.into_iter().min_by_key(size));
        let excluded: HashSet<&str, foldhash::fast::FixedState> = selector
            .exclude
            .iter()
            .map(|name| name.item.as_ref())
            .collect();
        let matches = |b: u32| {
            let Some((b_name, resource)) = blueprint.resources.get_index(b as usize) else {
                return false;
            };
            b != a
                && !excluded.contains(b_name.as_ref())
                && selector.by_label.iter().all(|(key, value)| {
                    let labels = &resource.metadata.labels;
                    labels
                        .iter()
                        .any(|(k, v)| k.item == key.item && v.item == value.item)
                })
        };
        let named = |list: &[u32]| -> (Vec<String>, bool) {
            let mut names = list.iter().filter(|b| matches(**b)).filter_map(|b| {
                blueprint
                    .resources
                    .get_index(*b as usize)
                    .map(|(name, _)| format!("`{name}`"))
            });
            let first = names.by_ref().take(NAMED).collect();
            (first, names.next().is_some())
        };
        let mut activates = false;
        let mut uncertain = !is_known;
        let mut unlinked: Vec<String> = Vec::new();
        let mut turned: Vec<String> = Vec::new();
        for list in smallest.into_iter().flat_map(|by_type| by_type.values()) {
            let Some(first) = list.first() else { continue };
            if self.type_name(*first as usize).is_none() || !is_known {
                uncertain |= list.iter().any(|b| matches(*b));
            } else if self.kind_between(a, *first).is_some() {
                for b in list.iter().filter(|b| matches(**b)) {
                    activates = true;
                    found.insert(
                        *b,
                        ActivationCause {
                            span: selector.span,
                            only: None,
                        },
                    );
                }
            } else {
                let (names, more) = named(list);
                let into = if self.kind_between(*first, a).is_some() {
                    &mut turned
                } else {
                    &mut unlinked
                };
                into.extend(names);
                if more {
                    into.push("others".to_owned());
                }
            }
        }
        let nothing = !activates && !uncertain && unlinked.is_empty() && turned.is_empty();
        let ty = self.type_name(a as usize).unwrap_or_default().to_owned();
        if !unlinked.is_empty() {
            self.found.push(
                codes::NO_LINK_KIND
                    .new(format!(
                        "`{name}` selects {}, to which no `{ty}` can be linked",
                        unlinked.join(", ")
                    ))
                    .label(selector.span, "the labels match, the types do not link"),
            );
        }
        if !turned.is_empty() {
            self.found.push(
                codes::LINK_DIRECTION
                    .new(format!(
                        "`{name}` selects {}, and such links go the other way round",
                        turned.join(", ")
                    ))
                    .label(selector.span, "makes no link in this direction")
                    .help("put the selector on the other resource, and the label on this one"),
            );
        }
        if nothing {
            let why = if selector.by_label.is_empty() {
                "no label is named"
            } else if excluded.is_empty() {
                "no other resource has these labels"
            } else {
                "no other resource has these labels and is not excluded"
            };
            self.found.push(
                codes::SELECTOR_MATCHES_NOTHING
                    .new(format!("the selector of `{name}` links to nothing"))
                    .label(selector.span, why)
                    .help("give the resources to be linked a label that it names"),
            );
        }
    }

    /// Finds bare references in fields that the catalogue marks as links
    /// (decisions/blueprint#feature-table, version 2025-11-02).
    fn find_references(
        &self,
        a: u32,
        resource: &'a Resource,
        marked: &mut DeterministicMap<TypeId, bool>,
        found: &mut DeterministicMap<u32, ActivationCause>,
    ) {
        let TypeOf::Known(ty) = &self.resources[a as usize] else {
            return;
        };
        let any = marked
            .entry(ty.name.clone())
            .or_insert_with(|| ty.schema.fields.values().any(|field| has_marks(field, 0)));
        let ExprKind::Map(entries) = &resource.spec.kind else {
            return;
        };
        if !*any {
            return;
        }
        for (key, value) in entries {
            if let Some(field) = ty.schema.fields.get(&key.item) {
                self.refer_in(a, value, field, found);
            }
        }
    }

    fn refer_in(
        &self,
        a: u32,
        value: &Expr,
        field: &Field,
        found: &mut DeterministicMap<u32, ActivationCause>,
    ) {
        if field.links {
            bare_references(value, &mut |reference| self.refer_to(a, reference, found));
            return;
        }
        match (&value.kind, &field.kind) {
            (ExprKind::Map(entries), Kind::Object(schema)) => {
                for (key, value) in entries {
                    if let Some(field) = schema.fields.get(&key.item) {
                        self.refer_in(a, value, field, found);
                    }
                }
            }
            (ExprKind::Map(entries), Kind::Map(field)) => {
                entries
                    .iter()
                    .for_each(|(_, value)| self.refer_in(a, value, field, found));
            }
            (ExprKind::List(items), Kind::Array(field)) => {
                items
                    .iter()
                    .for_each(|item| self.refer_in(a, item, field, found));
            }
            (_, Kind::Union(branches)) => branches
                .iter()
                .for_each(|branch| self.refer_in(a, value, branch, found)),
            _ => {}
        }
    }

    fn refer_to(
        &self,
        a: u32,
        reference: &Ref,
        found: &mut DeterministicMap<u32, ActivationCause>,
    ) {
        let ReferenceHead::Resource { name, .. } = &reference.head else {
            return;
        };
        let position = match reference.path.as_slice() {
            [] => None,
            [index] => match index.kind {
                AccessorKind::Index(at) => u32::try_from(at).ok(),
                AccessorKind::Name(_) => return,
            },
            _ => return,
        };
        let Some(b) = self
            .blueprint
            .resources
            .get_index_of(name)
            .map(|b| b as u32)
            .filter(|b| *b != a)
        else {
            return;
        };
        match found.get_mut(&b) {
            None => {
                found.insert(
                    b,
                    ActivationCause {
                        span: reference.head_span,
                        only: position.map(|at| vec![at]),
                    },
                );
            }
            Some(ActivationCause {
                only: Some(only), ..
            }) => only.extend(position),
            // A selector also matches this resource: selector and reference make one link.
            Some(ActivationCause { only: None, .. }) => {}
        }
    }

    /// The kind of link from one resource to another.
    pub(super) fn kind_between(&self, a: u32, b: u32) -> Option<&Arc<LinkKind>> {
        self.catalogs
            .link_kind(self.type_name(a as usize)?, self.type_name(b as usize)?)
    }

    pub(crate) fn type_name(&self, at: usize) -> Option<&str> {
        match self.resources.get(at)? {
            TypeOf::Known(ty) => Some(&ty.name),
            _ => None,
        }
    }

    /// The neighbours that a link writes to, found through references. Reports a missing neighbour.
    fn uses(&mut self, a: u32, b: u32, kind: &LinkKind) -> Vec<Option<UsedNeighbour>> {
        let mut uses = Vec::with_capacity(kind.uses.len());
        for used in kind.uses.values() {
            let end = if used.of == Side::A { a } else { b };
            let Some((name, resource)) = self.blueprint.resources.get_index(end as usize) else {
                continue;
            };
            let (key, value) = at_path(resource, &used.field);
            let found = value.and_then(|value| self.neighbour(value, &used.type_name));
            if found.is_none() {
                let written = value.is_some();
                self.found.push(
                    codes::LINK_NEEDS_RESOURCE
                        .new(format!(
                            "the links of `{name}` need a `{}` in its `{}`",
                            used.type_name, used.field
                        ))
                        .label(
                            key,
                            if written {
                                "refers to no such resource of this document"
                            } else {
                                "not set"
                            },
                        )
                        .help(format!(
                            "declare a `{}` and refer to it in `{}`",
                            used.type_name, used.field
                        )),
                );
            }
            uses.push(found);
        }
        uses
    }

    fn neighbour(&self, value: &Expr, type_name: &str) -> Option<UsedNeighbour> {
        let mut found = None;
        let mut find_resource = |reference: &Ref| {
            let ReferenceHead::Resource { name, .. } = &reference.head else {
                return;
            };
            let Some(resource) = self.blueprint.resources.get_index_of(name) else {
                return;
            };
            if self.type_name(resource) != Some(type_name) {
                return;
            }
            let position = match reference.path.first().map(|accessor| &accessor.kind) {
                Some(AccessorKind::Index(at)) => u32::try_from(*at).ok(),
                _ => None,
            };
            found.get_or_insert(UsedNeighbour {
                resource: resource as u32,
                position,
            });
        };
        value.references(&mut find_resource);
        found
    }
}

/// The place and value of a field of a spec. If the field is missing, the place is that of the
/// nearest key above it.
fn at_path<'r>(resource: &'r Resource, path: &str) -> (Span, Option<&'r Expr>) {
    let mut key = resource.spec_key;
    let mut here = &resource.spec;
    for name in path.split('.') {
        let ExprKind::Map(entries) = &here.kind else {
            return (key, None);
        };
        let Some((written, value)) = entries.iter().find(|(key, _)| key.item.as_ref() == name)
        else {
            return (key, None);
        };
        key = written.span;
        here = value;
    }
    (key, Some(here))
}

fn has_marks(field: &Field, depth: usize) -> bool {
    depth < 64
        && (field.links
            || match &field.kind {
                Kind::Array(inner) | Kind::Map(inner) => has_marks(inner, depth + 1),
                Kind::Object(schema) => schema
                    .fields
                    .values()
                    .any(|field| has_marks(field, depth + 1)),
                Kind::Union(branches) => branches.iter().any(|field| has_marks(field, depth + 1)),
                _ => false,
            })
}

/// Visits references that are a whole value or a part of a text.
fn bare_references<'e>(value: &'e Expr, visit: &mut impl FnMut(&'e Ref)) {
    match &value.kind {
        ExprKind::Ref(reference) => visit(reference),
        ExprKind::Substitution(inner) => bare_references(inner, visit),
        ExprKind::Text(parts) => {
            for part in parts {
                if let TextPart::Expr(expr, _) = part {
                    bare_references(expr, visit);
                }
            }
        }
        ExprKind::List(items) => items.iter().for_each(|item| bare_references(item, visit)),
        ExprKind::Map(entries) => entries
            .iter()
            .for_each(|(_, value)| bare_references(value, visit)),
        _ => {}
    }
}
