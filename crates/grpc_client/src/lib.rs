//! Calls a plugin by gRPC: a connection over a Unix socket or a port of this machine, in plain text, unary calls,
//! and calls that answer with a stream of messages.
//!
//! It knows no service: callers pass the path of a method and messages that `prost` encodes. It is the only crate that
//! names the libraries below it.
//!
//! The invariant: an error says whether the plugin answered ([`CallError::Status`]), was certainly not asked
//! ([`CallError::NotSent`]), or may have carried out what it was asked ([`CallError::Lost`]).
//!
//! Not here: TLS, streams of the caller, time limits of calls (a dropped call is cancelled), retries of calls.

mod codec;
mod connection;
mod status;
mod transport;

pub use connection::{CallError, ConnectError, Connection, ConnectionOptions, Loss};
pub use prost;
pub use status::{Any, GrpcCode, GrpcStatus};
