//! The provider `http`: the conformance suite and its behaviour, against a small local server.

#![allow(
    clippy::unwrap_used,
    reason = "a test stops where something is not as it should be"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use blueprint::{Address, Name, Value};
use contract_tests::provider::{Case, Setup};
use provider::{
    Applied, ApplyRequest, Call, CheckRequest, ErrorKind, FetchRequest, Fetched, Finding, Observed,
    Operation, PlanMode, PlanPhase, PlanRequest, Provider, ProviderError, ProviderSeverity,
    ReadOutcome, ReadRequest, Session,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// A request to the server.
#[derive(Clone, Debug)]
struct Got {
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
    body: String,
}

/// An answer of the server: status, headers, body. `None` for no answer.
type Reply = Option<(u16, Vec<(String, String)>, Vec<u8>)>;

fn reply(status: u16, body: &str) -> Reply {
    Some((status, Vec::new(), body.as_bytes().to_vec()))
}

fn redirect(status: u16, to: &str) -> Reply {
    Some((status, vec![("Location".into(), to.into())], Vec::new()))
}

/// A server that answers by a function and records its requests.
#[derive(Clone)]
struct Server {
    port: u16,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Server {
    async fn start(answer: impl Fn(&Got) -> Reply + Send + Sync + 'static) -> Server {
        Server::with_tls(answer, None).await
    }

    async fn with_tls(
        answer: impl Fn(&Got) -> Reply + Send + Sync + 'static,
        tls: Option<tokio_rustls::TlsAcceptor>,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server {
            port: listener.local_addr().unwrap().port(),
            got: Arc::default(),
        };
        let (got, answer) = (server.got.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (got, answer, tls) = (got.clone(), answer.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, &got, &*answer).await;
                            }
                        }
                        None => serve(stream, &got, &*answer).await,
                    }
                });
            }
        });
        server
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    /// Methods and paths, in order.
    fn lines(&self) -> Vec<String> {
        self.got()
            .iter()
            .map(|got| format!("{} {}", got.method, got.path))
            .collect()
    }
}

/// Answers one request and closes the connection.
async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    all: &Mutex<Vec<Got>>,
    answer: &(dyn Fn(&Got) -> Reply + Sync),
) {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.lines();
    let mut first = lines.next().unwrap_or_default().split(' ');
    let (method, path) = (
        first.next().unwrap_or_default().to_owned(),
        first.next().unwrap_or_default().to_owned(),
    );
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers
        .get("content-length")
        .and_then(|length| length.parse().ok())
        .unwrap_or(0);
    let mut body = bytes[head + 4..].to_vec();
    while body.len() < length {
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(count) => body.extend_from_slice(&chunk[..count]),
        }
    }
    let got = Got {
        method,
        path,
        headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    all.lock().unwrap().push(got.clone());
    let Some((status, headers, body)) = answer(&got) else {
        // Sends nothing until the client closes the connection.
        let _ = stream.read(&mut [0; 1]).await;
        return;
    };
    let mut out = format!(
        "HTTP/1.1 {status} Status\r\nContent-Length: {}\r\nConnection: close\r\n",
        body.len()
    );
    for (name, value) in headers {
        out.push_str(&format!("{name}: {value}\r\n"));
    }
    out.push_str("\r\n");
    let _ = stream.write_all(out.as_bytes()).await;
    let _ = stream.write_all(&body).await;
    let _ = stream.shutdown().await;
}

