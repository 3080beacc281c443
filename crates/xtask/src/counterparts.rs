//! Programs on this machine that some tests use.
//!
//! A test whose program is missing reports that and passes. If the package manager can be used,
//! missing programs are installed first, so that no test is skipped.

use std::process::{Command, Stdio};

struct Counterpart {
    program: &'static str,
    package: &'static str,
    tests: &'static str,
}

const COUNTERPARTS: [Counterpart; 4] = [
    Counterpart {
        program: "sqlite3",
        package: "sqlite3",
        tests: "reading a state file with other tools",
    },
    Counterpart {
        program: "openssl",
        package: "openssl",
        tests: "keys and certificates in the form of other tools",
    },
    Counterpart {
        program: "strace",
        package: "strace",
        tests: "the number of disk syncs of a run",
    },
    Counterpart {
        program: "tmux",
        package: "tmux",
        tests: "the binary on a terminal",
    },
];

/// Installs missing programs if possible, and reports programs that remain missing.
pub(crate) fn prepare() {
    let missing: Vec<&Counterpart> = COUNTERPARTS
        .iter()
        .filter(|one| !present(one.program))
        .collect();
    if missing.is_empty() {
        return;
    }
    if is_root() && present("apt-get") {
        println!(
            "installing {}",
            missing
                .iter()
                .map(|one| one.package)
                .collect::<Vec<_>>()
                .join(", ")
        );
        let packages = missing.iter().map(|one| one.package);
        // A new machine has no list of packages yet. An outdated list may still work.
        quiet(Command::new("apt-get").args(["update", "-qq"]));
        quiet(
            Command::new("apt-get")
                .args(["install", "-y", "-qq", "--no-install-recommends"])
                .args(packages),
        );
    }
    for one in missing.iter().filter(|one| !present(one.program)) {
        println!(
            "missing: {} (package {}); skipped: {}",
            one.program, one.package, one.tests
        );
    }
}

/// Whether a folder of `PATH` has a program with this name.
pub(crate) fn present(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    })
}

/// Whether this program may install packages of the system.
pub(crate) fn is_root() -> bool {
    Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Runs a program without its output. The caller checks the result.
fn quiet(command: &mut Command) {
    let _ = command
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}
