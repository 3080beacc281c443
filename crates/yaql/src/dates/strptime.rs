//! Parsing of dates and times with a pattern: Python's `strptime`.

use super::calendar::{DateTimeParts, SECOND, date_of, days_of};
use super::format::{DAYS, MONTHS};
use super::moment::Moment;
use super::timespan::Timespan;
use crate::failure::{Evaluated, Halt};

/// The parts that have been read so far.
#[derive(Default)]
struct StrptimeFields {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    hour: i64,
    afternoon: Option<bool>,
    minute: i64,
    second: i64,
    microsecond: i64,
    offset: i64,
}

/// Parses a point in time with a pattern; UTC if there is no offset. Fails with Python's message.
pub(crate) fn strptime(text: &str, pattern: &str) -> Evaluated<Moment> {
    let mismatch = || {
        let (text, pattern) = (pycompat::repr_text(text), pycompat::repr_text(pattern));
        Halt::failed(format!("time data {text} does not match format {pattern}"))
    };
    let mut found = StrptimeFields::default();
    let rest = read(text, pattern, &mut found, pattern)?.ok_or_else(mismatch)?;
    if !rest.is_empty() {
        return Err(Halt::failed(format!("unconverted data remains: {rest}")));
    }
    let hour = match found.afternoon {
        Some(afternoon) => found.hour % 12 + if afternoon { 12 } else { 0 },
        None => found.hour,
    };
    let year = found.year.unwrap_or(1900);
    let (month, day) = match found.day_of_year {
        Some(of_year) if found.month.is_none() && found.day.is_none() => {
            let (_, month, day) = date_of(days_of(year, 1, 1) + of_year - 1);
            (month, day)
        }
        _ => (found.month.unwrap_or(1), found.day.unwrap_or(1)),
    };
    let parts = DateTimeParts {
        year,
        month,
        day,
        hour,
        minute: found.minute,
        second: found.second,
        microsecond: found.microsecond,
    };
    Moment::of(parts, Timespan::of(found.offset.into())?)
}

/// Reads a text with a pattern and returns the rest; `None` if the text does not match.
fn read<'a>(
    mut text: &'a str,
    pattern: &str,
    found: &mut StrptimeFields,
    whole: &str,
) -> Evaluated<Option<&'a str>> {
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        if pycompat::is_space(character) {
            let after = text.trim_start_matches(pycompat::is_space);
            if after.len() == text.len() {
                return Ok(None);
            }
            text = after;
            while characters
                .next_if(|next| pycompat::is_space(*next))
                .is_some()
            {}
            continue;
        }
        if character != '%' {
            let mut same = text.chars();
            match same.next() {
                Some(next) if next.to_lowercase().eq(character.to_lowercase()) => {
                    text = same.as_str()
                }
                _ => return Ok(None),
            }
            continue;
        }
        let Some(directive) = characters.next() else {
            return Err(Halt::failed(format!(
                "stray % in format {}",
                pycompat::repr_text(whole)
            )));
        };
        match part(text, directive, found, whole)? {
            Some(rest) => text = rest,
            None => return Ok(None),
        }
    }
    Ok(Some(text))
}

/// Parses a number with a maximum of digits and returns it with the rest; `None` if there is no
/// number in the range.
fn number(text: &str, digits: usize, range: std::ops::RangeInclusive<i64>) -> Option<(i64, &str)> {
    let most = text
        .bytes()
        .take(digits)
        .take_while(u8::is_ascii_digit)
        .count();
    (1..=most).rev().find_map(|length| {
        let value = text[..length].parse().ok()?;
        range.contains(&value).then_some((value, &text[length..]))
    })
}

/// Returns the index of the name at the beginning of a text, in any letter case, and the rest.
/// Longer names are tried first.
fn name<'a>(text: &'a str, names: &[&str]) -> Option<(usize, &'a str)> {
    let begins = |name: &&str| {
        text.get(..name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name))
    };
    let at = names
        .iter()
        .enumerate()
        .filter(|(_, name)| begins(name))
        .max_by_key(|(_, name)| name.len())?
        .0;
    Some((at, &text[names[at].len()..]))
}

