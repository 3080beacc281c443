//! What the parts of a running controller share: caches, the queue, the index of wakes, and which
//! versions of objects each reconcile has seen.
//!
//! Invariant: an event that shows what the last reconcile of a key already saw does not wake it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use blueprint::{Name, Value};
use cartographer::kinds::{CartoKind, KindFamily};
use cartographer::reconcile::{AccountName, ClusterAnswer, FoundObject, Watches};
use cartographer::selection::select_blueprint;
use kube::Client;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use crate::caches::{CacheChange, ObjectCaches, version_of};
use crate::calls::ClusterAccess;
use crate::index::{ObjectWatch, WakeIndex, WatchChanges};
use crate::keys::ReconcileKey;
use crate::metrics::ControllerMetrics;
use crate::options::ControllerOptions;
use crate::queue::{Finished, WorkQueue};

/// The version of an object that a reconcile deleted.
const DELETED: u64 = u64::MAX;

/// The versions of objects that a reconcile saw, by their uids.
pub(crate) type SeenVersions = BTreeMap<Name, u64>;

/// An event about an object that a key reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ObjectEvent {
    /// It exists in a version; `None` if the version is not a number.
    Exists(Name, Option<u64>),
    /// It does not exist any more.
    Gone(Name),
}

impl ObjectEvent {
    /// Whether a reconcile that saw these versions knows what the event shows.
    fn is_known(&self, seen: &SeenVersions) -> bool {
        match self {
            ObjectEvent::Exists(uid, Some(version)) => {
                seen.get(uid).is_some_and(|seen| seen >= version)
            }
            ObjectEvent::Exists(_, None) => false,
            ObjectEvent::Gone(uid) => seen.get(uid) == Some(&DELETED),
        }
    }
}

/// What is known about the reconciles of a key.
#[derive(Debug, Default)]
struct KeyProgress {
    seen: SeenVersions,
    /// Events during a reconcile. They are judged when it ends: what it writes comes back as an
    /// event, often before the answer.
    during: Option<Vec<ObjectEvent>>,
    /// Whether an identity had no right in the last reconcile.
    forbidden: bool,
}

/// The shared state.
pub(crate) struct ControllerState {
    /// What the controller was started with.
    pub(crate) options: ControllerOptions,
    /// The way to the cluster.
    pub(crate) access: ClusterAccess,
    /// The objects of `carto.run` and the service accounts.
    pub(crate) caches: ObjectCaches,
    /// Told when the queue may have a key to run.
    pub(crate) queue_changed: Notify,
    /// The number of watches.
    pub(crate) watches: AtomicUsize,
    queue: Mutex<WorkQueue>,
    index: Mutex<WakeIndex>,
    progress: Mutex<HashMap<ReconcileKey, KeyProgress>>,
    /// Why watches fail, by resource.
    watch_failures: Mutex<BTreeMap<String, String>>,
    /// Whether the caches were filled. Before that nothing wakes: everything runs then.
    started: AtomicBool,
    watch_changes: mpsc::UnboundedSender<WatchChanges>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ControllerState {
    /// A state without objects. Changes of watches go to `watch_changes`.
    pub(crate) fn new(
        client: Client,
        options: ControllerOptions,
        watch_changes: mpsc::UnboundedSender<WatchChanges>,
    ) -> ControllerState {
        ControllerState {
            options,
            access: ClusterAccess::new(client),
            caches: ObjectCaches::default(),
            queue_changed: Notify::new(),
            watches: AtomicUsize::new(0),
            queue: Mutex::default(),
            index: Mutex::default(),
            progress: Mutex::default(),
            watch_failures: Mutex::default(),
            started: AtomicBool::new(false),
            watch_changes,
        }
    }

    /// Starts to reconcile: every object that is known runs.
    pub(crate) fn start(&self) {
        self.started.store(true, Ordering::Release);
        self.wake_all();
    }

    /// Whether every known object was reconciled and none waits for a worker. Failed objects may
    /// wait for their next try.
    pub(crate) fn is_idle(&self) -> bool {
        let queue = lock(&self.queue);
        self.started.load(Ordering::Acquire) && queue.ready() == 0 && queue.working() == 0
    }

    /// The counters.
    pub(crate) fn metrics(&self) -> ControllerMetrics {
        let mut metrics = self.access.counters.counts();
        let queue = lock(&self.queue);
        metrics.queue_length = queue.ready();
        metrics.working = queue.working();
        metrics.waiting = queue.waiting();
        metrics.watches = self.watches.load(Ordering::Relaxed);
        metrics.failing_watches = lock(&self.watch_failures).clone();
        metrics
    }

    /// Makes every object run, blueprints first: owners wait for theirs.
    pub(crate) fn wake_all(&self) {
        let (blueprints, others): (Vec<_>, Vec<_>) = CartoKind::ALL
            .into_iter()
            .filter(|kind| kind.has_status())
            .partition(|kind| kind.family() == KindFamily::Blueprint);
        for kind in blueprints.into_iter().chain(others) {
            let objects = self.caches.all(kind);
            let keys = objects
                .iter()
                .filter_map(|object| ReconcileKey::of(kind, object));
            self.wake(keys);
        }
    }

    /// Makes objects run.
    pub(crate) fn wake(&self, keys: impl IntoIterator<Item = ReconcileKey>) {
        if !self.started.load(Ordering::Acquire) {
            return;
        }
        let mut queue = lock(&self.queue);
        for key in keys {
            queue.wake(key);
        }
        drop(queue);
        self.queue_changed.notify_one();
    }

    /// The next object to run.
    pub(crate) fn take(&self, now: Instant) -> Option<ReconcileKey> {
        let key = lock(&self.queue).take(now)?;
        let mut progress = lock(&self.progress);
        progress.entry(key.clone()).or_default().during = Some(Vec::new());
        Some(key)
    }

    /// When the next failed object runs again.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        lock(&self.queue).next_due()
    }

