//! The microversions that the services of a cloud are asked for.
//!
//! The wanted version is sent without asking first. A service that refuses it (406) says which
//! versions it has, once in a session.
//!
//! Not here: which versions are wanted (`service`).

use std::fmt;

use serde_json::Value as Json;

use super::Service;
use super::service::{Microversion, Microversions};

/// The versions that a service has, the oldest and the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SupportedVersions {
    oldest: Microversion,
    newest: Microversion,
}

/// A microversion as it is written.
pub(super) struct Shown(pub(super) Microversion);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.0;
        write!(f, "{major}.{minor}")
    }
}

fn parsed(text: &str) -> Option<Microversion> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

impl SupportedVersions {
    /// The versions in a description of an API: an object `version`, or the list `versions`.
    pub(super) fn of(description: &Json) -> Option<SupportedVersions> {
        let list = description["versions"].as_array();
        let one = description.get("version").into_iter();
        let all = one.chain(list.into_iter().flatten());
        let versions = all.filter_map(|entry| {
            // Nova says `min_version`, and Cinder, too.
            let newest = parsed(entry["version"].as_str()?)?;
            let oldest = parsed(entry["min_version"].as_str()?)?;
            Some(SupportedVersions { oldest, newest })
        });
        versions.max_by_key(|versions| versions.newest)
    }

    /// The version to use: the wanted one, or else the newest that the service has.
    ///
    /// # Errors
    /// A message that says both ranges, if the service has no version that is new enough.
    pub(super) fn choose(
        self,
        service: Service,
        versions: Microversions,
    ) -> Result<Microversion, String> {
        let chosen = versions.wanted.min(self.newest);
        if chosen >= versions.oldest.max(self.oldest) {
            return Ok(chosen);
        }
        let Microversions { oldest, wanted, .. } = versions;
        Err(format!(
            "{service} has the microversions {} to {}; {} to {} are supported",
            Shown(self.oldest),
            Shown(self.newest),
            Shown(oldest),
            Shown(wanted),
        ))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nova(oldest: &str, newest: &str) -> Result<Microversion, String> {
        let versions = Service::Compute.microversions().unwrap();
        let description = json!({"version": {"version": newest, "min_version": oldest}});
        SupportedVersions::of(&description)
            .unwrap()
            .choose(Service::Compute, versions)
    }

    #[test]
    fn the_newest_version_up_to_the_wanted_one_is_chosen() {
        assert_eq!(nova("2.1", "2.104"), Ok((2, 96)));
        assert_eq!(nova("2.1", "2.96"), Ok((2, 96)));
        assert_eq!(nova("2.1", "2.79"), Ok((2, 79)));
        let error = nova("2.1", "2.60").unwrap_err();
        assert_eq!(
            error,
            "Nova has the microversions 2.1 to 2.60; 2.64 to 2.96 are supported"
        );
        assert!(nova("2.97", "2.200").is_err());
    }

    #[test]
    fn a_list_of_versions_is_read() {
        let description = json!({"versions": [
            {"id": "v2.0", "version": "", "min_version": ""},
            {"id": "v3.0", "version": "3.71", "min_version": "3.0"},
        ]});
        let expected = SupportedVersions {
            oldest: (3, 0),
            newest: (3, 71),
        };
        assert_eq!(SupportedVersions::of(&description), Some(expected));
        assert_eq!(SupportedVersions::of(&json!({"versions": "x"})), None);
    }
}
