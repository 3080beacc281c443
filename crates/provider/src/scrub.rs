//! Removes secrets from text that comes from outside: from providers, programs, servers.
//!
//! A text may repeat a secret unchanged, encoded (base64, hexadecimal, percent or JSON escapes,
//! other case), over several lines, or in part. So the search is not for the whole secret: a run of
//! several of its characters is removed wherever it occurs, regardless of white space.
//!
//! Not here: the decision which values are secret; values, which carry marks.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use blueprint::Value;

/// The replacement of a secret.
const PLACEHOLDER: &str = "(secret)";

/// Number of adjacent characters of a long secret that count as a part of it.
const MAX_PART_LENGTH: usize = 8;
/// Minimum length of a part. Shorter secrets are searched as a whole.
const MIN_PART_LENGTH: usize = 5;
/// A shorter secret is removed only as a whole word, because it occurs inside many words.
const SHORTEST_INSIDE_A_WORD: usize = 3;

/// The secrets that a text must not repeat.
#[derive(Clone, Debug, Default)]
pub struct Scrubber {
    /// Secrets too short to have parts, by length.
    whole: [RunHashes; MIN_PART_LENGTH + 1],
    /// Parts of longer secrets, by length.
    parts: [RunHashes; MAX_PART_LENGTH + 1],
    /// Longer secrets as a whole, in every encoding.
    forms: Forms,
    /// All secrets unchanged. A value that equals one is secret regardless of its length.
    exact: Exact,
}

/// The values that count as secret if they are equal to a secret.
#[derive(Clone, Default)]
struct Exact {
    texts: HashSet<String>,
    /// Lists and maps that are secret as a whole, including keys.
    whole: Vec<Value>,
}

/// Does not show the secrets.
impl std::fmt::Debug for Exact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({} secrets)", self.texts.len() + self.whole.len())
    }
}

/// Secrets as a whole.
#[derive(Clone, Default)]
struct Forms(Vec<String>);

/// Does not show the secrets.
impl std::fmt::Debug for Forms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({} forms of secrets)", self.0.len())
    }
}

/// Hashes of runs of one length.
#[derive(Clone, Default)]
struct RunHashes(HashSet<u64, foldhash::fast::FixedState>);

/// Does not show the secrets.
impl std::fmt::Debug for RunHashes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({} parts of secrets)", self.0.len())
    }
}

