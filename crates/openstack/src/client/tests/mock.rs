//! A server that plays a cloud: Keystone and the services behind one port, with or without TLS.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use provider::ProviderError;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;

use super::super::Cloud;
use super::super::environment::CloudEnvironment;
use super::{settings, variables};

/// A request to the server.
#[derive(Clone, Debug)]
pub(super) struct GotRequest {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: String,
}

impl GotRequest {
    /// Method and path.
    pub(super) fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(super) fn json(&self) -> Json {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(super) enum MockReply {
    Answer {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
    },
    /// Closes the connection without an answer.
    Reset,
}

/// An answer with JSON.
pub(super) fn answer(status: u16, body: &Json) -> MockReply {
    MockReply::Answer {
        status,
        headers: vec![("Content-Type", "application/json".to_owned())],
        body: body.to_string().into_bytes(),
    }
}

impl MockReply {
    pub(super) fn with(self, name: &'static str, value: &str) -> MockReply {
        match self {
            MockReply::Answer {
                status,
                mut headers,
                body,
            } => {
                headers.retain(|(known, _)| *known != name);
                headers.push((name, value.to_owned()));
                MockReply::Answer {
                    status,
                    headers,
                    body,
                }
            }
            MockReply::Reset => MockReply::Reset,
        }
    }
}

/// Decides about a request: the request, and how often one with the same line came before. `None` for
/// what a cloud does: Keystone gives the tokens `token-1`, `token-2`, ...; other paths are unknown.
pub(super) type Script = dyn Fn(&GotRequest, usize) -> Option<MockReply> + Send + Sync;

/// A server that plays a cloud.
pub(super) struct MockCloud {
    port: u16,
    scheme: &'static str,
    got: Arc<Mutex<Vec<GotRequest>>>,
}

/// The line of a sign-in.
pub(super) const SIGN_IN: &str = "POST /identity/v3/auth/tokens";

impl MockCloud {
    pub(super) async fn start(
        script: impl Fn(&GotRequest, usize) -> Option<MockReply> + Send + Sync + 'static,
    ) -> MockCloud {
        MockCloud::start_with(None, script).await
    }

    pub(super) async fn start_with(
        tls: Option<tokio_rustls::TlsAcceptor>,
        script: impl Fn(&GotRequest, usize) -> Option<MockReply> + Send + Sync + 'static,
    ) -> MockCloud {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let cloud = MockCloud {
            port: listener.local_addr().unwrap().port(),
            scheme: if tls.is_some() { "https" } else { "http" },
            got: Arc::default(),
        };
        let state = Arc::new(MockState {
            got: cloud.got.clone(),
            url: cloud.url(""),
            script: Box::new(script),
        });
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (state, tls) = (state.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                state.serve(stream).await;
                            }
                        }
                        None => state.serve(stream).await,
                    }
                });
            }
        });
        cloud
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}://127.0.0.1:{}{path}", self.scheme, self.port)
    }

    /// The requests with a line.
    pub(super) fn requests(&self, line: &str) -> Vec<GotRequest> {
        let got = self.got.lock().unwrap();
        got.iter()
            .filter(|got| got.line() == line)
            .cloned()
            .collect()
    }

    /// The number of requests with a line.
    pub(super) fn count(&self, line: &str) -> usize {
        self.requests(line).len()
    }

    /// Variables with which the user `demo` signs in.
    pub(super) fn environment(&self, more: &[(&str, &str)]) -> CloudEnvironment {
        let mut all = variables(&[
            ("OS_USERNAME", "demo"),
            ("OS_PASSWORD", "hunter22"),
            ("OS_PROJECT_NAME", "shop"),
            ("OS_AUTH_URL", &self.url("/identity")),
        ]);
        all.variables.extend(variables(more).variables);
        all
    }

    /// Signs in as the user `demo`.
    pub(super) async fn connect(&self, more: &[(&str, &str)]) -> Result<Cloud, ProviderError> {
        Cloud::connect_in(&settings(&[]), self.environment(more)).await
    }
}

/// What the tasks of a server share.
struct MockState {
    got: Arc<Mutex<Vec<GotRequest>>>,
    url: String,
    script: Box<Script>,
}

impl MockState {
    /// Answers one request and closes the connection.
    async fn serve<S: AsyncRead + AsyncWrite + Unpin>(&self, mut stream: S) {
        let Some(got) = read_request(&mut stream).await else {
            return;
        };
        let before = {
            let mut all = self.got.lock().unwrap();
            let before = all.iter().filter(|it| it.line() == got.line()).count();
            all.push(got.clone());
            before
        };
        let scripted = (self.script)(&got, before);
        let reply = scripted.unwrap_or_else(|| match got.line() == SIGN_IN {
            true => self.token(before + 1),
            false => answer(
                404,
                &json!({"itemNotFound": {"code": 404, "message": "unknown path"}}),
            ),
        });
        let MockReply::Answer {
            status,
            headers,
            body,
        } = reply
        else {
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

    /// The answer to a sign-in.
    fn token(&self, number: usize) -> MockReply {
        token(&self.url, number, 3600)
    }
}

/// The answer to a sign-in: a token with a lifetime in seconds, and the catalogue.
pub(super) fn token(url: &str, number: usize, lifetime: i64) -> MockReply {
    let issued = jiff::Timestamp::UNIX_EPOCH;
    let expires = jiff::Timestamp::from_second(lifetime).unwrap();
    let endpoint = |interface: &str, region: &str, path: &str| json!({"interface": interface, "region_id": region, "url": format!("{url}{path}")});
    let body = json!({"token": {
        "issued_at": issued.to_string(),
        "expires_at": expires.to_string(),
        "project": {"id": "p1", "name": "shop"},
        "catalog": [
            {"type": "identity", "endpoints": [endpoint("public", "one", "/identity/v3")]},
            {"type": "network", "endpoints": [
                endpoint("internal", "one", "/inside"),
                endpoint("public", "one", "/network"),
            ]},
            {"type": "compute", "endpoints": [endpoint("public", "one", "/compute/v2.1")]},
            {"type": "volumev3", "endpoints": [endpoint("public", "one", "/volume/v3/p1")]},
        ],
    }});
    answer(201, &body).with("X-Subject-Token", &format!("token-{number}"))
}

async fn read_request<S: AsyncRead + Unpin>(stream: &mut S) -> Option<GotRequest> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.lines();
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers
        .get("content-length")
        .and_then(|length| length.parse().ok());
    let length: usize = length.unwrap_or(0);
    let mut body = bytes[head + 4..].to_vec();
    while body.len() < length {
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => body.extend_from_slice(&chunk[..count]),
        }
    }
    Some(GotRequest {
        method,
        path,
        headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}
