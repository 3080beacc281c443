//! The corresponding message of the native tool of a dialect.
//!
//! The message consists of the parts from which the tool builds its messages: the check that finds
//! a mistake knows the reason, and its caller knows the path to the place.

use std::borrow::Cow;
use std::fmt;

/// A message of another tool: error class, prefix, path and reason.
///
/// Displays as `class: error: path: message`, without empty parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NativeMessage {
    /// The class of the error, as the tool names it.
    pub class: Cow<'static, str>,
    /// The text before the path.
    pub error: Cow<'static, str>,
    /// The path to the place in the document.
    pub path: Box<str>,
    /// The reason.
    pub message: Box<str>,
}

impl NativeMessage {
    /// A message of a class, without a path.
    pub fn of(class: impl Into<Cow<'static, str>>, message: impl Into<Box<str>>) -> NativeMessage {
        NativeMessage {
            class: class.into(),
            message: message.into(),
            ..NativeMessage::default()
        }
    }

    /// Sets the path to the place.
    pub fn at(mut self, path: impl Into<Box<str>>) -> NativeMessage {
        self.path = path.into();
        self
    }

    /// Sets the text before the path.
    pub fn error(mut self, error: impl Into<Cow<'static, str>>) -> NativeMessage {
        self.error = error.into();
        self
    }
}

impl fmt::Display for NativeMessage {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [&*self.class, &*self.error, &*self.path]
            .into_iter()
            .filter(|part| !part.is_empty())
        {
            write!(to, "{part}: ")?;
        }
        to.write_str(&self.message)
    }
}

impl From<&str> for NativeMessage {
    fn from(message: &str) -> NativeMessage {
        NativeMessage {
            message: message.into(),
            ..NativeMessage::default()
        }
    }
}

impl From<String> for NativeMessage {
    fn from(message: String) -> NativeMessage {
        NativeMessage {
            message: message.into(),
            ..NativeMessage::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NativeMessage;

    #[test]
    fn parts_that_are_empty_leave_no_trace() {
        assert_eq!(NativeMessage::from("why").to_string(), "why");
        assert_eq!(NativeMessage::of("Class", "why").to_string(), "Class: why");
        assert_eq!(
            NativeMessage::of("Class", "why")
                .error("Error")
                .at("a.b")
                .to_string(),
            "Class: Error: a.b: why"
        );
    }
}
