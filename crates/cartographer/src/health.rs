//! Health of resources and owners (decisions/cartographer#health).

use blueprint::Value;
use jsonpath::{Path, json_text};

use crate::conditions::{
    ConditionCollector, FALSE, StatusCondition, TRUE, UNKNOWN, conditions_of, find_condition,
};
use crate::fields;
use crate::timestamps;

/// The type of the condition of a resource.
pub const HEALTHY: &str = "Healthy";

/// The type of the condition of an owner.
pub const RESOURCES_HEALTHY: &str = "ResourcesHealthy";

/// The rule of a template, which can be null: a template with the lifecycle `tekton` and without a
/// rule looks at the condition `Succeeded`.
pub fn effective_rule(template: &Value) -> Value {
    let spec = template.get("spec").unwrap_or(&Value::Null);
    match spec.get("healthRule") {
        Some(rule) if !rule.is_null() => rule.clone(),
        _ if spec.get("lifecycle").and_then(Value::as_text) == Some("tekton") => {
            Value::map([("singleConditionType", Value::from("Succeeded"))])
        }
        _ => Value::Null,
    }
}

/// The condition `Healthy` of a resource: by its rule, which can be null, its status entry without
/// conditions, and its object.
pub fn resource_health(
    rule: &Value,
    realized: Option<&Value>,
    object: Option<&Value>,
) -> StatusCondition {
    if rule.is_null() {
        return without_rule(realized);
    }
    if present(rule, "alwaysHealthy").is_some() {
        return healthy(TRUE, "AlwaysHealthy", "");
    }
    let Some(object) = object else {
        return healthy(UNKNOWN, "Unknown", "");
    };
    let single = rule.get("singleConditionType").and_then(Value::as_text);
    if let Some(single) = single.filter(|single| !single.is_empty()) {
        return single_condition(single, object);
    }
    match present(rule, "multiMatch") {
        Some(rule) => multi_match(rule, object),
        None => healthy(UNKNOWN, "Unknown", ""),
    }
}

/// Whether a run of an immutable template is healthy: `True`, `False` or `Unknown`. Without a rule
/// it is.
pub fn run_health(rule: &Value, object: &Value) -> &'static str {
    if rule.is_null() {
        return TRUE;
    }
    match resource_health(rule, None, Some(object)).status.as_ref() {
        TRUE => TRUE,
        FALSE => FALSE,
        _ => UNKNOWN,
    }
}

/// Why a run that has this name, health and message is not healthy; `None` if it is.
pub fn run_problem(name: &str, health: &str, message: &str) -> Option<String> {
    let what = match health {
        TRUE => return None,
        FALSE => "is not healthy",
        _ => "is not healthy yet",
    };
    let why = match message.is_empty() {
        true => String::new(),
        false => format!(": {message}"),
    };
    Some(format!("the run `{name}` {what}{why}"))
}

/// The condition `ResourcesHealthy` of an owner from the entries of its `status.resources`.
pub fn owner_health(
    resources: &[Value],
    previous: &[StatusCondition],
    now: &str,
) -> StatusCondition {
    let previous = find_condition(previous, RESOURCES_HEALTHY);
    let mut collector = ConditionCollector::new(RESOURCES_HEALTHY, Vec::new(), now);
    for resource in resources {
        let conditions = conditions_of(resource.get("conditions").unwrap_or(&Value::Null));
        if let Some(condition) = find_condition(&conditions, HEALTHY) {
            collector.add(condition.clone());
        }
    }
    let mut condition = collector.finish().conditions.pop().unwrap_or_else(|| {
        StatusCondition::new(RESOURCES_HEALTHY, UNKNOWN, "HealthyConditionRule", "")
    });
    condition.reason = "HealthyConditionRule".into();
    if let Some(previous) = previous {
        let unchanged = StatusCondition {
            last_transition_time: previous.last_transition_time.clone(),
            ..condition.clone()
        };
        if unchanged == *previous {
            return unchanged;
        }
    }
    condition
}

fn healthy(status: &str, reason: &str, message: &str) -> StatusCondition {
    StatusCondition::new(HEALTHY, status, reason, message)
}

fn present<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|value| !value.is_null())
}

fn without_rule(realized: Option<&Value>) -> StatusCondition {
    let Some(realized) = realized else {
        return healthy(UNKNOWN, "NoResource", "");
    };
    let outputs = realized.get("outputs").and_then(Value::as_list);
    if outputs.is_some_and(|outputs| !outputs.is_empty()) {
        return healthy(TRUE, "OutputsAvailable", "");
    }
    let template = realized.get("templateRef").unwrap_or(&Value::Null);
    let text = |key: &str| template.get(key).and_then(Value::as_text);
    let has_no_outputs = text("kind") == Some("ClusterTemplate")
        && text("apiVersion") == Some(crate::kinds::API_VERSION);
    match (has_no_outputs, present(realized, "stampedRef")) {
        (false, _) => healthy(UNKNOWN, "OutputNotAvailable", ""),
        (true, Some(_)) => healthy(TRUE, "AlwaysHealthy", ""),
        (true, None) => healthy(UNKNOWN, "NoStampedObject", ""),
    }
}

fn single_condition(condition_type: &str, object: &Value) -> StatusCondition {
    let reason = format!("{condition_type}Condition");
    match find_condition(&object_conditions(object), condition_type) {
        Some(found) => {
            let status = match found.status.as_ref() {
                TRUE => TRUE,
                FALSE => FALSE,
                _ => UNKNOWN,
            };
            healthy(status, &reason, &found.message)
        }
        None => {
            let message = format!("the status has no condition of the type `{condition_type}`");
            healthy(UNKNOWN, &reason, &message)
        }
    }
}

