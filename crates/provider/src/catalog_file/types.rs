//! Resource types with their facts, and transforms with their abstract types.

use std::sync::Arc;

use blueprint::{IndexMap, Name, ReplaceOrder, Schema, TypeId, Value};

use super::fields;
use super::reader::{self, CatalogError, JsonObject, JsonPlace};
use crate::{
    AbstractType, Annotation, Attributes, Capabilities, Catalog, ImplicitDependency, Plans,
    Rejection, ReplacesWhere, ResourceType, TransformDef,
};

/// Checks that a type's name lies in a namespace of the catalogue and has a further part.
pub(super) fn in_namespace(
    name: &Name,
    catalog: &Catalog,
    place: &JsonPlace<'_>,
) -> Result<(), CatalogError> {
    let id = TypeId::from(name);
    let namespace = id.package_name();
    if !catalog
        .namespaces
        .iter()
        .any(|own| own.as_ref() == namespace)
    {
        return Err(place.error(format!(
            "`{name}` is outside the namespace of the catalogue"
        )));
    }
    if catalog.hosted.is_some() {
        let token = name
            .strip_prefix(namespace)
            .and_then(|rest| rest.strip_prefix('/'))
            .unwrap_or_default();
        return match token {
            "" => Err(place.error(format!(
                "`{name}` is no name of a type, such as `{namespace}/TOKEN`"
            ))),
            _ => Ok(()),
        };
    }
    let rest = name.strip_prefix(namespace).unwrap_or_default();
    let rest = rest
        .strip_prefix('/')
        .or_else(|| rest.strip_prefix("::"))
        .unwrap_or_default();
    if rest.split('/').any(str::is_empty) {
        let between = if namespace.contains("::") { "::" } else { "/" };
        return Err(place.error(format!(
            "`{name}` is no name of a type, such as `{namespace}{between}file`"
        )));
    }
    Ok(())
}

pub(super) fn resource_types(
    object: &JsonObject<'_>,
    catalog: &mut Catalog,
) -> Result<(), CatalogError> {
    let all = object.place.key("resourceTypes");
    for (name, value) in object.entries("resourceTypes")? {
        let place = all.key(name);
        in_namespace(name, catalog, &place)?;
        let object = JsonObject::new(
            value,
            &place,
            &[
                "about",
                "docs",
                "example",
                "fields",
                "open",
                "attributes",
                "updatePolicy",
                "service",
                fields::SUPPORT_STATUS,
                fields::FORMER_SUPPORT_STATUS,
                "waits",
                "replacesWhere",
                "sources",
                "readsWith",
                "idField",
                "replaceOrder",
                "needsStable",
                "rejects",
                "annotations",
                "capabilities",
                "schemaVersion",
            ],
        )?;
        let schema = fields::schema(&object, "fields")?;
        let id_field = object.text("idField")?;
        if let Some(field) = &id_field
            && !schema.fields.contains_key(field)
        {
            return Err(object.error("idField", format!("there is no field `{field}`")));
        }
        let attributes = attributes(&object, &schema)?;
        let waits = waits(&object, &schema)?;
        let replaces_where = replaces_where(&object, &schema)?;
        let sources = sources(&object, &schema)?;
        let reads_with = object.text("readsWith")?;
        if let Some(field) = &reads_with {
            fields::need_field(&schema, field, &place.key("readsWith"))?;
        }
        let update_policy = object
            .has("updatePolicy")
            .then(|| fields::schema(&object, "updatePolicy"))
            .transpose()?;
        let replace_order = match object.text("replaceOrder")?.as_deref() {
            None | Some("delete-first") => ReplaceOrder::DeleteFirst,
            Some("create-first") => ReplaceOrder::CreateFirst,
            Some(other) => {
                return Err(object.error(
                    "replaceOrder",
                    format!("`{other}` is neither delete-first nor create-first"),
                ));
            }
        };
        let resource_type = ResourceType {
            name: catalog.type_id(name),
            former_names: Vec::new(),
            docs: object.docs()?,
            example: object.text("example")?.unwrap_or_else(|| "".into()),
            rejects: rejections(&object, &schema)?,
            schema,
            id_field,
            replace_order,
            needs_stable: object.texts("needsStable")?,
            annotations: annotations(&object)?,
            capabilities: capabilities(&object)?,
            schema_version: object.small_count("schemaVersion")?.unwrap_or(0),
            attributes,
            update_policy,
            service: object.text("service")?,
            support_status: fields::support_status(&object)?,
            waits,
            replaces_where,
            sources,
            reads_with,
            // Only a provider that is part of the program sets them.
            ready_within: None,
            instead: None,
        };
        catalog
            .resource_types
            .insert(name.clone(), Arc::new(resource_type));
    }
    for resource_type in catalog.resource_types.values() {
        for (at, needed) in resource_type.needs_stable.iter().enumerate() {
            if is_missing(needed, catalog) {
                let place = all.key(&resource_type.name);
                let place = place.key("needsStable");
                return Err(place
                    .index(at)
                    .error(format!("there is no resource type `{needed}`")));
            }
        }
    }
    Ok(())
}

