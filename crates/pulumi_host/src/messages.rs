//! The messages of the protocol, as far as they are used. Unknown fields of received messages are
//! skipped.
//!
//! Not here: the meaning of values in a `Struct` (`pulumi_wire`).

use std::collections::{BTreeMap, HashMap};

use prost_types::Struct;

/// The paths of the methods.
pub mod method {
    /// Announces the engine, and asks for the capabilities of the plugin.
    pub const HANDSHAKE: &str = "/pulumirpc.ResourceProvider/Handshake";
    /// Sends the address of the engine to an attached plugin.
    pub const ATTACH: &str = "/pulumirpc.ResourceProvider/Attach";
    /// Asks for the schema of the package.
    pub const GET_SCHEMA: &str = "/pulumirpc.ResourceProvider/GetSchema";
    /// Checks the settings of the provider.
    pub const CHECK_CONFIG: &str = "/pulumirpc.ResourceProvider/CheckConfig";
    /// Compares settings of the provider.
    pub const DIFF_CONFIG: &str = "/pulumirpc.ResourceProvider/DiffConfig";
    /// Sets the settings of the provider.
    pub const CONFIGURE: &str = "/pulumirpc.ResourceProvider/Configure";
    /// Checks the inputs of a resource and fills in defaults.
    pub const CHECK: &str = "/pulumirpc.ResourceProvider/Check";
    /// Compares a resource with its inputs.
    pub const DIFF: &str = "/pulumirpc.ResourceProvider/Diff";
    /// Creates a resource.
    pub const CREATE: &str = "/pulumirpc.ResourceProvider/Create";
    /// Reads a resource.
    pub const READ: &str = "/pulumirpc.ResourceProvider/Read";
    /// Updates a resource.
    pub const UPDATE: &str = "/pulumirpc.ResourceProvider/Update";
    /// Deletes a resource.
    pub const DELETE: &str = "/pulumirpc.ResourceProvider/Delete";
    /// Calls a function.
    pub const INVOKE: &str = "/pulumirpc.ResourceProvider/Invoke";
    /// Asks all running calls to end.
    pub const CANCEL: &str = "/pulumirpc.ResourceProvider/Cancel";
    /// Asks for the version of the plugin.
    pub const GET_PLUGIN_INFO: &str = "/pulumirpc.ResourceProvider/GetPluginInfo";
}

/// A message without fields.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Empty {}

/// Request of Handshake.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct HandshakeRequest {
    #[prost(string, tag = "1")]
    pub engine_address: String,
    #[prost(string, optional, tag = "2")]
    pub root_directory: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub program_directory: Option<String>,
    #[prost(bool, tag = "4")]
    pub configure_with_urn: bool,
    #[prost(bool, tag = "6")]
    pub supports_refresh_before_update: bool,
    #[prost(bool, tag = "7")]
    pub invoke_with_preview: bool,
    #[prost(bool, tag = "11")]
    pub accepts_byte_string: bool,
}

/// Response of Handshake.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct HandshakeResponse {
    #[prost(bool, tag = "1")]
    pub accept_secrets: bool,
    #[prost(bool, tag = "2")]
    pub accept_resources: bool,
    #[prost(bool, tag = "3")]
    pub accept_outputs: bool,
    #[prost(bool, tag = "4")]
    pub supports_autonaming_configuration: bool,
    #[prost(bool, tag = "6")]
    pub accepts_byte_string: bool,
}

/// Request of Attach.
#[derive(Clone, PartialEq, prost::Message)]
pub struct AttachRequest {
    /// The address of the engine's server.
    #[prost(string, tag = "1")]
    pub address: String,
}

/// Request of GetSchema.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct GetSchemaRequest {
    #[prost(int32, tag = "1")]
    pub version: i32,
    #[prost(string, tag = "2")]
    pub subpackage_name: String,
    #[prost(string, tag = "3")]
    pub subpackage_version: String,
}

/// Response of GetSchema.
#[derive(Clone, PartialEq, prost::Message)]
pub struct GetSchemaResponse {
    /// JSON text.
    #[prost(string, tag = "1")]
    pub schema: String,
}

/// Request of CheckConfig and Check.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct CheckRequest {
    #[prost(string, tag = "1")]
    pub urn: String,
    #[prost(message, optional, tag = "2")]
    pub olds: Option<Struct>,
    #[prost(message, optional, tag = "3")]
    pub news: Option<Struct>,
    #[prost(bytes = "vec", tag = "5")]
    pub random_seed: Vec<u8>,
    #[prost(string, tag = "6")]
    pub name: String,
    #[prost(string, tag = "7")]
    pub r#type: String,
    #[prost(message, optional, tag = "8")]
    pub autonaming: Option<AutonamingOptions>,
}

