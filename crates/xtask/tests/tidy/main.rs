//! The rules of this repository that the compiler does not check. Each check says what to do when
//! it fails.
//!
//! The checks are ordinary tests, so that every run of the tests includes them. `cargo xtask tidy`
//! runs them alone.

mod arrows;
mod citations;
mod codes;
mod core;
mod cycles;
mod files;
mod generated;
mod generated_heat;
mod implementations;
mod licences;
mod metadata;
mod reliability;
mod rust_source;
mod sizes;
mod specification;
mod type_names;

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("this crate is two folders down")
        .to_path_buf()
}

/// Reads a file of the repository.
fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the files below a folder of the repository with an ending, as sorted paths from the
/// root. Empty if there is no such folder.
fn files_under(folder: &str, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.map(|entry| entry.expect("the folder can be read").path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.to_string_lossy().ends_with(ending) {
                let path = entry
                    .strip_prefix(root())
                    .expect("it was found under the root");
                found.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

/// Returns the sorted names of the folders in a folder of the repository.
fn folders_in(folder: &str) -> Vec<String> {
    let entries =
        fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("the folder can be read"))
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Fails if there are findings, with a sentence that says what to do and one line for each finding.
#[track_caller]
fn none(findings: &[String], what_to_do: &str) {
    assert!(
        findings.is_empty(),
        "{what_to_do}\n  {}\n",
        findings.join("\n  ")
    );
}
