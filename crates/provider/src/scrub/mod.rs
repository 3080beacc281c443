//! Removes secrets from text that comes from outside: from providers, programs, servers.
//!
//! A text may repeat a secret unchanged, in other case, encoded (base64, hexadecimal), with escapes
//! (JSON, HTML, XML, URLs, CSV, shells, also inside one another), over several lines, or in part. So
//! the search is not for the whole secret: a run of several of its characters is removed wherever it
//! occurs, regardless of white space, in the text and in the text with its escapes decoded.
//!
//! Not here: the decision which values are secret; values, which carry marks.

mod reading;
mod runs;
mod secrets;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use blueprint::Value;

use self::reading::{LetterSet, Letters, for_each_reading, plain};
use self::runs::{RunHashes, WholeRuns, filled, for_each_run, rolling_hash};
use self::secrets::{
    MAX_PART_LENGTH, SHORTEST_INSIDE_A_WORD, encodings, gather, gather_whole, hash,
};

/// The replacement of a secret.
const PLACEHOLDER: &str = "(secret)";

/// Minimum length of a part. Shorter secrets are searched as a whole.
const MIN_PART_LENGTH: usize = 5;

/// The secrets that a text must not repeat.
#[derive(Clone, Debug, Default)]
pub struct Scrubber {
    /// Secrets too short to have parts, by length.
    whole: [RunHashes; MIN_PART_LENGTH + 1],
    /// Parts of longer secrets, by length.
    parts: [RunHashes; MAX_PART_LENGTH + 1],
    /// Longer secrets as a whole, in every encoding.
    forms: WholeRuns,
    /// The letters of the secrets in every encoding.
    letters: LetterSet,
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
        let mut contains = false;
        for_each_reading(text, self.letters, |letters| {
            contains = contains || self.forms.has_whole(&self.forms.search(letters, 0));
        });
        contains
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
        if letters.len() < SHORTEST_INSIDE_A_WORD {
            // What is around the secret matters as well.
            self.letters = LetterSet::ALL;
        }
        if letters.len() <= MIN_PART_LENGTH {
            self.whole[letters.len()].0.insert(rolling_hash(&letters));
        }
        // The length of a part depends on the encoding: a base64 digit reveals less than a letter.
        for form in encodings(secret) {
            let letters: Vec<char> = plain(&form).collect();
            self.letters.add(&letters);
            if letters.len() <= MIN_PART_LENGTH {
                if form != secret && !letters.is_empty() {
                    self.whole[letters.len()].0.insert(rolling_hash(&letters));
                }
                continue;
            }
            self.forms.add(&letters);
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
        let mut found = Vec::new();
        for_each_reading(text, self.letters, |reading| {
            let letters = &reading.letters;
            let mut hidden = vec![false; letters.len()];
            for (length, parts) in filled(&self.parts) {
                for_each_run(letters, length, |at, run| {
                    if parts.0.contains(&run) {
                        hidden[at..at + length].fill(true);
                    }
                });
            }
            for (length, whole) in filled(&self.whole) {
                for_each_run(letters, length, |at, run| {
                    let alone = || reading.is_whole_word(at, at + length - 1);
                    if whole.0.contains(&run) && (length >= SHORTEST_INSIDE_A_WORD || alone()) {
                        hidden[at..at + length].fill(true);
                    }
                });
            }
            reading.add_ranges(&hidden, &mut found);
        });
        found
    }
}

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
    secrets: WholeRuns,
    /// The letters of the secrets in every encoding.
    letters: LetterSet,
    /// The added secrets.
    known: RunHashes,
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
        if letters.len() < RUN_MIN_LENGTH_INSIDE_WORD {
            // What is around the secret matters as well.
            self.letters = LetterSet::ALL;
        }
        self.letters.add(letters);
        self.secrets.add(letters);
    }

    /// Whether there are no secrets.
    pub fn is_empty(&self) -> bool {
        self.known.0.is_empty()
    }

    /// The text with each secret replaced.
    pub fn clean(&self, text: &str) -> String {
        let mut found = Vec::new();
        self.search(text, |letters| {
            let hits = self.secrets.search(letters, RUN_MIN_LENGTH_INSIDE_WORD);
            letters.add_ranges(&hits.hidden, &mut found);
        });
        replaced(text, found)
    }

    /// The fields of a resource with secret marks on values that repeat a whole secret. A part does
    /// not count, because a certificate repeats the public part of a secret key.
    pub fn marked(&self, fields: &Value) -> Value {
        if self.is_empty() {
            return fields.clone();
        }
        let holds = |text: &str| {
            let mut holds = false;
            self.search(text, |letters| {
                let hits = self.secrets.search(letters, RUN_MIN_LENGTH_INSIDE_WORD);
                holds = holds || self.secrets.has_whole(&hits);
            });
            holds
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

    fn search(&self, text: &str, each: impl FnMut(&Letters<'_>)) {
        if !self.is_empty() && text.len() >= RUN_MIN_LENGTH {
            for_each_reading(text, self.letters, each);
        }
    }
}

/// A text with these ranges replaced. They may overlap.
fn replaced(text: &str, mut found: Vec<(usize, usize)>) -> String {
    found.sort_unstable();
    found.dedup_by(|next, last| {
        let joins = next.0 <= last.1;
        if joins {
            last.1 = last.1.max(next.1);
        }
        joins
    });
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
