//! Which texts mean something else than a string when they are written without quotes.

use crate::timestamps::days_of_month;

/// Whether a text is read as a string without quotes, by readers of YAML 1.1 too.
pub(super) fn reads_as_string(text: &str) -> bool {
    !(is_word(text) || is_number(text) || is_timestamp(text) || is_base_60(text))
}

/// Null, booleans and special floats; with `yes` and the like, which YAML 1.1 has.
fn is_word(text: &str) -> bool {
    matches!(
        text,
        "" | "~"
            | "null"
            | "Null"
            | "NULL"
            | "true"
            | "True"
            | "TRUE"
            | "false"
            | "False"
            | "FALSE"
            | "y"
            | "Y"
            | "yes"
            | "Yes"
            | "YES"
            | "on"
            | "On"
            | "ON"
            | "n"
            | "N"
            | "no"
            | "No"
            | "NO"
            | "off"
            | "Off"
            | "OFF"
            | ".nan"
            | ".NaN"
            | ".NAN"
            | ".inf"
            | ".Inf"
            | ".INF"
            | "+.inf"
            | "+.Inf"
            | "+.INF"
            | "-.inf"
            | "-.Inf"
            | "-.INF"
    )
}

fn is_number(text: &str) -> bool {
    match text.bytes().next() {
        Some(b'.') => separates_digits(text) && is_float(&text.replace('_', "")),
        Some(b'+' | b'-' | b'0'..=b'9') => {
            let plain = text.replace('_', "");
            is_integer(&plain) || is_float(&plain)
        }
        _ => false,
    }
}

/// Whether each underscore stands between digits.
fn separates_digits(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| {
        let byte = at.and_then(|at| bytes.get(at));
        byte.is_some_and(u8::is_ascii_digit)
    };
    let mut underscores = text.match_indices('_');
    underscores.all(|(at, _)| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)))
}

/// An integer of 64 bits, with a prefix for its base or without.
fn is_integer(text: &str) -> bool {
    let (sign, digits) = match text.strip_prefix(['+', '-']) {
        Some(digits) => (text.get(..1), digits),
        None => (None, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (digits, radix) = if let Some(rest) = lower.strip_prefix("0x") {
        (rest, 16)
    } else if let Some(rest) = lower.strip_prefix("0b") {
        (rest, 2)
    } else if let Some(rest) = lower.strip_prefix("0o") {
        (rest, 8)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (lower.get(1..).unwrap_or_default(), 8)
    } else {
        (lower.as_str(), 10)
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return false;
    }
    match u64::from_str_radix(digits, radix) {
        Err(_) => false,
        Ok(number) => match sign {
            None => true,
            Some("-") => number <= i64::MIN.unsigned_abs(),
            Some(_) => i64::try_from(number).is_ok(),
        },
    }
}

/// A decimal float that a double can hold.
fn is_float(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (number, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(exponent)),
        None => (unsigned, None),
    };
    if let Some(exponent) = exponent {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if exponent.is_empty() || !digits(exponent) {
            return false;
        }
    }
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let has_digits = !whole.is_empty() || !part.is_empty();
    has_digits && digits(whole) && digits(part) && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Digits, then parts below 60 after colons, as YAML 1.1 writes times.
fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (number, part) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let mut parts = number.split(':');
    let first = parts.next().unwrap_or_default();
    let is_loose = |byte: u8| byte.is_ascii_digit() || byte == b'_';
    let is_sixtieth = |part: &str| match part.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [ten, digit] => (b'0'..=b'5').contains(ten) && digit.is_ascii_digit(),
        _ => false,
    };
    let mut rest = parts.peekable();
    rest.peek().is_some()
        && first
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_digit())
        && first.bytes().all(is_loose)
        && rest.all(is_sixtieth)
        && part.bytes().all(is_loose)
}

/// A date, or a date with a time.
fn is_timestamp(text: &str) -> bool {
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    if !is_date(date) {
        return false;
    }
    match time.strip_prefix(['T', 't']) {
        Some(clock) => without_zone(clock).is_some_and(is_clock),
        None => time.is_empty() || time.strip_prefix(' ').is_some_and(is_clock),
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return false;
    };
    let year = (year.len() == 4).then(|| number(year, 4)).flatten();
    match (year, number(month, 2), number(day, 2)) {
        (Some(year), Some(month @ 1..=12), Some(day)) => {
            (1..=days_of_month(i64::from(year), month)).contains(&day)
        }
        _ => false,
    }
}

/// The clock before `Z` or an offset such as `+01:00`.
fn without_zone(text: &str) -> Option<&str> {
    if let Some(clock) = text.strip_suffix('Z') {
        return Some(clock);
    }
    let (clock, offset) = text.split_at_checked(text.rfind(['+', '-'])?)?;
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let is_pair =
        |text: &str, end: u32| text.len() == 2 && number(text, 2).is_some_and(|n| n < end);
    (is_pair(hours, 25) && is_pair(minutes, 60)).then_some(clock)
}

fn is_clock(text: &str) -> bool {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let parts: Vec<&str> = clock.split(':').collect();
    let [hour, minute, second] = parts.as_slice() else {
        return false;
    };
    let below = |text: &str, end: u32| number(text, 2).is_some_and(|number| number < end);
    let is_fraction =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    below(hour, 24) && below(minute, 60) && below(second, 60) && fraction.is_none_or(is_fraction)
}

/// A number of one digit up to `most` digits.
fn number(text: &str, most: usize) -> Option<u32> {
    let is_number =
        (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::reads_as_string;

    #[test]
    fn texts_with_another_meaning_are_no_strings() {
        for text in [
            "",
            "~",
            "null",
            "yes",
            "Off",
            ".inf",
            "1",
            "-0",
            "1_000",
            "0x1F",
            "0b1",
            "0o7",
            "0777",
            "08",
            "1.",
            ".5",
            "1e3",
            "1:30",
            "190:20:30.15",
            "2024-01-01",
            "2024-1-1 1:2:3",
            "2024-01-01T00:00:00Z",
            "2024-01-01t00:00:00.5+01:00",
            "18446744073709551615",
            "123456789012345678901234567890",
        ] {
            assert!(!reads_as_string(text), "{text}");
        }
    }

    #[test]
    fn other_texts_are_strings() {
        for text in [
            "a",
            "NaN",
            "yEs",
            "=",
            "<<",
            "1e999",
            "0x",
            "1.2.3",
            "1:60",
            "1:2:",
            "2024-13-01",
            "2024-02-30",
            "24-01-01",
            "+",
            "-",
            ".",
            "e5",
            "0b2",
            "v1",
            "1e",
            "--1",
        ] {
            assert!(reads_as_string(text), "{text}");
        }
    }
}
