//! The handle of one plugin process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

use crate::{Endpoint, ProcessExit};

/// What the task that owns a process is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Order {
    /// Nothing.
    Run,
    /// End the process politely, then by force.
    Stop,
    /// End the process by force.
    Kill,
}

/// A plugin that has announced where it listens. Clones are handles of the same process. When the last handle is
/// dropped, the process is stopped.
#[derive(Debug, Clone)]
pub struct Plugin {
    shared: Arc<SharedPlugin>,
}

#[derive(Debug)]
struct SharedPlugin {
    id: u64,
    name: String,
    endpoint: Endpoint,
    /// Filled once, by the task that owns the process.
    exit: watch::Receiver<Option<ProcessExit>>,
    /// Absent for an attached process.
    orders: Option<watch::Sender<Order>>,
    process: Option<u32>,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl Plugin {
    pub(crate) fn new(
        name: String,
        endpoint: Endpoint,
        exit: watch::Receiver<Option<ProcessExit>>,
        orders: Option<watch::Sender<Order>>,
        process: Option<u32>,
    ) -> Plugin {
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        Plugin { shared: Arc::new(SharedPlugin { id, name, endpoint, exit, orders, process }) }
    }

    /// A number that no other process of this run has. A restarted plugin has another one, so it has to be configured
    /// again.
    pub fn id(&self) -> u64 {
        self.shared.id
    }

    /// The plugin in messages, as a noun phrase.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Where it listens.
    pub fn endpoint(&self) -> &Endpoint {
        &self.shared.endpoint
    }

    /// The number of the process. `None` for an attached one.
    pub fn process_id(&self) -> Option<u32> {
        self.shared.process
    }

    /// Whether it was started outside and only attached.
    pub fn attached(&self) -> bool {
        self.shared.orders.is_none()
    }

    /// How it ended, if it has.
    pub fn exit(&self) -> Option<ProcessExit> {
        self.shared.exit.borrow().clone()
    }

    /// Waits until the process ends. Every caller gets the same answer, at any time. An attached process never ends
    /// here. The future holds no handle: it does not keep the process alive.
    pub fn exited(&self) -> impl Future<Output = ProcessExit> + Send + 'static {
        let exit = self.shared.exit.clone();
        async move {
            match wait(exit).await {
                Some(exit) => exit,
                None => std::future::pending().await,
            }
        }
    }

    /// Ends the process: the polite stop of its family, then a signal to its group, then `SIGKILL` to its group.
    /// Returns when it has ended. Calls of several callers are one stop; a dropped call does not cancel it. An attached
    /// process is left alone.
    pub async fn stop(&self) {
        self.order(Order::Stop).await;
    }

    /// Ends the process at once by `SIGKILL` to its group and returns when it has ended. An attached process is left
    /// alone.
    pub async fn kill(&self) {
        self.order(Order::Kill).await;
    }

    async fn order(&self, order: Order) {
        let Some(orders) = &self.shared.orders else { return };
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

/// The exit, or `None` if the task that reports it is gone: the runtime ends.
pub(crate) async fn wait(mut exit: watch::Receiver<Option<ProcessExit>>) -> Option<ProcessExit> {
    exit.wait_for(Option::is_some).await.ok().and_then(|exit| exit.clone())
}

/// Uses a process that runs already, for debugging: there is nothing to start and nothing to stop.
pub fn attach(name: impl Into<String>, endpoint: Endpoint) -> Plugin {
    // The sender is dropped: the exit stays unknown.
    let (_, exit) = watch::channel(None);
    Plugin::new(name.into(), endpoint, exit, None, None)
}
