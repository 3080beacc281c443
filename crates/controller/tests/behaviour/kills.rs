//! A controller that is killed anywhere: the next one reaches the same end, with nothing twice.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::documents::{NAMESPACE, chain, immutable_chain, workload};
use crate::setup::{Fault, Setup};

/// What must be equal: the specs of all objects, without generated names.
async fn end_of(setup: &Setup) -> BTreeMap<String, Vec<Json>> {
    let mut end: BTreeMap<String, Vec<Json>> = BTreeMap::new();
    for object in setup.stamped().await {
        let metadata = &object["metadata"];
        let name = metadata.get("generateName").unwrap_or(&metadata["name"]);
        let content = match object.get("data") {
            Some(data) => data.clone(),
            None => object["spec"].clone(),
        };
        let name = name.as_str().unwrap_or_default().to_owned();
        end.entry(name).or_default().push(content);
    }
    for contents in end.values_mut() {
        contents.sort_by_key(Json::to_string);
    }
    let ready = setup.condition("Ready").await;
    end.insert("Ready".to_owned(), vec![ready.into()]);
    end
}

/// When the controller is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KilledDuring {
    /// While the objects are made.
    Creation,
    /// While a change is carried out.
    Change,
}

async fn deployed(
    documents: Vec<Json>,
    during: KilledDuring,
    kill_after: Option<usize>,
) -> (Setup, bool) {
    let setup = Setup::new().await;
    for object in documents {
        setup.create(&object).await;
    }
    setup.create(&workload("https://g/1")).await;
    if during == KilledDuring::Change {
        let running = setup.start();
        running.settle().await;
        running.end().await.expect("the controller ends in order");
        let change = json!({"spec": {"source": {"git": {"url": "https://g/2"}}}});
        let path = format!("/apis/carto.run/v1alpha1/namespaces/{NAMESPACE}/workloads/w");
        setup.merge(&path, &change).await;
    }
    setup.take_requests();
    let mut killed = false;
    if let Some(after) = kill_after {
        let running = setup.start();
        let mut count = 0;
        setup.set_faults(move |sent| {
            count += usize::from(!sent.is_watch());
            // Once it is dead, nothing of it reaches the server.
            match count {
                count if count < after => None,
                count if count == after && after % 2 == 0 => Some(Fault::LostAfter),
                _ => Some(Fault::LostBefore),
            }
        });
        // The kill comes while the answer to the request is on its way, or soon after.
        for _ in 0..200 {
            tokio::time::sleep(Duration::from_millis(1)).await;
            if setup.requests() > after {
                break;
            }
        }
        killed = !running.controller.is_idle() || setup.condition("Ready").await == "-";
        running.kill().await;
        setup.clear_faults();
    }
    let running = setup.start();
    running.settle().await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    running.end().await.expect("the controller ends in order");
    (setup, killed)
}

async fn killed_runs_reach_the_same_end(documents: fn() -> Vec<Json>, during: KilledDuring) {
    let (setup, _) = deployed(documents(), during, None).await;
    let expected = end_of(&setup).await;
    assert_eq!(expected["Ready"], [Json::from("True Ready")]);
    let requests = setup.take_requests().len();
    let mut kills = 0;
    for seed in 0..50 {
        let after = 1 + seed % requests;
        let (setup, killed) = deployed(documents(), during, Some(after)).await;
        kills += usize::from(killed);
        let end = end_of(&setup).await;
        assert_eq!(end, expected, "killed after {after} requests");
    }
    assert!(kills > 0, "no kill came before the end");
}

#[tokio::test(start_paused = true)]
async fn controller_killed_while_it_makes_mutable_objects() {
    killed_runs_reach_the_same_end(chain, KilledDuring::Creation).await;
}

#[tokio::test(start_paused = true)]
async fn controller_killed_while_it_changes_mutable_objects() {
    killed_runs_reach_the_same_end(chain, KilledDuring::Change).await;
}

#[tokio::test(start_paused = true)]
async fn controller_killed_while_it_makes_a_run_makes_no_second_one() {
    killed_runs_reach_the_same_end(immutable_chain, KilledDuring::Creation).await;
}

#[tokio::test(start_paused = true)]
async fn controller_killed_while_it_makes_the_next_run_makes_no_third_one() {
    killed_runs_reach_the_same_end(immutable_chain, KilledDuring::Change).await;
}
