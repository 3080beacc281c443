//! The list of the instances of a state.

use state::{InstanceInfo, LeaseHolder, OperationOutcome};

use crate::error::Error;
use crate::session::Session;

/// The instances of a state.
#[derive(Clone, Debug)]
pub struct Instances {
    /// The requested instances.
    pub listed: Vec<InstanceInfo>,
    /// The number of destroyed instances, including those not listed.
    pub destroyed: usize,
}

impl Session {
    /// Returns the instances of the state; destroyed ones only with `all`.
    pub async fn instances(&self, all: bool) -> Result<Instances, Error> {
        let mut listed = self.reading().instances().await?;
        let destroyed = listed.iter().filter(|info| is_destroyed(info)).count();
        if !all {
            listed.retain(|info| !is_destroyed(info));
        }
        Ok(Instances { listed, destroyed })
    }
}

/// Whether the last operation deleted the whole instance.
pub fn is_destroyed(info: &InstanceInfo) -> bool {
    matches!(&info.last, Some((_, Some(OperationOutcome::Gone))))
}

/// The status of an instance: its last operation and the outcome of that operation.
pub fn status(info: &InstanceInfo) -> String {
    let held = info.holder.as_ref().is_some_and(LeaseHolder::is_active);
    match &info.last {
        None => "new".to_owned(),
        Some((_, Some(OperationOutcome::Gone))) => "destroyed".to_owned(),
        // The operation stopped at a breakpoint.
        Some((operation, Some(OperationOutcome::Interrupted))) if !info.waiting.is_empty() => {
            format!("{} waiting", operation.kind.word())
        }
        Some((operation, Some(outcome))) => format!("{} {}", operation.kind.word(), outcome.word()),
        Some((operation, None)) if held => format!("{} running", operation.kind.word()),
        Some((operation, None)) => format!("{} interrupted", operation.kind.word()),
    }
}
