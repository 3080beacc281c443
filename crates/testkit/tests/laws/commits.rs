//! A process that ends at any moment, before or after any write of its journal and any call, leaves a state from which the
//! next one reaches the same end.

use std::sync::Arc;

use engine::Options;
use engine::shell::Operated;
use proptest::prelude::*;
use provider::Catalog;
use state::{EntryKind, Store as _};
use testkit::lab::{Lab, settings};
use testkit::simulation::{CommitFault, Weather, edit};

use crate::{apply_well, cases, cloud, ids, lab, lately, stage};

/// Applies a goal in a process that ends at this moment, from 1; whether it came so far.
async fn cut_at(lab: &Lab, goal: Option<&str>, parallel: usize, moment: u32) -> bool {
    cut_in(lab, goal, parallel, Weather { ends_at: Some(moment), ..Weather::default() }).await
}

/// The same, while commits take longer than calls, by times drawn from a seed: what has been answered is not durable for long.
async fn cut_on_a_slow_disk(lab: &Lab, goal: Option<&str>, parallel: usize, moment: u32, seed: u64) -> bool {
    let weather = Weather { ends_at: Some(moment), latency: Some(3 * seed), ..Weather::default() };
    cut_in(lab, goal, parallel, weather).await
}

async fn cut_in(lab: &Lab, goal: Option<&str>, parallel: usize, weather: Weather) -> bool {
    let staged = match goal {
        Some(goal) => stage(lab, goal).await.staged,
        None => lab.stage_destroy(Options::default()).await.staged,
    };
    let run = lab.run_in(staged.expect("a plan"), false, weather, settings(Some(parallel), false)).await;
    run.operated.is_none()
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_run_cut_at_any_commit_and_continued_ends_the_same(
        (before, after) in edit(),
        parallel in 1..4_usize,
        destroy in prop::bool::weighted(0.2),
    ) {
        let (before, after) = (before.text(), after.text());
        let goal = (!destroy).then_some(after.as_str());
        lately(async {
            let twin = lab();
            apply_well(&twin, Some(&before), parallel).await;
            let undisturbed = apply_well(&twin, goal, parallel).await;
            for moment in 1.. {
                let told = format!("moment {moment}\n{before}\n->\n{goal:?}");
                let lab = lab();
                apply_well(&lab, Some(&before), parallel).await;
                if !cut_at(&lab, goal, parallel, moment).await {
                    let nothing = matches!(undisturbed.operated, Some(Operated::Nothing));
                    assert!(moment > 1 || nothing, "it was never cut");
                    break;
                }
                apply_well(&lab, goal, parallel).await;
                assert_eq!(cloud(&lab), cloud(&twin), "another end when cut at {told}");
                let (there, known) = ids(&lab).await;
                assert_eq!(there, known, "the cloud and the state differ when cut at {told}");
                if let Some(goal) = goal {
                    let staged = stage(&lab, goal).await.staged.expect("a plan");
                    assert!(staged.plan.is_empty(), "something is left to do when cut at {told}");
                }
                assert!(lab.snapshot().await.open.is_empty(), "a call is still open when cut at {told}");
            }
        });
    }
}

