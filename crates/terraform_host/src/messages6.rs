//! The schemas of protocol 6, in the form of `prost`. Those of protocol 5 are converted to these.

use std::collections::BTreeMap;

use prost::Message;

use crate::messages::{FunctionMessage, NoticeMessage, ServerAbilities};

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SchemaAnswer {
    #[prost(message, optional, tag = "1")]
    pub(crate) provider: Option<SchemaMessage>,
    #[prost(btree_map = "string, message", tag = "2")]
    pub(crate) resources: BTreeMap<String, SchemaMessage>,
    #[prost(btree_map = "string, message", tag = "3")]
    pub(crate) data_sources: BTreeMap<String, SchemaMessage>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) notices: Vec<NoticeMessage>,
    #[prost(message, optional, tag = "5")]
    pub(crate) meta: Option<SchemaMessage>,
    #[prost(message, optional, tag = "6")]
    pub(crate) server: Option<ServerAbilities>,
    #[prost(btree_map = "string, message", tag = "7")]
    pub(crate) functions: BTreeMap<String, FunctionMessage>,
    #[prost(btree_map = "string, message", tag = "8")]
    pub(crate) ephemerals: BTreeMap<String, SchemaMessage>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SchemaMessage {
    #[prost(int64, tag = "1")]
    pub(crate) version: i64,
    #[prost(message, optional, tag = "2")]
    pub(crate) block: Option<BlockMessage>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct BlockMessage {
    #[prost(message, repeated, tag = "2")]
    pub(crate) attributes: Vec<AttributeMessage>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) blocks: Vec<NestedBlock>,
    #[prost(string, tag = "4")]
    pub(crate) description: String,
    #[prost(bool, tag = "6")]
    pub(crate) deprecated: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct NestedBlock {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) block: Option<BlockMessage>,
    /// 1 single, 2 list, 3 set, 4 map, 5 group.
    #[prost(int32, tag = "3")]
    pub(crate) nesting: i32,
    #[prost(int64, tag = "4")]
    pub(crate) min_items: i64,
    #[prost(int64, tag = "5")]
    pub(crate) max_items: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct AttributeMessage {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    /// The type as JSON. Empty for a nested attribute.
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) ty: Vec<u8>,
    #[prost(string, tag = "3")]
    pub(crate) description: String,
    #[prost(bool, tag = "4")]
    pub(crate) required: bool,
    #[prost(bool, tag = "5")]
    pub(crate) optional: bool,
    #[prost(bool, tag = "6")]
    pub(crate) computed: bool,
    #[prost(bool, tag = "7")]
    pub(crate) sensitive: bool,
    #[prost(bool, tag = "9")]
    pub(crate) deprecated: bool,
    #[prost(message, optional, tag = "10")]
    pub(crate) nested: Option<NestedObjectMessage>,
    #[prost(bool, tag = "11")]
    pub(crate) write_only: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct NestedObjectMessage {
    #[prost(message, repeated, tag = "1")]
    pub(crate) attributes: Vec<AttributeMessage>,
    /// 1 single, 2 list, 3 set, 4 map.
    #[prost(int32, tag = "3")]
    pub(crate) nesting: i32,
}
