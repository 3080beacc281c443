//! Floating IPs, their ports, and the forwarding of single ports.

use ::provider::{BoxFuture, ProviderError};
use serde_json::{Value as Json, json};

use crate::client::{Service, ServiceRequest};
use crate::heat::short_digest;
use crate::managed::{
    CloudCall, Form, Hooks, JsonMap, Managed, Mark, Parent, Property, Related, Relation,
    SpecChange, State, ignored, reference, renamed, same, spread,
};

use super::common::NEUTRON;
use super::kinds::{FLOATING_IP as FLOATING_IPS, NETWORK, PORT, SUBNET};

pub(super) static FLOATING_IP: Managed = Managed {
    name: "OS::Neutron::FloatingIP",
    path: "floatingips",
    envelope: "floatingip",
    list: "floatingips",
    properties: &[
        reference("floating_network", "floating_network_id", &NETWORK),
        reference("floating_subnet", "subnet_id", &SUBNET).recorded(),
        same("floating_ip_address"),
        reference("port_id", "port_id", &PORT),
        same("fixed_ip_address"),
        same("dns_name"),
        same("dns_domain"),
        spread("value_specs"),
    ],
    hooks: &FloatingIpHooks,
    ..NEUTRON
};

pub(super) static PORT_FORWARD: Managed = Managed {
    name: "OS::Neutron::FloatingIPPortForward",
    path: "floatingips/{parent}/port_forwardings",
    parent: Some(Parent {
        property: "floating_ip",
        kind: &FLOATING_IPS,
    }),
    envelope: "port_forwarding",
    list: "port_forwardings",
    properties: &[
        ignored("floating_ip"),
        reference("internal_port", "internal_port_id", &PORT),
        same("internal_ip_address"),
        renamed("internal_port_number", "internal_port", Form::Same),
        same("external_port"),
        same("protocol"),
    ],
    // Neutron forwards a port of a floating IP to one place.
    mark: Mark::Unique(&["external_port", "protocol"]),
    state: State::NONE,
    ..NEUTRON
};

pub(super) static ASSOCIATION: Related<FloatingIpAssociation> = Related(FloatingIpAssociation);

/// The hooks of floating IPs.
struct FloatingIpHooks;

impl Hooks for FloatingIpHooks {
    fn update_body<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
        _: &'a Json,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let fields = ["port_id", "fixed_ip_address"];
            if !fields.iter().any(|field| body.contains_key(*field)) {
                return Ok(());
            }
            // The address belongs to the port, so both are sent together.
            let text = |name: &str| change.desired.get(name).and_then(Json::as_str);
            let port = match text("port_id") {
                Some(named) => json!(on.id_of(&PORT, named).await?),
                None => Json::Null,
            };
            let has_port = !port.is_null();
            body.insert("port_id".to_owned(), port);
            match text("fixed_ip_address") {
                Some(address) => body.insert("fixed_ip_address".to_owned(), json!(address)),
                // Neutron chooses an address of the port.
                None if has_port => body.remove("fixed_ip_address"),
                None => body.insert("fixed_ip_address".to_owned(), Json::Null),
            };
            Ok(())
        })
    }

    fn refuses(&self, change: SpecChange<'_>) -> Option<(&'static str, &'static str)> {
        let fields = ["dns_name", "dns_domain"];
        let changed = fields.into_iter().find(|field| change.has(field))?;
        let reason =
            "Neutron cannot change it; a floating IP with another name is another resource";
        Some((changed, reason))
    }

    fn deletes_first(&self, prior: &JsonMap, desired: &JsonMap) -> bool {
        // A port address has one floating IP of a network, and a chosen address exists once.
        let same = |name: &str| prior.contains_key(name) && prior.get(name) == desired.get(name);
        same("port_id") || same("floating_ip_address")
    }
}

/// The port that a floating IP leads to.
pub(super) struct FloatingIpAssociation;

