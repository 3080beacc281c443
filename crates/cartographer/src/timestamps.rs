//! Times as Kubernetes writes them: RFC 3339, read strictly.

/// The seconds since 1970 of a time such as `2024-01-01T00:00:00Z`; fractions are left out. `None`
/// if the text is no time.
pub(crate) fn seconds(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    let clock = rest.strip_prefix('T')?;
    let (clock, rest) = clock.split_at_checked(8)?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    let is_valid = (1..=12).contains(&month)
        && (1..=days_of_month(i64::from(year), month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !is_valid {
        return None;
    }
    let offset = offset(without_fraction(rest)?)?;
    let days = days(i64::from(year), i64::from(month), i64::from(day));
    let clock = i64::from(hour * 3_600 + minute * 60 + second);
    Some(days * 86_400 + clock - offset)
}

/// Three numbers with a sign between them, each with exactly so many digits.
fn numbers(text: &str, between: char, digits: [usize; 3]) -> Option<[u32; 3]> {
    let mut parts = text.split(between);
    let mut numbers = [0; 3];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part = parts.next()?;
        if part.len() != digits || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

fn without_fraction(text: &str) -> Option<&str> {
    let Some(fraction) = text.strip_prefix('.') else {
        return Some(text);
    };
    let end = fraction.find(|character: char| !character.is_ascii_digit())?;
    (end > 0).then(|| fraction.get(end..)).flatten()
}

/// The seconds of `Z` or of an offset such as `+01:00`.
fn offset(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let sign = match text.bytes().next()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    let [hours, minutes, _] = numbers(&format!("{hours}:{minutes}:00"), ':', [2, 2, 2])?;
    (hours <= 24 && minutes < 60).then_some(sign * i64::from(hours * 3_600 + minutes * 60))
}

/// The number of days of a month, 1 to 12.
pub(crate) fn days_of_month(year: i64, month: u32) -> u32 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days since 1970-01-01 in the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the leap day is the last one.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_are_read_strictly() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2024-02-29T12:00:00Z"), Some(1_709_208_000));
        assert_eq!(seconds("2024-01-01T01:00:00.5+01:00"), Some(1_704_067_200));
        for text in [
            "",
            "2024-01-01",
            "2024-01-01 00:00:00Z",
            "2024-13-01T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2024-01-01T00:00:00",
            "2024-01-01T00:00:00.Z",
            "not a time",
            "é024-01-01T00:00:00Z",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
