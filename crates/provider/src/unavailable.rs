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
    /// The place where the package is configured, as `FILE:LINE:COLUMN`; `None` if it needs no
    /// configuration.
    pub configured: Option<String>,
}

impl Unavailable {
    /// The reason for a package whose types are looked up before its plugin was asked for them,
    /// which is a defect of the program.
    pub(crate) fn not_opened(package: &str) -> Unavailable {
        debug_assert!(false, "`{package}` is looked up before it is opened");
        Unavailable {
            package: package.into(),
            why: "the program looked its types up before it asked the plugin for them; \
                  this is a defect of the program"
                .to_owned(),
            configured: None,
        }
    }

    /// The diagnostic for its first use, without a place.
    pub fn diagnostic(&self) -> Diagnostic {
        let diagnostic = PLUGIN_UNAVAILABLE
            .new(format!("the plugin of `{}` cannot be used", self.package))
            .note(self.why.clone());
        match &self.configured {
            Some(place) => diagnostic.note(format!("it is configured at {place}")),
            None => diagnostic,
        }
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
