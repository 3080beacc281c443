//! `OS::Cinder::Volume`.

use ::provider::json::from_json;
use ::provider::{BoxFuture, ErrorKind, Operation, ProviderError};
use serde_json::{Value as Json, json};

use super::kinds::IMAGE;
use super::snapshots;
use crate::client::{Service, ServiceRequest};
use crate::managed::{
    ASIDE, Busy, CloudCall, Form, Handler, Hooks, JsonMap, KEY, Managed, Mark, Patience,
    SpecChange, State, Update, hook, ignored, reference, renamed, same, texts_of,
};

/// The types.
pub(super) static TYPES: &[&dyn Handler] = &[&VOLUME];

const MARK: Mark = Mark::Entry("metadata");

/// The field with the scheduler hints, which stands beside the volume.
const HINTS: &str = "OS-SCH-HNT:scheduler_hints";

/// The seconds that a volume may take until it takes the next action.
const ACTION: u64 = 600;

/// The entries of the metadata that Cinder adds.
const OF_CINDER: [&str; 2] = ["readonly", "attached_mode"];

static VOLUME: Managed = Managed {
    parent: None,
    name: "OS::Cinder::Volume",
    service: Service::Volume,
    path: "volumes",
    envelope: "volume",
    list: "volumes",
    properties: &[
        same("name"),
        same("description"),
        same("size"),
        same("volume_type"),
        // Cinder selects a zone if the template does not.
        same("availability_zone").recorded(),
        reference("image", "imageRef", &IMAGE).recorded(),
        same("snapshot_id"),
        same("source_volid"),
        renamed("scheduler_hints", HINTS, Form::Same).recorded(),
        hook("metadata"),
        hook("read_only"),
        hook("backup_id"),
        // The dialect moves the older name to `image`.
        ignored("imageRef"),
        // Heat does not send it any more. The volume type decides.
        ignored("multiattach"),
    ],
    update: Update::Hook,
    mark: MARK,
    state: State {
        field: "status",
        ready: &[
            "available",
            "in-use",
            "reserved",
            "attaching",
            "detaching",
            "maintenance",
            "awaiting-transfer",
        ],
        failed: &[
            "error",
            "error_deleting",
            "error_extending",
            "error_restoring",
            "error_managing",
            "error_backing-up",
        ],
        gone: &[],
        why: "",
    },
    // A volume that is detached, or whose snapshot is deleted, is refused as invalid for a while.
    busy: &[Busy {
        name: "badRequest",
        ..Busy::of(Operation::Delete, 400)
    }],
    hooks: &VolumeHooks,
};

/// The hooks of volumes.
struct VolumeHooks;

impl Hooks for VolumeHooks {
    fn create_body<'a>(
        &'a self,
        _on: CloudCall<'a>,
        spec: &'a JsonMap,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        let restores = spec.contains_key("backup_id");
        let answer = match restores {
            true => {
                let message = "a backup is restored into a volume that exists: create the volume, \
                               and set `backup_id` afterwards";
                Err(ProviderError::new(ErrorKind::Document, message).at("backup_id"))
            }
            false => {
                let metadata = texts_of(spec, "metadata");
                if !metadata.is_empty() {
                    body.insert("metadata".to_owned(), Json::Object(metadata));
                }
                Ok(())
            }
        };
        Box::pin(std::future::ready(answer))
    }

    fn created<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let Some(flag) = spec.get("read_only").filter(|flag| !flag.is_null()) else {
                return Ok(());
            };
            // Cinder takes the flag only of a volume that is available.
            wait_until_idle(on, object).await?;
            if object["status"] != "available" {
                return Ok(());
            }
            set_read_only(on, object, flag).await?;
            refresh(on, object).await
        })
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(update(on, change, object))
    }

    fn attribute(&self, name: &str, object: &Json) -> Option<Json> {
        attribute(name, object)
    }

    fn property(&self, property: &str, object: &Json, _: &Json) -> Option<Json> {
        match property {
            "metadata" => Some(Json::Object(own_metadata(object))),
            "read_only" => {
                let flag = object["metadata"]["readonly"].as_str()?;
                Some(json!(flag.eq_ignore_ascii_case("true")))
            }
            _ => None,
        }
    }

    fn beside_envelope(&self) -> &'static [&'static str] {
        &[HINTS]
    }

    fn snapshot<'a>(
        &'a self,
        on: CloudCall<'a>,
        object: &'a Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(snapshots::back_up(on, object))
    }

    fn failure<'a>(&'a self, on: CloudCall<'a>, object: &'a Json) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let id = object["id"].as_str()?;
            let request = ServiceRequest::get(Service::Volume, "messages");
            let answer = on.get(request.with_query("resource_uuid", id)).await.ok()?;
            let first = answer["messages"].as_array()?.first()?;
            first["user_message"].as_str().map(str::to_owned)
        })
    }
}

