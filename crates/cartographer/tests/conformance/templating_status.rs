//! Health, conditions, retention and outputs of runs, as recorded.

use blueprint::Value;
use cartographer::conditions::{ConditionCollector, StatusCondition, conditions_of};
use cartographer::health::{owner_health, resource_health, run_health};
use cartographer::retention::{RunLimits, StampedRun, newest_healthy, surplus_runs};
use cartographer::run_outputs::run_outputs;

use crate::jsonpath::class as path_class;
use crate::pack::{self, Tally};
use crate::templating_output::without;
use crate::templating_stamp::at;

const NOW: &str = "2024-02-02T00:00:00Z";

fn run(area: &'static str, check: impl Fn(&Value, &Value) -> Result<(), String>) {
    let Some(cases) = pack::cases(&format!("{area}.json")) else {
        return;
    };
    let mut tally = Tally::new(area);
    for case in &cases {
        tally.count(pack::id(case), check(case, &at(case, &["expect"])));
    }
    tally.finish(98);
}

fn same(found: &Value, expected: &Value) -> Result<(), String> {
    match pack::equal(found, expected) {
        true => Ok(()),
        false => Err(format!("{found} instead of {expected}")),
    }
}

fn condition(condition: &StatusCondition, with_message: bool) -> Value {
    let hidden: &[&str] = match with_message {
        true => &["lastTransitionTime"],
        false => &["lastTransitionTime", "message"],
    };
    without(&condition.value(), hidden)
}

#[test]
fn health_is_as_recorded() {
    run("templating/health", |case, expect| {
        let rule = at(case, &["rule"]);
        let object = case.get("object");
        let health = resource_health(&rule, case.get("realized"), object);
        let expected = at(expect, &["condition"]);
        let message = at(&expected, &["message"]);
        let message = message.as_text().unwrap_or_default().to_owned();
        // The message is copied if the object has the condition.
        let copied = rule.get("singleConditionType").is_some() && !message.contains("not found");
        let expected = match copied {
            true => expected,
            false => without(&expected, &["message"]),
        };
        same(&condition(&health, copied), &expected)?;
        match (object, expect.get("immutableHealth")) {
            (Some(object), Some(expected)) => {
                same(&Value::from(run_health(&rule, object)), expected)
            }
            _ => Ok(()),
        }
    });
}

#[test]
fn health_of_owners_is_as_recorded() {
    run("templating/ownerhealth", |case, expect| {
        let resources = at(case, &["resources"]);
        let previous = conditions_of(&at(case, &["previous"]));
        let health = owner_health(resources.as_list().unwrap_or_default(), &previous, NOW);
        same(
            &condition(&health, false),
            &without(&at(expect, &["condition"]), &["message"]),
        )
    });
}

#[test]
fn conditions_are_aggregated_as_recorded() {
    run("templating/conditions", |case, expect| {
        let aggregate = at(case, &["type"]);
        let previous = conditions_of(&at(case, &["previous"]));
        let aggregate = aggregate.as_text().unwrap_or_default();
        let mut collector = ConditionCollector::new(aggregate, previous.clone(), NOW);
        for condition in conditions_of(&at(case, &["add"])) {
            collector.add(condition);
        }
        let collected = collector.finish();
        same(&Value::from(collected.changed), &at(expect, &["changed"]))?;
        let expected = at(expect, &["conditions"]);
        let expected = expected.as_list().unwrap_or_default();
        let found = collected
            .conditions
            .iter()
            .zip(expected)
            .map(|(found, expected)| {
                let kept = expected.get("timeKept").map(|_| {
                    (
                        "timeKept".into(),
                        Value::from(&*found.last_transition_time != NOW),
                    )
                });
                let found = condition(found, true);
                let entries = found
                    .as_map()
                    .into_iter()
                    .flat_map(|entries| entries.iter());
                Value::map(
                    entries
                        .map(|(key, value)| (key.clone(), value.clone()))
                        .chain(kept),
                )
            });
        same(&Value::list(found), &Value::list(expected.iter().cloned()))
    });
}

#[test]
fn surplus_runs_are_deleted_as_recorded() {
    run("templating/retention", |case, expect| {
        let objects = at(case, &["objects"]);
        let text = |object: &'_ Value, key: &str| {
            object
                .get(key)
                .and_then(Value::as_text)
                .unwrap_or_default()
                .to_owned()
        };
        let objects = objects.as_list().unwrap_or_default();
        let facts: Vec<[String; 3]> = objects
            .iter()
            .map(|object| ["name", "created", "health"].map(|key| text(object, key)))
            .collect();
        let runs: Vec<StampedRun<'_>> = facts
            .iter()
            .map(|[name, created, health]| StampedRun {
                name,
                created,
                health,
            })
            .collect();
        let name = |at: usize| Value::from(facts[at][0].as_str());
        let limits = RunLimits::of(&at(case, &["retentionPolicy"]));
        let deleted = surplus_runs(&runs, limits).into_iter().map(name);
        same(&Value::list(deleted), &at(expect, &["deleted"]))?;
        let from = newest_healthy(&runs).map(name).unwrap_or_default();
        same(&from, &at(expect, &["outputFrom"]))
    });
}

#[test]
fn outputs_of_runs_are_as_recorded() {
    run("templating/runoutputs", |case, expect| {
        let objects = at(case, &["objects"]);
        let objects: Vec<&Value> = objects.as_list().unwrap_or_default().iter().collect();
        let found = run_outputs(&at(case, &["runTemplate"]), &objects);
        same(&found.outputs, &at(expect, &["outputs"]))?;
        let from = found
            .from
            .map(|from| at(objects[from], &["metadata", "name"]));
        same(&from.unwrap_or_default(), &at(expect, &["from"]))?;
        let expected = at(expect, &["class"]);
        let classes: Vec<&str> = found
            .failures
            .iter()
            .map(|failure| path_class(failure.failure.class))
            .collect();
        match (expected.as_text(), classes.as_slice()) {
            (None, []) => Ok(()),
            (Some(expected), classes) if classes.contains(&expected) => Ok(()),
            _ => Err(format!("{classes:?} instead of {expected}")),
        }
    });
}
