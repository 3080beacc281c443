//! Links between resources of one document (decisions/links#links-of-a-document): their ends, and
//! the reads and writes of their kinds.
//!
//! A [`LinkedPair`] is a link as the document declares it, between two resources; `evaluate`
//! expands it to links between members. Nothing here compares resources pair by pair.
//!
//! Not here: matching labels (`check`), planning and applying links (`plan`, `apply`).

pub mod address;
pub mod contribution;
pub mod guarantees;
pub mod overlay;
pub mod wiring;

use std::collections::HashMap;
use std::sync::Arc;

use diag::Span;
use provider::{LinkKind, ResourceType, Side};

use crate::graph::Edge;

pub(crate) use wiring::{LinkTarget, Wiring};

/// A map with a fixed hash, so that nothing depends on a random seed.
pub type DeterministicMap<K, V> = HashMap<K, V, foldhash::fast::FixedState>;

/// A link that the document declares between two of its resources.
#[derive(Clone, Debug)]
pub struct LinkedPair {
    /// The position of a, the resource with the selector or the reference.
    pub a: u32,
    /// The position of b.
    pub b: u32,
    /// The kind of the link.
    pub kind: Arc<LinkKind>,
    /// The place of the declaration: `linkSelector` of a, or the reference to b.
    pub span: Span,
    /// The members of b that references select; `None` if a selector or a plain reference means all
    /// of b.
    pub only: Option<Vec<u32>>,
    /// The neighbours, in the order of the kind's `use`; `None` for a neighbour that was not found,
    /// which is already reported.
    pub uses: Vec<Option<UsedNeighbour>>,
    /// The reads of the kind's expressions.
    pub wiring: Arc<Wiring>,
    /// The types of the kind's parts, in their order; `None` for a type that no provider offers.
    pub part_types: Vec<Option<Arc<ResourceType>>>,
}

impl LinkedPair {
    /// Returns the same link, with the resources of its document numbered from `first` on.
    pub fn from(&self, first: u32) -> LinkedPair {
        let uses = self.uses.iter().map(|used| {
            used.map(|used| UsedNeighbour {
                resource: used.resource + first,
                ..used
            })
        });
        LinkedPair {
            a: self.a + first,
            b: self.b + first,
            uses: uses.collect(),
            ..self.clone()
        }
    }

    /// The position of the resource on a side.
    pub fn end(&self, side: Side) -> u32 {
        match side {
            Side::A => self.a,
            Side::B => self.b,
        }
    }
}

/// A neighbour that a link writes to, found through a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedNeighbour {
    /// The resource's number.
    pub resource: u32,
    /// The position of the member, if the resource has `each`.
    pub position: Option<u32>,
}

/// All links of a document, in document order of a, then of b.
#[derive(Clone, Debug, Default)]
pub struct Links {
    pairs: Vec<Arc<LinkedPair>>,
    of_ends: DeterministicMap<(u32, u32), u32>,
    /// The links in which each resource takes part, with its role.
    of_resource: DeterministicMap<u32, Vec<(u32, LinkTarget)>>,
    /// The dependencies of each resource that links cause.
    edges: DeterministicMap<u32, Vec<Edge>>,
    /// The dependencies of the parts of each link, by the link's number.
    part_edges: Vec<Vec<Edge>>,
}

impl Links {
    pub(crate) fn new(pairs: Vec<LinkedPair>) -> Links {
        let mut links = Links::default();
        for (number, pair) in pairs.iter().enumerate() {
            let number = number as u32;
            links.of_ends.insert((pair.a, pair.b), number);
            for (resource, as_what) in [
                (pair.a, LinkTarget::End(Side::A)),
                (pair.b, LinkTarget::End(Side::B)),
            ] {
                links
                    .of_resource
                    .entry(resource)
                    .or_default()
                    .push((number, as_what));
            }
            for (at, used) in pair.uses.iter().enumerate() {
                if let Some(used) = used {
                    links
                        .of_resource
                        .entry(used.resource)
                        .or_default()
                        .push((number, LinkTarget::Use(at)));
                }
            }
        }
        links.pairs = pairs.into_iter().map(Arc::new).collect();
        links
    }

    pub(crate) fn set_edges(
        &mut self,
        edges: DeterministicMap<u32, Vec<Edge>>,
        part_edges: Vec<Vec<Edge>>,
    ) {
        self.edges = edges;
        self.part_edges = part_edges;
    }

    /// Whether the document has no links.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// All links.
    pub fn pairs(&self) -> &[Arc<LinkedPair>] {
        &self.pairs
    }

    /// The number of the link between two resources.
    pub fn between(&self, a: u32, b: u32) -> Option<u32> {
        self.of_ends.get(&(a, b)).copied()
    }

    /// The link with this number.
    pub fn pair(&self, number: u32) -> Option<&Arc<LinkedPair>> {
        self.pairs.get(number as usize)
    }

    /// The links in which a resource takes part, with its role.
    pub fn of(&self, resource: u32) -> &[(u32, LinkTarget)] {
        self.of_resource.get(&resource).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn edges(&self, resource: u32) -> &[Edge] {
        self.edges.get(&resource).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn part_edges(&self, number: u32) -> &[Edge] {
        self.part_edges
            .get(number as usize)
            .map_or(&[], Vec::as_slice)
    }
}
