//! The messages that both versions of the protocol share, in the form of `prost`.
//!
//! A host needs only these; fields that it does not read are left out. The schemas differ between
//! the versions: `messages5` and `messages6`.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use prost::{Message, Oneof};

/// A value: msgpack, or JSON if that is empty.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(crate) struct Data {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) msgpack: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) json: Vec<u8>,
}

/// A stored value, in its stored form.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub(crate) struct StoredData {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) json: Vec<u8>,
    /// The form of Terraform before 0.12.
    #[prost(map = "string, string", tag = "2")]
    pub(crate) flat: HashMap<String, String>,
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Data({} bytes)", self.msgpack.len() + self.json.len())
    }
}

impl fmt::Debug for StoredData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoredData({} bytes)", self.json.len())
    }
}

/// The identity of an object.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct IdentityData {
    #[prost(message, optional, tag = "1")]
    pub(crate) data: Option<Data>,
}

/// A message for people.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct NoticeMessage {
    /// 1 for an error, 2 for a warning.
    #[prost(int32, tag = "1")]
    pub(crate) severity: i32,
    #[prost(string, tag = "2")]
    pub(crate) summary: String,
    #[prost(string, tag = "3")]
    pub(crate) detail: String,
    #[prost(message, optional, tag = "4")]
    pub(crate) place: Option<AttributePath>,
}

/// A path into a value.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct AttributePath {
    #[prost(message, repeated, tag = "1")]
    pub(crate) steps: Vec<AttributePathStep>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct AttributePathStep {
    #[prost(oneof = "Selector", tags = "1, 2, 3")]
    pub(crate) selector: Option<Selector>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum Selector {
    #[prost(string, tag = "1")]
    Attribute(String),
    #[prost(string, tag = "2")]
    Key(String),
    #[prost(int64, tag = "3")]
    Index(i64),
}

/// The failure of a function.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct FunctionProblem {
    #[prost(string, tag = "1")]
    pub(crate) text: String,
    #[prost(int64, optional, tag = "2")]
    pub(crate) argument: Option<i64>,
}

/// The abilities of a server.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct ServerAbilities {
    #[prost(bool, tag = "1")]
    pub(crate) plans_deletes: bool,
    #[prost(bool, tag = "2")]
    pub(crate) schema_is_optional: bool,
    #[prost(bool, tag = "3")]
    pub(crate) moves: bool,
}

/// The abilities of the host.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct HostAbilities {
    #[prost(bool, tag = "1")]
    pub(crate) defers: bool,
    #[prost(bool, tag = "2")]
    pub(crate) write_only: bool,
}

/// The message of a provider that cannot decide yet.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct DeferredMessage {
    #[prost(int32, tag = "1")]
    pub(crate) reason: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct IdentityAttribute {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    /// The type as JSON.
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) ty: Vec<u8>,
    #[prost(bool, tag = "3")]
    pub(crate) required: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct IdentitySchema {
    #[prost(int64, tag = "1")]
    pub(crate) version: i64,
    #[prost(message, repeated, tag = "2")]
    pub(crate) attributes: Vec<IdentityAttribute>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct FunctionMessage {
    #[prost(message, repeated, tag = "1")]
    pub(crate) parameters: Vec<ParameterMessage>,
    #[prost(message, optional, tag = "2")]
    pub(crate) variadic: Option<ParameterMessage>,
    #[prost(message, optional, tag = "3")]
    pub(crate) returns: Option<Return>,
    #[prost(string, tag = "4")]
    pub(crate) summary: String,
    #[prost(string, tag = "5")]
    pub(crate) description: String,
    #[prost(string, tag = "7")]
    pub(crate) deprecation: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ParameterMessage {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    /// The type as JSON.
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) ty: Vec<u8>,
    #[prost(bool, tag = "3")]
    pub(crate) takes_null: bool,
    #[prost(bool, tag = "4")]
    pub(crate) takes_unknown: bool,
    #[prost(string, tag = "5")]
    pub(crate) description: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Return {
    /// The type as JSON.
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) ty: Vec<u8>,
}

/// A message without fields, and any answer that is not read.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Empty {}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct IdentitySchemasAnswer {
    #[prost(btree_map = "string, message", tag = "1")]
    pub(crate) schemas: BTreeMap<String, IdentitySchema>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) notices: Vec<NoticeMessage>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ValidateProviderMessage {
    #[prost(message, optional, tag = "1")]
    pub(crate) config: Option<Data>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ValidateProviderAnswer {
    /// The configuration with defaults. Only protocol 5 sends it.
    #[prost(message, optional, tag = "1")]
    pub(crate) prepared: Option<Data>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) notices: Vec<NoticeMessage>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ConfigureMessage {
    #[prost(string, tag = "1")]
    pub(crate) host_version: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) config: Option<Data>,
    #[prost(message, optional, tag = "3")]
    pub(crate) host: Option<HostAbilities>,
}

/// An answer with only notices.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct NoticesAnswer {
    #[prost(message, repeated, tag = "1")]
    pub(crate) notices: Vec<NoticeMessage>,
}

/// A request to validate a configuration: of a resource, or, without `host`, of a data source.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ValidateTypeMessage {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) config: Option<Data>,
    #[prost(message, optional, tag = "3")]
    pub(crate) host: Option<HostAbilities>,
}

