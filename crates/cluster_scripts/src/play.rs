//! Plays scripts as a client of a cluster: watches the objects of their kinds and writes statuses.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use blueprint::{Map, Value};
use futures::StreamExt as _;
use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use kube::discovery::{ApiResource, pinned_kind};
use kube::runtime::{WatchStreamExt as _, watcher};
use kubernetes::json::{from_json, to_json};
use serde_json::{Value as Json, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::progress::{Due, Progress};
use crate::script::Script;

/// The field manager of the statuses.
const MANAGER: &str = "cyan-scripts";

/// How long a kind that the cluster does not have is not looked for again.
const KIND_AGAIN: Duration = Duration::from_secs(2);

/// How long a status that could not be written is not tried again.
const WRITE_AGAIN: Duration = Duration::from_secs(1);

/// How many objects are played before the watch is read again: the cluster remembers only so many
/// changes for it.
const PLAYED_TOGETHER: usize = 64;

/// How fast scripts are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Each step waits for its time.
    AsWritten,
    /// No step waits, and no run follows by itself.
    AtOnce,
}

/// What happened while scripts were played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptEvent {
    /// An object got the status of a step.
    Step {
        /// `kind/namespace/name`.
        object: String,
        /// The number of the step, from 1.
        step: usize,
        /// The number of all steps.
        steps: usize,
    },
    /// A status could not be made or written.
    Failed {
        /// `kind/namespace/name`.
        object: String,
        /// Why, as a lower-case phrase.
        message: String,
    },
}

/// Gives the time of statuses.
pub type Clock = Arc<dyn Fn() -> jiff::Timestamp + Send + Sync>;

/// Plays scripts.
#[derive(Clone)]
pub struct Player {
    client: Client,
    scripts: Arc<[Script]>,
    pace: Pace,
    clock: Clock,
    events: UnboundedSender<ScriptEvent>,
    unfinished: Arc<AtomicUsize>,
}

impl Player {
    /// A player of these scripts. The first script that matches an object is played for it. Nothing
    /// is contacted.
    pub fn new(
        client: Client,
        scripts: impl Into<Arc<[Script]>>,
        pace: Pace,
        clock: Clock,
        events: UnboundedSender<ScriptEvent>,
    ) -> Player {
        Player {
            client,
            scripts: scripts.into(),
            pace,
            clock,
            events,
            unfinished: Arc::default(),
        }
    }

    /// How many objects have a step before them.
    pub fn unfinished(&self) -> usize {
        self.unfinished.load(Ordering::Relaxed)
    }

    /// Plays until it is stopped. A kind that the cluster does not have is looked for again and
    /// again.
    pub async fn play(&self, stop: CancellationToken) {
        let mut kinds: Vec<PlayedKind> = Vec::new();
        for script in self.scripts.iter() {
            let version = &script.api_version;
            let asked = GroupVersionKind::gvk(&version.group, &version.version, &script.kind);
            let same = kinds.iter_mut().find(|one| one.is_kind_of(&asked));
            match same {
                Some(kind) => kind.versions.push(asked),
                None => kinds.push(PlayedKind {
                    versions: vec![asked],
                }),
            }
        }
        let players = kinds.iter().map(|kind| self.play_kind(kind));
        tokio::select! {
            _ = futures::future::join_all(players) => {}
            () = stop.cancelled() => {}
        }
    }

    async fn play_kind(&self, kind: &PlayedKind) {
        let (resource, has_status) = self.found(kind).await;
        let mut stage = Stage {
            player: self,
            resource,
            has_status,
            begun: Instant::now(),
            objects: HashMap::new(),
            due: BTreeSet::new(),
            runs: HashMap::new(),
        };
        stage.play().await;
    }

    /// Waits until the cluster has a kind, in one of the versions of its scripts. The first one
    /// counts: an object is the same in every version.
    async fn found(&self, kind: &PlayedKind) -> (ApiResource, bool) {
        loop {
            for version in &kind.versions {
                // Whatever the reason is, the question is asked again.
                if let Ok((resource, capabilities)) = pinned_kind(&self.client, version).await {
                    let mut below = capabilities.subresources.iter();
                    let has_status = below.any(|(below, _)| below.plural == "status");
                    return (resource, has_status);
                }
            }
            tokio::time::sleep(KIND_AGAIN).await;
        }
    }

    fn tell(&self, event: ScriptEvent) {
        // Nobody has to listen.
        let _ = self.events.send(event);
    }
}

/// A kind with the versions that scripts name, each at least once.
struct PlayedKind {
    versions: Vec<GroupVersionKind>,
}

