//! Conversion of schemas to the types of a catalogue. Names of fields keep the provider's spelling;
//! blocks are fields.

use std::fmt;
use std::sync::{Arc, Mutex};

use blueprint::{Constraint, Field, IndexMap, Kind, Name, ReplaceOrder, SupportStatus, Type};
use expr::{FunctionDef, Parameter, Purity, Returns};
use provider::{
    Attributes, Capabilities, DataSourceType, FilterField, FilterType, Plans, ResourceType,
    Setting, TypeSource,
};

use crate::{
    AttributeKind, Block, BlockType, FunctionSchema, NestedObject, Nesting, ParameterSchema,
    ProviderSchema, SchemaAttribute, TypeNames, TypeSchema, ValueType,
};

/// The number of types from which a provider counts as large.
const LARGE: usize = 200;

/// The types of a provider, each made on first use. They are found with or without the provider's
/// prefix.
pub struct SchemaTypes {
    schema: Arc<ProviderSchema>,
    names: TypeNames,
    /// Names in documents, in the order of the schema, with the types of the protocol.
    resources: IndexMap<Name, Name>,
    data_sources: IndexMap<Name, Name>,
    plans_deletes: bool,
    made: Mutex<BuiltTypes>,
}

#[derive(Default)]
struct BuiltTypes {
    resources: IndexMap<Name, Arc<ResourceType>>,
    data_sources: IndexMap<Name, Arc<DataSourceType>>,
}

impl SchemaTypes {
    /// Returns the types of a schema under their names in documents.
    pub fn new(schema: Arc<ProviderSchema>, names: TypeNames) -> SchemaTypes {
        let named = |types: &IndexMap<Name, Arc<TypeSchema>>| {
            types
                .keys()
                .map(|name| (names.in_documents(name), name.clone()))
                .collect()
        };
        let (resources, data_sources) = (named(&schema.resources), named(&schema.data_sources));
        SchemaTypes {
            schema,
            names,
            resources,
            data_sources,
            plans_deletes: false,
            made: Mutex::default(),
        }
    }

    /// Sets whether the provider plans deletes.
    pub fn planning_deletes(self, plans_deletes: bool) -> SchemaTypes {
        SchemaTypes {
            plans_deletes,
            ..self
        }
    }

    /// The names of the types.
    pub fn names(&self) -> &TypeNames {
        &self.names
    }

    /// The type of the protocol for the name of a resource type.
    pub fn resource_in_protocol(&self, name: &str) -> Option<Name> {
        self.names
            .in_protocol(name, |name| self.schema.resources.contains_key(name))
    }

    /// The type of the protocol for the name of a data source type.
    pub fn data_source_in_protocol(&self, name: &str) -> Option<Name> {
        self.names
            .in_protocol(name, |name| self.schema.data_sources.contains_key(name))
    }
}

impl fmt::Debug for SchemaTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchemaTypes")
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

impl TypeSource for SchemaTypes {
    fn resource_type(&self, name: &str) -> Option<Arc<ResourceType>> {
        let raw = self.resource_in_protocol(name)?;
        let schema = self.schema.resources.get(&raw)?;
        let mut made = self.made.lock().ok()?;
        if let Some(found) = made.resources.get(&raw) {
            return Some(found.clone());
        }
        let mut ty = resource_type(self.names.in_documents(&raw), schema);
        ty.capabilities.plans_deletes = self.plans_deletes;
        let ty = Arc::new(ty);
        made.resources.insert(raw, ty.clone());
        Some(ty)
    }

    fn has_resource_type(&self, name: &str) -> bool {
        self.resource_in_protocol(name).is_some()
    }

    fn is_large(&self) -> bool {
        self.resources.len() > LARGE
    }

    fn resource_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.resources.keys().map(AsRef::as_ref))
    }

    fn data_source_type(&self, name: &str) -> Option<Arc<DataSourceType>> {
        let raw = self.data_source_in_protocol(name)?;
        let schema = self.schema.data_sources.get(&raw)?;
        let mut made = self.made.lock().ok()?;
        if let Some(found) = made.data_sources.get(&raw) {
            return Some(found.clone());
        }
        let ty = Arc::new(data_source_type(self.names.in_documents(&raw), schema));
        made.data_sources.insert(raw, ty.clone());
        Some(ty)
    }

    fn data_source_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.data_sources.keys().map(AsRef::as_ref))
    }
}

