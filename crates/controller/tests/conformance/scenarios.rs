//! `cluster/scenarios`: steps with applied objects, statuses of foreign controllers, deletions and
//! restarts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value as Json;

use crate::judge::{RecordedStep, differences};
use crate::pack::{area, deviations, entries, file_name, is_chosen, read_yaml, recorded_steps};
use crate::place;
use crate::tally::{CaseResult, ClusterTally};
use crate::world::World;

#[test]
fn scenarios_end_as_recorded() {
    let Some(folder) = area("cluster/scenarios") else {
        return;
    };
    let mut tally = ClusterTally::new("cluster/scenarios");
    let _reserved = place::reserve();
    let deviations = deviations();
    for path in entries(&folder) {
        let Some(name) = file_name(&path).strip_suffix(".yaml").map(str::to_owned) else {
            continue;
        };
        if !is_chosen(&name) {
            continue;
        }
        let left_out = deviations.get(&format!("scenario {name}"));
        let left_out: Vec<u64> = left_out.into_iter().flatten().copied().collect();
        let recorded = folder.join(format!("{name}.recorded.json"));
        tally.run(&name, move || run_case(path, recorded, left_out));
    }
    tally.finish(95);
}

fn run_case(path: PathBuf, recorded: PathBuf, left_out: Vec<u64>) -> CaseResult {
    place::run(async move {
        let recorded = recorded_steps(&recorded);
        let steps = steps_of(&path);
        let mut world = World::start().await;
        let mut result = CaseResult::default();
        let mut carried_over = BTreeSet::new();
        for (number, done) in (1..).zip(&steps) {
            carry_out(&mut world, done).await;
            world.settle().await;
            let (objects, events) = world.normal_form().await;
            let Some(recorded) = recorded.get(&number) else {
                continue;
            };
            let step = RecordedStep {
                recorded,
                carried_over: &carried_over,
                collects_garbage: world.collects_garbage(),
            };
            if left_out.contains(&number) {
                carried_over = step.further(&objects);
                continue;
            }
            result.judged += 1;
            let found = differences(&step, &objects, &events);
            let found = found.into_iter();
            let found = found.map(|(level, text)| (level, format!("step {number}: {text}")));
            result.findings.extend(found);
        }
        world.stop().await;
        result
    })
}

fn steps_of(path: &Path) -> Vec<Json> {
    let documents = read_yaml(path);
    let steps = documents[0]["steps"].as_array();
    steps.expect("a scenario has steps").clone()
}

async fn carry_out(world: &mut World, step: &Json) {
    let entries = |name: &str| {
        let entries = step[name].as_array().into_iter().flatten();
        entries.cloned().collect::<Vec<_>>()
    };
    for object in entries("apply") {
        let object = world.names.actual(&object);
        world.apply(&object).await;
    }
    for patch in entries("patch") {
        let patch = world.names.actual(&patch);
        world.patch(&patch, &patch["patch"], "").await;
    }
    for status in entries("status") {
        let status = world.names.actual(&status);
        let part = serde_json::json!({"status": status["status"]});
        world.patch(&status, &part, "/status").await;
    }
    for object in entries("delete") {
        let object = world.names.actual(&object);
        world.delete(&object).await;
    }
    if step["restart"].as_bool() == Some(true) {
        world.restart().await;
    }
    if let Some(seconds) = step["pause"].as_u64() {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }
}
