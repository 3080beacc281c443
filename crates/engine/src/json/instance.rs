//! Summaries of instances as machine output.

use serde_json::{Value as Json, json};
use state::{InstanceInfo, InstanceName, LeaseHolder};

use super::time::time_of_seconds;
use crate::inspect::{Instances, status};

/// All instances of a state.
pub fn instances(instances: &Instances) -> Json {
    let list: Vec<Json> = instances.listed.iter().map(instance).collect();
    json!({"instances": list})
}

/// An instance.
pub(super) fn instance(info: &InstanceInfo) -> Json {
    let mut json = json!({
        "name": info.name,
        "status": status(info),
        "revision": info.revision,
        "generation": info.generation,
        "resources": info.records,
        "created": time_of_seconds(info.created),
        "document": info.document,
        "holder": info.holder.as_ref().map(holder),
    });
    if !info.verified {
        json["verified"] = false.into();
    }
    if !info.waiting.is_empty() {
        let waiting = info
            .waiting
            .iter()
            .map(|(address, at)| json!({"address": address, "at": at}));
        json["waiting"] = waiting.collect();
    }
    json
}

/// The holder whose lease was ended, if there was one.
pub fn unlocked(instance: &InstanceName, ended: Option<&LeaseHolder>) -> Json {
    json!({"instance": instance, "holder": ended.map(holder)})
}

fn holder(holder: &LeaseHolder) -> Json {
    let [since, until] = [holder.since, holder.until].map(time_of_seconds);
    json!({"who": holder.who, "since": since, "until": until})
}
