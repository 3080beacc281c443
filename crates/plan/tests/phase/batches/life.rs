//! Batches in whole operations.

use std::time::Duration;

use engine::apply::Outcome;
use engine::run::Operated;
use engine::{Given, Options};
use state::{Counts, Generation, OperationOutcome};
use testkit::faults::FaultPlan;
use testkit::harness::{Harness, heat_environment, run_with_paused_clock, settings};
use tokio::time::Instant;

use super::{batches, harness, members, stage, staged};

/// A group with a number of members, their value, and a policy.
fn group(count: usize, value: &str, policy: &str) -> String {
    format!(
        "resources:\n  g:\n    type: OS::Heat::ResourceGroup\n    update_policy: {{{policy}}}\n    properties:\n      \
         count: {count}\n      resource_def: {{type: OS::Heat::TestResource, properties: {{value: {value}-%index%}}}}\n\
         outputs:\n  all: {{value: {{get_attr: [g, output]}}}}\n  ids: {{value: {{get_attr: [g, refs_map]}}}}\n"
    )
}

async fn deploy(harness: &Harness, text: &str) -> Outcome {
    let staged = staged(harness, text).await;
    let run = harness
        .run(staged, false, Vec::new(), settings(None, false))
        .await;
    match run.operated {
        Some(Operated::Done(outcome)) => outcome,
        other => panic!("it did not run to an end: {other:?}"),
    }
}

/// The outputs of the members by number, and the number of ids.
async fn member_outputs(harness: &Harness) -> (Vec<String>, usize) {
    let exports = harness.snapshot().await.exports;
    let all = exports["all"]
        .as_list()
        .into_iter()
        .flatten()
        .filter_map(|value| value.as_text().map(str::to_owned));
    (
        all.collect(),
        exports["ids"].as_map().map_or(0, |ids| ids.len()),
    )
}

#[test]
fn pauses_are_only_between_batches() {
    run_with_paused_clock(async {
        let harness = harness();
        let begun = Instant::now();
        deploy(
            &harness,
            &group(4, "a", "batch_create: {max_batch_size: 2, pause_time: 60}"),
        )
        .await;
        assert_eq!(begun.elapsed().as_secs(), 60);
        let begun = Instant::now();
        let policy = "rolling_update: {max_batch_size: 1, pause_time: 2.5}";
        deploy(&harness, &group(4, "b", policy)).await;
        assert_eq!(begun.elapsed().as_millis(), 7500);
        let begun = Instant::now();
        deploy(&harness, &group(6, "b", policy)).await;
        assert_eq!(begun.elapsed().as_secs(), 0);
    });
}

#[test]
fn pauses_longer_than_the_time_limit_are_refused() {
    run_with_paused_clock(async {
        let harness = harness();
        let codes = async |pause: f64| {
            let policy = format!("batch_create: {{pause_time: {pause}}}");
            let stage = stage(&harness, &group(3, "a", &policy)).await;
            let words = stage
                .diagnostics
                .iter()
                .filter_map(|one| Some(one.native_message.as_ref()?.to_string()));
            (
                stage
                    .diagnostics
                    .iter()
                    .map(|one| one.code.name)
                    .collect::<Vec<_>>(),
                words.collect::<Vec<_>>(),
            )
        };
        let words =
            "ValueError: The current update policy will result in stack update timeout.".to_owned();
        assert_eq!(codes(1800.0).await, (vec!["value-constraint"], vec![words]));
        assert_eq!(codes(1799.5).await, (vec![], vec![]));
    });
}

#[test]
fn interrupt_ends_a_pause_at_once() {
    run_with_paused_clock(async {
        let mut harness = harness();
        deploy(&harness, &group(3, "a", "")).await;
        let text = group(3, "b", "rolling_update: {pause_time: 600}");
        harness.interrupt_after = Some(Duration::from_secs(700));
        let begun = Instant::now();
        let outcome = deploy(&harness, &text).await;
        assert_eq!(
            (outcome.outcome, outcome.counts),
            (
                Some(OperationOutcome::Interrupted),
                Counts::from([0, 2, 0, 0])
            )
        );
        assert_eq!(begun.elapsed().as_secs(), 700);
        // The rest is one batch without a pause.
        harness.interrupt_after = None;
        let begun = Instant::now();
        let outcome = deploy(&harness, &text).await;
        assert_eq!(
            (outcome.outcome, outcome.counts),
            (Some(OperationOutcome::Ready), Counts::from([0, 1, 0, 0]))
        );
        assert_eq!(begun.elapsed().as_secs(), 0);
    });
}

