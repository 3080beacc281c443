//! The instances of a state at a glance.

use state::{InstanceInfo, LeaseHolder, OperationOutcome};

use crate::error::Error;
use crate::session::Session;

/// The instances of a state.
#[derive(Clone, Debug)]
pub struct Instances {
    /// Those that were requested.
    pub listed: Vec<InstanceInfo>,
    /// The number of all that are destroyed, listed or not.
    pub destroyed: usize,
}

impl Session {
    /// The instances of the state; those that are destroyed only with `all`.
    pub async fn instances(&self, all: bool) -> Result<Instances, Error> {
        let mut listed = self.reading().instances().await?;
        let destroyed = listed.iter().filter(|info| is_destroyed(info)).count();
        if !all {
            listed.retain(|info| !is_destroyed(info));
        }
        Ok(Instances { listed, destroyed })
    }
}

/// Whether the last operation has deleted everything.
pub fn is_destroyed(info: &InstanceInfo) -> bool {
    matches!(&info.last, Some((_, Some(OperationOutcome::Gone))))
}

/// The status of an instance: its last operation, and how far that came.
pub fn status(info: &InstanceInfo) -> String {
    let held = info.holder.as_ref().is_some_and(LeaseHolder::holds);
    match &info.last {
        None => "new".to_owned(),
        Some((_, Some(OperationOutcome::Gone))) => "destroyed".to_owned(),
        // It ended where it was to.
        Some((operation, Some(OperationOutcome::Interrupted))) if !info.waiting.is_empty() => {
            format!("{} waiting", operation.kind.word())
        }
        Some((operation, Some(outcome))) => format!("{} {}", operation.kind.word(), outcome.word()),
        Some((operation, None)) if held => format!("{} running", operation.kind.word()),
        Some((operation, None)) => format!("{} interrupted", operation.kind.word()),
    }
}
