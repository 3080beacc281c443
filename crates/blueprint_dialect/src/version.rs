//! The versions of the language, and their features (decisions/blueprint#feature-table).

/// The version with the features that 2023-04-20 lacks.
pub(super) const LATER: &str = "2025-11-02";

/// The literal `none`, and the name of a resource in documents of the first version that declare
/// it.
pub(super) const NONE: &str = "none";

/// A version of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// 2023-04-20, which is assumed for a document without a known version.
    First,
    /// 2025-11-02.
    Later,
}

impl Version {
    /// The names of all versions.
    pub(super) const NAMES: [&'static str; 2] = ["2023-04-20", LATER];

    /// The version with a name.
    pub(super) fn of(name: &str) -> Option<Version> {
        match name {
            "2023-04-20" => Some(Version::First),
            LATER => Some(Version::Later),
            _ => None,
        }
    }

    /// Whether the version has the features of `since`. An empty `since` stands for every version.
    pub(super) fn has(self, since: &str) -> bool {
        since.is_empty() || self == Version::Later
    }
}

/// Whether a text has the form of a version: `YYYY-MM-DD`.
pub(super) fn is_date(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| {
            if at == 4 || at == 7 {
                byte == b'-'
            } else {
                byte.is_ascii_digit()
            }
        })
}
