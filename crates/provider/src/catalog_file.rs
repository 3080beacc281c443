//! Reading a catalogue from its JSON form, `format` 1, which `docs/catalogues.md` describes.
//!
//! Strict on purpose: unknown keys, keys written twice and everything that contradicts itself are errors with the path
//! of the place, so that a mistake in a catalogue is found when it is written and never while a document is planned.
//!
//! Not here: contradictions between catalogues ([`combine`](crate::combine)).

mod fields;
mod links;
mod pace;
mod reader;

use std::sync::Arc;

use blueprint::{IndexMap, Name, PackageFamily, ReplaceOrder, Schema, Value};
use expr::{Example, FunctionDef, Parameter, Purity, Returns};

pub use self::pace::read_limits;
use self::reader::{Object, Place};
use crate::{
    AbstractType, Annotation, Attributes, Capabilities, Catalog, Catalogs, CustomType, DataSourceType, FilterField,
    Hosted, OptionOf, Rejection, ReplacesWhere, ResourceType, Setting, TransformDef, TypeSource, Wait,
};

/// A catalogue cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (at {place})")]
pub struct CatalogError {
    /// Where in it: a JSON path such as `$.resourceTypes["test/x"].idField`.
    pub place: String,
    /// What is wrong with it: a lower-case phrase.
    pub message: String,
    /// Line and column, from 1, where the text is no JSON or has a key twice: then nothing has a path yet.
    pub position: Option<(usize, usize)>,
}

/// The filter operators that a provider may apply itself.
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

/// The catalogue that a JSON text describes, checked for contradictions within itself; the first mistake is the error.
pub fn read_catalog(text: &str) -> Result<Catalog, CatalogError> {
    read(text, None)
}

/// The catalogue that a JSON text describes, which will lie on top of others: it may name their types where it names its own.
pub fn read_catalog_over(text: &str, beneath: Arc<dyn TypeSource>) -> Result<Catalog, CatalogError> {
    let catalog = read(text, Some(beneath))?;
    Ok(Catalog { source: None, ..catalog })
}

fn read(text: &str, beneath: Option<Arc<dyn TypeSource>>) -> Result<Catalog, CatalogError> {
    let value = reader::parse(text)?;
    let place = Place::top();
    let object = Object::new(
        &value,
        &place,
        &[
            "format",
            "namespace",
            "about",
            "docs",
            "resourceTypes",
            "dataSourceTypes",
            "variableTypes",
            "functions",
            "linkKinds",
            "transforms",
            "settings",
            "maxParallel",
            "callsPerSecond",
            "burst",
            "retries",
            "looseNames",
            "hidden",
            "package",
            "hash",
        ],
    )?;
    if *object.need("format")? != Value::Int(1) {
        return Err(object.error("format", "only format 1 is known"));
    }
    let mut catalog = Catalog {
        namespaces: namespaces(&object)?,
        docs: object.docs()?,
        max_parallel: object.small_count("maxParallel")?.unwrap_or(0),
        rate: pace::rate(&object)?,
        retries: pace::retries(&object)?,
        loose_names: object.flag("looseNames")?,
        hidden: object.flag("hidden")?,
        hosted: hosted(&object)?,
        source: beneath,
        ..Catalog::default()
    };
    resource_types(&object, &mut catalog)?;
    data_source_types(&object, &mut catalog)?;
    variable_types(&object, &mut catalog)?;
    provider_functions(&object, &mut catalog)?;
    transforms(&object, &mut catalog)?;
    settings(&object, &mut catalog)?;
    links::link_kinds(&object, &mut catalog)?;
    Ok(catalog)
}

fn namespaces(object: &Object<'_>) -> Result<Vec<Name>, CatalogError> {
    let namespaces = match object.need("namespace")? {
        Value::Text(name) => vec![name.clone()],
        _ => object.texts("namespace")?,
    };
    for (at, name) in namespaces.iter().enumerate() {
        if name.contains(['/', ' ']) || name.split("::").any(str::is_empty) {
            return Err(object.error("namespace", format!("`{name}` is no namespace")));
        }
        if namespaces[..at].contains(name) {
            return Err(object.error("namespace", format!("`{name}` is listed twice")));
        }
    }
    if namespaces.is_empty() {
        return Err(object.error("namespace", "must name at least one"));
    }
    Ok(namespaces)
}

