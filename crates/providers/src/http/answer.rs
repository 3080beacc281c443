//! Conversion of answers: the computed fields, and the candidate of `http/get`.

use blueprint::{Map, Value};

use super::exchange::{HttpAnswer, MAX_ANSWER};
use super::json;
use super::secrets::SecretTexts;

/// The message about an answer that is too long.
pub(super) fn too_long() -> String {
    format!(
        "the answer is longer than {} MiB",
        MAX_ANSWER / (1024 * 1024)
    )
}

/// The computed fields of `http/request`, and warnings. Values that repeat a secret are marked
/// secret. The caller hides the others (`secrecy`).
pub(super) fn fields(answer: &HttpAnswer, secrets: &SecretTexts) -> (Map, Vec<String>) {
    let mut warnings = Vec::new();
    let bytes = answer.body.as_deref().unwrap_or_default();
    let text = String::from_utf8_lossy(bytes);
    if matches!(text, std::borrow::Cow::Owned(_)) {
        warnings.push(
            "the answer is not all text in UTF-8; what is no text is replaced in `responseBody`"
                .into(),
        );
    }
    let secret = secrets.stand_in(&text);
    let headers = lines(answer, secrets);
    let headers = headers
        .into_iter()
        .fold(Map::default(), |mut headers, (name, value)| {
            let value = match headers.get(name.as_str()) {
                Some(before) => join(before, &value),
                None => value,
            };
            headers.insert(name.into(), value);
            headers
        });
    let fields = [
        (
            "status".into(),
            Value::Int(i64::from(answer.status.as_u16())),
        ),
        ("json".into(), json::parse(&text).tainted(secret)),
        (
            "responseBody".into(),
            Value::from(text.into_owned()).tainted(secret),
        ),
        ("responseHeaders".into(), Value::Map(headers.into())),
    ];
    (fields.into_iter().collect(), warnings)
}

fn join(before: &Value, after: &Value) -> Value {
    let text = |value: &Value| value.as_text().unwrap_or_default().to_owned();
    let secret = before.has_secret() || after.has_secret();
    Value::from(format!("{}, {}", text(before), text(after))).tainted(secret)
}

/// The headers in order, with names in lower case.
fn lines(answer: &HttpAnswer, secrets: &SecretTexts) -> Vec<(String, Value)> {
    let lines = answer.headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        let secret = secrets.stand_in(&value);
        (name.as_str().to_owned(), Value::from(value).tainted(secret))
    });
    lines.collect()
}

/// The fields of `http/get`.
///
/// # Errors
/// If the body is not valid.
pub(super) fn exports(answer: &HttpAnswer, secrets: &SecretTexts) -> Result<Map, String> {
    let bytes = answer.body.as_deref().ok_or_else(too_long)?;
    let text =
        std::str::from_utf8(bytes).map_err(|_| "the answer is not text in UTF-8".to_owned())?;
    let headers = lines(answer, secrets).into_iter().map(|(name, value)| {
        let secret = value.has_secret();
        Value::from(format!("{name}: {}", value.as_text().unwrap_or_default())).tainted(secret)
    });
    let fields = [
        ("status", Value::Int(i64::from(answer.status.as_u16()))),
        ("body", Value::from(text).tainted(secrets.stand_in(text))),
        ("headers", Value::list(headers)),
    ];
    let fields = fields.into_iter();
    Ok(fields.map(|(name, value)| (name.into(), value)).collect())
}
