//! Generates texts that match a regular expression, for fields with a pattern.
//!
//! Not here: other limits of the field. The caller checks them and tries again.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::seed::Seed;

/// Maximum number of visited parts of the pattern.
const MOST: usize = 10_000;

/// A text that matches the pattern. `more` is the number of additional repetitions of optional and
/// open-ended parts. `None` if the pattern is invalid, or if the text is too long.
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
            // The first branch is tried first; others are drawn if the text does not fit.
            let at = if more < 2 {
                0
            } else {
                seed.below(branches.len() as u64) as usize
            };
            write(branches.get(at)?, more, seed, left, text)?;
        }
    }
    Some(())
}

/// A character of a class. Lower-case letters and digits are preferred.
fn pick(class: &Class, seed: &mut Seed) -> Option<char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class
            .ranges()
            .iter()
            .map(|range| (range.start(), range.end()))
            .collect(),
        Class::Bytes(class) => class
            .ranges()
            .iter()
            .map(|range| (range.start().into(), range.end().into()))
            .collect(),
    };
    for (first, last) in [('a', 'z'), ('0', '9'), ('A', 'Z'), ('!', '~')] {
        let within: Vec<char> = ranges
            .iter()
            .flat_map(|(from, to)| {
                let (from, to) = ((*from).max(first), (*to).min(last));
                // The range is empty if the two do not overlap.
                from..=to
            })
            .collect();
        if !within.is_empty() {
            return within
                .get(seed.below(within.len() as u64) as usize)
                .copied();
        }
    }
    ranges.first().map(|(from, _)| *from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_texts_match_their_pattern() {
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
                assert_eq!(
                    Some(&text),
                    super::text(pattern, more, &mut Seed::new(pattern)).as_ref()
                );
            }
        }
    }

    #[test]
    fn invalid_and_excessive_patterns_give_no_text() {
        assert_eq!(text("(", 0, &mut Seed::new("")), None);
        assert_eq!(text("(((a{100}){100}){100})", 0, &mut Seed::new("")), None);
        assert_eq!(text("((((a?)*b?)*c?)*d?)*", 1000, &mut Seed::new("")), None);
    }
}
