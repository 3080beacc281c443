//! A connection to a plugin and its calls.

use std::error::Error as _;
use std::fmt;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::{Endpoint, ListenAddress, Plugin, ProcessExit};
use http::Uri;
use http::uri::PathAndQuery;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::{DecodeError, Message};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tonic::Request;
use tonic::client::Grpc;

use super::GrpcStatus;
use super::codec::Messages;
use super::transport::CallService;

/// The pause between two attempts to connect.
const RETRY: Duration = Duration::from_millis(10);
/// The time for which a lost call waits for the end of its process, to report how it ended.
const EXIT_LIMIT: Duration = Duration::from_secs(2);
/// The limit of the headers of an answer in bytes. The details of an error are in a header.
const HEADERS: u32 = 16 << 20;
/// The number of bytes that a plugin may send before the client confirms them: for one call, and
/// for all calls.
const WINDOWS: (u32, u32) = (4 << 20, 16 << 20);
/// The limit of one HTTP/2 frame in bytes.
const FRAME: u32 = 256 << 10;

/// The limits of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionOptions {
    /// The maximum size of a message in bytes, in each direction.
    pub message_bytes: usize,
    /// The maximum time of the attempts to connect.
    pub connect_timeout: Duration,
}

impl Default for ConnectionOptions {
    /// Returns 256 MiB and 10 s.
    fn default() -> ConnectionOptions {
        ConnectionOptions {
            message_bytes: 256 << 20,
            connect_timeout: Duration::from_secs(10),
        }
    }
}

/// The reason why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The plugin demands TLS.
    #[error(
        "the plugin demands an encrypted connection, which is not supported; start it without a certificate"
    )]
    Tls,
    /// The plugin listens outside this machine.
    #[error("the plugin listens at {0}, which is not on this machine")]
    NotLocal(ListenAddress),
    /// The operating system has no Unix sockets.
    #[error("Unix sockets are not supported on this operating system")]
    Unsupported,
    /// The plugin did not accept a connection.
    #[error("no connection to the plugin at {address} within {} s", within.as_secs())]
    Refused {
        /// The address.
        address: ListenAddress,
        /// The time limit.
        within: Duration,
        /// The last failure.
        source: io::Error,
    },
    /// The plugin does not speak HTTP/2.
    #[error("the plugin at {address} does not speak gRPC")]
    NotGrpc {
        /// The address.
        address: ListenAddress,
        /// The error.
        source: hyper::Error,
    },
    /// The process of the plugin ended.
    #[error("the plugin {} while it was connected", .0.ending)]
    Exited(ProcessExit),
}

/// The reason why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The plugin answered with an error.
    #[error(transparent)]
    Status(GrpcStatus),
    /// The plugin did not receive the call: the connection had ended, or the message is too large.
    #[error("the plugin was not asked: {0}")]
    NotSent(Loss),
    /// There is no answer that can be decoded. The plugin may have carried out the call.
    #[error("the plugin gave no answer: {0}")]
    Lost(Loss),
}

/// The loss of a call without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The known reason, as a phrase.
    pub why: String,
    /// The end of the process, if it has ended and the connection watches it.
    pub exit: Option<ProcessExit>,
}

impl fmt::Display for Loss {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.exit {
            Some(exit) => write!(to, "it {}", exit.ending),
            None => to.write_str(&self.why),
        }
    }
}

/// A connection. Clones share it, and calls may run concurrently.
#[derive(Clone)]
pub struct Connection {
    sender: SendRequest<tonic::body::Body>,
    message_bytes: usize,
    /// Whether the connection has ended.
    ended: watch::Receiver<bool>,
    plugin: Option<Plugin>,
}

