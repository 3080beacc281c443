//! Quotes and escapes of scalars.

use std::sync::LazyLock;

use regex::Regex;

/// Quoting styles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
}

/// Whether YAML 1.1 reads a text as another type: null, boolean, number (also in base 60), time,
/// merge key or value key.
static NOT_TEXT: LazyLock<Regex> = LazyLock::new(|| {
    let kinds = [
        r"|~|null|Null|NULL",
        r"yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF",
        r"[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+",
        r"[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+",
        r"[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?",
        r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
        r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?",
        r"<<|=|!|&|\*",
    ];
    Regex::new(&format!(r"\A(?:{})\z", kinds.join("|"))).expect("the pattern is fixed")
});

/// The quoting style of a scalar. With `is_text`, a reader must get a text back.
pub(super) fn style_of(text: &str, is_text: bool, is_key: bool) -> Style {
    let found = Analysis::of(text);
    if is_key && found.breaks {
        return Style::Double;
    }
    let reads_as_is = !is_text || !NOT_TEXT.is_match(text);
    if found.plain && reads_as_is && !(is_key && text.is_empty()) {
        return Style::Plain;
    }
    if found.single {
        Style::Single
    } else {
        Style::Double
    }
}

/// The styles that a text allows.
struct Analysis {
    plain: bool,
    single: bool,
    breaks: bool,
}

impl Analysis {
    fn of(text: &str) -> Analysis {
        let mut plain = !(text.starts_with("---") || text.starts_with("..."));
        let mut single = true;
        let mut breaks = false;
        let ends = |next: Option<&char>| next.is_none_or(|next| is_blank(*next));
        let (mut before, mut first) = (None, true);
        let mut rest = text.chars().peekable();
        while let Some(character) = rest.next() {
            let next = rest.peek();
            let indicates = match character {
                '#' => first || before.is_none_or(is_blank),
                ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
                | '@' | '`' => first,
                '?' | '-' => first && ends(next),
                ':' => ends(next),
                _ => false,
            };
            let edge = first || next.is_none();
            let (space, line_end) = (character == ' ', character == '\n');
            let separates = line_end || (edge && space);
            plain &= !(indicates || separates);
            breaks |= is_break(character);
            let special = !(line_end || (' '..='~').contains(&character));
            // Folding would lose a space next to a line end.
            single &=
                !(special || (space && before == Some('\n')) || (line_end && before == Some(' ')));
            plain &= single;
            (before, first) = (Some(character), false);
        }
        Analysis {
            plain,
            single,
            breaks,
        }
    }
}

/// Whether YAML treats a character as a line end.
pub(super) fn is_break(character: char) -> bool {
    matches!(character, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\0') || is_break(character)
}

/// The escape sequence of a character in double quotes.
pub(super) fn escape(character: char) -> String {
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
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => {
            let code = u32::from(character);
            return match code {
                0..=0xFF => format!("\\x{code:02X}"),
                0x100..=0xFFFF => format!("\\u{code:04X}"),
                _ => format!("\\U{code:08X}"),
            };
        }
    };
    format!("\\{short}")
}
