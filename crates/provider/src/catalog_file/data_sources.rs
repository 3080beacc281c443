//! Data source types with their filters, and custom variable types.

use std::sync::Arc;

use blueprint::{IndexMap, Name, Schema, Value};

use super::fields;
use super::reader::{self, CatalogError, JsonObject, JsonPlace};
use super::types::{annotations, in_namespace};
use crate::{Catalog, CustomType, DataSourceType, FilterField, OptionOf};

/// The filter operators that a provider may push down.
const OPERATORS: &[&str] = &[
    "=",
    "!=",
    "in",
    "not in",
    "has key",
    "not has key",
    "contains",
    "not contains",
    "starts with",
    "not starts with",
    "ends with",
    "not ends with",
    ">",
    ">=",
    "<",
    "<=",
];

pub(super) fn data_source_types(
    object: &JsonObject<'_>,
    catalog: &mut Catalog,
) -> Result<(), CatalogError> {
    let all = object.place.key("dataSourceTypes");
    for (name, value) in object.entries("dataSourceTypes")? {
        let place = all.key(name);
        in_namespace(name, catalog, &place)?;
        let object = JsonObject::new(
            value,
            &place,
            &[
                "about",
                "docs",
                "example",
                "filter",
                "exclusive",
                "required",
                "fields",
                "annotations",
                "rows",
                "acts",
            ],
        )?;
        let filters = filters(&object)?;
        let known = |name: &Name, place: &JsonPlace<'_>| {
            if filters.contains_key(name) {
                Ok(())
            } else {
                Err(place.error(format!("`{name}` is no filter field")))
            }
        };
        let required = object.texts("required")?;
        let place_of = object.place.key("required");
        for (at, name) in required.iter().enumerate() {
            known(name, &place_of.index(at))?;
        }
        let mut exclusive = Vec::new();
        let place_of = object.place.key("exclusive");
        for (at, item) in object.items("exclusive")?.iter().enumerate() {
            let place = place_of.index(at);
            let Value::List(items) = item else {
                return Err(place.error("must be a list of filter fields"));
            };
            let names: Result<Vec<Name>, CatalogError> = items
                .iter()
                .enumerate()
                .map(|(at, item)| reader::text(item, &place.index(at)))
                .collect();
            let names = names?;
            for (at, name) in names.iter().enumerate() {
                known(name, &place.index(at))?;
                if required.contains(name) {
                    return Err(place.index(at).error(format!("`{name}` is required")));
                }
            }
            exclusive.push(names);
        }
        let schema = fields::schema(&object, "fields")?;
        let rows = rows(&object, &schema, &filters)?;
        let data_source_type = DataSourceType {
            name: catalog.type_id(name),
            docs: object.docs()?,
            example: object.text("example")?.unwrap_or_else(|| "".into()),
            filters,
            exclusive,
            required,
            schema,
            annotations: annotations(&object)?,
            rows,
            acts: object.flag("acts")?,
        };
        catalog
            .data_source_types
            .insert(name.clone(), Arc::new(data_source_type));
    }
    Ok(())
}

fn filters(object: &JsonObject<'_>) -> Result<IndexMap<Name, FilterField>, CatalogError> {
    let all = object.place.key("filter");
    let mut filters = IndexMap::default();
    for (path, value) in object.entries("filter")? {
        let place = all.key(path);
        let object = JsonObject::new(value, &place, &["type", "pushDown", "docs", "about"])?;
        let push_down = object.texts("pushDown")?;
        let place_of = object.place.key("pushDown");
        if let Some(at) = push_down
            .iter()
            .position(|operator| !OPERATORS.contains(&operator.as_ref()))
        {
            return Err(place_of.index(at).error("there is no such operator"));
        }
        let ty = fields::filter_type(fields::type_at(&object, "type")?);
        filters.insert(
            path.clone(),
            FilterField {
                ty,
                push_down,
                docs: object.docs()?,
            },
        );
    }
    Ok(filters)
}

fn rows(
    object: &JsonObject<'_>,
    schema: &Schema,
    filters: &IndexMap<Name, FilterField>,
) -> Result<Vec<Value>, CatalogError> {
    let place = object.place.key("rows");
    for (at, row) in object.items("rows")?.iter().enumerate() {
        let place = place.index(at);
        let Value::Map(row) = row else {
            return Err(place.error("must be an object"));
        };
        for key in row.keys() {
            let filterable = || {
                filters
                    .keys()
                    .any(|path| path.split(['.', '[']).next() == Some(key.as_ref()))
            };
            if !schema.fields.contains_key(key) && !filters.contains_key(key) && !filterable() {
                return Err(place
                    .key(key)
                    .error("is neither a field nor a filter field"));
            }
        }
    }
    Ok(object.items("rows")?.to_vec())
}

pub(super) fn variable_types(
    object: &JsonObject<'_>,
    catalog: &mut Catalog,
) -> Result<(), CatalogError> {
    let all = object.place.key("variableTypes");
    for (name, value) in object.entries("variableTypes")? {
        let place = all.key(name);
        in_namespace(name, catalog, &place)?;
        let outer = JsonObject::new(value, &place, &["kind", "options", "about", "docs"])?;
        let ty = fields::scalar_at(&outer, "kind")?;
        let place = outer.place.key("options");
        let mut options: Vec<OptionOf> = Vec::new();
        for (at, item) in outer.items("options")?.iter().enumerate() {
            let place = place.index(at);
            let object = JsonObject::new(item, &place, &["label", "value", "description", "docs"])?;
            let label = object.need_text("label")?;
            if options.iter().any(|other| other.label == label) {
                return Err(object.error("label", format!("`{label}` is listed twice")));
            }
            let value = object.need("value")?.clone();
            if !fields::of_type(&value, &ty) {
                return Err(object.error("value", format!("must be of type {ty}")));
            }
            let docs = match object.text("description")? {
                Some(docs) => docs,
                None => object.docs()?,
            };
            options.push(OptionOf { label, value, docs });
        }
        if options.is_empty() {
            return Err(place.error("must list at least one option"));
        }
        let docs = outer.docs()?;
        catalog.variable_types.insert(
            name.clone(),
            Arc::new(CustomType {
                name: catalog.type_id(name),
                docs,
                ty,
                options,
            }),
        );
    }
    Ok(())
}
