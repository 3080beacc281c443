//! An instance, or a part of it, as machine output.

use blueprint::Name;
use serde_json::{Map, Value as Json, json};
use state::{ChildRecord, DataRecord, Snapshot};

use super::exports::named;
use super::instance::instance;
use super::record::{pending, resource};
use super::value::value;
use crate::inspect::{ChildDetails, Details, InstanceDetails, PendingDetails, Waiting};

/// An instance, or a part of it. Secrets as `(secret)` unless they are to be revealed.
pub fn details(details: &Details, reveal: bool) -> Json {
    match details {
        Details::Instance(details) => instance_json(details, reveal),
        Details::Resource(details) => resource(details, reveal),
        Details::Child(details) => child(details, reveal),
        Details::Pending(PendingDetails::Resource(waiting)) => pending(waiting),
        Details::Pending(PendingDetails::Child { place, at }) => {
            json!({"address": place, "waiting": at})
        }
    }
}

fn instance_json(details: &InstanceDetails, reveal: bool) -> Json {
    let InstanceDetails {
        info,
        snapshot,
        waiting,
        ..
    } = details;
    let mut resources: Vec<Json> = details
        .resources()
        .map(|one| resource(&one, reveal))
        .collect();
    resources.extend(waiting.pending.iter().map(pending));
    json!({
        "instance": info.as_ref().map(instance),
        "resources": resources,
        "exports": named(&snapshot.exports, reveal),
        "exports_old": snapshot.exports_old,
        "metadata": value(&snapshot.metadata, reveal),
        "children": children(snapshot, waiting, reveal),
        "data_sources": data_sources(snapshot, reveal),
    })
}

/// A child document with all its contents.
fn child(details: &ChildDetails, reveal: bool) -> Json {
    let mut json = recorded(&details.record, reveal);
    json["address"] = json!(details.place);
    json["exports_old"] = json!(details.exports_old);
    json["resources"] = details
        .resources
        .iter()
        .map(|one| resource(one, reveal))
        .collect();
    if let Some(at) = details.waiting {
        json["waiting"] = json!(at);
    }
    json
}

fn recorded(child: &ChildRecord, reveal: bool) -> Json {
    json!({"exports": named(&child.exports, reveal), "metadata": value(&child.metadata, reveal)})
}

/// All children, by their include path.
fn children(snapshot: &Snapshot, waiting: &Waiting, reveal: bool) -> Json {
    let known = snapshot.declared.children.iter().map(|(place, child)| {
        let mut json = recorded(child, reveal);
        if let Some(at) = waiting.at_child(place) {
            json["waiting"] = json!(at);
        }
        (place.to_string(), json)
    });
    let new = waiting
        .children
        .iter()
        .filter(|(place, _)| !snapshot.declared.children.contains_key(*place));
    known
        .chain(new.map(|(place, at)| (place.to_string(), json!({"waiting": at}))))
        .collect::<Map<_, _>>()
        .into()
}

/// All data sources, each with its type and metadata.
fn data_sources(snapshot: &Snapshot, reveal: bool) -> Json {
    let one = |(name, source): (&Name, &DataRecord)| {
        (
            name.to_string(),
            json!({"type": source.type_name, "metadata": value(&source.metadata, reveal)}),
        )
    };
    snapshot
        .declared
        .data_sources
        .iter()
        .map(one)
        .collect::<Map<_, _>>()
        .into()
}
