//! Points in time and lengths of time, as Python counts them: to the microsecond, years 1 to 9999, no time zones but offsets.
//!
//! Not here: what time it is.

mod format;
mod parse;
mod strptime;

use python::BigInt;

use crate::failure::{Halt, Step};

pub(crate) use parse::parse;
pub(crate) use strptime::strptime;

/// Microseconds of a second.
pub(crate) const SECOND: i64 = 1_000_000;
/// Microseconds of a day.
pub(crate) const DAY: i64 = 86_400 * SECOND;

/// More days than this are no length of time.
const MOST_DAYS: i64 = 999_999_999;

/// A length of time, which may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timespan {
    days: i32,
    /// From 0 up to a day.
    microseconds: i64,
}

impl Timespan {
    pub(crate) const ZERO: Timespan = Timespan { days: 0, microseconds: 0 };

    /// So many microseconds. Fails if they are too many.
    pub(crate) fn of(microseconds: i128) -> Step<Timespan> {
        let days = microseconds.div_euclid(i128::from(DAY));
        match i32::try_from(days) {
            Ok(found) if days.abs() <= i128::from(MOST_DAYS) => {
                Ok(Timespan { days: found, microseconds: microseconds.rem_euclid(i128::from(DAY)) as i64 })
            }
            Ok(_) => Err(Halt::failed(format!("days={days}; must have magnitude <= {MOST_DAYS}"))),
            Err(_) => Err(Halt::failed("Python int too large to convert to C int")),
        }
    }

    /// So many microseconds, rounded half to even.
    pub(crate) fn of_float(microseconds: f64) -> Step<Timespan> {
        if microseconds.is_nan() {
            return Err(Halt::failed("cannot convert float NaN to integer"));
        }
        if !microseconds.is_finite() || microseconds.abs() > 1e30 {
            return Err(Halt::failed(format!("days={microseconds}; must have magnitude <= {MOST_DAYS}")));
        }
        Timespan::of(microseconds.round_ties_even() as i128)
    }

    /// The length in microseconds.
    pub(crate) fn microseconds(self) -> i128 {
        i128::from(self.days) * i128::from(DAY) + i128::from(self.microseconds)
    }

    /// The length in microseconds as a value.
    pub(crate) fn total(self) -> BigInt {
        BigInt::from(self.microseconds())
    }

    /// What `str` gives: `1 day, 2:03:04.000005`.
    pub(crate) fn text(self) -> String {
        let mut out = String::new();
        if self.days != 0 {
            out.push_str(&format!("{} day{}, ", self.days, if self.days.abs() == 1 { "" } else { "s" }));
        }
        let seconds = self.microseconds / SECOND;
        out.push_str(&format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60));
        match self.microseconds % SECOND {
            0 => {}
            rest => out.push_str(&format!(".{rest:06}")),
        }
        out
    }

    /// What `repr` gives: `datetime.timedelta(days=1, seconds=7384)`.
    pub(crate) fn repr(self) -> String {
        let parts = [
            ("days", i64::from(self.days)),
            ("seconds", self.microseconds / SECOND),
            ("microseconds", self.microseconds % SECOND),
        ];
        let named: Vec<_> =
            parts.iter().filter(|(_, value)| *value != 0).map(|(name, value)| format!("{name}={value}")).collect();
        format!("datetime.timedelta({})", if named.is_empty() { "0".into() } else { named.join(", ") })
    }
}

/// A point in time: what a clock shows, and how far that clock is ahead of UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Microseconds that the clock shows, from the beginning of 1970 on.
    clock: i64,
    /// Microseconds that it is ahead.
    offset: i64,
}

/// What a clock shows, part by part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    pub(crate) microsecond: i64,
}

