//! The pack of Terraform's providers: the value that a host proposes to a provider, from schema,
//! prior object and configuration.

use std::path::Path;

use blueprint::{Name, Value};
use serde_json::{Map, Value as Json};
use terraform_wire::{
    AttributeKind, Block, BlockType, NestedObject, Nesting, SchemaAttribute, ValueType, conform,
    proposed, same, wire,
};

use super::case::{Case, read_json};

/// The cases of `proposed.json`.
pub(super) fn proposed(pack: &Path) -> Result<Vec<Case>, String> {
    let Json::Array(cases) = read_json(&pack.join("proposed.json"))? else {
        return Err("`proposed.json` is no list".to_owned());
    };
    let case = |json: Json| {
        let id = json["id"].as_str().unwrap_or_default().to_owned();
        Case {
            id,
            run: Box::new(move || compare(&json)),
        }
    };
    Ok(cases.into_iter().map(case).collect())
}

fn compare(case: &Json) -> Result<(), String> {
    let schema = block(&case["schema"])?;
    let read = |part: &str| Ok::<Value, String>(conform(&schema, &value(&case[part])));
    let (prior, config, expected) = (read("prior")?, read("config")?, read("proposed")?);
    let found = proposed::proposed(&schema, &prior, &config);
    if !same(&found, &expected) {
        return Err(format!("expected {expected}, found {found}"));
    }
    // The proposed value is the same after encoding and decoding.
    let bytes = wire::encode(&found, &schema.ty()).map_err(|error| error.to_string())?;
    let again = wire::decode(&bytes, &schema.ty()).map_err(|error| error.to_string())?;
    if same(&again, &found) {
        Ok(())
    } else {
        Err(format!("{found} comes back from the wire as {again}"))
    }
}

fn value(json: &Json) -> Value {
    match json {
        Json::Object(entries) if entries.contains_key("$unknown") => Value::unknown(None, None),
        Json::Object(entries) => Value::map(
            entries
                .iter()
                .map(|(key, part)| (Name::from(key.as_str()), value(part))),
        ),
        Json::Array(items) => Value::list(items.iter().map(value)),
        other => super::super::json_values::from_json(other),
    }
}

fn entries<'a>(json: &'a Json, key: &str) -> impl Iterator<Item = (Name, &'a Json)> {
    let none: Option<&Map<String, Json>> = json[key].as_object();
    none.into_iter()
        .flatten()
        .map(|(name, json)| (Name::from(name.as_str()), json))
}

fn block(json: &Json) -> Result<Block, String> {
    let inner = |(name, json): (Name, &Json)| {
        let block = BlockType {
            nesting: nesting(json)?,
            block: block(json)?,
            min_items: 0,
            max_items: 0,
        };
        Ok::<_, String>((name, block))
    };
    Ok(Block {
        attributes: entries(json, "attributes")
            .map(attribute)
            .collect::<Result<_, _>>()?,
        blocks: entries(json, "blocks")
            .map(inner)
            .collect::<Result<_, _>>()?,
        ..Block::default()
    })
}

fn attribute((name, json): (Name, &Json)) -> Result<(Name, SchemaAttribute), String> {
    let kind = match json.get("type") {
        Some(ty) => AttributeKind::Plain(
            ValueType::of_json(ty).map_err(|error| format!("{name}: {error}"))?,
        ),
        None => AttributeKind::Nested(NestedObject {
            nesting: nesting(json)?,
            attributes: entries(json, "attributes")
                .map(attribute)
                .collect::<Result<_, _>>()?,
        }),
    };
    let is = json["is"].as_str().unwrap_or_default();
    let attribute = SchemaAttribute {
        kind,
        required: is == "required",
        optional: is.starts_with("optional"),
        computed: is.ends_with("computed"),
        ..SchemaAttribute::default()
    };
    Ok((name, attribute))
}

fn nesting(json: &Json) -> Result<Nesting, String> {
    match json["nesting"].as_str() {
        Some("single") => Ok(Nesting::Single),
        Some("group") => Ok(Nesting::Group),
        Some("list") => Ok(Nesting::List),
        Some("set") => Ok(Nesting::Set),
        Some("map") => Ok(Nesting::Map),
        other => Err(format!("there is no nesting {other:?}")),
    }
}
