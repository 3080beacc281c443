//! Streams of the changes of a kind.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::Stream;
use futures::stream::{BoxStream, StreamExt as _, unfold};
use serde_json::{Value as Json, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::failure::RefusedRequest;
use crate::kinds::ServedKind;
use crate::selector::ObjectFilter;
use crate::state::ClusterState;
use crate::store::{ForgottenChanges, ObjectChange};

/// The time between two bookmarks.
const BOOKMARK_INTERVAL: Duration = Duration::from_secs(60);

/// The annotation of the bookmark after the objects that existed at the start.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// An event of a watch.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchEvent {
    /// What happened.
    pub kind: WatchEventKind,
    /// The object; a `Status` for an error.
    pub object: Arc<Json>,
}

/// What a watch reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchEventKind {
    /// The object exists, or is selected now.
    Added,
    /// The object has changed.
    Modified,
    /// The object is gone, or is selected no more.
    Deleted,
    /// All changes up to a revision are reported.
    Bookmark,
    /// The watch has ended.
    Error,
}

impl WatchEventKind {
    /// The word of the API.
    pub fn as_str(self) -> &'static str {
        match self {
            WatchEventKind::Added => "ADDED",
            WatchEventKind::Modified => "MODIFIED",
            WatchEventKind::Deleted => "DELETED",
            WatchEventKind::Bookmark => "BOOKMARK",
            WatchEventKind::Error => "ERROR",
        }
    }
}

impl WatchEvent {
    /// The event as a line of an answer.
    pub fn line(&self) -> String {
        format!(
            "{{\"type\":\"{}\",\"object\":{}}}\n",
            self.kind.as_str(),
            self.object
        )
    }
}

/// The events of a watch. It reads the changes when it is polled, so an abandoned watch holds
/// nothing; it needs a runtime of tokio with time.
pub struct WatchStream(BoxStream<'static, WatchEvent>);

impl fmt::Debug for WatchStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WatchStream").finish()
    }
}

impl Stream for WatchStream {
    type Item = WatchEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<WatchEvent>> {
        self.0.poll_next_unpin(cx)
    }
}

/// Makes what a watch shows of an object.
pub(crate) type ShownObject = Box<dyn Fn(&Arc<Json>) -> Arc<Json> + Send>;

/// What a watch asks for.
pub(crate) struct WatchRequest {
    pub(crate) kind: Arc<ServedKind>,
    /// Empty for all.
    pub(crate) namespace: Arc<str>,
    pub(crate) filter: ObjectFilter,
    pub(crate) start: WatchStart,
    pub(crate) bookmarks: BookmarkWish,
    pub(crate) timeout: Option<Duration>,
    /// How an object is shown.
    pub(crate) show: ShownObject,
}

/// Where a watch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatchStart {
    /// With the objects that exist.
    Existing,
    /// With the objects that exist, and a bookmark after them.
    ExistingThenBookmark,
    /// With the changes after a revision.
    After(u64),
}

/// Whether a watch reports bookmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BookmarkWish {
    Wanted,
    Unwanted,
}

/// Begins a watch.
pub(crate) fn watch(
    shared: Arc<Mutex<ClusterState>>,
    state: &mut ClusterState,
    request: WatchRequest,
) -> WatchStream {
    let mut queue = VecDeque::new();
    let position = match request.start {
        WatchStart::After(revision) => revision,
        WatchStart::Existing | WatchStart::ExistingThenBookmark => {
            let found = state.store.select(
                &request.kind.resource,
                &request.namespace,
                &request.filter,
                None,
            );
            queue.extend(found.map(|kept| WatchEvent {
                kind: WatchEventKind::Added,
                object: (request.show)(&kept.object()),
            }));
            state.store.revision()
        }
    };
    if request.start == WatchStart::ExistingThenBookmark {
        queue.push_back(bookmark(&request, position, BookmarkMoment::InitialEnd));
    }
    let changed = state.store.subscribe(&request.kind.resource);
    let watcher = Watcher {
        shared,
        request,
        queue,
        position,
        changed,
        times: None,
        phase: WatchPhase::Open,
    };
    let events = unfold(watcher, |mut watcher| async move {
        let event = watcher.next().await?;
        Some((event, watcher))
    });
    WatchStream(events.boxed())
}

/// A watch that is read.
struct Watcher {
    shared: Arc<Mutex<ClusterState>>,
    request: WatchRequest,
    queue: VecDeque<WatchEvent>,
    /// All changes up to this revision are in the queue or reported.
    position: u64,
    changed: watch::Receiver<u64>,
    /// Set when the watch is first polled: when it ends, and when the next bookmark is due.
    times: Option<WatchTimes>,
    phase: WatchPhase,
}

