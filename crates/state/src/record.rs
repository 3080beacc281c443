//! What is known of an instance and of each thing in it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use blueprint::{Address, IndexMap, Name, Value};
use serde::{Deserialize, Serialize};

/// How often an instance has been committed to: 0 before the first, one more with each, never back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Revision(pub u64);

/// Counts finished operations of an instance, from 1; what `history` shows and `rollback` names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Generation(pub u64);

/// The name an instance is deployed under: letters, digits, `_`, `.`, `-`; at most 128; not `.` or `..`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InstanceName(Name);

/// A text is no name for an instance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no name for an instance: letters, digits, `_`, `.` and `-` are, at most 128 of them")]
pub struct InstanceNameError(pub String);

impl InstanceName {
    /// The name with characters outside the allowed ones replaced by `-`; `instance` if nothing is left.
    pub fn from_free_text(text: &str) -> InstanceName {
        let name: String = text
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-') { c } else { '-' })
            .take(128)
            .collect();
        let name = if name.is_empty() || name.chars().all(|c| c == '.') { "instance".to_owned() } else { name };
        InstanceName(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as a shared text.
    pub fn name(&self) -> &Name {
        &self.0
    }
}

impl fmt::Display for InstanceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for InstanceName {
    type Err = InstanceNameError;

    fn from_str(text: &str) -> Result<InstanceName, InstanceNameError> {
        let fits = !text.is_empty()
            && text.len() <= 128
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
            && !text.bytes().all(|byte| byte == b'.');
        if fits { Ok(InstanceName(text.into())) } else { Err(InstanceNameError(text.to_owned())) }
    }
}

impl TryFrom<String> for InstanceName {
    type Error = InstanceNameError;

    fn try_from(text: String) -> Result<InstanceName, InstanceNameError> {
        text.parse()
    }
}

impl From<InstanceName> for String {
    fn from(name: InstanceName) -> String {
        name.0.as_ref().to_owned()
    }
}

/// What the last operation on something was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatusOp {
    /// It was created.
    Create,
    /// It was updated.
    Update,
    /// It was deleted.
    Delete,
}

/// How far the last operation came (reference 5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatusWord {
    /// The step is accepted.
    Pending,
    /// Intent is journalled, the call is in flight.
    Running,
    /// The provider accepted; not yet stable.
    Configured,
    /// As desired and stable.
    Ready,
    /// Refused, or retries are spent.
    Failed,
    /// The outcome is unknown.
    Interrupted,
    /// Never begun.
    Skipped,
    /// The old half of a create-first replacement, waiting to be deleted.
    Deposed,
    /// Detached, left in the world.
    Retained,
    /// Deleted and confirmed absent.
    Gone,
}

/// A record's state: what was done, how far it came, and whether that undid something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// What was done.
    pub op: StatusOp,
    /// How far it came.
    pub word: StatusWord,
    /// Inside a rollback.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undo: bool,
}

impl Status {
    /// A status outside a rollback.
    pub fn new(op: StatusOp, word: StatusWord) -> Status {
        Status { op, word, undo: false }
    }
}

impl StatusOp {
    /// The word: `create`, `update` or `delete`.
    pub fn word(self) -> &'static str {
        match self {
            StatusOp::Create => "create",
            StatusOp::Update => "update",
            StatusOp::Delete => "delete",
        }
    }
}

impl StatusWord {
    /// The word: `ready`, `failed`, ...
    pub fn word(self) -> &'static str {
        match self {
            StatusWord::Pending => "pending",
            StatusWord::Running => "running",
            StatusWord::Configured => "configured",
            StatusWord::Ready => "ready",
            StatusWord::Failed => "failed",
            StatusWord::Interrupted => "interrupted",
            StatusWord::Skipped => "skipped",
            StatusWord::Deposed => "deposed",
            StatusWord::Retained => "retained",
            StatusWord::Gone => "gone",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let undo = if self.undo { "undoing " } else { "" };
        write!(f, "{undo}{} {}", self.op.word(), self.word.word())
    }
}

/// Where a record's resource was declared: destroy has no document any more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordOrigin {
    /// The document, relative to the state.
    #[serde(deserialize_with = "blueprint::wire::name")]
    pub path: Name,
    /// First and last byte of the declaration's name.
    pub start: u32,
    /// End of it.
    pub end: u32,
    /// The abstract resource of the document that a transform made it from, as addresses print; empty if none
    /// (reference 4.2).
    #[serde(default = "no_name", skip_serializing_if = "is_empty")]
    pub made_from: Name,
    /// The folder of the document that declares the thing, as seen from the folder of the root document; empty if it is that.
    #[serde(default = "no_name", skip_serializing_if = "is_empty")]
    pub folder: Name,
}

fn no_name() -> Name {
    Name::default()
}

