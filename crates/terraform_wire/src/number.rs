//! Exact numbers: comparison, and the choice between integer, float and text.
//!
//! A float stands for its shortest decimal text, as in stored JSON: `0.1` is the decimal number and
//! not the binary fraction next to it.

use std::cmp::Ordering;

use blueprint::Value;

/// A decimal number: `0.DIGITS` times ten to the power of the exponent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    /// Digits without zeros at either end. Empty for zero.
    digits: Vec<u8>,
    exponent: i64,
}

/// The encoding of a number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WireNumber {
    Int(i64),
    Float(f64),
    Text(String),
}

/// The maximum distance of the decimal point from the digits without an exponent.
const PLAIN: i64 = 400;

/// The maximum length of the mantissa that is read.
const LONGEST: usize = 4096;

impl Decimal {
    /// Parses a decimal text with an optional fraction and exponent. `None` for any other text.
    pub(crate) fn parse(text: &str) -> Option<Decimal> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, blueprint::parse_integer(exponent)?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let empty = whole.is_empty() && fraction.is_empty();
        if empty || !is_number(whole) || !is_number(fraction) || mantissa.len() > LONGEST {
            return None;
        }
        if exponent.unsigned_abs() > 1_000_000 {
            return None;
        }
        let all = [whole.as_bytes(), fraction.as_bytes()].concat();
        let leading = all.iter().take_while(|digit| **digit == b'0').count();
        let trailing = all.iter().rev().take_while(|digit| **digit == b'0').count();
        if leading == all.len() {
            return Some(Decimal {
                negative: false,
                digits: Vec::new(),
                exponent: 0,
            });
        }
        let digits = all.get(leading..all.len() - trailing)?.to_vec();
        Some(Decimal {
            negative,
            digits,
            exponent: exponent + whole.len() as i64 - leading as i64,
        })
    }

    /// The number of a value. `None` for infinity, and for a value that is not a number.
    pub(crate) fn of(value: &Value) -> Option<Decimal> {
        match value.unmarked() {
            Value::Int(number) => Decimal::parse(&number.to_string()),
            Value::Float(number) => Decimal::of_float(*number),
            Value::Decimal(text) => Decimal::parse(text),
            _ => None,
        }
    }

    fn of_float(number: f64) -> Option<Decimal> {
        number
            .is_finite()
            .then(|| Decimal::parse(&format!("{number:e}")))
            .flatten()
    }

    /// Converts the number to an integer if it fits, to a float if the float's shortest text is
    /// this number, else to decimal text.
    pub(crate) fn value(&self) -> Value {
        if let Some(integer) = self.integer() {
            return Value::Int(integer);
        }
        let text = self.text();
        match text
            .parse::<f64>()
            .ok()
            .filter(|float| Decimal::of_float(*float).as_ref() == Some(self))
        {
            Some(float) => Value::Float(float),
            None => Value::Decimal(text.into()),
        }
    }

    /// Returns the first of integer, float and text that holds the number exactly.
    pub(crate) fn written(&self) -> WireNumber {
        if let Some(integer) = self.integer() {
            return WireNumber::Int(integer);
        }
        let text = self.text();
        match text
            .parse::<f64>()
            .ok()
            .filter(|float| self.is_exactly(*float))
        {
            Some(float) => WireNumber::Float(float),
            None => WireNumber::Text(text),
        }
    }

    fn integer(&self) -> Option<i64> {
        let is_integer = self.exponent >= self.digits.len() as i64 && self.exponent <= 19;
        if self.digits.is_empty() {
            Some(0)
        } else {
            is_integer.then(|| self.text().parse().ok()).flatten()
        }
    }

    /// Whether the binary value of a float is this number.
    fn is_exactly(&self, float: f64) -> bool {
        // A float has at most 1,074 digits after the point. All of them are printed here.
        let fits = float.is_finite() && self.digits.len() < 1100 && self.exponent.abs() < 1100;
        fits && Decimal::parse(&format!("{float:.1074}")).as_ref() == Some(self)
    }

    /// The decimal text. It has an exponent only if the decimal point is far from the digits.
    pub(crate) fn text(&self) -> String {
        let mut text = String::from(if self.negative { "-" } else { "" });
        let digits: String = self.digits.iter().map(|digit| char::from(*digit)).collect();
        let count = digits.len() as i64;
        if digits.is_empty() {
            text.push('0');
        } else if self.exponent.abs() > PLAIN {
            text += &format!("0.{digits}e{}", self.exponent);
        } else if self.exponent <= 0 {
            text += "0.";
            text.extend(std::iter::repeat_n(
                '0',
                self.exponent.unsigned_abs() as usize,
            ));
            text += &digits;
        } else if self.exponent >= count {
            text += &digits;
            text.extend(std::iter::repeat_n('0', (self.exponent - count) as usize));
        } else {
            let (whole, fraction) = digits.split_at(self.exponent as usize);
            text += &format!("{whole}.{fraction}");
        }
        text
    }

    /// The number rounded to ten digits, in the shorter of plain and scientific notation. The order
    /// of sets depends on it.
    pub(crate) fn short_text(&self) -> String {
        let rounded = self.rounded(10);
        let count = rounded.digits.len() as i64;
        let limit = if count >= rounded.exponent && count < 10 {
            count
        } else {
            10
        };
        let exponent = rounded.exponent - 1;
        if rounded.digits.is_empty() || (exponent >= -4 && exponent < limit) {
            return rounded.text();
        }
        let digits: String = rounded
            .digits
            .iter()
            .map(|digit| char::from(*digit))
            .collect();
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let (minus, sign) = (
            if rounded.negative { "-" } else { "" },
            if exponent < 0 { '-' } else { '+' },
        );
        format!("{minus}{first}{point}{rest}e{sign}{:02}", exponent.abs())
    }

    fn rounded(&self, most: usize) -> Decimal {
        if self.digits.len() <= most {
            return self.clone();
        }
        let (kept, rest) = self.digits.split_at(most);
        let mut number = Decimal {
            digits: kept.to_vec(),
            ..self.clone()
        };
        let odd = kept.last().is_some_and(|digit| digit % 2 == 1);
        let half = rest.first() == Some(&b'5') && rest.len() == 1;
        if rest.first() > Some(&b'5') || (rest.first() == Some(&b'5') && (!half || odd)) {
            let mut carry = true;
            for digit in number.digits.iter_mut().rev() {
                carry = *digit == b'9';
                *digit = if carry { b'0' } else { *digit + 1 };
                if !carry {
                    break;
                }
            }
            if carry {
                number.digits.insert(0, b'1');
                number.exponent += 1;
            }
        }
        while number.digits.last() == Some(&b'0') {
            number.digits.pop();
        }
        number
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        let sign = |number: &Decimal| match (number.digits.is_empty(), number.negative) {
            (true, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        };
        let size = self
            .exponent
            .cmp(&other.exponent)
            .then_with(|| self.digits.cmp(&other.digits));
        sign(self)
            .cmp(&sign(other))
            .then(if self.negative { size.reverse() } else { size })
    }
}

