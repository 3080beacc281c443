//! Go, which builds programs that tests talk to.

use std::io;
use std::process::{Command, Stdio};

/// The file name of a program.
pub(crate) fn executable(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

/// Runs Go. Sets the variables that the user may have set for another project.
///
/// # Errors
/// If Go cannot be started or fails.
pub(crate) fn go(command: &mut Command) -> io::Result<()> {
    command
        .env("GOFLAGS", "-mod=readonly")
        .env("GO111MODULE", "on")
        .env("GOWORK", "off")
        .env("CGO_ENABLED", "0");
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).output();
    let output =
        output.map_err(|error| io::Error::other(format!("`go` cannot be started: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(
        text.trim()
            .lines()
            .last()
            .unwrap_or("`go` failed and says nothing")
            .to_owned(),
    ))
}