impl Connection {
    /// Connects to an endpoint. The attempt is repeated until the plugin accepts, or the time is
    /// over.
    ///
    /// A lost call of this connection does not report how the process ended: see
    /// [`Connection::connect_to_plugin`].
    ///
    /// # Errors
    /// The reason why there is no connection.
    pub async fn connect(
        endpoint: &Endpoint,
        options: &ConnectionOptions,
    ) -> Result<Connection, ConnectError> {
        if endpoint.tls {
            return Err(ConnectError::Tls);
        }
        match &endpoint.address {
            #[cfg(unix)]
            ListenAddress::Unix(path) => {
                let open = || tokio::net::UnixStream::connect(path);
                let stream =
                    open_with_retries(&endpoint.address, options.connect_timeout, open).await?;
                Connection::handshake(TokioIo::new(stream), endpoint, options).await
            }
            #[cfg(not(unix))]
            ListenAddress::Unix(_) => Err(ConnectError::Unsupported),
            ListenAddress::Tcp(address) if !address.ip().is_loopback() => {
                Err(ConnectError::NotLocal(endpoint.address.clone()))
            }
            ListenAddress::Tcp(address) => {
                let open = || TcpStream::connect(address);
                let stream =
                    open_with_retries(&endpoint.address, options.connect_timeout, open).await?;
                // Without this option, small messages wait for a confirmation. The connection works
                // either way.
                let _ = stream.set_nodelay(true);
                Connection::handshake(TokioIo::new(stream), endpoint, options).await
            }
        }
    }

    /// Connects to a plugin and watches its process. The attempt to connect, and each call, ends
    /// with the process and reports how the process ended. The connection is a handle of the
    /// plugin.
    ///
    /// # Errors
    /// The reason why there is no connection.
    pub async fn connect_to_plugin(
        plugin: &Plugin,
        options: &ConnectionOptions,
    ) -> Result<Connection, ConnectError> {
        let connection = tokio::select! {
            connection = Connection::connect(plugin.endpoint(), options) => connection?,
            exit = plugin.exited() => return Err(ConnectError::Exited(exit)),
        };
        Ok(Connection {
            plugin: Some(plugin.clone()),
            ..connection
        })
    }

    async fn handshake<S>(
        stream: S,
        endpoint: &Endpoint,
        options: &ConnectionOptions,
    ) -> Result<Connection, ConnectError>
    where
        S: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
    {
        let shaken = Builder::new(TokioExecutor::new())
            .initial_stream_window_size(WINDOWS.0)
            .initial_connection_window_size(WINDOWS.1)
            .max_frame_size(FRAME)
            .max_header_list_size(HEADERS)
            .handshake(stream)
            .await;
        let (sender, driver) = shaken.map_err(|source| ConnectError::NotGrpc {
            address: endpoint.address.clone(),
            source,
        })?;
        let (end, ended) = watch::channel(false);
        tokio::spawn(async move {
            // Each call reports the failure of the connection itself.
            let _ = driver.await;
            end.send_replace(true);
        });
        Ok(Connection {
            sender,
            message_bytes: options.message_bytes,
            ended,
            plugin: None,
        })
    }

