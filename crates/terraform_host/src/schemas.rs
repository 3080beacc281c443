//! The description of a provider: its schemas, the identities of its resource types, and the
//! abilities of its server.
//!
//! This module converts messages to the model of `terraform_wire`.

use std::collections::BTreeMap;
use std::sync::Arc;

use blueprint::{IndexMap, Name};
use prost::Message;
use terraform_wire::{
    AttributeKind, Block, BlockType, FunctionSchema, NestedObject, Nesting, ParameterSchema,
    ProviderSchema, SchemaAttribute, TypeSchema, ValueType,
};

use crate::messages::{
    FunctionMessage, IdentitySchema, IdentitySchemasAnswer, ParameterMessage, ServerAbilities,
};
use crate::{Malformed, messages6};

/// The maximum nesting depth of blocks and nested attributes that is accepted.
const DEEPEST: usize = 64;

/// The description of a provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schemas {
    /// The schemas of its types and functions. Shared with the types of the catalogue.
    pub provider: Arc<ProviderSchema>,
    /// The identities of those resource types that have one.
    pub identities: IndexMap<Name, TypeIdentity>,
    /// The abilities of the server.
    pub abilities: Abilities,
}

/// The identity of the objects of a resource type.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeIdentity {
    /// The version of stored identities.
    pub version: u64,
    /// The type of its value: an object.
    pub ty: ValueType,
    /// The attributes that an import must give.
    pub required: Vec<Name>,
}

/// The abilities of a provider's server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Whether a delete can be planned.
    pub plans_deletes: bool,
    /// Whether a process works without a call for its schemas.
    pub schema_is_optional: bool,
    /// Whether objects of other types can be taken over.
    pub moves: bool,
}

/// The answers from which [`Schemas`] are made, as they are cached on disk.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SchemaAnswers {
    #[prost(message, optional, tag = "1")]
    pub(crate) schemas: Option<messages6::SchemaAnswer>,
    #[prost(message, optional, tag = "2")]
    pub(crate) identities: Option<IdentitySchemasAnswer>,
}

impl Schemas {
    pub(crate) fn of(answers: SchemaAnswers) -> Result<Schemas, Malformed> {
        let answer = answers.schemas.unwrap_or_default();
        let ServerAbilities {
            plans_deletes,
            schema_is_optional,
            moves,
        } = answer.server.unwrap_or_default();
        let own = |schema: Option<messages6::SchemaMessage>, what: &str| {
            schema.map(|schema| read_schema(schema, what)).transpose()
        };
        let functions = answer.functions.into_iter().map(|(name, one)| {
            let function = function(one)
                .map_err(|problem| Malformed::Schema(name.as_str().into(), problem))?;
            Ok((Name::from(name), function))
        });
        let provider = ProviderSchema {
            provider: own(answer.provider, "provider")?.unwrap_or_default(),
            provider_meta: own(answer.meta, "provider_meta")?,
            resources: all(answer.resources)?,
            data_sources: all(answer.data_sources)?,
            ephemerals: all(answer.ephemerals)?,
            functions: functions.collect::<Result<_, Malformed>>()?,
        };
        let identities = answers
            .identities
            .unwrap_or_default()
            .schemas
            .into_iter()
            .map(|(name, one)| {
                let identity = identity(one)
                    .map_err(|problem| Malformed::Schema(name.as_str().into(), problem))?;
                Ok((Name::from(name), identity))
            });
        Ok(Schemas {
            provider: Arc::new(provider),
            identities: identities.collect::<Result<_, Malformed>>()?,
            abilities: Abilities {
                plans_deletes,
                schema_is_optional,
                moves,
            },
        })
    }
}

fn all(
    schemas: BTreeMap<String, messages6::SchemaMessage>,
) -> Result<IndexMap<Name, Arc<TypeSchema>>, Malformed> {
    let one = |(name, schema): (String, messages6::SchemaMessage)| {
        let schema = read_schema(schema, &name)?;
        Ok((Name::from(name), Arc::new(schema)))
    };
    schemas.into_iter().map(one).collect()
}

fn read_schema(schema: messages6::SchemaMessage, what: &str) -> Result<TypeSchema, Malformed> {
    let read = || {
        let version = version(schema.version)?;
        Ok(TypeSchema {
            version,
            block: block(schema.block.unwrap_or_default(), 0)?,
        })
    };
    read().map_err(|problem| Malformed::Schema(what.into(), problem))
}

fn version(number: i64) -> Result<u64, &'static str> {
    u64::try_from(number).map_err(|_| "its version is negative")
}

fn count(number: i64) -> Result<u64, &'static str> {
    u64::try_from(number).map_err(|_| "a number of blocks is negative")
}

fn ty(json: &[u8]) -> Result<ValueType, &'static str> {
    ValueType::from_json(json).map_err(|_| "a type cannot be read")
}

fn block(message: messages6::BlockMessage, depth: usize) -> Result<Block, &'static str> {
    if depth > DEEPEST {
        return Err("it is nested too deep");
    }
    let mut blocks = IndexMap::default();
    for one in message.blocks {
        let inner = BlockType {
            nesting: nesting(one.nesting).ok_or("the nesting of a block is not known")?,
            block: block(one.block.unwrap_or_default(), depth + 1)?,
            min_items: count(one.min_items)?,
            max_items: count(one.max_items)?,
        };
        blocks.insert(Name::from(one.name), inner);
    }
    Ok(Block {
        attributes: attributes(message.attributes, depth)?,
        blocks,
        docs: message.description.into(),
        deprecated: message.deprecated,
    })
}