/// A service with items: `POST /items`, then `GET`, `PUT`, `DELETE /items/ID`.
async fn items() -> Server {
    let items: Mutex<BTreeMap<usize, String>> = Mutex::default();
    let made = Mutex::new(0);
    Server::start(move |got| {
        let mut items = items.lock().unwrap();
        if got.method == "POST" {
            let mut made = made.lock().unwrap();
            *made += 1;
            items.insert(*made, got.body.clone());
            let headers = vec![("Location".to_owned(), format!("/items/{made}"))];
            return Some((201, headers, format!("{{\"id\":{made}}}").into_bytes()));
        }
        let Some(id) = got
            .path
            .strip_prefix("/items/")
            .and_then(|id| id.parse().ok())
        else {
            return reply(404, "");
        };
        if !items.contains_key(&id) {
            return reply(404, "no such item");
        }
        match got.method.as_str() {
            "PUT" => {
                items.insert(id, got.body.clone());
            }
            "DELETE" => {
                items.remove(&id);
                return reply(204, "");
            }
            _ => {}
        }
        reply(200, &format!("{{\"id\":{id}}}"))
    })
    .await
}

fn call() -> Call {
    Call {
        call_records: None,
        instances: None,
        instance: "test".into(),
        address: Address::root("thing"),
        urn: Default::default(),
        token: "token-1".into(),
        deadline: None,
        cancel: CancellationToken::new(),
        root: Path::new("").into(),
        folder: Path::new("").into(),
        settings: Value::Map(Arc::default()),
        files: provider::FileAccess::default(),
        now: 0,
        progress: Arc::new(|_| {}),
    }
}

fn map(entries: &[(&str, Value)]) -> Value {
    Value::map(entries.iter().cloned())
}

fn create_request(spec: &Value) -> ApplyRequest<'_> {
    ApplyRequest {
        operation: Operation::Create,
        type_name: "http/request",
        id: None,
        prior_inputs: &Value::Null,
        prior: &Value::Null,
        desired: spec,
        private: &Value::Null,
        sources: &[],
        metadata: &Value::Null,
        delete_mode: blueprint::DeleteMode::Delete,
        schema_version: 0,
        planned: &Value::Null,
    }
}

async fn create(spec: &Value) -> Result<Applied, ProviderError> {
    providers::http::provider()
        .apply(&call(), create_request(spec))
        .await
}

async fn change(
    operation: Operation,
    before: &Value,
    made: &Applied,
    desired: &Value,
) -> Result<Applied, ProviderError> {
    let request = ApplyRequest {
        operation,
        type_name: "http/request",
        id: Some(&made.id),
        prior_inputs: before,
        prior: &made.fields,
        desired,
        private: &Value::Null,
        sources: &[],
        metadata: &Value::Null,
        delete_mode: blueprint::DeleteMode::Delete,
        schema_version: 0,
        planned: &Value::Null,
    };
    providers::http::provider().apply(&call(), request).await
}

async fn read(inputs: &Value, outputs: &Value) -> Result<ReadOutcome, ProviderError> {
    let request = ReadRequest {
        type_name: "http/request",
        id: Some("id"),
        inputs,
        outputs,
        private: &Value::Null,
        token: None,
        schema_version: 0,
    };
    providers::http::provider().read(&call(), request).await
}

async fn fetch(filters: &[(&str, Value)]) -> Result<Fetched, ProviderError> {
    let filters: Vec<(Name, Name, Value)> = filters
        .iter()
        .map(|(field, value)| ((*field).into(), "=".into(), value.clone()))
        .collect();
    let request = FetchRequest {
        type_name: "http/get",
        filters: &filters,
        annotations: &Value::Null,
    };
    providers::http::provider().fetch(&call(), request).await
}

async fn rejected(spec: &[(&str, Value)]) -> Vec<String> {
    let spec = map(spec);
    let request = CheckRequest {
        type_name: "http/request",
        spec: &spec,
    };
    let found = providers::http::provider()
        .check(&call(), request)
        .await
        .unwrap();
    found
        .diagnostics
        .into_iter()
        .filter(|it| it.severity == ProviderSeverity::Error && it.finding == Finding::Refused)
        .map(|it| it.path.to_string())
        .collect()
}

/// A spec with all four requests to the service.
fn item(server: &Server, name: &str) -> Value {
    let one = map(&[("url", "/items/{json.id}".into())]);
    map(&[
        ("url", server.url("/items").into()),
        ("headers", map(&[("X-Team", "core".into())])),
        ("body", map(&[("name", name.into())])),
        ("read", one.clone()),
        ("update", one.clone()),
        ("delete", one),
    ])
}

