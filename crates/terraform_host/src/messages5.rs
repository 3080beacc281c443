//! The schemas of protocol 5, in the form of `prost`. They are converted to those of protocol 6:
//! attributes cannot be nested, and one field has another number.

use std::collections::BTreeMap;

use prost::Message;

use crate::messages::{FunctionMessage, NoticeMessage, ServerAbilities};
use crate::messages6;

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
    #[prost(bool, tag = "10")]
    pub(crate) write_only: bool,
}

impl From<SchemaAnswer> for messages6::SchemaAnswer {
    fn from(five: SchemaAnswer) -> messages6::SchemaAnswer {
        messages6::SchemaAnswer {
            provider: five.provider.map(Into::into),
            resources: all(five.resources),
            data_sources: all(five.data_sources),
            notices: five.notices,
            meta: five.meta.map(Into::into),
            server: five.server,
            functions: five.functions,
            ephemerals: all(five.ephemerals),
        }
    }
}

fn all(schemas: BTreeMap<String, SchemaMessage>) -> BTreeMap<String, messages6::SchemaMessage> {
    schemas
        .into_iter()
        .map(|(name, schema)| (name, schema.into()))
        .collect()
}

impl From<SchemaMessage> for messages6::SchemaMessage {
    fn from(five: SchemaMessage) -> messages6::SchemaMessage {
        messages6::SchemaMessage {
            version: five.version,
            block: five.block.map(Into::into),
        }
    }
}

impl From<BlockMessage> for messages6::BlockMessage {
    fn from(five: BlockMessage) -> messages6::BlockMessage {
        messages6::BlockMessage {
            attributes: five.attributes.into_iter().map(Into::into).collect(),
            blocks: five.blocks.into_iter().map(Into::into).collect(),
            description: five.description,
            deprecated: five.deprecated,
        }
    }
}

impl From<NestedBlock> for messages6::NestedBlock {
    fn from(five: NestedBlock) -> messages6::NestedBlock {
        messages6::NestedBlock {
            name: five.name,
            block: five.block.map(Into::into),
            nesting: five.nesting,
            min_items: five.min_items,
            max_items: five.max_items,
        }
    }
}

impl From<AttributeMessage> for messages6::AttributeMessage {
    fn from(five: AttributeMessage) -> messages6::AttributeMessage {
        messages6::AttributeMessage {
            name: five.name,
            ty: five.ty,
            description: five.description,
            required: five.required,
            optional: five.optional,
            computed: five.computed,
            sensitive: five.sensitive,
            deprecated: five.deprecated,
            nested: None,
            write_only: five.write_only,
        }
    }
}
