//! A compiled regular expression, and the texts that stand for what it finds.

use blueprint::Name;
use python::{Flags, Match, Pattern};

use crate::failure::{Halt, Step};
use crate::machine::Machine;

/// A regular expression with the text that it was made of.
pub(crate) struct Regex {
    pattern: Pattern,
    pub(crate) source: Name,
    pub(crate) flags: Flags,
}

/// Looking through a text once counts as so many steps, and one more for each of so many bytes.
const STEPS: u64 = 20;
const BYTES_PER_STEP: u64 = 16;

fn too_costly(_: python::TooCostly) -> Box<Halt> {
    Halt::limit("Regular expression takes too many steps")
}

impl Regex {
    /// Compiles a text. Fails with Python's words.
    pub(crate) fn new(source: Name, flags: Flags) -> Step<Regex> {
        match Pattern::new(&source, flags) {
            Ok(pattern) => Ok(Regex { pattern, source, flags }),
            Err(error) => Err(Halt::failed(format!("{} at position {}", error.message, error.at))),
        }
    }

    /// The names of the groups; the first is the whole, which has none.
    pub(crate) fn group_names(&self) -> &[Option<String>] {
        self.pattern.group_names()
    }

    fn pay(text: &str, machine: &mut Machine<'_>) -> Step<()> {
        machine.step(STEPS + text.len() as u64 / BYTES_PER_STEP)
    }

    /// Whether it describes a part of a text.
    pub(crate) fn found_in(&self, text: &str, machine: &mut Machine<'_>) -> Step<bool> {
        Self::pay(text, machine)?;
        self.pattern.found_anywhere(text).map_err(too_costly)
    }

    /// The first part of a text that it describes, from a byte on.
    pub(crate) fn find(&self, text: &str, from: usize, machine: &mut Machine<'_>) -> Step<Option<Match>> {
        Self::pay(text, machine)?;
        self.pattern.find(text, from).map_err(too_costly)
    }

    /// All parts of a text that it describes and that do not overlap.
    pub(crate) fn find_all(&self, text: &str, machine: &mut Machine<'_>) -> Step<Vec<Match>> {
        Self::pay(text, machine)?;
        let all = self.pattern.find_all(text).map_err(too_costly)?;
        machine.step(all.len() as u64)?;
        Ok(all)
    }

    /// A text that stands for what is found: `\1` and `\g<name>` are groups. Fails with Python's words.
    pub(crate) fn template(&self, text: &str) -> Step<Template> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            literal.push_str(&rest[..at]);
            let position = text.len() - rest.len() + at;
            let tail = &rest[at + 1..];
            let Some(next) = tail.chars().next() else {
                return Err(Halt::failed(format!("bad escape (end of pattern) at position {position}")));
            };
            let (group, length) = match next {
                'g' => {
                    let name = tail[1..].strip_prefix('<').and_then(|inner| inner.split_once('>'));
                    let Some((name, _)) = name else {
                        return Err(Halt::failed(format!("missing group name at position {}", position + 2)));
                    };
                    (Some(self.group(name, position + 3)?), 3 + name.len())
                }
                '0'..='9' => {
                    let digits = tail.bytes().take(3).take_while(u8::is_ascii_digit).count();
                    let octal = tail.bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
                    if next == '0' || octal == 3 {
                        let code = u32::from_str_radix(&tail[..octal], 8).unwrap_or(0);
                        if code > 0o377 {
                            let digits = &tail[..octal];
                            let words = format!(
                                "octal escape value \\{digits} outside of range 0-0o377 at position {position}"
                            );
                            return Err(Halt::failed(words));
                        }
                        literal.extend(char::from_u32(code));
                        (None, octal)
                    } else {
                        let digits = digits.min(2);
                        (Some(self.group(&tail[..digits], position + 1)?), digits)
                    }
                }
                _ => {
                    let escaped = match next {
                        'a' => '\x07',
                        'b' => '\x08',
                        'f' => '\x0c',
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        'v' => '\x0b',
                        '\\' => '\\',
                        letter if letter.is_ascii_alphabetic() => {
                            return Err(Halt::failed(format!("bad escape \\{letter} at position {position}")));
                        }
                        other => {
                            literal.push('\\');
                            other
                        }
                    };
                    literal.push(escaped);
                    (None, next.len_utf8())
                }
            };
            if let Some(group) = group {
                parts.push((std::mem::take(&mut literal), group));
            }
            rest = &tail[length..];
        }
        literal.push_str(rest);
        Ok(Template { parts, rest: literal })
    }

    /// The group of a number or name.
    fn group(&self, name: &str, position: usize) -> Step<usize> {
        let names = self.group_names();
        if let Ok(number) = name.parse::<usize>() {
            return match number < names.len() {
                true => Ok(number),
                false => Err(Halt::failed(format!("invalid group reference {number} at position {position}"))),
            };
        }
        let found = names.iter().position(|known| known.as_deref() == Some(name));
        found.ok_or_else(|| Halt::failed(format!("unknown group name {}", python::repr_text(name))))
    }
}

/// A text with places for groups.
pub(crate) struct Template {
    /// Texts, each with the group behind it.
    parts: Vec<(String, usize)>,
    rest: String,
}

impl Template {
    /// Writes the text for a match; a group that found nothing is empty.
    pub(crate) fn write(&self, text: &str, found: &Match, out: &mut String) {
        for (literal, group) in &self.parts {
            out.push_str(literal);
            if let Some(Some((start, end))) = found.groups.get(*group) {
                out.push_str(&text[*start..*end]);
            }
        }
        out.push_str(&self.rest);
    }
}

/// An expression that describes exactly a text, as Python writes it.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if "()[]{}?*+-|^$\\.&~# \t\n\r\x0b\x0c".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}
