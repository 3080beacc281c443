//! The module `url`.

use std::collections::BTreeMap;

use blueprint::IndexMap;

use crate::convert::plain;
use crate::halt::{Evaluated, fail};
use crate::heap::{DictEntries, Heap};
use crate::native_call::NativeCall;
use crate::value::{StarKey, StarValue, StructKind};

const URL: StructKind = StructKind::Opaque(
    "@ytt:url.value",
    "does not automatically encode (hint: use .string())",
);

const USER: StructKind = StructKind::Opaque(
    "@ytt:url.user",
    "does not automatically encode (hint: use .string())",
);

/// Calls a function.
///
/// # Errors
/// If the argument does not fit.
pub(super) fn call(heap: &Heap, function: &str, call: &NativeCall) -> Evaluated<StarValue> {
    match function {
        "bound_value" => {
            call.exactly(0)?;
            return Ok(call.receiver().clone());
        }
        "without_user" => {
            call.exactly(0)?;
            let text = call.receiver().as_text().cloned().unwrap_or_default();
            return parsed(heap, &text);
        }
        _ => call.exactly(1)?,
    }
    if function == "query_params_encode" {
        return encoded_parameters(heap, call.item(0));
    }
    let text = call.text(0)?;
    heap.work.bytes(text.len().saturating_mul(3))?;
    match function {
        "path_segment_encode" => heap.text(escape(text, UrlPart::Path)),
        "query_param_value_encode" => heap.text(escape(text, UrlPart::Query)),
        "path_segment_decode" => heap.text(unescape(text, UrlPart::Path)?),
        "query_param_value_decode" => heap.text(unescape(text, UrlPart::Query)?),
        "query_params_decode" => decoded_parameters(heap, text),
        _ => parsed(heap, text),
    }
}

/// The parts of an address with different rules.
#[derive(Clone, Copy, PartialEq)]
enum UrlPart {
    Path,
    Query,
    User,
}

fn is_kept(byte: u8, part: UrlPart) -> bool {
    let is_plain = byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    is_plain
        || match part {
            UrlPart::Path => b"$&+=:@".contains(&byte),
            UrlPart::User => b"$&+=,;".contains(&byte),
            UrlPart::Query => false,
        }
}

fn escape(text: &str, part: UrlPart) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_kept(byte, part) {
            escaped.push(char::from(byte));
        } else if byte == b' ' && part == UrlPart::Query {
            escaped.push('+');
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

fn unescape(text: &str, part: UrlPart) -> Evaluated<String> {
    let bytes = text.as_bytes();
    let mut found = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'%' => {
                let digits = text.get(at + 1..at + 3);
                let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                match code {
                    Some(code) if digits.is_some_and(|own| !own.starts_with('+')) => {
                        found.push(code);
                    }
                    _ => {
                        let rest: String = text[at..].chars().take(3).collect();
                        return fail(format!("invalid URL escape \"{rest}\""));
                    }
                }
                at += 3;
                continue;
            }
            b'+' if part == UrlPart::Query => found.push(b' '),
            byte => found.push(*byte),
        }
        at += 1;
    }
    Ok(String::from_utf8_lossy(&found).into_owned())
}

fn encoded_parameters(heap: &Heap, value: &StarValue) -> Evaluated<StarValue> {
    let StarValue::Dict(dict) = plain(heap, value)? else {
        let kind = value.type_name();
        return fail(format!("expected argument to be a map, but was {kind}"));
    };
    let mut parameters: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (key, value) in dict.entries.borrow().values() {
        let Some(key) = key.as_text() else {
            let kind = key.type_name();
            return fail(format!("expected map key to be string, but was {kind}"));
        };
        let StarValue::List(list) = value else {
            let kind = value.type_name();
            return fail(format!("expected map value to be array, but was {kind}"));
        };
        for item in list.items.borrow().iter() {
            let Some(item) = item.as_text() else {
                let kind = item.type_name();
                return fail(format!("expected array value to be string, but was {kind}"));
            };
            heap.work.bytes(key.len() + item.len())?;
            let own = parameters.entry(key.to_string()).or_default();
            own.push(escape(item, UrlPart::Query));
        }
    }
    let pairs = parameters.iter().flat_map(|(key, items)| {
        let key = escape(key, UrlPart::Query);
        items.iter().map(move |item| format!("{key}={item}"))
    });
    heap.text(pairs.collect::<Vec<_>>().join("&"))
}

fn decoded_parameters(heap: &Heap, text: &str) -> Evaluated<StarValue> {
    let mut parameters: BTreeMap<String, Vec<StarValue>> = BTreeMap::new();
    for pair in text.split(['&', ';']).filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = heap.text(unescape(value, UrlPart::Query)?)?;
        parameters
            .entry(unescape(key, UrlPart::Query)?)
            .or_default()
            .push(value);
    }
    let mut entries = DictEntries::default();
    for (key, items) in parameters {
        let written = StarValue::text(key.as_str());
        entries.insert(StarKey::Text(key.into()), (written, heap.list(items)?));
    }
    heap.dict(entries)
}

