//! The subresource `scale`: the number of replicas of an object, whatever its kind.
//!
//! Not here: server-side apply of a scale.

use serde_json::Value as Json;

use crate::body::{json_text, media_type, required_object};
use crate::failure::RefusedRequest;
use crate::kinds::ScalePaths;
use crate::patches::{json_patch, merge_patch};
use crate::request::{ApiMethod, ApiRequest};
use crate::state::ClusterState;
use crate::views::ApiResponse;
use crate::writing::{ChangedPart, RequestTarget, StatedObject, change, in_version};

/// Answers a request for the scale of an object.
///
/// # Errors
/// If the object does not exist, or the scale of the request is not valid.
pub(crate) fn scale_answer(
    state: &mut ClusterState,
    target: &RequestTarget,
    name: &str,
    paths: &ScalePaths,
    request: &ApiRequest,
) -> Result<ApiResponse, RefusedRequest> {
    let resource = &target.kind.resource;
    let live = state.store.get(&target.address(name));
    let live = live.ok_or_else(|| RefusedRequest::not_found(resource, name))?;
    let live = in_version(&live, &target.kind, &target.version);
    let scale = paths.scale_of(&live);
    let stated = match request.method {
        ApiMethod::Get => return Ok(ApiResponse::json(200, &scale)),
        ApiMethod::Put => required_object(request)?,
        ApiMethod::Patch => patched_scale(&scale, request)?,
        ApiMethod::Post | ApiMethod::Delete => {
            return Err(RefusedRequest::method_not_allowed(resource, "create"));
        }
    };
    let replicas = match &stated["spec"]["replicas"] {
        Json::Null => 0,
        number => {
            let number = number.as_i64().filter(|number| *number >= 0);
            number.ok_or_else(|| {
                RefusedRequest::bad_request("spec.replicas must be a whole number from 0")
            })?
        }
    };
    let mut object = paths.scaled(&live, replicas);
    // Without a version the scale is that of the current object.
    if let Some(version) = stated["metadata"].get("resourceVersion") {
        object["metadata"]["resourceVersion"] = version.clone();
    }
    let settings = request.write_settings()?;
    let stated = StatedObject::whole(object);
    let written = change(state, target, name, stated, ChangedPart::Scale, &settings)?;
    let object = in_version(&written.object, &target.kind, &target.version);
    Ok(ApiResponse::json(200, &paths.scale_of(&object)).with_warnings(written.warnings))
}

fn patched_scale(scale: &Json, request: &ApiRequest) -> Result<Json, RefusedRequest> {
    match media_type(request) {
        // A scale has no lists, so both merge alike.
        "application/merge-patch+json" | "application/strategic-merge-patch+json" => {
            Ok(merge_patch(scale, &json_text(request)?))
        }
        "application/json-patch+json" => {
            let patched = json_patch(scale, &json_text(request)?);
            patched.map_err(|_| RefusedRequest::unfit_patch())
        }
        other => Err(RefusedRequest::unsupported_media_type(
            other,
            "application/json-patch+json, application/merge-patch+json",
        )),
    }
}
