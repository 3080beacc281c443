//! How a string is written: without quotes where that is possible, in quotes, or as a literal block
//! if it has several lines.

use std::fmt::Write as _;

use super::plain::reads_as_string;

/// The style of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarStyle {
    Plain,
    Single,
    Double,
    Literal,
}

/// What stands in the way of each style.
#[derive(Default)]
struct Obstacles {
    plain: bool,
    single: bool,
    block: bool,
}

/// The style of a string; a key is never a block.
pub(super) fn style(text: &str, is_key: bool) -> ScalarStyle {
    let obstacles = obstacles(text);
    if text.contains('\n') {
        return match obstacles.block || is_key {
            true => ScalarStyle::Double,
            false => ScalarStyle::Literal,
        };
    }
    if !reads_as_string(text) || (is_key && has_break(text)) {
        return ScalarStyle::Double;
    }
    match (obstacles.plain, obstacles.single) {
        (false, _) => ScalarStyle::Plain,
        (true, false) => ScalarStyle::Single,
        (true, true) => ScalarStyle::Double,
    }
}

fn obstacles(text: &str) -> Obstacles {
    let mut obstacles = Obstacles {
        plain: text.starts_with("---") || text.starts_with("..."),
        ..Obstacles::default()
    };
    let is_blank = |character: char| matches!(character, ' ' | '\t');
    let mut before: Option<char> = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        let ends = next.is_none_or(is_blank);
        obstacles.plain |= match (character, before) {
            (
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
                | '@' | '`',
                None,
            ) => true,
            ('?' | '-', None) | (':', _) => ends,
            ('#', Some(before)) => is_blank(before) || is_break(before),
            _ => false,
        };
        if character == '\t' {
            obstacles.plain = true;
            obstacles.single = true;
        } else if !is_printable(character) {
            obstacles.plain = true;
            obstacles.single = true;
            obstacles.block = true;
        }
        if character == ' ' {
            obstacles.plain |= before.is_none() || next.is_none();
            obstacles.block |= next.is_none();
            if before.is_some_and(is_break) {
                obstacles.plain = true;
                obstacles.single = true;
            }
        }
        if is_break(character) {
            obstacles.plain = true;
            if before == Some(' ') {
                obstacles.single = true;
                obstacles.block = true;
            }
        }
        before = Some(character);
    }
    obstacles
}

/// Whether the text has a line break.
pub(super) fn has_break(text: &str) -> bool {
    text.contains(is_break)
}

/// Whether the character breaks a line.
pub(super) fn is_break(character: char) -> bool {
    matches!(character, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether the character is written as it is. Characters above U+FFFF are not.
fn is_printable(character: char) -> bool {
    matches!(
        character,
        '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}'
    )
}

/// The text in single quotes. What follows a line break of Unicode is indented.
pub(super) fn single_quoted(text: &str, indent: usize) -> String {
    let mut quoted = String::from("'");
    let mut starts_line = false;
    for character in text.chars() {
        if starts_line && !is_break(character) {
            quoted.push_str(&" ".repeat(indent));
        }
        starts_line = is_break(character);
        quoted.push(character);
        if character == '\'' {
            quoted.push(character);
        }
    }
    quoted.push('\'');
    quoted
}

/// The text in double quotes. After a byte order mark every character is escaped, as upstream.
pub(super) fn double_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    let has_mark = text.starts_with('\u{feff}');
    for character in text.chars() {
        if !has_mark
            && is_printable(character)
            && !is_break(character)
            && !matches!(character, '"' | '\\')
        {
            quoted.push(character);
            continue;
        }
        quoted.push('\\');
        let short = match character {
            '\0' => '0',
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\u{b}' => 'v',
            '\u{c}' => 'f',
            '\r' => 'r',
            '\u{1b}' => 'e',
            '"' => '"',
            '\\' => '\\',
            '\u{85}' => 'N',
            '\u{a0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            other => {
                // Writing to a string cannot fail.
                let _ = match u32::from(other) {
                    code @ ..=0xff => write!(quoted, "x{code:02X}"),
                    code @ ..=0xffff => write!(quoted, "u{code:04X}"),
                    code => write!(quoted, "U{code:08X}"),
                };
                continue;
            }
        };
        quoted.push(short);
    }
    quoted.push('"');
    quoted
}

/// The signs after `|`: the indent if the text starts with a blank or break, and what becomes of
/// the breaks at the end.
pub(super) fn literal_hints(text: &str, indent: usize) -> String {
    let mut hints = String::new();
    let starts_blank = |character: char| character == ' ' || is_break(character);
    if text.starts_with(starts_blank) {
        hints.push_str(&indent.to_string());
    }
    let mut last = text.chars().rev();
    match (last.next().is_some_and(is_break), last.next()) {
        (false, _) => hints.push('-'),
        (true, None) => hints.push('+'),
        (true, Some(before)) if is_break(before) => hints.push('+'),
        (true, Some(_)) => {}
    }
    hints
}
