//! Compiled regular expressions and replacement templates.

use std::rc::Rc;

use blueprint::Name;
use pycompat::{Flags, Pattern, PatternMatch};

use crate::budget::Budget;
use crate::failure::{Evaluated, Halt};

/// A regular expression with its source text.
pub(crate) struct Regex {
    pattern: Pattern,
    pub(crate) source: Name,
    pub(crate) flags: Flags,
    /// The steps of one search.
    steps: u64,
}

/// The steps of one search by an expression that needs no backtracking, and by one that may need
/// it.
const EASY: u64 = 2;
const HARD: u64 = 1000;

/// The steps for compiling an expression; each character adds two.
const COMPILING: u64 = 20;

/// The number of searched bytes that count as one step.
const BYTES_PER_STEP: usize = 16;

/// The number of cached expressions.
const KEPT: usize = 16;

fn too_costly(_: pycompat::TooCostly) -> Box<Halt> {
    Halt::limit("Regular expression takes too many steps")
}

/// Whether an expression has look-around, backreferences or possessive quantifiers, so that a
/// search can be slow.
fn is_hard(source: &str) -> bool {
    let group = [
        "(?=", "(?!", "(?<", "(?>", "(?P=", "(?(", "++", "*+", "?+", "}+",
    ]
    .iter()
    .any(|sign| source.contains(sign));
    group
        || source
            .as_bytes()
            .windows(2)
            .any(|pair| pair[0] == b'\\' && pair[1].is_ascii_digit())
}

/// The regular expressions that were compiled most recently, the oldest first.
#[derive(Default)]
pub(crate) struct PatternCache(Vec<Rc<Regex>>);

impl PatternCache {
    /// Compiles a text, or returns the cached expression. Fails with Python's message.
    pub(crate) fn compile(
        &mut self,
        source: Name,
        flags: Flags,
        budget: &mut Budget<'_>,
    ) -> Evaluated<Rc<Regex>> {
        if let Some(known) = self
            .0
            .iter()
            .find(|known| known.source == source && known.flags == flags)
        {
            return Ok(known.clone());
        }
        budget.step(COMPILING + 2 * source.len() as u64)?;
        let pattern =
            Pattern::new(&source, flags).map_err(|error| Halt::failed(error.to_string()))?;
        let steps = if is_hard(&source) { HARD } else { EASY };
        let regex = Rc::new(Regex {
            pattern,
            source,
            flags,
            steps,
        });
        if self.0.len() >= KEPT {
            self.0.remove(0);
        }
        self.0.push(regex.clone());
        Ok(regex)
    }
}

impl Regex {
    /// The names of the groups; the first group is the whole match and has no name.
    pub(crate) fn group_names(&self) -> &[Option<String>] {
        self.pattern.group_names()
    }

    /// Whether the expression matches a part of a text.
    pub(crate) fn found_in(&self, text: &str, budget: &mut Budget<'_>) -> Evaluated<bool> {
        budget.step(self.steps + (text.len() / BYTES_PER_STEP) as u64)?;
        self.pattern.found_anywhere(text).map_err(too_costly)
    }

    /// Returns the first match in a text.
    pub(crate) fn find(
        &self,
        text: &str,
        budget: &mut Budget<'_>,
    ) -> Evaluated<Option<PatternMatch>> {
        self.find_next(text, 0, false, budget)
    }

    fn find_next(
        &self,
        text: &str,
        from: usize,
        advances: bool,
        budget: &mut Budget<'_>,
    ) -> Evaluated<Option<PatternMatch>> {
        let found = self
            .pattern
            .find_next(text, from, advances)
            .map_err(too_costly)?;
        let end = found.as_ref().map_or(text.len(), |found| found.end);
        budget.step(self.steps + (end.saturating_sub(from) / BYTES_PER_STEP) as u64)?;
        Ok(found)
    }

    /// Returns the first `most` matches in a text that do not overlap.
    pub(crate) fn find_all(
        &self,
        text: &str,
        most: usize,
        budget: &mut Budget<'_>,
    ) -> Evaluated<Vec<PatternMatch>> {
        let (mut all, mut from, mut advances) = (Vec::new(), 0, false);
        while from <= text.len() && all.len() < most {
            let Some(found) = self.find_next(text, from, advances, budget)? else {
                break;
            };
            (from, advances) = (found.end, found.start == found.end);
            all.push(found);
        }
        Ok(all)
    }

    /// Parses a replacement text, in which `\1` and `\g<name>` are groups. Fails with Python's
    /// message.
    pub(crate) fn template(&self, text: &str) -> Evaluated<Template> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            literal.push_str(&rest[..at]);
            let position = text.len() - rest.len() + at;
            let tail = &rest[at + 1..];
            let Some(next) = tail.chars().next() else {
                return Err(Halt::failed(format!(
                    "bad escape (end of pattern) at position {position}"
                )));
            };
            let (group, length) = match next {
                'g' => {
                    let name = tail[1..]
                        .strip_prefix('<')
                        .and_then(|inner| inner.split_once('>'));
                    let Some((name, _)) = name else {
                        return Err(Halt::failed(format!(
                            "missing group name at position {}",
                            position + 2
                        )));
                    };
                    (Some(self.group(name, position + 3)?), 3 + name.len())
                }
                '0'..='9' => {
                    let digits = tail.bytes().take(3).take_while(u8::is_ascii_digit).count();
                    let octal = tail
                        .bytes()
                        .take(3)
                        .take_while(|byte| (b'0'..=b'7').contains(byte))
                        .count();
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
                            return Err(Halt::failed(format!(
                                "bad escape \\{letter} at position {position}"
                            )));
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
        Ok(Template {
            parts,
            rest: literal,
        })
    }

    /// Returns the index of a group by number or name.
    fn group(&self, name: &str, position: usize) -> Evaluated<usize> {
        let names = self.group_names();
        if let Ok(number) = name.parse::<usize>() {
            return match number < names.len() {
                true => Ok(number),
                false => Err(Halt::failed(format!(
                    "invalid group reference {number} at position {position}"
                ))),
            };
        }
        let found = names
            .iter()
            .position(|known| known.as_deref() == Some(name));
        found.ok_or_else(|| {
            Halt::failed(format!("unknown group name {}", pycompat::repr_text(name)))
        })
    }
}

/// A replacement text with placeholders for groups.
pub(crate) struct Template {
    /// Texts, each with the index of the following group.
    parts: Vec<(String, usize)>,
    rest: String,
}

impl Template {
    /// Writes the replacement of a match; a group that did not match is empty.
    pub(crate) fn write(&self, text: &str, found: &PatternMatch, out: &mut String) {
        for (literal, group) in &self.parts {
            out.push_str(literal);
            if let Some(Some((start, end))) = found.groups.get(*group) {
                out.push_str(&text[*start..*end]);
            }
        }
        out.push_str(&self.rest);
    }
}

/// Writes a regular expression that matches exactly a text, as Python's `re.escape` does.
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
