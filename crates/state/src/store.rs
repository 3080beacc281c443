//! Where the memory of instances lives. A store keeps entries and hands out snapshots; it knows no plan and no
//! provider, never merges, and never looks inside a value (secrets arrive marked, and are sealed by the store's
//! [`Sealer`](crate::seal::Sealer) on the way to anything that outlives the process).
//! Every implementation passes [`conformance`](crate::conformance), and `memory` is the strictest of them.

use std::time::Duration;

use blueprint::{Address, Breakpoint, Name};

use crate::seal::Sealer;
use crate::{Entry, Generation, InstanceName, Liveness, Operation, OperationOutcome, Revision, Snapshot, Verification};

/// A future that may be sent to another thread.
pub type BoxFuture<'a, T> = futures::future::BoxFuture<'a, T>;

/// The right to write to an instance, until it runs out or somebody takes it over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Of which instance.
    pub instance: InstanceName,
    /// Grows with every new lease: a commit under an older one is refused.
    pub epoch: u64,
    /// Where the instance stood when it was given. Until it runs out only its holder goes on from there.
    pub revision: Revision,
}

/// Who holds a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseHolder {
    /// As `user@host`, with the process id.
    pub who: Name,
    /// Since when, for people: seconds since 1970 UTC.
    pub since: i64,
    /// Until when it is held without another sign of life, for people.
    pub until: i64,
    /// Whether the process that holds it runs.
    pub liveness: Liveness,
    /// It has run out by the store's clock.
    pub expired: bool,
}

impl LeaseHolder {
    /// Whether nobody else gets the lease: its process runs, even if it gives no sign of life, or it cannot be told whether it
    /// runs and the lease has not run out.
    pub fn holds(&self) -> bool {
        match self.liveness {
            Liveness::Alive => true,
            Liveness::Dead => false,
            Liveness::Unknown => !self.expired,
        }
    }
}

/// For so long a lease counts as held after the store has seen that it is.
pub const PROOF: Duration = Duration::from_secs(1);