impl Scrubber {
    /// Collects all values that are marked secret in these values, at any depth.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a Value>) -> Scrubber {
        let (mut leaves, mut whole) = (Vec::new(), Vec::new());
        for value in values {
            gather(value, false, &mut leaves);
            gather_whole(value, &mut whole);
        }
        leaves.sort_unstable();
        leaves.dedup();
        let mut scrub = Scrubber::default();
        leaves.iter().for_each(|leaf| scrub.add(leaf));
        scrub.exact = Exact {
            texts: leaves.into_iter().collect(),
            whole,
        };
        scrub
    }

    /// Whether there are no secrets.
    pub fn is_empty(&self) -> bool {
        self.whole
            .iter()
            .chain(&self.parts)
            .all(|runs| runs.0.is_empty())
    }

    /// The text with each secret and each part of one replaced.
    pub fn clean(&self, text: &str) -> String {
        replaced(text, self.found(text))
    }

    /// The fields of a resource with secret marks on values that repeat a secret: texts that
    /// contain a whole secret in any encoding, texts and numbers that equal one, maps with a key
    /// that contains one.
    ///
    /// A secret of a few letters counts only as the whole text, because it occurs in many texts.
    pub fn marked(&self, fields: &Value) -> Value {
        marked(
            fields,
            &SecretTests {
                text: &|text| self.exact.texts.contains(text) || self.contains_secret(text),
                key: &|key| self.contains_secret(key),
                whole: &self.exact.whole,
            },
        )
    }

    fn contains_secret(&self, text: &str) -> bool {
        self.forms.0.iter().any(|form| text.contains(form.as_str()))
    }

    /// Whether the text contains a secret or a part of one.
    pub fn occurs_in(&self, text: &str) -> bool {
        !self.found(text).is_empty()
    }

    fn add(&mut self, secret: &str) {
        let letters: Vec<char> = plain(secret).collect();
        if letters.is_empty() {
            return;
        }
        if letters.len() <= MIN_PART_LENGTH {
            self.whole[letters.len()].0.insert(rolling_hash(&letters));
        }
        // The length of a part depends on the encoding: a base64 digit reveals less than a letter.
        for form in encodings(secret) {
            let letters: Vec<char> = plain(&form).collect();
            if letters.len() <= MIN_PART_LENGTH {
                if form != secret && !letters.is_empty() {
                    self.whole[letters.len()].0.insert(rolling_hash(&letters));
                }
                continue;
            }
            self.forms.0.push(form);
            let length = letters
                .len()
                .div_ceil(2)
                .clamp(MIN_PART_LENGTH, MAX_PART_LENGTH);
            self.parts[length]
                .0
                .extend(letters.windows(length).map(rolling_hash));
        }
    }

    /// The byte ranges to be replaced, in order and disjoint.
    fn found(&self, text: &str) -> Vec<(usize, usize)> {
        if self.is_empty() {
            return Vec::new();
        }
        let (letters, places) = letters_of(text);
        let mut hidden = vec![false; letters.len()];
        for (length, parts) in self
            .parts
            .iter()
            .enumerate()
            .filter(|(_, parts)| !parts.0.is_empty())
        {
            for_each_run(&letters, length, |at, run| {
                if parts.0.contains(&run) {
                    hidden[at..at + length].fill(true);
                }
            });
        }
        for (length, whole) in self
            .whole
            .iter()
            .enumerate()
            .filter(|(_, whole)| !whole.0.is_empty())
        {
            for_each_run(&letters, length, |at, run| {
                let alone = || is_whole_word(text, places[at].0, places[at + length - 1].1);
                if whole.0.contains(&run) && (length >= SHORTEST_INSIDE_A_WORD || alone()) {
                    hidden[at..at + length].fill(true);
                }
            });
        }
        ranges(places, hidden)
    }
}

/// Length of the blocks of a long secret that are searched.
const BLOCK: usize = 16;
/// A shorter secret of the run is not removed from texts of other resources.
const RUN_MIN_LENGTH: usize = 4;
/// A shorter secret of the run is removed only as a whole word.
const RUN_MIN_LENGTH_INSIDE_WORD: usize = 8;

/// All secrets of a run, of all resources: the output of one command may hold the secret of
/// another.
///
/// Unlike [`Scrubber`], which removes parts of the few secrets of one call, it searches for whole
/// secrets of at least four characters, because parts of a thousand secrets occur in many texts.
#[derive(Clone, Debug, Default)]
pub struct RunScrubber {
    /// Blocks of longer secrets, and shorter secrets as a whole, by length.
    blocks: [RunHashes; BLOCK + 1],
    /// The lengths of the secrets that end with a block.
    lengths: HashMap<u64, Vec<usize>, foldhash::fast::FixedState>,
    /// The added secrets.
    known: RunHashes,
}

/// The matches in a text.
#[derive(Default)]
struct Hits {
    /// The byte ranges of its letters.
    places: Vec<(usize, usize)>,
    /// For each letter, whether it belongs to a block.
    hidden: Vec<bool>,
    /// The ends of blocks that may be the last of a secret, as letter positions, with the hash of
    /// the block.
    ends: Vec<(usize, u64)>,
}

impl RunScrubber {
    /// Adds all secrets in a value.
    pub fn add(&mut self, value: &Value) {
        let mut leaves = Vec::new();
        gather(value, false, &mut leaves);
        for leaf in leaves {
            let letters: Vec<char> = plain(&leaf).collect();
            if letters.len() < RUN_MIN_LENGTH || !self.known.0.insert(hash(&letters)) {
                continue;
            }
            self.add_form(&letters);
            if letters.len() >= RUN_MIN_LENGTH_INSIDE_WORD {
                for form in encodings(&leaf) {
                    self.add_form(&plain(&form).collect::<Vec<char>>());
                }
            }
        }
    }