/// Reads `replacesWhere`: a list of `{field, policy, value}`.
fn replaces_where(
    object: &JsonObject<'_>,
    schema: &Schema,
) -> Result<Vec<ReplacesWhere>, CatalogError> {
    let all = object.place.key("replacesWhere");
    let mut rules = Vec::new();
    for (at, item) in object.items("replacesWhere")?.iter().enumerate() {
        let place = all.index(at);
        let object = JsonObject::new(item, &place, &["field", "policy", "value"])?;
        let (field, policy) = (object.need_text("field")?, object.need_text("policy")?);
        fields::need_field(schema, &field, &place.key("field"))?;
        fields::need_field(schema, &policy, &place.key("policy"))?;
        rules.push(ReplacesWhere {
            field,
            policy,
            value: object.need("value")?.clone(),
        });
    }
    Ok(rules)
}

/// Reads `sources`: maps each field that names a source to the computed field that holds its
/// digest.
fn sources(object: &JsonObject<'_>, schema: &Schema) -> Result<IndexMap<Name, Name>, CatalogError> {
    let all = object.place.key("sources");
    let mut sources = IndexMap::default();
    for (field, digest) in object.entries("sources")? {
        let place = all.key(field);
        fields::need_field(schema, field, &place)?;
        let digest = reader::text(digest, &place)?;
        if !schema
            .fields
            .get(&digest)
            .is_some_and(|field| field.computed)
        {
            return Err(place.error(format!("there is no computed field `{digest}`")));
        }
        sources.insert(field.clone(), digest);
    }
    Ok(sources)
}

/// Reads `waits`: a list of `{for, own, its, through}`, `through` being `{type, fields}`.
fn waits(
    object: &JsonObject<'_>,
    schema: &Schema,
) -> Result<Vec<ImplicitDependency>, CatalogError> {
    let all = object.place.key("waits");
    let mut waits = Vec::new();
    for (at, item) in object.items("waits")?.iter().enumerate() {
        let place = all.index(at);
        let object = JsonObject::new(item, &place, &["for", "own", "its", "through"])?;
        let own = object.texts("own")?;
        let own_place = place.key("own");
        if let Some(at) = own.iter().position(|path| !fields::has_field(schema, path)) {
            return Err(own_place
                .index(at)
                .error(format!("`{}` leads to no field", own[at])));
        }
        let through = match object.get("through") {
            None => None,
            Some(value) => {
                let place = place.key("through");
                let object = JsonObject::new(value, &place, &["type", "fields"])?;
                Some((object.need_text("type")?, object.texts("fields")?))
            }
        };
        let its = object.texts("its")?;
        for (key, paths) in [("own", &own), ("its", &its)] {
            if paths.is_empty() {
                return Err(object.error(key, "must name at least one field"));
            }
        }
        waits.push(ImplicitDependency {
            type_name: object.need_text("for")?,
            own_fields: own,
            awaited_fields: its,
            through,
        });
    }
    Ok(waits)
}

