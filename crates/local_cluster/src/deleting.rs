//! Begins the deletion of objects, and ends it when nothing holds it up.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::failure::RefusedRequest;
use crate::kinds::{ServedKind, kind_of_definition};
use crate::naming::ObjectAddress;
use crate::object::{is_deleting, meta_list, meta_text, set_field, set_meta};
use crate::request::{ApiRequest, Commitment};
use crate::state::{ClusterState, is_definition, is_released};

/// The finalizer of an object that waits for its dependants.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";

/// The finalizer of an object whose dependants stay.
pub(crate) const ORPHAN: &str = "orphan";

/// The finalizer of a definition whose objects are being deleted.
pub(crate) const DEFINITION_FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// What becomes of the dependants of an object that is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeletionPolicy {
    /// The request does not say: as `Background`, but for finalizers that the object has.
    Unstated,
    /// They are deleted afterwards.
    Background,
    /// They are deleted first.
    Foreground,
    /// They stay.
    Orphan,
}

/// The options of a deletion.
#[derive(Clone, Debug)]
pub(crate) struct DeletionSettings {
    pub(crate) policy: DeletionPolicy,
    pub(crate) commitment: Commitment,
    uid: Option<String>,
    resource_version: Option<String>,
}

impl DeletionSettings {
    /// Reads the body `DeleteOptions`, if there is one, and the query.
    ///
    /// # Errors
    /// If an option has a value that does not exist.
    pub(crate) fn read(
        request: &ApiRequest,
        body: Option<&Json>,
    ) -> Result<DeletionSettings, RefusedRequest> {
        // A body replaces the options of the query.
        let from_query;
        let body = match body {
            Some(body) => body,
            None => {
                from_query = query_options(request)?;
                &from_query
            }
        };
        let policy = match body["propagationPolicy"].as_str() {
            Some("Background") => DeletionPolicy::Background,
            Some("Foreground") => DeletionPolicy::Foreground,
            Some("Orphan") => DeletionPolicy::Orphan,
            None => match body["orphanDependents"].as_bool() {
                Some(true) => DeletionPolicy::Orphan,
                Some(false) => DeletionPolicy::Background,
                None => DeletionPolicy::Unstated,
            },
            Some(other) => {
                return Err(RefusedRequest::bad_request(format!(
                    "invalid DeleteOptions: propagationPolicy: Unsupported value: \"{other}\": \
                     supported values: \"Foreground\", \"Background\", \"Orphan\""
                )));
            }
        };
        let dry_runs = body["dryRun"].as_array().into_iter().flatten();
        let commitment = match dry_runs.into_iter().any(|own| own == "All") {
            true => Commitment::DryRun,
            false => Commitment::Stored,
        };
        let precondition = |field: &str| body["preconditions"][field].as_str().map(str::to_owned);
        Ok(DeletionSettings {
            policy,
            commitment,
            uid: precondition("uid"),
            resource_version: precondition("resourceVersion"),
        })
    }

    /// # Errors
    /// If a precondition does not hold.
    pub(crate) fn check(&self, kind: &ServedKind, live: &Json) -> Result<(), RefusedRequest> {
        for (field, word, fate, wanted) in [
            ("uid", "UID", "deleted and then recreated", &self.uid),
            (
                "resourceVersion",
                "ResourceVersion",
                "modified",
                &self.resource_version,
            ),
        ] {
            let own = meta_text(live, field);
            if let Some(wanted) = wanted
                && wanted != own
            {
                let why = format!(
                    "the {word} in the precondition ({wanted}) does not match the {word} in \
                     record ({own}). The object might have been {fate}"
                );
                let name = meta_text(live, "name");
                return Err(RefusedRequest::other_object(&kind.type_name, name, &why));
            }
        }
        Ok(())
    }
}

