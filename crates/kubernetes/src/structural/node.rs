//! A structural schema as data.

use blueprint::{Entries, Name, Value};
use regex::Regex;

use super::formats::TextFormat;

/// A schema of a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct SchemaNode {
    /// The type; `None` allows every one.
    pub(crate) ty: Option<SchemaType>,
    /// Whether null is a value.
    pub(crate) nulls: Nulls,
    /// What happens to fields that are not declared.
    pub(crate) undeclared: Undeclared,
    /// Whether it is an object of an API of its own, with `apiVersion`, `kind` and `metadata`.
    pub(crate) is_resource: bool,
    /// The declared fields.
    pub(crate) fields: Entries<SchemaNode>,
    /// The schema of the other fields.
    pub(crate) others: Option<OtherFields>,
    /// The schema of the items of a list.
    pub(crate) items: Option<Box<SchemaNode>>,
    /// What makes the items of a list different from each other.
    pub(crate) list: ListKind,
    /// The value of a missing field.
    pub(crate) default: Option<Value>,
    /// The rules for the value.
    pub(crate) rules: ValueRules,
}

/// Whether null is a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// Null means that the field is missing.
    #[default]
    Missing,
    /// Null is a value.
    Allowed,
}

/// What happens to fields that are not declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Undeclared {
    /// They are dropped.
    #[default]
    Dropped,
    /// They stay as they are.
    Kept,
}

/// The schema of fields that are not declared.
#[derive(Clone, Debug)]
pub(crate) enum OtherFields {
    /// Any value.
    Any,
    /// A value of this schema.
    Of(Box<SchemaNode>),
}

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaType {
    Object,
    Array,
    Text,
    Integer,
    Number,
    Boolean,
    IntegerOrText,
}

/// What makes the items of a list different from each other.
#[derive(Clone, Debug, Default)]
pub(crate) enum ListKind {
    /// Nothing: items may be equal.
    #[default]
    Free,
    /// Their values.
    Set,
    /// The values of these fields.
    Map(Vec<Name>),
}

/// The rules for a value besides its type.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueRules {
    pub(crate) required: Vec<Name>,
    pub(crate) one_of_values: Option<Vec<Value>>,
    pub(crate) pattern: Option<TextPattern>,
    pub(crate) format: Option<TextFormat>,
    pub(crate) least: Option<Bound>,
    pub(crate) most: Option<Bound>,
    pub(crate) multiple_of: Option<Value>,
    pub(crate) length: SizeRange,
    pub(crate) items: SizeRange,
    pub(crate) properties: SizeRange,
    pub(crate) all_of: Vec<SchemaNode>,
    pub(crate) any_of: Vec<SchemaNode>,
    pub(crate) one_of: Vec<SchemaNode>,
    pub(crate) not: Option<Box<SchemaNode>>,
}

/// A regular expression that a text must contain a match of.
#[derive(Clone, Debug)]
pub(crate) struct TextPattern {
    pub(crate) text: Name,
    pub(crate) regex: Regex,
}

/// A bound of a number.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub(crate) limit: Value,
    /// Whether the limit itself is outside.
    pub(crate) is_exclusive: bool,
}

/// The bounds of a length or count, both inclusive.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SizeRange {
    pub(crate) least: Option<u64>,
    pub(crate) most: Option<u64>,
}

impl SchemaType {
    /// The type with a name of JSON Schema; `None` if there is no such type.
    pub(crate) fn of_name(name: &str) -> Option<SchemaType> {
        Some(match name {
            "object" => SchemaType::Object,
            "array" => SchemaType::Array,
            "string" => SchemaType::Text,
            "integer" => SchemaType::Integer,
            "number" => SchemaType::Number,
            "boolean" => SchemaType::Boolean,
            _ => return None,
        })
    }

    /// The name as messages have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SchemaType::Object => "object",
            SchemaType::Array => "array",
            SchemaType::Text => "string",
            SchemaType::Integer => "integer",
            SchemaType::Number => "number",
            SchemaType::Boolean => "boolean",
            SchemaType::IntegerOrText => "integer,string",
        }
    }
}

impl SchemaNode {
    /// The schema of a field; `None` if nothing is said about it.
    pub(crate) fn field(&self, name: &str) -> Option<&SchemaNode> {
        self.fields.get(name).or(match &self.others {
            Some(OtherFields::Of(node)) => Some(node),
            Some(OtherFields::Any) | None => None,
        })
    }

    /// Whether a value is a null that means a missing field.
    pub(crate) fn takes_as_missing(&self, value: &Value) -> bool {
        self.nulls == Nulls::Missing && value.is_null()
    }
}
