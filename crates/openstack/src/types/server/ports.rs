//! Ports that a server gets of its own: an entry of `networks` with a subnet or with properties of
//! a port needs a port with them, which Nova cannot make.
//!
//! A port has a mark of the call that made it, and the record of the server keeps its id as private
//! data. The ports are deleted after their server.

use ::provider::{ErrorKind, ProviderError};
use serde_json::{Value as Json, json};

use super::super::network::{GROUP, QOS_POLICY, SUBNET};
use super::entries::{entries_of, given, network_of};
use crate::client::{Service, ServiceRequest};
use crate::managed::{
    ASIDE, CloudCall, Form, JsonMap, PRIVATE, Property, body_of, mark_of, reference, renamed, same,
    spread,
};

/// The properties of a port that an entry may set.
static EXTRAS: &[Property] = &[
    same("admin_state_up"),
    same("binding:vnic_type"),
    renamed("mac_address", "mac_address", Form::Mac),
    same("port_security_enabled"),
    same("propagate_uplink_status"),
    reference("qos_policy", "qos_policy_id", &QOS_POLICY),
    spread("value_specs"),
];

fn extras(entry: &Json) -> Option<&JsonMap> {
    let extras = entry["port_extra_properties"].as_object();
    extras.filter(|extras| !extras.is_empty())
}

/// Whether an entry needs a port of its own.
pub(super) fn is_needed(entry: &Json) -> bool {
    let is_given = given(entry, "port").is_some();
    !is_given && (given(entry, "subnet").is_some() || extras(entry).is_some())
}

/// The mark of the ports that a call makes.
fn mark(token: &str) -> String {
    format!("{}-ports", mark_of(token))
}

/// The ports with a mark.
async fn marked(on: CloudCall<'_>, token: &str) -> Result<Vec<Json>, ProviderError> {
    let request = ServiceRequest::get(Service::Network, "ports");
    let mut answer = on
        .get(request.with_query("description", mark(token)))
        .await?;
    match answer.get_mut("ports").map(Json::take) {
        Some(Json::Array(all)) => Ok(all),
        _ => Ok(Vec::new()),
    }
}

/// Makes the ports of a call. A port that an earlier try of the call has made is used again.
pub(super) struct Makers {
    earlier: Vec<Json>,
    groups: Vec<String>,
}

impl Makers {
    /// Looks for the ports of earlier tries, if the spec needs ports at all.
    ///
    /// # Errors
    /// The errors of the calls.
    pub(super) async fn of_call(
        on: CloudCall<'_>,
        spec: &JsonMap,
    ) -> Result<Makers, ProviderError> {
        if !entries_of(spec).iter().any(is_needed) {
            return Ok(Makers {
                earlier: Vec::new(),
                groups: Vec::new(),
            });
        }
        Ok(Makers {
            earlier: marked(on, &on.call.token).await?,
            groups: group_ids(on, spec).await?,
        })
    }

    /// The port of the entry at a position.
    ///
    /// # Errors
    /// The errors of the calls.
    pub(super) async fn port(
        &mut self,
        on: CloudCall<'_>,
        index: usize,
        entry: &Json,
    ) -> Result<String, ProviderError> {
        let name = name_of(on, index);
        let earlier = self
            .earlier
            .iter()
            .find(|port| port["name"] == name.as_str());
        if let Some(id) = earlier.and_then(|port| port["id"].as_str()) {
            return Ok(id.to_owned());
        }
        let mut body = body_of_port(on, entry).await?;
        body.insert("name".to_owned(), json!(name));
        body.insert("description".to_owned(), json!(mark(&on.call.token)));
        if !self.groups.is_empty() {
            body.insert("security_groups".to_owned(), json!(self.groups));
        }
        let request = ServiceRequest::post(Service::Network, "ports", json!({ "port": body }));
        let answer = on.change(request).await?;
        let id = answer["port"]["id"].as_str().map(str::to_owned);
        id.ok_or_else(|| {
            let message = "Neutron returned a port without `id`";
            ProviderError::new(ErrorKind::OutcomeUnknown, message)
        })
    }
}

