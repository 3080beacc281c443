//! Points in time as text: the directives of `strftime`.

use super::calendar::{DAY, DateTimeParts, SECOND, date_of, days_of};
use super::moment::Moment;

pub(super) const DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl Moment {
    /// Python's `str`: `2020-01-02 03:04:05+00:00`.
    pub(crate) fn text(&self) -> String {
        let DateTimeParts {
            year,
            month,
            day,
            hour,
            minute,
            second,
            microsecond,
        } = self.parts();
        let mut out = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
        if microsecond != 0 {
            out.push_str(&format!(".{microsecond:06}"));
        }
        out.push_str(&offset(self.offset, ":"));
        out
    }

    /// Python's `repr`: `datetime.datetime(2020, 1, 2, 3, 4, tzinfo=tzutc())`.
    pub(crate) fn repr(&self) -> String {
        let DateTimeParts {
            year,
            month,
            day,
            hour,
            minute,
            second,
            microsecond,
        } = self.parts();
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

    /// Python's `strftime`.
    pub(crate) fn format(&self, pattern: &str) -> String {
        strftime(self, pattern)
    }
}

/// An offset as `+02:00`; seconds and their fraction only if they are not zero.
fn offset(offset: i64, between: &str) -> String {
    let sign = if offset < 0 { '-' } else { '+' };
    let abs = offset.abs();
    let seconds = abs / SECOND;
    let mut out = format!(
        "{sign}{:02}{between}{:02}",
        seconds / 3600,
        seconds / 60 % 60
    );
    if seconds % 60 != 0 || abs % SECOND != 0 {
        out.push_str(&format!("{between}{:02}", seconds % 60));
    }
    if abs % SECOND != 0 {
        out.push_str(&format!(".{:06}", abs % SECOND));
    }
    out
}

/// The year and week of a day by ISO 8601.
fn iso_week(moment: &Moment) -> (i64, i64) {
    let day = moment.clock.div_euclid(DAY);
    // A week belongs to the year of its Thursday.
    let thursday = day - moment.weekday() + 3;
    let (year, _, _) = date_of(thursday);
    (year, (thursday - days_of(year, 1, 1)) / 7 + 1)
}

/// Replaces the directives of a pattern; unknown directives stay.
fn strftime(moment: &Moment, pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            out.push(character);
            continue;
        }
        match characters.next() {
            Some(directive) => write(moment, directive, &mut out),
            None => out.push('%'),
        }
    }
    out
}

fn write(moment: &Moment, directive: char, out: &mut String) {
    let DateTimeParts {
        year,
        month,
        day,
        hour,
        minute,
        second,
        microsecond,
    } = moment.parts();
    let weekday = moment.weekday();
    let day_name = DAYS[weekday.rem_euclid(7) as usize];
    let month_name = MONTHS[(month - 1).rem_euclid(12) as usize];
    let hour12 = if hour % 12 == 0 { 12 } else { hour % 12 };
    let of_year = moment.day_of_year();
    let text = match directive {
        'a' => day_name[..3].into(),
        'A' => day_name.into(),
        'b' | 'h' => month_name[..3].into(),
        'B' => month_name.into(),
        'c' => strftime(moment, "%a %b %e %H:%M:%S %Y"),
        'C' => (year / 100).to_string(),
        'd' => format!("{day:02}"),
        'D' | 'x' => strftime(moment, "%m/%d/%y"),
        'e' => format!("{day:2}"),
        'f' => format!("{microsecond:06}"),
        'F' => format!("{year}-{month:02}-{day:02}"),
        'g' => format!("{:02}", iso_week(moment).0 % 100),
        'G' => iso_week(moment).0.to_string(),
        'H' => format!("{hour:02}"),
        'I' => format!("{hour12:02}"),
        'j' => format!("{of_year:03}"),
        'k' => format!("{hour:2}"),
        'l' => format!("{hour12:2}"),
        'm' => format!("{month:02}"),
        'M' => format!("{minute:02}"),
        'n' => "\n".into(),
        'p' => if hour < 12 { "AM" } else { "PM" }.into(),
        'P' => if hour < 12 { "am" } else { "pm" }.into(),
        'r' => strftime(moment, "%I:%M:%S %p"),
        'R' => strftime(moment, "%H:%M"),
        's' => (moment.clock.div_euclid(SECOND)).to_string(),
        'S' => format!("{second:02}"),
        't' => "\t".into(),
        'T' | 'X' => strftime(moment, "%H:%M:%S"),
        'u' => (weekday + 1).to_string(),
        'U' => format!("{:02}", (of_year + 6 - (weekday + 1) % 7) / 7),
        'V' => format!("{:02}", iso_week(moment).1),
        'w' => ((weekday + 1) % 7).to_string(),
        'W' => format!("{:02}", (of_year + 6 - weekday) / 7),
        'y' => format!("{:02}", year % 100),
        'Y' => year.to_string(),
        'z' => offset(moment.offset, ""),
        'Z' => if moment.offset == 0 { "UTC" } else { "" }.into(),
        '%' => "%".into(),
        other => format!("%{other}"),
    };
    out.push_str(&text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dates::Timespan;

    #[test]
    fn moment_prints_as_in_python() {
        let parts = DateTimeParts {
            hour: 3,
            minute: 4,
            microsecond: 5,
            ..DateTimeParts::date(2020, 1, 2)
        };
        let moment =
            Moment::of(parts, Timespan::of(7_200_000_000).expect("a length")).expect("a moment");
        assert_eq!(moment.text(), "2020-01-02 03:04:00.000005+02:00");
        assert_eq!(
            moment.repr(),
            "datetime.datetime(2020, 1, 2, 3, 4, 0, 5, tzinfo=tzoffset(None, 7200))"
        );
        assert_eq!(moment.weekday(), 3);
    }
}