/// What is remembered of one thing. Destroy has only this.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its type.
    #[serde(rename = "type", deserialize_with = "blueprint::wire::name")]
    pub type_name: Name,
    /// How its last operation went.
    pub status: Status,
    /// The provider's own id; empty where nothing was ever made.
    #[serde(default, deserialize_with = "crate::hidden::id", skip_serializing_if = "is_empty")]
    pub id: Name,
    /// The spec as sent, defaults filled in, secrets marked.
    pub inputs: Value,
    /// All fields as answered, secrets marked; null where nothing was answered.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub outputs: Value,
    /// Opaque data of the provider.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub private: Value,
    /// Labels, annotations, display name, custom data, as evaluated.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// What it uses, directly: other records of this instance, and groups of the snapshot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Address>,
    /// Left in the world when it is no longer declared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retain: bool,
    /// Never deleted or replaced.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub protect: bool,
    /// The old half of a create-first replacement that is still there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deposed: Option<Box<Record>>,
    /// The token of a create of which nobody knows whether it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Name>,
    /// What such a create would have put in the place of the thing that is there: its record, with the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Box<Record>>,
    /// A person must choose what becomes of it: why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attention: Option<Name>,
    /// There, but not well: the provider's words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unhealthy: Vec<Name>,
    /// The version of the type's schema that `outputs` and `private` are of.
    #[serde(default)]
    pub schema_version: u32,
    /// How many milliseconds its last create or update took until it was ready, to two digits; 0 where that is not known,
    /// or too little to matter. Nothing but the order of calls follows from it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub took: u32,
    /// Where it was declared.
    #[serde(default)]
    pub origin: RecordOrigin,
}

fn is_empty(name: &Name) -> bool {
    name.is_empty()
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Record {
    /// What is left of the record once the thing with this id of the provider is gone: nothing, or what else it tells of.
    ///
    /// Old halves of replacements hang below the thing one by one; each is a thing of its own.
    pub fn without(&self, id: &str) -> Option<Record> {
        let mut left = self.clone();
        if *left.id == *id {
            left.deposed.as_ref()?;
            left.id = "".into();
            left.outputs = Value::Null;
            left.private = Value::Null;
            left.status = Status::new(StatusOp::Delete, StatusWord::Gone);
            return Some(left);
        }
        left.deposed = left.deposed.and_then(|old| old.without_link(id)).map(Box::new);
        Some(left)
            .filter(|left| !(left.id.is_empty() && left.deposed.is_none() && left.status.word == StatusWord::Gone))
    }

    fn without_link(mut self: Box<Record>, id: &str) -> Option<Record> {
        let below = self.deposed.take().and_then(|old| old.without_link(id)).map(Box::new);
        if *self.id == *id {
            return below.map(|below| *below);
        }
        self.deposed = below;
        Some(*self)
    }

    /// Whether the id repeats a secret of the record, such as a file's path. It is sealed then, and not shown.
    pub fn hides_id(&self) -> bool {
        crate::hides_id(&self.id, [&self.inputs, &self.outputs, &self.private])
    }

    /// The id as it may be shown.
    pub fn shown_id(&self) -> &str {
        if self.hides_id() { crate::hidden::INSTEAD } else { &self.id }
    }

    /// The old halves that are still there, the newest first.
    pub fn old_halves(&self) -> impl Iterator<Item = &Record> {
        std::iter::successors(self.deposed.as_deref(), |old| old.deposed.as_deref())
    }

    /// The record as the old half below a new thing.
    pub fn as_old_half(&self) -> Record {
        let mut old = self.clone();
        old.status.word = StatusWord::Deposed;
        old
    }
}

/// A value that was drawn once for a call site (ruling S60).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remembered {
    /// A digest of the expression; another one asks for a new value.
    pub fingerprint: u64,
    /// The value.
    pub value: Value,
}

/// An intent without an outcome: a call that was in flight when the process ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Open {
    /// What was intended.
    pub intent: crate::Intent,
}

/// An instance's state at a revision.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Commits so far.
    pub revision: Revision,
    /// Finished operations so far.
    pub generation: Generation,
    /// A name for the instance that no other has had, from which tokens are made; empty before the first commit.
    pub uid: Name,
    /// The document it belongs to, relative to the state; empty before the first commit.
    pub document: Name,
    /// Records by address, in the order in which they were first made.
    pub records: IndexMap<Address, Arc<Record>>,
    /// What the named intermediate values of the last deployment used: addresses in `dependencies` may name one.
    pub groups: IndexMap<Name, Vec<Address>>,
    /// Exported values of the last operation that succeeded.
    pub exports: IndexMap<Name, Value>,
    /// Whether an operation has failed since then, so that `exports` are of before.
    pub exports_old: bool,
    /// Remembered values by call site.
    pub remembered: IndexMap<Name, Remembered>,
    /// Evaluated metadata of the document.
    pub metadata: Value,
    /// Children and data sources as of the last operation that succeeded.
    pub declared: crate::Declared,
    /// Where operations stop, and where the last one did.
    pub stops: crate::Stops,
    /// Calls that were in flight when the last operation ended without finishing, by address.
    pub open: IndexMap<Address, Open>,
    /// The ids of things whose deletes were begun since the last operation that finished, by address. Together with `uid`
    /// and `generation` they tell one creation at an address from the next.
    pub deleted: IndexMap<Address, Name>,
}
