//! A transport that counts requests and writes them to a file, and the program that sends the
//! requests of such a file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use local_cluster::{ClusterBody, ClusterService};
use serde_json::{Value as Json, json};

/// The headers that decide about an answer.
const HEADERS: [&str; 3] = ["accept", "authorization", "content-type"];

/// What was sent.
pub(crate) struct Recorder {
    file: BufWriter<File>,
    /// The number of requests by who sent them and what they do.
    pub(crate) counts: BTreeMap<String, u64>,
    /// Those of `counts` that are no watches.
    pub(crate) requests: u64,
    /// The paths of writes since the last look.
    pub(crate) writes: Vec<String>,
}

impl Recorder {
    pub(crate) fn new(path: &Path) -> Recorder {
        Recorder {
            file: BufWriter::new(File::create(path).unwrap()),
            counts: BTreeMap::new(),
            requests: 0,
            writes: Vec::new(),
        }
    }

    /// Writes out what is in the buffer.
    pub(crate) fn flush(&mut self) {
        self.file.flush().unwrap();
    }

    fn record(&mut self, sender: &str, request: &http::request::Parts, body: &[u8]) {
        let uri = request.uri.to_string();
        let verb = match request.method.as_str() {
            "GET" if uri.contains("watch=true") => "watch",
            "GET" if uri.contains("limit=") => "list",
            "GET" => "get",
            "POST" => "create",
            "PUT" => "update",
            "PATCH" => "patch",
            _ => "delete",
        };
        *self.counts.entry(format!("{sender} {verb}")).or_default() += 1;
        if verb == "watch" {
            return;
        }
        self.requests += 1;
        if request.method != http::Method::GET {
            self.writes
                .push(format!("{sender} {verb} {}", request.uri.path()));
        }
        let headers = HEADERS.iter().filter_map(|name| {
            let value = request.headers.get(*name)?.to_str().ok()?;
            Some(((*name).to_owned(), Json::from(value)))
        });
        let headers: serde_json::Map<String, Json> = headers.collect();
        let head = json!({
            "method": request.method.as_str(),
            "uri": uri,
            "headers": headers,
        });
        // The body is JSON in one line.
        assert!(!body.contains(&b'\n'), "{head}");
        writeln!(self.file, "{head}").unwrap();
        self.file.write_all(body).unwrap();
        self.file.write_all(b"\n").unwrap();
    }
}

/// The transport.
#[derive(Clone)]
pub(crate) struct RecordingTransport {
    pub(crate) inner: ClusterService,
    pub(crate) sender: &'static str,
    pub(crate) recorder: Arc<Mutex<Recorder>>,
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Answer = Pin<Box<dyn Future<Output = Result<Response<ClusterBody>, BoxError>> + Send>>;

impl tower_service::Service<Request<Body>> for RecordingTransport {
    type Response = Response<ClusterBody>;
    type Error = BoxError;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        let mut transport = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let bytes = body.collect().await?.to_bytes();
            // The cluster answers when its future is first polled, so the order is that of answers.
            transport
                .recorder
                .lock()
                .unwrap()
                .record(transport.sender, &parts, &bytes);
            let request = Request::from_parts(parts, Body::from(bytes));
            tower_service::Service::call(&mut transport.inner, request).await
        })
    }
}

/// Sends the requests of a file. Returns how many were sent, and how many were refused.
pub(crate) async fn send_all(client: &Client, path: &Path) -> (u64, u64) {
    let (mut sent, mut refused) = (0, 0);
    let mut lines = BufReader::new(File::open(path).unwrap()).lines();
    while let Some(head) = lines.next() {
        let kept: Json = serde_json::from_str(&head.unwrap()).unwrap();
        let body = lines.next().unwrap().unwrap();
        let text = |json: &Json| json.as_str().unwrap().to_owned();
        let mut request = Request::builder()
            .method(kept["method"].as_str().unwrap())
            .uri(text(&kept["uri"]));
        for (name, value) in kept["headers"].as_object().unwrap() {
            request = request.header(name, text(value));
        }
        let request = request.body(Body::from(body.into_bytes()));
        let answer = client.send(request.unwrap()).await.unwrap();
        sent += 1;
        refused += u64::from(!answer.status().is_success());
        answer.into_body().collect().await.unwrap();
    }
    (sent, refused)
}
