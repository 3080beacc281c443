//! Reads a schema of a CustomResourceDefinition.

use blueprint::{FieldPath, Name, PathStep, Value};
use regex::Regex;

use super::formats::TextFormat;
use super::node::{
    Bound, ListKind, Nulls, OtherFields, SchemaNode, SchemaType, SizeRange, TextPattern,
    Undeclared, ValueRules,
};

/// Schemas that are nested deeper are refused.
const DEEPEST: usize = 64;

/// Why a schema cannot be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StructuralSchemaError {
    /// A definition has no schema for the version.
    #[error("the definition has no schema for the version `{0}`")]
    NoVersion(Name),
    /// The schema is nested too deep.
    #[error("the schema is nested deeper than {DEEPEST} levels")]
    TooDeep,
    /// A part is not what it should be.
    #[error("`{path}` of the schema is not {expected}")]
    Unexpected {
        /// The part.
        path: FieldPath,
        /// What it should be.
        expected: &'static str,
    },
    /// A pattern that is no regular expression.
    #[error("`{path}` of the schema is no regular expression: {reason}")]
    Pattern {
        /// The pattern.
        path: FieldPath,
        /// What is wrong with it.
        reason: String,
    },
}

/// Reads a schema.
pub(crate) fn read_schema(schema: &Value) -> Result<SchemaNode, StructuralSchemaError> {
    SchemaReader::default().node(schema)
}

/// Where the reader is in the schema.
#[derive(Default)]
struct SchemaReader {
    path: Vec<PathStep>,
    depth: usize,
}

type ReadResult<T> = Result<T, StructuralSchemaError>;

impl SchemaReader {
    fn unexpected<T>(&self, key: Option<&str>, expected: &'static str) -> ReadResult<T> {
        Err(StructuralSchemaError::Unexpected {
            path: self.path_of(key),
            expected,
        })
    }

    fn path_of(&self, key: Option<&str>) -> FieldPath {
        let path = FieldPath(self.path.clone());
        match key {
            Some(key) => path.join(PathStep::Field(key.into())),
            None => path,
        }
    }

    /// Reads a part that is a schema.
    fn inside(&mut self, steps: &[PathStep], schema: &Value) -> ReadResult<SchemaNode> {
        if self.depth == DEEPEST {
            return Err(StructuralSchemaError::TooDeep);
        }
        self.path.extend_from_slice(steps);
        self.depth += 1;
        let node = self.node(schema)?;
        self.depth -= 1;
        self.path.truncate(self.path.len() - steps.len());
        Ok(node)
    }

    fn node(&mut self, schema: &Value) -> ReadResult<SchemaNode> {
        if schema.as_map().is_none() {
            return self.unexpected(None, "a schema");
        }
        let mut node = SchemaNode {
            ty: self.ty(schema)?,
            is_resource: self.flag(schema, "x-kubernetes-embedded-resource")?,
            default: schema
                .get("default")
                .filter(|value| !value.is_null())
                .cloned(),
            list: self.list_kind(schema)?,
            ..SchemaNode::default()
        };
        if self.flag(schema, "nullable")? {
            node.nulls = Nulls::Allowed;
        }
        if self.flag(schema, "x-kubernetes-preserve-unknown-fields")? {
            node.undeclared = Undeclared::Kept;
        }
        self.children(schema, &mut node)?;
        node.rules = self.rules(schema)?;
        Ok(node)
    }

    fn ty(&self, schema: &Value) -> ReadResult<Option<SchemaType>> {
        if self.flag(schema, "x-kubernetes-int-or-string")? {
            return Ok(Some(SchemaType::IntegerOrText));
        }
        match self.text(schema, "type")? {
            None | Some("") => Ok(None),
            Some(name) => match SchemaType::of_name(name) {
                Some(ty) => Ok(Some(ty)),
                None => self.unexpected(Some("type"), "a type"),
            },
        }
    }

    fn list_kind(&self, schema: &Value) -> ReadResult<ListKind> {
        let keys = || self.names(schema, "x-kubernetes-list-map-keys");
        match self.text(schema, "x-kubernetes-list-type")? {
            None | Some("atomic") => Ok(ListKind::Free),
            Some("set") => Ok(ListKind::Set),
            Some("map") => Ok(ListKind::Map(keys()?)),
            Some(_) => self.unexpected(Some("x-kubernetes-list-type"), "a type of list"),
        }
    }

    fn children(&mut self, schema: &Value, node: &mut SchemaNode) -> ReadResult<()> {
        if let Some(properties) = self.part(schema, "properties") {
            let Some(entries) = properties.as_map() else {
                return self.unexpected(Some("properties"), "a map");
            };
            node.fields.reserve(entries.len());
            for (name, schema) in entries {
                let steps = [
                    PathStep::Field("properties".into()),
                    PathStep::Key(name.clone()),
                ];
                node.fields
                    .insert(name.clone(), self.inside(&steps, schema)?);
            }
        }
        let key = "additionalProperties";
        node.others = match self.part(schema, key).map(Value::unmarked) {
            None => None,
            Some(Value::Bool(true)) => Some(OtherFields::Any),
            Some(Value::Bool(false)) => return self.unexpected(Some(key), "true or a schema"),
            Some(schema) => {
                let inner = self.inside(&[PathStep::Field(key.into())], schema)?;
                Some(OtherFields::Of(Box::new(inner)))
            }
        };
        if let Some(items) = self.part(schema, "items") {
            let inner = self.inside(&[PathStep::Field("items".into())], items)?;
            node.items = Some(Box::new(inner));
        }
        Ok(())
    }

