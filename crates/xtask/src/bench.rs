//! Benchmarks of whole processes: `bench/bench.py` on a build as it is distributed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build_tool::{cargo, target};
use crate::plugins;

/// The default arguments of `bench.py`.
const USUAL: [&str; 6] = [
    "--shape",
    "wide,layered,chain,each,modules,links",
    "--n",
    "1000,10000",
    "--reps",
    "3",
];

/// The client that makes the calls of a deployment without `cyan`.
const BARE_CLIENT: &str = "bare_client";

/// Builds the binary, measures it, and writes the tables with a description of the machine to
/// `bench/latest.md`. Returns whether every phase had the expected result.
///
/// # Errors
/// If a program cannot be started or the report cannot be written.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<bool, std::io::Error> {
    let Some(target) = build(root)? else {
        return Ok(false);
    };
    let bench = root.join("bench");
    let results = target.join("bench.json");
    let script = |with: &[&str]| {
        let mut command = Command::new("python3");
        command.current_dir(&bench).arg("bench.py").args(with);
        command
    };

    let mut measure = script(&["--tool", "ours"]);
    measure
        .arg("--bin")
        .arg(format!("ours={}", target.join("dist/cyan").display()));
    measure.arg("--out").arg(&results);
    if arguments.is_empty() {
        measure.args(USUAL)
    } else {
        measure.args(arguments)
    };
    let measured = measure.status()?.success();

    let mut report = format!("# Latest figures\n\n{}\n", machine());
    for field in ["wall", "cpu", "rss_mb"] {
        let table = script(&["--summary"])
            .arg(&results)
            .args(["--field", field])
            .output()?;
        report.push_str(&format!(
            "\n## {field}\n\n{}\n",
            String::from_utf8_lossy(&table.stdout).trim_end()
        ));
    }
    fs::write(bench.join("latest.md"), report)?;
    println!("written: bench/latest.md");
    let failed = fs::read_to_string(&results)?.contains("\"failed\":");
    Ok(measured && !failed)
}

/// Builds the binary, measures the tables of bench/performance.md and writes them; returns whether
/// every target is met. What belongs to Pulumi is left out, aloud, if its programs cannot be built.
///
/// # Errors
/// If a program cannot be started.
pub(crate) fn performance(root: &Path, arguments: &[String]) -> Result<bool, std::io::Error> {
    let Some(target) = build(root)? else {
        return Ok(false);
    };
    let client = Command::new(cargo())
        .current_dir(root)
        .args([
            "build",
            "--profile",
            "dist",
            "--package",
            "pulumi_host",
            "--example",
        ])
        .arg(BARE_CLIENT)
        .status()?;
    if !client.success() {
        return Ok(false);
    }
    let mut command = Command::new("python3");
    command
        .current_dir(root.join("bench"))
        .envs(plugins::build(root))
        .arg("performance.py")
        .arg("--bare-client")
        .arg(target.join("dist/examples").join(BARE_CLIENT));
    command
        .arg("--bin")
        .arg(target.join("dist/cyan"))
        .arg("--work")
        .arg(&target);
    Ok(command
        .arg("--page")
        .arg(root.join("bench/performance.md"))
        .args(arguments)
        .status()?
        .success())
}

/// Builds the binary with the profile `dist`. Returns the build folder, or `None` if it does not compile.
fn build(root: &Path) -> Result<Option<PathBuf>, std::io::Error> {
    let built = Command::new(cargo())
        .current_dir(root)
        .args(["build", "--profile", "dist", "--package", "cli"])
        .status()?;
    Ok(built.success().then(|| target(root)))
}

/// The processor, cores, memory and kernel of this machine. Figures of different machines cannot be
/// compared.
fn machine() -> String {
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let models: Vec<&str> = processor
        .lines()
        .filter_map(|line| {
            line.strip_prefix("model name")?
                .split_once(':')
                .map(|(_, name)| name.trim())
        })
        .collect();
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let gib = memory
        .lines()
        .find_map(|line| {
            line.strip_prefix("MemTotal:")?
                .trim()
                .strip_suffix(" kB")?
                .parse::<u64>()
                .ok()
        })
        .map_or(0, |kib| kib.div_ceil(1 << 20));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "Machine: {} x {}, {gib} GiB, {} {}.",
        models.len(),
        models.first().unwrap_or(&"unknown processor"),
        std::env::consts::OS,
        kernel.trim(),
    )
}
