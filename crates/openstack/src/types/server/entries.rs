//! The entries of the property `networks`, and the ids that they name.

use ::provider::ProviderError;
use serde_json::Value as Json;

use super::super::kinds::PORTS;
use super::super::network::{NETWORK, SUBNET};
use crate::client::{Service, ServiceRequest};
use crate::managed::{CloudCall, JsonMap};

/// The value of a property of an entry, if the entry sets it.
pub(super) fn given<'n>(entry: &'n Json, name: &str) -> Option<&'n str> {
    entry[name].as_str().filter(|text| !text.is_empty())
}

/// The entries of the property `networks`.
pub(super) fn entries_of(spec: &JsonMap) -> &[Json] {
    let entries = spec.get("networks").and_then(Json::as_array);
    entries.map(Vec::as_slice).unwrap_or_default()
}

/// The id of the port that an entry names.
pub(super) async fn port_of(
    on: CloudCall<'_>,
    entry: &Json,
) -> Result<Option<String>, ProviderError> {
    match given(entry, "port") {
        Some(port) => on.id_of(&PORTS, port).await.map(Some),
        None => Ok(None),
    }
}

/// The id of the network of an entry: the named one, or that of its subnet.
pub(super) async fn network_of(
    on: CloudCall<'_>,
    entry: &Json,
) -> Result<Option<String>, ProviderError> {
    if let Some(network) = given(entry, "network").or(given(entry, "uuid")) {
        return on.id_of(&NETWORK, network).await.map(Some);
    }
    let Some(subnet) = given(entry, "subnet") else {
        return Ok(None);
    };
    let id = on.id_of(&SUBNET, subnet).await?;
    let request = ServiceRequest::get(Service::Network, format!("subnets/{id}"));
    let answer = on.get(request).await?;
    Ok(answer["subnet"]["network_id"].as_str().map(str::to_owned))
}
