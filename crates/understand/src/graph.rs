//! The dependency graph of a document: computed, checked for cycles, never stored.

use diag::Span;

/// An element. The graph of one blueprint identifies it by its position in the blueprint's own
/// list. The graph of several documents identifies it by its number among all elements of its kind
/// (see [`Documents`](crate::documents::Documents)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GraphNode {
    /// A named intermediate value.
    Local(u32),
    /// A data source.
    DataSource(u32),
    /// A resource. A resource with `each` is a single node.
    Resource(u32),
    /// A child document as a whole. Only in the graph of a single document.
    Child(u32),
    /// The parts of a link, by the link's number.
    Link(u32),
    /// An input of a child document. Only in the graph of several documents.
    Input(u32),
}

/// The reason why one element comes after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// The element reads the other's spec, value or export, so deployment waits.
    Reads,
    /// The element reads the other's metadata, so only evaluation waits
    /// (decisions/blueprint#references-that-cause-an-order).
    ReadsMetadata,
    /// `dependsOn`: the element waits until the other is ready
    /// (decisions/blueprint#explicit-dependencies).
    DependsOn,
    /// Only the condition of the element reads the other.
    Condition,
    /// A link orders the elements: a hard link, or a link that writes into one element a value that
    /// it reads from the other (decisions/links#hard-and-soft-kinds,
    /// decisions/links#effects-after-the-target).
    Link,
}

/// A dependency of one element on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The other element.
    pub to: GraphNode,
    /// The reason.
    pub kind: EdgeKind,
    /// The place of the reason: the head of the reference, or the name in `dependsOn`.
    pub span: Span,
}

/// The elements of a blueprint with their direct dependencies, and a topological order.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<GraphNode>,
    /// For each node, in the order of `nodes`, the position of its first edge in `edges`; one more
    /// entry at the end.
    starts: Vec<u32>,
    edges: Vec<Edge>,
    /// Positions in `nodes`, dependencies first, ties in document order. Nodes on cycles and their
    /// dependents are left out.
    order: Vec<u32>,
    /// The first position in `nodes` of locals, data sources, resources, children, links and
    /// inputs, in this order.
    offsets: [u32; 6],
}

impl Graph {
    /// Builds a graph. `counts` are the numbers of locals, data sources, resources, children, links
    /// and inputs; `edges_of` appends the edges of a node.
    ///
    /// Returns the graph and its cycles, one for each strongly connected component, as paths of
    /// (node, edge to the next). The paths are sorted by the place of their first edge. Linear in
    /// nodes and edges.
    pub fn new(
        counts: [usize; 6],
        mut edges_of: impl FnMut(GraphNode, &mut Vec<Edge>),
    ) -> (Graph, Vec<Vec<(GraphNode, Edge)>>) {
        let mut graph = Graph::default();
        let makers: [fn(u32) -> GraphNode; 6] = [
            GraphNode::Local,
            GraphNode::DataSource,
            GraphNode::Resource,
            GraphNode::Child,
            GraphNode::Link,
            GraphNode::Input,
        ];
        for (kind, count) in counts.into_iter().enumerate() {
            graph.offsets[kind] = graph.nodes.len() as u32;
            graph.nodes.extend((0..count as u32).map(makers[kind]));
        }
        graph.starts.reserve(graph.nodes.len() + 1);
        graph.edges.reserve(3 * graph.nodes.len());
        graph.starts.push(0);
        for at in 0..graph.nodes.len() {
            edges_of(graph.nodes[at], &mut graph.edges);
            graph.starts.push(graph.edges.len() as u32);
        }
        graph.edges.shrink_to_fit();
        graph.order.reserve_exact(graph.nodes.len());
        let cycles = graph.sort();
        (graph, cycles)
    }

    /// The position of a node in [`Graph::nodes`].
    pub fn position(&self, node: GraphNode) -> usize {
        let (kind, index) = match node {
            GraphNode::Local(index) => (0, index),
            GraphNode::DataSource(index) => (1, index),
            GraphNode::Resource(index) => (2, index),
            GraphNode::Child(index) => (3, index),
            GraphNode::Link(index) => (4, index),
            GraphNode::Input(index) => (5, index),
        };
        (self.offsets[kind] + index) as usize
    }

    fn edges_at(&self, position: usize) -> &[Edge] {
        &self.edges[self.starts[position] as usize..self.starts[position + 1] as usize]
    }

    /// The direct dependencies of a node, in the order in which the document writes them.
    pub fn edges(&self, node: GraphNode) -> &[Edge] {
        self.edges_at(self.position(node))
    }

    /// All nodes that neither are on a cycle nor depend on one, dependencies first, ties in
    /// document order.
    pub fn order(&self) -> impl Iterator<Item = GraphNode> {
        self.order
            .iter()
            .map(|position| self.nodes[*position as usize])
    }

    /// All nodes in document order of their kinds.
    pub fn nodes(&self) -> &[GraphNode] {
        &self.nodes
    }

