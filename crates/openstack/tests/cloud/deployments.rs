//! Software deployments through Swift. The tests play the agents of the guests.

use provider::Readiness;
use serde_json::{Value as Json, json};

use crate::objects::peer_with_objects;
use crate::signals::{guest, signal};
use crate::support::{Live, Peer};

const DEPLOYMENT: &str = "OS::Heat::SoftwareDeployment";
const MACHINE: &str = "OS::Heat::DeployedServer";

/// The deployments that the agent of a machine reads.
async fn deployments(machine: &Live<'_>) -> Vec<Json> {
    let agent = machine.field("os_collect_config");
    assert_eq!(agent["collectors"], json!(["request", "local"]));
    let url = agent["request"]["metadata_url"].as_str().unwrap();
    let (status, metadata) = guest(reqwest::Method::GET, url, "").await;
    assert_eq!(status, 200, "{metadata}");
    let metadata: Json = serde_json::from_str(&metadata).unwrap();
    let read = &metadata["os-collect-config"]["request"]["metadata_url"];
    assert_eq!(read, url);
    metadata["deployments"].as_array().unwrap().clone()
}

/// The value of an input of a deployment.
fn input(deployment: &Json, name: &str) -> Json {
    let inputs = deployment["inputs"].as_array().unwrap();
    let input = inputs.iter().find(|input| input["name"] == name);
    input.map_or(Json::Null, |input| input["value"].clone())
}

/// Answers a deployment as an agent does.
async fn answer(deployment: &Json, body: &str) {
    assert_eq!(input(deployment, "deploy_signal_verb"), "PUT");
    signal(
        input(deployment, "deploy_signal_id").as_str().unwrap(),
        body,
    )
    .await;
}

async fn config<'p>(peer: &'p Peer, spec: Json) -> Live<'p> {
    let created = peer
        .create("OS::Heat::SoftwareConfig", "config", spec)
        .await;
    created.unwrap()
}