/// A request to convert a stored value or identity to the current form.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct UpgradeMessage {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(int64, tag = "2")]
    pub(crate) version: i64,
    #[prost(message, optional, tag = "3")]
    pub(crate) stored: Option<StoredData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct UpgradeStateAnswer {
    #[prost(message, optional, tag = "1")]
    pub(crate) state: Option<Data>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) notices: Vec<NoticeMessage>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct UpgradeIdentityAnswer {
    #[prost(message, optional, tag = "1")]
    pub(crate) identity: Option<IdentityData>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) notices: Vec<NoticeMessage>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ReadMessage {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) current: Option<Data>,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) private: Vec<u8>,
    #[prost(message, optional, tag = "4")]
    pub(crate) meta: Option<Data>,
    #[prost(message, optional, tag = "5")]
    pub(crate) host: Option<HostAbilities>,
    #[prost(message, optional, tag = "6")]
    pub(crate) identity: Option<IdentityData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ReadAnswer {
    #[prost(message, optional, tag = "1")]
    pub(crate) state: Option<Data>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) notices: Vec<NoticeMessage>,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) private: Vec<u8>,
    #[prost(message, optional, tag = "4")]
    pub(crate) deferred: Option<DeferredMessage>,
    #[prost(message, optional, tag = "5")]
    pub(crate) identity: Option<IdentityData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct PlanMessage {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) prior: Option<Data>,
    #[prost(message, optional, tag = "3")]
    pub(crate) proposed: Option<Data>,
    #[prost(message, optional, tag = "4")]
    pub(crate) config: Option<Data>,
    #[prost(bytes = "vec", tag = "5")]
    pub(crate) private: Vec<u8>,
    #[prost(message, optional, tag = "6")]
    pub(crate) meta: Option<Data>,
    #[prost(message, optional, tag = "7")]
    pub(crate) host: Option<HostAbilities>,
    #[prost(message, optional, tag = "8")]
    pub(crate) identity: Option<IdentityData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct PlanAnswer {
    #[prost(message, optional, tag = "1")]
    pub(crate) planned: Option<Data>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) replaces: Vec<AttributePath>,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) private: Vec<u8>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) notices: Vec<NoticeMessage>,
    #[prost(bool, tag = "5")]
    pub(crate) legacy: bool,
    #[prost(message, optional, tag = "6")]
    pub(crate) deferred: Option<DeferredMessage>,
    #[prost(message, optional, tag = "7")]
    pub(crate) identity: Option<IdentityData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ApplyMessage {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) prior: Option<Data>,
    #[prost(message, optional, tag = "3")]
    pub(crate) planned: Option<Data>,
    #[prost(message, optional, tag = "4")]
    pub(crate) config: Option<Data>,
    #[prost(bytes = "vec", tag = "5")]
    pub(crate) private: Vec<u8>,
    #[prost(message, optional, tag = "6")]
    pub(crate) meta: Option<Data>,
    #[prost(message, optional, tag = "7")]
    pub(crate) identity: Option<IdentityData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ApplyAnswer {
    #[prost(message, optional, tag = "1")]
    pub(crate) state: Option<Data>,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) private: Vec<u8>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) notices: Vec<NoticeMessage>,
    #[prost(bool, tag = "4")]
    pub(crate) legacy: bool,
    #[prost(message, optional, tag = "5")]
    pub(crate) identity: Option<IdentityData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ImportMessage {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(string, tag = "2")]
    pub(crate) id: String,
    #[prost(message, optional, tag = "3")]
    pub(crate) host: Option<HostAbilities>,
    #[prost(message, optional, tag = "4")]
    pub(crate) identity: Option<IdentityData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ImportedResource {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) state: Option<Data>,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) private: Vec<u8>,
    #[prost(message, optional, tag = "4")]
    pub(crate) identity: Option<IdentityData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ImportAnswer {
    #[prost(message, repeated, tag = "1")]
    pub(crate) resources: Vec<ImportedResource>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) notices: Vec<NoticeMessage>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct MoveMessage {
    #[prost(string, tag = "1")]
    pub(crate) source_provider: String,
    #[prost(string, tag = "2")]
    pub(crate) source_type: String,
    #[prost(int64, tag = "3")]
    pub(crate) source_version: i64,
    #[prost(message, optional, tag = "4")]
    pub(crate) source: Option<StoredData>,
    #[prost(string, tag = "5")]
    pub(crate) target_type: String,
    #[prost(bytes = "vec", tag = "6")]
    pub(crate) source_private: Vec<u8>,
    #[prost(message, optional, tag = "7")]
    pub(crate) source_identity: Option<StoredData>,
    #[prost(int64, tag = "8")]
    pub(crate) source_identity_version: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct MoveAnswer {
    #[prost(message, optional, tag = "1")]
    pub(crate) state: Option<Data>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) notices: Vec<NoticeMessage>,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) private: Vec<u8>,
    #[prost(message, optional, tag = "4")]
    pub(crate) identity: Option<IdentityData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ReadDataMessage {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) config: Option<Data>,
    #[prost(message, optional, tag = "3")]
    pub(crate) meta: Option<Data>,
    #[prost(message, optional, tag = "4")]
    pub(crate) host: Option<HostAbilities>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ReadDataAnswer {
    #[prost(message, optional, tag = "1")]
    pub(crate) state: Option<Data>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) notices: Vec<NoticeMessage>,
    #[prost(message, optional, tag = "3")]
    pub(crate) deferred: Option<DeferredMessage>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CallMessage {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(message, repeated, tag = "2")]
    pub(crate) arguments: Vec<Data>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CallAnswer {
    #[prost(message, optional, tag = "1")]
    pub(crate) result: Option<Data>,
    #[prost(message, optional, tag = "2")]
    pub(crate) problem: Option<FunctionProblem>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct StopAnswer {
    #[prost(string, tag = "1")]
    pub(crate) error: String,
}