/// `package`: the family of hosted packages, their version and their parameters; none of a built-in catalogue.
fn hosted(object: &Object<'_>) -> Result<Option<Hosted>, CatalogError> {
    let Some(value) = object.get("package") else { return Ok(None) };
    let place = object.place.key("package");
    let object = Object::new(value, &place, &["family", "version", "parameters"])?;
    let word = object.need_text("family")?;
    let family = match PackageFamily::of_word(&word) {
        Some(PackageFamily::BuiltIn) => return Ok(None),
        Some(family) => family,
        None => {
            let words: Vec<&str> = PackageFamily::ALL.into_iter().map(PackageFamily::word).collect();
            return Err(object.error("family", format!("`{word}` is none of {}", words.join(", "))));
        }
    };
    let parameters = object.get("parameters").cloned().unwrap_or_default();
    if !matches!(parameters, Value::Null | Value::Map(_)) {
        return Err(object.error("parameters", "must be an object"));
    }
    Ok(Some(Hosted { family, version: object.text("version")?, parameters }))
}

/// A type's name lies in a namespace of the catalogue and has something after it.
fn in_namespace(name: &Name, catalog: &Catalog, place: &Place<'_>) -> Result<(), CatalogError> {
    let namespace = Catalogs::namespace_of(name);
    if !catalog.namespaces.iter().any(|own| own.as_ref() == namespace) {
        return Err(place.error(format!("`{name}` lies outside the namespace of the catalogue")));
    }
    if catalog.hosted.is_some() {
        let token = name.strip_prefix(namespace).and_then(|rest| rest.strip_prefix('/')).unwrap_or_default();
        return match token {
            "" => Err(place.error(format!("`{name}` is no name of a type, such as `{namespace}/TOKEN`"))),
            _ => Ok(()),
        };
    }
    let rest = name.strip_prefix(namespace).unwrap_or_default();
    let rest = rest.strip_prefix('/').or_else(|| rest.strip_prefix("::")).unwrap_or_default();
    if rest.split('/').any(str::is_empty) {
        let between = if namespace.contains("::") { "::" } else { "/" };
        return Err(place.error(format!("`{name}` is no name of a type, such as `{namespace}{between}file`")));
    }
    Ok(())
}

