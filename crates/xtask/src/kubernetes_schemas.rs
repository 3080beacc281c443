//! `cargo xtask kubernetes-schemas FOLDER` regenerates the schemas of the built-in kinds of
//! Kubernetes from the answers of an API server in a folder. `--check` compares them instead.
//!
//! Not here: starting a server; the conversion (the example `kubernetes_schemas` of `kubernetes`).

use std::io;
use std::path::Path;
use std::process::Command;

use crate::build_tool::{cargo, target};

/// The generated file.
const FILE: &str = "crates/kubernetes/src/builtin/schemas.bin";

/// Regenerates the file, or compares it. Returns `false` if the file differs or cannot be made.
pub(crate) fn run(root: &Path, arguments: &[String]) -> io::Result<bool> {
    match arguments {
        [folder] if folder != "--check" => make(root, folder, &root.join(FILE)),
        [folder, check] if check == "--check" => {
            let made = target(root).join("kubernetes-schemas.bin");
            if !make(root, folder, &made)? {
                return Ok(false);
            }
            let is_same = std::fs::read(made)? == std::fs::read(root.join(FILE))?;
            let verdict = if is_same {
                "is what the answers give"
            } else {
                "differs: run `cargo xtask kubernetes-schemas FOLDER`"
            };
            println!("{FILE} {verdict}");
            Ok(is_same)
        }
        _ => Err(io::Error::other(
            "write `cargo xtask kubernetes-schemas FOLDER`, with `--check` or without",
        )),
    }
}

fn make(root: &Path, folder: &str, out: &Path) -> io::Result<bool> {
    let folder = std::path::absolute(folder)?;
    let mut command = Command::new(cargo());
    command.current_dir(root).args([
        "run",
        "--quiet",
        "-p",
        "kubernetes",
        "--example",
        "kubernetes_schemas",
        "--",
    ]);
    Ok(command.arg(folder).arg(out).status()?.success())
}
