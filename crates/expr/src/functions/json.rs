//! Functions that read and write JSON.

use blueprint::{Type, Value};

use super::define::{function, returns};
use super::json_text::{JsonError, decode, encode};
use super::text::text;
use crate::codes;
use crate::evaluate::{At, Fault, FunctionBody, MAX_VALUE_BYTES, bind, too_large};
use crate::function::FunctionDef;

pub(super) fn definitions() -> Vec<FunctionDef> {
    use Type::{Any, Function, Text};
    vec![
        function(
            "fromjson",
            "What a JSON pointer finds in the text of a JSON object.",
            returns(Any),
        )
        .required("text", Text)
        .required("pointer", Text)
        .example(r#"fromjson("{\"host\":\"h\"}", "/host")"#, r#""h""#)
        .example(r#"fromjson("{\"a\":{\"b/c\":[1,2]}}", "/a/b~1c/1")"#, "2")
        .example(r##"fromjson("{\"a b\":1}", "#/a%20b")"##, "1")
        .example(r#"fromjson("[1]", "/0")"#, "! json-invalid"),
        function(
            "fromjson_g",
            "A function that finds something in the text of a JSON object.",
            returns(Function),
        )
        .required("pointer", Text)
        .returned_function(&[Text], Any)
        .example(r#"map(list("{\"p\":1}"), fromjson_g("/p"))"#, "[1]"),
        function("jsondecode", "The value of a JSON text.", returns(Any))
            .required("text", Text)
            .example(r#"jsondecode("{\"n\": 3}").n"#, "3")
            .example(r#"jsondecode("4.0")"#, "4.0")
            .example(r#"jsondecode("{} x")"#, "! json-invalid"),
        function(
            "jsonencode",
            "The value as compact JSON text, keys in their order.",
            returns(Text),
        )
        .required("value", Any)
        .not_in_specification()
        .example("jsonencode(object(b = 1, a = none))", r#""{\"b\":1}""#),
    ]
}

pub(super) fn body(name: &str) -> Option<FunctionBody> {
    Some(match name {
        "fromjson" => FunctionBody::Plain(fromjson),
        "fromjson_g" => FunctionBody::Open(bind),
        "jsondecode" => FunctionBody::Plain(|arguments, _| read(text(arguments, 0))),
        "jsonencode" => FunctionBody::Plain(jsonencode),
        _ => return None,
    })
}

fn read(text: &str) -> Result<Value, Fault> {
    decode(text).map_err(|error| match error {
        JsonError::Invalid(line, column, expected) => Fault::new(
            &codes::JSON_INVALID,
            At::Argument(0),
            "the text is not JSON",
        )
        .label(format!(
            "line {line}, column {column} of the text: expected {expected}"
        )),
        JsonError::Number(number) => Fault::new(
            &codes::NUMBER_OUT_OF_RANGE,
            At::Argument(0),
            format!("the number `{number}` is too large"),
        )
        .label("numbers have 64 bits"),
        JsonError::Deep => Fault::new(
            &codes::ARGUMENT_RANGE,
            At::Argument(0),
            "the JSON is nested more than 256 deep",
        ),
    })
}

fn fromjson(arguments: &[Value], warnings: &mut Vec<Fault>) -> Result<Value, Fault> {
    let mut value = read(text(arguments, 0))?;
    if value.as_map().is_none() {
        let message = format!(
            "`fromjson` needs a JSON object, this is of kind {}",
            value.kind_word()
        );
        return Err(Fault::new(&codes::JSON_INVALID, At::Argument(0), message)
            .label("not an object")
            .help("use `jsondecode` for other JSON"));
    }
    let written = text(arguments, 1);
    // The form of a URI fragment (RFC 6901, section 6).
    let decoded = match written.strip_prefix('#') {
        Some(fragment) if fragment.is_empty() || fragment.starts_with('/') => {
            let decoded = percent_decoded(fragment).ok_or_else(|| {
                Fault::new(
                    &codes::JSON_POINTER_MISSING,
                    At::Argument(1),
                    format!("`{written}` leads nowhere"),
                )
                .label("a `%` must be followed by two hexadecimal digits of UTF-8 text")
            });
            Some(decoded?)
        }
        _ => None,
    };
    let pointer = decoded.as_deref().unwrap_or(written);
    if pointer.is_empty() {
        return Ok(value);
    }
    let steps = pointer.strip_prefix('/').unwrap_or_else(|| {
        warnings.push(
            Fault::new(
                &codes::JSON_POINTER_SLASH,
                At::Argument(1),
                "a JSON pointer begins with `/`",
            )
            .label(format!("read as `/{pointer}`"))
            .help("write the `/`"),
        );
        pointer
    });
    for step in steps.split('/') {
        let key = unescape(step);
        let found = key.and_then(|key| match &value {
            Value::Map(entries) => entries.get(key.as_str()).cloned(),
            Value::List(items) => position(&key).and_then(|at| items.get(at)).cloned(),
            _ => None,
        });
        value = found.ok_or_else(|| {
            Fault::new(
                &codes::JSON_POINTER_MISSING,
                At::Argument(1),
                format!("`{pointer}` leads nowhere"),
            )
            .label(format!("there is no `{step}`"))
        })?;
    }
    Ok(value)
}

/// Replaces each `%XX` by the byte that it encodes. `None` if the result is not UTF-8.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || (rest.next()? as char).to_digit(16);
        bytes.push((digit()? * 16 + digit()?) as u8);
    }
    String::from_utf8(bytes).ok()
}

/// Removes the escapes of a step of a pointer. `None` for an invalid `~`.
fn unescape(step: &str) -> Option<String> {
    let mut key = String::new();
    let mut chars = step.chars();
    while let Some(c) = chars.next() {
        match c {
            '~' => match chars.next() {
                Some('0') => key.push('~'),
                Some('1') => key.push('/'),
                _ => return None,
            },
            c => key.push(c),
        }
    }
    Some(key)
}

/// Parses an index of a list: digits without leading zeros.
fn position(key: &str) -> Option<usize> {
    let plain = key == "0"
        || (!key.starts_with('0')
            && !key.is_empty()
            && key.bytes().all(|byte| byte.is_ascii_digit()));
    if plain { key.parse().ok() } else { None }
}

fn jsonencode(arguments: &[Value], _: &mut Vec<Fault>) -> Result<Value, Fault> {
    let mut text = String::new();
    let value = arguments.first().unwrap_or(&Value::Null);
    if let Err(kind) = encode(value, &mut text) {
        let message = format!("JSON has no values of kind {kind}");
        return Err(Fault::new(&codes::ARGUMENT_TYPE, At::Argument(0), message)
            .label(format!("holds a value of kind {kind}"))
            .help("use `utf8` or `base64encode` for bytes"));
    }
    if text.len() > MAX_VALUE_BYTES {
        return Err(too_large(&crate::evaluate::bytes(MAX_VALUE_BYTES)));
    }
    Ok(text.into())
}
