//! Patches of objects.

use serde_json::{Map, Value as Json};

use crate::admission::StatedForm;
use crate::body::{json_text, media_type};
use crate::failure::{FieldCause, RefusedRequest};
use crate::kinds::KindOrigin;
use crate::naming::TypeName;
use crate::request::{ApiRequest, WriteSettings};
use crate::state::ClusterState;
use crate::writing::{
    ChangedPart, FieldTracking, RequestTarget, StatedObject, WrittenObject, change, in_version,
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
    let patch = json_text(request)?;
    let live = state.store.get(&target.address(name)).cloned();
    let live = live.ok_or_else(|| RefusedRequest::not_found(&target.kind.resource, name))?;
    let live = in_version(&live, &target.kind, &target.version);
    let object = match media_type {
        MERGE_PATCH => merged(&live, &patch),
        other => return Err(unsupported(target, other)),
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

/// A merge patch as RFC 7386 defines it.
fn merged(target: &Json, patch: &Json) -> Json {
    let Json::Object(changes) = patch else {
        return patch.clone();
    };
    let mut entries = match target {
        Json::Object(entries) => entries.clone(),
        _ => Map::new(),
    };
    for (name, change) in changes {
        if change.is_null() {
            entries.shift_remove(name);
        } else {
            let old = entries.get(name).unwrap_or(&Json::Null);
            entries.insert(name.clone(), merged(old, change));
        }
    }
    Json::Object(entries)
}
