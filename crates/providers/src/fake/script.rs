//! Scripted faults, in the form of the conformance pack's deploy cases.

use blueprint::{Map, Name};
use provider::Operation;

/// One fault. Deserializes from the JSON form of the conformance pack.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScriptedFault {
    /// The affected operation. `None` for `slow`, which affects readiness polls.
    #[serde(default)]
    pub on: Option<Operation>,
    /// The address as text.
    pub at: Name,
    /// The number of calls that succeed before the fault.
    #[serde(default)]
    pub skip: u32,
    /// The number of affected calls.
    #[serde(default = "once")]
    pub times: u32,
    /// The effect of the fault.
    #[serde(flatten)]
    pub kind: FaultKind,
}

fn once() -> u32 {
    1
}

/// The effect of a fault.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum FaultKind {
    /// A retryable error.
    Transient,
    /// A permanent error.
    Permanent,
    /// A throttling error, which is retryable.
    Throttled,
    /// The call is carried out, and its answer is lost with a retryable error.
    Lost,
    /// The call is carried out, and its answer says that the outcome is unknown, which is not
    /// retryable.
    Unsure,
    /// The resource is created, and the call fails permanently.
    Partial,
    /// The process ends.
    Crash {
        /// Before or after the call is carried out.
        when: When,
        /// Whether reads cannot tell afterwards if the call was carried out.
        #[serde(default)]
        untraceable: bool,
    },
    /// The call is carried out, and its answer is changed.
    Answer {
        /// Fields that are changed in the answer.
        #[serde(default)]
        set: Map,
        /// Fields that are removed from the answer.
        #[serde(default)]
        drop: Vec<Name>,
    },
    /// The resource is not ready immediately.
    Slow {
        /// The number of polls that report the resource as not ready; all if `None`.
        checks: Option<u32>,
    },
}

/// The time of a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// Before the call was carried out.
    Before,
    /// After the call was carried out, before the answer.
    After,
}

/// The faults of one provider. Calls use them up.
#[derive(Debug, Default)]
pub(super) struct Script {
    faults: Vec<ScriptedFault>,
}

impl Script {
    pub(super) fn new(faults: Vec<ScriptedFault>) -> Script {
        Script { faults }
    }

    /// The fault of a call that starts now. Uses the fault up.
    pub(super) fn take_fault(&mut self, operation: Operation, address: &str) -> Option<FaultKind> {
        let fault = self.faults.iter_mut().find(|fault| {
            fault.on == Some(operation) && fault.at.as_ref() == address && fault.times > 0
        })?;
        if fault.skip > 0 {
            fault.skip -= 1;
            return None;
        }
        fault.times -= 1;
        Some(fault.kind.clone())
    }

    /// The number of polls that report the resource as not ready, if a fault sets it: `Some(None)`
    /// means all polls.
    pub(super) fn unready_polls(&self, address: &str) -> Option<Option<u32>> {
        self.faults
            .iter()
            .filter(|fault| fault.at.as_ref() == address)
            .find_map(|fault| match fault.kind {
                FaultKind::Slow { checks } => Some(checks),
                _ => None,
            })
    }
}