/// The way in which a plugin generates missing names.
#[derive(Clone, PartialEq, prost::Message)]
pub struct AutonamingOptions {
    /// The name.
    #[prost(string, tag = "1")]
    pub proposed_name: String,
    /// 0: a proposal. 1: exactly this name. 2: no name is generated.
    #[prost(int32, tag = "2")]
    pub mode: i32,
}

/// Response of CheckConfig and Check.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct CheckResponse {
    #[prost(message, optional, tag = "1")]
    pub inputs: Option<Struct>,
    #[prost(message, repeated, tag = "2")]
    pub failures: Vec<CheckFailure>,
}

/// A refused property.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct CheckFailure {
    #[prost(string, tag = "1")]
    pub property: String,
    #[prost(string, tag = "2")]
    pub reason: String,
}

/// Request of DiffConfig and Diff.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct DiffRequest {
    #[prost(string, tag = "1")]
    pub id: String,
    #[prost(string, tag = "2")]
    pub urn: String,
    /// The old outputs.
    #[prost(message, optional, tag = "3")]
    pub olds: Option<Struct>,
    /// The new inputs.
    #[prost(message, optional, tag = "4")]
    pub news: Option<Struct>,
    #[prost(string, repeated, tag = "5")]
    pub ignore_changes: Vec<String>,
    #[prost(message, optional, tag = "6")]
    pub old_inputs: Option<Struct>,
    #[prost(string, tag = "7")]
    pub name: String,
    #[prost(string, tag = "8")]
    pub r#type: String,
}

/// Response of DiffConfig and Diff.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct DiffResponse {
    #[prost(string, repeated, tag = "1")]
    pub replaces: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub stables: Vec<String>,
    #[prost(bool, tag = "3")]
    pub delete_before_replace: bool,
    /// 0: the plugin cannot tell. 1: none. 2: some.
    #[prost(int32, tag = "4")]
    pub changes: i32,
    #[prost(string, repeated, tag = "5")]
    pub diffs: Vec<String>,
    #[prost(btree_map = "string, message", tag = "6")]
    pub detailed_diff: BTreeMap<String, PropertyDiff>,
    #[prost(bool, tag = "7")]
    pub has_detailed_diff: bool,
}

/// The difference of a property.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PropertyDiff {
    /// 0: added. 2: deleted. 4: changed. Each plus 1: the resource is replaced for it.
    #[prost(int32, tag = "1")]
    pub kind: i32,
    /// Whether the old and new inputs differ, rather than the old outputs and the new inputs.
    #[prost(bool, tag = "2")]
    pub input_diff: bool,
}

/// Request of Configure.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct ConfigureRequest {
    #[prost(map = "string, string", tag = "1")]
    pub variables: HashMap<String, String>,
    #[prost(message, optional, tag = "2")]
    pub args: Option<Struct>,
    #[prost(bool, tag = "3")]
    pub accept_secrets: bool,
    #[prost(bool, tag = "4")]
    pub accept_resources: bool,
    #[prost(bool, tag = "5")]
    pub sends_old_inputs: bool,
    #[prost(bool, tag = "6")]
    pub sends_old_inputs_to_delete: bool,
    #[prost(string, optional, tag = "7")]
    pub id: Option<String>,
    #[prost(string, optional, tag = "8")]
    pub urn: Option<String>,
    #[prost(string, optional, tag = "9")]
    pub name: Option<String>,
    #[prost(string, optional, tag = "10")]
    pub r#type: Option<String>,
}

/// Response of Configure.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct ConfigureResponse {
    #[prost(bool, tag = "1")]
    pub accept_secrets: bool,
    #[prost(bool, tag = "2")]
    pub supports_preview: bool,
    #[prost(bool, tag = "3")]
    pub accept_resources: bool,
    #[prost(bool, tag = "4")]
    pub accept_outputs: bool,
    #[prost(bool, tag = "5")]
    pub supports_autonaming_configuration: bool,
}

/// Request of Create.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct CreateRequest {
    #[prost(string, tag = "1")]
    pub urn: String,
    #[prost(message, optional, tag = "2")]
    pub properties: Option<Struct>,
    #[prost(double, tag = "3")]
    pub timeout: f64,
    #[prost(bool, tag = "4")]
    pub preview: bool,
    #[prost(string, tag = "5")]
    pub name: String,
    #[prost(string, tag = "6")]
    pub r#type: String,
}

/// Response of Create.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct CreateResponse {
    #[prost(string, tag = "1")]
    pub id: String,
    #[prost(message, optional, tag = "2")]
    pub properties: Option<Struct>,
    #[prost(bool, tag = "3")]
    pub refresh_before_update: bool,
}

/// Request of Read.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct ReadRequest {
    #[prost(string, tag = "1")]
    pub id: String,
    #[prost(string, tag = "2")]
    pub urn: String,
    #[prost(message, optional, tag = "3")]
    pub properties: Option<Struct>,
    #[prost(message, optional, tag = "4")]
    pub inputs: Option<Struct>,
    #[prost(string, tag = "5")]
    pub name: String,
    #[prost(string, tag = "6")]
    pub r#type: String,
    #[prost(double, tag = "10")]
    pub timeout: f64,
}

