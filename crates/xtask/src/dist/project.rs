//! What packages say about the project: the facts of `Cargo.toml`.

use std::io;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::build_tool::cargo;

/// The facts of the crate with the binary.
pub(crate) struct Project {
    /// The name of the binary and of every package.
    pub(crate) name: String,
    pub(crate) version: String,
    /// An expression of SPDX.
    pub(crate) licence: String,
    /// One line.
    pub(crate) description: String,
    pub(crate) authors: String,
}

impl Project {
    /// Reads the facts from `cargo metadata`.
    ///
    /// # Errors
    /// If `cargo` fails, a fact is missing, or the version is no release.
    pub(crate) fn read(root: &Path) -> io::Result<Self> {
        let metadata = metadata(root, &["--no-deps"])?;
        let packages = metadata["packages"].as_array();
        let package = packages
            .into_iter()
            .flatten()
            .find(|package| package["name"] == "cli")
            .ok_or_else(|| io::Error::other("the workspace has no crate `cli`"))?;
        let fact = |value: &Value, name: &str| {
            let text = value.as_str().filter(|text| !text.is_empty());
            text.map(str::to_owned)
                .ok_or_else(|| io::Error::other(format!("Cargo.toml of `cli` has no {name}")))
        };
        let binary = package["targets"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|target| target["kind"][0] == "bin")
            .unwrap_or(&Value::Null);
        let version = fact(&package["version"], "version")?;
        // Python, npm and Debian order other versions in different ways.
        if version.contains(['-', '+']) {
            return Err(io::Error::other(format!("`{version}` is no release")));
        }
        Ok(Self {
            name: fact(&binary["name"], "binary")?,
            version,
            licence: fact(&package["license"], "licence")?,
            description: fact(&package["description"], "description")?,
            authors: fact(&package["authors"][0], "author")?,
        })
    }
}

/// Returns the output of `cargo metadata`.
///
/// # Errors
/// If `cargo` cannot be started or fails.
pub(crate) fn metadata(root: &Path, arguments: &[&str]) -> io::Result<Value> {
    let output = Command::new(cargo())
        .current_dir(root)
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(arguments)
        .output()?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("`cargo metadata`: {reason}")));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
