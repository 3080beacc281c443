//! Functions of points in time and timespans.

use std::rc::Rc;

use blueprint::Value;
use pycompat::BigInt;

use super::given::CallArguments;
use super::row::{Row, method, operator, plain, property};
use crate::arithmetic;
use crate::dates::{self, DateTimeParts, Moment, Timespan};
use crate::drawing::ExternalValue;
use crate::failure::{Evaluated, Halt};
use crate::model::{Datum, Machine};

pub(super) const ROWS: &[Row] = &[
    plain(
        "datetime",
        "year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0, microsecond: int = 0, \
         offset: timespan = 0s",
        datetime,
    )
    .documented("A point in time.", "str(datetime(2020, 1, 2, 3))", r#""2020-01-02 03:00:00+00:00""#),
    plain("datetime", "timestamp: number, offset: timespan = 0s", datetime_of_number).documented(
        "The point in time at a number of seconds since 1970.",
        "datetime(86400).day",
        "2",
    ),
    plain("datetime", "string: text, format: text? = null", datetime_of_text).documented(
        "The point in time of a text, with a pattern or in a common notation.",
        "datetime('2020-01-02T03:04:05').hour",
        "3",
    ),
    plain(
        "timespan",
        "days: int = 0, hours: int = 0, minutes: int = 0, seconds: integer = 0, milliseconds: integer = 0, \
         microseconds: integer = 0",
        timespan,
    )
    .documented("A timespan.", "timespan(hours => 36).days", "1.5"),
    plain("now", "offset: any? = 0s", now).documented("The current time.", "now().year", "2020"),
    plain("localtz", "", no_time).documented("The offset of the local time, which is zero.", "localtz().hours", "0.0"),
    plain("utctz", "", no_time).documented("The offset of UTC, which is zero.", "utctz().hours", "0.0"),
    plain("isDatetime", "value: any?", is_datetime).documented("Whether a value is a point in time.", "isDatetime(a)", "false"),
    plain("isTimespan", "value: any?", is_timespan).documented(
        "Whether a value is a timespan.",
        "isTimespan(timespan(days => 1))",
        "true",
    ),
    method("format", "dt: datetime, format: text", format).documented(
        "A point in time as text, with a pattern.",
        "datetime(2020, 1, 2).format('%Y/%m/%d')",
        r#""2020/01/02""#,
    ),
    method(
        "replace",
        "dt: datetime, year: int? = null, month: int? = null, day: int? = null, hour: int? = null, minute: int? = null, \
         second: int? = null, microsecond: int? = null, offset: timespan? = null",
        replace,
    )
    .documented("A point in time with some parts changed.", "datetime(2020, 1, 2).replace(day => 5).day", "5"),
    operator("#operator_+", "dt: datetime, ts: timespan", later).documented(
        "A point in time plus a timespan.",
        "(datetime(2020, 1, 31) + timespan(days => 1)).month",
        "2",
    ),
    operator("#operator_+", "ts: timespan, dt: datetime", later_reversed).documented(
        "A point in time plus a timespan.",
        "(timespan(days => 1) + datetime(2020, 1, 31)).month",
        "2",
    ),
    operator("#operator_-", "dt: datetime, ts: timespan", earlier).documented(
        "A point in time minus a timespan.",
        "(datetime(2020, 1, 1) - timespan(days => 1)).year",
        "2019",
    ),
    operator("#operator_-", "dt1: datetime, dt2: datetime", between).documented(
        "The time between two points.",
        "(datetime(2020, 1, 2) - datetime(2020, 1, 1)).days",
        "1.0",
    ),
    operator("#operator_+", "ts1: timespan, ts2: timespan", add).documented(
        "The sum of two timespans.",
        "(timespan(hours => 1) + timespan(hours => 2)).hours",
        "3.0",
    ),
    operator("#operator_-", "ts1: timespan, ts2: timespan", subtract).documented(
        "The difference of two timespans.",
        "(timespan(hours => 1) - timespan(hours => 2)).hours",
        "-1.0",
    ),
    operator("#operator_*", "ts: timespan, n: number", times).documented(
        "A timespan multiplied.",
        "(timespan(hours => 1) * 1.5).minutes",
        "90.0",
    ),
    operator("#operator_*", "n: number, ts: timespan", times_reversed).documented(
        "A timespan multiplied.",
        "(2 * timespan(hours => 1)).hours",
        "2.0",
    ),
    operator("#operator_/", "ts1: timespan, ts2: timespan", ratio).documented(
        "The ratio of two timespans.",
        "timespan(days => 1) / timespan(hours => 6)",
        "4.0",
    ),
    operator("#operator_/", "ts: timespan, n: number", divide).documented(
        "A timespan divided.",
        "(timespan(hours => 1) / 2).minutes",
        "30.0",
    ),
    operator("#unary_operator_-", "ts: timespan", negate).documented(
        "The negative timespan.",
        "(-timespan(hours => 1)).hours",
        "-1.0",
    ),
    operator("#unary_operator_+", "ts: timespan", itself).documented(
        "The timespan.",
        "(+timespan(hours => 1)).hours",
        "1.0",
    ),
    property("#property#year", "obj: datetime", year).documented("The year.", "datetime(2020, 1, 2).year", "2020"),
    property("#property#month", "obj: datetime", month).documented("The month, from 1.", "datetime(2020, 1, 2).month", "1"),
    property("#property#day", "obj: datetime", day).documented("The day of the month, from 1.", "datetime(2020, 1, 2).day", "2"),
    property("#property#hour", "obj: datetime", hour).documented("The hour.", "datetime(2020, 1, 2, 3).hour", "3"),
    property("#property#minute", "obj: datetime", minute).documented("The minute.", "datetime(2020, 1, 2, 3, 4).minute", "4"),
    property("#property#second", "obj: datetime", second).documented("The second.", "datetime(2020, 1, 2, 3, 4, 5).second", "5"),
    property("#property#microsecond", "obj: datetime", microsecond).documented(
        "The microsecond.",
        "datetime(2020, 1, 2, 3, 4, 5, 6).microsecond",
        "6",
    ),
    property("#property#weekday", "obj: datetime", weekday).documented(
        "The day of the week; Monday is 0.",
        "datetime(2020, 1, 2).weekday",
        "3",
    ),
    property("#property#offset", "obj: datetime", offset).documented(
        "The offset from UTC.",
        "datetime('2020-01-02T03:00:00+02:00').offset.hours",
        "2.0",
    ),
    property("#property#timestamp", "obj: datetime", timestamp).documented(
        "Seconds since 1970.",
        "datetime(1970, 1, 2).timestamp",
        "86400.0",
    ),
    property("#property#date", "obj: datetime", date).documented(
        "The beginning of the day.",
        "datetime(2020, 1, 2, 3).date.hour",
        "0",
    ),
    property("#property#time", "obj: datetime", time).documented(
        "The time since the beginning of the day.",
        "datetime(2020, 1, 2, 3).time.hours",
        "3.0",
    ),
    property("#property#utc", "obj: datetime", utc).documented(
        "The same time in UTC.",
        "datetime('2020-01-02T03:00:00+02:00').utc.hour",
        "1",
    ),
    property("#property#days", "obj: timespan", days).documented("The timespan in days.", "timespan(hours => 12).days", "0.5"),
    property("#property#hours", "obj: timespan", hours).documented("The timespan in hours.", "timespan(days => 1).hours", "24.0"),
    property("#property#minutes", "obj: timespan", minutes).documented(
        "The timespan in minutes.",
        "timespan(hours => 1).minutes",
        "60.0",
    ),
    property("#property#seconds", "obj: timespan", seconds).documented(
        "The timespan in seconds.",
        "timespan(minutes => 1).seconds",
        "60.0",
    ),
    property("#property#milliseconds", "obj: timespan", milliseconds).documented(
        "The timespan in milliseconds.",
        "timespan(seconds => 1).milliseconds",
        "1000.0",
    ),
    property("#property#microseconds", "obj: timespan", microseconds).documented(
        "The timespan in microseconds.",
        "timespan(seconds => 1).microseconds",
        "1000000",
    ),
];

fn moment(moment: Moment) -> Datum {
    Datum::Moment(Rc::new(moment))
}

/// Takes a point in time argument.
fn moment_of(given: &mut CallArguments, at: usize) -> Evaluated<Rc<Moment>> {
    match given.take(at) {
        Datum::Moment(moment) => Ok(moment),
        other => Err(Halt::failed(format!(
            "'{}' object is no point in time",
            other.type_name()
        ))),
    }
}

/// Takes a timespan argument; zero for another value.
fn span_of(given: &mut CallArguments, at: usize) -> Timespan {
    match given.take(at) {
        Datum::Timespan(span) => span,
        _ => Timespan::ZERO,
    }
}

/// Returns a part of a date or time. Fails if the part exceeds 32 bits, as in Python.
fn part(given: &CallArguments, at: usize) -> Evaluated<i64> {
    let value = given
        .small(at)
        .map_err(|_| Halt::failed("Python int too large to convert to C long"))?;
    match i32::try_from(value) {
        Ok(value) => Ok(value.into()),
        Err(_) if value > 0 => Err(Halt::failed("signed integer is greater than maximum")),
        Err(_) => Err(Halt::failed("signed integer is less than minimum")),
    }
}

fn datetime(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let parts = DateTimeParts {
        year: part(&given, 0)?,
        month: part(&given, 1)?,
        day: part(&given, 2)?,
        hour: part(&given, 3)?,
        minute: part(&given, 4)?,
        second: part(&given, 5)?,
        microsecond: part(&given, 6)?,
    };
    Moment::of(parts, span_of(&mut given, 7)).map(moment)
}

fn datetime_of_number(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let seconds = arithmetic::float(&given.take(0))?;
    if !seconds.is_finite() {
        return Err(Halt::failed("cannot convert float NaN to integer"));
    }
    // The fraction is rounded separately to keep its digits.
    let micros = seconds.floor() * 1e6 + ((seconds - seconds.floor()) * 1e6).round_ties_even();
    if micros.abs() > 1e22 {
        return Err(Halt::failed("timestamp out of range for platform time_t"));
    }
    let (instant, offset) = (micros as i128, span_of(&mut given, 1));
    let found = Moment::at(instant, offset).map(moment);
    found.map_err(|_| Halt::failed(format!("year {} is out of range", Moment::year_of(instant))))
}

fn datetime_of_text(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let text = given.text(0);
    match given.text_or_null(1).filter(|pattern| !pattern.is_empty()) {
        Some(pattern) => dates::strptime(&text, &pattern).map(moment),
        None => dates::parse(&text).map(moment),
    }
}

fn timespan(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    let units: [i128; 6] = [
        86_400_000_000,
        3_600_000_000,
        60_000_000,
        1_000_000,
        1000,
        1,
    ];
    let total = units
        .iter()
        .enumerate()
        .map(|(at, unit)| i128::from(given.int(at)) * unit)
        .sum();
    Timespan::of(total).map(Datum::Timespan)
}

fn now(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let offset = match given.take(0) {
        Datum::Timespan(span) => span,
        Datum::Null => Timespan::ZERO,
        other => {
            return Err(Halt::failed(format!(
                "'{}' object is no length of time",
                other.type_name()
            )));
        }
    };
    match machine.draw(given.ordinal, ExternalValue::Now)? {
        Value::Int(instant) => Moment::at(instant.into(), offset).map(moment),
        _ => Err(Halt::failed("no time was drawn")),
    }
}

fn no_time(_: &mut Machine<'_>, _: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Timespan(Timespan::ZERO))
}

fn is_datetime(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(matches!(given.take(0), Datum::Moment(_))))
}

