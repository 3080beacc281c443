//! URLs, and URL templates with parts of an earlier answer.
//!
//! In the `url` of `read`, `update` and `delete`, `{json.PATH}` and `{responseHeaders.NAME}` stand
//! for parts of the answer to the create, as in `https://host/items/{json.id}` or
//! `{responseHeaders.location}`.

use blueprint::{Map, Value};
use reqwest::Url;

use super::secrets::percent_encoded;

const NO_ADDRESS: &str = "is no address, such as `https://example.com/items`";

/// Parses a URL.
///
/// # Errors
/// A phrase with the problem.
pub(super) fn absolute(text: &str) -> Result<Url, &'static str> {
    check_http_url(Url::parse(text).map_err(|_| NO_ADDRESS)?)
}

fn check_http_url(url: Url) -> Result<Url, &'static str> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err("is no address of `http` or `https`");
    }
    if url.host_str().is_none_or(str::is_empty) {
        Err("names no host")
    } else {
        Ok(url)
    }
}

/// The problem with a URL template. `None` if the template is valid.
pub(super) fn problem(text: &str) -> Option<String> {
    let nothing = Map::default();
    let mut known = |name: &str| lookup(&nothing, name).map(|_| ("http://host/".to_owned(), false));
    let checked = fill(text, &mut known).and_then(|(text, _)| {
        // The base is known only later. Any base shows whether the text can be a URL.
        let base = Url::parse("http://host/").map_err(|_| NO_ADDRESS.to_owned())?;
        check_http_url(base.join(&text).map_err(|_| NO_ADDRESS.to_owned())?).map_err(str::to_owned)
    });
    checked.err()
}

/// Fills in a URL template. Returns the URL and whether a part was secret. A URL without a host is
/// relative to `base`.
pub(super) fn filled(text: &str, outputs: &Value, base: &Url) -> Result<(Url, bool), String> {
    let nothing = Map::default();
    let fields = outputs.as_map().unwrap_or(&nothing);
    let (text, secret) = fill(text, &mut |name| {
        let value = lookup(fields, name)??;
        let (bare, marked) = value.split_secret();
        match bare {
            Value::Text(text) => Some((text.to_string(), marked)),
            Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Decimal(_) => {
                Some((bare.to_string(), marked))
            }
            _ => None,
        }
    })?;
    let url = base.join(&text).map_err(|_| NO_ADDRESS.to_owned())?;
    Ok((check_http_url(url)?, secret))
}

/// Fills values into a template. A value at the start is inserted unchanged, because it may be the
/// beginning of a URL; others are encoded.
fn fill(
    text: &str,
    value: &mut dyn FnMut(&str) -> Option<(String, bool)>,
) -> Result<(String, bool), String> {
    let mut filled = String::with_capacity(text.len());
    let mut secret = false;
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').ok_or("holds a `{` without `}`")?;
        filled.push_str(before);
        let (found, marked) = value(name)
            .ok_or_else(|| format!("holds `{{{name}}}`, which is no scalar of the answer"))?;
        secret |= marked;
        if filled.is_empty() {
            filled.push_str(&found);
        } else {
            filled.push_str(&percent_encoded(&found));
        }
        rest = after;
    }
    filled.push_str(rest);
    Ok((filled, secret))
}

/// The value of `json.PATH` or `responseHeaders.NAME`: `None` if the name has neither form,
/// `Some(None)` if the value does not exist.
fn lookup<'a>(fields: &'a Map, name: &str) -> Option<Option<&'a Value>> {
    if let Some(header) = name.strip_prefix("responseHeaders.") {
        let header = header.to_ascii_lowercase();
        return Some(
            fields
                .get("responseHeaders")
                .and_then(|headers| headers.get(&header)),
        );
    }
    let path = name.strip_prefix("json.")?;
    let mut found = fields.get("json");
    for segment in path.split('.') {
        let (key, positions) = segment
            .split_once('[')
            .map_or((segment, ""), |(key, positions)| (key, positions));
        found = found.and_then(|value| value.get(key));
        for position in positions.split('[').filter(|position| !position.is_empty()) {
            let position: usize = position.strip_suffix(']')?.parse().ok()?;
            found = found.and_then(|value| value.as_list()?.get(position));
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs() -> Value {
        Value::map([
            (
                "json",
                Value::map([
                    ("id", Value::from("a b/c")),
                    ("items", Value::list([Value::map([("n", Value::Int(7))])])),
                    ("token", Value::from("t0k").secret()),
                ]),
            ),
            (
                "responseHeaders",
                Value::map([("location", Value::from("/items/9"))]),
            ),
        ])
    }

    fn check(text: &str) -> Result<(String, bool), String> {
        let base = absolute("http://host:81/items").unwrap();
        filled(text, &outputs(), &base).map(|(url, secret)| (url.to_string(), secret))
    }

    #[test]
    fn values_of_the_answer_are_filled_in() {
        let url = |text: &str| check(text).unwrap().0;
        assert_eq!(url("http://host/{json.id}/x"), "http://host/a%20b%2Fc/x");
        assert_eq!(url("/items/{json.items[0].n}"), "http://host:81/items/7");
        assert_eq!(url("{responseHeaders.Location}"), "http://host:81/items/9");
        assert_eq!(
            url("{responseHeaders.location}/keys"),
            "http://host:81/items/9/keys"
        );
        assert_eq!(
            check("/x/{json.token}").unwrap(),
            ("http://host:81/x/t0k".into(), true)
        );
    }

    #[test]
    fn missing_value_is_named_in_the_error() {
        for text in [
            "/{json.nothing}",
            "/{json.items}",
            "/{body}",
            "/{json.items[0}",
            "/{json.id",
        ] {
            assert!(check(text).is_err(), "{text}");
        }
        for text in [
            "/{json.any[3].x}/{responseHeaders.etag}",
            "{json.url}/x",
            "items",
            "https://other/{json.id}",
        ] {
            assert_eq!(problem(text), None, "{text}");
        }
        assert!(problem("/{id}").unwrap().contains("{id}"));
        assert!(problem("ftp://host/{json.id}").is_some());
    }

    #[test]
    fn only_web_addresses_are_addresses() {
        assert!(absolute("https://example.com").is_ok());
        for text in [
            "example.com",
            "ftp://example.com",
            "/items",
            "file:///etc/passwd",
            "http://",
        ] {
            assert!(absolute(text).is_err(), "{text}");
        }
    }
}