/// Why a store could not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such instance. Nothing was written.
    #[error("there is no instance `{instance}`")]
    Unknown {
        /// The name asked for.
        instance: InstanceName,
    },
    /// Somebody committed since `expected` was read. Nothing was written; plan again.
    #[error("`{instance}` has moved on to revision {}", .found.0)]
    Moved {
        /// Of which instance.
        instance: InstanceName,
        /// What the writer had seen.
        expected: Revision,
        /// What is there.
        found: Revision,
    },
    /// Another operation holds the instance, or has taken it over. Nothing was written; stop.
    #[error("another operation holds `{instance}`")]
    Busy {
        /// Which instance.
        instance: InstanceName,
        /// By whom, where that can be told.
        holder: Option<LeaseHolder>,
    },
    /// A secret must be stored and there is no key to seal it with. Nothing was written.
    #[error("secrets cannot be stored without a key")]
    NoKey,
    /// What is there was sealed or authenticated with another key than the one at hand, or there is none at hand.
    #[error("the state was written with another key: it cannot be opened with this key")]
    WrongKey,
    /// What is there is not what was written. Nothing was written.
    #[error("{what}")]
    Damaged {
        /// What is wrong with it, as a phrase.
        what: String,
    },
    /// What is there was written by a newer version, or is something else. Nothing was written.
    #[error("{what}")]
    Foreign {
        /// What is wrong with it, as a phrase.
        what: String,
    },
    /// The entries break a rule of the journal (see [`Journal`](crate::Journal)), or cannot be stored: a bug of the
    /// writer's. Nothing was written.
    #[error("the journal of `{instance}` refuses an entry: {what}")]
    Refused {
        /// Of which instance.
        instance: InstanceName,
        /// Which rule, as a phrase.
        what: String,
    },
    /// There is no room left in the place. Nothing was written.
    #[error("there is no room left for the state")]
    Full {
        /// What the place said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Another process has been writing for too long, or was stopped while it did. Nothing was written.
    #[error("another process keeps the state from being used")]
    Locked {
        /// What the place said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The place failed. Whether a commit took effect is unknown until `head` answers.
    #[error("the state cannot be reached")]
    Unreachable {
        /// What the place said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// An instance at a glance.
#[derive(Clone, Debug)]
pub struct InstanceInfo {
    /// Its name.
    pub name: InstanceName,
    /// Commits so far.
    pub revision: Revision,
    /// Finished operations so far.
    pub generation: Generation,
    /// The document it belongs to.
    pub document: Name,
    /// How many records it has.
    pub records: u64,
    /// When it was first committed to: seconds since 1970 UTC.
    pub created: i64,
    /// The last operation and how it ended; no outcome while it runs or if it was cut off. Its `desired` is left out
    /// (null): a glance needs no key.
    pub last: Option<(Operation, Option<OperationOutcome>)>,
    /// Where that one waits, if it has ended: see [`Stop::waiting`](crate::Stop::waiting).
    pub waiting: Vec<(Name, Breakpoint)>,
    /// Who holds the lease, or let it run out without giving it back (compare `until`).
    pub holder: Option<LeaseHolder>,
    /// Whether it is known to be what was written; false where the key that it was written with is not at hand.
    pub verified: bool,
}

/// One operation of the past.
#[derive(Clone, Debug)]
pub struct GenerationInfo {
    /// What ran.
    pub operation: Operation,
    /// How it ended, when, as which generation, and what it counted; nothing if it was cut off or still runs.
    pub finished: Option<(OperationOutcome, i64, Generation, [u64; 4])>,
}

/// An entry with its place in the journal.
#[derive(Clone, Debug)]
pub struct LogEntry {
    /// Its number in the instance, from 1.
    pub sequence: u64,
    /// The operation it belongs to.
    pub operation: Name,
    /// The entry.
    pub entry: Entry,
}

/// A thing that an instance manages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Managed {
    /// Which instance.
    pub instance: InstanceName,
    /// Where.
    pub address: Address,
    /// The type.
    pub type_name: Name,
    /// The provider's id.
    pub id: Name,
}

/// A place for the memory of instances.
///
/// Readers never wait for a writer and always see one whole revision. (Stores are chosen at run time, hence boxed
/// futures.)
pub trait Store: Send + Sync {
    /// All instances, by name. A destroyed one stays, its last outcome is `Gone`.
    fn instances<'a>(&'a self) -> BoxFuture<'a, Result<Vec<InstanceInfo>, StoreError>>;

    /// One instance at a glance; `None` if there is none of that name.
    fn info<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Option<InstanceInfo>, StoreError>>;

    /// The revision; 0 for an instance that was never committed to.
    fn head<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Revision, StoreError>>;

    /// Everything at the current revision; an empty snapshot for an instance that was never committed to.
    fn load<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Snapshot, StoreError>>;

    /// The things that all instances but the one of this name manage: those of their records that have an id. Ordered by instance.
    ///
    /// The cost grows with the records of these instances, not with their documents and their history.
    fn managed_by_others<'a>(&'a self, instance: &'a str) -> BoxFuture<'a, Result<Vec<Managed>, StoreError>>;

    /// All or nothing, and durable once it returns. `Busy` if the lease was taken over, ended or given back; `Moved`
    /// unless `head` is still `expected`; `Refused` if an entry breaks a rule of the [`Journal`](crate::Journal).
    /// The first entry of an operation's first commit is `Began`; the others of that operation follow it.
    /// `uid` of a new instance is the id of its first operation.
    ///
    /// A lease that has run out but that nobody has taken over still commits: nothing can be in conflict with it, and
    /// refusing would lose what was done in the world.
    fn commit<'a>(
        &'a self,
        lease: &'a Lease,
        expected: Revision,
        entries: Vec<Entry>,
    ) -> BoxFuture<'a, Result<Revision, StoreError>>;

    /// Takes the right to write, for as long as `lasts`. `Busy` with the holder while another one [holds](LeaseHolder::holds)
    /// it: whether a lease has run out is judged by the store's clock, and whether a process runs by the store's
    /// [`Host`](crate::Host). One that was given elsewhere, in another boot, runs out when it was first asked for here and
    /// `lasts` have gone by.
    fn lease<'a>(
        &'a self,
        instance: &'a InstanceName,
        who: &'a str,
        lasts: Duration,
    ) -> BoxFuture<'a, Result<Lease, StoreError>>;

    /// A sign of life: holds the lease for as long as `lasts` from now on. `Busy` if it was taken over.
    fn renew<'a>(&'a self, lease: &'a Lease, lasts: Duration) -> BoxFuture<'a, Result<(), StoreError>>;

    /// `Busy` if the lease was taken over, ended or given back. Asked before each call of a provider. What a commit, a sign of
    /// life or this has shown within the last second ([`PROOF`]) counts, by a clock that goes on while the machine sleeps.
    fn check_lease<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Gives the right back; fine if it was taken over.
    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Who holds the lease, or let it run out without giving it back (compare `until`); also of an instance that was never
    /// committed to.
    fn holder<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Option<LeaseHolder>, StoreError>>;

    /// Ends whatever lease is held, and says whose it was.
    fn unlock<'a>(&'a self, instance: &'a InstanceName) -> BoxFuture<'a, Result<Option<LeaseHolder>, StoreError>>;

    /// Operations of the past, newest first, at most `limit`. `Unknown` for an instance that was never committed to.
    fn history<'a>(
        &'a self,
        instance: &'a InstanceName,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<GenerationInfo>, StoreError>>;

    /// The newest `limit` entries of one operation, or of all, oldest first. `Unknown` for an instance that was never
    /// committed to; nothing for an operation that it never had.
    fn log<'a>(
        &'a self,
        instance: &'a InstanceName,
        operation: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<LogEntry>, StoreError>>;

    /// Seals everything secret with another key: all of it, or nothing. How many entries were sealed anew.
    ///
    /// Leases that have run out are ended: whoever comes back must not add what the former key has sealed.
    /// `Busy` while a lease is held, `NoKey` and `WrongKey` if what is there cannot be
    /// opened or `to` cannot seal. This store goes on with its former key: the place is to be opened with the new one.
    fn rekey<'a>(&'a self, to: &'a Sealer) -> BoxFuture<'a, Result<u64, StoreError>>;

    /// Puts a whole journal where none is: the operations of an instance, each with its entries, as `log` gave them elsewhere.
    /// All or nothing. Afterwards everything is as it was there, with `revision` commits.
    ///
    /// `Moved` if the instance was committed to before, `Busy` while a lease on it is held, `Refused` if the entries break a rule of the journal, or an operation of that id is known here already.
    fn restore<'a>(
        &'a self,
        instance: &'a InstanceName,
        revision: Revision,
        operations: Vec<Vec<Entry>>,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Checks everything that is stored of all instances. A store that cannot be damaged finds nothing.
    fn verify<'a>(&'a self) -> BoxFuture<'a, Result<Verification, StoreError>> {
        Box::pin(std::future::ready(Ok(Verification::default())))
    }

    /// Whether it could seal a secret now: asked before an operation begins, so that it is refused rather than cut off.
    fn can_seal(&self) -> bool;

    /// What people should be told of what the place has done by itself since this was last asked, as sentences without a
    /// full stop: that it was rewritten, and where it lies as it was before.
    fn asides(&self) -> Vec<String> {
        Vec::new()
    }
}
