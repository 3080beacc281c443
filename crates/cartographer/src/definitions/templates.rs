//! The schemas of templates and run templates.

use blueprint::Value;

use super::fields::{
    any, any_object, field_requirement, list, map_of, object, one_of, retention_policy, text, with,
};
use crate::kinds::CartoKind;

/// The schema of `spec` of a template.
pub(crate) fn spec(kind: CartoKind) -> Value {
    let lifecycle = one_of(["mutable", "immutable", "tekton"]);
    let mut fields = vec![
        ("template", any_object()),
        ("ytt", text()),
        (
            "params",
            list(object([("name!", text()), ("default!", any())])),
        ),
        (
            "lifecycle",
            with(lifecycle, "default", Value::from("mutable")),
        ),
        ("retentionPolicy", retention_policy()),
        ("healthRule", health_rule()),
    ];
    fields.extend(outputs(kind));
    object(fields)
}

/// Where the outputs are in the object of a template.
fn outputs(kind: CartoKind) -> Vec<(&'static str, Value)> {
    match kind {
        CartoKind::ClusterSourceTemplate => {
            vec![("urlPath!", text()), ("revisionPath!", text())]
        }
        CartoKind::ClusterImageTemplate => vec![("imagePath!", text())],
        CartoKind::ClusterConfigTemplate => vec![("configPath!", text())],
        CartoKind::ClusterDeploymentTemplate => {
            let pair = || object([("key!", text()), ("value!", text())]);
            let matches = list(object([("input!", text()), ("output!", text())]));
            vec![
                ("observedMatches", matches),
                (
                    "observedCompletion",
                    object([("succeeded!", pair()), ("failed", pair())]),
                ),
            ]
        }
        _ => Vec::new(),
    }
}

fn health_rule() -> Value {
    object([
        ("alwaysHealthy", any_object()),
        ("singleConditionType", text()),
        (
            "multiMatch",
            object([("healthy!", matchers()), ("unhealthy!", matchers())]),
        ),
    ])
}

fn matchers() -> Value {
    let mut field = field_requirement();
    field.push(("messagePath", text()));
    object([
        (
            "matchConditions",
            list(object([("type!", text()), ("status!", text())])),
        ),
        ("matchFields", list(object(field))),
    ])
}

/// The schema of `spec` of a run template.
pub(crate) fn run_template_spec() -> Value {
    object([("template!", any_object()), ("outputs", map_of(text()))])
}
