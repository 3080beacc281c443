//! Character classes and escapes of single characters.

use super::translator::{Flags, PatternError, Translator};

/// The meaning of an escape sequence.
pub(super) enum Escaped {
    Character(char),
    /// The content of a bracketed class.
    Class(&'static str),
}

/// Writes a literal character outside a class.
pub(super) fn literal(character: char, out: &mut String) {
    if r"\.+*?()|[]{}^$#&-~".contains(character) {
        out.push('\\');
    }
    out.push(character);
}

/// Writes a character of a class.
fn member(character: char, out: &mut String) {
    if r"\[]^-&~".contains(character) {
        out.push('\\');
    }
    out.push(character);
}

/// Returns the content of the class of a letter.
fn named(letter: char, ascii: bool) -> Option<&'static str> {
    Some(match (letter, ascii) {
        ('d', false) => r"\d",
        ('D', false) => r"\D",
        ('w', false) => r"\p{L}\p{N}_",
        ('W', false) => r"[^\p{L}\p{N}_]",
        ('s', false) => r"\s\x1c-\x1f",
        ('S', false) => r"[^\s\x1c-\x1f]",
        ('d', true) => "0-9",
        ('D', true) => "[^0-9]",
        ('w', true) => "a-zA-Z0-9_",
        ('W', true) => "[^a-zA-Z0-9_]",
        ('s', true) => r"\t\n\x0b\x0c\r ",
        ('S', true) => r"[^\t\n\x0b\x0c\r ]",
        _ => return None,
    })
}

impl Translator {
    /// Reads the rest of an escape sequence for a character or a class; its backslash is at
    /// `begin`.
    pub(super) fn escaped(
        &mut self,
        begin: usize,
        in_class: bool,
        flags: Flags,
    ) -> Result<Escaped, PatternError> {
        let Some(next) = self.next() else {
            return Err(self.error("bad escape (end of pattern)", begin));
        };
        if let Some(class) = named(next, flags.ascii) {
            return Ok(Escaped::Class(class));
        }
        let character = match next {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\x07',
            'f' => '\x0c',
            'v' => '\x0b',
            'b' if in_class => '\x08',
            'x' => self.hexadecimal(begin, 2)?,
            'u' => self.hexadecimal(begin, 4)?,
            'U' => self.hexadecimal(begin, 8)?,
            '0'..='7' => {
                let most = if next == '0' || in_class {
                    3
                } else {
                    3.min(self.characters.len())
                };
                let mut code = u32::from(next) - u32::from('0');
                let mut count = 1;
                while count < most
                    && let Some(digit) = self.peek().and_then(|next| next.to_digit(8))
                {
                    code = code * 8 + digit;
                    count += 1;
                    self.at += 1;
                }
                let character = char::from_u32(code).filter(|_| code <= 0o377);
                let written: String = self.characters[begin..self.at].iter().collect();
                character.ok_or_else(|| {
                    self.error(
                        format!("octal escape value {written} outside of range 0-0o377"),
                        begin,
                    )
                })?
            }
            other if other.is_ascii_alphanumeric() => {
                return Err(self.error(format!("bad escape \\{other}"), begin));
            }
            other => other,
        };
        Ok(Escaped::Character(character))
    }

    fn hexadecimal(&mut self, begin: usize, count: usize) -> Result<char, PatternError> {
        let digits: String = self.characters[self.at..]
            .iter()
            .take(count)
            .take_while(|next| next.is_ascii_hexdigit())
            .collect();
        self.at += digits.len();
        let written: String = self.characters[begin..self.at].iter().collect();
        if digits.len() < count {
            return Err(self.error(format!("incomplete escape {written}"), begin));
        }
        let character = u32::from_str_radix(&digits, 16)
            .ok()
            .and_then(char::from_u32);
        character.ok_or_else(|| self.error(format!("bad escape {written}"), begin))
    }

    /// Reads a class from its `[` to its `]`.
    pub(super) fn class(&mut self, flags: Flags) -> Result<(), PatternError> {
        let begin = self.at;
        self.at += 1;
        self.out.push('[');
        if self.eat("^") {
            self.out.push('^');
        }
        let first = self.at;
        loop {
            if self.peek() == Some(']') && self.at > first {
                self.at += 1;
                self.out.push(']');
                return Ok(());
            }
            let item = self.at;
            let low = self.class_item(begin, flags)?;
            let range = self.peek() == Some('-')
                && self
                    .characters
                    .get(self.at + 1)
                    .is_some_and(|next| *next != ']');
            if !range {
                match low {
                    Escaped::Character(character) => member(character, &mut self.out),
                    Escaped::Class(class) => self.out.push_str(class),
                }
                continue;
            }
            self.at += 1;
            let high = self.class_item(begin, flags)?;
            match (low, high) {
                (Escaped::Character(low), Escaped::Character(high)) if low <= high => {
                    member(low, &mut self.out);
                    self.out.push('-');
                    member(high, &mut self.out);
                }
                _ => {
                    let written: String = self.characters[item..self.at].iter().collect();
                    return Err(self.error(format!("bad character range {written}"), item));
                }
            }
        }
    }

    fn class_item(&mut self, begin: usize, flags: Flags) -> Result<Escaped, PatternError> {
        let at = self.at;
        match self.next() {
            None => Err(self.error("unterminated character set", begin)),
            Some('\\') => self.escaped(at, true, flags),
            Some(other) => Ok(Escaped::Character(other)),
        }
    }
}
