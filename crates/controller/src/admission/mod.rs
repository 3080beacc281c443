//! Whether the API accepts an object of `carto.run`: the rules of `cartographer::validation` as a
//! refusal and warnings (decisions/cartographer#admission).
//!
//! Not here: how a request reaches the rules (`webhook`, local clusters); schemas, which the API
//! server checks itself.

use blueprint::Value;
use cartographer::kinds::API_VERSION;
use cartographer::validation::{Fault, FaultLevel, faults, lints};
use kubernetes::json::from_json;
use serde_json::Value as Json;

/// The name of the webhook, which an API server states with every refusal.
pub const WEBHOOK_NAME: &str = "validation.carto.run";

/// What admission says about an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdmissionVerdict {
    /// Why the object is refused, with the path of every fault; `None` if it is accepted.
    pub refused: Option<String>,
    /// What is accepted although it does not work, or works otherwise than the original does.
    pub warnings: Vec<String>,
}

impl AdmissionVerdict {
    /// The verdict about an object as it would be stored. An object of another group is accepted,
    /// and one that is being deleted, too: its finalizers must be removable.
    pub fn of(object: &Json) -> AdmissionVerdict {
        let is_deleted = object["metadata"].get("deletionTimestamp").is_some();
        if object["apiVersion"] != API_VERSION || is_deleted {
            return AdmissionVerdict::default();
        }
        let value = from_json(object);
        let (rejected, accepted): (Vec<Fault>, Vec<Fault>) = faults(&value)
            .into_iter()
            .partition(|fault| fault.class.level() == FaultLevel::Rejected);
        AdmissionVerdict {
            refused: refusal(&value, &rejected),
            warnings: accepted.iter().chain(&lints(&value)).map(line).collect(),
        }
    }
}

/// One line, or a list such as `kubectl` shows for an invalid object.
fn refusal(object: &Value, faults: &[Fault]) -> Option<String> {
    match faults {
        [] => None,
        [one] => Some(line(one)),
        all => {
            let kind = object.get("kind").and_then(Value::as_text);
            let mut text = format!("the {} is invalid:", kind.unwrap_or("object"));
            for fault in all {
                text.push_str("\n* ");
                text.push_str(&line(fault));
            }
            Some(text)
        }
    }
}

/// A fault as `path: message (help)`.
fn line(fault: &Fault) -> String {
    match &fault.help {
        Some(help) => format!("{}: {} ({help})", fault.path, fault.message),
        None => format!("{}: {}", fault.path, fault.message),
    }
}

#[cfg(test)]
mod tests;
