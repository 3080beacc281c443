//! Finds the program of a package on the machine, where Pulumi's own command line finds it.
//!
//! The order is: the path that the document states, a provider that already runs
//! (`PULUMI_DEBUG_PROVIDERS`), Pulumi's folder of plugins, `PATH`. A program in the folder of
//! plugins has a version; one at a stated path or on `PATH` has none and serves every version.
//!
//! Not here: downloads; plugins without a program, which run through a language of Pulumi.

use std::cmp::Ordering;
use std::fs;
use std::path::{Path, PathBuf};

use provider::{FoundProgram, ProgramQuery};
use semver::Version;

use crate::protocol::{DEBUG_PROVIDERS, attached};

/// The file of a plugin that has no program.
const SOURCE_PLUGIN: &str = "PulumiPlugin.yaml";

/// The environment variable that keeps programs on `PATH` out of the search.
const IGNORE_AMBIENT: &str = "PULUMI_IGNORE_AMBIENT_PLUGINS";

/// Finds the program of a package. Reads folders and blocks meanwhile.
///
/// # Errors
/// If there is none. The text says where it was looked for and how to get it.
pub fn find(query: &ProgramQuery) -> Result<FoundProgram, String> {
    PluginPlaces::of_process().find(query)
}

/// The places where plugins are.
#[derive(Clone, Debug, Default)]
struct PluginPlaces {
    /// The value of [`DEBUG_PROVIDERS`].
    running: String,
    /// The folder of plugins. `None` if the user has no home folder.
    plugins: Option<PathBuf>,
    /// The folders of `PATH`. `None` if they are not searched.
    path: Option<Vec<PathBuf>>,
}

/// The plugins of a package in the folder of plugins.
#[derive(Default)]
struct InstalledPlugins {
    programs: Vec<(Version, PathBuf)>,
    /// Those without a program, which cannot be used.
    without_program: Vec<(Version, PathBuf)>,
}

