//! `random/password`: character classes and their minimum numbers.
//!
//! The minimum number of each class is drawn first, then the rest from all classes. Then the order
//! is shuffled, so that no class has a preferred position.

use std::collections::BTreeSet;

use blueprint::Value;
use provider::CheckFindings;
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

/// The cost factor of the hash, as in common tools.
const HASH_COST: u32 = 10;

/// The number of bytes of a password that the hash uses.
const HASHED_BYTES: usize = 72;

/// The classes: flag, field with the minimum number, characters.
const CLASSES: [(&str, &str, &str); 4] = [
    ("lower", "minLower", "abcdefghijklmnopqrstuvwxyz"),
    ("upper", "minUpper", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("numeric", "minNumeric", "0123456789"),
    ("special", "minSpecial", "!@#$%&*()-_=+[]{}<>:?"),
];

/// The settings of one class. A setting is `None` if it is unknown.
struct Class {
    switch: &'static str,
    least_field: &'static str,
    enabled: Option<bool>,
    least: Option<u64>,
    characters: Option<Vec<char>>,
}

fn classes(spec: &Value) -> [Class; 4] {
    CLASSES.map(|(switch, least_field, usual)| {
        let characters = match spec.get("overrideSpecial").filter(|_| switch == "special") {
            Some(value) if value.is_unknown() => None,
            Some(value) if !value.is_null() => {
                // Each character is kept once, so that a repeated one is not more likely.
                Some(
                    value
                        .as_text()
                        .unwrap_or_default()
                        .chars()
                        .collect::<BTreeSet<_>>()
                        .into_iter()
                        .collect(),
                )
            }
            _ => Some(usual.chars().collect()),
        };
        Class {
            switch,
            least_field,
            enabled: known(spec, switch)
                .map(|value| value.and_then(Value::as_bool).unwrap_or(true)),
            least: known(spec, least_field).map(|value| value.and_then(count).unwrap_or(0)),
            characters,
        }
    })
}

/// The value of a field: `None` if it is unknown, `Some(None)` if it is not set.
fn known<'a>(spec: &'a Value, field: &str) -> Option<Option<&'a Value>> {
    match spec.get(field) {
        Some(value) if value.is_unknown() => None,
        other => Some(other.filter(|value| !value.is_null())),
    }
}

fn count(value: &Value) -> Option<u64> {
    value.as_int().and_then(|value| u64::try_from(value).ok())
}

/// Refuses settings that no password can satisfy.
pub(super) fn check(spec: &Value, found: &mut CheckFindings) {
    let classes = classes(spec);
    for class in &classes {
        if class.enabled == Some(false) && class.least.is_some_and(|least| least > 0) {
            let message = format!(
                "asks for characters that `{}: false` rules out",
                class.switch
            );
            found.refuse(class.least_field, message);
        }
    }
    if classes.iter().all(|class| class.enabled == Some(false)) {
        found.refuse("", "every class of characters is switched off");
    }
    let special = spec
        .get("overrideSpecial")
        .and_then(Value::as_text)
        .unwrap_or_default();
    if special.chars().any(char::is_control) {
        found.refuse("overrideSpecial", "holds a control character");
    }
    let least: u64 = classes
        .iter()
        .filter_map(|class| class.least)
        .fold(0, u64::saturating_add);
    if let Some(length) = spec.get("length").and_then(count)
        && least > length
    {
        let message =
            format!("{length} is less than the {least} characters that the minimums ask for");
        found.refuse("length", message);
    }
}

/// A password for a spec that `check` has accepted.
pub(super) fn password(spec: &Value, random: &mut StdRng) -> String {
    let length = spec
        .get("length")
        .and_then(count)
        .and_then(|length| usize::try_from(length).ok())
        .unwrap_or(0);
    let mut drawn: Vec<char> = Vec::with_capacity(length);
    let mut all: BTreeSet<char> = BTreeSet::new();
    for class in classes(spec) {
        let characters = class.characters.unwrap_or_default();
        if class.enabled != Some(true) || characters.is_empty() {
            continue;
        }
        for _ in 0..class.least.unwrap_or(0) {
            drawn.push(characters[random.random_range(0..characters.len())]);
        }
        all.extend(characters);
    }
    let all: Vec<char> = all.into_iter().collect();
    while drawn.len() < length && !all.is_empty() {
        drawn.push(all[random.random_range(0..all.len())]);
    }
    drawn.shuffle(random);
    drawn.into_iter().collect()
}

