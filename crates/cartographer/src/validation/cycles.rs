//! The cycles of a directed graph.

/// A node that is not visited yet.
const NEW: usize = usize::MAX;

/// A number for each node: two nodes have the same one if each is reachable from the other.
/// `edges` has the targets of each node. The work is linear, and the stack is on the heap.
pub(crate) fn components(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut search = ComponentSearch {
        edges,
        order: vec![NEW; edges.len()],
        lowest: vec![0; edges.len()],
        component: vec![NEW; edges.len()],
        open: Vec::new(),
        visited: 0,
    };
    for node in 0..edges.len() {
        if search.order[node] == NEW {
            search.visit(node);
        }
    }
    search.component
}

/// The algorithm of Tarjan.
struct ComponentSearch<'a> {
    edges: &'a [Vec<usize>],
    /// When each node was first visited.
    order: Vec<usize>,
    /// The earliest open node that is known to be reachable from each.
    lowest: Vec<usize>,
    component: Vec<usize>,
    /// Visited nodes without a component.
    open: Vec<usize>,
    visited: usize,
}

impl ComponentSearch<'_> {
    fn enter(&mut self, node: usize) {
        self.order[node] = self.visited;
        self.lowest[node] = self.visited;
        self.visited += 1;
        self.open.push(node);
    }

    fn visit(&mut self, root: usize) {
        // Each node with the position of its next edge.
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            let Some(target) = self.edges[node].get(*next).copied() else {
                path.pop();
                if let Some((parent, _)) = path.last() {
                    self.lowest[*parent] = self.lowest[*parent].min(self.lowest[node]);
                }
                self.leave(node);
                continue;
            };
            *next += 1;
            if self.order[target] == NEW {
                self.enter(target);
                path.push((target, 0));
            } else if self.component[target] == NEW {
                self.lowest[node] = self.lowest[node].min(self.order[target]);
            }
        }
    }

    /// Closes the component whose first visited node this is, if it is one.
    fn leave(&mut self, node: usize) {
        if self.lowest[node] != self.order[node] {
            return;
        }
        while let Some(member) = self.open.pop() {
            self.component[member] = node;
            if member == node {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_a_cycle_share_a_component() {
        let edges = [vec![1], vec![2], vec![0, 3], vec![4], vec![], vec![5]];
        let found = components(&edges);
        assert_eq!(found[0], found[1]);
        assert_eq!(found[1], found[2]);
        assert_ne!(found[2], found[3]);
        assert_ne!(found[3], found[4]);
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let edges: Vec<Vec<usize>> = (0..100_000).map(|at| vec![(at + 1) % 100_000]).collect();
        let found = components(&edges);
        assert!(found.iter().all(|one| *one == found[0]));
    }
}
