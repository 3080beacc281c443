//! Watches: those of `carto.run`, service accounts and roles for the whole life of a controller,
//! and metadata-only ones of stamped and selected objects, which are added and dropped at run time.
//!
//! A watch that fails is started again by itself, with growing waits.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use blueprint::{Name, Value};
use cartographer::kinds::{CartoKind, GROUP, VERSION};
use cartographer::reconcile::AccountName;
use futures::{Stream, StreamExt as _};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Api;
use kube::Client;
use kube::core::{ApiResource, DynamicObject, PartialObjectMeta};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{Config, Event, watcher};
use kubernetes::json;
use serde_json::Value as Json;
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use crate::api::with_causes;
use crate::caches::remove_managers;
use crate::index::{ObjectWatch, WatchChanges, WatchScope};
use crate::keys::ReconcileKey;
use crate::state::{ControllerState, ObjectEvent};

/// The label of objects that are stamped for a resource of a blueprint.
const RESOURCE_LABEL: &str = "carto.run/resource-name";

/// The label of objects that are stamped for a Runnable.
const RUNNABLE_LABEL: &str = "carto.run/runnable-name";

/// The longest wait before a kind that the server does not have is looked for again.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Counts a watch as long as it lives, and records why it fails.
struct CountedWatch {
    state: Arc<ControllerState>,
    /// What is watched, as `things.demo.test`.
    resource: String,
}

impl CountedWatch {
    fn new(state: &Arc<ControllerState>, resource: &ApiResource) -> CountedWatch {
        state.watches.fetch_add(1, Ordering::Relaxed);
        CountedWatch {
            state: state.clone(),
            resource: match resource.group.is_empty() {
                true => resource.plural.clone(),
                false => format!("{}.{}", resource.plural, resource.group),
            },
        }
    }

    /// The event, if it is one. A failure is recorded until the next event.
    fn event<K, E: std::error::Error + 'static>(
        &self,
        event: Result<Event<K>, E>,
    ) -> Option<Event<K>> {
        match event {
            Ok(event) => {
                self.state.set_watch_failure(&self.resource, None);
                Some(event)
            }
            Err(error) => {
                let message = with_causes(&error);
                self.state.set_watch_failure(&self.resource, Some(message));
                None
            }
        }
    }
}

impl Drop for CountedWatch {
    fn drop(&mut self) {
        self.state.watches.fetch_sub(1, Ordering::Relaxed);
        self.state.set_watch_failure(&self.resource, None);
    }
}

/// Keeps the cache of a kind of `carto.run`. `filled` is told when the cache has all objects.
pub(crate) async fn watch_platform(
    state: Arc<ControllerState>,
    client: Client,
    kind: CartoKind,
    filled: oneshot::Sender<()>,
) {
    let resource = api_resource(GROUP, VERSION, kind.name(), kind.plural());
    let watch = CountedWatch::new(&state, &resource);
    let api: Api<DynamicObject> = Api::all_with(client, &resource);
    let mut events = pin!(watcher(api, Config::default()).default_backoff());
    let mut filled = Some(filled);
    let mut listed = BTreeSet::new();
    while let Some(event) = events.next().await {
        let Some(event) = watch.event(event) else {
            continue;
        };
        match event {
            Event::Init => listed.clear(),
            Event::InitApply(object) => {
                listed.insert(place_of(&object.metadata));
                put(&state, kind, object);
            }
            Event::InitDone => {
                for (namespace, name) in state.caches.places(kind) {
                    if !listed.contains(&(namespace.clone(), name.clone())) {
                        remove(&state, kind, &namespace, &name);
                    }
                }
                listed.clear();
                if let Some(filled) = filled.take() {
                    // Nobody waits if the controller is stopped meanwhile.
                    let _ = filled.send(());
                }
            }
            Event::Apply(object) => put(&state, kind, object),
            Event::Delete(object) => {
                let (namespace, name) = place_of(&object.metadata);
                remove(&state, kind, &namespace, &name);
            }
        }
    }
}

/// Keeps the service accounts. `filled` is told when all are known.
pub(crate) async fn watch_accounts(
    state: Arc<ControllerState>,
    client: Client,
    filled: oneshot::Sender<()>,
) {
    let resource = api_resource("", "v1", "ServiceAccount", "serviceaccounts");
    let watch = CountedWatch::new(&state, &resource);
    let mut events = pin!(metadata_events(client, &resource, Config::default(), watch));
    let mut filled = Some(filled);
    let mut listed = BTreeSet::new();
    while let Some(event) = events.next().await {
        match event {
            Event::Init => listed.clear(),
            Event::InitApply(object) => {
                listed.extend(account_of(&object.metadata));
                put_account(&state, &object.metadata);
            }
            Event::InitDone => {
                for gone in state.caches.accounts().difference(&listed) {
                    remove_account(&state, gone);
                }
                listed.clear();
                if let Some(filled) = filled.take() {
                    let _ = filled.send(());
                }
            }
            Event::Apply(object) => put_account(&state, &object.metadata),
            Event::Delete(object) => {
                if let Some(account) = account_of(&object.metadata) {
                    remove_account(&state, &account);
                }
            }
        }
    }
}