/// The metadata of a volume without the entries that Cinder and this program add.
fn own_metadata(object: &Json) -> JsonMap {
    let mut metadata = object["metadata"].as_object().cloned().unwrap_or_default();
    metadata.retain(|name, _| name != KEY && !OF_CINDER.contains(&name.as_str()));
    metadata
}

/// The value of an attribute. Heat gives most of them as texts.
fn attribute(name: &str, object: &Json) -> Option<Json> {
    let python = |value: &Json| json!(pycompat::text(&from_json(value)));
    let metadata = || Json::Object(own_or_readonly(object));
    match name {
        "metadata" => Some(json!(pycompat::json_in_order(&from_json(&metadata())))),
        "metadata_values" => Some(metadata()),
        "display_name" => object.get("name").cloned(),
        "display_description" => object.get("description").cloned(),
        "attachments_list" => object.get("attachments").cloned(),
        "show" => None,
        other => object.get(other).map(python),
    }
}

/// The metadata of a volume as Cinder shows it, without the mark.
fn own_or_readonly(object: &Json) -> JsonMap {
    let mut metadata = object["metadata"].as_object().cloned().unwrap_or_default();
    metadata.remove(KEY);
    metadata
}

fn path_of(object: &Json) -> String {
    format!("volumes/{}", object["id"].as_str().unwrap_or_default())
}

async fn act(
    on: CloudCall<'_>,
    object: &Json,
    action: &str,
    arguments: Json,
) -> Result<(), ProviderError> {
    let path = format!("{}/action", path_of(object));
    let body = json!({ action: arguments });
    on.change(ServiceRequest::post(Service::Volume, path, body))
        .await?;
    Ok(())
}

async fn set_read_only(on: CloudCall<'_>, object: &Json, flag: &Json) -> Result<(), ProviderError> {
    let arguments = json!({ "readonly": flag });
    let set = act(on, object, "os-update_readonly_flag", arguments).await;
    set.map_err(|error| error.at("read_only"))
}

/// Reads a volume again. What hooks keep in it stays.
async fn refresh(on: CloudCall<'_>, object: &mut Json) -> Result<(), ProviderError> {
    let mut answer = on
        .get(ServiceRequest::get(Service::Volume, path_of(object)))
        .await?;
    let aside = object.get_mut(ASIDE).map(Json::take);
    if let Some(Json::Object(mut read)) = answer.get_mut("volume").map(Json::take) {
        read.insert(ASIDE.to_owned(), aside.unwrap_or_default());
        *object = Json::Object(read);
    }
    Ok(())
}

/// Waits until a volume takes actions, or is broken.
async fn wait_until_idle(on: CloudCall<'_>, object: &mut Json) -> Result<(), ProviderError> {
    let mut patience = Patience::of_seconds(ACTION);
    loop {
        let status = object["status"].as_str().unwrap_or_default();
        if matches!(status, "available" | "in-use") || status.starts_with("error") {
            return Ok(());
        }
        let what = format!("the volume is no longer {status}");
        patience.pause(on, &what).await?;
        refresh(on, object).await?;
    }
}

