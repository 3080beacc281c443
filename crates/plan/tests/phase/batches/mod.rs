//! Rolling groups: Heat's batches, pauses, temporary members, and what happens when a run fails or
//! is interrupted.

mod heat;
mod life;

use std::path::PathBuf;
use std::sync::Arc;

use blueprint::Name;
use engine::{Action, Given, Options, Staged};
use testkit::harness::{Harness, StageResult};

fn harness() -> Harness {
    Harness::with(
        PathBuf::from("/nowhere"),
        Vec::new(),
        vec![Arc::new(openstack::heat::provider())],
    )
}

/// Stages a template. Adds the version line.
async fn stage(harness: &Harness, text: &str) -> StageResult {
    let text = format!("heat_template_version: wallaby\n{text}");
    harness
        .stage("main.yaml", &text, Given::default(), Options::default())
        .await
}

async fn staged(harness: &Harness, text: &str) -> Staged {
    let stage = stage(harness, text).await;
    let said: Vec<String> = stage
        .diagnostics
        .iter()
        .map(|one| format!("{}: {}", one.code.name, one.message))
        .collect();
    stage.staged.unwrap_or_else(|| panic!("{said:?}\n{text}"))
}

/// The changes of members of `g` by batch: `+` created, `~` updated or replaced, `-` deleted.
fn batches(staged: &Staged) -> Vec<Vec<(char, Name)>> {
    let mut all: Vec<Vec<(char, Name)>> = Vec::new();
    for step in &staged.plan.steps {
        let what = match step.action {
            Action::Create => '+',
            Action::Update | Action::Replace => '~',
            Action::Delete => '-',
            _ => continue,
        };
        let number = step.batch.map_or(1, |batch| batch.number) as usize;
        all.resize(all.len().max(number), Vec::new());
        all[number - 1].push((what, step.address.name.clone()));
        if step.temporary {
            let last = step.batch.and_then(|batch| batch.until).unwrap_or(1) as usize;
            all.resize(all.len().max(last), Vec::new());
            all[last - 1].push(('-', step.address.name.clone()));
        }
    }
    all.into_iter().filter(|batch| !batch.is_empty()).collect()
}

/// The names of the existing members.
async fn members(harness: &Harness) -> Vec<String> {
    let snapshot = harness.snapshot().await;
    let there = snapshot
        .records
        .iter()
        .filter(|(_, record)| !record.id.is_empty());
    let mut names: Vec<String> = there.map(|(address, _)| address.name.to_string()).collect();
    names.sort();
    names
}
