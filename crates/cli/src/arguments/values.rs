//! Values of flags: words and addresses.

use std::time::Duration;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use engine::Adoption;
use engine::apply::OnFailure;
use engine::inspect::ChosenOperation;

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

/// Parses which operation of the history is meant.
pub(super) fn chosen_operation(text: &str) -> Result<ChosenOperation, String> {
    if text == "last" {
        return Ok(ChosenOperation::Newest);
    }
    text.parse()
        .map(ChosenOperation::Generation)
        .map_err(|_| "it must be the number of a generation, or `last`".to_owned())
}

/// Parses what to do when a step fails.
pub(super) fn on_failure() -> impl TypedValueParser<Value = OnFailure> {
    let words = [
        PossibleValue::new("stop").help("Start nothing new; wait for what runs"),
        PossibleValue::new("keep-going").help("Skip only what depends on it"),
        PossibleValue::new("rollback")
            .help("Stop, then roll back to the last successful generation"),
    ];
    PossibleValuesParser::new(words).map(|word| match &*word {
        "keep-going" => OnFailure::KeepGoing,
        "rollback" => OnFailure::Rollback,
        _ => OnFailure::Stop,
    })
}

/// Parses a length of time. The error is a message.
pub(super) fn wait_time(text: &str) -> Result<Duration, String> {
    let wrong = |_| "write a number with a unit, such as `30s` or `10m`".to_owned();
    blueprint::parse_duration(text).map_err(wrong)
}

/// Parses a number of concurrent steps. The error is a message.
pub(super) fn number_of_steps(text: &str) -> Result<u16, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "write a number from 1 to 65535".to_owned())
}

/// `NAME.KEY=VALUE`: a setting of a provider.
#[derive(Clone, Debug)]
pub(crate) struct ProviderSetting {
    /// The name of the provider.
    pub(crate) provider: String,
    pub(crate) key: String,
    /// The value as TOML writes it, or a text.
    pub(crate) value: String,
}

impl std::str::FromStr for ProviderSetting {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<ProviderSetting, &'static str> {
        let wrong = "write `NAME.KEY=VALUE`, such as `kubernetes.context=prod`";
        let (path, value) = text.split_once('=').ok_or(wrong)?;
        // Names of packages may have dots; keys have none.
        let (provider, key) = path.rsplit_once('.').ok_or(wrong)?;
        if provider.is_empty() || key.is_empty() {
            return Err(wrong);
        }
        Ok(ProviderSetting {
            provider: provider.to_owned(),
            key: key.to_owned(),
            value: value.to_owned(),
        })
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
