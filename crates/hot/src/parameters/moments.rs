//! Time zones and dates in the form that custom constraints accept.
//!
//! Not here: the check that a date is in the future, which needs a clock.

/// The names of the time zones.
const ZONES: &str = include_str!("timezones.txt");

/// Checks the name of a time zone. The error is Heat's message.
pub(super) fn timezone(text: &str) -> Result<(), String> {
    let name = text
        .strip_prefix("posix/")
        .or_else(|| text.strip_prefix("right/"))
        .unwrap_or(text);
    if text.is_empty() || ZONES.lines().any(|zone| zone == name) {
        return Ok(());
    }
    Err(format!(
        "Invalid timezone: 'No time zone found with key {text}'"
    ))
}

/// Checks an ISO 8601 date with an optional time, as Heat parses it: the last parts may be missing,
/// and so may the separators. The error is the reason.
pub(super) fn date(text: &str) -> Result<(), String> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let wrong = || format!("Unable to parse date string '{text}'");
    let (year, rest) = digits(text, 4).ok_or_else(wrong)?;
    let mut read = Err(wrong());
    if rest.is_empty() {
        read = Ok((1, 1, Time::default()));
    }
    'months: for (month, after) in marked(rest, '-', &[2, 1]) {
        // Six digits could be a year and a month, or a year and a day of two digits.
        if after.is_empty() && !rest.starts_with('-') {
            continue;
        }
        if after.is_empty() {
            read = Ok((month, 1, Time::default()));
            break;
        }
        for (day, after) in marked(after, '-', &[2, 1]) {
            let time = if after.is_empty() {
                Some(Time::default())
            } else {
                time(after)
            };
            if let Some(time) = time {
                read = Ok((month, day, time));
                break 'months;
            }
        }
    }
    let (month, day, time) = read?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let limits = [
        (year > 0, "year 0 is out of range"),
        ((1..=12).contains(&month), "month must be in 1..12"),
        ((1..=days).contains(&day), "day is out of range for month"),
        (time.hour < 24, "hour must be in 0..23"),
        (time.minute < 60, "minute must be in 0..59"),
        (time.second < 60, "second must be in 0..59"),
        (time.offset < 24 * 60, "offset must be less than 24 hours"),
    ];
    limits
        .iter()
        .find(|(kept, _)| !kept)
        .map_or(Ok(()), |(_, why)| Err((*why).to_owned()))
}

#[derive(Clone, Copy, Default)]
struct Time {
    hour: u32,
    minute: u32,
    second: u32,
    /// The offset from UTC in minutes, without its sign.
    offset: u32,
}

/// A number with this many digits, and the text after it.
fn digits(text: &str, count: usize) -> Option<(u32, &str)> {
    let (number, rest) = text.split_at_checked(count)?;
    let number = number
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| number.parse().ok())??;
    Some((number, rest))
}

/// A number after a mark, with one of these numbers of digits. Without the mark, only the first
/// number of digits is tried.
fn marked<'t>(text: &'t str, mark: char, counts: &[usize]) -> impl Iterator<Item = (u32, &'t str)> {
    let behind = text.strip_prefix(mark);
    let counts = if behind.is_some() {
        counts.to_vec()
    } else {
        counts[..counts.len().min(1)].to_vec()
    };
    let text = behind.unwrap_or(text);
    counts
        .into_iter()
        .filter_map(move |count| digits(text, count))
}

/// A time after ` ` or `T`, optionally with an offset from UTC.
fn time(text: &str) -> Option<Time> {
    let (hour, rest) = digits(text.strip_prefix([' ', 'T'])?, 2)?;
    let minutes = marked(rest, ':', &[2]).chain([(0, rest)]);
    minutes.into_iter().find_map(|(minute, rest)| {
        let seconds = seconds(rest).chain([(0, rest)]);
        seconds.into_iter().find_map(|(second, rest)| {
            Some(Time {
                hour,
                minute,
                second,
                offset: offset(rest)?,
            })
        })
    })
}

/// Seconds, with an optional fraction after a dot or a comma.
fn seconds(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let text = text.strip_prefix(':').unwrap_or(text);
    let two_or_one = [2, 1]
        .into_iter()
        .filter_map(move |count| digits(text, count));
    two_or_one.flat_map(|(second, rest)| {
        let fraction = rest
            .strip_prefix(['.', ','])
            .map(|rest| rest.trim_start_matches(|it: char| it.is_ascii_digit()));
        let fraction = fraction.filter(|after| after.len() + 1 < rest.len());
        fraction
            .into_iter()
            .chain([rest])
            .map(move |rest| (second, rest))
    })
}

/// The offset from UTC in minutes, at the end of the text.
fn offset(text: &str) -> Option<u32> {
    if matches!(text, "" | "Z") {
        return Some(0);
    }
    let (hours, rest) = digits(text.strip_prefix(['+', '-'])?, 2)?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let (minutes, rest) = digits(rest, 2).unwrap_or((0, rest));
    rest.is_empty().then_some(hours * 60 + minutes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_parsed_as_in_heat() {
        let good = [
            "2020",
            "2020-01",
            "20200101",
            "2020-1-1",
            "2020-01-01T10",
            "2020-01-01T1000",
            "2020-01-01 10:00:00",
            "2020-01-01T10:00:00.5Z",
            "2020-01-01T10:00:00,5+01",
            "2020-01-01T10:00:00+0130",
            "2020-01-01T10:0",
            "20200101T100000Z",
            "2020-01-01T10:00:5",
            "2020-1",
            "2020-01-01T10:00:00.1234567Z",
            "2020-01-01T10Z",
            "2020-01-01T10:00:00+01:",
            "2020-01-01\n",
            "2020-0101",
            "202001-01",
            "2020-01-01T10:0000",
            "2020-02-29",
            "2020-101",
        ];
        for text in good {
            assert_eq!(date(text), Ok(()), "{text}");
        }
        let bad = [
            "",
            "abc",
            "202001",
            "20201",
            "2020-13-01",
            "2021-02-29",
            "2020-01-01T24:00",
            "2020-01-01T10:60",
            "2020-01-01T10:00:60",
            "2020-01-01T",
            "2020-01-01t10:00Z",
            "2020-01-01T10:00z",
            "2020-01-01Z",
            "2020-01-01T10:00 Z",
            "2020-01-01T10:00+25:00",
            "0000-01-01",
            "2020-01-01T10:00-1",
            "2020-01-01T10:00:00+01:5",
            "2020-W01",
            "2020-001",
            " 2020-01-01",
            "2020-01-01T10:00+99:99",
            "2020é-01",
        ];
        for text in bad {
            assert!(date(text).is_err(), "{text}");
        }
    }

    #[test]
    fn time_zones_are_known_by_their_names() {
        for text in ["", "UTC", "Europe/Paris", "posix/Europe/Paris", "EST5EDT"] {
            assert_eq!(timezone(text), Ok(()), "{text}");
        }
        for text in ["Europe", "europe/paris", " UTC", "../UTC", "Foo/Bar"] {
            assert!(timezone(text).is_err(), "{text}");
        }
    }
}
