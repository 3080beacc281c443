//! Dependencies between crates: compares the table of ARCHITECTURE.md with the manifests.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::metadata::{self, text};

/// A row of the table.
pub(crate) struct Row {
    pub(crate) may_use: BTreeSet<String>,
    /// Whether the crate belongs to the core, which uses no clock, randomness, environment or file
    /// system.
    pub(crate) core: bool,
}

/// The table of ARCHITECTURE.md, by crate.
pub(crate) fn table() -> BTreeMap<String, Row> {
    let page = crate::read("ARCHITECTURE.md");
    let mut rows = BTreeMap::new();
    for line in page
        .lines()
        .skip_while(|line| !line.starts_with("| crate | may use |"))
        .skip(2)
    {
        let Some(cells) = line.strip_prefix('|') else {
            break;
        };
        let cells: Vec<&str> = cells.split('|').collect();
        let may_use = quoted(cells.get(1).copied().unwrap_or_default());
        let core = cells.get(2).is_some_and(|cell| cell.trim() == "core");
        for name in quoted(cells[0]) {
            rows.insert(
                name,
                Row {
                    may_use: may_use.clone(),
                    core,
                },
            );
        }
    }
    assert!(
        !rows.is_empty(),
        "ARCHITECTURE.md has lost its table `| crate | may use | .. |`"
    );
    rows
}

/// Returns the words between backticks.
fn quoted(cell: &str) -> BTreeSet<String> {
    cell.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

#[test]
fn manifests_have_the_arrows_of_the_architecture_page() {
    let table = table();
    let packages = metadata::ours();
    let names: BTreeSet<String> = packages
        .iter()
        .map(|package| text(package, "name").to_owned())
        .collect();
    let mut findings = Vec::new();
    for name in table.keys().filter(|name| !names.contains(*name)) {
        findings.push(format!("`{name}` has a row and is no crate"));
    }
    for package in &packages {
        let from = text(package, "name");
        let Some(row) = table.get(from) else {
            findings.push(format!("`{from}` has no row"));
            continue;
        };
        let dependencies: Vec<&Value> = package["dependencies"]
            .as_array()
            .into_iter()
            .flatten()
            .collect();
        let is_dev = |dependency: &Value| text(dependency, "kind") == "dev";
        let uses_testkit = dependencies
            .iter()
            .any(|it| is_dev(it) && text(it, "name") == "testkit");
        let uses_scripts = dependencies
            .iter()
            .any(|it| is_dev(it) && text(it, "name") == "cluster_scripts");
        for dependency in dependencies {
            let to = text(dependency, "name");
            // Tests on the harness name types of the crates that the harness is made of.
            let for_tests = matches!(
                to,
                "testkit" | "contract_tests" | "local_cluster" | "cluster_scripts"
            ) || uses_scripts && to == "diag"
                || uses_testkit && table["testkit"].may_use.contains(to);
            let allowed = row.may_use.contains(to) || is_dev(dependency) && for_tests;
            if names.contains(to) && !allowed {
                findings.push(format!("`{from}` -> `{to}`"));
            }
        }
    }
    crate::none(
        &findings,
        "take the dependency out of the manifest; or, if the arrow is right, add it to the table of ARCHITECTURE.md and \
         say why in the commit",
    );
}

#[test]
fn crates_lie_in_folders_of_their_names() {
    let packages = metadata::ours();
    let names: BTreeSet<&str> = packages
        .iter()
        .map(|package| text(package, "name"))
        .collect();
    let folders = crate::folders_in("crates");
    let folders: BTreeSet<&str> = folders.iter().map(String::as_str).collect();
    assert_eq!(
        names, folders,
        "a crate's folder in `crates/` has the crate's name"
    );
}
