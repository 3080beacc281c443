//! The interfaces of a server: what a create asks for, and what a change attaches and detaches.

use std::collections::BTreeSet;

use ::provider::{ErrorKind, ProviderError};
use serde_json::{Value as Json, json};

use super::super::network::SUBNET;
use super::calls::refresh;
use super::entries::{entries_of, given, network_of, port_of};
use super::ports;
use crate::client::{Service, ServiceRequest};
use crate::managed::{CloudCall, JsonMap, Patience, SpecChange};

/// The seconds that the detachment of an interface may take.
const DETACHMENT: u64 = 300;

/// The word that leaves the interfaces to Nova, or forbids them.
fn allocation(entries: &[Json]) -> Option<&str> {
    entries
        .iter()
        .find_map(|entry| given(entry, "allocate_network"))
}

/// The networks of a create. Without entries Nova selects a network.
///
/// # Errors
/// [`ErrorKind::Document`] at an entry with a name that no object has; the errors of the calls that
/// make ports.
pub(super) async fn requested(on: CloudCall<'_>, spec: &JsonMap) -> Result<Json, ProviderError> {
    let entries = entries_of(spec);
    if entries.is_empty() {
        return Ok(json!("auto"));
    }
    if let Some(word) = allocation(entries) {
        return Ok(json!(word));
    }
    let mut made = ports::Makers::of_call(on, spec).await?;
    let mut all = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let at_entry = |error: ProviderError| match error.kind {
            ErrorKind::Document => error.at("networks"),
            _ => error,
        };
        let port = port_of(on, entry).await.map_err(at_entry)?;
        let port = match port {
            None if ports::is_needed(entry) => Some(made.port(on, index, entry).await?),
            port => port,
        };
        let mut one = JsonMap::new();
        match port {
            Some(port) => {
                one.insert("port".to_owned(), json!(port));
            }
            None => {
                let network = network_of(on, entry).await.map_err(at_entry)?;
                one.extend(network.map(|id| ("uuid".to_owned(), json!(id))));
                let address = given(entry, "fixed_ip");
                one.extend(address.map(|address| ("fixed_ip".to_owned(), json!(address))));
            }
        }
        one.extend(given(entry, "tag").map(|tag| ("tag".to_owned(), json!(tag))));
        all.push(Json::Object(one));
    }
    Ok(Json::Array(all))
}

/// Associates the floating IPs of entries with the ports of a new server.
///
/// # Errors
/// The errors of the calls.
pub(super) async fn associate_floating_ips(
    on: CloudCall<'_>,
    spec: &JsonMap,
    object: &Json,
) -> Result<(), ProviderError> {
    let with_address = |entry: &&Json| given(entry, "floating_ip").is_some();
    let own = ports::recorded(object);
    let mut own = own.iter();
    for entry in entries_of(spec) {
        let port = match port_of(on, entry).await? {
            None if ports::is_needed(entry) => own.next().cloned(),
            port => port,
        };
        if let (true, Some(port)) = (with_address(&entry), port) {
            associate(on, entry, &port).await?;
        }
    }
    Ok(())
}

/// Associates the floating IP of an entry with a port.
async fn associate(on: CloudCall<'_>, entry: &Json, port: &str) -> Result<(), ProviderError> {
    let Some(address) = given(entry, "floating_ip") else {
        return Ok(());
    };
    let mut body = json!({ "port_id": port });
    if let Some(fixed) = given(entry, "fixed_ip") {
        body["fixed_ip_address"] = json!(fixed);
    }
    let path = format!("floatingips/{address}");
    let body = json!({ "floatingip": body });
    on.change(ServiceRequest::put(Service::Network, path, body))
        .await?;
    Ok(())
}

/// Whether two specs use the same given port, or the same address of a network: only one server at
/// a time can have it.
pub(super) fn share_an_address(prior: &JsonMap, desired: &JsonMap) -> bool {
    let used = |spec| -> BTreeSet<(String, String)> {
        let entries = entries_of(spec).iter().filter_map(|entry| {
            let network = ["network", "uuid", "subnet"];
            let network = network.into_iter().find_map(|name| given(entry, name));
            match (given(entry, "port"), given(entry, "fixed_ip")) {
                (Some(port), _) => Some((String::new(), port.to_owned())),
                (None, Some(address)) => Some((network?.to_owned(), address.to_owned())),
                (None, None) => None,
            }
        });
        entries.collect()
    };
    !used(prior).is_disjoint(&used(desired))
}

/// What a change of the networks attaches and detaches.
struct InterfaceChange<'s> {
    /// The entries that need an interface, with their positions.
    attached: Vec<(usize, &'s Json)>,
    /// The ports of interfaces that no entry needs any more.
    detached: Vec<String>,
}

