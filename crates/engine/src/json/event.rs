//! Events as machine output.

use serde_json::{Value as Json, json};

use super::time::time;
use crate::frontend::{Envelope, Notice, SessionEvent};
use crate::progress::UnfinishedStep;

/// An event with the id of its operation, its number and its time. `step` is the number of its step
/// in the plan.
pub fn envelope(envelope: &Envelope, step: Option<u32>) -> Json {
    let Envelope {
        operation,
        sequence,
        at_ms,
        event,
    } = envelope;
    let mut json = match event {
        // All values of an event can be serialised.
        SessionEvent::Operation(event) => serde_json::to_value(event).unwrap_or_default(),
        SessionEvent::Notice(told) => notice(told),
        SessionEvent::Reading(address) => json!({"event": "reading", "address": address}),
        SessionEvent::ProviderRetry { what, pause, why } => {
            let after_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
            json!({"event": "asked-again", "what": what, "after_ms": after_ms, "reason": why})
        }
    };
    if let Some(step) = step {
        json["step"] = json!(step);
    }
    // The key is not `operation`, because an event has its provider call there.
    json["operation_id"] = json!(operation);
    json["sequence"] = json!(sequence);
    json["time"] = json!(time(*at_ms));
    json
}

/// A step that was not done.
pub fn not_done(one: &UnfinishedStep) -> Json {
    json!({"step": one.step, "address": one.address, "action": one.action})
}

fn notice(notice: &Notice) -> Json {
    let (word, fields) = match notice {
        Notice::BelongsTo(instance) => ("belongs-to", json!({"instance": instance})),
        Notice::NewInstance(instance) => ("new-instance", json!({"instance": instance})),
        Notice::DataSourceHasEffects { name, type_name } => {
            ("reading-acts", json!({"name": name, "type": type_name}))
        }
        Notice::AtLastGeneration(generation) => {
            ("at-last-generation", json!({"generation": generation}))
        }
        Notice::WaitsForOperation { instance, who } => (
            "waits-for-operation",
            json!({"instance": instance, "who": who}),
        ),
        Notice::NotPruned { instance, why } => {
            ("not-pruned", json!({"instance": instance, "reason": why}))
        }
        Notice::Store(text) => ("store", json!({"text": text})),
    };
    let mut json = json!({"event": "notice", "notice": word});
    if let (Some(json), Json::Object(fields)) = (json.as_object_mut(), fields) {
        json.extend(fields);
    }
    json
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_kind_of_event_has_a_form() {
        let of = |event| {
            envelope(
                &Envelope {
                    operation: "ab".into(),
                    sequence: 3,
                    at_ms: 1,
                    event,
                },
                None,
            )
        };
        let rest = r#""operation_id":"ab","sequence":3,"time":"1970-01-01T00:00:00.001Z"}"#;
        let asked = SessionEvent::ProviderRetry {
            what: "a".into(),
            pause: Duration::from_secs(1),
            why: "busy".into(),
        };
        for (event, form) in [
            (
                SessionEvent::Reading("a".parse().unwrap()),
                r#"{"event":"reading","address":"a","#,
            ),
            (
                asked,
                r#"{"event":"asked-again","what":"a","after_ms":1000,"reason":"busy","#,
            ),
            (
                SessionEvent::Notice(Notice::AtLastGeneration(7)),
                r#"{"event":"notice","notice":"at-last-generation","generation":7,"#,
            ),
            (
                SessionEvent::Operation(crate::phases::Event::Draining { running: 2 }),
                r#"{"event":"draining","running":2,"#,
            ),
        ] {
            assert_eq!(of(event).to_string(), format!("{form}{rest}"));
        }
    }
}