/// Days from the beginning of 1970 to a date of the Gregorian calendar.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date that is so many days after the beginning of 1970.
fn date_of(days: i64) -> (i64, i64, i64) {
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

/// How many days a month has.
pub(crate) fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl Parts {
    /// Midnight of a date.
    #[cfg(test)]
    pub(crate) fn date(year: i64, month: i64, day: i64) -> Parts {
        Parts { year, month, day, hour: 0, minute: 0, second: 0, microsecond: 0 }
    }

    /// Refuses what no calendar and no clock shows, in Python's words.
    fn check(&self) -> Step<()> {
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

impl Moment {
    /// The time that a clock shows that is so far ahead of UTC. Fails where no clock shows it.
    pub(crate) fn of(parts: Parts, offset: Timespan) -> Step<Moment> {
        parts.check()?;
        let seconds = (parts.hour * 60 + parts.minute) * 60 + parts.second;
        let clock = days_of(parts.year, parts.month, parts.day) * DAY + seconds * SECOND + parts.microsecond;
        Ok(Moment { clock, offset: offset_of(offset)? })
    }

    /// The time so many microseconds after the beginning of 1970, UTC, shown by a clock that is so far ahead.
    pub(crate) fn at(instant: i128, offset: Timespan) -> Step<Moment> {
        let offset = offset_of(offset)?;
        Moment::shown(instant + i128::from(offset), offset)
    }

    /// The year that is so many microseconds after the beginning of 1970.
    pub(crate) fn year_of(microseconds: i128) -> i64 {
        date_of(i64::try_from(microseconds.div_euclid(i128::from(DAY))).unwrap_or(0)).0
    }

    fn shown(clock: i128, offset: i64) -> Step<Moment> {
        let (first, last) = (days_of(1, 1, 1), days_of(10_000, 1, 1));
        match i64::try_from(clock) {
            Ok(clock) if (first * DAY..last * DAY).contains(&clock) => Ok(Moment { clock, offset }),
            _ => Err(Halt::failed("date value out of range")),
        }
    }

    /// Microseconds after the beginning of 1970, UTC.
    pub(crate) fn instant(&self) -> i64 {
        self.clock - self.offset
    }

    /// How far the clock is ahead.
    pub(crate) fn offset(&self) -> Timespan {
        Timespan::of(self.offset.into()).unwrap_or(Timespan::ZERO)
    }

    /// What the clock shows.
    pub(crate) fn parts(&self) -> Parts {
        let (days, rest) = (self.clock.div_euclid(DAY), self.clock.rem_euclid(DAY));
        let (year, month, day) = date_of(days);
        let seconds = rest / SECOND;
        Parts {
            year,
            month,
            day,
            hour: seconds / 3600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            microsecond: rest % SECOND,
        }
    }

    /// The same clock a while later.
    pub(crate) fn plus(&self, span: Timespan) -> Step<Moment> {
        Moment::shown(i128::from(self.clock) + span.microseconds(), self.offset)
    }

    /// The same clock a while earlier.
    pub(crate) fn minus(&self, span: Timespan) -> Step<Moment> {
        Moment::shown(i128::from(self.clock) - span.microseconds(), self.offset)
    }

    /// The day of the week, Monday being 0.
    pub(crate) fn weekday(&self) -> i64 {
        (self.clock.div_euclid(DAY) + 3).rem_euclid(7)
    }

    /// The day of the year, the first being 1.
    pub(crate) fn day_of_year(&self) -> i64 {
        self.clock.div_euclid(DAY) - days_of(self.parts().year, 1, 1) + 1
    }

    /// Midnight of the same day.
    pub(crate) fn midnight(&self) -> Moment {
        Moment { clock: self.clock.div_euclid(DAY) * DAY, offset: self.offset }
    }

    /// What `str` gives: `2020-01-02 03:04:05+00:00`.
    pub(crate) fn text(&self) -> String {
        let Parts { year, month, day, hour, minute, second, microsecond } = self.parts();
        let mut out = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
        if microsecond != 0 {
            out.push_str(&format!(".{microsecond:06}"));
        }
        out.push_str(&format::offset(self.offset, ":"));
        out
    }

    /// What `repr` gives: `datetime.datetime(2020, 1, 2, 3, 4, tzinfo=tzutc())`.
    pub(crate) fn repr(&self) -> String {
        let Parts { year, month, day, hour, minute, second, microsecond } = self.parts();
        let mut out = format!("datetime.datetime({year}, {month}, {day}, {hour}, {minute}");
        if microsecond != 0 {
            out.push_str(&format!(", {second}, {microsecond}"));
        } else if second != 0 {
            out.push_str(&format!(", {second}"));
        }
        match self.offset {
            0 => out.push_str(", tzinfo=tzutc())"),
            offset => out.push_str(&format!(", tzinfo=tzoffset(None, {}))", offset / SECOND)),
        }
        out
    }

    /// What `strftime` gives.
    pub(crate) fn format(&self, pattern: &str) -> String {
        format::strftime(self, pattern)
    }
}

/// An offset in microseconds. Fails if it is a day or more.
fn offset_of(span: Timespan) -> Step<i64> {
    match i64::try_from(span.microseconds()) {
        Ok(offset) if offset.abs() < DAY => Ok(offset),
        _ => Err(Halt::failed(
            "offset must be a timedelta strictly between -timedelta(hours=24) and timedelta(hours=24).",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_days_are_one() {
        for (days, date) in [(0, (1970, 1, 1)), (-1, (1969, 12, 31)), (18_321, (2020, 2, 29)), (-719_162, (1, 1, 1))] {
            assert_eq!(date_of(days), date);
            assert_eq!(days_of(date.0, date.1, date.2), days);
        }
    }

    #[test]
    fn a_moment_is_shown_as_python_shows_it() {
        let parts = Parts { hour: 3, minute: 4, microsecond: 5, ..Parts::date(2020, 1, 2) };
        let moment = Moment::of(parts, Timespan::of(7_200_000_000).expect("a length")).expect("a moment");
        assert_eq!(moment.text(), "2020-01-02 03:04:00.000005+02:00");
        assert_eq!(moment.repr(), "datetime.datetime(2020, 1, 2, 3, 4, 0, 5, tzinfo=tzoffset(None, 7200))");
        assert_eq!(moment.weekday(), 3);
    }

    #[test]
    fn a_length_is_shown_as_python_shows_it() {
        let shown = |microseconds| Timespan::of(microseconds).map(|span| (span.text(), span.repr())).expect("a length");
        assert_eq!(shown(0), ("0:00:00".into(), "datetime.timedelta(0)".into()));
        assert_eq!(
            shown(-1),
            (
                "-1 day, 23:59:59.999999".into(),
                "datetime.timedelta(days=-1, seconds=86399, microseconds=999999)".into()
            )
        );
        assert_eq!(shown(2 * i128::from(DAY)).0, "2 days, 0:00:00");
        assert!(Timespan::of(i128::from(DAY) * 1_000_000_000).is_err());
    }
}
