//! Events about reconciled objects. An event that happens again is counted, not made anew.

use blueprint::Value;
use cartographer::reconcile::OwnerEvent;
use http::Method;
use kubernetes::GroupKind;
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};

use crate::api::{JSON, MERGE, RequestBody, RequestFailure};
use crate::calls::{ClusterAccess, MANAGER};

/// The longest message of an event, in bytes.
const LONGEST_MESSAGE: usize = 1024;

/// The namespace of events about cluster-scoped objects.
const CLUSTER_EVENTS: &str = "default";

/// Records an event about an object.
///
/// # Errors
/// If the server cannot be reached, or refuses.
pub(crate) async fn record(
    access: &ClusterAccess,
    about: &Value,
    event: &OwnerEvent,
    now: &str,
) -> Result<(), RequestFailure> {
    let text = |field: &str| {
        let metadata = about.get("metadata");
        let found = metadata.and_then(|metadata| metadata.get(field)?.as_text());
        found.unwrap_or_default()
    };
    let top = |field: &str| {
        about
            .get(field)
            .and_then(Value::as_text)
            .unwrap_or_default()
    };
    let (name, uid) = (text("name"), text("uid"));
    let namespace = match text("namespace") {
        "" => CLUSTER_EVENTS,
        namespace => namespace,
    };
    let message = cut(&event.message);
    let event_name = format!("{name}.{}", repeat_key(uid, event.reason, message));
    let object = json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": event_name, "namespace": namespace},
        "involvedObject": {
            "apiVersion": top("apiVersion"),
            "kind": top("kind"),
            "name": name,
            "namespace": text("namespace"),
            "uid": uid,
            "resourceVersion": text("resourceVersion"),
        },
        "reason": event.reason,
        "message": message,
        "type": "Normal",
        "source": {"component": MANAGER},
        "reportingComponent": MANAGER,
        "reportingInstance": "",
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    });
    let kind = GroupKind::new("", "Event");
    let collection = format!("/api/v1/namespaces/{namespace}/events");
    access.counters.count_request("create", "events");
    let created = access.controller.send(
        Method::POST,
        &collection,
        &kind,
        Some(RequestBody {
            form: JSON,
            object: &object,
        }),
    );
    match created.await {
        Err(failure) if failure.is_already_there() => {}
        other => return other.map(|_| ()),
    }
    let path = format!("{collection}/{event_name}");
    access.counters.count_request("get", "events");
    let found = access.controller.send(Method::GET, &path, &kind, None);
    let count = count_of(&found.await?);
    let part = json!({"count": count.saturating_add(1), "lastTimestamp": now});
    access.counters.count_request("patch", "events");
    let counted = access.controller.send(
        Method::PATCH,
        &path,
        &kind,
        Some(RequestBody {
            form: MERGE,
            object: &part,
        }),
    );
    counted.await.map(|_| ())
}

fn count_of(event: &Json) -> i64 {
    event["count"].as_i64().unwrap_or(1)
}

/// Equal for events that say the same about the same object.
fn repeat_key(uid: &str, reason: &str, message: &str) -> String {
    let mut hash = Sha256::new();
    for part in [uid, reason, message] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    let digest = hash.finalize();
    digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn cut(message: &str) -> &str {
    let mut end = message.len().min(LONGEST_MESSAGE);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    &message[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_message_is_cut_between_characters() {
        let long = "ä".repeat(600);
        let message = format!("a{long}");
        assert_eq!(cut(&message).len(), 1023);
        assert_eq!(cut("short"), "short");
    }

    #[test]
    fn parts_of_an_event_are_kept_apart() {
        assert_ne!(repeat_key("a", "b", "c"), repeat_key("ab", "", "c"));
        assert_eq!(repeat_key("a", "b", "c").len(), 16);
    }
}