/// The name of the port of the entry at a position. Heat names such ports in the same way.
fn name_of(on: CloudCall<'_>, index: usize) -> String {
    format!("{}-port-{index}", on.call.address.name)
}

async fn body_of_port(on: CloudCall<'_>, entry: &Json) -> Result<JsonMap, ProviderError> {
    let none = JsonMap::new();
    let extras = extras(entry).unwrap_or(&none);
    let mut body = body_of(on, EXTRAS, extras).await?;
    if let Some(network) = network_of(on, entry).await? {
        body.insert("network_id".to_owned(), json!(network));
    }
    let mut address = JsonMap::new();
    if let Some(fixed) = given(entry, "fixed_ip") {
        address.insert("ip_address".to_owned(), json!(fixed));
    }
    if let Some(subnet) = given(entry, "subnet") {
        let subnet = on.id_of(&SUBNET, subnet).await?;
        address.insert("subnet_id".to_owned(), json!(subnet));
    }
    if extras.get("no_fixed_ips") == Some(&json!(true)) {
        body.insert("fixed_ips".to_owned(), json!([]));
    } else if !address.is_empty() {
        body.insert("fixed_ips".to_owned(), json!([address]));
    }
    if let Some(pairs) = extras.get("allowed_address_pairs").and_then(Json::as_array) {
        body.insert(
            "allowed_address_pairs".to_owned(),
            pairs.iter().map(pair).collect(),
        );
    }
    Ok(body)
}

/// A pair of addresses without fields that are null.
fn pair(pair: &Json) -> Json {
    let entries = pair.as_object().into_iter().flatten();
    let given = entries.filter(|(_, value)| !value.is_null());
    Json::Object(
        given
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    )
}

/// The ids of the security groups of a spec.
///
/// # Errors
/// [`ErrorKind::Document`] if a name has no group, or several.
pub(super) async fn group_ids(
    on: CloudCall<'_>,
    spec: &JsonMap,
) -> Result<Vec<String>, ProviderError> {
    let groups = spec.get("security_groups").and_then(Json::as_array);
    let mut ids = Vec::new();
    for group in groups.into_iter().flatten().filter_map(Json::as_str) {
        let id = on.id_of(&GROUP, group).await;
        ids.push(id.map_err(|error| error.at("security_groups"))?);
    }
    Ok(ids)
}

/// Keeps the ids of the ports of a new server, which the call with this token has made.
///
/// # Errors
/// The error of the call that finds them.
pub(super) async fn record(
    on: CloudCall<'_>,
    token: &str,
    spec: &JsonMap,
    object: &mut Json,
) -> Result<(), ProviderError> {
    if !entries_of(spec).iter().any(is_needed) {
        return Ok(());
    }
    let mut ports = marked(on, token).await?;
    let position = |port: &Json| {
        let name = port["name"].as_str().unwrap_or_default();
        let (_, index) = name.rsplit_once('-').unwrap_or_default();
        index.parse::<usize>().unwrap_or(usize::MAX)
    };
    ports.sort_by_key(position);
    for port in ports.iter().filter_map(|port| port["id"].as_str()) {
        keep(port, object);
    }
    Ok(())
}

/// Keeps the ids of the ports that Heat made for a server: those of the server with their names.
///
/// # Errors
/// The error of the call that finds them.
pub(super) async fn adopt(
    on: CloudCall<'_>,
    spec: &JsonMap,
    object: &mut Json,
) -> Result<(), ProviderError> {
    let entries = entries_of(spec);
    let needed = entries.iter().enumerate();
    let needed = needed.filter(|(_, entry)| is_needed(entry));
    let names: Vec<String> = needed.map(|(index, _)| name_of(on, index)).collect();
    let Some(server) = object["id"].as_str().filter(|_| !names.is_empty()) else {
        return Ok(());
    };
    let request = ServiceRequest::get(Service::Network, "ports").with_query("device_id", server);
    let answer = on.get(request).await?;
    let ports = answer["ports"].as_array();
    for name in names {
        let mut ports = ports.into_iter().flatten();
        let port = ports.find(|port| port["name"] == name.as_str());
        if let Some(id) = port.and_then(|port| port["id"].as_str()) {
            keep(id, object);
        }
    }
    Ok(())
}

