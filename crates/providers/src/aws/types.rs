//! Resource types of the compact catalogue, each built on first use and cached.
//!
//! A recursive field, such as a statement inside a statement, accepts anything at its inner
//! occurrence. The provider checks deeper levels.
//!
//! Not here: the bytes ([`format`](super::format)), aliases ([`services`](super::services)).

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use blueprint::{
    Constraint, Field, IndexMap, Kind, Name, ReplaceOrder, Schema, SupportStatus, Value,
};
use provider::{Attributes, Capabilities, CustomType, DataSourceType, ResourceType, TypeSource};

use super::format::{
    FieldShape, MalformedCatalog, Packed, PackedType, ShapeKind, TypeEntry, UnpackedBlock, ability,
    flag, mark,
};
use super::{options, services, sources};

/// The types of a catalogue in compact form.
#[derive(Debug)]
pub struct PackedTypes {
    packed: Packed,
    blocks: Vec<OnceLock<Option<UnpackedBlock>>>,
    made: Vec<OnceLock<Option<Arc<ResourceType>>>>,
}

impl PackedTypes {
    /// The types of an opened file. Builds no type.
    pub fn new(packed: Packed) -> PackedTypes {
        PackedTypes {
            blocks: (0..packed.blocks()).map(|_| OnceLock::new()).collect(),
            made: (0..packed.len()).map(|_| OnceLock::new()).collect(),
            packed,
        }
    }

    /// The opened file.
    pub fn packed(&self) -> &Packed {
        &self.packed
    }

    /// The position in the index of the type with a name: its own name in any spelling of case and
    /// hyphens, or an alias.
    pub fn find(&self, name: &str) -> Option<usize> {
        let plain = provider::plain_name(name);
        self.packed
            .find(&plain)
            .or_else(|| services::others(&plain).find_map(|other| self.packed.find(&other)))
    }

    /// The block of the type at a position of the index, and its position in the block.
    pub(super) fn block_of(&self, at: usize) -> Option<(&UnpackedBlock, usize)> {
        let TypeEntry {
            block, position, ..
        } = self.packed.entry(at)?;
        let block = self
            .blocks
            .get(block)?
            .get_or_init(|| self.packed.block(block).ok())
            .as_ref()?;
        Some((block, position))
    }

    /// The type at a position of the index. `None` if the position has no type, or if the file is
    /// damaged.
    pub fn type_at(&self, at: usize) -> Option<Arc<ResourceType>> {
        let made = self.made.get(at)?.get_or_init(|| {
            let (block, position) = self.block_of(at)?;
            resource_type(self.packed.name(at), block, position)
                .ok()
                .map(Arc::new)
        });
        made.clone()
    }
}

impl TypeSource for PackedTypes {
    fn resource_type(&self, name: &str) -> Option<Arc<ResourceType>> {
        self.type_at(self.find(name)?)
    }

    fn resource_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.packed.names())
    }

    fn data_source_type(&self, name: &str) -> Option<Arc<DataSourceType>> {
        let at = self.find(name)?;
        self.packed.entry(at).filter(|entry| entry.is_listed)?;
        self.type_at(at)
            .map(|ty| Arc::new(sources::data_source_type(&ty)))
    }

    fn data_source_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        let is_listed = |at: &usize| self.packed.entry(*at).is_some_and(|entry| entry.is_listed);
        Box::new(
            (0..self.packed.len())
                .filter(is_listed)
                .map(|at| self.packed.name(at)),
        )
    }

    fn variable_type(&self, name: &str) -> Option<Arc<CustomType>> {
        options::variable_type(name)
    }

    fn variable_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(options::names())
    }
}

fn resource_type(
    name: &str,
    block: &UnpackedBlock,
    position: usize,
) -> Result<ResourceType, MalformedCatalog> {
    let PackedType {
        original,
        shape,
        abilities,
        id_field,
        ..
    } = block.ty(position)?;
    let mut making = TypeBuilder {
        block,
        shapes: vec![ConversionState::New; block.shapes()],
        names: HashMap::new(),
    };
    let Kind::Object(schema) = making.shape(shape)?.kind else {
        return Err(MalformedCatalog);
    };
    let id_field = id_field
        .map(|field| making.name(field))
        .filter(|field| schema.fields.contains_key(field));
    let reads = abilities & ability::READ != 0;
    Ok(ResourceType {
        name: name.into(),
        former_names: Vec::new(),
        docs: format!("CloudFormation calls it {original}.").into(),
        example: "".into(),
        schema,
        id_field,
        replace_order: match abilities & ability::CREATE_FIRST {
            0 => ReplaceOrder::DeleteFirst,
            _ => ReplaceOrder::CreateFirst,
        },
        needs_stable: Vec::new(),
        rejects: Vec::new(),
        annotations: Vec::new(),
        capabilities: Capabilities {
            reads,
            imports: reads,
            ..Capabilities::default()
        },
        schema_version: 0,
        attributes: Attributes::Fields,
        update_policy: None,
        service: None,
        support_status: SupportStatus::Supported,
        waits: Vec::new(),
        replaces_where: Vec::new(),
        sources: IndexMap::default(),
        reads_with: None,
        ready_within: None,
        instead: None,
    })
}

