//! Starts provider plugins as processes of their own and watches them: handshake, logs, stop,
//! crash, restart.
//!
//! This crate knows no family of plugins: a [`Protocol`] defines how a family announces its address
//! and how it is asked to end; [`grpc`] carries the calls of any service. Messages of plugins are
//! scrubbed before they leave this crate.
//!
//! No plugin outlives its run: it is stopped with the run, or killed with the runtime. If the run
//! was killed, the next run ends the plugin (`folder.rs`).

mod error;
#[cfg(unix)]
mod folder;
pub mod grpc;
mod launch;
#[cfg(unix)]
mod line_group;
#[cfg(unix)]
mod lines;
mod log;
mod plugin;
mod pool;
#[cfg(unix)]
mod process;
mod protocol;
mod start;

pub use error::{PluginError, ProcessEnding, ProcessExit};
pub use launch::{Inherit, Launch, ProcessLimits};
pub use log::{LogScrub, Logs, Sink};
pub use plugin::{Plugin, attach};
pub use pool::{PluginLease, Pool, PoolKey, PoolLimits, Start};
pub use protocol::{
    BoxFuture, Endpoint, HandshakeLine, Level, ListenAddress, LogLine, Protocol, StopOutcome,
    StopSignal,
};
pub use start::start;
