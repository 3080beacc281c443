//! The configuration that a guest gets: that of the template with the values of its inputs, and with
//! inputs about the deployment itself.

use ::provider::json::to_json;
use blueprint::Value;
use serde_json::{Value as Json, json};

use crate::managed::JsonMap;

/// What the inputs of a derived configuration say about the deployment.
pub(super) struct DeploymentFacts<'a> {
    pub(super) action: &'a str,
    pub(super) server: &'a str,
    /// The name of the stack.
    pub(super) stack: &'a str,
    /// The name of the resource.
    pub(super) resource: &'a str,
    /// The transport of the signal, and the URL to write it to; no URL without signals.
    pub(super) transport: &'a str,
    pub(super) signal: Option<&'a str>,
}

/// How references to inputs are written in a structured configuration.
pub(super) struct InputReferences<'a> {
    pub(super) key: &'a str,
    /// Whether an input without a value is refused.
    pub(super) strict: bool,
}

/// A configuration of a template.
pub(super) struct SourceConfig {
    fields: JsonMap,
}

impl SourceConfig {
    /// The configuration with these fields of its resource.
    pub(super) fn of(fields: &Value) -> SourceConfig {
        let json = to_json(fields).map(|(json, _)| json).unwrap_or_default();
        SourceConfig {
            fields: json.as_object().cloned().unwrap_or_default(),
        }
    }

    /// No configuration: a deployment may have inputs only.
    pub(super) fn empty() -> SourceConfig {
        SourceConfig {
            fields: JsonMap::new(),
        }
    }

    fn items(&self, field: &str) -> impl Iterator<Item = &Json> {
        let items = self.fields.get(field).and_then(Json::as_array);
        items.into_iter().flatten()
    }

    /// The actions of a component; `None` if the configuration is none.
    pub(super) fn component_actions(&self) -> Option<Vec<&str>> {
        self.fields.get("configs")?.as_array()?;
        let actions = self
            .items("configs")
            .filter_map(|it| it["actions"].as_array());
        Some(actions.flatten().filter_map(Json::as_str).collect())
    }

    fn group(&self) -> &str {
        let group = self.fields.get("group").and_then(Json::as_str);
        match group {
            _ if self.component_actions().is_some() => "component",
            Some(group) if !group.is_empty() => group,
            _ => "Heat::Ungrouped",
        }
    }

    /// The outputs: the name of each, and whether a value in it is an error.
    pub(super) fn outputs(&self) -> Vec<(String, bool)> {
        let outputs = self.items("outputs").filter_map(|output| {
            let is_error = output["error_output"] == true;
            Some((output["name"].as_str()?.to_owned(), is_error))
        });
        outputs.collect()
    }

    /// The inputs whose changed values replace a deployment.
    pub(super) fn replacing_inputs(&self) -> impl Iterator<Item = &str> {
        let inputs = self.items("inputs");
        let replacing = inputs.filter(|input| input["replace_on_change"] == true);
        replacing.filter_map(|input| input["name"].as_str())
    }

    /// The inputs with their values: those that the configuration declares, further ones, and those
    /// about the deployment.
    fn inputs(&self, values: &JsonMap, facts: &DeploymentFacts<'_>) -> Vec<Json> {
        let mut values = values.clone();
        let mut inputs = Vec::new();
        for declared in self.items("inputs") {
            let mut input = declared.as_object().cloned().unwrap_or_default();
            let name = input.get("name").and_then(Json::as_str).unwrap_or_default();
            let given = values.shift_remove(name);
            let default = || input.get("default").cloned().unwrap_or_default();
            let value = given.unwrap_or_else(default);
            input.insert("value".to_owned(), value);
            inputs.push(Json::Object(input));
        }
        let of =
            |name: &str, value: Json| json!({ "name": name, "type": "String", "value": value });
        inputs.extend(values.iter().map(|(name, value)| of(name, value.clone())));
        let about = [
            ("deploy_server_id", facts.server),
            ("deploy_action", facts.action),
            ("deploy_stack_id", facts.stack),
            ("deploy_resource_name", facts.resource),
            ("deploy_signal_transport", facts.transport),
        ];
        inputs.extend(about.map(|(name, value)| of(name, json!(value))));
        if let Some(url) = facts.signal {
            inputs.push(of("deploy_signal_id", json!(url)));
            inputs.push(of("deploy_signal_verb", json!("PUT")));
        }
        inputs
    }

