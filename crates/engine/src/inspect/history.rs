//! The operations of an instance.

use state::{GenerationInfo, InstanceName};

use crate::error::Error;
use crate::session::Session;

/// The operations of an instance.
#[derive(Clone, Debug)]
pub struct History {
    /// The instance.
    pub instance: InstanceName,
    /// Its operations, the newest first.
    pub operations: Vec<GenerationInfo>,
    /// Whether an operation holds the lease of the instance. Only the newest operation can still be
    /// running.
    pub is_held: bool,
}

impl Session {
    /// The newest `limit` operations of an instance.
    pub async fn history(&self, instance: &InstanceName, limit: usize) -> Result<History, Error> {
        let store = self.reading();
        let operations = store.history(instance, limit).await?;
        let is_held = store
            .info(instance)
            .await?
            .and_then(|info| info.holder)
            .is_some_and(|holder| holder.is_active());
        Ok(History {
            instance: instance.clone(),
            operations,
            is_held,
        })
    }
}
