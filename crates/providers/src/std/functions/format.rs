//! `format` and `formatlist`: texts from a pattern with the verbs of Go's package `fmt`.
//!
//! A value that does not fit its verb appears as in Go: `%!d(string=a)`.

use blueprint::Value;

use super::arguments::{FunctionError, form, range, text_at};

/// Maximum width of a field.
const WIDEST: usize = 10_000;

pub(super) fn format(arguments: &[Value]) -> Result<Value, FunctionError> {
    formatted(
        text_at(arguments, 0),
        arguments.get(1..).unwrap_or_default(),
    )
    .map(Value::from)
}

/// Formats one text for each item of the list arguments.
pub(super) fn format_list(arguments: &[Value]) -> Result<Value, FunctionError> {
    let (pattern, rest) = (
        text_at(arguments, 0),
        arguments.get(1..).unwrap_or_default(),
    );
    let mut count = None;
    for length in rest.iter().filter_map(Value::as_list).map(<[Value]>::len) {
        if *count.get_or_insert(length) != length {
            return Err(range(1, "all list arguments must be of the same length"));
        }
    }
    let text = |at: usize| {
        let item = |value: &Value| {
            value
                .as_list()
                .map_or_else(|| value.clone(), |items| items[at].clone())
        };
        formatted(pattern, &rest.iter().map(item).collect::<Vec<_>>()).map(Value::from)
    };
    (0..count.unwrap_or(1))
        .map(text)
        .collect::<Result<Vec<_>, _>>()
        .map(Value::list)
}

/// The flags between `%` and its verb.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    zero: bool,
    sharp: bool,
    width: usize,
    precision: Option<usize>,
}

fn formatted(pattern: &str, values: &[Value]) -> Result<String, FunctionError> {
    let mut out = String::with_capacity(pattern.len());
    let mut characters = pattern.chars().peekable();
    let mut next = 0;
    while let Some(c) = characters.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut spec = Spec::default();
        while let Some(flag) = characters.next_if(|c| matches!(c, '-' | '+' | ' ' | '0' | '#')) {
            match flag {
                '-' => spec.left = true,
                '+' => spec.plus = true,
                ' ' => spec.space = true,
                '0' => spec.zero = true,
                _ => spec.sharp = true,
            }
        }
        let mut number = || {
            let mut digits = String::new();
            while let Some(digit) = characters.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            match digits.parse::<usize>() {
                _ if digits.is_empty() => Ok(0),
                Ok(number) if number <= WIDEST => Ok(number),
                _ => Err(form(0, format!("a width may be at most {WIDEST}"))),
            }
        };
        spec.width = number()?;
        if characters.next_if_eq(&'.').is_some() {
            let mut digits = String::new();
            while let Some(digit) = characters.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            let precision = if digits.is_empty() {
                Some(0)
            } else {
                digits.parse().ok()
            };
            match precision.filter(|precision| *precision <= 1000) {
                Some(precision) => spec.precision = Some(precision),
                None => return Err(form(0, "a precision may be at most 1000")),
            }
        }
        match characters.next() {
            None => out.push_str("%!(NOVERB)"),
            Some('%') => out.push('%'),
            Some(verb) => {
                match values.get(next) {
                    Some(value) => out.push_str(&one(verb, &spec, value)),
                    None => out.push_str(&format!("%!{verb}(MISSING)")),
                }
                next += 1;
            }
        }
    }
    if let Some(more) = values.get(next..).filter(|more| !more.is_empty()) {
        let more: Vec<String> = more
            .iter()
            .map(|value| format!("std.formattable={}", plain(value)))
            .collect();
        out.push_str(&format!("%!(EXTRA {})", more.join(", ")));
    }
    Ok(out)
}

