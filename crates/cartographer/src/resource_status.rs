//! The entry of a resource in `status.resources` of its owner (decisions/cartographer#outputs).

use std::sync::Arc;

use blueprint::{Map, Name, Value};

use crate::compat::Compat;
use crate::conditions::{
    ConditionCollector, FALSE, StatusCondition, TRUE, UNKNOWN, conditions_of, find_condition,
};
use crate::health::{HEALTHY, effective_rule, resource_health};
use crate::inputs::ResourceOutput;
use crate::outputs::{OutputFailure, OutputFailureClass, previews};

/// What happened to a resource.
#[derive(Clone, Copy)]
pub struct Realization<'a> {
    /// The resource, an entry of `resources` of a blueprint.
    pub resource: &'a Value,
    /// The template, as a whole manifest; `None` if an input is passed through.
    pub template: Option<&'a Value>,
    /// The health rule that counts, which can be null.
    pub rule: &'a Value,
    /// The object, as a whole manifest.
    pub object: Option<&'a Value>,
    /// The plural and group of the kind of the object, as in `deployments.apps`.
    pub object_resource: &'a str,
    /// The output, or why there is none.
    pub output: Result<&'a ResourceOutput, &'a OutputFailure>,
}

/// An entry of a status, and how it differs from the previous one.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceStatus {
    /// The entry.
    pub entry: Value,
    /// Whether an output is new, gone or different.
    pub outputs_changed: bool,
    /// Whether the health is another one.
    pub health_changed: bool,
    /// Whether anything but times changed.
    pub changed: bool,
}

/// The entry of a resource after a run. `now` is the time that changed parts get.
pub fn resource_status(
    realization: &Realization<'_>,
    previous: Option<&Value>,
    now: &str,
    compat: Compat,
) -> ResourceStatus {
    let previous = previous.unwrap_or(&Value::Null);
    let entry = realized(
        realization,
        previous.get("outputs").unwrap_or(&Value::Null),
        now,
    );
    let health = realization.template.map(|_| {
        let realized = Value::Map(Arc::new(entry.clone()));
        resource_health(realization.rule, Some(&realized), realization.object)
    });
    let submitted = submitted(realization, health.as_ref(), compat);
    finished(entry, submitted, health, previous, now)
}

/// The entry of a resource that failed before it was stamped, with its condition
/// `ResourceSubmitted`: the rest stays as it was, so that nothing is forgotten. The template is the
/// one that was chosen, if there is one; it shows in an entry that is new.
pub fn unstamped_status(
    resource: &Value,
    template: Option<&Value>,
    submitted: StatusCondition,
    previous: Option<&Value>,
    now: &str,
) -> ResourceStatus {
    let (entry, health) = match previous.and_then(Value::as_map) {
        Some(entries) => {
            let conditions = entries.get("conditions").unwrap_or(&Value::Null);
            let health = find_condition(&conditions_of(conditions), HEALTHY).cloned();
            let mut entry = entries.clone();
            entry.shift_remove("conditions");
            (entry, health)
        }
        None => {
            let mut entry = Map::new();
            entry.insert(Name::from("name"), part(resource, &["name"]));
            if let Some(template) = template {
                entry.insert(Name::from("templateRef"), template_reference(template));
            }
            let inputs = input_names(resource);
            if !inputs.is_empty() {
                entry.insert(Name::from("inputs"), Value::list(inputs));
            }
            let health = template.map(|template| {
                let realized = Value::Map(Arc::new(entry.clone()));
                resource_health(&effective_rule(template), Some(&realized), None)
            });
            (entry, health)
        }
    };
    finished(
        entry,
        submitted,
        health,
        previous.unwrap_or(&Value::Null),
        now,
    )
}

fn template_reference(template: &Value) -> Value {
    Value::map([
        ("apiVersion", Value::from(crate::kinds::API_VERSION)),
        ("kind", part(template, &["kind"])),
        ("name", part(template, &["metadata", "name"])),
    ])
}

