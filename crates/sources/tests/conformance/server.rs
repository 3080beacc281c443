//! A small local server, plain or with TLS, that answers with a function and records its requests.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A request to the server.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    /// The path with its query, decoded.
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
}

/// An answer of the server.
#[derive(Clone, Debug)]
pub(crate) enum ServerReply {
    /// Status, headers, body.
    Answer(u16, Vec<(String, String)>, Vec<u8>),
    /// Announces more bytes than it sends, and closes the connection.
    Cut,
    /// Sends without end.
    Endless,
    /// Announces two billion bytes and sends without end.
    Giant,
    /// Starts an answer, then sends a byte from time to time.
    Trickle,
    /// No answer.
    Nothing,
}

pub(crate) fn text(body: &str) -> ServerReply {
    ServerReply::Answer(200, Vec::new(), body.into())
}

pub(crate) fn status(status: u16, body: &str) -> ServerReply {
    ServerReply::Answer(status, Vec::new(), body.into())
}

pub(crate) fn redirect(to: &str) -> ServerReply {
    ServerReply::Answer(302, vec![("Location".into(), to.into())], Vec::new())
}

/// A running server.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) port: u16,
    /// The certificate to trust, in PEM form; empty without TLS.
    pub(crate) authority: String,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    sent: Arc<AtomicU64>,
}

impl Server {
    pub(crate) fn plain(
        say: impl Fn(&ReceivedRequest) -> ServerReply + Send + Sync + 'static,
    ) -> Server {
        Server::start(Arc::new(say), None, String::new())
    }

    /// A server with a new certificate for `localhost`.
    pub(crate) fn tls(
        say: impl Fn(&ReceivedRequest) -> ServerReply + Send + Sync + 'static,
    ) -> Server {
        Server::tls_of("localhost", say)
    }

    /// A server with a new certificate for a host.
    pub(crate) fn tls_of(
        host: &str,
        say: impl Fn(&ReceivedRequest) -> ServerReply + Send + Sync + 'static,
    ) -> Server {
        let made = rcgen::generate_simple_self_signed([host.to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        Server::start(
            Arc::new(say),
            Some(TlsAcceptor::from(Arc::new(config))),
            made.cert.pem(),
        )
    }

    fn start(
        say: Arc<dyn Fn(&ReceivedRequest) -> ServerReply + Send + Sync>,
        tls: Option<TlsAcceptor>,
        authority: String,
    ) -> Server {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let listener = TcpListener::from_std(listener).unwrap();
        let server = Server {
            port,
            authority,
            requests: Arc::default(),
            sent: Arc::default(),
        };
        let running = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (server, say, tls) = (running.clone(), say.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                server.serve(stream, &*say).await;
                            }
                        }
                        None => server.serve(stream, &*say).await,
                    }
                });
            }
        });
        server
    }

    pub(crate) fn url(&self, path: &str) -> String {
        if self.authority.is_empty() {
            format!("http://127.0.0.1:{}{path}", self.port)
        } else {
            format!("https://localhost:{}{path}", self.port)
        }
    }

    pub(crate) fn received(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.received().into_iter().map(|got| got.path).collect()
    }

    /// The number of bytes sent in endless answers.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }

    /// Answers one request and closes.
    async fn serve(
        &self,
        mut stream: impl AsyncRead + AsyncWrite + Unpin,
        say: &(dyn Fn(&ReceivedRequest) -> ServerReply + Send + Sync),
    ) {
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"\r\n\r\n") {
            let mut chunk = [0; 4096];
            match stream.read(&mut chunk).await {
                Ok(0) | Err(_) => return,
                Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            }
        }
        let head = String::from_utf8_lossy(&bytes).into_owned();
        let mut lines = head.lines();
        let path = lines
            .next()
            .unwrap_or_default()
            .split(' ')
            .nth(1)
            .unwrap_or_default();
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers = headers
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let got = ReceivedRequest {
            path: unescaped(path),
            headers,
        };
        self.requests.lock().unwrap().push(got.clone());
        let begin = |length: &str| format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{length}\r\n");
        let _ = match say(&got) {
            ServerReply::Answer(status, headers, body) => {
                let mut out = format!("HTTP/1.1 {status} Word\r\nConnection: close\r\n");
                if !matches!(status, 204 | 304) {
                    out.push_str(&format!("Content-Length: {}\r\n", body.len()));
                }
                for (name, value) in headers {
                    out.push_str(&format!("{name}: {value}\r\n"));
                }
                let out = [format!("{out}\r\n").as_bytes(), &body].concat();
                stream.write_all(&out).await
            }
            ServerReply::Cut => {
                stream
                    .write_all(format!("{}half", begin("Content-Length: 100\r\n")).as_bytes())
                    .await
            }
            ServerReply::Endless => self.send_endless_body(&mut stream, &begin("")).await,
            ServerReply::Giant => {
                self.send_endless_body(&mut stream, &begin("Content-Length: 2147483648\r\n"))
                    .await
            }
            ServerReply::Trickle => {
                let _ = stream.write_all(begin("").as_bytes()).await;
                while stream.write_all(b"#").await.is_ok() && stream.flush().await.is_ok() {
                    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                }
                return;
            }
            ServerReply::Nothing => {
                // Wait until the client closes the connection.
                let _ = stream.read(&mut [0; 1]).await;
                return;
            }
        };
        let _ = stream.shutdown().await;
    }

    async fn send_endless_body(
        &self,
        stream: &mut (impl AsyncWrite + Unpin),
        head: &str,
    ) -> std::io::Result<()> {
        stream.write_all(head.as_bytes()).await?;
        let chunk = [b'#'; 64 * 1024];
        loop {
            stream.write_all(&chunk).await?;
            self.sent.fetch_add(chunk.len() as u64, Ordering::SeqCst);
        }
    }
}

fn unescaped(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [
                rest.next().unwrap_or_default(),
                rest.next().unwrap_or_default(),
            ];
            let digits = String::from_utf8_lossy(&digits).into_owned();
            bytes.push(u8::from_str_radix(&digits, 16).unwrap_or(b'%'));
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The documents of a server, by path. `None` for a document that is never answered.
pub(crate) type Documents = Arc<Mutex<BTreeMap<String, Option<Vec<u8>>>>>;

/// Answers with documents from memory, with entity tags.
pub(crate) fn from_memory(
    documents: Documents,
    prefix: &'static str,
    missing: &'static str,
) -> impl Fn(&ReceivedRequest) -> ServerReply {
    move |got| {
        let path = got.path.strip_prefix(prefix).unwrap_or(&got.path);
        match documents.lock().unwrap().get(path) {
            None => status(404, missing),
            Some(None) => ServerReply::Nothing,
            Some(Some(bytes)) => {
                let tag = format!("\"{}\"", &source::Digest::of(bytes).hex()[..16]);
                let date = "Mon, 02 Jan 2023 15:04:05 GMT".to_owned();
                let headers = vec![
                    ("ETag".to_owned(), tag.clone()),
                    ("Last-Modified".to_owned(), date),
                ];
                if got.headers.get("if-none-match") == Some(&tag) {
                    ServerReply::Answer(304, headers, Vec::new())
                } else {
                    ServerReply::Answer(200, headers, bytes.clone())
                }
            }
        }
    }
}