/// Wakes what had a right refused when a role or a binding of one kind changes.
pub(crate) async fn watch_rights(
    state: Arc<ControllerState>,
    client: Client,
    kind: &'static str,
    plural: &'static str,
) {
    let resource = api_resource("rbac.authorization.k8s.io", "v1", kind, plural);
    let watch = CountedWatch::new(&state, &resource);
    let mut events = pin!(metadata_events(client, &resource, Config::default(), watch));
    while let Some(event) = events.next().await {
        match event {
            Event::Apply(_) | Event::InitDone => state.rights_changed(),
            // A right that is taken away shows itself at the next write.
            Event::Delete(_) | Event::Init | Event::InitApply(_) => {}
        }
    }
}

/// Starts and stops watches of objects as the index needs them, until no more changes come.
pub(crate) async fn run_object_watches(
    state: Arc<ControllerState>,
    client: Client,
    mut changes: mpsc::UnboundedReceiver<WatchChanges>,
) {
    let mut running: HashMap<ObjectWatch, AbortOnDropHandle<()>> = HashMap::new();
    while let Some(WatchChanges { start, stop }) = changes.recv().await {
        for watch in stop {
            running.remove(&watch);
        }
        for watch in start {
            let task = watch_objects(state.clone(), client.clone(), watch.clone());
            running.insert(watch, AbortOnDropHandle::new(tokio::spawn(task)));
        }
    }
}

/// Wakes owners and Runnables for changes of stamped or selected objects.
async fn watch_objects(state: Arc<ControllerState>, client: Client, watch: ObjectWatch) {
    let resource = resource_of(&state, &watch).await;
    let counted = CountedWatch::new(&state, &resource);
    let config = match watch.scope {
        WatchScope::OfResources => Config::default().labels(RESOURCE_LABEL),
        WatchScope::OfRunnables => Config::default().labels(RUNNABLE_LABEL),
        WatchScope::All => Config::default(),
    };
    let mut events = pin!(metadata_events(client, &resource, config, counted));
    while let Some(event) = events.next().await {
        let (object, gone) = match event {
            Event::Apply(object) => (object, false),
            Event::Delete(object) => (object, true),
            // What happened before the watch, or between two of them, is not told one by one.
            Event::InitDone => {
                state.watch_restarted(&watch);
                continue;
            }
            Event::Init | Event::InitApply(_) => continue,
        };
        let uid = Name::from(object.metadata.uid.as_deref().unwrap_or_default());
        let event = match gone {
            true => ObjectEvent::Gone(uid.clone()),
            false => {
                let version = object.metadata.resource_version.as_deref();
                ObjectEvent::Exists(uid.clone(), version.and_then(|text| text.parse().ok()))
            }
        };
        let keys = match watch.scope {
            WatchScope::OfResources => owners_of(&object.metadata),
            WatchScope::OfRunnables => runnables_of(&state, &object.metadata),
            WatchScope::All => selecting(&state, &watch, &object.metadata, &uid),
        };
        for key in keys {
            if state.caches.get(&key).is_some() {
                state.object_event(key, event.clone());
            }
        }
    }
}

