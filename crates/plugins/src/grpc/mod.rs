//! Calls a plugin by gRPC over a Unix socket or a port of this machine, in plain text: unary calls,
//! and calls that answer with a stream of messages.
//!
//! This module knows no service: callers pass the path of a method and messages that `prost`
//! encodes. No other crate depends on the gRPC libraries directly.
//!
//! The invariant: an error says whether the plugin answered ([`CallError::Status`]), certainly did
//! not receive the call ([`CallError::NotSent`]), or may have carried the call out
//! ([`CallError::Lost`]).
//!
//! Not here: TLS, streams of the caller, time limits of calls (a dropped call is cancelled),
//! retries of calls.

mod codec;
mod connection;
mod status;
mod transport;

pub use connection::{CallError, ConnectError, Connection, ConnectionOptions, Loss};
pub use prost;
pub use status::{Any, GrpcCode, GrpcStatus};
