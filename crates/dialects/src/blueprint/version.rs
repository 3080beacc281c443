//! The versions of the language, and their features (decision 0).

/// The version with the features that 2023-04-20 lacks.
pub(super) const LATER: &str = "2025-11-02";

/// The literal, and the name of a resource in documents of the first version that declare one.
pub(super) const NONE: &str = "none";

/// A version of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// 2023-04-20, the one that is assumed where a document names none that is known.
    First,
    /// 2025-11-02.
    Later,
}

impl Version {
    /// All versions, as documents name them.
    pub(super) const NAMES: [&'static str; 2] = ["2023-04-20", LATER];

    /// The version of that name.
    pub(super) fn of(name: &str) -> Option<Version> {
        match name {
            "2023-04-20" => Some(Version::First),
            LATER => Some(Version::Later),
            _ => None,
        }
    }

    /// Whether the version has the features of `since`; an empty `since` is in every version.
    pub(super) fn has(self, since: &str) -> bool {
        since.is_empty() || self == Version::Later
    }
}

/// Whether a text has the form of a version: `YYYY-MM-DD`.
pub(super) fn is_date(text: &str) -> bool {
    text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() })
}
