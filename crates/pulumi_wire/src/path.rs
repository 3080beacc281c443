//! Property paths: `a.b["c d"][0]`, with `*` for every element.

use std::fmt;

use blueprint::{Name, Value};

/// A step into a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PropertyStep {
    /// An entry of a map.
    Property(Name),
    /// An item of a list.
    Index(u64),
    /// Every entry or item.
    Every,
}

/// A path in the properties of a resource. The empty path means the properties as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PropertyPath(pub Vec<PropertyStep>);

/// The error for a text that is not a property path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a property path; the mistake is at byte {at}")]
pub struct PathError {
    /// The byte offset of the mistake.
    pub at: usize,
}

impl PropertyPath {
    /// Parses a path. The empty text is the empty path.
    ///
    /// # Errors
    /// If the text does not follow the grammar.
    pub fn parse(text: &str) -> Result<PropertyPath, PathError> {
        PathParser { text, at: 0 }.path()
    }

    /// Parses a path in a plugin's answer. A text that is not a path is the name of one property.
    pub fn parse_or_name(text: &str) -> PropertyPath {
        PropertyPath::parse(text)
            .unwrap_or_else(|_| PropertyPath(vec![PropertyStep::Property(text.into())]))
    }

    /// The path of one property.
    pub fn property(name: impl Into<Name>) -> PropertyPath {
        PropertyPath(vec![PropertyStep::Property(name.into())])
    }

    /// Whether `other` is at this path or below it. `*` matches any one step.
    pub fn covers(&self, other: &PropertyPath) -> bool {
        self.0.len() <= other.0.len()
            && self
                .0
                .iter()
                .zip(&other.0)
                .all(|(own, other)| *own == PropertyStep::Every || own == other)
    }

    /// The part of a value at this path. `None` if there is no such part, or if the path has a `*`.
    /// Every part of an unknown value is unknown.
    pub fn select<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        let mut at = value;
        for step in &self.0 {
            if at.is_unknown() {
                return Some(at);
            }
            at = match (step, at.unmarked()) {
                (PropertyStep::Property(name), Value::Map(entries)) => entries.get(name)?,
                (PropertyStep::Index(index), Value::List(items)) => {
                    items.get(usize::try_from(*index).ok()?)?
                }
                _ => return None,
            };
        }
        Some(at)
    }
}

struct PathParser<'a> {
    text: &'a str,
    at: usize,
}

impl PathParser<'_> {
    fn path(mut self) -> Result<PropertyPath, PathError> {
        let mut steps = Vec::new();
        while let Some(next) = self.peek() {
            match next {
                '[' => {
                    self.at += 1;
                    steps.push(self.bracket()?);
                }
                '.' if !steps.is_empty() => {
                    self.at += 1;
                    steps.push(self.name()?);
                }
                _ if steps.is_empty() => steps.push(self.name()?),
                _ => return Err(self.mistake()),
            }
        }
        Ok(PropertyPath(steps))
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn mistake(&self) -> PathError {
        PathError { at: self.at }
    }

    fn name(&mut self) -> Result<PropertyStep, PathError> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = rest.find(['.', '[', ']', '"']).unwrap_or(rest.len());
        let name = &rest[..end];
        if name.is_empty() || matches!(rest[end..].chars().next(), Some(']' | '"')) {
            return Err(self.mistake());
        }
        self.at += end;
        Ok(if name == "*" {
            PropertyStep::Every
        } else {
            PropertyStep::Property(name.into())
        })
    }

    fn bracket(&mut self) -> Result<PropertyStep, PathError> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let step = if rest.starts_with('"') {
            PropertyStep::Property(self.quoted()?)
        } else {
            let end = rest.find(']').ok_or_else(|| self.mistake())?;
            let step = match &rest[..end] {
                "*" => PropertyStep::Every,
                digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                    PropertyStep::Index(digits.parse().map_err(|_| self.mistake())?)
                }
                _ => return Err(self.mistake()),
            };
            self.at += end;
            step
        };
        if self.peek() != Some(']') {
            return Err(self.mistake());
        }
        self.at += 1;
        Ok(step)
    }

    /// Parses a key in quotes; a backslash escapes the next character.
    fn quoted(&mut self) -> Result<Name, PathError> {
        self.at += 1;
        let mut key = String::new();
        let mut escaped = false;
        let rest = self.text.get(self.at..).unwrap_or_default();
        for (at, character) in rest.char_indices() {
            match character {
                _ if escaped => {
                    key.push(character);
                    escaped = false;
                }
                '\\' => escaped = true,
                '"' => {
                    self.at += at + 1;
                    return Ok(key.into());
                }
                other => key.push(other),
            }
        }
        Err(self.mistake())
    }
}

/// Writes the path in a form that [`PropertyPath::parse`] accepts.
impl fmt::Display for PropertyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                PropertyStep::Property(name) if is_plain(name) => {
                    write!(f, "{}{name}", if at == 0 { "" } else { "." })?;
                }
                PropertyStep::Property(name) => {
                    write!(
                        f,
                        "[\"{}\"]",
                        name.replace('\\', "\\\\").replace('"', "\\\"")
                    )?;
                }
                PropertyStep::Index(index) => write!(f, "[{index}]")?,
                PropertyStep::Every => f.write_str("[*]")?,
            }
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    let mut characters = name.chars();
    characters
        .next()
        .is_some_and(|first| first.is_alphabetic() || matches!(first, '_' | '$' | '#'))
        && characters
            .all(|character| character.is_alphanumeric() || matches!(character, '_' | '$' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_and_print() {
        for (text, printed) in [
            ("", ""),
            ("a", "a"),
            ("a.b[0].c", "a.b[0].c"),
            ("a.b[\"c d\"][0]", "a.b[\"c d\"][0]"),
            ("a[*].b", "a[*].b"),
            ("a.*", "a[*]"),
            (
                "[\"root key with \\\"quotes\\\"\"].x",
                "[\"root key with \\\"quotes\\\"\"].x",
            ),
            ("#initerror", "#initerror"),
            ("a[\"\"]", "a[\"\"]"),
        ] {
            let path = PropertyPath::parse(text).unwrap();
            assert_eq!(path.to_string(), printed);
            assert_eq!(PropertyPath::parse(printed), Ok(path));
        }
    }

    #[test]
    fn a_mistake_in_a_path_is_found() {
        for text in [
            ".a",
            "a.",
            "a[",
            "a[0",
            "a[x]",
            "a[\"b]",
            "a]b",
            "a[\"b\"c",
            "a[99999999999999999999]",
            "a..b",
        ] {
            assert!(PropertyPath::parse(text).is_err(), "{text}");
        }
        assert_eq!(
            PropertyPath::parse_or_name("a["),
            PropertyPath::property("a[")
        );
    }

    #[test]
    fn a_path_selects_a_part_and_covers_what_is_below() {
        let value = Value::map([("a", Value::list([Value::map([("b", Value::Int(1))])]))]);
        let path = PropertyPath::parse("a[0].b").unwrap();
        assert_eq!(path.select(&value), Some(&Value::Int(1)));
        assert_eq!(PropertyPath::parse("a[1]").unwrap().select(&value), None);
        let covers = |text: &str| PropertyPath::parse(text).unwrap().covers(&path);
        assert!(
            covers("a") && covers("a[*].b") && covers("") && !covers("b") && !covers("a[0].b.c")
        );
    }
}