/// An entry with its conditions, compared with the previous one.
fn finished(
    mut entry: Map,
    submitted: StatusCondition,
    health: Option<StatusCondition>,
    previous: &Value,
    now: &str,
) -> ResourceStatus {
    let nothing = Value::Null;
    let previous_part = |key: &str| previous.get(key).unwrap_or(&nothing);
    let before = conditions_of(previous_part("conditions"));
    let mut collector = ConditionCollector::new("Ready", before.clone(), now);
    collector.add(submitted);
    if let Some(health) = health {
        collector.add(health);
    }
    let collected = collector.finish();
    let health_of = |conditions: &[StatusCondition]| match find_condition(conditions, HEALTHY) {
        Some(condition) => condition.status.clone(),
        None => Name::from(UNKNOWN),
    };
    let outputs_changed =
        digests(previous_part("outputs")) != digests(entry.get("outputs").unwrap_or(&nothing));
    let health_changed = health_of(&before) != health_of(&collected.conditions);
    let parts = ["templateRef", "stampedRef", "inputs"];
    let others_changed = parts
        .iter()
        .any(|part| entry.get(part).unwrap_or(&nothing) != previous_part(part));
    let conditions = collected.conditions.iter().map(StatusCondition::value);
    entry.insert(Name::from("conditions"), Value::list(conditions));
    ResourceStatus {
        entry: Value::Map(Arc::new(entry)),
        outputs_changed,
        health_changed,
        changed: collected.changed || outputs_changed || others_changed,
    }
}

/// The entry without conditions.
fn realized(realization: &Realization<'_>, previous_outputs: &Value, now: &str) -> Map {
    let mut entry = Map::new();
    let mut set = |key: &str, value: Value| {
        if !value.is_null() {
            entry.insert(Name::from(key), value);
        }
    };
    set("name", part(realization.resource, &["name"]));
    if let Some(object) = realization.object {
        let mut reference = Map::new();
        for (key, path) in [
            ("apiVersion", ["apiVersion"].as_slice()),
            ("kind", &["kind"]),
            ("name", &["metadata", "name"]),
            ("namespace", &["metadata", "namespace"]),
        ] {
            let value = part(object, path);
            if !value.is_null() {
                reference.insert(Name::from(key), value);
            }
        }
        let resource = Value::from(realization.object_resource);
        reference.insert(Name::from("resource"), resource);
        set("stampedRef", Value::Map(Arc::new(reference)));
    }
    if let Some(template) = realization.template {
        set("templateRef", template_reference(template));
    }
    let inputs = input_names(realization.resource);
    if !inputs.is_empty() {
        set("inputs", Value::list(inputs));
    }
    let outputs = realization.output.map(previews).unwrap_or_default();
    if !outputs.is_empty() {
        let outputs = outputs.into_iter().map(|output| {
            let same = previous_outputs
                .as_list()
                .unwrap_or_default()
                .iter()
                .find(|previous| {
                    let text = |key: &str| previous.get(key).and_then(Value::as_text);
                    text("name") == Some(output.name) && text("digest") == Some(&output.digest)
                });
            let time = same.map(|previous| part(previous, &["lastTransitionTime"]));
            Value::map([
                ("name", Value::from(output.name)),
                ("preview", Value::from(output.preview)),
                ("digest", Value::from(output.digest)),
                (
                    "lastTransitionTime",
                    time.unwrap_or_else(|| Value::from(now)),
                ),
            ])
        });
        set("outputs", Value::list(outputs));
    }
    entry
}

fn part(value: &Value, path: &[&str]) -> Value {
    let found = path.iter().try_fold(value, |value, key| value.get(key));
    found.cloned().unwrap_or_default()
}

/// The producers of the inputs, in the order of the fields.
fn input_names(resource: &Value) -> Vec<Value> {
    let list = |field: &str| {
        resource
            .get(field)
            .and_then(Value::as_list)
            .unwrap_or_default()
    };
    let lists = [list("sources"), list("images")];
    let lists = lists.into_iter().flatten();
    let all = lists
        .chain(resource.get("deployment"))
        .chain(list("configs"));
    all.filter_map(|reference| reference.get("resource"))
        .map(|producer| Value::map([("name", producer.clone())]))
        .collect()
}

/// The names and digests of outputs.
fn digests(outputs: &Value) -> Vec<(Value, Value)> {
    let outputs = outputs.as_list().unwrap_or_default().iter();
    outputs
        .map(|output| (part(output, &["name"]), part(output, &["digest"])))
        .collect()
}

/// The condition `ResourceSubmitted`.
fn submitted(
    realization: &Realization<'_>,
    health: Option<&StatusCondition>,
    compat: Compat,
) -> StatusCondition {
    let condition = |status: &str, reason: &str, message: &str| {
        StatusCondition::new("ResourceSubmitted", status, reason, message)
    };
    let failure = match (realization.output, realization.template) {
        (Ok(_), Some(_)) => return condition(TRUE, "ResourceSubmissionComplete", ""),
        (Ok(_), None) => return condition(TRUE, "PassThrough", ""),
        (Err(failure), _) => failure,
    };
    let message = failure.message.as_str();
    match failure.class {
        OutputFailureClass::JsonPath => condition(
            UNKNOWN,
            "MissingValueAtPath",
            &missing_value(failure, health),
        ),
        OutputFailureClass::ObservedGeneration => condition(FALSE, "TemplateStampFailure", message),
        OutputFailureClass::Condition => condition(UNKNOWN, "ConditionNotMet", message),
        OutputFailureClass::FailedCondition => condition(FALSE, "FailedConditionMet", message),
        // An input that comes later is no failure.
        OutputFailureClass::Other if !compat.is_upstream() && !failure.waits_for.is_empty() => {
            condition(UNKNOWN, "MissingValueAtPath", message)
        }
        OutputFailureClass::Other => condition(FALSE, "UnknownError", message),
    }
}

