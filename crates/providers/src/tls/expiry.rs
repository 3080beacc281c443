//! Validity of a certificate, and the time of its renewal.

use std::time::Duration;

use blueprint::{Value, format_duration, parse_duration};
use provider::{CheckFindings, ErrorKind, ProviderError};

/// The default validity of a certificate: a year.
pub(super) const USUAL_VALIDITY: Duration = Duration::from_secs(8760 * 3600);

/// The duration in a field; `None` if it is not set.
pub(super) fn duration(spec: &Value, field: &str) -> Result<Option<Duration>, ProviderError> {
    let Some(text) = spec.get(field).and_then(Value::as_text) else {
        return Ok(None);
    };
    let duration = parse_duration(text);
    duration
        .map(Some)
        .map_err(|error| ProviderError::new(ErrorKind::Document, format!("is {error}")).at(field))
}

/// Seconds since 1970 as RFC 3339 text in UTC. Clamped to the end of the year 9999.
pub(super) fn rfc3339(seconds: u64) -> String {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(seconds)
        .unwrap_or(jiff::Timestamp::MAX)
        .to_string()
}

/// Refuses invalid durations, and a renewal time that is not below the validity.
pub(super) fn check(spec: &Value, found: &mut CheckFindings) {
    let mut read = |field: &str| match duration(spec, field) {
        Ok(read) => read,
        Err(error) => {
            found.refuse(field, error.message);
            None
        }
    };
    let (validity, renew) = (read("validity"), read("renewBefore"));
    let Some(validity) = validity else { return };
    if validity < Duration::from_secs(1) {
        found.refuse("validity", "is less than a second");
    } else if let Some(renew) = renew
        && renew >= validity
    {
        let message =
            "is not shorter than `validity`, so every certificate would be renewed at once";
        found.refuse("renewBefore", message);
    }
}

/// The reason to renew a certificate: it has expired, or expires in less than `renewBefore`. `None`
/// otherwise.
pub(super) fn renewal_reason(now: i64, inputs: &Value, outputs: &Value) -> Option<String> {
    let text = outputs.get("notAfter").and_then(Value::as_text)?;
    let end = text.parse::<jiff::Timestamp>().ok()?.as_second();
    if now >= end {
        return Some(format!("it ended at {text}"));
    }
    let renew = duration(inputs, "renewBefore")
        .ok()
        .flatten()
        .unwrap_or_default();
    let left = u64::try_from(end.saturating_sub(now)).unwrap_or(0);
    (left <= renew.as_secs()).then(|| {
        format!(
            "its end, {text}, is less than {} away",
            format_duration(renew)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(validity: &str, renew: &str) -> Vec<String> {
        let spec = Value::map([
            ("validity", Value::from(validity)),
            ("renewBefore", renew.into()),
        ]);
        let mut found = CheckFindings::default();
        check(&spec, &mut found);
        found
            .diagnostics
            .into_iter()
            .map(|found| found.path.to_string())
            .collect()
    }

    #[test]
    fn durations_are_checked_together() {
        assert!(rejected("24h", "23h59m").is_empty());
        assert_eq!(rejected("24h", "24h"), ["renewBefore"]);
        assert_eq!(rejected("0s", "1h"), ["validity"]);
        assert_eq!(rejected("a year", "soon"), ["validity", "renewBefore"]);
    }

    #[test]
    fn a_certificate_is_renewed_from_the_exact_second() {
        let outputs = Value::map([("notAfter", Value::from("2023-01-02T00:00:00Z"))]);
        let inputs = Value::map([("renewBefore", Value::from("1h"))]);
        let end = 1_672_617_600;
        assert_eq!(renewal_reason(end - 3601, &inputs, &outputs), None);
        assert!(
            renewal_reason(end - 3600, &inputs, &outputs)
                .unwrap()
                .contains("1h 0m")
        );
        assert_eq!(renewal_reason(end - 1, &Value::Null, &outputs), None);
        assert_eq!(
            renewal_reason(end, &Value::Null, &outputs).unwrap(),
            "it ended at 2023-01-02T00:00:00Z"
        );
    }

    #[test]
    fn times_are_rfc3339_text() {
        assert_eq!(rfc3339(1_672_671_845), "2023-01-02T15:04:05Z");
    }
}
