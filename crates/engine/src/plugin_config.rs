//! The tables `[plugins.NAME]` of `cyan.toml`, which describe hosted packages.
//!
//! Not here: their settings, which work as for any provider (`config`); opening a package
//! (`hosted_packages`).

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use blueprint::{Name, Value, parse_duration};
use provider::HostedPackage;
use serde::Deserialize;
use toml::Spanned;

use crate::installed::{Installed, InstalledHost, OpenPackage, PackageProgram};

/// The default time limit for the start of a plugin.
const START_WITHIN: Duration = Duration::from_secs(60);

/// The content of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PluginTable {
    kind: Spanned<String>,
    path: Option<Spanned<PathBuf>>,
    /// Downloads are not available yet. These two keys are read so that the mistake says so.
    source: Option<Spanned<toml::Value>>,
    version: Option<Spanned<toml::Value>>,
    #[serde(default)]
    arguments: Vec<String>,
    env: Option<Vec<String>>,
    memory: Option<Spanned<String>>,
    start_within: Option<Spanned<String>>,
    /// Settings of the provider; [`Config`](crate::config::Config) moves them to the settings of
    /// providers.
    pub(crate) settings: Option<Spanned<toml::Table>>,
}

/// A package of the configuration, with its host.
#[derive(Clone)]
pub struct ConfiguredPackage {
    /// The description of the package for its host.
    pub(crate) package: HostedPackage,
    /// The word of its family, which is the `kind` of its table.
    pub(crate) family: &'static str,
    /// Opens it.
    pub(crate) open: OpenPackage,
    /// The reason why its settings cannot be read; `None` if they can.
    pub(crate) settings_error: Option<String>,
    /// The place of its table, as `FILE:LINE:COLUMN`; `None` for a package that its family implies.
    pub(crate) configured: Option<String>,
}

/// Leaves out the environment, which may contain secrets.
impl fmt::Debug for ConfiguredPackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfiguredPackage")
            .field("name", &self.package.name)
            .finish_non_exhaustive()
    }
}

/// A package that documents may use without a table, because its host lists it
/// ([`InstalledHost::implied`]).
pub(crate) fn implied_package(name: &str, folder: &Path, installed: &Installed) -> HostedPackage {
    HostedPackage {
        name: Name::from(name),
        program: None,
        settings: Value::Null,
        arguments: Vec::new(),
        environment: Vec::new(),
        inherits: None,
        memory: None,
        start_within: START_WITHIN,
        folder: folder.to_owned(),
        cache: installed.runtime.cache.clone(),
    }
}

/// A mistake in a table.
pub(crate) struct Mistake {
    /// Its offset in the file.
    pub(crate) at: usize,
    pub(crate) what: String,
    pub(crate) help: Option<String>,
}

impl Mistake {
    fn new(at: usize, what: impl Into<String>, help: impl Into<String>) -> Mistake {
        Mistake {
            at,
            what: what.into(),
            help: Some(help.into()),
        }
    }
}

impl PluginTable {
    /// Builds the package that the table `[plugins.NAME]` describes, with the word of its family
    /// and what opens it. Paths are relative to `folder`, which is absolute.
    pub(crate) fn package(
        &self,
        name: &Spanned<String>,
        folder: &Path,
        installed: &Installed,
    ) -> Result<(HostedPackage, &'static str, OpenPackage), Mistake> {
        let at = name.span().start;
        let (host, open) = self.host(installed)?;
        let name = name.as_ref();
        if !is_package_name(name) {
            let what = format!("`{name}` cannot be the name of a package");
            return Err(Mistake::new(
                at,
                what,
                "use letters, digits, `-`, `_` and `.`, with a letter first",
            ));
        }
        if installed.has(name) {
            let prefix = host.prefix;
            let what =
                format!("the namespace `{name}` is built in, a hosted package cannot have it");
            return Err(Mistake::new(
                at,
                what,
                format!("give the package another name, such as `{prefix}-{name}`"),
            ));
        }
        let program = match host.program {
            PackageProgram::Required => Some(folder.join(self.program(at)?)),
            PackageProgram::None => {
                self.refuse_program(host)?;
                None
            }
        };
        let package = HostedPackage {
            name: Name::from(name.as_str()),
            program,
            // `Config` adds the settings.
            settings: Value::Null,
            arguments: self.arguments.clone(),
            // A table sets no variables. It only says which ones are inherited.
            environment: Vec::new(),
            inherits: self.env.clone(),
            memory: self.memory()?,
            start_within: self.start_within()?,
            folder: folder.to_owned(),
            cache: installed.runtime.cache.clone(),
        };
        Ok((package, host.family, open))
    }

