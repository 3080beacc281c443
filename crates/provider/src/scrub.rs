//! Takes secrets out of what comes from outside: the words of a provider, of a program, of a server.
//!
//! A text may repeat a secret as it is, in another form (base64, hexadecimal, percent or JSON escapes, other case), over
//! several lines, or cut to a part. So a secret is not searched for as a whole: wherever so many of its characters
//! stand side by side, white space left out of account, they are taken out.
//!
//! Not here: which values are secret; values themselves, which carry marks.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use blueprint::Value;

/// What stands in the place of a secret.
const INSTEAD: &str = "(secret)";

/// So many characters of a long secret, side by side, are a part of it.
const MOST_OF_A_PART: usize = 8;
/// Fewer are no part of a secret, however short it is: these are searched for whole.
const LEAST_OF_A_PART: usize = 5;
/// A secret shorter than this is taken out only where it stands alone: it is part of half of all words.
const SHORTEST_INSIDE_A_WORD: usize = 3;

/// The secrets that a text must not repeat.
#[derive(Clone, Debug, Default)]
pub struct Scrub {
    /// Secrets too short to have parts, by letters in lower case, the longest first.
    whole: Vec<Vec<char>>,
    /// What counts as a part of a longer one, by length.
    parts: [Parts; MOST_OF_A_PART + 1],
    /// The longer ones whole, in every form.
    forms: Forms,
}

/// Secrets in full.
#[derive(Clone, Default)]
struct Forms(Vec<String>);

/// Never shows what it holds.
impl std::fmt::Debug for Forms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({} forms of secrets)", self.0.len())
    }
}

/// Runs of one length.
#[derive(Clone, Default)]
struct Parts(HashSet<u64, foldhash::fast::FixedState>);

/// Never shows what it holds.
impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({} parts of secrets)", self.0.len())
    }
}

impl Scrub {
    /// Everything that is marked secret in these values, at any depth.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a Value>) -> Scrub {
        let mut leaves = Vec::new();
        values.into_iter().for_each(|value| gather(value, false, &mut leaves));
        leaves.sort_unstable();
        leaves.dedup();
        let mut scrub = Scrub::default();
        leaves.iter().for_each(|leaf| scrub.add(leaf));
        scrub.whole.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        scrub.whole.dedup();
        scrub
    }

    /// Whether there is nothing to take out.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.parts.iter().all(|parts| parts.0.is_empty())
    }

    /// The text with each secret, and each part of one, replaced.
    pub fn clean(&self, text: &str) -> String {
        match self.found(text) {
            found if found.is_empty() => text.to_owned(),
            found => {
                let mut clean = String::with_capacity(text.len());
                let mut end = 0;
                for (from, to) in found {
                    clean.push_str(&text[end..from]);
                    clean.push_str(INSTEAD);
                    end = to;
                }
                clean.push_str(&text[end..]);
                clean
            }
        }
    }

    /// The value with a mark on every text in it that holds a secret whole, in whatever form. Secrets of a few letters do
    /// not count: they stand in half of all texts.
    pub fn marked(&self, value: &Value) -> Value {
        match value {
            Value::Text(text) if self.forms.0.iter().any(|form| text.contains(form.as_str())) => value.clone().secret(),
            Value::List(items) => Value::list(items.iter().map(|item| self.marked(item))),
            Value::Set(items) => Value::Set(items.iter().map(|item| self.marked(item)).collect::<Vec<_>>().into()),
            Value::Map(entries) => Value::map(entries.iter().map(|(key, value)| (key.clone(), self.marked(value)))),
            other => other.clone(),
        }
    }

    /// Whether one of them, or a part of one, stands in the text.
    pub fn stands_in(&self, text: &str) -> bool {
        !self.found(text).is_empty()
    }

    fn add(&mut self, secret: &str) {
        let letters = plain(secret).count();
        if letters == 0 {
            return;
        }
        if letters <= LEAST_OF_A_PART {
            self.whole.push(plain(secret).collect());
        }
        // How many letters of a form are a part is a matter of that form: base64 says less with each.
        for form in forms(secret) {
            let letters: Vec<char> = plain(&form).collect();
            if letters.len() <= LEAST_OF_A_PART {
                if form != secret {
                    self.whole.push(letters);
                }
                continue;
            }
            self.forms.0.push(form);
            let length = letters.len().div_ceil(2).clamp(LEAST_OF_A_PART, MOST_OF_A_PART);
            self.parts[length].0.extend(letters.windows(length).map(hash));
        }
    }

    /// The ranges of the text to be replaced, in order and apart from each other.
    fn found(&self, text: &str) -> Vec<(usize, usize)> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut letters = Vec::with_capacity(text.len());
        let mut places = Vec::with_capacity(text.len());
        for (at, letter) in text.char_indices().filter(|(_, letter)| counts(*letter)) {
            letters.push(letter.to_ascii_lowercase());
            places.push((at, at + letter.len_utf8()));
        }
        let mut hidden = vec![false; letters.len()];
        for (length, parts) in self.parts.iter().enumerate().filter(|(_, parts)| !parts.0.is_empty()) {
            for (at, run) in letters.windows(length).enumerate() {
                if parts.0.contains(&hash(run)) {
                    hidden[at..at + length].fill(true);
                }
            }
        }
        for secret in &self.whole {
            for (at, run) in letters.windows(secret.len()).enumerate() {
                let (Some(from), Some(to)) = (places.get(at), places.get(at + secret.len() - 1)) else { continue };
                let alone = || stands_alone(text, from.0, to.1);
                if run == secret && (secret.len() >= SHORTEST_INSIDE_A_WORD || alone()) {
                    hidden[at..at + secret.len()].fill(true);
                }
            }
        }
        let mut found: Vec<(usize, usize)> = Vec::new();
        let mut follows = false;
        for ((from, to), hidden) in places.into_iter().zip(hidden) {
            match found.last_mut() {
                Some(last) if hidden && follows => last.1 = to,
                _ if hidden => found.push((from, to)),
                _ => {}
            }
            follows = hidden;
        }
        found
    }
}

