//! Patches of objects.

use serde_json::Value as Json;

use crate::admission::{StatedForm, check_nulls, check_type, drop_status, undeclared};
use crate::apply::{ApplyFailure, ConflictPolicy, apply};
use crate::body::{json_text, media_type, yaml_text};
use crate::failure::{FieldCause, RefusedRequest};
use crate::kinds::{KindOrigin, ServedVersion};
use crate::naming::TypeName;
use crate::object::{meta_text, metadata_of, set_meta};
use crate::patches::{PatchFailure, json_patch, merge_patch, strategic_merge};
use crate::request::{ApiRequest, WriteSettings};
use crate::state::ClusterState;
use crate::writing::{
    ChangedPart, FieldTracking, RequestTarget, StatedObject, WrittenObject, change, create,
    field_manager, in_version,
};

/// The type of an apply request.
pub(crate) const APPLY: &str = "application/apply-patch+yaml";

const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

/// Carries out a patch.
///
/// # Errors
/// If the object does not exist, the patch does not fit, or the result is not valid.
pub(crate) fn patch(
    state: &mut ClusterState,
    target: &RequestTarget,
    name: &str,
    part: ChangedPart,
    request: &ApiRequest,
    settings: &WriteSettings,
) -> Result<WrittenObject, RefusedRequest> {
    let media_type = media_type(request);
    if settings.takes_over && media_type != APPLY {
        let cause = FieldCause::forbidden("force", "may not be specified for non-apply patch");
        return Err(RefusedRequest::invalid(&patch_options(), "", &[cause]));
    }
    if media_type == APPLY {
        return applied(state, target, name, part, request, settings);
    }
    let is_builtin = target.kind.origin == KindOrigin::Builtin;
    if !matches!(media_type, JSON_PATCH | MERGE_PATCH | STRATEGIC)
        || media_type == STRATEGIC && !is_builtin
    {
        return Err(unsupported(target, media_type));
    }
    let patch = json_text(request)?;
    let live = state.store.get(&target.address(name));
    let live = live.ok_or_else(|| RefusedRequest::not_found(&target.kind.resource, name))?;
    let live = in_version(&live, &target.kind, &target.version);
    let object = match media_type {
        JSON_PATCH => json_patch(&live, &patch).map_err(|failure| match &patch {
            // A list is read as a patch, whatever its operations are.
            Json::Array(operations) if operations.iter().all(Json::is_object) => {
                RefusedRequest::unfit_patch()
            }
            _ => patch_refused(failure),
        })?,
        STRATEGIC => {
            let forms = target.version()?.forms();
            strategic_merge(&live, &patch, &forms).map_err(patch_refused)?
        }
        _ => merge_patch(&live, &patch),
    };
    let stated = StatedObject {
        object,
        form: StatedForm::Patch,
        tracking: FieldTracking::FromDifference,
    };
    change(state, target, name, stated, part, settings)
}

/// The type whose fields are the options of a patch.
fn patch_options() -> TypeName {
    TypeName {
        group: "meta.k8s.io".into(),
        kind: "PatchOptions".into(),
    }
}

fn unsupported(target: &RequestTarget, given: &str) -> RefusedRequest {
    let mut accepted = vec![JSON_PATCH, MERGE_PATCH];
    if target.kind.origin == KindOrigin::Builtin {
        accepted.push(STRATEGIC);
    }
    accepted.push(APPLY);
    RefusedRequest::unsupported_media_type(given, &accepted.join(", "))
}

fn patch_refused(failure: PatchFailure) -> RefusedRequest {
    match failure {
        PatchFailure::Malformed(why) => RefusedRequest::bad_request(why),
        PatchFailure::Unfit(_) => RefusedRequest::unfit_patch(),
    }
}

