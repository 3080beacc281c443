//! Text, regular expressions, digests and conversions of scalars.

use blueprint::{Name, Value};
use data_encoding::{BASE64, HEXLOWER};
use regex::Regex;
use sha2::{Digest, Sha256, Sha512};

use super::arguments::{FunctionError, StdCode, form, given, integer_at, kind, range, text_at};
use super::format::scalar_text;

pub(super) fn body(name: &str) -> Option<StdCode> {
    Some(match name {
        "lower" => |a| Ok(text_at(a, 0).to_lowercase().into()),
        "upper" => |a| Ok(text_at(a, 0).to_uppercase().into()),
        "title" => |a| Ok(title(text_at(a, 0)).into()),
        "strrev" => |a| Ok(text_at(a, 0).chars().rev().collect::<String>().into()),
        "trimspace" => |a| Ok(text_at(a, 0).trim().into()),
        "chomp" => |a| Ok(text_at(a, 0).trim_end_matches(['\r', '\n']).into()),
        "trim" => |a| {
            Ok(text_at(a, 0)
                .trim_matches(|c| text_at(a, 1).contains(c))
                .into())
        },
        "trimprefix" => |a| {
            Ok(text_at(a, 0)
                .strip_prefix(text_at(a, 1))
                .unwrap_or(text_at(a, 0))
                .into())
        },
        "trimsuffix" => |a| {
            Ok(text_at(a, 0)
                .strip_suffix(text_at(a, 1))
                .unwrap_or(text_at(a, 0))
                .into())
        },
        "startswith" => |a| Ok(text_at(a, 0).starts_with(text_at(a, 1)).into()),
        "endswith" => |a| Ok(text_at(a, 0).ends_with(text_at(a, 1)).into()),
        "indent" => indent,
        "replace" => replace,
        "split" => |a| {
            Ok(Value::list(
                split(text_at(a, 0), text_at(a, 1)).map(Value::from),
            ))
        },
        "substr" => substr,
        "urlencode" => |a| Ok(url_encode(text_at(a, 0)).into()),
        "basename" => |a| Ok(basename(text_at(a, 0)).into()),
        "dirname" => |a| Ok(dirname(text_at(a, 0)).into()),
        "regex" => regex,
        "regexall" => regex_all,
        "regex_match" => |a| Ok(compiled(text_at(a, 1), 1)?.is_match(text_at(a, 0)).into()),
        "regex_replace" => |a| {
            Ok(compiled(text_at(a, 1), 1)?
                .replace_all(text_at(a, 0), text_at(a, 2))
                .into_owned()
                .into())
        },
        "base64encode" => |a| Ok(BASE64.encode(text_at(a, 0).as_bytes()).into()),
        "base64decode" => base64_decode,
        "base64gzip" => base64_gzip,
        "pathexpand" => path_expand,
        "base64sha256" => |a| Ok(BASE64.encode(&Sha256::digest(text_at(a, 0))).into()),
        "base64sha512" => |a| Ok(BASE64.encode(&Sha512::digest(text_at(a, 0))).into()),
        "sha256" => |a| Ok(HEXLOWER.encode(&Sha256::digest(text_at(a, 0))).into()),
        "sha512" => |a| Ok(HEXLOWER.encode(&Sha512::digest(text_at(a, 0))).into()),
        "jsonencode" => json_encode,
        "jsondecode" => json_decode,
        "tobool" => to_bool,
        "tostring" => to_string,
        _ => return None,
    })
}

/// Capitalises the first letter of each word. An apostrophe is part of a word.
fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for c in text.chars() {
        if inside {
            out.extend(c.to_lowercase())
        } else {
            out.extend(c.to_uppercase())
        }
        inside = c.is_alphanumeric() || inside && c == '\'';
    }
    out
}

