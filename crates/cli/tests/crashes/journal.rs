//! Tests that kill the binary and then truncate its journal, so that the last records are lost too.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::kills::{Rng, SEED};
use crate::place::Place;

const RESOURCES: usize = 40;

/// The number of truncated journals.
const CUTS: u32 = 20;

fn document(resources: usize) -> String {
    let resource = |at: usize| {
        let uses = at
            .checked_sub(4)
            .map_or("1".to_owned(), |used| format!("'${{r{used}.spec.id}}'"));
        format!("  r{at}: {{type: test/data, spec: {{input: {uses}, delayMs: 10}}}}\n")
    };
    format!(
        "version: 2023-04-20\nresources:\n{}",
        (0..resources).map(resource).collect::<String>()
    )
}

/// Returns the ids of the resources in the simulated cloud, each with its place.
fn cloud(place: &Place) -> BTreeMap<String, String> {
    let mut there = BTreeMap::new();
    if !place.has(".cyan/state.world") {
        return there;
    }
    for line in place.read(".cyan/state.world").lines() {
        // A killed process may have written half of its last line.
        let Ok(line) = serde_json::from_str::<Json>(line) else {
            continue;
        };
        if let Some(object) = line["created"].get(0) {
            let text = |name: &str| object[name].as_str().unwrap().to_owned();
            there.insert(text("id"), text("place"));
        }
        if let Some(id) = line["gone"].as_str() {
            there.remove(id);
        }
    }
    there
}

/// Even then, a provider that honours tokens creates nothing twice: a repeated plan gives a call
/// the same token.
#[test]
fn truncated_journal_after_a_kill_creates_nothing_twice() {
    println!("moments and lengths drawn from {SEED}");
    let mut draw = Rng(SEED);
    let (mut cut, mut behind, mut runs) = (0, 0, 0);
    while cut < CUTS {
        runs += 1;
        assert!(runs < 4 * CUTS, "of {runs} runs {cut} left a journal");
        let place = Place::with("shop.blueprint.yaml", &document(1));
        // The tokens of all calls derive from the first commit. This run writes that commit to the
        // file.
        place.ends(0, &["deploy", "--yes"]);
        place.write("shop.blueprint.yaml", document(RESOURCES));
        // With more calls at once, all intents would be committed before the first resource exists.
        let mut command = place.cyan(&["deploy", "--yes", "--parallelism", "2"]);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let enough = 1 + draw.next() as usize % (RESOURCES - 2);
        let begun = Instant::now();
        while cloud(&place).len() < enough {
            assert!(begun.elapsed().as_secs() < 60, "the run makes nothing");
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let journal = place.path().join(".cyan/state.db-wal");
        let Ok(bytes) = std::fs::read(&journal) else {
            continue;
        };
        let length = draw
            .within(Duration::from_nanos(bytes.len() as u64))
            .as_nanos() as usize;
        std::fs::write(&journal, &bytes[..length]).unwrap();
        cut += 1;
        let listed = place.run(&["list", "--json"]);
        assert!(listed.code <= 1, "{}{}", listed.out, listed.err);
        let made = cloud(&place).len();
        place.run(&["unlock", "--yes"]);
        let went_on = place.ends(0, &["deploy", "--yes"]);
        let created: usize = went_on
            .last_line()
            .split(' ')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        behind += usize::from(created + made > RESOURCES);
        let there = cloud(&place);
        let mut places: Vec<&String> = there.values().collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(
            (there.len(), places.len()),
            (RESOURCES, RESOURCES),
            "cut to {length} of {}: {there:?}",
            bytes.len()
        );
        assert_eq!(
            place.ends(0, &["stage"]).last_line(),
            "0 to create, 0 to update, 0 to delete"
        );
        place.ends(0, &["destroy", "--yes"]);
        assert!(cloud(&place).is_empty(), "{:?}", cloud(&place));
    }
    println!("{cut} journals were cut; {behind} times the state knew less than the world");
    assert!(
        behind > 1,
        "{behind} times the state knew less than the world"
    );
}
