//! Finds the direct dependencies of each element, and their reasons.
//!
//! References in descriptions are not edges. References to metadata are edges of their own kind
//! (decisions/blueprint#references-that-cause-an-order). A reference to the element itself is an
//! error (decisions/blueprint#self-references), which is reported where the reference is typed.
//! Unresolved names are left out.
//!
//! Not here: cycles (`cycles`).

use std::collections::HashSet;

use blueprint::{
    Accessor, AccessorKind, Blueprint, Child, DataSource, Expr, ExprKind, Local, Name, Ref,
    ReferenceHead, Resource, TextPart, Value,
};
use diag::Spanned;

use crate::graph::{Edge, EdgeKind, GraphNode};
use crate::links::Links;
use crate::links::address::plain_name;

/// Computes the edges of nodes.
#[derive(Clone, Copy)]
pub(super) struct Edges<'a> {
    pub blueprint: &'a Blueprint,
    pub links: &'a Links,
}

/// A reference and the edge that it causes.
pub struct EdgeCause<'e> {
    pub(crate) edge: Edge,
    pub(crate) reference: Option<&'e Ref>,
}

impl<'a> Edges<'a> {
    /// Appends the dependencies of a node, except on itself, in the order in which the document
    /// writes them.
    pub(super) fn of(self, node: GraphNode, out: &mut Vec<Edge>) {
        let before = out.len();
        self.collect(node, out);
        out[before..].sort_by_key(|edge| edge.span.start);
    }

    fn collect(self, node: GraphNode, out: &mut Vec<Edge>) {
        let mut add = |edge: Edge| {
            if edge.to != node {
                out.push(edge);
            }
        };
        let blueprint = self.blueprint;
        match node {
            GraphNode::Local(at) => {
                if let Some((_, local)) = blueprint.locals.get_index(at as usize) {
                    self.local(local, &mut add);
                }
            }
            GraphNode::DataSource(at) => {
                if let Some((_, source)) = blueprint.data_sources.get_index(at as usize) {
                    self.data_source(source, &mut add);
                }
            }
            GraphNode::Resource(at) => {
                if let Some((_, resource)) = blueprint.resources.get_index(at as usize) {
                    self.resource(resource, &mut add);
                    self.resource_metadata(resource, &mut add);
                }
                self.links.edges(at).iter().copied().for_each(&mut add);
            }
            GraphNode::Link(at) => self.links.part_edges(at).iter().copied().for_each(&mut add),
            GraphNode::Child(at) => {
                if let Some((_, child)) = blueprint.children.get_index(at as usize) {
                    self.child(child, &mut add);
                }
            }
            GraphNode::Input(_) => {}
        }
    }

    /// The dependencies of a local's value.
    pub(super) fn local(self, local: &Local, add: &mut impl FnMut(Edge)) {
        self.needs(&local.value, EdgeKind::Reads, add);
    }

    fn data_source(self, source: &DataSource, add: &mut impl FnMut(Edge)) {
        for filter in &source.filters {
            self.needs(&filter.search, EdgeKind::Reads, add);
        }
        for expr in metadata_of(&source.metadata) {
            self.needs(expr, EdgeKind::Reads, add);
        }
        self.provider(source.provider.as_deref(), add);
    }

    /// The dependency on the resource that declares the configuration of a provider.
    fn provider(self, name: Option<&Spanned<Name>>, add: &mut impl FnMut(Edge)) {
        if let Some(name) = name
            && let Some(at) = self.blueprint.resources.get_index_of(&name.item)
        {
            add(Edge {
                to: GraphNode::Resource(at as u32),
                kind: EdgeKind::DependsOn,
                span: name.span,
            });
        }
    }

    /// The dependencies of a resource, without those of its metadata.
    pub(super) fn resource(self, resource: &Resource, add: &mut impl FnMut(Edge)) {
        if let Some(each) = &resource.each {
            self.needs(&each.list, EdgeKind::Reads, add);
        }
        if let Some(condition) = &resource.condition {
            self.needs(condition, EdgeKind::Condition, add);
        }
        for name in &resource.depends_on {
            if let Some(at) = self.blueprint.resources.get_index_of(&name.item) {
                add(Edge {
                    to: GraphNode::Resource(at as u32),
                    kind: EdgeKind::DependsOn,
                    span: name.span,
                });
            } else if let Some(at) = self.blueprint.children.get_index_of(&name.item) {
                add(Edge {
                    to: GraphNode::Child(at as u32),
                    kind: EdgeKind::DependsOn,
                    span: name.span,
                });
            }
        }
        self.provider(resource.provider.as_deref(), add);
        // An external resource is not created from its spec.
        if resource.lifecycle.external.is_none() {
            self.needs(&resource.spec, EdgeKind::Reads, add);
        }
    }

