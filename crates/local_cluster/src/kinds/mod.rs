//! The kinds that a cluster serves.

mod custom;
mod known;
mod scale;
mod served;
mod undeclared;

use std::collections::BTreeMap;
use std::sync::Arc;

use kubernetes::builtin;

use crate::naming::ResourceName;

pub(crate) use custom::{definition_problems, kind_of_definition};
pub(crate) use known::server_version;
pub(crate) use scale::ScalePaths;
pub(crate) use served::{
    GenerationForm, KindOrigin, KindScope, ServedKind, ServedVersion, StatusForm, guessed_kind,
};
pub(crate) use undeclared::undeclared_fields;

/// The kinds of a cluster.
#[derive(Debug)]
pub(crate) struct KindTable {
    by_resource: BTreeMap<ResourceName, Arc<ServedKind>>,
}

impl KindTable {
    /// The kinds that every server has.
    pub(crate) fn new() -> KindTable {
        let mut table = KindTable {
            by_resource: BTreeMap::new(),
        };
        for info in builtin().kinds() {
            table.insert(known::builtin_kind(info));
        }
        table
    }

    pub(crate) fn insert(&mut self, kind: ServedKind) {
        self.by_resource
            .insert(kind.resource.clone(), Arc::new(kind));
    }

    pub(crate) fn remove(&mut self, resource: &ResourceName) {
        self.by_resource.remove(resource);
    }

    pub(crate) fn get(&self, resource: &ResourceName) -> Option<&Arc<ServedKind>> {
        self.by_resource.get(resource)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<ServedKind>> {
        self.by_resource.values()
    }
}
