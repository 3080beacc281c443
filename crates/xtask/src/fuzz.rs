//! Long fuzzing runs: the runner of `testkit`, and libFuzzer if it is installed.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::build_tool::cargo;

/// Runs a target; then, with `--libfuzzer SECONDS`, libFuzzer on the same target. Returns whether
/// neither found a failure. Skips libFuzzer with a message if there is no nightly compiler with
/// `cargo fuzz`.
///
/// # Errors
/// If `cargo` cannot be started.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<bool, std::io::Error> {
    let at = arguments
        .iter()
        .position(|argument| argument == "--libfuzzer");
    let own = &arguments[..at.unwrap_or(arguments.len())];
    let passed = Command::new(cargo())
        .current_dir(root)
        .args([
            "run",
            "--quiet",
            "--release",
            "--package",
            "testkit",
            "--example",
            "fuzz",
            "--",
        ])
        .args(own)
        .status()?
        .success();
    let (Some(at), Some(target)) = (at, own.first()) else {
        return Ok(passed);
    };
    let seconds = arguments.get(at + 1).map_or("60", String::as_str);
    Ok(passed & libfuzzer(root, target, seconds)?)
}

fn libfuzzer(root: &Path, target: &str, seconds: &str) -> Result<bool, std::io::Error> {
    let there = Command::new("cargo")
        .args(["+nightly", "fuzz", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !there {
        println!(
            "skipped: libFuzzer needs a nightly compiler with `cargo fuzz`, and none was found"
        );
        return Ok(true);
    }
    // libFuzzer writes new inputs below the build folder and only reads the corpus.
    let found = root.join("target/fuzz").join(target);
    std::fs::create_dir_all(&found)?;
    let status = Command::new("cargo")
        .current_dir(root)
        .args(["+nightly", "fuzz", "run", target])
        .arg(&found)
        .arg(root.join("fuzz/corpus").join(target))
        .args(["--", &format!("-max_total_time={seconds}")])
        .status()?;
    Ok(status.success())
}
