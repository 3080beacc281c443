//! The controller: fills the caches, elects a leader, and gives the keys of the queue to workers.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cartographer::kinds::{API_VERSION, CartoKind};
use http::Method;
use kube::Client;
use kubernetes::GroupKind;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::api::RequestFailure;
use crate::index::WatchChanges;
use crate::keys::ReconcileKey;
use crate::leader::LeaseCandidate;
use crate::metrics::ControllerMetrics;
use crate::options::ControllerOptions;
use crate::queue::Finished;
use crate::reconciling::reconcile;
use crate::state::ControllerState;
use crate::watching::{run_object_watches, watch_accounts, watch_platform, watch_rights};

/// The first wait before a server that does not answer is asked again.
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// The longest wait before it is asked again.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The kinds whose objects say who may do what, with their names in paths.
const RIGHTS: [(&str, &str); 4] = [
    ("Role", "roles"),
    ("RoleBinding", "rolebindings"),
    ("ClusterRole", "clusterroles"),
    ("ClusterRoleBinding", "clusterrolebindings"),
];

/// Why a controller ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ControllerError {
    /// The cluster does not have all kinds of `carto.run`. These are missing.
    #[error("the cluster does not have the kinds {} of {API_VERSION}", .0.join(", "))]
    DefinitionsMissing(Vec<&'static str>),
    /// The server refuses what a controller must read.
    #[error("the cluster cannot be read: {0}")]
    Refused(String),
    /// Another controller took the Lease over, or it could not be renewed in time.
    #[error("the leadership is lost")]
    LeadershipLost,
    /// The controller was started before.
    #[error("the controller was started before")]
    StartedBefore,
}

/// A controller of supply chains. Clones are the same controller: one runs it, others look at it.
#[derive(Clone)]
pub struct Controller {
    state: Arc<ControllerState>,
    client: Client,
    /// Taken by the run.
    watch_changes: Arc<Mutex<Option<mpsc::UnboundedReceiver<WatchChanges>>>>,
}

impl Controller {
    /// A controller that acts through a client. It does nothing before it runs.
    pub fn new(client: Client, options: ControllerOptions) -> Controller {
        let (sender, receiver) = mpsc::unbounded_channel();
        Controller {
            state: Arc::new(ControllerState::new(client.clone(), options, sender)),
            client,
            watch_changes: Arc::new(Mutex::new(Some(receiver))),
        }
    }

    /// Whether every known object was reconciled and none waits for a worker. Objects that failed
    /// may wait for their next try.
    pub fn is_idle(&self) -> bool {
        self.state.is_idle()
    }

    /// What the controller has done and has to do.
    pub fn metrics(&self) -> ControllerMetrics {
        self.state.metrics()
    }