/// Reads `attributes`: a map of names to fields, or the word `any`. Every field if it is not
/// written.
fn attributes(object: &JsonObject<'_>, schema: &Schema) -> Result<Attributes, CatalogError> {
    match object.get("attributes") {
        None => return Ok(Attributes::Fields),
        Some(Value::Text(word)) if word.as_ref() == "any" => return Ok(Attributes::Anything),
        Some(Value::Text(_)) => {
            return Err(object.error("attributes", "must be an object, or the word `any`"));
        }
        Some(_) => {}
    }
    let all = object.place.key("attributes");
    let mut attributes = IndexMap::default();
    for (name, field) in object.entries("attributes")? {
        let place = all.key(name);
        let field = reader::text(field, &place)?;
        if !schema.fields.contains_key(&field) {
            return Err(place.error(format!("there is no field `{field}`")));
        }
        attributes.insert(name.clone(), field);
    }
    Ok(Attributes::Listed(attributes))
}

/// Whether a type belongs to a namespace of this catalogue and does not exist.
pub(super) fn is_missing(name: &str, catalog: &Catalog) -> bool {
    let id = TypeId::parse(name);
    let namespace = id.package_name();
    catalog
        .namespaces
        .iter()
        .any(|own| own.as_ref() == namespace)
        && !catalog.has_resource_type(name)
}

fn rejections(object: &JsonObject<'_>, schema: &Schema) -> Result<Vec<Rejection>, CatalogError> {
    let place = object.place.key("rejects");
    let mut rejections = Vec::new();
    for (at, item) in object.items("rejects")?.iter().enumerate() {
        let place = place.index(at);
        let object = JsonObject::new(item, &place, &["field", "equals", "message"])?;
        let field = object.need_text("field")?;
        fields::need_field(schema, &field, &place.key("field"))?;
        rejections.push(Rejection {
            field,
            equals: object.need("equals")?.clone(),
            message: object.need_text("message")?,
        });
    }
    Ok(rejections)
}

fn capabilities(object: &JsonObject<'_>) -> Result<Capabilities, CatalogError> {
    let Some(value) = object.get("capabilities") else {
        return Ok(Capabilities::default());
    };
    let place = object.place.key("capabilities");
    let keys = [
        "checks",
        "plans",
        "plansDeletes",
        "exact",
        "partial",
        "completeWhenReady",
        "uniqueIds",
        "unannouncedSecrets",
        "adopts",
        "reads",
        "imports",
        "importsDeclared",
        "finds",
        "snapshots",
        "describedOnly",
        "preflights",
        "stateOnly",
        "repairsUpdates",
    ];
    let object = JsonObject::new(value, &place, &keys)?;
    let usual = Capabilities::default();
    let capabilities = Capabilities {
        outputs_decide: false,
        checks: object.flag_or("checks", usual.checks)?,
        plans: match object.get("plans") {
            None => usual.plans,
            Some(Value::Bool(false)) => Plans::Never,
            Some(Value::Bool(true)) => Plans::Updates,
            Some(Value::Text(text)) if text.as_ref() == "always" => Plans::Always,
            Some(_) => return Err(object.error("plans", "must be true, false or \"always\"")),
        },
        plans_deletes: object.flag_or("plansDeletes", usual.plans_deletes)?,
        exact: object.flag_or("exact", usual.exact)?,
        partial: object.flag_or("partial", usual.partial)?,
        complete_when_ready: object.flag_or("completeWhenReady", usual.complete_when_ready)?,
        unique_ids: object.flag_or("uniqueIds", usual.unique_ids)?,
        unannounced_secrets: object.flag_or("unannouncedSecrets", usual.unannounced_secrets)?,
        adopts: object.flag_or("adopts", usual.adopts)?,
        reads: object.flag_or("reads", usual.reads)?,
        imports: object.flag_or("imports", usual.imports)?,
        imports_declared: object.flag_or("importsDeclared", usual.imports_declared)?,
        finds: object.flag_or("finds", usual.finds)?,
        snapshots: object.flag_or("snapshots", usual.snapshots)?,
        described_only: object.flag_or("describedOnly", usual.described_only)?,
        preflights: object.flag_or("preflights", usual.preflights)?,
        state_only: object.flag_or("stateOnly", usual.state_only)?,
        repairs_updates: object.flag_or("repairsUpdates", usual.repairs_updates)?,
    };
    if capabilities.imports && !capabilities.reads && object.has("imports") {
        return Err(object.error("imports", "what cannot be read cannot be imported"));
    }
    Ok(Capabilities {
        imports: capabilities.imports && capabilities.reads,
        ..capabilities
    })
}

