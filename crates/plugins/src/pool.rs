//! Pools processes: one process for each binary and settings, a limit on their number, and restarts
//! after a crash.
//!
//! Not here: the configuration of a restarted process. [`Plugin::id`] shows that a process is
//! another one.

use std::collections::{HashMap, VecDeque};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{OwnedMutexGuard, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::start::start;
use crate::{Endpoint, Launch, Logs, Plugin, PluginError, Protocol, Sink, attach};

/// The key of a process. Requests with equal keys share a process.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PoolKey {
    /// The identity of the program, for example its digest or its path with time and size.
    pub binary: String,
    /// A digest of the settings, never the settings themselves. Empty for an unconfigured process.
    pub settings: String,
}

/// The way to get a plugin.
#[derive(Clone)]
pub enum Start {
    /// Start a process.
    Launch(Launch, Arc<dyn Protocol>),
    /// Use a running process, with its name in messages.
    Attach(String, Endpoint),
}

/// The limits of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolLimits {
    /// The maximum number of concurrent processes. For a request above it, the process that has
    /// been idle for longest is stopped. If no process is idle, the maximum is exceeded until a
    /// lease ends: a caller that holds a plugin may ask for another one, and would otherwise wait
    /// forever.
    pub processes: usize,
    /// The number of crashes and failed starts of one key, in the time `within`, after which the
    /// process is still started again.
    pub crashes: usize,
    /// The time in which crashes and failed starts are counted.
    pub within: Duration,
}

impl Default for PoolLimits {
    fn default() -> PoolLimits {
        PoolLimits {
            processes: 16,
            crashes: 3,
            within: Duration::from_secs(60),
        }
    }
}

/// The plugin processes of a run. Clones are handles of the same pool. When the last handle and the
/// last lease are dropped, the processes are stopped; [`Pool::close`] waits for their end.
#[derive(Clone)]
pub struct Pool {
    inner: Arc<Inner>,
}

struct Inner {
    limits: PoolLimits,
    logs: Logs,
    slots: Mutex<Slots>,
    /// Whether the pool is closed.
    closed: watch::Sender<bool>,
    /// A sender of which each process holds a clone until it has ended. `None` after the pool is
    /// closed.
    alive: Mutex<Option<mpsc::Sender<()>>>,
    /// Receives the end of the channel when the pool is closed and no process is left.
    ended: tokio::sync::Mutex<mpsc::Receiver<()>>,
}

#[derive(Default)]
struct Slots {
    by_key: HashMap<PoolKey, PoolSlot>,
    /// Processes that are being stopped because there were too many.
    stopping: Vec<Plugin>,
    /// Counts the ends of leases.
    clock: u64,
}

/// The slot of one key.
#[derive(Default)]
struct PoolSlot {
    plugin: Option<Plugin>,
    /// Whether a process is being started for the slot.
    starting: bool,
    /// The number of leases, and of waiting requests.
    users: usize,
    /// The time of the end of the last lease, by `Slots::clock`.
    used: u64,
    /// The failures, locked while a process is started or stopped, so that there is only one
    /// process.
    history: Arc<tokio::sync::Mutex<FailureHistory>>,
}

impl PoolSlot {
    fn running(&self) -> Option<&Plugin> {
        self.plugin
            .as_ref()
            .filter(|plugin| plugin.exit().is_none())
    }

    /// Whether the slot counts against the limit.
    fn counts_towards_limit(&self) -> bool {
        self.starting || self.running().is_some_and(|plugin| !plugin.attached())
    }

    /// Whether the process of the slot can be stopped in favour of another one.
    fn idle(&self) -> bool {
        self.users == 0 && !self.starting && self.counts_towards_limit()
    }
}

/// The failures of one key.
#[derive(Default)]
struct FailureHistory {
    failures: VecDeque<Instant>,
    /// The last failure as a phrase, and the output of the process before it.
    last: (String, String),
}

impl FailureHistory {
    fn note(&mut self, what: String, output: String) {
        self.failures.push_back(Instant::now());
        self.last = (what, output);
    }

    /// The number of failures in the given time.
    fn recent(&mut self, within: Duration) -> usize {
        let now = Instant::now();
        while self
            .failures
            .front()
            .is_some_and(|time| now.duration_since(*time) >= within)
        {
            self.failures.pop_front();
        }
        self.failures.len()
    }
}

