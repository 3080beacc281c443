//! The settings of a configuration: which cloud, and how to sign in.

use std::fmt;
use std::path::{Path, PathBuf};

use ::provider::{ErrorKind, ProviderError, Setting, SettingsChange};
use blueprint::{Field, FieldPath, Kind, Name, Value};

use super::interface::Interface;
use super::options::{OPTIONS, Origin, WrittenOptions};

/// The settings whose change leads to other objects: to those of another cloud, region or project.
const PLACES: [&str; 10] = [
    "auth_url",
    "region_name",
    "project_name",
    "project_id",
    "project_domain_name",
    "project_domain_id",
    "domain_name",
    "domain_id",
    "system_scope",
    "trust_id",
];

/// The settings of a configuration, as they are written. Variables of the environment and the files
/// with clouds are read at the sign-in.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct CloudSettings {
    /// The name of the configuration.
    pub(crate) name: Name,
    /// The name of the cloud in `clouds.yaml`. `None` for the variable `OS_CLOUD`.
    pub(crate) cloud: Option<String>,
    /// The file with clouds; `None` for the usual places.
    pub(super) config_file: Option<String>,
    /// All other settings, by the keys of `clouds.yaml`.
    pub(super) options: WrittenOptions,
    /// A setting whose value is not known yet.
    pub(super) unknown: Option<Name>,
    /// The folder of the root document.
    pub(crate) folder: PathBuf,
}

/// Shows which settings there are. Their values may be secrets.
impl fmt::Debug for CloudSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&str> = self.options.iter().map(|(key, _)| key).collect();
        f.debug_struct("CloudSettings")
            .field("name", &self.name)
            .field("cloud", &self.cloud)
            .field("config_file", &self.config_file)
            .field("options", &keys)
            .finish_non_exhaustive()
    }
}

impl CloudSettings {
    /// Reads the settings. A cloud with an unknown setting cannot be signed in to.
    ///
    /// # Errors
    /// [`ErrorKind::Document`] at a setting whose value is not allowed.
    pub(crate) fn read(settings: &Value, folder: &Path) -> Result<CloudSettings, ProviderError> {
        let text = |name: &str| {
            let value = settings.get(name).map(Value::revealed);
            let value = value.as_ref().and_then(Value::as_text);
            value.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let mut options = WrittenOptions::default();
        let mut names = vec!["cloud".to_owned(), "config-file".to_owned()];
        for option in OPTIONS.iter().filter(|option| option.docs.is_some()) {
            let name = option.setting();
            if let Some(text) = text(&name) {
                options.set(option.key, text, Origin::Setting(name.clone()));
            }
            names.push(name);
        }
        let interface = options.text("interface");
        if interface.is_some_and(|text| Interface::of_text(&text).is_none()) {
            let message = "`interface` is `public`, `internal` or `admin`";
            return Err(ProviderError::new(ErrorKind::Document, message).at("interface"));
        }
        let is_unknown = |name: &&String| settings.get(name).is_some_and(Value::has_unknown);
        Ok(CloudSettings {
            name: "openstack".into(),
            cloud: text("cloud"),
            config_file: text("config-file"),
            options,
            unknown: names
                .iter()
                .find(is_unknown)
                .map(|name| name.as_str().into()),
            folder: folder.to_owned(),
        })
    }

    /// The settings with the name of their configuration.
    pub(crate) fn named(self, name: Name) -> CloudSettings {
        CloudSettings { name, ..self }
    }

    /// The effect of a change to other settings on the resources of this cloud. Another cloud, region
    /// or project has other objects. Other credentials manage the same ones.
    pub(crate) fn change_to(&self, now: &CloudSettings) -> SettingsChange {
        let places = PLACES.iter().filter_map(|key| {
            let changed = self.options.text(key) != now.options.text(key);
            let option = OPTIONS.iter().find(|option| option.key == *key)?;
            changed.then(|| FieldPath::from(option.setting().as_str()))
        });
        let cloud = (self.cloud != now.cloud).then(|| FieldPath::from("cloud"));
        let paths: Vec<FieldPath> = cloud.into_iter().chain(places).collect();
        match paths.is_empty() {
            true => SettingsChange::Same,
            false => SettingsChange::Replace(paths),
        }
    }

    /// The declared settings, in display order.
    pub(crate) fn declared() -> Vec<Setting> {
        let setting = |name: &str, docs: &str, sensitive: bool, allowed: &[&str]| Setting {
            name: name.into(),
            field: Field {
                docs: docs.into(),
                sensitive,
                allowed: allowed.iter().map(|word| Value::text(*word)).collect(),
                ..Field::of(Kind::String)
            },
        };
        let which = [
            setting(
                "cloud",
                "The name of the cloud in `clouds.yaml`. The default is the variable `OS_CLOUD`, then the only cloud.",
                false,
                &[],
            ),
            setting(
                "config-file",
                "The file with clouds. The default is `OS_CLIENT_CONFIG_FILE`, then a `clouds.yaml` beside the document, in the current folder, in `~/.config/openstack` or in `/etc/openstack`.",
                false,
                &[],
            ),
        ];
        let others = OPTIONS.iter().filter_map(|option| {
            let allowed: &[&str] = match option.key {
                "interface" => &["public", "internal", "admin"],
                "system_scope" => &["all"],
                _ => &[],
            };
            let docs = option.docs?;
            Some(setting(&option.setting(), docs, option.is_secret, allowed))
        });
        which.into_iter().chain(others).collect()
    }
}
