//! Points in time, as Python's `datetime` with an offset.

use super::calendar::{DAY, DateTimeParts, SECOND, date_of, days_of};
use super::timespan::Timespan;
use crate::failure::{Evaluated, Halt};

/// A point in time: the local time of a clock, and the offset of that clock from UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Local time in microseconds since 1970.
    pub(super) clock: i64,
    /// The offset from UTC in microseconds.
    pub(super) offset: i64,
}

impl Moment {
    /// The point in time of local parts at an offset from UTC. Fails if a part is out of range.
    pub(crate) fn of(parts: DateTimeParts, offset: Timespan) -> Evaluated<Moment> {
        parts.check()?;
        let seconds = (parts.hour * 60 + parts.minute) * 60 + parts.second;
        let clock = days_of(parts.year, parts.month, parts.day) * DAY
            + seconds * SECOND
            + parts.microsecond;
        Ok(Moment {
            clock,
            offset: offset_of(offset)?,
        })
    }

    /// The point in time at `instant` microseconds since 1970 UTC, with an offset. Fails if it is
    /// out of range.
    pub(crate) fn at(instant: i128, offset: Timespan) -> Evaluated<Moment> {
        let offset = offset_of(offset)?;
        Moment::shown(instant + i128::from(offset), offset)
    }

    /// The year at a number of microseconds since 1970.
    pub(crate) fn year_of(microseconds: i128) -> i64 {
        date_of(i64::try_from(microseconds.div_euclid(i128::from(DAY))).unwrap_or(0)).0
    }

    fn shown(clock: i128, offset: i64) -> Evaluated<Moment> {
        let (first, last) = (days_of(1, 1, 1), days_of(10_000, 1, 1));
        match i64::try_from(clock) {
            Ok(clock) if (first * DAY..last * DAY).contains(&clock) => Ok(Moment { clock, offset }),
            _ => Err(Halt::failed("date value out of range")),
        }
    }

    /// Microseconds since 1970 UTC.
    pub(crate) fn instant(&self) -> i64 {
        self.clock - self.offset
    }

    /// The offset from UTC.
    pub(crate) fn offset(&self) -> Timespan {
        Timespan::of(self.offset.into()).unwrap_or(Timespan::ZERO)
    }

    /// The parts of the local time.
    pub(crate) fn parts(&self) -> DateTimeParts {
        let (days, rest) = (self.clock.div_euclid(DAY), self.clock.rem_euclid(DAY));
        let (year, month, day) = date_of(days);
        let seconds = rest / SECOND;
        DateTimeParts {
            year,
            month,
            day,
            hour: seconds / 3600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            microsecond: rest % SECOND,
        }
    }

    /// Adds a timespan, with the same offset.
    pub(crate) fn plus(&self, span: Timespan) -> Evaluated<Moment> {
        Moment::shown(i128::from(self.clock) + span.microseconds(), self.offset)
    }

    /// Subtracts a timespan, with the same offset.
    pub(crate) fn minus(&self, span: Timespan) -> Evaluated<Moment> {
        Moment::shown(i128::from(self.clock) - span.microseconds(), self.offset)
    }

    /// The day of the week; Monday is 0.
    pub(crate) fn weekday(&self) -> i64 {
        (self.clock.div_euclid(DAY) + 3).rem_euclid(7)
    }

    /// The day of the year, from 1.
    pub(crate) fn day_of_year(&self) -> i64 {
        self.clock.div_euclid(DAY) - days_of(self.parts().year, 1, 1) + 1
    }

    /// Midnight of the same day.
    pub(crate) fn midnight(&self) -> Moment {
        Moment {
            clock: self.clock.div_euclid(DAY) * DAY,
            offset: self.offset,
        }
    }
}

/// An offset in microseconds. Fails if it is a day or more.
fn offset_of(span: Timespan) -> Evaluated<i64> {
    match i64::try_from(span.microseconds()) {
        Ok(offset) if offset.abs() < DAY => Ok(offset),
        _ => Err(Halt::failed(
            "offset must be a timedelta strictly between -timedelta(hours=24) and timedelta(hours=24).",
        )),
    }
}
