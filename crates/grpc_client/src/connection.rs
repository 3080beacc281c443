//! A connection to a plugin and its calls.

use std::error::Error as _;
use std::fmt;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Uri;
use http::uri::PathAndQuery;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use plugins::{Endpoint, ListenAddress, Plugin, ProcessExit};
use prost::{DecodeError, Message};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tonic::Request;
use tonic::client::Grpc;

use crate::GrpcStatus;
use crate::codec::Messages;
use crate::transport::CallService;

/// Pause between two attempts to connect.
const RETRY: Duration = Duration::from_millis(10);
/// How long a lost call waits for the end of its process, to report how it ended.
const EXIT_LIMIT: Duration = Duration::from_secs(2);
/// Limit of the headers of an answer in bytes. The details of an error are in a header.
const HEADERS: u32 = 16 << 20;
/// Bytes that a plugin may send before the client confirms them: of one call, and of all.
const WINDOWS: (u32, u32) = (4 << 20, 16 << 20);
/// Limit of one HTTP/2 frame in bytes.
const FRAME: u32 = 256 << 10;

/// The limits of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionOptions {
    /// The largest message in bytes, in each direction.
    pub message_bytes: usize,
    /// How long a connection is tried.
    pub within: Duration,
}

impl Default for ConnectionOptions {
    /// 256 MiB and 10 s.
    fn default() -> ConnectionOptions {
        ConnectionOptions { message_bytes: 256 << 20, within: Duration::from_secs(10) }
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The plugin demands TLS.
    #[error("the plugin demands an encrypted connection, which is not supported; start it without a certificate")]
    Tls,
    /// The plugin listens outside this machine.
    #[error("the plugin listens at {0}, which is not on this machine")]
    Elsewhere(ListenAddress),
    /// This system has no such sockets.
    #[error("Unix sockets are not supported on this operating system")]
    Unsupported,
    /// It did not accept a connection.
    #[error("no connection to the plugin at {address} within {} s", within.as_secs())]
    Refused {
        /// Where.
        address: ListenAddress,
        /// How long it was tried.
        within: Duration,
        /// The last failure.
        source: io::Error,
    },
    /// It does not speak HTTP/2.
    #[error("the plugin at {address} does not speak gRPC")]
    Speech {
        /// Where.
        address: ListenAddress,
        /// What went wrong.
        source: hyper::Error,
    },
    /// Its process ended.
    #[error("the plugin {} while it was connected", .0.ending)]
    Exited(ProcessExit),
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The plugin answered with an error.
    #[error(transparent)]
    Status(GrpcStatus),
    /// The plugin did not get the call: the connection had ended, or the message is too large.
    #[error("the plugin was not asked: {0}")]
    NotSent(Loss),
    /// There is no answer that can be read. The plugin may have carried out what it was asked.
    #[error("the plugin gave no answer: {0}")]
    Lost(Loss),
}

/// What happened to a call without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// What is known, as a phrase.
    pub why: String,
    /// How the process ended, if it did and the connection watches it.
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

/// A connection. Clones use the same one, with any number of calls at the same time.
#[derive(Clone)]
pub struct Connection {
    sender: SendRequest<tonic::body::Body>,
    message_bytes: usize,
    /// Whether the connection has ended.
    ended: watch::Receiver<bool>,
    plugin: Option<Plugin>,
}

impl Connection {
    /// Connects to an endpoint. It is tried again until the plugin accepts, or the time is over.
    ///
    /// A lost call of this connection does not know how the process ended: see [`Connection::to`].
    ///
    /// # Errors
    /// Why there is no connection.
    pub async fn connect(endpoint: &Endpoint, options: &ConnectionOptions) -> Result<Connection, ConnectError> {
        if endpoint.tls {
            return Err(ConnectError::Tls);
        }
        match &endpoint.address {
            #[cfg(unix)]
            ListenAddress::Unix(path) => {
                let open = || tokio::net::UnixStream::connect(path);
                let stream = persist(&endpoint.address, options.within, open).await?;
                Connection::over(TokioIo::new(stream), endpoint, options).await
            }
            #[cfg(not(unix))]
            ListenAddress::Unix(_) => Err(ConnectError::Unsupported),
            ListenAddress::Tcp(address) if !address.ip().is_loopback() => {
                Err(ConnectError::Elsewhere(endpoint.address.clone()))
            }
            ListenAddress::Tcp(address) => {
                let open = || TcpStream::connect(address);
                let stream = persist(&endpoint.address, options.within, open).await?;
                // Without it small messages wait for a confirmation. The connection works either way.
                let _ = stream.set_nodelay(true);
                Connection::over(TokioIo::new(stream), endpoint, options).await
            }
        }
    }

    /// Connects to a plugin and watches its process: the attempt ends with it, and so does each call, with an error
    /// that says how the process ended. The connection is a handle of the plugin.
    ///
    /// # Errors
    /// Why there is no connection.
    pub async fn to(plugin: &Plugin, options: &ConnectionOptions) -> Result<Connection, ConnectError> {
        let connection = tokio::select! {
            connection = Connection::connect(plugin.endpoint(), options) => connection?,
            exit = plugin.exited() => return Err(ConnectError::Exited(exit)),
        };
        Ok(Connection { plugin: Some(plugin.clone()), ..connection })
    }

