//! `OS::Cinder::VolumeAttachment`: a volume at a server. Its id is that of the volume.

use ::provider::{BoxFuture, Call, ErrorKind, ProviderError};
use serde_json::{Value as Json, json};

use crate::client::{Service, ServiceRequest};
use crate::managed::{CloudCall, Handler, JsonMap, ObjectSetting, Patience, SpecChange};

/// The types.
pub(super) static TYPES: &[&dyn Handler] = &[&Attachment];

/// The seconds that Nova may refuse an attachment because the server is busy.
const BUSY: u64 = 75;

/// The seconds that a detachment may take.
const DETACHMENT: u64 = 600;

/// The type of attachments.
#[derive(Debug)]
struct Attachment;

fn text<'s>(spec: &'s JsonMap, name: &str) -> &'s str {
    spec.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// The path of an attachment, and that of its volume.
fn paths(spec: &JsonMap) -> (String, String) {
    let (server, volume) = (text(spec, "instance_uuid"), text(spec, "volume_id"));
    let attachment = format!("servers/{server}/os-volume_attachments/{volume}");
    (attachment, format!("volumes/{volume}"))
}

/// Reads the attachment of a spec; `None` if the server does not have the volume.
async fn attachment(on: CloudCall<'_>, spec: &JsonMap) -> Result<Option<Json>, ProviderError> {
    let (path, _) = paths(spec);
    match on.send(ServiceRequest::get(Service::Compute, path)).await {
        Ok(answer) => Ok(answer.body.get("volumeAttachment").cloned()),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into_provider_error(false)),
    }
}

async fn attach(on: CloudCall<'_>, spec: &JsonMap) -> Result<(), ProviderError> {
    let mut body = json!({ "volumeId": text(spec, "volume_id") });
    let device = text(spec, "mountpoint");
    if !device.is_empty() {
        body["device"] = json!(device);
    }
    let path = format!(
        "servers/{}/os-volume_attachments",
        text(spec, "instance_uuid")
    );
    let body = json!({ "volumeAttachment": body });
    let mut patience = Patience::of_seconds(BUSY);
    loop {
        let request = ServiceRequest::post(Service::Compute, path.clone(), body.clone());
        let error = match on.send(request).await {
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        // Nova refuses while another task runs on the server.
        let clears = error.status() == Some(409);
        let error = error.into_provider_error(true);
        // The answer may be lost, or an earlier try may have attached the volume.
        if attachment(on, spec).await?.is_some() {
            return Ok(());
        }
        if !clears
            || patience
                .pause(on, "Nova attaches the volume")
                .await
                .is_err()
        {
            return Err(error);
        }
    }
}

/// Detaches the volume, and waits until Nova and Cinder both know.
async fn detach(on: CloudCall<'_>, spec: &JsonMap) -> Result<(), ProviderError> {
    let (path, _) = paths(spec);
    let mut patience = Patience::of_seconds(DETACHMENT);
    let mut sent = false;
    loop {
        if !sent {
            match on
                .send(ServiceRequest::delete(Service::Compute, path.clone()))
                .await
            {
                Ok(_) => sent = true,
                Err(error) if error.is_not_found() => sent = true,
                // The volume is detached already, or the server is busy.
                Err(error) if matches!(error.status(), Some(400 | 409)) => {}
                Err(error) => return Err(error.into_provider_error(true)),
            }
        }
        let at_server = attachment(on, spec).await?.is_some();
        if !at_server && !is_attached(on, spec).await? {
            return Ok(());
        }
        patience.pause(on, "the volume is detached").await?;
    }
}

/// Whether Cinder knows the volume as one of the server.
async fn is_attached(on: CloudCall<'_>, spec: &JsonMap) -> Result<bool, ProviderError> {
    let Some(volume) = volume(on, spec).await? else {
        return Ok(false);
    };
    let server = text(spec, "instance_uuid");
    let attachments = volume["attachments"].as_array();
    let is_its = |it: &Json| it["server_id"] == server;
    Ok(attachments.is_some_and(|all| all.iter().any(is_its)) || volume["status"] == "detaching")
}

async fn volume(on: CloudCall<'_>, spec: &JsonMap) -> Result<Option<Json>, ProviderError> {
    let (_, path) = paths(spec);
    match on.send(ServiceRequest::get(Service::Volume, path)).await {
        Ok(answer) => Ok(answer.body.get("volume").cloned()),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into_provider_error(false)),
    }
}

impl ObjectSetting for Attachment {
    fn type_name(&self) -> &'static str {
        "OS::Cinder::VolumeAttachment"
    }

    fn id<'a>(
        &'a self,
        _on: CloudCall<'a>,
        _call: &'a Call,
        spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<String, ProviderError>> {
        let id = text(spec, "volume_id").to_owned();
        Box::pin(std::future::ready(Ok(id)))
    }

    fn set<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let moves = ["instance_uuid", "volume_id", "mountpoint"];
            if !change.prior.is_empty() {
                let is_there = attachment(on, change.desired).await?.is_some();
                if is_there && !moves.iter().any(|name| change.has(name)) {
                    return Ok(());
                }
                detach(on, change.prior).await?;
            }
            attach(on, change.desired).await
        })
    }

    fn unset<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(detach(on, spec))
    }

    fn shown<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Option<JsonMap>, ProviderError>> {
        Box::pin(async move {
            // The device may be another one than the desired one, so the spec counts.
            Ok(attachment(on, spec).await?.map(|_| JsonMap::new()))
        })
    }

    fn pending<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Option<String>, ProviderError>> {
        Box::pin(async move {
            let Some(volume) = volume(on, spec).await? else {
                let message = "the volume was deleted while it was attached";
                return Err(ProviderError::new(ErrorKind::Permanent, message));
            };
            match volume["status"].as_str().unwrap_or_default() {
                "in-use" => Ok(None),
                status @ ("available" | "attaching" | "reserved") => {
                    Ok(Some(format!("the volume is {status}")))
                }
                status => {
                    let message = format!("the volume is {status} instead of attached");
                    Err(ProviderError::new(ErrorKind::Permanent, message))
                }
            }
        })
    }

    fn repeats(&self) -> bool {
        false
    }
}
