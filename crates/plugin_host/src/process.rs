//! The process of a configuration: the pool starts it, and it is connected and configured again
//! after a crash. It runs the calls of its sessions.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plugins::{Plugin, PluginLease, PoolKey};
use provider::{Call, ErrorKind, ProviderError};
use tokio::sync::{Mutex as AsyncMutex, MutexGuard};

use crate::failure::not_started;
use crate::{Family, PackageHost, lock};

/// The time for which a call that changes something may continue after it was stopped.
const GRACE: Duration = Duration::from_secs(10);

/// The process of one configuration. It is started on first use.
pub struct PluginProcess<F: Family> {
    host: Arc<PackageHost<F>>,
    key: PoolKey,
    /// The settings of the process, also after a restart. `None` before it is configured.
    settings: Mutex<Option<Arc<F::Settings>>>,
    live: AsyncMutex<Option<LiveProcess<F>>>,
    /// The number of open sessions.
    users: AtomicUsize,
    calls: Mutex<RunningCalls>,
}

/// A running process.
struct LiveProcess<F: Family> {
    plugin: Plugin,
    client: F::Client,
    /// `None` before the process is configured.
    session: Option<F::Session>,
}

/// The number of running calls, and how many of them are stopped.
#[derive(Default)]
struct RunningCalls {
    running: usize,
    stopped: usize,
}

impl<F: Family> PluginProcess<F> {
    pub(crate) fn new(host: Arc<PackageHost<F>>, key: PoolKey) -> PluginProcess<F> {
        PluginProcess {
            host,
            key,
            settings: Mutex::default(),
            live: AsyncMutex::new(None),
            users: AtomicUsize::new(0),
            calls: Mutex::default(),
        }
    }

    /// Returns the connected plugin. The lease keeps its process running.
    ///
    /// # Errors
    /// If the process cannot be started or connected.
    pub async fn client(&self) -> Result<(PluginLease, F::Client), ProviderError> {
        let (lease, live) = self.live().await?;
        let live = live.as_ref().ok_or_else(not_configured)?;
        Ok((lease, live.client.clone()))
    }

    /// The settings of the process, after it was configured.
    pub fn settings(&self) -> Option<Arc<F::Settings>> {
        lock(&self.settings).clone()
    }

    /// Configures the process, now and after each restart, and begins a session.
    ///
    /// # Errors
    /// If the process cannot be started or connected, or refuses the settings.
    pub async fn configure(&self, settings: Arc<F::Settings>) -> Result<F::Session, ProviderError> {
        let (_lease, session) = self.configured(&settings).await?;
        *lock(&self.settings) = Some(settings);
        self.begin_session();
        Ok(session)
    }

    /// Returns the configured plugin. The lease keeps its process running during a call.
    ///
    /// # Errors
    /// As [`PluginProcess::configure`], and if the process was never configured.
    pub async fn session(&self) -> Result<(PluginLease, F::Session), ProviderError> {
        let settings = self.settings().ok_or_else(not_configured)?;
        self.configured(&settings).await
    }

    async fn configured(
        &self,
        settings: &F::Settings,
    ) -> Result<(PluginLease, F::Session), ProviderError> {
        let (lease, mut live) = self.live().await?;
        let live = live.as_mut().ok_or_else(not_configured)?;
        if let Some(session) = &live.session {
            return Ok((lease, session.clone()));
        }
        let session = F::configure(&live.client, settings).await?;
        live.session = Some(session.clone());
        Ok((lease, session))
    }

    async fn live(
        &self,
    ) -> Result<(PluginLease, MutexGuard<'_, Option<LiveProcess<F>>>), ProviderError> {
        let start = self.host.start().await?;
        let lease = self.host.pool.get(&self.key, start).await;
        let lease = lease.map_err(|error| not_started(&error))?;
        let mut live = self.live.lock().await;
        // A process with another number was started after a crash.
        if live
            .as_ref()
            .is_none_or(|live| live.plugin.id() != lease.id())
        {
            let client = F::connect(&self.host, &lease).await?;
            *live = Some(LiveProcess {
                plugin: Plugin::clone(&lease),
                client,
                session: None,
            });
        }
        Ok((lease, live))
    }

    /// Begins a session without settings.
    pub fn begin_session(&self) {
        self.users.fetch_add(1, Ordering::AcqRel);
    }