#[test]
fn temporary_members_are_deleted_in_the_end() {
    run_with_paused_clock(async {
        let harness = harness();
        let policy = "rolling_update: {min_in_service: 3, max_batch_size: 2}";
        deploy(&harness, &group(3, "a", policy)).await;
        let rolls = staged(&harness, &group(3, "b", policy)).await;
        assert_eq!(rolls.plan.counts(), Counts::from([2, 3, 2, 0]));
        let outcome = deploy(&harness, &group(3, "b", policy)).await;
        assert_eq!(
            (outcome.outcome, outcome.counts),
            (Some(OperationOutcome::Ready), Counts::from([2, 3, 2, 0]))
        );
        assert_eq!(members(&harness).await, ["0", "1", "2"]);
        assert_eq!(
            member_outputs(&harness).await,
            (["b-0", "b-1", "b-2"].map(str::to_owned).to_vec(), 3)
        );
        let again = staged(&harness, &group(3, "b", policy)).await;
        assert!(again.plan.is_empty() && again.plan.writes_nothing(&harness.snapshot().await));
    });
}

#[test]
fn interrupted_rolling_run_ends_the_same() {
    let policy = "rolling_update: {min_in_service: 3, max_batch_size: 1, pause_time: 5}";
    let mut ended = 0;
    for moment in 1.. {
        let done = run_with_paused_clock(async {
            let harness = harness();
            deploy(&harness, &group(3, "a", policy)).await;
            let before = staged(&harness, &group(3, "b", policy)).await;
            let fault_plan = FaultPlan {
                ends_at: Some(moment),
                ..FaultPlan::default()
            };
            let run = harness
                .run_under(before, false, fault_plan, settings(None, false))
                .await;
            let rest = staged(&harness, &group(3, "b", policy)).await;
            harness
                .run(rest, false, Vec::new(), settings(None, false))
                .await;
            assert_eq!(
                members(&harness).await,
                ["0", "1", "2"],
                "cut off at {moment}"
            );
            let all = (["b-0", "b-1", "b-2"].map(str::to_owned).to_vec(), 3);
            assert_eq!(member_outputs(&harness).await, all, "cut off at {moment}");
            assert!(
                staged(&harness, &group(3, "b", policy))
                    .await
                    .plan
                    .is_empty(),
                "cut off at {moment}"
            );
            run.outcome().is_some()
        });
        if done {
            break;
        }
        ended = moment;
    }
    assert!(ended > 10, "{ended}");
}

/// A group in which the member with a number fails for a value.
const MEMBER: &str = "heat_template_version: wallaby\nparameters: {i: {type: string}, v: {type: string}}\n\
    conditions: {bad: {and: [{equals: [{get_param: i}, '1']}, {equals: [{get_param: v}, bad]}]}}\n\
    resources:\n  t:\n    type: OS::Heat::TestResource\n    \
    properties: {value: {get_param: v}, fail: {if: [bad, true, false]}}\n\
    outputs: {said: {value: {get_attr: [t, output]}}}\n";

#[test]
fn failed_member_stops_later_ones_until_the_next_deploy() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::write(folder.path().join("m.yaml"), MEMBER).expect("it can be written");
    run_with_paused_clock(async {
        let mut harness = harness();
        harness.folder = folder.path().to_owned();
        let text = |value: &str| {
            format!(
                "resources:\n  g:\n    type: OS::Heat::ResourceGroup\n    \
                 update_policy: {{rolling_update: {{max_batch_size: 1}}}}\n    properties:\n      count: 3\n      \
                 resource_def: {{type: m.yaml, properties: {{i: \"%index%\", v: {value}}}}}\n\
                 outputs: {{all: {{value: {{get_attr: [g, said]}}}}, ids: {{value: {{get_attr: [g, refs_map]}}}}}}\n"
            )
        };
        deploy(&harness, &text("a")).await;
        let outcome = deploy(&harness, &text("bad")).await;
        assert_eq!(
            (outcome.outcome, outcome.counts),
            (Some(OperationOutcome::Failed), Counts::from([0, 1, 0, 0]))
        );
        // The failed member comes first, then the members that were not reached. Finished members
        // are updated again.
        let rest = staged(&harness, &text("b")).await;
        let of: Vec<u32> = rest
            .plan
            .steps
            .iter()
            .filter_map(|step| Some(step.batch?.number))
            .collect();
        let at: Vec<String> = rest
            .plan
            .steps
            .iter()
            .map(|step| step.address.to_string())
            .collect();
        assert_eq!(
            (of, at),
            (
                vec![1, 2, 3],
                ["g/1/t", "g/2/t", "g/0/t"].map(str::to_owned).to_vec()
            )
        );
        assert_eq!(
            deploy(&harness, &text("b")).await.outcome,
            Some(OperationOutcome::Ready)
        );
        assert_eq!(
            member_outputs(&harness).await,
            (["b"; 3].map(str::to_owned).to_vec(), 3)
        );
    });
}

