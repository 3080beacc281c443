//! `random/pet`: names that are easy to say and to remember.

use blueprint::Value;
use rand::RngExt;
use rand::rngs::StdRng;

use super::words::{ADJECTIVES, ADVERBS, ANIMALS};

/// A name such as `swift-otter`, after the prefix if there is one.
pub(super) fn name(spec: &Value, random: &mut StdRng) -> String {
    let words = spec
        .get("words")
        .and_then(Value::as_int)
        .unwrap_or(2)
        .max(1);
    let separator = spec
        .get("separator")
        .and_then(Value::as_text)
        .unwrap_or("-");
    let prefix = spec
        .get("prefix")
        .and_then(Value::as_text)
        .filter(|prefix| !prefix.is_empty());
    let mut parts: Vec<&str> = prefix.into_iter().collect();
    for left in (1..=words).rev() {
        let list = match left {
            1 => ANIMALS,
            2 => ADJECTIVES,
            _ => ADVERBS,
        };
        parts.push(list[random.random_range(0..list.len())]);
    }
    parts.join(separator)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::SeedableRng;

    use super::*;

    fn draw(entries: &[(&str, Value)], seed: u64) -> String {
        name(
            &Value::map(entries.iter().cloned()),
            &mut StdRng::seed_from_u64(seed),
        )
    }

    #[test]
    fn a_name_has_as_many_words_as_wanted() {
        assert_eq!(draw(&[], 1).split('-').count(), 2);
        assert_eq!(
            draw(&[("words", 4.into()), ("separator", "_".into())], 1)
                .split('_')
                .count(),
            4
        );
        assert!(ANIMALS.contains(&draw(&[("words", 1.into())], 1).as_str()));
        let long = draw(&[("prefix", "web".into()), ("words", 3.into())], 1);
        let parts: Vec<&str> = long.split('-').collect();
        assert_eq!((parts.len(), parts[0]), (4, "web"));
        assert!(
            ADVERBS.contains(&parts[1]) && ADJECTIVES.contains(&parts[2]),
            "{long}"
        );
    }

    #[test]
    fn the_lists_hold_each_word_once_and_only_plain_letters() {
        for list in [ADVERBS, ADJECTIVES, ANIMALS] {
            assert_eq!(list.iter().collect::<BTreeSet<_>>().len(), list.len());
            assert!(
                list.iter()
                    .all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()))
            );
        }
        assert!(ADJECTIVES.len() * ANIMALS.len() > 40_000);
    }
}
