//! `yamlencode` and `yamldecode`.
//!
//! Output is block style with two spaces. A text that could be read as another type is quoted.
//! Input follows the core schema of YAML 1.2: `yes` is a text, `0x1f` a number.

use blueprint::{Map, Name, Value};
use syntax::{Content, Format, Node};

use super::arguments::{FunctionError, form, text_at};
use super::format::scalar_text;

pub(super) fn encode(arguments: &[Value]) -> Result<Value, FunctionError> {
    let mut out = String::new();
    write(&arguments[0], 0, YamlContext::Top, &mut out);
    Ok(out.into())
}

/// Maximum number of values in a text.
const MOST_NODES: usize = 1_000_000;

/// The position of a value.
#[derive(Clone, Copy, PartialEq)]
enum YamlContext {
    Top,
    AfterKey,
    AfterDash,
}

fn write(value: &Value, depth: usize, place: YamlContext, out: &mut String) {
    let indent = "  ".repeat(depth);
    match value.unmarked() {
        Value::Map(entries) if !entries.is_empty() => {
            if place == YamlContext::AfterKey {
                out.push('\n');
            }
            for (at, (key, value)) in entries.iter().enumerate() {
                if at > 0 || place != YamlContext::AfterDash {
                    out.push_str(&indent);
                }
                out.push_str(&scalar(key));
                out.push(':');
                write(value, depth + 1, YamlContext::AfterKey, out);
            }
        }
        Value::List(items) | Value::Set(items) if !items.is_empty() => {
            if place == YamlContext::AfterKey {
                out.push('\n');
            }
            for (at, item) in items.iter().enumerate() {
                if at > 0 || place != YamlContext::AfterDash {
                    out.push_str(&indent);
                }
                out.push_str("- ");
                write(item, depth + 1, YamlContext::AfterDash, out);
            }
        }
        other => {
            if place == YamlContext::AfterKey {
                out.push(' ');
            }
            match other {
                Value::Map(_) => out.push_str("{}"),
                Value::List(_) | Value::Set(_) => out.push_str("[]"),
                Value::Null => out.push_str("null"),
                Value::Text(text) => out.push_str(&scalar(text)),
                Value::Float(value) => out.push_str(&blueprint::format_float(*value)),
                Value::Bytes(bytes) => out.push_str(&scalar(&String::from_utf8_lossy(bytes))),
                other => out.push_str(&scalar_text(other).unwrap_or_else(|| "null".into())),
            }
            out.push('\n');
        }
    }
}

/// Writes a text: plain if it can only be read as that text, otherwise quoted.
fn scalar(text: &str) -> String {
    let safe = |c: char| {
        c.is_alphanumeric()
            || matches!(
                c,
                ' ' | '_'
                    | '-'
                    | '.'
                    | '/'
                    | '+'
                    | '@'
                    | '('
                    | ')'
                    | ';'
                    | '$'
                    | '<'
                    | '='
                    | '~'
                    | '^'
                    | ','
            )
    };
    let starts =
        text.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '/' | '.' | '(' | '$'));
    let is_plain = starts
        && text.chars().all(safe)
        && !text.ends_with(' ')
        && !is_word(text)
        && matches!(typed(text), Value::Text(_));
    if is_plain {
        return text.to_owned();
    }
    // JSON's escapes are valid in YAML. YAML needs an escape for these characters in addition.
    let json = serde_json::to_string(text).unwrap_or_default();
    json.chars()
        .map(|c| match c {
            '\u{7f}'..='\u{9f}' | '\u{feff}' | '\u{2028}' | '\u{2029}' => {
                format!("\\u{:04x}", c as u32)
            }
            other => other.to_string(),
        })
        .collect()
}

/// Whether YAML 1.1 reads a text as a boolean.
fn is_word(text: &str) -> bool {
    matches!(
        text.to_ascii_lowercase().as_str(),
        "y" | "n" | "yes" | "no" | "on" | "off"
    )
}

pub(super) fn decode(arguments: &[Value]) -> Result<Value, FunctionError> {
    let (tree, found) = syntax::parse(diag::FileId::NONE, text_at(arguments, 0), Format::Yaml);
    if let Some(error) = found.iter().find(|one| one.is_error()) {
        return Err(form(0, format!("the text is no YAML: {}", error.message)));
    }
    let mut budget = MOST_NODES;
    tree.root
        .as_ref()
        .map_or(Ok(Value::Null), |root| value(root, &mut budget))
}

/// The value of a node. Aliases may expand to more than the text, so the number of values is
/// limited.
fn value(node: &Node, budget: &mut usize) -> Result<Value, FunctionError> {
    *budget = budget
        .checked_sub(1)
        .ok_or_else(|| form(0, "the text has too many values"))?;
    Ok(match &node.content {
        Content::Missing => Value::Null,
        Content::Scalar(scalar) if scalar.style.is_text() => Value::text(&*scalar.text),
        Content::Scalar(scalar) => typed(&scalar.text),
        Content::List(items) => Value::list(
            items
                .iter()
                .map(|item| value(item, budget))
                .collect::<Result<Vec<_>, _>>()?,
        ),
        Content::Map(entries) => {
            let mut map = Map::default();
            for entry in entries {
                map.insert(
                    Name::from(entry.key.text().unwrap_or_default()),
                    value(&entry.value, budget)?,
                );
            }
            Value::Map(std::sync::Arc::new(map))
        }
    })
}

/// Resolves a scalar by the core schema of YAML 1.2.
fn typed(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let based = |prefix: &str, base: u32| {
        let digits = text.strip_prefix(prefix)?;
        i64::from_str_radix(digits, base)
            .ok()
            .filter(|_| !digits.starts_with(['-', '+']))
    };
    if let Some(number) = based("0x", 16).or_else(|| based("0o", 8)) {
        return Value::Int(number);
    }
    if !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && let Ok(number) = text.parse()
    {
        return Value::Int(number);
    }
    let looks_like_a_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.bytes().any(|byte| byte.is_ascii_digit())
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    match text.parse::<f64>() {
        Ok(number) if looks_like_a_number && number.is_finite() => Value::Float(number),
        _ => Value::text(text),
    }
}
