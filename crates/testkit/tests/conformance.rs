//! The conformance packs: runs every case and compares the number of passing cases with the
//! recorded minimum.

use std::path::PathBuf;

use testkit::conformance::{KINDS, run, run_some};

/// The minimum of passing cases of each kind in the project's copy of the pack. The minimum is
/// never lowered.
const THRESHOLDS: [(&str, usize); 6] = [
    ("functions", 287),
    ("syntax", 75),
    ("validation", 234),
    ("stage", 66),
    ("deploy", 45),
    ("modules", 21),
];

#[test]
fn conformance() {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/blueprint");
    let named = std::env::var_os("CYAN_CONFORMANCE_BLUEPRINT").map(PathBuf::from);
    let pack = named.clone().unwrap_or(own);
    let mut below = Vec::new();
    let mut lines = Vec::new();
    for kind in KINDS {
        let tally = match run(&pack, kind) {
            Ok(tally) => tally,
            Err(broken) => panic!("the pack is broken: {broken}"),
        };
        for failure in &tally.failures {
            println!("{failure}");
        }
        lines.push(format!(
            "blueprint conformance {kind}: {} of {}",
            tally.passed, tally.all
        ));
        let threshold = THRESHOLDS
            .iter()
            .find(|(name, _)| *name == kind)
            .map_or(0, |(_, least)| *least);
        if tally.passed < threshold {
            below.push(format!(
                "{kind}: {} pass, {threshold} did before",
                tally.passed
            ));
        }
    }
    for line in lines {
        println!("{line}");
    }
    if named.is_none() {
        assert!(
            below.is_empty(),
            "cases that passed before fail now: {below:?}"
        );
    }
}

/// Whether a list names a case or its group, which is the first word of its name.
fn is_named(names: &str, case: &str) -> bool {
    let group = case.split('_').next().unwrap_or_default();
    names
        .split(',')
        .map(str::trim)
        .any(|name| name == case || name == group)
}

/// The minimum of passing templates of Heat in the project's copy of the pack. The minimum is never
/// lowered.
const TEMPLATES: usize = 310;

#[test]
fn hot_conformance() {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/hot");
    let named = std::env::var_os("CYAN_CONFORMANCE_HOT").map(PathBuf::from);
    let pack = named.clone().unwrap_or(own);
    // `CYAN_CASES=group,case` selects cases.
    let some = std::env::var("CYAN_CASES").ok();
    let tally = match run_some(&pack, "hot", &|case| {
        some.as_deref().is_none_or(|names| is_named(names, case))
    }) {
        Ok(tally) => tally,
        Err(broken) => panic!("the pack is broken: {broken}"),
    };
    for failure in &tally.failures {
        println!("{}", failure.strip_prefix("hot ").unwrap_or(failure));
    }
    let (said, messages) = tally.messages.counts();
    println!("hot messages: {said} of {messages}");
    println!("hot conformance: {} of {}", tally.passed, tally.all);
    if named.is_none() && some.is_none() {
        assert!(
            tally.passed >= TEMPLATES,
            "{} pass, {TEMPLATES} did before",
            tally.passed
        );
    }
}

/// The minimum of passing proposed values in the project's copy of the pack. The minimum is never
/// lowered.
const PROPOSED: usize = 198;

/// Compares the value proposed to a Terraform provider with the one that Terraform proposes.
#[test]
fn terraform_conformance() {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/terraform");
    let named = std::env::var_os("CYAN_CONFORMANCE_TERRAFORM").map(PathBuf::from);
    let pack = named.clone().unwrap_or(own);
    let tally = match run(&pack, "proposed") {
        Ok(tally) => tally,
        Err(broken) => panic!("the pack is broken: {broken}"),
    };
    for failure in &tally.failures {
        println!("{failure}");
    }
    println!(
        "terraform conformance proposed: {} of {}",
        tally.passed, tally.all
    );
    if named.is_none() {
        assert!(
            tally.passed >= PROPOSED,
            "{} pass, {PROPOSED} did before",
            tally.passed
        );
    }
}

