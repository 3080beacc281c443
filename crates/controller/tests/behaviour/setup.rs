//! A local cluster, a transport that records requests and refuses some, and a controller.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use controller::{Controller, ControllerError, ControllerOptions, WallClock};
use http::{Method, Request, Response};
use jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use local_cluster::{
    ClusterBody, ClusterOptions, ClusterService, GarbageCollection, LocalCluster, UnknownKinds,
};
use serde_json::{Value as Json, json};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::documents;

/// A request that a controller sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SentRequest {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: String,
    /// Whether a token of an account came with it.
    pub(crate) with_token: bool,
}

impl SentRequest {
    pub(crate) fn is_watch(&self) -> bool {
        self.query.contains("watch=true")
    }

    /// Whether it changes an object. A request for a token does not.
    pub(crate) fn is_write(&self) -> bool {
        self.method != Method::GET && !self.path.ends_with("/token")
    }
}

/// What happens to a request instead of being answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The server answers with this code and reason.
    Refused(u16, &'static str),
    /// The request is lost.
    LostBefore,
    /// The request is carried out, and its answer is lost.
    LostAfter,
}

type Faults = Box<dyn FnMut(&SentRequest) -> Option<Fault> + Send>;

#[derive(Default)]
struct Recorder {
    sent: Vec<SentRequest>,
    faults: Option<Faults>,
}

/// The transport of the controller.
#[derive(Clone)]
struct RecordingService {
    inner: ClusterService,
    recorder: Arc<Mutex<Recorder>>,
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Answer = Pin<Box<dyn Future<Output = Result<Response<ClusterBody>, BoxError>> + Send>>;

impl tower_service::Service<Request<Body>> for RecordingService {
    type Response = Response<ClusterBody>;
    type Error = BoxError;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        let sent = SentRequest {
            method: request.method().clone(),
            path: request.uri().path().to_owned(),
            query: request.uri().query().unwrap_or_default().to_owned(),
            with_token: request.headers().contains_key("authorization"),
        };
        let fault = {
            let mut recorder = self.recorder.lock().unwrap();
            let fault = recorder.faults.as_mut().and_then(|faults| faults(&sent));
            recorder.sent.push(sent);
            fault
        };
        match fault {
            None => self.inner.call(request),
            Some(Fault::Refused(code, reason)) => {
                Box::pin(async move { Ok(refusal(code, reason)) })
            }
            Some(Fault::LostBefore) => Box::pin(async { Err("the connection is lost".into()) }),
            Some(Fault::LostAfter) => {
                let answer = self.inner.call(request);
                Box::pin(async move {
                    answer.await?;
                    Err("the connection is lost".into())
                })
            }
        }
    }
}

fn refusal(code: u16, reason: &str) -> Response<ClusterBody> {
    let message = match reason {
        "Forbidden" => {
            "things is forbidden: User \"sa\" cannot patch resource \"things\"".to_owned()
        }
        other => format!("the test refuses this: {other}"),
    };
    let status = json!({
        "apiVersion": "v1",
        "kind": "Status",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
    });
    let body = http_body_util::Full::from(status.to_string().into_bytes());
    Response::builder()
        .status(code)
        .header("content-type", "application/json")
        .body(ClusterBody::new(body))
        .unwrap()
}

/// A cluster with the kinds of the tests and a service account.
pub(crate) struct Setup {
    /// A client of a person, which is neither recorded nor refused.
    person: Client,
    controlled: Client,
    recorder: Arc<Mutex<Recorder>>,
    pub(crate) clock: WallClock,
}

impl Setup {
    pub(crate) async fn new() -> Setup {
        let started = Instant::now();
        let epoch: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let clock: WallClock = Arc::new(move || epoch + started.elapsed());
        let cluster = LocalCluster::new(ClusterOptions {
            clock: clock.clone(),
            seed: 1,
            garbage_collection: GarbageCollection::On,
            unknown_kinds: UnknownKinds::Refused,
            ..ClusterOptions::default()
        });
        let recorder = Arc::new(Mutex::new(Recorder::default()));
        let service = RecordingService {
            inner: cluster.service(),
            recorder: recorder.clone(),
        };
        let setup = Setup {
            person: Client::new(cluster.service(), "default"),
            controlled: Client::new(service, "default"),
            recorder,
            clock,
        };
        for definition in cartographer::definitions::definitions() {
            let (definition, _) = kubernetes::json::to_json(&definition).unwrap();
            setup.create(&definition).await;
        }
        setup.create(&documents::thing_definition()).await;
        let name = documents::NAMESPACE;
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        setup.create(&namespace).await;
        setup.create(&documents::account()).await;
        setup
    }

    /// Creates an object.
    pub(crate) async fn create(&self, object: &Json) {
        let path = collection(object);
        let answer = self.ask(Method::POST, &path, Some(object)).await;
        answer.unwrap_or_else(|error| panic!("{path}: {error}"));
    }

