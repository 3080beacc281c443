//! The formats of texts and numbers that are checked.

/// A format. Others say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextFormat {
    DateTime,
    Date,
    Ipv4,
    Ipv6,
    Uuid,
    /// Numbers of 32 bits.
    Int32,
}

impl TextFormat {
    /// The format with a name; `None` for one that is not checked.
    pub(crate) fn of_name(name: &str) -> Option<TextFormat> {
        Some(match name {
            "date-time" | "datetime" => TextFormat::DateTime,
            "date" => TextFormat::Date,
            "ipv4" => TextFormat::Ipv4,
            "ipv6" => TextFormat::Ipv6,
            "uuid" => TextFormat::Uuid,
            "int32" => TextFormat::Int32,
            _ => return None,
        })
    }

    /// The name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            TextFormat::DateTime => "date-time",
            TextFormat::Date => "date",
            TextFormat::Ipv4 => "ipv4",
            TextFormat::Ipv6 => "ipv6",
            TextFormat::Uuid => "uuid",
            TextFormat::Int32 => "int32",
        }
    }

    /// Whether a text has the format.
    pub(crate) fn accepts(self, text: &str) -> bool {
        match self {
            TextFormat::DateTime => is_date_time(text),
            TextFormat::Date => is_date(text),
            TextFormat::Ipv4 => text.parse::<std::net::Ipv4Addr>().is_ok(),
            TextFormat::Ipv6 => text.parse::<std::net::Ipv6Addr>().is_ok(),
            TextFormat::Uuid => is_uuid(text),
            TextFormat::Int32 => true,
        }
    }
}

/// The number that `length` digits are; `None` if there are others.
fn digits(text: &str, length: usize) -> Option<u32> {
    let is_plain = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain { text.parse().ok() } else { None }
}

/// `2026-01-31`.
fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut next = |length| parts.next().and_then(|part| digits(part, length));
    let (Some(year), Some(month), Some(day)) = (next(4), next(2), next(2)) else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day) && parts.next().is_none()
}

/// `2026-01-31T12:00:00.5Z`, with an offset instead of `Z` if wanted.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else {
        return false;
    };
    let Some((clock, zone)) = time.split_at_checked(8) else {
        return false;
    };
    let mut parts = clock.split(':');
    let mut next = || parts.next().and_then(|part| digits(part, 2));
    let (Some(hour), Some(minute), Some(second)) = (next(), next(), next()) else {
        return false;
    };
    let zone = match zone.strip_prefix('.') {
        None => zone,
        Some(fraction) => {
            let rest = fraction.trim_start_matches(|digit: char| digit.is_ascii_digit());
            if rest.len() == fraction.len() {
                return false;
            }
            rest
        }
    };
    is_date(date)
        && parts.next().is_none()
        && hour <= 23
        && minute <= 59
        && second <= 59
        && is_zone(zone)
}

fn is_zone(text: &str) -> bool {
    if matches!(text, "Z" | "z") {
        return true;
    }
    let offset = text.strip_prefix(['+', '-']);
    offset
        .and_then(|offset| offset.split_once(':'))
        .is_some_and(|(hours, minutes)| digits(hours, 2).is_some() && digits(minutes, 2).is_some())
}

/// 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12, with or without hyphens between them.
fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let is_hexadecimal = |group: &&str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
    groups.iter().all(is_hexadecimal) && (lengths == [32] || lengths == [8, 4, 4, 4, 12])
}
