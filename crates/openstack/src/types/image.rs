//! `OS::Glance::WebImage`: an image that Glance downloads.
//!
//! Not here: `OS::Glance::Image`, which does nothing in Heat since version 22.

use ::provider::json::from_json;
use ::provider::{BoxFuture, ErrorKind, ProviderError};
use serde_json::{Value as Json, json};

use crate::client::{Service, ServiceRequest, path_segment};
use crate::managed::{
    CloudCall, Handler, Hooks, JsonMap, Managed, Mark, Patience, SpecChange, State, Unset, Update,
    hook, same, texts_of,
};
use crate::types::compute::texts;

/// The types.
pub(super) static TYPES: &[&dyn Handler] = &[&WEB_IMAGE];

/// The type of a body with changes of an image.
const PATCH: &str = "application/openstack-images-v2.1-json-patch";

/// The fields that change in place, and have the names of their properties.
const CHANGEABLE: [&str; 9] = [
    "protected",
    "tags",
    "architecture",
    "kernel_id",
    "os_distro",
    "os_version",
    "owner",
    "visibility",
    "ramdisk_id",
];

/// The property with properties that Glance does not know.
const EXTRA: &str = "extra_properties";

/// The seconds that a download may take until a new image can be deactivated.
const DOWNLOAD: u64 = 3600;

static WEB_IMAGE: Managed = Managed {
    parent: None,
    name: "OS::Glance::WebImage",
    service: Service::Image,
    path: "images",
    envelope: "",
    list: "images",
    properties: &[
        same("name"),
        same("id"),
        same("min_disk"),
        same("min_ram"),
        same("protected"),
        same("disk_format"),
        same("container_format"),
        hook("location"),
        same("tags").when_unset(Unset::List),
        same("architecture"),
        same("kernel_id"),
        same("os_distro"),
        same("os_version"),
        same("owner").when_unset(Unset::Kept),
        hook(EXTRA),
        same("visibility"),
        same("ramdisk_id"),
        hook("active"),
        hook("members"),
    ],
    update: Update::Hook,
    // Glance keeps fields that it does not know as properties of the image.
    mark: Mark::Beside,
    state: State {
        field: "status",
        ready: &["active", "deactivated"],
        failed: &["killed"],
        gone: &["deleted", "pending_delete"],
        why: "",
    },
    busy: &[],
    hooks: &WebImageHooks,
};

/// The hooks of images.
struct WebImageHooks;

/// The path of an image, or of a part of it.
fn path_of(object: &Json, part: &str) -> String {
    let id = object["id"].as_str().unwrap_or_default();
    format!("images/{}{part}", path_segment(id))
}

/// What of a spec no image can have.
fn wrong(spec: &JsonMap) -> Result<(), ProviderError> {
    let text = |name: &str| spec.get(name).and_then(Json::as_str).unwrap_or_default();
    let (container, disk) = (text("container_format"), text("disk_format"));
    let refused = |field: &str, why: &str| {
        Err(ProviderError::new(ErrorKind::Document, why).at(field.to_owned()))
    };
    if ["ami", "ari", "aki"].contains(&container) && disk != container {
        let why = "the formats `ami`, `ari` and `aki` are the same for disk and container";
        return refused("disk_format", why);
    }
    if !texts(spec, "members").is_empty() && text("visibility") != "shared" {
        let why = "only an image with the visibility `shared` has members";
        return refused("members", why);
    }
    Ok(())
}