    /// Fails if the table describes a program, which packages of this family do not have.
    fn refuse_program(&self, host: &InstalledHost) -> Result<(), Mistake> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let what = format!("a package of the kind `{}` has no program", host.family);
        Err(Mistake::new(path.span().start, what, "remove the `path`"))
    }

    /// Returns the installed host for the kind of the table, and what opens its packages.
    fn host<'i>(
        &self,
        installed: &'i Installed,
    ) -> Result<(&'i InstalledHost, OpenPackage), Mistake> {
        let kind = self.kind.as_ref();
        let host = installed.hosts.iter().find(|host| host.family == kind);
        if let Some(host) = host
            && let Some(open) = &host.open
        {
            return Ok((host, open.clone()));
        }
        let at = self.kind.span().start;
        let hosting = installed.hosts.iter().filter(|host| host.open.is_some());
        let kinds: Vec<String> = hosting
            .clone()
            .map(|host| format!("`{}`", host.family))
            .collect();
        let hosts = if kinds.is_empty() {
            "none".to_owned()
        } else {
            kinds.join(", ")
        };
        let is_family = host.is_some();
        let what = if is_family {
            format!("this build of the program cannot host plugins of the kind `{kind}`")
        } else {
            format!("there is no kind of plugins `{kind}`")
        };
        // A correct word needs no correction.
        let near = if is_family {
            None
        } else {
            diag::nearest(kind, hosting.map(|host| host.family))
        };
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the kinds of this build: {hosts}"),
        };
        Err(Mistake::new(at, what, help))
    }

    /// Returns the path of the program as written.
    fn program(&self, at: usize) -> Result<&Path, Mistake> {
        let download_keys = [("source", &self.source), ("version", &self.version)];
        let first_written = download_keys
            .iter()
            .find_map(|(key, value)| Some((key, value.as_ref()?)));
        if let Some((key, value)) = first_written {
            let what = format!("`{key}` is not available yet: plugins cannot be downloaded");
            return Err(Mistake::new(
                value.span().start,
                what,
                "give the `path` of the program",
            ));
        }
        let Some(path) = &self.path else {
            return Err(Mistake::new(
                at,
                "the `path` of the program is missing",
                "add `path = \"./bin/PROGRAM\"`",
            ));
        };
        let at = path.span().start;
        if path.as_ref().as_os_str().is_empty() {
            return Err(Mistake::new(
                at,
                "the `path` of the program is empty",
                "give the `path` of the program",
            ));
        }
        // The path is used as written: only a command shell expands `~`.
        if let Some(what) = path.as_ref().to_str().and_then(blueprint::home_mistake) {
            return Err(Mistake {
                at,
                what,
                help: None,
            });
        }
        Ok(path.as_ref())
    }

    fn memory(&self) -> Result<Option<u64>, Mistake> {
        let Some(memory) = &self.memory else {
            return Ok(None);
        };
        parse_bytes(memory.as_ref()).map(Some).ok_or_else(|| {
            let what = "`memory` is not an amount of memory";
            Mistake::new(
                memory.span().start,
                what,
                "write a number with a unit, such as \"512 MiB\" or \"2 GiB\"",
            )
        })
    }

    fn start_within(&self) -> Result<Duration, Mistake> {
        let Some(limit) = &self.start_within else {
            return Ok(START_WITHIN);
        };
        parse_duration(limit.as_ref())
            .ok()
            .filter(|limit| !limit.is_zero())
            .ok_or_else(|| {
                let what = "`start-within` is not a length of time";
                Mistake::new(
                    limit.span().start,
                    what,
                    "write a number with a unit, such as \"30s\" or \"2m\"",
                )
            })
    }
}

/// Whether a name is valid before the `/` of a type.
fn is_package_name(name: &str) -> bool {
    let is_inner =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.chars().all(is_inner)
}

/// Parses a number of bytes above 0, such as `512 MiB`. Returns `None` for any other text.
fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|letter: char| !letter.is_ascii_digit())?);
    let factor: u64 = match unit.trim_start() {
        "B" => 1,
        "kB" => 1000,
        "MB" => 1000 * 1000,
        "GB" => 1000 * 1000 * 1000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number
        .parse::<u64>()
        .ok()?
        .checked_mul(factor)
        .filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_of_memory_has_a_unit() {
        assert_eq!(parse_bytes("512 MiB"), Some(512 << 20));
        assert_eq!(parse_bytes(" 2GB "), Some(2_000_000_000));
        for wrong in [
            "",
            "512",
            "MiB",
            "0 MiB",
            "1.5 GiB",
            "-1 MiB",
            "1 mib",
            "99999999999999999999 B",
            "99999999999999999 GiB",
        ] {
            assert_eq!(parse_bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_package_name_can_stand_in_a_type() {
        assert!(
            ["cloud", "tf-random", "a.b_c2"]
                .into_iter()
                .all(is_package_name)
        );
        assert!(
            !["", "a/b", "2x", "a b", "ä", "a::b"]
                .into_iter()
                .any(is_package_name)
        );
    }
}
