//! Points in time, as Python's `datetime` with an offset.

use super::calendar::{DAY, Parts, SECOND, date_of, days_of};
use super::timespan::Timespan;
use crate::failure::{Halt, Step};

/// A point in time: what a clock shows, and how far that clock is ahead of UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Microseconds that the clock shows, from the beginning of 1970 on.
    pub(super) clock: i64,
    /// Microseconds that it is ahead.
    pub(super) offset: i64,
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
