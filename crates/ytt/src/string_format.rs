//! `format % values` and the method `format`.

use blueprint::Name;

use crate::go_float;
use crate::halt::{Evaluated, fail};
use crate::heap::Heap;
use crate::text_form::{repr, str};
use crate::value::{StarKey, StarValue, StructKind};

/// `format % values`.
///
/// # Errors
/// If values are missing, left, or do not fit.
pub(crate) fn interpolate(heap: &Heap, format: &str, values: &StarValue) -> Evaluated<StarValue> {
    heap.work.steps(format.len() / 8)?;
    let single = std::slice::from_ref(values);
    let items = match values {
        StarValue::Tuple(items) => items.as_slice(),
        _ => single,
    };
    let mut text = String::new();
    let mut used = 0;
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            text.push('%');
            rest = after;
            continue;
        }
        let named;
        let value = if let Some(after) = rest.strip_prefix('(') {
            let Some(end) = after.find(')') else {
                return fail("incomplete format key");
            };
            named = entry(values, &after[..end])?;
            rest = &after[end + 1..];
            &named
        } else {
            let Some(item) = items.get(used) else {
                return fail("not enough arguments for format string");
            };
            item
        };
        let Some(conversion) = rest.chars().next() else {
            return fail("incomplete format");
        };
        text.push_str(&converted(heap, conversion, value)?);
        heap.work.bytes(text.len() / 64)?;
        rest = &rest[conversion.len_utf8()..];
        used += 1;
    }
    text.push_str(rest);
    if used < items.len() {
        return fail("too many arguments for format string");
    }
    heap.text(text)
}

fn entry(values: &StarValue, name: &str) -> Evaluated<StarValue> {
    let found = match values {
        StarValue::Dict(dict) => {
            let key = StarKey::Text(name.into());
            dict.entries
                .borrow()
                .get(&key)
                .map(|(_, value)| value.clone())
        }
        StarValue::Struct(data) if data.kind == StructKind::Plain => data.fields.get(name).cloned(),
        _ => return fail("format requires a mapping"),
    };
    match found {
        Some(value) => Ok(value),
        None => fail(format!("key not found: {name}")),
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "the conversion asks for it"
)]
fn converted(heap: &Heap, conversion: char, value: &StarValue) -> Evaluated<String> {
    let integer = || match value {
        StarValue::Int(number) => Ok(*number),
        StarValue::Float(number) if number.is_finite() => Ok(number.trunc() as i128),
        other => fail(format!(
            "%{conversion} format requires integer: cannot convert {} to int",
            other.type_name()
        )),
    };
    let float = || match value {
        StarValue::Int(number) => Ok(*number as f64),
        StarValue::Float(number) => Ok(*number),
        other => fail(format!(
            "%{conversion} format requires float, not {}",
            other.type_name()
        )),
    };
    let based = |number: i128, digits: String| match number < 0 {
        true => format!("-{digits}"),
        false => digits,
    };
    Ok(match conversion {
        's' => str(heap, value)?,
        'r' => repr(heap, value)?,
        'd' | 'i' => integer()?.to_string(),
        'o' => integer().map(|number| based(number, format!("{:o}", number.unsigned_abs())))?,
        'x' => integer().map(|number| based(number, format!("{:x}", number.unsigned_abs())))?,
        'X' => integer().map(|number| based(number, format!("{:X}", number.unsigned_abs())))?,
        'e' => go_float::exponential(float()?),
        'E' => go_float::exponential(float()?).to_uppercase(),
        'f' | 'F' => go_float::fixed(float()?),
        'g' => go_float::general(float()?, None),
        'G' => go_float::general(float()?, None).to_uppercase(),
        'c' => match value {
            StarValue::Int(number) => {
                let letter = u32::try_from(*number).ok().and_then(char::from_u32);
                match letter {
                    Some(letter) => letter.to_string(),
                    None => return fail("%c format requires a valid Unicode code point"),
                }
            }
            StarValue::Text(text) if text.chars().count() == 1 => text.to_string(),
            _ => return fail("%c format requires int or single-character string"),
        },
        other => return fail(format!("unknown conversion %{other}")),
    })
}

