//! Bodies of requests.

use serde_json::Value as Json;

use crate::failure::RefusedRequest;
use crate::protobuf::{PROTOBUF, ProtobufFailure, object_of_protobuf};
use crate::request::ApiRequest;

/// The types of bodies that are read besides patches.
const OBJECT_TYPES: &str = "application/json, application/yaml";

/// The type of the body without its parameters. Empty if the request does not say.
pub(crate) fn media_type(request: &ApiRequest) -> &str {
    let given = request.content_type.as_deref().unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim()
}

/// The object of a body. `None` if the body is empty.
///
/// # Errors
/// If it has a type that is not read, or is not well formed.
pub(crate) fn object_of(request: &ApiRequest) -> Result<Option<Json>, RefusedRequest> {
    if request.body.is_empty() {
        return Ok(None);
    }
    match media_type(request) {
        "" | "application/json" | "*/*" => json_text(request).map(Some),
        "application/yaml" => yaml_text(request).map(Some),
        PROTOBUF => match object_of_protobuf(&request.body) {
            Ok(object) => Ok(Some(object)),
            Err(failure @ ProtobufFailure::UnknownKind { .. }) => Err(
                RefusedRequest::unsupported_media_type(&failure.to_string(), OBJECT_TYPES),
            ),
            Err(failure @ ProtobufFailure::Damaged) => {
                Err(RefusedRequest::bad_request(failure.to_string()))
            }
        },
        other => Err(RefusedRequest::unsupported_media_type(other, OBJECT_TYPES)),
    }
}

/// The object of a body that must not be empty.
///
/// # Errors
/// As [`object_of`], and if the body is empty.
pub(crate) fn required_object(request: &ApiRequest) -> Result<Json, RefusedRequest> {
    let object = object_of(request)?;
    object.ok_or_else(|| RefusedRequest::bad_request("the body of the request is empty"))
}

/// A body in JSON.
///
/// # Errors
/// If it is not well formed.
pub(crate) fn json_text(request: &ApiRequest) -> Result<Json, RefusedRequest> {
    serde_json::from_slice(&request.body).map_err(|error| {
        RefusedRequest::bad_request(format!("the body of the request is not JSON: {error}"))
    })
}

/// A body in YAML, of which JSON is a part.
///
/// # Errors
/// If it is not well formed.
pub(crate) fn yaml_text(request: &ApiRequest) -> Result<Json, RefusedRequest> {
    if let Ok(json) = serde_json::from_slice(&request.body) {
        return Ok(json);
    }
    let text = std::str::from_utf8(&request.body)
        .map_err(|_| RefusedRequest::bad_request("the body of the request is not UTF-8"))?;
    serde_saphyr::from_str(text)
        .map_err(|error| RefusedRequest::bad_request(format!("error decoding YAML: {error}")))
}
