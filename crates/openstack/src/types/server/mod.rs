//! `OS::Nova::Server`.
//!
//! `body.rs` has the parts of a create that are no plain fields, `user_data.rs` what a guest gets,
//! `networks.rs` the interfaces, `ports.rs` the ports that a server gets of its own, `update.rs`
//! the changes, `attributes.rs` what other services know about a server. `calls.rs` and
//! `entries.rs` are what these have in common.
//!
//! Not here: volumes that are attached later (`attachment.rs`).

mod attributes;
mod body;
mod calls;
mod entries;
mod networks;
mod ports;
mod update;
mod user_data;

use ::provider::{BoxFuture, CheckFindings, ErrorKind, ProviderError};
use blueprint::Value;
use serde_json::{Value as Json, json};

use self::calls::{MARK, act, refresh};
use super::deployments::{ServerContainer, TRANSPORT, check_server_transport};
use super::kinds::{FLAVOR, IMAGE};
use super::snapshots;
use crate::client::Service;
use crate::managed::{
    Busy, CloudCall, Deletion, Form, Handler, Hooks, JsonMap, Managed, SpecChange, State, Update,
    hook, ignored, reference, renamed, same,
};

/// The types.
pub(super) static TYPES: &[&dyn Handler] = &[&SERVER];

/// The field with the scheduler hints, which stands beside the server.
const HINTS: &str = "os:scheduler_hints";

static SERVER: Managed = Managed {
    parent: None,
    name: "OS::Nova::Server",
    service: Service::Compute,
    path: "servers",
    envelope: "server",
    list: "servers",
    properties: &[
        same("name"),
        reference("flavor", "flavorRef", &FLAVOR).recorded(),
        reference("image", "imageRef", &IMAGE).recorded(),
        same("key_name"),
        // Nova selects a zone if the template does not, and shows it in another field.
        same("availability_zone").recorded(),
        // Nova shows a text.
        same("config_drive").recorded(),
        renamed("diskConfig", "OS-DCF:diskConfig", Form::Same),
        renamed("scheduler_hints", HINTS, Form::Same).recorded(),
        renamed("admin_pass", "adminPass", Form::Same).recorded(),
        same("tags"),
        hook("metadata"),
        hook("security_groups"),
        hook("networks"),
        hook("block_device_mapping"),
        hook("block_device_mapping_v2"),
        hook("user_data"),
        hook("user_data_format"),
        hook("user_data_update_policy"),
        hook("image_update_policy"),
        hook("software_config_transport"),
        hook("deployment_swift_data"),
        hook("personality"),
        // The catalogue replaces the server by this policy.
        ignored("flavor_update_policy"),
        // Heat has ignored the user since 2014. Nova returns another kind of answer with the
        // reservation, which nothing reads.
        ignored("admin_user"),
        ignored("reservation_id"),
    ],
    update: Update::Hook,
    mark: MARK,
    state: State {
        field: "status",
        // A server that somebody has stopped is as it was created.
        ready: &[
            "ACTIVE",
            "SHUTOFF",
            "PAUSED",
            "SUSPENDED",
            "SHELVED",
            "SHELVED_OFFLOADED",
            "RESCUE",
        ],
        failed: &["ERROR", "DELETED", "SOFT_DELETED"],
        gone: &["DELETED"],
        why: "fault.message",
    },
    // Nova refuses most changes of a server while a task runs on it.
    busy: &[Busy::delete(409)],
    hooks: &ServerHooks,
};

/// The hooks of servers.
struct ServerHooks;

impl Hooks for ServerHooks {
    fn create_body<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(body::complete(on, spec, body))
    }

    fn created<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            ports::record(on, &on.call.token, spec, object).await?;
            networks::associate_floating_ips(on, spec, object).await
        })
    }

    fn found<'a>(
        &'a self,
        on: CloudCall<'a>,
        token: &'a str,
        spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(ports::record(on, token, spec, object))
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(update::carry_out(on, change, object))
    }

    fn complete<'a>(
        &'a self,
        on: CloudCall<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(attributes::complete(on, object))
    }

    fn imported<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            attributes::complete(on, object).await?;
            ports::adopt(on, spec, object).await
        })
    }

    fn attribute(&self, name: &str, object: &Json) -> Option<Json> {
        attributes::attribute(name, object)
    }

    fn needs_completion(&self, attribute: &str) -> bool {
        attributes::needs_completion(attribute)
    }

    fn property(&self, property: &str, object: &Json, _: &Json) -> Option<Json> {
        match property {
            // A server shows the name of its flavor, not the id.
            "flavor" => object["flavor"].get("original_name").cloned(),
            "image" => object["image"].get("id").cloned(),
            "metadata" => object.get("metadata").cloned(),
            _ => None,
        }
    }

    fn beside_envelope(&self) -> &'static [&'static str] {
        &[HINTS]
    }

    fn deletion<'a>(
        &'a self,
        on: CloudCall<'a>,
        object: &'a Json,
    ) -> BoxFuture<'a, Result<Deletion, ProviderError>> {
        Box::pin(async move {
            // A server keeps the status ERROR while it is deleted.
            if object["OS-EXT-STS:task_state"] == "deleting" {
                return Ok(Deletion::Going);
            }
            match object["status"].as_str() {
                // The cloud keeps deleted servers for some time. Their ports would stay in use.
                Some("SOFT_DELETED") => {
                    act(on, &object["id"], "forceDelete", Json::Null).await?;
                    Ok(Deletion::Going)
                }
                _ => Ok(Deletion::ByStatus),
            }
        })
    }

    fn snapshot<'a>(
        &'a self,
        on: CloudCall<'a>,
        object: &'a Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(snapshots::make_image(on, object))
    }

    /// Deletes the deployments of the server, which its agent reads until then.
    fn before_delete<'a>(
        &'a self,
        on: CloudCall<'a>,
        id: &'a str,
        spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            if !user_data::has_agent(on, spec) {
                return Ok(());
            }
            let mut object = json!({ "id": id });
            match refresh(on, &mut object).await {
                Ok(()) => match ServerContainer::of_tags(&object["tags"]) {
                    Some(container) => container.delete(on).await,
                    None => Ok(()),
                },
                Err(error) if error.kind == ErrorKind::NotFound => Ok(()),
                Err(error) => Err(error),
            }
        })
    }

    fn check(&self, on: Option<CloudCall<'_>>, spec: &Value, found: &mut CheckFindings) {
        let format = spec.get("user_data_format").and_then(Value::as_text);
        let transport = spec.get(TRANSPORT).and_then(Value::as_text);
        if let (Some("SOFTWARE_CONFIG"), Some(transport)) = (format, transport) {
            check_server_transport(on, transport, found);
        }
    }

    fn after_delete<'a>(
        &'a self,
        on: CloudCall<'a>,
        private: &'a Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(ports::delete(on, private))
    }

    fn not_created<'a>(
        &'a self,
        on: CloudCall<'a>,
        token: &'a str,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            if on.cloud.has(Service::ObjectStore) {
                ServerContainer::of_create(token).delete(on).await?;
            }
            ports::delete_left_over(on, token).await
        })
    }

    fn deletes_first(&self, prior: &JsonMap, desired: &JsonMap) -> bool {
        networks::share_an_address(prior, desired)
    }
}