fn attributes(
    messages: Vec<messages6::AttributeMessage>,
    depth: usize,
) -> Result<IndexMap<Name, SchemaAttribute>, &'static str> {
    messages
        .into_iter()
        .map(|message| attribute(message, depth))
        .collect()
}

fn attribute(
    message: messages6::AttributeMessage,
    depth: usize,
) -> Result<(Name, SchemaAttribute), &'static str> {
    if depth > DEEPEST {
        return Err("it is nested too deep");
    }
    let kind = match message.nested {
        Some(object) => AttributeKind::Nested(NestedObject {
            nesting: nesting(object.nesting)
                .filter(|nesting| *nesting != Nesting::Group)
                .ok_or("the nesting of an attribute is not known")?,
            attributes: attributes(object.attributes, depth + 1)?,
        }),
        None => AttributeKind::Plain(ty(&message.ty)?),
    };
    let attribute = SchemaAttribute {
        kind,
        required: message.required,
        optional: message.optional,
        computed: message.computed,
        sensitive: message.sensitive,
        write_only: message.write_only,
        deprecated: message.deprecated,
        docs: message.description.into(),
    };
    Ok((message.name.into(), attribute))
}

fn nesting(number: i32) -> Option<Nesting> {
    Some(match number {
        1 => Nesting::Single,
        2 => Nesting::List,
        3 => Nesting::Set,
        4 => Nesting::Map,
        5 => Nesting::Group,
        _ => return None,
    })
}

fn function(message: FunctionMessage) -> Result<FunctionSchema, &'static str> {
    Ok(FunctionSchema {
        parameters: message
            .parameters
            .into_iter()
            .map(parameter)
            .collect::<Result<_, _>>()?,
        variadic: message.variadic.map(parameter).transpose()?,
        returns: ty(&message.returns.unwrap_or_default().ty)?,
        summary: message.summary.into(),
        docs: message.description.into(),
        deprecated: message.deprecation.into(),
    })
}

fn parameter(message: ParameterMessage) -> Result<ParameterSchema, &'static str> {
    Ok(ParameterSchema {
        name: message.name.into(),
        ty: ty(&message.ty)?,
        takes_null: message.takes_null,
        takes_unknown: message.takes_unknown,
        docs: message.description.into(),
    })
}

fn identity(message: IdentitySchema) -> Result<TypeIdentity, &'static str> {
    let required = message
        .attributes
        .iter()
        .filter(|one| one.required)
        .map(|one| one.name.as_str().into())
        .collect();
    let attributes = message
        .attributes
        .into_iter()
        .map(|one| Ok((Name::from(one.name), ty(&one.ty)?)));
    let attributes: Vec<(Name, ValueType)> = attributes.collect::<Result<_, &'static str>>()?;
    Ok(TypeIdentity {
        version: version(message.version)?,
        ty: ValueType::object(attributes),
        required,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(block: messages6::BlockMessage) -> SchemaAnswers {
        let schema = messages6::SchemaMessage {
            version: 3,
            block: Some(block),
        };
        let resources = [("t".to_owned(), schema)].into();
        SchemaAnswers {
            schemas: Some(messages6::SchemaAnswer {
                resources,
                ..Default::default()
            }),
            identities: None,
        }
    }

    fn text(name: &str) -> messages6::AttributeMessage {
        messages6::AttributeMessage {
            name: name.into(),
            ty: br#""string""#.into(),
            optional: true,
            ..Default::default()
        }
    }

    #[test]
    fn attributes_and_blocks_become_the_model() {
        let inner = messages6::BlockMessage {
            attributes: vec![text("x")],
            ..Default::default()
        };
        let nested = messages6::NestedObjectMessage {
            attributes: vec![text("y")],
            nesting: 4,
        };
        let block = messages6::BlockMessage {
            attributes: vec![messages6::AttributeMessage {
                name: "n".into(),
                nested: Some(nested),
                ..Default::default()
            }],
            blocks: vec![messages6::NestedBlock {
                name: "b".into(),
                block: Some(inner),
                nesting: 3,
                max_items: 2,
                ..Default::default()
            }],
            ..Default::default()
        };
        let schemas = Schemas::of(answer(block)).unwrap();
        let schema = &schemas.provider.resources["t"];
        assert_eq!(schema.version, 3);
        let ty = r#"["object",{"n":["map",["object",{"y":"string"}]],"b":["set",["object",{"x":"string"}]]}]"#;
        assert_eq!(schema.block.ty().to_json().to_string(), ty);
    }

    #[test]
    fn a_malformed_schema_is_named() {
        let wrong = messages6::AttributeMessage {
            name: "a".into(),
            ty: b"int".into(),
            ..Default::default()
        };
        let block = messages6::BlockMessage {
            attributes: vec![wrong],
            ..Default::default()
        };
        let problem = Schemas::of(answer(block)).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "the schema of `t` is malformed: a type cannot be read"
        );
        let mut deep = messages6::BlockMessage::default();
        for _ in 0..70 {
            let inner = messages6::NestedBlock {
                name: "b".into(),
                block: Some(deep),
                nesting: 1,
                ..Default::default()
            };
            deep = messages6::BlockMessage {
                blocks: vec![inner],
                ..Default::default()
            };
        }
        let problem = Schemas::of(answer(deep)).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "the schema of `t` is malformed: it is nested too deep"
        );
    }
}