    /// Merges a part into an object.
    pub(crate) async fn merge(&self, path: &str, part: &Json) {
        let answer = self.ask(Method::PATCH, path, Some(part)).await;
        answer.unwrap_or_else(|error| panic!("{path}: {error}"));
    }

    /// The object at a path, or the list.
    pub(crate) async fn get(&self, path: &str) -> Option<Json> {
        self.ask(Method::GET, path, None).await.ok()
    }

    pub(crate) async fn delete(&self, path: &str) {
        let answer = self.ask(Method::DELETE, path, None).await;
        answer.unwrap_or_else(|error| panic!("{path}: {error}"));
    }

    async fn ask(&self, method: Method, path: &str, body: Option<&Json>) -> kube::Result<Json> {
        let form = match method {
            Method::PATCH => "application/merge-patch+json",
            _ => "application/json",
        };
        let request = Request::builder().method(method).uri(path);
        let request = request.header("content-type", form);
        let bytes = body.map(|body| body.to_string().into_bytes());
        let request = request.body(bytes.unwrap_or_default()).unwrap();
        self.person.request::<Json>(request).await
    }

    /// Decides about the requests of controllers from now on.
    pub(crate) fn set_faults(
        &self,
        faults: impl FnMut(&SentRequest) -> Option<Fault> + Send + 'static,
    ) {
        self.recorder.lock().unwrap().faults = Some(Box::new(faults));
    }

    pub(crate) fn clear_faults(&self) {
        self.recorder.lock().unwrap().faults = None;
    }

    /// The requests of controllers since the last call, without watches.
    pub(crate) fn take_requests(&self) -> Vec<SentRequest> {
        let sent = std::mem::take(&mut self.recorder.lock().unwrap().sent);
        sent.into_iter()
            .filter(|request| !request.is_watch())
            .collect()
    }

    /// The number of requests of controllers since the last `take_requests`.
    pub(crate) fn requests(&self) -> usize {
        self.recorder.lock().unwrap().sent.len()
    }

    /// Starts a controller.
    pub(crate) fn start(&self) -> Running {
        self.start_with(ControllerOptions::new(self.clock.clone()))
    }

    pub(crate) fn start_with(&self, options: ControllerOptions) -> Running {
        let controller = Controller::new(self.controlled.clone(), options);
        let stop = CancellationToken::new();
        let (running, stopped) = (controller.clone(), stop.clone());
        let task = tokio::spawn(async move { running.run(stopped).await });
        Running {
            controller,
            stop,
            task,
        }
    }

    /// The status and reason of a condition of the workload, as `True Ready`.
    pub(crate) async fn condition(&self, name: &str) -> String {
        let path = format!(
            "/apis/carto.run/v1alpha1/namespaces/{}/workloads/w",
            documents::NAMESPACE
        );
        let workload = self.get(&path).await.expect("the workload exists");
        let conditions = workload["status"]["conditions"].as_array().cloned();
        let found = conditions
            .into_iter()
            .flatten()
            .find(|condition| condition["type"] == name);
        let text = |condition: &Json, field: &str| {
            condition[field].as_str().unwrap_or_default().to_owned()
        };
        found.map_or_else(
            || "-".to_owned(),
            |found| format!("{} {}", text(&found, "status"), text(&found, "reason")),
        )
    }

    /// The Things and ConfigMaps of the namespace.
    pub(crate) async fn stamped(&self) -> Vec<Json> {
        let namespace = documents::NAMESPACE;
        let mut all = Vec::new();
        for path in [
            format!("/apis/demo.test/v1/namespaces/{namespace}/things"),
            format!("/api/v1/namespaces/{namespace}/configmaps"),
        ] {
            let list = self.get(&path).await.expect("the kind exists");
            all.extend(list["items"].as_array().cloned().unwrap_or_default());
        }
        all
    }
}

/// A controller that runs.
pub(crate) struct Running {
    pub(crate) controller: Controller,
    pub(crate) stop: CancellationToken,
    pub(crate) task: JoinHandle<Result<(), ControllerError>>,
}

impl Running {
    /// Waits until the controller has nothing to do.
    pub(crate) async fn settle(&self) {
        let started = Instant::now();
        loop {
            tokio::time::sleep(Duration::from_secs(2)).await;
            if self.controller.is_idle() {
                return;
            }
            assert!(
                started.elapsed() < Duration::from_secs(600),
                "the controller does not come to rest"
            );
        }
    }

    /// Stops the controller in order.
    pub(crate) async fn end(self) -> Result<(), ControllerError> {
        self.stop.cancel();
        self.task.await.expect("the controller does not panic")
    }

    /// Stops it at once, in the middle of whatever it does.
    pub(crate) async fn kill(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

fn collection(object: &Json) -> String {
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
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("{root}/namespaces/{namespace}/{plural}"),
        None => format!("{root}/{plural}"),
    }
}
