//! How far an object is, where the object alone does not tell.

use ::kubernetes::{GroupKind, ObjectStatus, readiness};
use ::provider::ProviderError;
use serde_json::Value as Json;

use crate::context::CallContext;

/// The status of an object. A claim for a volume whose storage class binds it only when a pod uses
/// it is current: waiting for it first would be waiting for ever.
///
/// # Errors
/// If the cluster cannot be asked for the storage class.
pub(crate) async fn status_of(
    context: &CallContext<'_>,
    object: &Json,
) -> Result<ObjectStatus, ProviderError> {
    let status = readiness(object);
    let is_claim = object["apiVersion"] == "v1" && object["kind"] == "PersistentVolumeClaim";
    if !is_claim || !matches!(status, ObjectStatus::InProgress(_)) {
        return Ok(status);
    }
    let Some(class) = object["spec"]["storageClassName"].as_str() else {
        return Ok(status);
    };
    if class.is_empty() {
        return Ok(status);
    }
    let kind = GroupKind::new("storage.k8s.io", "StorageClass");
    let path = format!("/apis/storage.k8s.io/v1/storageclasses/{class}");
    match context.cluster.get(&kind, &path).await {
        Ok(class) if class["volumeBindingMode"] == "WaitForFirstConsumer" => {
            Ok(ObjectStatus::Current)
        }
        Ok(_) => Ok(status),
        Err(error) if error.is_not_found() || error.is_no_right() => Ok(status),
        Err(error) => Err(context.failed(error)),
    }
}
