//! Instructions that the heart needs, counted by callgrind: they are the same on a busy machine.
//!
//! Each phase is counted in process, on a document of layers, at two sizes. It must not need a tenth more than is written in
//! `bench/instructions.json`, nor more for each resource of a large document than of a small one.

use std::collections::BTreeMap;
use std::io::Error;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::suite::{cargo, target};

/// The phases of `examples/phases.rs`, in their order.
const PHASES: [&str; 6] = ["load", "check", "plan first", "apply first", "plan again", "destroy"];

/// The sizes, in resources.
const SIZES: [u64; 2] = [500, 4_000];

/// So much more than was written is too much, in hundredths.
const MORE: u64 = 10;

/// For each resource of a large document so much more than of a small one is too much, in hundredths. What has a logarithm in it
/// needs some.
const GROWTH: u64 = 25;

/// Instructions for each resource, by phase, at each size.
type Counts = BTreeMap<String, Vec<u64>>;

/// Counts, and holds what came against what is written; with `--write` it is written instead. Whether all is well.
///
/// # Errors
/// If valgrind or python3 is not there, or the program does not run.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<bool, Error> {
    let built = Command::new(cargo())
        .current_dir(root)
        .args(["build", "--quiet", "--profile", "profiling", "--package", "testkit", "--example", "phases"])
        .status()?;
    if !built.success() {
        return Ok(false);
    }
    let target = target(root);
    let work = target.join("instructions");
    std::fs::create_dir_all(&work)?;
    let mut counts = Counts::new();
    for size in SIZES {
        let document = work.join(size.to_string());
        let made = Command::new("python3")
            .arg(root.join("bench/gen.py"))
            .args(["--emit", "blueprint", "--shape", "layered", "--n", &size.to_string(), "--out"])
            .arg(&document)
            .stdout(Stdio::null())
            .status()?;
        if !made.success() {
            return Err(Error::other("bench/gen.py did not make a document"));
        }
        let count =
            |phase: &str| until(&target.join("profiling/examples/phases"), &document.join("main.yaml"), &work, phase);
        let mut before = count("catalogs")?;
        for phase in PHASES {
            // What comes between two phases is the second one's.
            let now = count(phase)?;
            counts.entry(phase.to_owned()).or_default().push(now.saturating_sub(before) / size);
            before = now;
        }
    }
    let written = root.join("bench/instructions.json");
    if arguments.iter().any(|argument| argument == "--write") {
        std::fs::write(&written, format!("{}\n", shown(&counts)))?;
    }
    let known: BTreeMap<String, Vec<u64>> = read(&std::fs::read_to_string(&written).unwrap_or_default());
    Ok(judged(&counts, &known))
}

/// How many instructions the program needs until a phase is over.
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
        .map_err(|error| Error::new(error.kind(), "valgrind is needed: install the package of that name"))?;
    let text = std::fs::read_to_string(&out)?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: ").or_else(|| line.strip_prefix("summary: ")));
    match total.and_then(|total| total.trim().parse().ok()).filter(|_| status.success()) {
        Some(total) => Ok(total),
        None => Err(Error::other(format!("nothing was counted until `{phase}`"))),
    }
}

/// The counts as JSON, a phase to a line.
fn shown(counts: &Counts) -> String {
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

/// What [`shown`] wrote; lines that are none of it say nothing.
fn read(text: &str) -> Counts {
    let line = |line: &str| {
        let (phase, at) = line.trim().trim_end_matches(',').split_once(": ")?;
        let at = at.trim_matches(['[', ']']).split(", ").map(str::parse).collect::<Result<Vec<u64>, _>>().ok()?;
        Some((phase.trim_matches('"').to_owned(), at))
    };
    text.lines().filter_map(line).collect()
}

/// Prints the counts beside those that are written; whether none is too much.
fn judged(counts: &Counts, known: &Counts) -> bool {
    let mut well = true;
    println!("instructions for each resource, of {} and {} in layers; written in brackets", SIZES[0], SIZES[1]);
    for phase in PHASES {
        let (Some(now), before) = (counts.get(phase), known.get(phase)) else { continue };
        let mut wrong = Vec::new();
        if let [small, large] = now[..]
            && large * 100 > small * (100 + GROWTH)
        {
            wrong.push("grows faster than the document");
        }
        let more = |before: &Vec<u64>| now.iter().zip(before).any(|(now, before)| now * 100 > before * (100 + MORE));
        match before {
            Some(before) if more(before) => wrong.push("more than is written"),
            Some(_) => {}
            None => wrong.push("not written yet: --write"),
        }
        well &= wrong.is_empty();
        println!("  {phase:<12} {now:?} ({:?}) {}", before.map_or(&[][..], Vec::as_slice), wrong.join(", "));
    }
    well
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(load: [u64; 2]) -> Counts {
        PHASES
            .iter()
            .map(|phase| ((*phase).to_owned(), if *phase == "load" { load.to_vec() } else { vec![5, 5] }))
            .collect()
    }

    #[test]
    fn what_is_written_is_read_back() {
        assert_eq!(read(&shown(&counts([10_000, 11_000]))), counts([10_000, 11_000]));
    }

    #[test]
    fn a_tenth_more_is_too_much_and_so_is_growth() {
        let known = counts([1_000, 1_000]);
        assert!(judged(&known, &known));
        assert!(judged(&counts([1_090, 1_090]), &known));
        assert!(!judged(&counts([1_000, 1_110]), &known), "more than is written");
        assert!(!judged(&counts([700, 900]), &known), "less, but growing");
        assert!(!judged(&known, &Counts::new()), "nothing is written");
    }
}