/// The operations that change the fields of an image to those of a spec.
fn patch(change: SpecChange<'_>, object: &Json) -> Vec<Json> {
    let (mut before, mut after) = (
        texts_of(change.prior, EXTRA),
        texts_of(change.desired, EXTRA),
    );
    for field in CHANGEABLE {
        let value = |spec: &JsonMap| spec.get(field).cloned();
        before.extend(value(change.prior).map(|it| (field.to_owned(), it)));
        after.extend(value(change.desired).map(|it| (field.to_owned(), it)));
    }
    // The owner stays who it is.
    let removed = before
        .keys()
        .filter(|it| !after.contains_key(*it) && *it != "owner");
    let removed = removed.filter_map(|field| {
        let shown = object.get(field).filter(|shown| !shown.is_null())?;
        let path = pointer(field);
        match field.as_str() {
            "tags" if shown == &json!([]) => None,
            "tags" => Some(json!({ "op": "replace", "path": path, "value": [] })),
            _ => Some(json!({ "op": "remove", "path": path })),
        }
    });
    let removed: Vec<Json> = removed.collect();
    let set = after.iter().filter_map(|(field, value)| {
        let shown = object.get(field);
        let op = match shown {
            Some(_) => "replace",
            None => "add",
        };
        (shown != Some(value)).then(|| json!({ "op": op, "path": pointer(field), "value": value }))
    });
    set.chain(removed).collect()
}

/// The JSON pointer to a field.
fn pointer(field: &str) -> String {
    format!("/{}", field.replace('~', "~0").replace('/', "~1"))
}

/// The members of one spec that another one does not have.
fn members_beside<'s>(spec: &'s JsonMap, other: &JsonMap) -> Vec<&'s str> {
    let known = texts(other, "members");
    let mut members = texts(spec, "members");
    members.retain(|member| !known.contains(member));
    members
}

