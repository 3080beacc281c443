//! The requests and answers of a reconcile, and what it ends with.

use std::sync::Arc;

use blueprint::{Map, Name, Value};

use crate::kinds::CartoKind;

/// The blueprints and templates that exist.
pub trait Platform {
    /// All blueprints of a kind, ordered by name.
    fn blueprints(&self, kind: CartoKind) -> Vec<Arc<Value>>;

    /// A template or blueprint; `None` if there is none.
    fn find(&self, kind: CartoKind, name: &str) -> Option<Arc<Value>>;
}

/// A service account.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AccountName {
    /// Its namespace.
    pub namespace: Name,
    /// Its name.
    pub name: Name,
}

/// Who signs a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The controller itself.
    Controller,
    /// A service account, with a token that the controller gets for it.
    Account(AccountName),
}

/// One object of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectName {
    /// Group and version, as in a manifest.
    pub api_version: Name,
    /// The kind.
    pub kind: Name,
    /// The namespace; it does not count for a cluster-scoped kind.
    pub namespace: Option<Name>,
    /// The name.
    pub name: Name,
}

/// The number of a request within one reconcile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u32);

/// A request that the controller carries out.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterRequest {
    /// Its number, which the answer names.
    pub id: RequestId,
    /// Who signs it.
    pub identity: Identity,
    /// What it does.
    pub call: Call,
}

/// What a request does.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// Sees to a token for a service account. Answers: `Done`, `Missing`, `Refused`.
    Account(AccountName),
    /// Reads an object. Answers: `Object`, `Missing`, `Refused`.
    Get(ObjectName),
    /// Reads all objects of a kind that have these labels. A list that is not complete is
    /// `Refused`, never a shorter `List`.
    List {
        /// Group and version.
        api_version: Name,
        /// The kind.
        kind: Name,
        /// The namespace; `None` for the whole cluster. The machine does not know which kinds are
        /// cluster-scoped: a namespace does not count for those.
        namespace: Option<Name>,
        /// The labels, each a text.
        labels: Map,
    },
    /// Applies an object on the server's side, as the manager `cyan`, and takes over fields of
    /// others. Answers: `Object`, `Refused`.
    Apply(Value),
    /// Creates an object with `generateName`. Answers: `Object`, `Refused`.
    Create(Value),
    /// Deletes an object if it still has this uid. Answers: `Done`, `Missing`, `Refused`.
    Delete {
        /// The object.
        object: ObjectName,
        /// Its uid.
        uid: Name,
    },
}

/// An object that the cluster has.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundObject {
    /// The whole object.
    pub object: Arc<Value>,
    /// The plural and group of its kind, as in `deployments.apps`; for the core group only the
    /// plural.
    pub resource: Name,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum ClusterAnswer {
    /// It is done.
    Done,
    /// The object that was read or written, as the cluster has it now.
    Object(FoundObject),
    /// All objects of the list.
    List(Vec<FoundObject>),
    /// What it names does not exist.
    Missing,
    /// It was refused or could not be carried out.
    Refused(Refusal),
}

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The class.
    pub reason: RefusalReason,
    /// The words of the server, or of the connection.
    pub message: String,
}

/// The classes of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    /// The identity has no right.
    Forbidden,
    /// The server does not know the kind.
    KindMissing,
    /// The request itself is wrong, for example an object that its schema forbids. The same request
    /// fails again.
    Rejected,
    /// The object has changed meanwhile, or another one has its name.
    Conflict,
    /// The server did not answer, or had no time. The same request can succeed later.
    Unavailable,
}

/// An event about the object that is reconciled. Its type is `Normal`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerEvent {
    /// The reason, for example `StampedObjectApplied`.
    pub reason: &'static str,
    /// The message.
    pub message: String,
}

/// When an object is reconciled again without a change of anything that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Not before the resync.
    No,
    /// After a delay that grows with each failure.
    Backoff,
}

/// What wakes an object: a change of any of these reconciles it again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watches {
    /// Blueprints and templates, whether they exist or not.
    pub platform: Vec<(CartoKind, Name)>,
    /// The service account whose tokens sign requests, whether it exists or not.
    pub account: Option<AccountName>,
    /// Kinds of stamped objects: `apiVersion` and `kind`.
    pub stamped: Vec<(Name, Name)>,
    /// Kinds of objects that a selector of a Runnable reads: `apiVersion` and `kind`.
    pub selected: Vec<(Name, Name)>,
}

/// What a reconcile ends with.
#[derive(Clone, Debug, PartialEq)]
pub struct ReconcileOutcome {
    /// The whole new status; `None` if nothing but times would change.
    pub status: Option<Value>,
    /// Events about the object.
    pub events: Vec<OwnerEvent>,
    /// When it is reconciled again by itself.
    pub retry: Retry,
    /// What wakes it.
    pub watches: Watches,
}