/// The resource of a watched kind, once the server has it.
async fn resource_of(state: &ControllerState, watch: &ObjectWatch) -> ApiResource {
    let mut wait = Duration::from_millis(500);
    loop {
        let access = &state.access;
        let found = access.kinds.find(
            &access.controller,
            &access.counters,
            &watch.api_version,
            &watch.kind,
        );
        if let Ok(kind) = found.await {
            let (group, version) = (&kind.version.group, &kind.version.version);
            return api_resource(group, version, &kind.kind, &kind.plural);
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

/// The events of a metadata-only watch. Failures are recorded and waited out.
fn metadata_events(
    client: Client,
    resource: &ApiResource,
    config: Config,
    watch: CountedWatch,
) -> impl Stream<Item = Event<PartialObjectMeta<DynamicObject>>> + Send + use<> {
    let api: Api<PartialObjectMeta<DynamicObject>> = Api::all_with(client, resource);
    let events = watcher(api, config).default_backoff();
    events.filter_map(move |event| std::future::ready(watch.event(event)))
}

fn api_resource(group: &str, version: &str, kind: &str, plural: &str) -> ApiResource {
    let api_version = match group.is_empty() {
        true => version.to_owned(),
        false => format!("{group}/{version}"),
    };
    ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        api_version,
        kind: kind.to_owned(),
        plural: plural.to_owned(),
    }
}

fn put(state: &ControllerState, kind: CartoKind, object: DynamicObject) {
    let metadata = serde_json::to_value(&object.metadata).unwrap_or(Json::Null);
    let mut whole = object.data;
    whole["apiVersion"] = cartographer::kinds::API_VERSION.into();
    whole["kind"] = kind.name().into();
    whole["metadata"] = metadata;
    remove_managers(&mut whole);
    if let Some(change) = state.caches.put(kind, json::from_json(&whole)) {
        state.platform_changed(kind, &change);
    }
}

fn remove(state: &ControllerState, kind: CartoKind, namespace: &str, name: &str) {
    let namespace = Some(namespace).filter(|namespace| !namespace.is_empty());
    if let Some(change) = state.caches.remove(kind, namespace, name) {
        state.platform_changed(kind, &change);
    }
}

fn put_account(state: &ControllerState, metadata: &ObjectMeta) {
    let uid = metadata.uid.as_deref().unwrap_or_default();
    if let Some(account) = account_of(metadata)
        && state.caches.put_account(account.clone(), uid.into())
    {
        state.account_changed(&account);
    }
}

fn remove_account(state: &ControllerState, account: &AccountName) {
    if state.caches.remove_account(account) {
        state.account_changed(account);
    }
}

fn place_of(metadata: &ObjectMeta) -> (Name, Name) {
    let text = |text: &Option<String>| Name::from(text.as_deref().unwrap_or_default());
    (text(&metadata.namespace), text(&metadata.name))
}

fn account_of(metadata: &ObjectMeta) -> Option<AccountName> {
    Some(AccountName {
        namespace: metadata.namespace.as_deref()?.into(),
        name: metadata.name.as_deref()?.into(),
    })
}

/// The value of a label. The whole text of a long one is in an annotation of the same name.
fn label<'m>(metadata: &'m ObjectMeta, name: &str) -> Option<&'m str> {
    let of =
        |texts: &'m Option<BTreeMap<String, String>>| Some(texts.as_ref()?.get(name)?.as_str());
    let short = of(&metadata.labels)?;
    Some(of(&metadata.annotations).unwrap_or(short))
}

/// The owner that an object is stamped for.
fn owners_of(metadata: &ObjectMeta) -> Vec<ReconcileKey> {
    let owner = |kind: CartoKind, name: &str, namespace: &str| {
        Some(ReconcileKey {
            kind,
            namespace: Some(label(metadata, namespace)?.into()),
            name: label(metadata, name)?.into(),
        })
    };
    let owners = [
        owner(
            CartoKind::Workload,
            "carto.run/workload-name",
            "carto.run/workload-namespace",
        ),
        owner(
            CartoKind::Deliverable,
            "carto.run/deliverable-name",
            "carto.run/deliverable-namespace",
        ),
    ];
    owners.into_iter().flatten().collect()
}

/// The Runnable that an object is stamped for; several if the object has no namespace.
fn runnables_of(state: &ControllerState, metadata: &ObjectMeta) -> Vec<ReconcileKey> {
    let Some(name) = label(metadata, RUNNABLE_LABEL) else {
        return Vec::new();
    };
    let namespaces = match &metadata.namespace {
        Some(namespace) => vec![Name::from(namespace.as_str())],
        None => state.caches.namespaces_with(CartoKind::Runnable, name),
    };
    let keys = namespaces.into_iter().map(|namespace| ReconcileKey {
        kind: CartoKind::Runnable,
        namespace: Some(namespace),
        name: name.into(),
    });
    keys.collect()
}

/// The Runnables whose selector matches an object, or matched it before.
fn selecting(
    state: &ControllerState,
    watch: &ObjectWatch,
    metadata: &ObjectMeta,
    uid: &str,
) -> Vec<ReconcileKey> {
    let mut keys = state.users_of_watch(watch);
    keys.retain(|key| {
        let near = metadata.namespace.is_none()
            || metadata.namespace.as_deref() == key.namespace.as_deref();
        let Some(runnable) = state.caches.get(key).filter(|_| near) else {
            return false;
        };
        let labels = runnable
            .get("spec")
            .and_then(|spec| spec.get("selector")?.get("matchingLabels"));
        matches_labels(labels, metadata) || state.has_seen(key, uid)
    });
    keys
}

fn matches_labels(wanted: Option<&Value>, metadata: &ObjectMeta) -> bool {
    let Some(wanted) = wanted.and_then(Value::as_map) else {
        return true;
    };
    let has = |name: &str, value: &Value| {
        let own = metadata.labels.as_ref().and_then(|labels| labels.get(name));
        own.is_some() && own.map(String::as_str) == value.as_text()
    };
    wanted.iter().all(|(name, value)| has(name, value))
}
