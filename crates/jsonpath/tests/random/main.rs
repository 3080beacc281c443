//! Random templates over random documents, evaluated here and by client-go.
//!
//! `CYAN_RANDOM_PATHS` sets the number of templates, or a range of seeds such as `500..600`.
//!
//! What is judged otherwise than by equality, and why:
//!
//! * Map order. client-go visits the children of a map in random order. If a template visits
//!   children of a map, the results are compared in any order. If even then client-go gives
//!   something else from one run to the next, and never what is given here, the order decided.
//! * Crashes. Where client-go panics, any answer will do.
//! * Limits. Here, an evaluation ends with a failure at 1,000,000 values or 32 ranges in each other,
//!   and a template has at most 16 conditions in each other (decisions/cartographer#tags).
//!
//! Two differences of Cartographer are none of client-go, so they do not show here: its doubles
//! instead of integers, and its paths that may not start with `$`, `@`, `[` or a quote.

#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]
#![expect(clippy::print_stdout, reason = "the report of the comparison")]

mod documents;
mod outcome;
mod peer;
mod seeded;
mod templates;

use std::collections::BTreeMap;
use std::ops::Range;

use outcome::Outcome;
use peer::Peer;
use seeded::SeededChoice;

/// How often client-go is asked again if the order of maps may matter.
const REPEATS: usize = 24;

/// A template, and what it is evaluated over.
#[derive(Debug, PartialEq)]
pub(crate) struct RandomCase {
    pub(crate) template: String,
    pub(crate) document: serde_json::Value,
    pub(crate) allows_missing_keys: bool,
}

impl RandomCase {
    fn of(seed: u64) -> RandomCase {
        let mut choice = SeededChoice::of(seed);
        let document = documents::document(&mut choice);
        RandomCase {
            template: templates::template(&document, &mut choice),
            allows_missing_keys: choice.chance(70),
            document,
        }
    }

    /// Whether client-go may visit the children of a map in more than one order.
    fn depends_on_map_order(&self) -> bool {
        let visits_all = self.template.contains('*') || self.template.contains("..");
        visits_all && documents::has_large_map(&self.document)
    }
}

/// How two outcomes of a case relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Agreement {
    SameResults,
    SameResultsInAnotherOrder,
    SameFailure,
    MapOrder,
    Crash,
    Limit,
    Different,
}

fn compare(case: &RandomCase, own: &Outcome, peer: &mut Peer) -> (Agreement, Outcome) {
    let first = peer.ask(case);
    let agreement = match (own, &first) {
        (_, Outcome::Failure(class)) if class == "crash" => Agreement::Crash,
        (Outcome::Limit, _) => Agreement::Limit,
        _ if *own == first => match own {
            Outcome::Failure(_) => Agreement::SameFailure,
            _ => Agreement::SameResults,
        },
        _ if case.depends_on_map_order() => compare_again(case, own, &first, peer),
        _ => Agreement::Different,
    };
    (agreement, first)
}

/// Asks until client-go visits maps in the order of their keys, or gives different answers.
fn compare_again(case: &RandomCase, own: &Outcome, first: &Outcome, peer: &mut Peer) -> Agreement {
    let mut agreement = match own.sorted() == first.sorted() {
        true => Agreement::SameResultsInAnotherOrder,
        false => Agreement::Different,
    };
    for _ in 0..REPEATS {
        let next = peer.ask(case);
        if *own == next {
            return match own {
                Outcome::Failure(_) => Agreement::SameFailure,
                _ => Agreement::SameResults,
            };
        }
        if own.sorted() == next.sorted() {
            agreement = Agreement::SameResultsInAnotherOrder;
        } else if agreement == Agreement::Different && next.sorted() != first.sorted() {
            agreement = Agreement::MapOrder;
        }
    }
    agreement
}

fn seeds() -> Range<u64> {
    let given = std::env::var("CYAN_RANDOM_PATHS").unwrap_or_else(|_| "2000".to_owned());
    let (first, end) = given.split_once("..").unwrap_or(("0", &given));
    first.parse().unwrap()..end.parse().unwrap()
}

#[test]
fn random_templates_give_what_client_go_gives() {
    let Some(mut peer) = Peer::start() else {
        return;
    };
    let seeds = seeds();
    let mut counts: BTreeMap<Agreement, usize> = BTreeMap::new();
    let mut classes: BTreeMap<String, usize> = BTreeMap::new();
    let mut different = Vec::new();
    println!("random templates: seeds {seeds:?}");
    for seed in seeds {
        let case = RandomCase::of(seed);
        let own = Outcome::of(&case);
        let (agreement, other) = compare(&case, &own, &mut peer);
        *counts.entry(agreement).or_default() += 1;
        if let Outcome::Failure(class) = &other {
            *classes.entry(class.clone()).or_default() += 1;
        }
        if agreement == Agreement::Different {
            println!("seed {seed}: {case:?}\n  gives {own:?}\n  client-go: {other:?}");
            different.push(seed);
        }
    }
    println!("random templates: {counts:?}; failures of client-go: {classes:?}");
    assert!(different.is_empty(), "seeds {different:?}");
}

#[test]
fn a_seed_gives_the_same_template_each_time() {
    assert_eq!(RandomCase::of(7), RandomCase::of(7));
    assert_ne!(RandomCase::of(7), RandomCase::of(8));
}
