//! The name of an instance, and the two numbers that count its commits and its finished operations.

use std::fmt;
use std::str::FromStr;

use blueprint::Name;
use serde::{Deserialize, Serialize};

/// The number of commits to an instance: 0 before the first, one more with each. It never
/// decreases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Revision(pub u64);

/// The number of a finished operation of an instance, from 1; `history` shows it and `rollback`
/// takes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Generation(pub u64);

/// The name an instance is deployed under: letters, digits, `_`, `.`, `-`; at most 128; not `.` or
/// `..`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InstanceName(Name);

/// The error of a text that is not a valid name for an instance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no name for an instance: letters, digits, `_`, `.` and `-` are, at most 128 of them"
)]
pub struct InstanceNameError(pub String);

impl InstanceName {
    /// The name with characters outside the allowed ones replaced by `-`; `instance` if nothing is
    /// left.
    pub fn from_free_text(text: &str) -> InstanceName {
        let name: String = text
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-') {
                    c
                } else {
                    '-'
                }
            })
            .take(128)
            .collect();
        let name = if name.is_empty() || name.chars().all(|c| c == '.') {
            "instance".to_owned()
        } else {
            name
        };
        InstanceName(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as a shared text.
    pub fn name(&self) -> &Name {
        &self.0
    }
}

impl fmt::Display for InstanceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for InstanceName {
    type Err = InstanceNameError;

    fn from_str(text: &str) -> Result<InstanceName, InstanceNameError> {
        let fits = !text.is_empty()
            && text.len() <= 128
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
            && !text.bytes().all(|byte| byte == b'.');
        if fits {
            Ok(InstanceName(text.into()))
        } else {
            Err(InstanceNameError(text.to_owned()))
        }
    }
}

impl TryFrom<String> for InstanceName {
    type Error = InstanceNameError;

    fn try_from(text: String) -> Result<InstanceName, InstanceNameError> {
        text.parse()
    }
}

impl From<InstanceName> for String {
    fn from(name: InstanceName) -> String {
        name.0.as_ref().to_owned()
    }
}