/// The text of a field.
fn text<'a>(body: &'a JsonMap, field: &str) -> &'a str {
    body.get(field).and_then(Json::as_str).unwrap_or_default()
}

impl FloatingIpAssociation {
    /// Lets the floating IP lead to a port, or to none.
    fn request(body: &JsonMap, port: Json) -> ServiceRequest {
        let mut fields = JsonMap::from_iter([("port_id".to_owned(), port)]);
        let address = body.get("fixed_ip_address");
        if let Some(address) = address.filter(|_| !fields["port_id"].is_null()) {
            fields.insert("fixed_ip_address".to_owned(), address.clone());
        }
        let path = format!("floatingips/{}", text(body, "floatingip_id"));
        ServiceRequest::put(Service::Network, path, json!({ "floatingip": fields }))
    }

    fn shown(floating_ip: &Json) -> Json {
        json!({
            "floatingip_id": floating_ip["id"],
            "port_id": floating_ip["port_id"],
            "fixed_ip_address": floating_ip["fixed_ip_address"],
        })
    }
}

impl Relation for FloatingIpAssociation {
    fn type_name(&self) -> &'static str {
        "OS::Neutron::FloatingIPAssociation"
    }

    const PROPERTIES: &'static [Property] = &[
        reference("floatingip_id", "floatingip_id", &FLOATING_IPS).recorded(),
        reference("port_id", "port_id", &PORT).recorded(),
        same("fixed_ip_address"),
    ];

    fn id(&self, _: CloudCall<'_>, token: &str, _: &JsonMap) -> String {
        // Both ends may change, so the id names neither.
        short_digest(&["association", token])
    }

    fn establish<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Json, ProviderError>> {
        Box::pin(async move {
            let port = json!(text(body, "port_id"));
            let answer = on
                .change(FloatingIpAssociation::request(body, port))
                .await?;
            Ok(FloatingIpAssociation::shown(&answer["floatingip"]))
        })
    }

    fn find<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Option<Json>, ProviderError>> {
        Box::pin(async move {
            let path = format!("floatingips/{}", text(body, "floatingip_id"));
            let answer = match on.send(ServiceRequest::get(Service::Network, path)).await {
                Ok(answer) => answer.body,
                Err(error) if error.is_not_found() => return Ok(None),
                Err(error) => return Err(error.into_provider_error(false)),
            };
            let floating_ip = &answer["floatingip"];
            let found = floating_ip["port_id"] == text(body, "port_id");
            Ok(found.then(|| FloatingIpAssociation::shown(floating_ip)))
        })
    }

    fn change<'a>(
        &'a self,
        on: CloudCall<'a>,
        prior: &'a JsonMap,
        desired: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Json, ProviderError>> {
        Box::pin(async move {
            if prior.get("floatingip_id") != desired.get("floatingip_id") {
                self.dissolve(on, prior).await?;
            }
            self.establish(on, desired).await
        })
    }

    fn dissolve<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            // A floating IP that leads elsewhere, or is gone, stays as it is.
            if self.find(on, body).await?.is_none() {
                return Ok(());
            }
            match on
                .send(FloatingIpAssociation::request(body, Json::Null))
                .await
            {
                Ok(_) => Ok(()),
                Err(error) if error.is_not_found() => Ok(()),
                Err(error) => Err(error.into_provider_error(true)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_association_sends_an_address_only_with_a_port() {
        let entries = json!({"floatingip_id": "f", "port_id": "p", "fixed_ip_address": "10.0.0.9"});
        let body = entries.as_object().cloned().unwrap_or_default();
        let made = FloatingIpAssociation::request(&body, json!("p"));
        assert_eq!(made.path, "floatingips/f");
        assert_eq!(
            made.body,
            Some(json!({"floatingip": {"port_id": "p", "fixed_ip_address": "10.0.0.9"}}))
        );
        let undone = FloatingIpAssociation::request(&body, Json::Null);
        assert_eq!(undone.body, Some(json!({"floatingip": {"port_id": null}})));
    }
}
