//! Creates and changes objects.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::admission::{StatedForm, check_type, conform, drop_status, validate};
use crate::apply::{FieldManager, track_update};
use crate::consequences::settle;
use crate::failure::{FieldCause, RefusedRequest};
use crate::immutable::immutable_changes;
use crate::kinds::{GenerationForm, KindOrigin, ServedKind, ServedVersion, StatusForm};
use crate::naming::ObjectAddress;
use crate::object::{
    is_deleting, meta_list, meta_text, metadata_of, revision_of, same_apart_from, same_content,
    set_field, set_meta,
};
use crate::preparing::{prepare_change, prepare_new};
use crate::request::{Commitment, WriteSettings};
use crate::state::ClusterState;

/// The kind, version and namespace of the path of a request.
#[derive(Clone, Debug)]
pub(crate) struct RequestTarget {
    pub(crate) kind: Arc<ServedKind>,
    /// The name of a version that the kind has.
    pub(crate) version: Arc<str>,
    pub(crate) namespace: Arc<str>,
}

impl RequestTarget {
    /// The version.
    ///
    /// # Errors
    /// If the kind does not have it any more.
    pub(crate) fn version(&self) -> Result<&ServedVersion, RefusedRequest> {
        let version = self.kind.version(&self.version);
        version.ok_or_else(RefusedRequest::no_such_resource)
    }

    pub(crate) fn address(&self, name: &str) -> ObjectAddress {
        ClusterState::address(&self.kind, &self.namespace, name)
    }
}

/// The part of an object that a request changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangedPart {
    /// All but a status that is a subresource.
    Object,
    /// The status.
    Status,
    /// The replicas, as an object `Scale` states them.
    Scale,
}

/// Who writes the managed fields of a changed object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldTracking {
    /// An apply request has written them already.
    Written,
    /// They follow from the difference to the object before.
    FromDifference,
}

/// An object that a request states, and how.
#[derive(Debug)]
pub(crate) struct StatedObject {
    pub(crate) object: Json,
    pub(crate) form: StatedForm,
    pub(crate) tracking: FieldTracking,
}

impl StatedObject {
    /// The body of a request that creates or replaces an object.
    pub(crate) fn whole(object: Json) -> StatedObject {
        StatedObject {
            object,
            form: StatedForm::Whole,
            tracking: FieldTracking::FromDifference,
        }
    }
}

/// The object after a request.
#[derive(Debug)]
pub(crate) struct WrittenObject {
    pub(crate) object: Arc<Json>,
    pub(crate) code: u16,
    pub(crate) warnings: Vec<String>,
}

/// Creates an object.
///
/// # Errors
/// If it exists, its namespace does not, or it is not valid.
pub(crate) fn create(
    state: &mut ClusterState,
    target: &RequestTarget,
    stated: StatedObject,
    settings: &WriteSettings,
) -> Result<WrittenObject, RefusedRequest> {
    let (kind, version) = (&target.kind, target.version()?);
    let mut object = stated.object;
    check_type(kind, version, &mut object)?;
    let admitted = conform(kind, version, object, settings.validation, stated.form)?;
    let mut warnings = admitted.warnings;
    let (object, tracking) = (admitted.object, stated.tracking);
    let created = created(state, target, object, tracking, settings, &mut warnings);
    let object = created.map_err(|refused| refused.with_warnings(&warnings))?;
    Ok(WrittenObject {
        object,
        code: 201,
        warnings,
    })
}

/// The object that a request creates, from what its schema makes of the request.
fn created(
    state: &mut ClusterState,
    target: &RequestTarget,
    mut object: Json,
    tracking: FieldTracking,
    settings: &WriteSettings,
    warnings: &mut Vec<String>,
) -> Result<Arc<Json>, RefusedRequest> {
    let (kind, version) = (&target.kind, target.version()?);
    place_in_namespace(target, &mut object)?;
    if revision_of(&object) != 0 {
        let message = "resourceVersion should not be set on objects to be created";
        return Err(RefusedRequest::internal(message));
    }
    check_namespace(state, target, meta_text(&object, "name"))?;
    let is_generated =
        meta_text(&object, "name").is_empty() && !meta_text(&object, "generateName").is_empty();
    if is_generated {
        let name = free_name(state, target, meta_text(&object, "generateName"));
        set_meta(&mut object, "name", Some(name.into()));
    }
    let time = state.time();
    if tracking == FieldTracking::FromDifference {
        drop_status(version, &mut object);
    }
    set_system_fields(state, kind, &mut object, &time);
    prepare_new(&kind.resource, &mut object, &time);
    validate(kind, version, &object)?;
    // A webhook decides before the server looks for an object of this name.
    ask_hook(state, &object, warnings)?;
    let address = target.address(meta_text(&object, "name"));
    if let Some(live) = state.store.get(&address) {
        let (resource, name) = (&kind.resource, &*address.name);
        return Err(match is_deleting(&live) {
            true => RefusedRequest::being_deleted(resource, name),
            false => RefusedRequest::already_exists(resource, name),
        });
    }
    if tracking == FieldTracking::FromDifference {
        let manager = field_manager(target, ChangedPart::Object);
        manager.track(version, None, &mut object, settings, &time);
    }
    Ok(match settings.commitment {
        Commitment::DryRun => Arc::new(object),
        Commitment::Stored => {
            let stored = state.put(&address, object);
            settle(state);
            stored
        }
    })
}

