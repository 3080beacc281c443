//! Mutation testing: starts the example `mutants`.

use std::path::Path;
use std::process::Command;

use crate::build_tool::cargo;

/// Runs the example `mutants` of `testkit` with these arguments. Returns whether it succeeded.
///
/// # Errors
/// If `cargo` cannot be started.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<bool, std::io::Error> {
    let mut command = Command::new(cargo());
    command.current_dir(root).args([
        "run",
        "--quiet",
        "--package",
        "testkit",
        "--example",
        "mutants",
        "--",
    ]);
    Ok(command.args(arguments).status()?.success())
}
