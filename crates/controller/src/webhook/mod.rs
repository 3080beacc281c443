//! The webhook of the controller: an HTTPS server that answers `POST /validate` with the verdict of
//! `admission`, and shows health and counters at `/livez`, `/readyz` and `/metrics`.
//!
//! It serves whether the controller leads or not. Not here: HTTP/2; who may connect, because an API
//! server shows no credentials and the answers contain no secret.

mod certificate;
mod review;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::controller::Controller;
use certificate::FollowedCertificate;
use review::answer_to;

pub use certificate::{CertificateFailure, CertificateFiles};

/// The path of reviews.
pub const VALIDATE_PATH: &str = "/validate";

/// The largest body of a request, in bytes. A review has the object before and after the change, and
/// an API server accepts objects of at most 3 MiB.
const LARGEST_BODY: usize = 8 << 20;

/// The largest number of connections at once. Further ones wait.
const MOST_CONNECTIONS: usize = 128;

/// The time that a client has for the TLS handshake.
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);

/// The time that a client has to send a body.
const BODY_TIME: Duration = Duration::from_secs(20);

/// The time that requests have to end after the stop.
const LAST_REQUESTS: Duration = Duration::from_secs(5);

/// The pause after a connection could not be accepted, for example for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How often the files of the certificate are read.
const CERTIFICATE_PAUSE: Duration = Duration::from_secs(10);

/// How a webhook is served.
#[derive(Clone, Debug)]
pub struct WebhookOptions {
    /// The files of the certificate.
    pub certificate: CertificateFiles,
    /// How often the files are read again. The default is ten seconds.
    pub certificate_pause: Duration,
}

impl WebhookOptions {
    /// The default settings with a certificate.
    pub fn new(certificate: CertificateFiles) -> WebhookOptions {
        WebhookOptions {
            certificate,
            certificate_pause: CERTIFICATE_PAUSE,
        }
    }
}

/// A webhook that is ready to serve.
pub struct Webhook {
    certificate: FollowedCertificate,
    certificate_pause: Duration,
    controller: Controller,
}

impl Webhook {
    /// A webhook beside a controller, whose counters it shows. Reads the certificate.
    ///
    /// # Errors
    /// If a file cannot be read, or the certificate and the key cannot be used.
    pub fn new(
        options: WebhookOptions,
        controller: Controller,
    ) -> Result<Webhook, CertificateFailure> {
        Ok(Webhook {
            certificate: FollowedCertificate::read(options.certificate)?,
            certificate_pause: options.certificate_pause,
            controller,
        })
    }

    /// Serves until it is stopped: then no connection is accepted, and requests have five seconds
    /// to end. New connections use the certificate that the files contained last.
    pub async fn serve(self, listener: TcpListener, stop: CancellationToken) {
        let settings = self.certificate.current();
        let follow = self.certificate.follow(self.certificate_pause);
        let _follow = AbortOnDropHandle::new(tokio::spawn(follow));
        let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = accept(&listener, &places) => accepted,
            };
            match accepted {
                Ok((stream, place)) => {
                    let serving = connection(
                        stream,
                        acceptor(&settings),
                        self.controller.clone(),
                        stop.clone(),
                    );
                    connections.spawn(async move {
                        serving.await;
                        drop(place);
                    });
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
            while connections.try_join_next().is_some() {}
        }
        let ended = async { while connections.join_next().await.is_some() {} };
        // Connections that are still open then are dropped.
        let _ = tokio::time::timeout(LAST_REQUESTS, ended).await;
    }
}

/// The next connection, and its place among those that are open at once.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await;
    let place = place.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, place))
}

fn acceptor(settings: &watch::Receiver<Arc<ServerConfig>>) -> TlsAcceptor {
    TlsAcceptor::from(settings.borrow().clone())
}

/// Answers the requests of a connection. A connection that fails ends; clients connect anew.
async fn connection(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    controller: Controller,
    stop: CancellationToken,
) {
    // Small answers are sent at once.
    let _ = stream.set_nodelay(true);
    let handshake = tokio::time::timeout(HANDSHAKE_TIME, acceptor.accept(stream));
    let Ok(Ok(stream)) = handshake.await else {
        return;
    };
    let answer = service_fn(move |request| {
        let controller = controller.clone();
        async move { answer(request, &controller).await }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => {}
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// The answer to a request. An error ends the connection.
async fn answer(
    request: Request<Incoming>,
    controller: &Controller,
) -> io::Result<Response<Full<Bytes>>> {
    let (parts, body) = request.into_parts();
    let allowed = match parts.uri.path() {
        VALIDATE_PATH => Method::POST,
        "/livez" | "/readyz" | "/metrics" => Method::GET,
        _ => return Ok(plain(StatusCode::NOT_FOUND, "not found")),
    };
    if parts.method != allowed {
        let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, "method not allowed");
        if let Ok(value) = header::HeaderValue::from_str(allowed.as_str()) {
            refused.headers_mut().insert(header::ALLOW, value);
        }
        return Ok(refused);
    }
    match parts.uri.path() {
        VALIDATE_PATH => validate(body).await,
        "/metrics" => {
            let text = controller.metrics().prometheus_text();
            Ok(written(StatusCode::OK, "text/plain; version=0.0.4", text))
        }
        _ => Ok(plain(StatusCode::OK, "ok")),
    }
}

/// The answer to a review: 400 for what is none, 413 for what is too large.
async fn validate(body: Incoming) -> io::Result<Response<Full<Bytes>>> {
    let body = Limited::new(body, LARGEST_BODY).collect();
    let body = tokio::time::timeout(BODY_TIME, body).await;
    let body = match body.map_err(io::Error::other)? {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            let message = format!("the body has more than {LARGEST_BODY} bytes");
            return Ok(plain(StatusCode::PAYLOAD_TOO_LARGE, message));
        }
        Err(error) => return Err(io::Error::other(error)),
    };
    Ok(match answer_to(&body) {
        Ok(answer) => written(StatusCode::OK, "application/json", answer.to_string()),
        Err(problem) => plain(StatusCode::BAD_REQUEST, problem),
    })
}

fn plain(status: StatusCode, text: impl Into<String>) -> Response<Full<Bytes>> {
    written(status, "text/plain; charset=utf-8", text.into())
}

fn written(status: StatusCode, form: &'static str, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    let form = header::HeaderValue::from_static(form);
    response.headers_mut().insert(header::CONTENT_TYPE, form);
    response
}
