//! The output of `cargo metadata` for the workspace and its dependencies.

use std::process::Command;

use serde_json::Value;

/// Returns the packages of the workspace with their direct dependencies.
pub(crate) fn ours() -> Vec<Value> {
    packages(&["--no-deps"]).expect("`cargo metadata` describes this workspace")
}

/// Returns all packages, also those of the workspace: for all platforms if their packages are
/// downloaded, otherwise for this platform only.
pub(crate) fn all() -> Vec<Value> {
    let host = Command::new(env!("CARGO"))
        .args(["-vV"])
        .output()
        .expect("cargo says its version");
    let host = String::from_utf8_lossy(&host.stdout);
    let host = host
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .expect("cargo knows its host");
    packages(&[])
        .or_else(|| packages(&["--filter-platform", host]))
        .expect("`cargo metadata` describes what is built here")
}

fn packages(arguments: &[&str]) -> Option<Vec<Value>> {
    let output = Command::new(env!("CARGO"))
        .current_dir(crate::root())
        .args(["metadata", "--format-version", "1", "--offline"])
        .args(arguments)
        .output()
        .expect("cargo runs these tests, so it can be started");
    if !output.status.success() {
        return None;
    }
    let mut answer: Value = serde_json::from_slice(&output.stdout).expect("the answer is JSON");
    match answer["packages"].take() {
        Value::Array(packages) => Some(packages),
        _ => None,
    }
}

/// Returns a text field of a package.
pub(crate) fn text<'a>(package: &'a Value, key: &str) -> &'a str {
    package[key].as_str().unwrap_or_default()
}
