//! The declared resources that the targets of a plan may reach: a coarse answer, before anything is
//! evaluated.
//!
//! Not here: removing decisions out of target (`targets`).

use blueprint::{Address, Name};
use understand::documents::Documents;
use understand::graph::GraphNode;

use crate::model::HashSet;

/// The declared resources that the targets of a plan may reach.
#[derive(Clone)]
pub(crate) struct TargetSet<'a> {
    pub(crate) documents: &'a Documents,
    pub(crate) resources: Option<HashSet<u32>>,
}

impl TargetSet<'_> {
    pub(crate) fn of<'a>(documents: &'a Documents, targets: &[Address]) -> TargetSet<'a> {
        if targets.is_empty() {
            return TargetSet {
                documents,
                resources: None,
            };
        }
        let mut seen: HashSet<GraphNode> = HashSet::default();
        let mut stack: Vec<GraphNode> = Vec::new();
        for target in targets {
            stack.extend(documents.declared(target).map(GraphNode::Resource));
            // A child stands for everything in it.
            let inside: Vec<Name> = target.path.iter().chain([&target.name]).cloned().collect();
            for unit in documents
                .units()
                .iter()
                .filter(|unit| unit.path.starts_with(&inside))
            {
                let count = unit.blueprint().resources.len();
                stack.extend((0..count).map(|at| GraphNode::Resource(unit.resource(at))));
            }
        }
        let mut resources = HashSet::default();
        while let Some(node) = stack.pop() {
            if !seen.insert(node) {
                continue;
            }
            if let GraphNode::Resource(number) = node {
                resources.insert(number);
            }
            stack.extend(documents.graph().edges(node).iter().map(|edge| edge.to));
        }
        TargetSet {
            documents,
            resources: Some(resources),
        }
    }

    /// Whether the targets may reach a resource.
    pub(crate) fn covers(&self, address: &Address) -> bool {
        match &self.resources {
            None => true,
            Some(resources) => self
                .documents
                .declared(address)
                .is_some_and(|number| resources.contains(&number)),
        }
    }
}
