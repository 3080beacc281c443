//! A cluster with the kinds, the chain and the workloads.

use cluster_scripts::free_definition;
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use kubernetes::GroupKind;
use local_cluster::{ClusterOptions, LocalCluster};
use serde_json::{Value as Json, json};

use crate::documents::{self, GROUP, KINDS, NAMESPACE};

/// A cluster, and a client of a person.
pub(crate) async fn cluster_with(workloads: usize) -> (LocalCluster, Client) {
    let cluster = LocalCluster::new(ClusterOptions::default());
    let person = Client::new(cluster.service(), "default");
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for definition in cartographer::definitions::definitions() {
        let (definition, _) = kubernetes::json::to_json(&definition).unwrap();
        create(&person, definitions, &definition).await;
    }
    for kind in KINDS {
        let definition = free_definition(&GroupKind::new(GROUP, kind), &["v1"]);
        create(&person, definitions, &definition).await;
    }
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    create(&person, "/api/v1/namespaces", &namespace).await;
    let accounts = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts");
    create(&person, &accounts, &documents::account()).await;
    for object in documents::chain() {
        let plural = format!("{}s", object["kind"].as_str().unwrap().to_lowercase());
        create(
            &person,
            &format!("/apis/carto.run/v1alpha1/{plural}"),
            &object,
        )
        .await;
    }
    let path = format!("/apis/carto.run/v1alpha1/namespaces/{NAMESPACE}/workloads");
    for number in 0..workloads {
        create(&person, &path, &documents::workload(number)).await;
    }
    (cluster, person)
}

async fn create(person: &Client, path: &str, object: &Json) {
    let request = http::Request::post(path).header("content-type", "application/json");
    let request = request.body(object.to_string().into_bytes()).unwrap();
    person.request::<Json>(request).await.unwrap();
}

/// Merges a part into an object.
pub(crate) async fn merge(person: &Client, path: &str, part: &Json) {
    let request = http::Request::patch(path).header("content-type", "application/merge-patch+json");
    let request = request.body(part.to_string().into_bytes()).unwrap();
    person.request::<Json>(request).await.unwrap();
}

/// How many workloads are Ready.
pub(crate) async fn ready(person: &Client) -> usize {
    let mut ready = 0;
    each_page(person, "/apis/carto.run/v1alpha1/workloads", |page| {
        let page: Json = serde_json::from_slice(page).unwrap();
        let items = page["items"].as_array().unwrap().iter();
        let is_ready = |workload: &&Json| {
            let conditions = workload["status"]["conditions"].as_array();
            let mut conditions = conditions.into_iter().flatten();
            conditions.any(|own| own["type"] == "Ready" && own["status"] == "True")
        };
        ready += items.filter(is_ready).count();
    })
    .await;
    ready
}

/// The size of all objects that grow in number, as JSON.
pub(crate) async fn json_size(person: &Client) -> usize {
    let mut paths = vec![
        "/apis/carto.run/v1alpha1/workloads".to_owned(),
        "/api/v1/events".to_owned(),
    ];
    paths.extend(KINDS.map(|kind| format!("/apis/{GROUP}/v1/{}s", kind.to_lowercase())));
    let mut size = 0;
    for path in paths {
        each_page(person, &path, |page| size += page.len()).await;
    }
    size
}

/// What the head of a list says.
#[derive(serde::Deserialize)]
struct ListHead {
    metadata: ListMetadata,
}

#[derive(serde::Deserialize)]
struct ListMetadata {
    #[serde(rename = "continue", default)]
    next: String,
}

async fn each_page(person: &Client, path: &str, mut see: impl FnMut(&[u8])) {
    let first = format!("{path}?limit=500");
    let mut path = first.clone();
    loop {
        let request = http::Request::get(&path).body(Body::empty()).unwrap();
        let answer = person.send(request).await.unwrap();
        let page = answer.into_body().collect().await.unwrap().to_bytes();
        see(&page);
        let head: ListHead = serde_json::from_slice(&page).unwrap();
        if head.metadata.next.is_empty() {
            return;
        }
        path = format!("{first}&continue={}", head.metadata.next);
    }
}
