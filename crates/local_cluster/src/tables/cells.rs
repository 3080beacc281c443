//! The texts of cells.

use jiff::Timestamp;
use serde_json::{Map, Value as Json};

/// The text of a cell without a value.
pub(super) const NONE: &str = "<none>";

/// The time since a timestamp; `<unknown>` if there is none.
pub(super) fn age(since: &Json, now: Timestamp) -> Json {
    match since.as_str() {
        Some(text) => elapsed(text, now).into(),
        None => "<unknown>".into(),
    }
}

/// The time since a timestamp.
pub(super) fn elapsed(since: &str, now: Timestamp) -> String {
    match since.parse::<Timestamp>() {
        Ok(since) => duration(now.as_second() - since.as_second()),
        Err(_) => "<invalid>".to_owned(),
    }
}

/// A duration with the units that matter: the longer it is, the coarser is the text.
pub(super) fn duration(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    let two = |unit: i64, name: &str, part: i64, part_name: &str| {
        let (whole, rest) = (seconds / unit, seconds % unit / part);
        match rest {
            0 => format!("{whole}{name}"),
            rest => format!("{whole}{name}{rest}{part_name}"),
        }
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        _ if seconds < 2 * MINUTE => format!("{seconds}s"),
        _ if seconds < 10 * MINUTE => two(MINUTE, "m", 1, "s"),
        _ if seconds < 3 * HOUR => format!("{}m", seconds / MINUTE),
        _ if seconds < 8 * HOUR => two(HOUR, "h", MINUTE, "m"),
        _ if seconds < 2 * DAY => format!("{}h", seconds / HOUR),
        _ if seconds < 8 * DAY => two(DAY, "d", HOUR, "h"),
        _ if seconds < 2 * YEAR => format!("{}d", seconds / DAY),
        _ if seconds < 8 * YEAR => two(YEAR, "y", DAY, "d"),
        _ => format!("{}y", seconds / YEAR),
    }
}

/// Labels as a selector: `a=b,c=d`.
pub(super) fn selector(labels: &Json) -> Json {
    let labels = labels.as_object().filter(|labels| !labels.is_empty());
    let Some(labels) = labels else {
        return NONE.into();
    };
    let mut pairs: Vec<String> = labels
        .iter()
        .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()))
        .collect();
    pairs.sort();
    pairs.join(",").into()
}

/// The number of entries in all of these maps.
pub(super) fn entries(object: &Json, fields: &[&str]) -> Json {
    let counts = fields
        .iter()
        .map(|field| object[*field].as_object().map_or(0, Map::len));
    counts.sum::<usize>().into()
}

/// A field of each item of a list.
pub(super) fn each(list: &Json, field: &str) -> Json {
    let items = list.as_array().into_iter().flatten();
    let texts: Vec<&str> = items.filter_map(|item| item[field].as_str()).collect();
    texts.join(",").into()
}

/// A text, or `<none>`.
pub(super) fn text_or_none(value: &Json) -> Json {
    match value.as_str().filter(|text| !text.is_empty()) {
        Some(text) => text.into(),
        None => NONE.into(),
    }
}

/// A number, 0 if it is missing.
pub(super) fn count(value: &Json) -> i64 {
    value.as_i64().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_durations_are_coarse() {
        for (seconds, text) in [
            (-5, "<invalid>"),
            (-1, "0s"),
            (119, "119s"),
            (120, "2m"),
            (130, "2m10s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (11_100, "3h5m"),
            (100_000, "27h"),
            (180_000, "2d2h"),
            (1_000_000, "11d"),
            (100_000_000, "3y62d"),
            (300_000_000, "9y"),
        ] {
            assert_eq!(duration(seconds), text);
        }
    }
}