/// Attaches and detaches interfaces.
///
/// # Errors
/// The errors of the calls; [`ErrorKind::TimedOut`] if Nova does not detach an interface in time.
pub(super) async fn update(
    on: CloudCall<'_>,
    change: SpecChange<'_>,
    object: &mut Json,
) -> Result<(), ProviderError> {
    let id = object["id"].as_str().unwrap_or_default().to_owned();
    let all = interfaces(on, &id).await?;
    let needed = compared(on, change, all).await?;
    for port in &needed.detached {
        let path = format!("servers/{id}/os-interface/{port}");
        let sent = on
            .send(ServiceRequest::delete(Service::Compute, path))
            .await;
        if let Err(error) = sent
            && !error.is_not_found()
        {
            return Err(error.into_provider_error(true));
        }
        wait_until_detached(on, &id, port).await?;
        ports::delete_own(on, port, object).await?;
    }
    let mut made = ports::Makers::of_call(on, change.desired).await?;
    for (index, entry) in needed.attached {
        let port = match port_of(on, entry).await? {
            None if ports::is_needed(entry) => {
                let port = made.port(on, index, entry).await?;
                ports::keep(&port, object);
                Some(port)
            }
            port => port,
        };
        attach(on, &id, entry, port, change.desired).await?;
    }
    refresh(on, object).await
}

/// The interfaces of a server.
async fn interfaces(on: CloudCall<'_>, id: &str) -> Result<Vec<Json>, ProviderError> {
    let path = format!("servers/{id}/os-interface");
    let mut answer = on.get(ServiceRequest::get(Service::Compute, path)).await?;
    match answer.get_mut("interfaceAttachments").map(Json::take) {
        Some(Json::Array(all)) => Ok(all),
        _ => Ok(Vec::new()),
    }
}

async fn wait_until_detached(on: CloudCall<'_>, id: &str, port: &str) -> Result<(), ProviderError> {
    let mut patience = Patience::of_seconds(DETACHMENT);
    while interfaces(on, id)
        .await?
        .iter()
        .any(|it| it["port_id"] == port)
    {
        let what = format!("Nova has detached the port {port}");
        patience.pause(on, &what).await?;
    }
    Ok(())
}

/// An entry with its names as ids.
struct Resolved<'s> {
    entry: &'s Json,
    port: Option<String>,
    network: Option<String>,
    subnet: Option<String>,
}

async fn resolved<'s>(on: CloudCall<'_>, entry: &'s Json) -> Result<Resolved<'s>, ProviderError> {
    let subnet = match given(entry, "subnet") {
        Some(subnet) => Some(on.id_of(&SUBNET, subnet).await?),
        None => None,
    };
    Ok(Resolved {
        entry,
        port: port_of(on, entry).await?,
        network: network_of(on, entry).await?,
        subnet,
    })
}

impl Resolved<'_> {
    /// Whether an interface is one that this entry describes.
    fn fits(&self, interface: &Json) -> bool {
        if let Some(port) = &self.port {
            return interface["port_id"] == port.as_str();
        }
        let has = |field: &str, value: &str| {
            let addresses = interface["fixed_ips"].as_array();
            addresses.is_some_and(|all| all.iter().any(|it| it[field] == value))
        };
        let network = self.network.as_deref();
        network.is_none_or(|network| interface["net_id"] == network)
            && self
                .subnet
                .as_deref()
                .is_none_or(|subnet| has("subnet_id", subnet))
            && given(self.entry, "fixed_ip").is_none_or(|address| has("ip_address", address))
    }

    /// How much an entry demands of an interface: the most demanding ones choose first.
    fn demands(&self) -> usize {
        let fixed = given(self.entry, "fixed_ip").is_some();
        let flags = [self.port.is_some(), fixed, self.subnet.is_some()];
        flags.into_iter().filter(|flag| *flag).count()
    }
}

/// Compares the entries of a change with the interfaces of the server. Interfaces that neither the
/// former nor the new entries describe are of somebody else, and stay.
async fn compared<'s>(
    on: CloudCall<'_>,
    change: SpecChange<'s>,
    mut interfaces: Vec<Json>,
) -> Result<InterfaceChange<'s>, ProviderError> {
    let (old, new) = (entries_of(change.prior), entries_of(change.desired));
    let port_of = |it: &Json| it["port_id"].as_str().map(str::to_owned);
    if let Some(word) = allocation(new) {
        let attached = match word {
            "auto" => new.iter().enumerate().take(1).collect(),
            _ => Vec::new(),
        };
        let detached = interfaces.iter().filter_map(port_of).collect();
        return Ok(InterfaceChange { attached, detached });
    }
    let mut wanted = Vec::with_capacity(new.len());
    for (index, entry) in new.iter().enumerate() {
        wanted.push((index, resolved(on, entry).await?));
    }
    wanted.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.demands()));
    // Nova selected the interfaces of a server without entries: all of them are replaced.
    let selected_by_nova = old.is_empty() || allocation(old).is_some();
    let mut attached = Vec::new();
    for (index, entry) in wanted {
        let found = interfaces.iter().position(|it| entry.fits(it));
        match found.filter(|_| !selected_by_nova && !changes_port(old, entry.entry)) {
            Some(at) => {
                interfaces.remove(at);
            }
            None => attached.push((index, entry.entry)),
        }
    }
    attached.sort_by_key(|(index, _)| *index);
    let mut former = Vec::with_capacity(old.len());
    for entry in old {
        former.push(resolved(on, entry).await?);
    }
    let detached = interfaces
        .iter()
        .filter(|it| selected_by_nova || former.iter().any(|entry| entry.fits(it)));
    Ok(InterfaceChange {
        detached: detached.filter_map(port_of).collect(),
        attached,
    })
}

