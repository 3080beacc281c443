//! Events as machine output.

use serde_json::{Value as Json, json};

use super::time::time;
use crate::frontend::{Envelope, Notice, SessionEvent};

/// An event with the id of its operation, its number there and its time. `step` is the number of the step of the plan
/// that it is about.
pub fn envelope(envelope: &Envelope, step: Option<u32>) -> Json {
    let Envelope { operation, sequence, at_ms, event } = envelope;
    let mut json = match event {
        // An event has no value that cannot be written.
        SessionEvent::Operation(event) => serde_json::to_value(event).unwrap_or_default(),
        SessionEvent::Notice(told) => notice(told),
        SessionEvent::Reading(address) => json!({"event": "reading", "address": address}),
        SessionEvent::AskedAgain { what, pause, why } => {
            let after_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
            json!({"event": "asked-again", "what": what, "after_ms": after_ms, "reason": why})
        }
    };
    if let Some(step) = step {
        json["step"] = json!(step);
    }
    // `operation` is the call that an event is about.
    json["operation_id"] = json!(operation);
    json["sequence"] = json!(sequence);
    json["time"] = json!(time(*at_ms));
    json
}

fn notice(notice: &Notice) -> Json {
    let (word, fields) = match notice {
        Notice::BelongsTo(instance) => ("belongs-to", json!({"instance": instance})),
        Notice::NewInstance(instance) => ("new-instance", json!({"instance": instance})),
        Notice::ReadingActs { name, type_name } => ("reading-acts", json!({"name": name, "type": type_name})),
        Notice::AtLastGeneration(generation) => ("at-last-generation", json!({"generation": generation})),
        Notice::NotPruned { instance, why } => ("not-pruned", json!({"instance": instance, "reason": why})),
        Notice::Store(text) => ("store", json!({"text": text})),
    };
    let mut json = json!({"event": "notice", "notice": word});
    if let (Some(json), Json::Object(fields)) = (json.as_object_mut(), fields) {
        json.extend(fields);
    }
    json
}