#[tokio::test]
async fn a_deployment_is_carried_out_and_answered() {
    let Some(peer) = peer_with_objects().await else {
        return;
    };
    let machine = peer.create(MACHINE, "machine", json!({})).await.unwrap();
    assert_eq!(deployments(&machine).await, [Json::Null; 0]);
    let config = config(
        &peer,
        json!({
            "group": "script", "config": "echo $who",
            "inputs": [{ "name": "who", "default": "world" }], "outputs": [{ "name": "result" }],
        }),
    );
    let config = config.await;
    let spec = |who: &str| {
        json!({ "server": machine.id(), "config": config.id(), "name": "b",
            "input_values": { "who": who }, "actions": ["CREATE", "UPDATE", "DELETE"] })
    };
    let mut live = peer.begin(DEPLOYMENT, "hello", spec("you")).await.unwrap();
    assert!(matches!(live.poll_after(0).await, Readiness::NotYet { .. }));
    let [first] = deployments(&machine).await.try_into().unwrap();
    assert_eq!(
        (&first["name"], &first["config"]),
        (&json!("b"), &json!("echo $who"))
    );
    assert_eq!(input(&first, "who"), "you");
    assert_eq!(input(&first, "deploy_action"), "CREATE");
    assert_eq!(input(&first, "deploy_server_id"), machine.id());
    answer(
        &first,
        r#"{"deploy_stdout": "hi", "deploy_status_code": 0, "result": "fine"}"#,
    )
    .await;
    assert!(matches!(live.poll_after(0).await, Readiness::Ready(_)));
    assert_eq!(live.field("deploy_stdout"), "hi");
    assert_eq!(live.field("result"), "fine");

    let silent = json!({ "server": machine.id(), "name": "a", "signal_transport": "NO_SIGNAL" });
    let silent = peer.create(DEPLOYMENT, "silent", silent).await.unwrap();
    let names: Vec<Json> = deployments(&machine)
        .await
        .iter()
        .map(|it| it["name"].clone())
        .collect();
    assert_eq!(names, ["a", "b"]);
    silent.unset().await.unwrap();

    live.begin_update(spec("me")).await.unwrap();
    let [second] = deployments(&machine).await.try_into().unwrap();
    assert_ne!(first["id"], second["id"]);
    assert_eq!(input(&second, "who"), "me");
    assert_eq!(input(&second, "deploy_action"), "UPDATE");
    // The answer to the first deployment does not count any more.
    assert!(matches!(live.poll_after(0).await, Readiness::NotYet { .. }));
    answer(&second, r#"{"deploy_status_code": 7}"#).await;
    let Readiness::Broken(why) = live.poll_after(0).await else {
        panic!("the deployment fails");
    };
    assert_eq!(
        why.join(""),
        "the configuration ended with the status code 7"
    );
    live.unset().await.unwrap();
    assert_eq!(deployments(&machine).await, [Json::Null; 0]);
    machine.delete().await.unwrap();
}

#[tokio::test]
async fn deployments_at_the_same_time_are_all_seen() {
    let Some(peer) = peer_with_objects().await else {
        return;
    };
    let machine = peer.create(MACHINE, "machine", json!({})).await.unwrap();
    let spec = json!({ "server": machine.id(), "signal_transport": "NO_SIGNAL" });
    let names = ["one", "two", "three", "four", "five", "six"];
    let all = names.map(|name| peer.create(DEPLOYMENT, name, spec.clone()));
    let all = futures::future::join_all(all).await;
    assert_eq!(deployments(&machine).await.len(), names.len());
    let deletions = all.into_iter().map(|live| live.unwrap().unset());
    for deleted in futures::future::join_all(deletions).await {
        deleted.unwrap();
    }
    assert_eq!(deployments(&machine).await, [Json::Null; 0]);
    machine.delete().await.unwrap();
}

#[tokio::test]
async fn a_server_reads_its_deployments_where_its_spec_says() {
    let Some(peer) = peer_with_objects().await else {
        return;
    };
    let place = json!({ "container": format!("{}-place", peer.run), "object": "agent" });
    // Another machine with the same place shows the test what the server reads.
    let spec = json!({ "deployment_swift_data": place });
    let machine = peer.create(MACHINE, "machine", spec).await.unwrap();
    let spec = json!({ "image": "cirros", "flavor": "m1.nano", "networks": [{ "allocate_network": "none" }],
        "user_data_format": "SOFTWARE_CONFIG", "user_data": "#!/bin/sh\n",
        "deployment_swift_data": place });
    let server = peer
        .create("OS::Nova::Server", "server", spec)
        .await
        .unwrap();
    assert_eq!(server.broken, [""; 0]);
    let config = json!({ "config": { "a": { "get_input": "x" } } });
    let config = peer
        .create("OS::Heat::StructuredConfig", "config", config)
        .await
        .unwrap();
    let spec =
        json!({ "server": server.id(), "config": config.id(), "input_values": { "x": [1] } });
    let mut live = peer
        .begin("OS::Heat::StructuredDeployment", "data", spec)
        .await
        .unwrap();
    let url = machine.field("os_collect_config")["request"]["metadata_url"].clone();
    let (_, metadata) = guest(reqwest::Method::GET, url.as_str().unwrap(), "").await;
    let metadata: Json = serde_json::from_str(&metadata).unwrap();
    let deployment = &metadata["deployments"][0];
    assert_eq!(deployment["config"], json!({ "a": [1] }));
    answer(deployment, "{}").await;
    assert!(matches!(live.poll_after(0).await, Readiness::Ready(_)));
    live.unset().await.unwrap();
    server.delete().await.unwrap();
    machine.delete().await.unwrap();
}

#[tokio::test]
async fn a_deployment_needs_a_server_and_a_configuration_of_this_program() {
    let Some(peer) = peer_with_objects().await else {
        return;
    };
    let unknown = "11111111-2222-4333-8444-555555555555";
    let refused = peer.begin(DEPLOYMENT, "nowhere", json!({ "server": unknown }));
    let error = refused.await.map(drop).unwrap_err();
    assert_eq!(error.field.unwrap().to_string(), "server");
    let machine = peer.create(MACHINE, "machine", json!({})).await.unwrap();
    let spec = json!({ "server": machine.id(), "config": unknown });
    let error = peer
        .begin(DEPLOYMENT, "without", spec)
        .await
        .map(drop)
        .unwrap_err();
    assert_eq!(error.field.unwrap().to_string(), "config");
    machine.delete().await.unwrap();
    for transport in ["POLL_SERVER_HEAT", "ZAQAR_MESSAGE"] {
        let refused = peer.refused(MACHINE, json!({ "software_config_transport": transport }));
        assert!(refused.await[0].contains("use `POLL_TEMP_URL`"));
    }
}
