//! What is added to routers: interfaces, a gateway, routes.

use ::provider::{BoxFuture, ErrorKind, Operation, ProviderError};
use serde_json::{Value as Json, json};

use crate::client::{Service, ServiceRequest};
use crate::managed::{
    Busy, CloudCall, JsonMap, Property, Related, Relation, patiently, reference, same,
};

use super::kinds::{NETWORK, PORT, ROUTER, SUBNET};

pub(super) static INTERFACE: Related<RouterInterface> = Related(RouterInterface);
pub(super) static GATEWAY: Related<RouterGateway> = Related(RouterGateway);
pub(super) static ROUTES: Related<ExtraRoutes> = Related(ExtraRoutes);

/// The text of a field.
fn text<'a>(body: &'a JsonMap, field: &str) -> &'a str {
    body.get(field).and_then(Json::as_str).unwrap_or_default()
}

/// Sends a request that undoes something. Does nothing if it is undone.
async fn undo(
    on: CloudCall<'_>,
    busy: &[Busy],
    request: ServiceRequest,
) -> Result<(), ProviderError> {
    match patiently(on, busy, Operation::Delete, request).await {
        Ok(_) => Ok(()),
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(error.into_provider_error(true)),
    }
}

/// The router of a body; `None` if it does not exist.
async fn router(
    on: CloudCall<'_>,
    body: &JsonMap,
    field: &str,
) -> Result<Option<Json>, ProviderError> {
    let path = format!("routers/{}", text(body, field));
    match on.send(ServiceRequest::get(Service::Network, path)).await {
        Ok(mut answer) => Ok(Some(answer.body["router"].take())),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into_provider_error(false)),
    }
}

/// The error of a change that the catalogue makes a replacement.
fn only_replaced() -> ProviderError {
    ProviderError::new(ErrorKind::Permanent, "it can only be replaced")
}

/// An interface of a router in a subnet, or with a given port.
pub(super) struct RouterInterface;

/// What an interface is made of, as a field of the request.
fn end(body: &JsonMap) -> Result<(&'static str, &str), ProviderError> {
    let ends = ["subnet_id", "port_id"].map(|field| (field, text(body, field)));
    let mut given = ends.into_iter().filter(|(_, id)| !id.is_empty());
    match (given.next(), given.next()) {
        (Some(end), None) => Ok(end),
        _ => {
            let message = "a router interface needs either `subnet` or `port`";
            Err(ProviderError::new(ErrorKind::Document, message).at("subnet"))
        }
    }
}

impl RouterInterface {
    fn request(body: &JsonMap, action: &str) -> Result<ServiceRequest, ProviderError> {
        let (field, id) = end(body)?;
        let path = format!("routers/{}/{action}", text(body, "router_id"));
        Ok(ServiceRequest::put(
            Service::Network,
            path,
            json!({ field: id }),
        ))
    }
}

impl Relation for RouterInterface {
    fn type_name(&self) -> &'static str {
        "OS::Neutron::RouterInterface"
    }

    const PROPERTIES: &'static [Property] = &[
        reference("router", "router_id", &ROUTER).recorded(),
        reference("subnet", "subnet_id", &SUBNET).recorded(),
        reference("port", "port_id", &PORT).recorded(),
    ];

    fn id(&self, _: CloudCall<'_>, _: &str, body: &JsonMap) -> String {
        let (field, end) = end(body).unwrap_or_default();
        format!("{}:{field}={end}", text(body, "router_id"))
    }

    fn establish<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Json, ProviderError>> {
        Box::pin(async move {
            on.change(RouterInterface::request(body, "add_router_interface")?)
                .await?;
            Ok(json!({"router_id": text(body, "router_id")}))
        })
    }

    fn find<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Option<Json>, ProviderError>> {
        Box::pin(async move {
            let (field, id) = end(body)?;
            let router = text(body, "router_id");
            // An interface is a port of the router.
            let request = ServiceRequest::get(Service::Network, "ports");
            let request = request.with_query("device_id", router);
            let request = match field {
                "port_id" => request.with_query("id", id),
                _ => request.with_query("fixed_ips", format!("subnet_id={id}")),
            };
            let answer = on.get(request).await?;
            let ports = answer["ports"].as_array();
            let mut owners = ports
                .into_iter()
                .flatten()
                .map(|port| &port["device_owner"]);
            // A gateway is a port of the router too. Interfaces of distributed and highly available
            // routers have owners of their own.
            let found = owners.any(|owner| owner != "network:router_gateway");
            Ok(found.then(|| json!({"router_id": router})))
        })
    }

    fn change<'a>(
        &'a self,
        _: CloudCall<'a>,
        _: &'a JsonMap,
        _: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Json, ProviderError>> {
        Box::pin(async { Err(only_replaced()) })
    }

    fn dissolve<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            // Floating IPs and routes that are deleted in the same run still use the interface.
            let request = RouterInterface::request(body, "remove_router_interface")?;
            undo(on, &[Busy::delete(409)], request).await
        })
    }

    fn deletes_first(&self, prior: &JsonMap, desired: &JsonMap) -> bool {
        // The address of the gateway belongs to one interface. An interface in another subnet can
        // be made first, so that ports move to it meanwhile.
        let ends = ["subnet", "port"];
        let mut given = ends.iter().filter(|end| prior.contains_key(**end));
        given.any(|end| prior.get(*end) == desired.get(*end))
    }
}

