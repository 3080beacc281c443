//! Measures how the work of a controller grows with the number of workloads, on a local cluster in
//! this process: `cargo run --release -p controller --example growth -- 150 1500`.
//!
//! For each number it prints the processor time and the peak of memory until all are Ready, the
//! requests by verb, and the processor time of a program that only sends the same requests to
//! another cluster.

#![expect(clippy::print_stdout, reason = "the measurement")]
#![allow(clippy::unwrap_used, reason = "what fails here ends the measurement")]

#[path = "../tests/behaviour/documents.rs"]
#[allow(dead_code, reason = "the measurement needs some of the documents")]
mod documents;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use controller::{Controller, ControllerOptions, WallClock};
use http::{HeaderMap, Method, Request, Response};
use http_body_util::BodyExt as _;
use jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use local_cluster::{ClusterBody, ClusterOptions, ClusterService, LocalCluster};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

/// A request, to be sent again.
struct KeptRequest {
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Vec<u8>,
}

/// A transport that keeps the requests.
#[derive(Clone)]
struct KeepingService {
    inner: ClusterService,
    kept: Arc<Mutex<Vec<KeptRequest>>>,
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Answer = Pin<Box<dyn Future<Output = Result<Response<ClusterBody>, BoxError>> + Send>>;

impl tower_service::Service<Request<Body>> for KeepingService {
    type Response = Response<ClusterBody>;
    type Error = BoxError;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        let KeepingService { mut inner, kept } = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let bytes = body.collect().await?.to_bytes();
            kept.lock().unwrap().push(KeptRequest {
                method: parts.method.clone(),
                path: parts.uri.to_string(),
                headers: parts.headers.clone(),
                body: bytes.to_vec(),
            });
            let body = Body::from(bytes);
            tower_service::Service::call(&mut inner, Request::from_parts(parts, body)).await
        })
    }
}

fn main() {
    let numbers = std::env::args().skip(1).map(|text| text.parse().unwrap());
    for owners in numbers.collect::<Vec<usize>>() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let kept = runtime.block_on(measure(owners));
        runtime.block_on(send_again(owners, &kept));
    }
}

fn cluster() -> LocalCluster {
    LocalCluster::new(ClusterOptions::default())
}

async fn measure(owners: usize) -> Vec<KeptRequest> {
    let cluster = cluster();
    let person = Client::new(cluster.service(), "default");
    prepare(&person, owners).await;
    let kept = Arc::new(Mutex::new(Vec::new()));
    let service = KeepingService {
        inner: cluster.service(),
        kept: kept.clone(),
    };
    let clock: WallClock = Arc::new(Timestamp::now);
    let controller = Controller::new(
        Client::new(service, "default"),
        ControllerOptions::new(clock),
    );
    let before = processor_time();
    let stop = CancellationToken::new();
    let (running, stopped) = (controller.clone(), stop.clone());
    let task = tokio::spawn(async move { running.run(stopped).await });
    let mut last = None;
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let now = controller.metrics();
        if controller.is_idle() && last.as_ref() == Some(&now) {
            break;
        }
        last = Some(now);
    }
    let spent = processor_time() - before;
    let metrics = controller.metrics();
    let verbs: BTreeMap<&str, u64> = metrics
        .requests
        .keys()
        .map(|(verb, _)| (*verb, metrics.requests_of(verb)))
        .collect();
    stop.cancel();
    task.await.unwrap().unwrap();
    println!(
        "{owners} workloads: {spent:?} until Ready, peak {} MB, requests {verbs:?}",
        peak_memory()
    );
    println!("  reconciles {:?}", metrics.reconciles);
    std::mem::take(&mut *kept.lock().unwrap())
}

/// Sends the requests that are no watches to another cluster. Tokens are those of the first one, so
/// that they are left out.
async fn send_again(owners: usize, kept: &[KeptRequest]) {
    let cluster = cluster();
    let person = Client::new(cluster.service(), "default");
    prepare(&person, owners).await;
    let before = processor_time();
    for request in kept {
        if request.path.contains("watch=true") {
            continue;
        }
        let mut again = Request::builder()
            .method(request.method.clone())
            .uri(&request.path);
        for (name, value) in &request.headers {
            if name != "authorization" {
                again = again.header(name, value);
            }
        }
        let again = again.body(Body::from(request.body.clone())).unwrap();
        let answer = person.send(again).await.unwrap();
        answer.into_body().collect().await.unwrap();
    }
    let spent = processor_time() - before;
    println!("  the same requests alone: {spent:?}");
}

async fn prepare(person: &Client, owners: usize) {
    for definition in cartographer::definitions::definitions() {
        let (definition, _) = kubernetes::json::to_json(&definition).unwrap();
        create(person, &definition).await;
    }
    create(person, &documents::thing_definition()).await;
    let namespace = json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": documents::NAMESPACE},
    });
    create(person, &namespace).await;
    create(person, &documents::account()).await;
    for object in documents::chain() {
        create(person, &object).await;
    }
    for number in 0..owners {
        let mut workload = documents::workload("https://g/1");
        workload["metadata"]["name"] = format!("w-{number}").into();
        create(person, &workload).await;
    }
}

async fn create(person: &Client, object: &Json) {
    let text = |json: &Json| json.as_str().unwrap_or_default().to_owned();
    let version = text(&object["apiVersion"]);
    let root = match version.contains('/') {
        true => format!("/apis/{version}"),
        false => format!("/api/{version}"),
    };
    let plural = match text(&object["kind"]).to_ascii_lowercase() {
        kind if kind.ends_with('y') => format!("{}ies", kind.trim_end_matches('y')),
        kind => format!("{kind}s"),
    };
    let path = match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("{root}/namespaces/{namespace}/{plural}"),
        None => format!("{root}/{plural}"),
    };
    let request = Request::post(path).header("content-type", "application/json");
    let request = request.body(object.to_string().into_bytes()).unwrap();
    person.request::<Json>(request).await.unwrap();
}

/// The processor time of this process so far.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

/// The peak of the resident memory in megabytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes / 1024
}
