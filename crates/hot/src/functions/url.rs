//! `make_url`.

use blueprint::{Map, Value};
use expr::codes::ARGUMENT_FORMAT;

use super::function::{FunctionResult, HotFunction, PartialArgument, example, kind, wrong_type};
use crate::refusal::ValueRefusal;
use crate::version::Version;
use dialect::codes::UNKNOWN_KEY;

pub(super) const FUNCTIONS: &[HotFunction] = &[HotFunction {
    name: "make_url",
    since: Version::V2017_09_01,
    until: None,
    in_conditions: None,
    in_values: true,
    form: |argument, _| check(argument, false).map(|_| ()),
    call,
    parts: PartialArgument::Whole,
    docs: "`{scheme, username, password, host, port, path, query, fragment}`, all optional: a URL with every part encoded as it must be. \
           `query` is a map.",
    examples: &[
        example(
            r#"{"host": "::1", "port": 80, "path": "x", "query": {"a b": null}}"#,
            r#""//[::1]:80/x?a+b=None""#,
        ),
        example(
            r##"{"scheme": "https", "username": "a@b", "password": "c:/", "host": "h", "path": "/ä b", "fragment": "f#/"}"##,
            r##""https://a%40b:c%3A%2F@h/%C3%A4%20b#f%23/""##,
        ),
        example(r#"{}"#, r#""""#),
        example(r#"{"scheme": "mailto", "path": "a"}"#, r#""mailto:a""#),
        example(r#"{"scheme": "http", "path": "a"}"#, r#""http:///a""#),
        example(r#"{"port": "8080"}"#, r#""//:8080""#),
        example(
            r#"{"query": {"a": [1, "b"], "c": true, "d": "x/y"}}"#,
            r#""?a=%5B1%2C+%27b%27%5D&c=True&d=x/y""#,
        ),
        example(r#"{"host": 1}"#, "! argument-type"),
        example(r#"{"host": null}"#, "! argument-type"),
        example(r#"{"port": 70000}"#, "! argument-format"),
        example(r#"{"port": "abc"}"#, "! argument-format"),
        example(r#"{"query": ["a"]}"#, "! argument-type"),
        example(r#"{"scheme": "a:"}"#, "! argument-format"),
        example(r#"{"hostname": "h"}"#, "! unknown-key"),
        example(r#"[]"#, "! argument-type"),
    ],
}];

/// The keys, in the order in which they are checked.
const KEYS: [&str; 8] = [
    "scheme", "username", "password", "host", "port", "path", "query", "fragment",
];

/// Checks the entries; known values must have the right kind. A fragment beside a query is checked
/// only with `evaluating`, as in Heat.
fn check(argument: &Value, evaluating: bool) -> Result<&Map, ValueRefusal> {
    let Some(entries) = argument.as_map() else {
        let message = format!(
            "`make_url` takes a map of the parts of a URL, not {}",
            kind(argument)
        );
        return Err(wrong_type(
            message,
            "The arguments to \"make_url\" must be a map",
        ));
    };
    let unknown: Vec<&str> = entries
        .keys()
        .map(AsRef::as_ref)
        .filter(|key| !KEYS.contains(key))
        .collect();
    if let Some(first) = unknown.first() {
        let refusal =
            ValueRefusal::new(&UNKNOWN_KEY, format!("`make_url` has no part `{first}`")).heat(
                format!("Invalid arguments to \"make_url\": {}", unknown.join(", ")),
            );
        let help = match diag::nearest(first, KEYS) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("use {}", KEYS.map(|key| format!("`{key}`")).join(", ")),
        };
        return Err(refusal.help(help).within(*first));
    }
    let later = !evaluating && entries.contains_key("query");
    for key in KEYS
        .into_iter()
        .filter(|key| !(later && *key == "fragment"))
    {
        let Some(value) = entries.get(key).map(Value::unmarked) else {
            continue;
        };
        let good = match (key, value) {
            (_, Value::Unknown(_)) | ("query", Value::Map(_)) => true,
            ("port", _) => {
                port(value, argument).map_err(|refusal| refusal.within(key))?;
                true
            }
            ("query", _) => false,
            _ => matches!(value, Value::Text(_)),
        };
        if !good {
            let (wanted, article) = if key == "query" {
                ("map", "a map")
            } else {
                ("string", "text")
            };
            let message = format!("`{key}` of a URL must be {article}, not {}", kind(value));
            let words = match key {
                "fragment" if entries.contains_key("query") => {
                    "quote_from_bytes() expected bytes".to_owned()
                }
                _ => format!("The \"{key}\" argument to \"make_url\" must be a {wanted}"),
            };
            return Err(wrong_type(message, words).within(key));
        }
    }
    Ok(entries)
}

/// Refuses a value that is no port.
fn port(value: &Value, argument: &Value) -> Result<(), ValueRefusal> {
    let port = match (pycompat::integer(value), value) {
        (Ok(port), _) => port,
        (Err(_), Value::Text(text)) => {
            let words = format!(
                "Invalid URL port \"{text}\" for make_url called with {}",
                pycompat::repr(argument)
            );
            return Err(ValueRefusal::new(
                &ARGUMENT_FORMAT,
                format!("the port `{text}` is no number"),
            )
            .heat(words));
        }
        (Err(words), other) => {
            return Err(wrong_type(
                format!("the port of a URL must be a number, not {}", kind(other)),
                words,
            ));
        }
    };
    if port
        .as_int()
        .is_some_and(|port| (1..=65535).contains(&port))
    {
        return Ok(());
    }
    let words = format!("Invalid URL port {port}, must be in range 1-65535");
    Err(ValueRefusal::new(
        &ARGUMENT_FORMAT,
        format!("the port {port} is not between 1 and 65535"),
    )
    .heat(words))
}

fn call(argument: &Value, _: Version) -> FunctionResult {
    let entries = check(argument, true)?;
    let part = |key: &str| {
        entries
            .get(key)
            .and_then(Value::as_text)
            .unwrap_or_default()
    };
    let scheme = part("scheme");
    if scheme.contains(':') {
        return Err(
            ValueRefusal::new(&ARGUMENT_FORMAT, "the scheme of a URL has no `:`")
                .heat("URL \"scheme\" should not contain ':'")
                .help("leave it out: it is added after the scheme")
                .within("scheme"),
        );
    }
    let authority = authority(
        part("username"),
        part("password"),
        part("host"),
        entries.get("port"),
    );
    let path = quote(part("path"), "/");
    let mut url = String::new();
    if !scheme.is_empty() {
        url.push_str(scheme);
        url.push(':');
    }
    if !authority.is_empty()
        || (WITH_AUTHORITY.contains(&scheme) && !scheme.is_empty() && !path.starts_with("//"))
    {
        url.push_str("//");
        url.push_str(&authority);
        if !path.is_empty() && !path.starts_with('/') {
            url.push('/');
        }
    }
    url.push_str(&path);
    let query = query(entries.get("query").and_then(Value::as_map));
    let fragment = quote(part("fragment"), "/");
    for (mark, part) in [('?', query), ('#', fragment)] {
        if !part.is_empty() {
            url.push(mark);
            url.push_str(&part);
        }
    }
    Ok(Value::from(url))
}

/// Schemes whose URLs have `//` even without a host.
const WITH_AUTHORITY: [&str; 24] = [
    "ftp", "http", "gopher", "nntp", "telnet", "imap", "wais", "file", "mms", "https", "shttp",
    "snews", "prospero", "rtsp", "rtspu", "rsync", "svn", "svn+ssh", "sftp", "nfs", "git",
    "git+ssh", "ws", "wss",
];

fn authority(username: &str, password: &str, host: &str, port: Option<&Value>) -> String {
    let mut out = String::new();
    if !username.is_empty() || !password.is_empty() {
        out.push_str(&quote(username, ""));
        if !password.is_empty() {
            out.push(':');
            out.push_str(&quote(password, ""));
        }
        out.push('@');
    }
    let host = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    let host = quote(host, ":");
    if host.contains(':') {
        out.push_str(&format!("[{host}]"));
    } else {
        out.push_str(&host);
    }
    if let Some(port) = port {
        out.push(':');
        out.push_str(&pycompat::text(port));
    }
    out
}

/// The query of a URL from a map, encoded like a form; `/` is not encoded.
fn query(entries: Option<&Map>) -> String {
    let entry = |(key, value): (&blueprint::Name, &Value)| {
        let plus = |text: &str| quote(text, " /").replace(' ', "+");
        format!("{}={}", plus(key), plus(&pycompat::text(value)))
    };
    entries
        .map(|entries| entries.iter().map(entry).collect::<Vec<_>>().join("&"))
        .unwrap_or_default()
}

/// Encodes every byte as `%XX` that is neither unreserved nor in `safe`.
fn quote(text: &str, safe: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric()
            || b"_.-~".contains(&byte)
            || safe.as_bytes().contains(&byte)
        {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