/// The gateway of a router.
pub(super) struct RouterGateway;

impl RouterGateway {
    fn request(body: &JsonMap, info: Json) -> ServiceRequest {
        let path = format!("routers/{}", text(body, "router_id"));
        let body = json!({"router": {"external_gateway_info": info}});
        ServiceRequest::put(Service::Network, path, body)
    }
}

impl Relation for RouterGateway {
    fn type_name(&self) -> &'static str {
        "OS::Neutron::RouterGateway"
    }

    const PROPERTIES: &'static [Property] = &[
        reference("router_id", "router_id", &ROUTER).recorded(),
        reference("network", "network_id", &NETWORK).recorded(),
    ];

    fn id(&self, _: CloudCall<'_>, _: &str, body: &JsonMap) -> String {
        format!("{}:{}", text(body, "router_id"), text(body, "network_id"))
    }

    fn establish<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Json, ProviderError>> {
        Box::pin(async move {
            let info = json!({"network_id": text(body, "network_id")});
            on.change(RouterGateway::request(body, info)).await?;
            Ok(Json::Object(body.clone()))
        })
    }

    fn find<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Option<Json>, ProviderError>> {
        Box::pin(async move {
            let router = router(on, body, "router_id").await?.unwrap_or_default();
            let network = &router["external_gateway_info"]["network_id"];
            let found = *network == text(body, "network_id");
            Ok(found.then(|| Json::Object(body.clone())))
        })
    }

    fn change<'a>(
        &'a self,
        _: CloudCall<'a>,
        _: &'a JsonMap,
        _: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Json, ProviderError>> {
        Box::pin(async { Err(only_replaced()) })
    }

    fn dissolve<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            // A gateway to another network is not this one.
            if self.find(on, body).await?.is_none() {
                return Ok(());
            }
            let request = RouterGateway::request(body, json!({}));
            undo(on, &[Busy::delete(409)], request).await
        })
    }

    fn deletes_first(&self, prior: &JsonMap, desired: &JsonMap) -> bool {
        // A router has one gateway.
        prior.get("router_id") == desired.get("router_id")
    }
}

/// Routes of a router beside those that others have added.
pub(super) struct ExtraRoutes;

/// The routes of a body that another list does not have.
fn routes_only_in(one: &Json, other: &Json) -> Vec<Json> {
    let other = other.as_array().map(Vec::as_slice).unwrap_or_default();
    let one = one.as_array().into_iter().flatten();
    one.filter(|route| !other.contains(route))
        .cloned()
        .collect()
}

fn routes(body: &JsonMap) -> Json {
    body.get("routes").cloned().unwrap_or_else(|| json!([]))
}

impl ExtraRoutes {
    fn request(body: &JsonMap, action: &str, routes: &[Json]) -> ServiceRequest {
        let path = format!("routers/{}/{action}", text(body, "router_id"));
        let body = json!({"router": {"routes": routes}});
        ServiceRequest::put(Service::Network, path, body)
    }

    /// Adds routes that the router must not have yet: somebody else would have added them.
    async fn add(
        &self,
        on: CloudCall<'_>,
        body: &JsonMap,
        added: &[Json],
    ) -> Result<(), ProviderError> {
        let router = router(on, body, "router_id").await?.unwrap_or_default();
        let present = router["routes"].as_array();
        let mut present = present.into_iter().flatten();
        if let Some(twice) = present.find(|route| added.contains(route)) {
            let message = format!("the router already has the route {twice}");
            return Err(ProviderError::new(ErrorKind::Document, message).at("routes"));
        }
        on.change(ExtraRoutes::request(body, "add_extraroutes", added))
            .await?;
        Ok(())
    }

