//! A model of a provider's schemas that is independent of the version of the protocol.

use std::sync::Arc;

use blueprint::{IndexMap, Name, Value};

use crate::{AttributeStep, Path, ValueType};

/// All schemas of a provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProviderSchema {
    /// The configuration of the provider.
    pub provider: TypeSchema,
    /// The configuration that modules pass to a provider, if it takes one.
    pub provider_meta: Option<TypeSchema>,
    /// Resource types by their name in the protocol: `random_password`.
    pub resources: IndexMap<Name, Arc<TypeSchema>>,
    /// Data source types by their name in the protocol.
    pub data_sources: IndexMap<Name, Arc<TypeSchema>>,
    /// Short-lived resource types by their name in the protocol.
    pub ephemerals: IndexMap<Name, Arc<TypeSchema>>,
    /// Functions by name.
    pub functions: IndexMap<Name, FunctionSchema>,
}

/// The schema of one type, with the version of its stored form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypeSchema {
    /// The version of stored values.
    pub version: u64,
    /// Its attributes and blocks.
    pub block: Block,
}

/// The attributes and blocks of a type, or of a block in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// The attributes, by name.
    pub attributes: IndexMap<Name, SchemaAttribute>,
    /// The kinds of blocks in it, by name.
    pub blocks: IndexMap<Name, BlockType>,
    /// A description for people, in Markdown.
    pub docs: Name,
    /// Whether the type or block is deprecated.
    pub deprecated: bool,
}

/// An attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaAttribute {
    /// The kind of its value.
    pub kind: AttributeKind,
    /// Whether the document must set it.
    pub required: bool,
    /// Whether the document may set it.
    pub optional: bool,
    /// Whether the provider sets it if the document does not.
    pub computed: bool,
    /// Whether its value must not be shown.
    pub sensitive: bool,
    /// Whether its value is sent but never stored.
    pub write_only: bool,
    /// Whether it is deprecated.
    pub deprecated: bool,
    /// A description for people, in Markdown.
    pub docs: Name,
}

/// The kind of an attribute's value.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeKind {
    /// A value of a type.
    Plain(ValueType),
    /// Objects whose attributes have flags of their own.
    Nested(NestedObject),
}

/// The objects of a nested attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedObject {
    /// The number of objects and their identity; never [`Nesting::Group`].
    pub nesting: Nesting,
    /// Their attributes.
    pub attributes: IndexMap<Name, SchemaAttribute>,
}

/// A kind of block inside another.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockType {
    /// The number of blocks and their identity.
    pub nesting: Nesting,
    /// The schema of each block.
    pub block: Block,
    /// The minimum number of blocks.
    pub min_items: u64,
    /// The maximum number of blocks; 0 for no limit.
    pub max_items: u64,
}

/// The number of objects at one place, and their identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nesting {
    /// One, or null.
    Single,
    /// Always one.
    Group,
    /// Any number, in order.
    List,
    /// Any number, without order or identity.
    Set,
    /// Any number, each with a key.
    Map,
}

/// The signature of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionSchema {
    /// Its parameters, in order.
    pub parameters: Vec<ParameterSchema>,
    /// The parameter that takes all further arguments.
    pub variadic: Option<ParameterSchema>,
    /// The type of its result.
    pub returns: ValueType,
    /// One sentence for people.
    pub summary: Name,
    /// A description for people, in Markdown.
    pub docs: Name,
    /// The reason why the function is deprecated. Empty if it is not.
    pub deprecated: Name,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterSchema {
    /// Its name, for people.
    pub name: Name,
    /// Its type.
    pub ty: ValueType,
    /// Whether null may be passed.
    pub takes_null: bool,
    /// Whether the function is called with unknown arguments.
    pub takes_unknown: bool,
    /// A description for people, in Markdown.
    pub docs: Name,
}

impl Default for SchemaAttribute {
    fn default() -> SchemaAttribute {
        SchemaAttribute {
            kind: AttributeKind::Plain(ValueType::Dynamic),
            required: false,
            optional: false,
            computed: false,
            sensitive: false,
            write_only: false,
            deprecated: false,
            docs: "".into(),
        }
    }
}

impl Nesting {
    /// The type of a place that holds such objects.
    fn around(self, object: ValueType) -> ValueType {
        match self {
            Nesting::Single | Nesting::Group => object,
            Nesting::List => ValueType::list(object),
            Nesting::Set => ValueType::set(object),
            Nesting::Map => ValueType::map(object),
        }
    }
}

impl SchemaAttribute {
    /// Its type.
    pub fn ty(&self) -> ValueType {
        match &self.kind {
            AttributeKind::Plain(ty) => ty.clone(),
            AttributeKind::Nested(object) => object.nesting.around(object.ty()),
        }
    }

