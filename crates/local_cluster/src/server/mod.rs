//! A cluster on a port of this machine, for `kubectl` and other clients.
//!
//! The connection is HTTPS with a certificate of its own, because clients of Kubernetes send
//! credentials over no other connection. Every request but those for the health of the server needs
//! the token of the server or one that the cluster has issued.
//!
//! Not here: HTTP/2, and where the kubeconfig is kept.

mod access;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Request, Response};
use http_body::Body as _;
use http_body_util::{BodyExt as _, BodyStream, Full, Limited, StreamBody};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

use crate::cluster::LocalCluster;
use crate::failure::RefusedRequest;
use crate::service::{ClusterBody, ClusterService, written};
use crate::views::ApiResponse;

pub use access::{AccessFailure, ServerAccess};

/// The largest body of a request, in bytes.
const LARGEST_BODY: usize = 3 << 20;

/// The time that a client has for the TLS handshake.
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);

/// The time that requests have to end after the stop.
const LAST_REQUESTS: Duration = Duration::from_secs(5);

/// The pause after a connection could not be accepted, for example for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves a cluster until it is stopped: then no connection is accepted, watches end, and other
/// requests have five seconds to end.
///
/// # Errors
/// If the certificate of the access cannot be used.
pub async fn serve(
    cluster: LocalCluster,
    listener: TcpListener,
    access: ServerAccess,
    stop: CancellationToken,
) -> Result<(), AccessFailure> {
    let acceptor = TlsAcceptor::from(access.tls()?);
    let server = Arc::new(Server {
        service: cluster.service(),
        access,
        stop: stop.clone(),
    });
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                connections.spawn(server.clone().connection(acceptor.clone(), stream));
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
        while connections.try_join_next().is_some() {}
    }
    let ended = async { while connections.join_next().await.is_some() {} };
    // Connections that are still open then are dropped.
    let _ = tokio::time::timeout(LAST_REQUESTS, ended).await;
    Ok(())
}

struct Server {
    service: ClusterService,
    access: ServerAccess,
    stop: CancellationToken,
}

impl Server {
    /// Answers the requests of a connection. A connection that fails ends; clients connect anew.
    async fn connection(self: Arc<Server>, acceptor: TlsAcceptor, stream: TcpStream) {
        // Small answers are sent at once.
        let _ = stream.set_nodelay(true);
        let handshake = tokio::time::timeout(HANDSHAKE_TIME, acceptor.accept(stream));
        let Ok(Ok(stream)) = handshake.await else {
            return;
        };
        let server = self.clone();
        let answer = service_fn(move |request| {
            let server = server.clone();
            async move { server.answer(request).await }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .serve_connection(TokioIo::new(stream), answer);
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            _ = connection.as_mut() => {}
            () = self.stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
            }
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> io::Result<Response<ClusterBody>> {
        let (mut parts, body) = request.into_parts();
        if is_health(parts.uri.path()) {
            parts.headers.remove(AUTHORIZATION);
        } else if !self.authenticate(&mut parts.headers) {
            return Ok(refused(&RefusedRequest::unauthorized()));
        }
        let body = match Limited::new(body, LARGEST_BODY).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<http_body_util::LengthLimitError>() => {
                return Ok(refused(&RefusedRequest::too_large(LARGEST_BODY)));
            }
            Err(error) => return Err(io::Error::other(error)),
        };
        let request = Request::from_parts(parts, Full::new(body));
        let mut service = self.service.clone();
        let answer = service.call(request).await.map_err(io::Error::other)?;
        Ok(answer.map(|body| self.until_stop(body)))
    }

    /// Whether the credentials are valid. The token of the server is that of an administrator, and
    /// the cluster does not know it; other tokens are left to the cluster.
    fn authenticate(&self, headers: &mut HeaderMap) -> bool {
        let Some(value) = headers.get(AUTHORIZATION) else {
            return false;
        };
        let bearer = value
            .to_str()
            .ok()
            .and_then(|text| text.strip_prefix("Bearer "));
        if bearer.is_some_and(|token| self.access.is_token(token)) {
            headers.remove(AUTHORIZATION);
        }
        true
    }

    /// The body of an answer, which ends when the server stops if it is a stream.
    fn until_stop(&self, body: ClusterBody) -> ClusterBody {
        if body.size_hint().exact().is_some() {
            return body;
        }
        let stopped = self.stop.clone().cancelled_owned();
        let frames = BodyStream::new(body).take_until(Box::pin(stopped));
        StreamBody::new(frames).boxed_unsync()
    }
}

fn is_health(path: &str) -> bool {
    ["/readyz", "/livez", "/healthz"]
        .iter()
        .any(|health| path == *health || path.starts_with(&format!("{health}/")))
}

fn refused(refused: &RefusedRequest) -> Response<ClusterBody> {
    written(ApiResponse::json(refused.code, &refused.status()))
}
