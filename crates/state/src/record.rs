//! The record of one resource.

use blueprint::{Address, DeclarationSite, DeleteMode, Name, TypeId, Value};
use serde::{Deserialize, Serialize};

use crate::hidden::{self, hides_id};
use crate::record_ties::{Keeping, RecordTies};
use crate::status::{Status, StatusOp, StatusWord};

/// The place where the resource of a record was declared. A destroy needs it because it has no
/// document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordOrigin {
    /// The path of the document, relative to the state.
    #[serde(deserialize_with = "blueprint::wire::name")]
    pub path: Name,
    /// The offset of the first byte of the declaration's name.
    pub start: u32,
    /// The offset of the end of the name.
    pub end: u32,
    /// The address of the abstract resource from which a transform made it; empty if none
    /// (decisions/documents#transforms).
    #[serde(default = "no_name", skip_serializing_if = "is_empty")]
    pub made_from: Name,
    /// The folder of the document that declares the resource, relative to the folder of the root
    /// document; empty if they are the same.
    #[serde(default = "no_name", skip_serializing_if = "is_empty")]
    pub folder: Name,
    /// The name of the resource for plugins, as [`DeclarationSite::urn`].
    #[serde(default = "no_name", skip_serializing_if = "is_empty")]
    pub urn: Name,
    /// The options that a destroy or another tool needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ties: Option<Box<RecordTies>>,
}

impl RecordOrigin {
    /// The origin of the resource under another name, which its name for plugins ends with.
    pub fn renamed(&self, name: &str) -> RecordOrigin {
        let urn = match self.urn.rsplit_once("::") {
            Some((before, _)) => format!("{before}::{name}").into(),
            None => self.urn.clone(),
        };
        RecordOrigin {
            urn,
            ..self.clone()
        }
    }

    /// What providers are told about the declaration.
    pub fn site(&self) -> DeclarationSite<&str> {
        DeclarationSite {
            folder: &self.folder,
            urn: &self.urn,
        }
    }
}

/// The configuration of a provider that a resource was managed with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderRef {
    /// The resource that declares it.
    pub address: Address,
    /// Its id. After a replacement of the configuration, the deposed object has the old one.
    pub id: Name,
}

fn no_name() -> Name {
    Name::default()
}