impl PluginPlaces {
    /// The places that the environment of this process names.
    fn of_process() -> PluginPlaces {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let home = set("PULUMI_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(std::env::home_dir()?.join(".pulumi")));
        let path = set("PATH").unwrap_or_default();
        let ignored = set(IGNORE_AMBIENT).is_some_and(|value| {
            let value = value.to_string_lossy().to_lowercase();
            value == "true" || value == "1"
        });
        PluginPlaces {
            running: std::env::var(DEBUG_PROVIDERS).unwrap_or_default(),
            plugins: home.map(|home| home.join("plugins")),
            path: (!ignored).then(|| std::env::split_paths(&path).collect()),
        }
    }

    fn find(&self, query: &ProgramQuery) -> Result<FoundProgram, String> {
        let wanted = query.version.as_deref().map(wanted_version).transpose()?;
        let unversioned = |program| FoundProgram {
            program,
            version: None,
        };
        if let Some(path) = &query.path {
            return program_at(path, &query.package)
                .map(|program| unversioned(Some(absolute(program))));
        }
        let running = attached(&query.package, &self.running).map_err(|error| error.to_string())?;
        if running.is_some() {
            return Ok(unversioned(None));
        }
        let installed = self.installed(&query.package);
        if let Some((version, program)) = chosen(&installed.programs, wanted.as_ref()) {
            return Ok(FoundProgram {
                program: Some(absolute(program.clone())),
                version: Some(version.to_string().into()),
            });
        }
        if let Some(program) = self.on_path(&query.package) {
            return Ok(unversioned(Some(absolute(program))));
        }
        Err(self.not_found(query, wanted.as_ref(), &installed))
    }

    /// The plugins of a package in the folder of plugins.
    fn installed(&self, package: &str) -> InstalledPlugins {
        let mut all = InstalledPlugins::default();
        let folders = self.plugins.as_ref().map(fs::read_dir);
        for folder in folders.into_iter().flatten().flatten().flatten() {
            let name = folder.file_name();
            let version = name
                .to_str()
                .and_then(|name| name.strip_prefix("resource-")?.strip_prefix(package))
                .and_then(|rest| rest.strip_prefix("-v"))
                .filter(|rest| !rest.ends_with(".partial") && !rest.ends_with(".lock"))
                .and_then(|version| Version::parse(version).ok());
            let Some(version) = version else { continue };
            let folder = folder.path();
            if is_incomplete(&folder) {
                continue;
            }
            let program = folder.join(program_name(package));
            if program.is_file() {
                all.programs.push((version, program));
            } else if folder.join(SOURCE_PLUGIN).is_file() {
                all.without_program.push((version, folder));
            }
        }
        all.programs.sort();
        all
    }

    fn on_path(&self, package: &str) -> Option<PathBuf> {
        let folders = self.path.iter().flatten();
        folders
            .filter(|folder| !folder.as_os_str().is_empty())
            .map(|folder| folder.join(program_name(package)))
            .find(|program| is_executable(program))
    }

    /// The error for a package without a program: where it was looked for, and how to get it.
    fn not_found(
        &self,
        query: &ProgramQuery,
        wanted: Option<&Version>,
        installed: &InstalledPlugins,
    ) -> String {
        let package = &query.package;
        let unusable = chosen(&installed.without_program, wanted);
        if let Some((_, folder)) = unusable {
            return without_program(folder);
        }
        let program = program_name(package);
        let of_version = wanted
            .map(|wanted| format!(" {wanted}"))
            .unwrap_or_default();
        let in_plugins = match &self.plugins {
            None => "there is no home folder with plugins of Pulumi".to_owned(),
            Some(plugins) if installed.programs.is_empty() => {
                format!("`{}` has no version of it", plugins.display())
            }
            Some(plugins) => {
                let versions = installed.programs.iter();
                let versions: Vec<String> =
                    versions.map(|(version, _)| version.to_string()).collect();
                format!("`{}` has only {}", plugins.display(), versions.join(", "))
            }
        };
        let on_path = match &self.path {
            Some(_) => format!("`PATH` has no `{program}`"),
            None => format!("`PATH` is not searched because of {IGNORE_AMBIENT}"),
        };
        format!(
            "the plugin `{package}`{of_version} is not on this machine: {in_plugins}, and {on_path}; install it with \
             `pulumi plugin install resource {package}{of_version}`, or name its program in `cyan.toml` in a table \
             `[plugins.NAME]` with `kind = \"pulumi\"`, `package = \"{package}\"` and `path`"
        )
    }
}

/// The error for a plugin that has no program.
fn without_program(folder: &Path) -> String {
    format!(
        "the plugin in `{}` has no program: it has a `{SOURCE_PLUGIN}` and runs through a language of Pulumi, which \
         is not supported",
        folder.display()
    )
}

/// The version that a document wants.
fn wanted_version(text: &str) -> Result<Version, String> {
    let number = text.strip_prefix('v').unwrap_or(text);
    Version::parse(number).map_err(|_| {
        format!("the version `{text}` is not one of a plugin: write it whole, such as `4.16.0`")
    })
}

/// The program at a path that a document states: the file itself, or in the folder.
fn program_at(path: &Path, package: &str) -> Result<PathBuf, String> {
    let program = path.join(program_name(package));
    if path.is_file() {
        Ok(path.to_owned())
    } else if program.is_file() {
        Ok(program)
    } else if path.join(SOURCE_PLUGIN).is_file() {
        Err(without_program(path))
    } else {
        let (path, name) = (path.display(), program_name(package));
        Err(if program.parent().is_some_and(Path::is_dir) {
            format!(
                "the folder `{path}`, which the document states for the plugin, has no `{name}`"
            )
        } else {
            format!("the path `{path}`, which the document states for the plugin, does not exist")
        })
    }
}

/// The plugin of the wanted version. Without one, the newest: a stable version before a prerelease.
fn chosen<'p>(
    plugins: &'p [(Version, PathBuf)],
    wanted: Option<&Version>,
) -> Option<&'p (Version, PathBuf)> {
    match wanted {
        Some(wanted) => plugins
            .iter()
            .find(|(version, _)| version.cmp_precedence(wanted) == Ordering::Equal),
        None => plugins.iter().max_by(|(one, _), (other, _)| {
            (one.pre.is_empty(), one).cmp(&(other.pre.is_empty(), other))
        }),
    }
}