fn is_timespan(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(matches!(given.take(0), Datum::Timespan(_))))
}

fn format(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let moment = moment_of(&mut given, 0)?;
    Ok(Datum::text(moment.format(&given.text(1))))
}

fn replace(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let moment_before = moment_of(&mut given, 0)?;
    let mut parts = moment_before.parts();
    let fields = [
        &mut parts.year,
        &mut parts.month,
        &mut parts.day,
        &mut parts.hour,
        &mut parts.minute,
        &mut parts.second,
        &mut parts.microsecond,
    ];
    for (at, field) in (1..).zip(fields) {
        if !matches!(given.slots[at], Datum::Null) {
            *field = part(&given, at)?;
        }
    }
    let offset = match given.take(8) {
        Datum::Timespan(span) => span,
        _ => moment_before.offset(),
    };
    Moment::of(parts, offset).map(moment)
}

fn later(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let from = moment_of(&mut given, 0)?;
    from.plus(span_of(&mut given, 1)).map(moment)
}

fn later_reversed(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let from = moment_of(&mut given, 1)?;
    from.plus(span_of(&mut given, 0)).map(moment)
}

fn earlier(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let from = moment_of(&mut given, 0)?;
    from.minus(span_of(&mut given, 1)).map(moment)
}

fn between(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (first, second) = (moment_of(&mut given, 0)?, moment_of(&mut given, 1)?);
    Timespan::of(i128::from(first.instant()) - i128::from(second.instant())).map(Datum::Timespan)
}

