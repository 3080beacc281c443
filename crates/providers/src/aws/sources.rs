//! AWS types as data sources: every type that can be listed can be searched.
//!
//! A candidate has the fields of the resource. Its filters are the fields with scalars or lists of
//! scalars, and its tags as a map. No filter is pushed down, because there is no provider yet.

use std::sync::Arc;

use blueprint::{Constraint, Field, IndexMap, Kind, Schema, Type};
use provider::{DataSourceType, FilterField, FilterType, ResourceType};

/// The data source type for a resource type.
pub(super) fn data_source_type(ty: &ResourceType) -> DataSourceType {
    let mut filters = IndexMap::default();
    let mut fields = IndexMap::default();
    for (name, field) in &ty.schema.fields {
        // Fields that cannot be read back are not searchable.
        if field.ignore_drift {
            continue;
        }
        if let Some(ty) = filter(field).filter(|_| !field.sensitive) {
            filters.insert(
                name.clone(),
                FilterField {
                    ty,
                    push_down: Vec::new(),
                    docs: "".into(),
                },
            );
        }
        let found = Field {
            sensitive: field.sensitive,
            nullable: field.nullable,
            set: field.set,
            constraint: Constraint::default(),
            ..Field::of(field.kind.clone())
        };
        fields.insert(name.clone(), found);
    }
    DataSourceType {
        name: ty.name.clone(),
        docs: ty.docs.clone(),
        example: "".into(),
        filters,
        exclusive: Vec::new(),
        required: Vec::new(),
        schema: Arc::new(Schema {
            fields,
            open: false,
        }),
        annotations: Vec::new(),
        rows: Vec::new(),
        acts: false,
    }
}

fn filter(field: &Field) -> Option<FilterType> {
    match &field.kind {
        Kind::Array(item) => match &item.kind {
            Kind::Object(tag) if field.keyed_by.is_some() && tag.fields.contains_key("value") => {
                Some(FilterType::Map(Type::Text))
            }
            kind => scalar(kind).map(FilterType::List),
        },
        Kind::Map(value) => scalar(&value.kind).map(FilterType::Map),
        kind => scalar(kind).map(FilterType::Scalar),
    }
}

fn scalar(kind: &Kind) -> Option<Type> {
    match kind {
        Kind::String => Some(Type::Text),
        Kind::Integer => Some(Type::Int),
        Kind::Float => Some(Type::Float),
        Kind::Boolean => Some(Type::Bool),
        _ => None,
    }
}