/// Whether places in a format are numbered by themselves or by hand.
#[derive(Clone, Copy, PartialEq)]
enum Numbering {
    Undecided,
    Automatic,
    Manual,
}

/// The method `format`.
///
/// # Errors
/// If the format is invalid, or values are missing.
pub(crate) fn format(
    heap: &Heap,
    format: &str,
    items: &[StarValue],
    named: &[(Name, StarValue)],
) -> Evaluated<StarValue> {
    heap.work.steps(format.len() / 8)?;
    let mut text = String::new();
    let mut numbering = Numbering::Undecided;
    let mut next = 0;
    let mut rest = format;
    loop {
        let open = rest.find('{');
        literal(&rest[..open.unwrap_or(rest.len())], &mut text)?;
        let Some(open) = open else {
            break;
        };
        rest = &rest[open + 1..];
        if let Some(after) = rest.strip_prefix('{') {
            text.push('{');
            rest = after;
            continue;
        }
        let Some(close) = rest.find('}') else {
            return fail("format: unmatched '{' in format");
        };
        let (field, after) = (&rest[..close], &rest[close + 1..]);
        rest = after;
        let (name, conversion) = match field.split_once('!') {
            Some((name, conversion)) => (name, conversion),
            None => match field.split_once(':') {
                Some((name, spec)) if !spec.is_empty() => {
                    return unsupported_spec(name, spec);
                }
                Some((name, _)) => (name, "s"),
                None => (field, "s"),
            },
        };
        let conversion = match conversion.split_once(':') {
            Some((_, spec)) if !spec.is_empty() => return unsupported_spec(name, spec),
            Some((conversion, _)) => conversion,
            None => conversion,
        };
        let value = if name.is_empty() {
            if numbering == Numbering::Manual {
                return fail(
                    "format: cannot switch from manual field specification to automatic field \
                     numbering",
                );
            }
            numbering = Numbering::Automatic;
            next += 1;
            items.get(next - 1)
        } else if name.bytes().all(|byte| byte.is_ascii_digit()) {
            if numbering == Numbering::Automatic {
                return fail(
                    "format: cannot switch from automatic field numbering to manual field \
                     specification",
                );
            }
            numbering = Numbering::Manual;
            name.parse().ok().and_then(|at: usize| items.get(at))
        } else {
            match named.iter().find(|(own, _)| **own == *name) {
                Some((_, value)) => Some(value),
                None => return fail(missing_name(name)),
            }
        };
        let Some(value) = value else {
            return fail("format: tuple index out of range");
        };
        match conversion {
            "s" => text.push_str(&str(heap, value)?),
            "r" => text.push_str(&repr(heap, value)?),
            other => return fail(format!("format: unknown conversion \"{other}\"")),
        }
        heap.work.bytes(text.len() / 64)?;
    }
    heap.text(text)
}

fn unsupported_spec<T>(_name: &str, spec: &str) -> Evaluated<T> {
    fail(format!(
        "format spec features not supported in replacement fields: {spec}"
    ))
}

fn missing_name(name: &str) -> String {
    if name.contains('.') {
        return format!(
            "format: attribute syntax x.y is not supported in replacement fields: {name}"
        );
    }
    if name.contains('[') {
        return format!(
            "format: element syntax a[i] is not supported in replacement fields: {name}"
        );
    }
    if name.contains('{') {
        return "format: nested replacement fields not supported".into();
    }
    format!("format: keyword {name} not found")
}

/// Adds text between fields, in which `}}` stands for `}`.
fn literal(written: &str, text: &mut String) -> Evaluated<()> {
    let mut rest = written;
    while let Some(at) = rest.find('}') {
        if !rest[at + 1..].starts_with('}') {
            return fail("format: single '}' in format");
        }
        text.push_str(&rest[..=at]);
        rest = &rest[at + 2..];
    }
    text.push_str(rest);
    Ok(())
}
