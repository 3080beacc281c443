//! The types of Nova besides servers: key pairs, flavors, server groups, host aggregates.

use std::sync::Arc;

use ::provider::{BoxFuture, ErrorKind, ProviderError, ResourceType};
use serde_json::{Value as Json, json};

use super::kinds::{PROJECT, USER};
use crate::client::{Service, ServiceRequest};
use crate::heat::uuid;
use crate::managed::{
    CloudCall, Form, Handler, Hooks, JsonMap, Managed, Mark, SpecChange, State, Update, hook,
    reference, renamed, same,
};

/// The types.
pub(super) static TYPES: &[&dyn Handler] = &[&KEY_PAIR, &FLAVOR, &SERVER_GROUP, &HOST_AGGREGATE];

/// What the tables have in common.
const NOVA: Managed = Managed {
    parent: None,
    name: "",
    service: Service::Compute,
    path: "",
    envelope: "",
    list: "",
    properties: &[],
    update: Update::Hook,
    mark: Mark::Name,
    state: State::NONE,
    busy: &[],
    hooks: &FlavorHooks,
};

static KEY_PAIR: Managed = Managed {
    name: "OS::Nova::KeyPair",
    path: "os-keypairs",
    envelope: "keypair",
    list: "keypairs",
    properties: &[
        same("name"),
        same("public_key"),
        same("type"),
        reference("user", "user_id", &USER),
        hook("save_private_key"),
    ],
    update: Update::Never,
    hooks: &KeyPairHooks,
    ..NOVA
};

static FLAVOR: Managed = Managed {
    name: "OS::Nova::Flavor",
    path: "flavors",
    envelope: "flavor",
    list: "flavors",
    properties: &[
        same("name"),
        renamed("flavorid", "id", Form::Same),
        same("ram"),
        same("vcpus"),
        same("disk"),
        same("swap"),
        renamed("ephemeral", "OS-FLV-EXT-DATA:ephemeral", Form::Same),
        same("rxtx_factor"),
        renamed("is_public", "os-flavor-access:is_public", Form::Same),
        hook("extra_specs"),
        hook("tenants"),
    ],
    ..NOVA
};

static SERVER_GROUP: Managed = Managed {
    name: "OS::Nova::ServerGroup",
    path: "os-server-groups",
    envelope: "server_group",
    list: "server_groups",
    properties: &[same("name"), hook("policies"), same("rules")],
    update: Update::Never,
    // Several groups may have one name, and no field is free.
    mark: Mark::None,
    hooks: &ServerGroupHooks,
    ..NOVA
};

static HOST_AGGREGATE: Managed = Managed {
    name: "OS::Nova::HostAggregate",
    path: "os-aggregates",
    envelope: "aggregate",
    list: "aggregates",
    properties: &[
        same("name"),
        same("availability_zone"),
        hook("hosts"),
        hook("metadata"),
    ],
    update: Update::Put,
    hooks: &HostAggregateHooks,
    ..NOVA
};

fn text<'j>(object: &'j Json, field: &str) -> &'j str {
    object[field].as_str().unwrap_or_default()
}

/// The texts of a list in a spec.
pub(super) fn texts<'s>(spec: &'s JsonMap, name: &str) -> Vec<&'s str> {
    let items = spec.get(name).and_then(Json::as_array);
    items
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect()
}

/// The hooks of key pairs.
struct KeyPairHooks;

impl Hooks for KeyPairHooks {
    /// The private key is always empty, so that no key is needed to store it.
    fn adjust(&self, ty: &mut ResourceType) {
        let schema = Arc::make_mut(&mut ty.schema);
        if let Some(field) = schema.fields.get_mut("private_key") {
            field.sensitive = false;
        }
    }

    fn create_body<'a>(
        &'a self,
        _on: CloudCall<'a>,
        spec: &'a JsonMap,
        _body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        let refused = match (spec.contains_key("public_key"), spec.contains_key("user")) {
            (false, _) => Some((
                "public_key",
                "Nova does not make keys any more; make one, and set `public_key`",
            )),
            // Every later request for the key pair would have to name the user.
            (true, true) => Some((
                "user",
                "a key pair belongs to the user who creates it; remove the property, and sign in \
                 as the user",
            )),
            (true, false) => None,
        };
        let answer = match refused {
            Some((field, why)) => Err(ProviderError::new(ErrorKind::Document, why).at(field)),
            None => Ok(()),
        };
        Box::pin(std::future::ready(answer))
    }

    fn id_field(&self) -> &'static str {
        "name"
    }

    fn attribute(&self, name: &str, _object: &Json) -> Option<Json> {
        // Nova makes no private keys.
        (name == "private_key").then(|| json!(""))
    }

    fn deletes_first(&self, prior: &JsonMap, desired: &JsonMap) -> bool {
        prior.get("name") == desired.get("name")
    }
}

