//! `OS::Heat::RandomString`.
//!
//! The minimum number of characters is drawn from each class and sequence, the rest from all of
//! them. Then the order is shuffled.

use blueprint::Value;
use provider::{CheckFindings, ErrorKind, Finding, ProviderError};
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};

/// The characters of a class.
fn class(name: &str) -> Option<&'static str> {
    Some(match name {
        "lettersdigits" => "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "letters" => "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "lowercase" => "abcdefghijklmnopqrstuvwxyz",
        "uppercase" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "digits" => "0123456789",
        "hexdigits" => "0123456789ABCDEF",
        "octdigits" => "01234567",
        _ => return None,
    })
}

/// Characters and their minimum number.
struct CharacterGroup {
    characters: Vec<char>,
    least: usize,
}

/// The length, and the groups to draw from. `None` if they are unknown.
fn wanted(spec: &Value) -> Option<(usize, Vec<CharacterGroup>)> {
    let count = |value: Option<&Value>| match value {
        None | Some(Value::Null) => Some(1),
        Some(value) => value.as_int().and_then(|count| usize::try_from(count).ok()),
    };
    let length = match spec.get("length") {
        None | Some(Value::Null) => 32,
        Some(length) => usize::try_from(length.as_int()?).ok()?,
    };
    let items = |name: &str| match spec.get(name) {
        None | Some(Value::Null) => Some(&[] as &[Value]),
        Some(items) => items.as_list(),
    };
    let mut groups = Vec::new();
    for item in items("character_sequences")? {
        groups.push(CharacterGroup {
            characters: item.get("sequence")?.as_text()?.chars().collect(),
            least: count(item.get("min"))?,
        });
    }
    let of_class = |name: &str, least: usize| {
        Some(CharacterGroup {
            characters: class(name)?.chars().collect(),
            least,
        })
    };
    match spec.get("sequence").filter(|sequence| !sequence.is_null()) {
        Some(sequence) => groups.push(of_class(sequence.as_text()?, 1)?),
        None => {
            for item in items("character_classes")? {
                let name = item
                    .get("class")
                    .map_or(Some("lettersdigits"), Value::as_text)?;
                groups.push(of_class(name, count(item.get("min"))?)?);
            }
        }
    }
    Some((length, groups))
}

/// Checks that the fields can be satisfied together.
pub(super) fn check(spec: &Value, found: &mut CheckFindings) {
    let Some((length, groups)) = wanted(spec) else {
        return;
    };
    if groups.iter().map(|group| group.least).sum::<usize>() > length {
        found.out_of_range(
            "length",
            "Length property cannot be smaller than combined character class and character sequence minimums",
        );
    }
    if groups.is_empty() {
        let path = if spec.get("character_classes").is_some() {
            "character_classes"
        } else {
            ""
        };
        found.out_of_range(path, "there is nothing to draw from");
    }
    for (at, group) in groups
        .iter()
        .enumerate()
        .filter(|(_, group)| group.characters.is_empty())
    {
        let many = group.least;
        found.out_of_range(
            format!("character_sequences[{at}].sequence"),
            format!("{many} of no characters cannot be drawn"),
        );
    }
}

/// Draws a random text.
///
/// # Errors
/// [`ErrorKind::Document`] if the fields cannot be satisfied.
pub(super) fn text(spec: &Value, random: &mut StdRng) -> Result<String, ProviderError> {
    let mut found = CheckFindings::default();
    check(spec, &mut found);
    let refuse = |why: &str| ProviderError::new(ErrorKind::Document, why);
    if let Some(first) = found
        .diagnostics
        .into_iter()
        .find(|found| found.finding == Finding::OutOfRange)
    {
        return Err(refuse(&first.summary).at(first.path));
    }
    let (length, groups) =
        wanted(spec).ok_or_else(|| refuse("the fields do not say what to draw from"))?;
    let mut drawn: Vec<char> = Vec::with_capacity(length);
    for group in &groups {
        drawn.extend((0..group.least).filter_map(|_| group.characters.choose(random)));
    }
    let mut all: Vec<char> = groups
        .iter()
        .flat_map(|group| group.characters.iter().copied())
        .collect();
    all.sort_unstable();
    all.dedup();
    while drawn.len() < length {
        let at = random.random_range(0..all.len());
        drawn.extend(all.get(at));
    }
    drawn.shuffle(random);
    Ok(drawn.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn spec(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    fn drawn(text: &str, seed: u64) -> String {
        super::text(&spec(text), &mut StdRng::seed_from_u64(seed)).unwrap()
    }

    fn problems(text: &str) -> Vec<String> {
        let mut found = CheckFindings::default();
        check(&spec(text), &mut found);
        found
            .diagnostics
            .into_iter()
            .map(|found| format!("{}: {}", found.path, found.summary))
            .collect()
    }

    #[test]
    fn each_group_has_its_least_number() {
        let wanted = r#"{"length": 9, "character_classes": [{"class": "digits", "min": 3}, {"class": "octdigits"}],
            "character_sequences": [{"sequence": "xy", "min": 4}]}"#;
        for seed in 0..50 {
            let text = drawn(wanted, seed);
            assert_eq!(text.chars().count(), 9);
            assert!(
                text.chars().filter(|it| "xy".contains(*it)).count() >= 4,
                "{text}"
            );
            assert!(
                text.chars().filter(char::is_ascii_digit).count() >= 4,
                "{text}"
            );
        }
    }

    #[test]
    fn the_hidden_field_takes_the_place_of_the_classes() {
        let wanted = r#"{"length": 40, "sequence": "hexdigits", "character_classes": [{"class": "letters"}]}"#;
        assert!(
            drawn(wanted, 1)
                .chars()
                .all(|it| "0123456789ABCDEF".contains(it))
        );
    }

    #[test]
    fn unsatisfiable_fields_are_refused() {
        let short = r#"{"length": 3, "character_classes": [{"class": "digits", "min": 4}]}"#;
        assert_eq!(
            problems(short),
            [
                "length: Length property cannot be smaller than combined character class and character sequence minimums"
            ]
        );
        assert_eq!(
            problems(r#"{"character_classes": []}"#),
            ["character_classes: there is nothing to draw from"]
        );
        let empty =
            r#"{"character_classes": [], "character_sequences": [{"sequence": "", "min": 2}]}"#;
        assert_eq!(
            problems(empty),
            ["character_sequences[0].sequence: 2 of no characters cannot be drawn"]
        );
        assert!(super::text(&spec(short), &mut StdRng::seed_from_u64(1)).is_err());
    }
}
