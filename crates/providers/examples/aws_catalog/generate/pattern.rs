//! Converts regular expressions of JSON Schema (ECMAScript) to the syntax of the `regex` crate, if
//! possible.
//!
//! A pattern that the crate cannot express, or that is expensive to match, is made weaker or
//! dropped: a pattern may refuse only values that the provider refuses as well.

use regex::RegexBuilder;

/// The size limit of a compiled pattern in bytes. Larger patterns take too long to compile.
const MOST: usize = 96 << 10;

/// Counted repetitions above this number become open-ended; a limit of the length is better for
/// them.
const MOST_REPEATED: u32 = 64;

/// The pattern in the syntax of the `regex` crate; `None` if it cannot be expressed or is
/// expensive.
pub(crate) fn pattern(text: &str) -> Option<String> {
    let exact = translate(text, u32::MAX)?;
    if compiles(&exact) {
        return Some(exact).filter(|text| says_something(text));
    }
    let loose = translate(text, MOST_REPEATED)?;
    compiles(&loose)
        .then_some(loose)
        .filter(|text| says_something(text))
}

fn compiles(text: &str) -> bool {
    RegexBuilder::new(text).size_limit(MOST).build().is_ok()
}

/// Whether a pattern refuses any text. Recognises only obvious patterns that refuse none.
fn says_something(text: &str) -> bool {
    !matches!(
        text,
        "" | "^"
            | "$"
            | ".*"
            | "^.*$"
            | "[\\s\\S]*"
            | "^[\\s\\S]*$"
            | "(.*)"
            | "^(.*)$"
            | ".+"
            | "[\\S\\s]*"
    )
}

fn translate(text: &str, most: u32) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let characters: Vec<char> = text.chars().collect();
    let mut in_class = false;
    // A `]` as the first character of a class differs between the languages.
    let mut at = 0;
    while let Some(character) = characters.get(at).copied() {
        at += 1;
        match character {
            '\\' => {
                let escaped = characters.get(at).copied()?;
                at += 1;
                match (escaped, in_class) {
                    // In ECMAScript, digits and word characters are ASCII.
                    ('d', false) => out.push_str("[0-9]"),
                    ('d', true) => out.push_str("0-9"),
                    ('D', _) => out.push_str("[^0-9]"),
                    ('w', false) => out.push_str("[0-9A-Za-z_]"),
                    ('w', true) => out.push_str("0-9A-Za-z_"),
                    ('W', _) => out.push_str("[^0-9A-Za-z_]"),
                    // `\Z` matches at the end of the text or of its last line.
                    ('Z', false) => out.push('$'),
                    ('A', false) => out.push('^'),
                    // An escaped letter without a meaning cannot be translated.
                    (letter, _)
                        if letter.is_ascii_alphabetic() && !"bBsSnrtfvxupP".contains(letter) =>
                    {
                        return None;
                    }
                    // References to groups, and octal numbers.
                    (digit, _) if digit.is_ascii_digit() => return None,
                    (escaped, _) => {
                        if escaped.is_ascii()
                            && !escaped.is_ascii_alphanumeric()
                            && !"<>".contains(escaped)
                            || escaped.is_ascii_alphabetic()
                        {
                            out.push('\\');
                        }
                        out.push(escaped);
                    }
                }
            }
            '[' if in_class => out.push_str("\\["),
            '[' => {
                in_class = true;
                out.push('[');
                if characters.get(at) == Some(&'^') {
                    out.push('^');
                    at += 1;
                }
                // An empty class, or a class that begins with `]`: the languages differ.
                if characters.get(at) == Some(&']') {
                    return None;
                }
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            // The `regex` crate has operators between classes that ECMAScript does not have.
            '&' | '~' if in_class => {
                out.push('\\');
                out.push(character);
            }
            '-' if in_class && characters.get(at) == Some(&'-') => out.push_str("\\-"),
            '{' if !in_class => {
                let rest: String = characters[at..]
                    .iter()
                    .take_while(|character| **character != '}')
                    .collect();
                at += rest.chars().count() + 1;
                out.push_str(&repetition(&rest, most)?);
            }
            _ => out.push(character),
        }
    }
    Some(out)
}

/// The counts between braces. A count above `most` becomes open-ended. `None` if the counts cannot
/// be read.
fn repetition(text: &str, most: u32) -> Option<String> {
    let number = |text: &str| text.trim().parse::<u32>().ok();
    Some(match text.split_once(',') {
        None => {
            let exact = number(text)?;
            if exact > most {
                format!("{{{most},}}")
            } else {
                format!("{{{exact}}}")
            }
        }
        Some((least, "")) => format!("{{{},}}", number(least)?.min(most)),
        Some((least, greatest)) => {
            // No number before the comma: the languages differ.
            let (least, greatest) = (number(least)?, number(greatest)?);
            if greatest > most {
                format!("{{{},}}", least.min(most))
            } else {
                format!("{{{least},{greatest}}}")
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_characters_are_ascii() {
        assert_eq!(pattern(r"^\d{12}$").as_deref(), Some("^[0-9]{12}$"));
        assert_eq!(pattern(r"^[\w.-]+$").as_deref(), Some("^[0-9A-Za-z_.-]+$"));
    }

    #[test]
    fn what_the_other_language_reads_otherwise_is_kept() {
        assert_eq!(pattern(r"^[a[b&&c]$").as_deref(), Some(r"^[a\[b\&\&c]$"));
        assert_eq!(pattern(r"^arn:\/\:x$").as_deref(), Some(r"^arn:\/\:x$"));
    }

    #[test]
    fn what_cannot_be_said_is_left_out() {
        assert_eq!(pattern(r"^(?!aws:)[a-z]+$"), None);
        assert_eq!(pattern(r"(a)\1"), None);
        assert_eq!(pattern(r"^{.*}$"), None);
        assert_eq!(pattern(".*"), None);
    }

    #[test]
    fn far_counts_are_loosened() {
        assert_eq!(
            pattern(r"^[\p{L}\p{Z}]{1,2048}$").as_deref(),
            Some(r"^[\p{L}\p{Z}]{1,}$")
        );
        assert_eq!(pattern("^[a-z]{1,255}$").as_deref(), Some("^[a-z]{1,255}$"));
    }
}
