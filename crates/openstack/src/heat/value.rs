//! `OS::Heat::Value`: the value as written. Its `type` is only checked.

use blueprint::Value;
use provider::CheckFindings;

/// Checks that the value has the type that `type` names. Null has every type; an unknown value is
/// checked later.
pub(super) fn check(spec: &Value, found: &mut CheckFindings) {
    let (Some(wanted), Some(value)) =
        (spec.get("type").and_then(Value::as_text), spec.get("value"))
    else {
        return;
    };
    if let Some(why) = misfit(wanted, value) {
        found.mismatch("value", why);
    }
}

/// The reason why a value does not have a type. A secret value is not shown.
pub(super) fn misfit(wanted: &str, value: &Value) -> Option<String> {
    let hidden = value.has_secret();
    let shown = |text: String| {
        if hidden {
            "the secret".to_owned()
        } else {
            text
        }
    };
    let text = || shown(pycompat::text(value.unmarked()));
    let repr = || shown(pycompat::repr(value.unmarked()));
    match (wanted, value.unmarked()) {
        (_, Value::Null | Value::Unknown(_)) => None,
        ("string", Value::Text(_) | Value::Int(_) | Value::Decimal(_) | Value::Bool(_)) => None,
        ("string", _) => Some(format!("Value must be a string; got {}", repr())),
        ("number", Value::Int(_) | Value::Float(_) | Value::Decimal(_) | Value::Bool(_)) => None,
        ("number", Value::Text(text)) if pycompat::number_of_text(text).is_some() => None,
        ("number", Value::Text(_)) => {
            Some(format!("could not convert string to float: '{}'", text()))
        }
        ("number", other) => Some(format!(
            "int() argument must be a string, a bytes-like object or a real number, not '{}'",
            pycompat::type_name(other)
        )),
        ("boolean", Value::Bool(_)) => None,
        ("boolean", Value::Text(text))
            if ["true", "false"].contains(&text.to_lowercase().as_str()) =>
        {
            None
        }
        ("boolean", Value::Text(_)) => Some(format!(
            "\"{}\" is not a valid boolean",
            text().to_lowercase()
        )),
        ("boolean", _) => Some(format!("\"{}\" is not a valid boolean", text())),
        ("comma_delimited_list", Value::List(_) | Value::Set(_)) => None,
        ("comma_delimited_list", _) => Some(format!("\"{}\" is not a list", repr())),
        ("json", Value::Map(_)) => None,
        ("json", _) => Some(format!("\"{}\" is not a map", text())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(wanted: &str, json: &str) -> bool {
        misfit(wanted, &serde_json::from_str(json).unwrap()).is_none()
    }

    #[test]
    fn the_type_checks_and_is_lenient_where_properties_are() {
        for (wanted, good, bad) in [
            (
                "string",
                &["\"a\"", "5", "true", "null"] as &[&str],
                &["1.5", "[]", "{}"] as &[&str],
            ),
            (
                "number",
                &["5", "1.5", "\"5\"", "\" 1e3 \"", "\"1_000\"", "true"],
                &["\"abc\"", "\"\"", "[1]", "\"1__0\"", "\"0x10\""],
            ),
            ("boolean", &["true", "\"FALSE\""], &["\"yes\"", "1", "\"\""]),
            ("comma_delimited_list", &["[]", "[1]"], &["\"a,b\"", "{}"]),
            ("json", &["{}"], &["\"{}\"", "[]"]),
        ] {
            for value in good {
                assert!(fits(wanted, value), "{wanted} {value}");
            }
            for value in bad {
                assert!(!fits(wanted, value), "{wanted} {value}");
            }
        }
    }
}
