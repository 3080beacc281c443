//! Resolves the references of a document, so that an editor can look up an offset.
//!
//! A check does not record resolutions, because only editors ask for them. [`resolutions`] checks
//! the document again with a checker that adds a resolution where it resolves a reference, a name
//! in a list of dependencies or a called function.
//!
//! Not here: names that do not resolve (the check reports them), keys, types.

use blueprint::{Blueprint, CallExpr, Name, Ref, ReferenceHead, Type};
use diag::{FileId, Span, Spanned};
use dialect::Checks;

use super::{CheckContext, Checker, Included};
use crate::graph::GraphNode;

/// The resolutions of a document. Their spans do not overlap.
#[derive(Clone, Debug, Default)]
pub struct Resolutions {
    /// The resolutions, sorted by their spans.
    sorted: Vec<Resolution>,
}

/// The definition that one span resolves to.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// The resolved text. A reference with its path is one span: `variables.x`, `a.spec.x`. A
    /// reference to an export of a child is two spans: `children.c` is the child, and the rest is
    /// the export.
    pub span: Span,
    /// The place of the definition, which may be in another file; `None` if the definition is not
    /// in a document.
    pub definition: Option<Span>,
    /// The kind of the definition.
    pub kind: DefinitionKind,
    /// The type of the reference with its path, or of the result of a call. [`Type::Any`] if the
    /// type is not known or the span has no value, [`Type::Error`] if the path does not exist.
    pub ty: Type,
}

/// The kind of a definition. Numbers are positions in the tables of the blueprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefinitionKind {
    /// An input.
    Input(u32),
    /// A named intermediate value.
    Local(u32),
    /// A data source.
    DataSource(u32),
    /// An export of the data source at this position. It is defined by `"*"` if the data source
    /// exports all fields.
    DataSourceExport(u32),
    /// A resource.
    Resource(u32),
    /// A child document.
    Child(u32),
    /// An export of the child document at this position.
    ChildExport(u32),
    /// The current item of the resource at this position. It is defined by the list of `each`.
    EachItem(u32),
    /// The position of the current item of the resource at this position. It is defined by the list
    /// of `each`.
    EachPosition(u32),
    /// The function with this name.
    Function(Name),
}

/// Resolves the names in a document. `children` are by position, already checked; the exports of a
/// child that is `None` do not resolve. Reports nothing: [`check_with`](super::check_with) reports
/// the errors.
pub fn resolutions(
    blueprint: &Blueprint,
    children: &[Option<Included>],
    context: &CheckContext<'_>,
) -> Resolutions {
    let mut checker = Checker::new(blueprint, children, context);
    checker.resolutions = Some(Resolutions::default());
    checker.elements(None);
    if context.rules.checks != Checks::BY_TYPE {
        checker.resolve_by_value();
    }
    let mut resolutions = checker.resolutions.unwrap_or_default();
    resolutions.sort();
    resolutions
}

impl Resolutions {
    /// The resolution at an offset of a file; `None` if the offset is in no resolved name.
    pub fn at(&self, file: FileId, offset: u32) -> Option<&Resolution> {
        let after = self
            .sorted
            .partition_point(|one| (one.span.file, one.span.start) <= (file, offset));
        let before = self.sorted.get(after.checked_sub(1)?)?;
        (before.span.file == file && offset < before.span.end).then_some(before)
    }

    /// All resolutions, in the order of their spans.
    pub fn iter(&self) -> impl Iterator<Item = &Resolution> {
        self.sorted.iter()
    }

    /// Adds a resolution. The definition becomes `None` if its span is empty.
    fn add(&mut self, span: Span, definition: Span, kind: DefinitionKind, ty: Type) {
        if span.is_some() {
            let definition = Some(definition).filter(|definition| definition.is_some());
            self.sorted.push(Resolution {
                span,
                definition,
                kind,
                ty,
            });
        }
    }

    /// Sorts the resolutions. Of overlapping spans only the first one stays: aliases of YAML and
    /// expanded groups resolve the same text more than once.
    fn sort(&mut self) {
        self.sorted.sort_by_key(|one| one.span);
        self.sorted.dedup_by(|later, kept| {
            later.span.file == kept.span.file && later.span.start < kept.span.end
        });
        self.sorted.shrink_to_fit();
    }
}

