//! Makes `schemas.bin` of the built-in kinds from the answers of an API server:
//! `cargo xtask kubernetes-schemas FOLDER`.
//!
//! `SCHEMAS.md` beside the file describes its form. Not here: reading the file
//! (`kubernetes::builtin`).

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use kubernetes::schema::SchemaDocument;
use kubernetes::{ApiVersion, served_kinds};
use serde_json::{Map, Value as Json, json};

/// The beginning of a reference to another schema of a document.
const REFERENCE: &str = "#/components/schemas/";

/// The mark of the schema of a kind.
const KIND_MARK: &str = "x-kubernetes-group-version-kind";

/// The keywords of a schema that the types are made from.
const KEYWORDS: [&str; 26] = [
    "$ref",
    "allOf",
    "deprecated",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "nullable",
    "oneOf",
    "pattern",
    "required",
    "type",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-map-type",
    "x-kubernetes-patch-merge-key",
    "x-kubernetes-patch-strategy",
    "x-kubernetes-preserve-unknown-fields",
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(folder), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("write the folder with the answers, and the file to write".into());
    };
    let version = json_of(&folder.join("version.json"))?;
    let groups = json_of(&folder.join("discovery/apis.json"))?;
    let mut lists = BTreeMap::new();
    for entry in std::fs::read_dir(folder.join("discovery"))? {
        let list = json_of(&entry?.path())?;
        if let Some(version) = list["groupVersion"].as_str() {
            lists.insert(version.to_owned(), list);
        }
    }
    let mut kinds = served_kinds(&groups, lists.values());
    kinds.sort_by(|one, other| one.kind.cmp(&other.kind));
    let mut blocks = Vec::new();
    let mut index = Vec::new();
    for text in lists.keys() {
        let version: ApiVersion = text.parse()?;
        let Some(block) = block(&folder.join(file_name(&version)))? else {
            continue;
        };
        let packed = packed(&block)?;
        index.push(json!([*version.group, *version.version, packed.len()]));
        blocks.extend(packed);
    }
    let index = json!({
        "kubernetes": version["gitVersion"],
        "kinds": kinds,
        "blocks": index,
    });
    let index = packed(&index.to_string())?;
    let mut file = b"cyank8s1".to_vec();
    file.extend(u32::try_from(index.len())?.to_le_bytes());
    file.extend(index);
    file.extend(blocks);
    std::fs::write(out, file)?;
    Ok(())
}

fn json_of(path: &Path) -> Result<Json, Box<dyn Error>> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}

/// The name of the file with the OpenAPI document of a group and version.
fn file_name(version: &ApiVersion) -> String {
    let start = if version.group.is_empty() {
        "api"
    } else {
        "apis"
    };
    format!("{start}/{version}.json").replace('/', "_")
}

fn packed(text: &str) -> std::io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text.as_bytes())?;
    encoder.finish()
}

/// The document of a group and version with what its kinds use. `None` if it has no kinds.
fn block(path: &Path) -> Result<Option<String>, Box<dyn Error>> {
    let document = json_of(path)?;
    let all = &document["components"]["schemas"];
    let parsed = SchemaDocument::parse(&document.to_string())?;
    let mut wanted: Vec<String> = parsed.schema_names().map(str::to_owned).collect();
    let mut kept: BTreeMap<String, Json> = BTreeMap::new();
    let kinds = wanted.clone();
    while let Some(name) = wanted.pop() {
        if kept.contains_key(&name) || is_known(&name) {
            continue;
        }
        let mut spec = slim(&all[&name]);
        references(&spec, &mut wanted);
        if kinds.contains(&name) {
            spec[KIND_MARK] = all[&name][KIND_MARK].clone();
        }
        kept.insert(name, spec);
    }
    let text = json!({"components": {"schemas": kept}}).to_string();
    Ok((!kinds.is_empty()).then_some(text))
}

/// Whether the program knows a schema itself.
fn is_known(name: &str) -> bool {
    name.ends_with(".meta.v1.ObjectMeta") || name.ends_with(".resource.Quantity")
}

/// A schema with only what the types are made from.
fn slim(spec: &Json) -> Json {
    let Some(spec) = spec.as_object() else {
        return spec.clone();
    };
    let mut kept = Map::new();
    for (key, value) in spec {
        let value = match key.as_str() {
            "properties" => {
                let properties = value.as_object().into_iter().flatten();
                properties
                    .filter(|(name, _)| {
                        !["apiVersion", "kind"].contains(&name.as_str())
                            || !spec.contains_key(KIND_MARK)
                    })
                    .map(|(name, property)| (name.clone(), slim(property)))
                    .collect()
            }
            "items" | "additionalProperties" => slim(value),
            "allOf" | "oneOf" => value.as_array().into_iter().flatten().map(slim).collect(),
            "format" if value == "int-or-string" => value.clone(),
            "default" if !is_zero(value) || is_structure(value) => value.clone(),
            "x-kubernetes-list-type" if value != "atomic" => value.clone(),
            "x-kubernetes-list-map-keys" => value.clone(),
            key if KEYWORDS.contains(&key) => value.clone(),
            _ => continue,
        };
        kept.insert(key.clone(), value);
    }
    Json::Object(kept)
}

/// Whether a default is the one of a structure that objects always have.
fn is_structure(default: &Json) -> bool {
    default.as_object().is_some_and(Map::is_empty)
}

fn is_zero(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(false) => true,
        Json::Bool(true) => false,
        Json::Number(number) => number.as_f64() == Some(0.0),
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty(),
    }
}

/// Adds the names of the schemas that a schema refers to.
fn references(value: &Json, names: &mut Vec<String>) {
    match value {
        Json::Object(fields) => {
            let reference = fields.get("$ref").and_then(Json::as_str);
            names.extend(
                reference
                    .and_then(|text| text.strip_prefix(REFERENCE))
                    .map(str::to_owned),
            );
            fields.values().for_each(|value| references(value, names));
        }
        Json::Array(items) => items.iter().for_each(|item| references(item, names)),
        _ => {}
    }
}
