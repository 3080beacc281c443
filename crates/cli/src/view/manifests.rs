//! Objects of Kubernetes as manifests.

use serde_json::Value as Json;

use crate::exit::CommandError;

/// Objects as a stream of YAML documents.
///
/// # Errors
/// If an object cannot be written, which is a bug.
pub(crate) fn yaml_stream(objects: &[Json]) -> Result<String, CommandError> {
    let mut text = String::new();
    for object in objects {
        let one = serde_saphyr::to_string(object)
            .map_err(|error| CommandError::Cluster(Box::new(error)))?;
        text.push_str("---\n");
        text.push_str(&one);
        if !one.ends_with('\n') {
            text.push('\n');
        }
    }
    Ok(text)
}
