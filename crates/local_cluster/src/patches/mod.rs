//! Patches of objects: JSON merge patch, JSON patch and strategic merge patch.
//!
//! Not here: server-side apply (`apply`), and what the patched object is checked against.

mod failure;
mod strategic;

use kubernetes::schema::ValueForms;
use serde_json::{Map, Value as Json};

pub use failure::PatchFailure;

/// The most operations of a JSON patch.
const MOST_OPERATIONS: usize = 10_000;

/// The target after a JSON merge patch (RFC 7396).
pub fn merge_patch(target: &Json, patch: &Json) -> Json {
    let mut target = target.clone();
    json_patch::merge(&mut target, patch);
    target
}

/// The target after the operations of a JSON patch (RFC 6902).
///
/// # Errors
/// If the operations are malformed or too many, or one does not fit the target.
pub fn json_patch(target: &Json, operations: &Json) -> Result<Json, PatchFailure> {
    let count = operations.as_array().map_or(0, Vec::len);
    if count > MOST_OPERATIONS {
        return Err(PatchFailure::Malformed(format!(
            "the allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {count}"
        )));
    }
    let operations: json_patch::Patch = serde_json::from_value(operations.clone())
        .map_err(|error| PatchFailure::Malformed(error.to_string()))?;
    let mut target = target.clone();
    json_patch::patch(&mut target, &operations)
        .map_err(|error| PatchFailure::Unfit(error.to_string()))?;
    Ok(target)
}

/// The target after a strategic merge patch. `forms` says which lists are merged and by which keys;
/// only built-in kinds have such forms.
///
/// # Errors
/// If the patch is no map, has an unknown or malformed directive, or an item of a merged list lacks
/// the key of the list.
pub fn strategic_merge(
    target: &Json,
    patch: &Json,
    forms: &ValueForms,
) -> Result<Json, PatchFailure> {
    let malformed = || PatchFailure::Malformed("a strategic merge patch is a map".to_owned());
    let patch = patch.as_object().ok_or_else(malformed)?;
    let target = target.as_object().cloned().unwrap_or_else(Map::new);
    let merged = strategic::merge_map(target, patch, Some(forms))?;
    Ok(Json::Object(merged))
}

#[cfg(test)]
mod tests;
