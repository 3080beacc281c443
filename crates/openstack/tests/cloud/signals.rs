//! Signals through Swift: handles, conditions, and guests that the tests play.

use provider::Readiness;
use serde_json::{Value as Json, json};

use crate::objects::peer_with_objects;
use crate::support::{Live, Peer};

const HANDLE: &str = "OS::Heat::WaitConditionHandle";
const CONDITION: &str = "OS::Heat::WaitCondition";

/// Sends a request to a URL that a guest has, and returns the status and the answer.
pub(crate) async fn guest(method: reqwest::Method, url: &str, body: &str) -> (u16, String) {
    let url = reqwest::Url::parse(url).unwrap();
    let client = http_client::Clients::default().of(&url).await.unwrap();
    let request = client.request(method, url).body(body.to_owned());
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

/// Writes a signal to a URL.
pub(crate) async fn signal(url: &str, body: &str) {
    let (status, answer) = guest(reqwest::Method::PUT, url, body).await;
    assert_eq!(status, 201, "{answer}");
}

async fn handle<'p>(peer: &'p Peer, name: &str, transport: &str) -> Live<'p> {
    let spec = json!({ "signal_transport": transport });
    peer.create(HANDLE, name, spec).await.unwrap()
}

/// The URL in the attribute `signal` of a handle.
fn alarm_url(handle: &Live<'_>) -> String {
    let signal = handle.field("signal");
    let signal: Json = serde_json::from_str(signal.as_str().unwrap()).unwrap();
    signal["alarm_url"].as_str().unwrap().to_owned()
}

/// What a condition waits for after some seconds.
async fn waits_for(condition: &mut Live<'_>, seconds: i64) -> String {
    match condition.poll_after(seconds).await {
        Readiness::NotYet { why, .. } => why.unwrap().to_string(),
        other => panic!("the condition does not wait: {other:?}"),
    }
}

/// Why a condition is broken after some seconds.
async fn fails_with(condition: &mut Live<'_>, seconds: i64) -> String {
    match condition.poll_after(seconds).await {
        Readiness::Broken(why) => why.join(", "),
        other => panic!("the condition does not fail: {other:?}"),
    }
}

