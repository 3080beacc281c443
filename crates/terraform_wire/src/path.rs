//! Structured paths into values.

use std::fmt;

use blueprint::{Name, Value};

/// A step into a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AttributeStep {
    /// An attribute or block.
    Attribute(Name),
    /// An item of a list or tuple. Elements of sets have no step of their own.
    Index(u64),
    /// An entry of a map.
    Key(Name),
}

/// A path from the top of a resource's value. Empty for the whole value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path(pub Vec<AttributeStep>);

impl Path {
    /// Returns the path with one more step.
    pub fn join(&self, step: AttributeStep) -> Path {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        Path(steps)
    }

    /// Returns the path of an attribute or block of this place.
    pub fn attribute(&self, name: &Name) -> Path {
        self.join(AttributeStep::Attribute(name.clone()))
    }

    /// Returns the path of an item of this place.
    pub fn index(&self, at: usize) -> Path {
        self.join(AttributeStep::Index(at as u64))
    }

    /// Returns the path of an entry of this place.
    pub fn key(&self, key: &Name) -> Path {
        self.join(AttributeStep::Key(key.clone()))
    }

    /// The part of a value at this path. `None` if there is no such part, or if a value along the
    /// path is null. Every part of an unknown value is unknown.
    pub fn select<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        let mut at = value;
        for step in &self.0 {
            if at.is_unknown() {
                return Some(at);
            }
            at = match (step, at.unmarked()) {
                (
                    AttributeStep::Attribute(name) | AttributeStep::Key(name),
                    Value::Map(entries),
                ) => entries.get(name)?,
                (AttributeStep::Index(index), Value::List(items)) => {
                    items.get(usize::try_from(*index).ok()?)?
                }
                _ => return None,
            };
        }
        Some(at)
    }
}

/// A path during a descent through a value. It allocates only when it is converted to a [`Path`].
#[derive(Clone, Copy)]
pub(crate) enum PathTrail<'a> {
    Top,
    Attribute(&'a PathTrail<'a>, &'a Name),
    Index(&'a PathTrail<'a>, usize),
    Key(&'a PathTrail<'a>, &'a Name),
}

impl<'a> PathTrail<'a> {
    pub(crate) fn attribute(&'a self, name: &'a Name) -> PathTrail<'a> {
        PathTrail::Attribute(self, name)
    }

    pub(crate) fn index(&'a self, at: usize) -> PathTrail<'a> {
        PathTrail::Index(self, at)
    }

    pub(crate) fn key(&'a self, key: &'a Name) -> PathTrail<'a> {
        PathTrail::Key(self, key)
    }

    pub(crate) fn to_path(self) -> Path {
        let mut steps = Vec::new();
        let mut at = self;
        loop {
            let (above, step) = match at {
                PathTrail::Top => break,
                PathTrail::Attribute(above, name) => {
                    (above, AttributeStep::Attribute(name.clone()))
                }
                PathTrail::Index(above, index) => (above, AttributeStep::Index(index as u64)),
                PathTrail::Key(above, key) => (above, AttributeStep::Key(key.clone())),
            };
            steps.push(step);
            at = *above;
        }
        steps.reverse();
        Path(steps)
    }
}

/// Writes the path for people, with dots, `[n]` and `["key"]`.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                AttributeStep::Attribute(name) => {
                    write!(f, "{}{name}", if at == 0 { "" } else { "." })?
                }
                AttributeStep::Index(index) => write!(f, "[{index}]")?,
                AttributeStep::Key(key) => write!(f, "[{key:?}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_selects_a_part_of_a_value() {
        let value = Value::map([("a", Value::list([Value::map([("k.1", Value::Int(3))])]))]);
        let path = Path::default()
            .attribute(&"a".into())
            .index(0)
            .key(&"k.1".into());
        assert_eq!(path.to_string(), r#"a[0]["k.1"]"#);
        assert_eq!(path.select(&value), Some(&Value::Int(3)));
        assert_eq!(Path::default().attribute(&"b".into()).select(&value), None);
        let unknown = Value::unknown(None, None);
        assert!(path.select(&unknown).is_some_and(Value::is_unknown));
    }
}
