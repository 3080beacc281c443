//! A resource or a link of the state as machine output.

use blueprint::{DeleteMode, Value};
use serde_json::{Value as Json, json};

use super::value::value;
use crate::inspect::{Pending, ResourceDetails, computed, is_link, link_failed_at};

/// A resource or a link.
pub(super) fn resource(details: &ResourceDetails, reveal: bool) -> Json {
    let ResourceDetails {
        address,
        record,
        error,
        waiting,
    } = details;
    if is_link(address) {
        return json!({
            "address": address,
            "type": record.type_name,
            "status": record.status.to_string(),
            "part": link_failed_at(record),
            "error": error,
            "annotations": record.inputs.get("notes").map(|notes| value(notes, reveal)),
            "data": value(&record.outputs, reveal),
            "overlay": record.private.get("overlay").map(|overlay| value(overlay, reveal)),
            "dependencies": record.dependencies,
        });
    }
    let mut json = json!({
        "address": address,
        "type": record.type_name,
        "id": if reveal { &record.id } else { record.shown_id() },
        "status": record.status.to_string(),
        "error": error,
        "spec": value(&record.inputs, reveal),
        "computed": value(&Value::Map(computed(record).into()), reveal),
        "metadata": value(&record.metadata, reveal),
        "made_from": Some(&record.origin.made_from).filter(|name| !name.is_empty()),
        "dependencies": record.dependencies,
        "retain": record.retain,
        "protect": record.protect,
        "attention": record.attention,
    });
    if record.delete_mode != DeleteMode::Delete {
        json["delete_mode"] = json!(record.delete_mode);
    }
    if let Some(at) = waiting {
        json["waiting"] = json!(at);
    }
    json
}

/// A waiting resource without a record.
pub(super) fn pending(pending: &Pending) -> Json {
    json!({"address": pending.address, "status": pending.status().to_string(), "waiting": pending.at})
}
