//! Lengths of time, as Python's `timedelta`.

use pycompat::BigInt;

use super::calendar::{DAY, SECOND};
use crate::failure::{Evaluated, Halt};

/// The largest number of days of a `timedelta`.
const MOST_DAYS: i64 = 999_999_999;

/// A length of time, which may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timespan {
    days: i32,
    /// The rest of the length, from 0 up to a day.
    microseconds: i64,
}

impl Timespan {
    pub(crate) const ZERO: Timespan = Timespan {
        days: 0,
        microseconds: 0,
    };

    /// A timespan of microseconds. Fails if it is too long.
    pub(crate) fn of(microseconds: i128) -> Evaluated<Timespan> {
        let days = microseconds.div_euclid(i128::from(DAY));
        match i32::try_from(days) {
            Ok(found) if days.abs() <= i128::from(MOST_DAYS) => Ok(Timespan {
                days: found,
                microseconds: microseconds.rem_euclid(i128::from(DAY)) as i64,
            }),
            Ok(_) => Err(Halt::failed(format!(
                "days={days}; must have magnitude <= {MOST_DAYS}"
            ))),
            Err(_) => Err(Halt::failed("Python int too large to convert to C int")),
        }
    }

    /// A timespan of microseconds, rounded half to even. Fails if it is too long.
    pub(crate) fn of_float(microseconds: f64) -> Evaluated<Timespan> {
        if microseconds.is_nan() {
            return Err(Halt::failed("cannot convert float NaN to integer"));
        }
        if !microseconds.is_finite() || microseconds.abs() > 1e30 {
            return Err(Halt::failed(format!(
                "days={microseconds}; must have magnitude <= {MOST_DAYS}"
            )));
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

    /// Python's `str`: `1 day, 2:03:04.000005`.
    pub(crate) fn text(self) -> String {
        let mut out = String::new();
        if self.days != 0 {
            out.push_str(&format!(
                "{} day{}, ",
                self.days,
                if self.days.abs() == 1 { "" } else { "s" }
            ));
        }
        let seconds = self.microseconds / SECOND;
        out.push_str(&format!(
            "{}:{:02}:{:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        ));
        match self.microseconds % SECOND {
            0 => {}
            rest => out.push_str(&format!(".{rest:06}")),
        }
        out
    }

    /// Python's `repr`: `datetime.timedelta(days=1, seconds=7384)`.
    pub(crate) fn repr(self) -> String {
        let parts = [
            ("days", i64::from(self.days)),
            ("seconds", self.microseconds / SECOND),
            ("microseconds", self.microseconds % SECOND),
        ];
        let named: Vec<_> = parts
            .iter()
            .filter(|(_, value)| *value != 0)
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        format!(
            "datetime.timedelta({})",
            if named.is_empty() {
                "0".into()
            } else {
                named.join(", ")
            }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timespan_prints_as_in_python() {
        let shown = |microseconds| {
            Timespan::of(microseconds)
                .map(|span| (span.text(), span.repr()))
                .expect("a length")
        };
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
