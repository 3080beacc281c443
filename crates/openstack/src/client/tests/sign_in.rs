//! Sign-in, the catalogue, and the life of a token, on a server that plays a cloud.

use std::path::Path;
use std::sync::Arc;

use blueprint::{Address, Value};
use futures::future::join_all;
use provider::{Call, Configuration, ErrorKind, Provider, ProviderError, ReadRequest};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::super::{Cloud, Delivery, Service, ServiceRequest};
use super::mock::{MockCloud, MockReply, SIGN_IN, answer, token};
use super::{settings, variables};

fn call() -> Call {
    Call {
        call_records: None,
        instances: None,
        instance: "shop".into(),
        address: Address::root("net"),
        urn: Default::default(),
        token: "t".into(),
        deadline: None,
        cancel: CancellationToken::new(),
        root: Path::new("").into(),
        folder: Path::new("").into(),
        settings: Value::Null,
        files: provider::FileAccess::default(),
        now: 1_672_671_845,
        progress: Arc::new(|_| {}),
    }
}

const NETWORKS: &str = "GET /network/v2.0/networks";

fn networks() -> ServiceRequest {
    ServiceRequest::get(Service::Network, "networks")
}

/// The error of a sign-in that must fail.
async fn refused(cloud: &MockCloud, more: &[(&str, &str)]) -> ProviderError {
    let error = cloud
        .connect(more)
        .await
        .err()
        .expect("the sign-in must fail");
    assert!(!error.message.contains("hunter22"), "{error}");
    assert!(error.session.is_some(), "{error}");
    error
}

/// A cloud whose network service accepts these tokens.
async fn accepting(good: &'static [&'static str]) -> MockCloud {
    MockCloud::start(move |got, _| match got.line() == NETWORKS {
        true if good.contains(&got.header("x-auth-token")) => {
            Some(answer(200, &json!({"networks": []})))
        }
        true => Some(answer(
            401,
            &json!({"error": {"code": 401, "message": "who?"}}),
        )),
        false => None,
    })
    .await
}

#[tokio::test]
async fn a_password_signs_in_to_a_project() {
    let mock = accepting(&["token-1"]).await;
    let cloud = mock.connect(&[]).await.unwrap();
    assert_eq!(cloud.project, "p1");
    let default = json!({"id": "default"});
    let expected = json!({"auth": {
        "identity": {"methods": ["password"], "password": {"user": {
            "name": "demo", "domain": default, "password": "hunter22",
        }}},
        "scope": {"project": {"name": "shop", "domain": default}},
    }});
    assert_eq!(mock.requests(SIGN_IN)[0].json(), expected);
    let answer = cloud.send(networks()).await.unwrap();
    assert_eq!(answer.body, json!({"networks": []}));
}

#[tokio::test]
async fn an_application_credential_signs_in_without_a_scope() {
    let mock = MockCloud::start(|_, _| None).await;
    let by_id = [
        ("OS_APPLICATION_CREDENTIAL_ID", "c1"),
        ("OS_APPLICATION_CREDENTIAL_SECRET", "sesame12"),
        ("OS_AUTH_TYPE", "v3applicationcredential"),
    ];
    mock.connect(&by_id).await.unwrap();
    let by_name = [
        ("OS_APPLICATION_CREDENTIAL_NAME", "robot"),
        ("OS_APPLICATION_CREDENTIAL_SECRET", "sesame12"),
        ("OS_USER_DOMAIN_NAME", "staff"),
    ];
    mock.connect(&by_name).await.unwrap();
    let sent: Vec<_> = mock
        .requests(SIGN_IN)
        .iter()
        .map(|got| got.json())
        .collect();
    let expected = [
        json!({"id": "c1", "secret": "sesame12"}),
        json!({"name": "robot", "secret": "sesame12",
               "user": {"name": "demo", "domain": {"name": "staff"}}}),
    ];
    for (sent, expected) in sent.iter().zip(&expected) {
        let auth = &sent["auth"];
        assert_eq!(auth["identity"]["application_credential"], *expected);
        assert_eq!(auth.get("scope"), None);
    }
}

