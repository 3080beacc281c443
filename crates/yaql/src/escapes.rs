//! Escape sequences in quoted text.

use std::borrow::Cow;
use std::ops::Range;

/// Replaces the escape sequences of a text; unknown sequences stay as they are. Fails with Python's
/// message and the position of an escape that names no character.
pub(crate) fn decode(text: &str) -> Result<Cow<'_, str>, (String, Range<usize>)> {
    if !text.contains('\\') {
        return Ok(Cow::Borrowed(text));
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // The first half of a surrogate pair, until the second half follows.
    let mut half = None;
    while let Some(next) = rest.chars().next() {
        let at = text.len() - rest.len();
        let (code, length) = if next == '\\' {
            match escape(rest) {
                Some(Ok((code, length))) => (code, length),
                Some(Err((why, length))) => {
                    let words = format!(
                        "'unicodeescape' codec can't decode bytes in position 0-{}: {why}",
                        length - 1
                    );
                    return Err((words, at..at + length));
                }
                None => (u32::from('\\'), 1),
            }
        } else {
            (u32::from(next), next.len_utf8())
        };
        rest = &rest[length..];
        push(code, &mut half, &mut out);
    }
    if half.is_some() {
        out.push(char::REPLACEMENT_CHARACTER);
    }
    Ok(Cow::Owned(out))
}

fn push(code: u32, half: &mut Option<u32>, out: &mut String) {
    match (half.take(), code) {
        (Some(high), low @ 0xdc00..=0xdfff) => {
            let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            return;
        }
        (Some(_), _) => out.push(char::REPLACEMENT_CHARACTER),
        (None, _) => {}
    }
    match code {
        0xd800..=0xdbff => *half = Some(code),
        code => out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)),
    }
}

type Escape = Result<(u32, usize), (&'static str, usize)>;

/// Returns the character of an escape sequence at the beginning of a text, and its length in bytes.
/// `None` if there is no escape sequence.
fn escape(text: &str) -> Option<Escape> {
    let kind = text[1..].chars().next()?;
    let simple = match kind {
        '\\' | '\'' | '"' => u32::from(kind),
        'a' => 7,
        'b' => 8,
        't' => 9,
        'n' => 10,
        'v' => 11,
        'f' => 12,
        'r' => 13,
        'x' => return hexadecimal(text, 2, "truncated \\xXX escape"),
        'u' => return hexadecimal(text, 4, "truncated \\uXXXX escape"),
        'U' => return hexadecimal(text, 8, "truncated \\UXXXXXXXX escape"),
        'N' => return named(text),
        '0'..='7' => {
            let digits: &str = &text[1..];
            let length = digits
                .bytes()
                .take(3)
                .take_while(|byte| (b'0'..=b'7').contains(byte))
                .count();
            return Some(Ok((
                u32::from_str_radix(&digits[..length], 8).ok()?,
                length + 1,
            )));
        }
        _ => return None,
    };
    Some(Ok((simple, 2)))
}

fn hexadecimal(text: &str, count: usize, why: &'static str) -> Option<Escape> {
    let digits = &text[2..];
    let length = digits
        .char_indices()
        .nth(count - 1)
        .map(|(at, last)| at + last.len_utf8())?;
    let digits = &digits[..length];
    if digits.contains('\n') {
        return None;
    }
    let parsed = match digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => u32::from_str_radix(digits, 16).ok(),
        false => None,
    };
    Some(match parsed {
        Some(code) if code <= 0x10_ffff => Ok((code, 2 + length)),
        Some(_) => Err(("illegal Unicode character", 2 + length)),
        None => Err((why, 2 + length)),
    })
}

/// Characters by name: a code and a name in each line. The table has the most common scripts, signs
/// and pictographs, not all of Unicode.
const NAMES: &str = include_str!("names.txt");

fn named(text: &str) -> Option<Escape> {
    let inner = text[2..].strip_prefix('{')?;
    let length = inner.find('}').filter(|length| *length > 0)?;
    let (name, whole) = (&inner[..length], length + 4);
    let mut lines = NAMES.lines().filter_map(|line| line.split_once(' '));
    let code = lines
        .find(|(_, known)| known.eq_ignore_ascii_case(name))
        .map(|(code, _)| u32::from_str_radix(code, 16));
    Some(match code {
        Some(Ok(code)) => Ok((code, whole)),
        _ => Err(("unknown Unicode character name", whole)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_escapes_are_replaced_and_unknown_ones_stay() {
        for (text, expected) in [
            (r"a\nb\t\\\'\q", "a\nb\t\\'\\q"),
            (r"\x41\u00e9\U0001f600\101\0", "Aé\u{1f600}A\0"),
            (r"\ud83d\ude00\ud83d", "\u{1f600}\u{fffd}"),
            (r"\x4", r"\x4"),
            (
                r"\N{bullet}\N{LATIN SMALL LETTER E WITH ACUTE}\N{}",
                "\u{2022}é\\N{}",
            ),
            ("plain", "plain"),
        ] {
            assert_eq!(decode(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn invalid_escape_is_refused() {
        let words = |text: &str| {
            decode(text)
                .err()
                .map(|(words, _)| words)
                .unwrap_or_default()
        };
        assert!(words(r"\xzz").ends_with("truncated \\xXX escape"));
        assert!(words(r"\UFFFFFFFF").ends_with("illegal Unicode character"));
        assert!(words(r"\N{nothing}").ends_with("unknown Unicode character name"));
    }
}
