//! A matrix of a family, a call and its course: each run is repeated until it ends. At the end the
//! objects of the plugin and the records of the state are the same, and nothing is stuck.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::lab::{FAMILIES, Lab};

/// The calls that change something.
const CALLS: [&str; 3] = ["create", "update", "delete"];

/// How a call goes on. The codes are those of gRPC.
const COURSES: [&str; 12] = [
    "refuse",
    "status:2",
    "status:9",
    "status:14",
    "die",
    "effect status:1",
    "effect status:2",
    "effect status:8",
    "effect status:10",
    "effect status:14",
    "effect die",
    "effect garbage",
];

/// The number of runs after which a resource counts as stuck.
const RUNS: usize = 6;

/// Runs one cell. Returns what is wrong.
fn run(family: &'static str, call: &str, course: &str) -> Result<(), String> {
    let lab = Lab::new(family);
    let (small, large) = ("{name: a, size: 1}", "{name: a, size: 2}");
    lab.document(&[("a", small)]);
    let command: &[&str] = match call {
        "create" => &["deploy", "-y"],
        "update" => {
            lab.deploy(0);
            lab.document(&[("a", large)]);
            &["deploy", "-y"]
        }
        _ => {
            lab.deploy(0);
            &["destroy", "-y"]
        }
    };
    lab.world.rule(call, course);
    lab.until_done(command, RUNS)?;
    let wanted = match call {
        "create" => Some(1),
        "update" => Some(2),
        _ => None,
    };
    lab.holds(wanted)?;
    if wanted.is_some() {
        lab.until_done(&["destroy", "-y"], RUNS)?;
        lab.holds(None)?;
    }
    Ok(())
}

#[test]
fn no_object_is_doubled_left_or_stuck() {
    let cells: Vec<_> = FAMILIES
        .into_iter()
        .flat_map(|family| CALLS.map(|call| (family, call)))
        .flat_map(|(family, call)| COURSES.map(|course| (family, call, course)))
        .collect();
    assert!(cells.len() >= 60);
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some((family, call, course)) =
                    cells.get(next.fetch_add(1, Ordering::SeqCst))
                {
                    if let Err(why) = run(family, call, course) {
                        let cell = format!("{family}, {call}, {course}: {why}");
                        wrong.lock().unwrap().push(cell);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{} of {} cells:\n{}",
        wrong.len(),
        cells.len(),
        wrong.join("\n")
    );
}
