//! A local cluster with the rules of admission, through a client.

use std::sync::Arc;

use controller::admission::{AdmissionVerdict, WEBHOOK_NAME};
use controller::install::definitions;
use http::{Method, Request};
use kube::Client;
use local_cluster::{AdmissionAnswer, AdmissionHook, ClusterOptions, LocalCluster};
use serde_json::{Value as Json, json};

use crate::setup::{bad_chain, good_chain};

const CHAINS: &str = "/apis/carto.run/v1alpha1/clustersupplychains";

fn cluster() -> Client {
    let decide = |object: &Json| {
        let verdict = AdmissionVerdict::of(object);
        AdmissionAnswer {
            refused: verdict.refused,
            warnings: verdict.warnings,
        }
    };
    let cluster = LocalCluster::new(ClusterOptions {
        admission: Some(AdmissionHook {
            name: WEBHOOK_NAME.to_owned(),
            decide: Arc::new(decide),
        }),
        ..ClusterOptions::default()
    });
    Client::new(cluster.service(), "default")
}

async fn ask(
    client: &Client,
    method: Method,
    path: &str,
    form: &str,
    body: &Json,
) -> kube::Result<Json> {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", form);
    let request = request.body(body.to_string().into_bytes()).unwrap();
    client.request::<Json>(request).await
}

#[tokio::test]
async fn a_chain_without_selector_is_refused() {
    let client = cluster();
    let json = "application/json";
    let definition_path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for definition in definitions() {
        let created = ask(&client, Method::POST, definition_path, json, &definition).await;
        created.unwrap();
    }
    let one = format!("{CHAINS}/chain");
    let applied = format!("{one}?fieldManager=test");
    let apply = "application/apply-patch+yaml";
    for (method, path, form) in [
        (Method::POST, CHAINS, json),
        (Method::PATCH, applied.as_str(), apply),
    ] {
        let refused = ask(&client, method, path, form, &bad_chain()).await;
        let Err(kube::Error::Api(status)) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!((status.code, &*status.reason), (403, "Forbidden"));
        let start = "admission webhook \"validation.carto.run\" denied the request: spec";
        assert!(status.message.starts_with(start), "{}", status.message);
    }
    ask(&client, Method::POST, CHAINS, json, &good_chain())
        .await
        .unwrap();
    let merge = "application/merge-patch+json";
    let without = json!({"spec": {"selector": null}});
    let changed = ask(&client, Method::PATCH, &one, merge, &without).await;
    assert!(matches!(changed, Err(kube::Error::Api(status)) if status.code == 403));
}
