//! The rules of Kubernetes for keys and values of labels.

/// The longest prefix of a key, in bytes.
const LONGEST_PREFIX: usize = 253;

/// The longest name of a key, and the longest value, in bytes.
const LONGEST_NAME: usize = 63;

/// What is wrong with the key of a label; `None` if it is valid.
pub(crate) fn key_mistake(key: &str) -> Option<&'static str> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if let Some(prefix) = prefix
        && !is_subdomain(prefix)
    {
        return Some("its prefix must be a domain name in lower case");
    }
    if name.contains('/') {
        return Some("it must have at most one `/`");
    }
    if name.is_empty() {
        return Some("its name must not be empty");
    }
    if name.len() > LONGEST_NAME {
        return Some("its name must have at most 63 characters");
    }
    (!is_name(name)).then_some(
        "its name must consist of letters, digits, `-`, `_` and `.`, with a letter or digit at both ends",
    )
}

/// What is wrong with the value of a label; `None` if it is valid.
pub(crate) fn value_mistake(value: &str) -> Option<&'static str> {
    if value.len() > LONGEST_NAME {
        return Some("it must have at most 63 characters");
    }
    (!value.is_empty() && !is_name(value)).then_some(
        "it must consist of letters, digits, `-`, `_` and `.`, with a letter or digit at both ends",
    )
}

/// Letters, digits, `-`, `_` and `.`, with a letter or digit at both ends.
fn is_name(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    text.bytes().all(is_inner) && has_plain_ends(text)
}

/// Labels of a domain name in lower case, separated by dots.
fn is_subdomain(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.len() <= LONGEST_PREFIX
        && text
            .split('.')
            .all(|part| part.bytes().all(is_inner) && has_plain_ends(part))
}

fn has_plain_ends(text: &str) -> bool {
    let is_plain = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    is_plain(text.as_bytes().first()) && is_plain(text.as_bytes().last())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_a_name_and_at_most_one_prefix() {
        let long = "x".repeat(64);
        for key in ["a", "a.b/C_d", "a-b.c/x", "9"] {
            assert_eq!(key_mistake(key), None, "{key}");
        }
        for key in [
            "", "a/", "/a", "A/b", "a/b/c", "-a", "a b", "a_b/c", "a..b/c", &long,
        ] {
            assert!(key_mistake(key).is_some(), "{key}");
        }
    }

    #[test]
    fn a_value_may_be_empty() {
        for value in ["", "a", "A.b_c-9"] {
            assert_eq!(value_mistake(value), None, "{value}");
        }
        for value in ["-", "a ", "é", &"x".repeat(64)] {
            assert!(value_mistake(value).is_some(), "{value}");
        }
    }
}
