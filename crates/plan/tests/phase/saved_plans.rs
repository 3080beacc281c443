//! The parts that a saved plan pins in addition to its documents: the settings of providers, and
//! the resources that were read.

use blueprint::Value;
use diag::Diagnostics;
use engine::Options;
use testkit::policies::{PolicyHarness, said};

const ONE: &str = "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n";

#[tokio::test(start_paused = true)]
async fn changed_settings_of_a_provider_refuse_a_saved_plan() {
    let bench = PolicyHarness::new();
    let (staged, _) = bench
        .stage(
            Some(ONE),
            Options {
                refresh: true.into(),
                ..Options::default()
            },
        )
        .await;
    let staged = staged.expect("there is a plan");
    let mut shell = bench.shell();
    let mut found = Diagnostics::new();
    assert!(
        engine::unchanged(&staged, "/nowhere", &shell, &mut found).await,
        "{:?}",
        said(&found)
    );

    shell.settings.insert(
        "other".into(),
        Value::map([("region", Value::from("north"))]),
    );
    assert!(
        engine::unchanged(&staged, "/nowhere", &shell, &mut found).await,
        "no step needs that provider"
    );
    shell.settings.insert(
        "test".into(),
        Value::map([("key", Value::from("hunter2").secret())]),
    );
    assert!(!engine::unchanged(&staged, "/nowhere", &shell, &mut found).await);
    assert_eq!(
        said(&found),
        [
            "error input-changed: the settings of the provider `test` have changed since the plan was made"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn drift_of_a_planned_resource_refuses_a_saved_plan() {
    let bench = PolicyHarness::new();
    let (staged, _) = bench
        .stage(
            Some(ONE),
            Options {
                refresh: true.into(),
                ..Options::default()
            },
        )
        .await;
    bench.run(staged.expect("there is a plan")).await;
    let (staged, _) = bench
        .stage(
            Some(&ONE.replace("input: 1", "input: 2")),
            Options {
                refresh: true.into(),
                ..Options::default()
            },
        )
        .await;
    let staged = staged.expect("there is a plan");
    let shell = bench.shell();
    let mut found = Diagnostics::new();
    assert!(
        engine::unchanged(&staged, "/nowhere", &shell, &mut found).await,
        "{:?}",
        said(&found)
    );
    let instance = bench.harness.name.as_str();
    bench
        .harness
        .world
        .lock()
        .unwrap()
        .set(instance, "a", "input", Value::Int(7))
        .unwrap();
    assert!(!engine::unchanged(&staged, "/nowhere", &shell, &mut found).await);
    bench
        .harness
        .world
        .lock()
        .unwrap()
        .delete_externally(instance, "a")
        .unwrap();
    assert!(!engine::unchanged(&staged, "/nowhere", &shell, &mut found).await);
    assert_eq!(
        said(&found),
        [
            "error observation-changed: `a` is not as the plan saw it: `input` has changed",
            "error observation-changed: `a` is not as the plan saw it: it is not there any more",
        ]
    );
}
