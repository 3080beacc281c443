//! Every fuzz target with its corpus and a fixed number of mutated inputs from a fixed seed.
//!
//! `cargo xtask fuzz TARGET` runs more inputs.

use testkit::fuzz::{self, FuzzFailure, TARGETS};

/// The seed of the test suite.
const SEED: u64 = 20_230_420;

#[track_caller]
fn check(name: &str) {
    let target = fuzz::target(name).expect("there is such a target");
    match fuzz::run(target, target.cases, SEED, &mut |_| {}) {
        Ok(report) => assert!(
            report.replayed > 0 && report.new > 1,
            "{name} saw no behaviour: {report:?}"
        ),
        Err(FuzzFailure {
            input,
            message,
            case,
        }) => panic!(
            "{name}, case {case}: {message}\nthe shrunk input: {:?}\n{}",
            String::from_utf8_lossy(&input),
            "fix the cause and add the input to `fuzz/corpus`"
        ),
    }
}

macro_rules! targets {
    ($($test:ident: $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                check($name);
            }
        )*

        #[test]
        fn every_target_has_a_test() {
            let tested = [$($name),*];
            let all: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(tested.as_slice(), all.as_slice());
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
    terraform_value: "terraform-value",
}
