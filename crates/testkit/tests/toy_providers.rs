//! The toy providers: the conformance suite, and the defects that the suite finds.

use std::sync::Arc;

use blueprint::Value;
use contract_tests::provider::{Case, Setup};
use provider::Provider;
use providers::fake::{FakeOptions, SharedCloud};
use testkit::toy::checker::CheckerProvider;
use testkit::toy::hosted::{ProviderDefect, ToyOptions};
use testkit::toy::planner::PlannerProvider;

fn options(world: &SharedCloud, defect: Option<ProviderDefect>) -> ToyOptions {
    let fake = FakeOptions {
        world: Some(world.clone()),
        ..FakeOptions::default()
    };
    ToyOptions {
        fake,
        defect,
        ..ToyOptions::default()
    }
}

fn setup() -> Setup {
    Setup {
        documented: false,
        ..Setup::in_folder("/w")
    }
}

/// The failures of a planner in the conformance suite.
async fn planner(defect: Option<ProviderDefect>) -> Vec<String> {
    let world = SharedCloud::default();
    let make = || -> Arc<dyn Provider> { Arc::new(PlannerProvider::new(options(&world, defect))) };
    let spec = Value::map([
        ("name", Value::text("sesame-web").secret()),
        ("size", Value::Int(1)),
    ]);
    let changed = Value::map([
        ("name", Value::text("sesame-web").secret()),
        ("size", Value::Int(2)),
    ]);
    contract_tests::provider::check(
        make,
        &setup(),
        &[Case::new("planner/server", spec).changed(changed)],
    )
    .await
}

/// The failures of a checker in the conformance suite.
async fn checker(defect: Option<ProviderDefect>) -> Vec<String> {
    let world = SharedCloud::default();
    let make = || -> Arc<dyn Provider> { Arc::new(CheckerProvider::new(options(&world, defect))) };
    let spec = Value::map([("title", Value::text("first"))]);
    let changed = Value::map([("title", Value::text("second")), ("size", Value::Int(4))]);
    let letter = Value::map([("content", Value::text("hello"))]);
    let cases = [
        Case::new("checker/bucket", spec).changed(changed),
        Case::new("checker/letter", letter).forgets_tokens(),
    ];
    contract_tests::provider::check(make, &setup(), &cases).await
}

#[tokio::test]
async fn toy_providers_pass_the_suite() {
    assert_eq!(planner(None).await, Vec::<String>::new());
    assert_eq!(checker(None).await, Vec::<String>::new());
}

#[tokio::test]
async fn suite_finds_each_defect_of_the_planner() {
    let expected = [
        (
            ProviderDefect::ContradictPlan,
            "is another one after create than planned",
        ),
        (
            ProviderDefect::NeverSame,
            "directly after create, the verdict is Update",
        ),
        (
            ProviderDefect::UnstablePlan,
            "planning the create twice gives different answers",
        ),
        (
            ProviderDefect::UpgradeChanges,
            "an upgrade from the current version changes values",
        ),
        (ProviderDefect::BrokenCreate, "is broken: it is cracked"),
        (
            ProviderDefect::ShowSecret,
            "a secret stands in an error, a warning or progress",
        ),
        (
            ProviderDefect::DropPrivate,
            "the private data of thing0 is that of `none`",
        ),
    ];
    for (defect, message) in expected {
        let failures = planner(Some(defect)).await;
        assert!(
            failures.iter().any(|failure| failure.contains(message)),
            "{defect:?}: {failures:#?}"
        );
    }
}

#[tokio::test]
async fn suite_finds_each_defect_of_the_checker() {
    let expected = [
        (
            ProviderDefect::NeverSame,
            "directly after create, the verdict is Update",
        ),
        (ProviderDefect::BrokenCreate, "is broken: it is cracked"),
    ];
    for (defect, message) in expected {
        let failures = checker(Some(defect)).await;
        assert!(
            failures.iter().any(|failure| failure.contains(message)),
            "{defect:?}: {failures:#?}"
        );
    }
}