fn indent(arguments: &[Value]) -> Result<Value, FunctionError> {
    let spaces = integer_at(arguments, 1)?;
    let Some(spaces) = usize::try_from(spaces)
        .ok()
        .filter(|spaces| *spaces <= 1000)
    else {
        return Err(range(1, "`spaces` must be from 0 to 1000"));
    };
    Ok(text_at(arguments, 0)
        .replace('\n', &format!("\n{}", " ".repeat(spaces)))
        .into())
}

/// Replaces in a text. A search text between slashes is a regular expression.
fn replace(arguments: &[Value]) -> Result<Value, FunctionError> {
    let (text, search, with) = (
        text_at(arguments, 0),
        text_at(arguments, 1),
        text_at(arguments, 2),
    );
    match search
        .strip_prefix('/')
        .and_then(|rest| rest.strip_suffix('/'))
    {
        Some(pattern) if search.len() > 1 => Ok(compiled(pattern, 1)?
            .replace_all(text, with)
            .into_owned()
            .into()),
        _ => Ok(text.replace(search, with).into()),
    }
}

fn split<'t>(text: &'t str, separator: &'t str) -> Box<dyn Iterator<Item = String> + 't> {
    if separator.is_empty() {
        return Box::new(text.chars().map(String::from));
    }
    Box::new(text.split(separator).map(str::to_owned))
}

/// A part of a text by characters. Positions outside the text are clipped. A negative offset counts
/// from the end; a length of -1 is the rest.
fn substr(arguments: &[Value]) -> Result<Value, FunctionError> {
    let characters: Vec<char> = text_at(arguments, 0).chars().collect();
    let (offset, length) = (integer_at(arguments, 1)?, integer_at(arguments, 2)?);
    let count = characters.len() as i64;
    let start = if offset < 0 {
        (count + offset).max(0)
    } else {
        offset.min(count)
    };
    let end = if length < 0 {
        count
    } else {
        start.saturating_add(length).min(count)
    };
    Ok(characters[start as usize..end as usize]
        .iter()
        .collect::<String>()
        .into())
}

/// Encodes a text for the query of a URL: a space is `+`.
fn url_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(byte as char)
            }
            b' ' => out.push('+'),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

fn basename(path: &str) -> String {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rsplit('/').next() {
        _ if path.is_empty() => ".".into(),
        Some("") | None => "/".into(),
        Some(last) => last.into(),
    }
}

/// The folder of a path, with `.` and `..` resolved by text.
fn dirname(path: &str) -> String {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match (part, parts.last()) {
            ("..", Some(last)) if *last != ".." => drop(parts.pop()),
            ("..", None) if rooted => {}
            _ => parts.push(part),
        }
    }
    match (rooted, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".into(),
        (false, false) => parts.join("/"),
    }
}

fn compiled(pattern: &str, argument: usize) -> Result<Regex, FunctionError> {
    Regex::new(pattern).map_err(|error| {
        let text = error.to_string();
        let why = text
            .lines()
            .last()
            .unwrap_or_default()
            .trim_start_matches("error: ")
            .to_owned();
        form(
            argument,
            format!("`{pattern}` is no regular expression: {why}"),
        )
    })
}

/// The text of a match, or its groups: a map if they have names, else a list.
fn matched(regex: &Regex, captures: &regex::Captures<'_>) -> Value {
    let group = |at: usize| {
        captures
            .get(at)
            .map_or(Value::Null, |found| found.as_str().into())
    };
    if regex.captures_len() == 1 {
        return group(0);
    }
    let names: Vec<(usize, &str)> = regex
        .capture_names()
        .enumerate()
        .filter_map(|(at, name)| Some((at, name?)))
        .collect();
    if names.is_empty() {
        return Value::list((1..regex.captures_len()).map(group));
    }
    Value::map(
        names
            .into_iter()
            .map(|(at, name)| (Name::from(name), group(at))),
    )
}

fn regex(arguments: &[Value]) -> Result<Value, FunctionError> {
    let regex = compiled(text_at(arguments, 1), 1)?;
    Ok(regex
        .captures(text_at(arguments, 0))
        .map_or_else(|| Value::list([]), |found| matched(&regex, &found)))
}