#[tokio::test]
async fn a_domain_or_the_system_can_be_the_scope() {
    let mock = MockCloud::start(|_, _| None).await;
    let url = mock.url("/identity/v3/");
    for (more, scope) in [
        (
            ("domain-name", "staff"),
            json!({"domain": {"name": "staff"}}),
        ),
        (("system-scope", "all"), json!({"system": {"all": true}})),
        (("trust-id", "t1"), json!({"OS-TRUST:trust": {"id": "t1"}})),
        (("project-id", "p1"), json!({"project": {"id": "p1"}})),
    ] {
        let all = [
            ("auth-url", url.as_str()),
            ("user-id", "u1"),
            ("password", "hunter22"),
            more,
        ];
        Cloud::connect_in(&settings(&all), variables(&[]))
            .await
            .unwrap();
        let last = mock.requests(SIGN_IN).pop().unwrap().json();
        assert_eq!(last["auth"]["scope"], scope);
        assert_eq!(last["auth"]["identity"]["password"]["user"]["id"], "u1");
    }
}

#[tokio::test]
async fn a_token_is_renewed_before_it_expires() {
    let mock = MockCloud::start(|got, before| match (got.line().as_str(), before) {
        (SIGN_IN, 0) => {
            let host = format!("http://{}", got.header("host"));
            Some(token(&host, 1, 0))
        }
        (NETWORKS, _) => Some(answer(200, &json!({"networks": []}))),
        _ => None,
    })
    .await;
    let cloud = mock.connect(&[]).await.unwrap();
    cloud.send(networks()).await.unwrap();
    cloud.send(networks()).await.unwrap();
    let tokens: Vec<_> = mock.requests(NETWORKS);
    let tokens: Vec<_> = tokens
        .iter()
        .map(|got| got.header("x-auth-token"))
        .collect();
    assert_eq!(tokens, ["token-2", "token-2"]);
}

#[tokio::test]
async fn a_refused_token_is_renewed_once_for_all_requests() {
    let mock = accepting(&["token-2"]).await;
    let cloud = Arc::new(mock.connect(&[]).await.unwrap());
    let answers = join_all((0..8).map(|_| cloud.send(networks()))).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(mock.count(SIGN_IN), 2);
}

#[tokio::test]
async fn a_token_that_stays_refused_is_an_error() {
    let mock = accepting(&[]).await;
    let cloud = mock.connect(&[]).await.unwrap();
    let error = cloud.send(networks()).await.unwrap_err();
    assert_eq!(error.delivery, Delivery::Answered(401));
    assert_eq!(
        error.into_provider_error(false).kind,
        ErrorKind::Credentials
    );
    assert_eq!((mock.count(SIGN_IN), mock.count(NETWORKS)), (2, 2));
}

#[tokio::test]
async fn a_revoked_password_ends_the_session_with_one_sign_in() {
    let mock = MockCloud::start(|got, before| match got.line().as_str() {
        SIGN_IN if before == 0 => None,
        _ => Some(answer(
            401,
            &json!({"error": {"code": 401, "message": "no hunter22"}}),
        )),
    })
    .await;
    let cloud = mock.connect(&[]).await.unwrap();
    let answers = join_all((0..4).map(|_| cloud.send(networks()))).await;
    for answer in answers {
        let error = answer.unwrap_err().into_provider_error(true);
        assert_eq!(error.kind, ErrorKind::Credentials, "{error}");
        assert!(error.session.is_some() && error.did_nothing, "{error:?}");
        assert!(
            error.message.contains("the session cannot be renewed"),
            "{error}"
        );
        assert!(error.message.contains("the user `demo`"), "{error}");
        assert!(!error.message.contains("hunter22"), "{error}");
    }
    assert_eq!(mock.count(SIGN_IN), 2);
}

