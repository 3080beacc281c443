//! Builds the dependency graph of a document and reports its cycles
//! (decisions/blueprint#graph-and-cycles, decisions/blueprint#references-that-cause-an-order).
//!
//! A cycle is reported once, with its full path and a label on every edge. A reference to metadata
//! orders only evaluation. If only such references close a cycle, the cycle is an error only if no
//! order of evaluation exists in which each resource's metadata is a node of its own.
//!
//! A cycle of links alone is reported as `link-cycle` at its first link.
//!
//! Not here: an element that depends on itself directly (`references`), cycles of guarantees
//! (`links`).

use diag::{Diagnostic, Diagnostics};

use super::edges::Edges;
use super::{Checker, codes};
use crate::graph::{Edge, EdgeKind, Graph, GraphNode};
use crate::links::Links;

impl Checker<'_> {
    /// Builds the graph of the document. Reports its cycles.
    pub(super) fn order(&mut self, links: &Links) -> Graph {
        let blueprint = self.blueprint;
        let edges = Edges { blueprint, links };
        let waits = super::implicit_dependencies::edges(blueprint, &self.resources);
        let waits_of = |node: GraphNode| match node {
            GraphNode::Resource(at) => waits.get(&at).map_or(&[][..], Vec::as_slice),
            _ => &[],
        };
        let counts = [
            blueprint.locals.len(),
            blueprint.data_sources.len(),
            blueprint.resources.len(),
            blueprint.children.len(),
            links.pairs().len(),
            0,
        ];
        let mut any_metadata = false;
        let mut all = |children: bool| {
            Graph::new(counts, |node, out| {
                let before = out.len();
                if children || !matches!(node, GraphNode::Child(_)) {
                    edges.of(node, out);
                    out.extend_from_slice(waits_of(node));
                }
                any_metadata |= out[before..]
                    .iter()
                    .any(|edge| edge.kind == EdgeKind::ReadsMetadata);
            })
        };
        let (mut graph, mut cycles) = all(true);
        // An export has its own dependencies, so cycles through a child are checked in the graph
        // over all documents.
        let through_child = cycles
            .iter()
            .flatten()
            .any(|(node, _)| matches!(node, GraphNode::Child(_)));
        if through_child {
            (graph, cycles) = all(false);
        }
        if cycles.is_empty() || !any_metadata {
            self.report(&cycles);
            return graph;
        }
        let (graph, cycles) = Graph::new(counts, |node, out| {
            if !through_child || !matches!(node, GraphNode::Child(_)) {
                edges.of(node, out);
                out.extend_from_slice(waits_of(node));
            }
            out.retain(|edge| edge.kind != EdgeKind::ReadsMetadata);
        });
        if cycles.is_empty() {
            let cycles = self.evaluation_cycles(counts, links);
            self.report(&cycles);
        } else {
            self.report(&cycles);
        }
        graph
    }

    /// The cycles of evaluation. Resources have two nodes each: first all specs, then all metadata.
    fn evaluation_cycles(&self, counts: [usize; 6], links: &Links) -> Vec<Vec<(GraphNode, Edge)>> {
        let edges = Edges {
            blueprint: self.blueprint,
            links,
        };
        let resources = counts[2] as u32;
        let parted = |mut edge: Edge| {
            if let (GraphNode::Resource(at), EdgeKind::ReadsMetadata) = (edge.to, edge.kind) {
                edge.to = GraphNode::Resource(at + resources);
            }
            edge
        };
        let (_, cycles) = Graph::new(
            [counts[0], counts[1], counts[2] * 2, counts[3], counts[4], 0],
            |node, out| match node {
                GraphNode::Resource(at) => {
                    let itself = GraphNode::Resource(at % resources);
                    let Some((_, resource)) = self
                        .blueprint
                        .resources
                        .get_index((at % resources) as usize)
                    else {
                        return;
                    };
                    let mut add = |edge: Edge| {
                        if edge.to != itself {
                            out.push(parted(edge));
                        }
                    };
                    if at < resources {
                        edges.resource(resource, &mut add);
                        links.edges(at).iter().copied().for_each(&mut add);
                    } else {
                        edges.resource_metadata(resource, &mut add);
                    }
                }
                other => {
                    let before = out.len();
                    edges.of(other, out);
                    out[before..]
                        .iter_mut()
                        .for_each(|edge| *edge = parted(*edge));
                }
            },
        );
        let whole = |node| match node {
            GraphNode::Resource(at) => GraphNode::Resource(at % resources),
            other => other,
        };
        cycles
            .into_iter()
            .map(|cycle| {
                cycle
                    .into_iter()
                    .map(|(node, edge)| {
                        (
                            whole(node),
                            Edge {
                                to: whole(edge.to),
                                ..edge
                            },
                        )
                    })
                    .collect()
            })
            .collect()
    }

    fn report(&mut self, cycles: &[Vec<(GraphNode, Edge)>]) {
        let found: Diagnostics = cycles
            .iter()
            .filter(|cycle| !cycle.is_empty())
            .map(|cycle| self.cycle(cycle))
            .collect();
        self.found.append(found);
    }

    fn cycle(&self, cycle: &[(GraphNode, Edge)]) -> Diagnostic {
        // Start the path at the edge that is first in document order.
        let first = (0..cycle.len())
            .min_by_key(|at| (cycle[*at].1.span.file, cycle[*at].1.span.start))
            .unwrap_or(0);
        let round = || cycle[first..].iter().chain(&cycle[..first]);
        let mut path: Vec<String> = round().map(|(node, _)| self.node_name(*node)).collect();
        path.extend(path.first().cloned());
        // A cycle of links alone is fixed at a link.
        let by_links = cycle.iter().all(|(_, edge)| edge.kind == EdgeKind::Link);
        let mut diagnostic = if by_links {
            codes::LINK_CYCLE.new(format!(
                "links order each other in a circle: {}",
                path.join(" -> ")
            ))
        } else {
            codes::CYCLE.new(format!("elements need each other: {}", path.join(" -> ")))
        };
        for (node, edge) in round() {
            let verb = match edge.kind {
                EdgeKind::DependsOn => "waits for",
                EdgeKind::Condition => "exists only depending on",
                EdgeKind::Reads | EdgeKind::ReadsMetadata => "reads",
                EdgeKind::Link => "is linked so that it comes after",
            };
            let text = format!(
                "`{}` {verb} `{}`",
                self.node_name(*node),
                self.node_name(edge.to)
            );
            diagnostic = diagnostic.label(edge.span, text);
        }
        {
            let named = |node: &GraphNode| match *node {
                GraphNode::Resource(at) => {
                    self.blueprint
                        .resources
                        .get_index(at as usize)
                        .map(|(name, resource)| {
                            let ty = resource
                                .stands_for
                                .as_ref()
                                .map_or(&resource.type_name, |written| written);
                            (name.as_ref(), ty.item.as_ref())
                        })
                }
                GraphNode::Child(at) => {
                    self.blueprint
                        .children
                        .get_index(at as usize)
                        .map(|(name, child)| {
                            (
                                name.as_ref(),
                                child
                                    .path
                                    .as_literal()
                                    .and_then(blueprint::Value::as_text)
                                    .unwrap_or_default(),
                            )
                        })
                }
                _ => None,
            };
            let named: Vec<(&str, &str)> = round().filter_map(|(node, _)| named(node)).collect();
            diagnostic.native_message = self
                .rules
                .messages
                .of(&dialect::Mistake::Cycle(&named))
                .map(Box::new);
        }
        diagnostic.help(if by_links {
            "take away one of these links"
        } else {
            "take away one of these references"
        })
    }

    /// The name of a node as expressions write it.
    pub(super) fn node_name(&self, node: GraphNode) -> String {
        let blueprint = self.blueprint;
        let name = match node {
            GraphNode::Local(at) => blueprint
                .locals
                .get_index(at as usize)
                .map(|(name, _)| format!("values.{name}")),
            GraphNode::DataSource(at) => blueprint
                .data_sources
                .get_index(at as usize)
                .map(|(name, _)| format!("datasources.{name}")),
            GraphNode::Resource(at) => blueprint
                .resources
                .get_index(at as usize)
                .map(|(name, _)| name.to_string()),
            GraphNode::Child(at) => blueprint
                .children
                .get_index(at as usize)
                .map(|(name, _)| format!("children.{name}")),
            GraphNode::Link(at) => self.links.pair(at).map(|pair| self.link_name(pair)),
            GraphNode::Input(_) => None,
        };
        name.unwrap_or_default()
    }
}
