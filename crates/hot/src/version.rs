//! The versions of the language and their features (decisions/heat#versions).

/// The name of the dialect.
pub const NAME: &str = "hot";

/// The keys for the version. A template has exactly one of them.
pub(super) const VERSION_KEYS: [&str; 3] = [
    "heat_template_version",
    "HeatTemplateFormatVersion",
    "AWSTemplateFormatVersion",
];

/// A version of the Heat Orchestration Template language, by its date. Later versions are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// The first version.
    V2013_05_23,
    /// `get_attr` walks paths; most functions of CloudFormation are removed.
    V2014_10_16,
    /// `repeat`, `digest`.
    V2015_04_30,
    /// `str_split`; JSON inside text; `get_attr` of all attributes.
    V2015_10_15,
    /// `map_merge`.
    V2016_04_08,
    /// Newton: conditions, `yaql`, `map_replace`, `external_id`.
    V2016_10_14,
    /// Ocata: `filter`, `str_replace_strict`, `modulo`.
    V2017_02_24,
    /// Pike: `make_url`, `list_concat`, `contains`, `str_replace_vstrict`.
    V2017_09_01,
    /// Queens: tags of parameters.
    V2018_03_02,
    /// Rocky.
    V2018_08_31,
    /// Wallaby: `if` with two arguments.
    V2021_04_16,
}

use Version::*;

/// The versions, each with its date and its alias; the alias may be empty.
const VERSIONS: &[(Version, &str, &str)] = &[
    (V2013_05_23, "2013-05-23", ""),
    (V2014_10_16, "2014-10-16", ""),
    (V2015_04_30, "2015-04-30", ""),
    (V2015_10_15, "2015-10-15", ""),
    (V2016_04_08, "2016-04-08", ""),
    (V2016_10_14, "2016-10-14", "newton"),
    (V2017_02_24, "2017-02-24", "ocata"),
    (V2017_09_01, "2017-09-01", "pike"),
    (V2018_03_02, "2018-03-02", "queens"),
    (V2018_08_31, "2018-08-31", "rocky"),
    (V2021_04_16, "2021-04-16", "wallaby"),
];

impl Version {
    /// The version with a date or alias.
    pub fn of(text: &str) -> Option<Version> {
        let known = VERSIONS
            .iter()
            .find(|(_, date, alias)| text == *date || (text == *alias && !alias.is_empty()));
        known.map(|(version, ..)| *version)
    }

    /// The date of the version.
    pub fn date(self) -> &'static str {
        VERSIONS[self as usize].1
    }

    /// The position among all versions, from 0.
    pub fn number(self) -> i64 {
        self as i64
    }

    /// The version at a position; the latest version if the position does not exist.
    pub fn at(number: i64) -> Version {
        let known = usize::try_from(number).ok().and_then(|at| VERSIONS.get(at));
        known.map_or(V2021_04_16, |(version, ..)| *version)
    }

    /// All dates and aliases, for messages.
    pub fn all() -> impl Iterator<Item = &'static str> {
        let aliases = VERSIONS
            .iter()
            .map(|(.., alias)| *alias)
            .filter(|alias| !alias.is_empty());
        VERSIONS.iter().map(|(_, date, _)| *date).chain(aliases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_aliases_name_a_version() {
        assert_eq!(Version::of("rocky"), Some(V2018_08_31));
        assert_eq!(Version::of("2018-08-31"), Some(V2018_08_31));
        assert_eq!(Version::of(""), None);
        assert_eq!(Version::of("stein"), None);
        assert!(
            VERSIONS
                .iter()
                .enumerate()
                .all(|(at, (version, date, _))| *version as usize == at
                    && version.date() == *date
                    && Version::at(at as i64) == *version)
        );
    }
}
