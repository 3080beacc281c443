//! Starts a process on systems that can host plugins.

use std::sync::Arc;

use crate::{Launch, Logs, Plugin, PluginError, Protocol};

/// Starts one process and waits for its handshake. Most callers use a [`Pool`](crate::Pool). The
/// call needs a tokio runtime with I/O and time enabled. A dropped call ends the process.
///
/// # Errors
/// The reason why the plugin cannot be used. Its process has then ended.
pub async fn start(
    launch: Launch,
    protocol: Arc<dyn Protocol>,
    logs: Logs,
) -> Result<Plugin, PluginError> {
    #[cfg(unix)]
    return crate::process::start(launch, protocol, logs).await;
    #[cfg(not(unix))]
    {
        let _ = (protocol, logs);
        Err(PluginError::Unsupported { name: launch.name })
    }
}
