//! The schemas of protocol 5, in the form of `prost`. They become those of protocol 6: attributes cannot be nested, and
//! one field has another number.

use std::collections::BTreeMap;

use prost::Message;

use crate::messages::{Function, Notice, ServerAbilities};
use crate::messages6;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SchemaAnswer {
    #[prost(message, optional, tag = "1")]
    pub(crate) provider: Option<Schema>,
    #[prost(btree_map = "string, message", tag = "2")]
    pub(crate) resources: BTreeMap<String, Schema>,
    #[prost(btree_map = "string, message", tag = "3")]
    pub(crate) data_sources: BTreeMap<String, Schema>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) notices: Vec<Notice>,
    #[prost(message, optional, tag = "5")]
    pub(crate) meta: Option<Schema>,
    #[prost(message, optional, tag = "6")]
    pub(crate) server: Option<ServerAbilities>,
    #[prost(btree_map = "string, message", tag = "7")]
    pub(crate) functions: BTreeMap<String, Function>,
    #[prost(btree_map = "string, message", tag = "8")]
    pub(crate) ephemerals: BTreeMap<String, Schema>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Schema {
    #[prost(int64, tag = "1")]
    pub(crate) version: i64,
    #[prost(message, optional, tag = "2")]
    pub(crate) block: Option<Block>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Block {
    #[prost(message, repeated, tag = "2")]
    pub(crate) attributes: Vec<Attribute>,
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
    pub(crate) block: Option<Block>,
    #[prost(int32, tag = "3")]
    pub(crate) nesting: i32,
    #[prost(int64, tag = "4")]
    pub(crate) min_items: i64,
    #[prost(int64, tag = "5")]
    pub(crate) max_items: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Attribute {
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

fn all(schemas: BTreeMap<String, Schema>) -> BTreeMap<String, messages6::Schema> {
    schemas.into_iter().map(|(name, schema)| (name, schema.into())).collect()
}

impl From<Schema> for messages6::Schema {
    fn from(five: Schema) -> messages6::Schema {
        messages6::Schema { version: five.version, block: five.block.map(Into::into) }
    }
}

impl From<Block> for messages6::Block {
    fn from(five: Block) -> messages6::Block {
        messages6::Block {
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

impl From<Attribute> for messages6::Attribute {
    fn from(five: Attribute) -> messages6::Attribute {
        messages6::Attribute {
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
