//! The environment variables with credentials and addresses of services.
//!
//! The variables are a value, so that servers and tests can pass their own.

use std::collections::BTreeMap;
use std::fmt;

/// Variables by name. `Debug` does not show values.
#[derive(Clone, Default)]
pub struct Variables {
    variables: BTreeMap<String, String>,
}

impl Variables {
    /// The environment of this process, without variables that are not UTF-8.
    pub fn of_process() -> Variables {
        let text = |variable: std::ffi::OsString| variable.into_string().ok();
        std::env::vars_os()
            .filter_map(|(name, value)| Some((text(name)?, text(value)?)))
            .collect()
    }
}

/// What the services of object stores ask for.
#[cfg(feature = "object_stores")]
impl Variables {
    /// The value of a variable that is set and not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// The value of the first of these variables that is set and not empty.
    pub(crate) fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.get(name))
    }

    /// Whether a variable is `1`, `true`, `yes` or `on`.
    pub(crate) fn is_yes(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| {
            matches!(
                value.to_ascii_lowercase().as_str(),
                "1" | "true" | "yes" | "on"
            )
        })
    }

    /// All variables with this prefix that are not empty.
    pub(crate) fn of_prefix<'e>(
        &'e self,
        prefix: &'e str,
    ) -> impl Iterator<Item = (&'e str, &'e str)> {
        let all = self
            .variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        all.filter(move |(name, value)| name.starts_with(prefix) && !value.is_empty())
    }
}

impl FromIterator<(String, String)> for Variables {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Variables {
        Variables {
            variables: variables.into_iter().collect(),
        }
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.variables.keys()).finish()
    }
}
