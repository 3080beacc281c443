//! Durations as people write them: `30s`, `1h30m`, `720h`, `250ms`.

use std::time::Duration;

/// The error for a text that is not a duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurationError;

impl std::fmt::Display for DurationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            "not a length of time such as `30s`, `10m` or `1h30m`, with the units `ms`, `s`, `m`, `h` and `d`",
        )
    }
}

impl std::error::Error for DurationError {}

/// Parses numbers with the units `ms`, `s`, `m`, `h`, `d`, one after another. Fractions are
/// allowed. Fails for any other text.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(DurationError);
    }
    let mut seconds = 0.0_f64;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or(DurationError)?;
        let number: f64 = rest[..digits].parse().map_err(|_| DurationError)?;
        rest = &rest[digits..];
        let end = rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        seconds += number
            * match &rest[..end] {
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                "d" => 86400.0,
                _ => return Err(DurationError),
            };
        rest = &rest[end..];
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| DurationError)
}

/// Formats a duration for people, to the second and with at most two units: `1h 5m`, `12s`,
/// `350ms`.
pub fn format_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 => format!("{}ms", duration.as_millis()),
        1..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        3600..86400 => format!("{}h {}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d {}h", seconds / 86400, seconds % 86400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_add_up() {
        assert_eq!(parse_duration("1h30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_duration("10"), Err(DurationError));
        assert_eq!(parse_duration(""), Err(DurationError));
        assert_eq!(parse_duration("1e3s"), Err(DurationError));
        assert_eq!(format_duration(Duration::from_secs(3900)), "1h 5m");
    }
}