    /// The nested objects, if the attribute has any.
    pub fn nested(&self) -> Option<&NestedObject> {
        match &self.kind {
            AttributeKind::Nested(object) => Some(object),
            AttributeKind::Plain(_) => None,
        }
    }
}

impl NestedObject {
    /// The type of one object.
    pub fn ty(&self) -> ValueType {
        ValueType::object(
            self.attributes
                .iter()
                .map(|(name, attribute)| (name.clone(), attribute.ty())),
        )
    }
}

impl BlockType {
    /// The type of the place that holds the blocks.
    pub fn ty(&self) -> ValueType {
        self.nesting.around(self.block.ty())
    }

    /// The value of the place without any block.
    pub fn empty(&self) -> Value {
        match self.nesting {
            Nesting::Single => Value::Null,
            Nesting::Group => self.block.empty(),
            Nesting::List => Value::list([]),
            Nesting::Set => Value::Set(Arc::default()),
            Nesting::Map => Value::Map(Arc::default()),
        }
    }
}

impl Block {
    /// The type of its value: an object of all attributes and blocks.
    pub fn ty(&self) -> ValueType {
        let attributes = self
            .attributes
            .iter()
            .map(|(name, attribute)| (name.clone(), attribute.ty()));
        ValueType::object(
            attributes.chain(
                self.blocks
                    .iter()
                    .map(|(name, block)| (name.clone(), block.ty())),
            ),
        )
    }

    /// The value of an empty block.
    pub fn empty(&self) -> Value {
        let attributes = self
            .attributes
            .keys()
            .map(|name| (name.clone(), Value::Null));
        Value::map(
            attributes.chain(
                self.blocks
                    .iter()
                    .map(|(name, block)| (name.clone(), block.empty())),
            ),
        )
    }

    /// The attribute at the end of a path, if the path ends at one.
    pub fn attribute_at(&self, path: &Path) -> Option<&SchemaAttribute> {
        let mut names = path.0.iter().filter_map(|step| match step {
            AttributeStep::Attribute(name) => Some(name),
            AttributeStep::Index(_) | AttributeStep::Key(_) => None,
        });
        if !matches!(path.0.last(), Some(AttributeStep::Attribute(_))) {
            return None;
        }
        let mut block = self;
        let mut found = loop {
            let name = names.next()?;
            match block.blocks.get(name) {
                Some(inner) => block = &inner.block,
                None => break block.attributes.get(name)?,
            }
        };
        for name in names {
            found = found.nested()?.attributes.get(name)?;
        }
        Some(found)
    }

    /// Whether the value at a path is sensitive, or part of a sensitive value.
    pub fn is_sensitive(&self, path: &Path) -> bool {
        (1..=path.0.len()).any(|length| {
            let prefix = Path(path.0.iter().take(length).cloned().collect());
            self.attribute_at(&prefix)
                .is_some_and(|attribute| attribute.sensitive)
        })
    }

    /// Whether the value at a path has a sensitive part.
    pub fn has_sensitive_below(&self, path: &Path) -> bool {
        let mut block = self;
        for step in &path.0 {
            let AttributeStep::Attribute(name) = step else {
                continue;
            };
            match (block.blocks.get(name), block.attributes.get(name)) {
                (Some(inner), _) => block = &inner.block,
                (None, Some(attribute)) => return attribute.has_sensitive(),
                (None, None) => return false,
            }
        }
        block.has_sensitive()
    }

    fn has_sensitive(&self) -> bool {
        self.attributes.values().any(SchemaAttribute::has_sensitive)
            || self
                .blocks
                .values()
                .any(|inner| inner.block.has_sensitive())
    }

    /// Returns the value with null in place of every write-only attribute: such attributes are
    /// never stored.
    pub fn without_write_only(&self, value: &Value) -> Value {
        if !self.has_write_only() {
            return value.clone();
        }
        let Value::Map(entries) = value.unmarked() else {
            return value.clone();
        };
        let kept = entries.iter().map(|(name, part)| {
            let part = match (self.attributes.get(name), self.blocks.get(name)) {
                (Some(attribute), _) => attribute.without_write_only(part),
                (None, Some(block)) => inside(block.nesting, part, &|part| {
                    block.block.without_write_only(part)
                }),
                (None, None) => part.clone(),
            };
            (name.clone(), part)
        });
        Value::map(kept).tainted(value.split_secret().1)
    }

    fn has_write_only(&self) -> bool {
        self.attributes
            .values()
            .any(SchemaAttribute::has_write_only)
            || self
                .blocks
                .values()
                .any(|inner| inner.block.has_write_only())
    }