fn regex_all(arguments: &[Value]) -> Result<Value, FunctionError> {
    let regex = compiled(text_at(arguments, 1), 1)?;
    Ok(Value::list(
        regex
            .captures_iter(text_at(arguments, 0))
            .map(|found| matched(&regex, &found)),
    ))
}

fn base64_decode(arguments: &[Value]) -> Result<Value, FunctionError> {
    let bytes = BASE64
        .decode(text_at(arguments, 0).as_bytes())
        .map_err(|error| form(0, format!("failed to decode base64 data: {error}")))?;
    String::from_utf8(bytes)
        .map(Value::from)
        .map_err(|_| form(0, "decoded base64 data is not valid UTF-8"))
}

/// Compresses a text with gzip. The header has no time, so that the result is always the same.
fn base64_gzip(arguments: &[Value]) -> Result<Value, FunctionError> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let written = encoder
        .write_all(text_at(arguments, 0).as_bytes())
        .and_then(|()| encoder.finish());
    let bytes =
        written.map_err(|error| form(0, format!("the text cannot be compressed: {error}")))?;
    Ok(BASE64.encode(&bytes).into())
}

/// A path as it is. The home folder is not an input of a plan, so a path that starts with it is
/// refused.
fn path_expand(arguments: &[Value]) -> Result<Value, FunctionError> {
    let path = text_at(arguments, 0);
    if path.starts_with('~') {
        return Err(form(
            0,
            "`~` is not expanded: write the path of the home folder",
        ));
    }
    Ok(path.into())
}

fn json_encode(arguments: &[Value]) -> Result<Value, FunctionError> {
    let mut out = String::new();
    write_json(&arguments[0], &mut out);
    Ok(out.into())
}

/// Writes compact JSON like Go: sorted keys, `<`, `>` and `&` escaped.
fn write_json(value: &Value, out: &mut String) {
    let text = |text: &str, out: &mut String| {
        let json = serde_json::to_string(text).unwrap_or_default();
        out.push_str(
            &json
                .replace('<', "\\u003c")
                .replace('>', "\\u003e")
                .replace('&', "\\u0026"),
        );
    };
    match value.unmarked() {
        Value::Text(written) => text(written, out),
        Value::Float(value) => out.push_str(&super::format::shortest_long(*value)),
        Value::List(items) | Value::Set(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_json(item, out);
            }
            out.push(']');
        }
        Value::Map(_) => {
            out.push('{');
            for (at, (key, item)) in super::lists::sorted(value).into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                text(&key, out);
                out.push(':');
                write_json(&item, out);
            }
            out.push('}');
        }
        other => out.push_str(&scalar_text(other).unwrap_or_else(|| "null".into())),
    }
}

/// The object of a JSON text. Other texts are returned unchanged.
fn json_decode(arguments: &[Value]) -> Result<Value, FunctionError> {
    match pycompat::parse_json(text_at(arguments, 0)) {
        Ok(value @ Value::Map(_)) => Ok(value),
        _ => Ok(arguments[0].clone()),
    }
}

fn to_bool(arguments: &[Value]) -> Result<Value, FunctionError> {
    let value = &arguments[0];
    match value.unmarked() {
        Value::Bool(value) => Ok(Value::Bool(*value)),
        Value::Text(text) => match &*text.to_lowercase() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err(form(0, format!("{text} is not a boolean value"))),
        },
        other => Err(kind(
            0,
            format!(
                "{} is not a boolean value",
                scalar_text(other).unwrap_or_default()
            ),
        )),
    }
}

fn to_string(arguments: &[Value]) -> Result<Value, FunctionError> {
    let value = given(arguments, 0).cloned().unwrap_or_default();
    scalar_text(&value)
        .map(Value::from)
        .ok_or_else(|| kind(0, format!("{} is not a string value", value.kind_word())))
}