#[tokio::test]
async fn a_token_is_used_while_keystone_is_away() {
    let mock = MockCloud::start(|got, before| match (got.line().as_str(), before) {
        (SIGN_IN, 0) => Some(token(&format!("http://{}", got.header("host")), 1, 0)),
        (SIGN_IN, _) => Some(answer(503, &json!({})).with("Retry-After", "600")),
        (NETWORKS, _) => Some(answer(200, &json!({"networks": []}))),
        _ => None,
    })
    .await;
    let cloud = mock.connect(&[]).await.unwrap();
    cloud.send(networks()).await.unwrap();
    assert_eq!(mock.requests(NETWORKS)[0].header("x-auth-token"), "token-1");
}

#[tokio::test]
async fn a_refused_sign_in_names_the_user_and_where_it_is_written() {
    let mock = MockCloud::start(|_, _| {
        let message = "The request you have made requires authentication.";
        Some(answer(
            401,
            &json!({"error": {"code": 401, "message": message}}),
        ))
    })
    .await;
    let error = refused(&mock, &[]).await;
    assert_eq!(error.kind, ErrorKind::Credentials);
    assert!(error.message.contains("refuses the user `demo`"), "{error}");
    assert!(
        error.message.contains("the cloud of the variables"),
        "{error}"
    );
    assert_eq!(mock.count(SIGN_IN), 1);
}

#[tokio::test]
async fn an_address_without_keystone_is_an_error() {
    let page = MockReply::Answer {
        status: 200,
        headers: vec![("Content-Type", "text/html".to_owned())],
        body: b"<html>welcome</html>".to_vec(),
    };
    let missing = answer(404, &json!({}));
    for (reply, words) in [(missing, "there is no Keystone"), (page, "without a token")] {
        let mock = MockCloud::start(move |_, _| Some(reply.clone())).await;
        let error = refused(&mock, &[]).await;
        assert_eq!(error.kind, ErrorKind::Credentials);
        assert!(error.message.contains(words), "{error}");
    }
}

#[tokio::test]
async fn an_application_credential_that_is_gone_is_an_error() {
    let mock = MockCloud::start(|_, _| {
        let message = "Could not find Application Credential: c1.";
        Some(answer(
            404,
            &json!({"error": {"code": 404, "message": message, "title": "Not Found"}}),
        ))
    })
    .await;
    let credential = [
        ("OS_APPLICATION_CREDENTIAL_ID", "c1"),
        ("OS_APPLICATION_CREDENTIAL_SECRET", "hunter22"),
    ];
    let error = refused(&mock, &credential).await;
    assert_eq!(error.kind, ErrorKind::Credentials);
    let expected = "refuses the application credential `c1`: Could not find Application Credential";
    assert!(error.message.contains(expected), "{error}");
}

#[tokio::test]
async fn an_unreachable_keystone_is_a_temporary_failure() {
    let mock = MockCloud::start(|_, _| None).await;
    // Nothing listens on the port of a listener that was dropped.
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let address = format!("http://127.0.0.1:{port}/identity");
    let error = refused(&mock, &[("OS_AUTH_URL", &address)]).await;
    assert_eq!(
        (error.kind, error.did_nothing),
        (ErrorKind::Transient, true)
    );
    assert!(
        error
            .message
            .contains(&format!("127.0.0.1:{port} cannot be reached")),
        "{error}"
    );
}

#[tokio::test]
async fn a_region_must_exist_and_be_chosen() {
    let mock = MockCloud::start(|_, _| None).await;
    let error = refused(&mock, &[("OS_REGION_NAME", "three")]).await;
    assert!(
        error
            .message
            .contains("has no region `three`; it has `one`"),
        "{error}"
    );
    let several = MockCloud::start(|got, _| {
        let host = format!("http://{}", got.header("host"));
        let MockReply::Answer { body, .. } = token(&host, 1, 3600) else {
            return None;
        };
        let text = String::from_utf8(body).unwrap();
        let mut body: serde_json::Value = serde_json::from_str(&text).unwrap();
        body["token"]["catalog"][0]["endpoints"][0]["region_id"] = json!("two");
        Some(answer(201, &body).with("X-Subject-Token", "token-1"))
    })
    .await;
    let error = refused(&several, &[]).await;
    assert!(
        error.message.contains("several regions: `one`, `two`"),
        "{error}"
    );
    let cloud = several.connect(&[("OS_REGION_NAME", "two")]).await.unwrap();
    let error = cloud.send(networks()).await.unwrap_err();
    let expected = "the cloud has no network service (Neutron) in the region `two`";
    assert_eq!(error.message, expected);
}

