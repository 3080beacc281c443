//! Why an API server refuses a part of an object.

use std::fmt;

use blueprint::{FieldPath, PathStep, Value};

use super::numbers::identity;

/// Why an API server refuses a part of an object: a cause in its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaViolation {
    /// The part. Empty for the whole object, and for a rule that combines schemas.
    pub path: FieldPath,
    /// The reason.
    pub reason: ViolationReason,
    /// The message as the API server writes it, without the path. It repeats no secret.
    pub message: String,
}

/// The reasons of an API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ViolationReason {
    /// The field is missing.
    Required,
    /// The value has another type.
    TypeInvalid,
    /// The value is none of those that are allowed.
    NotSupported,
    /// The text is too long.
    TooLong,
    /// There are too many items or fields.
    TooMany,
    /// Another item has the same value or keys.
    Duplicate,
    /// The value breaks another rule.
    Invalid,
}

impl ViolationReason {
    /// The reason as answers name it.
    pub fn as_str(self) -> &'static str {
        match self {
            ViolationReason::Required => "FieldValueRequired",
            ViolationReason::TypeInvalid => "FieldValueTypeInvalid",
            ViolationReason::NotSupported => "FieldValueNotSupported",
            ViolationReason::TooLong => "FieldValueTooLong",
            ViolationReason::TooMany => "FieldValueTooMany",
            ViolationReason::Duplicate => "FieldValueDuplicate",
            ViolationReason::Invalid => "FieldValueInvalid",
        }
    }
}

impl SchemaViolation {
    /// The field as an API server writes it, for example `spec.containers[0].image`; `<nil>` if
    /// the path is empty.
    pub fn field(&self) -> String {
        match self.path.is_empty() {
            true => "<nil>".to_owned(),
            false => written_path(&self.path.0),
        }
    }
}

/// Writes the field and the message.
impl fmt::Display for SchemaViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field(), self.message)
    }
}

/// A path as an API server writes it: names after dots, items in brackets.
pub(crate) fn written_path(steps: &[PathStep]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            PathStep::Index(index) => text.push_str(&format!("[{index}]")),
            PathStep::Field(name) | PathStep::Key(name) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(name);
            }
        }
    }
    text
}

/// A value in a message.
pub(crate) fn shown(value: &Value, is_secret: bool) -> String {
    if is_secret || value.has_secret() {
        return "(secret)".to_owned();
    }
    identity(value).unwrap_or_else(|| format!("({})", value.kind_word()))
}
