//! Makes control, bidirectional and invisible characters visible.
//!
//! Text from documents, paths, commands and providers may contain characters that move the cursor,
//! change the window title, reorder letters, or are invisible. Not here: colours, which are added
//! to cleaned text.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a terminal interprets the character or shows nothing for it. Line breaks and tabs count
/// too.
pub fn is_hidden(letter: char) -> bool {
    matches!(letter,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        // Soft hyphen, joiners, fillers.
        | '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{3164}'
        | '\u{ffa0}'
        // Marks, embeddings, overrides and isolates of bidirectional text; line and paragraph
        // separators.
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
        // Zero-width characters, and invisible operators.
        | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        // Variation selectors that no emoji needs, and tags.
        | '\u{fe00}'..='\u{fe0d}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a text needs no change because it is plain ASCII, as most texts are.
fn is_plain(text: &str) -> bool {
    text.bytes()
        .all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
}

/// The text with hidden characters as `\u{1b}`. Line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut letters = text.chars().peekable();
    let mut clean = String::with_capacity(text.len());
    while let Some(letter) = letters.next() {
        let stays =
            matches!(letter, '\n' | '\t') || letter == '\r' && letters.peek() == Some(&'\n');
        push(&mut clean, letter, stays);
    }
    Cow::Owned(clean)
}

/// The text on one line: as [`visible`], with line breaks and tabs as `\n`, `\r` and `\t`.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    if is_plain(text) && !text.contains(['\n', '\t']) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => clean.push_str("\\n"),
            '\r' => clean.push_str("\\r"),
            '\t' => clean.push_str("\\t"),
            letter => push(&mut clean, letter, false),
        }
    }
    Cow::Owned(clean)
}

fn push(clean: &mut String, letter: char, stays: bool) {
    if stays || !is_hidden(letter) {
        clean.push(letter);
    } else {
        // Writing to a `String` does not fail.
        let _ = write!(clean, "\\u{{{:x}}}", u32::from(letter));
    }
}

/// JSON with hidden characters as `\u....`. The value is the same. Apart from white space between
/// values, such characters occur only inside strings.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    if is_plain(json) {
        return Cow::Borrowed(json);
    }
    let mut clean = String::with_capacity(json.len());
    for letter in json.chars() {
        if matches!(letter, '\n' | '\t' | '\r') || !is_hidden(letter) {
            clean.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            let _ = write!(clean, "\\u{unit:04x}");
        }
    }
    Cow::Owned(clean)
}

/// A source text with every hidden character replaced by visible ones of the same length in bytes,
/// so that offsets stay valid. `None` if nothing is replaced. A leading byte order mark stays.
pub(crate) fn same_length(text: &str) -> Option<String> {
    let hides = |(at, letter): (usize, char)| is_hidden(letter) && !is_layout(at, letter);
    if is_plain(text) || !text.char_indices().any(hides) {
        return None;
    }
    let mut clean = String::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        match letter.len_utf8() {
            _ if !hides((at, letter)) => clean.push(letter),
            1 => clean.push('?'),
            2 => clean.push('\u{bf}'),
            3 => clean.push('\u{fffd}'),
            _ => clean.push_str("\u{fffd}?"),
        }
    }
    Some(clean)
}

fn is_layout(at: usize, letter: char) -> bool {
    matches!(letter, '\n' | '\r' | '\t') || at == 0 && letter == '\u{feff}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped() {
        assert_eq!(visible("a\tb\r\nc"), "a\tb\r\nc");
        assert_eq!(visible("é ü 漢 ⚠️ ${x}"), "é ü 漢 ⚠️ ${x}");
        assert_eq!(
            visible("\u{1b}[2J\u{9b}1m\r\u{7}\u{202e}\u{200b}\u{feff}\u{e0041}\u{7f}"),
            r"\u{1b}[2J\u{9b}1m\u{d}\u{7}\u{202e}\u{200b}\u{feff}\u{e0041}\u{7f}"
        );
        assert_eq!(visible_line("a\nb\r\tc\u{1b}"), r"a\nb\r\tc\u{1b}");
    }

    #[test]
    fn json_is_escaped_as_json() {
        let json = "{\n  \"a\u{9b}é\": [\"\\u001b\u{202e}\", \"\u{e0041}\u{7f}\"]\n}";
        let clean = "{\n  \"a\\u009bé\": [\"\\u001b\\u202e\", \"\\udb40\\udc41\\u007f\"]\n}";
        assert_eq!(visible_json(json), clean);
    }

    #[test]
    fn places_in_a_source_text_stay() {
        let text = "\u{feff}a: \u{1b}\u{9b}\u{202e}\u{e0041}b\r\n\tc: é\n";
        let clean = same_length(text).unwrap();
        assert_eq!(clean, "\u{feff}a: ?\u{bf}\u{fffd}\u{fffd}?b\r\n\tc: é\n");
        assert_eq!(
            (clean.len(), clean.find("c:")),
            (text.len(), text.find("c:"))
        );
        assert_eq!(same_length("\u{feff}a: é\r\n"), None);
    }
}
