//! Parsing of dates and times without a pattern.
//!
//! The parser accepts the usual notations of a date, with an optional time and offset. The date
//! must be complete: yaql would take missing parts from today, and this crate does not know the
//! current date.

use super::calendar::{DateTimeParts, SECOND};
use super::format::{DAYS, MONTHS};
use super::moment::Moment;
use super::strptime::offset;
use super::timespan::Timespan;
use crate::failure::{Evaluated, Halt};

/// The parts that have been read so far.
#[derive(Default)]
struct DateFields {
    /// The numbers of the date in order, each with its number of digits.
    numbers: Vec<(i64, usize)>,
    /// The month, if the text has it as a name, and the count of numbers before it.
    month: Option<(i64, usize)>,
    /// Hours, minutes, seconds and microseconds.
    time: Option<[i64; 4]>,
    offset: Option<i64>,
}

/// Parses a point in time; UTC if the text has no offset. Fails with a message like Python's.
pub(crate) fn parse(text: &str) -> Evaluated<Moment> {
    let unknown = || Halt::failed(format!("Unknown string format: {text}"));
    let mut found = DateFields::default();
    let mut rest = text.trim_matches(pycompat::is_space);
    if rest.is_empty() {
        return Err(Halt::failed(format!(
            "String does not contain a date: {text}"
        )));
    }
    while !rest.is_empty() {
        rest = token(rest, &mut found).ok_or_else(unknown)?;
    }
    let (year, month, day) = date(&found).ok_or_else(|| match found.numbers.len() {
        0..=2 => Halt::failed(format!("String does not contain a whole date: {text}")),
        _ => unknown(),
    })?;
    let [hour, minute, second, microsecond] = found.time.unwrap_or_default();
    let parts = DateTimeParts {
        year,
        month,
        day,
        hour,
        minute,
        second,
        microsecond,
    };
    let moment = Moment::of(parts, Timespan::of(found.offset.unwrap_or(0).into())?);
    moment.map_err(|halt| match *halt {
        Halt::Failed { message, .. } => Halt::failed(format!("{message}: {text}")),
        other => Box::new(other),
    })
}

/// Reads one token and returns the rest. `None` if the token is unknown.
fn token<'a>(text: &'a str, found: &mut DateFields) -> Option<&'a str> {
    let first = text.chars().next()?;
    if pycompat::is_space(first) || matches!(first, ',' | ';') {
        return Some(&text[first.len_utf8()..]);
    }
    if first.is_ascii_digit() {
        return digits(text, found);
    }
    if matches!(first, '+' | '-') && found.time.is_some() && found.offset.is_none() {
        let (offset, rest) = offset(text).or_else(|| hours_only(text))?;
        found.offset = Some(offset);
        return Some(rest);
    }
    if matches!(first, '-' | '/' | '.') {
        return Some(&text[1..])
            .filter(|rest| rest.starts_with(|next: char| next.is_alphanumeric()));
    }
    word(text, found)
}

/// Parses an offset of whole hours, `+02`.
fn hours_only(text: &str) -> Option<(i64, &str)> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let hours: i64 = text.get(1..3)?.parse().ok()?;
    Some((sign * hours * 3600 * SECOND, &text[3..]))
}

fn number(text: &str) -> (i64, &str, usize) {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    (
        text[..length].parse().unwrap_or(i64::MAX),
        &text[length..],
        length,
    )
}

fn digits<'a>(text: &'a str, found: &mut DateFields) -> Option<&'a str> {
    let (value, rest, length) = number(text);
    if rest.starts_with(':') && found.time.is_none() {
        return time(value, rest, found);
    }
    let after_date = !found.numbers.is_empty() || found.month.is_some();
    let half = rest
        .trim_start_matches(' ')
        .get(..2)
        .map(str::to_ascii_lowercase);
    if found.time.is_none() && length <= 2 && matches!(half.as_deref(), Some("am" | "pm")) {
        found.time = Some([value, 0, 0, 0]);
        return Some(rest);
    }
    let whole_date = found.numbers.len() + usize::from(found.month.is_some()) >= 3;
    if whole_date && found.time.is_none() && matches!(length, 2 | 4 | 6) {
        let part = |at: usize| {
            text.get(at..at + 2)
                .and_then(|two| two.parse().ok())
                .unwrap_or(0)
        };
        let two = |at: usize| if at < length { part(at) } else { 0 };
        found.time = Some([two(0), two(2), two(4), 0]);
        return Some(fraction(rest, found));
    }
    match length {
        8 | 12 | 14 if !after_date => {
            let part = |from: usize, to: usize| {
                text.get(from..to)
                    .and_then(|part| part.parse().ok())
                    .unwrap_or(0)
            };
            found
                .numbers
                .extend([(part(0, 4), 4), (part(4, 6), 2), (part(6, 8), 2)]);
            if length > 8 {
                found.time = Some([
                    part(8, 10),
                    part(10, 12),
                    if length == 14 { part(12, 14) } else { 0 },
                    0,
                ]);
            }
        }
        _ => found.numbers.push((value, length)),
    }
    Some(rest)
}