    /// Ends a session. The process is stopped with its last session: by a call of its family, then
    /// by a signal, then by force.
    pub async fn end_session(&self) {
        let left = self
            .users
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |users| {
                users.checked_sub(1)
            });
        if left == Ok(1) {
            self.stop().await;
        }
    }

    pub(crate) async fn stop_if_unused(&self) {
        if self.users.load(Ordering::Acquire) == 0 {
            self.stop().await;
        }
    }

    async fn stop(&self) {
        let live = self.live.lock().await.take();
        if let Some(live) = live {
            live.plugin.stop().await;
        }
    }

    /// Runs a call that only reads, until it ends, is cancelled, or exceeds its time limit. A
    /// stopped call is dropped, which cancels it in the plugin.
    ///
    /// # Errors
    /// The error of the call, or that it was stopped.
    pub async fn run_reading<T>(
        &self,
        call: &Call,
        work: impl Future<Output = Result<T, ProviderError>>,
    ) -> Result<T, ProviderError> {
        self.run_cancellable(call, None, work).await
    }

    /// Runs a call that changes something, until it ends, is cancelled, or exceeds its time limit.
    /// A stopped call is asked to end and has some seconds to answer, because its answer says which
    /// changes were made. Without an answer, its outcome is unknown if `request` was sent.
    ///
    /// # Errors
    /// The error of the call, or that it was stopped.
    pub async fn run_changing<T>(
        &self,
        call: &Call,
        request: &ChangeRequest,
        work: impl Future<Output = Result<T, ProviderError>>,
    ) -> Result<T, ProviderError> {
        self.run_cancellable(call, Some(request), work).await
    }

    async fn run_cancellable<T>(
        &self,
        call: &Call,
        changing: Option<&ChangeRequest>,
        work: impl Future<Output = Result<T, ProviderError>>,
    ) -> Result<T, ProviderError> {
        if call.cancel.is_cancelled() {
            return Err(ProviderError::new(
                ErrorKind::Cancelled,
                "the call was cancelled before it was made",
            )
            .without_effect());
        }
        let mut running = RunningCall::new(self);
        let deadline_passed = async {
            match call.deadline {
                Some(deadline) => tokio::time::sleep(deadline).await,
                None => std::future::pending().await,
            }
        };
        let mut work = std::pin::pin!(work);
        let stopped = tokio::select! {
            biased;
            done = &mut work => return done,
            () = call.cancel.cancelled() => ProviderError::new(ErrorKind::Cancelled, "the call was cancelled"),
            () = deadline_passed => ProviderError::new(ErrorKind::TimedOut, F::TIMED_OUT),
        };
        let Some(request) = changing else {
            return Err(stopped);
        };
        let ending = async {
            // The call is awaited while the plugin is asked to end it.
            let (done, ()) = futures::join!(&mut work, running.stop());
            done
        };
        let unanswered = |_| {
            Err(match request.is_sent() {
                // The plugin may still be carrying it out.
                true => ProviderError {
                    kind: ErrorKind::OutcomeUnknown,
                    ..stopped
                },
                false => stopped.without_effect(),
            })
        };
        tokio::time::timeout(GRACE, ending)
            .await
            .unwrap_or_else(unanswered)
    }
}

/// Whether the request of a call that changes something was sent. Before that, nothing has
/// happened.
#[derive(Debug, Default)]
pub struct ChangeRequest {
    sent: AtomicBool,
}

impl ChangeRequest {
    /// Notes that the request is about to be sent.
    pub fn sending(&self) {
        self.sent.store(true, Ordering::Release);
    }

    fn is_sent(&self) -> bool {
        self.sent.load(Ordering::Acquire)
    }
}

/// A running call. It is counted until it is dropped.
struct RunningCall<'a, F: Family> {
    process: &'a PluginProcess<F>,
    stopped: bool,
}

impl<'a, F: Family> RunningCall<'a, F> {
    fn new(process: &'a PluginProcess<F>) -> RunningCall<'a, F> {
        lock(&process.calls).running += 1;
        RunningCall {
            process,
            stopped: false,
        }
    }

    /// Counts the call as stopped. If all calls of the process are stopped, the plugin is asked to
    /// end them: no family can end a single call.
    async fn stop(&mut self) {
        let process = self.process;
        self.stopped = true;
        let all = {
            let mut calls = lock(&process.calls);
            calls.stopped += 1;
            calls.stopped == calls.running
        };
        if !all {
            return;
        }
        let client = {
            let live = process.live.lock().await;
            live.as_ref().map(|live| live.client.clone())
        };
        if let Some(client) = client {
            F::cut_calls_short(client).await;
        }
    }
}

impl<F: Family> Drop for RunningCall<'_, F> {
    fn drop(&mut self) {
        let mut calls = lock(&self.process.calls);
        calls.running -= 1;
        calls.stopped -= usize::from(self.stopped);
    }
}

fn not_configured() -> ProviderError {
    ProviderError::new(
        ErrorKind::Transient,
        "the plugin is not configured any more",
    )
}
