//! The configuration of stacks: compares what is read with Pulumi's own answers (see the pack's
//! README). Each block is read in YAML and in JSON.

use std::path::Path;

use pulumi::{StackConfig, StackValue};
use serde_json::Value as Json;
use syntax::Format;

use super::case::{Case, differences, read_json};
use super::notation::same;

/// The recorded blocks.
pub(super) fn cases(pack: &Path) -> Result<Vec<Case>, String> {
    let listed = read_json(&pack.join("stack-config.json"))?;
    let all = listed.as_array().cloned().unwrap_or_default();
    let cases = all.into_iter().map(|case| Case {
        id: case["name"].as_str().unwrap_or_default().to_owned(),
        run: Box::new(move || {
            let mut found = Vec::new();
            for (key, format) in [("yaml", Format::Yaml), ("json", Format::Json)] {
                let text = case[key].as_str().unwrap_or_default();
                compare(text, format, &case["expected"], &mut found)?;
            }
            differences(&found)
        }),
    });
    Ok(cases.collect())
}

fn compare(
    text: &str,
    format: Format,
    expected: &Json,
    found: &mut Vec<String>,
) -> Result<(), String> {
    let (tree, _) = syntax::parse(diag::FileId::new(0), text, format);
    let root = tree.root.ok_or("the block cannot be parsed")?;
    let (config, mistakes) = StackConfig::read(&root, "my");
    if let Some(mistake) = mistakes.iter().next() {
        return Err(mistake.message.clone());
    }
    let missing = StackValue::Scalar(blueprint::Value::text(""));
    for (path, wanted) in expected["paths"].as_object().into_iter().flatten() {
        let value = config.get(path).unwrap_or(&missing);
        let scalar = |value: &StackValue| Json::String(value.to_text());
        let raw = match value {
            StackValue::Scalar(_) => scalar(value),
            other => other.to_json(),
        };
        let object = match value.is_object() {
            true => value.to_json(),
            false => scalar(value),
        };
        let secure = value.secure_values();
        let texts: Vec<Json> = secure.iter().map(|text| text.as_ref().into()).collect();
        let mut answers = vec![
            ("value", raw),
            ("object", object),
            ("string", value.to_text().into()),
            ("redacted", value.to_redacted_text().into()),
            ("isObject", value.is_object().into()),
            ("secure", (!secure.is_empty()).into()),
        ];
        if !texts.is_empty() || wanted.get("secureValues").is_some() {
            answers.push(("secureValues", Json::Array(texts)));
        }
        for (part, answer) in answers {
            if !same(&wanted[part], &answer) {
                found.push(format!("{path}: {part} {answer}, wanted {}", wanted[part]));
            }
        }
    }
    let decrypted = config
        .entries()
        .map(|(key, value)| (key.to_string(), Json::String(value.to_text())));
    let decrypted = Json::Object(decrypted.collect());
    if !same(&expected["decrypt"], &decrypted) {
        found.push(format!("{decrypted}, wanted {}", expected["decrypt"]));
    }
    Ok(())
}
