//! The server that plugins of this family expect the engine to run. It receives log messages and
//! names the root resource.
//!
//! Go plugins exit if they cannot reach the server. Every other method is answered as
//! unimplemented, which plugins tolerate.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use plugins::{Level, LogLine};
use prost::Message;
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::sleep;

use crate::messages::{Empty, GetRootResourceResponse, LogRequest};

/// The largest message that a plugin may send, in bytes.
const LIMIT: usize = 4 << 20;

/// The number of concurrent calls of a plugin on a connection.
const STREAMS: u32 = 128;

/// Pause after a connection that could not be accepted.
const RETRY: Duration = Duration::from_millis(20);

/// gRPC's code for a method that does not exist.
const UNIMPLEMENTED: i32 = 12;
/// gRPC's code for a request that cannot be read.
const INVALID: i32 = 3;

/// A log message of a plugin. It may repeat secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// The URN of the resource that the message is about; empty if there is none.
    pub urn: String,
    /// The message.
    pub line: LogLine,
    /// Whether the message is progress that need not be kept.
    pub ephemeral: bool,
}

/// Receives log messages. It must not block.
pub type LogSink = Arc<dyn Fn(Logged) + Send + Sync>;

/// The server. It stops when this value is dropped.
#[derive(Debug)]
pub struct Engine {
    address: SocketAddr,
    accepting: AbortHandle,
}

impl Engine {
    /// Starts the server on a free port of this machine.
    ///
    /// # Errors
    /// If no port can be opened.
    pub async fn start(root_urn: String, sink: LogSink) -> io::Result<Engine> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let root_urn: Arc<str> = root_urn.into();
        let accepting = tokio::spawn(async move {
            // Connections end with this task.
            let mut connections = JoinSet::new();
            loop {
                let Ok((stream, _)) = listener.accept().await else {
                    // The process has too many open files; some of them may be closed soon.
                    sleep(RETRY).await;
                    continue;
                };
                while connections.try_join_next().is_some() {}
                let (root_urn, sink) = (root_urn.clone(), sink.clone());
                connections.spawn(async move {
                    let service =
                        service_fn(move |request| answer(request, root_urn.clone(), sink.clone()));
                    let mut server = http2::Builder::new(TokioExecutor::new());
                    server.max_concurrent_streams(STREAMS);
                    // A failed connection affects only its plugin.
                    let _ = server.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Ok(Engine {
            address,
            accepting: accepting.abort_handle(),
        })
    }

    /// The address of the server as an argument of a plugin: `127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

type ResponseBody = BoxBody<Bytes, Infallible>;

async fn answer(
    request: Request<Incoming>,
    root_urn: Arc<str>,
    sink: LogSink,
) -> Result<Response<ResponseBody>, Infallible> {
    let method = request.uri().path().to_owned();
    Ok(match method.as_str() {
        "/pulumirpc.Engine/Log" => match message::<LogRequest>(request).await {
            Some(log) => {
                sink(logged(log));
                success(&Empty {})
            }
            None => failure(INVALID),
        },
        "/pulumirpc.Engine/GetRootResource" => success(&GetRootResourceResponse {
            urn: root_urn.to_string(),
        }),
        "/pulumirpc.Engine/SetRootResource" | "/pulumirpc.Engine/RequirePulumiVersion" => {
            success(&Empty {})
        }
        _ => failure(UNIMPLEMENTED),
    })
}

fn logged(log: LogRequest) -> Logged {
    let level = match log.severity {
        0 => Level::Debug,
        2 => Level::Warn,
        3 => Level::Error,
        _ => Level::Info,
    };
    Logged {
        urn: log.urn,
        line: LogLine {
            level,
            text: log.message,
        },
        ephemeral: log.ephemeral,
    }
}

/// The message of a request: one frame, not compressed.
async fn message<M: Message + Default>(request: Request<Incoming>) -> Option<M> {
    let bytes = Limited::new(request.into_body(), LIMIT)
        .collect()
        .await
        .ok()?
        .to_bytes();
    let (head, body) = bytes.split_at_checked(5)?;
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
    if head[0] != 0 || usize::try_from(length).ok()? != body.len() {
        return None;
    }
    M::decode(body).ok()
}

fn success(message: &impl Message) -> Response<ResponseBody> {
    let encoded = message.encode_to_vec();
    let mut bytes = vec![0];
    bytes.extend_from_slice(
        &u32::try_from(encoded.len())
            .unwrap_or(u32::MAX)
            .to_be_bytes(),
    );
    bytes.extend_from_slice(&encoded);
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    let body = Full::new(Bytes::from(bytes)).with_trailers(async move { Some(Ok(trailers)) });
    response(body.boxed())
}

fn failure(code: i32) -> Response<ResponseBody> {
    let mut answer = response(Full::new(Bytes::new()).boxed());
    answer
        .headers_mut()
        .insert("grpc-status", HeaderValue::from(code));
    answer
}

fn response(body: ResponseBody) -> Response<ResponseBody> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::OK;
    response
        .headers_mut()
        .insert("content-type", HeaderValue::from_static("application/grpc"));
    response
}
