//! Outputs of Runnables (section 12 of the reference): those of the newest run that succeeded.

use std::sync::Arc;

use blueprint::{Map, Name, Value};
use jsonpath::{Path, PathFailure};

use crate::retention::{StampedRun, newest_healthy};

/// The path of the condition that says whether a run succeeded.
const SUCCEEDED: &str = r#"status.conditions[?(@.type=="Succeeded")].status"#;

/// The outputs of a Runnable.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutputs {
    /// The values by the names of the outputs, without those that failed.
    pub outputs: Value,
    /// The position of the object that they come from; `None` if no run succeeded.
    pub from: Option<usize>,
    /// The outputs without a value.
    pub failures: Vec<RunOutputFailure>,
}

/// An output without a value.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutputFailure {
    /// The name of the output.
    pub name: Name,
    /// The path of the output.
    pub path: Name,
    /// Why it leads to no value.
    pub failure: PathFailure,
}

/// The outputs that a run template, a whole manifest, reads from the newest of its objects that
/// succeeded. An object whose success cannot be read has not succeeded.
pub fn run_outputs(run_template: &Value, objects: &[&Value]) -> RunOutputs {
    let runs: Vec<StampedRun<'_>> = objects.iter().map(|object| run_of(object)).collect();
    let from = newest_healthy(&runs);
    let mut outputs = Map::new();
    let mut failures = Vec::new();
    if let Some(object) = from.and_then(|at| objects.get(at)) {
        let spec = run_template
            .get("spec")
            .and_then(|spec| spec.get("outputs"));
        let declared = spec.and_then(Value::as_map);
        for (name, path) in declared.into_iter().flat_map(|declared| declared.iter()) {
            let path = path.as_text().unwrap_or_default();
            match find(path, object) {
                Ok(value) => {
                    outputs.insert(name.clone(), value);
                }
                Err(failure) => failures.push(RunOutputFailure {
                    name: name.clone(),
                    path: Name::from(path),
                    failure,
                }),
            }
        }
    }
    RunOutputs {
        outputs: Value::Map(Arc::new(outputs)),
        from,
        failures,
    }
}

fn run_of(object: &Value) -> StampedRun<'_> {
    let metadata = object.get("metadata");
    let text = |key: &str| {
        let value = metadata.and_then(|metadata| metadata.get(key));
        value.and_then(Value::as_text).unwrap_or_default()
    };
    let succeeded = find(SUCCEEDED, object).is_ok_and(|status| status.as_text() == Some("True"));
    StampedRun {
        name: text("name"),
        created: text("creationTimestamp"),
        health: if succeeded { "True" } else { "Unknown" },
    }
}

fn find(path: &str, object: &Value) -> Result<Value, PathFailure> {
    Path::parse(path)?.find(object)
}
