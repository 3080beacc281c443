//! `cluster/kuttl`: acceptance cases of upstream. Files with one number are a step; `-assert` files
//! must match, `-errors` files must not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::judge::{RecordedStep, differences, is_subset};
use crate::pack::{area, deviations, entries, file_name, is_chosen, read_yaml, recorded_steps};
use crate::place;
use crate::tally::{CaseResult, ClusterTally};
use crate::world::World;

#[test]
fn acceptance_cases_end_as_recorded() {
    let Some(folder) = area("cluster/kuttl") else {
        return;
    };
    let mut tally = ClusterTally::new("cluster/kuttl");
    let _reserved = place::reserve();
    let deviations = deviations();
    for path in entries(&folder) {
        let name = file_name(&path).to_owned();
        if !path.is_dir() || !is_chosen(&name) {
            continue;
        }
        let left_out = deviations.get(&format!("kuttl {name}"));
        let left_out: Vec<u64> = left_out.into_iter().flatten().copied().collect();
        tally.run(&name, move || run_case(path, left_out));
    }
    tally.finish(95);
}

fn run_case(folder: PathBuf, left_out: Vec<u64>) -> CaseResult {
    place::run(async move {
        let recorded = recorded_steps(&folder.join("recorded.json"));
        let mut world = World::start().await;
        let mut result = CaseResult::default();
        let mut carried_over = BTreeSet::new();
        for (number, files) in steps_of(&folder) {
            for file in files
                .iter()
                .filter(|file| part_of(file) == FilePart::Applied)
            {
                for object in read_yaml(file) {
                    world.apply(&object).await;
                }
            }
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
            let mut found = unmet(&world, &files).await;
            found.extend(differences(&step, &objects, &events));
            let found = found.into_iter();
            let found = found.map(|(level, text)| (level, format!("step {number}: {text}")));
            result.findings.extend(found);
        }
        world.stop().await;
        result
    })
}

/// The files of each step.
fn steps_of(folder: &Path) -> BTreeMap<u64, Vec<PathBuf>> {
    let mut steps: BTreeMap<u64, Vec<PathBuf>> = BTreeMap::new();
    for path in entries(folder) {
        let name = file_name(&path);
        let number = name.split('-').next().and_then(|text| text.parse().ok());
        if let Some(number) = number.filter(|_| name.ends_with(".yaml")) {
            steps.entry(number).or_default().push(path);
        }
    }
    steps
}

/// What a file of a step is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FilePart {
    Applied,
    MustMatch,
    MustNotMatch,
}

fn part_of(file: &Path) -> FilePart {
    let name = file_name(file);
    match () {
        () if name.ends_with("-assert.yaml") => FilePart::MustMatch,
        () if name.ends_with("-errors.yaml") => FilePart::MustNotMatch,
        () => FilePart::Applied,
    }
}

/// The assertions of a step that do not hold.
async fn unmet(world: &World, files: &[PathBuf]) -> Vec<(u8, String)> {
    let mut unmet = Vec::new();
    for file in files {
        let part = part_of(file);
        if part == FilePart::Applied {
            continue;
        }
        for wanted in read_yaml(file) {
            let candidates = world.candidates(&wanted).await;
            let matched = candidates.iter().any(|object| is_subset(&wanted, object));
            if matched != (part == FilePart::MustMatch) {
                let name = file_name(file);
                unmet.push((
                    1,
                    format!("{name}: {} {}", title(&wanted), verdict(matched)),
                ));
            }
        }
    }
    unmet
}

fn title(object: &Json) -> String {
    let name = object["metadata"]["name"].as_str().unwrap_or("*");
    format!("{}/{name}", object["kind"].as_str().unwrap_or_default())
}

fn verdict(matched: bool) -> &'static str {
    match matched {
        true => "matches",
        false => "does not match",
    }
}
