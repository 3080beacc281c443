//! Bytes and digests (decisions/functions#bytes-hashes-external-data).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use blueprint::{Type, Value};
use sha2::Digest;

use super::define::{function, returns, text_or_bytes};
use super::text::text;
use crate::codes;
use crate::evaluate::{At, Fault, FunctionBody, MAX_VALUE_BYTES, too_large};
use crate::function::FunctionDef;

pub(super) fn definitions() -> Vec<FunctionDef> {
    use Type::{Bool, Bytes, Float, Int, Text};
    let scalar = || Type::union([Text, Bytes, Int, Float, Bool]);
    let digest = |name: &str, docs: &str| {
        function(name, docs, returns(Text))
            .required("value", scalar())
            .not_in_specification()
    };
    vec![
        function(
            "base64encode",
            "The bytes, or the text as UTF-8, in Base64 with padding.",
            returns(Text),
        )
        .required("value", text_or_bytes())
        .not_in_specification()
        .example(r#"base64encode("Hello World")"#, r#""SGVsbG8gV29ybGQ=""#)
        .example(r#"base64encode("é")"#, r#""w6k=""#),
        function(
            "base64decode",
            "The bytes that a Base64 text stands for; padding is needed, white space refused.",
            returns(Bytes),
        )
        .required("text", Text)
        .not_in_specification()
        .example(
            r#"utf8(base64decode("SGVsbG8gV29ybGQ="))"#,
            r#""Hello World""#,
        )
        .example(r#"base64decode("a")"#, "! argument-format"),
        function("utf8", "The text that bytes hold.", returns(Text))
            .required("value", text_or_bytes())
            .not_in_specification()
            .example(r#"utf8("a")"#, r#""a""#)
            .example(r#"utf8(base64decode("/w=="))"#, "! not-utf8"),
        digest(
            "sha256",
            "The SHA-256 digest of bytes, or of a scalar's text, in lower-case hexadecimal digits.",
        )
        .example(
            r#"sha256("")"#,
            r#""e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855""#,
        ),
        digest(
            "sha1",
            "The SHA-1 digest of bytes, or of a scalar's text, in lower-case hexadecimal digits.",
        )
        .example(
            r#"sha1("Hello World")"#,
            r#""0a4d55a8d778e5022fab701977c5d840bbc486d0""#,
        ),
        digest(
            "md5",
            "The MD5 digest of bytes, or of a scalar's text, in lower-case hexadecimal digits.",
        )
        .example(
            r#"md5("Hello World")"#,
            r#""b10a8db164e0754105b7a99be72e3fe5""#,
        ),
    ]
}

pub(super) fn body(name: &str) -> Option<FunctionBody> {
    Some(match name {
        "base64encode" => FunctionBody::Plain(base64encode),
        "base64decode" => FunctionBody::Plain(base64decode),
        "utf8" => FunctionBody::Plain(utf8),
        "sha256" => FunctionBody::Plain(|arguments, _| digest::<sha2::Sha256>(arguments)),
        "sha1" => FunctionBody::Plain(|arguments, _| digest::<sha1::Sha1>(arguments)),
        "md5" => FunctionBody::Plain(|arguments, _| digest::<md5::Md5>(arguments)),
        _ => return None,
    })
}

fn base64encode(arguments: &[Value], _: &mut Vec<Fault>) -> Result<Value, Fault> {
    let encoded = match arguments.first() {
        Some(Value::Bytes(bytes)) => STANDARD.encode(bytes),
        _ => STANDARD.encode(text(arguments, 0)),
    };
    if encoded.len() > MAX_VALUE_BYTES {
        Err(too_large(&crate::evaluate::bytes(MAX_VALUE_BYTES)))
    } else {
        Ok(encoded.into())
    }
}

fn base64decode(arguments: &[Value], _: &mut Vec<Fault>) -> Result<Value, Fault> {
    let bytes = STANDARD.decode(text(arguments, 0)).map_err(|_| {
        Fault::new(
            &codes::ARGUMENT_FORMAT,
            At::Argument(0),
            "the text is not Base64",
        )
        .label("needs the standard alphabet with padding, without white space")
    })?;
    Ok(Value::Bytes(bytes.into()))
}

fn utf8(arguments: &[Value], _: &mut Vec<Fault>) -> Result<Value, Fault> {
    let Some(Value::Bytes(bytes)) = arguments.first() else {
        return Ok(text(arguments, 0).into());
    };
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.into()),
        Err(error) => Err(Fault::new(
            &codes::NOT_UTF8,
            At::Argument(0),
            "the bytes are not UTF-8 text",
        )
        .label(format!(
            "byte {} is not part of a character",
            error.valid_up_to()
        ))
        .help("use `base64encode` to write any bytes as text")),
    }
}

fn digest<D: Digest>(arguments: &[Value]) -> Result<Value, Fault> {
    let digest = match arguments.first() {
        Some(Value::Bytes(bytes)) => D::digest(bytes),
        Some(value) => match crate::to_text(value) {
            Some(Ok(text)) => D::digest(text.as_text().unwrap_or("")),
            _ => {
                return Err(Fault::new(
                    &codes::ARGUMENT_TYPE,
                    At::Argument(0),
                    "a digest needs a scalar or bytes",
                ));
            }
        },
        None => D::digest(""),
    };
    Ok(data_encoding::HEXLOWER.encode(&digest).into())
}
