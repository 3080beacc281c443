//! Values of flags: words and addresses.

use clap::ValueEnum;
use engine::Adoption;

/// What happens to changes that others made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DriftPolicy {
    /// Set it back
    #[default]
    Revert,
    /// Take it into the state where the document does not set the field; fail elsewhere
    Accept,
    /// Leave it as it is
    Ignore,
    /// Refuse to plan
    Refuse,
}

impl DriftPolicy {
    pub(crate) fn policy(self) -> engine::DriftPolicy {
        match self {
            DriftPolicy::Revert => engine::DriftPolicy::Revert,
            DriftPolicy::Accept => engine::DriftPolicy::Accept,
            DriftPolicy::Ignore => engine::DriftPolicy::Ignore,
            DriftPolicy::Refuse => engine::DriftPolicy::Refuse,
        }
    }
}

/// What to do when a step fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnFailureArgument {
    /// Start nothing new; wait for what runs
    Stop,
    /// Skip only what depends on it
    KeepGoing,
    /// Stop, then roll back to the last successful generation
    Rollback,
}

impl From<OnFailureArgument> for engine::config::OnFailure {
    fn from(on_failure: OnFailureArgument) -> engine::config::OnFailure {
        match on_failure {
            OnFailureArgument::Stop => engine::config::OnFailure::Stop,
            OnFailureArgument::KeepGoing => engine::config::OnFailure::KeepGoing,
            OnFailureArgument::Rollback => engine::config::OnFailure::Rollback,
        }
    }
}

/// `ADDRESS` or `ADDRESS=ID`.
#[derive(Clone, Debug)]
pub(crate) struct Adopted(pub(crate) Adoption);

impl std::str::FromStr for Adopted {
    type Err = blueprint::AddressError;

    fn from_str(text: &str) -> Result<Adopted, blueprint::AddressError> {
        // An id may contain any character; an address contains `=` only in a key.
        let cut = text
            .match_indices('=')
            .map(|(at, _)| at)
            .find_map(|at| Some((text[..at].parse().ok()?, at)));
        Ok(Adopted(match cut {
            Some((address, at)) => Adoption {
                address,
                id: Some(text[at + 1..].into()),
            },
            None => Adoption {
                address: text.parse()?,
                id: None,
            },
        }))
    }
}
