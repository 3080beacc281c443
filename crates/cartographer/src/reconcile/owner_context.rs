//! What all resources of an owner share.

use std::sync::Arc;

use blueprint::Value;

use crate::compat::Compat;
use crate::stamp::YttTemplates;

use super::parts::{part, text};

/// What all resources of an owner share.
pub(super) struct OwnerContext {
    /// The owner.
    pub(super) owner: Arc<Value>,
    /// The blueprint.
    pub(super) blueprint: Arc<Value>,
    /// Evaluates templates of ytt.
    pub(super) ytt: Arc<dyn YttTemplates + Send + Sync>,
    /// Whose behaviour counts.
    pub(super) compat: Compat,
    /// The time.
    pub(super) now: String,
}

impl OwnerContext {
    /// The entry of a resource in the status that the owner has.
    pub(super) fn previous(&self, resource: &str) -> Option<&Value> {
        let entries = part(&self.owner, &["status", "resources"]).as_list()?;
        entries
            .iter()
            .find(|entry| text(entry, &["name"]) == resource)
    }
}