    /// The dependencies of a resource's metadata.
    pub(super) fn resource_metadata(self, resource: &Resource, add: &mut impl FnMut(Edge)) {
        if resource.lifecycle.external.is_some() {
            return;
        }
        for expr in metadata_of(&resource.metadata) {
            self.needs(expr, EdgeKind::Reads, add);
        }
        if let Some(key) = resource.each.as_ref().and_then(|each| each.key.as_ref()) {
            self.needs(key, EdgeKind::Reads, add);
        }
    }

    fn child(self, child: &Child, add: &mut impl FnMut(Edge)) {
        for name in &child.depends_on {
            let to = match self.blueprint.resources.get_index_of(&name.item) {
                Some(at) => GraphNode::Resource(at as u32),
                None => match self.blueprint.children.get_index_of(&name.item) {
                    Some(at) => GraphNode::Child(at as u32),
                    None => continue,
                },
            };
            add(Edge {
                to,
                kind: EdgeKind::DependsOn,
                span: name.span,
            });
        }
        self.needs(&child.path, EdgeKind::Reads, add);
        for (_, expr) in &child.inputs {
            self.needs(expr, EdgeKind::Reads, add);
        }
        for (_, expr) in child.source.iter().flat_map(|source| &source.entries) {
            self.needs(expr, EdgeKind::Reads, add);
        }
        if let Some(condition) = &child.condition {
            self.needs(condition, EdgeKind::Condition, add);
        }
        if let Some(expansion) = &child.expansion {
            self.needs(&expansion.spec, EdgeKind::Reads, add);
        }
    }

    /// The edges of one expression.
    pub(super) fn needs(self, expr: &Expr, kind: EdgeKind, add: &mut impl FnMut(Edge)) {
        self.each_need(expr, kind, &mut |need| add(need.edge));
    }

    /// The edges of one expression, each with the reference that causes it.
    pub(super) fn each_need<'e>(
        self,
        expr: &'e Expr,
        kind: EdgeKind,
        add: &mut impl FnMut(EdgeCause<'e>),
    ) {
        match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Function(_) | ExprKind::Error => {}
            ExprKind::Ref(reference) => {
                if let Some(to) = self.target(&reference.head) {
                    let kind = if reads_metadata(reference) {
                        EdgeKind::ReadsMetadata
                    } else {
                        kind
                    };
                    add(EdgeCause {
                        edge: Edge {
                            to,
                            kind,
                            span: reference.head_span,
                        },
                        reference: Some(reference),
                    });
                }
            }
            ExprKind::List(items) => items
                .iter()
                .for_each(|item| self.each_need(item, kind, add)),
            ExprKind::Map(entries) => entries
                .iter()
                .for_each(|(_, value)| self.each_need(value, kind, add)),
            ExprKind::Text(parts) => {
                for part in parts {
                    if let TextPart::Expr(expr, _) = part {
                        self.each_need(expr, kind, add);
                    }
                }
            }
            ExprKind::Access(inner, _) | ExprKind::Substitution(inner) => {
                self.each_need(inner, kind, add)
            }
            ExprKind::Choice(choice) => {
                for expr in [&choice.condition, &choice.then, &choice.otherwise] {
                    self.each_need(expr, kind, add);
                }
            }
            ExprKind::Call(call) => {
                if call.function.as_ref() == "link"
                    && let [a, b] = call.arguments.as_slice()
                    && let (Some(a), Some(b)) = (self.end(&a.value), self.end(&b.value))
                    && let Some(link) = self.links.between(a, b)
                {
                    let edge = Edge {
                        to: GraphNode::Link(link),
                        kind,
                        span: call.name_span,
                    };
                    add(EdgeCause {
                        edge,
                        reference: None,
                    });
                }
                for argument in &call.arguments {
                    // `link` also takes its ends by name.
                    if call.function.as_ref() == "link"
                        && let ExprKind::Literal(Value::Text(text)) = &argument.value.kind
                        && let Some(at) = self.blueprint.resources.get_index_of(plain_name(text))
                    {
                        let edge = Edge {
                            to: GraphNode::Resource(at as u32),
                            kind,
                            span: argument.value.span,
                        };
                        add(EdgeCause {
                            edge,
                            reference: None,
                        });
                    }
                    self.each_need(&argument.value, kind, add);
                }
            }
        }
    }

    /// The resource that an argument of `link` refers to.
    fn end(self, argument: &Expr) -> Option<u32> {
        let name = match &argument.inner().kind {
            ExprKind::Literal(Value::Text(text)) => plain_name(text),
            ExprKind::Ref(reference) => match &reference.head {
                ReferenceHead::Resource { name, .. } => name,
                _ => return None,
            },
            _ => return None,
        };
        self.blueprint
            .resources
            .get_index_of(name)
            .map(|at| at as u32)
    }

    /// The node that a head refers to; `None` for inputs.
    pub(super) fn target(self, head: &ReferenceHead) -> Option<GraphNode> {
        let blueprint = self.blueprint;
        match head {
            ReferenceHead::Local(name) => blueprint
                .locals
                .get_index_of(name)
                .map(|at| GraphNode::Local(at as u32)),
            ReferenceHead::DataSource(name) => blueprint
                .data_sources
                .get_index_of(name)
                .map(|at| GraphNode::DataSource(at as u32)),
            ReferenceHead::Resource { name, .. } => blueprint
                .resources
                .get_index_of(name)
                .map(|at| GraphNode::Resource(at as u32)),
            ReferenceHead::Child(name) => blueprint
                .children
                .get_index_of(name)
                .map(|at| GraphNode::Child(at as u32)),
            ReferenceHead::Input(_)
            | ReferenceHead::Item
            | ReferenceHead::Position
            | ReferenceHead::Scoped(_) => None,
        }
    }
}

