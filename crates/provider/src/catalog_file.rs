//! Reads a catalogue from its JSON form, `format` 1, which `docs/catalogues.md` describes.
//!
//! The reader is strict: unknown keys, duplicate keys and contradictions are errors with the path
//! of the place, so that a mistake in a catalogue is found when it is written and never while a
//! document is planned.
//!
//! Not here: contradictions between catalogues ([`combine`](crate::combine)).

mod data_sources;
mod fields;
mod functions;
mod links;
mod rate_limits;
mod reader;
mod types;

use std::sync::Arc;

use blueprint::{Name, Value};

pub use self::rate_limits::read_limits;
pub use self::reader::CatalogError;
use self::reader::{JsonObject, JsonPlace};
use crate::{Catalog, Hosted, Setting, TypeSource};

/// Reads the catalogue that a JSON text describes, and checks it for contradictions. The first
/// mistake is the error.
pub fn read_catalog(text: &str) -> Result<Catalog, CatalogError> {
    read(text, None)
}

/// Reads a catalogue that will be put on top of others. Types of `beneath` may be named wherever
/// its own types may.
pub fn read_catalog_over(
    text: &str,
    beneath: Arc<dyn TypeSource>,
) -> Result<Catalog, CatalogError> {
    let catalog = read(text, Some(beneath))?;
    Ok(Catalog {
        source: None,
        ..catalog
    })
}

fn read(text: &str, beneath: Option<Arc<dyn TypeSource>>) -> Result<Catalog, CatalogError> {
    let value = reader::parse(text)?;
    let place = JsonPlace::top();
    let object = JsonObject::new(
        &value,
        &place,
        &[
            "format",
            "name",
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
        name: name(&object)?,
        namespaces: namespaces(&object)?,
        docs: object.docs()?,
        max_parallel: object.small_count("maxParallel")?.unwrap_or(0),
        rate: rate_limits::rate(&object, "callsPerSecond")?,
        retries: rate_limits::retries(&object)?,
        loose_names: object.flag("looseNames")?,
        hidden: object.flag("hidden")?,
        hosted: hosted(&object)?,
        source: beneath,
        ..Catalog::default()
    };
    types::resource_types(&object, &mut catalog)?;
    data_sources::data_source_types(&object, &mut catalog)?;
    data_sources::variable_types(&object, &mut catalog)?;
    functions::functions(&object, &mut catalog)?;
    types::transforms(&object, &mut catalog)?;
    settings(&object, &mut catalog)?;
    links::link_kinds(&object, &mut catalog)?;
    Ok(catalog)
}

/// Reads `name`: the name of the provider, if its namespaces are not its keys.
fn name(object: &JsonObject<'_>) -> Result<Option<Name>, CatalogError> {
    let name = object.text("name")?;
    // The name is a key of `cyan.toml`, and the package of functions: `NAME/FUNCTION`.
    let is_name = |name: &Name| !name.is_empty() && !name.contains(['/', ' ', ':']);
    if let Some(wrong) = name.as_ref().filter(|name| !is_name(name)) {
        return Err(object.error("name", format!("`{wrong}` is no name of a provider")));
    }
    Ok(name)
}

fn namespaces(object: &JsonObject<'_>) -> Result<Vec<Name>, CatalogError> {
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

/// Reads `package`: the family of hosted packages, their version and parameters. `None` for a
/// built-in catalogue.
fn hosted(object: &JsonObject<'_>) -> Result<Option<Hosted>, CatalogError> {
    let Some(value) = object.get("package") else {
        return Ok(None);
    };
    let place = object.place.key("package");
    let object = JsonObject::new(value, &place, &["family", "version", "parameters"])?;
    let family = object.need_text("family")?;
    let is_word = |letter: char| letter.is_ascii_lowercase() || letter == '-';
    if family.is_empty() || !family.chars().all(is_word) {
        return Err(object.error("family", "must be the word of a family, such as `pulumi`"));
    }
    let parameters = object.get("parameters").cloned().unwrap_or_default();
    if !matches!(parameters, Value::Null | Value::Map(_)) {
        return Err(object.error("parameters", "must be an object"));
    }
    Ok(Some(Hosted {
        family,
        version: object.text("version")?,
        parameters,
    }))
}

fn settings(object: &JsonObject<'_>, catalog: &mut Catalog) -> Result<(), CatalogError> {
    let all = object.place.key("settings");
    for (name, value) in object.entries("settings")? {
        let place = all.key(name);
        let field = fields::field(value, &place)?;
        if field.computed {
            return Err(place.error("a setting cannot be computed"));
        }
        catalog.settings.push(Setting {
            name: name.clone(),
            field,
        });
    }
    Ok(())
}
