//! Which inputs an object was made of: a digest for each.

use std::sync::Arc;

use blueprint::{Map, Name, Value};
use jsonpath::json_text;

use crate::inputs::{ResourceInputs, SourceOutput};

use super::applied::digest;

/// The values of the inputs by sort and name, as in `sources.code`.
fn named(inputs: &ResourceInputs) -> Map {
    let source = |source: &SourceOutput| {
        Value::map([
            ("url", source.url.clone()),
            ("revision", source.revision.clone()),
        ])
    };
    let mut values = Map::new();
    for (name, value) in &inputs.sources {
        values.insert(Name::from(format!("sources.{name}")), source(value));
    }
    for (name, value) in &inputs.images {
        values.insert(Name::from(format!("images.{name}")), value.clone());
    }
    for (name, value) in &inputs.configs {
        values.insert(Name::from(format!("configs.{name}")), value.clone());
    }
    if let Some(value) = &inputs.deployment {
        values.insert(Name::from("deployment"), source(value));
    }
    values
}

/// The values of the inputs, as one value.
pub(super) fn input_values(inputs: &ResourceInputs) -> Value {
    Value::Map(Arc::new(named(inputs)))
}

/// The digests of the inputs as a JSON object; empty if there are none.
pub(super) fn input_digests(inputs: &ResourceInputs) -> String {
    let values = named(inputs);
    if values.is_empty() {
        return String::new();
    }
    let digests = values.iter().map(|(name, value)| {
        let digest = digest(value).map_or(Value::Null, Value::Text);
        (name.clone(), digest)
    });
    json_text(&Value::map(digests)).unwrap_or_default()
}
