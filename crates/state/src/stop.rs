//! Breakpoints of operations, and the actions that are under way at them.
//!
//! They survive a run that is cut off: an operation begins with the actions that are under way, and
//! ends with the places where it waits. So an operation passes a breakpoint only after an earlier
//! operation has reported it.
//!
//! Not here: stopping and continuing (`apply`).

use blueprint::{Address, Breakpoint, Breakpoints, IndexMap, Name};
use serde::{Deserialize, Serialize};

use crate::status::StatusOp;

/// A resource, or a child document as a whole, at which operations stop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    /// The breakpoints, stored because a destroy has no document.
    #[serde(default, skip_serializing_if = "Breakpoints::is_empty")]
    pub breakpoints: Breakpoints,
    /// The action that is under way: operations no longer stop before it, and it has not ended yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<StatusOp>,
    /// The breakpoint at which that action waits; the next operation continues from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Breakpoint>,
    /// The dependencies of a resource that is being deleted: its record may be gone by then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<Address>,
}

/// All stops: resources by their addresses, children by the includes that lead to them, with a
/// slash at the end: `core/inner/`.
pub type Stops = IndexMap<Name, Stop>;

impl Stop {
    /// The places where operations wait: resources by their addresses, children by the includes
    /// that lead to them.
    pub fn waiting(stops: &Stops) -> Vec<(Name, Breakpoint)> {
        let waiting = stops
            .iter()
            .filter_map(|(name, stop)| Some((name.trim_end_matches('/').into(), stop.waiting?)));
        waiting.collect()
    }

    /// The name among [`Stops`] of the child to which these includes lead.
    pub fn of_child(path: &[Name]) -> Name {
        let mut name = path.join("/");
        name.push('/');
        name.into()
    }

    /// The includes that lead to the child of that name among [`Stops`]; none if it is the name of
    /// a resource.
    pub fn child(name: &str) -> Option<Box<[Name]>> {
        Some(name.strip_suffix('/')?.split('/').map(Name::from).collect())
    }
}