fn add(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (first, second) = (span_of(&mut given, 0), span_of(&mut given, 1));
    Timespan::of(first.microseconds() + second.microseconds()).map(Datum::Timespan)
}

fn subtract(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (first, second) = (span_of(&mut given, 0), span_of(&mut given, 1));
    Timespan::of(first.microseconds() - second.microseconds()).map(Datum::Timespan)
}

/// Creates a timespan of microseconds.
fn span(microseconds: &Datum) -> Evaluated<Datum> {
    match microseconds {
        Datum::Float(value) => Timespan::of_float(*value),
        whole => match i128::try_from(whole.exact().unwrap_or_default()) {
            Ok(value) => Timespan::of(value),
            Err(_) => Err(Halt::failed("Python int too large to convert to C int")),
        },
    }
    .map(Datum::Timespan)
}

fn multiplied(length: Timespan, factor: &Datum) -> Evaluated<Datum> {
    span(&arithmetic::multiply(
        &Datum::integer(length.total()),
        factor,
    )?)
}

fn times(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let length = span_of(&mut given, 0);
    multiplied(length, &given.take(1))
}

fn times_reversed(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let length = span_of(&mut given, 1);
    multiplied(length, &given.take(0))
}

fn ratio(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (first, second) = (
        span_of(&mut given, 0).total(),
        span_of(&mut given, 1).total(),
    );
    if second == BigInt::from(0) {
        return Err(Halt::failed("float division by zero"));
    }
    let (first, second) = (
        arithmetic::float(&Datum::integer(first))?,
        arithmetic::float(&Datum::integer(second))?,
    );
    Ok(Datum::Float(first / second))
}

