//! Starts provider plugins as processes of their own and watches them: handshake, logs, stop, crash, restart.
//!
//! It knows no family of plugins and no remote procedure call: a [`Protocol`] says how a family announces where it
//! listens and how it is asked to end.

mod error;
mod launch;
mod log;
mod plugin;
mod pool;
mod protocol;

pub use error::{Ending, Exit, PluginError};
pub use launch::{Inherit, Launch, Limits};
pub use log::Logs;
pub use plugin::{Plugin, attach};
pub use pool::{Key, Lease, Pool, PoolLimits, Start};
pub use protocol::{Address, AfterStop, BoxFuture, Endpoint, Level, LogLine, Protocol, Recognised, StopSignal};

/// Starts one process and waits for its handshake. Most callers use a [`Pool`].
///
/// # Errors
/// Why it is not usable. The process has ended then.
pub async fn start(launch: Launch, protocol: std::sync::Arc<dyn Protocol>, logs: Logs) -> Result<Plugin, PluginError> {
    let _ = (protocol, logs);
    Err(PluginError::Unsupported { name: launch.name })
}
