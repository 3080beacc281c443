//! The webhook behind a real API server, the one of `CYAN_TEST_KUBECONFIG`. The requests are dry
//! runs, and the configuration concerns only objects with a label of this test.

use std::time::{Duration, Instant};

use controller::install::definitions;
use http::{Method, Request};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value as Json, json};

use crate::setup::{Files, Serving, bad_chain, good_chain};

const CHAINS: &str = "/apis/carto.run/v1alpha1/clustersupplychains?dryRun=All";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const CONFIGURATIONS: &str =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const LABEL: &str = "cyan-test-webhook";

async fn ask(client: &Client, method: Method, path: &str, body: &Json) -> kube::Result<Json> {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", "application/json");
    let request = request.body(body.to_string().into_bytes()).unwrap();
    client.request::<Json>(request).await
}

/// The message with which the server refuses an object; `None` if it accepts it.
async fn refusal(client: &Client, object: &Json) -> Option<(u16, String, String)> {
    match ask(client, Method::POST, CHAINS, object).await {
        Ok(_) => None,
        Err(kube::Error::Api(status)) => {
            Some((status.code, status.reason.clone(), status.message.clone()))
        }
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_real_server_refuses_what_the_webhook_refuses() {
    let Some(file) = std::env::var_os("CYAN_TEST_KUBECONFIG") else {
        println!("CYAN_TEST_KUBECONFIG is not set, nothing runs on a real server");
        return;
    };
    let kubeconfig = Kubeconfig::read_from(file).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    let client = Client::try_from(config.unwrap()).unwrap();
    for definition in definitions() {
        match ask(&client, Method::POST, DEFINITIONS, &definition).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            Err(other) => panic!("{other}"),
        }
    }
    let files = Files::new();
    let certificate = files.write();
    let serving = Serving::start(&files).await;
    let name = format!("{LABEL}-{}", serving.address.port());
    let mut labelled = [good_chain(), bad_chain()];
    for chain in &mut labelled {
        chain["metadata"]["name"] = json!(name);
        chain["metadata"]["labels"] = json!({LABEL: name});
    }
    let mut configuration = controller::install::webhook_configuration(
        &json!({"url": format!("https://{}/validate", serving.address)}),
        Some(&certificate),
    );
    configuration["metadata"]["name"] = json!(name);
    let selector = json!({"matchLabels": {LABEL: name}});
    configuration["webhooks"][0]["objectSelector"] = selector;
    let created = ask(&client, Method::POST, CONFIGURATIONS, &configuration).await;
    created.unwrap();

    // The server learns of the configuration a little later.
    let started = Instant::now();
    let found = loop {
        let found = refusal(&client, &labelled[1]).await;
        if found.is_some() || started.elapsed() > Duration::from_secs(30) {
            break found;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    let accepted = refusal(&client, &labelled[0]).await;
    let path = format!("{CONFIGURATIONS}/{name}");
    ask(&client, Method::DELETE, &path, &json!({}))
        .await
        .unwrap();
    let (code, reason, message) = found.expect("the webhook is asked");
    assert_eq!((code, &*reason), (403, "Forbidden"));
    let start = "admission webhook \"validation.carto.run\" denied the request: spec";
    assert!(message.starts_with(start), "{message}");
    assert_eq!(accepted, None);
}