/// The use of a plugin during a call. A process is not idle while it has a lease.
pub struct PluginLease {
    plugin: Plugin,
    _claim: SlotClaim,
}

impl Deref for PluginLease {
    type Target = Plugin;

    fn deref(&self) -> &Plugin {
        &self.plugin
    }
}

/// Counts as a user of a slot until it is dropped.
struct SlotClaim {
    inner: Arc<Inner>,
    key: PoolKey,
}

impl Drop for SlotClaim {
    fn drop(&mut self) {
        let mut slots = self.inner.slots();
        slots.clock += 1;
        let clock = slots.clock;
        let full = slots.count() > self.inner.limits.processes;
        let Some(slot) = slots.by_key.get_mut(&self.key) else {
            return;
        };
        slot.users -= 1;
        slot.used = clock;
        if full && slot.idle() {
            let plugin = slot.plugin.take();
            slots.stop_in_background(plugin);
        }
    }
}

/// Marks a slot as starting until it is dropped.
struct Starting<'a> {
    inner: &'a Inner,
    key: &'a PoolKey,
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.inner.slots().by_key.get_mut(self.key) {
            slot.starting = false;
        }
    }
}

impl Slots {
    fn count(&self) -> usize {
        self.by_key
            .values()
            .filter(|slot| slot.counts_towards_limit())
            .count()
    }

    /// Stops a process in the background.
    fn stop_in_background(&mut self, plugin: Option<Plugin>) {
        self.stopping.retain(|plugin| plugin.exit().is_none());
        let Some(plugin) = plugin else { return };
        self.stopping.push(plugin.clone());
        // Without a runtime the process has already been killed.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { plugin.stop().await });
        }
    }

    /// Takes the process that has been idle for longest, with the lock of its slot.
    fn take_idle(&mut self) -> Option<(Plugin, OwnedMutexGuard<FailureHistory>)> {
        let slot = self
            .by_key
            .values_mut()
            .filter(|slot| slot.idle())
            .min_by_key(|slot| slot.used)?;
        // An idle slot has no user that could hold the lock, but another request may be stopping
        // its process.
        let guard = Arc::clone(&slot.history).try_lock_owned().ok()?;
        Some((slot.plugin.take()?, guard))
    }
}

impl Inner {
    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The running process of a key.
    fn running(&self, key: &PoolKey) -> Option<Plugin> {
        self.slots()
            .by_key
            .get(key)
            .and_then(PoolSlot::running)
            .cloned()
    }

    /// The logs of a new process. The process drops their sink when it has ended.
    fn logs_of_process(&self) -> Logs {
        let alive = self
            .alive
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let Logs { sink, scrub } = self.logs.clone();
        let sink: Sink = Arc::new(move |name, line| {
            let _kept = &alive;
            sink(name, line);
        });
        Logs { sink, scrub }
    }

    /// Marks a slot as starting, and stops idle processes until the limit is kept.
    async fn reserve<'a>(&'a self, key: &'a PoolKey) -> Starting<'a> {
        let starting = Starting { inner: self, key };
        self.slots().by_key.entry(key.clone()).or_default().starting = true;
        loop {
            let idle = {
                let mut slots = self.slots();
                if slots.count() <= self.limits.processes {
                    None
                } else {
                    slots.take_idle()
                }
            };
            let Some((plugin, _guard)) = idle else {
                return starting;
            };
            plugin.stop().await;
        }
    }

    /// Records the crash of the last process, and refuses another start after too many crashes.
    fn check_crash_limit(
        &self,
        key: &PoolKey,
        wanted: &Start,
        history: &mut FailureHistory,
    ) -> Result<(), PluginError> {
        let last = self
            .slots()
            .by_key
            .get_mut(key)
            .and_then(|slot| slot.plugin.take());
        if let Some(exit) = last.and_then(|plugin| plugin.exit())
            && !exit.requested
        {
            history.note(format!("it {}", exit.ending), exit.output);
        }
        let times = history.recent(self.limits.within);
        if times <= self.limits.crashes {
            return Ok(());
        }
        let (name, program) = match wanted {
            Start::Launch(launch, _) => (launch.name.clone(), launch.program.clone()),
            Start::Attach(name, _) => (name.clone(), PathBuf::new()),
        };
        let (last, output) = history.last.clone();
        Err(PluginError::CrashedTooOften {
            name,
            program,
            times,
            within: self.limits.within,
            last,
            output,
        })
    }
}