struct WatchTimes {
    end: Option<Instant>,
    bookmark: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WatchPhase {
    Open,
    /// It ends after the queue.
    Ending,
}

/// Where a bookmark stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BookmarkMoment {
    InitialEnd,
    Later,
}

impl Watcher {
    async fn next(&mut self) -> Option<WatchEvent> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Some(event);
            }
            if self.phase == WatchPhase::Ending {
                return None;
            }
            self.changed.mark_unchanged();
            self.collect();
            if self.queue.is_empty() && self.phase == WatchPhase::Open {
                self.wait().await;
            }
        }
    }

    /// Takes the new changes into the queue.
    fn collect(&mut self) {
        let state = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let resource = &self.request.kind.resource;
        match state.store.changes_after(resource, self.position) {
            Ok(changes) => {
                let events = changes
                    .iter()
                    .filter_map(|change| event_of(change, &self.request));
                self.queue.extend(events);
                self.position = self.position.max(state.store.revision());
            }
            Err(ForgottenChanges(oldest)) => {
                let refused = RefusedRequest::expired(self.position, oldest);
                self.queue.push_back(WatchEvent {
                    kind: WatchEventKind::Error,
                    object: Arc::new(refused.status()),
                });
                self.phase = WatchPhase::Ending;
            }
        }
        if state.kinds.get(resource).is_none() {
            self.phase = WatchPhase::Ending;
        }
    }

    /// Waits for a change, the next bookmark or the end.
    async fn wait(&mut self) {
        let now = Instant::now();
        let timeout = self.request.timeout;
        let times = self.times.get_or_insert_with(|| WatchTimes {
            end: timeout.map(|timeout| now + timeout),
            bookmark: now + BOOKMARK_INTERVAL,
        });
        let end = times.end;
        let bookmark_due = times.bookmark;
        let wants_bookmarks = self.request.bookmarks == BookmarkWish::Wanted;
        tokio::select! {
            biased;
            changed = self.changed.changed() => {
                if changed.is_err() {
                    self.phase = WatchPhase::Ending;
                }
                return;
            }
            () = sleep_until(end.unwrap_or(now)), if end.is_some() => {
                self.phase = WatchPhase::Ending;
            }
            () = sleep_until(bookmark_due), if wants_bookmarks => {
                times.bookmark = bookmark_due + BOOKMARK_INTERVAL;
            }
        }
        if wants_bookmarks {
            let event = bookmark(&self.request, self.position, BookmarkMoment::Later);
            self.queue.push_back(event);
        }
    }
}

/// The event of a change for a watch; `None` if it does not concern the watch.
fn event_of(change: &ObjectChange, request: &WatchRequest) -> Option<WatchEvent> {
    let selects = |object: &Json| {
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
        (request.namespace.is_empty() || *request.namespace == *namespace)
            && request.filter.selects(object)
    };
    let (object, before) = (change.object.object(), change.before.as_ref());
    let before = before.map(|before| before.object());
    let was = before.as_ref().is_some_and(|before| selects(before));
    let is = !change.is_deletion && selects(&object);
    let kind = match (was, is) {
        (false, false) => return None,
        (false, true) => WatchEventKind::Added,
        (true, true) => WatchEventKind::Modified,
        (true, false) => WatchEventKind::Deleted,
    };
    // An object that a selector leaves is shown as it was, with the new resource version.
    let object = match (&before, kind, change.is_deletion) {
        (Some(before), WatchEventKind::Deleted, false) => {
            let mut last = Json::clone(before);
            last["metadata"]["resourceVersion"] = change.revision.to_string().into();
            Arc::new(last)
        }
        _ => object,
    };
    Some(WatchEvent {
        kind,
        object: (request.show)(&object),
    })
}

fn bookmark(request: &WatchRequest, position: u64, moment: BookmarkMoment) -> WatchEvent {
    let version = request.kind.versions.first();
    let version = version.map_or("", |version| &version.name);
    let mut object = json!({
        "kind": &*request.kind.type_name.kind,
        "apiVersion": request.kind.api_version(version),
        "metadata": {"resourceVersion": position.to_string(), "creationTimestamp": null},
    });
    if moment == BookmarkMoment::InitialEnd {
        object["metadata"]["annotations"] = json!({INITIAL_EVENTS_END: "true"});
    }
    WatchEvent {
        kind: WatchEventKind::Bookmark,
        object: (request.show)(&Arc::new(object)),
    }
}