    /// Returns the value with all parts marked secret that the schema calls sensitive.
    pub fn mark_sensitive(&self, value: &Value) -> Value {
        let Value::Map(entries) = value.unmarked() else {
            return value.clone();
        };
        let marked = entries.iter().map(|(name, part)| {
            let part = match (self.attributes.get(name), self.blocks.get(name)) {
                (Some(attribute), _) => attribute.mark_sensitive(part),
                (None, Some(block)) => inside(block.nesting, part, &|part| {
                    block.block.mark_sensitive(part)
                }),
                (None, None) => part.clone(),
            };
            (name.clone(), part)
        });
        Value::map(marked).tainted(value.split_secret().1)
    }
}

impl SchemaAttribute {
    fn has_sensitive(&self) -> bool {
        self.sensitive
            || self.nested().is_some_and(|object| {
                object
                    .attributes
                    .values()
                    .any(SchemaAttribute::has_sensitive)
            })
    }

    fn has_write_only(&self) -> bool {
        self.write_only
            || self.nested().is_some_and(|object| {
                object
                    .attributes
                    .values()
                    .any(SchemaAttribute::has_write_only)
            })
    }

    fn without_write_only(&self, value: &Value) -> Value {
        if self.write_only {
            return Value::Null;
        }
        self.each_attribute(value, &SchemaAttribute::without_write_only)
    }

    fn mark_sensitive(&self, value: &Value) -> Value {
        if self.sensitive && !value.is_null() {
            return value.clone().secret();
        }
        self.each_attribute(value, &SchemaAttribute::mark_sensitive)
    }

    /// Applies `change` to every attribute of the nested objects.
    fn each_attribute(
        &self,
        value: &Value,
        change: &dyn Fn(&SchemaAttribute, &Value) -> Value,
    ) -> Value {
        let Some(object) = self.nested() else {
            return value.clone();
        };
        inside(object.nesting, value, &|part| {
            let Value::Map(entries) = part.unmarked() else {
                return part.clone();
            };
            let changed = entries.iter().map(|(name, value)| {
                let attribute = object.attributes.get(name);
                (
                    name.clone(),
                    attribute.map_or_else(|| value.clone(), |attribute| change(attribute, value)),
                )
            });
            Value::map(changed).tainted(part.split_secret().1)
        })
    }
}

/// Applies `change` to every object at a place.
fn inside(nesting: Nesting, value: &Value, change: &dyn Fn(&Value) -> Value) -> Value {
    let (bare, secret) = value.split_secret();
    let changed = match (nesting, bare) {
        (Nesting::Single | Nesting::Group, _) => return change(value),
        (_, Value::List(items)) => Value::list(items.iter().map(change)),
        (_, Value::Set(items)) => Value::Set(Arc::new(items.iter().map(change).collect())),
        (_, Value::Map(entries)) => Value::map(
            entries
                .iter()
                .map(|(key, part)| (key.clone(), change(part))),
        ),
        _ => return value.clone(),
    };
    changed.tainted(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_only_values_are_dropped_at_any_depth() {
        let plain = |write_only| SchemaAttribute {
            optional: true,
            write_only,
            ..SchemaAttribute::default()
        };
        let inner =
            [("k", plain(false)), ("w", plain(true))].map(|(name, one)| (Name::from(name), one));
        let attributes: IndexMap<Name, SchemaAttribute> = inner.into_iter().collect();
        let object = NestedObject {
            nesting: Nesting::Map,
            attributes: attributes.clone(),
        };
        let nested = SchemaAttribute {
            kind: AttributeKind::Nested(object),
            optional: true,
            ..SchemaAttribute::default()
        };
        let block = Block {
            attributes: attributes.clone(),
            ..Block::default()
        };
        let list = BlockType {
            nesting: Nesting::List,
            block,
            min_items: 0,
            max_items: 0,
        };
        let block = Block {
            attributes: attributes
                .into_iter()
                .chain([(Name::from("n"), nested)])
                .collect(),
            blocks: [(Name::from("b"), list)].into_iter().collect(),
            ..Block::default()
        };
        let pair = |written: &Value| {
            vec![
                (Name::from("k"), Value::Int(1)),
                (Name::from("w"), written.clone()),
            ]
        };
        let value = |written: Value| {
            let nested = Value::map([("x", Value::map(pair(&written)))]);
            let blocks = Value::list([Value::map(pair(&written))]);
            Value::map(
                pair(&written)
                    .into_iter()
                    .chain([(Name::from("n"), nested), (Name::from("b"), blocks)]),
            )
        };
        assert_eq!(
            block.without_write_only(&value(Value::from("s"))),
            value(Value::Null)
        );
    }
}
