//! Programs of this machine that some tests talk to.
//!
//! A test whose program is missing says so and passes. Where the package manager can be used, what is missing is
//! installed first, so that nothing is skipped.

use std::process::{Command, Stdio};

struct Counterpart {
    program: &'static str,
    package: &'static str,
    shows: &'static str,
}

const COUNTERPARTS: [Counterpart; 4] = [
    Counterpart { program: "sqlite3", package: "sqlite3", shows: "that a state file can be read with other tools" },
    Counterpart { program: "openssl", package: "openssl", shows: "that keys and certificates are what others take" },
    Counterpart { program: "strace", package: "strace", shows: "how often a run waits for the disk" },
    Counterpart { program: "tmux", package: "tmux", shows: "how the binary behaves on a terminal" },
];

/// Installs what is missing where that is possible, and says aloud what is not there.
pub(crate) fn prepare() {
    let missing: Vec<&Counterpart> = COUNTERPARTS.iter().filter(|one| !present(one.program)).collect();
    if missing.is_empty() {
        return;
    }
    if is_root() && present("apt-get") {
        println!("installing {}", missing.iter().map(|one| one.package).collect::<Vec<_>>().join(", "));
        let packages = missing.iter().map(|one| one.package);
        // A fresh machine has no list of packages yet; a list that cannot be renewed may still do.
        quiet(Command::new("apt-get").args(["update", "-qq"]));
        quiet(Command::new("apt-get").args(["install", "-y", "-qq", "--no-install-recommends"]).args(packages));
    }
    for one in missing.iter().filter(|one| !present(one.program)) {
        println!("not here: {} (package {}); skipped: {}", one.program, one.package, one.shows);
    }
}

/// Whether a program of that name is in one of the folders of `PATH`.
pub(crate) fn present(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Runs a program without its output; whether it did its work shows in what is there afterwards.
fn quiet(command: &mut Command) {
    let _ = command
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}
