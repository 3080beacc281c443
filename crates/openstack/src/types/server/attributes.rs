//! The attributes of a server: addresses with what Neutron knows about them.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ::provider::ProviderError;
use serde_json::{Value as Json, json};

use crate::client::{Service, ServiceRequest};
use crate::managed::{ASIDE, CloudCall, JsonMap};

/// The attributes that need calls to Neutron.
const FROM_NEUTRON: [&str; 3] = ["addresses", "networks", "first_address"];

/// Objects of Neutron, by their ids.
type ById = BTreeMap<String, Json>;

/// Reads what Neutron knows about the interfaces of a server. One call for each kind of object.
///
/// # Errors
/// The errors of the calls.
pub(super) async fn complete(on: CloudCall<'_>, object: &mut Json) -> Result<(), ProviderError> {
    let id = object["id"].as_str().unwrap_or_default().to_owned();
    let ports = list(on, "ports", "ports", vec![("device_id", id)]).await?;
    let mut attributes = JsonMap::new();
    let (networks, subnets, floating) = match ports.is_empty() {
        true => (Vec::new(), Vec::new(), Vec::new()),
        false => read_details(on, &ports).await?,
    };
    let networks = by_id(networks);
    let addresses = addresses_of(&ports, &networks, &by_id(subnets), &floating);
    attributes.insert("addresses".to_owned(), with_ids(addresses, &networks));
    let texts = texts_of(&object["addresses"]);
    attributes.insert("first_address".to_owned(), json!(first_address(&texts)));
    attributes.insert("networks".to_owned(), with_ids(texts, &networks));
    let Some(entries) = object.as_object_mut() else {
        return Ok(());
    };
    let aside = entries.entry(ASIDE).or_insert_with(|| json!({}));
    match aside.as_object_mut() {
        Some(aside) => aside.extend(attributes),
        None => *aside = Json::Object(attributes),
    }
    Ok(())
}

/// The networks and subnets of ports, and the floating IPs of the ports.
async fn read_details(
    on: CloudCall<'_>,
    ports: &[Json],
) -> Result<(Vec<Json>, Vec<Json>, Vec<Json>), ProviderError> {
    let fixed_ips = || {
        ports
            .iter()
            .filter_map(|port| port["fixed_ips"].as_array())
            .flatten()
    };
    let ids = |values: &mut dyn Iterator<Item = &Json>, name: &'static str| {
        let mut ids: Vec<&str> = values.filter_map(Json::as_str).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.into_iter()
            .map(|id| (name, id.to_owned()))
            .collect::<Vec<_>>()
    };
    let networks = ids(&mut ports.iter().map(|port| &port["network_id"]), "id");
    let subnets = ids(&mut fixed_ips().map(|it| &it["subnet_id"]), "id");
    let of_ports = ids(&mut ports.iter().map(|port| &port["id"]), "port_id");
    let networks = list(on, "networks", "networks", networks);
    let subnets = async {
        match subnets.is_empty() {
            true => Ok(Vec::new()),
            false => list(on, "subnets", "subnets", subnets).await,
        }
    };
    let floating = list(on, "floatingips", "floatingips", of_ports);
    futures::future::try_join3(networks, subnets, floating).await
}

async fn list(
    on: CloudCall<'_>,
    path: &str,
    key: &str,
    query: Vec<(&'static str, String)>,
) -> Result<Vec<Json>, ProviderError> {
    let mut request = ServiceRequest::get(Service::Network, path);
    request.query = query;
    let mut answer = on.get(request).await?;
    match answer.get_mut(key).map(Json::take) {
        Some(Json::Array(all)) => Ok(all),
        _ => Ok(Vec::new()),
    }
}

fn by_id(objects: Vec<Json>) -> ById {
    let entry = |object: Json| Some((object["id"].as_str()?.to_owned(), object));
    objects.into_iter().filter_map(entry).collect()
}

/// The attribute `addresses` by the names of networks: for each address the port, the subnets and
/// the network. Heat gives the version as a list.
fn addresses_of(ports: &[Json], networks: &ById, subnets: &ById, floating: &[Json]) -> JsonMap {
    let mut all = JsonMap::new();
    for port in ports {
        let network_id = port["network_id"].as_str().unwrap_or_default();
        let network = networks.get(network_id).cloned().unwrap_or_default();
        let label = network["name"].as_str().unwrap_or(network_id).to_owned();
        let fixed_ips = port["fixed_ips"].as_array();
        let fixed_ips = fixed_ips.map(Vec::as_slice).unwrap_or_default();
        let of_port: Vec<&Json> = fixed_ips
            .iter()
            .filter_map(|it| subnets.get(it["subnet_id"].as_str()?))
            .collect();
        let mut entries = Vec::new();
        for fixed_ip in fixed_ips {
            let address = fixed_ip["ip_address"].as_str().unwrap_or_default();
            let version = version_of(address);
            let is_its =
                |it: &&Json| it["fixed_ip_address"] == address && it["port_id"] == port["id"];
            entries.extend(floating.iter().filter(is_its).map(|it| {
                json!({
                    "addr": it["floating_ip_address"],
                    "version": version,
                    "OS-EXT-IPS-MAC:mac_addr": port["mac_address"],
                    "OS-EXT-IPS:type": "floating",
                    "port": null,
                })
            }));
            entries.push(json!({
                "addr": address,
                "OS-EXT-IPS-MAC:mac_addr": port["mac_address"],
                "OS-EXT-IPS:type": "fixed",
                "port": port["id"],
                "version": version,
                "subnets": of_port,
                "network": network,
            }));
        }
        match all.entry(label).or_insert_with(|| json!([])) {
            Json::Array(all) => all.extend(entries),
            other => *other = json!(entries),
        }
    }
    all
}

fn version_of(address: &str) -> Json {
    match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => json!([4]),
        Ok(IpAddr::V6(_)) => json!([6]),
        Err(_) => Json::Null,
    }
}