/// Visits the expressions of a node that cause edges, each with the kind of its edges.
pub fn expressions<'b>(
    blueprint: &'b Blueprint,
    node: GraphNode,
    visit: &mut impl FnMut(&'b Expr, EdgeKind),
) {
    match node {
        GraphNode::Local(at) => {
            if let Some((_, local)) = blueprint.locals.get_index(at as usize) {
                visit(&local.value, EdgeKind::Reads);
            }
        }
        GraphNode::DataSource(at) => {
            if let Some((_, source)) = blueprint.data_sources.get_index(at as usize) {
                source
                    .filters
                    .iter()
                    .for_each(|filter| visit(&filter.search, EdgeKind::Reads));
                metadata_of(&source.metadata).for_each(|expr| visit(expr, EdgeKind::Reads));
            }
        }
        GraphNode::Resource(at) => {
            if let Some((_, resource)) = blueprint.resources.get_index(at as usize) {
                let each = resource
                    .each
                    .iter()
                    .flat_map(|each| each.key.iter().chain([&each.list]));
                each.for_each(|expr| visit(expr, EdgeKind::Reads));
                resource
                    .condition
                    .iter()
                    .for_each(|expr| visit(expr, EdgeKind::Condition));
                let protection = resource.protection.as_deref();
                protection
                    .into_iter()
                    .for_each(|expr| visit(expr, EdgeKind::Reads));
                if resource.lifecycle.external.is_none() {
                    visit(&resource.spec, EdgeKind::Reads);
                    metadata_of(&resource.metadata).for_each(|expr| visit(expr, EdgeKind::Reads));
                }
            }
        }
        GraphNode::Child(_) | GraphNode::Link(_) | GraphNode::Input(_) => {}
    }
}

/// The expressions in metadata.
fn metadata_of(metadata: &blueprint::ResourceMetadata) -> impl Iterator<Item = &Expr> {
    let annotations = metadata.annotations.iter().map(|(_, expr)| expr);
    metadata
        .display_name
        .iter()
        .chain(annotations)
        .chain(&metadata.custom)
        .chain(metadata.replacement_trigger.as_deref())
}

/// Whether a reference reads a resource's metadata.
pub(crate) fn reads_metadata(reference: &Ref) -> bool {
    let named = |accessor: &Accessor| matches!(&accessor.kind, AccessorKind::Name(name) if name.as_ref() == "metadata");
    let after_index = match reference.path.first() {
        Some(Accessor {
            kind: AccessorKind::Index(_),
            ..
        }) => reference.path.get(1),
        first => first,
    };
    matches!(reference.head, ReferenceHead::Resource { .. }) && after_index.is_some_and(named)
}

/// The resources and children that the definition of a child refers to, each once.
pub fn read_by(child: &Child) -> Vec<Spanned<Name>> {
    let mut read: Vec<Spanned<Name>> = Vec::new();
    let mut known: HashSet<Name, foldhash::fast::FixedState> = HashSet::default();
    let given = child.inputs.iter().map(|(_, expr)| expr);
    for expr in given.chain(child.expansion.iter().map(|expansion| &expansion.spec)) {
        expr.references(&mut |reference| {
            if let ReferenceHead::Resource { name, .. } | ReferenceHead::Child(name) =
                &reference.head
                && known.insert(name.clone())
            {
                read.push(Spanned::new(name.clone(), reference.head_span));
            }
        });
    }
    read
}
