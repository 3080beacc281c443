//! The start of a process on the systems that can host plugins.

use std::sync::Arc;

use crate::{Launch, Logs, Plugin, PluginError, Protocol};

/// Starts one process and waits for its handshake. Most callers use a [`Pool`](crate::Pool). It must be called in a
/// runtime of tokio that reads input and output and measures time. A dropped call ends the process.
///
/// # Errors
/// Why it is not usable. The process has ended then.
pub async fn start(launch: Launch, protocol: Arc<dyn Protocol>, logs: Logs) -> Result<Plugin, PluginError> {
    #[cfg(unix)]
    return crate::process::start(launch, protocol, logs).await;
    #[cfg(not(unix))]
    {
        let _ = (protocol, logs);
        Err(PluginError::Unsupported { name: launch.name })
    }
}
