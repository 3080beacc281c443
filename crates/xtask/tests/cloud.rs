//! What `cyan` makes of templates on a real cloud: eight templates, compared with the states that
//! real Heat left when they were recorded, and five kills.
//!
//! Not here: real Heat, and the other templates. `cargo xtask cloud` compares all of them.

use std::path::Path;
use std::process::Command;

/// Templates that together have the types that most users need.
const CHOSEN: [&str; 8] = [
    "network", "group", "optional", "nested", "security", "router", "volume", "server",
];

/// Kills spread over the templates by this number.
const KILLS: &str = "5";

#[ignore = "the states are recorded on another cloud: run `cargo xtask cloud`"]
#[test]
fn templates_leave_the_states_that_heat_leaves_also_after_kills() {
    let Some(clouds) = std::env::var_os("CYAN_TEST_CLOUDS") else {
        let all = std::env::var_os("CYAN_TEST_ALL").is_some();
        assert!(!all, "the cloud of OpenStack is missing");
        eprintln!("skipped: CYAN_TEST_CLOUDS names no cloud of OpenStack");
        return;
    };
    // The tests of the crate `cli` have it built beside this program.
    let program = Path::new(env!("CARGO_BIN_EXE_xtask")).with_file_name("cyan");
    assert!(program.exists(), "build it first: cargo build -p cli");
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command
        .args(["cloud", "--recorded", "--kills", KILLS, "--clouds"])
        .arg(clouds);
    command.arg("--cyan").arg(program);
    for name in CHOSEN {
        command.args(["--only", name]);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    // The lines with its times are for the log.
    eprint!("{text}");
    assert!(output.status.success(), "{text}{errors}");
    let kills = format!("openstack: {KILLS} kills, nothing lost, doubled or left");
    assert!(text.lines().any(|line| line == kills), "{text}");
}
