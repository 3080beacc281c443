//! Types as machine output.

use blueprint::{Name, Schema};
use provider::{CustomType, DataSourceType, ResourceType, TransformDef};
use serde_json::{Map, Value as Json, json};

use crate::inspect::{TypeDetails, TypeList, Types, filter_words, inner_schema};

/// Lists of types, a transform, or one type.
pub fn types(types: &Types<'_>) -> Json {
    match types {
        Types::Lists(lists) => all(lists),
        Types::Transform(def) => transform(def),
        Types::Type(details) => one(details),
    }
}

fn all(lists: &[TypeList<'_>]) -> Json {
    let entries = lists.iter().flat_map(|list| &list.types);
    let entries: Vec<Json> = entries
        .map(|one| json!({"name": one.name, "kind": one.kind, "docs": one.docs}))
        .collect();
    json!({"types": entries})
}

fn transform(def: &TransformDef) -> Json {
    let types: Vec<&Name> = def.abstract_types.keys().collect();
    json!({"transform": {"name": def.name, "docs": def.docs, "types": types}})
}

/// The types with one name, by kind.
fn one(details: &TypeDetails<'_>) -> Json {
    let TypeDetails {
        name,
        resource: of_resources,
        data_source: of_data,
        abstract_type,
        variable: of_variables,
    } = details;
    let mut kinds = Map::new();
    kinds.extend(
        of_resources
            .as_ref()
            .map(|ty| ("resource".into(), resource(ty))),
    );
    kinds.extend(
        of_data
            .as_ref()
            .map(|ty| ("datasource".into(), data_source(ty))),
    );
    kinds.extend(abstract_type.map(|(transform, ty)| {
        let transform = &transform.name;
        let fields = schema(&ty.schema);
        (
            "abstract".into(),
            json!({"name": name, "docs": ty.docs, "transform": transform, "fields": fields}),
        )
    }));
    kinds.extend(
        of_variables
            .as_ref()
            .map(|ty| ("variable".into(), variable(ty))),
    );
    Json::Object(kinds)
}

fn resource(ty: &ResourceType) -> Json {
    json!({
        "name": ty.name,
        "docs": ty.docs,
        "id": ty.id_field,
        "fields": schema(&ty.schema),
        "example": ty.example,
    })
}

fn data_source(ty: &DataSourceType) -> Json {
    let filter = |(field, filter): (&Name, &provider::FilterField)| {
        json!({
            "name": field,
            "type": filter_words(&filter.ty),
            "required": ty.required.contains(field),
            "docs": filter.docs,
        })
    };
    let filters: Vec<Json> = ty.filters.iter().map(filter).collect();
    json!({
        "name": ty.name,
        "docs": ty.docs,
        "filters": filters,
        "fields": schema(&ty.schema),
        "example": ty.example,
    })
}

fn variable(ty: &CustomType) -> Json {
    let options = ty.options.iter();
    let options: Vec<Json> = options
        .map(|option| json!({"label": option.label, "value": option.value, "docs": option.docs}))
        .collect();
    json!({"name": ty.name, "docs": ty.docs, "type": ty.ty.to_string(), "options": options})
}

fn schema(schema: &Schema) -> Json {
    let fields = schema.fields.iter().map(|(name, field)| {
        let one = json!({
            "type": field.ty().to_string(),
            "required": field.required,
            "computed": field.computed,
            "settable": field.is_settable(),
            "sensitive": field.sensitive,
            "must_recreate": field.must_recreate,
            "default": field.default,
            "allowed": field.allowed,
            "docs": field.docs,
            "fields": inner_schema(field).map(self::schema),
        });
        (name.to_string(), one)
    });
    Json::Object(fields.collect())
}
