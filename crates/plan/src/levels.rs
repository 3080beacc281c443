//! The order in which elements are decided, and the intermediate values that are read.

use blueprint::{Ref, ReferenceHead};
use understand::documents::Documents;
use understand::graph::{Graph, GraphNode};

/// The nodes of a graph by level: the longest path from a node to one without edges. Within a
/// level, in the graph's order.
pub(crate) fn levels(graph: &Graph) -> Vec<Vec<GraphNode>> {
    // By position; the nodes of a cycle have no level.
    let mut level_of: Vec<Option<u32>> = vec![None; graph.nodes().len()];
    let mut sizes: Vec<usize> = Vec::new();
    for node in graph.order() {
        let below = graph
            .edges(node)
            .iter()
            .filter_map(|edge| level_of[graph.position(edge.to)])
            .max();
        let level = below.map_or(0, |below| below + 1);
        level_of[graph.position(node)] = Some(level);
        sizes.resize(sizes.len().max(level as usize + 1), 0);
        sizes[level as usize] += 1;
    }
    let mut levels: Vec<Vec<GraphNode>> = sizes.into_iter().map(Vec::with_capacity).collect();
    for node in graph.order() {
        if let Some(level) = level_of[graph.position(node)] {
            levels[level as usize].push(node);
        }
    }
    levels
}

/// Whether each intermediate value is read by another kind of element, directly or through other
/// intermediate values.
pub fn live_locals(documents: &Documents) -> Vec<bool> {
    let [locals, ..] = documents.counts();
    let graph = documents.graph();
    let root = documents.root();
    let blueprint = root.blueprint();
    let mut live = vec![false; locals];
    if locals == 0 {
        return live;
    }
    let mut seen = vec![false; graph.nodes().len()];
    let mut stack: Vec<GraphNode> = graph
        .nodes()
        .iter()
        .copied()
        .filter(|node| {
            matches!(
                node,
                GraphNode::Resource(_) | GraphNode::Child(_) | GraphNode::Input(_)
            )
        })
        .collect();
    // Exports and metadata of children count as read, even if no element reads them.
    for unit in &documents.units()[1..] {
        let blueprint = unit.blueprint();
        for expr in blueprint
            .exports
            .values()
            .map(|export| &export.field)
            .chain(&blueprint.metadata)
        {
            expr.references(&mut |reference| match &reference.head {
                ReferenceHead::Local(name) => {
                    stack.extend(
                        blueprint
                            .locals
                            .get_index_of(name)
                            .map(|at| GraphNode::Local(unit.local(at))),
                    );
                }
                ReferenceHead::DataSource(name) => {
                    let at = blueprint.data_sources.get_index_of(name);
                    stack.extend(at.map(|at| GraphNode::DataSource(unit.data_source(at))));
                }
                _ => {}
            });
        }
    }
    let mut read = |reference: &Ref| match &reference.head {
        ReferenceHead::Local(name) => {
            stack.extend(
                blueprint
                    .locals
                    .get_index_of(name)
                    .map(|index| GraphNode::Local(root.local(index))),
            );
        }
        ReferenceHead::DataSource(name) => {
            stack.extend(
                blueprint
                    .data_sources
                    .get_index_of(name)
                    .map(|index| GraphNode::DataSource(root.data_source(index))),
            );
        }
        _ => {}
    };
    blueprint
        .exports
        .values()
        .map(|export| &export.field)
        .chain(&blueprint.metadata)
        .for_each(|expr| expr.references(&mut read));
    while let Some(node) = stack.pop() {
        if std::mem::replace(&mut seen[graph.position(node)], true) {
            continue;
        }
        if let GraphNode::Local(index) = node {
            live[index as usize] = true;
        }
        stack.extend(graph.edges(node).iter().map(|edge| edge.to));
    }
    live
}