/// What a cut-off run has made, another has deleted and a third makes again is another thing, although no run has ended.
#[test]
fn a_thing_that_was_deleted_in_between_is_made_under_another_token() {
    let text = "version: 2023-04-20\nresources:\n  a: { type: test/data, spec: { input: 1 } }\n  \
                b: { type: test/data, spec: { input: 2 } }\n  c: { type: test/data, spec: { input: 3 } }\n  \
                d: { type: test/data, dependsOn: [a, b, c], spec: { input: 4 } }\n";
    let token = |lab: &Lab, name: &str| {
        let world = lab.world.lock().expect("nobody panics with it");
        world.things().find(|thing| thing.place.ends_with(name)).map(|thing| thing.token().to_owned())
    };
    let is_there = |lab: &Lab| ["/a", "/b", "/c", "/d"].map(|name| token(lab, name).is_some());
    lately(async {
        let mut seen = 0_u32;
        for (made, deleted) in (1..16).flat_map(|made| (1..16).map(move |deleted| (made, deleted))) {
            let lab = lab();
            let cut = cut_at(&lab, Some(text), 1, made).await;
            let Some(first) = token(&lab, "/a").filter(|_| cut && is_there(&lab) == [true, true, true, false]) else {
                continue;
            };
            // Cut before `c` goes too: no run has ended.
            if !cut_at(&lab, None, 1, deleted).await || !matches!(is_there(&lab), [false, _, true, false]) {
                continue;
            }
            let snapshot = lab.snapshot().await;
            assert_eq!(snapshot.generation.0, 0, "no run has ended");
            seen += u32::from(!snapshot.records.keys().any(|address| address.to_string() == "a"));
            apply_well(&lab, Some(text), 1).await;
            assert_ne!(token(&lab, "/a"), Some(first));
        }
        assert!(seen > 0, "the outcome of the delete was never durable before the run ended");
    });
}

/// Things that read each other in a long line, where the world can be asked for each of them later.
fn chain(things: usize) -> String {
    let thing = |at: usize| match at {
        0 => "  r0: { type: test/data, spec: { input: 0 } }\n".to_owned(),
        at => format!(
            "  r{at}: {{ type: test/data, spec: {{ input: [{at}, \"${{resources.r{}.spec.id}}\"] }} }}\n",
            at - 1
        ),
    };
    format!("version: 2023-04-20\nresources:\n{}", (0..things).map(thing).collect::<String>())
}

/// Calls of a chain are foretold: nothing of it is lost or made twice wherever it is cut off, with parts of its specs known to
/// nobody but the world.
#[test]
fn the_links_of_a_chain_that_were_foretold_are_found_again() {
    let text = chain(24);
    lately(async {
        let mut cuts = 0;
        for goal in [Some(text.as_str()), None] {
            for moment in 1.. {
                let lab = lab();
                if goal.is_none() {
                    apply_well(&lab, Some(&text), 2).await;
                }
                if !cut_on_a_slow_disk(&lab, goal, 2, moment, u64::from(moment)).await {
                    break;
                }
                cuts += 1;
                let made: Vec<_> = {
                    let world = lab.world.lock().expect("nobody panics with it");
                    world.things().map(|thing| thing.id.clone()).collect()
                };
                let run = apply_well(&lab, goal, 2).await;
                let (there, known) = ids(&lab).await;
                assert_eq!(there, known, "the cloud and the state differ when cut at {moment}");
                if let Some(goal) = goal {
                    assert_eq!(there.len(), 24);
                    let updated = match run.operated {
                        Some(Operated::Done(outcome)) => outcome.counts[1],
                        _ => 0,
                    };
                    assert_eq!(updated, 0, "what was sent has not been read back as it was, at {moment}");
                    assert!(made.iter().all(|id| there.iter().any(|it| it.contains(&**id))), "made anew at {moment}");
                    let staged = stage(&lab, goal).await.staged.expect("a plan");
                    assert!(staged.plan.is_empty(), "something is left to do when cut at {moment}");
                }
            }
        }
        assert!(cuts > 60, "{cuts}");
    });
}

/// Nobody is called on the strength of an answer that is not durable and that nobody could ask for again.
#[test]
fn what_cannot_be_found_again_is_recorded_before_anybody_reads_it() {
    let text = "version: 2023-04-20\nresources:\n  a: { type: test/data, spec: { input: 1 } }\n  \
                b: { type: test/record, spec: { title: \"${resources.a.spec.id}\" } }\n  \
                c: { type: test/record, spec: { title: \"${resources.b.spec.id}\" } }\n";
    lately(async {
        for finds in [true, false] {
            let mut before_it_was_known = 0;
            for (seed, moment) in (1..9).flat_map(|seed| (1..12).map(move |moment| (seed, moment))) {
                let mut lab = lab();
                let mut catalog = Catalog::clone(&providers::fake::whole_catalog());
                let data = catalog.resource_types.get_mut("test/data").expect("it has this type");
                Arc::make_mut(data).capabilities.finds = finds;
                let (catalogs, functions, _) = provider::combine([Arc::new(catalog)]);
                (lab.catalogs, lab.functions) = (Arc::new(catalogs), Arc::new(functions));
                if !cut_on_a_slow_disk(&lab, Some(text), 1, moment, seed).await {
                    continue;
                }
                let is_there = lab.cloud().keys().any(|place| place.contains("/b "));
                let is_known = lab.snapshot().await.records.keys().any(|address| address.to_string() == "a");
                before_it_was_known += u32::from(is_there && !is_known);
            }
            assert_eq!(before_it_was_known > 0, finds);
        }
    });
}

