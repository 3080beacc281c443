//! Runs recorded life cycles of resources of the published providers through the contract.
//!
//! `CYAN_CONFORMANCE_TERRAFORM` names another folder with the layout of `conformance/terraform`.
//! `CYAN_CASES` restricts the run to cases whose names contain its value. The last line reports how
//! many cases pass.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod host;
mod life;
mod lifecycle_cases;

use std::path::{Path, PathBuf};

use lifecycle_cases::Case;

/// The minimum of passing cases in the project's copy of the pack. It must only be raised.
const CASES: usize = 56;

/// The providers that can be built here.
const PROVIDERS: [&str; 2] = ["local", "time"];

#[tokio::test]
async fn recorded_lifecycles_pass() {
    if PROVIDERS.iter().any(|name| host::program(name).is_none()) {
        return;
    }
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/terraform");
    let named = std::env::var_os("CYAN_CONFORMANCE_TERRAFORM").map(PathBuf::from);
    let some = std::env::var("CYAN_CASES").ok();
    let pack = named.clone().unwrap_or(own).join("cases");
    let cases: Vec<Case> = read(&pack)
        .into_iter()
        .filter(|case| case.needs(&PROVIDERS))
        .collect();
    let (mut passed, mut all) = (0, 0);
    for case in cases.iter().filter(|case| {
        some.as_ref()
            .is_none_or(|part| case.id.contains(part.as_str()))
    }) {
        all += 1;
        match lifecycle_cases::run(case).await {
            Ok(()) => passed += 1,
            Err(why) => println!("{}: {why}", case.id),
        }
    }
    println!("terraform conformance cases: {passed} of {all}");
    if named.is_none() && some.is_none() {
        assert!(passed >= CASES, "{passed} pass, {CASES} did before");
    }
}

/// The cases of a pack, by name.
fn read(pack: &Path) -> Vec<Case> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for group in std::fs::read_dir(pack).unwrap() {
        paths.extend(
            std::fs::read_dir(group.unwrap().path())
                .unwrap()
                .map(|entry| entry.unwrap().path()),
        );
    }
    paths.sort();
    paths
        .iter()
        .map(|path| Case::read(&std::fs::read_to_string(path).unwrap()))
        .collect()
}
