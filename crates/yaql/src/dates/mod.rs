//! Python's `datetime` and `timedelta`: microseconds, years 1 to 9999, offsets from UTC instead of
//! time zones.
//!
//! Not here: the current time.

mod calendar;
mod format;
mod moment;
mod parse;
mod strptime;
mod timespan;

pub(crate) use calendar::DateTimeParts;
pub(crate) use moment::Moment;
pub(crate) use parse::parse;
pub(crate) use strptime::strptime;
pub(crate) use timespan::Timespan;