/// Three commits for two things one after the other: the end needs none of its own. What cannot be recorded is not counted.
#[test]
fn the_end_shares_the_commit_of_the_last_outcomes() {
    let text = "version: 2023-04-20\nresources:\n  a: { type: test/data, spec: { input: 1 } }\n  \
                b: { type: test/data, dependsOn: a, spec: { input: 2 } }\n";
    lately(async {
        for number in 1..=4 {
            let lab = lab();
            let staged = stage(&lab, text).await.staged.expect("a plan");
            let weather = Weather { commit_fails: Some(CommitFault { number, written: false }), ..Weather::default() };
            let run = lab.run_in(staged, false, weather, settings(Some(1), false)).await;
            let snapshot = lab.snapshot().await;
            let recorded = snapshot.records.len() as u64;
            match run.operated.expect("it was not cut off") {
                Operated::Lost(lost) => {
                    assert_eq!((lost.counts, snapshot.generation.0), ([recorded, 0, 0, 0], 0), "commit {number}");
                    assert_eq!(recorded, u64::from(number == 3), "commit {number}");
                }
                Operated::Done(outcome) => {
                    assert_eq!((number, outcome.counts), (4, [2, 0, 0, 0]));
                    assert_eq!((recorded, snapshot.generation.0), (2, 1));
                }
                other => panic!("commit {number}: {other:?}"),
            }
        }
    });
}

/// What was foretold did not know that it would hold a secret: whoever reads the thing back would take it for none. It is stated
/// once more, and called only then.
#[test]
fn a_secret_that_was_not_known_when_it_was_foretold_is_one_wherever_the_run_is_cut() {
    // What an answer repeats of a secret is one, which nobody can know before.
    let text = "version: 2023-04-20\nresources:\n  a: { type: test/record, spec: { title: one, password: \"arn:test:record\" } }\n  \
                b: { type: test/data, spec: { input: [\"plain\", \"${resources.a.spec.arn}\"] } }\n";
    lately(async {
        let mut found = 0;
        for (seed, moment) in (1..9).flat_map(|seed| (1..12).map(move |moment| (seed, moment))) {
            let lab = lab();
            if !cut_on_a_slow_disk(&lab, Some(text), 1, moment, seed).await {
                continue;
            }
            let was_there = lab.cloud().keys().any(|place| place.contains("/b "));
            let was_known = lab.snapshot().await.records.keys().any(|address| address.to_string() == "b");
            found += u32::from(was_there && !was_known);
            apply_well(&lab, Some(text), 1).await;
            let snapshot = lab.snapshot().await;
            let log = lab.store().log(&lab.name, None, 999).await.expect("a journal");
            for line in log {
                let EntryKind::Outcome(outcome) = &line.entry.kind else { continue };
                let Some(record) = outcome.record.as_ref().filter(|_| outcome.address.to_string() == "b") else {
                    continue;
                };
                assert!(record.inputs.has_secret(), "cut at {moment} of {seed}: {:?}", record.inputs);
            }
            let sent = snapshot.open.is_empty() && stage(&lab, text).await.staged.is_some_and(|it| it.plan.is_empty());
            assert!(sent, "something is left to do when cut at {moment} of {seed}");
        }
        assert!(found > 0, "what was cut off had never been made");
    });
}