#[tokio::test]
async fn every_type_passes_the_conformance_suite() {
    let server = items().await;
    let cases = [Case::new("http/request", item(&server, "a"))
        .changed(item(&server, "b"))
        .forgets_tokens()];
    let make = || Arc::new(providers::http::provider()) as Arc<dyn Provider>;
    let failures = contract_tests::provider::check(make, &Setup::in_folder(""), &cases).await;
    assert!(failures.is_empty(), "{failures:#?}");
}

#[tokio::test]
async fn every_field_has_docs() {
    let provider = providers::http::provider();
    for (name, field) in &provider.catalog().resource_types["http/request"]
        .schema
        .fields
    {
        assert!(!field.docs.is_empty(), "{name}");
    }
    let get = &provider.catalog().data_source_types["http/get"];
    assert!(get.acts && get.required.iter().any(|name| name.as_ref() == "url"));
    assert!(get.filters.values().all(|filter| !filter.docs.is_empty()));
}

#[tokio::test]
async fn the_four_requests_manage_a_resource() {
    let server = items().await;
    let (first, second) = (item(&server, "a"), item(&server, "b"));
    let made = create(&first).await.unwrap();
    assert_eq!(made.fields.get("status"), Some(&Value::Int(201)));
    assert_eq!(made.fields.get("json"), Some(&map(&[("id", 1.into())])));
    assert_eq!(made.fields.get("responseBody"), Some(&"{\"id\":1}".into()));
    assert_eq!(
        made.fields.get("responseHeaders").unwrap().get("location"),
        Some(&"/items/1".into())
    );
    let got = server.got()[0].clone();
    assert_eq!(
        (got.body.as_str(), got.headers["content-type"].as_str()),
        ("{\"name\":\"a\"}", "application/json")
    );
    assert_eq!(
        (
            got.headers["x-team"].as_str(),
            got.headers["idempotency-key"].as_str()
        ),
        ("core", "token-1")
    );

    assert!(matches!(
        read(&first, &made.fields).await.unwrap(),
        ReadOutcome::Present(_)
    ));
    let changed = change(Operation::Update, &first, &made, &second)
        .await
        .unwrap();
    assert_eq!(server.got()[2].body, "{\"name\":\"b\"}");
    assert_eq!(server.got()[2].headers["x-team"], "core");
    change(Operation::Delete, &second, &changed, &Value::Null)
        .await
        .unwrap();
    assert!(matches!(
        read(&second, &changed.fields).await.unwrap(),
        ReadOutcome::Absent
    ));
    // Deleting a missing item succeeds.
    change(Operation::Delete, &second, &changed, &Value::Null)
        .await
        .unwrap();
    assert_eq!(
        server.lines(),
        [
            "POST /items",
            "GET /items/1",
            "PUT /items/1",
            "DELETE /items/1",
            "GET /items/1",
            "DELETE /items/1"
        ]
    );
    let error = change(Operation::Update, &first, &changed, &second)
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn unset_fields_are_not_sent() {
    let server = items().await;
    let (first, second) = (
        map(&[("url", server.url("/items").into()), ("body", "a".into())]),
        map(&[("url", server.url("/items").into()), ("body", "b".into())]),
    );
    let made = create(&first).await.unwrap();
    assert_eq!(
        server.got()[0].headers["content-type"],
        "text/plain; charset=utf-8"
    );
    let ReadOutcome::Present(Observed { fields, .. }) = read(&first, &made.fields).await.unwrap()
    else {
        panic!("not there")
    };
    assert_eq!(fields, made.fields);
    change(Operation::Delete, &first, &made, &Value::Null)
        .await
        .unwrap();
    assert_eq!(server.lines(), ["POST /items"]);
    // Without an `update` request, the create request is sent again.
    change(Operation::Update, &first, &made, &second)
        .await
        .unwrap();
    assert_eq!(server.lines(), ["POST /items", "POST /items"]);
    assert!(matches!(
        read(&Value::Null, &Value::Null).await.unwrap(),
        ReadOutcome::Unknown
    ));
}

#[tokio::test]
async fn changes_of_later_requests_are_only_recorded() {
    let server = items().await;
    let first = map(&[
        ("url", server.url("/items").into()),
        ("timeout", "5s".into()),
    ]);
    let second = map(&[
        ("url", server.url("/items").into()),
        ("delete", map(&[("url", "/items/1".into())])),
    ]);
    let made = create(&first).await.unwrap();
    let request = PlanRequest {
        type_name: "http/request",
        prior_inputs: &first,
        prior: &made.fields,
        desired: &second,
        mode: PlanMode::Update,
        phase: PlanPhase::Preview,
        id: None,
        schema_version: 0,
        private: &Value::Null,
        unhealthy: &[],
        ignored: &[],
        replacing: &[],
        seed: "",
    };
    let planned = providers::http::provider()
        .plan(&call(), request)
        .await
        .unwrap();
    assert_eq!(
        planned
            .only_recorded
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        ["delete", "timeout"]
    );
    let changed = change(Operation::Update, &first, &made, &second)
        .await
        .unwrap();
    assert_eq!(server.lines(), ["POST /items"]);
    assert_eq!(
        (changed.fields.get("timeout"), changed.fields.get("delete")),
        (None, second.get("delete"))
    );
    change(Operation::Delete, &second, &changed, &Value::Null)
        .await
        .unwrap();
    assert_eq!(server.lines(), ["POST /items", "DELETE /items/1"]);
}

#[tokio::test]
async fn statuses_give_the_class_of_the_error() {
    let server = Server::start(|got| reply(got.path[1..].parse().unwrap(), "because")).await;
    for (status, kind) in [
        (400, ErrorKind::Permanent),
        (401, ErrorKind::Credentials),
        (403, ErrorKind::Credentials),
        (404, ErrorKind::Permanent),
        (408, ErrorKind::Transient),
        (409, ErrorKind::Conflict),
        (422, ErrorKind::Permanent),
        (429, ErrorKind::Throttled),
        (500, ErrorKind::Transient),
        (503, ErrorKind::Transient),
        (304, ErrorKind::Permanent),
    ] {
        let error = create(&map(&[("url", server.url(&format!("/{status}")).into())]))
            .await
            .unwrap_err();
        assert_eq!(error.kind, kind, "{status}: {error}");
        assert!(
            error
                .message
                .contains(&format!("POST {}", server.url(&format!("/{status}")))),
            "{error}"
        );
    }
    let url = server.url("/404");
    let made = create(&map(&[
        ("url", url.clone().into()),
        ("expectStatus", Value::list([404.into()])),
    ]))
    .await
    .unwrap();
    assert_eq!(made.fields.get("status"), Some(&Value::Int(404)));
    let wanted = map(&[
        ("url", server.url("/200").into()),
        ("expectStatus", Value::list([201.into(), 202.into()])),
    ]);
    let error = create(&wanted).await.unwrap_err();
    assert!(
        error
            .message
            .contains("answered 200 OK, not 201 or 202: because"),
        "{error}"
    );
}

#[tokio::test]
async fn a_refused_connection_is_retryable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let error = create(&map(&[("url", format!("http://127.0.0.1:{port}/").into())]))
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Transient, "{error}");
}

