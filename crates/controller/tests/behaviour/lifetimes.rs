//! Ends in order, renewed tokens, and many owners at once.

use std::time::Duration;

use controller::ControllerOptions;
use serde_json::json;

use crate::documents::{NAMESPACE, chain, workload};
use crate::setup::Setup;

#[tokio::test(start_paused = true)]
async fn stopped_controller_finishes_what_is_in_work() {
    let setup = Setup::new().await;
    for object in chain() {
        setup.create(&object).await;
    }
    setup.create(&workload("https://g/1")).await;
    let running = setup.start();
    // The first object is on its way when the controller is stopped.
    while !setup
        .take_requests()
        .iter()
        .any(|sent| sent.path.ends_with("/things/w-source") && sent.is_write())
    {
        tokio::task::yield_now().await;
    }
    running.end().await.unwrap();
    assert_eq!(setup.stamped().await.len(), 3);
    assert_eq!(setup.condition("Ready").await, "True Ready");
    setup.take_requests();
    setup.create(&another(1)).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(setup.take_requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn token_is_renewed_after_half_of_its_life() {
    let setup = Setup::new().await;
    for object in chain() {
        setup.create(&object).await;
    }
    setup.create(&workload("https://g/1")).await;
    let running = setup.start();
    running.settle().await;
    let tokens = |requests: Vec<crate::setup::SentRequest>| {
        let tokens = requests.iter().filter(|sent| sent.path.ends_with("/token"));
        tokens.count()
    };
    assert_eq!(tokens(setup.take_requests()), 1);
    let path = format!("/apis/carto.run/v1alpha1/namespaces/{NAMESPACE}/workloads/w");
    for (after_minutes, expected) in [(30, 0), (40, 1), (30, 0), (40, 1)] {
        tokio::time::sleep(Duration::from_secs(after_minutes * 60)).await;
        let note = json!({"metadata": {"annotations": {"note": setup.requests().to_string()}}});
        setup.merge(&path, &note).await;
        running.settle().await;
        let renewed = tokens(setup.take_requests());
        assert_eq!(renewed, expected, "after {after_minutes} minutes");
    }
    running.end().await.unwrap();
}

fn another(number: usize) -> serde_json::Value {
    let mut one = workload("https://g/1");
    one["metadata"]["name"] = format!("w-{number}").into();
    one
}

/// The requests for a number of owners, of which at most two are in work at the same time.
async fn requests_for(owners: usize) -> usize {
    let setup = Setup::new().await;
    for object in chain() {
        setup.create(&object).await;
    }
    let mut options = ControllerOptions::new(setup.clock.clone());
    options.workers = 2;
    let running = setup.start_with(options);
    running.settle().await;
    setup.take_requests();
    for number in 0..owners {
        setup.create(&another(number)).await;
    }
    running.settle().await;
    assert_eq!(setup.stamped().await.len(), 3 * owners);
    running.end().await.unwrap();
    setup.take_requests().len()
}

#[tokio::test(start_paused = true)]
async fn requests_grow_with_the_number_of_owners() {
    let few = requests_for(20).await;
    let many = requests_for(200).await;
    assert!(many <= few * 10, "{few} requests for 20, {many} for 200");
}