impl Checker<'_> {
    /// Records the resolution of a reference. `owner` is the element that holds the reference, `ty`
    /// the type of the reference with its path.
    pub(super) fn resolve(&mut self, reference: &Ref, owner: Option<GraphNode>, ty: &Type) {
        if self.resolutions.is_none() {
            return;
        }
        let Some((kind, definition)) = definition(self.blueprint, &reference.head, owner) else {
            return;
        };
        let head = reference.head_span;
        // Accessors that a dialect adds to the written ones have the span of the head.
        let is_after = |span: Span| span.file == head.file && span.start >= head.end;
        let first = reference
            .path
            .iter()
            .map(|accessor| accessor.span)
            .find(|span| is_after(*span));
        let path = first
            .zip(reference.path.last())
            .map(|(first, last)| first.to(last.span));
        let Some(path) = path.filter(|path| is_after(*path)) else {
            self.add_resolution(head, definition, kind, ty.clone());
            return;
        };
        if !matches!(
            kind,
            DefinitionKind::Child(_) | DefinitionKind::DataSource(_)
        ) {
            self.add_resolution(head.to(path), definition, kind, ty.clone());
            return;
        }
        self.add_resolution(head, definition, kind, Type::Any);
        if let Some((kind, definition)) = self.export_definition(reference) {
            self.add_resolution(path, definition, kind, ty.clone());
        }
    }

    /// The export of a child or data source that a reference reads.
    fn export_definition(&self, reference: &Ref) -> Option<(DefinitionKind, Span)> {
        let blueprint::AccessorKind::Name(export) = &reference.path.first()?.kind else {
            return None;
        };
        match &reference.head {
            ReferenceHead::Child(name) => {
                let at = self.blueprint.children.get_index_of(name)?;
                let declared = self.child(at)?.checked.blueprint.exports.get(export)?;
                Some((DefinitionKind::ChildExport(at as u32), declared.span))
            }
            ReferenceHead::DataSource(name) => {
                let (at, _, source) = self.blueprint.data_sources.get_full(name)?;
                let declared = source
                    .exports
                    .get(export)
                    .map(|export| export.span)
                    .or(source.export_all)?;
                Some((DefinitionKind::DataSourceExport(at as u32), declared))
            }
            _ => None,
        }
    }

    /// Records the resource or child that an entry of a list of names refers to. Such an entry has
    /// no value.
    pub(super) fn resolve_name(&mut self, name: &Spanned<Name>) {
        if self.resolutions.is_none() {
            return;
        }
        let blueprint = self.blueprint;
        let found = if let Some((at, _, resource)) = blueprint.resources.get_full(&name.item) {
            (DefinitionKind::Resource(at as u32), resource.span)
        } else if let Some((at, _, child)) = blueprint.children.get_full(&name.item) {
            (DefinitionKind::Child(at as u32), child.span)
        } else {
            return;
        };
        self.add_resolution(name.span, found.1, found.0, Type::Any);
    }

    /// Records a called function with the type of the result.
    pub(super) fn resolve_call(&mut self, call: &CallExpr, ty: &Type) {
        if self.resolutions.is_none() {
            return;
        }
        if let Some(function) = self.functions.get(&call.function) {
            self.resolve_function(&function.name, call.name_span, ty.clone());
        }
    }

    /// Records a function at the place of its name.
    pub(super) fn resolve_function(&mut self, name: &Name, span: Span, ty: Type) {
        self.add_resolution(span, Span::NONE, DefinitionKind::Function(name.clone()), ty);
    }

    fn add_resolution(&mut self, span: Span, definition: Span, kind: DefinitionKind, ty: Type) {
        if let Some(resolutions) = &mut self.resolutions {
            resolutions.add(span, definition, kind, ty);
        }
    }
}

/// The kind and the place of the definition that the head of a reference refers to.
fn definition(
    blueprint: &Blueprint,
    head: &ReferenceHead,
    owner: Option<GraphNode>,
) -> Option<(DefinitionKind, Span)> {
    match head {
        ReferenceHead::Input(name) => blueprint
            .inputs
            .get_full(name)
            .map(|(at, _, it)| (DefinitionKind::Input(at as u32), it.span)),
        ReferenceHead::Local(name) => blueprint
            .locals
            .get_full(name)
            .map(|(at, _, it)| (DefinitionKind::Local(at as u32), it.span)),
        ReferenceHead::DataSource(name) => blueprint
            .data_sources
            .get_full(name)
            .map(|(at, _, it)| (DefinitionKind::DataSource(at as u32), it.span)),
        ReferenceHead::Resource { name, .. } => blueprint
            .resources
            .get_full(name)
            .map(|(at, _, it)| (DefinitionKind::Resource(at as u32), it.span)),
        ReferenceHead::Child(name) => blueprint
            .children
            .get_full(name)
            .map(|(at, _, it)| (DefinitionKind::Child(at as u32), it.span)),
        ReferenceHead::Item | ReferenceHead::Position => {
            let Some(GraphNode::Resource(at)) = owner else {
                return None;
            };
            let each = blueprint
                .resources
                .get_index(at as usize)?
                .1
                .each
                .as_ref()?;
            let kind = if *head == ReferenceHead::Item {
                DefinitionKind::EachItem(at)
            } else {
                DefinitionKind::EachPosition(at)
            };
            Some((kind, each.list.span))
        }
        ReferenceHead::Scoped(_) => None,
    }
}