/// Response of Read. An empty id: the resource does not exist.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct ReadResponse {
    #[prost(string, tag = "1")]
    pub id: String,
    #[prost(message, optional, tag = "2")]
    pub properties: Option<Struct>,
    #[prost(message, optional, tag = "3")]
    pub inputs: Option<Struct>,
    #[prost(bool, tag = "4")]
    pub refresh_before_update: bool,
}

/// Request of Update.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct UpdateRequest {
    #[prost(string, tag = "1")]
    pub id: String,
    #[prost(string, tag = "2")]
    pub urn: String,
    /// The old outputs.
    #[prost(message, optional, tag = "3")]
    pub olds: Option<Struct>,
    /// The new inputs.
    #[prost(message, optional, tag = "4")]
    pub news: Option<Struct>,
    #[prost(double, tag = "5")]
    pub timeout: f64,
    #[prost(string, repeated, tag = "6")]
    pub ignore_changes: Vec<String>,
    #[prost(bool, tag = "7")]
    pub preview: bool,
    #[prost(message, optional, tag = "8")]
    pub old_inputs: Option<Struct>,
    #[prost(string, tag = "9")]
    pub name: String,
    #[prost(string, tag = "10")]
    pub r#type: String,
}

/// Response of Update.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct UpdateResponse {
    #[prost(message, optional, tag = "1")]
    pub properties: Option<Struct>,
    #[prost(bool, tag = "2")]
    pub refresh_before_update: bool,
}

/// Request of Delete.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct DeleteRequest {
    #[prost(string, tag = "1")]
    pub id: String,
    #[prost(string, tag = "2")]
    pub urn: String,
    #[prost(message, optional, tag = "3")]
    pub properties: Option<Struct>,
    #[prost(double, tag = "4")]
    pub timeout: f64,
    #[prost(message, optional, tag = "5")]
    pub old_inputs: Option<Struct>,
    #[prost(string, tag = "6")]
    pub name: String,
    #[prost(string, tag = "7")]
    pub r#type: String,
}

/// Request of Invoke.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct InvokeRequest {
    #[prost(string, tag = "1")]
    pub tok: String,
    #[prost(message, optional, tag = "2")]
    pub args: Option<Struct>,
    #[prost(bool, tag = "7")]
    pub preview: bool,
}

/// Response of Invoke.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct InvokeResponse {
    #[prost(message, optional, tag = "1")]
    pub r#return: Option<Struct>,
    #[prost(message, repeated, tag = "2")]
    pub failures: Vec<CheckFailure>,
}

/// Response of GetPluginInfo.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PluginInfo {
    /// The version of the plugin.
    #[prost(string, tag = "1")]
    pub version: String,
}

/// Detail of a status: the resource exists but is not healthy.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct ErrorResourceInitFailed {
    #[prost(string, tag = "1")]
    pub id: String,
    #[prost(message, optional, tag = "2")]
    pub properties: Option<Struct>,
    #[prost(string, repeated, tag = "3")]
    pub reasons: Vec<String>,
    #[prost(message, optional, tag = "4")]
    pub inputs: Option<Struct>,
    #[prost(bool, tag = "5")]
    pub refresh_before_update: bool,
}

/// Detail of a status: settings that the provider needs are missing.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ConfigureErrorMissingKeys {
    /// The settings.
    #[prost(message, repeated, tag = "1")]
    pub missing_keys: Vec<MissingKey>,
}

/// A setting that is missing.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct MissingKey {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub description: String,
}

/// Detail of a status: refused properties.
#[derive(Clone, PartialEq, prost::Message)]
pub struct InputPropertiesError {
    /// The properties.
    #[prost(message, repeated, tag = "1")]
    pub errors: Vec<InputPropertyError>,
}

/// A refused property.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct InputPropertyError {
    #[prost(string, tag = "1")]
    pub property_path: String,
    #[prost(string, tag = "2")]
    pub reason: String,
}

/// Request of the engine's Log.
#[derive(Clone, PartialEq, prost::Message)]
#[allow(missing_docs, reason = "the names of the protocol")]
pub struct LogRequest {
    /// 0: debug. 1: info. 2: warning. 3: error.
    #[prost(int32, tag = "1")]
    pub severity: i32,
    #[prost(string, tag = "2")]
    pub message: String,
    #[prost(string, tag = "3")]
    pub urn: String,
    /// Whether the line is progress that need not be kept.
    #[prost(bool, tag = "5")]
    pub ephemeral: bool,
}

/// Response of the engine's GetRootResource.
#[derive(Clone, PartialEq, prost::Message)]
pub struct GetRootResourceResponse {
    /// The URN of the stack.
    #[prost(string, tag = "1")]
    pub urn: String,
}
