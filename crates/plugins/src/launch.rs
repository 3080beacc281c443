//! The launch of a process: its program, arguments, folder, environment and limits.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The description of a process to start.
#[derive(Clone)]
pub struct Launch {
    /// The plugin in messages, as a noun phrase: "terraform provider `local`".
    pub name: String,
    /// The file to execute. A relative path starts at the working folder of this process; `PATH` is
    /// not searched.
    pub program: PathBuf,
    /// The arguments, which must not contain secrets: other users of the machine can read them.
    pub arguments: Vec<OsString>,
    /// The working folder.
    pub folder: PathBuf,
    /// Variables that are added to the inherited ones. They take precedence.
    pub environment: Vec<(OsString, OsString)>,
    /// The variables of this process that the plugin inherits.
    pub inherit: Inherit,
    /// The limits of the process.
    pub limits: ProcessLimits,
}

/// Prints no values of variables, because these can be secrets.
impl fmt::Debug for Launch {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&OsString> = self.environment.iter().map(|(name, _)| name).collect();
        to.debug_struct("Launch")
            .field("name", &self.name)
            .field("program", &self.program)
            .field("arguments", &self.arguments)
            .field("folder", &self.folder)
            .field("environment", &names)
            .field("inherit", &self.inherit)
            .field("limits", &self.limits)
            .finish()
    }
}

/// The variables of this process that a plugin inherits. No variant passes variables named
/// `CYAN_*`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Inherit {
    /// All variables.
    #[default]
    All,
    /// The variables that every program needs (`PATH`, `HOME`, `TMPDIR`, `SSL_CERT_*`), and
    /// variables that match one of these patterns. `*` matches any number of characters.
    Only(Vec<String>),
}

/// The limits of one plugin process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessLimits {
    /// The private writable memory that each process of the plugin may use, in bytes. The kernel
    /// enforces the limit on Linux; on other systems there is no limit. The limit is set directly
    /// after the start.
    pub memory: Option<u64>,
    /// The maximum time from the start of the process to its handshake.
    pub start: Duration,
    /// The time for each phase of a stop: the polite stop, and the time after the signal.
    pub grace: Duration,
}

impl Default for ProcessLimits {
    fn default() -> ProcessLimits {
        ProcessLimits {
            memory: None,
            start: Duration::from_secs(60),
            grace: Duration::from_secs(5),
        }
    }
}

/// Variables that every plugin inherits.
const BASE: [&str; 4] = ["PATH", "HOME", "TMPDIR", "SSL_CERT_*"];

impl Inherit {
    /// The inherited variables among those of a process.
    pub(crate) fn inherited_variables(
        &self,
        all: impl Iterator<Item = (OsString, OsString)>,
    ) -> Vec<(OsString, OsString)> {
        all.filter(|(name, _)| self.passes(name)).collect()
    }

    fn passes(&self, name: &OsStr) -> bool {
        let name = name.to_string_lossy();
        if name.starts_with("CYAN_") {
            return false;
        }
        match self {
            Inherit::All => true,
            Inherit::Only(patterns) => BASE
                .into_iter()
                .chain(patterns.iter().map(String::as_str))
                .any(|pattern| matches(pattern, &name)),
        }
    }
}

/// Whether a pattern matches a whole name.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(name) = name.strip_prefix(start) else {
        return false;
    };
    // Each part between stars is matched at its first place, and the last part at the end.
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    let mut left = name;
    for part in parts {
        match left.split_once(part) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(inherit: &Inherit) -> Vec<String> {
        let names = [
            "PATH",
            "HOME",
            "CYAN_PASSWORD",
            "AWS_KEY",
            "XAWS_KEY",
            "SSL_CERT_FILE",
            "TF_LOG_X",
            "OTHER",
        ];
        let all = names.into_iter().map(|name| (name.into(), "v".into()));
        inherit
            .inherited_variables(all)
            .into_iter()
            .map(|(name, _)| name.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn own_variables_are_never_inherited() {
        assert!(!passed(&Inherit::All).contains(&"CYAN_PASSWORD".to_owned()));
        assert_eq!(passed(&Inherit::All).len(), 7);
        assert!(!passed(&Inherit::Only(vec!["*".into()])).contains(&"CYAN_PASSWORD".to_owned()));
    }

    #[test]
    fn patterns_choose_variables_beside_the_necessary_ones() {
        assert_eq!(
            passed(&Inherit::Only(Vec::new())),
            ["PATH", "HOME", "SSL_CERT_FILE"]
        );
        let only = Inherit::Only(vec!["AWS_*".into(), "TF_*_X".into()]);
        assert_eq!(
            passed(&only),
            ["PATH", "HOME", "AWS_KEY", "SSL_CERT_FILE", "TF_LOG_X"]
        );
    }

    #[test]
    fn a_star_matches_any_number_of_characters() {
        for (pattern, name, expected) in [
            ("A*", "A", true),
            ("*A", "BA", true),
            ("A*B*C", "AxBBxC", true),
            ("A*B*C", "AxxC", false),
            ("AB", "ABC", false),
            ("A*A", "A", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
