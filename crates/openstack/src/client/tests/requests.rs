//! Requests to services: repetition, errors, microversions, bodies, on a server that plays a cloud.

use std::time::Duration;

use futures::future::join_all;
use provider::ErrorKind;
use serde_json::json;

use super::super::{Delivery, Service, ServiceRequest};
use super::mock::{GotRequest, MockCloud, MockReply, SIGN_IN, answer};

const NETWORKS: &str = "GET /network/v2.0/networks";
const NEW_NETWORK: &str = "POST /network/v2.0/networks";
const SERVERS: &str = "GET /compute/v2.1/servers";

fn networks() -> ServiceRequest {
    ServiceRequest::get(Service::Network, "networks")
}

fn new_network() -> ServiceRequest {
    ServiceRequest::post(Service::Network, "networks", json!({"network": {}}))
}

fn servers() -> ServiceRequest {
    ServiceRequest::get(Service::Compute, "servers")
}

/// A cloud that gives these replies to the requests with a line, one after the other, then the last.
async fn replying(line: &'static str, replies: Vec<MockReply>) -> MockCloud {
    MockCloud::start(move |got, before| {
        let reply = replies.get(before).or(replies.last());
        reply.filter(|_| got.line() == line).cloned()
    })
    .await
}

fn busy(status: u16) -> MockReply {
    answer(status, &json!({"message": "busy"}))
}

fn found() -> MockReply {
    answer(200, &json!({"networks": []}))
}

#[tokio::test]
async fn a_read_is_repeated_while_the_service_is_away() {
    let away = [
        busy(503).with("Retry-After", "0"),
        MockReply::Reset,
        busy(502),
        found(),
    ];
    let mock = replying(NETWORKS, away.into()).await;
    let cloud = mock.connect(&[]).await.unwrap();
    assert_eq!(cloud.send(networks()).await.unwrap().status, 200);
    assert_eq!(mock.count(NETWORKS), 4);
}

#[tokio::test]
async fn a_read_is_repeated_a_bounded_number_of_times() {
    for (reply, kind) in [
        (busy(503), ErrorKind::Transient),
        (busy(429), ErrorKind::Throttled),
        (MockReply::Reset, ErrorKind::Transient),
    ] {
        let mock = replying(NETWORKS, vec![reply]).await;
        let cloud = mock.connect(&[]).await.unwrap();
        let error = cloud.send(networks()).await.unwrap_err();
        assert_eq!(error.into_provider_error(false).kind, kind);
        assert_eq!(mock.count(NETWORKS), 4);
    }
}

#[tokio::test]
async fn a_long_pause_is_left_to_the_caller() {
    let mock = replying(NETWORKS, vec![busy(429).with("Retry-After", "600")]).await;
    let cloud = mock.connect(&[]).await.unwrap();
    let error = cloud.send(networks()).await.unwrap_err();
    assert_eq!(mock.count(NETWORKS), 1);
    let error = error.into_provider_error(false);
    assert_eq!(error.kind, ErrorKind::Throttled);
    assert_eq!(error.retry_after, Some(Duration::from_secs(600)));
}

