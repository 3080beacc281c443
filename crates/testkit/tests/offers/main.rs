//! What providers offer besides resources, from the document to the plan and beyond: custom types of variables,
//! functions, data sources, transforms.

mod children;
mod custom_types;
mod data_sources;
mod functions;
mod limits;
mod links;
mod metadata;
mod transforms;

use std::collections::BTreeMap;
use std::sync::Arc;

use blueprint::{IndexMap, Name, Value};
use engine::{Given, Options};
use provider::Catalog;
use testkit::harness::{Harness, Stage};

/// Runs on one thread with a virtual clock: waiting costs no time.
fn lately<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime can be had").block_on(work)
}

/// A laboratory with the simulated provider `test`, and others of these catalogues. Must be made inside a runtime.
fn harness(catalogs: &[&str]) -> Harness {
    let catalog = |text: &&str| -> Arc<Catalog> { Arc::new(provider::read_catalog(text).expect("a catalogue")) };
    Harness::new(std::env::temp_dir(), catalogs.iter().map(catalog).collect())
}

/// Inputs as they are given on the command line.
fn given(text: &[(&str, &str)]) -> Given {
    let text: IndexMap<Name, Name> = text.iter().map(|(name, value)| (Name::from(*name), Name::from(*value))).collect();
    Given { text, ..Given::default() }
}

/// The codes of everything that was reported, each with its line, in order.
fn codes(stage: &Stage) -> Vec<String> {
    let line = |it: &diag::Diagnostic| stage.files.get(it.span().file).map(|file| file.position(it.span().start).line);
    stage
        .diagnostics
        .iter()
        .map(|it| match line(it).filter(|_| it.span().is_some()) {
            Some(line) => format!("{} {line}", it.code.name),
            None => it.code.name.to_owned(),
        })
        .collect()
}

/// The exports that a plan leads to; panics with what was reported where there is no plan.
fn exports(stage: &Stage) -> BTreeMap<String, Value> {
    let Some(staged) = &stage.staged else { panic!("no plan: {:?}", codes(stage)) };
    let exports = staged.plan.exports.iter();
    exports.filter_map(|export| Some((export.name.to_string(), export.after.clone()?))).collect()
}

async fn stage(harness: &Harness, text: &str, given: Given) -> Stage {
    harness.stage("case.yaml", text, given, Options::default()).await
}