    async fn over<S>(stream: S, endpoint: &Endpoint, options: &ConnectionOptions) -> Result<Connection, ConnectError>
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
        let (sender, driver) =
            shaken.map_err(|source| ConnectError::Speech { address: endpoint.address.clone(), source })?;
        let (end, ended) = watch::channel(false);
        tokio::spawn(async move {
            // Each call reports the failure of the connection itself.
            let _ = driver.await;
            end.send_replace(true);
        });
        Ok(Connection { sender, message_bytes: options.message_bytes, ended, plugin: None })
    }

    /// Calls a method and waits for its answer. `path` is `/PACKAGE.SERVICE/METHOD`. Dropping the future cancels the
    /// call: the plugin is told, but may have carried it out.
    ///
    /// # Errors
    /// The status that the plugin answered, or why there is none.
    pub async fn unary<Q, R>(&self, path: &'static str, request: Q) -> Result<R, CallError>
    where
        Q: Message + 'static,
        R: Message + Default + 'static,
    {
        let mut answer = pin!(self.ask(path, request));
        let Some(plugin) = &self.plugin else { return answer.await };
        let exit = tokio::select! {
            biased;
            answer = &mut answer => return answer,
            exit = plugin.exited() => exit,
        };
        // An answer that it sent before its end may still be on the way. The connection ends after it.
        match timeout(EXIT_LIMIT, answer).await {
            Ok(answer) => answer,
            Err(_) => Err(CallError::Lost(Loss { why: "its process ended".into(), exit: Some(exit) })),
        }
    }

    async fn ask<Q, R>(&self, path: &'static str, request: Q) -> Result<R, CallError>
    where
        Q: Message + 'static,
        R: Message + Default + 'static,
    {
        let (mut grpc, answered) = self.call(&request).await?;
        match grpc.unary(Request::new(request), PathAndQuery::from_static(path), Messages::<Q, R>::new()).await {
            Ok(answer) => readable(answer.into_inner()),
            Err(status) => Err(self.failure(&status, &answered).await),
        }
    }

    /// Calls a method that answers with any number of messages, and passes each on. Returns when the plugin ends its
    /// answer. Dropping the future cancels the call.
    ///
    /// # Errors
    /// The status that the plugin answered, or why there is none. Messages before it were passed on.
    pub async fn each<Q, R>(&self, path: &'static str, request: Q, mut take: impl FnMut(R)) -> Result<(), CallError>
    where
        Q: Message + 'static,
        R: Message + Default + 'static,
    {
        let (mut grpc, answered) = self.call(&request).await?;
        let (request, path) = (Request::new(request), PathAndQuery::from_static(path));
        let mut messages = match grpc.server_streaming(request, path, Messages::<Q, R>::new()).await {
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

    /// A call that is ready to be sent, and the flag that is set when an error of the plugin arrives.
    async fn call<Q: Message>(&self, request: &Q) -> Result<(Grpc<CallService>, Arc<AtomicBool>), CallError> {
        let size = request.encoded_len();
        if size > self.message_bytes {
            let why = format!("the message has {size} bytes, more than {}", self.message_bytes);
            return Err(CallError::NotSent(Loss { why, exit: None }));
        }
        let (call, answered) = CallService::new(self.sender.clone());
        let mut grpc =
            Grpc::with_origin(call, Uri::from_static("http://localhost")).max_decoding_message_size(self.message_bytes);
        if grpc.ready().await.is_err() {
            return Err(CallError::NotSent(self.loss("the connection has ended".into()).await));
        }
        Ok((grpc, answered))
    }

    /// Why a call that was sent has no answer.
    async fn failure(&self, status: &tonic::Status, answered: &AtomicBool) -> CallError {
        if answered.load(Ordering::Acquire) {
            return CallError::Status(GrpcStatus::of(status));
        }
        let (why, connection_failed) = (status.message().to_owned(), status.source().is_some());
        if connection_failed {
            return CallError::Lost(self.loss(why).await);
        }
        // The connection works, but this answer cannot be used, for example because it is too large.
        CallError::Lost(Loss { why, exit: None })
    }

    /// A loss of the connection, with the end of the process if it follows.
    async fn loss(&self, why: String) -> Loss {
        // The end of an attached process is not known.
        let Some(plugin) = self.plugin.as_ref().filter(|plugin| !plugin.attached()) else {
            return Loss { why, exit: None };
        };
        Loss { why, exit: timeout(EXIT_LIMIT, plugin.exited()).await.ok() }
    }

    /// Waits until the connection has ended.
    pub async fn ended(&self) {
        let mut ended = self.ended.clone();
        // An error means that the task of the connection is gone.
        let _ = ended.wait_for(|ended| *ended).await;
    }
}

/// A message that was decoded.
fn readable<R>(message: Result<R, DecodeError>) -> Result<R, CallError> {
    message.map_err(|error| {
        let why = format!("what it answered cannot be read: {error}");
        CallError::Lost(Loss { why, exit: None })
    })
}

/// Opens a stream, again and again until it works or the time is over.
async fn persist<S, F>(address: &ListenAddress, within: Duration, open: impl Fn() -> F) -> Result<S, ConnectError>
where
    F: Future<Output = io::Result<S>>,
{
    let deadline = Instant::now() + within;
    let mut last = io::Error::from(io::ErrorKind::TimedOut);
    loop {
        match timeout_at(deadline, open()).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(_) => return Err(ConnectError::Refused { address: address.clone(), within, source: last }),
        }
        if Instant::now() + RETRY >= deadline {
            return Err(ConnectError::Refused { address: address.clone(), within, source: last });
        }
        sleep(RETRY).await;
    }
}