/// Parses `:MM`, `:MM:SS` or `:MM:SS.ffffff` after the hours.
fn time<'a>(hours: i64, rest: &'a str, found: &mut DateFields) -> Option<&'a str> {
    let (minutes, rest, length) = number(rest.strip_prefix(':')?);
    if length == 0 {
        return None;
    }
    found.time = Some([hours, minutes, 0, 0]);
    let Some(rest) = rest.strip_prefix(':') else {
        return Some(rest);
    };
    let (seconds, rest, length) = number(rest);
    if length == 0 {
        return None;
    }
    found.time = Some([hours, minutes, seconds, 0]);
    Some(fraction(rest, found))
}

/// Parses an optional fraction of a second.
fn fraction<'a>(rest: &'a str, found: &mut DateFields) -> &'a str {
    let Some(behind) = rest.strip_prefix(['.', ',']) else {
        return rest;
    };
    let length = behind.bytes().take_while(u8::is_ascii_digit).count();
    if length == 0 {
        return rest;
    }
    let six: String = behind[..length]
        .chars()
        .chain("000000".chars())
        .take(6)
        .collect();
    if let Some(time) = &mut found.time {
        time[3] = six.parse().unwrap_or(0);
    }
    &behind[length..]
}

fn word<'a>(text: &'a str, found: &mut DateFields) -> Option<&'a str> {
    let length = text
        .find(|one: char| !one.is_alphabetic())
        .unwrap_or(text.len());
    let (word, rest) = text.split_at(length);
    let lower = word.to_lowercase();
    let is_name = |name: &str| lower == name.to_lowercase() || lower == name[..3].to_lowercase();
    if let Some(month) = MONTHS
        .iter()
        .position(|name| is_name(name) || (lower == "sept" && *name == "September"))
    {
        if found.month.is_some() {
            return None;
        }
        found.month = Some((month as i64 + 1, found.numbers.len()));
        return Some(rest.strip_prefix('.').unwrap_or(rest));
    }
    if DAYS.iter().any(|name| is_name(name))
        || matches!(
            &*lower,
            "of" | "at" | "on" | "and" | "st" | "nd" | "rd" | "th"
        )
    {
        return Some(rest);
    }
    match &*lower {
        // The separator between date and time.
        "t" if found.time.is_none() => Some(rest),
        "z" | "utc" | "gmt" if found.time.is_some() => {
            found.offset.get_or_insert(0);
            Some(rest)
        }
        "am" | "pm" | "a" | "p" => {
            let [hour, ..] = found.time.as_mut()?;
            if !(1..=12).contains(hour) {
                return None;
            }
            *hour = *hour % 12 + if lower.starts_with('p') { 12 } else { 0 };
            Some(rest)
        }
        // An unknown time zone is ignored.
        _ if found.time.is_some()
            && (3..=5).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_uppercase()) =>
        {
            Some(rest)
        }
        _ => None,
    }
}

/// Returns the year, month and day of the parts; `None` if one is missing or there are further
/// numbers.
fn date(found: &DateFields) -> Option<(i64, i64, i64)> {
    let is_year = |(value, digits): (i64, usize)| digits > 2 || value > 31;
    let full = |(value, digits): (i64, usize)| match value {
        // Years of two digits have the century that `strptime` gives them.
        0..=68 if digits <= 2 => 2000 + value,
        69..=99 if digits <= 2 => 1900 + value,
        year => year,
    };
    match (found.month, &*found.numbers) {
        (Some((month, _)), [first, second]) if is_year(*first) => {
            Some((full(*first), month, second.0))
        }
        (Some((month, _)), [first, second]) => Some((full(*second), month, first.0)),
        (None, [first, second, third]) if is_year(*first) => {
            Some((full(*first), second.0, third.0))
        }
        (None, [first, second, third]) if first.0 > 12 => Some((full(*third), second.0, first.0)),
        (None, [first, second, third]) => Some((full(*third), first.0, second.0)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_notations_of_dates_are_parsed() {
        for (text, expected) in [
            ("2020-01-02", "2020-01-02 00:00:00+00:00"),
            ("2020-01-02T03:04:05Z", "2020-01-02 03:04:05+00:00"),
            (
                "2020-01-02T03:04:05.123456+02:00",
                "2020-01-02 03:04:05.123456+02:00",
            ),
            (
                "2020-01-02T03:04:05,5 -0330",
                "2020-01-02 03:04:05.500000-03:30",
            ),
            ("2020-01-02T03:04:05-03", "2020-01-02 03:04:05-03:00"),
            ("20200102T030405", "2020-01-02 03:04:05+00:00"),
            ("20200102", "2020-01-02 00:00:00+00:00"),
            ("Thu, 02 Jan 2020 03:04:05 GMT", "2020-01-02 03:04:05+00:00"),
            ("Jan 2 2020", "2020-01-02 00:00:00+00:00"),
            ("2 January 2020 10:30 PM", "2020-01-02 22:30:00+00:00"),
            ("2020-01-02 3pm", "2020-01-02 15:00:00+00:00"),
            ("01/02/2020", "2020-01-02 00:00:00+00:00"),
            ("13/02/2020", "2020-02-13 00:00:00+00:00"),
            ("02.01.2020", "2020-02-01 00:00:00+00:00"),
            ("1/2/20", "2020-01-02 00:00:00+00:00"),
            ("2020-01-02T03", "2020-01-02 03:00:00+00:00"),
        ] {
            assert_eq!(
                parse(text).map(|moment| moment.text()).ok().as_deref(),
                Some(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn incomplete_dates_are_refused() {
        for text in [
            "",
            "nonsense",
            "2020-13-01",
            "2020-02-30",
            "10:30",
            "2020-01",
            "2020-W01-1",
            "é",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
