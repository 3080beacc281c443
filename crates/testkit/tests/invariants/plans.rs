//! A plan after a full apply is empty, and equal questions and answers give equal plans.

use diag::Diagnostics;
use engine::{Given, Options, Plan, plan_file};
use proptest::prelude::*;
use state::seal::Sealer;

use crate::{apply_successfully, cases, cloud, harness, ids, run_with_paused_clock, stage};
use testkit::simulation::{edit, random_document};

/// The plan as text of a plan file with opened secrets, because sealing the same secret twice gives
/// different texts.
fn plan_text_without_seals(plan: &Plan) -> (String, String) {
    let sealer = Sealer::with_key([7; 32]);
    let text = plan_file::write(plan, &sealer).expect("there is a key");
    let (mut file, made_from) = plan_file::read(&text, &sealer).expect("it was just written");
    if plan.secret {
        file.made_from = blueprint::Value::Null;
    }
    let json = |result: serde_json::Result<String>| result.expect("a plan file is JSON");
    (
        json(serde_json::to_string(&file)),
        json(serde_json::to_string(&made_from)),
    )
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn after_a_full_apply_there_is_nothing_to_do((before, after) in edit(), parallel in 1..4_usize) {
        run_with_paused_clock(async {
            let harness = harness();
            for document in [before, after] {
                let text = document.text();
                apply_successfully(&harness, Some(&text), parallel).await;
                let again = stage(&harness, &text).await;
                let staged = again.staged.expect("what has been applied can be planned");
                let steps: Vec<_> = staged.plan.steps.iter().map(|step| format!("{} {} {:?} {:?}", step.action.word(), step.address, step.reasons, step.changes)).collect();
                assert!(staged.plan.is_empty(), "{steps:?} after\n{text}");
                let (there, known) = ids(&harness).await;
                assert_eq!(there, known, "the cloud and the state differ after\n{text}");
            }
            apply_successfully(&harness, None, parallel).await;
            assert!(cloud(&harness).is_empty(), "{:?} is left after a destroy", cloud(&harness));
            assert!(harness.snapshot().await.records.is_empty());
        });
    }

    #[test]
    fn the_same_questions_and_answers_give_the_same_plan((before, after) in edit()) {
        run_with_paused_clock(async {
            let harness = harness();
            apply_successfully(&harness, Some(&before.text()), 2).await;
            // A random value, which every stage generates again unless it is stored.
            let text = format!("{}  drawn: {{ type: test/data, spec: {{ input: '${{uuid()}}' }} }}\n", after.text());
            let first = stage(&harness, &text).await.staged.expect("a plan");
            let answers = first.plan.answers.clone();
            let mut found = Diagnostics::new();
            let read = harness.read("main.yaml", &text).await;
            let checked = read.checked.expect("it can be checked");
            let document = (engine::Documents::single(checked, "/nowhere".into()).into(), read.document);
            let second = harness.plan(Some(document), Given::default(), Options::default(), Some(answers), &mut found).await;
            let second = second.expect("the same plan");
            assert_eq!(plan_text_without_seals(&first.plan), plan_text_without_seals(&second.plan));
        });
    }

    #[test]
    fn plan_asks_the_same_questions_each_time(document in random_document()) {
        run_with_paused_clock(async {
            let harness = harness();
            let text = document.text();
            let first = stage(&harness, &text).await.staged.expect("a plan");
            let second = stage(&harness, &text).await.staged.expect("a plan");
            assert_eq!(plan_text_without_seals(&first.plan), plan_text_without_seals(&second.plan));
        });
    }
}