    /// Ends the run of an object.
    pub(crate) fn finish(&self, key: &ReconcileKey, finished: Finished, now: Instant) {
        let mut progress = lock(&self.progress);
        let during = match progress.get_mut(key) {
            Some(of_key) => of_key.during.take(),
            None => None,
        };
        let news = during.unwrap_or_default().into_iter().any(|event| {
            let seen = progress.get(key).map(|of_key| &of_key.seen);
            !seen.is_some_and(|seen| event.is_known(seen))
        });
        if finished == Finished::Forgotten {
            progress.remove(key);
        }
        drop(progress);
        let mut queue = lock(&self.queue);
        if news {
            queue.wake(key.clone());
        }
        queue.finish(key, finished, now);
        drop(queue);
        self.queue_changed.notify_one();
    }

    /// Records what a reconcile saw, and whether it had a right refused.
    pub(crate) fn set_seen(&self, key: &ReconcileKey, seen: SeenVersions, forbidden: bool) {
        let mut progress = lock(&self.progress);
        let of_key = progress.entry(key.clone()).or_default();
        of_key.seen = seen;
        of_key.forbidden = forbidden;
    }

    /// Records what wakes an object that was reconciled after a number of changes of the caches.
    /// What changed since then could not wake it yet, so that it runs again.
    pub(crate) fn set_watches(&self, key: &ReconcileKey, watches: Watches, changes_before: u64) {
        let selects = !watches.selected.is_empty();
        let mut index = lock(&self.index);
        let is_new = index.differs(key, &watches);
        let changes = index.set(key, watches.clone());
        self.change_watches(changes);
        drop(index);
        // A selected object may have changed before the index knew who selects it.
        let missed = is_new && (selects || self.caches.has_changed_since(changes_before, &watches));
        if missed {
            self.wake([key.clone()]);
        }
    }

    /// Forgets what wakes an object.
    pub(crate) fn forget(&self, key: &ReconcileKey) {
        let mut index = lock(&self.index);
        let changes = index.remove(key);
        self.change_watches(changes);
    }

    /// Sends changes on. The caller holds the index, so that they keep their order.
    fn change_watches(&self, changes: WatchChanges) {
        if changes != WatchChanges::default() {
            // Nobody receives them once the controller has stopped.
            let _ = self.watch_changes.send(changes);
        }
    }

    /// Wakes whom a change of an object of `carto.run` concerns.
    pub(crate) fn platform_changed(&self, kind: CartoKind, change: &CacheChange) {
        let Some(object) = change.now.as_ref().or(change.before.as_ref()) else {
            return;
        };
        if let Some(key) = ReconcileKey::of(kind, object) {
            match &change.now {
                Some(now) => self.object_event(key, exists_event(now)),
                None => self.wake([key]),
            }
        }
        let differs = |field: &str| {
            let part = |object: &Option<Arc<Value>>| {
                let object = object.as_ref()?;
                object.get(field).cloned()
            };
            part(&change.before) != part(&change.now)
        };
        let name = object
            .get("metadata")
            .and_then(|metadata| metadata.get("name"));
        let name = Name::from(name.and_then(Value::as_text).unwrap_or_default());
        let spec_differs = differs("spec") || change.before.is_none() || change.now.is_none();
        match kind.family() {
            KindFamily::Blueprint if spec_differs => {
                let mut users: BTreeSet<_> = self.users(kind, &name);
                users.extend(self.selected_owners(kind, change));
                self.wake(users);
            }
            KindFamily::Blueprint if differs("status") => self.wake(self.users(kind, &name)),
            KindFamily::Template | KindFamily::RunTemplate if spec_differs => {
                self.wake(self.users(kind, &name));
            }
            _ => {}
        }
    }

