//! `OS::Heat::TestResource`: holds a text, and waits, fails or is replaced on request.

use blueprint::{Map, Value};
use provider::{ApplyRequest, Call, ErrorKind, Operation, ProviderError};

use super::wait::{number, wait};

/// Carries out a create, update or delete. Returns the output.
pub(super) async fn act(call: &Call, request: &ApplyRequest<'_>) -> Result<Value, ProviderError> {
    let (spec, action) = match request.operation {
        Operation::Create => (request.desired, "create"),
        Operation::Update => (request.desired, "update"),
        Operation::Delete => (request.prior_inputs, "delete"),
    };
    let value = spec.get("value").cloned().unwrap_or_default();
    let before = || {
        request
            .prior
            .get("output")
            .cloned()
            .unwrap_or_else(|| Value::from(""))
    };
    // An update without a new text does nothing.
    let brings = value.as_text().is_some_and(|text| !text.is_empty())
        && Some(&value) != request.prior_inputs.get("value");
    let (output, waits) = match request.operation {
        Operation::Create => (
            if value.is_null() {
                Value::from("")
            } else {
                value
            },
            true,
        ),
        Operation::Update if brings => (value, true),
        Operation::Update => (before(), false),
        Operation::Delete => (Value::Null, true),
    };
    if waits {
        wait(call, seconds(spec, action)).await?;
    }
    if request.operation != Operation::Delete
        && spec.get("fail").and_then(Value::as_bool) == Some(true)
    {
        let name = &call.address.name;
        return Err(ProviderError::new(
            ErrorKind::Permanent,
            format!("Test Resource failed {name}"),
        ));
    }
    Ok(output)
}

/// The duration of an action in seconds: its own value, otherwise that of all actions.
fn seconds(spec: &Value, action: &str) -> f64 {
    let own = spec
        .get("action_wait_secs")
        .and_then(|times| times.get(action))
        .and_then(number);
    own.or_else(|| spec.get("wait_secs").and_then(number))
        .unwrap_or(0.0)
}

/// The computed fields.
pub(super) fn fields(output: Value) -> Map {
    [("output".into(), output)].into_iter().collect()
}