/// The state of a shape during the conversion.
#[derive(Clone)]
enum ConversionState {
    New,
    Begun,
    Done(Box<Field>),
}

/// Builds the fields of one type. Shapes that several fields share are built once.
struct TypeBuilder<'b> {
    block: &'b UnpackedBlock,
    shapes: Vec<ConversionState>,
    names: HashMap<&'b str, Name>,
}

impl<'b> TypeBuilder<'b> {
    fn name(&mut self, text: &'b str) -> Name {
        self.names
            .entry(text)
            .or_insert_with(|| text.into())
            .clone()
    }

    /// A field with this shape, without marks of its own.
    fn shape(&mut self, number: usize) -> Result<Field, MalformedCatalog> {
        match &self.shapes[number] {
            ConversionState::Done(field) => return Ok(Field::clone(field)),
            ConversionState::Begun => return Ok(Field::of(Kind::Any)),
            ConversionState::New => self.shapes[number] = ConversionState::Begun,
        }
        let FieldShape {
            kind,
            marks,
            allowed,
            range,
            length,
            items,
            pattern,
            keyed_by,
        } = self.block.shape(number)?;
        let kind = match kind {
            ShapeKind::Any => Kind::Any,
            ShapeKind::String => Kind::String,
            ShapeKind::Integer => Kind::Integer,
            ShapeKind::Float => Kind::Float,
            ShapeKind::Boolean => Kind::Boolean,
            ShapeKind::Array(item) => Kind::Array(Arc::new(self.shape(item)?)),
            ShapeKind::Map(value) => Kind::Map(Arc::new(self.shape(value)?)),
            ShapeKind::Object(members) => {
                let mut fields =
                    IndexMap::with_capacity_and_hasher(members.len(), Default::default());
                for member in members {
                    let mut field = self.shape(member.shape)?;
                    flagged(&mut field, member.flags);
                    fields.insert(member.name.as_ref().into(), field);
                }
                Kind::Object(Arc::new(Schema {
                    fields,
                    open: false,
                }))
            }
            ShapeKind::Union(branches) => {
                let branches: Result<Vec<Field>, MalformedCatalog> = branches
                    .into_iter()
                    .map(|branch| self.shape(branch))
                    .collect();
                Kind::Union(Arc::new(branches?))
            }
        };
        let float = |text: Option<&str>| text.and_then(|text| text.parse::<f64>().ok());
        let field = Field {
            nullable: marks & mark::NULLABLE != 0,
            set: marks & mark::SET != 0,
            keyed_by: keyed_by.map(|key| self.name(key)),
            allowed: allowed
                .into_iter()
                .map(|text| self.allowed(&kind, text))
                .collect::<Result<_, _>>()?,
            constraint: Constraint {
                min: float(range.0),
                max: float(range.1),
                min_length: length.0,
                max_length: length.1,
                min_items: items.0,
                max_items: items.1,
                pattern: pattern.map(|pattern| self.name(pattern)),
                ..Constraint::default()
            },
            ..Field::of(kind)
        };
        self.shapes[number] = ConversionState::Done(Box::new(field.clone()));
        Ok(field)
    }

    fn allowed(&mut self, kind: &Kind, text: &'b str) -> Result<Value, MalformedCatalog> {
        Ok(match kind {
            Kind::Integer => Value::Int(text.parse().map_err(|_| MalformedCatalog)?),
            Kind::Float => Value::Float(text.parse().map_err(|_| MalformedCatalog)?),
            Kind::Boolean => Value::Bool(text == "true"),
            _ => Value::Text(self.name(text)),
        })
    }
}

fn flagged(field: &mut Field, flags: u64) {
    let has = |flag: u64| flags & flag != 0;
    field.required = has(flag::REQUIRED);
    field.computed = has(flag::COMPUTED);
    field.optional = has(flag::OPTIONAL);
    field.sensitive = has(flag::SENSITIVE);
    field.unique = has(flag::UNIQUE);
    field.must_recreate = has(flag::MUST_RECREATE);
    field.changes_on_update = has(flag::CHANGES_ON_UPDATE);
    // A field that cannot be read back cannot be compared.
    field.ignore_drift = has(flag::WRITE_ONLY);
}