/// Whether a folder of a plugin is being installed: a file beside it says so.
fn is_incomplete(folder: &Path) -> bool {
    let mut mark = folder.as_os_str().to_owned();
    mark.push(".partial");
    Path::new(&mark).exists()
}

fn program_name(package: &str) -> String {
    format!("pulumi-resource-{package}{}", std::env::consts::EXE_SUFFIX)
}

/// An absolute path, because the process of a plugin runs in another folder.
fn absolute(program: PathBuf) -> PathBuf {
    std::path::absolute(&program).unwrap_or(program)
}

#[cfg(unix)]
fn is_executable(program: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(program)
        .is_ok_and(|known| known.is_file() && known.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(program: &Path) -> bool {
    program.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A home folder and a folder of `PATH`, with the programs of some plugins.
    struct Machine {
        folder: tempfile::TempDir,
        places: PluginPlaces,
    }

    impl Machine {
        fn new() -> Machine {
            let folder = tempfile::tempdir().unwrap();
            let places = PluginPlaces {
                running: String::new(),
                plugins: Some(folder.path().join("plugins")),
                path: Some(vec![PathBuf::new(), folder.path().join("bin")]),
            };
            Machine { folder, places }
        }

        /// Writes an executable file.
        fn program(&self, path: &str) -> PathBuf {
            let path = self.folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "#!/bin/sh\n").unwrap();
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            }
            path
        }

        fn installed(&self, version: &str) -> PathBuf {
            self.program(&format!(
                "plugins/resource-shop-v{version}/{}",
                program_name("shop")
            ))
        }

        fn find(&self, version: Option<&str>) -> Result<FoundProgram, String> {
            self.places.find(&ProgramQuery {
                package: "shop".into(),
                version: version.map(Into::into),
                path: None,
            })
        }

        fn find_at(&self, path: &Path) -> Result<FoundProgram, String> {
            self.places.find(&ProgramQuery {
                package: "shop".into(),
                version: Some("9.9.9".into()),
                path: Some(path.to_owned()),
            })
        }
    }

    fn found(program: &Path, version: Option<&str>) -> Result<FoundProgram, String> {
        Ok(FoundProgram {
            program: Some(program.to_owned()),
            version: version.map(Into::into),
        })
    }

    #[test]
    fn the_newest_stable_version_is_used_if_none_is_wanted() {
        let machine = Machine::new();
        let early = machine.installed("1.2.0-alpha.2");
        assert_eq!(machine.find(None), found(&early, Some("1.2.0-alpha.2")));
        machine.installed("1.2.0-alpha.1");
        assert_eq!(machine.find(None), found(&early, Some("1.2.0-alpha.2")));
        machine.installed("1.9.0");
        let newest = machine.installed("1.10.0");
        machine.installed("2.0.0-beta");
        assert_eq!(machine.find(None), found(&newest, Some("1.10.0")));
    }

    #[test]
    fn a_wanted_version_is_met_exactly() {
        let machine = Machine::new();
        machine.installed("1.9.0");
        let wanted = machine.installed("1.2.3");
        for text in ["1.2.3", "v1.2.3"] {
            assert_eq!(machine.find(Some(text)), found(&wanted, Some("1.2.3")));
        }
        let error = machine.find(Some("1.2.4")).unwrap_err();
        assert!(
            error.contains("the plugin `shop` 1.2.4 is not on this machine"),
            "{error}"
        );
        assert!(
            error.contains("has only 1.2.3, 1.9.0, and `PATH` has no"),
            "{error}"
        );
        assert!(
            error.contains("`pulumi plugin install resource shop 1.2.4`"),
            "{error}"
        );
        let error = machine.find(Some("^1.2")).unwrap_err();
        assert!(
            error.contains("the version `^1.2` is not one of a plugin"),
            "{error}"
        );
    }

    #[test]
    fn installations_that_are_not_complete_are_ignored() {
        let machine = Machine::new();
        let program = program_name("shop");
        machine.program(&format!("plugins/resource-shop-v1.0.0-a.partial/{program}"));
        machine.program(&format!("plugins/resource-shop-v1.0.0-a.lock/{program}"));
        machine.program(&format!("plugins/resource-shop-v1/{program}"));
        machine.program(&format!("plugins/resource-shopping-v1.0.0/{program}"));
        machine.program("plugins/resource-shop-v3.0.0/README.md");
        machine.installed("2.0.0");
        machine.program("plugins/resource-shop-v2.0.0.partial");
        let error = machine.find(None).unwrap_err();
        assert!(error.contains("has no version of it"), "{error}");
        assert!(
            error.contains("`pulumi plugin install resource shop`"),
            "{error}"
        );
    }

    #[test]
    fn a_program_on_the_path_serves_every_version() {
        let mut machine = Machine::new();
        let program = machine.program(&format!("bin/{}", program_name("shop")));
        for version in [None, Some("1.0.0")] {
            assert_eq!(machine.find(version), found(&program, None));
        }
        let installed = machine.installed("1.0.0");
        assert_eq!(machine.find(None), found(&installed, Some("1.0.0")));
        assert_eq!(machine.find(Some("2.0.0")), found(&program, None));
        machine.places.path = None;
        let error = machine.find(Some("2.0.0")).unwrap_err();
        assert!(error.contains("PULUMI_IGNORE_AMBIENT_PLUGINS"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_on_the_path_that_is_not_executable_is_no_program() {
        use std::os::unix::fs::PermissionsExt as _;
        let machine = Machine::new();
        let program = machine.program("bin/pulumi-resource-shop");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(machine.find(None).is_err());
    }

    #[test]
    fn a_stated_path_is_a_program_or_its_folder() {
        let machine = Machine::new();
        machine.installed("9.9.9");
        let program = machine.program(&format!("own/{}", program_name("shop")));
        let other = machine.program("own/other");
        let at = |path: &str| machine.find_at(&machine.folder.path().join(path));
        assert_eq!(at("own"), found(&program, None));
        assert_eq!(machine.find_at(&program), found(&program, None));
        assert_eq!(machine.find_at(&other), found(&other, None));
        for (path, why) in [
            ("plugins", "has no `pulumi-"),
            ("nowhere", "does not exist"),
        ] {
            let error = at(path).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_plugin_without_a_program_is_not_supported() {
        let machine = Machine::new();
        machine.program(&format!("plugins/resource-shop-v1.0.0/{SOURCE_PLUGIN}"));
        let at = machine.folder.path().join("plugins/resource-shop-v1.0.0");
        let errors = [
            machine.find(None),
            machine.find(Some("1.0.0")),
            machine.find_at(&at),
        ];
        for error in errors.map(Result::unwrap_err) {
            assert!(
                error.contains("runs through a language of Pulumi"),
                "{error}"
            );
        }
        let older = machine.installed("0.9.0");
        assert_eq!(machine.find(None), found(&older, Some("0.9.0")));
    }

    #[test]
    fn a_provider_that_runs_already_needs_no_program() {
        let mut machine = Machine::new();
        machine.places.running = "shop:5000".to_owned();
        machine.installed("1.0.0");
        let attached = FoundProgram {
            program: None,
            version: None,
        };
        assert_eq!(machine.find(Some("2.0.0")), Ok(attached));
        machine.places.running = "shop".to_owned();
        assert!(machine.find(None).is_err());
    }

    #[test]
    fn a_machine_without_a_home_folder_has_a_search_too() {
        let error = PluginPlaces::default()
            .find(&ProgramQuery {
                package: "shop".into(),
                ..ProgramQuery::default()
            })
            .unwrap_err();
        assert!(error.contains("there is no home folder"), "{error}");
    }
}
