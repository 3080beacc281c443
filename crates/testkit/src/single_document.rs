//! Short forms for tests that stage one document on simulated catalogues.
//!
//! Not here: further processes, faults and children (`harness`).

use std::collections::BTreeMap;
use std::sync::Arc;

use blueprint::{IndexMap, Name, Value};
use engine::{Given, Options};
use provider::Catalog;

use crate::harness::{Harness, StageResult};

/// A harness with the simulated provider `test`, and with simulations of further catalogues. Panics
/// outside of a runtime.
pub fn harness(catalogs: &[&str]) -> Harness {
    let catalog = |text: &&str| -> Arc<Catalog> {
        Arc::new(provider::read_catalog(text).expect("a catalogue"))
    };
    Harness::new(std::env::temp_dir(), catalogs.iter().map(catalog).collect())
}

/// The inputs as on the command line.
pub fn given(text: &[(&str, &str)]) -> Given {
    let text: IndexMap<Name, Name> = text
        .iter()
        .map(|(name, value)| (Name::from(*name), Name::from(*value)))
        .collect();
    Given {
        text,
        ..Given::default()
    }
}

/// The codes of all diagnostics in order, each with its line.
pub fn codes(stage: &StageResult) -> Vec<String> {
    let line = |it: &diag::Diagnostic| {
        stage
            .files
            .get(it.span().file)
            .map(|file| file.position(it.span().start).line)
    };
    stage
        .diagnostics
        .iter()
        .map(|it| match line(it).filter(|_| it.span().is_some()) {
            Some(line) => format!("{} {line}", it.code.name),
            None => it.code.name.to_owned(),
        })
        .collect()
}

/// The exports in a plan. Panics with the diagnostics if there is no plan.
pub fn exports(stage: &StageResult) -> BTreeMap<String, Value> {
    let Some(staged) = &stage.staged else {
        panic!("no plan: {:?}", codes(stage))
    };
    let exports = staged.plan.exports.iter();
    exports
        .filter_map(|export| Some((export.name.to_string(), export.after.clone()?)))
        .collect()
}

/// Stages a document.
pub async fn stage(harness: &Harness, text: &str, given: Given) -> StageResult {
    harness
        .stage("case.yaml", text, given, Options::default())
        .await
}
