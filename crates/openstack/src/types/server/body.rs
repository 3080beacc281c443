//! The parts of a server's create that are no plain fields: metadata, groups, block devices.

use ::provider::json::from_json;
use ::provider::{ErrorKind, ProviderError};
use serde_json::{Value as Json, json};

use super::super::deployments::ServerContainer;
use super::super::kinds::IMAGE;
use super::{networks, user_data};
use crate::managed::{CloudCall, JsonMap};

/// Completes the body of a create.
///
/// # Errors
/// [`ErrorKind::Document`] at a property that Nova does not know any more, or at a name that no
/// object has; the errors of the calls that make ports.
pub(super) async fn complete(
    on: CloudCall<'_>,
    spec: &JsonMap,
    body: &mut JsonMap,
) -> Result<(), ProviderError> {
    refuse_files(spec)?;
    // A server that starts from a volume has an empty image.
    body.entry("imageRef").or_insert_with(|| json!(""));
    let metadata = metadata_of(spec);
    if !metadata.is_empty() {
        body.insert("metadata".to_owned(), Json::Object(metadata));
    }
    let groups = spec.get("security_groups").and_then(Json::as_array);
    if let Some(groups) = groups.filter(|groups| !groups.is_empty()) {
        let named = groups.iter().map(|group| json!({ "name": group }));
        body.insert("security_groups".to_owned(), named.collect());
    }
    let container = ServerContainer::of_create(&on.call.token);
    if user_data::has_agent(on, spec) && container.is_chosen(spec) {
        container.record_location(on, spec).await?;
    }
    if let Some(encoded) = user_data::encoded(on, spec, &container).await? {
        body.insert("user_data".to_owned(), json!(encoded));
    }
    if let Some(devices) = spec.get("block_device_mapping").and_then(Json::as_array) {
        let devices: Vec<Json> = devices.iter().map(old_device).collect();
        if !devices.is_empty() {
            body.insert("block_device_mapping".to_owned(), json!(devices));
        }
    }
    if let Some(devices) = spec.get("block_device_mapping_v2").and_then(Json::as_array) {
        let image = body
            .get("imageRef")
            .and_then(Json::as_str)
            .unwrap_or_default();
        let devices = devices_of(on, image, devices).await?;
        if !devices.is_empty() {
            body.insert("block_device_mapping_v2".to_owned(), json!(devices));
        }
    }
    let networks = networks::requested(on, spec).await?;
    body.insert("networks".to_owned(), networks);
    Ok(())
}

/// The metadata of a spec. Values that are no text are JSON as Python writes it.
pub(super) fn metadata_of(spec: &JsonMap) -> JsonMap {
    let entries = spec.get("metadata").and_then(Json::as_object);
    let entries = entries.into_iter().flatten().map(|(name, value)| {
        let text = match value {
            Json::String(_) => value.clone(),
            other => json!(pycompat::json_in_order(&from_json(other))),
        };
        (name.clone(), text)
    });
    entries.collect()
}

/// Refuses files, which Nova does not take since version 2.57.
fn refuse_files(spec: &JsonMap) -> Result<(), ProviderError> {
    let files = spec.get("personality").and_then(Json::as_object);
    if files.is_none_or(JsonMap::is_empty) {
        return Ok(());
    }
    let message = "Nova does not put files into servers any more; use `user_data`";
    Err(ProviderError::new(ErrorKind::Document, message).at("personality"))
}

/// A block device in the older form of the API.
fn old_device(device: &Json) -> Json {
    let source = match device["snapshot_id"].as_str().filter(|id| !id.is_empty()) {
        Some(_) => "snapshot_id",
        None => "volume_id",
    };
    let fields = [
        "device_name",
        source,
        "volume_size",
        "delete_on_termination",
    ];
    let given = fields.into_iter().filter_map(|field| {
        let value = device.get(field).filter(|value| !value.is_null())?;
        Some((field.to_owned(), value.clone()))
    });
    Json::Object(given.collect())
}