/// Reads the annotations of a type. They belong to no side of a link.
pub(super) fn annotations(object: &JsonObject<'_>) -> Result<Vec<Annotation>, CatalogError> {
    let place = object.place.key("annotations");
    let mut annotations: Vec<Annotation> = Vec::new();
    for (at, item) in object.items("annotations")?.iter().enumerate() {
        let place = place.index(at);
        let object = JsonObject::new(
            item,
            &place,
            &[
                "key", "type", "required", "default", "allowed", "docs", "about",
            ],
        )?;
        let annotation = annotation(&object)?;
        if annotations.iter().any(|other| other.key == annotation.key) {
            return Err(object.error("key", format!("`{}` is listed twice", annotation.key)));
        }
        annotations.push(annotation);
    }
    Ok(annotations)
}

/// Reads the keys that annotations of types and of link kinds have in common.
pub(super) fn annotation(object: &JsonObject<'_>) -> Result<Annotation, CatalogError> {
    let ty = fields::scalar_at(object, "type")?;
    let allowed = object.items("allowed")?.to_vec();
    let place = object.place.key("allowed");
    if let Some(at) = allowed
        .iter()
        .position(|value| !fields::of_type(value, &ty))
    {
        return Err(place.index(at).error(format!("must be of type {ty}")));
    }
    let default = object.get("default").cloned();
    if let Some(value) = &default {
        if !fields::of_type(value, &ty) {
            return Err(object.error("default", format!("must be of type {ty}")));
        }
        if !allowed.is_empty() && !allowed.contains(value) {
            return Err(object.error("default", "is not among the allowed values"));
        }
    }
    let required = object.flag("required")?;
    if required && default.is_some() {
        return Err(object.error("default", "a required annotation has no default"));
    }
    Ok(Annotation {
        alias: "".into(),
        side: "".into(),
        key: object.need_text("key")?,
        ty,
        required,
        default,
        allowed,
    })
}

pub(super) fn transforms(
    object: &JsonObject<'_>,
    catalog: &mut Catalog,
) -> Result<(), CatalogError> {
    let all = object.place.key("transforms");
    for (name, value) in object.entries("transforms")? {
        let place = all.key(name);
        let object = JsonObject::new(value, &place, &["about", "docs", "rule", "abstractTypes"])?;
        let mut abstract_types = IndexMap::default();
        let place = object.place.key("abstractTypes");
        for (name, value) in object.entries("abstractTypes")? {
            let place = place.key(name);
            in_namespace(name, catalog, &place)?;
            if catalog.resource_types.contains_key(name) {
                return Err(place.error("is a resource type already"));
            }
            let object = JsonObject::new(value, &place, &["fields", "about", "docs"])?;
            let schema = fields::schema(&object, "fields")?;
            abstract_types.insert(
                name.clone(),
                AbstractType {
                    docs: object.docs()?,
                    schema,
                },
            );
        }
        let docs = match object.docs()? {
            docs if docs.is_empty() => object.text("rule")?.unwrap_or(docs),
            docs => docs,
        };
        catalog.transforms.insert(
            name.clone(),
            Arc::new(TransformDef {
                name: name.clone(),
                docs,
                abstract_types,
            }),
        );
    }
    Ok(())
}

/// The fields of a resource type of this catalogue; `None` if it belongs to another one.
pub(super) fn schema_of<'a>(name: &str, catalog: &'a Catalog) -> Option<&'a Schema> {
    catalog
        .resource_types
        .get(name)
        .map(|found| found.schema.as_ref())
}