#[tokio::test]
async fn secrets_are_sent_and_never_shown() {
    let server = Server::start(|got| {
        reply(
            422,
            &format!("refused {} for {}", got.body, got.headers["authorization"]),
        )
    })
    .await;
    let spec = map(&[
        ("url", server.url("/login?key=open").into()),
        (
            "headers",
            map(&[(
                "Authorization",
                Value::from("Bearer hunter2-token").secret(),
            )]),
        ),
        (
            "body",
            map(&[
                ("password", Value::from("pa\"ss").secret()),
                ("user", "ada".into()),
            ]),
        ),
    ]);
    let said = Arc::new(Mutex::new(String::new()));
    let heard = said.clone();
    let call = Call {
        progress: Arc::new(move |line| heard.lock().unwrap().push_str(line)),
        ..call()
    };
    let error = providers::http::provider()
        .apply(&call, create_request(&spec))
        .await
        .unwrap_err();
    let got = server.got()[0].clone();
    assert_eq!(
        (got.body.as_str(), got.headers["authorization"].as_str()),
        (
            r#"{"password":"pa\"ss","user":"ada"}"#,
            "Bearer hunter2-token"
        )
    );
    let all = format!("{error} {error:?} {}", said.lock().unwrap());
    for secret in ["hunter2", "pa\"ss", "pa\\\"ss", "key=open"] {
        assert!(!all.contains(secret), "{secret} in {all}");
    }
    assert!(
        error.message.contains("(secret)") && error.message.contains("ada"),
        "{error}"
    );
}