/// The block devices of a spec. An image besides them is a device, too: the first one.
async fn devices_of(
    on: CloudCall<'_>,
    image: &str,
    devices: &[Json],
) -> Result<Vec<Json>, ProviderError> {
    let mut all = Vec::with_capacity(devices.len() + 1);
    for device in devices {
        let image = match device["image"].as_str().or(device["image_id"].as_str()) {
            Some(name) => {
                let id = on.id_of(&IMAGE, name).await;
                Some(id.map_err(|error| error.at("block_device_mapping_v2"))?)
            }
            None => None,
        };
        all.extend(new_device(device, image));
    }
    if !image.is_empty() && !all.is_empty() {
        let first = json!({
            "uuid": image, "source_type": "image", "destination_type": "local",
            "boot_index": 0, "delete_on_termination": true,
        });
        all.insert(0, first);
    }
    Ok(all)
}

/// A block device in the current form of the API. `image` is the id of its image. `None` if the
/// device has no source.
fn new_device(device: &Json, image: Option<String>) -> Option<Json> {
    let given = |name: &str| {
        device
            .get(name)
            .filter(|value| !value.is_null() && **value != "")
    };
    let copy_of = |id: &Json, kind: &str| {
        json!({
            "uuid": id, "source_type": kind, "destination_type": "volume",
            "boot_index": 0, "delete_on_termination": false,
        })
    };
    let blank = || {
        json!({
            "source_type": "blank", "destination_type": "local",
            "boot_index": -1, "delete_on_termination": true,
        })
    };
    let mut sent = if let Some(volume) = given("volume_id") {
        copy_of(volume, "volume")
    } else if let Some(snapshot) = given("snapshot_id") {
        copy_of(snapshot, "snapshot")
    } else if let Some(image) = image {
        copy_of(&json!(image), "image")
    } else if let Some(size) = given("swap_size") {
        let mut swap = blank();
        swap["guest_format"] = json!("swap");
        swap["volume_size"] = size.clone();
        swap
    } else {
        let (size, format) = (given("ephemeral_size"), given("ephemeral_format"));
        size.or(format)?;
        let mut disk = blank();
        for (field, value) in [("volume_size", size), ("guest_format", format)] {
            if let Some(value) = value {
                disk[field] = value.clone();
            }
        }
        disk
    };
    let fields = [
        "device_name",
        "device_type",
        "disk_bus",
        "boot_index",
        "volume_size",
        "delete_on_termination",
        "volume_type",
    ];
    for field in fields {
        if let Some(value) = given(field) {
            sent[field] = value.clone();
        }
    }
    Some(sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_text() {
        let spec = json!({"metadata": {"a": "x", "b": 1, "c": {"k": [true, null]}}});
        let metadata = metadata_of(spec.as_object().unwrap_or(&JsonMap::new()));
        let expected = json!({"a": "x", "b": "1", "c": "{\"k\": [true, null]}"});
        assert_eq!(Json::Object(metadata), expected);
    }

    #[test]
    fn devices_have_the_defaults_of_their_source() {
        let volume = json!({"volume_id": "v", "device_name": "vda", "boot_index": null});
        let expected = json!({
            "uuid": "v", "source_type": "volume", "destination_type": "volume",
            "boot_index": 0, "delete_on_termination": false, "device_name": "vda",
        });
        assert_eq!(new_device(&volume, None), Some(expected));

        let image = json!({"image": "cirros", "volume_size": 2, "delete_on_termination": true});
        let expected = json!({
            "uuid": "i", "source_type": "image", "destination_type": "volume",
            "boot_index": 0, "delete_on_termination": true, "volume_size": 2,
        });
        assert_eq!(new_device(&image, Some("i".to_owned())), Some(expected));

        let swap = new_device(&json!({"swap_size": 64}), None);
        let expected = json!({
            "source_type": "blank", "destination_type": "local", "boot_index": -1,
            "delete_on_termination": true, "guest_format": "swap", "volume_size": 64,
        });
        assert_eq!(swap, Some(expected));

        let disk = new_device(&json!({"ephemeral_format": "ext4"}), None);
        let expected = json!({
            "source_type": "blank", "destination_type": "local", "boot_index": -1,
            "delete_on_termination": true, "guest_format": "ext4",
        });
        assert_eq!(disk, Some(expected));
        assert_eq!(new_device(&json!({"boot_index": 0}), None), None);
    }

    #[test]
    fn an_older_device_has_one_source() {
        let device = json!({"device_name": "vdb", "snapshot_id": "s", "volume_id": null});
        let expected = json!({"device_name": "vdb", "snapshot_id": "s"});
        assert_eq!(old_device(&device), expected);
        let device = json!({"device_name": "vda", "volume_id": "v", "delete_on_termination": true});
        assert_eq!(old_device(&device), device);
    }
}
