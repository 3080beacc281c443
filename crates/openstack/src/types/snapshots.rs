//! Snapshots before deletes: the backup of a volume, the image of a server.

use ::provider::{ErrorKind, ProviderError};
use serde_json::{Value as Json, json};

use crate::client::{Service, ServiceRequest};
use crate::managed::{CloudCall, KEY, Patience, mark_of};

/// The seconds that a snapshot may take.
const SNAPSHOT: u64 = 3 * 3600;

/// Makes a backup of a volume and waits until it is available. The mark stands in the description,
/// because old versions of Cinder give backups no metadata.
///
/// # Errors
/// The refusal of the service; [`ErrorKind::Permanent`] if the backup fails, with its reason.
pub(super) async fn back_up(on: CloudCall<'_>, volume: &Json) -> Result<(), ProviderError> {
    let mark = mark_of(&on.call.token);
    let id = volume["id"].as_str().unwrap_or_default();
    let list = ServiceRequest::get(Service::Volume, "backups/detail").with_query("volume_id", id);
    let answer = on.get(list).await?;
    let known = answer["backups"].as_array().into_iter().flatten();
    let own = known
        .filter(|backup| backup["volume_id"] == id && is_marked(&backup["description"], &mark))
        .find(|backup| backup["status"] != "error");
    let backup = match own {
        Some(backup) => backup["id"].clone(),
        None => {
            let body = json!({ "backup": {
                "volume_id": id,
                "name": volume["name"],
                "description": format!("taken before the volume was deleted ({mark})"),
            } });
            let create = ServiceRequest::post(Service::Volume, "backups", body);
            let mut answer = on.change(create).await?;
            answer["backup"]["id"].take()
        }
    };
    let path = format!("backups/{}", backup.as_str().unwrap_or_default());
    let mut patience = Patience::of_seconds(SNAPSHOT);
    loop {
        let answer = on
            .get(ServiceRequest::get(Service::Volume, path.as_str()))
            .await?;
        let backup = &answer["backup"];
        match backup["status"].as_str().unwrap_or_default() {
            "available" => return Ok(()),
            "creating" => {}
            status => {
                let why = backup["fail_reason"].as_str().unwrap_or(status);
                return Err(failed(format!("the backup of the volume failed: {why}")));
            }
        }
        patience.pause(on, "the backup is available").await?;
    }
}

/// Makes an image of a server and waits until it is active. The mark is a property of the image.
///
/// # Errors
/// The refusal of the service; [`ErrorKind::Permanent`] if the image fails.
pub(super) async fn make_image(on: CloudCall<'_>, server: &Json) -> Result<(), ProviderError> {
    let mark = mark_of(&on.call.token);
    let id = server["id"].as_str().unwrap_or_default();
    let image = match image_of(on, id, &mark).await? {
        Some(image) => image,
        None => {
            let body = json!({ "createImage": {
                "name": server["name"],
                "metadata": { KEY: mark },
            } });
            let path = format!("servers/{id}/action");
            on.change(ServiceRequest::post(Service::Compute, path, body))
                .await?;
            // Old versions of Nova return no id.
            let made = image_of(on, id, &mark).await?;
            made.ok_or_else(|| failed("Nova has made no image of the server".to_owned()))?
        }
    };
    let path = format!("images/{image}");
    let mut patience = Patience::of_seconds(SNAPSHOT);
    loop {
        let answer = on
            .send(ServiceRequest::get(Service::Image, path.as_str()))
            .await;
        match answer {
            Ok(answer) => match answer.body["status"].as_str().unwrap_or_default() {
                "active" => return Ok(()),
                status @ ("killed" | "deleted" | "pending_delete") => {
                    return Err(failed(format!("the image of the server is {status}")));
                }
                _ => {}
            },
            // Nova removes the image of a snapshot that fails.
            Err(error) if error.is_not_found() => {
                return Err(failed("the image of the server failed".to_owned()));
            }
            Err(error) => return Err(error.into_provider_error(false)),
        }
        patience.pause(on, "the image is active").await?;
    }
}

/// The id of the image with a mark.
async fn image_of(
    on: CloudCall<'_>,
    server: &str,
    mark: &str,
) -> Result<Option<String>, ProviderError> {
    let list = ServiceRequest::get(Service::Image, "images").with_query("instance_uuid", server);
    let answer = on.get(list).await?;
    let images = answer["images"].as_array().into_iter().flatten();
    let own = images
        .filter(|image| image[KEY] == mark)
        .find(|image| !matches!(image["status"].as_str(), Some("killed" | "deleted")));
    Ok(own.and_then(|image| image["id"].as_str().map(str::to_owned)))
}

fn is_marked(text: &Json, mark: &str) -> bool {
    text.as_str().is_some_and(|text| text.contains(mark))
}

fn failed(message: String) -> ProviderError {
    ProviderError::new(ErrorKind::Permanent, message)
}