    fn add_form(&mut self, letters: &[char]) {
        if letters.len() < RUN_MIN_LENGTH {
            return;
        }
        let length = letters.len().min(BLOCK);
        self.blocks[length]
            .0
            .extend(letters.chunks_exact(length).map(rolling_hash));
        // The last block ends where the secret ends.
        let last = rolling_hash(&letters[letters.len() - length..]);
        self.blocks[length].0.insert(last);
        let lengths = self.lengths.entry(last).or_default();
        if !lengths.contains(&letters.len()) {
            lengths.push(letters.len());
        }
    }

    /// Whether there are no secrets.
    pub fn is_empty(&self) -> bool {
        self.known.0.is_empty()
    }

    /// The text with each secret replaced.
    pub fn clean(&self, text: &str) -> String {
        let Hits { places, hidden, .. } = self.search(text);
        replaced(text, ranges(places, hidden))
    }

    /// The fields of a resource with secret marks on values that repeat a whole secret. A part does
    /// not count, because a certificate repeats the public part of a secret key.
    pub fn marked(&self, fields: &Value) -> Value {
        if self.is_empty() {
            return fields.clone();
        }
        let holds = |text: &str| {
            let Hits { hidden, ends, .. } = self.search(text);
            let is_whole = |end: usize, length: usize| {
                end.checked_sub(length)
                    .is_some_and(|start| hidden[start..end].iter().all(|hidden| *hidden))
            };
            ends.into_iter().any(|(end, last)| {
                self.lengths
                    .get(&last)
                    .into_iter()
                    .flatten()
                    .any(|it| is_whole(end, *it))
            })
        };
        marked(
            fields,
            &SecretTests {
                text: &holds,
                key: &holds,
                whole: &[],
            },
        )
    }

    fn search(&self, text: &str) -> Hits {
        if self.is_empty() || text.len() < RUN_MIN_LENGTH {
            return Hits::default();
        }
        let (letters, places) = letters_of(text);
        let mut hidden = vec![false; letters.len()];
        let mut ends = Vec::new();
        for (length, blocks) in self
            .blocks
            .iter()
            .enumerate()
            .filter(|(_, blocks)| !blocks.0.is_empty())
        {
            for_each_run(&letters, length, |at, window| {
                let alone = || is_whole_word(text, places[at].0, places[at + length - 1].1);
                if blocks.0.contains(&window) && (length >= RUN_MIN_LENGTH_INSIDE_WORD || alone()) {
                    hidden[at..at + length].fill(true);
                    if self.lengths.contains_key(&window) {
                        ends.push((at + length, window));
                    }
                }
            });
        }
        Hits {
            places,
            hidden,
            ends,
        }
    }
}

/// The factor of the rolling hash.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// The rolling hash of a run.
fn rolling_hash(run: &[char]) -> u64 {
    run.iter().fold(0, |hash, letter| {
        hash.wrapping_mul(BASE).wrapping_add(spread(*letter))
    })
}

/// Calls `each` with the start and the hash of each run of that length. The time does not depend on
/// the length.
fn for_each_run(letters: &[char], length: usize, mut each: impl FnMut(usize, u64)) {
    let Some(first) = letters.get(..length).filter(|_| length > 0) else {
        return;
    };
    let outgoing_factor = BASE.wrapping_pow(length as u32 - 1);
    let mut hash = rolling_hash(first);
    each(0, hash);
    for (at, (old, new)) in letters.iter().zip(&letters[length..]).enumerate() {
        let rest = hash.wrapping_sub(spread(*old).wrapping_mul(outgoing_factor));
        hash = rest.wrapping_mul(BASE).wrapping_add(spread(*new));
        each(at + 1, hash);
    }
}

fn spread(letter: char) -> u64 {
    (u64::from(letter) + 1)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9)
        .rotate_left(29)
}

