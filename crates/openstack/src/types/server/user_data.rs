//! What a guest gets at its first start.
//!
//! - `RAW`: the text as it is.
//! - `HEAT_CFNTOOLS`: a MIME message of our own that runs the text. Heat adds its agents, which need
//!   Heat.
//! - `SOFTWARE_CONFIG`: on a cloud with Swift, a MIME message with the parts of the text and with one
//!   that tells the agent of the guest the URL of its deployments. Without Swift, the text as it is.
//!
//! In the formats `RAW` and `SOFTWARE_CONFIG` a text that is the id of a configuration of this
//! program stands for the content of the configuration.

use ::provider::{ErrorKind, ProviderError};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use blueprint::Value;
use serde_json::{Value as Json, json};

use super::super::deployments::{ServerContainer, agent_metadata};
use crate::client::Service;
use crate::heat::{MimePart, message, parts_of};
use crate::managed::{CloudCall, JsonMap};

/// Where agents look for their first metadata.
const AGENT_FILE: &str = "/var/lib/heat-cfntools/cfn-init-data";

/// Whether a server has an agent that reads deployments.
pub(super) fn has_agent(on: CloudCall<'_>, spec: &JsonMap) -> bool {
    let format = spec.get("user_data_format").and_then(Json::as_str);
    format == Some("SOFTWARE_CONFIG") && on.cloud.has(Service::ObjectStore)
}

/// The user data of a spec in the form of the API; `None` if there is none. `container` has the
/// deployments of the server.
///
/// # Errors
/// [`ErrorKind::Document`] if a configuration is no text; the error of a request.
pub(super) async fn encoded(
    on: CloudCall<'_>,
    spec: &JsonMap,
    container: &ServerContainer,
) -> Result<Option<String>, ProviderError> {
    let text = spec.get("user_data").and_then(Json::as_str);
    let text = text.filter(|text| !text.is_empty());
    let format = spec.get("user_data_format").and_then(Json::as_str);
    let sent = match (format, text) {
        (_, text) if has_agent(on, spec) => {
            let content = text.map(|text| content(on, text)).transpose()?;
            let url = container.agent_url(on, spec).await?;
            with_agent(content.as_deref(), &url)
        }
        (_, None) => return Ok(None),
        (Some("RAW" | "SOFTWARE_CONFIG"), Some(text)) => content(on, text)?,
        (_, Some(text)) => message(&[runnable(text)]),
    };
    Ok(Some(STANDARD.encode(sent)))
}

/// A message with the parts of a text, and with one that tells the agent which URL it reads. That
/// part runs first, and at each start.
fn with_agent(text: Option<&str>, url: &str) -> String {
    let metadata = json!({ "os-collect-config": agent_metadata(url), "deployments": [] });
    let metadata = STANDARD.encode(metadata.to_string());
    let folder = AGENT_FILE
        .rsplit_once('/')
        .map_or("/", |(folder, _)| folder);
    let script = format!(
        "#cloud-boothook\n#!/bin/sh\numask 077\nmkdir -p {folder}\n\
         echo {metadata} | base64 -d > {AGENT_FILE}\n"
    );
    let agent = MimePart {
        text: script,
        subtype: "cloud-boothook".to_owned(),
        filename: "cyan-agent".to_owned(),
    };
    let is_message = |text: &str| {
        let head: String = text.chars().take(200).collect::<String>().to_lowercase();
        head.contains("content-type: multipart") || head.contains("mime-version:")
    };
    let parts = match text {
        None => Vec::new(),
        Some(text) if is_message(text) => parts_of(text),
        Some(text) => vec![runnable(text)],
    };
    let all: Vec<MimePart> = [agent].into_iter().chain(parts).collect();
    message(&all)
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
    fn an_agent_gets_its_url_besides_the_parts_of_the_text() {
        let plain = with_agent(Some("#!/bin/sh\necho hi\n"), "http://h/u?a=1&b=2");
        let parts = parts_of(&plain);
        let kinds: Vec<&str> = parts.iter().map(|part| part.subtype.as_str()).collect();
        assert_eq!(kinds, ["cloud-boothook", "x-shellscript"]);
        let encoded = parts[0].text.split("echo ").nth(1).unwrap_or_default();
        let encoded = encoded.split(' ').next().unwrap_or_default();
        let metadata = STANDARD.decode(encoded).unwrap_or_default();
        let metadata: Json = serde_json::from_slice(&metadata).unwrap_or_default();
        let request = &metadata["os-collect-config"]["request"];
        assert_eq!(request["metadata_url"], "http://h/u?a=1&b=2");
        let message = with_agent(Some(&plain), "http://h/u");
        assert_eq!(parts_of(&message).len(), 3);
        assert_eq!(parts_of(&with_agent(None, "http://h/u")).len(), 1);
    }
}