    /// The configuration for a guest. `references` is for a structured configuration.
    ///
    /// # Errors
    /// The name of an input without a value, if that is refused.
    pub(super) fn derived(
        &self,
        (id, name): (&str, &str),
        values: &JsonMap,
        facts: &DeploymentFacts<'_>,
        references: Option<&InputReferences<'_>>,
    ) -> Result<Json, String> {
        let inputs = self.inputs(values, facts);
        let config = match self.component_actions() {
            Some(_) => json!({ "configs": self.fields.get("configs") }),
            None => self.fields.get("config").cloned().unwrap_or_default(),
        };
        let config = match (references, config) {
            (Some(_), Json::Null) => json!({}),
            (Some(references), config) => with_inputs(&config, &inputs, references)?,
            (None, Json::Null) => json!(""),
            (None, config) => config,
        };
        let options = self.fields.get("options").filter(|it| !it.is_null());
        Ok(json!({
            "id": id,
            "name": name,
            "group": self.group(),
            "config": config,
            "inputs": inputs,
            "outputs": self.items("outputs").collect::<Vec<_>>(),
            "options": options.cloned().unwrap_or_else(|| json!({})),
        }))
    }
}

/// A structured configuration with the values of inputs in place of the references to them.
fn with_inputs(
    config: &Json,
    inputs: &[Json],
    references: &InputReferences<'_>,
) -> Result<Json, String> {
    let inner = |value: &Json| with_inputs(value, inputs, references);
    match config {
        Json::Object(entries) => {
            let only = entries.iter().next().filter(|_| entries.len() == 1);
            let named = only.filter(|(key, _)| *key == references.key);
            if let Some(name) = named.and_then(|(_, name)| name.as_str()) {
                let input = inputs.iter().find(|input| input["name"] == name);
                return match input {
                    Some(input) => Ok(input["value"].clone()),
                    None if references.strict => Err(name.to_owned()),
                    None => Ok(Json::Null),
                };
            }
            let entries = entries.iter();
            let entries = entries.map(|(key, value)| Ok((key.clone(), inner(value)?)));
            Ok(Json::Object(entries.collect::<Result<_, String>>()?))
        }
        Json::Array(items) => {
            let items: Result<Vec<Json>, String> = items.iter().map(inner).collect();
            Ok(Json::Array(items?))
        }
        other => Ok(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: DeploymentFacts<'_> = DeploymentFacts {
        action: "CREATE",
        server: "s1",
        stack: "web",
        resource: "install",
        transport: "TEMP_URL_SIGNAL",
        signal: Some("http://h/url"),
    };

    fn source(json: &Json) -> SourceConfig {
        SourceConfig::of(&::provider::json::from_json(json))
    }

    fn map(json: Json) -> JsonMap {
        json.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn inputs_have_values_defaults_and_facts() {
        let source = source(&json!({
            "group": "script", "config": "echo $who",
            "inputs": [{ "name": "who", "type": "String", "default": "world" }, { "name": "n" }],
            "outputs": [{ "name": "result", "error_output": true }],
        }));
        let values = map(json!({ "n": 3, "more": "x" }));
        let derived = source
            .derived(("c1", "install"), &values, &FACTS, None)
            .unwrap();
        assert_eq!(derived["group"], "script");
        assert_eq!(derived["config"], "echo $who");
        assert_eq!(source.outputs(), [("result".to_owned(), true)]);
        let inputs = derived["inputs"].as_array().unwrap();
        let value = |name: &str| {
            let input = inputs.iter().find(|input| input["name"] == name);
            input.map(|input| input["value"].clone())
        };
        assert_eq!(value("who"), Some(json!("world")));
        assert_eq!(value("n"), Some(json!(3)));
        assert_eq!(value("more"), Some(json!("x")));
        assert_eq!(value("deploy_action"), Some(json!("CREATE")));
        assert_eq!(value("deploy_signal_id"), Some(json!("http://h/url")));
        assert_eq!(value("deploy_signal_verb"), Some(json!("PUT")));
        assert_eq!(inputs.len(), 10);
    }

    #[test]
    fn references_in_a_structured_configuration_become_values() {
        let source = source(&json!({
            "config": { "a": [{ "get_input": "x" }], "b": { "get_input": "y" }, "c": { "d": 1 } },
        }));
        let derive = |strict| {
            let references = InputReferences {
                key: "get_input",
                strict,
            };
            let values = map(json!({ "x": { "deep": true } }));
            source.derived(("c1", "n"), &values, &FACTS, Some(&references))
        };
        let config = &derive(false).unwrap()["config"];
        assert_eq!(
            *config,
            json!({ "a": [{ "deep": true }], "b": null, "c": { "d": 1 } })
        );
        assert_eq!(derive(true), Err("y".to_owned()));
    }

    #[test]
    fn a_component_has_the_actions_of_its_parts() {
        let source = source(&json!({
            "configs": [{ "actions": ["CREATE"], "tool": "script" }, { "actions": ["DELETE"] }],
        }));
        assert_eq!(source.component_actions(), Some(vec!["CREATE", "DELETE"]));
        let derived = source
            .derived(("c1", "n"), &JsonMap::new(), &FACTS, None)
            .unwrap();
        assert_eq!(derived["group"], "component");
        assert_eq!(derived["config"]["configs"][0]["tool"], "script");
    }
}
