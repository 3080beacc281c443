//! Drift as machine output.

use crate::phases::{Change, Drift as How, Drifted};
use blueprint::{Address, IndexMap, Name};
use serde_json::{Value as Json, json};
use state::InstanceName;

use crate::from_state::DriftReport;

/// The differences from the state, and the resources that could not be read.
pub fn drift(instance: &InstanceName, report: &DriftReport) -> Json {
    let ([count, vanished], scan) = (report.counts(), &report.scan);
    let drifted_resources: Vec<Json> = scan.drifted.iter().map(drifted).collect();
    json!({
        "instance": instance,
        "drifted": count,
        "vanished": vanished,
        "things": drifted_resources,
        "unread": unread(&scan.unread),
    })
}

/// Resources that could not be read, with the reasons.
pub(super) fn unread(unread: &IndexMap<Address, Name>) -> Json {
    unread
        .iter()
        .map(|(address, why)| json!({"address": address, "why": why}))
        .collect()
}

/// A resource that differs from the state.
pub(super) fn drifted(drifted: &Drifted) -> Json {
    let (how, changes, why) = match &drifted.drift {
        How::Differs(list) => ("drifted", list.iter().map(change_json).collect(), None),
        How::Expired(why) => ("drifted", Vec::new(), Some(why)),
        How::Vanished => ("vanished", Vec::new(), None),
    };
    json!({"address": drifted.address, "type": drifted.type_name, "how": how, "why": why, "changes": changes})
}

fn change_json(change: &Change) -> Json {
    let shown = |value| super::value::value(value, false);
    json!({"path": change.path, "before": change.before.as_ref().map(shown), "after": change.after.as_ref().map(shown)})
}
