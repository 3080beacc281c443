//! The handle of one plugin process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

use crate::{Endpoint, ProcessExit};

/// An order to the task that owns a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProcessCommand {
    /// Let the process run.
    Run,
    /// End the process politely, then by force.
    Stop,
    /// End the process by force.
    Kill,
}

/// A plugin that has announced its address. Clones are handles of the same process. When the last
/// handle is dropped, the process is stopped.
#[derive(Debug, Clone)]
pub struct Plugin {
    shared: Arc<SharedPlugin>,
}

#[derive(Debug)]
struct SharedPlugin {
    id: u64,
    name: String,
    endpoint: Endpoint,
    /// The exit, set once by the task that owns the process.
    exit: watch::Receiver<Option<ProcessExit>>,
    /// Sends orders to the task; `None` for an attached process.
    orders: Option<watch::Sender<ProcessCommand>>,
    process: Option<u32>,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl Plugin {
    pub(crate) fn new(
        name: String,
        endpoint: Endpoint,
        exit: watch::Receiver<Option<ProcessExit>>,
        orders: Option<watch::Sender<ProcessCommand>>,
        process: Option<u32>,
    ) -> Plugin {
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        Plugin {
            shared: Arc::new(SharedPlugin {
                id,
                name,
                endpoint,
                exit,
                orders,
                process,
            }),
        }
    }

    /// A number that no other process of this run has. A restarted plugin has another number, so it
    /// must be configured again.
    pub fn id(&self) -> u64 {
        self.shared.id
    }

    /// The name of the plugin in messages, as a noun phrase.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// The address of the plugin.
    pub fn endpoint(&self) -> &Endpoint {
        &self.shared.endpoint
    }

    /// The number of the process; `None` for an attached process.
    pub fn process_id(&self) -> Option<u32> {
        self.shared.process
    }

    /// Whether the process was started outside of `cyan` and only attached to.
    pub fn attached(&self) -> bool {
        self.shared.orders.is_none()
    }

    /// The exit of the process, if it has ended.
    pub fn exit(&self) -> Option<ProcessExit> {
        self.shared.exit.borrow().clone()
    }

    /// Waits until the process ends. Every caller gets the same answer, at any time. For an
    /// attached process the future never completes. The future holds no handle, so it does not keep
    /// the process alive.
    pub fn exited(&self) -> impl Future<Output = ProcessExit> + Send + 'static {
        let exit = self.shared.exit.clone();
        async move {
            match wait(exit).await {
                Some(exit) => exit,
                None => std::future::pending().await,
            }
        }
    }

    /// Ends the process: with the polite stop of its family, then with a signal to its group, then
    /// with `SIGKILL` to its group. Returns when the process has ended. Concurrent calls share one
    /// stop; a dropped call does not cancel it. An attached process is left alone.
    pub async fn stop(&self) {
        self.order(ProcessCommand::Stop).await;
    }

    /// Ends the process at once with `SIGKILL` to its group and returns when it has ended. An
    /// attached process is left alone.
    pub async fn kill(&self) {
        self.order(ProcessCommand::Kill).await;
    }

    async fn order(&self, order: ProcessCommand) {
        let Some(orders) = &self.shared.orders else {
            return;
        };
        orders.send_if_modified(|current| {
            let harsher = order > *current;
            if harsher {
                *current = order;
            }
            harsher
        });
        wait(self.shared.exit.clone()).await;
    }
}

/// Waits for the exit. `None` if the task that reports it is gone, because the runtime ends.
pub(crate) async fn wait(mut exit: watch::Receiver<Option<ProcessExit>>) -> Option<ProcessExit> {
    exit.wait_for(Option::is_some)
        .await
        .ok()
        .and_then(|exit| exit.clone())
}

/// Attaches to a running process, for debugging. The process is neither started nor stopped.
pub fn attach(name: impl Into<String>, endpoint: Endpoint) -> Plugin {
    // The sender is dropped, so the exit stays unknown.
    let (_, exit) = watch::channel(None);
    Plugin::new(name.into(), endpoint, exit, None, None)
}