/// `url.parse`
fn parsed(heap: &Heap, text: &str) -> Evaluated<StarValue> {
    if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
        return fail(format!(
            "parse {text:?}: net/url: invalid control character in URL"
        ));
    }
    let (before, authority, after) = split(text)?;
    let (user, host) = match authority.and_then(|own| own.rsplit_once('@')) {
        Some((user, host)) => (Some(user), host),
        None => (None, authority.unwrap_or_default()),
    };
    let name = hostname(text, host)?;
    let (before, after) = match authority {
        Some(_) => (before.to_owned(), escaped_path(after)?),
        None => (escaped_path(before)?, String::new()),
    };
    let without = format!("{before}{host}{after}");
    let user_value = match user {
        Some(user) => self::user(heap, user)?,
        None => StarValue::None,
    };
    let whole = match user {
        Some(user) => format!("{before}{}@{host}{after}", user_text(user)?),
        None => without.clone(),
    };
    let mut fields = IndexMap::default();
    fields.insert("user".into(), user_value);
    let bound = vec![heap.text(without)?];
    fields.insert(
        "without_user".into(),
        heap.native("url.without_user", bound)?,
    );
    let bound = vec![heap.text(whole)?];
    fields.insert("string".into(), heap.native("url.bound_value", bound)?);
    let bound = vec![heap.text(name)?];
    fields.insert("hostname".into(), heap.native("url.bound_value", bound)?);
    heap.structure(URL, fields)
}

/// A path with a query and a fragment, with escapes where they are needed.
fn escaped_path(text: &str) -> Evaluated<String> {
    let (rest, fragment) = match text.split_once('#') {
        Some((rest, fragment)) => (rest, Some(fragment)),
        None => (text, None),
    };
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (rest, None),
    };
    let mut found = escaped_unless_valid(path)?;
    if let Some(query) = query {
        found.push('?');
        found.push_str(query);
    }
    if let Some(fragment) = fragment {
        found.push('#');
        found.push_str(&escaped_unless_valid(fragment)?);
    }
    Ok(found)
}

fn escaped_unless_valid(text: &str) -> Evaluated<String> {
    let decoded = unescape(text, UrlPart::Path)?;
    let is_kept =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:@[]/%?".contains(&byte);
    if text.bytes().all(is_kept) {
        return Ok(text.to_owned());
    }
    let is_kept = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(byte);
    let mut escaped = String::with_capacity(decoded.len());
    for byte in decoded.bytes() {
        match is_kept(&byte) {
            true => escaped.push(char::from(byte)),
            false => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    Ok(escaped)
}

/// The text up to `//`, the authority behind it, and the rest.
fn split(text: &str) -> Evaluated<(&str, Option<&str>, &str)> {
    let scheme_end = match text.find([':', '/', '?', '#']) {
        Some(0) if text.starts_with(':') => {
            return fail(format!("parse {text:?}: missing protocol scheme"));
        }
        Some(at) if text[at..].starts_with(':') => {
            let scheme = &text[..at];
            let is_scheme = scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
                && scheme
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
            if !is_scheme {
                let words = "first path segment in URL cannot contain colon";
                return fail(format!("parse {text:?}: {words}"));
            }
            at + 1
        }
        _ => 0,
    };
    let rest = &text[scheme_end..];
    let Some(from_authority) = rest.strip_prefix("//") else {
        return Ok((text, None, ""));
    };
    let end = from_authority
        .find(['/', '?', '#'])
        .unwrap_or(from_authority.len());
    let (authority, after) = from_authority.split_at(end);
    Ok((&text[..scheme_end + 2], Some(authority), after))
}

/// The host without its port and brackets.
fn hostname<'t>(text: &str, host: &'t str) -> Evaluated<&'t str> {
    let (name, port) = match host.strip_prefix('[') {
        Some(inner) => match inner.split_once(']') {
            Some((name, port)) => (name, port),
            None => return fail(format!("parse {text:?}: missing ']' in host")),
        },
        None => match host.rfind(':') {
            Some(at) => host.split_at(at),
            None => (host, ""),
        },
    };
    let digits = port.strip_prefix(':').unwrap_or(port);
    let is_port = (port.is_empty() || port.starts_with(':'))
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_port {
        return fail(format!("parse {text:?}: invalid port {port:?} after host"));
    }
    Ok(name)
}

fn user_text(user: &str) -> Evaluated<String> {
    let (name, password) = match user.split_once(':') {
        Some((name, password)) => (name, Some(password)),
        None => (user, None),
    };
    let mut text = escape(&unescape(name, UrlPart::User)?, UrlPart::User);
    if let Some(password) = password {
        text.push(':');
        text.push_str(&escape(&unescape(password, UrlPart::User)?, UrlPart::User));
    }
    Ok(text)
}

fn user(heap: &Heap, user: &str) -> Evaluated<StarValue> {
    let (name, password) = match user.split_once(':') {
        Some((name, password)) => (name, Some(password)),
        None => (user, None),
    };
    let mut fields = IndexMap::default();
    fields.insert("name".into(), heap.text(unescape(name, UrlPart::User)?)?);
    let password = match password {
        Some(password) => heap.text(unescape(password, UrlPart::User)?)?,
        None => StarValue::None,
    };
    fields.insert("password".into(), password);
    let bound = vec![heap.text(user_text(user)?)?];
    fields.insert("string".into(), heap.native("url.bound_value", bound)?);
    heap.structure(USER, fields)
}