#[test]
fn failed_run_is_continued_with_the_rest() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::write(folder.path().join("m.yaml"), MEMBER).expect("it can be written");
    run_with_paused_clock(async {
        let mut harness = harness();
        harness.folder = folder.path().to_owned();
        let text = "resources:\n  g:\n    type: OS::Heat::ResourceGroup\n    \
                    update_policy: {batch_create: {max_batch_size: 1}}\n    properties:\n      count: 3\n      \
                    resource_def: {type: m.yaml, properties: {i: \"%index%\", v: bad}}\n";
        let outcome = deploy(&harness, text).await;
        assert_eq!(
            (outcome.outcome, outcome.counts.created),
            (Some(OperationOutcome::Failed), 1)
        );
        std::fs::write(folder.path().join("m.yaml"), MEMBER.replace("'1'", "none"))
            .expect("it can be written");
        assert_eq!(
            batches(&staged(&harness, text).await)
                .iter()
                .map(Vec::len)
                .collect::<Vec<_>>(),
            [1, 1]
        );
        assert_eq!(
            deploy(&harness, text).await.outcome,
            Some(OperationOutcome::Ready)
        );
    });
}

#[test]
fn saved_plan_has_the_same_batches() {
    run_with_paused_clock(async {
        let harness = harness();
        let policy = "rolling_update: {min_in_service: 2}";
        deploy(&harness, &group(2, "a", policy)).await;
        let first = staged(&harness, &group(2, "b", policy)).await;
        let text = format!("heat_template_version: wallaby\n{}", group(2, "b", policy));
        let read = harness.read_with(&text, &first.plan.answers.pinned()).await;
        let mut found = diag::Diagnostics::new();
        let answers = Some(first.plan.answers.clone());
        let wanted = read.documents.map(|documents| (documents, read.document));
        let again = harness
            .plan(
                wanted,
                Given::default(),
                Options::default(),
                answers,
                &mut found,
            )
            .await;
        assert_eq!(
            first.plan.steps,
            again.expect("it can be planned").plan.steps
        );
    });
}

#[test]
fn nothing_depends_on_temporary_members() {
    run_with_paused_clock(async {
        let harness = harness();
        let policy = "rolling_update: {min_in_service: 2}";
        let text = |value: &str| {
            let after = "  after: {type: OS::Heat::Value, depends_on: g, properties: {value: 1}}\n";
            group(2, value, policy).replace("outputs:\n", &format!("{after}outputs:\n"))
        };
        deploy(&harness, &text("a")).await;
        let rolls = staged(&harness, &text("b")).await;
        assert!(
            rolls
                .plan
                .steps
                .iter()
                .all(|step| step.address.name.as_ref() != "after"),
            "{:?}",
            rolls.plan.steps
        );
        assert_eq!(
            deploy(&harness, &text("b")).await.counts,
            Counts::from([1, 2, 1, 0])
        );
        let snapshot = harness.snapshot().await;
        let after = snapshot
            .records
            .iter()
            .find(|(address, _)| address.name.as_ref() == "after");
        let uses: Vec<String> = after
            .expect("it is there")
            .1
            .dependencies
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(uses, ["g/0", "g/1"]);
    });
}

