//! What goes wrong on purpose: faults that a test writes down beforehand, as the deploy cases of the conformance pack
//! do.

use blueprint::{Map, Name};
use provider::Operation;

/// One fault. Reads from the JSON form of the conformance pack.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// The calls that it concerns; none for `slow`, which concerns the checks for stability.
    #[serde(default)]
    pub on: Option<Operation>,
    /// The address, as it prints.
    pub at: Name,
    /// How many such calls go well before.
    #[serde(default)]
    pub skip: u32,
    /// How many calls it then spoils.
    #[serde(default = "once")]
    pub times: u32,
    /// What happens.
    #[serde(flatten)]
    pub kind: FaultKind,
}

fn once() -> u32 {
    1
}

/// What a fault does.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum FaultKind {
    /// Refused, may be tried again.
    Transient,
    /// Refused for good.
    Permanent,
    /// Refused because there were too many calls; may be tried again.
    Throttled,
    /// Done, but the answer is lost; may be tried again.
    Lost,
    /// Done in part: the thing is there, and the call failed for good.
    Partial,
    /// The process ends.
    Crash {
        /// Before or after the call does its work.
        when: When,
        /// Nobody can tell afterwards whether the work was done.
        #[serde(default)]
        untraceable: bool,
    },
    /// Done, but the answer is another.
    Answer {
        /// Fields that are changed in it.
        #[serde(default)]
        set: Map,
        /// Fields that are missing from it.
        #[serde(default)]
        drop: Vec<Name>,
    },
    /// The thing takes its time to become stable.
    Slow {
        /// How many checks say no; all if none is given.
        checks: Option<u32>,
    },
}

/// When a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// Nothing was done.
    Before,
    /// All was done, and nobody was told.
    After,
}

/// The faults of one provider, used up as calls come.
#[derive(Debug, Default)]
pub(super) struct Script {
    faults: Vec<Fault>,
}

impl Script {
    pub(super) fn new(faults: Vec<Fault>) -> Script {
        Script { faults }
    }

    /// What happens to a call that begins now.
    pub(super) fn strike(&mut self, operation: Operation, address: &str) -> Option<FaultKind> {
        let fault = self
            .faults
            .iter_mut()
            .find(|fault| fault.on == Some(operation) && fault.at.as_ref() == address && fault.times > 0)?;
        if fault.skip > 0 {
            fault.skip -= 1;
            return None;
        }
        fault.times -= 1;
        Some(fault.kind.clone())
    }

    /// How many checks for stability say no, where a fault says so: `Some(None)` is all of them.
    pub(super) fn slow(&self, address: &str) -> Option<Option<u32>> {
        self.faults.iter().filter(|fault| fault.at.as_ref() == address).find_map(|fault| match fault.kind {
            FaultKind::Slow { checks } => Some(checks),
            _ => None,
        })
    }
}