/// The hooks of flavors.
struct FlavorHooks;

impl FlavorHooks {
    /// Gives or takes the access of a project to a flavor.
    async fn set_access(
        &self,
        on: CloudCall<'_>,
        id: &str,
        action: &str,
        project: &str,
    ) -> Result<(), ProviderError> {
        let path = format!("flavors/{id}/action");
        let body = json!({ action: { "tenant": project } });
        on.change(ServiceRequest::post(Service::Compute, path, body))
            .await?;
        Ok(())
    }

    /// The ids of the projects of a spec. A private flavor without projects is for the own one.
    async fn projects(
        &self,
        on: CloudCall<'_>,
        spec: &JsonMap,
    ) -> Result<Vec<String>, ProviderError> {
        if spec.get("is_public") != Some(&json!(false)) {
            return Ok(Vec::new());
        }
        let mut ids = Vec::new();
        for project in texts(spec, "tenants") {
            let id = on.id_of(&PROJECT, project).await;
            ids.push(id.map_err(|error| error.at("tenants"))?);
        }
        if ids.is_empty() {
            ids.push(on.cloud.project.clone());
        }
        Ok(ids)
    }

    async fn set_extra_specs(
        &self,
        on: CloudCall<'_>,
        id: &str,
        specs: &Json,
    ) -> Result<(), ProviderError> {
        if specs.as_object().is_none_or(JsonMap::is_empty) {
            return Ok(());
        }
        let path = format!("flavors/{id}/os-extra_specs");
        let body = json!({ "extra_specs": specs });
        on.change(ServiceRequest::post(Service::Compute, path, body))
            .await?;
        Ok(())
    }
}

impl Hooks for FlavorHooks {
    fn create_body<'a>(
        &'a self,
        on: CloudCall<'a>,
        _spec: &'a JsonMap,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        // A chosen id makes a repeated create fail instead of making a second flavor.
        body.entry("id")
            .or_insert_with(|| json!(uuid(on.call, "flavor").to_string()));
        Box::pin(std::future::ready(Ok(())))
    }

    fn created<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let id = text(object, "id").to_owned();
            if let Some(specs) = spec.get("extra_specs") {
                self.set_extra_specs(on, &id, specs).await?;
                object["extra_specs"] = specs.clone();
            }
            for project in self.projects(on, spec).await? {
                self.set_access(on, &id, "addTenantAccess", &project)
                    .await?;
            }
            Ok(())
        })
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let id = text(object, "id").to_owned();
            let none = json!({});
            let specs = change.desired.get("extra_specs").unwrap_or(&none);
            if object["extra_specs"] != *specs {
                let old = object["extra_specs"]
                    .as_object()
                    .cloned()
                    .unwrap_or_default();
                for key in old.keys().filter(|key| specs.get(key.as_str()).is_none()) {
                    let path = format!("flavors/{id}/os-extra_specs/{key}");
                    on.change(ServiceRequest::delete(Service::Compute, path))
                        .await?;
                }
                self.set_extra_specs(on, &id, specs).await?;
                object["extra_specs"] = specs.clone();
            }
            if !change.has("tenants") {
                return Ok(());
            }
            let wanted = self.projects(on, change.desired).await?;
            let path = format!("flavors/{id}/os-flavor-access");
            let answer = on.get(ServiceRequest::get(Service::Compute, path)).await?;
            let known = answer["flavor_access"].as_array();
            let known: Vec<&str> = known
                .into_iter()
                .flatten()
                .map(|it| text(it, "tenant_id"))
                .collect();
            for project in known.iter().filter(|id| wanted.iter().all(|it| it != *id)) {
                self.set_access(on, &id, "removeTenantAccess", project)
                    .await?;
            }
            for project in wanted.iter().filter(|id| !known.contains(&id.as_str())) {
                self.set_access(on, &id, "addTenantAccess", project).await?;
            }
            Ok(())
        })
    }

    fn property(&self, property: &str, object: &Json, _: &Json) -> Option<Json> {
        let specs = object.get("extra_specs").cloned();
        specs.filter(|_| property == "extra_specs")
    }

    fn attribute(&self, name: &str, object: &Json) -> Option<Json> {
        let is_public = object.get("os-flavor-access:is_public").cloned();
        is_public.filter(|_| name == "is_public")
    }

    fn list_call(&self) -> Option<ServiceRequest> {
        let all = ServiceRequest::get(Service::Compute, "flavors/detail");
        Some(all.with_query("is_public", "none"))
    }

    fn deletes_first(&self, prior: &JsonMap, desired: &JsonMap) -> bool {
        let same = |name: &str| prior.contains_key(name) && prior.get(name) == desired.get(name);
        same("name") || same("flavorid")
    }
}

