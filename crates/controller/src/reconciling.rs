//! One reconcile: carries out the requests of the state machine and writes what it ends with.

use std::sync::Arc;

use blueprint::{Name, Value};
use cartographer::reconcile::{
    Call, ClusterAnswer, ClusterRequest, Reconcile, ReconcileOptions, ReconcileOutcome,
    RefusalReason, RequestId, Retry,
};
use cartographer::ytt_templates::InProcessYtt;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use http::Method;
use kubernetes::json;
use serde_json::Value as Json;

use crate::api::{JSON, RequestBody, RequestFailure, body_of, carto_group_kind, carto_path};
use crate::caches::remove_managers;
use crate::calls::MANAGER;
use crate::events;
use crate::keys::ReconcileKey;
use crate::queue::Finished;
use crate::state::{ControllerState, SeenVersions, see, see_answer};

/// Reconciles an object.
pub(crate) async fn reconcile(state: &ControllerState, key: &ReconcileKey) -> Finished {
    let changes_before = state.caches.changes();
    let Some(object) = state.caches.get(key).filter(|object| !is_deleted(object)) else {
        state.forget(key);
        return Finished::Forgotten;
    };
    let mut seen = SeenVersions::new();
    see(&mut seen, &object);
    let options = ReconcileOptions {
        compat: state.options.compat,
        now: state.options.now(),
    };
    let ytt = Arc::new(InProcessYtt);
    let machine = Reconcile::start(object.clone(), &state.caches, ytt, &options);
    let Some(machine) = machine else {
        state.forget(key);
        return Finished::Forgotten;
    };
    let mut run = ReconcileRun {
        state,
        seen,
        forbidden: false,
    };
    let Some(outcome) = run.carry_out(machine).await else {
        // The machine asks for nothing and has no end: it is tried like any other failure.
        return Finished::Again;
    };
    let written = run.write_status(key, &object, &outcome).await;
    run.record_events(&object, &outcome).await;
    state.set_seen(key, run.seen, run.forbidden);
    state.set_watches(key, outcome.watches, changes_before);
    state.access.counters.count_reconcile(key.kind);
    match (outcome.retry, written) {
        (Retry::No, Ok(())) => Finished::Done,
        (Retry::Backoff, _) | (_, Err(_)) => {
            state.access.counters.count_failure(key.kind);
            Finished::Again
        }
    }
}

/// Whether an object is being deleted. What it owns goes with it, so nothing is made for it.
fn is_deleted(object: &Value) -> bool {
    let metadata = object.get("metadata");
    metadata.is_some_and(|metadata| metadata.get("deletionTimestamp").is_some())
}

struct ReconcileRun<'s> {
    state: &'s ControllerState,
    seen: SeenVersions,
    forbidden: bool,
}

impl ReconcileRun<'_> {
    /// Sends requests until the machine has its end.
    async fn carry_out(&mut self, mut machine: Reconcile) -> Option<ReconcileOutcome> {
        let mut open = FuturesUnordered::new();
        loop {
            for request in machine.requests() {
                open.push(answer(self.state, request));
            }
            let Some((id, answer, deleted)) = open.next().await else {
                return machine.outcome().cloned();
            };
            see_answer(&mut self.seen, &answer, deleted.as_ref());
            if let ClusterAnswer::Refused(refusal) = &answer {
                self.forbidden |= refusal.reason == RefusalReason::Forbidden;
            }
            machine.answer(id, answer);
        }
    }

    /// Writes the new status, if there is one. The write names the version that the reconcile read,
    /// so that a change in between is a conflict.
    async fn write_status(
        &mut self,
        key: &ReconcileKey,
        object: &Arc<Value>,
        outcome: &ReconcileOutcome,
    ) -> Result<(), RequestFailure> {
        let Some(status) = &outcome.status else {
            return Ok(());
        };
        let whole = with_status(object, status);
        let body = body_of(&whole);
        let body = body.map_err(|refusal| RequestFailure::Lost(refusal.message))?;
        let path = carto_path(key.kind, key.namespace.as_deref(), &key.name);
        let path = format!("{path}/status?fieldManager={MANAGER}");
        let access = &self.state.access;
        let group_kind = carto_group_kind(key.kind);
        let resource = format!("{}.{}/status", key.kind.plural(), group_kind.group);
        access.counters.count_request("update", &resource);
        let body = Some(RequestBody {
            form: JSON,
            object: &body,
        });
        let sent = access
            .controller
            .send(Method::PUT, &path, &group_kind, body);
        let mut written: Json = match sent.await {
            // The object is gone: its deletion is on the way to the cache.
            Err(failure) if failure.is_missing() => return Ok(()),
            answer => answer?,
        };
        remove_managers(&mut written);
        let written = json::from_json(&written);
        see(&mut self.seen, &written);
        // The watch shows the same version later; until then the next reconcile reads this one.
        if let Some(change) = self.state.caches.put(key.kind, written) {
            self.state.platform_changed(key.kind, &change);
        }
        Ok(())
    }

    /// Records the events.
    async fn record_events(&self, object: &Value, outcome: &ReconcileOutcome) {
        let now = self.state.options.now();
        for event in &outcome.events {
            // An event is a note for people: a server that refuses one stops nothing.
            let _ = events::record(&self.state.access, object, event, &now).await;
        }
    }
}

/// Carries out a request. Returns the uid of what a deletion was for, too.
async fn answer(
    state: &ControllerState,
    request: ClusterRequest,
) -> (RequestId, ClusterAnswer, Option<Name>) {
    let deleted = match &request.call {
        Call::Delete { uid, .. } => Some(uid.clone()),
        _ => None,
    };
    let (access, caches) = (&state.access, &state.caches);
    let carried = access.carry_out(&request.identity, &request.call, caches, &state.options);
    (request.id, carried.await, deleted)
}

/// An object with another status.
fn with_status(object: &Value, status: &Value) -> Value {
    let entries = object.as_map().into_iter().flat_map(|map| map.iter());
    let others = entries.filter(|(name, _)| &***name != "status");
    let others = others.map(|(name, value)| (name.clone(), value.clone()));
    Value::map(others.chain([(Name::from("status"), status.clone())]))
}