/// Whether a value is a number.
pub(crate) fn is_number(value: &Value) -> bool {
    matches!(
        value.unmarked(),
        Value::Int(_) | Value::Float(_) | Value::Decimal(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn a_number_is_written_in_the_first_form_that_holds_it() {
        for (text, written) in [
            ("0", WireNumber::Int(0)),
            ("-0.0", WireNumber::Int(0)),
            ("2.0", WireNumber::Int(2)),
            ("12e2", WireNumber::Int(1200)),
            ("-9223372036854775808", WireNumber::Int(i64::MIN)),
            (
                "9223372036854775808",
                WireNumber::Float(9_223_372_036_854_775_808.0),
            ),
            (
                "9223372036854775809",
                WireNumber::Text("9223372036854775809".into()),
            ),
            ("0.5", WireNumber::Float(0.5)),
            ("0.1", WireNumber::Text("0.1".into())),
            (
                "0.1000000000000000055511151231257827021181583404541015625",
                WireNumber::Float(0.1),
            ),
            ("1e500", WireNumber::Text("0.1e501".into())),
        ] {
            assert_eq!(decimal(text).written(), written, "{text}");
        }
        for text in [
            "",
            "-",
            ".",
            "e1",
            "1e",
            "1x",
            "inf",
            "0x1",
            "1.2.3",
            "1e99999999",
        ] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_becomes_the_simplest_value_with_its_text() {
        assert_eq!(decimal("2.0").value(), Value::Int(2));
        assert_eq!(decimal("0.1").value(), Value::Float(0.1));
        assert_eq!(
            decimal("18446744073709551615").value(),
            Value::Decimal("18446744073709551615".into())
        );
        let long = "3.141592653589793238462643383279502884197";
        assert_eq!(decimal(long).value(), Value::Decimal(long.into()));
    }

    #[test]
    fn numbers_are_ordered_by_size() {
        let sorted = [
            "-100", "-1.5", "-0.1", "0", "0.01", "0.1", "1", "1.5", "9", "10", "1e30",
        ]
        .map(decimal);
        assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn short_texts_have_ten_digits() {
        for (text, short) in [
            ("100000", "100000"),
            ("1", "1"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("12345678901234", "1.23456789e+13"),
            ("1234567890", "1234567890"),
            ("99999999999", "1e+11"),
            ("1.5", "1.5"),
        ] {
            assert_eq!(decimal(text).short_text(), short, "{text}");
        }
    }
}