/// The options of a deletion in the query, in the form of a body.
///
/// # Errors
/// If an option has a value that does not exist.
fn query_options(request: &ApiRequest) -> Result<Json, RefusedRequest> {
    let mut options = json!({});
    if let Some(policy) = request.parameter("propagationPolicy") {
        options["propagationPolicy"] = policy.into();
    }
    if request.parameter("orphanDependents").is_some() {
        options["orphanDependents"] = request.flag("orphanDependents")?.into();
    }
    if request.commitment()? == Commitment::DryRun {
        options["dryRun"] = json!(["All"]);
    }
    Ok(options)
}

/// What a deletion has come to.
#[derive(Clone, Debug)]
pub(crate) enum DeletionProgress {
    /// The object is gone.
    Gone(Arc<Json>),
    /// The object waits for its finalizers, or for what is in it.
    Waiting(Arc<Json>),
}

/// The object as a deletion would leave it; it has no finalizers if it would be gone.
pub(crate) fn after_deletion(
    state: &ClusterState,
    address: &ObjectAddress,
    live: &Json,
    policy: DeletionPolicy,
) -> Json {
    let mut object = live.clone();
    let mut finalizers: Vec<String> = meta_list(live, "finalizers")
        .into_iter()
        .map(str::to_owned)
        .collect();
    let wanted = match policy {
        DeletionPolicy::Unstated => None,
        DeletionPolicy::Background => Some(""),
        DeletionPolicy::Foreground => Some(FOREGROUND),
        DeletionPolicy::Orphan => Some(ORPHAN),
    };
    if let Some(wanted) = wanted {
        finalizers.retain(|own| !matches!(own.as_str(), FOREGROUND | ORPHAN) || own == wanted);
        if !wanted.is_empty() && !finalizers.iter().any(|own| own == wanted) {
            finalizers.push(wanted.to_owned());
        }
    }
    let has_objects = is_definition(&address.resource)
        && kind_of_definition(live)
            .is_some_and(|kind| !state.store.of_kind(&kind.resource).is_empty());
    if has_objects && !finalizers.iter().any(|own| own == DEFINITION_FINALIZER) {
        finalizers.push(DEFINITION_FINALIZER.to_owned());
    }
    let finalizers = (!finalizers.is_empty()).then(|| Json::from(finalizers));
    set_meta(&mut object, "finalizers", finalizers);
    if is_deleting(live) {
        return object;
    }
    set_meta(&mut object, "deletionTimestamp", Some(state.time().into()));
    set_meta(&mut object, "deletionGracePeriodSeconds", Some(0.into()));
    if let Some(generation) = live["metadata"]["generation"].as_u64() {
        set_meta(&mut object, "generation", Some((generation + 1).into()));
    }
    if address.resource.is("", "namespaces") {
        let mut status = live["status"].clone();
        set_field(&mut status, "phase", Some("Terminating".into()));
        set_field(&mut object, "status", Some(status));
    }
    object
}

/// Begins the deletion of an object; nothing happens if it is gone. The caller settles what
/// follows.
pub(crate) fn begin_deletion(
    state: &mut ClusterState,
    address: &ObjectAddress,
    policy: DeletionPolicy,
) -> Option<DeletionProgress> {
    let live = state.store.get(address)?;
    let object = after_deletion(state, address, &live, policy);
    if is_released(address, &object) {
        return state.remove(address).map(DeletionProgress::Gone);
    }
    if *live == object {
        return Some(DeletionProgress::Waiting(live));
    }
    Some(DeletionProgress::Waiting(state.put(address, object)))
}

/// Removes a finalizer of an object, and with the last one the object.
pub(crate) fn without_finalizer(state: &mut ClusterState, address: &ObjectAddress, name: &str) {
    let Some(live) = state.store.get(address) else {
        return;
    };
    let mut kept = meta_list(&live, "finalizers");
    let count = kept.len();
    kept.retain(|own| *own != name);
    if kept.len() == count {
        return;
    }
    let mut object = Json::clone(&live);
    let kept = (!kept.is_empty()).then(|| Json::from(kept));
    set_meta(&mut object, "finalizers", kept);
    state.put(address, object);
}
