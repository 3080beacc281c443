//! The Gregorian calendar and the parts of a date and time.

use crate::failure::{Evaluated, Halt};

/// Microseconds in a second.
pub(crate) const SECOND: i64 = 1_000_000;
/// Microseconds in a day.
pub(crate) const DAY: i64 = 86_400 * SECOND;

/// A date and time of day in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DateTimeParts {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    pub(crate) microsecond: i64,
}

/// The number of days from 1970-01-01 to a date.
pub(super) fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date at a number of days after 1970-01-01.
pub(super) fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The number of days in a month.
pub(crate) fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl DateTimeParts {
    /// Midnight of a date.
    #[cfg(test)]
    pub(crate) fn date(year: i64, month: i64, day: i64) -> DateTimeParts {
        DateTimeParts {
            year,
            month,
            day,
            hour: 0,
            minute: 0,
            second: 0,
            microsecond: 0,
        }
    }

    /// Fails with Python's message if a part is out of range.
    pub(super) fn check(&self) -> Evaluated<()> {
        let words = if !(1..=9999).contains(&self.year) {
            format!("year {} is out of range", self.year)
        } else if !(1..=12).contains(&self.month) {
            "month must be in 1..12".into()
        } else if !(1..=days_in_month(self.year, self.month)).contains(&self.day) {
            "day is out of range for month".into()
        } else if !(0..24).contains(&self.hour) {
            "hour must be in 0..23".into()
        } else if !(0..60).contains(&self.minute) {
            "minute must be in 0..59".into()
        } else if !(0..60).contains(&self.second) {
            "second must be in 0..59".into()
        } else if !(0..SECOND).contains(&self.microsecond) {
            "microsecond must be in 0..999999".into()
        } else {
            return Ok(());
        };
        Err(Halt::failed(words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_convert_to_days_and_back() {
        for (days, date) in [
            (0, (1970, 1, 1)),
            (-1, (1969, 12, 31)),
            (18_321, (2020, 2, 29)),
            (-719_162, (1, 1, 1)),
        ] {
            assert_eq!(date_of(days), date);
            assert_eq!(days_of(date.0, date.1, date.2), days);
        }
    }
}
