//! Refused requests as the object `Status` of `meta/v1`.
//!
//! Messages and details have the form of kube-apiserver, because clients read them.

use serde_json::{Value as Json, json};

use crate::naming::{ResourceName, TypeName};

/// A request that the cluster refuses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RefusedRequest {
    /// The HTTP code.
    pub(crate) code: u16,
    reason: &'static str,
    message: String,
    /// Boxed, because refusals are returned everywhere.
    details: Option<Box<Json>>,
    /// Texts for the header `Warning`.
    pub(crate) warnings: Vec<String>,
}

/// A field that makes an object invalid.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FieldCause {
    pub(crate) field: String,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
}

impl FieldCause {
    /// A value that breaks a rule, which `rule` states.
    pub(crate) fn invalid(field: impl Into<String>, value: &Json, rule: &str) -> FieldCause {
        FieldCause {
            field: field.into(),
            reason: "FieldValueInvalid",
            message: format!("Invalid value: {value}: {rule}"),
        }
    }

    /// A field that is missing.
    pub(crate) fn required(field: impl Into<String>, rule: &str) -> FieldCause {
        let rule = match rule {
            "" => String::new(),
            rule => format!(": {rule}"),
        };
        FieldCause {
            field: field.into(),
            reason: "FieldValueRequired",
            message: format!("Required value{rule}"),
        }
    }

    /// A field that must not be set or changed.
    pub(crate) fn forbidden(field: impl Into<String>, rule: &str) -> FieldCause {
        FieldCause {
            field: field.into(),
            reason: "FieldValueForbidden",
            message: format!("Forbidden: {rule}"),
        }
    }
}

impl RefusedRequest {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> RefusedRequest {
        RefusedRequest {
            code,
            reason,
            message: message.into(),
            details: None,
            warnings: Vec::new(),
        }
    }

    fn of_object(mut self, resource: &ResourceName, name: &str) -> RefusedRequest {
        self.details = Some(Box::new(object_details(
            &resource.group,
            &resource.plural,
            name,
        )));
        self
    }

    /// The same, with warnings about the request.
    pub(crate) fn with_warnings(mut self, warnings: &[String]) -> RefusedRequest {
        self.warnings = warnings.to_vec();
        self
    }

    /// The object does not exist.
    pub(crate) fn not_found(resource: &ResourceName, name: &str) -> RefusedRequest {
        RefusedRequest::new(404, "NotFound", format!("{resource} \"{name}\" not found"))
            .of_object(resource, name)
    }

    /// The server does not serve the path.
    pub(crate) fn no_such_resource() -> RefusedRequest {
        let message = "the server could not find the requested resource";
        RefusedRequest {
            details: Some(Box::new(json!({}))),
            ..RefusedRequest::new(404, "NotFound", message)
        }
    }

    /// There is an object with this name.
    pub(crate) fn already_exists(resource: &ResourceName, name: &str) -> RefusedRequest {
        let message = format!("{resource} \"{name}\" already exists");
        RefusedRequest::new(409, "AlreadyExists", message).of_object(resource, name)
    }

    /// There is an object with this name, and it is being deleted.
    pub(crate) fn being_deleted(resource: &ResourceName, name: &str) -> RefusedRequest {
        let message = format!("object is being deleted: {resource} \"{name}\" already exists");
        RefusedRequest::new(409, "AlreadyExists", message).of_object(resource, name)
    }

    /// A precondition of the request does not hold.
    pub(crate) fn conflict(resource: &ResourceName, name: &str, why: &str) -> RefusedRequest {
        let message = format!("Operation cannot be fulfilled on {resource} \"{name}\": {why}");
        RefusedRequest::new(409, "Conflict", message).of_object(resource, name)
    }

    /// A precondition of a deletion does not hold. The answer names the kind, not the resource.
    pub(crate) fn other_object(of: &TypeName, name: &str, why: &str) -> RefusedRequest {
        let message = format!("Operation cannot be fulfilled on {of} \"{name}\": {why}");
        RefusedRequest {
            details: Some(Box::new(object_details(&of.group, &of.kind, name))),
            ..RefusedRequest::new(409, "Conflict", message)
        }
    }

    /// A patch names fields that the schema does not declare. The answer names no object.
    pub(crate) fn strict_patch(problem: &str) -> RefusedRequest {
        let nothing = TypeName {
            group: "".into(),
            kind: "".into(),
        };
        let cause = FieldCause::invalid("patch", &Json::Null, problem);
        RefusedRequest::invalid(&nothing, "", &[cause])
    }

    /// The object has changed since the version that the request names.
    pub(crate) fn modified(resource: &ResourceName, name: &str) -> RefusedRequest {
        RefusedRequest::conflict(
            resource,
            name,
            "the object has been modified; please apply your changes to the latest version and \
             try again",
        )
    }

    /// Other managers hold fields that an apply request changes: field and message of each.
    pub(crate) fn field_conflicts(
        message: &str,
        causes: impl Iterator<Item = (String, String)>,
    ) -> RefusedRequest {
        let mut refused = RefusedRequest::new(409, "Conflict", message);
        let causes = causes.map(|(field, message)| {
            json!({"reason": "FieldManagerConflict", "message": message, "field": field})
        });
        refused.details = Some(Box::new(json!({"causes": causes.collect::<Vec<_>>()})));
        refused
    }

