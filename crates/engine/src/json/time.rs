//! Times as machine output.

/// Formats a time in milliseconds since 1970 UTC as RFC 3339 in UTC, with milliseconds.
pub fn time(at_ms: i64) -> String {
    format!(
        "{:.3}",
        jiff::Timestamp::from_millisecond(at_ms).unwrap_or_default()
    )
}