#[tokio::test]
async fn a_condition_waits_for_its_signals() {
    let Some(peer) = peer_with_objects().await else {
        return;
    };
    let handle = handle(&peer, "handle", "TOKEN_SIGNAL").await;
    handle.assert_found().await;
    assert!(handle.read().await.is_some());
    let endpoint = handle.field("endpoint");
    let url = endpoint.as_str().unwrap();
    let curl = handle.field("curl_cli");
    assert!(
        curl.as_str().unwrap().ends_with(&format!("'{url}'")),
        "{curl}"
    );
    let spec = json!({ "handle": handle.id(), "timeout": 60, "count": 2 });
    let mut condition = peer.begin(CONDITION, "condition", spec).await.unwrap();
    assert_eq!(
        waits_for(&mut condition, 0).await,
        "0 of 2 signals received"
    );
    signal(url, r#"{"data": "one"}"#).await;
    let one = "1 of 2 signals received: Signal 1 received";
    assert_eq!(waits_for(&mut condition, 60).await, one);
    assert_eq!(
        fails_with(&mut condition, 61).await,
        format!("{one} in 60 s")
    );
    signal(url, r#"{"id": "web", "status": "SUCCESS", "reason": "up"}"#).await;
    assert!(matches!(
        condition.poll_after(61).await,
        Readiness::Ready(_)
    ));
    assert_eq!(condition.field("data"), r#"{"1": "one", "web": null}"#);
    let read = condition.read().await.unwrap();
    assert_eq!(crate::support::json_field(&read.fields, "timeout"), 60);
    handle.delete().await.unwrap();
}

#[tokio::test]
async fn a_failure_fails_a_condition() {
    let Some(peer) = peer_with_objects().await else {
        return;
    };
    let handle = handle(&peer, "failing", "CFN_SIGNAL").await;
    assert_eq!(handle.field("endpoint"), Json::Null);
    let url = alarm_url(&handle);
    let spec = json!({ "handle": handle.id(), "timeout": 60 });
    let mut condition = peer.begin(CONDITION, "condition", spec).await.unwrap();
    signal(
        &url,
        r#"{"id": 1, "status": "FAILURE", "reason": "no disk"}"#,
    )
    .await;
    assert_eq!(fails_with(&mut condition, 0).await, "no disk");
    signal(&url, r#"{"id": 1}"#).await;
    assert!(matches!(condition.poll_after(0).await, Readiness::Ready(_)));
    signal(&url, "no json").await;
    assert_eq!(fails_with(&mut condition, 0).await, "a signal is no JSON");
    // The URL is for writing to this object only.
    let (status, _) = guest(reqwest::Method::DELETE, &url, "").await;
    assert_eq!(status, 401);
    handle.delete().await.unwrap();
    let gone = fails_with(&mut condition, 0).await;
    assert!(gone.contains("the handle was deleted"), "{gone}");
}

#[tokio::test]
async fn nothing_is_awaited_without_signals() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let handle = handle(&peer, "silent", "NO_SIGNAL").await;
    assert_eq!(handle.field("signal"), "{}");
    let spec = json!({ "handle": handle.id(), "timeout": 60, "count": 2 });
    let condition = peer.create(CONDITION, "condition", spec).await.unwrap();
    assert_eq!(condition.broken, [""; 0]);
    assert_eq!(condition.field("data"), r#"{"1": null, "2": null}"#);
}

#[tokio::test]
async fn handles_are_references_to_their_urls() {
    let Some(peer) = peer_with_objects().await else {
        return;
    };
    let complete = r#"{"Status": "SUCCESS", "Reason": "up", "UniqueId": "a", "Data": "x"}"#;
    let pairs = [
        (
            "OS::Heat::SwiftSignalHandle",
            "OS::Heat::SwiftSignal",
            r#"{"id": "a", "data": "x"}"#,
        ),
        ("OS::Heat::UpdateWaitConditionHandle", CONDITION, complete),
        (
            "AWS::CloudFormation::WaitConditionHandle",
            "AWS::CloudFormation::WaitCondition",
            complete,
        ),
    ];
    for (of_handle, of_condition, body) in pairs {
        let handle = peer.create(of_handle, "handle", json!({})).await.unwrap();
        let url = match of_handle {
            "OS::Heat::SwiftSignalHandle" => handle.field("endpoint"),
            _ => handle.field("url"),
        };
        let (spec, data) = match of_condition.starts_with("AWS") {
            true => (json!({ "Handle": url, "Timeout": 30 }), "Data"),
            false => (json!({ "handle": url, "timeout": 30 }), "data"),
        };
        let mut condition = peer.begin(of_condition, "condition", spec).await.unwrap();
        assert_eq!(
            waits_for(&mut condition, 0).await,
            "0 of 1 signals received"
        );
        signal(url.as_str().unwrap(), body).await;
        assert!(matches!(condition.poll_after(0).await, Readiness::Ready(_)));
        assert_eq!(condition.field(data), r#"{"a": "x"}"#, "{of_condition}");
        handle.delete().await.unwrap();
    }
    let strange = json!({ "handle": "https://example.com/v1/AUTH_x/a/signal", "timeout": 30 });
    let refused = peer.begin(CONDITION, "condition", strange).await.map(drop);
    assert_eq!(refused.unwrap_err().field.unwrap().to_string(), "handle");
}

#[tokio::test]
async fn transports_of_other_services_are_refused() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    for (transport, service) in [("HEAT_SIGNAL", "Heat"), ("ZAQAR_SIGNAL", "Zaqar")] {
        let refused = peer
            .refused(HANDLE, json!({ "signal_transport": transport }))
            .await;
        assert!(
            refused[0].contains(&format!("needs {service}")),
            "{refused:?}"
        );
    }
    let allowed = peer
        .refused(HANDLE, json!({ "signal_transport": "NO_SIGNAL" }))
        .await;
    assert_eq!(allowed, [""; 0]);
}