/// The conditions of an object of others. One that cannot be read hides all.
pub fn object_conditions(object: &Value) -> Vec<StatusCondition> {
    let list = object
        .get("status")
        .and_then(|status| status.get("conditions"));
    let items = list.and_then(Value::as_list).unwrap_or_default();
    if items.iter().all(is_readable) {
        items.iter().filter_map(StatusCondition::of).collect()
    } else {
        Vec::new()
    }
}

/// Whether a condition has the types of the fields that conditions of Kubernetes have.
fn is_readable(condition: &Value) -> bool {
    if condition.is_null() {
        return true;
    }
    let Some(entries) = condition.as_map() else {
        return condition.is_unknown();
    };
    entries.iter().all(|(key, value)| {
        let value = value.unmarked();
        if matches!(value, Value::Null | Value::Unknown(_)) {
            return true;
        }
        match key.as_ref() {
            "type" | "status" | "reason" | "message" => matches!(value, Value::Text(_)),
            "observedGeneration" => match value {
                Value::Int(_) => true,
                Value::Float(number) => number.fract() == 0.0,
                _ => false,
            },
            "lastTransitionTime" => {
                let text = value.as_text();
                text.is_some_and(|text| timestamps::seconds(text).is_some())
            }
            _ => true,
        }
    })
}

/// Any unhealthy matcher makes it unhealthy, and all healthy ones healthy. Conditions are looked at
/// before fields.
fn multi_match(rule: &Value, object: &Value) -> StatusCondition {
    let conditions = object_conditions(object);
    let side = |side: &str| rule.get(side).cloned().unwrap_or_default();
    let (unhealthy, good) = (side("unhealthy"), side("healthy"));
    if let Some(found) = matches(&unhealthy, object, &conditions).find_map(Result::ok) {
        return healthy(FALSE, found.reason, &found.message);
    }
    let mut found = matches(&good, object, &conditions);
    let first = found.next();
    match first {
        Some(Ok(first)) if found.all(|matched| matched.is_ok()) => {
            healthy(TRUE, first.reason, &first.message)
        }
        _ => healthy(UNKNOWN, "NoMatchesFulfilled", ""),
    }
}

/// A matcher that holds.
struct Matched {
    reason: &'static str,
    message: String,
}

/// What each matcher of a side says, in order: an error if it does not hold.
fn matches<'a>(
    side: &'a Value,
    object: &'a Value,
    conditions: &'a [StatusCondition],
) -> impl Iterator<Item = Result<Matched, ()>> + 'a {
    let list = |key: &str| side.get(key).and_then(Value::as_list).unwrap_or_default();
    let of_conditions = list("matchConditions").iter().map(|matcher| {
        let text = |key: &str| {
            matcher
                .get(key)
                .and_then(Value::as_text)
                .unwrap_or_default()
        };
        let found = find_condition(conditions, text("type")).ok_or(())?;
        if *found.status != *text("status") {
            return Err(());
        }
        Ok(Matched {
            reason: "MatchedCondition",
            message: format!("the condition is {}: {}", found.status, found.message),
        })
    });
    let of_fields = list("matchFields").iter().map(|matcher| {
        let key = matcher
            .get("key")
            .and_then(Value::as_text)
            .unwrap_or_default();
        match fields::satisfies(matcher, key, |path| path.find(object)) {
            Ok(true) => Ok(Matched {
                reason: "MatchedField",
                message: field_message(matcher, key, object),
            }),
            _ => Err(()),
        }
    });
    of_conditions.chain(of_fields)
}

fn field_message(matcher: &Value, key: &str, object: &Value) -> String {
    let path = matcher.get("messagePath").and_then(Value::as_text);
    let field = printed(key, object).unwrap_or_else(|| "absent".to_owned());
    match path.filter(|path| !path.is_empty()) {
        None => format!("the field is {field}"),
        Some(path) => match printed(path, object) {
            Some(message) => format!("the field is {field}: {message}"),
            None => format!("the field is {field}; nothing is at `{path}`"),
        },
    }
}

/// A value for a message; a secret is not shown.
fn printed(path: &str, object: &Value) -> Option<String> {
    let value = Path::parse(path).ok()?.find(object).ok()?;
    match &value {
        value if value.has_secret() || value.has_unknown() => Some(value.to_string()),
        Value::Text(text) => Some(text.to_string()),
        value => json_text(value).ok(),
    }
}

#[cfg(test)]
mod tests {
    use blueprint::Value;

    use super::{effective_rule, resource_health, run_health};

    fn object(status: Value) -> Value {
        let condition = Value::map([("type", Value::from("Succeeded")), ("status", status)]);
        let conditions = Value::map([("conditions", Value::list([condition]))]);
        Value::map([("status", conditions)])
    }

    #[test]
    fn tekton_looks_at_succeeded() {
        let spec = Value::map([("lifecycle", Value::from("tekton"))]);
        let rule = effective_rule(&Value::map([("spec", spec)]));
        assert_eq!(run_health(&rule, &object(Value::from("False"))), "False");
        assert_eq!(
            run_health(&Value::Null, &object(Value::from("False"))),
            "True"
        );
    }

    #[test]
    fn a_status_that_is_not_known_yet_is_unknown() {
        let rule = Value::map([("singleConditionType", Value::from("Succeeded"))]);
        let unknown = object(Value::unknown(None, None));
        let condition = resource_health(&rule, None, Some(&unknown));
        assert_eq!(condition.status.as_ref(), "Unknown");
        assert_eq!(condition.reason.as_ref(), "SucceededCondition");
    }
}