fn part<'a>(
    text: &'a str,
    directive: char,
    found: &mut StrptimeFields,
    whole: &str,
) -> Evaluated<Option<&'a str>> {
    let short = |names: &[&'static str]| -> Vec<&'static str> {
        names.iter().map(|name| &name[..3]).collect()
    };
    let take = |digits, range, slot: &mut i64| {
        number(text, digits, range).map(|(value, rest)| {
            *slot = value;
            rest
        })
    };
    let mut value = 0;
    let rest = match directive {
        'Y' => {
            let four = text
                .get(..4)
                .filter(|four| four.bytes().all(|byte| byte.is_ascii_digit()));
            found.year = four.and_then(|four| four.parse().ok());
            four.map(|_| &text[4..])
        }
        'y' => {
            let two = text
                .get(..2)
                .filter(|two| two.bytes().all(|byte| byte.is_ascii_digit()));
            let year: Option<i64> = two.and_then(|two| two.parse().ok());
            found.year = year.map(|year| if year <= 68 { 2000 + year } else { 1900 + year });
            two.map(|_| &text[2..])
        }
        'm' => {
            let rest = take(2, 1..=12, &mut value);
            found.month = Some(value);
            rest
        }
        'd' => {
            let rest = take(2, 1..=31, &mut value).or_else(|| {
                let rest = text.strip_prefix(' ')?;
                let (day, rest) = number(rest, 1, 1..=9)?;
                value = day;
                Some(rest)
            });
            found.day = Some(value);
            rest
        }
        'j' => {
            let rest = take(3, 1..=366, &mut value);
            found.day_of_year = Some(value);
            rest
        }
        'H' => take(2, 0..=23, &mut found.hour),
        'I' => {
            let rest = take(2, 1..=12, &mut found.hour);
            found.afternoon.get_or_insert(false);
            rest
        }
        'M' => take(2, 0..=59, &mut found.minute),
        'S' => take(2, 0..=61, &mut found.second),
        'w' => take(1, 0..=6, &mut value),
        'u' => take(1, 1..=7, &mut value),
        'U' | 'W' => take(2, 0..=53, &mut value),
        'f' => {
            let digits = text.bytes().take(6).take_while(u8::is_ascii_digit).count();
            found.microsecond = format!("{:0<6}", &text[..digits]).parse().unwrap_or(0);
            (digits > 0).then(|| &text[digits..])
        }
        'p' => name(text, &["AM", "PM"]).map(|(at, rest)| {
            found.afternoon = Some(at == 1);
            rest
        }),
        'a' => name(text, &short(&DAYS)).map(|(_, rest)| rest),
        'A' => name(text, &DAYS).map(|(_, rest)| rest),
        'b' => name(text, &short(&MONTHS)).map(|(at, rest)| {
            found.month = Some(at as i64 + 1);
            rest
        }),
        'B' => name(text, &MONTHS).map(|(at, rest)| {
            found.month = Some(at as i64 + 1);
            rest
        }),
        'Z' => name(text, &["UTC", "GMT"])
            .map(|(_, rest)| rest)
            .or(Some(text)),
        'z' => offset(text).map(|(offset, rest)| {
            found.offset = offset;
            rest
        }),
        'c' => return read(text, "%a %b %d %H:%M:%S %Y", found, whole),
        'x' => return read(text, "%m/%d/%y", found, whole),
        'X' => return read(text, "%H:%M:%S", found, whole),
        '%' => text.strip_prefix('%'),
        other => {
            let (other, whole) = (
                pycompat::repr_text(&other.to_string()),
                pycompat::repr_text(whole),
            );
            return Err(Halt::failed(format!(
                "{other} is a bad directive in format {whole}"
            )));
        }
    };
    Ok(rest)
}

/// Parses an offset `+HHMM` or `+HH:MM`, with optional seconds and fraction, or `Z`, and returns it
/// with the rest.
pub(super) fn offset(text: &str) -> Option<(i64, &str)> {
    if let Some(rest) = text.strip_prefix('Z') {
        return Some((0, rest));
    }
    let sign = match text.bytes().next()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let two = |text: &str| -> Option<i64> {
        text.get(..2)
            .filter(|two| two.bytes().all(|byte| byte.is_ascii_digit()))?
            .parse()
            .ok()
    };
    let (hours, mut rest) = (two(&text[1..])?, &text[3..]);
    let colon = rest.starts_with(':');
    rest = rest.strip_prefix(':').unwrap_or(rest);
    let minutes = two(rest).filter(|minutes| *minutes < 60)?;
    rest = &rest[2..];
    let mut total = (hours * 60 + minutes) * 60;
    let more = if colon {
        rest.strip_prefix(':')
    } else {
        Some(rest)
    };
    if let Some((seconds, after)) =
        more.and_then(|more| Some((two(more).filter(|seconds| *seconds < 60)?, &more[2..])))
    {
        total += seconds;
        rest = after;
    }
    Some((sign * total * SECOND, rest))
}