/// Replaces an object, or its status.
///
/// # Errors
/// If it does not exist, has changed meanwhile, or would not be valid.
pub(crate) fn change(
    state: &mut ClusterState,
    target: &RequestTarget,
    name: &str,
    mut stated: StatedObject,
    part: ChangedPart,
    settings: &WriteSettings,
) -> Result<WrittenObject, RefusedRequest> {
    let (kind, version) = (&target.kind, target.version()?);
    let mut object = std::mem::take(&mut stated.object);
    check_type(kind, version, &mut object)?;
    let admitted = conform(kind, version, object, settings.validation, stated.form)?;
    let conformed = StatedObject {
        object: admitted.object,
        ..stated
    };
    let mut warnings = admitted.warnings;
    let changed = changed(
        state,
        target,
        name,
        conformed,
        part,
        settings,
        &mut warnings,
    );
    let object = changed.map_err(|refused| refused.with_warnings(&warnings))?;
    Ok(WrittenObject {
        object,
        code: 200,
        warnings,
    })
}

/// The object that a request changes, from what its schema makes of the request.
fn changed(
    state: &mut ClusterState,
    target: &RequestTarget,
    name: &str,
    stated: StatedObject,
    part: ChangedPart,
    settings: &WriteSettings,
    warnings: &mut Vec<String>,
) -> Result<Arc<Json>, RefusedRequest> {
    let (kind, version) = (&target.kind, target.version()?);
    let resource = &kind.resource;
    let address = target.address(name);
    let mut object = stated.object;
    place_in_namespace(target, &mut object)?;
    let stated_name = meta_text(&object, "name");
    if stated_name.is_empty() && stated.form == StatedForm::Whole {
        let message = "the name of the object is empty: name must be provided";
        return Err(RefusedRequest::bad_request(message));
    }
    if stated_name != name {
        return Err(RefusedRequest::bad_request(format!(
            "the name of the object ({stated_name}) does not match the name on the URL ({name})"
        )));
    }
    let live = state.store.get(&address);
    let live = live.ok_or_else(|| RefusedRequest::not_found(resource, name))?;
    check_preconditions(target, name, &live, &object, stated.form)?;
    let live_here = in_version(&live, kind, &target.version);
    let mut object = merge_parts(&live_here, object, version, part, stated.tracking);
    keep_system_fields(&live, &mut object);
    check_finalizers(target, &live, &object)?;
    let time = state.time();
    if part != ChangedPart::Status {
        prepare_change(resource, &live, &mut object, &time);
    }
    count_generation(kind, version, &live_here, &mut object);
    let mut problems = Vec::new();
    if kind.origin == KindOrigin::Builtin && part != ChangedPart::Status {
        problems = immutable_changes(resource, &live_here, &object);
    }
    if !problems.is_empty() {
        return Err(RefusedRequest::invalid(&kind.type_name, name, &problems));
    }
    validate(kind, version, &object)?;
    if part == ChangedPart::Object {
        ask_hook(state, &object, warnings)?;
    }
    if stated.tracking == FieldTracking::FromDifference {
        let manager = field_manager(target, part);
        manager.track(version, Some(&live_here), &mut object, settings, &time);
    }
    // An equal object keeps its resource version, and no watch hears of it.
    if same_content(&live_here, &object) {
        return Ok(live);
    }
    Ok(match settings.commitment {
        Commitment::DryRun => {
            let revision = Json::from(meta_text(&live, "resourceVersion"));
            set_meta(&mut object, "resourceVersion", Some(revision));
            Arc::new(object)
        }
        Commitment::Stored => {
            let stored = state.put(&address, object);
            settle(state);
            stored
        }
    })
}

