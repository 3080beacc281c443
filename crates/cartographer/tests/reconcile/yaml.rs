//! Documents of YAML.

use serde_json::Value as Json;

/// Reads a document. Words such as `y` are texts.
pub(crate) fn yaml(text: &str) -> Result<Json, serde_saphyr::Error> {
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(text, options)
}