/// The stored data of one resource. A destroy uses nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its type.
    #[serde(rename = "type")]
    pub type_name: TypeId,
    /// The status of its last operation.
    pub status: Status,
    /// The provider's own id; empty if no object was ever created.
    #[serde(
        default,
        deserialize_with = "crate::hidden::deserialize_id",
        skip_serializing_if = "is_empty"
    )]
    pub id: Name,
    /// The inputs as sent, with defaults, secrets marked.
    pub inputs: Value,
    /// All fields as the provider returned them, secrets marked; null if it returned nothing.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub outputs: Value,
    /// Opaque data of the provider.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub private: Value,
    /// Labels, annotations, display name, custom data, as evaluated.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// Its direct dependencies: other records of this instance, and groups of the snapshot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Address>,
    /// Whether the object stays when the resource is no longer declared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retain: bool,
    /// Whether the resource must never be deleted or replaced.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub protect: bool,
    /// How the object is deleted: see [`Record::effective_delete_mode`].
    #[serde(default, skip_serializing_if = "DeleteMode::is_plain")]
    pub delete_mode: DeleteMode,
    /// The deposed object of a create-first replacement, as long as it exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deposed: Option<Box<Record>>,
    /// The token of a create whose outcome is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Name>,
    /// The record, with the token, of a create whose outcome is unknown and that would replace this
    /// resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Box<Record>>,
    /// The reason why a person must decide how to continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attention: Option<Name>,
    /// The reasons why it is unhealthy, as the provider reports them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unhealthy: Vec<Name>,
    /// The version of the type's schema that `outputs` and `private` have.
    #[serde(default)]
    pub schema_version: u32,
    /// The declared configuration of its provider; `None` for the default configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderRef>,
    /// The time that its last create or update took until it was ready, in milliseconds, to two
    /// digits; 0 if unknown or short. Only the order of calls depends on it.
    #[serde(default, rename = "took", skip_serializing_if = "is_zero")]
    pub duration_ms: u32,
    /// The place where it was declared.
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
    /// The record without the object of this id; `None` if no other object is left.
    ///
    /// Deposed objects of replacements form a chain below the resource. One that has the id of its
    /// successor, as a plugin may choose it, is taken first.
    pub fn without(&self, id: &str) -> Option<Record> {
        let mut left = self.clone();
        if *left.id == *id && !self.deposed_objects().any(|old| *old.id == *id) {
            left.deposed.as_ref()?;
            left.id = "".into();
            left.outputs = Value::Null;
            left.private = Value::Null;
            left.status = Status::new(StatusOp::Delete, StatusWord::Gone);
            return Some(left);
        }
        left.deposed = left
            .deposed
            .and_then(|old| old.without_link(id))
            .map(Box::new);
        Some(left).filter(|left| {
            !(left.id.is_empty() && left.deposed.is_none() && left.status.word == StatusWord::Gone)
        })
    }

    fn without_link(mut self: Box<Record>, id: &str) -> Option<Record> {
        let below = self
            .deposed
            .take()
            .and_then(|old| old.without_link(id))
            .map(Box::new);
        if *self.id == *id {
            return below.map(|below| *below);
        }
        self.deposed = below;
        Some(*self)
    }

    /// All values of the record, its deposed objects and its attempt.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        let own = [&self.inputs, &self.outputs, &self.private, &self.metadata];
        let ties = self.origin.ties.as_deref();
        let carried = ties.map(|ties| &ties.carried);
        let deposed = self.deposed.as_deref().into_iter();
        // Few records hold others, so only these are boxed.
        let held = deposed.chain(self.attempt.as_deref());
        let own = own.into_iter().chain(carried);
        own.chain(held.flat_map(Record::boxed_values))
    }

    fn boxed_values(&self) -> Box<dyn Iterator<Item = &Value> + '_> {
        Box::new(self.values())
    }

    /// Whether the record, its deposed objects or its attempt contain a secret.
    pub fn has_secret(&self) -> bool {
        self.values().any(Value::has_secret)
    }

    /// Whether the id repeats a secret of the record, such as a file's path. Such an id is sealed
    /// and not shown.
    pub fn hides_id(&self) -> bool {
        hides_id(&self.id, [&self.inputs, &self.outputs, &self.private])
    }

    /// The id as it may be shown.
    pub fn shown_id(&self) -> &str {
        if self.hides_id() {
            hidden::SHOWN_ID
        } else {
            &self.id
        }
    }

    /// Whether the record is about an object that is managed here. An imported state may also have
    /// objects that are only read, and groups without an object.
    pub fn is_managed(&self) -> bool {
        let ties = self.origin.ties.as_deref();
        ties.is_none_or(|ties| ties.keeping == Keeping::Managed)
    }

    /// The deposed objects, newest first.
    pub fn deposed_objects(&self) -> impl Iterator<Item = &Record> {
        std::iter::successors(self.deposed.as_deref(), |old| old.deposed.as_deref())
    }

    /// How the object is deleted now. No snapshot is taken of an object whose create or last update
    /// failed, because it may be damaged (decisions/heat#snapshots-before-deletes).
    pub fn effective_delete_mode(&self) -> DeleteMode {
        let is_damaged =
            self.status.word == StatusWord::Failed && self.status.op != StatusOp::Delete;
        match is_damaged {
            true => DeleteMode::Delete,
            false => self.delete_mode,
        }
    }

    /// The record as a deposed object.
    pub fn as_deposed(&self) -> Record {
        let mut old = self.clone();
        old.delete_mode = self.effective_delete_mode();
        old.status.word = StatusWord::Deposed;
        old
    }
}

/// A value that was drawn once for a call site (decisions/blueprint#memoised-values).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memoised {
    /// A digest of the expression; a different digest requires a new value.
    pub fingerprint: u64,
    /// The value.
    pub value: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_object_with_the_id_of_its_successor_is_taken_first() {
        let of = |word: StatusWord, deposed: Option<Box<Record>>| {
            let status = Status::new(StatusOp::Create, word);
            let fields = serde_json::json!({"type": "t", "status": status, "inputs": null});
            let mut record: Record = serde_json::from_value(fields).expect("a record");
            (record.id, record.deposed) = ("same".into(), deposed);
            record
        };
        let old = of(StatusWord::Deposed, None);
        let both = of(StatusWord::Ready, Some(Box::new(old)));
        let new = both.without("same");
        assert_eq!(new, Some(of(StatusWord::Ready, None)));
        assert_eq!(new.and_then(|new| new.without("same")), None);
    }
}