/// Whether an entry sets other properties of its own port than any former entry for the same place.
fn changes_port(old: &[Json], entry: &Json) -> bool {
    let place =
        |it: &Json| ["network", "uuid", "subnet", "fixed_ip", "port"].map(|name| it[name].clone());
    let extra = |it: &Json| it["port_extra_properties"].clone();
    let mut same_place = old.iter().filter(|it| place(it) == place(entry)).peekable();
    same_place.peek().is_some() && same_place.all(|it| extra(it) != extra(entry))
}

/// Attaches an interface for an entry.
async fn attach(
    on: CloudCall<'_>,
    id: &str,
    entry: &Json,
    port: Option<String>,
    spec: &JsonMap,
) -> Result<(), ProviderError> {
    let mut body = JsonMap::new();
    match &port {
        Some(port) => {
            body.insert("port_id".to_owned(), json!(port));
        }
        None => {
            let network = network_of(on, entry).await?;
            body.extend(network.map(|id| ("net_id".to_owned(), json!(id))));
            let address = given(entry, "fixed_ip");
            let fixed = address.map(|address| json!([{ "ip_address": address }]));
            body.extend(fixed.map(|fixed| ("fixed_ips".to_owned(), fixed)));
        }
    }
    body.extend(given(entry, "tag").map(|tag| ("tag".to_owned(), json!(tag))));
    let path = format!("servers/{id}/os-interface");
    let body = json!({ "interfaceAttachment": body });
    let answer = on
        .change(ServiceRequest::post(Service::Compute, path, body))
        .await?;
    let attached = answer["interfaceAttachment"]["port_id"].as_str();
    let groups = ports::group_ids(on, spec).await?;
    if let (Some(made), None, false) = (attached, &port, groups.is_empty()) {
        // Nova gives a port that it makes for an attachment the default group.
        let path = format!("ports/{made}");
        let body = json!({ "port": { "security_groups": groups } });
        on.change(ServiceRequest::put(Service::Network, path, body))
            .await?;
    }
    match port.as_deref().or(attached) {
        Some(port) => associate(on, entry, port).await,
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(networks: Json) -> JsonMap {
        JsonMap::from_iter([("networks".to_owned(), networks)])
    }

    #[test]
    fn a_given_port_is_for_one_server_at_a_time() {
        let port = spec(json!([{"port": "p", "network": null}]));
        let other = spec(json!([{"port": "q"}, {"network": "n"}]));
        assert!(share_an_address(&port, &port));
        assert!(!share_an_address(&port, &other));
        let fixed = spec(json!([{"network": "n", "fixed_ip": "10.0.0.5"}]));
        assert!(share_an_address(&fixed, &fixed));
        let elsewhere = spec(json!([{"network": "m", "fixed_ip": "10.0.0.5"}]));
        assert!(!share_an_address(&fixed, &elsewhere));
        let network = spec(json!([{"network": "n"}]));
        assert!(!share_an_address(&network, &network));
    }

    #[test]
    fn an_entry_fits_the_interface_that_it_describes() {
        let interface = json!({
            "port_id": "p", "net_id": "n",
            "fixed_ips": [{"subnet_id": "s", "ip_address": "10.0.0.5"}],
        });
        let entry = |json: &'static str| serde_json::from_str::<Json>(json).unwrap_or_default();
        let fits = |entry: &Json| {
            let id = |name| given(entry, name).map(str::to_owned);
            let (port, network, subnet) = (id("port"), id("network"), id("subnet"));
            let resolved = Resolved {
                entry,
                port,
                network,
                subnet,
            };
            resolved.fits(&interface)
        };
        assert!(fits(&entry(r#"{"port": "p"}"#)));
        assert!(!fits(&entry(r#"{"port": "q"}"#)));
        assert!(fits(&entry(r#"{"network": "n"}"#)));
        assert!(fits(&entry(r#"{"network": "n", "fixed_ip": "10.0.0.5"}"#)));
        assert!(!fits(&entry(r#"{"network": "n", "fixed_ip": "10.0.0.6"}"#)));
        assert!(!fits(&entry(r#"{"network": "n", "subnet": "t"}"#)));
    }

    #[test]
    fn other_properties_of_an_own_port_need_another_port() {
        let old = [json!({"network": "n", "port_extra_properties": {"admin_state_up": true}})];
        assert!(!changes_port(&old, &old[0]));
        let new = json!({"network": "n", "port_extra_properties": {"admin_state_up": false}});
        assert!(changes_port(&old, &new));
        assert!(!changes_port(&old, &json!({"network": "m"})));
    }
}