    fn users(&self, kind: CartoKind, name: &Name) -> BTreeSet<ReconcileKey> {
        let users = lock(&self.index).of_platform(kind, name);
        users.into_iter().collect()
    }

    /// The owners that a blueprint selected before a change, or selects after it.
    fn selected_owners(&self, kind: CartoKind, change: &CacheChange) -> Vec<ReconcileKey> {
        let Some(owner_kind) = kind
            .owner()
            .filter(|_| self.started.load(Ordering::Acquire))
        else {
            return Vec::new();
        };
        let blueprints: Vec<&Value> = [&change.before, &change.now]
            .into_iter()
            .filter_map(|blueprint| blueprint.as_deref())
            .collect();
        let owners = self.caches.all(owner_kind);
        let selected = owners.iter().filter(|owner| {
            let mut each = blueprints.iter();
            each.any(|blueprint| {
                let selection = select_blueprint(owner, &[*blueprint], self.options.compat);
                // An owner that a selector cannot be evaluated for learns of that, too.
                !selection.matches().is_empty() || !selection.refused.is_empty()
            })
        });
        selected
            .filter_map(|owner| ReconcileKey::of(owner_kind, owner))
            .collect()
    }

    /// Wakes whom a change of a service account concerns.
    pub(crate) fn account_changed(&self, account: &AccountName) {
        let users = lock(&self.index).of_account(account);
        self.wake(users);
    }

    /// Wakes all that had a right refused: roles have changed.
    pub(crate) fn rights_changed(&self) {
        let progress = lock(&self.progress);
        let forbidden = progress.iter().filter(|(_, of_key)| of_key.forbidden);
        let keys: Vec<_> = forbidden.map(|(key, _)| key.clone()).collect();
        drop(progress);
        self.wake(keys);
    }

    /// Wakes all that need a watch, because it may have missed something.
    pub(crate) fn watch_restarted(&self, watch: &ObjectWatch) {
        let users = lock(&self.index).of_watch(watch);
        self.wake(users);
    }

    /// Records why a watch of a resource fails; `None` if it works.
    pub(crate) fn set_watch_failure(&self, resource: &str, failure: Option<String>) {
        let mut failures = lock(&self.watch_failures);
        match failure {
            Some(failure) => {
                failures.insert(resource.to_owned(), failure);
            }
            None => {
                failures.remove(resource);
            }
        }
    }

    /// The keys that need a watch.
    pub(crate) fn users_of_watch(&self, watch: &ObjectWatch) -> Vec<ReconcileKey> {
        lock(&self.index).of_watch(watch)
    }

    /// Whether the last reconcile of a key saw an object.
    pub(crate) fn has_seen(&self, key: &ReconcileKey, uid: &str) -> bool {
        let progress = lock(&self.progress);
        let of_key = progress.get(key);
        of_key.is_some_and(|of_key| of_key.seen.contains_key(uid))
    }

    /// Wakes a key for an event about an object that it reads or writes, unless it knows that
    /// already.
    pub(crate) fn object_event(&self, key: ReconcileKey, event: ObjectEvent) {
        let mut progress = lock(&self.progress);
        if let Some(of_key) = progress.get_mut(&key) {
            if let Some(during) = &mut of_key.during {
                during.push(event);
                return;
            }
            if event.is_known(&of_key.seen) {
                return;
            }
        }
        drop(progress);
        self.wake([key]);
    }
}

/// The event that an object exists as it is.
pub(crate) fn exists_event(object: &Value) -> ObjectEvent {
    ObjectEvent::Exists(uid_of(object), version_of(object))
}

fn uid_of(object: &Value) -> Name {
    let uid = object
        .get("metadata")
        .and_then(|metadata| metadata.get("uid"));
    uid.and_then(Value::as_text).unwrap_or_default().into()
}

/// Records an object that a reconcile saw.
pub(crate) fn see(seen: &mut SeenVersions, object: &Value) {
    if let Some(version) = version_of(object) {
        let known = seen.entry(uid_of(object)).or_default();
        *known = version.max(*known);
    }
}

/// Records what an answer showed. `deleted` is the uid of an object that the request deleted.
pub(crate) fn see_answer(seen: &mut SeenVersions, answer: &ClusterAnswer, deleted: Option<&Name>) {
    let all: &[FoundObject] = match answer {
        ClusterAnswer::Object(found) => std::slice::from_ref(found),
        ClusterAnswer::List(found) => found,
        ClusterAnswer::Done => {
            if let Some(uid) = deleted {
                seen.insert(uid.clone(), DELETED);
            }
            &[]
        }
        ClusterAnswer::Missing | ClusterAnswer::Refused(_) => &[],
    };
    for found in all {
        see(seen, &found.object);
    }
}
