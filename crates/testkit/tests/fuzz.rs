//! Every target of the fuzzer for a bounded while: its kept corpus, then so many mutated inputs from a fixed seed.
//!
//! `cargo xtask fuzz TARGET` looks for longer.

use testkit::fuzz::{self, Failure, TARGETS};

/// The seed of the suite.
const SEED: u64 = 20_230_420;

#[track_caller]
fn hold(name: &str) {
    let target = fuzz::target(name).expect("there is such a target");
    // What is tried may panic thousands of times while it is shrunk: the last words are enough.
    match fuzz::run(target, target.cases, SEED, &mut |_| {}) {
        Ok(report) => assert!(report.replayed > 0 && report.new > 1, "{name} has seen nothing: {report:?}"),
        Err(Failure { input, said, case }) => panic!(
            "{name}, case {case}: {said}\nthe shrunk input: {:?}\n{}",
            String::from_utf8_lossy(&input),
            "keep it in `fuzz/corpus` once it is mended"
        ),
    }
}

macro_rules! targets {
    ($($test:ident: $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                hold($name);
            }
        )*

        #[test]
        fn every_target_is_tried() {
            let tried = [$($name),*];
            let all: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(tried.as_slice(), all.as_slice());
        }
    };
}

targets! {
    yaml: "yaml",
    json: "json",
    expression: "expression",
    layout: "layout",
    document: "document",
    deploy: "deploy",
    plan_file: "plan-file",
    exported: "exported",
    journal: "journal",
    database: "database",
    log: "log",
}