/// Adds those who may use an image from now on. The image is shared.
async fn add_members(
    on: CloudCall<'_>,
    change: SpecChange<'_>,
    object: &Json,
) -> Result<(), ProviderError> {
    for member in members_beside(change.desired, change.prior) {
        let path = path_of(object, "/members");
        let call = ServiceRequest::post(Service::Image, path, json!({ "member": member }));
        match on.send(call).await {
            // Somebody has added the member.
            Err(error) if error.status() != Some(409) => {
                return Err(error.into_provider_error(true));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Removes those who may not use an image any more. The image is still shared.
async fn remove_members(
    on: CloudCall<'_>,
    change: SpecChange<'_>,
    object: &Json,
) -> Result<(), ProviderError> {
    for member in members_beside(change.prior, change.desired) {
        let path = path_of(object, &format!("/members/{}", path_segment(member)));
        match on.send(ServiceRequest::delete(Service::Image, path)).await {
            Err(error) if !error.is_not_found() => return Err(error.into_provider_error(true)),
            _ => {}
        }
    }
    Ok(())
}

/// Activates or deactivates an image, and reads it again.
async fn set_active(
    on: CloudCall<'_>,
    spec: &JsonMap,
    object: &mut Json,
) -> Result<(), ProviderError> {
    let is_wanted = spec.get("active") != Some(&json!(false));
    let action = match (is_wanted, object["status"].as_str()) {
        (true, Some("deactivated")) => "reactivate",
        (false, Some("active")) => "deactivate",
        _ => return Ok(()),
    };
    let path = path_of(object, &format!("/actions/{action}"));
    on.change(ServiceRequest::post_nothing(Service::Image, path))
        .await?;
    *object = on
        .get(ServiceRequest::get(Service::Image, path_of(object, "")))
        .await?;
    Ok(())
}

/// Why an image will never be active; `None` if it may.
async fn failed_download(on: CloudCall<'_>, object: &Json) -> Option<String> {
    let stores = object["os_glance_failed_import"].as_str()?;
    if object["status"] != "queued" || stores.is_empty() {
        return None;
    }
    let tasks = ServiceRequest::get(Service::Image, path_of(object, "/tasks"));
    let answer = on.get(tasks).await.unwrap_or_default();
    let mut tasks = answer["tasks"].as_array().into_iter().flatten();
    let failed = tasks.find(|task| task["status"] == "failure");
    let why = failed.and_then(|task| task["message"].as_str());
    Some(match why {
        Some(why) => format!("Glance could not download it: {why}"),
        None => "Glance could not download it".to_owned(),
    })
}

impl Hooks for WebImageHooks {
    fn create_body<'a>(
        &'a self,
        _on: CloudCall<'a>,
        spec: &'a JsonMap,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        body.extend(texts_of(spec, EXTRA));
        Box::pin(std::future::ready(wrong(spec)))
    }

    fn created<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let method = json!({ "name": "web-download", "uri": spec.get("location") });
            let import = path_of(object, "/import");
            let call = ServiceRequest::post(Service::Image, import, json!({ "method": method }));
            on.change(call)
                .await
                .map_err(|error| error.at("location"))?;
            let change = SpecChange {
                prior: &JsonMap::new(),
                desired: spec,
            };
            add_members(on, change, object).await?;
            if spec.get("active") != Some(&json!(false)) {
                return Ok(());
            }
            // Only an image with data can be deactivated.
            let mut patience = Patience::of_seconds(DOWNLOAD);
            while object["status"] != "active" {
                if let Some(why) = failed_download(on, object).await {
                    return Err(ProviderError::new(ErrorKind::Permanent, why));
                }
                patience.pause(on, "the image was downloaded").await?;
                *object = on
                    .get(ServiceRequest::get(Service::Image, path_of(object, "")))
                    .await?;
            }
            set_active(on, spec, object).await
        })
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            wrong(change.desired)?;
            remove_members(on, change, object).await?;
            let operations = patch(change, object);
            if !operations.is_empty() {
                let path = path_of(object, "");
                let call = ServiceRequest::patch(Service::Image, path, Json::Null);
                let body = Json::Array(operations).to_string();
                *object = on.change(call.with_bytes(PATCH, body)).await?;
            }
            add_members(on, change, object).await?;
            set_active(on, change.desired, object).await
        })
    }

    fn property(&self, name: &str, object: &Json, declared: &Json) -> Option<Json> {
        match (name, object["status"].as_str()) {
            ("active", Some("active")) => Some(json!(true)),
            ("active", Some("deactivated")) => Some(json!(false)),
            (EXTRA, _) => {
                let declared = declared.as_object()?.iter();
                let shown = declared.filter_map(|(name, value)| {
                    let shown = object.get(name)?;
                    let is_same = *shown == json!(pycompat::text(&from_json(value)));
                    Some((name.clone(), if is_same { value } else { shown }.clone()))
                });
                Some(Json::Object(shown.collect()))
            }
            _ => None,
        }
    }

    fn stuck<'a>(&'a self, on: CloudCall<'a>, object: &'a Json) -> BoxFuture<'a, Option<String>> {
        Box::pin(failed_download(on, object))
    }

    fn deletes_first(&self, prior: &JsonMap, desired: &JsonMap) -> bool {
        prior.contains_key("id") && prior.get("id") == desired.get("id")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(json: Json) -> JsonMap {
        json.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn a_change_is_a_list_of_operations() {
        let prior = map(
            json!({ "os_distro": "a", "architecture": "x86_64", "owner": "p",
            "tags": ["t"], "extra_properties": { "one": "1", "old/er": "2" } }),
        );
        let desired =
            map(json!({ "os_distro": "b", "extra_properties": { "one": 1, "new": true } }));
        let object = json!({ "os_distro": "a", "architecture": "x86_64", "owner": "p",
            "tags": ["t"], "one": "1", "old/er": "2" });
        let change = SpecChange {
            prior: &prior,
            desired: &desired,
        };
        let mut operations = patch(change, &object);
        operations.sort_unstable_by_key(|it| it["path"].to_string());
        assert_eq!(
            json!(operations),
            json!([
                { "op": "remove", "path": "/architecture" },
                { "op": "add", "path": "/new", "value": "True" },
                { "op": "remove", "path": "/old~1er" },
                { "op": "replace", "path": "/os_distro", "value": "b" },
                { "op": "replace", "path": "/tags", "value": [] },
            ])
        );
    }

    #[test]
    fn some_formats_and_members_do_not_fit() {
        let field = |spec: Json| {
            let error = wrong(&map(spec)).err();
            error.and_then(|error| error.field.map(|field| field.to_string()))
        };
        let amazon = json!({ "container_format": "ami", "disk_format": "raw" });
        assert_eq!(field(amazon).as_deref(), Some("disk_format"));
        let private = json!({ "members": ["p"], "visibility": "private" });
        assert_eq!(field(private).as_deref(), Some("members"));
        assert_eq!(
            field(json!({ "members": ["p"], "visibility": "shared" })),
            None
        );
    }
}