#[tokio::test]
async fn an_answer_that_repeats_a_secret_is_secret() {
    let server = Server::start(|got| {
        let headers = vec![
            ("X-Echo".to_owned(), got.body.clone()),
            ("X-Open".to_owned(), "open".to_owned()),
        ];
        Some((
            200,
            headers,
            format!("{{\"echo\":\"{}\"}}", got.body).into_bytes(),
        ))
    })
    .await;
    let spec = map(&[
        ("url", server.url("/").into()),
        ("body", Value::from("hunter2").secret()),
    ]);
    let made = create(&spec).await.unwrap();
    let shown = made.fields.to_string();
    assert!(
        !shown.contains("hunter2") && !shown.contains("open"),
        "{shown}"
    );
    assert_eq!(
        made.fields.get("responseBody").unwrap().as_text(),
        Some("{\"echo\":\"hunter2\"}")
    );
}

#[tokio::test]
async fn answer_to_a_request_with_a_secret_is_secret_as_a_whole() {
    let server = Server::start(|got| {
        // A form in which no search finds the secret.
        let letters: Vec<String> = got.body.bytes().map(|byte| format!("{byte:02x}")).collect();
        let headers = vec![("Location".to_owned(), "/items/7".to_owned())];
        let body = format!(r#"{{"id": "id-7", "echo": "{}"}}"#, letters.join("-"));
        Some((200, headers, body.into_bytes()))
    })
    .await;
    let spec = |reveal: &[&str]| {
        map(&[
            ("url", server.url("/").into()),
            ("body", Value::from("hunter2").secret()),
            (
                "reveal",
                Value::list(reveal.iter().map(|part| Value::from(*part))),
            ),
        ])
    };
    let made = create(&spec(&[])).await.unwrap();
    let shown = made.fields.to_string();
    for text in ["68-75", "id-7", "/items/7"] {
        assert!(!shown.contains(text), "{text} in {shown}");
    }
    let revealing = spec(&["json.id", "responseHeaders.location"]);
    let made = create(&revealing).await.unwrap();
    let shown = made.fields.to_string();
    assert!(
        shown.contains("id-7") && shown.contains("/items/7"),
        "{shown}"
    );
    assert!(!shown.contains("68-75"), "{shown}");
    // A changed `reveal` sends nothing, and applies to the recorded answer.
    let sent = server.got().len();
    let changed = change(Operation::Update, &revealing, &made, &spec(&[]))
        .await
        .unwrap();
    assert_eq!(server.got().len(), sent);
    assert!(!changed.fields.to_string().contains("id-7"), "{changed:?}");
    assert_eq!(
        rejected(&[
            ("url", server.url("/").into()),
            ("reveal", Value::list(["status".into()]))
        ])
        .await
        .len(),
        1
    );
}

#[tokio::test]
async fn redirects_are_followed_to_a_limit() {
    let server = Server::start(|got| match got.path.as_str() {
        "/302" => redirect(302, "/end"),
        "/307" => redirect(307, "/end"),
        "/loop" => redirect(302, "/loop"),
        "/file" => redirect(302, "file:///etc/passwd"),
        _ => reply(200, &got.method),
    })
    .await;
    let answer = async |path: &str| {
        create(&map(&[
            ("url", server.url(path).into()),
            ("body", "x".into()),
        ]))
        .await
        .map(|made| {
            made.fields
                .get("responseBody")
                .unwrap()
                .as_text()
                .unwrap()
                .to_owned()
        })
        .map_err(|error| error.kind)
    };
    assert_eq!(answer("/302").await.as_deref(), Ok("GET"));
    assert_eq!(answer("/307").await.as_deref(), Ok("POST"));
    assert_eq!(server.got().last().unwrap().body, "x");
    assert_eq!(answer("/file").await, Err(ErrorKind::Permanent));
    assert_eq!(answer("/loop").await, Err(ErrorKind::Permanent));
    assert_eq!(
        server
            .lines()
            .iter()
            .filter(|line| line.ends_with("/loop"))
            .count(),
        6
    );
    // An expected redirect is the answer.
    let spec = map(&[
        ("url", server.url("/302").into()),
        ("expectStatus", Value::list([302.into()])),
    ]);
    assert_eq!(
        create(&spec).await.unwrap().fields.get("status"),
        Some(&Value::Int(302))
    );
}

#[tokio::test]
async fn answer_to_a_read_with_a_secret_is_secret_as_a_whole() {
    // A form in which no search finds the secret.
    let server = Server::start(|_| reply(200, "2retnuh")).await;
    let header = Value::list([Value::from("Authorization: Bearer hunter2").secret()]);
    let of = |more: &[(&'static str, Value)]| {
        let all = [
            ("url", Value::from(server.url("/"))),
            ("headers", header.clone()),
        ];
        all.into_iter()
            .chain(more.iter().cloned())
            .collect::<Vec<_>>()
    };
    let body = |fetched: Fetched| fetched.candidates[0].fields.get("body").cloned();
    let hidden = fetch(&of(&[])).await.unwrap();
    assert!(
        hidden.candidates[0]
            .fields
            .get("headers")
            .is_some_and(Value::has_secret)
    );
    assert_eq!(body(hidden), Some(Value::from("2retnuh").secret()));
    let reveal = Value::list([Value::from("body")]);
    let shown = fetch(&of(&[("reveal", reveal)])).await.unwrap();
    assert!(
        shown.candidates[0]
            .fields
            .get("headers")
            .is_some_and(Value::has_secret)
    );
    assert_eq!(body(shown), Some(Value::from("2retnuh")));
    let open = fetch(&[("url", server.url("/").into())]).await.unwrap();
    assert_eq!(body(open), Some(Value::from("2retnuh")));
    let wrong = Value::list([Value::from("json")]);
    let error = fetch(&of(&[("reveal", wrong)])).await.unwrap_err();
    assert_eq!(
        error.field.map(|field| field.to_string()).as_deref(),
        Some("reveal")
    );
}

#[tokio::test]
async fn another_host_gets_no_secret() {
    let other = Server::start(|_| reply(200, "")).await;
    let elsewhere = other.url("/");
    let server =
        Server::start(move |got| redirect(if got.path == "/307" { 307 } else { 303 }, &elsewhere))
            .await;
    let spec = |path: &str| {
        map(&[
            ("url", server.url(path).into()),
            (
                "headers",
                map(&[
                    ("Authorization", "plain".into()),
                    ("X-Key", Value::from("hunter2").secret()),
                    ("X-Open", "open".into()),
                ]),
            ),
            ("body", Value::from("hidden").secret()),
        ])
    };
    create(&spec("/303")).await.unwrap();
    let got = other.got()[0].clone();
    assert!(
        !got.headers.contains_key("authorization") && !got.headers.contains_key("x-key"),
        "{got:?}"
    );
    assert_eq!(
        (got.headers["x-open"].as_str(), got.body.as_str()),
        ("open", "")
    );
    let error = create(&spec("/307")).await.unwrap_err();
    assert_eq!((error.kind, other.got().len()), (ErrorKind::Permanent, 1));
}

#[tokio::test]
async fn a_call_ends_at_its_deadline_and_on_cancellation() {
    let server = Server::start(|_| None).await;
    let begun = Instant::now();
    let slow = map(&[("url", server.url("/").into()), ("timeout", "50ms".into())]);
    assert_eq!(create(&slow).await.unwrap_err().kind, ErrorKind::Transient);
    let spec = map(&[("url", server.url("/").into())]);
    let provider = providers::http::provider();
    let short = Call {
        deadline: Some(Duration::from_millis(50)),
        ..call()
    };
    assert_eq!(
        provider
            .apply(&short, create_request(&spec))
            .await
            .unwrap_err()
            .kind,
        ErrorKind::TimedOut
    );
    let ended = call();
    let cancel = ended.cancel.clone();
    let later = async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(provider.apply(&ended, create_request(&spec)), later);
    assert_eq!(result.unwrap_err().kind, ErrorKind::Cancelled);
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn a_too_long_answer_is_recorded() {
    let server = Server::start(|_| Some((200, Vec::new(), vec![b'x'; 16 * 1024 * 1024 + 1]))).await;
    let error = create(&map(&[("url", server.url("/").into())]))
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Permanent);
    let partial = error.partial.expect("what was made is told");
    assert_eq!(
        (partial.id.as_ref(), partial.fields.get("status")),
        ("token-1", Some(&Value::Int(200)))
    );
    assert!(
        fetch(&[("url", server.url("/").into())])
            .await
            .unwrap_err()
            .message
            .contains("16 MiB")
    );
}

#[tokio::test]
async fn a_binary_answer_is_reported() {
    let server = Server::start(|_| Some((200, Vec::new(), vec![0xff, b'a']))).await;
    let made = create(&map(&[("url", server.url("/").into())]))
        .await
        .unwrap();
    let [warning] = made.diagnostics.as_slice() else {
        panic!("{:?}", made.diagnostics)
    };
    assert_eq!(warning.severity, ProviderSeverity::Warning);
    assert_eq!(made.fields.get("json"), Some(&Value::Null));
    assert!(fetch(&[("url", server.url("/").into())]).await.is_err());
}

#[tokio::test]
async fn errors_name_the_field() {
    let url = ("url", Value::from("http://localhost/"));
    let header = |name: &str, value: &str| ("headers", map(&[(name, value.into())]));
    assert!(
        rejected(&[url.clone(), header("X-A", "b")])
            .await
            .is_empty()
    );
    assert_eq!(rejected(&[("url", "localhost/x".into())]).await, ["url"]);
    assert_eq!(
        rejected(&[("url", Value::unknown(None, None))]).await,
        Vec::<String>::new()
    );
    assert_eq!(
        rejected(&[url.clone(), ("method", "no method".into())]).await,
        ["method"]
    );
    assert_eq!(
        rejected(&[url.clone(), ("timeout", "soon".into())]).await,
        ["timeout"]
    );
    assert_eq!(
        rejected(&[url.clone(), header("X-A", "a\nb")]).await,
        ["headers.X-A"]
    );
    assert_eq!(
        rejected(&[url.clone(), header("Content-Length", "5")]).await,
        ["headers.Content-Length"]
    );
    assert_eq!(
        rejected(&[url.clone(), header("no name", "5")]).await,
        ["headers"]
    );
    assert_eq!(
        rejected(&[url.clone(), ("caCertificatePem", "none".into())]).await,
        ["caCertificatePem"]
    );
    let read = map(&[
        ("url", "/{id}".into()),
        ("headers", map(&[("Host", "a\0".into())])),
    ]);
    assert_eq!(
        rejected(&[url, ("read", read)]).await,
        ["read.url", "read.headers.Host"]
    );
}

#[tokio::test]
async fn a_document_is_fetched() {
    let server = Server::start(|got| match got.path.as_str() {
        "/missing" => reply(404, "nothing"),
        _ => Some((
            200,
            vec![("ETag".into(), "7".into())],
            got.headers
                .get("x-a")
                .cloned()
                .unwrap_or_default()
                .into_bytes(),
        )),
    })
    .await;
    let headers = Value::list(["X-A: one: two".into(), "X-B:3".into()]);
    let fetched = fetch(&[("url", server.url("/doc").into()), ("headers", headers)])
        .await
        .unwrap();
    assert_eq!(fetched.applied, [0, 1]);
    let [candidate] = fetched.candidates.as_slice() else {
        panic!("one candidate")
    };
    assert_eq!(candidate.fields.get("status"), Some(&Value::Int(200)));
    assert_eq!(candidate.fields.get("body"), Some(&"one: two".into()));
    assert!(
        candidate
            .fields
            .get("headers")
            .unwrap()
            .as_list()
            .unwrap()
            .contains(&"etag: 7".into())
    );
    let got = server.got()[0].clone();
    assert_eq!(
        (got.method.as_str(), got.headers["x-b"].as_str()),
        ("GET", "3")
    );

    let missing = server.url("/missing");
    assert_eq!(
        fetch(&[("url", missing.clone().into())])
            .await
            .unwrap_err()
            .kind,
        ErrorKind::Permanent
    );
    let expected = Value::list([200.into(), 404.into()]);
    let fetched = fetch(&[("url", missing.into()), ("expectStatus", expected)])
        .await
        .unwrap();
    assert_eq!(
        fetched.candidates[0].fields.get("status"),
        Some(&Value::Int(404))
    );

    assert_eq!(
        fetch(&[])
            .await
            .unwrap_err()
            .field
            .as_ref()
            .map(ToString::to_string)
            .as_deref(),
        Some("url")
    );
    assert_eq!(
        fetch(&[("url", "nowhere".into())])
            .await
            .unwrap_err()
            .field
            .as_ref()
            .map(ToString::to_string)
            .as_deref(),
        Some("url")
    );
    let filters: [(Name, Name, Value); 1] =
        [("url".into(), "starts with".into(), "http://".into())];
    let request = FetchRequest {
        type_name: "http/get",
        filters: &filters,
        annotations: &Value::Null,
    };
    let error = providers::http::provider()
        .fetch(&call(), request)
        .await
        .unwrap_err();
    assert_eq!(
        (
            error.kind,
            error.field.as_ref().map(ToString::to_string).as_deref()
        ),
        (ErrorKind::Document, Some("url"))
    );
}

#[tokio::test]
async fn only_trusted_servers_are_contacted() {
    let made =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned(), "127.0.0.1".to_owned()])
            .unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    // The TLS provider is explicit, so that the test does not depend on the one that the process
    // installed.
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(
        rustls::crypto::aws_lc_rs::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .unwrap()
    .with_no_client_auth()
    .with_single_cert(vec![made.cert.der().clone()], key.into())
    .unwrap();
    let server = Server::with_tls(|_| reply(200, "hidden"), Some(Arc::new(config).into())).await;
    let url = Value::from(format!("https://127.0.0.1:{}/", server.port));
    let trusted = fetch(&[
        ("url", url.clone()),
        ("caCertificatePem", made.cert.pem().into()),
    ])
    .await
    .unwrap();
    assert_eq!(
        trusted.candidates[0].fields.get("body"),
        Some(&"hidden".into())
    );
    let spec = map(&[
        ("url", url.clone()),
        ("caCertificatePem", made.cert.pem().into()),
    ]);
    assert_eq!(
        create(&spec).await.unwrap().fields.get("status"),
        Some(&Value::Int(200))
    );
    // The certificate of the server is signed neither by the other authority nor by those of the
    // machine.
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let error = fetch(&[
        ("url", url.clone()),
        ("caCertificatePem", other.cert.pem().into()),
    ])
    .await
    .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Permanent, "{error}");
    assert_eq!(
        fetch(&[("url", url)]).await.unwrap_err().kind,
        ErrorKind::Permanent
    );
}