impl PlayedKind {
    fn is_kind_of(&self, other: &GroupVersionKind) -> bool {
        let mut own = self.versions.iter();
        own.any(|one| one.group == other.group && one.kind == other.kind)
    }
}

/// Namespace and name.
type Place = (String, String);

struct Played {
    /// The object as it was last seen; null while nothing is due, because its change brings it.
    object: Value,
    /// The position of its script.
    script: usize,
    progress: Progress,
    /// When something is due; `None` if only a change of the object matters.
    due: Option<Instant>,
}

/// The objects of one kind.
struct Stage<'p> {
    player: &'p Player,
    resource: ApiResource,
    has_status: bool,
    begun: Instant,
    objects: HashMap<Place, Played>,
    /// The objects for which something is due, by time.
    due: BTreeSet<(Instant, Place)>,
    /// The number of runs so far of what makes runs: an object, or the objects of one
    /// `generateName`.
    runs: HashMap<String, u64>,
}

impl Stage<'_> {
    async fn play(&mut self) {
        let all: Api<DynamicObject> = Api::all_with(self.player.client.clone(), &self.resource);
        let events = watcher(all, watcher::Config::default()).default_backoff();
        let mut events = std::pin::pin!(events);
        loop {
            let next = self.due.first().map(|(due, _)| *due);
            let sleep = async {
                match next {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                event = events.next() => match event {
                    Some(Ok(event)) => self.seen(event),
                    // The watcher starts again by itself.
                    Some(Err(_)) => {}
                    None => return,
                },
                () = sleep => self.play_due().await,
            }
        }
    }

    fn seen(&mut self, event: watcher::Event<DynamicObject>) {
        match event {
            watcher::Event::Apply(object) | watcher::Event::InitApply(object) => {
                self.observe(&object);
            }
            watcher::Event::Delete(object) => {
                let place = place_of(&object);
                self.set_due(&place, None);
                self.objects.remove(&place);
            }
            watcher::Event::Init | watcher::Event::InitDone => {}
        }
    }

    fn observe(&mut self, object: &DynamicObject) {
        let place = place_of(object);
        let is_ending = object.metadata.deletion_timestamp.is_some();
        let json = serde_json::to_value(object).unwrap_or_default();
        let value = self.typed(from_json(&json));
        let mut scripts = self.player.scripts.iter().enumerate();
        let script = scripts.find(|(_, script)| script.matches(&value) && !is_ending);
        let Some((at, script)) = script else {
            self.set_due(&place, None);
            self.objects.remove(&place);
            return;
        };
        let before = self.objects.get(&place);
        let before_due = before.and_then(|one| one.due);
        let known = before
            .filter(|one| one.script == at)
            .map(|one| one.progress.clone());
        let maker = maker_of(&value, &place);
        let runs = self.runs.get(&maker).copied().unwrap_or_default();
        let now = self.now();
        let progress = Progress::observe(script, &value, known.clone(), runs + 1, now);
        if known
            .as_ref()
            .is_none_or(|known| known.run() != progress.run())
        {
            self.runs.insert(maker, progress.run().max(runs));
        }
        let played = Played {
            object: value,
            script: at,
            progress,
            due: before_due,
        };
        self.objects.insert(place.clone(), played);
        self.set_due(&place, Some(Instant::now()));
    }

    /// Sets when something is due for an object that is known.
    fn set_due(&mut self, place: &Place, due: Option<Instant>) {
        let Some(played) = self.objects.get_mut(place) else {
            return;
        };
        let before = std::mem::replace(&mut played.due, due);
        if due.is_none() {
            played.object = Value::Null;
        }
        if let Some(before) = before {
            self.due.remove(&(before, place.clone()));
        }
        if let Some(due) = due {
            self.due.insert((due, place.clone()));
        }
        self.count(before.is_some(), due.is_some());
    }

    /// The object with its kind, which the items of a list do not state.
    fn typed(&self, object: Value) -> Value {
        let mut object = object;
        if let Value::Map(entries) = &mut object {
            let entries: &mut Map = Arc::make_mut(entries);
            entries.insert(
                "apiVersion".into(),
                Value::text(self.resource.api_version.as_str()),
            );
            entries.insert("kind".into(), Value::text(self.resource.kind.as_str()));
        }
        object
    }

    async fn play_due(&mut self) {
        let now = Instant::now();
        let due = self.due.iter().take_while(|(due, _)| *due <= now);
        let due = due.take(PLAYED_TOGETHER);
        let places: Vec<Place> = due.map(|(_, place)| place.clone()).collect();
        for place in places {
            self.play_object(&place).await;
        }
    }

    async fn play_object(&mut self, place: &Place) {
        let now = self.now();
        let time = self.time();
        let player = self.player;
        let Some(played) = self.objects.get_mut(place) else {
            return;
        };
        let Some(script) = player.scripts.get(played.script) else {
            return;
        };
        let at = match player.pace {
            Pace::AsWritten => now,
            // Every step is due; a run that follows by itself is not.
            Pace::AtOnce => Duration::MAX / 2,
        };
        if player.pace == Pace::AtOnce && played.progress.is_complete(script) {
            self.rest(place);
            return;
        }
        let object = title(&self.resource, place);
        match played.progress.due(script, &played.object, at, &time) {
            Ok(Due::Nothing) => self.rest(place),
            Ok(Due::At(due)) => {
                let due = match player.pace {
                    Pace::AsWritten => self.begun + due,
                    Pace::AtOnce => Instant::now(),
                };
                self.set_due(place, Some(due));
            }
            Ok(Due::Status(status)) => {
                let (step, steps) = played.progress.steps(script);
                match self.write(place, status).await {
                    Ok(()) => player.tell(ScriptEvent::Step {
                        object,
                        step: step + 1,
                        steps,
                    }),
                    Err(message) => {
                        player.tell(ScriptEvent::Failed { object, message });
                        self.set_due(place, Some(Instant::now() + WRITE_AGAIN));
                    }
                }
            }
            Err(message) => {
                player.tell(ScriptEvent::Failed { object, message });
                // Only a change of the object can help.
                self.rest(place);
            }
        }
    }

    /// Writes a status. An object that is gone meanwhile is no failure.
    async fn write(&mut self, place: &Place, status: Map) -> Result<(), String> {
        let (status, _) =
            to_json(&Value::Map(Arc::new(status))).map_err(|error| error.to_string())?;
        let (namespace, name) = place;
        let client = self.player.client.clone();
        let objects: Api<DynamicObject> = match namespace.is_empty() {
            true => Api::all_with(client, &self.resource),
            false => Api::namespaced_with(client, namespace, &self.resource),
        };
        let patch: Patch<Json> = Patch::Merge(json!({"status": status}));
        let options = PatchParams {
            field_manager: Some(MANAGER.to_owned()),
            ..PatchParams::default()
        };
        let written = match self.has_status {
            true => objects.patch_status(name, &options, &patch).await,
            false => objects.patch(name, &options, &patch).await,
        };
        match written {
            Ok(object) => {
                let now = self.now();
                let json = serde_json::to_value(&object).unwrap_or_default();
                let value = self.typed(from_json(&json));
                if let Some(played) = self.objects.get_mut(place) {
                    played.progress.advance(now);
                    played.object = value;
                }
                self.set_due(place, Some(Instant::now()));
                Ok(())
            }
            Err(kube::Error::Api(status)) if status.code == 404 => {
                self.rest(place);
                Ok(())
            }
            Err(error) => Err(error.to_string()),
        }
    }

    fn rest(&mut self, place: &Place) {
        self.set_due(place, None);
    }

    /// Keeps the number of objects that have something before them.
    fn count(&self, was_open: bool, is_open: bool) {
        let unfinished = &self.player.unfinished;
        match (was_open, is_open) {
            (false, true) => unfinished.fetch_add(1, Ordering::Relaxed),
            (true, false) => unfinished.fetch_sub(1, Ordering::Relaxed),
            _ => 0,
        };
    }

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    /// The time as the API writes it, to the second.
    fn time(&self) -> String {
        (self.player.clock)()
            .strftime("%Y-%m-%dT%H:%M:%SZ")
            .to_string()
    }
}

fn place_of(object: &DynamicObject) -> Place {
    let metadata = &object.metadata;
    (
        metadata.namespace.clone().unwrap_or_default(),
        metadata.name.clone().unwrap_or_default(),
    )
}

/// What the runs of an object are counted by.
fn maker_of(object: &Value, place: &Place) -> String {
    let metadata = object.get("metadata");
    let prefix = metadata.and_then(|metadata| metadata.get("generateName"));
    match prefix.and_then(Value::as_text) {
        Some(prefix) => format!("{}/{prefix}*", place.0),
        None => format!("{}/{}", place.0, place.1),
    }
}

fn title(resource: &ApiResource, (namespace, name): &Place) -> String {
    match namespace.is_empty() {
        true => format!("{}/{name}", resource.kind),
        false => format!("{}/{namespace}/{name}", resource.kind),
    }
}
