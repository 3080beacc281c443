//! The order of keys: letters after everything else, runs of digits by their number.

use std::cmp::Ordering;

use blueprint::{Name, Value};

/// Entries in the order of their keys. Numbers that do not fit 64 bits make the order contradict
/// itself, which the sorting of the standard library does not allow; this merges.
pub(super) fn sorted<'a>(mut entries: Vec<(&'a Name, &'a Value)>) -> Vec<(&'a Name, &'a Value)> {
    if entries.len() < 2 {
        return entries;
    }
    let others = sorted(entries.split_off(entries.len() / 2));
    let mut ones = sorted(entries).into_iter().peekable();
    let mut others = others.into_iter().peekable();
    let mut merged = Vec::with_capacity(ones.len() + others.len());
    while let (Some((one, _)), Some((other, _))) = (ones.peek(), others.peek()) {
        match compare(one, other) {
            Ordering::Greater => merged.extend(others.next()),
            _ => merged.extend(ones.next()),
        }
    }
    merged.extend(ones);
    merged.extend(others);
    merged
}

/// Compares two keys.
fn compare(one: &str, other: &str) -> Ordering {
    let ones: Vec<char> = one.chars().collect();
    let others: Vec<char> = other.chars().collect();
    let mut after_digit = false;
    for (at, (one, other)) in ones.iter().zip(&others).enumerate() {
        if one == other {
            after_digit = one.is_numeric();
            continue;
        }
        match (one.is_alphabetic(), other.is_alphabetic()) {
            (true, true) => return one.cmp(other),
            // A letter ends a number, so it comes before a further digit.
            (true, false) if after_digit => return Ordering::Less,
            (false, true) if after_digit => return Ordering::Greater,
            (true, false) => return Ordering::Greater,
            (false, true) => return Ordering::Less,
            (false, false) => return compare_numbers(&ones, &others, at),
        }
    }
    ones.len().cmp(&others.len())
}

/// Compares from the first difference on, which is no letter on either side.
fn compare_numbers(ones: &[char], others: &[char], at: usize) -> Ordering {
    let is_zero = |characters: &[char]| characters.get(at) == Some(&'0');
    let before = ones.get(..at).unwrap_or_default();
    let continues = before
        .iter()
        .rev()
        .take_while(|character| character.is_ascii_digit())
        .any(|character| *character != '0');
    // A zero counts if the number has begun.
    let start = u8::from((is_zero(ones) || is_zero(others)) && continues);
    let number = |characters: &[char]| {
        let digits = characters.get(at..).unwrap_or_default().iter();
        let digits = digits.take_while(|character| character.is_ascii_digit());
        digits.fold((i64::from(start), at), |(number, end), digit| {
            let digit = i64::from(digit.to_digit(10).unwrap_or(0));
            (number.wrapping_mul(10).wrapping_add(digit), end + 1)
        })
    };
    number(ones)
        .cmp(&number(others))
        .then_with(|| ones.get(at).cmp(&others.get(at)))
}

#[cfg(test)]
mod tests {
    use blueprint::{Name, Value};

    use super::sorted;

    fn order(keys: &[&str]) -> Vec<String> {
        let keys: Vec<Name> = keys.iter().map(|key| Name::from(*key)).collect();
        let entries = keys.iter().map(|key| (key, &Value::Null)).collect();
        let sorted = sorted(entries).into_iter();
        sorted.map(|(key, _)| key.to_string()).collect()
    }

    #[test]
    fn digits_are_compared_as_numbers() {
        assert_eq!(
            order(&[
                "b", "a10", "a9", "A", "10", "9", "a", "_", "a1b", "a1", "a01"
            ]),
            [
                "_", "9", "10", "A", "a", "a1", "a1b", "a01", "a9", "a10", "b"
            ]
        );
    }

    #[test]
    fn keys_without_an_order_are_kept() {
        let keys: Vec<String> = (0..200)
            .map(|at: u64| {
                format!(
                    "{}{}",
                    at % 7,
                    "9".repeat(usize::try_from(at % 41).expect("small"))
                )
            })
            .collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        assert_eq!(order(&keys).len(), keys.len());
    }
}
