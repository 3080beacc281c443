//! The instructions of each phase of the engine, counted by callgrind, which does not depend on the
//! load of the machine.
//!
//! Each phase runs in process on a layered document of two sizes. A phase fails if it needs over 10
//! % more instructions than `bench/instructions.json` records, or if the instructions for each
//! resource grow with the document.

use std::collections::BTreeMap;
use std::io::Error;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::build_tool::{cargo, target};

/// The phases of `examples/phases.rs`, in their order.
const PHASES: [&str; 6] = [
    "load",
    "check",
    "plan first",
    "apply first",
    "plan again",
    "destroy",
];

/// The sizes, in resources.
const SIZES: [u64; 2] = [500, 4_000];

/// The largest allowed increase over the recorded count, in percent.
const MORE: u64 = 10;

/// The largest allowed increase for each resource from the small to the large document, in percent.
/// Logarithmic steps need some.
const GROWTH: u64 = 25;

/// Instructions for each resource, by phase, at each size.
type InstructionCounts = BTreeMap<String, Vec<u64>>;

/// Counts and compares with the recorded counts; with `--write` records the new counts. Returns
/// whether all pass.
///
/// # Errors
/// If valgrind or python3 is missing, or the program does not run.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<bool, Error> {
    let built = Command::new(cargo())
        .current_dir(root)
        .args([
            "build",
            "--quiet",
            "--profile",
            "profiling",
            "--package",
            "testkit",
            "--example",
            "phases",
        ])
        .status()?;
    if !built.success() {
        return Ok(false);
    }
    let target = target(root);
    let work = target.join("instructions");
    std::fs::create_dir_all(&work)?;
    let mut counts = InstructionCounts::new();
    for size in SIZES {
        let document = work.join(size.to_string());
        let made = Command::new("python3")
            .arg(root.join("bench/gen.py"))
            .args([
                "--emit",
                "blueprint",
                "--shape",
                "layered",
                "--n",
                &size.to_string(),
                "--out",
            ])
            .arg(&document)
            .stdout(Stdio::null())
            .status()?;
        if !made.success() {
            return Err(Error::other("bench/gen.py did not make a document"));
        }
        let count = |phase: &str| {
            until(
                &target.join("profiling/examples/phases"),
                &document.join("main.yaml"),
                &work,
                phase,
            )
        };
        let mut before = count("catalogs")?;
        for phase in PHASES {
            // Instructions between two phases belong to the second phase.
            let now = count(phase)?;
            counts
                .entry(phase.to_owned())
                .or_default()
                .push(now.saturating_sub(before) / size);
            before = now;
        }
    }
    let recorded = root.join("bench/instructions.json");
    if arguments.iter().any(|argument| argument == "--write") {
        std::fs::write(&recorded, format!("{}\n", shown(&counts)))?;
    }
    let known: BTreeMap<String, Vec<u64>> =
        read(&std::fs::read_to_string(&recorded).unwrap_or_default());
    Ok(compare(&counts, &known))
}

/// Returns the instructions of the program up to the end of a phase.
fn until(program: &Path, document: &Path, work: &Path, phase: &str) -> Result<u64, Error> {
    let out = work.join("callgrind.out");
    let status = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program)
        .arg(document)
        .args(["-", phase])
        .stdout(Stdio::null())
        .status()
        .map_err(|error| {
            Error::new(
                error.kind(),
                "valgrind is needed: install the package of that name",
            )
        })?;
    let text = std::fs::read_to_string(&out)?;
    let total = text.lines().find_map(|line| {
        line.strip_prefix("totals: ")
            .or_else(|| line.strip_prefix("summary: "))
    });
    match total
        .and_then(|total| total.trim().parse().ok())
        .filter(|_| status.success())
    {
        Some(total) => Ok(total),
        None => Err(Error::other(format!("nothing was counted until `{phase}`"))),
    }
}

/// Writes the counts as JSON, one phase a line.
fn shown(counts: &InstructionCounts) -> String {
    let lines: Vec<String> = PHASES
        .iter()
        .filter_map(|phase| Some((phase, counts.get(*phase)?)))
        .map(|(phase, at)| {
            let at: Vec<String> = at.iter().map(u64::to_string).collect();
            format!("  \"{phase}\": [{}]", at.join(", "))
        })
        .collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}

/// Reads the output of [`shown`]. Ignores other lines.
fn read(text: &str) -> InstructionCounts {
    let line = |line: &str| {
        let (phase, at) = line.trim().trim_end_matches(',').split_once(": ")?;
        let at = at
            .trim_matches(['[', ']'])
            .split(", ")
            .map(str::parse)
            .collect::<Result<Vec<u64>, _>>()
            .ok()?;
        Some((phase.trim_matches('"').to_owned(), at))
    };
    text.lines().filter_map(line).collect()
}

/// Prints the counts beside the recorded ones. Returns whether all pass.
fn compare(counts: &InstructionCounts, known: &InstructionCounts) -> bool {
    let mut passed = true;
    println!(
        "instructions for each resource, of {} and {} in layers; recorded counts in brackets",
        SIZES[0], SIZES[1]
    );
    for phase in PHASES {
        let (Some(now), before) = (counts.get(phase), known.get(phase)) else {
            continue;
        };
        let mut wrong = Vec::new();
        if let [small, large] = now[..]
            && large * 100 > small * (100 + GROWTH)
        {
            wrong.push("grows faster than the document");
        }
        let more = |before: &Vec<u64>| {
            now.iter()
                .zip(before)
                .any(|(now, before)| now * 100 > before * (100 + MORE))
        };
        match before {
            Some(before) if more(before) => wrong.push("more than recorded"),
            Some(_) => {}
            None => wrong.push("not recorded yet: --write"),
        }
        passed &= wrong.is_empty();
        println!(
            "  {phase:<12} {now:?} ({:?}) {}",
            before.map_or(&[][..], Vec::as_slice),
            wrong.join(", ")
        );
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(load: [u64; 2]) -> InstructionCounts {
        PHASES
            .iter()
            .map(|phase| {
                (
                    (*phase).to_owned(),
                    if *phase == "load" {
                        load.to_vec()
                    } else {
                        vec![5, 5]
                    },
                )
            })
            .collect()
    }

    #[test]
    fn counts_are_written_and_read() {
        assert_eq!(
            read(&shown(&counts([10_000, 11_000]))),
            counts([10_000, 11_000])
        );
    }

    #[test]
    fn ten_percent_more_fails_and_growth_fails() {
        let known = counts([1_000, 1_000]);
        assert!(compare(&known, &known));
        assert!(compare(&counts([1_090, 1_090]), &known));
        assert!(
            !compare(&counts([1_000, 1_110]), &known),
            "more than recorded"
        );
        assert!(!compare(&counts([700, 900]), &known), "less, but growing");
        assert!(
            !compare(&known, &InstructionCounts::new()),
            "nothing is recorded"
        );
    }
}