/// The relevant letters of a text in lower case, and their byte ranges.
fn letters_of(text: &str) -> (Vec<char>, Vec<(usize, usize)>) {
    let mut letters = Vec::with_capacity(text.len());
    let mut places = Vec::with_capacity(text.len());
    for (at, letter) in text
        .char_indices()
        .filter(|(_, letter)| is_relevant(*letter))
    {
        letters.push(letter.to_ascii_lowercase());
        places.push((at, at + letter.len_utf8()));
    }
    (letters, places)
}

/// The byte ranges of hidden letters, in order and disjoint.
fn ranges(places: Vec<(usize, usize)>, hidden: Vec<bool>) -> Vec<(usize, usize)> {
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

/// A text with these ranges replaced.
fn replaced(text: &str, found: Vec<(usize, usize)>) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut end = 0;
    for (from, to) in found {
        clean.push_str(&text[end..from]);
        clean.push_str(PLACEHOLDER);
        end = to;
    }
    clean.push_str(&text[end..]);
    clean
}

/// The tests that find secrets in an answer.
struct SecretTests<'s> {
    text: &'s dyn Fn(&str) -> bool,
    key: &'s dyn Fn(&str) -> bool,
    whole: &'s [Value],
}

/// The fields of a resource with secret marks. The names of the fields come from the catalogue and
/// are not secret.
fn marked(fields: &Value, signs: &SecretTests<'_>) -> Value {
    match fields {
        Value::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), marked_inside(value, signs))),
        ),
        other => marked_inside(other, signs),
    }
}

fn marked_inside(value: &Value, signs: &SecretTests<'_>) -> Value {
    let inner = |value: &Value| marked_inside(value, signs);
    match value {
        Value::Text(text) => value.clone().tainted((signs.text)(text)),
        Value::Int(_) | Value::Float(_) | Value::Decimal(_) => {
            value.clone().tainted((signs.text)(&value.to_string()))
        }
        Value::Bytes(bytes) => value
            .clone()
            .tainted(std::str::from_utf8(bytes).is_ok_and(signs.text)),
        Value::List(_) | Value::Set(_) | Value::Map(_) if signs.whole.contains(value) => {
            value.clone().secret()
        }
        Value::List(items) => Value::list(items.iter().map(inner)),
        Value::Set(items) => Value::Set(items.iter().map(inner).collect::<Vec<_>>().into()),
        Value::Map(entries) => {
            let map = Value::map(
                entries
                    .iter()
                    .map(|(key, value)| (key.clone(), inner(value))),
            );
            map.tainted(entries.keys().any(|key| (signs.key)(key)))
        }
        other => other.clone(),
    }
}