/// Asks the admission hook about an object, and adds its warnings.
///
/// # Errors
/// If the hook refuses the object.
fn ask_hook(
    state: &ClusterState,
    object: &Json,
    warnings: &mut Vec<String>,
) -> Result<(), RefusedRequest> {
    let Some(hook) = &state.options.admission else {
        return Ok(());
    };
    let answer = (hook.decide)(object);
    warnings.extend(answer.warnings);
    match answer.refused {
        Some(why) => Err(RefusedRequest::denied(&hook.name, &why)),
        None => Ok(()),
    }
}

/// An object as a version of its kind shows it. Versions differ in nothing but their names.
pub(crate) fn in_version(object: &Arc<Json>, kind: &ServedKind, version: &str) -> Arc<Json> {
    let api_version = kind.api_version(version);
    if object["apiVersion"] == *api_version {
        return object.clone();
    }
    let mut shown = Json::clone(object);
    set_field(&mut shown, "apiVersion", Some(api_version.into()));
    Arc::new(shown)
}

/// How requests for a part of an object name themselves in its managed fields.
pub(crate) struct TrackedRequest {
    api_version: String,
    part: ChangedPart,
}

/// How the requests of a path name themselves in managed fields.
pub(crate) fn field_manager(target: &RequestTarget, part: ChangedPart) -> TrackedRequest {
    TrackedRequest {
        api_version: target.kind.api_version(&target.version),
        part,
    }
}

impl TrackedRequest {
    /// The manager of the request.
    pub(crate) fn manager<'a>(&'a self, name: &'a str, time: &'a str) -> FieldManager<'a> {
        FieldManager {
            name,
            api_version: &self.api_version,
            subresource: match self.part {
                ChangedPart::Object => None,
                ChangedPart::Status => Some("status"),
                ChangedPart::Scale => Some("scale"),
            },
            time,
        }
    }

    fn track(
        &self,
        version: &ServedVersion,
        before: Option<&Json>,
        object: &mut Json,
        settings: &WriteSettings,
        time: &str,
    ) {
        let manager = self.manager(&settings.manager, time);
        track_update(before, object, &manager, &version.forms());
    }
}