    /// Calls a method and waits for its answer. `path` is `/PACKAGE.SERVICE/METHOD`. Dropping the
    /// future cancels the call: the plugin is told, but may have carried the call out.
    ///
    /// # Errors
    /// The status that the plugin answered, or the reason why there is none.
    pub async fn unary<Q, R>(&self, path: &'static str, request: Q) -> Result<R, CallError>
    where
        Q: Message + 'static,
        R: Message + Default + 'static,
    {
        let mut answer = pin!(self.ask(path, request));
        let Some(plugin) = &self.plugin else {
            return answer.await;
        };
        let exit = tokio::select! {
            biased;
            answer = &mut answer => return answer,
            exit = plugin.exited() => exit,
        };
        // An answer that the plugin sent before its end may still arrive. The connection ends after
        // it.
        match timeout(EXIT_LIMIT, answer).await {
            Ok(answer) => answer,
            Err(_) => Err(CallError::Lost(Loss {
                why: "its process ended".into(),
                exit: Some(exit),
            })),
        }
    }

    async fn ask<Q, R>(&self, path: &'static str, request: Q) -> Result<R, CallError>
    where
        Q: Message + 'static,
        R: Message + Default + 'static,
    {
        let (mut grpc, answered) = self.call(&request).await?;
        match grpc
            .unary(
                Request::new(request),
                PathAndQuery::from_static(path),
                Messages::<Q, R>::new(),
            )
            .await
        {
            Ok(answer) => readable(answer.into_inner()),
            Err(status) => Err(self.failure(&status, &answered).await),
        }
    }

    /// Calls a method that answers with a stream of messages, and passes each message to `take`.
    /// Returns when the plugin ends its answer. Dropping the future cancels the call.
    ///
    /// # Errors
    /// The status that the plugin answered, or the reason why there is none. Earlier messages were
    /// passed on.
    pub async fn server_streaming<Q, R>(
        &self,
        path: &'static str,
        request: Q,
        mut take: impl FnMut(R),
    ) -> Result<(), CallError>
    where
        Q: Message + 'static,
        R: Message + Default + 'static,
    {
        let (mut grpc, answered) = self.call(&request).await?;
        let (request, path) = (Request::new(request), PathAndQuery::from_static(path));
        let mut messages = match grpc
            .server_streaming(request, path, Messages::<Q, R>::new())
            .await
        {
            Ok(answer) => answer.into_inner(),
            Err(status) => return Err(self.failure(&status, &answered).await),
        };
        loop {
            match messages.message().await {
                Ok(Some(message)) => take(readable(message)?),
                Ok(None) => return Ok(()),
                Err(status) => return Err(self.failure(&status, &answered).await),
            }
        }
    }

    /// Prepares a call. Also returns the flag that is set when an error of the plugin arrives.
    async fn call<Q: Message>(
        &self,
        request: &Q,
    ) -> Result<(Grpc<CallService>, Arc<AtomicBool>), CallError> {
        let size = request.encoded_len();
        if size > self.message_bytes {
            let why = format!(
                "the message has {size} bytes, more than {}",
                self.message_bytes
            );
            return Err(CallError::NotSent(Loss { why, exit: None }));
        }
        let (call, answered) = CallService::new(self.sender.clone());
        let mut grpc = Grpc::with_origin(call, Uri::from_static("http://localhost"))
            .max_decoding_message_size(self.message_bytes);
        if grpc.ready().await.is_err() {
            return Err(CallError::NotSent(
                self.loss("the connection has ended".into()).await,
            ));
        }
        Ok((grpc, answered))
    }

    /// The reason why a sent call has no answer.
    async fn failure(&self, status: &tonic::Status, answered: &AtomicBool) -> CallError {
        if answered.load(Ordering::Acquire) {
            return CallError::Status(GrpcStatus::of(status));
        }
        let (why, connection_failed) = (status.message().to_owned(), status.source().is_some());
        if connection_failed {
            return CallError::Lost(self.loss(why).await);
        }
        // The connection works, but this answer cannot be used, for example because it is too
        // large.
        CallError::Lost(Loss { why, exit: None })
    }

    /// The loss of a call with the connection, with the end of the process if it ends soon.
    async fn loss(&self, why: String) -> Loss {
        // The end of an attached process is not known.
        let Some(plugin) = self.plugin.as_ref().filter(|plugin| !plugin.attached()) else {
            return Loss { why, exit: None };
        };
        Loss {
            why,
            exit: timeout(EXIT_LIMIT, plugin.exited()).await.ok(),
        }
    }

    /// Waits until the connection has ended.
    pub async fn ended(&self) {
        let mut ended = self.ended.clone();
        // An error means that the task of the connection is gone.
        let _ = ended.wait_for(|ended| *ended).await;
    }
}

/// Returns a decoded message, or the error for a message that could not be decoded.
fn readable<R>(message: Result<R, DecodeError>) -> Result<R, CallError> {
    message.map_err(|error| {
        let why = format!("its answer cannot be read: {error}");
        CallError::Lost(Loss { why, exit: None })
    })
}

/// Opens a stream. The attempt is repeated until it succeeds or the time is over.
async fn open_with_retries<S, F>(
    address: &ListenAddress,
    within: Duration,
    open: impl Fn() -> F,
) -> Result<S, ConnectError>
where
    F: Future<Output = io::Result<S>>,
{
    let deadline = Instant::now() + within;
    let mut last = io::Error::from(io::ErrorKind::TimedOut);
    loop {
        match timeout_at(deadline, open()).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(_) => {
                return Err(ConnectError::Refused {
                    address: address.clone(),
                    within,
                    source: last,
                });
            }
        }
        if Instant::now() + RETRY >= deadline {
            return Err(ConnectError::Refused {
                address: address.clone(),
                within,
                source: last,
            });
        }
        sleep(RETRY).await;
    }
}
