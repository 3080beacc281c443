//! Outputs of Runnables (decisions/cartographer#runs): those of the newest run that succeeded.

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

#[cfg(test)]
mod tests {
    use blueprint::Value;
    use jsonpath::FailureClass;

    use super::run_outputs;

    fn object(created: &str, succeeded: &str, value: i64) -> Value {
        let condition = [("type", "Succeeded"), ("status", succeeded)];
        let condition = Value::map(condition.map(|(key, text)| (key, Value::from(text))));
        Value::map([
            (
                "metadata",
                Value::map([("creationTimestamp", Value::from(created))]),
            ),
            ("spec", Value::map([("v", Value::Int(value))])),
            (
                "status",
                Value::map([("conditions", Value::list([condition]))]),
            ),
        ])
    }

    #[test]
    fn the_newest_run_that_succeeded_counts() {
        let objects = [
            object("2024-01-01T00:00:01Z", "True", 1),
            object("2024-01-01T00:00:02Z", "True", 2),
            object("2024-01-01T00:00:03Z", "False", 3),
        ];
        let outputs = Value::map([("a", Value::from("spec.v")), ("b", Value::from("spec.w"))]);
        let template = Value::map([("spec", Value::map([("outputs", outputs)]))]);
        let objects: Vec<&Value> = objects.iter().collect();
        let found = run_outputs(&template, &objects);
        assert_eq!(found.from, Some(1));
        assert_eq!(found.outputs, Value::map([("a", Value::Int(2))]));
        assert_eq!(found.failures[0].name.as_ref(), "b");
        assert_eq!(found.failures[0].failure.class, FailureClass::Missing);
        assert_eq!(run_outputs(&template, &[]).from, None);
    }
}
