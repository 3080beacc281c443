//! Refused and lost requests: one condition, no deletion, no hot loop, and the way back.

use std::time::Duration;

use http::Method;
use serde_json::json;

use crate::documents::{NAMESPACE, chain, immutable_chain, workload};
use crate::setup::{Fault, Setup};

#[tokio::test(start_paused = true)]
async fn account_without_rights_waits_for_roles() {
    let setup = Setup::new().await;
    for object in chain() {
        setup.create(&object).await;
    }
    setup.set_faults(|sent| {
        let stamps = sent.with_token && sent.path.contains("/things");
        stamps.then_some(Fault::Refused(403, "Forbidden"))
    });
    setup.create(&workload("https://g/1")).await;
    let running = setup.start();
    running.settle().await;
    let submitted = setup.condition("ResourcesSubmitted").await;
    assert!(submitted.starts_with("False "), "{submitted}");
    assert!(setup.stamped().await.is_empty());
    setup.take_requests();
    tokio::time::sleep(Duration::from_secs(60)).await;
    let tries = setup.take_requests().len();
    assert!(tries < 100, "{tries} requests in a minute");
    setup.clear_faults();
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "stamps", "namespace": NAMESPACE},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "stamper"},
        "subjects": [{"kind": "ServiceAccount", "name": "sa", "namespace": NAMESPACE}],
    });
    setup.create(&binding).await;
    running.settle().await;
    assert_eq!(setup.condition("Ready").await, "True Ready");
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn account_that_comes_later_wakes_its_owner() {
    let setup = Setup::new().await;
    let path = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/sa");
    setup.delete(&path).await;
    for object in chain() {
        setup.create(&object).await;
    }
    setup.create(&workload("https://g/1")).await;
    let running = setup.start();
    running.settle().await;
    let submitted = setup.condition("ResourcesSubmitted").await;
    assert!(submitted.ends_with("ServiceAccountError"), "{submitted}");
    setup.create(&crate::documents::account()).await;
    running.settle().await;
    assert_eq!(setup.condition("Ready").await, "True Ready");
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn list_that_fails_deletes_nothing() {
    for fault in [
        Fault::Refused(410, "Expired"),
        Fault::Refused(429, "TooManyRequests"),
        Fault::Refused(500, "InternalError"),
        Fault::LostBefore,
    ] {
        let setup = Setup::new().await;
        for object in immutable_chain() {
            setup.create(&object).await;
        }
        setup.create(&workload("https://g/1")).await;
        let running = setup.start();
        running.settle().await;
        assert_eq!(setup.stamped().await.len(), 2);
        let failing = fault.clone();
        setup.set_faults(move |sent| {
            let is_list = sent.with_token && sent.query.contains("labelSelector");
            is_list.then(|| failing.clone())
        });
        setup.take_requests();
        // The resource goes away, so its runs would be deleted.
        let part = json!({"spec": {"resources": [
            {"name": "app", "templateRef": {"kind": "ClusterTemplate", "name": "app"}},
        ]}});
        let path = "/apis/carto.run/v1alpha1/clustersupplychains/chain";
        setup.merge(path, &part).await;
        tokio::time::sleep(Duration::from_secs(30)).await;
        let requests = setup.take_requests();
        let deletions = requests.iter().filter(|sent| sent.method == Method::DELETE);
        assert_eq!(deletions.count(), 0, "{fault:?}");
        assert_eq!(setup.stamped().await.len(), 2);
        // The deletion is not forgotten.
        setup.clear_faults();
        tokio::time::sleep(Duration::from_secs(20 * 60)).await;
        assert_eq!(setup.stamped().await.len(), 1, "{fault:?}");
        running.end().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn list_that_fails_makes_no_second_run() {
    let setup = Setup::new().await;
    for object in immutable_chain() {
        setup.create(&object).await;
    }
    setup.create(&workload("https://g/1")).await;
    let running = setup.start();
    running.settle().await;
    setup.set_faults(|sent| {
        let is_list = sent.with_token && sent.query.contains("labelSelector");
        is_list.then_some(Fault::Refused(410, "Expired"))
    });
    setup.take_requests();
    let path = format!("/apis/carto.run/v1alpha1/namespaces/{NAMESPACE}/workloads/w");
    let change = json!({"spec": {"source": {"git": {"url": "https://g/2"}}}});
    setup.merge(&path, &change).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    let requests = setup.take_requests();
    let creations = requests
        .iter()
        .filter(|sent| sent.method == Method::POST && sent.path.ends_with("/things"));
    assert_eq!(creations.count(), 0);
    setup.clear_faults();
    tokio::time::sleep(Duration::from_secs(20 * 60)).await;
    assert_eq!(setup.stamped().await.len(), 3);
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn server_that_is_away_is_waited_for() {
    let setup = Setup::new().await;
    for object in chain() {
        setup.create(&object).await;
    }
    setup.create(&workload("https://g/1")).await;
    setup.set_faults(|_| Some(Fault::LostBefore));
    let running = setup.start();
    tokio::time::sleep(Duration::from_secs(300)).await;
    let tries = setup.take_requests().len();
    assert!(tries > 1 && tries < 100, "{tries} requests in five minutes");
    setup.clear_faults();
    tokio::time::sleep(Duration::from_secs(60)).await;
    running.settle().await;
    assert_eq!(setup.condition("Ready").await, "True Ready");
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn random_failures_change_nothing_about_the_end() {
    for seed in 1..=20_u64 {
        let setup = Setup::new().await;
        for object in immutable_chain() {
            setup.create(&object).await;
        }
        setup.create(&workload("https://g/1")).await;
        let mut random = seed;
        setup.set_faults(move |sent| {
            // A linear congruential generator: the test is the same each time.
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            match (random >> 33) % 12 {
                _ if sent.is_watch() => None,
                0 => Some(Fault::LostAfter),
                1 => Some(Fault::Refused(503, "ServiceUnavailable")),
                _ => None,
            }
        });
        let running = setup.start();
        tokio::time::sleep(Duration::from_secs(2 * 60 * 60)).await;
        running.settle().await;
        assert_eq!(setup.condition("Ready").await, "True Ready", "seed {seed}");
        assert_eq!(setup.stamped().await.len(), 2, "seed {seed}");
        running.end().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn definitions_that_are_missing_end_the_controller() {
    let setup = Setup::new().await;
    setup
        .delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/workloads.carto.run")
        .await;
    let running = setup.start();
    let ended = running.task.await.unwrap();
    let error = ended.unwrap_err().to_string();
    assert!(error.contains("Workload"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn watch_that_is_refused_is_named() {
    let setup = Setup::new().await;
    setup.set_faults(|sent| {
        let is_account = sent.path.ends_with("/serviceaccounts");
        is_account.then_some(Fault::Refused(403, "Forbidden"))
    });
    let running = setup.start();
    tokio::time::sleep(Duration::from_secs(60)).await;
    let failing = running.controller.metrics().failing_watches;
    let named: Vec<&String> = failing.keys().collect();
    assert_eq!(named, ["serviceaccounts"]);
    assert!(
        failing["serviceaccounts"].contains("forbidden"),
        "{failing:?}"
    );
    assert!(!running.controller.is_idle());
    setup.clear_faults();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(running.controller.metrics().failing_watches.is_empty());
    assert!(running.controller.is_idle());
    running.end().await.unwrap();
}
