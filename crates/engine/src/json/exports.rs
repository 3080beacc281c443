//! Exported values as machine output.

use blueprint::{IndexMap, Map, Name, Value};
use serde_json::{Value as Json, json};
use state::InstanceName;

use super::value::value;
use crate::inspect::Exports;

/// The exported values of an instance.
pub fn exports(exports: &Exports, reveal: bool) -> Json {
    json!({"instance": exports.instance, "exports": named(&exports.values, reveal)})
}

/// One exported value of an instance.
pub fn export(instance: &InstanceName, name: &str, exported: &Value, reveal: bool) -> Json {
    json!({"instance": instance, "name": name, "value": value(exported, reveal)})
}

/// Values by name.
pub(super) fn named(values: &IndexMap<Name, Value>, reveal: bool) -> Json {
    let map: Map = values
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    value(&Value::Map(map.into()), reveal)
}