/// Carries out a change in place. The volume is polled afterwards until it is ready.
async fn update(
    on: CloudCall<'_>,
    change: SpecChange<'_>,
    object: &mut Json,
) -> Result<(), ProviderError> {
    let mut body = JsonMap::new();
    for field in ["name", "description"] {
        let wanted = change.desired.get(field);
        let removed = wanted.is_none() && field != "name" && change.prior.contains_key(field);
        if let Some(wanted) = wanted.filter(|wanted| **wanted != object[field]) {
            body.insert(field.to_owned(), wanted.clone());
        } else if removed {
            body.insert(field.to_owned(), Json::Null);
        }
    }
    if !body.is_empty() {
        let body = json!({ "volume": body });
        on.change(ServiceRequest::put(Service::Volume, path_of(object), body))
            .await?;
    }
    let wanted = texts_of(change.desired, "metadata");
    if own_metadata(object) != wanted {
        let mut metadata = object["metadata"].as_object().cloned().unwrap_or_default();
        metadata.retain(|name, _| name == KEY || OF_CINDER.contains(&name.as_str()));
        metadata.extend(wanted);
        let path = format!("{}/metadata", path_of(object));
        let body = json!({ "metadata": metadata });
        on.change(ServiceRequest::put(Service::Volume, path, body))
            .await?;
    }
    let volume_type = change.desired.get("volume_type");
    if let Some(wanted) = volume_type.filter(|_| change.has("volume_type")) {
        wait_until_idle(on, object).await?;
        let arguments = json!({ "new_type": wanted, "migration_policy": "never" });
        let changed = act(on, object, "os-retype", arguments).await;
        changed.map_err(|error| error.at("volume_type"))?;
        refresh(on, object).await?;
    }
    let backup = change.desired.get("backup_id").and_then(Json::as_str);
    if let Some(backup) = backup.filter(|_| change.has("backup_id")) {
        wait_until_idle(on, object).await?;
        let path = format!("backups/{backup}/restore");
        let body = json!({ "restore": { "volume_id": object["id"] } });
        on.change(ServiceRequest::post(Service::Volume, path, body))
            .await?;
        refresh(on, object).await?;
    }
    extend(on, change, object).await?;
    let flag = change.desired.get("read_only");
    if let Some(flag) = flag.filter(|_| change.has("read_only")) {
        wait_until_idle(on, object).await?;
        set_read_only(on, object, flag).await?;
    }
    refresh(on, object).await
}

async fn extend(
    on: CloudCall<'_>,
    change: SpecChange<'_>,
    object: &mut Json,
) -> Result<(), ProviderError> {
    let wanted = change.desired.get("size").and_then(Json::as_u64);
    let current = object["size"].as_u64();
    let (Some(wanted), Some(current)) = (wanted, current) else {
        return Ok(());
    };
    if wanted < current {
        let message = format!("the volume has {current} GiB, and Cinder cannot make it smaller");
        return Err(ProviderError::new(ErrorKind::Document, message).at("size"));
    }
    if wanted > current {
        wait_until_idle(on, object).await?;
        let extended = act(on, object, "os-extend", json!({ "new_size": wanted })).await;
        extended.map_err(|error| error.at("size"))?;
        refresh(on, object).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_texts_as_python_writes_them() {
        let volume = json!({
            "size": 1, "encrypted": false, "snapshot_id": null, "name": "v",
            "metadata": {"a": "b", "cyan": "cyan-abcdefghijkl", "readonly": "True"},
            "attachments": [{"server_id": "s", "device": null}],
        });
        let shown = |name: &str| attribute(name, &volume);
        assert_eq!(shown("size"), Some(json!("1")));
        assert_eq!(shown("encrypted"), Some(json!("False")));
        assert_eq!(shown("snapshot_id"), Some(json!("None")));
        assert_eq!(shown("display_name"), Some(json!("v")));
        let metadata = json!("{\"a\": \"b\", \"readonly\": \"True\"}");
        assert_eq!(shown("metadata"), Some(metadata));
        let attachments = json!("[{'server_id': 's', 'device': None}]");
        assert_eq!(shown("attachments"), Some(attachments));
        let own = VolumeHooks.property("metadata", &volume, &Json::Null);
        assert_eq!(own, Some(json!({"a": "b"})));
        assert_eq!(
            VolumeHooks.property("read_only", &volume, &Json::Null),
            Some(json!(true))
        );
    }
}
