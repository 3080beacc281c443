//! The client on a real cloud. `CYAN_TEST_CLOUDS` names a `clouds.yaml` with the clouds `admin` and
//! `demo`; without it, the tests say that they are skipped.

use provider::ErrorKind;
use serde_json::json;

use super::super::{Cloud, Service, ServiceRequest};
use super::{settings, variables};

/// The file with clouds. Without it, prints a message and returns `None`.
fn clouds() -> Option<String> {
    let file = std::env::var("CYAN_TEST_CLOUDS")
        .ok()
        .filter(|file| !file.is_empty());
    if file.is_none() {
        let all = std::env::var_os("CYAN_TEST_ALL").is_some();
        assert!(
            !all,
            "the cloud should have been started: CYAN_TEST_CLOUDS is not set"
        );
        eprintln!(
            "skipped: a cloud of OpenStack is needed; CYAN_TEST_CLOUDS names its clouds.yaml"
        );
    }
    file
}

async fn demo(file: &str) -> Cloud {
    let settings = settings(&[("cloud", "demo"), ("config-file", file)]);
    Cloud::connect_in(&settings, variables(&[])).await.unwrap()
}

#[tokio::test]
async fn the_services_answer_with_the_wanted_microversions() {
    let Some(file) = clouds() else {
        return;
    };
    let cloud = demo(&file).await;
    assert_eq!(cloud.project.len(), 32);
    for (service, path, list) in [
        (Service::Compute, "flavors", "flavors"),
        (Service::Network, "networks", "networks"),
        (Service::Volume, "volumes", "volumes"),
        (Service::Image, "images", "images"),
        (Service::Orchestration, "stacks", "stacks"),
        (Service::Identity, "auth/projects", "projects"),
    ] {
        let answer = cloud.send(ServiceRequest::get(service, path)).await;
        let answer = answer.unwrap_or_else(|error| panic!("{service}: {error}"));
        assert!(answer.body[list].is_array(), "{service}: {}", answer.body);
        let id = answer.request_id.as_deref().expect("an id");
        assert!(id.starts_with("req-"), "{service}: {id}");
        let used = answer.header("openstack-api-version");
        let wanted = match service {
            Service::Compute => Some("compute 2.96"),
            Service::Volume => Some("volume 3.71"),
            _ => None,
        };
        assert!(wanted.is_none() || used == wanted, "{service}: {used:?}");
    }
}

#[tokio::test]
async fn errors_have_the_words_of_each_service() {
    let Some(file) = clouds() else {
        return;
    };
    let cloud = demo(&file).await;
    let missing = "00000000-0000-0000-0000-000000000000";
    for (service, path, name) in [
        (Service::Compute, "servers", Some("itemNotFound")),
        (Service::Network, "networks", Some("NetworkNotFound")),
        (Service::Volume, "volumes", Some("itemNotFound")),
        (Service::Image, "images", Some("Not Found")),
        (Service::Orchestration, "stacks", Some("EntityNotFound")),
    ] {
        let request = ServiceRequest::get(service, format!("{path}/{missing}"));
        let error = cloud.send(request).await.unwrap_err();
        assert!(error.is_not_found(), "{service}: {error:?}");
        assert_eq!(error.name.as_deref(), name, "{service}: {error:?}");
        assert!(error.message.contains(missing), "{service}: {error}");
        assert!(!error.message.contains('<'), "{service}: {error}");
        assert!(error.request_id.is_some(), "{service}");
    }
    let flavor = json!({"flavor": {"name": "client-test", "ram": 1, "vcpus": 1, "disk": 0}});
    let refused = cloud
        .send(ServiceRequest::post(Service::Compute, "flavors", flavor))
        .await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.status(), Some(403));
    assert_eq!(refused.into_provider_error(true).kind, ErrorKind::Permanent);
}

#[tokio::test]
async fn a_token_that_was_revoked_is_replaced() {
    let Some(file) = clouds() else {
        return;
    };
    let cloud = demo(&file).await;
    let token = cloud.token_text().await;
    let revoke = ServiceRequest::delete(Service::Identity, "auth/tokens");
    let revoked = cloud
        .send(revoke.with_header("X-Subject-Token", token.as_str()))
        .await;
    assert_eq!(revoked.unwrap().status, 204);
    // Keystone itself accepts the token for a while.
    cloud
        .send(ServiceRequest::get(Service::Network, "networks"))
        .await
        .unwrap();
    assert_ne!(cloud.token_text().await, token);
}

#[tokio::test]
async fn an_application_credential_signs_in() {
    let Some(file) = clouds() else {
        return;
    };
    let cloud = demo(&file).await;
    let user = cloud.user().await.expect("the user of the token");
    let path = format!("users/{user}/application_credentials");
    let name = format!("client-test-{}", uuid::Uuid::new_v4());
    let body = json!({"application_credential": {"name": name}});
    let made = cloud
        .send(ServiceRequest::post(Service::Identity, path.as_str(), body))
        .await;
    let made = made.unwrap().body["application_credential"].clone();
    let (id, secret) = (
        made["id"].as_str().unwrap(),
        made["secret"].as_str().unwrap(),
    );
    let keystone = cloud.keystone();
    let by_credential = settings(&[
        ("auth-url", keystone.as_str()),
        ("region", "RegionOne"),
        ("application-credential-id", id),
        ("application-credential-secret", secret),
    ]);
    let other = Cloud::connect_in(&by_credential, variables(&[])).await;
    let answer = match &other {
        Ok(other) => other
            .send(ServiceRequest::get(Service::Network, "networks"))
            .await
            .is_ok(),
        Err(_) => false,
    };
    let gone = cloud
        .send(ServiceRequest::delete(
            Service::Identity,
            format!("{path}/{id}"),
        ))
        .await;
    gone.unwrap();
    let other = other.unwrap();
    assert_eq!(other.project, cloud.project);
    assert!(answer);
    // Its tokens ended with the credential. Nova has not seen the token before.
    let error = other
        .send(ServiceRequest::get(Service::Compute, "servers"))
        .await
        .unwrap_err();
    assert!(
        error.message.contains("the session cannot be renewed"),
        "{error}"
    );
    assert!(
        error.message.contains(id) && !error.message.contains(secret),
        "{error}"
    );
    assert_eq!(error.into_provider_error(true).kind, ErrorKind::Credentials);
}

#[tokio::test]
async fn a_wrong_password_is_refused() {
    let Some(file) = clouds() else {
        return;
    };
    let wrong = settings(&[
        ("cloud", "demo"),
        ("config-file", &file),
        ("password", "hunter22"),
    ]);
    let error = Cloud::connect_in(&wrong, variables(&[]))
        .await
        .err()
        .expect("it is refused");
    assert_eq!(error.kind, ErrorKind::Credentials);
    assert!(error.message.contains("refuses the user `demo`"), "{error}");
    assert!(!error.message.contains("hunter22"), "{error}");
}