/// Why a value is missing: the object takes its time, is unhealthy, or the template is to blame.
fn missing_value(failure: &OutputFailure, health: Option<&StatusCondition>) -> String {
    let path = failure.path.as_deref().unwrap_or_default();
    let is_rule = |condition: &&StatusCondition| *condition.reason != *"OutputNotAvailable";
    match health.filter(is_rule).map(|health| health.status.as_ref()) {
        Some(TRUE) => format!(
            "the object is healthy, but nothing is at `{path}`: the path of the template is wrong"
        ),
        Some(FALSE) => format!("nothing is at `{path}`, because the object is not healthy"),
        _ => format!("waiting for a value at `{path}`: {}", failure.message),
    }
}

#[cfg(test)]
mod tests {
    use blueprint::Value;

    use super::{Realization, ResourceStatus, resource_status, unstamped_status};
    use crate::compat::Compat;
    use crate::conditions::StatusCondition;
    use crate::inputs::{AbsentInput, ResourceOutput};
    use crate::outputs::{OutputFailure, OutputFailureClass};

    fn status(
        output: Result<&ResourceOutput, &OutputFailure>,
        previous: Option<&Value>,
        compat: Compat,
    ) -> ResourceStatus {
        let named = Value::map([("name", Value::from("o"))]);
        let template = Value::map([
            ("kind", Value::from("ClusterImageTemplate")),
            ("metadata", named.clone()),
        ]);
        let object = Value::map([("kind", Value::from("K")), ("metadata", named)]);
        let realization = Realization {
            resource: &Value::map([("name", Value::from("r"))]),
            template: Some(&template),
            rule: &Value::Null,
            object: Some(&object),
            object_resource: "ks.example",
            output,
        };
        resource_status(&realization, previous, "now", compat)
    }

    fn submitted(status: &ResourceStatus) -> (String, String) {
        let conditions = status.entry.get("conditions").and_then(Value::as_list);
        let condition = &conditions.expect("conditions")[0];
        let text = |key: &str| {
            condition
                .get(key)
                .and_then(Value::as_text)
                .unwrap_or_default()
        };
        (text("status").to_owned(), text("reason").to_owned())
    }

    #[test]
    fn an_equal_entry_has_not_changed() {
        let output = ResourceOutput::Image(Value::from("i"));
        let first = status(Ok(&output), None, Compat::Ours);
        assert!(first.changed && first.outputs_changed && first.health_changed);
        let again = status(Ok(&output), Some(&first.entry), Compat::Ours);
        assert!(!again.changed && !again.outputs_changed && !again.health_changed);
        let other = ResourceOutput::Image(Value::from("j"));
        assert!(status(Ok(&other), Some(&first.entry), Compat::Ours).outputs_changed);
    }

    #[test]
    fn a_resource_that_was_not_stamped_keeps_its_entry() {
        let output = ResourceOutput::Image(Value::from("i"));
        let first = status(Ok(&output), None, Compat::Ours).entry;
        let failed = StatusCondition::new("ResourceSubmitted", "False", "TemplateStampFailure", "");
        let resource = Value::map([("name", Value::from("r"))]);
        let kept = unstamped_status(&resource, None, failed, Some(&first), "later");
        assert_eq!(kept.entry.get("outputs"), first.get("outputs"));
        assert_eq!(kept.entry.get("stampedRef"), first.get("stampedRef"));
        assert_eq!(submitted(&kept).1, "TemplateStampFailure");
        assert!(kept.changed && !kept.outputs_changed && !kept.health_changed);
    }

    #[test]
    fn a_missing_input_waits_unless_upstream_counts() {
        let failure = OutputFailure {
            class: OutputFailureClass::Other,
            message: "no input".to_owned(),
            path: None,
            waits_for: vec![AbsentInput {
                field: "deployment",
                name: "".into(),
                producer: "p".into(),
            }],
        };
        let of = |compat| submitted(&status(Err(&failure), None, compat));
        assert_eq!(
            of(Compat::Ours),
            ("Unknown".to_owned(), "MissingValueAtPath".to_owned())
        );
        assert_eq!(
            of(Compat::Upstream),
            ("False".to_owned(), "UnknownError".to_owned())
        );
    }
}
