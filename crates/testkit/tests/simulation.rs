//! The simulation over many numbers, and the proof that it finds engines that have a fault on purpose.
//!
//! `CYAN_SEEDS=FROM..TO` tells which stories; `cargo xtask test` tells 10,000, a plain run of this test 1,000.

#![expect(clippy::print_stderr, reason = "a long run says how far it is")]

use std::sync::atomic::{AtomicU64, Ordering};

use testkit::simulation::{Sabotage, play};

/// So many stories are told unless something else is asked for.
const STORIES: u64 = 1_000;

/// A broken engine must be found within so many stories.
const WITHIN: u64 = 1_000;

fn seeds() -> std::ops::Range<u64> {
    let Ok(given) = std::env::var("CYAN_SEEDS") else { return 0..STORIES };
    let range = given.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    range.unwrap_or_else(|| panic!("CYAN_SEEDS is to be FROM..TO, not `{given}`"))
}

/// Tells the stories of these numbers on all processors, and gives the first few that are broken.
fn broken(seeds: std::ops::Range<u64>, sabotage: Option<Sabotage>, most: usize) -> Vec<String> {
    let next = AtomicU64::new(seeds.start);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let tell = || {
            let mut found = Vec::new();
            while found.len() < most {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= seeds.end {
                    break;
                }
                if (seed - seeds.start) % 10_000 == 9_999 {
                    eprintln!("{} stories", seed - seeds.start + 1);
                }
                found.extend(play(seed, sabotage).err().map(|broken| broken.to_string()));
            }
            // Nobody needs to go on once there is enough to look at.
            if found.len() >= most {
                next.store(seeds.end, Ordering::Relaxed);
            }
            found
        };
        let work: Vec<_> = (0..threads).map(|_| scope.spawn(tell)).collect();
        work.into_iter().flat_map(|thread| thread.join().expect("a panic within a story is caught")).collect()
    })
}

#[test]
fn every_story_holds() {
    let seeds = seeds();
    let told = seeds.end - seeds.start;
    let broken = broken(seeds, None, 3);
    assert!(broken.is_empty(), "of {told} stories these are broken:\n\n{}", broken.join("\n\n"));
}

#[test]
fn every_fault_on_purpose_is_found() {
    let found = |sabotage: &Sabotage| !broken(0..WITHIN, Some(*sabotage), 1).is_empty();
    let missed: Vec<Sabotage> = Sabotage::ALL.into_iter().filter(|sabotage| !found(sabotage)).collect();
    assert!(missed.is_empty(), "{WITHIN} stories do not show {missed:?}");
}