#[tokio::test]
async fn a_pause_may_be_written_as_a_time() {
    let past = busy(503).with("Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT");
    let mock = replying(NETWORKS, vec![past, found()]).await;
    let cloud = mock.connect(&[]).await.unwrap();
    cloud.send(networks()).await.unwrap();
    let future = busy(503).with("Retry-After", "Wed, 21 Oct 2415 07:28:00 GMT");
    let mock = replying(NETWORKS, vec![future]).await;
    let cloud = mock.connect(&[]).await.unwrap();
    let error = cloud.send(networks()).await.unwrap_err();
    assert!(
        error.retry_after > Some(Duration::from_secs(3600)),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_change_is_sent_once() {
    for (reply, delivery, kind) in [
        (busy(503), Delivery::Answered(503), ErrorKind::Transient),
        (busy(429), Delivery::Answered(429), ErrorKind::Throttled),
        (MockReply::Reset, Delivery::Lost, ErrorKind::OutcomeUnknown),
    ] {
        let mock = replying(NEW_NETWORK, vec![reply.with("Retry-After", "1")]).await;
        let cloud = mock.connect(&[]).await.unwrap();
        let error = cloud.send(new_network()).await.unwrap_err();
        assert_eq!(mock.count(NEW_NETWORK), 1);
        assert_eq!(error.delivery, delivery);
        let error = error.into_provider_error(true);
        assert_eq!((error.kind, error.did_nothing), (kind, false));
    }
}

#[tokio::test]
async fn a_change_without_a_connection_is_not_sent() {
    let mock = MockCloud::start(|_, _| None).await;
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let address = format!("http://127.0.0.1:{port}/");
    let cloud = mock
        .connect(&[("OS_NETWORK_ENDPOINT_OVERRIDE", &address)])
        .await
        .unwrap();
    let error = cloud.send(new_network()).await.unwrap_err();
    assert_eq!(error.delivery, Delivery::NotSent);
    assert!(error.into_provider_error(true).did_nothing);
}

#[tokio::test]
async fn a_change_after_a_refused_token_is_sent_again() {
    let mock = MockCloud::start(|got, before| match (got.line().as_str(), before) {
        (NEW_NETWORK, 0) => Some(answer(401, &json!({}))),
        (NEW_NETWORK, _) => Some(answer(201, &json!({"network": {"id": "n1"}}))),
        _ => None,
    })
    .await;
    let cloud = mock.connect(&[]).await.unwrap();
    let made = cloud.send(new_network()).await.unwrap();
    assert_eq!(
        (made.status, &made.body["network"]["id"]),
        (201, &json!("n1"))
    );
    assert_eq!(
        mock.requests(NEW_NETWORK)[1].header("x-auth-token"),
        "token-2"
    );
}

#[tokio::test]
async fn garbage_is_no_answer() {
    let page = |content_type: &str, body: &str| MockReply::Answer {
        status: 201,
        headers: vec![("Content-Type", content_type.to_owned())],
        body: body.as_bytes().to_vec(),
    };
    for reply in [
        page(
            "text/html",
            "<html>sign in to the network of the hotel</html>",
        ),
        page("application/json", "{\"network\": "),
        page("application/json", "\u{0}\u{1}"),
    ] {
        let mock = replying(NEW_NETWORK, vec![reply]).await;
        let cloud = mock.connect(&[]).await.unwrap();
        let error = cloud.send(new_network()).await.unwrap_err();
        assert_eq!(error.delivery, Delivery::Lost, "{error}");
        assert!(
            error.message.contains("is not the JSON of the service"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn an_error_has_the_id_of_the_request_and_no_token() {
    let body = json!({"NeutronError": {"type": "NetworkInUse", "message": "token-1 hunter22", "detail": ""}});
    let reply = answer(409, &body).with("x-openstack-request-id", "req-7");
    let mock = replying(NEW_NETWORK, vec![reply]).await;
    let cloud = mock.connect(&[]).await.unwrap();
    let error = cloud.send(new_network()).await.unwrap_err();
    assert_eq!(error.name.as_deref(), Some("NetworkInUse"));
    let error = error.into_provider_error(true);
    assert_eq!(error.message, "Neutron: (secret) (secret) (request req-7)");
    assert_eq!(error.kind, ErrorKind::Conflict);
}

/// Plays Nova with microversions up to one.
fn nova(got: &GotRequest, newest: (u32, u32)) -> Option<MockReply> {
    let description = json!({"version": {
        "version": format!("{}.{}", newest.0, newest.1),
        "min_version": "2.1",
    }});
    match got.line().as_str() {
        "GET /compute/v2.1/" => Some(answer(200, &description)),
        SERVERS => {
            let asked = got
                .header("openstack-api-version")
                .strip_prefix("compute ")?;
            let (major, minor) = asked.split_once('.')?;
            let asked: (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
            Some(match asked <= newest {
                true => answer(200, &json!({"asked": asked})),
                false => answer(
                    406,
                    &json!({"computeFault": {"code": 406, "message": "too new"}}),
                ),
            })
        }
        _ => None,
    }
}

#[tokio::test]
async fn the_wanted_microversion_is_asked_for() {
    let mock = MockCloud::start(|got, _| nova(got, (2, 104))).await;
    let cloud = mock.connect(&[]).await.unwrap();
    assert_eq!(
        cloud.send(servers()).await.unwrap().body["asked"],
        json!([2, 96])
    );
    assert_eq!(mock.count("GET /compute/v2.1/"), 0);
}

#[tokio::test]
async fn an_older_service_is_asked_once_for_its_versions() {
    let mock = MockCloud::start(|got, _| nova(got, (2, 79))).await;
    let cloud = mock.connect(&[]).await.unwrap();
    let answers = join_all((0..4).map(|_| cloud.send(servers()))).await;
    for answer in answers {
        assert_eq!(answer.unwrap().body["asked"], json!([2, 79]));
    }
    cloud.send(servers()).await.unwrap();
    assert_eq!(mock.count("GET /compute/v2.1/"), 1);
}

#[tokio::test]
async fn a_service_that_is_too_old_is_an_error() {
    let mock = MockCloud::start(|got, _| nova(got, (2, 53))).await;
    let cloud = mock.connect(&[]).await.unwrap();
    let error = cloud
        .send(servers())
        .await
        .unwrap_err()
        .into_provider_error(true);
    assert_eq!(
        (error.kind, error.did_nothing),
        (ErrorKind::Permanent, true)
    );
    let expected = "Nova: Nova has the microversions 2.1 to 2.53; 2.64 to 2.96 are supported";
    assert_eq!(error.message, expected);
}

#[tokio::test]
async fn bodies_of_other_types_and_headers_are_sent_as_they_are() {
    let mock = MockCloud::start(|got, _| match got.line().as_str() {
        "PUT /store/v1/AUTH_p1/box/a%20b" => Some(answer(201, &json!({}))),
        "HEAD /store/v1/AUTH_p1/box" => Some(MockReply::Answer {
            status: 204,
            headers: vec![("X-Container-Object-Count", "3".to_owned())],
            body: Vec::new(),
        }),
        "GET /store/v1/AUTH_p1/box/raw?temp=1%2B1" => Some(MockReply::Answer {
            status: 200,
            headers: vec![("Content-Type", "application/octet-stream".to_owned())],
            body: vec![0, 159, 146, 150],
        }),
        _ => None,
    })
    .await;
    let store = mock.url("/store/v1/AUTH_p1");
    let cloud = mock
        .connect(&[("OS_OBJECT_STORE_ENDPOINT_OVERRIDE", &store)])
        .await
        .unwrap();
    let put = ServiceRequest::put_nothing(Service::ObjectStore, "box/a%20b")
        .with_bytes("application/octet-stream", vec![1, 2, 3])
        .with_header("X-Delete-After", "60");
    cloud.send(put).await.unwrap();
    let got = mock.requests("PUT /store/v1/AUTH_p1/box/a%20b").remove(0);
    assert_eq!(got.header("content-type"), "application/octet-stream");
    assert_eq!(got.header("x-delete-after"), "60");
    assert_eq!(got.body.as_bytes(), [1, 2, 3]);
    let head = cloud
        .send(ServiceRequest::head(Service::ObjectStore, "box"))
        .await
        .unwrap();
    assert_eq!(head.header("x-container-object-count"), Some("3"));
    let raw = ServiceRequest::get(Service::ObjectStore, "box/raw").with_query("temp", "1+1");
    let raw = cloud.send(raw).await.unwrap();
    assert_eq!(
        (&raw.bytes[..], &raw.body),
        (&[0, 159, 146, 150][..], &json!(null))
    );
    assert_eq!(mock.count(SIGN_IN), 1);
}

#[tokio::test]
async fn a_header_with_a_line_break_is_refused() {
    let mock = MockCloud::start(|_, _| None).await;
    let cloud = mock.connect(&[]).await.unwrap();
    let request = networks().with_header("X-Name", "a\r\nX-Evil: 1");
    let error = cloud.send(request).await.unwrap_err();
    assert_eq!(error.delivery, Delivery::NotSent);
    assert_eq!(mock.count(NETWORKS), 0);
}
