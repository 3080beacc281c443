//! What a guest gets at its first start.
//!
//! - `RAW`: the text as it is.
//! - `HEAT_CFNTOOLS`: a MIME message of our own that runs the text. Heat adds its agents, which need
//!   Heat.
//! - `SOFTWARE_CONFIG`: the text as it is. Heat adds its agents, which need Heat.
//!
//! In the formats `RAW` and `SOFTWARE_CONFIG` a text that is the id of a configuration of this
//! program stands for the content of the configuration.

use ::provider::{ErrorKind, ProviderError};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use blueprint::Value;

use crate::heat::{MimePart, message};
use crate::managed::{CloudCall, JsonMap};

/// The user data of a spec in the form of the API; `None` if there is none.
///
/// # Errors
/// [`ErrorKind::Document`] if the guest would need an agent of Heat, or if a configuration is no
/// text.
pub(super) fn encoded(on: CloudCall<'_>, spec: &JsonMap) -> Result<Option<String>, ProviderError> {
    let text = spec.get("user_data").and_then(|it| it.as_str());
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let format = spec.get("user_data_format").and_then(|it| it.as_str());
    let sent = match format {
        Some("RAW") => content(on, text)?,
        Some("SOFTWARE_CONFIG") => {
            refuse_signals(spec)?;
            content(on, text)?
        }
        _ => message(&[runnable(text)]),
    };
    Ok(Some(STANDARD.encode(sent)))
}

/// The content of the configuration that a text names, or the text.
fn content(on: CloudCall<'_>, text: &str) -> Result<String, ProviderError> {
    match on.heat.config(text).as_ref().map(Value::revealed) {
        None => Ok(text.to_owned()),
        Some(Value::Text(config)) => Ok(config.to_string()),
        Some(_) => {
            let message = format!("the configuration with the id {text} is not a text");
            Err(ProviderError::new(ErrorKind::Document, message).at("user_data"))
        }
    }
}

/// Refuses transports of software deployments other than the default one.
fn refuse_signals(spec: &JsonMap) -> Result<(), ProviderError> {
    let transport = spec
        .get("software_config_transport")
        .and_then(|it| it.as_str());
    let container = spec
        .get("deployment_swift_data")
        .and_then(|it| it.as_object());
    let field = match (transport, container) {
        (Some(transport), _) if transport != "POLL_SERVER_CFN" => "software_config_transport",
        (_, Some(container)) if !container.is_empty() => "deployment_swift_data",
        _ => return Ok(()),
    };
    let message = "software deployments are not supported, because their agents need signals; \
                   remove the property, or put the configuration into `user_data`";
    Err(ProviderError::new(ErrorKind::Document, message).at(field))
}

/// The part of a message that makes cloud-init run a text.
fn runnable(text: &str) -> MimePart {
    let subtype = match text.lines().next().unwrap_or_default().trim_end() {
        first if first.starts_with("#!") => "x-shellscript",
        "#cloud-config" => "cloud-config",
        "#cloud-boothook" => "cloud-boothook",
        first if first.starts_with("#include") => "x-include-url",
        // Cloud-init looks into plain parts for their type.
        _ => "plain",
    };
    MimePart {
        text: text.to_owned(),
        subtype: subtype.to_owned(),
        filename: "cfn-userdata".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_a_part_that_runs() {
        let script = message(&[runnable("#!/bin/sh\necho hi\n")]);
        assert!(script.contains("text/x-shellscript"), "{script}");
        assert!(script.contains("\n\n#!/bin/sh\necho hi\n"), "{script}");
        assert_eq!(
            runnable("#cloud-config\npackages: []").subtype,
            "cloud-config"
        );
        assert_eq!(runnable("echo hi").subtype, "plain");
    }

    #[test]
    fn transports_that_need_signals_are_refused() {
        let spec = |json| match json {
            serde_json::Value::Object(entries) => entries,
            _ => JsonMap::new(),
        };
        let refused = refuse_signals(&spec(
            serde_json::json!({"software_config_transport": "POLL_TEMP_URL"}),
        ));
        let field = refused.unwrap_err().field.unwrap_or_default();
        assert_eq!(field.to_string(), "software_config_transport");
        let allowed = serde_json::json!({
            "software_config_transport": "POLL_SERVER_CFN", "deployment_swift_data": {},
        });
        assert!(refuse_signals(&spec(allowed)).is_ok());
    }
}