    /// An apply request for an object with a uid, which does not exist.
    pub(crate) fn vanished(resource: &ResourceName, name: &str, uid: &str) -> RefusedRequest {
        let why = format!(
            "uid mismatch: the provided object specified uid {uid}, and no existing object was \
             found"
        );
        RefusedRequest::conflict(resource, name, &why)
    }

    /// A patch does not fit the object.
    pub(crate) fn unfit_patch() -> RefusedRequest {
        let message = "the server rejected our request due to an error in our request";
        RefusedRequest {
            details: Some(Box::new(json!({}))),
            ..RefusedRequest::new(422, "Invalid", message)
        }
    }

    /// Fields of the object are not valid.
    pub(crate) fn invalid(of: &TypeName, name: &str, causes: &[FieldCause]) -> RefusedRequest {
        let lines: Vec<String> = causes
            .iter()
            .map(|cause| format!("{}: {}", cause.field, cause.message))
            .collect();
        let list = match &lines[..] {
            [one] => one.clone(),
            all => format!("[{}]", all.join(", ")),
        };
        let message = format!("{of} \"{name}\" is invalid: {list}");
        let mut refused = RefusedRequest::new(422, "Invalid", message);
        let mut details = object_details(&of.group, &of.kind, name);
        let causes = causes.iter().map(
            |cause| json!({"reason": cause.reason, "message": cause.message, "field": cause.field}),
        );
        details["causes"] = causes.collect();
        refused.details = Some(Box::new(details));
        refused
    }

    /// The request itself is wrong.
    pub(crate) fn bad_request(message: impl Into<String>) -> RefusedRequest {
        RefusedRequest::new(400, "BadRequest", message)
    }

    /// Nothing is created in a namespace that is being deleted.
    pub(crate) fn terminating(
        resource: &ResourceName,
        name: &str,
        namespace: &str,
    ) -> RefusedRequest {
        let why = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        let message = format!("{resource} \"{name}\" is forbidden: {why}");
        let mut refused = RefusedRequest::new(403, "Forbidden", message);
        let mut details = object_details(&resource.group, &resource.plural, name);
        details["causes"] = json!([{"reason": "NamespaceTerminating",
            "message": format!("namespace {namespace} is being terminated"),
            "field": "metadata.namespace"}]);
        refused.details = Some(Box::new(details));
        refused
    }

    /// The credentials are wrong or expired.
    pub(crate) fn unauthorized() -> RefusedRequest {
        RefusedRequest::new(401, "Unauthorized", "Unauthorized")
    }

    /// The watch or list asks for a revision that the cluster has forgotten.
    pub(crate) fn expired(asked: u64, oldest: u64) -> RefusedRequest {
        let message = format!("too old resource version: {asked} ({oldest})");
        RefusedRequest::new(410, "Expired", message)
    }

    /// A continue token is not readable or too old.
    pub(crate) fn continue_expired() -> RefusedRequest {
        let message = "The provided continue parameter is too old to display a consistent list \
             result. You must start a new list without the continue parameter.";
        RefusedRequest::new(410, "Expired", message)
    }

    /// The request asks for a revision that does not exist yet.
    pub(crate) fn too_large_version(asked: u64, current: u64) -> RefusedRequest {
        let message = format!("Too large resource version: {asked}, current: {current}");
        let mut refused = RefusedRequest::new(504, "Timeout", message);
        refused.details = Some(Box::new(json!({"retryAfterSeconds": 1, "causes": [
            {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]})));
        refused
    }

    /// The path does not have this method.
    pub(crate) fn method_not_allowed(resource: &ResourceName, verb: &str) -> RefusedRequest {
        let message =
            format!("the server does not allow this method on the requested resource: {verb}");
        RefusedRequest::new(405, "MethodNotAllowed", message).of_object(resource, "")
    }

    /// The cluster does not read bodies of this type.
    pub(crate) fn unsupported_media_type(given: &str, accepted: &str) -> RefusedRequest {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: \
             {accepted} (found {given})"
        );
        RefusedRequest::new(415, "UnsupportedMediaType", message)
    }

    /// The body of the request is too large.
    pub(crate) fn too_large(limit: usize) -> RefusedRequest {
        let message = format!("Request entity too large: limit is {limit}");
        RefusedRequest::new(413, "RequestEntityTooLarge", message)
    }

    /// The cluster does not write the form that the request accepts.
    pub(crate) fn not_acceptable() -> RefusedRequest {
        let message = "only the following media types are accepted: application/json";
        RefusedRequest::new(406, "NotAcceptable", message)
    }

    /// A webhook denies the request. The answer names no object.
    pub(crate) fn denied(webhook: &str, why: &str) -> RefusedRequest {
        let message = format!("admission webhook \"{webhook}\" denied the request: {why}");
        RefusedRequest::new(403, "Forbidden", message)
    }

    /// The server failed; kube-apiserver answers so for some wrong requests, too.
    pub(crate) fn internal(message: impl Into<String>) -> RefusedRequest {
        RefusedRequest::new(500, "", message)
    }

    /// The object `Status`.
    pub(crate) fn status(&self) -> Json {
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        });
        if !self.reason.is_empty() {
            status["reason"] = self.reason.into();
        }
        if let Some(details) = &self.details {
            status["details"] = Json::clone(details);
        }
        status["code"] = self.code.into();
        status
    }
}

/// Details leave out what is empty.
fn object_details(group: &str, kind: &str, name: &str) -> Json {
    let mut details = json!({});
    for (field, value) in [("name", name), ("group", group), ("kind", kind)] {
        if !value.is_empty() {
            details[field] = value.into();
        }
    }
    details
}