/// A member of two resources, one of which uses the other.
const PAIR: &str = "heat_template_version: wallaby\nparameters: {i: {type: string}, v: {type: string}}\n\
    resources:\n  a: {type: OS::Heat::TestResource, properties: {value: {get_param: v}}}\n  \
    b: {type: OS::Heat::TestResource, properties: {value: {get_attr: [a, output]}}}\n\
    outputs: {said: {value: {get_attr: [b, output]}}}\n";

#[test]
fn templates_can_be_temporary_members() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::write(folder.path().join("m.yaml"), PAIR).expect("it can be written");
    let text = |value: &str| {
        format!(
            "resources:\n  g:\n    type: OS::Heat::ResourceGroup\n    \
             update_policy: {{rolling_update: {{min_in_service: 2}}}}\n    properties:\n      count: 2\n      \
             resource_def: {{type: m.yaml, properties: {{i: \"%index%\", v: {value}}}}}\n\
             outputs: {{all: {{value: {{get_attr: [g, said]}}}}, ids: {{value: {{get_attr: [g, refs_map]}}}}}}\n"
        )
    };
    let at = |staged: &engine::Staged| -> Vec<(String, Option<u32>)> {
        let steps = staged.plan.steps.iter();
        steps
            .map(|step| {
                (
                    step.address.to_string(),
                    step.batch.map(|batch| batch.number),
                )
            })
            .collect()
    };
    let mut ended = 0;
    for moment in 1.. {
        let done = run_with_paused_clock(async {
            let mut harness = harness();
            harness.folder = folder.path().to_owned();
            deploy(&harness, &text("a")).await;
            let rolls = staged(&harness, &text("b")).await;
            let wanted = [
                ("g/2/a", 1),
                ("g/2/b", 1),
                ("g/1/a", 2),
                ("g/1/b", 2),
                ("g/0/a", 3),
                ("g/0/b", 3),
            ];
            assert_eq!(
                at(&rolls),
                wanted.map(|(address, batch)| (address.to_owned(), Some(batch)))
            );
            assert_eq!(rolls.plan.counts(), Counts::from([2, 4, 2, 0]));
            let fault_plan = FaultPlan {
                ends_at: Some(moment),
                ..FaultPlan::default()
            };
            let run = harness
                .run_under(rolls, false, fault_plan, settings(None, false))
                .await;
            if let Some(outcome) = run.outcome() {
                assert_eq!(
                    (outcome.outcome, outcome.counts),
                    (Some(OperationOutcome::Ready), Counts::from([2, 4, 2, 0]))
                );
            }
            let rest = staged(&harness, &text("b")).await;
            harness
                .run(rest, false, Vec::new(), settings(None, false))
                .await;
            let snapshot = harness.snapshot().await;
            let mut there: Vec<String> = snapshot.records.keys().map(ToString::to_string).collect();
            there.sort();
            assert_eq!(
                there,
                ["g/0/a", "g/0/b", "g/1/a", "g/1/b"],
                "cut off at {moment}"
            );
            let children: Vec<&str> = snapshot
                .declared
                .children
                .keys()
                .map(AsRef::as_ref)
                .collect();
            assert_eq!(children, ["g", "g/0", "g/1"]);
            assert_eq!(
                member_outputs(&harness).await,
                (["b"; 2].map(str::to_owned).to_vec(), 2)
            );
            run.outcome().is_some()
        });
        if done {
            break;
        }
        ended = moment;
    }
    assert!(ended > 10, "{ended}");
}

#[test]
fn rollback_uses_batches() {
    run_with_paused_clock(async {
        let harness = harness();
        let policy = "rolling_update: {max_batch_size: 2}";
        deploy(&harness, &group(3, "a", policy)).await;
        deploy(&harness, &group(5, "b", policy)).await;
        let back = harness
            .stage_rollback(Some(Generation(1)))
            .await
            .expect("there is a history")
            .staged
            .expect("it can be planned");
        let rank = |batches: Vec<Vec<(char, blueprint::Name)>>| -> Vec<String> {
            let shown = |batch: Vec<(char, blueprint::Name)>| {
                let mut names: Vec<String> = batch
                    .iter()
                    .map(|(what, name)| format!("{what}{name}"))
                    .collect();
                names.sort();
                names.join(" ")
            };
            batches.into_iter().map(shown).collect()
        };
        assert_eq!(rank(batches(&back)), ["-3 -4 ~1 ~2", "~0"]);
    });
}

