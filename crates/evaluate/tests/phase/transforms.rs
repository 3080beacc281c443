//! Transforms from abstract resources to real ones, in plans, records and diagnostics
//! (decisions/documents#transforms).

use blueprint::Address;
use engine::run::Operated;
use engine::{Given, Options};
use testkit::harness::{Harness, StageResult, run_with_paused_clock, settings};
use testkit::single_document::{codes, exports, given, harness, stage};

const DOCUMENT: &str = "version: 2023-04-20
transform: [test-noop, test-2024-01-01]
variables:
  queue: { type: boolean, default: true }
resources:
  first: { type: test/data, spec: { input: 1 } }
  s: { type: test/service, spec: { name: \"a-${first.spec.input}\", queue: \"${variables.queue}\" } }
  reader: { type: test/data, spec: { input: \"${s_fn.spec.id}\" } }
exports:
  url: { type: string, field: s_queue.spec.url }
";

/// The steps of a plan, each with its abstract source.
fn steps(stage: &StageResult) -> Vec<String> {
    let Some(staged) = &stage.staged else {
        panic!("no plan: {:?}", codes(stage))
    };
    let show = |step: &engine::Step| {
        let source = step
            .made_from
            .as_ref()
            .map(|source| format!(" of {source}"))
            .unwrap_or_default();
        format!("{} {}{source}", step.action.word(), step.address)
    };
    staged.plan.steps.iter().map(show).collect()
}

async fn deploy(harness: &Harness, text: &str, inputs: Given) -> Vec<String> {
    let stage = stage(harness, text, inputs).await;
    let done = steps(&stage);
    let staged = stage.staged.expect("a plan");
    let run = harness
        .run(staged, false, Vec::new(), settings(None, false))
        .await;
    assert!(
        matches!(run.operated, Some(Operated::Done(_) | Operated::Nothing)),
        "{:?}",
        run.operated.is_some()
    );
    done
}

#[test]
fn abstract_resources_are_replaced_by_real_ones() {
    run_with_paused_clock(async {
        let harness = harness(&[]);
        let staged = stage(&harness, DOCUMENT, Given::default()).await;
        assert_eq!(codes(&staged), Vec::<String>::new());
        assert_eq!(
            steps(&staged),
            [
                "create first",
                "create s_fn of s",
                "create s_queue of s",
                "create reader"
            ]
        );
        assert!(exports(&staged)["url"].is_unknown());
        let plan = staged.staged.expect("a plan");
        let queue = plan.desired(&Address::root("s_queue")).expect("a spec");
        assert_eq!(
            queue.get("name").and_then(|name| name.as_text()),
            Some("a-1-queue")
        );
    });
}

#[test]
fn record_names_its_abstract_source() {
    run_with_paused_clock(async {
        let harness = harness(&[]);
        deploy(&harness, DOCUMENT, Given::default()).await;
        let snapshot = harness.snapshot().await;
        let sources: Vec<(String, &str)> = snapshot
            .records
            .iter()
            .map(|(address, record)| (address.to_string(), record.origin.made_from.as_ref()))
            .filter(|(_, source)| !source.is_empty())
            .collect();
        assert_eq!(sources.len(), 2, "{sources:?}");
        assert!(sources.iter().all(|(_, source)| *source == "s"));
        let again = stage(&harness, DOCUMENT, Given::default()).await;
        assert!(again.staged.expect("a plan").plan.is_empty());
        // A condition of a generated resource is evaluated like any other.
        let without = stage(
            &harness,
            &DOCUMENT.replace(
                "exports:\n  url: { type: string, field: s_queue.spec.url }\n",
                "",
            ),
            given(&[("queue", "false")]),
        )
        .await;
        assert_eq!(steps(&without), ["delete s_queue of s"]);
        let gone = harness.stage_destroy(Options::default()).await;
        let mut gone = steps(&gone);
        gone.sort();
        assert_eq!(
            gone,
            [
                "delete first",
                "delete reader",
                "delete s_fn of s",
                "delete s_queue of s"
            ]
        );
    });
}

#[test]
fn resource_stays_when_its_abstract_source_is_written_out() {
    run_with_paused_clock(async {
        let harness = harness(&[]);
        let text = "version: 2023-04-20
transform: test-2024-01-01
resources:
  s: { type: test/service, spec: { name: a } }
";
        deploy(&harness, text, Given::default()).await;
        let made = harness.snapshot().await.records[&Address::root("s_fn")].clone();
        let text = format!(
            "version: 2023-04-20\nresources:\n  s_fn: {{ type: {}, metadata: {}, spec: {} }}\n",
            made.type_name, made.metadata, made.inputs
        );
        assert_eq!(
            deploy(&harness, &text, Given::default()).await,
            ["none s_fn"]
        );
        let now = harness.snapshot().await.records[&Address::root("s_fn")].clone();
        assert_eq!(
            (
                now.id.clone(),
                now.metadata.clone(),
                now.origin.made_from.as_ref()
            ),
            (made.id.clone(), made.metadata.clone(), "")
        );
    });
}

#[test]
fn saved_plan_is_valid_while_its_transforms_give_the_same() {
    run_with_paused_clock(async {
        let harness = harness(&[]);
        let answers = stage(&harness, DOCUMENT, Given::default())
            .await
            .staged
            .expect("a plan")
            .plan
            .answers;
        let mut others = answers.clone();
        others
            .transformed
            .values_mut()
            .for_each(|digest| *digest = "another".into());
        for (answers, said) in [(answers, vec![]), (others, vec!["input-changed"])] {
            let read = harness
                .read_all("case.yaml", DOCUMENT, &Given::default(), true)
                .await;
            let document = Some((read.documents.expect("it is right"), read.document));
            let mut found = diag::Diagnostics::new();
            let staged = harness
                .plan(
                    document,
                    Given::default(),
                    Options::default(),
                    Some(answers),
                    &mut found,
                )
                .await;
            assert_eq!(
                found.iter().map(|it| it.code.name).collect::<Vec<_>>(),
                said
            );
            assert_eq!(staged.is_some(), said.is_empty());
        }
    });
}

#[test]
fn transformed_resources_keep_repetition_and_condition() {
    run_with_paused_clock(async {
        let text = "version: 2023-04-20
transform: test-2024-01-01
values:
  names: { type: array, value: \"${list(\\\"x\\\", \\\"y\\\")}\" }
resources:
  a: { type: test/data, spec: { input: 1 } }
  s:
    type: test/service
    each: ${values.names}
    condition: ${eq(elem, \"x\")}
    dependsOn: a
    metadata: { labels: { app: s }, annotations: { acme.k: v } }
    spec: { name: \"s-${elem}\" }
";
        let staged = stage(&harness(&[]), text, Given::default()).await;
        assert_eq!(
            steps(&staged),
            ["create a", "create s_fn[0] of s"],
            "{:?}",
            codes(&staged)
        );
        let staged = staged.staged.expect("a plan");
        assert_eq!(staged.plan.steps[1].waits_on, [0]);
    });
}

#[test]
fn diagnostics_point_at_the_abstract_source() {
    run_with_paused_clock(async {
        let harness = harness(&[]);
        let wrong = |resources: &str| {
            format!("version: 2023-04-20\ntransform: test-2024-01-01\nresources:\n{resources}")
        };
        let cases = [
            // Mistakes that are found before the transform: the abstract type has a schema like any
            // other.
            (
                "  s: { type: test/service, spec: { nam: a } }",
                vec!["unknown-spec-field 4"],
            ),
            (
                "  s: { type: test/service, spec: { name: 5 } }",
                vec!["type-mismatch 4"],
            ),
            // Mistakes in the generated resource.
            (
                "  s: { type: test/service, spec: { name: a } }\n  r: { type: test/data, spec: { input: \"${s.spec.name}\" } }",
                vec!["unknown-resource 5"],
            ),
            (
                "  s: { type: test/service, spec: { name: a } }\n  r: { type: test/data, spec: { input: \"${s_fn.spec.nam}\" } }",
                vec!["unknown-field 5"],
            ),
            (
                "  s: { type: test/service, spec: { name: a } }\n  r: { type: test/data, dependsOn: s_gn, spec: { input: 1 } }",
                vec!["unknown-resource 5"],
            ),
            (
                "  s:\n    type: test/service\n    spec:\n      name: \"${s_fn.spec.id}\"",
                vec!["self-reference 7"],
            ),
            // Conflicts of names.
            (
                "  s: { type: test/service, spec: { name: a, queue: true } }\n  s_fn: { type: test/data, spec: { input: 1 } }\n  s_queue: { type: test/data, spec: { input: 1 } }",
                vec!["name-collision 4", "name-collision 4"],
            ),
            (
                "  s: { type: test/service, spec: { name: broken } }",
                vec!["transform-failed 4"],
            ),
        ];
        for (resources, expected) in cases {
            let staged = stage(&harness, &wrong(resources), Given::default()).await;
            assert_eq!(codes(&staged), expected, "{resources}");
        }
    });
}

#[test]
fn diagnostics_of_the_first_check_are_reported_once() {
    run_with_paused_clock(async {
        let text = "version: 2023-04-20
transform: test-2024-01-01
resources:
  s: { type: test/service, condition: true, spec: { name: a } }
  r: { type: test/data, spec: { input: 1 }, condition: true }
";
        let staged = stage(&harness(&[]), text, Given::default()).await;
        assert_eq!(
            codes(&staged),
            ["condition-constant 4", "condition-constant 5"]
        );
    });
}

#[test]
fn transform_without_an_implementation_fails() {
    run_with_paused_clock(async {
        let catalog = r#"{"format": 1, "namespace": "plain", "transforms": {"plain-1": {"abstractTypes": {"plain/thing": {"fields": {}}}}}}"#;
        let text = "version: 2023-04-20
transform: plain-1
resources:
  s: { type: plain/thing, spec: {} }
";
        let staged = stage(&harness(&[catalog]), text, Given::default()).await;
        assert_eq!(codes(&staged), ["transform-failed 2"]);
    });
}
