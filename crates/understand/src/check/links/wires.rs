//! Computes the edges of the graph that links cause for resources and for parts of links.
//!
//! A hard link is an edge between its ends. A `with` contribution adds edges to the elements that
//! it reads. Soft links that read nothing cause no edge, so they may form cycles.

use blueprint::{Blueprint, Expr, ExprKind, Name};
use diag::Span;
use provider::{ResourceType, Side};

use crate::check::edges::Edges;
use crate::graph::{Edge, EdgeKind, GraphNode};
use crate::links::wiring::{LinkRead, LinkTarget, is_settable};
use crate::links::{DeterministicMap, LinkedPair, Links};

/// Computes the edges and stores them with the links.
pub(crate) fn add_link_edges<'a>(
    blueprint: &Blueprint,
    links: &mut Links,
    type_of: impl Fn(u32) -> Option<&'a ResourceType>,
) {
    let mut wires: DeterministicMap<u32, Vec<Edge>> = DeterministicMap::default();
    let mut parts = Vec::with_capacity(links.pairs().len());
    let edges = Edges { blueprint, links };
    for (number, pair) in links.pairs().iter().enumerate() {
        let at = LinkWires {
            edges,
            pair,
            number: number as u32,
        };
        match pair.kind.first {
            Some(Side::A) => wires
                .entry(pair.b)
                .or_default()
                .push(at.edge(GraphNode::Resource(pair.a))),
            Some(Side::B) => wires
                .entry(pair.a)
                .or_default()
                .push(at.edge(GraphNode::Resource(pair.b))),
            None => {}
        }
        for (target, reads) in &pair.wiring.with {
            let resource = match target {
                LinkTarget::End(side) => Some(pair.end(*side)),
                LinkTarget::Use(used) => pair
                    .uses
                    .get(*used)
                    .copied()
                    .flatten()
                    .map(|used| used.resource),
            };
            let Some(resource) = resource else { continue };
            let mut needed = Vec::new();
            for side in [Side::A, Side::B]
                .into_iter()
                .filter(|side| *target != LinkTarget::End(*side))
            {
                at.presence(side, &mut needed);
            }
            for read in reads {
                at.read(*target, read, &type_of, &mut needed);
            }
            at.requirements(*target, &type_of, &mut needed);
            needed.retain(|edge| edge.to != GraphNode::Resource(resource));
            wires.entry(resource).or_default().extend(needed);
        }
        parts.push(if pair.kind.parts.is_empty() {
            Vec::new()
        } else {
            at.parts()
        });
    }
    for edges in wires.values_mut() {
        let mut seen: std::collections::HashSet<(GraphNode, bool), foldhash::fast::FixedState> =
            Default::default();
        edges.retain(|edge| seen.insert((edge.to, edge.kind == EdgeKind::Link)));
    }
    links.set_edges(wires, parts);
}

struct LinkWires<'a> {
    edges: Edges<'a>,
    pair: &'a LinkedPair,
    number: u32,
}

