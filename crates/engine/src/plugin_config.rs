//! The tables `[plugins.NAME]` of `cyan.toml`, which describe hosted packages.
//!
//! Not here: their settings, which work as for any provider (`config`); opening a package
//! (`hosted_packages`).

use std::fmt;
use std::future::ready;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use blueprint::{Name, PackageFamily, Value, is_package_name, parse_duration};
use provider::{ErrorKind, HostedPackage, ProviderError};
use serde::Deserialize;
use toml::Spanned;

use crate::installed::{Installed, InstalledHost, OpenPackage, PackageProgram};

/// The default time limit for the start of a plugin.
pub(crate) const START_WITHIN: Duration = Duration::from_secs(60);

/// The content of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PluginTable {
    kind: Spanned<String>,
    path: Option<Spanned<PathBuf>>,
    /// The name of the package in its family, by which documents also name it, as `FAMILY:NAME`.
    pub(crate) package: Option<Spanned<String>>,
    /// A file with the schema of the package.
    schema: Option<Spanned<PathBuf>>,
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
    /// The namespace `FAMILY:NAME` that its table serves too.
    pub(crate) serves: Option<Name>,
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

/// Returns what opens the packages of a host. If this build cannot host the family, it is an error
/// that says so, which the first use of a package reports.
pub(crate) fn opener(host: &InstalledHost) -> OpenPackage {
    let family = host.family;
    host.open.clone().unwrap_or_else(|| {
        Arc::new(move |_| {
            let why = format!("this build of the program was made without the feature `{family}`");
            Box::pin(ready(Err(ProviderError::new(ErrorKind::Document, why))))
        })
    })
}

/// A package that documents may use without a table, because its host lists it
/// ([`InstalledHost::implied`]).
pub(crate) fn implied_package(name: &str, folder: &Path, installed: &Installed) -> HostedPackage {
    HostedPackage {
        name: Name::from(name),
        program: None,
        schema: None,
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

/// The package that a table describes, without its settings.
pub(crate) struct DescribedPackage {
    pub(crate) package: HostedPackage,
    /// The word of its family.
    pub(crate) family: &'static str,
    /// The namespace `FAMILY:NAME` that the table serves too.
    pub(crate) serves: Option<Name>,
    pub(crate) open: OpenPackage,
}

impl PluginTable {
    /// The namespace `FAMILY:NAME` that the table serves besides its own name.
    pub(crate) fn serves(&self) -> Option<Name> {
        let family = PackageFamily::new(self.kind.as_ref());
        Some(family.namespace(self.package.as_ref()?.as_ref()))
    }

    /// Builds the package that the table `[plugins.NAME]` describes. Paths are relative to `folder`,
    /// which is absolute.
    pub(crate) fn package(
        &self,
        name: &Spanned<String>,
        folder: &Path,
        installed: &Installed,
    ) -> Result<DescribedPackage, Mistake> {
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
        let serves = self.served_namespace(host)?;
        let program = match host.program {
            PackageProgram::OrSchema if self.schema.is_some() && self.path.is_none() => None,
            PackageProgram::Required | PackageProgram::OrSchema => {
                Some(folder.join(self.program(at, host)?))
            }
            PackageProgram::None => {
                self.refuse_program(host)?;
                None
            }
        };
        let schema = self.schema_file(host)?.map(|path| folder.join(path));
        let package = HostedPackage {
            name: Name::from(name.as_str()),
            program,
            schema,
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
        Ok(DescribedPackage {
            package,
            family: host.family,
            serves,
            open,
        })
    }

    /// Returns the namespace that the table serves too.
    fn served_namespace(&self, host: &InstalledHost) -> Result<Option<Name>, Mistake> {
        let Some(package) = &self.package else {
            return Ok(None);
        };
        let (at, name, family) = (package.span().start, package.as_ref(), host.family);
        if host.find.is_none() {
            let what =
                format!("documents do not name packages of the kind `{family}` by `package`");
            return Err(Mistake::new(at, what, "remove the `package`"));
        }
        if !is_package_name(name) {
            let what = format!("`{name}` cannot be the name of a package");
            let help =
                format!("write the name that the package has in its schema, without `{family}:`");
            return Err(Mistake::new(at, what, help));
        }
        Ok(self.serves())
    }

    /// Returns the file of the schema as written.
    fn schema_file(&self, host: &InstalledHost) -> Result<Option<&Path>, Mistake> {
        let Some(schema) = &self.schema else {
            return Ok(None);
        };
        let at = schema.span().start;
        if host.program != PackageProgram::OrSchema {
            let what = format!("packages of the kind `{}` have no schema file", host.family);
            return Err(Mistake::new(at, what, "remove the `schema`"));
        }
        written_path(schema, "schema").map(Some)
    }

    /// Fails if the table describes a program, which packages of this family do not have.
    fn refuse_program(&self, host: &InstalledHost) -> Result<(), Mistake> {
        let places = [
            ("path", self.path.as_ref().map(Spanned::span)),
            ("source", self.source.as_ref().map(Spanned::span)),
            ("version", self.version.as_ref().map(Spanned::span)),
        ];
        let written = places
            .into_iter()
            .filter_map(|(key, place)| Some((key, place?.start)));
        let Some((key, at)) = written.min_by_key(|(_, at)| *at) else {
            return Ok(());
        };
        let what = format!("a package of the kind `{}` has no program", host.family);
        Err(Mistake::new(at, what, format!("remove the `{key}`")))
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
    fn program(&self, at: usize, host: &InstalledHost) -> Result<&Path, Mistake> {
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
            let help = match host.program {
                PackageProgram::OrSchema => {
                    "add `path = \"./bin/PROGRAM\"`, or a `schema` for checks and simulations"
                }
                PackageProgram::Required | PackageProgram::None => "add `path = \"./bin/PROGRAM\"`",
            };
            return Err(Mistake::new(
                at,
                "the `path` of the program is missing",
                help,
            ));
        };
        written_path(path, "path")
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

/// Returns a path as it is written. Only a command shell expands `~`.
fn written_path<'p>(path: &'p Spanned<PathBuf>, key: &str) -> Result<&'p Path, Mistake> {
    let at = path.span().start;
    if path.as_ref().as_os_str().is_empty() {
        let what = match key {
            "path" => "the `path` of the program is empty".to_owned(),
            _ => format!("the `{key}` is empty"),
        };
        let help = match key {
            "path" => "give the `path` of the program".to_owned(),
            _ => format!("give the file of the `{key}`"),
        };
        return Err(Mistake::new(at, what, help));
    }
    match path.as_ref().to_str().and_then(blueprint::home_mistake) {
        Some(what) => Err(Mistake {
            at,
            what,
            help: None,
        }),
        None => Ok(path.as_ref()),
    }
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
}