impl Pool {
    /// Creates an empty pool. It starts no process yet.
    pub fn new(limits: PoolLimits, logs: Logs) -> Pool {
        let (closed, _) = watch::channel(false);
        let (alive, ended) = mpsc::channel(1);
        let (alive, ended) = (Mutex::new(Some(alive)), tokio::sync::Mutex::new(ended));
        Pool {
            inner: Arc::new(Inner {
                limits,
                logs,
                slots: Mutex::default(),
                closed,
                alive,
                ended,
            }),
        }
    }

    /// Returns the plugin of a key. The plugin is started if it does not run; concurrent requests
    /// start it once. After a crash it is started again, up to the limit. A dropped request ends
    /// the process that it is starting.
    ///
    /// # Errors
    /// The reason why the plugin cannot be started, or [`PluginError::CrashedTooOften`], or
    /// [`PluginError::Closed`].
    pub async fn get(&self, key: &PoolKey, wanted: Start) -> Result<PluginLease, PluginError> {
        let mut closed = self.inner.closed.subscribe();
        let name = match &wanted {
            Start::Launch(launch, _) => launch.name.clone(),
            Start::Attach(name, _) => name.clone(),
        };
        tokio::select! {
            biased;
            // An error cannot occur, because this pool holds the sender.
            _ = closed.wait_for(|closed| *closed) => Err(PluginError::Closed { name }),
            lease = self.get_open(key, wanted) => lease,
        }
    }

    async fn get_open(&self, key: &PoolKey, wanted: Start) -> Result<PluginLease, PluginError> {
        let inner = &self.inner;
        let history = {
            let mut slots = inner.slots();
            let slot = slots.by_key.entry(key.clone()).or_default();
            slot.users += 1;
            Arc::clone(&slot.history)
        };
        let claim = SlotClaim {
            inner: Arc::clone(inner),
            key: key.clone(),
        };
        if let Some(plugin) = inner.running(key) {
            return Ok(PluginLease {
                plugin,
                _claim: claim,
            });
        }
        let mut history = history.lock().await;
        // Another request may have started the plugin meanwhile.
        if let Some(plugin) = inner.running(key) {
            return Ok(PluginLease {
                plugin,
                _claim: claim,
            });
        }
        inner.check_crash_limit(key, &wanted, &mut history)?;
        let plugin = match wanted {
            Start::Attach(name, endpoint) => attach(name, endpoint),
            Start::Launch(launch, protocol) => {
                let starting = inner.reserve(key).await;
                let started = start(launch, protocol, inner.logs_of_process()).await;
                drop(starting);
                started.inspect_err(|error| {
                    if error.started() {
                        history.note(error.to_string(), error.output().to_owned());
                    }
                })?
            }
        };
        if let Some(slot) = inner.slots().by_key.get_mut(key) {
            slot.plugin = Some(plugin.clone());
        }
        Ok(PluginLease {
            plugin,
            _claim: claim,
        })
    }

    /// Stops all processes concurrently, including those that are being started, and returns when
    /// they have ended. Waiting and later requests are refused. Leases stay valid, but their
    /// process has ended.
    pub async fn close(&self) {
        self.inner.closed.send_replace(true);
        let plugins: Vec<Plugin> = {
            let mut slots = self.inner.slots();
            let running: Vec<Plugin> = slots
                .by_key
                .values_mut()
                .filter_map(|slot| slot.plugin.take())
                .collect();
            running
                .into_iter()
                .chain(slots.stopping.drain(..))
                .collect()
        };
        let mut stops = JoinSet::new();
        for plugin in plugins {
            stops.spawn(async move { plugin.stop().await });
        }
        while stops.join_next().await.is_some() {}
        // A starting process has no handle. It ends because its request has been refused.
        drop(
            self.inner
                .alive
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        while self.inner.ended.lock().await.recv().await.is_some() {}
    }
}