/// Writes the namespace of the path into an object.
///
/// # Errors
/// If the object names another one, or a namespaced object has none.
fn place_in_namespace(target: &RequestTarget, object: &mut Json) -> Result<(), RefusedRequest> {
    if !target.kind.is_namespaced() {
        set_meta(object, "namespace", None);
        return Ok(());
    }
    if target.namespace.is_empty() {
        let message = "an empty namespace may not be set during creation";
        return Err(RefusedRequest::bad_request(message));
    }
    let stated = meta_text(object, "namespace");
    if stated.is_empty() {
        set_meta(object, "namespace", Some((*target.namespace).into()));
    } else if *stated != *target.namespace {
        return Err(RefusedRequest::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    Ok(())
}

/// # Errors
/// If the namespace does not exist or is being deleted.
fn check_namespace(
    state: &ClusterState,
    target: &RequestTarget,
    name: &str,
) -> Result<(), RefusedRequest> {
    if !target.kind.is_namespaced() {
        return Ok(());
    }
    let address = ClusterState::namespace_address(&target.namespace);
    match state.store.get(&address) {
        None => Err(RefusedRequest::not_found(
            &address.resource,
            &target.namespace,
        )),
        Some(namespace) if is_deleting(&namespace) => Err(RefusedRequest::terminating(
            &target.kind.resource,
            name,
            &target.namespace,
        )),
        Some(_) => Ok(()),
    }
}

fn free_name(state: &mut ClusterState, target: &RequestTarget, base: &str) -> String {
    loop {
        let name = state.ids.name(base);
        if !state.store.has(&target.address(&name)) {
            return name;
        }
    }
}

/// Sets what only the server sets, in an object that is created.
fn set_system_fields(state: &mut ClusterState, kind: &ServedKind, object: &mut Json, time: &str) {
    let uid = state.ids.uid();
    let Some(metadata) = metadata_of(object) else {
        return;
    };
    for field in [
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
        "generation",
        "resourceVersion",
    ] {
        metadata.shift_remove(field);
    }
    metadata.insert("uid".to_owned(), uid.into());
    metadata.insert("creationTimestamp".to_owned(), time.into());
    if kind.generation == GenerationForm::Counted {
        metadata.insert("generation".to_owned(), 1.into());
    }
    drop_empty(metadata);
}

/// Empty maps and lists of the metadata are not stored.
fn drop_empty(metadata: &mut serde_json::Map<String, Json>) {
    metadata.retain(|field, value| match value {
        // An empty list of managers means that they are forgotten.
        _ if field == "managedFields" => true,
        Json::Null => false,
        Json::Object(entries) => !entries.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::String(text) => !text.is_empty(),
        _ => true,
    });
}

/// # Errors
/// If the object states another resource version or uid than the live one has.
fn check_preconditions(
    target: &RequestTarget,
    name: &str,
    live: &Json,
    object: &Json,
    form: StatedForm,
) -> Result<(), RefusedRequest> {
    let kind = &target.kind;
    let uid = meta_text(object, "uid");
    let is_other = !uid.is_empty() && uid != meta_text(live, "uid");
    if is_other && form == StatedForm::Patch {
        let cause = FieldCause::invalid("metadata.uid", &uid.into(), "field is immutable");
        return Err(RefusedRequest::invalid(&kind.type_name, name, &[cause]));
    }
    if is_other {
        let why = format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            meta_text(live, "uid")
        );
        return Err(RefusedRequest::conflict(&kind.resource, name, &why));
    }
    let revision = meta_text(object, "resourceVersion");
    if matches!(revision, "" | "0") {
        // Kinds with a definition want the version of the object that is replaced.
        if kind.origin != KindOrigin::Builtin && form == StatedForm::Whole {
            let rule = "must be specified for an update";
            let cause = FieldCause::invalid("metadata.resourceVersion", &json!(0), rule);
            return Err(RefusedRequest::invalid(&kind.type_name, name, &[cause]));
        }
        return Ok(());
    }
    if revision != meta_text(live, "resourceVersion") {
        return Err(RefusedRequest::modified(&kind.resource, name));
    }
    Ok(())
}

/// The live object with the part that the request changes.
fn merge_parts(
    live: &Json,
    stated: Json,
    version: &ServedVersion,
    part: ChangedPart,
    tracking: FieldTracking,
) -> Json {
    let status = stated.get("status").cloned();
    match (part, version.status) {
        (ChangedPart::Object | ChangedPart::Scale, StatusForm::Field) => stated,
        (ChangedPart::Object | ChangedPart::Scale, StatusForm::Subresource) => {
            let mut object = stated;
            set_field(&mut object, "status", live.get("status").cloned());
            object
        }
        (ChangedPart::Status, _) => {
            let mut object = live.clone();
            set_field(&mut object, "status", status);
            if tracking == FieldTracking::Written {
                let managed = stated["metadata"].get("managedFields").cloned();
                set_meta(&mut object, "managedFields", managed);
            }
            object
        }
    }
}

/// Sets what only the server sets, in an object that is changed.
fn keep_system_fields(live: &Json, object: &mut Json) {
    for field in [
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "namespace",
        "name",
        "generateName",
        "resourceVersion",
        "selfLink",
    ] {
        let value = live["metadata"].get(field).cloned();
        set_meta(object, field, value);
    }
    if let Some(metadata) = metadata_of(object) {
        drop_empty(metadata);
    }
}

/// # Errors
/// If an object that is being deleted gets a new finalizer.
fn check_finalizers(
    target: &RequestTarget,
    live: &Json,
    object: &Json,
) -> Result<(), RefusedRequest> {
    if !is_deleting(live) {
        return Ok(());
    }
    let known = meta_list(live, "finalizers");
    let added: Vec<&str> = meta_list(object, "finalizers")
        .into_iter()
        .filter(|finalizer| !known.contains(finalizer))
        .collect();
    if added.is_empty() {
        return Ok(());
    }
    let rule = format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers {added:?}"
    );
    let cause = FieldCause::forbidden("metadata.finalizers", &rule);
    let name = meta_text(live, "name");
    Err(RefusedRequest::invalid(
        &target.kind.type_name,
        name,
        &[cause],
    ))
}

/// Adds one to the generation if something outside of `metadata` and a status that is a
/// subresource has changed.
fn count_generation(kind: &ServedKind, version: &ServedVersion, live: &Json, object: &mut Json) {
    if kind.generation == GenerationForm::Absent {
        return;
    }
    let ignored: &[&str] = match version.status {
        StatusForm::Subresource => &["metadata", "status"],
        StatusForm::Field => &["metadata"],
    };
    if !same_apart_from(live, object, ignored) {
        let generation = live["metadata"]["generation"].as_u64().unwrap_or(0) + 1;
        set_meta(object, "generation", Some(generation.into()));
    }
}
