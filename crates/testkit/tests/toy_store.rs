//! The toy store in the conformance suite of stores, and in a deploy and a destroy of a document.

use std::sync::Arc;

use engine::{Given, Options};
use futures::executor::block_on;
use state::{OperationOutcome, Store};
use testkit::harness::{Harness, RunResult, run_with_paused_clock, settings};
use testkit::toy::store::{Bucket, BucketStore};

#[test]
fn toy_store_passes_the_conformance_suite() {
    let failures = block_on(contract_tests::store::check(&|| {
        let bucket = Bucket::default();
        Box::new(move |sealer, host: Arc<contract_tests::store::TestHost>| {
            Box::new(BucketStore::open(&bucket, sealer, host)) as Box<dyn Store>
        })
    }));
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

const DOCUMENT: &str = "\
version: 2023-04-20
resources:
  disk: {type: test/data, spec: {input: 1}}
  copy: {type: test/data, spec: {input: $disk.output}}
";

#[test]
fn document_is_deployed_and_destroyed_with_the_toy_store() {
    run_with_paused_clock(async {
        let bucket = Bucket::default();
        let mut harness = Harness::new("/".into(), Vec::new());
        harness.checks_invariants = true;
        let shared = bucket.clone();
        harness.open_store =
            Arc::new(move |sealer, host| Box::new(BucketStore::open(&shared, sealer, host)));
        let stage = harness
            .stage("main.yaml", DOCUMENT, Given::default(), Options::default())
            .await;
        let staged = stage
            .staged
            .unwrap_or_else(|| panic!("{:?}", stage.diagnostics));
        let run = harness
            .run(staged, false, Vec::new(), settings(None, false))
            .await;
        assert_eq!(ended(&run), Some(OperationOutcome::Ready));
        assert_eq!(
            (
                harness.snapshot().await.records.len(),
                harness.cloud().len()
            ),
            (2, 2)
        );
        let again = harness
            .stage("main.yaml", DOCUMENT, Given::default(), Options::default())
            .await;
        let steps = again.staged.expect("it can be staged again").plan.steps;
        assert!(steps.iter().all(|step| step.action == engine::Action::None));
        let destroy = harness
            .stage_destroy(Options::default())
            .await
            .staged
            .expect("it can be destroyed");
        let run = harness
            .run(destroy, false, Vec::new(), settings(None, false))
            .await;
        assert_eq!(ended(&run), Some(OperationOutcome::Gone));
        assert!(harness.cloud().is_empty() && harness.snapshot().await.records.is_empty());
        assert_eq!(
            harness
                .store()
                .history(&harness.name, 9)
                .await
                .expect("there is a history")
                .len(),
            2
        );
    });
}

/// The outcome of a run. Checks that the run violated no invariant.
fn ended(run: &RunResult) -> Option<OperationOutcome> {
    assert!(run.violations.is_empty(), "{:?}", run.violations);
    run.outcome()?.outcome
}
