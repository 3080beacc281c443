//! `AdmissionReview` of `admission.k8s.io/v1`: the request of an API server, and the answer to it.

use serde_json::{Value as Json, json};

use crate::admission::AdmissionVerdict;

/// The version of reviews.
const API_VERSION: &str = "admission.k8s.io/v1";

/// The kind of reviews.
const KIND: &str = "AdmissionReview";

/// The answer to a review. Deletions and subresources are accepted.
///
/// # Errors
/// If the text is no review of this version with a request. The message says what is wrong.
pub(crate) fn answer_to(body: &[u8]) -> Result<Json, String> {
    let review: Json = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    if review["apiVersion"] != API_VERSION || review["kind"] != KIND {
        return Err(format!("the body is no {KIND} of {API_VERSION}"));
    }
    let request = &review["request"];
    let uid = request["uid"].as_str().filter(|uid| !uid.is_empty());
    let uid = uid.ok_or("request.uid is missing")?;
    let verdict = verdict_of(request)?;
    let mut response = json!({"uid": uid, "allowed": verdict.refused.is_none()});
    if let Some(message) = verdict.refused {
        response["status"] = json!({
            "status": "Failure",
            "message": message,
            "reason": "Forbidden",
            "code": 403,
        });
    }
    if !verdict.warnings.is_empty() {
        response["warnings"] = verdict.warnings.into();
    }
    Ok(json!({"apiVersion": API_VERSION, "kind": KIND, "response": response}))
}

fn verdict_of(request: &Json) -> Result<AdmissionVerdict, String> {
    let subresource = request["subResource"].as_str().unwrap_or_default();
    let writes = match request["operation"].as_str() {
        Some("CREATE" | "UPDATE") => subresource.is_empty(),
        Some("DELETE" | "CONNECT") => false,
        _ => return Err("request.operation is missing or unknown".to_owned()),
    };
    match &request["object"] {
        _ if !writes => Ok(AdmissionVerdict::default()),
        object if object.is_object() => Ok(AdmissionVerdict::of(object)),
        _ => Err("request.object is missing".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::answer_to;

    fn review(operation: &str, object: &Json) -> Json {
        json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": {"uid": "u-1", "operation": operation, "object": object},
        })
    }

    fn answer(review: &Json) -> Result<Json, String> {
        answer_to(review.to_string().as_bytes())
    }

    fn bad_chain() -> Json {
        json!({
            "apiVersion": "carto.run/v1alpha1",
            "kind": "ClusterSupplyChain",
            "metadata": {"name": "chain"},
            "spec": {"resources": []},
        })
    }

    #[test]
    fn a_bad_object_is_refused_with_its_uid() {
        let answer = answer(&review("CREATE", &bad_chain())).unwrap();
        let response = &answer["response"];
        assert_eq!(response["uid"], "u-1");
        assert_eq!(response["allowed"], false);
        assert_eq!(response["status"]["code"], 403);
        let message = response["status"]["message"].as_str().unwrap();
        assert!(message.contains("selector"), "{message}");
    }

    #[test]
    fn deletions_and_subresources_are_accepted() {
        let deletion = answer(&review("DELETE", &Json::Null)).unwrap();
        assert_eq!(deletion["response"], json!({"uid": "u-1", "allowed": true}));
        let mut status = review("UPDATE", &bad_chain());
        status["request"]["subResource"] = json!("status");
        assert_eq!(answer(&status).unwrap()["response"]["allowed"], true);
    }

    #[test]
    fn what_is_no_review_is_an_error() {
        let mut no_uid = review("CREATE", &bad_chain());
        no_uid["request"]["uid"] = json!("");
        let mut old = review("CREATE", &bad_chain());
        old["apiVersion"] = json!("admission.k8s.io/v1beta1");
        let no_object = review("CREATE", &Json::Null);
        let no_operation = review("", &bad_chain());
        for wrong in [no_uid, old, no_object, no_operation, json!({}), json!(1)] {
            assert!(answer(&wrong).is_err(), "{wrong}");
        }
        let nested = "[".repeat(100_000);
        for text in ["", "{", "\u{0}", nested.as_str()] {
            assert!(answer_to(text.as_bytes()).is_err());
        }
    }
}