#[test]
fn unknown_definition_uses_batches() {
    run_with_paused_clock(async {
        let harness = harness();
        let text = |value: &str| {
            format!(
                "resources:\n  w: {{type: OS::Heat::TestResource, properties: {{value: {value}}}}}\n  g:\n    \
                 type: OS::Heat::ResourceGroup\n    update_policy: {{rolling_update: {{min_in_service: 2}}}}\n    \
                 properties:\n      count: 2\n      resource_def:\n        type: OS::Heat::TestResource\n        \
                 properties: {{value: {{get_attr: [w, output]}}}}\n"
            )
        };
        deploy(&harness, &text("a")).await;
        assert!(staged(&harness, &text("a")).await.plan.is_empty());
        let rolls = staged(&harness, &text("b")).await;
        assert_eq!(
            rolls
                .plan
                .steps
                .iter()
                .filter_map(|step| step.batch)
                .count(),
            3
        );
        assert_eq!(
            deploy(&harness, &text("b")).await.counts,
            Counts::from([1, 3, 1, 0])
        );
        assert_eq!(members(&harness).await, ["0", "1", "w"]);
    });
}

#[test]
fn nested_groups_have_their_own_batches() {
    run_with_paused_clock(async {
        let harness = harness();
        let text = |value: &str| {
            format!(
                "resources:\n  g:\n    type: OS::Heat::ResourceGroup\n    update_policy: {{rolling_update: {{}}}}\n    \
                 properties:\n      count: 2\n      resource_def:\n        type: OS::Heat::AutoScalingGroup\n        \
                 properties:\n          min_size: 2\n          max_size: 2\n          \
                 rolling_updates: {{max_batch_size: 1, min_in_service: 2}}\n          \
                 resource: {{type: OS::Heat::Value, properties: {{value: {value}}}}}\n"
            )
        };
        deploy(&harness, &text("a")).await;
        let before = members(&harness).await;
        let outcome = deploy(&harness, &text("b")).await;
        assert_eq!(
            (outcome.outcome, outcome.counts),
            (Some(OperationOutcome::Ready), Counts::from([2, 4, 2, 0]))
        );
        assert_eq!(members(&harness).await, before);
    });
}

#[test]
fn target_leaves_other_members_unchanged() {
    run_with_paused_clock(async {
        let harness = harness();
        let policy = "rolling_update: {min_in_service: 3}";
        deploy(&harness, &group(3, "a", policy)).await;
        let text = format!("heat_template_version: wallaby\n{}", group(3, "b", policy));
        let options = Options {
            targets: vec!["g/1".parse().expect("an address")],
            ..Options::default()
        };
        let stage = harness
            .stage("main.yaml", &text, Given::default(), options)
            .await;
        let only = stage.staged.expect("it can be planned");
        let at: Vec<String> = only
            .plan
            .steps
            .iter()
            .map(|step| step.address.to_string())
            .collect();
        assert_eq!(at, ["g/1"]);
        harness
            .run(only, false, Vec::new(), settings(None, false))
            .await;
        // One member is already up to date.
        assert_eq!(
            deploy(&harness, &group(3, "b", policy)).await.counts,
            Counts::from([1, 2, 1, 0])
        );
    });
}

#[test]
fn hook_after_a_member_delays_the_next_batch() {
    run_with_paused_clock(async {
        let mut harness = harness();
        let policy = "rolling_update: {pause_time: 5}";
        deploy(&harness, &group(3, "a", policy)).await;
        let text = group(3, "b", policy);
        let hook = "resource_registry: {resources: {g: {\"2\": {hooks: post-update}}}}\n";
        harness.context = heat_environment(
            "main.yaml",
            &format!("heat_template_version: wallaby\n{text}"),
            "env.yaml",
            hook,
        );
        let outcome = deploy(&harness, &text).await;
        assert_eq!(
            (outcome.outcome, outcome.counts),
            (
                Some(OperationOutcome::Interrupted),
                Counts::from([0, 1, 0, 0])
            )
        );
        let outcome = deploy(&harness, &text).await;
        assert_eq!(
            (outcome.outcome, outcome.counts),
            (Some(OperationOutcome::Ready), Counts::from([0, 2, 0, 0]))
        );
    });
}
