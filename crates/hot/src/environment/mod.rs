//! Environments: inputs and settings for a template from outside (decisions/heat#environments).
//!
//! [`HeatEnvironment::parse`] reads a file's value, [`merge`] combines files in order, and a
//! [`Registry`] resolves the type of a resource. A mistake has a path into the value, so that the
//! caller can find its place in the file.
//!
//! Not here: reading YAML; whether a type that the registry resolves to exists, which the caller
//! answers.

pub mod codes;
mod merge;
mod registry;

pub use merge::{NamedEnvironment, merge};
pub use registry::{Registry, ResolvedType, TypeResolution};

use blueprint::{Map, Name, Value};

use self::codes::{EMPTY_SECTION, EVENT_SINK_IGNORED};
use crate::codes::UNKNOWN_SECTION;
use crate::refusal::ValueRefusal;
use dialect::codes::{MISSING_FIELD, VALUE_NOT_ALLOWED, WRONG_SHAPE};

/// An environment.
#[derive(Clone, Debug, Default)]
pub struct HeatEnvironment {
    /// Values for the parameters of the root.
    pub parameters: Map,
    /// Values that replace defaults, in the root and in every nested template.
    pub parameter_defaults: Map,
    /// The registry section; see [`Registry::new`].
    pub registry: Map,
    /// Parameters that are secret.
    pub encrypted: Vec<Name>,
    /// The receivers of events.
    pub event_sinks: Vec<Value>,
    /// The merge strategies of parameters, by name; `default` applies to all others.
    pub strategies: Map,
}

/// The sections.
const SECTIONS: [&str; 6] = [
    "parameters",
    "parameter_defaults",
    "resource_registry",
    "encrypted_param_names",
    "event_sinks",
    "parameter_merge_strategies",
];

impl HeatEnvironment {
    /// Reads an environment; null is an empty environment. Mistakes go to `found`; the parts
    /// without mistakes are read.
    pub fn parse(value: &Value, found: &mut Vec<ValueRefusal>) -> HeatEnvironment {
        let mut environment = HeatEnvironment::default();
        let entries = match value.unmarked() {
            Value::Null => return environment,
            Value::Map(entries) => entries,
            _ => {
                let words = "The environment is not a valid YAML mapping data type.";
                found.push(
                    ValueRefusal::new(&WRONG_SHAPE, "an environment is a map")
                        .heat(words)
                        .class("ValueError"),
                );
                return environment;
            }
        };
        for (key, section) in entries.iter() {
            if !SECTIONS.contains(&key.as_ref()) {
                let mut refusal = ValueRefusal::new(
                    &UNKNOWN_SECTION,
                    format!("an environment has no section `{key}`"),
                )
                .heat(format!("environment has wrong section \"{key}\""))
                .class("ValueError");
                if let Some(nearest) = diag::nearest(key, SECTIONS) {
                    refusal = refusal.help(format!("did you mean `{nearest}`?"));
                }
                found.push(refusal.within(key.as_ref()));
                continue;
            }
            if section.is_null() {
                let words = format!("environment has empty section \"{key}\"");
                let refusal =
                    ValueRefusal::new(&EMPTY_SECTION, format!("the section `{key}` is empty"));
                let refusal = refusal
                    .heat(words)
                    .class("ValueError")
                    .help("take it out, or write `{}`");
                found.push(refusal.within(key.as_ref()));
                continue;
            }
            environment.section(key, section, found);
        }
        environment
    }

    fn section(&mut self, key: &Name, section: &Value, found: &mut Vec<ValueRefusal>) {
        let map = match key.as_ref() {
            "parameters" => &mut self.parameters,
            "parameter_defaults" => &mut self.parameter_defaults,
            "resource_registry" => &mut self.registry,
            "parameter_merge_strategies" => &mut self.strategies,
            _ => {
                let Some(items) = section.as_list() else {
                    found.push(
                        ValueRefusal::new(&WRONG_SHAPE, format!("the section `{key}` is a list"))
                            .within(key.as_ref()),
                    );
                    return;
                };
                if key.as_ref() == "event_sinks" {
                    self.event_sinks = items.to_vec();
                    sinks(items, found);
                } else {
                    self.encrypted = items
                        .iter()
                        .filter_map(Value::as_text)
                        .map(Name::from)
                        .collect();
                }
                return;
            }
        };
        match section.as_map() {
            Some(entries) => *map = entries.clone(),
            None => found.push(
                ValueRefusal::new(&WRONG_SHAPE, format!("the section `{key}` is a map"))
                    .within(key.as_ref()),
            ),
        }
    }

    /// Whether a parameter is secret although its schema does not declare it hidden.
    pub fn encrypts(&self, name: &str) -> bool {
        self.encrypted
            .iter()
            .any(|encrypted| encrypted.as_ref() == name)
    }
}

/// Checks the event sinks, which only the cloud can serve.
fn sinks(items: &[Value], found: &mut Vec<ValueRefusal>) {
    for (at, sink) in items.iter().enumerate() {
        let refusal = match sink
            .as_map()
            .map(|sink| sink.get("type").and_then(Value::as_text))
        {
            None => ValueRefusal::new(&WRONG_SHAPE, "an event sink is a map"),
            Some(None) => ValueRefusal::new(&MISSING_FIELD, "the event sink has no type")
                .help("add `type: zaqar-queue`"),
            Some(Some("zaqar-queue")) => ValueRefusal::new(
                &EVENT_SINK_IGNORED,
                "events are not sent to a queue of Zaqar here",
            ),
            Some(Some(other)) => ValueRefusal::new(
                &VALUE_NOT_ALLOWED,
                format!("there is no event sink `{other}`"),
            )
            .heat(format!("'{other}'"))
            .class("KeyError")
            .help("use `zaqar-queue`")
            .within("type"),
        };
        found.push(refusal.within(at).within("event_sinks"));
    }
}

#[cfg(test)]
mod tests;
