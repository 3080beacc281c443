//! Providers that cannot be used at all: a plugin that does not start, settings that are refused.
//!
//! Each such provider is reported once, for all its resources together.

use blueprint::Name;
use diag::Diagnostic;

use crate::codes::PLUGIN_UNAVAILABLE;

/// The reason why the types of a hosted package are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// The package.
    pub package: Name,
    /// The reason why its plugin cannot be used, in the words of its host.
    pub why: String,
    /// The place where the package is configured, as `FILE:LINE:COLUMN`.
    pub configured: String,
}

impl Unavailable {
    /// The diagnostic for its first use, without a place.
    pub fn diagnostic(&self) -> Diagnostic {
        PLUGIN_UNAVAILABLE
            .new(format!("the plugin of `{}` cannot be used", self.package))
            .note(self.why.clone())
            .note(format!("it is configured at {}", self.configured))
            .once()
    }
}

/// The provider whose session cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFailure {
    /// The package, or the address of the resource that declares the provider.
    pub provider: Name,
    /// The place where the settings at fault are written, as `FILE:LINE:COLUMN`; `None` if none are
    /// written.
    pub settings: Option<Name>,
}