/// Carries out an apply request: the object exists afterwards with what the request states.
fn applied(
    state: &mut ClusterState,
    target: &RequestTarget,
    name: &str,
    part: ChangedPart,
    request: &ApiRequest,
    settings: &WriteSettings,
) -> Result<WrittenObject, RefusedRequest> {
    let (kind, version) = (&target.kind, target.version()?);
    let Some(manager) = &settings.named_manager else {
        let cause = FieldCause::required("fieldManager", "is required for apply patch");
        return Err(RefusedRequest::invalid(&patch_options(), "", &[cause]));
    };
    let mut stated = yaml_text(request)?;
    check_type(kind, version, &mut stated)?;
    let stated_name = meta_text(&stated, "name");
    if !stated_name.is_empty() && stated_name != name {
        return Err(RefusedRequest::bad_request(format!(
            "metadata.name ({stated_name}) does not match the name on the URL ({name})"
        )));
    }
    if part == ChangedPart::Status && !state.store.has(&target.address(name)) {
        return Err(RefusedRequest::not_found(&kind.resource, name));
    }
    check_declared(target, version, &stated)?;
    set_meta(&mut stated, "name", Some(name.into()));
    if kind.is_namespaced() && meta_text(&stated, "namespace").is_empty() {
        set_meta(&mut stated, "namespace", Some((*target.namespace).into()));
    }
    keep_part(version, part, &mut stated);
    let address = target.address(name);
    let live = state.store.get(&address);
    let live = live.map(|live| in_version(&live, kind, &target.version));
    if live.is_none() {
        let uid = meta_text(&stated, "uid");
        if !uid.is_empty() {
            return Err(RefusedRequest::vanished(&kind.resource, name, uid));
        }
    }
    let time = state.time();
    let tracked = field_manager(target, part);
    let policy = match settings.takes_over {
        true => ConflictPolicy::TakeOver,
        false => ConflictPolicy::Refuse,
    };
    let merged = apply(
        live.as_deref(),
        &stated,
        &tracked.manager(manager, &time),
        policy,
        &version.forms(),
    );
    let object = merged.map_err(|failure| apply_refused(&failure))?;
    check_nulls(kind, version, &object)?;
    let stated = StatedObject {
        object,
        form: StatedForm::Patch,
        tracking: FieldTracking::Written,
    };
    match live {
        None => create(state, target, stated, settings),
        Some(_) => change(state, target, name, stated, part, settings),
    }
}

/// Leaves out of an apply request what its path does not change.
fn keep_part(version: &ServedVersion, part: ChangedPart, stated: &mut Json) {
    match part {
        ChangedPart::Object | ChangedPart::Scale => drop_status(version, stated),
        ChangedPart::Status => {
            if let Some(entries) = stated.as_object_mut() {
                entries.retain(|field, _| {
                    matches!(
                        field.as_str(),
                        "apiVersion" | "kind" | "metadata" | "status"
                    )
                });
            }
            if let Some(metadata) = metadata_of(stated) {
                metadata.retain(|field, _| {
                    matches!(
                        field.as_str(),
                        "name" | "namespace" | "uid" | "resourceVersion" | "managedFields"
                    )
                });
            }
        }
    }
}

/// An apply request cannot state fields that the schema does not declare, whatever the validation.
///
/// # Errors
/// If it does.
fn check_declared(
    target: &RequestTarget,
    version: &ServedVersion,
    stated: &Json,
) -> Result<(), RefusedRequest> {
    let paths = undeclared(version, stated);
    let lines: Vec<String> = paths
        .iter()
        .map(|path| format!(".{path}: field not declared in schema"))
        .collect();
    let problem = match &lines[..] {
        [] => return Ok(()),
        [one] => one.clone(),
        all => format!("errors:\n  {}", all.join("\n  ")),
    };
    let (kind, name) = (&target.kind, meta_text(stated, "name"));
    Err(RefusedRequest::internal(format!(
        "failed to create typed patch object ({}/{name}; {}/{}, Kind={}): {problem}",
        meta_text(stated, "namespace"),
        kind.resource.group,
        version.name,
        kind.type_name.kind,
    )))
}

fn apply_refused(failure: &ApplyFailure) -> RefusedRequest {
    match failure {
        ApplyFailure::Conflicts(held) => {
            let causes = held
                .iter()
                .map(|held| (held.conflict.written.to_string(), held.message()));
            RefusedRequest::field_conflicts(&failure.to_string(), causes)
        }
        ApplyFailure::Invalid(why) => RefusedRequest::bad_request(why.clone()),
    }
}