/// Returns a resource type with that name in documents.
pub fn resource_type(name: Name, schema: &TypeSchema) -> ResourceType {
    let id_field = schema
        .block
        .attributes
        .get_key_value("id")
        .map(|(name, _)| name.clone());
    ResourceType {
        name: name.into(),
        former_names: Vec::new(),
        docs: schema.block.docs.clone(),
        example: "".into(),
        schema: Arc::new(fields(&schema.block)),
        id_field,
        replace_order: ReplaceOrder::DeleteFirst,
        needs_stable: Vec::new(),
        rejects: Vec::new(),
        annotations: Vec::new(),
        capabilities: Capabilities {
            checks: true,
            plans: Plans::Always,
            unique_ids: false,
            unannounced_secrets: true,
            ..Capabilities::default()
        },
        schema_version: u32::try_from(schema.version).unwrap_or(u32::MAX),
        attributes: Attributes::Fields,
        update_policy: None,
        service: None,
        support_status: status(schema.block.deprecated),
        waits: Vec::new(),
        replaces_where: Vec::new(),
        sources: IndexMap::default(),
        reads_with: None,
        ready_within: None,
        instead: None,
    }
}

/// Returns a data source type with that name in documents. Each attribute that can be set is a
/// filter.
pub fn data_source_type(name: Name, schema: &TypeSchema) -> DataSourceType {
    let all = fields(&schema.block);
    let settable = || all.fields.iter().filter(|(_, field)| field.is_settable());
    let filters = settable().map(|(name, field)| {
        (
            name.clone(),
            FilterField {
                ty: filter_type(field),
                push_down: vec!["=".into()],
                docs: field.docs.clone(),
            },
        )
    });
    DataSourceType {
        name: name.into(),
        docs: schema.block.docs.clone(),
        example: "".into(),
        filters: filters.collect(),
        exclusive: Vec::new(),
        required: settable()
            .filter(|(_, field)| field.required)
            .map(|(name, _)| name.clone())
            .collect(),
        schema: Arc::new(all),
        annotations: Vec::new(),
        rows: Vec::new(),
        acts: false,
    }
}

/// Returns the settings of a provider. None is required: many providers require a setting only if
/// their environment does not supply it, and a schema is kept longer than an environment. The
/// provider itself refuses invalid settings.
pub fn settings(block: &Block) -> Vec<Setting> {
    let setting = |(name, field)| Setting {
        name,
        field: Field {
            required: false,
            ..field
        },
    };
    fields(block).fields.into_iter().map(setting).collect()
}

/// Returns a function of a provider in a namespace.
pub fn function(namespace: &Name, name: &Name, schema: &FunctionSchema) -> FunctionDef {
    let parameter = |schema: &ParameterSchema| Parameter {
        name: schema.name.clone(),
        ty: match schema.takes_null {
            true => Type::union([schema.ty.engine_type(), Type::Null]),
            false => schema.ty.engine_type(),
        },
        optional: false,
        callback: None,
        absent_as_none: false,
    };
    FunctionDef {
        name: name.clone(),
        min_arguments: schema.parameters.len(),
        parameters: schema.parameters.iter().map(parameter).collect(),
        rest: schema.variadic.as_ref().map(parameter),
        returns: Returns::Type(schema.returns.engine_type()),
        returned_function: None,
        takes_index: false,
        named: false,
        none_propagates: false,
        purity: Purity::Provider {
            namespace: namespace.clone(),
            name: name.clone(),
        },
        not_in_specification: false,
        docs: if schema.summary.is_empty() {
            schema.docs.clone()
        } else {
            schema.summary.clone()
        },
        examples: Vec::new(),
        native: None,
        rehearsed: None,
    }
}

fn status(deprecated: bool) -> SupportStatus {
    if deprecated {
        SupportStatus::Deprecated
    } else {
        SupportStatus::Supported
    }
}

