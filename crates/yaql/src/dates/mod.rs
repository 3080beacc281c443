//! Points in time and lengths of time, as Python counts them: to the microsecond, years 1 to 9999, no time zones but offsets.
//!
//! Not here: what time it is.

mod calendar;
mod format;
mod moment;
mod parse;
mod strptime;
mod timespan;

pub(crate) use calendar::Parts;
pub(crate) use moment::Moment;
pub(crate) use parse::parse;
pub(crate) use strptime::strptime;
pub(crate) use timespan::Timespan;