/// Whether neither of the neighbours of a range is a letter or digit.
fn stands_alone(text: &str, from: usize, to: usize) -> bool {
    let before = text[..from].chars().next_back();
    let after = text[to..].chars().next();
    !before.into_iter().chain(after).any(char::is_alphanumeric)
}

/// Whether a character counts: white space does not, nor does what only a terminal sees.
fn counts(letter: char) -> bool {
    !letter.is_whitespace() && !letter.is_control()
}

fn plain(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|letter| counts(*letter)).map(|letter| letter.to_ascii_lowercase())
}

fn hash(run: &[char]) -> u64 {
    std::hash::BuildHasher::hash_one(&foldhash::fast::FixedState::default(), run)
}

fn gather(value: &Value, secret: bool, found: &mut Vec<String>) {
    match value {
        Value::Secret(inner) => gather(inner, true, found),
        Value::List(items) | Value::Set(items) => items.iter().for_each(|item| gather(item, secret, found)),
        Value::Map(entries) => entries.values().for_each(|item| gather(item, secret, found)),
        Value::Text(text) if secret => {
            found.push(text.to_string());
            // A line, or the latter half of `Bearer abc..`, may be repeated by itself.
            let lines = text.lines().map(str::trim).filter(|line| line.len() < text.len());
            let words = text.split_whitespace().filter(|word| word.len() >= MOST_OF_A_PART && word.len() < text.len());
            found.extend(lines.chain(words).filter(|part| !part.is_empty()).map(str::to_owned));
        }
        Value::Bytes(bytes) if secret => match std::str::from_utf8(bytes) {
            Ok(text) => found.push(text.to_owned()),
            Err(_) => found.extend(encoded(bytes)),
        },
        Value::Int(_) | Value::Float(_) | Value::Decimal(_) if secret => found.push(value.to_string()),
        _ => {}
    }
}

