//! Times as machine output.

/// Formats a time in milliseconds since 1970 UTC as RFC 3339 in UTC, with milliseconds.
pub fn time(at_ms: i64) -> String {
    format!(
        "{:.3}",
        jiff::Timestamp::from_millisecond(at_ms).unwrap_or_default()
    )
}

/// Formats a time in seconds since 1970 UTC as RFC 3339 in UTC.
pub fn time_of_seconds(at: i64) -> String {
    jiff::Timestamp::from_second(at)
        .unwrap_or_default()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::time_of_seconds;

    #[test]
    fn seconds_are_shown_as_rfc_3339() {
        assert_eq!(time_of_seconds(1_796_090_400), "2026-12-01T02:00:00Z");
        assert_eq!(time_of_seconds(i64::MAX), "1970-01-01T00:00:00Z");
    }
}
