//! What the tool whose documents these are says of a mistake.
//!
//! It is kept in the parts of which that tool makes its messages, because who finds a mistake knows why, and only who knows
//! where that stands can say the way there.

use std::borrow::Cow;
use std::fmt;

/// A message of another tool: its class of the error, what stands before the way to the place, the way, and why.
///
/// Prints as `class: error: path: message`, without the parts that are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The class of the error, as the tool calls it.
    pub class: Cow<'static, str>,
    /// What is said before the way to the place.
    pub error: Cow<'static, str>,
    /// The way to the place in the document.
    pub path: Box<str>,
    /// Why.
    pub message: Box<str>,
}

impl Words {
    /// A message of a class, without a way.
    pub fn of(class: impl Into<Cow<'static, str>>, message: impl Into<Box<str>>) -> Words {
        Words { class: class.into(), message: message.into(), ..Words::default() }
    }

    /// Sets the way to the place.
    pub fn at(mut self, path: impl Into<Box<str>>) -> Words {
        self.path = path.into();
        self
    }

    /// Sets what is said before the way.
    pub fn error(mut self, error: impl Into<Cow<'static, str>>) -> Words {
        self.error = error.into();
        self
    }
}

impl fmt::Display for Words {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [&*self.class, &*self.error, &*self.path].into_iter().filter(|part| !part.is_empty()) {
            write!(to, "{part}: ")?;
        }
        to.write_str(&self.message)
    }
}

impl From<&str> for Words {
    fn from(message: &str) -> Words {
        Words { message: message.into(), ..Words::default() }
    }
}

impl From<String> for Words {
    fn from(message: String) -> Words {
        Words { message: message.into(), ..Words::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::Words;

    #[test]
    fn parts_that_are_empty_leave_no_trace() {
        assert_eq!(Words::from("why").to_string(), "why");
        assert_eq!(Words::of("Class", "why").to_string(), "Class: why");
        assert_eq!(Words::of("Class", "why").error("Error").at("a.b").to_string(), "Class: Error: a.b: why");
    }
}
