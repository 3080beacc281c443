//! Requests that are questions: who asks, and what a user may do. Roles are not evaluated, so
//! everybody may do everything.

use serde_json::{Value as Json, json};

use crate::failure::RefusedRequest;
use crate::request::ApiUser;
use crate::state::ClusterState;
use crate::tokens::user_of_token;
use crate::writing::RequestTarget;

/// Answers a question.
///
/// # Errors
/// If the cluster does not answer questions of this kind.
pub(crate) fn answer_review(
    state: &ClusterState,
    target: &RequestTarget,
    user: &ApiUser,
    mut review: Json,
) -> Result<Json, RefusedRequest> {
    let resource = &target.kind.resource;
    let shown = |user: &ApiUser| json!({"username": user.name, "groups": user.groups});
    review["status"] = match (&*resource.group, &*resource.plural) {
        ("authentication.k8s.io", "selfsubjectreviews") => json!({"userInfo": shown(user)}),
        ("authentication.k8s.io", "tokenreviews") => {
            let token = review["spec"]["token"].as_str().unwrap_or_default();
            match user_of_token(state, token) {
                Some(user) => json!({"authenticated": true, "user": shown(&user)}),
                None => json!({"authenticated": false}),
            }
        }
        (
            "authorization.k8s.io",
            "selfsubjectaccessreviews" | "subjectaccessreviews" | "localsubjectaccessreviews",
        ) => json!({"allowed": true, "reason": "roles are not evaluated"}),
        ("authorization.k8s.io", "selfsubjectrulesreviews") => json!({
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
            "incomplete": false}),
        _ => return Err(RefusedRequest::method_not_allowed(resource, "create")),
    };
    Ok(review)
}