/// The areas of the pack of Pulumi YAML, with the minimum of passing cases. The minimum is never
/// lowered.
const PULUMI_AREAS: [(&str, usize); 21] = [
    ("programs/interp", 81),
    ("programs/fn", 131),
    ("programs/config", 42),
    ("programs/options", 84),
    ("programs/resource", 81),
    ("programs/order", 30),
    ("programs/invoke", 52),
    ("programs/types", 259),
    ("programs/load", 109),
    ("programs/seed", 23),
    ("programs/unknown", 26),
    ("programs/stackref", 13),
    ("programs/packages", 11),
    ("programs/config compat", 83),
    ("programs/fn compat", 2),
    ("programs/interp compat", 2),
    ("programs/load compat", 7),
    ("programs/seed compat", 5),
    ("std", 254),
    ("corpus", 185),
    ("stack-config", 77),
];

/// Programs of Pulumi YAML with the answers of pulumi-yaml 1.38, the package `std`, real programs, and
/// files of stacks. The pack stands beside the project.
#[test]
fn pulumi_conformance() {
    let beside = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/conformance/pulumi"
    );
    let named = std::env::var_os("CYAN_CONFORMANCE_PULUMI").map(PathBuf::from);
    let pack = named.clone().unwrap_or_else(|| PathBuf::from(beside));
    if !pack.is_dir() {
        println!(
            "skipped: there is no pack of Pulumi YAML at {}",
            pack.display()
        );
        return;
    }
    let some = std::env::var("CYAN_CASES").ok();
    let mut below = Vec::new();
    let mut lines = Vec::new();
    for (area, least) in PULUMI_AREAS {
        let chosen = |case: &str| {
            some.as_deref()
                .is_none_or(|names| names.split(',').any(|name| name == case))
        };
        let tally = match run_some(&pack, area, &chosen) {
            Ok(tally) => tally,
            Err(broken) => panic!("the pack is broken: {broken}"),
        };
        for failure in &tally.failures {
            println!("{failure}");
        }
        let (passed, all) = (tally.passed, tally.all);
        lines.push(format!("pulumi conformance {area}: {passed} of {all}"));
        if passed < least {
            below.push(format!("{area}: {passed} pass, {least} did before"));
        }
    }
    for line in lines {
        println!("{line}");
    }
    if named.is_none() && some.is_none() {
        assert!(
            below.is_empty(),
            "cases that passed before fail now: {below:?}"
        );
    }
}

/// Further templates with the answers of Heat 27.0.1: all of them pass.
#[test]
fn hot_further_conformance() {
    let pack = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/hot-further");
    let tally = match run(&pack, "hot") {
        Ok(tally) => tally,
        Err(broken) => panic!("the pack is broken: {broken}"),
    };
    assert!(tally.failures.is_empty(), "{}", tally.failures.join("\n"));
    println!("hot further: {} of {}", tally.passed, tally.all);
    assert!(tally.all > 0);
}

/// A physical name starts with the name of its stack at every depth.
#[test]
fn physical_names_start_with_the_name_of_their_stack() {
    let folder = tempfile::tempdir().unwrap();
    let inner = "heat_template_version: 2018-08-31\nresources: {v: {type: OS::Heat::Value, properties: {value: 1}}}\n\
                 outputs: {id: {value: {get_resource: v}}, stack: {value: {get_param: \"OS::stack_name\"}}}\n";
    let outer = "heat_template_version: 2018-08-31\nresources: {n: {type: inner.yaml}}\n\
                 outputs: {id: {value: {get_attr: [n, id]}}, stack: {value: {get_attr: [n, stack]}}}\n";
    let root = "heat_template_version: 2018-08-31\nresources: {m: {type: outer.yaml}}\n\
                outputs: {id: {value: {get_attr: [m, id]}}, stack: {value: {get_attr: [m, stack]}}}\n";
    for (name, text) in [("inner.yaml", inner), ("outer.yaml", outer)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let exports = runtime.block_on(async {
        let heat = std::sync::Arc::new(openstack::heat::provider());
        let harness =
            testkit::harness::Harness::with(folder.path().to_owned(), Vec::new(), vec![heat]);
        let stage = harness
            .stage("root.yaml", root, Default::default(), Default::default())
            .await;
        let staged = stage.staged.expect("it can be staged");
        harness
            .run(
                staged,
                false,
                Vec::new(),
                testkit::harness::settings(None, false),
            )
            .await;
        harness.snapshot().await.exports
    });
    let text = |name: &str| exports[name].as_text().unwrap().to_owned();
    assert!(
        text("id").starts_with(&format!("{}-v-", text("stack"))),
        "{exports:?}"
    );
}