    /// Runs until `stop` is cancelled: then the objects in work are finished and the Lease is given
    /// back. If the future is dropped, everything stops at once. A controller runs once.
    ///
    /// # Errors
    /// If the kinds of `carto.run` are missing or may not be read, if the leadership is lost, or
    /// if the controller was started before.
    pub async fn run(&self, stop: CancellationToken) -> Result<(), ControllerError> {
        let changes = {
            let mut place = self
                .watch_changes
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            place.take().ok_or(ControllerError::StartedBefore)?
        };
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            found = self.check_definitions() => found?,
        }
        let state = &self.state;
        let election = state.options.leader_election.clone();
        let Some(election) = election else {
            return self.work(changes, &stop).await;
        };
        let mut candidate = LeaseCandidate::new(&state.access, &election, &state.options);
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = candidate.acquire() => {}
        }
        let ended = tokio::select! {
            ended = self.work(changes, &stop) => ended,
            () = candidate.renew() => return Err(ControllerError::LeadershipLost),
        };
        candidate.release().await;
        ended
    }

    /// Waits until the server answers, and checks that it has all kinds.
    async fn check_definitions(&self) -> Result<(), ControllerError> {
        let asked = GroupKind::new("", "APIResourceList");
        let path = format!("/apis/{API_VERSION}");
        let mut wait = FIRST_WAIT;
        loop {
            let access = &self.state.access;
            access.counters.count_request("get", "discovery");
            let answer = access.controller.send(Method::GET, &path, &asked, None);
            let found: BTreeSet<String> = match answer.await {
                Ok(list) => {
                    let resources = list["resources"].as_array().into_iter().flatten();
                    let kinds = resources.filter_map(|resource| resource["kind"].as_str());
                    kinds.map(str::to_owned).collect()
                }
                Err(RequestFailure::Refused(failure)) if failure.code == 404 => BTreeSet::new(),
                Err(RequestFailure::Refused(failure)) if matches!(failure.code, 401 | 403) => {
                    return Err(ControllerError::Refused(failure.message));
                }
                Err(_) => {
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(LONGEST_WAIT);
                    continue;
                }
            };
            let names = CartoKind::ALL.into_iter().map(CartoKind::name);
            let missing: Vec<_> = names.filter(|name| !found.contains(*name)).collect();
            return match missing.is_empty() {
                true => Ok(()),
                false => Err(ControllerError::DefinitionsMissing(missing)),
            };
        }
    }

    /// Fills the caches and works until it is stopped.
    async fn work(
        &self,
        changes: mpsc::UnboundedReceiver<WatchChanges>,
        stop: &CancellationToken,
    ) -> Result<(), ControllerError> {
        let (state, client) = (&self.state, &self.client);
        let mut watches = JoinSet::new();
        let mut filled = Vec::new();
        for kind in CartoKind::ALL {
            let (sender, receiver) = oneshot::channel();
            watches.spawn(watch_platform(state.clone(), client.clone(), kind, sender));
            filled.push(receiver);
        }
        let (sender, receiver) = oneshot::channel();
        watches.spawn(watch_accounts(state.clone(), client.clone(), sender));
        filled.push(receiver);
        for (kind, plural) in RIGHTS {
            watches.spawn(watch_rights(state.clone(), client.clone(), kind, plural));
        }
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            _ = futures::future::join_all(filled) => {}
        }
        let objects = run_object_watches(state.clone(), client.clone(), changes);
        let _objects = AbortOnDropHandle::new(tokio::spawn(objects));
        state.start();
        self.dispatch(stop).await;
        Ok(())
    }

    /// Gives keys to workers until it is stopped, and lets these finish.
    async fn dispatch(&self, stop: &CancellationToken) {
        let state = &self.state;
        let mut workers = Workers::default();
        let every = state.options.resync.max(Duration::from_secs(1));
        let mut resync = tokio::time::interval_at(Instant::now() + every, every);
        resync.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            while workers.len() < state.options.workers.max(1)
                && let Some(key) = state.take(Instant::now())
            {
                workers.start(state, key);
            }
            let due = state.next_due();
            let due_at = due.unwrap_or_else(|| Instant::now() + every);
            tokio::select! {
                () = stop.cancelled() => break,
                () = workers.ended(state), if workers.len() > 0 => {}
                () = state.queue_changed.notified() => {}
                () = tokio::time::sleep_until(due_at), if due.is_some() => {}
                _ = resync.tick() => state.wake_all(),
            }
        }
        while workers.len() > 0 {
            workers.ended(state).await;
        }
    }
}

/// Runs a controller until `stop` is cancelled, as [`Controller::run`] does.
///
/// # Errors
/// As [`Controller::run`].
pub async fn run(
    client: Client,
    options: ControllerOptions,
    stop: CancellationToken,
) -> Result<(), ControllerError> {
    Controller::new(client, options).run(stop).await
}

/// The reconciles in work. They stop at once if this is dropped.
#[derive(Default)]
struct Workers {
    tasks: JoinSet<Finished>,
    keys: HashMap<Id, ReconcileKey>,
}

impl Workers {
    fn len(&self) -> usize {
        self.tasks.len()
    }

    fn start(&mut self, state: &Arc<ControllerState>, key: ReconcileKey) {
        let state = state.clone();
        let of_task = key.clone();
        let task = async move { reconcile(&state, &of_task).await };
        let started = self.tasks.spawn(task);
        self.keys.insert(started.id(), key);
    }

    /// Waits until one has ended.
    async fn ended(&mut self, state: &ControllerState) {
        let Some(ended) = self.tasks.join_next_with_id().await else {
            return;
        };
        let (id, finished) = match ended {
            Ok((id, finished)) => (id, finished),
            // A fault in one reconcile stops no other one.
            Err(error) => (JoinError::id(&error), Finished::Again),
        };
        if let Some(key) = self.keys.remove(&id) {
            state.finish(&key, finished, Instant::now());
        }
    }
}
