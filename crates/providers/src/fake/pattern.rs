//! A text that a regular expression finds, for made-up values of fields with a pattern.
//!
//! Not here: whether the text also fits the field's other limits (the caller looks and asks again).

use regex_syntax::hir::{Class, Hir, HirKind};

use super::seed::Seed;

/// Beyond this many characters, or parts of the pattern visited, it is given up.
const MOST: usize = 10_000;

/// A text that the pattern finds; `more` is how far optional and open-ended parts are spun out. None if it cannot be
/// read or grows too long.
pub(super) fn text(pattern: &str, more: u32, seed: &mut Seed) -> Option<String> {
    let hir = regex_syntax::parse(pattern).ok()?;
    let mut text = String::new();
    let mut left = MOST;
    write(&hir, more, seed, &mut left, &mut text)?;
    Some(text)
}

fn write(hir: &Hir, more: u32, seed: &mut Seed, left: &mut usize, text: &mut String) -> Option<()> {
    *left = left.checked_sub(1)?;
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => text.push(pick(class, seed)?),
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX);
            for _ in 0..repetition.min.saturating_add(more).min(most) {
                write(&repetition.sub, more, seed, left, text)?;
            }
        }
        HirKind::Capture(capture) => write(&capture.sub, more, seed, left, text)?,
        HirKind::Concat(parts) => {
            for part in parts {
                write(part, more, seed, left, text)?;
            }
        }
        HirKind::Alternation(branches) => {
            // The first is the usual one; the others come up when that does not fit.
            let at = if more < 2 { 0 } else { seed.below(branches.len() as u64) as usize };
            write(branches.get(at)?, more, seed, left, text)?;
        }
    }
    Some(())
}

/// A character of a class: lower-case letters and digits before anything else.
fn pick(class: &Class, seed: &mut Seed) -> Option<char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class.ranges().iter().map(|range| (range.start(), range.end())).collect(),
        Class::Bytes(class) => class.ranges().iter().map(|range| (range.start().into(), range.end().into())).collect(),
    };
    for (first, last) in [('a', 'z'), ('0', '9'), ('A', 'Z'), ('!', '~')] {
        let within: Vec<char> = ranges
            .iter()
            .flat_map(|(from, to)| {
                let (from, to) = ((*from).max(first), (*to).min(last));
                // An empty range where the two do not meet.
                from..=to
            })
            .collect();
        if !within.is_empty() {
            return within.get(seed.below(within.len() as u64) as usize).copied();
        }
    }
    ranges.first().map(|(from, _)| *from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_by_its_pattern() {
        for pattern in [
            "^[a-z]{2}-[0-9]{1,4}$",
            "^arn:(aws|aws-cn):[a-z0-9-]+:[a-z]{2}-[a-z]+-[0-9]:[0-9]{12}:.+$",
            "^(?:[A-Z]\\d){3}$",
            "^\\S*$",
            "[^a-z]",
            "^(x|yy|zzz)?é\\b",
            "^$",
        ] {
            let regex = regex::Regex::new(pattern).unwrap();
            for more in 0..4 {
                let text = text(pattern, more, &mut Seed::new(pattern)).unwrap();
                assert!(regex.is_match(&text), "{pattern} does not find {text:?}");
                assert_eq!(Some(&text), super::text(pattern, more, &mut Seed::new(pattern)).as_ref());
            }
        }
    }

    #[test]
    fn what_is_no_pattern_or_too_much_gives_nothing() {
        assert_eq!(text("(", 0, &mut Seed::new("")), None);
        assert_eq!(text("(((a{100}){100}){100})", 0, &mut Seed::new("")), None);
        assert_eq!(text("((((a?)*b?)*c?)*d?)*", 1000, &mut Seed::new("")), None);
    }
}