    /// Depth-first search with an explicit stack. The finishing order is the topological order; the
    /// strongly connected components (Tarjan) are the cycles.
    fn sort(&mut self) -> Vec<Vec<(GraphNode, Edge)>> {
        const NEW: u32 = u32::MAX;
        let count = self.nodes.len();
        let mut index = vec![NEW; count];
        let mut low = vec![0_u32; count];
        let mut on_stack = vec![false; count];
        let mut in_cycle = vec![false; count];
        let mut component_stack: Vec<u32> = Vec::new();
        let mut walk: Vec<(u32, u32)> = Vec::new();
        let mut next = 0_u32;
        let mut cycles = Vec::new();
        for root in 0..count {
            if index[root] != NEW {
                continue;
            }
            walk.push((root as u32, 0));
            while let Some((at, edge)) = walk.last_mut() {
                let here = *at as usize;
                if *edge == 0 {
                    index[here] = next;
                    low[here] = next;
                    next += 1;
                    component_stack.push(here as u32);
                    on_stack[here] = true;
                }
                let edges = &self.edges[self.starts[here] as usize..self.starts[here + 1] as usize];
                if let Some(found) = edges.get(*edge as usize) {
                    *edge += 1;
                    let there = self.position(found.to);
                    if index[there] == NEW {
                        walk.push((there as u32, 0));
                    } else if on_stack[there] {
                        low[here] = low[here].min(index[there]);
                    }
                    continue;
                }
                walk.pop();
                if let Some((parent, _)) = walk.last() {
                    let parent = *parent as usize;
                    low[parent] = low[parent].min(low[here]);
                }
                if low[here] == index[here] {
                    // The stack ends with the component; `here` was reached first.
                    let first = component_stack
                        .iter()
                        .rposition(|member| *member as usize == here)
                        .unwrap_or(0);
                    let members = &component_stack[first..];
                    members
                        .iter()
                        .for_each(|member| on_stack[*member as usize] = false);
                    let to_itself = || {
                        self.edges_at(here)
                            .iter()
                            .any(|edge| self.position(edge.to) == here)
                    };
                    if members.len() > 1 || to_itself() {
                        members
                            .iter()
                            .for_each(|member| in_cycle[*member as usize] = true);
                        cycles.push(members.to_vec());
                    } else if self
                        .edges_at(here)
                        .iter()
                        .any(|edge| in_cycle[self.position(edge.to)])
                    {
                        // Dependents of a cycle are not in the order either.
                        in_cycle[here] = true;
                    } else {
                        self.order.push(here as u32);
                    }
                    component_stack.truncate(first);
                }
            }
        }
        let mut paths: Vec<_> = cycles
            .into_iter()
            .map(|members| self.path_of(members))
            .collect();
        paths.sort_by_key(|path| {
            path.first()
                .map(|(_, edge)| (edge.span.file, edge.span.start))
        });
        paths
    }

    /// Finds a shortest cycle through the first member of a component, by breadth-first search in
    /// the component.
    fn path_of(&self, mut members: Vec<u32>) -> Vec<(GraphNode, Edge)> {
        members.sort_unstable();
        let place = |position: u32| members.binary_search(&position).ok();
        // Start at the member whose edge in the component is written first.
        let first_edge = |member: &u32| {
            let inside = self
                .edges_at(*member as usize)
                .iter()
                .filter(|edge| place(self.position(edge.to) as u32).is_some());
            inside.map(|edge| edge.span.start).min().unwrap_or(u32::MAX)
        };
        let Some(start) = members.iter().copied().min_by_key(first_edge) else {
            return Vec::new();
        };
        let mut came: Vec<Option<(u32, Edge)>> = vec![None; members.len()];
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            for edge in self.edges_at(at as usize) {
                let there = self.position(edge.to) as u32;
                let Some(slot) = place(there) else { continue };
                if there == start {
                    let mut path = vec![(self.nodes[at as usize], *edge)];
                    let mut back = at;
                    while back != start {
                        let Some((before, edge)) = place(back).and_then(|slot| came[slot]) else {
                            break;
                        };
                        path.push((self.nodes[before as usize], edge));
                        back = before;
                    }
                    path.reverse();
                    return path;
                }
                if came[slot].is_none() {
                    came[slot] = Some((at, *edge));
                    queue.push_back(there);
                }
            }
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diag::FileId;

    fn graph(edges: &[(u32, u32)], count: usize) -> (Graph, Vec<Vec<(GraphNode, Edge)>>) {
        Graph::new([0, 0, count, 0, 0, 0], |node, out| {
            for (at, (from, to)) in edges.iter().enumerate() {
                if node == GraphNode::Resource(*from) {
                    let span = Span::new(FileId::new(0), at as u32, at as u32 + 1);
                    out.push(Edge {
                        to: GraphNode::Resource(*to),
                        kind: EdgeKind::Reads,
                        span,
                    });
                }
            }
        })
    }

    #[test]
    fn dependencies_come_first_and_ties_keep_document_order() {
        let (graph, cycles) = graph(&[(0, 2), (2, 3)], 4);
        assert!(cycles.is_empty());
        let order: Vec<_> = graph.order().collect();
        assert_eq!(order, [3, 2, 0, 1].map(GraphNode::Resource));
    }

    #[test]
    fn cycle_is_one_path_and_its_dependents_are_left_out() {
        let (graph, cycles) = graph(&[(0, 1), (1, 2), (2, 3), (3, 1)], 5);
        assert_eq!(cycles.len(), 1);
        let path: Vec<_> = cycles[0].iter().map(|(node, _)| *node).collect();
        assert_eq!(path, [1, 2, 3].map(GraphNode::Resource));
        assert_eq!(graph.order().collect::<Vec<_>>(), [GraphNode::Resource(4)]);
    }

    #[test]
    fn long_chain_does_not_overflow_the_stack() {
        let edges: Vec<_> = (0..2000).map(|at| (at, at + 1)).collect();
        let (graph, cycles) = graph(&edges, 2001);
        assert!(cycles.is_empty());
        assert_eq!(graph.order().next(), Some(GraphNode::Resource(2000)));
    }
}
