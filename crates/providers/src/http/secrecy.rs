//! The secrecy of an answer to a request that carried a secret.
//!
//! A server may repeat a secret in any encoding, so a search for its known forms is not enough: such
//! an answer is secret as a whole, except for the parts that the field `reveal` names.

use blueprint::{Map, Value};

use super::secrets::SecretTexts;

/// The parts of an answer that can be secret.
const PARTS: [&str; 3] = ["responseBody", "json", "responseHeaders"];

/// Checks the name of a part and returns its steps.
///
/// # Errors
/// If an answer has no such part.
pub(super) fn part(name: &str) -> Result<Vec<&str>, String> {
    let steps: Vec<&str> = name.split('.').collect();
    let is_known = match steps.as_slice() {
        ["responseBody"] => true,
        ["json", rest @ ..] => rest.iter().all(|step| !step.is_empty()),
        // The name of a header may have dots.
        ["responseHeaders", rest @ ..] => rest.iter().all(|step| !step.is_empty()),
        _ => false,
    };
    match (is_known, steps.as_slice()) {
        (true, ["responseHeaders", _, ..]) => Ok(name.splitn(2, '.').collect()),
        (true, _) => Ok(steps),
        (false, _) => Err(format!(
            "`{name}` is no part of an answer: name `responseBody`, `json`, `json.PATH`, `responseHeaders` or `responseHeaders.NAME`"
        )),
    }
}

/// Marks the parts of an answer as secret if its request `carried` a secret and `reveal` of the spec
/// does not name them. What is marked already stays marked.
pub(super) fn hide(fields: &mut Map, carried: bool, spec: &Value) {
    if !carried {
        return;
    }
    let reveal = spec.get("reveal").and_then(Value::as_list);
    let revealed: Vec<Vec<&str>> = reveal
        .unwrap_or_default()
        .iter()
        .filter_map(|name| part(name.as_text()?).ok())
        .collect();
    for name in PARTS {
        let inside: Vec<&[&str]> = revealed
            .iter()
            .filter(|steps| steps.first() == Some(&name))
            .map(|steps| &steps[1..])
            .collect();
        if let Some(value) = fields.get_mut(name) {
            *value = marked(value, &inside);
        }
    }
}

/// Checks the names of the parts of the answer of a data source.
///
/// # Errors
/// If an answer has no such part.
pub(super) fn check_exports(reveal: &[Value]) -> Result<(), String> {
    for name in reveal.iter().filter_map(Value::as_text) {
        let header = name.strip_prefix("headers.");
        let is_known =
            matches!(name, "body" | "headers") || header.is_some_and(|it| !it.is_empty());
        if !is_known {
            return Err(format!(
                "`{name}` is no part of an answer: name `body`, `headers` or `headers.NAME`"
            ));
        }
    }
    Ok(())
}

/// Marks the text and the headers of the answer of a data source as secret, except those that
/// `reveal` names. What is marked already stays marked.
pub(super) fn hide_exports(fields: &mut Map, reveal: &[Value]) {
    let names: Vec<&str> = reveal.iter().filter_map(Value::as_text).collect();
    let is_shown = |name: &str| names.contains(&name);
    if !is_shown("body")
        && let Some(body) = fields.get_mut("body")
    {
        *body = body.clone().secret();
    }
    if !is_shown("headers")
        && let Some(headers) = fields.get_mut("headers")
    {
        let lines = headers.as_list().unwrap_or_default().iter().map(|line| {
            // The text of a marked line is not needed: it stays marked.
            let name = line.as_text().and_then(|line| line.split_once(": "));
            let is_named = name.is_some_and(|(name, _)| {
                let mut named = names.iter().filter_map(|one| one.strip_prefix("headers."));
                named.any(|one| one.eq_ignore_ascii_case(name))
            });
            if is_named {
                line.clone()
            } else {
                line.clone().secret()
            }
        });
        *headers = Value::list(lines.collect::<Vec<_>>());
    }
}