/// The bcrypt hash of a password. Only its first 72 bytes count. `None` on failure.
pub(super) fn hash(password: &str, salt: [u8; 16]) -> Option<String> {
    let bytes = password.as_bytes();
    let hashed = &bytes[..bytes.len().min(HASHED_BYTES)];
    bcrypt::hash_with_salt(hashed, HASH_COST, salt)
        .ok()
        .map(|parts| parts.to_string())
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn draw(entries: &[(&str, Value)], seed: u64) -> String {
        password(
            &Value::map(entries.iter().cloned()),
            &mut StdRng::seed_from_u64(seed),
        )
    }

    fn rejected(entries: &[(&str, Value)]) -> Vec<String> {
        let mut found = CheckFindings::default();
        check(&Value::map(entries.iter().cloned()), &mut found);
        found
            .diagnostics
            .into_iter()
            .map(|found| found.path.to_string())
            .collect()
    }

    #[test]
    fn minimums_are_met_and_the_length_is_kept() {
        for seed in 0..50 {
            let drawn = draw(
                &[
                    ("length", 10.into()),
                    ("minNumeric", 3.into()),
                    ("minSpecial", 2.into()),
                    ("upper", false.into()),
                ],
                seed,
            );
            assert_eq!(drawn.chars().count(), 10, "{drawn}");
            assert!(
                drawn.chars().filter(char::is_ascii_digit).count() >= 3,
                "{drawn}"
            );
            assert!(
                drawn.chars().filter(|c| !c.is_ascii_alphanumeric()).count() >= 2,
                "{drawn}"
            );
            assert!(!drawn.chars().any(|c| c.is_ascii_uppercase()), "{drawn}");
        }
    }

    #[test]
    fn own_special_characters_replace_the_usual_ones() {
        let only = [
            ("lower", false.into()),
            ("upper", false.into()),
            ("numeric", false.into()),
        ];
        let mut entries = vec![
            ("length", Value::Int(40)),
            ("overrideSpecial", "é~~".into()),
        ];
        entries.extend(only);
        let drawn = draw(&entries, 3);
        assert_eq!(drawn.chars().count(), 40);
        assert!(
            drawn.chars().all(|c| "é~".contains(c)) && drawn.contains('é') && drawn.contains('~'),
            "{drawn}"
        );
    }

    #[test]
    fn every_character_comes_about_as_often_in_every_place() {
        let entries = [
            ("length", Value::Int(4)),
            ("minNumeric", 2.into()),
            ("lower", false.into()),
            ("upper", false.into()),
            ("special", false.into()),
        ];
        let mut seen = [[0_u32; 10]; 4];
        for seed in 0..4000 {
            for (at, digit) in draw(&entries, seed).bytes().enumerate() {
                seen[at][usize::from(digit - b'0')] += 1;
            }
        }
        assert!(
            seen.iter()
                .flatten()
                .all(|count| (300..500).contains(count)),
            "{seen:?}"
        );
    }

    #[test]
    fn impossible_combinations_are_refused_where_they_stand() {
        assert_eq!(
            rejected(&[
                ("length", 4.into()),
                ("minLower", 3.into()),
                ("minUpper", 2.into())
            ]),
            ["length"]
        );
        assert_eq!(
            rejected(&[
                ("length", 4.into()),
                ("lower", false.into()),
                ("minLower", 1.into())
            ]),
            ["minLower"]
        );
        let none = CLASSES.map(|(switch, _, _)| (switch, Value::Bool(false)));
        assert_eq!(rejected(&none), [""]);
        assert_eq!(
            rejected(&[("length", 4.into()), ("overrideSpecial", "\u{7}".into())]),
            ["overrideSpecial"]
        );
        assert!(
            rejected(&[
                ("length", Value::unknown(None, None)),
                ("minLower", 9.into())
            ])
            .is_empty()
        );
        assert!(rejected(&[("length", 4.into()), ("minLower", 4.into())]).is_empty());
    }

    #[test]
    fn the_hash_verifies() {
        let hash = hash("correct horse", [7; 16]).unwrap();
        assert!(hash.starts_with("$2b$10$"), "{hash}");
        assert!(bcrypt::verify("correct horse", &hash).unwrap());
    }
}
