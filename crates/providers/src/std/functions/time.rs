//! Times in RFC 3339 and durations such as `1h30m`.

use blueprint::Value;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

use super::arguments::{FunctionError, StdCode, form, range, text_at};

pub(super) fn body(name: &str) -> Option<StdCode> {
    Some(match name {
        "timeadd" => add,
        "timecmp" => compare,
        _ => return None,
    })
}

/// The time in an argument, and its offset from UTC.
fn time_at(arguments: &[Value], at: usize) -> Result<(Timestamp, Offset), FunctionError> {
    let text = text_at(arguments, at);
    parsed(text).ok_or_else(|| {
        form(
            at,
            format!("`{text}` is no time such as `2020-01-31T00:00:00Z`"),
        )
    })
}

fn parsed(text: &str) -> Option<(Timestamp, Offset)> {
    // The pattern of RFC 3339: the parser accepts more.
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    let bytes = text.as_bytes();
    if separators
        .iter()
        .any(|(at, separator)| bytes.get(*at) != Some(separator))
    {
        return None;
    }
    let time: Timestamp = text.parse().ok()?;
    if text.ends_with('Z') {
        return Some((time, Offset::UTC));
    }
    let offset = text.get(text.len().checked_sub(6)?..)?;
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let seconds = hours.parse::<i32>().ok()? * 3600 + minutes.parse::<i32>().ok()? * 60;
    let sign = match offset.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    Some((time, Offset::from_seconds(sign * seconds).ok()?))
}

/// The nanoseconds of a duration: numbers with units, as in `-1h30m` and `1.5s`.
fn nanoseconds(text: &str) -> Result<i128, String> {
    const UNITS: [(&str, i128); 8] = [
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("μs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    let invalid = || format!("`{text}` is no duration such as `1h30m`");
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total = 0i128;
    while !rest.is_empty() {
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        let end = rest.find(|c| !is_number(c)).unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let end = after.find(is_number).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return Err(invalid());
        }
        let Some((_, size)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(match unit {
                "" => format!("`{text}` has a number without a unit"),
                unit => format!("`{text}` has the unknown unit `{unit}`"),
            });
        };
        let whole: i128 = match whole {
            "" => 0,
            digits => digits.parse().map_err(|_| invalid())?,
        };
        let mut part = whole.checked_mul(*size).ok_or_else(invalid)?;
        let mut scale = *size;
        for digit in fraction.bytes().map(|digit| i128::from(digit - b'0')) {
            scale /= 10;
            part += digit * scale;
        }
        total = total.checked_add(part).ok_or_else(invalid)?;
        rest = after;
    }
    match i64::try_from(total) {
        Ok(_) => Ok(if negative { -total } else { total }),
        Err(_) => Err(invalid()),
    }
}

fn add(arguments: &[Value]) -> Result<Value, FunctionError> {
    let (time, offset) = time_at(arguments, 0)?;
    let duration = nanoseconds(text_at(arguments, 1)).map_err(|why| form(1, why))?;
    let duration = SignedDuration::from_nanos(i64::try_from(duration).unwrap_or(i64::MAX));
    let Ok(sum) = time.checked_add(duration) else {
        return Err(range(1, "the sum is no time that can be written"));
    };
    let sum = sum.to_zoned(TimeZone::fixed(offset));
    let format = match offset == Offset::UTC {
        true => "%Y-%m-%dT%H:%M:%SZ",
        false => "%Y-%m-%dT%H:%M:%S%:z",
    };
    Ok(sum.strftime(format).to_string().into())
}

fn compare(arguments: &[Value]) -> Result<Value, FunctionError> {
    let (one, _) = time_at(arguments, 0)?;
    let (other, _) = time_at(arguments, 1)?;
    Ok(Value::Int(one.cmp(&other) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_added_in_the_offset_of_the_time() {
        let sum = |time: &str, duration: &str| add(&[time.into(), duration.into()]);
        for (time, duration, wanted) in [
            ("2020-01-01T00:00:00Z", "1h30m", "2020-01-01T01:30:00Z"),
            ("2020-01-01T00:00:00Z", "-1.5s", "2019-12-31T23:59:58Z"),
            (
                "2020-01-01T00:00:00+02:00",
                "1h",
                "2020-01-01T01:00:00+02:00",
            ),
        ] {
            assert_eq!(sum(time, duration).unwrap(), Value::text(wanted));
        }
        for (time, duration, argument) in [
            ("x", "1h", 0),
            ("2020-01-01 00:00:00Z", "1h", 0),
            ("2020-01-01T00:00:00Z", "1d", 1),
            ("2020-01-01T00:00:00Z", "5", 1),
            ("2020-01-01T00:00:00Z", "", 1),
            ("2020-01-01T00:00:00Z", "99999999999999999999h", 1),
        ] {
            assert_eq!(sum(time, duration).unwrap_err().argument, Some(argument));
        }
    }

    #[test]
    fn times_are_compared_as_instants() {
        let cmp = |a: &str, b: &str| compare(&[a.into(), b.into()]).unwrap();
        let utc = "2020-01-01T00:00:00Z";
        assert_eq!(cmp(utc, "2020-01-01T02:00:00+02:00"), Value::Int(0));
        assert_eq!(cmp(utc, "2020-01-01T00:00:01Z"), Value::Int(-1));
        assert_eq!(cmp(utc, "2019-01-01T00:00:00Z"), Value::Int(1));
    }
}
