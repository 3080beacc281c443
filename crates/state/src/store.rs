//! The contract of a store: where the journals of instances live.
//!
//! A store appends entries and reads them back. The rules of a journal, its fold into a snapshot
//! and the choice of operations to prune are code of this crate. A store knows no plan and no
//! provider, never merges, and never looks inside a value: secrets arrive marked, and the store's
//! [`Sealer`] seals them before they leave the process. Every implementation passes
//! `contract_tests::store`.

use std::time::Duration;

use futures::future::BoxFuture;

use crate::derived::{Since, Tail};
use crate::entry::{Entry, Operation};
use crate::error::StoreError;
use crate::info::{GenerationInfo, InstanceInfo, LogEntry, Managed};
use crate::instance::{InstanceName, Revision};
use crate::lease::Lease;
use crate::lease_holder::LeaseHolder;
use crate::seal::Sealer;
use crate::snapshot::{Checkpoint, Snapshot};
use crate::verify::Verification;

/// The numbers of items that pruning has removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Operations.
    pub operations: u64,
    /// Entries of the journal.
    pub entries: u64,
    /// Documents that no operation names any more.
    pub documents: u64,
}

/// A place for the journals of instances.
///
/// Readers never wait for a writer and always see one whole revision. Stores are chosen at run
/// time, so futures are boxed.
///
/// Methods with a body are derived from the others. A store overrides one only to be faster: the
/// answers are the same.
pub trait Store: Send + Sync {
    /// All instances, by name. A destroyed one stays, its last outcome is `Gone`. Needs no key.
    fn instances<'a>(&'a self) -> BoxFuture<'a, Result<Vec<InstanceInfo>, StoreError>>;

    /// Reads the journal of an instance, or its end; `None` for an instance that was never
    /// committed to.
    fn read<'a>(
        &'a self,
        instance: &'a InstanceName,
        since: Since,
    ) -> BoxFuture<'a, Result<Option<Tail>, StoreError>>;

    /// Appends entries in one commit: all or none, and durable once it returns. `uid` of a new
    /// instance is the id of its first operation.
    ///
    /// A lease that has expired still commits as long as no other writer has taken it over: there
    /// is no conflict, and a refusal would lose the record of calls that were made.
    ///
    /// # Errors
    /// `Busy` if the lease was taken over, ended or given back; `Moved` unless the revision is
    /// still `expected`; `Refused` if an entry breaks a rule of the [`Journal`](crate::Journal);
    /// `OperationExists` if the store already has the operation that begins.
    fn commit<'a>(
        &'a self,
        lease: &'a Lease,
        expected: Revision,
        entries: Vec<Entry>,
    ) -> BoxFuture<'a, Result<Revision, StoreError>>;

    /// Takes the right to commit, for as long as `lasts`. The store's clock decides whether another
    /// lease has expired, its [`Host`](crate::Host) whether a process runs. A lease that was given
    /// in another boot expires `lasts` after it was first asked for here.
    ///
    /// # Errors
    /// `Busy` with the holder while another one [holds](LeaseHolder::is_active) it.
    fn lease<'a>(
        &'a self,
        instance: &'a InstanceName,
        who: &'a str,
        lasts: Duration,
    ) -> BoxFuture<'a, Result<Lease, StoreError>>;

    /// Extends the lease to `lasts` from now.
    ///
    /// # Errors
    /// `Busy` if it was taken over, ended or given back.
    fn renew<'a>(
        &'a self,
        lease: &'a Lease,
        lasts: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Checks that the lease is held; called before each call of a provider. The result of a
    /// commit, a renewal or this check counts for a second
    /// ([`LEASE_CHECK_VALIDITY`](crate::LEASE_CHECK_VALIDITY)), by a clock that continues while the
    /// machine sleeps.
    ///
    /// # Errors
    /// `Busy` if it was taken over, ended or given back.
    fn check_lease<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Gives the lease back. No error if it was taken over.
    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>>;

    /// The holder of the lease, even if the lease has expired and was not given back, or if the
    /// instance was never committed to.
    fn holder<'a>(
        &'a self,
        instance: &'a InstanceName,
    ) -> BoxFuture<'a, Result<Option<LeaseHolder>, StoreError>>;

    /// Takes the lease away from its holder and gives it to `who` for as long as `lasts`, in one
    /// step: no other writer takes it in between. The new lease belongs to no process, so it ends
    /// only when it is given back or expires, even if the caller dies. Returns the former holder
    /// and the new lease; `None` if nobody holds the lease.
    ///
    /// # Errors
    /// `Busy` with the holder if it [is active](LeaseHolder::is_active), unless `even_active`.
    fn take_away<'a>(
        &'a self,
        instance: &'a InstanceName,
        who: &'a str,
        lasts: Duration,
        even_active: bool,
    ) -> BoxFuture<'a, Result<Option<(LeaseHolder, Lease)>, StoreError>>;

    /// Ends the lease of any holder; returns the holder. The holder may begin calls for
    /// [`LEASE_CHECK_VALIDITY`](crate::LEASE_CHECK_VALIDITY) longer, and another writer may begin
    /// before that.
    fn unlock<'a>(
        &'a self,
        instance: &'a InstanceName,
    ) -> BoxFuture<'a, Result<Option<LeaseHolder>, StoreError>> {
        Box::pin(async move {
            match self
                .take_away(instance, "unlock", Duration::ZERO, true)
                .await?
            {
                Some((holder, lease)) => {
                    self.release(&lease).await?;
                    Ok(Some(holder))
                }
                None => Ok(None),
            }
        })
    }

    /// Removes the operations before this one, with their entries and documents, except for data
    /// that the current state depends on: [`load`](Store::load) and the revision stay as they are.
    /// All or nothing, and durable once it returns. [`first_kept`](crate::first_kept) chooses the
    /// operation.
    ///
    /// # Errors
    /// `Busy` if the lease was taken over, ended or given back; `Refused` if there is no such
    /// operation, or if the current state depends on an operation before it
    /// ([`InstanceInfo::needed`]).
    fn prune<'a>(
        &'a self,
        lease: &'a Lease,
        first: &'a str,
    ) -> BoxFuture<'a, Result<Pruned, StoreError>>;

    /// Gives an instance another name, with its journal and its revision. The lease stays that of
    /// the old name, which is free afterwards. All or nothing, and durable once it returns.
    ///
    /// # Errors
    /// `Busy` if the lease was taken over, ended or given back, or while a lease on the new name is
    /// held; `Unknown` if the instance was never committed to; `Moved` if the new name was committed
    /// to before.
    fn rename<'a>(
        &'a self,
        lease: &'a Lease,
        to: &'a InstanceName,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Seals all secrets with another key, in one transaction. Returns the number of entries that
    /// were resealed. This store keeps its former key: the caller opens the place again with the
    /// new one.
    ///
    /// Leases that have expired are ended: their holders must not add data that is sealed with the
    /// former key.
    ///
    /// # Errors
    /// `Busy` while a lease is held; `NoKey` if `to` cannot seal; `WrongKey` if the stored data was
    /// sealed with another key than that of this store, and `KeyMissing` if this store has none.
    fn rekey<'a>(&'a self, to: &'a Sealer) -> BoxFuture<'a, Result<u64, StoreError>>;

    /// Restores a whole journal from another store: the operations of an instance, each with its
    /// entries, after `base`, the remains of the operations that were pruned there. All or nothing.
    /// Afterwards the instance is the same as in the other store, with `revision` commits.
    ///
    /// # Errors
    /// `Moved` if the instance was committed to before, `Busy` while a lease on it is held,
    /// `Refused` if the entries break a rule of the journal, `OperationExists` if this store
    /// already has one of the operations.
    fn restore<'a>(
        &'a self,
        instance: &'a InstanceName,
        revision: Revision,
        base: Option<Checkpoint>,
        operations: Vec<Vec<Entry>>,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Whether the store can seal a secret now. Asked before an operation begins, so that it is
    /// refused instead of cut off.
    fn can_seal(&self) -> bool;

    /// Returns the notices since the last call about actions of the store that people should know,
    /// as sentences without a full stop: for example that it has rewritten its file, and where the
    /// copy is.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// Checks everything that is stored of all instances. A store that cannot be damaged finds
    /// nothing.
    fn verify<'a>(&'a self) -> BoxFuture<'a, Result<Verification, StoreError>> {
        Box::pin(std::future::ready(Ok(Verification::default())))
    }

    /// One instance at a glance; `None` for an instance that was never committed to. Needs no key.
    fn info<'a>(
        &'a self,
        instance: &'a InstanceName,
    ) -> BoxFuture<'a, Result<Option<InstanceInfo>, StoreError>> {
        Box::pin(async move {
            Ok(self
                .instances()
                .await?
                .into_iter()
                .find(|info| info.name == *instance))
        })
    }

    /// The revision; 0 for an instance that was never committed to.
    fn head<'a>(
        &'a self,
        instance: &'a InstanceName,
    ) -> BoxFuture<'a, Result<Revision, StoreError>> {
        Box::pin(async move {
            Ok(self
                .info(instance)
                .await?
                .map(|info| info.revision)
                .unwrap_or_default())
        })
    }

    /// The snapshot at the current revision; empty for an instance that was never committed to.
    fn load<'a>(
        &'a self,
        instance: &'a InstanceName,
    ) -> BoxFuture<'a, Result<Snapshot, StoreError>> {
        Box::pin(async move {
            Ok(self
                .read(instance, Since::Checkpoint)
                .await?
                .map(Tail::snapshot)
                .unwrap_or_default())
        })
    }

    /// The operations of an instance, newest first, at most `limit`. Reads no documents.
    ///
    /// # Errors
    /// `Unknown` for an instance that was never committed to.
    fn history<'a>(
        &'a self,
        instance: &'a InstanceName,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<GenerationInfo>, StoreError>> {
        Box::pin(async move {
            Ok(
                require_instance(self.read(instance, Since::Entry(0)).await?, instance)?
                    .history(limit),
            )
        })
    }

    /// One operation with the documents and inputs that it began with; `None` if the instance never
    /// had it.
    ///
    /// # Errors
    /// `Unknown` for an instance that was never committed to.
    fn operation<'a>(
        &'a self,
        instance: &'a InstanceName,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<Operation>, StoreError>> {
        Box::pin(async move {
            Ok(
                require_instance(self.read(instance, Since::Entry(0)).await?, instance)?
                    .operation(id),
            )
        })
    }

    /// The newest `limit` entries of one operation, or of all, oldest first; none for an operation
    /// that the instance never had.
    ///
    /// # Errors
    /// `Unknown` for an instance that was never committed to.
    fn log<'a>(
        &'a self,
        instance: &'a InstanceName,
        operation: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<LogEntry>, StoreError>> {
        Box::pin(async move {
            Ok(
                require_instance(self.read(instance, Since::Entry(0)).await?, instance)?
                    .log(operation, limit),
            )
        })
    }

    /// The resources with an id that all instances but the one of this name manage, ordered by
    /// instance.
    ///
    /// The cost grows with the records of these instances, not with their documents and their
    /// history.
    fn managed_by_others<'a>(
        &'a self,
        instance: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Managed>, StoreError>> {
        Box::pin(async move {
            let mut found = Vec::new();
            for other in self
                .instances()
                .await?
                .into_iter()
                .filter(|other| other.name.as_str() != instance)
            {
                if other.records > 0 {
                    found.extend(self.load(&other.name).await?.managed(&other.name));
                }
            }
            Ok(found)
        })
    }
}

fn require_instance(tail: Option<Tail>, instance: &InstanceName) -> Result<Tail, StoreError> {
    tail.ok_or_else(|| StoreError::Unknown {
        instance: instance.clone(),
    })
}
