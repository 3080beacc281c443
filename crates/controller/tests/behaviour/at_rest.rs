//! The requests of a controller: none at rest, few for a change.

use std::time::Duration;

use cartographer::kinds::CartoKind;
use controller::ControllerMetrics;
use http::Method;
use serde_json::json;

use crate::documents::{NAMESPACE, chain, workload};
use crate::setup::{SentRequest, Setup};

async fn deployed() -> (Setup, crate::setup::Running) {
    let setup = Setup::new().await;
    for object in chain() {
        setup.create(&object).await;
    }
    setup.create(&workload("https://g/1")).await;
    let running = setup.start();
    running.settle().await;
    assert_eq!(setup.condition("Ready").await, "True Ready");
    (setup, running)
}

fn writes(requests: &[SentRequest]) -> Vec<String> {
    let writes = requests.iter().filter(|request| request.is_write());
    writes
        .map(|request| format!("{} {}", request.method, request.path))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn controller_at_rest_sends_only_watches() {
    let (setup, running) = deployed().await;
    assert_eq!(setup.stamped().await.len(), 3);
    setup.take_requests();
    tokio::time::sleep(Duration::from_secs(60 * 60)).await;
    let requests = setup.take_requests();
    assert!(requests.is_empty(), "{requests:?}");
    assert_eq!(running.controller.metrics().queue_length, 0);
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn changed_step_costs_one_apply_and_one_status() {
    let (setup, running) = deployed().await;
    setup.take_requests();
    let reconciles = |metrics: ControllerMetrics| metrics.reconciles[&CartoKind::Workload];
    let before = reconciles(running.controller.metrics());
    let path = "/apis/carto.run/v1alpha1/clusterconfigtemplates/config";
    let part = json!({"spec": {"params": [{"name": "size", "default": "large"}]}});
    setup.merge(path, &part).await;
    running.settle().await;
    let requests = setup.take_requests();
    let of = |method: Method, end: &str| {
        let of = requests.iter();
        of.filter(|sent| sent.method == method && sent.path.contains(end))
            .count()
    };
    assert_eq!(of(Method::PATCH, "/configmaps/"), 1);
    // The app reads the config, so it changes, too; the source does not.
    assert_eq!(of(Method::PATCH, "/things/"), 1);
    assert!(of(Method::PUT, "/status") <= 1);
    // What it wrote itself comes back as events and wakes nobody.
    assert_eq!(reconciles(running.controller.metrics()), before + 1);
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps/w-config");
    let config = setup.get(&path).await.unwrap();
    assert_eq!(config["data"]["size"], "large");
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn restarted_controller_writes_nothing() {
    let (setup, running) = deployed().await;
    running.end().await.unwrap();
    setup.take_requests();
    let running = setup.start();
    running.settle().await;
    let requests = setup.take_requests();
    assert_eq!(writes(&requests), Vec::<String>::new());
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn resync_reads_and_writes_nothing() {
    let (setup, running) = deployed().await;
    setup.take_requests();
    tokio::time::sleep(Duration::from_secs(11 * 60 * 60)).await;
    let requests = setup.take_requests();
    assert!(!requests.is_empty());
    assert_eq!(writes(&requests), Vec::<String>::new());
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn deleted_object_is_made_again() {
    let (setup, running) = deployed().await;
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps/w-config");
    setup.delete(&path).await;
    running.settle().await;
    assert!(setup.get(&path).await.is_some());
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn watches_end_with_the_last_owner() {
    let (setup, running) = deployed().await;
    let with_owner = running.controller.metrics().watches;
    let path = format!("/apis/carto.run/v1alpha1/namespaces/{NAMESPACE}/workloads/w");
    setup.delete(&path).await;
    running.settle().await;
    // Things and ConfigMaps are not watched any more.
    assert_eq!(running.controller.metrics().watches, with_owner - 2);
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn stamped_objects_are_written_by_the_account() {
    let (setup, running) = deployed().await;
    let requests = setup.take_requests();
    let stamped = requests
        .iter()
        .filter(|sent| sent.path.contains("/things") || sent.path.contains("/configmaps/"))
        .filter(|sent| sent.is_write());
    assert!(stamped.clone().count() >= 3);
    assert!(stamped.clone().all(|sent| sent.with_token));
    let statuses = requests
        .iter()
        .filter(|sent| sent.path.ends_with("/status"));
    assert!(statuses.clone().all(|sent| !sent.with_token));
    let tokens = requests.iter().filter(|sent| sent.path.ends_with("/token"));
    assert_eq!(tokens.count(), 1);
    running.end().await.unwrap();
}
