//! Breakpoints: moments at which an operation stops until a person resumes it.
//!
//! Not here: stopping (`apply`), the syntax of breakpoints (`dialect` and the crates of single
//! dialects).

use std::fmt;
use std::str::FromStr;

/// A moment before or after an action on a resource.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Breakpoint {
    /// Before a create.
    PreCreate,
    /// Before an update or a replacement.
    PreUpdate,
    /// Before a delete.
    PreDelete,
    /// After a create.
    PostCreate,
    /// After an update.
    PostUpdate,
    /// After a delete.
    PostDelete,
}

impl Breakpoint {
    /// All breakpoints.
    pub const ALL: [Breakpoint; 6] = [
        Breakpoint::PreCreate,
        Breakpoint::PreUpdate,
        Breakpoint::PreDelete,
        Breakpoint::PostCreate,
        Breakpoint::PostUpdate,
        Breakpoint::PostDelete,
    ];

    /// The word: `pre-create`, `post-update`, ...
    pub fn word(self) -> &'static str {
        match self {
            Breakpoint::PreCreate => "pre-create",
            Breakpoint::PreUpdate => "pre-update",
            Breakpoint::PreDelete => "pre-delete",
            Breakpoint::PostCreate => "post-create",
            Breakpoint::PostUpdate => "post-update",
            Breakpoint::PostDelete => "post-delete",
        }
    }

    /// Whether the breakpoint is before the action.
    pub fn is_before(self) -> bool {
        matches!(
            self,
            Breakpoint::PreCreate | Breakpoint::PreUpdate | Breakpoint::PreDelete
        )
    }
}

impl fmt::Display for Breakpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Breakpoint {
    type Err = ();

    /// The breakpoint with a word; an error for any other text.
    fn from_str(word: &str) -> Result<Breakpoint, ()> {
        Breakpoint::ALL
            .into_iter()
            .find(|one| one.word() == word)
            .ok_or(())
    }
}

/// A set of breakpoints.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(from = "Vec<Breakpoint>", into = "Vec<Breakpoint>")]
pub struct Breakpoints(u8);

impl Breakpoints {
    /// No breakpoint.
    pub const NONE: Breakpoints = Breakpoints(0);

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// Whether the set contains a breakpoint.
    pub fn contains(self, one: Breakpoint) -> bool {
        self.0 & (1 << one as u8) != 0
    }

    /// The set with another breakpoint.
    pub fn with(self, one: Breakpoint) -> Breakpoints {
        Breakpoints(self.0 | (1 << one as u8))
    }

    /// The breakpoints of the set, in the order of [`Breakpoint::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Breakpoint> {
        Breakpoint::ALL
            .into_iter()
            .filter(move |one| self.contains(*one))
    }
}

impl FromIterator<Breakpoint> for Breakpoints {
    fn from_iter<I: IntoIterator<Item = Breakpoint>>(all: I) -> Breakpoints {
        all.into_iter().fold(Breakpoints::NONE, Breakpoints::with)
    }
}

impl From<Vec<Breakpoint>> for Breakpoints {
    fn from(all: Vec<Breakpoint>) -> Breakpoints {
        all.into_iter().collect()
    }
}

impl From<Breakpoints> for Vec<Breakpoint> {
    fn from(all: Breakpoints) -> Vec<Breakpoint> {
        all.iter().collect()
    }
}

impl fmt::Debug for Breakpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breakpoint_set_contains_members_and_round_trips() {
        let all: Breakpoints = [Breakpoint::PostDelete, Breakpoint::PreCreate]
            .into_iter()
            .collect();
        assert!(all.contains(Breakpoint::PreCreate) && !all.contains(Breakpoint::PreUpdate));
        let text = serde_json::to_string(&all).unwrap();
        assert_eq!(text, r#"["pre-create","post-delete"]"#);
        assert_eq!(serde_json::from_str::<Breakpoints>(&text).unwrap(), all);
        assert_eq!(
            Breakpoint::ALL.map(|one| one.word().parse()),
            Breakpoint::ALL.map(Ok)
        );
    }
}
