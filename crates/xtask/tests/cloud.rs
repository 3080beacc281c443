//! What `cyan` makes of templates on a real cloud: eight templates, compared with the states that
//! real Heat left when they were recorded, and five kills; and two stacks of real Heat that are taken
//! over.
//!
//! Not here: the other templates and stacks. `cargo xtask cloud` has all of them.

use std::path::Path;
use std::process::Command;

/// Templates that together have the types that most users need.
const CHOSEN: [&str; 8] = [
    "network", "group", "optional", "nested", "security", "router", "volume", "server",
];

/// Kills spread over the templates by this number.
const KILLS: &str = "5";

/// Runs `cargo xtask cloud` on the cloud of the tests. Returns what it prints; `None` if there is no
/// cloud.
#[expect(
    clippy::print_stderr,
    reason = "the times are for the log, and a test that is skipped says so"
)]
fn run_on_cloud(arguments: &[&str]) -> Option<String> {
    let Some(clouds) = std::env::var_os("CYAN_TEST_CLOUDS") else {
        let all = std::env::var_os("CYAN_TEST_ALL").is_some();
        assert!(!all, "the cloud of OpenStack is missing");
        eprintln!("skipped: CYAN_TEST_CLOUDS names no cloud of OpenStack");
        return None;
    };
    // The tests of the crate `cli` have it built beside this program.
    let program = Path::new(env!("CARGO_BIN_EXE_xtask")).with_file_name("cyan");
    assert!(program.exists(), "build it first: cargo build -p cli");
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("cloud").args(arguments).arg("--clouds");
    command.arg(clouds).arg("--cyan").arg(program);
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    // The lines with its times are for the log.
    eprint!("{text}");
    assert!(output.status.success(), "{text}{errors}");
    Some(text)
}

#[test]
fn templates_leave_the_states_that_heat_leaves_also_after_kills() {
    let mut arguments = vec!["--recorded", "--kills", KILLS];
    arguments.extend(CHOSEN.iter().flat_map(|name| ["--only", name]));
    if let Some(text) = run_on_cloud(&arguments) {
        let kills = format!("openstack: {KILLS} kills, nothing lost, doubled or left");
        assert!(text.lines().any(|line| line == kills), "{text}");
    }
}

/// Needs Heat in the cloud.
#[test]
fn stacks_of_heat_are_taken_over_with_an_empty_plan() {
    let arguments = ["--stacks", "2", "--only", "hidden", "--only", "scaled"];
    if let Some(text) = run_on_cloud(&arguments) {
        let taken = "openstack: 2 of 2 stacks taken over with an empty plan";
        assert!(text.lines().any(|line| line == taken), "{text}");
    }
}
