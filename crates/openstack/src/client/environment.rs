//! The variables and folders in which clouds are looked for, as a value.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The variables and folders in which clouds are looked for.
#[derive(Clone, Default)]
pub(super) struct CloudEnvironment {
    /// The variables whose names begin with `OS_`.
    pub(super) variables: BTreeMap<String, String>,
    /// The folders that may have a `clouds.yaml`, the first one first.
    pub(super) folders: Vec<PathBuf>,
    /// The folder that `~` stands for.
    pub(super) home: Option<PathBuf>,
}

impl CloudEnvironment {
    /// The environment of this process, for a document in a folder. The order of the folders is that
    /// of openstacksdk, after the folder of the document.
    pub(super) fn of_process(document: &Path) -> CloudEnvironment {
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
        let home = home.map(PathBuf::from);
        let config = std::env::var_os("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty());
        let config = config.map(PathBuf::from);
        let own_config = home.as_ref().map(|home| home.join(".config"));
        let current = std::env::current_dir().ok();
        let of_user = config.into_iter().chain(own_config);
        let of_user = of_user.map(|folder| folder.join("openstack"));
        let folders = std::iter::once(document.to_owned())
            .chain(current)
            .chain(of_user)
            .chain([PathBuf::from("/etc/openstack")]);
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            let value = value.into_string().ok()?;
            name.starts_with("OS_").then_some((name, value))
        });
        CloudEnvironment {
            variables: variables.collect(),
            folders: folders.collect(),
            home,
        }
    }

    /// The value of a variable, unless it is empty.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        let value = self.variables.get(name);
        value.map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A path with `~` at its beginning replaced.
    pub(super) fn expanded(&self, path: &str) -> PathBuf {
        let below = path.strip_prefix("~/").zip(self.home.as_ref());
        below.map_or_else(|| PathBuf::from(path), |(below, home)| home.join(below))
    }
}
