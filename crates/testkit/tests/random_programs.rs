//! Random programs of Pulumi YAML, run by the dialect and by Pulumi's own interpreter.
//!
//! `CYAN_RANDOM_PROGRAMS` sets the number of programs, or a range of seeds such as `500..600`.

#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]
#![expect(clippy::print_stdout, reason = "the report of the comparison")]

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use testkit::conformance::{Agreement, ProgramOracle};
use testkit::random_programs::program;

fn seeds() -> Range<u64> {
    let given = std::env::var("CYAN_RANDOM_PROGRAMS").unwrap_or_else(|_| "100".to_owned());
    let (first, end) = given.split_once("..").unwrap_or(("0", &given));
    first.parse().unwrap()..end.parse().unwrap()
}

/// The program of the oracle. `None`, with a message, if it was not built.
fn oracle() -> Option<PathBuf> {
    let program = std::env::var_os("CYAN_TEST_PULUMI_ORACLE").filter(|path| !path.is_empty());
    if program.is_none() {
        assert!(
            std::env::var_os("CYAN_TEST_ALL").is_none(),
            "the oracle of Pulumi should have been built: CYAN_TEST_PULUMI_ORACLE is not set"
        );
        println!("skipped: the oracle of Pulumi is needed; `cargo xtask plugins` builds it");
    }
    program.map(PathBuf::from)
}

#[test]
fn random_programs_give_what_pulumi_gives() {
    let Some(path) = oracle() else { return };
    let mut oracle = ProgramOracle::new(&path).unwrap();
    let (mut same, mut refused, mut crashes) = (0, 0, 0);
    let mut named: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
    let mut different = Vec::new();
    let seeds = seeds();
    let all = seeds.end - seeds.start;
    for seed in seeds {
        let case = program(seed);
        match oracle.compare(&case).unwrap() {
            Agreement::Same { is_refused: false } => same += 1,
            Agreement::Same { is_refused: true } => refused += 1,
            Agreement::Crash => {
                crashes += 1;
                println!("seed {seed}: crash");
                if std::env::var_os("CYAN_SHOW_PROGRAMS").is_some() {
                    println!("case {case}");
                }
            }
            Agreement::Named(pages) => *named.entry(pages).or_default() += 1,
            Agreement::Different(difference) => {
                let text = case["files"]["Pulumi.yaml"].as_str().unwrap();
                println!("seed {seed}: {difference}");
                if std::env::var_os("CYAN_SHOW_PROGRAMS").is_some() {
                    println!("{text}\nconfig: {}", case["config"]);
                }
                different.push(seed);
            }
        }
    }
    println!("random programs: {all}; the same: {same}, refused by both: {refused}");
    println!("crashes of the interpreter: {crashes}; differences that pages name: {named:?}");
    println!("other differences: {}", different.len());
    assert!(different.is_empty(), "seeds {different:?}");
}

#[test]
fn a_seed_gives_the_same_program_each_time() {
    assert_eq!(program(7), program(7));
    assert_ne!(program(7), program(8));
}
