//! What the signal of a deployment says: its outputs, or why it failed.

use serde_json::Value as Json;

use crate::managed::JsonMap;

/// The outputs of each deployment.
const COMMON: [&str; 3] = ["deploy_stdout", "deploy_stderr", "deploy_status_code"];

/// How a deployment ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DeploymentOutcome {
    /// With these outputs.
    Complete(JsonMap),
    /// For this reason.
    Failed(String),
}

/// Reads the signal of a deployment. `outputs` are those of its configuration, each with whether a
/// value in it is an error. The rules are those of Heat.
pub(super) fn outcome(outputs: &[(String, bool)], signal: &[u8]) -> DeploymentOutcome {
    let details = match signal.is_empty() {
        true => Ok(Json::Null),
        false => serde_json::from_slice(signal),
    };
    let details = match details {
        Ok(Json::Object(details)) => details,
        Ok(Json::Null) => JsonMap::new(),
        Ok(_) | Err(_) => {
            let reason = "the signal of the server is no JSON object";
            return DeploymentOutcome::Failed(reason.to_owned());
        }
    };
    let mut values = JsonMap::new();
    let mut reasons = Vec::new();
    let code = details.get("deploy_status_code").map(text);
    let failing = |code: &&String| !["", "0", "null", "false"].contains(&code.as_str());
    if let Some(code) = code.as_ref().filter(failing) {
        let reason = format!("the configuration ended with the status code {code}");
        reasons.push(reason);
    }
    for (name, is_error) in outputs {
        let Some(value) = details.get(name) else {
            continue;
        };
        if *is_error {
            reasons.push(format!("{name}: {}", text(value)));
        }
        values.insert(name.clone(), value.clone());
    }
    for name in COMMON {
        let value = details.get(name).cloned().unwrap_or_default();
        values.insert(name.to_owned(), value);
    }
    match reasons.is_empty() {
        true => DeploymentOutcome::Complete(values),
        false => DeploymentOutcome::Failed(reasons.join("; ")),
    }
}

fn text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(outputs: &[(String, bool)], signal: &str) -> String {
        match outcome(outputs, signal.as_bytes()) {
            DeploymentOutcome::Failed(reason) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn outputs_are_those_of_the_configuration_and_the_common_ones() {
        let outputs = [("result".to_owned(), false)];
        let signal =
            br#"{"result": [1], "other": 2, "deploy_stdout": "hi", "deploy_status_code": 0}"#;
        let DeploymentOutcome::Complete(values) = outcome(&outputs, signal) else {
            panic!("the deployment is complete");
        };
        let expected = serde_json::json!({
            "result": [1], "deploy_stdout": "hi", "deploy_stderr": null, "deploy_status_code": 0,
        });
        assert_eq!(Json::Object(values), expected);
        assert!(matches!(outcome(&[], b""), DeploymentOutcome::Complete(_)));
    }

    #[test]
    fn a_status_code_or_an_error_output_fails_a_deployment() {
        let code = failed(&[], r#"{"deploy_status_code": "2"}"#);
        assert_eq!(code, "the configuration ended with the status code 2");
        let outputs = [("problem".to_owned(), true)];
        assert_eq!(
            failed(&outputs, r#"{"problem": "no disk"}"#),
            "problem: no disk"
        );
        assert!(failed(&[], "no json").contains("no JSON object"));
    }
}
