//! From a blueprint to a checked one.

use std::sync::Arc;

use blueprint::{Blueprint, Type};
use diag::Diagnostics;
use expr::FunctionTable;
use provider::{Catalogs, ResourceType};

use crate::Graph;

/// A blueprint of which everything is known that the document alone shows.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What was checked.
    pub blueprint: Arc<Blueprint>,
    /// What needs what.
    pub graph: Graph,
    /// The type of each resource, by position; none where it is unknown (and reported).
    pub resource_types: Vec<Option<Arc<ResourceType>>>,
    /// The type of each named intermediate value, by position.
    pub local_types: Vec<Type>,
}

/// Checks a document's meaning against what providers offer, and reports everything at once.
pub fn check(blueprint: Arc<Blueprint>, catalogs: &Catalogs, functions: &FunctionTable, found: &mut Diagnostics) -> Checked {
    let _ = (catalogs, functions, found);
    Checked { blueprint, graph: Graph::default(), resource_types: Vec::new(), local_types: Vec::new() }
}
