//! Text: `toJSON`, `toBase64`, `fromBase64`, `sha1`.

use blueprint::Value;
use data_encoding::{BASE64, HEXLOWER};
use expr::codes::{ARGUMENT_FORMAT, ARGUMENT_TYPE, NOT_UTF8};
use sha1::{Digest as _, Sha1};

use super::function::{FunctionResult, PartialArgument, PulumiFunction, refusal, text_argument};
use crate::scalar::kind_words;

pub(super) const FUNCTIONS: &[PulumiFunction] = &[
    PulumiFunction {
        name: "toJSON",
        key: "fn::toJSON",
        items: None,
        call: to_json,
        parts: PartialArgument::Whole,
        docs: "A value as JSON: without blanks, with sorted keys, and with `<`, `>` and `&` escaped.",
        examples: &[
            (
                r#"{"b": 1, "a": ["x", null, true]}"#,
                r#""{\"a\":[\"x\",null,true],\"b\":1}""#,
            ),
            (r#""<&>""#, r#""\"\\u003c\\u0026\\u003e\"""#),
            ("1.5", r#""1.5""#),
            ("1e21", r#""1e+21""#),
        ],
    },
    PulumiFunction {
        name: "toBase64",
        key: "fn::toBase64",
        items: None,
        call: |argument| {
            let text = text_argument("toBase64", argument)?;
            Ok(Value::text(BASE64.encode(text.as_bytes())))
        },
        parts: PartialArgument::Whole,
        docs: "A string as base64, in the standard alphabet with padding.",
        examples: &[
            (r#""Hello, World!""#, r#""SGVsbG8sIFdvcmxkIQ==""#),
            ("1", "! argument-type"),
        ],
    },
    PulumiFunction {
        name: "fromBase64",
        key: "fn::fromBase64",
        items: None,
        call: from_base64,
        parts: PartialArgument::Whole,
        docs: "The text of a base64 string. The decoded bytes must be UTF-8.",
        examples: &[
            (r#""SGVsbG8sIFdvcmxkIQ==""#, r#""Hello, World!""#),
            (r#""no base64""#, "! argument-format"),
            (r#""/w==""#, "! not-utf8"),
        ],
    },
    PulumiFunction {
        name: "sha1",
        key: "fn::sha1",
        items: None,
        call: |argument| {
            let text = text_argument("sha1", argument)?;
            Ok(Value::text(HEXLOWER.encode(&Sha1::digest(text.as_bytes()))))
        },
        parts: PartialArgument::Whole,
        docs: "The SHA-1 digest of a string, in hexadecimal.",
        examples: &[(r#""abc""#, r#""a9993e364706816aba3e25717850c26c9cd0d89d""#)],
    },
];

fn from_base64(argument: &Value) -> FunctionResult {
    let text = text_argument("fromBase64", argument)?;
    // Line breaks have no meaning in base64.
    let bare: String = text
        .chars()
        .filter(|letter| !matches!(letter, '\r' | '\n'))
        .collect();
    let bytes = BASE64.decode(bare.as_bytes()).map_err(|error| {
        let message = format!("the text is no base64: {error}");
        refusal(&ARGUMENT_FORMAT, message, [])
    })?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Value::text(text)),
        Err(_) => Err(refusal(&NOT_UTF8, "the decoded bytes are not text", [])),
    }
}

fn to_json(argument: &Value) -> FunctionResult {
    let mut text = String::new();
    write_json(argument, &mut text)?;
    Ok(Value::text(text))
}

/// Writes a value as Go's encoder does.
fn write_json(value: &Value, out: &mut String) -> Result<(), expr::Refusal> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Int(value) => out.push_str(&value.to_string()),
        Value::Decimal(text) => out.push_str(text),
        Value::Float(value) if value.is_finite() => {
            out.push_str(&json_number(*value));
        }
        Value::Text(text) => write_text(text, out),
        Value::List(items) | Value::Set(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_json(item, out)?;
            }
            out.push(']');
        }
        Value::Map(entries) => {
            let mut sorted: Vec<(&blueprint::Name, &Value)> = entries.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (at, (key, value)) in sorted.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_text(key, out);
                out.push(':');
                write_json(value, out)?;
            }
            out.push('}');
        }
        other => {
            let message = format!("{} has no form in JSON", kind_words(other));
            return Err(refusal(&ARGUMENT_TYPE, message, []));
        }
    }
    Ok(())
}

/// A number in JSON: with an exponent of at least two digits if it is very large, or of the digits that
/// it needs if it is very small.
fn json_number(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 || (1e-6..1e21).contains(&magnitude) {
        return value.to_string();
    }
    let shortest = format!("{value:e}");
    match shortest.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
        _ => shortest,
    }
}

fn write_text(text: &str, out: &mut String) {
    let escaped = serde_json::Value::String(text.to_owned()).to_string();
    for letter in escaped.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", letter as u32));
            }
            letter => out.push(letter),
        }
    }
}
