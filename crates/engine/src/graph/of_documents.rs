//! Makes the picture of documents: all elements and their dependencies.

use std::collections::{HashMap, HashSet};

use crate::phases::{Documents, EdgeKind, GraphNode};

use super::picture::{Element, ElementKind, Picture};

/// Returns the picture of documents.
pub fn picture(documents: &Documents, title: String) -> Picture {
    let graph = documents.graph();
    let links = documents.links();
    // An input of a child without dependencies is like a variable of the root, which is not shown
    // either.
    let idle =
        |node: &GraphNode| matches!(node, GraphNode::Input(_)) && graph.edges(*node).is_empty();
    let nodes: Vec<GraphNode> = graph
        .nodes()
        .iter()
        .copied()
        .filter(|node| !idle(node))
        .collect();
    let places: HashMap<GraphNode, usize> = nodes
        .iter()
        .enumerate()
        .map(|(at, node)| (*node, at))
        .collect();
    let place = |node: GraphNode| places.get(&node).copied().unwrap_or_default();
    let elements = nodes
        .iter()
        .map(|node| {
            // List each dependency once for each of its kinds, in document order.
            let mut seen = HashSet::new();
            let needs = graph
                .edges(*node)
                .iter()
                .filter_map(|edge| Some((*places.get(&edge.to)?, word(edge.kind))));
            let needs = needs.filter(|edge| seen.insert(*edge)).collect();
            if let GraphNode::Link(at) = node
                && let Some(pair) = links.pairs().get(*at as usize)
            {
                // Show a link with its two ends only, not with its other dependencies.
                let [a, b] = [GraphNode::Resource(pair.a), GraphNode::Resource(pair.b)];
                let ty = Some(format!("{}::{}", pair.kind.a, pair.kind.b));
                let name = documents.name_of(*node);
                return Element {
                    name,
                    kind: ElementKind::Link,
                    ty,
                    needs: vec![(place(a), "from"), (place(b), "to")],
                };
            }
            let ty = documents
                .type_of(*node)
                .map(|ty| match documents.made_from(*node) {
                    Some(source) => format!("{ty}, made from {source}"),
                    None => ty.to_string(),
                });
            Element {
                name: documents.name_of(*node),
                kind: kind(*node),
                ty,
                needs,
            }
        })
        .collect();
    Picture {
        title,
        elements,
        order: graph
            .order()
            .filter(|node| !idle(node))
            .map(place)
            .collect(),
    }
}

fn kind(node: GraphNode) -> ElementKind {
    match node {
        GraphNode::Local(_) => ElementKind::Value,
        GraphNode::DataSource(_) => ElementKind::DataSource,
        GraphNode::Resource(_) => ElementKind::Resource,
        GraphNode::Child(_) | GraphNode::Input(_) => ElementKind::Child,
        GraphNode::Link(_) => ElementKind::Link,
    }
}

fn word(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Reads => "reads",
        EdgeKind::ReadsMetadata => "reads-metadata",
        EdgeKind::DependsOn => "depends-on",
        EdgeKind::Condition => "condition",
        EdgeKind::Link => "link",
    }
}
