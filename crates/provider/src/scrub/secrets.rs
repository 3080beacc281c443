//! The secrets in values, and the encodings in which a text may repeat them.
//!
//! Not here: escapes of single characters, which are decoded in the text (`reading`).

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use blueprint::Value;

/// Number of adjacent characters of a long secret that count as a part of it.
pub(super) const MAX_PART_LENGTH: usize = 8;
/// A shorter secret is removed only as a whole word, because it occurs inside many words.
pub(super) const SHORTEST_INSIDE_A_WORD: usize = 3;

/// The lists and maps that are marked as a whole, at any depth.
pub(super) fn gather_whole(value: &Value, found: &mut Vec<Value>) {
    match value {
        Value::Secret(inner) => match inner.as_ref() {
            Value::List(items) | Value::Set(items) if items.is_empty() => {}
            Value::Map(entries) if entries.is_empty() => {}
            Value::List(_) | Value::Set(_) | Value::Map(_) => found.push(inner.revealed()),
            _ => {}
        },
        Value::List(items) | Value::Set(items) => {
            items.iter().for_each(|item| gather_whole(item, found))
        }
        Value::Map(entries) => entries.values().for_each(|item| gather_whole(item, found)),
        _ => {}
    }
}

pub(super) fn hash(run: &[char]) -> u64 {
    std::hash::BuildHasher::hash_one(&foldhash::fast::FixedState::default(), run)
}

pub(super) fn gather(value: &Value, secret: bool, found: &mut Vec<String>) {
    match value {
        Value::Secret(inner) => gather(inner, true, found),
        Value::List(items) | Value::Set(items) => {
            items.iter().for_each(|item| gather(item, secret, found))
        }
        Value::Map(entries) => entries
            .values()
            .for_each(|item| gather(item, secret, found)),
        Value::Text(text) if secret => {
            let key = without_armour(text);
            if let Cow::Owned(body) = key {
                // A private key shares some lines with its public key, so its lines are not added.
                return found.push(body);
            }
            found.push(text.to_string());
            // A text may repeat only one line, or the second word of `Bearer abc..`.
            let lines = text
                .lines()
                .map(str::trim)
                .filter(|line| line.len() < text.len());
            let words = text
                .split_whitespace()
                .filter(|word| word.len() >= MAX_PART_LENGTH && word.len() < text.len());
            found.extend(
                lines
                    .chain(words)
                    .filter(|part| !part.is_empty())
                    .map(str::to_owned),
            );
        }
        Value::Bytes(bytes) if secret => match std::str::from_utf8(bytes) {
            Ok(text) => found.push(text.to_owned()),
            Err(_) => found.extend(encoded(bytes)),
        },
        Value::Int(_) | Value::Float(_) | Value::Decimal(_) if secret => {
            found.push(value.to_string())
        }
        _ => {}
    }
}

/// A text without the first and last lines of PEM blocks, which are no secrets and also occur in
/// certificates.
fn without_armour(text: &str) -> Cow<'_, str> {
    let is_armour = |line: &str| line.starts_with("-----") && line.trim_end().ends_with("-----");
    if !text.lines().any(is_armour) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.lines()
            .filter(|line| !is_armour(line))
            .collect::<Vec<_>>()
            .join("\n"),
    )
}

/// A secret unchanged and in the encodings that change every character. The forms of a JSON text
/// count as well: a program may encode a document that contains the secret.
pub(super) fn encodings(secret: &str) -> Vec<String> {
    let escaped = serde_json::Value::from(secret).to_string();
    let mut forms = vec![secret.to_owned()];
    // Short encoded texts match by chance.
    forms.extend(
        [secret, escaped.trim_matches('"')]
            .into_iter()
            .flat_map(|text| encoded(text.as_bytes()))
            .filter(|form| form.len() > SHORTEST_INSIDE_A_WORD),
    );
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// Bytes as hexadecimal and base64, the latter for each offset in a longer text.
fn encoded(bytes: &[u8]) -> Vec<String> {
    let mut forms = vec![data_encoding::HEXLOWER.encode(bytes)];
    for before in 0..3 {
        let mut whole = vec![0_u8; before];
        whole.extend_from_slice(bytes);
        // Leaves out digits that also depend on neighbouring bytes.
        let (skip, rest) = (
            [0, 2, 3][before],
            usize::from(!whole.len().is_multiple_of(3)),
        );
        for text in [
            STANDARD_NO_PAD.encode(&whole),
            URL_SAFE_NO_PAD.encode(&whole),
        ] {
            let end = text.len() - rest;
            forms.push(text.get(skip..end).unwrap_or_default().to_owned());
        }
    }
    forms.retain(|form| !form.is_empty());
    forms
}