/// The addresses that Nova shows, as texts by the names of networks.
fn texts_of(addresses: &Json) -> JsonMap {
    let networks = addresses.as_object().into_iter().flatten();
    let texts = networks.map(|(label, all)| {
        let all = all.as_array().into_iter().flatten();
        let texts = all.filter_map(|it| it.get("addr").cloned());
        (label.clone(), texts.collect())
    });
    texts.collect()
}

/// The first address of the last network that has one; empty if there is none.
fn first_address(texts: &JsonMap) -> String {
    let mut labels: Vec<&String> = texts.keys().collect();
    labels.sort_unstable();
    let first = |label: &&String| texts[label.as_str()][0].as_str();
    labels
        .iter()
        .rev()
        .find_map(first)
        .unwrap_or_default()
        .to_owned()
}

/// Adds the entries again under the ids of the networks, where one network has the name.
fn with_ids(mut entries: JsonMap, networks: &ById) -> Json {
    for (id, network) in networks {
        let name = &network["name"];
        let is_only = networks.values().filter(|it| it["name"] == *name).count() == 1;
        let value = name.as_str().and_then(|name| entries.get(name)).cloned();
        if let (true, Some(value)) = (is_only, value) {
            entries.insert(id.clone(), value);
        }
    }
    Json::Object(entries)
}

/// Whether the value of an attribute needs calls to Neutron.
pub(super) fn needs_completion(name: &str) -> bool {
    FROM_NEUTRON.contains(&name)
}

/// The value of an attribute that is no field of the server.
pub(super) fn attribute(name: &str, object: &Json) -> Option<Json> {
    match name {
        _ if needs_completion(name) => object[ASIDE].get(name).cloned(),
        "instance_name" => object.get("OS-EXT-SRV-ATTR:instance_name").cloned(),
        // It has a secret URL, which only the user data of the guest have.
        "os_collect_config" => Some(json!({})),
        "show" => {
            let mut shown = object.as_object().cloned()?;
            shown.insert("os_collect_config".to_owned(), json!({}));
            // Administrators see the user data, which may have secret URLs.
            shown.remove("OS-EXT-SRV-ATTR:user_data");
            Some(Json::Object(shown))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network() -> ById {
        by_id(vec![json!({"id": "n1", "name": "net"})])
    }

    #[test]
    fn addresses_have_their_ports_subnets_and_networks() {
        let ports = [json!({
            "id": "p1", "network_id": "n1", "mac_address": "fa:16:3e:00:00:01",
            "fixed_ips": [{"subnet_id": "s1", "ip_address": "10.0.0.5"}],
        })];
        let subnets = by_id(vec![json!({"id": "s1", "cidr": "10.0.0.0/24"})]);
        let floating = [json!({
            "port_id": "p1", "fixed_ip_address": "10.0.0.5", "floating_ip_address": "172.24.4.9",
        })];
        let found = addresses_of(&ports, &network(), &subnets, &floating);
        let expected = json!({"net": [
            {
                "addr": "172.24.4.9", "version": [4], "OS-EXT-IPS:type": "floating", "port": null,
                "OS-EXT-IPS-MAC:mac_addr": "fa:16:3e:00:00:01",
            },
            {
                "addr": "10.0.0.5", "version": [4], "OS-EXT-IPS:type": "fixed", "port": "p1",
                "OS-EXT-IPS-MAC:mac_addr": "fa:16:3e:00:00:01",
                "subnets": [{"id": "s1", "cidr": "10.0.0.0/24"}],
                "network": {"id": "n1", "name": "net"},
            },
        ]});
        assert_eq!(Json::Object(found), expected);
    }

    #[test]
    fn networks_are_listed_by_name_and_id() {
        let texts = texts_of(&json!({"net": [{"addr": "10.0.0.5"}, {"addr": "10.0.0.6"}]}));
        assert_eq!(first_address(&texts), "10.0.0.5");
        let expected = json!({"net": ["10.0.0.5", "10.0.0.6"], "n1": ["10.0.0.5", "10.0.0.6"]});
        assert_eq!(with_ids(texts, &network()), expected);
        assert_eq!(first_address(&texts_of(&json!({}))), "");
    }
}
