//! Conversion of texts to numbers and booleans, as in Heat.

use blueprint::Value;

/// The value as a number: itself, or the integer or float that a text contains. The error is
/// Python's message.
pub(super) fn as_number(value: &Value) -> Result<Value, String> {
    match value.unmarked() {
        number @ (Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Decimal(_)) => {
            Ok(number.clone())
        }
        Value::Text(text) => pycompat::number_of_text(text).ok_or_else(|| {
            format!(
                "could not convert string to float: {}",
                pycompat::repr(value)
            )
        }),
        other => pycompat::integer(other),
    }
}

const TRUE: [&str; 6] = ["1", "t", "true", "on", "y", "yes"];

const FALSE: [&str; 6] = ["0", "f", "false", "off", "n", "no"];

/// The value as a boolean. The error is Heat's message.
pub(super) fn boolean(value: &Value) -> Result<bool, String> {
    if let Value::Bool(value) = value.unmarked() {
        return Ok(*value);
    }
    let text = pycompat::text(value);
    let lowered = pycompat::trim(&text).to_lowercase();
    if TRUE.contains(&lowered.as_str()) {
        return Ok(true);
    }
    if FALSE.contains(&lowered.as_str()) {
        return Ok(false);
    }
    Err(format!(
        "Unrecognized value '{text}', acceptable values are: '0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'"
    ))
}
