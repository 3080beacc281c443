//! What depends on what in a document: computed, cycle-checked, never stored.

use diag::Span;

/// An element: of one blueprint by its position in the blueprint's own list, or of several documents that make one
/// whole by its number among all of its kind (see [`Documents`](crate::documents::Documents)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// A named intermediate value.
    Local(u32),
    /// A data source.
    DataSource(u32),
    /// A resource, or the template of an expanded one.
    Resource(u32),
    /// A child document, as a whole: only in the graph of one document by itself.
    Child(u32),
    /// The parts of a link, by the link's number.
    Link(u32),
    /// What a child document is given for one of its inputs: only in the graph of several documents.
    Input(u32),
}

/// Why one element comes after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// It reads the other's spec, value or export: deployment waits.
    Reads,
    /// It reads the other's metadata: only evaluation waits (decision A10).
    ReadsMetadata,
    /// `dependsOn`: waits until the other is ready (decision A11).
    DependsOn,
    /// Only its condition reads the other.
    Condition,
    /// A link wants it so: a hard one, or one that writes here what it reads there (decisions 3.1, 3.2).
    Link,
}

/// One element needs another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// What is needed.
    pub to: Node,
    /// Why.
    pub kind: EdgeKind,
    /// Where that is written: the head of the reference, or the name in `dependsOn`.
    pub span: Span,
}

/// The elements of a blueprint with what each needs directly, and an order in which everything needed comes first.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    /// For each node, in the order of `nodes`, where its edges begin in `edges`; one more at the end.
    starts: Vec<u32>,
    edges: Vec<Edge>,
    /// Positions in `nodes`, dependencies first, ties in document order. Nodes on cycles are left out.
    order: Vec<u32>,
    /// First position in `nodes` of locals, data sources, resources, children, links and inputs, in this order.
    offsets: [u32; 6],
}

impl Graph {
    /// A graph over so many locals, data sources, resources, children, links and inputs; `edges_of` gives each node's edges.
    ///
    /// Gives the graph and its knots: groups of nodes that need each other, as paths of (node, edge to the next), each
    /// beginning at the node that is first in document order. Linear in nodes and edges.
    pub fn new(counts: [usize; 6], mut edges_of: impl FnMut(Node, &mut Vec<Edge>)) -> (Graph, Vec<Vec<(Node, Edge)>>) {
        let mut graph = Graph::default();
        let makers: [fn(u32) -> Node; 6] =
            [Node::Local, Node::DataSource, Node::Resource, Node::Child, Node::Link, Node::Input];
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
        let knots = graph.sort();
        (graph, knots)
    }

    /// Where a node stands among [`Graph::nodes`].
    pub fn position(&self, node: Node) -> usize {
        let (kind, index) = match node {
            Node::Local(index) => (0, index),
            Node::DataSource(index) => (1, index),
            Node::Resource(index) => (2, index),
            Node::Child(index) => (3, index),
            Node::Link(index) => (4, index),
            Node::Input(index) => (5, index),
        };
        (self.offsets[kind] + index) as usize
    }

    fn edges_at(&self, position: usize) -> &[Edge] {
        &self.edges[self.starts[position] as usize..self.starts[position + 1] as usize]
    }

    /// What a node needs directly, in the order in which it is written.
    pub fn edges(&self, node: Node) -> &[Edge] {
        self.edges_at(self.position(node))
    }

    /// All nodes that are on no cycle and need none that is, dependencies first, ties in document order.
    pub fn order(&self) -> impl Iterator<Item = Node> {
        self.order.iter().map(|position| self.nodes[*position as usize])
    }

    /// All nodes in document order of their kinds.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Depth-first with an explicit stack: finishing order is the topological order; strongly connected components
    /// (Tarjan) are the knots.
    fn sort(&mut self) -> Vec<Vec<(Node, Edge)>> {
        const NEW: u32 = u32::MAX;
        let count = self.nodes.len();
        let mut index = vec![NEW; count];
        let mut low = vec![0_u32; count];
        let mut on_stack = vec![false; count];
        let mut knotted = vec![false; count];
        let mut component_stack: Vec<u32> = Vec::new();
        let mut walk: Vec<(u32, u32)> = Vec::new();
        let mut next = 0_u32;
        let mut knots = Vec::new();
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
                    let mut members = Vec::new();
                    while let Some(member) = component_stack.pop() {
                        on_stack[member as usize] = false;
                        members.push(member);
                        if member as usize == here {
                            break;
                        }
                    }
                    let to_itself =
                        members.len() == 1 && self.edges_at(here).iter().any(|edge| self.position(edge.to) == here);
                    if members.len() > 1 || to_itself {
                        for member in &members {
                            knotted[*member as usize] = true;
                        }
                        knots.push(members);
                    } else if self.edges_at(here).iter().any(|edge| knotted[self.position(edge.to)]) {
                        // What needs a knot has no place in the order either.
                        knotted[here] = true;
                    } else {
                        self.order.push(here as u32);
                    }
                }
            }
        }
        let mut paths: Vec<_> = knots.into_iter().map(|members| self.path_of(members)).collect();
        paths.sort_by_key(|path| path.first().map(|(_, edge)| (edge.span.file, edge.span.start)));
        paths
    }

    /// A shortest way round through the first member of a knot, by breadth-first search inside the knot.
    fn path_of(&self, mut members: Vec<u32>) -> Vec<(Node, Edge)> {
        members.sort_unstable();
        let place = |position: u32| members.binary_search(&position).ok();
        // Begin where the first edge inside the knot is written.
        let first_edge = |member: &u32| {
            let inside =
                self.edges_at(*member as usize).iter().filter(|edge| place(self.position(edge.to) as u32).is_some());
            inside.map(|edge| edge.span.start).min().unwrap_or(u32::MAX)
        };
        let Some(start) = members.iter().copied().min_by_key(first_edge) else { return Vec::new() };
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
                        let Some((before, edge)) = place(back).and_then(|slot| came[slot]) else { break };
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

    fn graph(edges: &[(u32, u32)], count: usize) -> (Graph, Vec<Vec<(Node, Edge)>>) {
        Graph::new([0, 0, count, 0, 0, 0], |node, out| {
            for (at, (from, to)) in edges.iter().enumerate() {
                if node == Node::Resource(*from) {
                    let span = Span::new(FileId::new(0), at as u32, at as u32 + 1);
                    out.push(Edge { to: Node::Resource(*to), kind: EdgeKind::Reads, span });
                }
            }
        })
    }

    #[test]
    fn what_is_needed_comes_first_and_ties_keep_document_order() {
        let (graph, knots) = graph(&[(0, 2), (2, 3)], 4);
        assert!(knots.is_empty());
        let order: Vec<_> = graph.order().collect();
        assert_eq!(order, [3, 2, 0, 1].map(Node::Resource));
    }

    #[test]
    fn a_knot_is_one_path_and_what_needs_it_is_left_out() {
        let (graph, knots) = graph(&[(0, 1), (1, 2), (2, 3), (3, 1)], 5);
        assert_eq!(knots.len(), 1);
        let path: Vec<_> = knots[0].iter().map(|(node, _)| *node).collect();
        assert_eq!(path, [1, 2, 3].map(Node::Resource));
        assert_eq!(graph.order().collect::<Vec<_>>(), [Node::Resource(4)]);
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let edges: Vec<_> = (0..2000).map(|at| (at, at + 1)).collect();
        let (graph, knots) = graph(&edges, 2001);
        assert!(knots.is_empty());
        assert_eq!(graph.order().next(), Some(Node::Resource(2000)));
    }
}
