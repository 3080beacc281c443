//! Configuration texts: `SoftwareConfig`, `StructuredConfig`, `SoftwareComponent`, `CloudConfig`,
//! `MultipartMime`.
//!
//! These resources exist only in the state of `cyan`. A change replaces them.
//!
//! A part of a message may name another config by its id. The provider caches the content of each
//! config that it creates or reads. An id that is not in the cache is used as text, with a warning.
//!
//! Not here: writing YAML (`yaml`) and MIME (`mime`).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use blueprint::{Map, Name, Value};
use provider::{CheckFindings, ErrorKind, ProviderError};

use super::mime::{self, MimePart};
use super::value;
use super::yaml;

/// The fields of configs, by id without hyphens.
#[derive(Default)]
pub(super) struct Configs {
    known: Mutex<HashMap<String, Value>>,
}

impl Configs {
    /// Caches the fields of a config.
    pub(super) fn learn(&self, id: &str, fields: &Value) {
        if let Some(plain) = plain_id(id) {
            self.known
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(plain, fields.clone());
        }
    }

    /// The content of the config with an id. `None` if the text is not an id, or the id is unknown.
    pub(super) fn get(&self, text: &str) -> Option<Value> {
        let config = self.fields(text)?.get("config").cloned();
        config.filter(|config| !config.is_null())
    }

    /// The fields of the config with an id. `None` if the text is not an id, or the id is unknown.
    pub(super) fn fields(&self, text: &str) -> Option<Value> {
        let plain = plain_id(text)?;
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&plain)
            .cloned()
    }
}

/// The digits of a UUID in lower case. `None` if the text is not a UUID.
fn plain_id(text: &str) -> Option<String> {
    if text.len() > 64 {
        return None;
    }
    let text = text.to_lowercase().replace("urn:", "").replace("uuid:", "");
    let digits: String = text
        .trim_matches(['{', '}'])
        .chars()
        .filter(|character| *character != '-')
        .collect();
    (digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(digits)
}

/// Whether a type is one of the five types of configuration texts.
pub(super) fn is_config(type_name: &str) -> bool {
    let (_, name) = type_name.rsplit_once("::").unwrap_or_default();
    [
        "SoftwareConfig",
        "StructuredConfig",
        "SoftwareComponent",
        "CloudConfig",
        "MultipartMime",
    ]
    .contains(&name)
}

/// Checks the rules that a schema cannot express: the default of an input has the type of the
/// input; an action has only one config.
pub(super) fn check(type_name: &str, spec: &Value, found: &mut CheckFindings) {
    for (at, input) in items(spec, "inputs").iter().enumerate() {
        let (Some(kind), Some(default)) = (
            input.get("type").and_then(Value::as_text),
            input.get("default"),
        ) else {
            continue;
        };
        let wanted = match kind {
            "String" => "string",
            "Number" => "number",
            "CommaDelimitedList" => "comma_delimited_list",
            "Json" => "json",
            "Boolean" => "boolean",
            _ => continue,
        };
        // An empty text is accepted as the default of any type.
        if wanted != "string" && default.as_text() == Some("") {
            continue;
        }
        // The default of a list may be a text, and the default of JSON data a text or a list. It is
        // stored as written.
        let as_written = match wanted {
            "comma_delimited_list" => default.as_text().is_some(),
            "json" => default.as_text().is_some() || default.as_list().is_some(),
            _ => false,
        };
        if as_written {
            continue;
        }
        if let Some(why) = value::misfit(wanted, default) {
            found.mismatch(format!("inputs[{at}].default"), why);
        }
    }
    if type_name == "OS::Heat::SoftwareComponent" {
        let mut before: Vec<&str> = Vec::new();
        for (at, config) in items(spec, "configs").iter().enumerate() {
            let actions: Vec<&str> = items(config, "actions")
                .iter()
                .filter_map(Value::as_text)
                .collect();
            if let Some(twice) = actions.iter().find(|action| before.contains(action)) {
                let why = format!("`{twice}` has a configuration already");
                found.out_of_range(format!("configs[{at}].actions"), why);
            }
            before.extend(actions);
        }
    }
}

fn items<'v>(spec: &'v Value, name: &str) -> &'v [Value] {
    spec.get(name).and_then(Value::as_list).unwrap_or_default()
}

