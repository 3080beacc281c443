//! What a script is.

use std::collections::BTreeMap;
use std::time::Duration;

use blueprint::{Map, Name, Value};
use jsonpath::Path;
use kubernetes::ApiVersion;

/// The statuses that the objects of a kind get, one after another.
#[derive(Clone, Debug)]
pub struct Script {
    /// Group and version of the objects.
    pub api_version: ApiVersion,
    /// Their kind.
    pub kind: Name,
    /// The labels that an object must have.
    pub labels: Vec<(Name, Name)>,
    /// Where the values are whose change begins a further run.
    pub inputs: Vec<Path>,
    /// What tags read where an object has no such field.
    pub defaults: Value,
    /// The time after which a run that is complete is followed by another one.
    pub every: Option<Duration>,
    /// The statuses, in order.
    pub steps: Vec<ScriptStep>,
    /// How runs with these numbers end, if not as the last step says. The first run is 1.
    pub runs: BTreeMap<u64, RunResult>,
}

/// One status.
#[derive(Clone, Debug)]
pub struct ScriptStep {
    /// The time since the step before, or since the beginning of the run.
    pub after: Duration,
    /// The status: what it has is set, and its tags read the object.
    pub status: Value,
}

/// How a run ends: this condition takes the place of the one in the last step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunResult {
    /// The type of the condition.
    pub condition: Name,
    /// Its status.
    pub status: Name,
    /// Its reason.
    pub reason: Name,
    /// Its message.
    pub message: Name,
}

impl Script {
    /// Whether the script is about an object.
    pub fn matches(&self, object: &Value) -> bool {
        let same =
            |key: &str, wanted: &str| object.get(key).and_then(Value::as_text) == Some(wanted);
        let labels = object
            .get("metadata")
            .and_then(|metadata| metadata.get("labels"));
        same("apiVersion", &self.api_version.to_string())
            && same("kind", &self.kind)
            && self.labels.iter().all(|(key, wanted)| {
                let found = labels.and_then(|labels| labels.get(key));
                found.and_then(Value::as_text) == Some(wanted.as_ref())
            })
    }
}

/// The value with the entries of `defaults` that it does not have, at any depth.
pub(crate) fn with_defaults(value: &Value, defaults: &Value) -> Value {
    let (Some(entries), Some(wanted)) = (value.as_map(), defaults.as_map()) else {
        return value.clone();
    };
    let mut filled: Map = entries.clone();
    for (name, default) in wanted {
        let entry = match filled.get(name) {
            Some(found) if !found.is_null() => with_defaults(found, default),
            _ => default.clone(),
        };
        filled.insert(name.clone(), entry);
    }
    Value::Map(std::sync::Arc::new(filled))
}