/// The lists and maps that are marked as a whole, at any depth.
fn gather_whole(value: &Value, found: &mut Vec<Value>) {
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

/// Whether no letter or digit is next to a range.
fn is_whole_word(text: &str, from: usize, to: usize) -> bool {
    let before = text[..from].chars().next_back();
    let after = text[to..].chars().next();
    !before.into_iter().chain(after).any(char::is_alphanumeric)
}

/// Whether a character is relevant: neither white space nor a control character.
fn is_relevant(letter: char) -> bool {
    !letter.is_whitespace() && !letter.is_control()
}

fn plain(text: &str) -> impl Iterator<Item = char> {
    text.chars()
        .filter(|letter| is_relevant(*letter))
        .map(|letter| letter.to_ascii_lowercase())
}

fn hash(run: &[char]) -> u64 {
    std::hash::BuildHasher::hash_one(&foldhash::fast::FixedState::default(), run)
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

/// The encodings in which a text may repeat a secret.
fn encodings(secret: &str) -> Vec<String> {
    let escaped = serde_json::Value::from(secret).to_string();
    let shown = format!("{secret:?}");
    let mut forms = vec![
        secret.to_owned(),
        escaped.trim_matches('"').to_owned(),
        shown.trim_matches('"').to_owned(),
        percent_encoded(secret),
    ];
    // Short encoded texts match by chance.
    forms.extend(
        encoded(secret.as_bytes())
            .into_iter()
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

/// A text with `%` escapes for all characters but letters, digits and `-._~`.
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

    fn scrub(secrets: &[&str]) -> Scrubber {
        let values: Vec<Value> = secrets
            .iter()
            .map(|secret| Value::from(*secret).secret())
            .collect();
        Scrubber::of(&values)
    }

    #[test]
    fn secret_is_removed_in_every_encoding() {
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
            assert!(
                said.starts_with("refused: ") && said.ends_with("; try again"),
                "{said}"
            );
            let rest = said
                .replace(PLACEHOLDER, "")
                .replace("refused: ", "")
                .replace("; try again", "");
            assert!(
                said.contains(PLACEHOLDER) && rest.len() < 24,
                "{form} -> {said}"
            );
            assert!(
                !rest.contains("7f3a") && !rest.contains("9c!x"),
                "{form} -> {said}"
            );
        }
    }

    #[test]
    fn split_or_truncated_secret_is_removed() {
        let secret = "abcdefghijklmnopqrstuvwxyz0123456789";
        let clean = scrub(&[secret]);
        assert_eq!(
            clean.clean("<abcdefghijklmnopqr\n   | stuvwxyz0123456789>"),
            "<(secret)\n   | (secret)>"
        );
        assert_eq!(
            clean.clean("<abcdefghijklmnopqr\n    stuvwxyz0123456789>"),
            "<(secret)>"
        );
        for cut in [&secret[..8], &secret[..20], &secret[10..], &secret[12..22]] {
            assert_eq!(
                clean.clean(&format!("`{cut}...` is wrong")),
                "`(secret)...` is wrong"
            );
        }
        let wrapped = STANDARD.encode(secret.repeat(4));
        let (one, two) = wrapped.split_at(76);
        assert_eq!(
            scrub(&[&secret.repeat(4)]).clean(&format!("{one}\n{two}")),
            "(secret)"
        );
    }

    #[test]
    fn lines_and_long_words_of_a_secret_are_removed() {
        let spec = Value::map([(
            "environment",
            Value::map([
                ("KEY", Value::from("abc\nabcdef\n").secret()),
                ("PORT", Value::from("80")),
            ]),
        )]);
        assert_eq!(
            Scrubber::of([&spec]).clean("x abcdef y abc z 80"),
            "x (secret) y (secret) z 80"
        );
        assert_eq!(
            scrub(&["Bearer tok-12345"]).clean("shown to Bearer: TOK-12345"),
            "shown to Bearer: (secret)"
        );
    }

    #[test]
    fn short_secrets_and_numbers_are_removed_as_whole_words() {
        let clean = scrub(&["a", "ab", "pin"]);
        assert_eq!(
            clean.clean("a cab, ab; opinion"),
            "(secret) cab, (secret); o(secret)ion"
        );
        assert_eq!(
            clean
                .marked(&Value::list(["a".into(), "bab".into()]))
                .to_string(),
            "[(secret), \"bab\"]"
        );
        let number = Value::list([Value::Int(4711), Value::Int(80)]).secret();
        assert_eq!(
            Scrubber::of([&number]).clean("4711 and x4711 on port 80, not 8080"),
            "(secret) and x(secret) on port (secret), not 8080"
        );
    }

    #[test]
    fn numbers_and_keys_are_marked() {
        let secret = Value::list([Value::Int(4711), "key-of-a-map".into()]).secret();
        let fields = Value::map([
            ("number", Value::Int(4711)),
            ("other", Value::Int(4712)),
            ("text", Value::from("4711")),
            ("map", Value::map([("a-key-of-a-map", Value::Int(1))])),
            (
                "key-of-a-map",
                Value::map([("b", Value::list([Value::Int(4711), Value::Int(2)]))]),
            ),
        ]);
        let whole = Value::map([("k", Value::map([("hidden-key", Value::Int(1))]).secret())]);
        let echo = Value::map([(
            "seen",
            Value::list([Value::map([("hidden-key", Value::Int(1))]), Value::Int(1)]),
        )]);
        assert_eq!(
            Scrubber::of([&whole]).marked(&echo).to_string(),
            "{\"seen\": [(secret), (secret)]}"
        );
        assert_eq!(
            Scrubber::of([&secret]).marked(&fields).to_string(),
            "{\"number\": (secret), \"other\": 4712, \"text\": (secret), \"map\": (secret), \
             \"key-of-a-map\": {\"b\": [(secret), 2]}}"
        );
    }

    #[test]
    fn the_lines_around_a_secret_key_are_no_secret() {
        let body = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgplanted";
        let key = Value::from(format!(
            "-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"
        ))
        .secret();
        let certificate = "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmg\n-----END CERTIFICATE-----\n";
        let (scrub, mut run) = (Scrubber::of([&key]), RunScrubber::default());
        run.add(&key);
        for clean in [scrub.clean(certificate), run.clean(certificate)] {
            assert_eq!(clean, certificate);
        }
        assert!(
            !scrub.marked(&certificate.into()).has_secret()
                && !run.marked(&certificate.into()).has_secret()
        );
        let shown = format!("the key {body}");
        assert!(
            scrub.marked(&shown.as_str().into()).has_secret()
                && run.marked(&shown.as_str().into()).has_secret()
        );
        assert_eq!(
            (scrub.clean(&shown), run.clean(&shown)),
            ("the key (secret)".into(), "the key (secret)".into())
        );
    }

    #[test]
    fn secrets_of_a_run_are_found_whole() {
        let mut run = RunScrubber::default();
        for secret in [
            "abc",
            "test",
            "hunter22",
            "https://user:planted-word@host/path and a tail",
        ] {
            run.add(&Value::from(secret).secret());
        }
        run.add(&Value::map([("pin", Value::Int(918_273))]).secret());
        assert_eq!(
            run.clean("abc latest test xhunter22x 918273"),
            "abc latest (secret) x(secret)x (secret)"
        );
        assert_eq!(
            run.clean("https://user:planted-word@host/path and a tail"),
            "(secret)"
        );
        assert_eq!(
            run.clean("https://user:planted-\nword@host/path"),
            "(secret)"
        );
        assert_eq!(
            run.clean("see https://example.com/path"),
            "see https://example.com/path"
        );
        assert_eq!(run.clean(&STANDARD.encode("x:hunter22")), "eDp(secret)g==");
        assert_eq!(
            run.marked(&Value::Int(918_273)),
            Value::Int(918_273).secret()
        );
        assert!(
            !run.marked(&"https://user:planted-word@host/".into())
                .has_secret(),
            "a part of it"
        );
        assert!(
            run.marked(&"see https://user:planted-word@host/path\n and a tail!".into())
                .has_secret()
        );
        assert!(
            !format!("{run:?}").contains("hunter")
                && RunScrubber::default().marked(&"x".into()) == "x".into()
        );
    }

    #[test]
    fn text_without_secrets_is_unchanged() {
        for text in ["", "déjà vu\n\ttwice", "the password is wrong"] {
            assert_eq!(scrub(&["Zm9v-hunter2-QUUX"]).clean(text), text);
            assert_eq!(Scrubber::default().clean(text), text);
        }
        let open = Value::map([("password", Value::from("open"))]);
        assert!(
            Scrubber::of([
                &open,
                &Value::from(true).secret(),
                &Value::from("").secret()
            ])
            .is_empty()
        );
    }

    #[test]
    fn bytes_are_removed_and_debug_output_shows_no_secret() {
        let bytes = Value::Bytes(vec![0xff, 0xfe, 1, 2, 3, 4, 5, 6, 7, 8].into()).secret();
        let clean = Scrubber::of([&bytes]);
        assert_eq!(clean.clean("got fffe010203040506070 8."), "got (secret).");
        let clean = scrub(&["hunter2-hunter2"]);
        let answer = Value::list(["a:HUNTER2".into(), "arn:hunter2-hunter2:1".into()]);
        assert_eq!(
            clean.marked(&answer),
            Value::list([
                "a:HUNTER2".into(),
                Value::from("arn:hunter2-hunter2:1").secret()
            ])
        );
        assert!(clean.occurs_in("a hunter2-") && !clean.occurs_in("a hunter"));
        assert!(!format!("{clean:?}").contains("hunter"));
    }
}