/// The computed field `config`: the complete text of the configuration, null for a component. Adds
/// warnings.
pub(super) fn fields(
    type_name: &str,
    spec: &Value,
    configs: &Configs,
    warnings: &mut Vec<String>,
) -> Result<Map, ProviderError> {
    let secret = spec.has_secret();
    let config = match type_name {
        "OS::Heat::SoftwareConfig" | "OS::Heat::StructuredConfig" => {
            spec.get("config").cloned().unwrap_or_default()
        }
        "OS::Heat::CloudConfig" => {
            let yaml_text = yaml::write(
                &spec
                    .get("cloud_config")
                    .map(Value::revealed)
                    .unwrap_or_default(),
            );
            Value::from(format!("#cloud-config\n{yaml_text}")).tainted(secret)
        }
        "OS::Heat::MultipartMime" => {
            let mut parts = Vec::new();
            let mut secret = secret;
            for part in items(spec, "parts") {
                secret |= add_part(&part.revealed(), configs, &mut parts, warnings)?;
            }
            Value::from(mime::message(&parts)).tainted(secret)
        }
        _ => Value::Null,
    };
    Ok([(Name::from("config"), config)].into_iter().collect())
}

/// Adds a part. Returns whether its content is secret.
fn add_part(
    part: &Value,
    configs: &Configs,
    parts: &mut Vec<MimePart>,
    warnings: &mut Vec<String>,
) -> Result<bool, ProviderError> {
    let of = |name: &str| part.get(name).and_then(Value::as_text).unwrap_or_default();
    let config_text = of("config");
    let cached = configs.get(config_text);
    if cached.is_none() && plain_id(config_text).is_some() {
        warnings.push(format!(
            "no config with the id {config_text} was created or read in this run; the id itself is used as the text"
        ));
    }
    let secret = cached.as_ref().is_some_and(Value::has_secret);
    let text = match cached.as_ref().map(Value::revealed) {
        None => config_text.to_owned(),
        Some(Value::Text(text)) => text.to_string(),
        Some(_) => {
            let message = format!("the config with the id {config_text} is not a text");
            return Err(ProviderError::new(ErrorKind::Document, message).at("parts"));
        }
    };
    if of("type") == "multipart" {
        parts.extend(mime::parts_of(&text));
    } else {
        parts.push(MimePart {
            text,
            subtype: of("subtype").to_owned(),
            filename: of("filename").to_owned(),
        });
    }
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    fn problems(type_name: &str, spec: &str) -> Vec<String> {
        let mut found = CheckFindings::default();
        check(type_name, &json(spec), &mut found);
        found
            .diagnostics
            .into_iter()
            .map(|found| found.path.to_string())
            .collect()
    }

    #[test]
    fn an_id_is_one_in_any_form() {
        let plain = Some("0123456789abcdef0123456789abcdef".to_owned());
        for text in [
            "01234567-89ab-cdef-0123-456789abcdef",
            "0123456789ABCDEF0123456789ABCDEF",
            "{01234567-89ab-cdef-0123-456789abcdef}",
            "urn:uuid:01234567-89ab-cdef-0123-456789abcdef",
        ] {
            assert_eq!(plain_id(text), plain, "{text}");
        }
        assert_eq!(plain_id("01234567-89ab-cdef-0123-456789abcde"), None);
        assert_eq!(plain_id("echo hi"), None);
    }

    #[test]
    fn the_default_of_an_input_is_of_its_type() {
        let spec = r#"{"inputs": [{"name": "a", "type": "Number", "default": "3"}, {"name": "b", "type": "Number", "default": ""},
            {"name": "c", "type": "Number", "default": "x"}, {"name": "d", "type": "Json", "default": 5},
            {"name": "e", "type": "String", "default": 1}, {"name": "f", "type": "String"},
            {"name": "g", "type": "Json", "default": [1]}, {"name": "h", "type": "Json", "default": "no json"},
            {"name": "i", "type": "CommaDelimitedList", "default": "80,443"},
            {"name": "j", "type": "CommaDelimitedList", "default": 5}, {"name": "k", "type": "Boolean", "default": "yes"}]}"#;
        let wrong = [
            "inputs[2].default",
            "inputs[3].default",
            "inputs[9].default",
            "inputs[10].default",
        ];
        assert_eq!(problems("OS::Heat::SoftwareConfig", spec), wrong);
    }

    #[test]
    fn an_action_has_one_configuration() {
        let spec = r#"{"configs": [{"actions": ["CREATE", "UPDATE"], "tool": "a"}, {"actions": ["DELETE", "UPDATE"], "tool": "b"}]}"#;
        assert_eq!(
            problems("OS::Heat::SoftwareComponent", spec),
            ["configs[1].actions"]
        );
        let one = r#"{"configs": [{"actions": ["CREATE"], "tool": "a"}, {"actions": ["DELETE"], "tool": "b"}]}"#;
        assert_eq!(problems("OS::Heat::SoftwareComponent", one), [""; 0]);
    }
}
