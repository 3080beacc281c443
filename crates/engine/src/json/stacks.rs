//! Stacks and their configuration as machine output.

use dialect::ConfigEntry;
use serde_json::{Value as Json, json};
use state::InstanceName;

use super::instance::instance;
use crate::stacks::Stack;

/// The stacks of a document.
pub fn stacks(stacks: &[Stack]) -> Json {
    let stack = |stack: &Stack| {
        json!({
            "name": stack.name,
            "current": stack.is_current,
            "file": stack.file.as_deref().map(|file| file.display().to_string()),
            "instance": stack.info.as_ref().map(instance),
        })
    };
    json!({"stacks": stacks.iter().map(stack).collect::<Vec<_>>()})
}

/// The configuration of a stack.
pub fn stack_values(name: &InstanceName, entries: &[ConfigEntry]) -> Json {
    let entries: Vec<Json> = entries.iter().map(stack_value).collect();
    json!({"stack": name, "values": entries})
}

/// An entry of a configuration. A secret that is not revealed has no value.
pub fn stack_value(entry: &ConfigEntry) -> Json {
    json!({"key": entry.key, "value": entry.text, "secret": entry.is_secret})
}