/// The kept ids of ports, in the order of their entries.
pub(super) fn recorded(object: &Json) -> Vec<String> {
    let ids = object[ASIDE][PRIVATE]["ports"].as_array();
    let ids = ids.into_iter().flatten().filter_map(Json::as_str);
    ids.map(str::to_owned).collect()
}

/// Keeps the id of a port.
pub(super) fn keep(port: &str, object: &mut Json) {
    let mut ids = recorded(object);
    ids.push(port.to_owned());
    write(ids, object);
}

fn write(ids: Vec<String>, object: &mut Json) {
    let private = match ids.is_empty() {
        true => Json::Null,
        false => json!({ "ports": ids }),
    };
    let Some(entries) = object.as_object_mut() else {
        return;
    };
    let aside = entries.entry(ASIDE).or_insert_with(|| json!({}));
    if !aside.is_object() {
        *aside = json!({});
    }
    if let Some(aside) = aside.as_object_mut() {
        aside.insert(PRIVATE.to_owned(), private);
    }
}

/// Deletes a detached port, if the server has it of its own.
///
/// # Errors
/// The error of the call.
pub(super) async fn delete_own(
    on: CloudCall<'_>,
    port: &str,
    object: &mut Json,
) -> Result<(), ProviderError> {
    let mut ids = recorded(object);
    let Some(at) = ids.iter().position(|id| id == port) else {
        return Ok(());
    };
    delete_port(on, port).await?;
    ids.remove(at);
    write(ids, object);
    Ok(())
}

/// Deletes the ports of a server that is gone.
///
/// # Errors
/// The errors of the calls.
pub(super) async fn delete(on: CloudCall<'_>, private: &Json) -> Result<(), ProviderError> {
    let ids = private["ports"].as_array();
    for id in ids.into_iter().flatten().filter_map(Json::as_str) {
        delete_port(on, id).await?;
    }
    Ok(())
}

/// Deletes the ports of a create that made no server.
///
/// # Errors
/// The errors of the calls.
pub(super) async fn delete_left_over(on: CloudCall<'_>, token: &str) -> Result<(), ProviderError> {
    for port in marked(on, token).await? {
        if let Some(id) = port["id"].as_str() {
            delete_port(on, id).await?;
        }
    }
    Ok(())
}

async fn delete_port(on: CloudCall<'_>, id: &str) -> Result<(), ProviderError> {
    let request = ServiceRequest::delete(Service::Network, format!("ports/{id}"));
    match on.send(request).await {
        Err(error) if !error.is_not_found() => Err(error.into_provider_error(true)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subnet_or_properties_need_an_own_port() {
        assert!(is_needed(&json!({"network": "n", "subnet": "s"})));
        assert!(is_needed(
            &json!({"network": "n", "port_extra_properties": {"qos_policy": "q"}})
        ));
        assert!(!is_needed(
            &json!({"network": "n", "port_extra_properties": {}})
        ));
        assert!(!is_needed(&json!({"port": "p", "subnet": "s"})));
        assert!(!is_needed(&json!({"network": "n", "subnet": null})));
    }

    #[test]
    fn ids_of_ports_are_kept_in_the_private_data() {
        let mut server = json!({"id": "i"});
        keep("p", &mut server);
        keep("q", &mut server);
        assert_eq!(server[ASIDE][PRIVATE], json!({"ports": ["p", "q"]}));
        write(Vec::new(), &mut server);
        assert_eq!(server[ASIDE][PRIVATE], Json::Null);
    }
}
