//! Runs all tests and counts them.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::build_tool::cargo;
use crate::kubernetes::{self, Cluster};
use crate::{counterparts, kubernetes_programs, openstack, plugins, servers};

/// The sum of the summaries of the test programs.
#[derive(Debug, Default, PartialEq, Eq)]
struct TestTally {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl TestTally {
    /// Adds a line such as `test result: ok. 12 passed; 0 failed; 1 ignored; ...`; ignores other
    /// lines.
    fn add(&mut self, line: &str) {
        let Some((_, counts)) = line
            .strip_prefix("test result: ")
            .and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for part in counts.split(';') {
            let Some((number, word)) = part.trim().split_once(' ') else {
                continue;
            };
            let Ok(number) = number.parse::<u64>() else {
                continue;
            };
            match word {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

/// The variable with the seeds of the simulation, and the seeds in a run of all tests.
const TRACES: (&str, &str) = ("CYAN_SEEDS", "0..10000");

/// The variable with the seed of random tests.
const SEED: &str = "PROPTEST_RNG_SEED";

/// Runs every test of the workspace with the documentation examples. Returns whether all passed.
/// The last line on stdout is `N passed, N failed`.
///
/// # Errors
/// If `cargo` cannot be started.
pub(crate) fn test(root: &Path, arguments: &[String]) -> Result<bool, std::io::Error> {
    counterparts::prepare();
    // The cloud takes longest to start, so it starts while the others and the tests are built.
    let cloud = openstack::start_in_background(root);
    let plugins = build_all(root, arguments)?;
    let servers = servers::start(root);
    let cluster = kubernetes::start(root)
        .inspect_err(|error| println!("missing: a cluster of Kubernetes: {error}"))
        .ok();
    // With a fixed seed, a test that fails on one machine fails on every machine.
    let seed = std::env::var(SEED).unwrap_or_else(|_| "20230420".to_owned());
    println!("random tests start with {SEED}={seed}");
    let cloud_variables = cloud
        .wait()
        .inspect_err(|error| println!("missing: a cloud of OpenStack: {error}"));
    let mut child = Command::new(cargo())
        .current_dir(root)
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(arguments)
        .env(SEED, seed)
        .env(
            TRACES.0,
            std::env::var(TRACES.0).unwrap_or_else(|_| TRACES.1.to_owned()),
        )
        .envs(servers.variables())
        .envs(plugins)
        .envs(cluster.iter().flat_map(Cluster::variables))
        .envs(cloud_variables.into_iter().flatten())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut tally = TestTally::default();
    if let Some(stdout) = child.stdout.take() {
        let mut here = std::io::stdout().lock();
        // The output of tests need not be UTF-8. It is passed on unchanged.
        let mut reader = BufReader::new(stdout);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            here.write_all(&line)?;
            tally.add(String::from_utf8_lossy(&line).trim_end());
            line.clear();
        }
        here.flush()?;
    }
    let status = child.wait()?;
    if let Some(report) = cloud.end() {
        println!("{report}");
    }
    // A test program that does not compile, or ends before its summary, adds nothing to the tally.
    if !status.success() && tally.failed == 0 {
        tally.failed = 1;
    }
    if tally.ignored > 0 {
        println!("{} ignored", tally.ignored);
    }
    println!("{} passed, {} failed", tally.passed, tally.failed);
    Ok(tally.failed == 0)
}

/// Builds the tests and the programs that they talk to. Returns the variables of the plugins. A
/// program that cannot be built is reported here, or when it is to be started.
///
/// # Errors
/// If `cargo` cannot be started.
fn build_all(
    root: &Path,
    arguments: &[String],
) -> Result<Vec<(&'static str, String)>, std::io::Error> {
    // Rust and Go both have long stretches that keep only one processor busy.
    std::thread::scope(|scope| {
        let programs = scope.spawn(|| {
            let plugins = plugins::build(root);
            // Those of the cluster take longest, and its start finds them.
            let _ = kubernetes_programs::build(root);
            plugins
        });
        build_tests(root, arguments)?;
        let panicked = |_| std::io::Error::other("the thread that builds programs panicked");
        programs.join().map_err(panicked)
    })
}

/// Builds the tests without running them. A failure is not reported: the run that follows meets it
/// again, and counts it.
///
/// # Errors
/// If `cargo` cannot be started.
fn build_tests(root: &Path, arguments: &[String]) -> Result<(), std::io::Error> {
    // What follows `--` is for the test programs.
    let for_cargo = arguments.iter().take_while(|argument| *argument != "--");
    Command::new(cargo())
        .current_dir(root)
        .args(["test", "--workspace", "--no-run"])
        .args(for_cargo)
        .stdout(Stdio::null())
        .status()
        .map(|_| ())
}

/// Kills the real binary N times (2,000 by default) at random moments. Returns whether all promises
/// held.
///
/// # Errors
/// If `cargo` cannot be started.
pub(crate) fn crashes(root: &Path, arguments: &[String]) -> Result<bool, std::io::Error> {
    let kills = arguments.first().map_or("2000", String::as_str);
    let mut command = Command::new(cargo());
    command.current_dir(root).args([
        "test",
        "--package",
        "cli",
        "--test",
        "crashes",
        "kills",
        "--",
        "--nocapture",
    ]);
    Ok(command.env("CYAN_CRASH_KILLS", kills).status()?.success())
}

/// Checks the traces of a million seeds, or of `N` or `FROM..TO`, in a fast build. Returns whether
/// all pass.
///
/// # Errors
/// If `cargo` cannot be started.
pub(crate) fn simulate(root: &Path, arguments: &[String]) -> Result<bool, std::io::Error> {
    let seeds = arguments.first().map_or("1000000", String::as_str);
    let seeds = if seeds.contains("..") {
        seeds.to_owned()
    } else {
        format!("0..{seeds}")
    };
    let mut command = Command::new(cargo());
    command.current_dir(root).args([
        "test",
        "--profile",
        "profiling",
        "--package",
        "testkit",
        "--test",
        "simulation",
    ]);
    command.args(["every_trace", "--", "--nocapture"]);
    Ok(command.env(TRACES.0, seeds).status()?.success())
}

/// Runs the tidy checks alone. Returns whether all pass.
///
/// # Errors
/// If `cargo` cannot be started.
pub(crate) fn tidy(root: &Path) -> Result<bool, std::io::Error> {
    run(root, &["--package", "xtask", "--test", "tidy"], false)
}

/// Rewrites the reference pages.
///
/// # Errors
/// If `cargo` cannot be started.
pub(crate) fn docs(root: &Path) -> Result<bool, std::io::Error> {
    run(
        root,
        &["--package", "xtask", "--test", "tidy", "generated"],
        true,
    )
}

/// Rewrites the records that tests compare with: reference pages, README output, scenario records.
///
/// # Errors
/// If `cargo` cannot be started.
pub(crate) fn accept(root: &Path) -> Result<bool, std::io::Error> {
    let mut written = run(
        root,
        &["--package", "xtask", "--test", "tidy", "generated"],
        true,
    )?;
    written &= run(root, &["--package", "testkit", "--test", "scenarios"], true)?;
    written &= run(root, &["--package", "cli", "--test", "pages"], true)?;
    println!("read the changes (`git diff`) before you commit them");
    Ok(written)
}

fn run(root: &Path, arguments: &[&str], accept: bool) -> Result<bool, std::io::Error> {
    let mut command = Command::new(cargo());
    command
        .current_dir(root)
        .args(["test", "--quiet"])
        .args(arguments);
    if accept {
        command.env("CYAN_ACCEPT", "1");
    }
    Ok(command.status()?.success())
}

#[cfg(test)]
mod tests {
    use super::TestTally;

    #[test]
    fn summaries_add_up_and_other_lines_do_not() {
        let mut tally = TestTally::default();
        tally.add("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s");
        tally.add("test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s");
        tally.add("test conformance ... ok");
        tally.add("99 passed");
        assert_eq!(
            tally,
            TestTally {
                passed: 15,
                failed: 2,
                ignored: 1
            }
        );
    }
}
