//! Requirements on fields: of selectors, and of health rules.

use blueprint::Value;
use jsonpath::{FailureClass, Path, PathFailure};

/// Whether a requirement holds for what its key leads to. Only texts are equal to the values. A
/// path without a result satisfies nothing but `DoesNotExist`. The error says why nobody can tell.
pub(crate) fn satisfies(
    requirement: &Value,
    key: &str,
    find: impl FnOnce(&Path) -> Result<Value, PathFailure>,
) -> Result<bool, String> {
    let operator = requirement.get("operator").and_then(Value::as_text);
    let operator = operator.unwrap_or_default();
    let path = Path::parse(key).map_err(|mistake| format!("`{key}` is not a path: {mistake}"))?;
    let found = match find(&path) {
        Ok(found) => found,
        Err(failure) if failure.class == FailureClass::Missing => {
            return Ok(operator == "DoesNotExist");
        }
        Err(failure) => return Err(format!("`{key}` cannot be evaluated: {failure}")),
    };
    if found.is_unknown() {
        return Err(format!("`{key}` is not known yet"));
    }
    let text = found.as_text();
    let values = requirement.get("values").and_then(Value::as_list);
    let mut values = values.unwrap_or_default().iter();
    let is_listed = text.is_some() && values.any(|value| value.as_text() == text);
    match operator {
        "In" => Ok(is_listed),
        "NotIn" => Ok(!is_listed),
        "Exists" => Ok(!found.is_null()),
        "DoesNotExist" => Ok(found.is_null()),
        _ => Err(format!("`{operator}` is not an operator")),
    }
}