fn resource_types(object: &Object<'_>, catalog: &mut Catalog) -> Result<(), CatalogError> {
    let all = object.place.key("resourceTypes");
    for (name, value) in object.entries("resourceTypes")? {
        let place = all.key(name);
        in_namespace(name, catalog, &place)?;
        let object = Object::new(
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
                "standing",
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
        let update_policy = object.has("updatePolicy").then(|| fields::schema(&object, "updatePolicy")).transpose()?;
        let replace_order = match object.text("replaceOrder")?.as_deref() {
            None | Some("delete-first") => ReplaceOrder::DeleteFirst,
            Some("create-first") => ReplaceOrder::CreateFirst,
            Some(other) => {
                return Err(object.error("replaceOrder", format!("`{other}` is neither delete-first nor create-first")));
            }
        };
        let resource_type = ResourceType {
            name: name.clone(),
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
            standing: fields::standing(&object)?,
            waits,
            replaces_where,
            sources,
            reads_with,
        };
        catalog.resource_types.insert(name.clone(), Arc::new(resource_type));
    }
    for resource_type in catalog.resource_types.values() {
        for (at, needed) in resource_type.needs_stable.iter().enumerate() {
            if is_missing(needed, catalog) {
                let place = all.key(&resource_type.name);
                let place = place.key("needsStable");
                return Err(place.index(at).error(format!("there is no resource type `{needed}`")));
            }
        }
    }
    Ok(())
}

/// `replacesWhere`: a list of `{field, policy, value}`.
fn replaces_where(object: &Object<'_>, schema: &Schema) -> Result<Vec<ReplacesWhere>, CatalogError> {
    let all = object.place.key("replacesWhere");
    let mut rules = Vec::new();
    for (at, item) in object.items("replacesWhere")?.iter().enumerate() {
        let place = all.index(at);
        let object = Object::new(item, &place, &["field", "policy", "value"])?;
        let (field, policy) = (object.need_text("field")?, object.need_text("policy")?);
        fields::need_field(schema, &field, &place.key("field"))?;
        fields::need_field(schema, &policy, &place.key("policy"))?;
        rules.push(ReplacesWhere { field, policy, value: object.need("value")?.clone() });
    }
    Ok(rules)
}

/// `sources`: a map of fields that name what is read, each to the computed field that holds its digest.
fn sources(object: &Object<'_>, schema: &Schema) -> Result<IndexMap<Name, Name>, CatalogError> {
    let all = object.place.key("sources");
    let mut sources = IndexMap::default();
    for (field, digest) in object.entries("sources")? {
        let place = all.key(field);
        fields::need_field(schema, field, &place)?;
        let digest = reader::text(digest, &place)?;
        if !schema.fields.get(&digest).is_some_and(|field| field.computed) {
            return Err(place.error(format!("there is no computed field `{digest}`")));
        }
        sources.insert(field.clone(), digest);
    }
    Ok(sources)
}

/// `waits`: a list of `{for, own, its, through}`, `through` being `{type, fields}`.
fn waits(object: &Object<'_>, schema: &Schema) -> Result<Vec<Wait>, CatalogError> {
    let all = object.place.key("waits");
    let mut waits = Vec::new();
    for (at, item) in object.items("waits")?.iter().enumerate() {
        let place = all.index(at);
        let object = Object::new(item, &place, &["for", "own", "its", "through"])?;
        let own = object.texts("own")?;
        let own_place = place.key("own");
        if let Some(at) = own.iter().position(|path| !fields::leads_somewhere(schema, path)) {
            return Err(own_place.index(at).error(format!("`{}` leads to no field", own[at])));
        }
        let through = match object.get("through") {
            None => None,
            Some(value) => {
                let place = place.key("through");
                let object = Object::new(value, &place, &["type", "fields"])?;
                Some((object.need_text("type")?, object.texts("fields")?))
            }
        };
        let its = object.texts("its")?;
        for (key, paths) in [("own", &own), ("its", &its)] {
            if paths.is_empty() {
                return Err(object.error(key, "must name at least one field"));
            }
        }
        waits.push(Wait { type_name: object.need_text("for")?, own, its, through });
    }
    Ok(waits)
}

/// `attributes`: a map of names to fields, or the word `any`; every field if it is not written.
fn attributes(object: &Object<'_>, schema: &Schema) -> Result<Attributes, CatalogError> {
    match object.get("attributes") {
        None => return Ok(Attributes::Fields),
        Some(Value::Text(word)) if word.as_ref() == "any" => return Ok(Attributes::Anything),
        Some(Value::Text(_)) => return Err(object.error("attributes", "must be an object, or the word `any`")),
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

/// Whether a type should be in this catalogue, by its namespace, and is not.
fn is_missing(name: &str, catalog: &Catalog) -> bool {
    let namespace = Catalogs::namespace_of(name);
    catalog.namespaces.iter().any(|own| own.as_ref() == namespace) && !catalog.has_resource_type(name)
}

fn rejections(object: &Object<'_>, schema: &Schema) -> Result<Vec<Rejection>, CatalogError> {
    let place = object.place.key("rejects");
    let mut rejections = Vec::new();
    for (at, item) in object.items("rejects")?.iter().enumerate() {
        let place = place.index(at);
        let object = Object::new(item, &place, &["field", "equals", "message"])?;
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

fn capabilities(object: &Object<'_>) -> Result<Capabilities, CatalogError> {
    let Some(value) = object.get("capabilities") else { return Ok(Capabilities::default()) };
    let place = object.place.key("capabilities");
    let keys = ["checks", "plans", "adopts", "reads", "imports", "finds", "snapshots", "describedOnly", "preflights"];
    let object = Object::new(value, &place, &keys)?;
    let usual = Capabilities::default();
    let capabilities = Capabilities {
        checks: object.flag_or("checks", usual.checks)?,
        plans: object.flag_or("plans", usual.plans)?,
        adopts: object.flag_or("adopts", usual.adopts)?,
        reads: object.flag_or("reads", usual.reads)?,
        imports: object.flag_or("imports", usual.imports)?,
        finds: object.flag_or("finds", usual.finds)?,
        snapshots: object.flag_or("snapshots", usual.snapshots)?,
        described_only: object.flag_or("describedOnly", usual.described_only)?,
        preflights: object.flag_or("preflights", usual.preflights)?,
    };
    if capabilities.imports && !capabilities.reads && object.has("imports") {
        return Err(object.error("imports", "what cannot be read cannot be imported"));
    }
    Ok(Capabilities { imports: capabilities.imports && capabilities.reads, ..capabilities })
}

/// Annotations of a type: those that belong to no side.
fn annotations(object: &Object<'_>) -> Result<Vec<Annotation>, CatalogError> {
    let place = object.place.key("annotations");
    let mut annotations: Vec<Annotation> = Vec::new();
    for (at, item) in object.items("annotations")?.iter().enumerate() {
        let place = place.index(at);
        let object = Object::new(item, &place, &["key", "type", "required", "default", "allowed", "docs", "about"])?;
        let annotation = annotation(&object)?;
        if annotations.iter().any(|other| other.key == annotation.key) {
            return Err(object.error("key", format!("`{}` is listed twice", annotation.key)));
        }
        annotations.push(annotation);
    }
    Ok(annotations)
}

/// What annotations of types and of link kinds have in common.
fn annotation(object: &Object<'_>) -> Result<Annotation, CatalogError> {
    let ty = fields::scalar_at(object, "type")?;
    let allowed = object.items("allowed")?.to_vec();
    let place = object.place.key("allowed");
    if let Some(at) = allowed.iter().position(|value| !fields::of_type(value, &ty)) {
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
    Ok(Annotation { alias: "".into(), side: "".into(), key: object.need_text("key")?, ty, required, default, allowed })
}

fn data_source_types(object: &Object<'_>, catalog: &mut Catalog) -> Result<(), CatalogError> {
    let all = object.place.key("dataSourceTypes");
    for (name, value) in object.entries("dataSourceTypes")? {
        let place = all.key(name);
        in_namespace(name, catalog, &place)?;
        let object = Object::new(
            value,
            &place,
            &["about", "docs", "example", "filter", "exclusive", "required", "fields", "annotations", "rows", "acts"],
        )?;
        let filters = filters(&object)?;
        let known = |name: &Name, place: &Place<'_>| {
            if filters.contains_key(name) { Ok(()) } else { Err(place.error(format!("`{name}` is no filter field"))) }
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
            let Value::List(items) = item else { return Err(place.error("must be a list of filter fields")) };
            let names: Result<Vec<Name>, CatalogError> =
                items.iter().enumerate().map(|(at, item)| reader::text(item, &place.index(at))).collect();
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
            name: name.clone(),
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
        catalog.data_source_types.insert(name.clone(), Arc::new(data_source_type));
    }
    Ok(())
}

fn filters(object: &Object<'_>) -> Result<IndexMap<Name, FilterField>, CatalogError> {
    let all = object.place.key("filter");
    let mut filters = IndexMap::default();
    for (path, value) in object.entries("filter")? {
        let place = all.key(path);
        let object = Object::new(value, &place, &["type", "pushDown", "docs", "about"])?;
        let push_down = object.texts("pushDown")?;
        let place_of = object.place.key("pushDown");
        if let Some(at) = push_down.iter().position(|operator| !OPERATORS.contains(&operator.as_ref())) {
            return Err(place_of.index(at).error("there is no such operator"));
        }
        let ty = fields::filter_type(fields::type_at(&object, "type")?);
        filters.insert(path.clone(), FilterField { ty, push_down, docs: object.docs()? });
    }
    Ok(filters)
}

fn rows(
    object: &Object<'_>,
    schema: &Schema,
    filters: &IndexMap<Name, FilterField>,
) -> Result<Vec<Value>, CatalogError> {
    let place = object.place.key("rows");
    for (at, row) in object.items("rows")?.iter().enumerate() {
        let place = place.index(at);
        let Value::Map(row) = row else { return Err(place.error("must be an object")) };
        for key in row.keys() {
            let filterable = || filters.keys().any(|path| path.split(['.', '[']).next() == Some(key.as_ref()));
            if !schema.fields.contains_key(key) && !filters.contains_key(key) && !filterable() {
                return Err(place.key(key).error("is neither a field nor a filter field"));
            }
        }
    }
    Ok(object.items("rows")?.to_vec())
}

fn variable_types(object: &Object<'_>, catalog: &mut Catalog) -> Result<(), CatalogError> {
    let all = object.place.key("variableTypes");
    for (name, value) in object.entries("variableTypes")? {
        let place = all.key(name);
        in_namespace(name, catalog, &place)?;
        let outer = Object::new(value, &place, &["kind", "options", "about", "docs"])?;
        let ty = fields::scalar_at(&outer, "kind")?;
        let place = outer.place.key("options");
        let mut options: Vec<OptionOf> = Vec::new();
        for (at, item) in outer.items("options")?.iter().enumerate() {
            let place = place.index(at);
            let object = Object::new(item, &place, &["label", "value", "description", "docs"])?;
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
        catalog.variable_types.insert(name.clone(), Arc::new(CustomType { name: name.clone(), docs, ty, options }));
    }
    Ok(())
}

/// The keys of a function.
const FUNCTION: &[&str] = &["parameters", "rest", "returns", "takesIndex", "docs", "about", "rule", "examples"];

fn provider_functions(object: &Object<'_>, catalog: &mut Catalog) -> Result<(), CatalogError> {
    let all = object.place.key("functions");
    let Some(namespace) = catalog.namespaces.first().cloned() else { return Ok(()) };
    for (name, value) in object.entries("functions")? {
        let place = all.key(name);
        let object = Object::new(value, &place, FUNCTION)?;
        let place = object.place.key("parameters");
        let mut parameters: Vec<Parameter> = Vec::new();
        for (at, item) in object.items("parameters")?.iter().enumerate() {
            let place = place.index(at);
            let parameter = parameter(item, &place)?;
            if parameters.last().is_some_and(|last| last.optional) && !parameter.optional {
                return Err(place.error("a parameter after an optional one must be optional"));
            }
            parameters.push(parameter);
        }
        let rest = object.get("rest").map(|item| parameter(item, &object.place.key("rest"))).transpose()?;
        let docs = match object.docs()? {
            docs if docs.is_empty() => object.text("rule")?.unwrap_or(docs),
            docs => docs,
        };
        catalog.functions.push(FunctionDef {
            name: name.clone(),
            least: parameters.iter().filter(|parameter| !parameter.optional).count(),
            parameters,
            rest,
            returns: Returns::Type(fields::type_at(&object, "returns")?),
            gives: None,
            takes_index: object.flag("takesIndex")?,
            named: false,
            spreads_none: true,
            purity: Purity::Provider { namespace: namespace.clone(), name: name.clone() },
            later: false,
            docs,
            examples: examples(&object)?,
            native: None,
        });
    }
    Ok(())
}

/// Pairs of texts: a call, and its result as JSON or `!` and a code.
fn examples(object: &Object<'_>) -> Result<Vec<Example>, CatalogError> {
    let place = object.place.key("examples");
    let mut examples = Vec::new();
    for (at, item) in object.items("examples")?.iter().enumerate() {
        match item.as_list().map(|pair| pair.iter().map(Value::as_text).collect::<Vec<_>>()).as_deref() {
            Some([Some(call), Some(gives)]) => {
                examples.push(Example { call: (*call).into(), gives: (*gives).into() });
            }
            _ => return Err(place.index(at).error("must be a list of two texts: a call and what it gives")),
        }
    }
    Ok(examples)
}

fn parameter(value: &Value, place: &Place<'_>) -> Result<Parameter, CatalogError> {
    let object = Object::new(value, place, &["name", "type", "optional", "docs"])?;
    Ok(Parameter {
        name: object.need_text("name")?,
        ty: fields::type_at(&object, "type")?,
        optional: object.flag("optional")?,
        callback: None,
        guards: false,
    })
}

fn transforms(object: &Object<'_>, catalog: &mut Catalog) -> Result<(), CatalogError> {
    let all = object.place.key("transforms");
    for (name, value) in object.entries("transforms")? {
        let place = all.key(name);
        let object = Object::new(value, &place, &["about", "docs", "rule", "abstractTypes"])?;
        let mut abstract_types = IndexMap::default();
        let place = object.place.key("abstractTypes");
        for (name, value) in object.entries("abstractTypes")? {
            let place = place.key(name);
            in_namespace(name, catalog, &place)?;
            if catalog.resource_types.contains_key(name) {
                return Err(place.error("is a resource type already"));
            }
            let object = Object::new(value, &place, &["fields", "about", "docs"])?;
            let schema = fields::schema(&object, "fields")?;
            abstract_types.insert(name.clone(), AbstractType { docs: object.docs()?, schema });
        }
        let docs = match object.docs()? {
            docs if docs.is_empty() => object.text("rule")?.unwrap_or(docs),
            docs => docs,
        };
        catalog.transforms.insert(name.clone(), Arc::new(TransformDef { name: name.clone(), docs, abstract_types }));
    }
    Ok(())
}

fn settings(object: &Object<'_>, catalog: &mut Catalog) -> Result<(), CatalogError> {
    let all = object.place.key("settings");
    for (name, value) in object.entries("settings")? {
        let place = all.key(name);
        let field = fields::field(value, &place)?;
        if field.computed {
            return Err(place.error("a setting cannot be computed"));
        }
        catalog.settings.push(Setting { name: name.clone(), field });
    }
    Ok(())
}

/// The fields of a resource type of this catalogue; `None` where it belongs to another one.
fn schema_of<'a>(name: &str, catalog: &'a Catalog) -> Option<&'a Schema> {
    catalog.resource_types.get(name).map(|found| found.schema.as_ref())
}