fn one(verb: char, spec: &Spec, value: &Value) -> String {
    let bare = value.unmarked();
    let whole = match bare {
        Value::Int(value) => Some(*value),
        Value::Float(value) if value.fract() == 0.0 && value.abs() < 9e18 => Some(*value as i64),
        _ => None,
    };
    let float = match bare {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        _ => None,
    };
    let cut = |text: &str| match spec.precision {
        Some(most) => text.chars().take(most).collect(),
        None => text.to_owned(),
    };
    let based = |digits: String, prefix: &str, negative: bool| {
        let sharp = if spec.sharp { prefix } else { "" };
        (format!("{}{sharp}{digits}", sign(negative, spec)), true)
    };
    let (text, is_number) = match (verb, bare) {
        ('v', _) if float.is_some() => (signed(&plain(value), spec), true),
        ('v', _) => (plain(value), false),
        ('s', Value::Text(text)) => (cut(text), false),
        ('s', _) => (cut(&plain(value)), false),
        ('q', Value::Text(text)) => (quoted(text), false),
        ('q', _) => (quoted(&plain(value)), false),
        ('t', Value::Bool(value)) => (value.to_string(), false),
        ('x' | 'X', Value::Text(text)) => {
            let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
            (if verb == 'X' { hex.to_uppercase() } else { hex }, false)
        }
        ('d', _) if whole.is_some() => {
            let number = whole.unwrap_or_default();
            based(number.unsigned_abs().to_string(), "", number < 0)
        }
        ('b' | 'o' | 'x' | 'X', _) if whole.is_some() => {
            let number = whole.unwrap_or_default();
            let size = number.unsigned_abs();
            match verb {
                'b' => based(format!("{size:b}"), "0b", number < 0),
                'o' => based(format!("{size:o}"), "0", number < 0),
                'x' => based(format!("{size:x}"), "0x", number < 0),
                _ => based(format!("{size:X}"), "0X", number < 0),
            }
        }
        ('c', _) if whole.is_some() => {
            let letter = whole
                .and_then(|code| u32::try_from(code).ok())
                .and_then(char::from_u32);
            (letter.unwrap_or('\u{fffd}').to_string(), false)
        }
        ('f' | 'F', _) if float.is_some() => (
            signed(
                &format!(
                    "{:.*}",
                    spec.precision.unwrap_or(6),
                    float.unwrap_or_default()
                ),
                spec,
            ),
            true,
        ),
        ('e' | 'E', _) if float.is_some() => {
            let text = exponent(&format!(
                "{:.*e}",
                spec.precision.unwrap_or(6),
                float.unwrap_or_default()
            ));
            (
                signed(
                    &if verb == 'E' {
                        text.to_uppercase()
                    } else {
                        text
                    },
                    spec,
                ),
                true,
            )
        }
        ('g' | 'G', _) if float.is_some() => {
            (signed(&shortest(float.unwrap_or_default()), spec), true)
        }
        (verb, _) => {
            let kind = match bare {
                Value::Text(_) => "string",
                Value::Bool(_) => "bool",
                Value::Int(_) | Value::Float(_) => "float64",
                Value::List(_) | Value::Set(_) => "[]interface {}",
                Value::Map(_) => "map[string]interface {}",
                _ => return format!("%!{verb}(<nil>)"),
            };
            return format!("%!{verb}({kind}={})", plain(value));
        }
    };
    padded(text, spec, is_number)
}

fn sign(negative: bool, spec: &Spec) -> &'static str {
    match (negative, spec.plus, spec.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    }
}

fn signed(text: &str, spec: &Spec) -> String {
    if text.starts_with('-') {
        text.to_owned()
    } else {
        format!("{}{text}", sign(false, spec))
    }
}

fn padded(text: String, spec: &Spec, is_number: bool) -> String {
    let missing = spec.width.saturating_sub(text.chars().count());
    if missing == 0 {
        return text;
    }
    if spec.left {
        return text + &" ".repeat(missing);
    }
    if spec.zero && is_number {
        let digits = text.find(|c: char| c.is_ascii_alphanumeric()).unwrap_or(0);
        let (before, rest) = text.split_at(digits);
        return format!("{before}{}{rest}", "0".repeat(missing));
    }
    " ".repeat(missing) + &text
}

/// A text in quotes with Go's escapes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 || c == '\u{7f}' => {
                out.push_str(&format!("\\x{:02x}", c as u32))
            }
            c => out.push(c),
        }
    }
    out + "\""
}

/// A value in the format of `%v`.
fn plain(value: &Value) -> String {
    match value.unmarked() {
        Value::Null => "<nil>".into(),
        Value::List(items) | Value::Set(items) => {
            format!(
                "[{}]",
                items.iter().map(plain).collect::<Vec<_>>().join(" ")
            )
        }
        Value::Map(entries) => {
            let mut entries: Vec<(&str, String)> = entries
                .iter()
                .map(|(key, value)| (key.as_ref(), plain(value)))
                .collect();
            entries.sort();
            let entries: Vec<String> = entries
                .into_iter()
                .map(|(key, value)| format!("{key}:{value}"))
                .collect();
            format!("map[{}]", entries.join(" "))
        }
        other => scalar_text(other).unwrap_or_default(),
    }
}

/// The shortest text of a float that distinguishes it from all others, with an exponent below
/// 0.0001 and from a million on.
pub(super) fn shortest(value: f64) -> String {
    by_exponent(value, 6)
}

/// The shortest text of a float, with an exponent from 21 digits on.
pub(super) fn shortest_long(value: f64) -> String {
    by_exponent(value, 21)
}

fn by_exponent(value: f64, most: i32) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "NaN".into()
        } else if value > 0.0 {
            "+Inf".into()
        } else {
            "-Inf".into()
        };
    }
    let scientific = format!("{value:e}");
    let power: i32 = scientific
        .split_once('e')
        .and_then(|(_, power)| power.parse().ok())
        .unwrap_or(0);
    if value != 0.0 && !(-4..most).contains(&power) {
        exponent(&scientific)
    } else {
        format!("{value}")
    }
}

/// An exponent in Go's format, with a sign and two digits.
fn exponent(text: &str) -> String {
    let Some((digits, power)) = text.split_once('e') else {
        return text.to_owned();
    };
    let power: i32 = power.parse().unwrap_or(0);
    format!(
        "{digits}e{}{:02}",
        if power < 0 { '-' } else { '+' },
        power.abs()
    )
}

/// A scalar in Go's format: floats in the shortest form, with an exponent from a million on. `None`
/// if the value is no scalar.
pub(super) fn scalar_text(value: &Value) -> Option<String> {
    Some(match value.unmarked() {
        Value::Text(text) => text.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => shortest(*value),
        _ => return None,
    })
}
