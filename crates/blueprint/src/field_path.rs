//! Structured paths into values: to a field, an item of a list, an entry of a map.

use std::fmt;

use crate::{Name, Value};

/// A step into a value.
///
/// The field `*` stands for every entry or item, where a path selects several parts of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// A field of an object.
    Field(Name),
    /// An item of a list. Elements of sets have no step of their own.
    Index(u64),
    /// An entry of a map.
    Key(Name),
}

/// The name of the step to every entry or item.
const EVERY: &str = "*";

impl PathStep {
    /// Whether it stands for every entry or item.
    pub fn is_every(&self) -> bool {
        matches!(self, PathStep::Field(name) if **name == *EVERY)
    }

    /// Whether a step of a value is meant by this step of a path that may select several.
    fn means(&self, other: &PathStep) -> bool {
        let name = |step: &PathStep| match step {
            PathStep::Field(name) | PathStep::Key(name) => Some(name.clone()),
            PathStep::Index(_) => None,
        };
        self.is_every() || self == other || name(self).is_some_and(|own| Some(own) == name(other))
    }
}

/// A path from the top of a value. Empty for the whole value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FieldPath(pub Vec<PathStep>);

impl FieldPath {
    /// The path of one field.
    pub fn field(name: impl Into<Name>) -> FieldPath {
        FieldPath(vec![PathStep::Field(name.into())])
    }

    /// The path with one more step.
    pub fn join(&self, step: PathStep) -> FieldPath {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        FieldPath(steps)
    }

    /// Whether the path is that of the whole value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether another path is this one, or leads into a part that this one selects.
    pub fn covers(&self, other: &FieldPath) -> bool {
        let mut steps = self.0.iter().zip(&other.0);
        self.0.len() <= other.0.len() && steps.all(|(own, step)| own.means(step))
    }

    /// Reads the text form: names separated by dots, `[n]` for items, `["key"]` for entries, `[*]`
    /// for every one of them. Never fails: a part that is not well formed becomes a name.
    pub fn parse(text: &str) -> FieldPath {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(inside) = rest.strip_prefix("[\"")
                && let Some((key, after)) = inside.split_once("\"]")
            {
                steps.push(PathStep::Key(key.into()));
                rest = after;
                continue;
            }
            if let Some(after) = rest.strip_prefix("[*]") {
                steps.push(PathStep::Field(EVERY.into()));
                rest = after;
                continue;
            }
            if let Some(inside) = rest.strip_prefix('[')
                && let Some((index, after)) = inside.split_once(']')
                && let Ok(index) = index.parse()
            {
                steps.push(PathStep::Index(index));
                rest = after;
                continue;
            }
            rest = rest.strip_prefix('.').unwrap_or(rest);
            // A bracket that opens no step belongs to the name.
            let first = rest.chars().next().map_or(0, char::len_utf8);
            let end = rest[first..]
                .find(['.', '['])
                .map_or(rest.len(), |at| at + first);
            if end > 0 {
                steps.push(PathStep::Field(rest[..end].into()));
            }
            rest = &rest[end..];
        }
        FieldPath(steps)
    }

    /// The part of a value at this path. `None` if the value has no such part, or if a value on the
    /// way is null. Every part of an unknown value is unknown.
    pub fn select<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        let mut at = value;
        for step in &self.0 {
            if at.is_unknown() {
                return Some(at);
            }
            at = match (step, at.unmarked()) {
                (PathStep::Field(name) | PathStep::Key(name), Value::Map(entries)) => {
                    entries.get(name)?
                }
                (PathStep::Index(index), Value::List(items)) => {
                    items.get(usize::try_from(*index).ok()?)?
                }
                _ => return None,
            };
        }
        Some(at)
    }
}

impl From<&str> for FieldPath {
    fn from(text: &str) -> FieldPath {
        FieldPath::parse(text)
    }
}

impl From<String> for FieldPath {
    fn from(text: String) -> FieldPath {
        FieldPath::parse(&text)
    }
}

impl From<&String> for FieldPath {
    fn from(text: &String) -> FieldPath {
        FieldPath::parse(text)
    }
}

impl From<Name> for FieldPath {
    fn from(name: Name) -> FieldPath {
        FieldPath::parse(&name)
    }
}

/// Writes the text form: `a.b[0]`, with `["key"]` for a name that holds other characters than
/// letters, digits, `_` and `-`.
impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Index(index) => write!(f, "[{index}]")?,
                PathStep::Field(name) if **name == *EVERY => f.write_str("[*]")?,
                PathStep::Field(name) | PathStep::Key(name) if is_plain(name) => {
                    write!(f, "{}{name}", if at == 0 { "" } else { "." })?;
                }
                PathStep::Field(name) | PathStep::Key(name) => write!(f, "[\"{name}\"]")?,
            }
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

impl serde::Serialize for FieldPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for FieldPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<FieldPath, D::Error> {
        let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
        Ok(FieldPath::parse(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_selects_a_part_of_a_value() {
        let value = Value::map([("a", Value::list([Value::map([("k.1", Value::Int(3))])]))]);
        let path = FieldPath::parse(r#"a[0]["k.1"]"#);
        assert_eq!(path.select(&value), Some(&Value::Int(3)));
        assert_eq!(FieldPath::field("b").select(&value), None);
        assert!(
            path.select(&Value::unknown(None, None))
                .is_some_and(Value::is_unknown)
        );
    }

    #[test]
    fn text_form_reads_back() {
        for text in [
            "",
            "a",
            "a.b",
            "a[0].b",
            r#"a["k.1"].b"#,
            r#"["x y"]"#,
            "a[1][2]",
        ] {
            assert_eq!(FieldPath::parse(text).to_string(), text);
        }
        // Text that is not well formed is a name, and nothing panics.
        for text in ["[", "a[", "a[x]", "..", "a..b", "é[", "[\"", "a]"] {
            let once = FieldPath::parse(text);
            assert_eq!(
                FieldPath::parse(&once.to_string()).to_string(),
                once.to_string(),
                "{text}"
            );
        }
    }
}