fn divide(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (length, divisor) = (span_of(&mut given, 0), given.take(1));
    let words = if matches!(divisor, Datum::Float(_)) {
        "float division by zero"
    } else {
        "division by zero"
    };
    let (length, divisor) = (
        arithmetic::float(&Datum::integer(length.total()))?,
        arithmetic::float(&divisor)?,
    );
    if divisor == 0.0 {
        return Err(Halt::failed(words));
    }
    Timespan::of_float(length / divisor).map(Datum::Timespan)
}

fn negate(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Timespan::of(-span_of(&mut given, 0).microseconds()).map(Datum::Timespan)
}

fn itself(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(given.take(0))
}

fn year(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Int(moment_of(&mut given, 0)?.parts().year))
}

fn month(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Int(moment_of(&mut given, 0)?.parts().month))
}

fn day(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Int(moment_of(&mut given, 0)?.parts().day))
}

fn hour(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Int(moment_of(&mut given, 0)?.parts().hour))
}

fn minute(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Int(moment_of(&mut given, 0)?.parts().minute))
}

fn second(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Int(moment_of(&mut given, 0)?.parts().second))
}

fn microsecond(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Int(moment_of(&mut given, 0)?.parts().microsecond))
}

fn weekday(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Int(moment_of(&mut given, 0)?.weekday()))
}

fn offset(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Timespan(moment_of(&mut given, 0)?.offset()))
}

fn timestamp(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    // As in yaql, the offset counts twice, because `utc` keeps the offset.
    let shown = moment_of(&mut given, 0)?;
    let utc = shown.minus(shown.offset())?;
    Ok(Datum::Float(utc.instant() as f64 / 1e6))
}

fn date(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(moment(moment_of(&mut given, 0)?.midnight()))
}

fn time(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let shown = moment_of(&mut given, 0)?;
    Timespan::of(i128::from(shown.instant()) - i128::from(shown.midnight().instant()))
        .map(Datum::Timespan)
}

fn utc(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let shown = moment_of(&mut given, 0)?;
    shown.minus(shown.offset()).map(moment)
}

/// Converts a timespan to a unit, given in microseconds.
fn in_units(mut given: CallArguments, unit: f64) -> Evaluated<Datum> {
    let total = arithmetic::float(&Datum::integer(span_of(&mut given, 0).total()))?;
    Ok(Datum::Float(total / unit))
}

fn days(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    in_units(given, 86_400_000_000.0)
}

fn hours(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    in_units(given, 3_600_000_000.0)
}

fn minutes(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    in_units(given, 60_000_000.0)
}

fn seconds(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    in_units(given, 1_000_000.0)
}

fn milliseconds(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    in_units(given, 1000.0)
}

fn microseconds(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::integer(span_of(&mut given, 0).total()))
}
