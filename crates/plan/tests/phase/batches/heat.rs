//! Random groups with the results of Heat 27 in `groups.txt`: one case per line, with the requested
//! steps before the arrow and the changes of members after it; semicolons separate steps, vertical
//! bars separate batches.
//!
//! Members with random names are called `n0`, `n1`, .. in the order of creation.

use std::collections::HashMap;

use blueprint::Name;
use testkit::harness::{run_with_paused_clock, settings};

use super::{batches, harness, staged};

/// The settings of a step: `key=value`.
fn entries(step: &str) -> HashMap<&str, &str> {
    step.split_whitespace()
        .map(|entry| entry.split_once('=').expect("an entry has a value"))
        .collect()
}

fn numbered(step: &HashMap<&str, &str>) -> String {
    let removed = step.get("remove").map_or(String::new(), |names| {
        let quoted: Vec<String> = names.split(',').map(|name| format!("\"{name}\"")).collect();
        format!(
            "      removal_policies: [{{resource_list: [{}]}}]\n",
            quoted.join(", ")
        )
    });
    let mode = step.get("mode").map_or(String::new(), |mode| {
        format!("      removal_policies_mode: {mode}\n")
    });
    let mut policies = Vec::new();
    policies.extend(
        step.get("batch")
            .map(|size| format!("batch_create: {{max_batch_size: {size}}}")),
    );
    policies.extend(step.get("size").zip(step.get("keep")).map(|(size, keep)| {
        format!("rolling_update: {{max_batch_size: {size}, min_in_service: {keep}}}")
    }));
    let policy = match policies.is_empty() {
        true => String::new(),
        false => format!("    update_policy: {{{}}}\n", policies.join(", ")),
    };
    format!(
        "resources:\n  g:\n    type: OS::Heat::ResourceGroup\n    properties:\n      count: {}\n{removed}{mode}      \
         resource_def: {{type: OS::Heat::Value, properties: {{value: {}-%index%}}}}\n{policy}",
        step["count"], step["def"],
    )
}

fn scaling_group_template(step: &HashMap<&str, &str>) -> String {
    let of = |key: &str, usual: &str| {
        step.get(key)
            .map_or(usual.to_owned(), |value| (*value).to_owned())
    };
    let wanted = step.get("desired").map_or(String::new(), |wanted| {
        format!("      desired_capacity: {wanted}\n")
    });
    let rolling = step
        .get("size")
        .zip(step.get("keep"))
        .map_or(String::new(), |(size, keep)| {
            format!("      rolling_updates: {{max_batch_size: {size}, min_in_service: {keep}}}\n")
        });
    format!(
        "resources:\n  g:\n    type: OS::Heat::AutoScalingGroup\n    properties:\n      min_size: {}\n      max_size: {}\n\
         {wanted}{rolling}      resource: {{type: OS::Heat::Value, properties: {{value: {}}}}}\n",
        of("min", "0"),
        of("max", "20"),
        step["def"],
    )
}

/// The changes in a canonical order, with the member names of the file.
fn shown(done: &[Vec<(char, Name)>], drawn: Option<&HashMap<Name, usize>>) -> String {
    let rank = |what: char| "+~-".find(what);
    let batches = done.iter().map(|batch| {
        let mut batch: Vec<(Option<usize>, usize, char, String)> = batch
            .iter()
            .map(|(what, name)| match drawn {
                Some(drawn) => (rank(*what), drawn[name], *what, format!("n{}", drawn[name])),
                None => (
                    rank(*what),
                    name.parse().unwrap_or(0),
                    *what,
                    name.to_string(),
                ),
            })
            .collect();
        batch.sort();
        batch
            .into_iter()
            .map(|(.., what, name)| format!("{what}{name}"))
            .collect::<Vec<_>>()
            .join(" ")
    });
    let shown: Vec<String> = batches.collect();
    if shown.is_empty() {
        "nothing".to_owned()
    } else {
        shown.join(" / ")
    }
}

async fn run_case(line: &str) -> String {
    let (asked, _) = line.split_once(" => ").expect("a line has an arrow");
    let (kind, asked) = asked
        .split_once(": ")
        .expect("a line says what kind of group");
    let harness = harness();
    let mut all = Vec::new();
    let mut drawn: HashMap<Name, usize> = HashMap::new();
    for step in asked.split("; ") {
        let step = entries(step);
        let text = if kind == "aged" {
            scaling_group_template(&step)
        } else {
            numbered(&step)
        };
        let staged = staged(&harness, &text).await;
        let done = batches(&staged);
        for (_, name) in done.iter().flatten().filter(|(what, _)| *what == '+') {
            let next = drawn.len();
            drawn.entry(name.clone()).or_insert(next);
        }
        all.push(shown(&done, (kind == "aged").then_some(&drawn)));
        harness
            .run(staged, false, Vec::new(), settings(None, false))
            .await;
    }
    format!("{kind}: {asked} => {}", all.join("; "))
}

#[test]
fn batches_equal_those_of_heat() {
    let mut differ = Vec::new();
    for line in include_str!("groups.txt").lines() {
        let ours = run_with_paused_clock(run_case(line));
        if ours != line {
            differ.push(format!(
                "heat {line}\nours {}",
                ours.split_once(" => ").map_or("", |(_, ours)| ours)
            ));
        }
    }
    assert!(
        differ.is_empty(),
        "{} differ:\n{}",
        differ.len(),
        differ.join("\n")
    );
}