fn fields(block: &Block) -> blueprint::Schema {
    let attributes = block
        .attributes
        .iter()
        .map(|(name, attribute)| (name.clone(), attribute_field(attribute)));
    let blocks = block
        .blocks
        .iter()
        .map(|(name, inner)| (name.clone(), block_field(inner)));
    blueprint::Schema {
        fields: attributes.chain(blocks).collect(),
        open: false,
    }
}

fn attribute_field(attribute: &SchemaAttribute) -> Field {
    let field = match &attribute.kind {
        AttributeKind::Plain(ty) => plain_field(ty),
        AttributeKind::Nested(object) => nested_field(object),
    };
    Field {
        required: attribute.required,
        computed: attribute.computed,
        optional: attribute.computed && attribute.optional,
        // Null stands for "not set". A provider may answer null in any attribute that is not
        // required.
        nullable: !attribute.required,
        // A value that the provider never stores must not be readable in a state either.
        sensitive: attribute.sensitive || attribute.write_only,
        changes_on_update: attribute.computed,
        support_status: status(attribute.deprecated),
        docs: attribute.docs.clone(),
        ..field
    }
}

fn nested_field(object: &NestedObject) -> Field {
    let fields = object
        .attributes
        .iter()
        .map(|(name, attribute)| (name.clone(), attribute_field(attribute)));
    let schema = blueprint::Schema {
        fields: fields.collect(),
        open: false,
    };
    around(object.nesting, Field::of(Kind::Object(Arc::new(schema))))
}

fn block_field(inner: &BlockType) -> Field {
    let one = Field::of(Kind::Object(Arc::new(fields(&inner.block))));
    let counts = !matches!(inner.nesting, Nesting::Single | Nesting::Group);
    let limit = |items: u64| (counts && items > 0).then_some(items);
    let constraint = Constraint {
        min_items: limit(inner.min_items),
        max_items: limit(inner.max_items),
        ..Constraint::default()
    };
    Field {
        required: inner.min_items > 0,
        nullable: inner.min_items == 0,
        constraint,
        support_status: status(inner.block.deprecated),
        docs: inner.block.docs.clone(),
        ..around(inner.nesting, one)
    }
}

fn around(nesting: Nesting, one: Field) -> Field {
    match nesting {
        Nesting::Single | Nesting::Group => one,
        Nesting::List => Field::of(Kind::Array(Arc::new(one))),
        Nesting::Set => Field {
            set: true,
            ..Field::of(Kind::Array(Arc::new(one)))
        },
        Nesting::Map => Field::of(Kind::Map(Arc::new(one))),
    }
}

fn plain_field(ty: &ValueType) -> Field {
    let nullable = |ty: &ValueType| {
        Arc::new(Field {
            nullable: true,
            ..plain_field(ty)
        })
    };
    match ty {
        ValueType::Dynamic => Field::of(Kind::Any),
        ValueType::Bool => Field::of(Kind::Boolean),
        ValueType::Number => Field::of(Kind::Union(Arc::new(vec![
            Field::of(Kind::Integer),
            Field::of(Kind::Float),
        ]))),
        ValueType::String => Field::of(Kind::String),
        ValueType::List(item) => Field::of(Kind::Array(nullable(item))),
        ValueType::Set(element) => Field {
            set: true,
            ..Field::of(Kind::Array(nullable(element)))
        },
        ValueType::Map(value) => Field::of(Kind::Map(nullable(value))),
        ValueType::Tuple(_) => Field::of(Kind::Array(Arc::new(Field::of(Kind::Any)))),
        ValueType::Object(attributes) => {
            let fields = attributes.iter().map(|(name, ty)| {
                (
                    name.clone(),
                    Field {
                        nullable: true,
                        ..plain_field(ty)
                    },
                )
            });
            Field::of(Kind::Object(Arc::new(blueprint::Schema {
                fields: fields.collect(),
                open: false,
            })))
        }
    }
}

fn filter_type(field: &Field) -> FilterType {
    match &field.kind {
        Kind::Array(item) => FilterType::List(item.ty()),
        Kind::Map(value) => FilterType::Map(value.ty()),
        Kind::Object(_) => FilterType::Map(Type::Any),
        _ => FilterType::Scalar(field.ty()),
    }
}