#[tokio::test]
async fn a_service_that_the_cloud_lacks_is_a_permanent_error() {
    let mock = MockCloud::start(|_, _| None).await;
    let cloud = mock.connect(&[]).await.unwrap();
    let request = ServiceRequest::get(Service::LoadBalancer, "lbaas/loadbalancers");
    let error = cloud.send(request).await.unwrap_err();
    assert_eq!(error.delivery, Delivery::NotSent);
    let error = error.into_provider_error(true);
    assert_eq!(
        (error.kind, error.did_nothing),
        (ErrorKind::Permanent, true)
    );
    let expected = "Octavia: the cloud has no load balancer service (Octavia) in the region `one`";
    assert_eq!(error.message, expected);
}

#[tokio::test]
async fn interface_and_addresses_can_be_chosen() {
    let mock = MockCloud::start(|got, _| {
        (got.method == "GET").then(|| answer(200, &json!({"at": got.path})))
    })
    .await;
    let inside = mock
        .connect(&[("OS_INTERFACE", "internalURL")])
        .await
        .unwrap();
    let at = inside.send(networks()).await.unwrap().body;
    assert_eq!(at["at"], "/inside/v2.0/networks");
    let request = || ServiceRequest::get(Service::Compute, "servers");
    let error = inside.send(request()).await.unwrap_err();
    let expected =
        "Nova has no endpoint with the interface `internal` in the region `one`; it has `public`";
    assert_eq!(error.message, expected);
    let url = mock.url("/elsewhere/v2.1/%(project_id)s");
    let other = mock
        .connect(&[("OS_COMPUTE_ENDPOINT_OVERRIDE", &url)])
        .await
        .unwrap();
    let at = other.send(request()).await.unwrap().body;
    assert_eq!(at["at"], "/elsewhere/v2.1/servers");
}

#[tokio::test]
async fn only_the_named_authority_is_trusted() {
    let hosts = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(hosts).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key.into())
        .unwrap();
    let mock = MockCloud::start_with(Some(Arc::new(config).into()), |_, _| None).await;
    let error = refused(&mock, &[]).await;
    assert_eq!(
        (error.kind, error.did_nothing),
        (ErrorKind::Permanent, true)
    );
    assert!(error.message.contains("is not trusted"), "{error}");
    assert!(error.message.contains("`cacert`"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, made.cert.pem()).unwrap();
    let cloud = mock
        .connect(&[("OS_CACERT", file.to_str().unwrap())])
        .await
        .unwrap();
    assert_eq!(cloud.project, "p1");
    mock.connect(&[("OS_CACERT", &made.cert.pem())])
        .await
        .unwrap();
}

#[tokio::test]
async fn a_session_tries_a_refused_password_once() {
    let mock = MockCloud::start(|_, _| Some(answer(401, &json!({})))).await;
    let entries = [
        ("auth-url", mock.url("/identity")),
        ("user-id", "u1".to_owned()),
        ("password", "hunter22".to_owned()),
        ("project-id", "p1".to_owned()),
    ];
    let entries = entries.map(|(name, value)| (name, Value::text(value)));
    let with = Configuration {
        name: "far".into(),
        settings: Value::map(entries),
        former: Value::Null,
        offline: false,
        root: Path::new("/nowhere").into(),
        log: Arc::new(|_| {}),
    };
    let provider = Arc::new(crate::provider());
    let session = provider.configure(with).await.unwrap().session;
    for _ in 0..3 {
        let request = ReadRequest {
            type_name: "OS::Neutron::Net",
            id: Some("n1"),
            inputs: &Value::Null,
            outputs: &Value::Null,
            schema_version: 0,
            private: &Value::Null,
            token: None,
        };
        let error = session.read(&call(), request).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Credentials);
        let failed = error.session.map(|failed| failed.provider.clone());
        assert_eq!(failed.as_deref(), Some("far"));
    }
    assert_eq!(mock.count(SIGN_IN), 1);
}