/// Removes the marks of an earlier [`hide`]. Parts that repeat a secret stay marked.
pub(super) fn show(fields: &mut Map, secrets: &SecretTexts) {
    for name in PARTS {
        if let Some(value) = fields.get_mut(name) {
            let open = value.revealed();
            let repeats = secrets.stand_in(&open.to_string());
            *value = open.tainted(repeats);
        }
    }
}

/// The value with all parts marked that no path leads to.
fn marked(value: &Value, revealed: &[&[&str]]) -> Value {
    if revealed.iter().any(|path| path.is_empty()) || value.is_null() {
        return value.clone();
    }
    let below = |key: &str| -> Vec<&[&str]> {
        let inside = revealed.iter().filter_map(|path| path.split_first());
        let matching = inside.filter(|(step, _)| step.eq_ignore_ascii_case(key));
        matching.map(|(_, rest)| rest).collect()
    };
    match value {
        _ if revealed.is_empty() => value.clone().secret(),
        Value::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), marked(value, &below(key)))),
        ),
        Value::List(items) => Value::list(
            items
                .iter()
                .enumerate()
                .map(|(at, item)| marked(item, &below(&at.to_string()))),
        ),
        // A part that is secret as a whole repeats a secret.
        other => other.clone().secret(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Map {
        let items = Value::list([Value::from("first"), Value::from("second")]);
        let json = Value::map([("id", Value::from("number-7")), ("items", items)]);
        let headers = Value::map([
            ("location", Value::from("/place")),
            ("x", Value::from("other")),
        ]);
        let fields = [
            ("responseBody", Value::from("<page>")),
            ("json", json),
            ("responseHeaders", headers),
        ];
        fields
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect()
    }

    fn hidden(reveal: &[&str]) -> String {
        let reveal = Value::list(reveal.iter().map(|name| Value::from(*name)));
        let mut fields = answer();
        hide(&mut fields, true, &Value::map([("reveal", reveal)]));
        Value::Map(fields.into()).to_string()
    }

    #[test]
    fn only_named_parts_of_an_answer_are_shown() {
        let all = hidden(&[]);
        for text in ["<page>", "number-7", "/place", "other", "first"] {
            assert!(!all.contains(text), "{all}");
        }
        let some = hidden(&["json.items.1", "responseHeaders.Location"]);
        assert!(some.contains("/place") && some.contains("second"), "{some}");
        assert!(
            !some.contains("<page>") && !some.contains("first"),
            "{some}"
        );
        let body = hidden(&["responseBody", "json"]);
        assert!(
            body.contains("<page>") && body.contains("number-7") && !body.contains("/place"),
            "{body}"
        );
    }

    #[test]
    fn only_named_exports_of_an_answer_are_shown() {
        let lines = ["location: /7", "x: y"].map(Value::from);
        let answer = || -> Map {
            let fields = [
                ("status", Value::Int(200)),
                ("body", Value::from("text")),
                ("headers", Value::list(lines.clone())),
            ];
            fields
                .into_iter()
                .map(|(name, value)| (name.into(), value))
                .collect()
        };
        let hidden = |reveal: &[&str]| {
            let reveal: Vec<Value> = reveal.iter().map(|name| Value::from(*name)).collect();
            let mut fields = answer();
            hide_exports(&mut fields, &reveal);
            Value::Map(fields.into()).to_string()
        };
        let all = hidden(&[]);
        assert!(
            all.contains("200") && !all.contains("text") && !all.contains("/7"),
            "{all}"
        );
        let some = hidden(&["headers.Location"]);
        assert!(
            some.contains("/7") && !some.contains("x: y") && !some.contains("text"),
            "{some}"
        );
        let most = hidden(&["body", "headers"]);
        assert!(most.contains("/7") && most.contains("text"), "{most}");
        for name in ["json", "headers.", "status", ""] {
            assert!(check_exports(&[Value::from(name)]).is_err(), "{name}");
        }
    }

    #[test]
    fn names_of_parts_are_checked() {
        for name in ["status", "json.", "body", "responseBody.x", ""] {
            assert!(part(name).is_err(), "{name}");
        }
        assert_eq!(
            part("responseHeaders.x.y").unwrap(),
            ["responseHeaders", "x.y"]
        );
    }
}
