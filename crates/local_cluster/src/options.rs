//! The settings of a cluster.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value as Json;

/// The time of a cluster.
pub type ClusterClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Decides about an object that is created or changed. It sees the object as it would be stored, and
/// must not ask the cluster, which waits for it.
pub type AdmissionDecision = Arc<dyn Fn(&Json) -> AdmissionAnswer + Send + Sync>;

/// What stands for a validating webhook. It is called after the schema of the kind has accepted the
/// object, for dry runs too, and not for subresources or deletions.
#[derive(Clone)]
pub struct AdmissionHook {
    /// The name of the webhook, which refusals state.
    pub name: String,
    /// Decides about an object.
    pub decide: AdmissionDecision,
}

/// What an admission hook says about an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdmissionAnswer {
    /// Why the object is refused; `None` if it is accepted.
    pub refused: Option<String>,
    /// Warnings for the client, for a refused object too.
    pub warnings: Vec<String>,
}

/// The settings of a cluster.
#[derive(Clone)]
pub struct ClusterOptions {
    /// Gives the time of creations, deletions and tokens. The default is the clock of the system.
    pub clock: ClusterClock,
    /// The seed of uids, generated names and tokens.
    pub seed: u64,
    /// Whether objects without an owner are deleted.
    pub garbage_collection: GarbageCollection,
    /// What becomes of objects of a kind that has no definition.
    pub unknown_kinds: UnknownKinds,
    /// The number of changes of each kind that the cluster remembers for watches. A watch that
    /// wants older ones ends with 410.
    pub remembered_changes: usize,
    /// Refuses objects, and warns, as a webhook does.
    pub admission: Option<AdmissionHook>,
}

/// Whether objects are deleted with their owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GarbageCollection {
    /// Dependants of deleted owners are deleted; the policies `Foreground` and `Orphan` end.
    On,
    /// As an API server without controllers: dependants stay, and `Foreground` and `Orphan` wait
    /// for somebody to remove their finalizers.
    Off,
}

/// What becomes of objects of a kind that has no definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownKinds {
    /// They are refused: 404.
    Refused,
    /// They are stored without a check, with a warning. The first object defines the kind.
    Accepted,
}

impl Default for ClusterOptions {
    fn default() -> ClusterOptions {
        ClusterOptions {
            clock: Arc::new(Timestamp::now),
            seed: 1,
            garbage_collection: GarbageCollection::On,
            unknown_kinds: UnknownKinds::Refused,
            remembered_changes: 4096,
            admission: None,
        }
    }
}

impl fmt::Debug for ClusterOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterOptions")
            .field("seed", &self.seed)
            .field("garbage_collection", &self.garbage_collection)
            .field("unknown_kinds", &self.unknown_kinds)
            .field("remembered_changes", &self.remembered_changes)
            .finish_non_exhaustive()
    }
}
