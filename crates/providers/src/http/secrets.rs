//! The secret texts of a call, which are removed from messages.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use blueprint::Value;

/// The minimum length of a word of a secret that is searched for.
const SHORTEST_WORD: usize = 8;

/// Secret texts, the longest first.
#[derive(Default)]
pub(super) struct SecretTexts(Vec<String>);

impl SecretTexts {
    /// Collects the secret texts of values, in the encodings in which an answer may repeat them.
    pub(super) fn of<'a>(values: impl IntoIterator<Item = &'a Value>) -> SecretTexts {
        let mut leaves = Vec::new();
        for value in values {
            gather(value, false, &mut leaves);
        }
        let mut forms = Vec::new();
        for leaf in leaves {
            // An answer may repeat only the second word of `Bearer abc..`.
            let words: Vec<String> = leaf
                .split_whitespace()
                .filter(|word| word.len() >= SHORTEST_WORD && *word != leaf)
                .map(str::to_owned)
                .collect();
            for text in words.into_iter().chain([leaf]) {
                let quoted = serde_json::Value::from(text.as_str()).to_string();
                let quoted = quoted
                    .trim_start_matches('"')
                    .strip_suffix('"')
                    .unwrap_or_default()
                    .to_owned();
                forms.extend([quoted, percent_encoded(&text), STANDARD.encode(&text), text]);
            }
        }
        forms.retain(|form| !form.is_empty());
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        SecretTexts(forms)
    }

    /// A copy of the text with each secret replaced.
    pub(super) fn scrub(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| {
            if text.contains(secret.as_str()) {
                text.replace(secret.as_str(), "(secret)")
            } else {
                text
            }
        })
    }

    /// Whether the text contains a secret.
    pub(super) fn stand_in(&self, text: &str) -> bool {
        self.0.iter().any(|secret| text.contains(secret.as_str()))
    }
}

fn gather(value: &Value, secret: bool, found: &mut Vec<String>) {
    match value {
        Value::Secret(inner) => gather(inner, true, found),
        Value::List(items) | Value::Set(items) => {
            items.iter().for_each(|item| gather(item, secret, found))
        }
        Value::Map(entries) => entries
            .values()
            .for_each(|item| gather(item, secret, found)),
        Value::Text(text) if secret => found.push(text.to_string()),
        Value::Int(_) | Value::Float(_) | Value::Decimal(_) if secret => {
            found.push(value.to_string())
        }
        _ => {}
    }
}

/// A text with `%` escapes for all characters but letters, digits and `-._~`.
pub(super) fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_in_every_usual_form() {
        let secrets = SecretTexts::of([&Value::map([
            (
                "headers",
                Value::map([(
                    "Authorization",
                    Value::from("Bearer tok\"en-12345").secret(),
                )]),
            ),
            ("body", Value::map([("pin", Value::Int(4711))]).secret()),
            ("open", Value::from("shown")),
        ])]);
        for text in [
            "tok\"en-12345",
            "tok\\\"en-12345",
            "tok%22en-12345",
            "pin=4711",
            "dG9rImVuLTEyMzQ1",
        ] {
            assert!(secrets.stand_in(text), "{text}");
            assert!(secrets.scrub(text).contains("(secret)"), "{text}");
        }
        assert_eq!(secrets.scrub("shown to Bearer"), "shown to Bearer");
    }

    #[test]
    fn a_secret_inside_a_longer_one_leaves_no_rest() {
        let secrets = SecretTexts::of([&Value::list(["abc".into(), "abcdef".into()]).secret()]);
        assert_eq!(secrets.scrub("abcdef abc"), "(secret) (secret)");
    }
}