/// A secret in the forms in which others may repeat it.
fn forms(secret: &str) -> Vec<String> {
    let escaped = serde_json::Value::from(secret).to_string();
    let shown = format!("{secret:?}");
    let mut forms = vec![
        secret.to_owned(),
        escaped.trim_matches('"').to_owned(),
        shown.trim_matches('"').to_owned(),
        percent_encoded(secret),
    ];
    // A few characters in another form could be anything.
    forms.extend(encoded(secret.as_bytes()).into_iter().filter(|form| form.len() > SHORTEST_INSIDE_A_WORD));
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// Bytes as hexadecimal and base64, the latter also as it comes out in the midst of a longer text.
fn encoded(bytes: &[u8]) -> Vec<String> {
    let mut forms = vec![data_encoding::HEXLOWER.encode(bytes)];
    for before in 0..3 {
        let mut whole = vec![0_u8; before];
        whole.extend_from_slice(bytes);
        // What a letter shares with a neighbour is not of the secret alone.
        let (skip, rest) = ([0, 2, 3][before], usize::from(!whole.len().is_multiple_of(3)));
        for text in [STANDARD_NO_PAD.encode(&whole), URL_SAFE_NO_PAD.encode(&whole)] {
            let end = text.len() - rest;
            forms.push(text.get(skip..end).unwrap_or_default().to_owned());
        }
    }
    forms.retain(|form| !form.is_empty());
    forms
}

/// Everything but letters, digits and `-._~` as `%` and two digits.
fn percent_encoded(text: &str) -> String {
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
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn scrub(secrets: &[&str]) -> Scrub {
        let values: Vec<Value> = secrets.iter().map(|secret| Value::from(*secret).secret()).collect();
        Scrub::of(&values)
    }

    #[test]
    fn a_secret_goes_in_every_form() {
        let secret = "Plant-7f3a \"9c!x\" é/ü";
        let clean = scrub(&[secret]);
        let hex: String = secret.bytes().map(|byte| format!("{byte:02X}")).collect();
        for form in [
            secret.to_owned(),
            secret.to_uppercase(),
            secret.to_lowercase(),
            secret.replace(' ', "\n  "),
            serde_json::Value::from(secret).to_string(),
            format!("{secret:?}"),
            percent_encoded(secret),
            percent_encoded(secret).to_lowercase(),
            hex.to_lowercase(),
            hex,
            STANDARD.encode(secret),
            STANDARD.encode(format!("user:{secret}")),
            STANDARD.encode(format!("me:{secret} and more")),
            URL_SAFE_NO_PAD.encode(format!("a:{secret}")),
        ] {
            let said = clean.clean(&format!("refused: {form}; try again"));
            assert!(said.starts_with("refused: ") && said.ends_with("; try again"), "{said}");
            let rest = said.replace(INSTEAD, "").replace("refused: ", "").replace("; try again", "");
            assert!(said.contains(INSTEAD) && rest.len() < 24, "{form} -> {said}");
            assert!(!rest.contains("7f3a") && !rest.contains("9c!x"), "{form} -> {said}");
        }
    }

    #[test]
    fn a_secret_split_over_lines_or_cut_goes() {
        let secret = "abcdefghijklmnopqrstuvwxyz0123456789";
        let clean = scrub(&[secret]);
        assert_eq!(clean.clean("<abcdefghijklmnopqr\n   | stuvwxyz0123456789>"), "<(secret)\n   | (secret)>");
        assert_eq!(clean.clean("<abcdefghijklmnopqr\n    stuvwxyz0123456789>"), "<(secret)>");
        for cut in [&secret[..8], &secret[..20], &secret[10..], &secret[12..22]] {
            assert_eq!(clean.clean(&format!("`{cut}...` is wrong")), "`(secret)...` is wrong");
        }
        let wrapped = STANDARD.encode(secret.repeat(4));
        let (one, two) = wrapped.split_at(76);
        assert_eq!(scrub(&[&secret.repeat(4)]).clean(&format!("{one}\n{two}")), "(secret)");
    }

    #[test]
    fn every_line_and_every_long_word_of_a_secret_goes() {
        let spec = Value::map([(
            "environment",
            Value::map([("KEY", Value::from("abc\nabcdef\n").secret()), ("PORT", Value::from("80"))]),
        )]);
        assert_eq!(Scrub::of([&spec]).clean("x abcdef y abc z 80"), "x (secret) y (secret) z 80");
        assert_eq!(scrub(&["Bearer tok-12345"]).clean("shown to Bearer: TOK-12345"), "shown to Bearer: (secret)");
    }

    #[test]
    fn short_secrets_and_numbers_go_where_they_stand_alone() {
        let clean = scrub(&["a", "ab", "pin"]);
        assert_eq!(clean.clean("a cab, ab; opinion"), "(secret) cab, (secret); o(secret)ion");
        let number = Value::list([Value::Int(4711), Value::Int(80)]).secret();
        assert_eq!(
            Scrub::of([&number]).clean("4711 and x4711 on port 80, not 8080"),
            "(secret) and x(secret) on port (secret), not 8080"
        );
    }

    #[test]
    fn what_is_not_secret_stays_as_it_is() {
        for text in ["", "déjà vu\n\ttwice", "the password is wrong"] {
            assert_eq!(scrub(&["Zm9v-hunter2-QUUX"]).clean(text), text);
            assert_eq!(Scrub::default().clean(text), text);
        }
        let open = Value::map([("password", Value::from("open"))]);
        assert!(Scrub::of([&open, &Value::from(true).secret(), &Value::from("").secret()]).is_empty());
    }

    #[test]
    fn bytes_go_too_and_nothing_shows_what_is_secret() {
        let bytes = Value::Bytes(vec![0xff, 0xfe, 1, 2, 3, 4, 5, 6, 7, 8].into()).secret();
        let clean = Scrub::of([&bytes]);
        assert_eq!(clean.clean("got fffe010203040506070 8."), "got (secret).");
        let clean = scrub(&["hunter2-hunter2"]);
        let answer = Value::list(["a:HUNTER2".into(), "arn:hunter2-hunter2:1".into()]);
        assert_eq!(
            clean.marked(&answer),
            Value::list(["a:HUNTER2".into(), Value::from("arn:hunter2-hunter2:1").secret()])
        );
        assert!(clean.stands_in("a hunter2-") && !clean.stands_in("a hunter"));
        assert!(!format!("{clean:?}").contains("hunter"));
    }
}
