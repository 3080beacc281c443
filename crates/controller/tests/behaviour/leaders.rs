//! Leader election: one controller works, another one takes over.

use std::time::Duration;

use controller::{ControllerError, ControllerOptions, LeaderElection};
use serde_json::json;

use crate::documents::{chain, workload};
use crate::setup::{Fault, Running, Setup};

const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases/cyan";

fn start(setup: &Setup, identity: &str) -> Running {
    let mut options = ControllerOptions::new(setup.clock.clone());
    options.leader_election = Some(LeaderElection::new("default", "cyan", identity));
    setup.start_with(options)
}

async fn holder(setup: &Setup) -> String {
    let lease = setup.get(LEASE).await.expect("the Lease exists");
    let holder = lease["spec"]["holderIdentity"].as_str();
    holder.unwrap_or_default().to_owned()
}

#[tokio::test(start_paused = true)]
async fn second_controller_works_after_the_first_one_ends() {
    let setup = Setup::new().await;
    let first = start(&setup, "one");
    first.settle().await;
    let second = start(&setup, "two");
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(holder(&setup).await, "one");
    assert!(!second.controller.is_idle());
    first.end().await.unwrap();
    assert_eq!(holder(&setup).await, "");
    second.settle().await;
    assert_eq!(holder(&setup).await, "two");
    for object in chain() {
        setup.create(&object).await;
    }
    setup.create(&workload("https://g/1")).await;
    second.settle().await;
    assert_eq!(setup.condition("Ready").await, "True Ready");
    second.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn lease_of_a_dead_controller_runs_out() {
    let setup = Setup::new().await;
    let first = start(&setup, "one");
    first.settle().await;
    first.kill().await;
    let second = start(&setup, "two");
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(holder(&setup).await, "one");
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(holder(&setup).await, "two");
    second.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn leader_stops_when_it_cannot_renew() {
    let setup = Setup::new().await;
    let first = start(&setup, "one");
    first.settle().await;
    setup.set_faults(|sent| {
        let is_lease = sent.path.contains("/leases/");
        is_lease.then_some(Fault::Refused(503, "ServiceUnavailable"))
    });
    let ended = tokio::time::timeout(Duration::from_secs(15), first.task).await;
    let ended = ended.expect("it stops before the Lease runs out").unwrap();
    assert_eq!(ended, Err(ControllerError::LeadershipLost));
}

#[tokio::test(start_paused = true)]
async fn leader_stops_when_another_one_holds_the_lease() {
    let setup = Setup::new().await;
    let first = start(&setup, "one");
    first.settle().await;
    setup
        .merge(LEASE, &json!({"spec": {"holderIdentity": "two"}}))
        .await;
    let ended = tokio::time::timeout(Duration::from_secs(15), first.task).await;
    assert_eq!(
        ended.unwrap().unwrap(),
        Err(ControllerError::LeadershipLost)
    );
}
