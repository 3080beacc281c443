//! The licences of the crates in the binary. Most of them want their text in every copy.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

use super::project::metadata;

/// How the names of files with licences begin.
const BEGINNINGS: [&str; 5] = ["COPYING", "COPYRIGHT", "LICENCE", "LICENSE", "NOTICE"];

/// Returns the licences of all crates that the binary is made of: a list of the crates, then each
/// text once with the crates that have it.
///
/// # Errors
/// If the crates cannot be listed or a file cannot be read.
pub(crate) fn licences(root: &Path) -> io::Result<String> {
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let metadata = metadata(
        root,
        &["--filter-platform", &platform, "--features", "cli/full"],
    )?;
    let used = used(&metadata);
    let mut list = String::from("This program contains these crates:\n\n");
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let packages = metadata["packages"].as_array();
    let mut rows = BTreeSet::new();
    for package in packages.into_iter().flatten() {
        let text = |name: &str| package[name].as_str().unwrap_or_default();
        // A package of the workspace has no source.
        if package["source"].is_null() || !used.contains(text("id")) {
            continue;
        }
        let name = format!("{} {}", text("name"), text("version"));
        rows.insert(format!("{name}: {}\n", text("license")));
        let folder = Path::new(text("manifest_path")).parent();
        for entry in fs::read_dir(folder.unwrap_or(root))? {
            let entry = entry?;
            let file = entry.file_name().to_string_lossy().to_uppercase();
            if BEGINNINGS.iter().any(|start| file.starts_with(start)) && entry.path().is_file() {
                let bytes = fs::read(entry.path())?;
                let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
                let text = text.trim_end().to_owned();
                texts.entry(text).or_default().insert(name.clone());
            }
        }
    }
    list.extend(rows);
    for (text, names) in texts {
        let names: Vec<String> = names.into_iter().collect();
        let rule = "-".repeat(80);
        list.push_str(&format!("\n{rule}\n{}\n\n{text}\n", names.join(", ")));
    }
    Ok(list)
}

/// Returns the ids of the packages that the crate `cli` needs when it runs.
fn used(metadata: &Value) -> BTreeSet<&str> {
    let nodes: BTreeMap<&str, &Value> = metadata["resolve"]["nodes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let first = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|package| package["name"] == "cli")
        .and_then(|package| package["id"].as_str());
    let mut used = BTreeSet::new();
    let mut next: Vec<&str> = first.into_iter().collect();
    while let Some(id) = next.pop() {
        if !used.insert(id) {
            continue;
        }
        let dependencies = nodes.get(id).and_then(|node| node["deps"].as_array());
        for dependency in dependencies.into_iter().flatten() {
            let kinds = dependency["dep_kinds"].as_array();
            let mut kinds = kinds.into_iter().flatten();
            // Those of tests and of builds are named.
            if kinds.any(|kind| kind["kind"].is_null()) {
                next.extend(dependency["pkg"].as_str());
            }
        }
    }
    used
}
