//! The server of a test, and requests to it.

use std::future::Future;
use std::time::Duration;

use futures::StreamExt as _;
use http_body_util::{BodyExt as _, BodyStream};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use local_cluster::{ClusterOptions, LocalCluster};
use serde_json::{Value as Json, json};

/// How long a real server has for what it does later.
const PATIENCE: Duration = Duration::from_secs(60);

/// The namespace of the test on a local server.
const LOCAL_NAMESPACE: &str = "own-space";

/// A server with a namespace that no other test uses.
pub(crate) struct TestServer {
    pub(crate) client: kube::Client,
    pub(crate) namespace: String,
    /// A group for definitions that no other test uses.
    pub(crate) group: String,
}

/// An answer: code, body and texts of the header `Warning`.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) code: u16,
    pub(crate) body: Json,
    pub(crate) warnings: Vec<String>,
}

impl Reply {
    /// The body of an answer with a code.
    #[track_caller]
    pub(crate) fn with(self, code: u16) -> Json {
        assert_eq!(self.code, code, "{:#}", self.body);
        self.body
    }

    /// Checks the code and the reason of a refusal, and returns the `Status`.
    #[track_caller]
    pub(crate) fn refused(self, code: u16, reason: &str) -> Json {
        let body = self.with(code);
        assert_eq!(body["kind"], "Status");
        assert_eq!(body["status"], "Failure");
        assert_eq!(body["reason"], *reason, "{body:#}");
        assert_eq!(body["code"], code);
        body
    }
}

impl TestServer {
    pub(crate) async fn local() -> TestServer {
        let cluster = LocalCluster::new(ClusterOptions::default());
        let client = kube::Client::new(cluster.service(), "default");
        TestServer::with_namespace(client, LOCAL_NAMESPACE.to_owned()).await
    }

    /// The real server. Without one, prints a message and returns `None`.
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    pub(crate) async fn real() -> Option<TestServer> {
        let path = std::env::var_os("CYAN_TEST_KUBECONFIG").filter(|path| !path.is_empty());
        let Some(path) = path else {
            let all = std::env::var_os("CYAN_TEST_ALL").is_some();
            assert!(
                !all,
                "the cluster should have been started: CYAN_TEST_KUBECONFIG is not set"
            );
            eprintln!("skipped: a cluster is needed; `cargo xtask test` starts one");
            return None;
        };
        let file = Kubeconfig::read_from(path).unwrap();
        let options = KubeConfigOptions::default();
        let config = kube::Config::from_custom_kubeconfig(file, &options);
        let client = kube::Client::try_from(config.await.unwrap()).unwrap();
        Some(TestServer::with_namespace(client, unique()).await)
    }

    async fn with_namespace(client: kube::Client, namespace: String) -> TestServer {
        let server = TestServer {
            client,
            group: format!("{namespace}.example.com"),
            namespace,
        };
        let body = json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": server.namespace}});
        server.post("/api/v1/namespaces", &body).await.with(201);
        server
    }

    /// Whether the server takes the credentials of a request, and not only those of the client.
    pub(crate) fn is_local(&self) -> bool {
        self.namespace == LOCAL_NAMESPACE
    }

    /// Deletes what a real server would keep.
    pub(crate) async fn clean(&self) {
        self.delete(&format!("/api/v1/namespaces/{}", self.namespace))
            .await;
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        for definition in self.get(path).await.body["items"].as_array().unwrap() {
            if definition["spec"]["group"] == *self.group {
                let name = definition["metadata"]["name"].as_str().unwrap();
                self.delete(&format!("{path}/{name}")).await;
            }
        }
    }

    /// The path of the objects of a core kind in the namespace of the test.
    pub(crate) fn core(&self, plural: &str) -> String {
        format!("/api/v1/namespaces/{}/{plural}", self.namespace)
    }

    /// The path of the objects of a defined kind in the namespace of the test.
    pub(crate) fn defined(&self, plural: &str) -> String {
        format!(
            "/apis/{}/v1/namespaces/{}/{plural}",
            self.group, self.namespace
        )
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Json) -> Reply {
        self.send("POST", path, &[], Some(body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Json) -> Reply {
        self.send("PUT", path, &[], Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        self.send("DELETE", path, &[], None).await
    }

    pub(crate) async fn merge(&self, path: &str, body: &Json) -> Reply {
        let headers = [("content-type", "application/merge-patch+json")];
        self.send("PATCH", path, &headers, Some(body)).await
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Json>,
    ) -> Reply {
        let response = self.client.send(request(method, path, headers, body));
        let response = response.await.unwrap();
        let code = response.status().as_u16();
        let warnings = response.headers().get_all("warning").iter();
        let warnings = warnings.map(|text| text.to_str().unwrap().to_owned());
        let warnings = warnings.collect();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let body = serde_json::from_str(&text).unwrap_or(Json::String(text));
        Reply {
            code,
            body,
            warnings,
        }
    }

    /// Begins a watch.
    pub(crate) async fn watch(&self, path: &str, accept: &str) -> Events {
        let request = request("GET", path, &[("accept", accept)], None);
        let response = self.client.send(request).await.unwrap();
        assert_eq!(response.status(), 200);
        Events {
            body: Box::pin(
                BodyStream::new(response.into_body()).filter_map(|frame| async {
                    frame.unwrap().into_data().ok().map(|data| data.to_vec())
                }),
            ),
            rest: Vec::new(),
        }
    }

    /// Waits until a request has an answer that fits.
    pub(crate) async fn eventually(&self, path: &str, fits: impl Fn(&Reply) -> bool) -> Reply {
        let end = tokio::time::Instant::now() + PATIENCE;
        loop {
            let reply = self.get(path).await;
            if fits(&reply) {
                return reply;
            }
            let now = tokio::time::Instant::now();
            assert!(now < end, "{path}: {} {:#}", reply.code, reply.body);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn request(
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<&Json>,
) -> http::Request<Body> {
    let mut request = http::Request::builder().method(method).uri(path);
    let has = |name: &str| headers.iter().any(|(own, _)| *own == name);
    if !has("content-type") && body.is_some() {
        request = request.header("content-type", "application/json");
    }
    if !has("accept") {
        request = request.header("accept", "application/json");
    }
    request = request.header("user-agent", "contract/1.0");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let bytes = body.map_or_else(Vec::new, |body| body.to_string().into_bytes());
    request.body(Body::from(bytes)).unwrap()
}

/// The events of a watch.
pub(crate) struct Events {
    body: std::pin::Pin<Box<dyn futures::Stream<Item = Vec<u8>> + Send>>,
    rest: Vec<u8>,
}

impl Events {
    /// The next event; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Json> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).unwrap());
            }
            let data = within(self.body.next()).await?;
            self.rest.extend(data);
        }
    }

    /// The next event as its type and the name of its object. Bookmarks are passed over.
    pub(crate) async fn named(&mut self) -> (String, String) {
        loop {
            let event = self.next().await.unwrap();
            if event["type"] != "BOOKMARK" {
                let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
                return (
                    text(&event["type"]),
                    text(&event["object"]["metadata"]["name"]),
                );
            }
        }
    }
}

/// Waits for something that must come.
async fn within<F: Future>(future: F) -> F::Output {
    let waited = tokio::time::timeout(PATIENCE, future).await;
    waited.expect("the server should answer in time")
}

/// A name that no other test of this or a former run has.
fn unique() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::{SystemTime, UNIX_EPOCH};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("contract-{:x}-{count}", now.as_micros())
}