    fn rules(&mut self, schema: &Value) -> ReadResult<ValueRules> {
        let one_of_values = match self.part(schema, "enum") {
            None => None,
            Some(values) => match values.as_list() {
                Some(values) => Some(values.to_vec()),
                None => return self.unexpected(Some("enum"), "a list"),
            },
        };
        Ok(ValueRules {
            required: self.names(schema, "required")?,
            one_of_values,
            pattern: self.pattern(schema)?,
            format: self.text(schema, "format")?.and_then(TextFormat::of_name),
            least: self.bound(schema, "minimum", "exclusiveMinimum")?,
            most: self.bound(schema, "maximum", "exclusiveMaximum")?,
            multiple_of: self.number(schema, "multipleOf")?,
            length: self.sizes(schema, "minLength", "maxLength")?,
            items: self.sizes(schema, "minItems", "maxItems")?,
            properties: self.sizes(schema, "minProperties", "maxProperties")?,
            all_of: self.alternatives(schema, "allOf")?,
            any_of: self.alternatives(schema, "anyOf")?,
            one_of: self.alternatives(schema, "oneOf")?,
            not: match self.part(schema, "not") {
                None => None,
                Some(inner) => {
                    let inner = self.inside(&[PathStep::Field("not".into())], inner)?;
                    Some(Box::new(inner))
                }
            },
        })
    }

    fn alternatives(&mut self, schema: &Value, key: &str) -> ReadResult<Vec<SchemaNode>> {
        let Some(list) = self.part(schema, key) else {
            return Ok(Vec::new());
        };
        let Some(items) = list.as_list() else {
            return self.unexpected(Some(key), "a list");
        };
        let mut nodes = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let steps = [PathStep::Field(key.into()), PathStep::Index(at as u64)];
            nodes.push(self.inside(&steps, item)?);
        }
        Ok(nodes)
    }

    fn pattern(&self, schema: &Value) -> ReadResult<Option<TextPattern>> {
        let Some(text) = self.text(schema, "pattern")? else {
            return Ok(None);
        };
        match Regex::new(text) {
            Ok(regex) => Ok(Some(TextPattern {
                text: text.into(),
                regex,
            })),
            Err(error) => Err(StructuralSchemaError::Pattern {
                path: self.path_of(Some("pattern")),
                reason: error.to_string(),
            }),
        }
    }

    fn bound(&self, schema: &Value, key: &str, exclusive: &str) -> ReadResult<Option<Bound>> {
        let is_exclusive = self.flag(schema, exclusive)?;
        let limit = self.number(schema, key)?;
        Ok(limit.map(|limit| Bound {
            limit,
            is_exclusive,
        }))
    }

    fn sizes(&self, schema: &Value, least: &str, most: &str) -> ReadResult<SizeRange> {
        let size = |key| match self.number(schema, key)? {
            None => Ok(None),
            Some(number) => match number.as_int().and_then(|size| u64::try_from(size).ok()) {
                Some(size) => Ok(Some(size)),
                None => self.unexpected(Some(key), "a size"),
            },
        };
        Ok(SizeRange {
            least: size(least)?,
            most: size(most)?,
        })
    }

    /// A part that is stated and not null.
    fn part<'v>(&self, schema: &'v Value, key: &str) -> Option<&'v Value> {
        schema.get(key).filter(|value| !value.is_null())
    }

    fn flag(&self, schema: &Value, key: &str) -> ReadResult<bool> {
        match self.part(schema, key) {
            None => Ok(false),
            Some(value) => match value.as_bool() {
                Some(flag) => Ok(flag),
                None => self.unexpected(Some(key), "true or false"),
            },
        }
    }

    fn text<'v>(&self, schema: &'v Value, key: &str) -> ReadResult<Option<&'v str>> {
        match self.part(schema, key) {
            None => Ok(None),
            Some(value) => match value.as_text() {
                Some(text) => Ok(Some(text)),
                None => self.unexpected(Some(key), "a text"),
            },
        }
    }

    fn number(&self, schema: &Value, key: &str) -> ReadResult<Option<Value>> {
        match self.part(schema, key).map(Value::unmarked) {
            None => Ok(None),
            Some(value @ (Value::Int(_) | Value::Float(_) | Value::Decimal(_))) => {
                Ok(Some(value.clone()))
            }
            Some(_) => self.unexpected(Some(key), "a number"),
        }
    }

    fn names(&self, schema: &Value, key: &str) -> ReadResult<Vec<Name>> {
        let Some(list) = self.part(schema, key) else {
            return Ok(Vec::new());
        };
        let names: Option<Vec<Name>> = list.as_list().and_then(|items| {
            items
                .iter()
                .map(|item| item.as_text().map(Name::from))
                .collect()
        });
        match names {
            Some(names) => Ok(names),
            None => self.unexpected(Some(key), "a list of names"),
        }
    }
}