    fn shown(body: &JsonMap) -> Json {
        json!({"router_id": text(body, "router_id"), "routes": routes(body)})
    }
}

impl Relation for ExtraRoutes {
    fn type_name(&self) -> &'static str {
        "OS::Neutron::ExtraRouteSet"
    }

    const PROPERTIES: &'static [Property] = &[
        reference("router", "router_id", &ROUTER).recorded(),
        same("routes"),
    ];

    fn id(&self, _: CloudCall<'_>, _: &str, body: &JsonMap) -> String {
        text(body, "router_id").to_owned()
    }

    fn establish<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Json, ProviderError>> {
        Box::pin(async move {
            let added = routes_only_in(&routes(body), &Json::Null);
            self.add(on, body, &added).await?;
            Ok(ExtraRoutes::shown(body))
        })
    }

    fn find<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Option<Json>, ProviderError>> {
        Box::pin(async move {
            let Some(router) = router(on, body, "router_id").await? else {
                return Ok(None);
            };
            let declared = routes(body);
            let missing = routes_only_in(&declared, &router["routes"]);
            let present = routes_only_in(&declared, &json!(missing));
            // A set without any of its routes does not exist, unless it is empty.
            let exists = missing.is_empty() || !present.is_empty();
            Ok(exists.then(|| json!({"router_id": text(body, "router_id"), "routes": present})))
        })
    }

    fn change<'a>(
        &'a self,
        on: CloudCall<'a>,
        prior: &'a JsonMap,
        desired: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Json, ProviderError>> {
        Box::pin(async move {
            let (before, now) = (routes(prior), routes(desired));
            // Removed first: no moment has two routes to one network that were not meant.
            let removed = routes_only_in(&before, &now);
            if !removed.is_empty() {
                on.change(ExtraRoutes::request(prior, "remove_extraroutes", &removed))
                    .await?;
            }
            let added = routes_only_in(&now, &before);
            if !added.is_empty() {
                self.add(on, desired, &added).await?;
            }
            Ok(ExtraRoutes::shown(desired))
        })
    }

    fn dissolve<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let all = routes_only_in(&routes(body), &Json::Null);
            let request = ExtraRoutes::request(body, "remove_extraroutes", &all);
            undo(on, &[], request).await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(entries: Json) -> JsonMap {
        entries.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn an_interface_has_a_subnet_or_a_port() {
        let request = |entries: Json| {
            let request = RouterInterface::request(&body(entries), "add_router_interface");
            request
                .ok()
                .map(|request| (request.path, request.body.unwrap_or_default()))
        };
        let path = "routers/r/add_router_interface".to_owned();
        assert_eq!(
            request(json!({"router_id": "r", "subnet_id": "s"})),
            Some((path.clone(), json!({"subnet_id": "s"})))
        );
        assert_eq!(
            request(json!({"router_id": "r", "port_id": "p"})),
            Some((path, json!({"port_id": "p"})))
        );
        assert_eq!(request(json!({"router_id": "r"})), None);
        assert_eq!(
            request(json!({"router_id": "r", "port_id": "p", "subnet_id": "s"})),
            None
        );
    }

    #[test]
    fn an_interface_is_undone_first_if_its_subnet_gets_another_router() {
        let spec = |router: &str, subnet: &str| body(json!({"router": router, "subnet": subnet}));
        let first = |a: &JsonMap, b: &JsonMap| RouterInterface.deletes_first(a, b);
        assert!(first(&spec("r", "s"), &spec("q", "s")));
        assert!(!first(&spec("r", "s"), &spec("r", "t")));
        assert!(!first(&spec("r", "s"), &body(json!({"router": "q"}))));
    }

    #[test]
    fn a_route_is_added_or_removed_once() {
        let route = |to: &str| json!({"destination": to, "nexthop": "10.0.0.1"});
        let before = json!([route("10.1.0.0/24"), route("10.2.0.0/24")]);
        let now = json!([route("10.2.0.0/24"), route("10.3.0.0/24")]);
        assert_eq!(routes_only_in(&before, &now), [route("10.1.0.0/24")]);
        assert_eq!(routes_only_in(&now, &before), [route("10.3.0.0/24")]);
    }
}