impl LinkWires<'_> {
    fn edge(&self, to: GraphNode) -> Edge {
        Edge {
            to,
            kind: EdgeKind::Link,
            span: self.pair.span,
        }
    }

    /// The edges to the elements that decide whether an end and its members exist.
    fn presence(&self, side: Side, needed: &mut Vec<Edge>) {
        let Some((_, end)) = self
            .edges
            .blueprint
            .resources
            .get_index(self.pair.end(side) as usize)
        else {
            return;
        };
        let each = end
            .each
            .iter()
            .flat_map(|each| [Some(&each.list), each.key.as_ref()])
            .flatten();
        for expr in each.chain(end.condition.as_deref()) {
            self.document(expr, needed);
        }
    }

    /// The edges of an expression of the document, attributed to this link.
    fn document(&self, expr: &Expr, needed: &mut Vec<Edge>) {
        let span: Span = self.pair.span;
        self.edges.needs(expr, EdgeKind::Link, &mut |edge: Edge| {
            let kind = if edge.kind == EdgeKind::ReadsMetadata {
                edge.kind
            } else {
                EdgeKind::Link
            };
            needed.push(Edge { kind, span, ..edge });
        });
    }

    fn read<'t>(
        &self,
        target: LinkTarget,
        read: &LinkRead,
        type_of: &impl Fn(u32) -> Option<&'t ResourceType>,
        needed: &mut Vec<Edge>,
    ) {
        match read {
            LinkRead::Spec(side, field) => {
                let end = self.pair.end(*side);
                let is_from_document = type_of(end).is_some_and(|ty| {
                    self.pair.wiring.reads_document(
                        &self.pair.kind,
                        target,
                        *side,
                        field.as_ref(),
                        &ty.schema,
                    )
                });
                match field.as_ref().filter(|_| is_from_document) {
                    Some(field) => {
                        if let Some(value) = self.field(*side, field) {
                            self.document(value, needed);
                        }
                    }
                    None => needed.push(self.edge(GraphNode::Resource(end))),
                }
            }
            LinkRead::Metadata(side) => {
                let to = GraphNode::Resource(self.pair.end(*side));
                needed.push(Edge {
                    to,
                    kind: EdgeKind::ReadsMetadata,
                    span: self.pair.span,
                });
            }
            LinkRead::Use(used) => {
                let used = self.pair.uses.get(*used).copied().flatten();
                needed.extend(used.map(|used| self.edge(GraphNode::Resource(used.resource))));
            }
            LinkRead::Part(_) => needed.push(self.edge(GraphNode::Link(self.number))),
        }
    }

    /// The edges to the elements that the kind's requirements read. These elements must be known
    /// before any contribution with a target is written. Fields that the target itself computes are
    /// excepted.
    fn requirements<'t>(
        &self,
        target: LinkTarget,
        type_of: &impl Fn(u32) -> Option<&'t ResourceType>,
        needed: &mut Vec<Edge>,
    ) {
        for read in &self.pair.wiring.require {
            match read {
                LinkRead::Spec(side, _) if target == LinkTarget::End(*side) => {}
                LinkRead::Spec(side, field) => {
                    let end = self.pair.end(*side);
                    let set = field.as_ref().filter(|field| {
                        type_of(end).is_some_and(|ty| is_settable(&ty.schema, field))
                    });
                    match set {
                        Some(field) => {
                            if let Some(value) = self.field(*side, field) {
                                self.document(value, needed);
                            }
                        }
                        None => needed.push(self.edge(GraphNode::Resource(end))),
                    }
                }
                other => self.read(target, other, type_of, needed),
            }
        }
    }

    /// A field as the document writes it.
    fn field(&self, side: Side, field: &Name) -> Option<&Expr> {
        let (_, end) = self
            .edges
            .blueprint
            .resources
            .get_index(self.pair.end(side) as usize)?;
        match &end.spec.kind {
            ExprKind::Map(entries) => entries
                .iter()
                .find(|(key, _)| key.item == *field)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// The edges of the parts to both ends, except to an end that itself waits for a part.
    fn parts(&self) -> Vec<Edge> {
        let mut needed = Vec::new();
        for side in [Side::A, Side::B] {
            if !self.pair.wiring.end_waits_for_part(side) {
                needed.push(self.edge(GraphNode::Resource(self.pair.end(side))));
                continue;
            }
            self.presence(side, &mut needed);
            for read in self.pair.wiring.parts.iter().flatten() {
                if let LinkRead::Spec(it, Some(field)) = read
                    && *it == side
                    && let Some(value) = self.field(side, field)
                {
                    self.document(value, &mut needed);
                }
            }
        }
        for read in self.pair.wiring.parts.iter().flatten() {
            if let LinkRead::Use(used) = read
                && let Some(used) = self.pair.uses.get(*used).copied().flatten()
            {
                needed.push(self.edge(GraphNode::Resource(used.resource)));
            }
        }
        needed.retain(|edge| edge.to != GraphNode::Link(self.number));
        needed
    }
}