/// The hooks of server groups.
struct ServerGroupHooks;

impl Hooks for ServerGroupHooks {
    fn create_body<'a>(
        &'a self,
        _on: CloudCall<'a>,
        spec: &'a JsonMap,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        // Nova takes one policy since version 2.64, and Heat sends the first one.
        if let Some(policy) = texts(spec, "policies").first() {
            body.insert("policy".to_owned(), json!(policy));
        }
        Box::pin(std::future::ready(Ok(())))
    }
}

/// The hooks of host aggregates.
struct HostAggregateHooks;

impl HostAggregateHooks {
    async fn act(
        &self,
        on: CloudCall<'_>,
        id: &str,
        action: &str,
        arguments: Json,
    ) -> Result<Json, ProviderError> {
        let path = format!("os-aggregates/{id}/action");
        let body = json!({ action: arguments });
        let answer = on
            .change(ServiceRequest::post(Service::Compute, path, body))
            .await;
        answer.map(|mut answer| {
            answer
                .get_mut("aggregate")
                .map(Json::take)
                .unwrap_or_default()
        })
    }

    /// Adds and removes hosts, and sets metadata.
    async fn settle(
        &self,
        on: CloudCall<'_>,
        spec: &JsonMap,
        object: &mut Json,
    ) -> Result<(), ProviderError> {
        let id = object["id"].to_string();
        let wanted = texts(spec, "hosts");
        let shown = object["hosts"].as_array().cloned().unwrap_or_default();
        let known: Vec<&str> = shown.iter().filter_map(Json::as_str).collect();
        for host in wanted.iter().filter(|host| !known.contains(host)) {
            *object = self
                .act(on, &id, "add_host", json!({ "host": host }))
                .await?;
        }
        for host in known.iter().filter(|host| !wanted.contains(host)) {
            *object = self
                .act(on, &id, "remove_host", json!({ "host": host }))
                .await?;
        }
        let none = JsonMap::new();
        let wanted = spec
            .get("metadata")
            .and_then(Json::as_object)
            .unwrap_or(&none);
        let known = own_metadata(object);
        if *wanted == known {
            return Ok(());
        }
        // Null removes an entry.
        let removed = known.keys().filter(|key| !wanted.contains_key(*key));
        let mut metadata: JsonMap = removed.map(|key| (key.clone(), Json::Null)).collect();
        metadata.extend(wanted.clone());
        let arguments = json!({ "metadata": metadata });
        *object = self.act(on, &id, "set_metadata", arguments).await?;
        Ok(())
    }
}

/// The metadata of an aggregate without the availability zone, which Nova keeps there, too.
fn own_metadata(object: &Json) -> JsonMap {
    let mut metadata = object["metadata"].as_object().cloned().unwrap_or_default();
    metadata.remove("availability_zone");
    metadata
}

impl Hooks for HostAggregateHooks {
    fn created<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(self.settle(on, spec, object))
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(self.settle(on, change.desired, object))
    }

    fn before_delete<'a>(
        &'a self,
        on: CloudCall<'a>,
        id: &'a str,
        _spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let path = format!("os-aggregates/{id}");
            let answer = match on.send(ServiceRequest::get(Service::Compute, path)).await {
                Ok(answer) => answer.body,
                Err(error) if error.is_not_found() => return Ok(()),
                Err(error) => return Err(error.into_provider_error(false)),
            };
            let hosts = answer["aggregate"]["hosts"].as_array();
            for host in hosts.into_iter().flatten() {
                self.act(on, id, "remove_host", json!({ "host": host }))
                    .await?;
            }
            Ok(())
        })
    }

    fn property(&self, property: &str, object: &Json, _: &Json) -> Option<Json> {
        match property {
            "hosts" => object.get("hosts").cloned(),
            "metadata" => Some(Json::Object(own_metadata(object))),
            _ => None,
        }
    }

    fn deletes_first(&self, prior: &JsonMap, desired: &JsonMap) -> bool {
        prior.get("name") == desired.get("name")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zone_is_no_metadata_of_the_template() {
        let aggregate = json!({"metadata": {"availability_zone": "az", "ssd": "true"}});
        assert_eq!(
            Json::Object(own_metadata(&aggregate)),
            json!({"ssd": "true"})
        );
    }

    #[test]
    fn a_name_that_stays_must_be_free_first() {
        let spec = |json: Json| json.as_object().cloned().unwrap_or_default();
        let old = spec(json!({"name": "a", "ram": 1}));
        let new = spec(json!({"name": "a", "ram": 2}));
        assert!(FlavorHooks.deletes_first(&old, &new));
        let unnamed = spec(json!({"ram": 1}));
        assert!(!FlavorHooks.deletes_first(&unnamed, &unnamed));
    }
}
