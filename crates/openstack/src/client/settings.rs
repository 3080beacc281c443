//! The settings of a configuration: which cloud, and how to sign in.

use std::path::{Path, PathBuf};

use ::provider::{ProviderError, Setting, SettingsChange};
use blueprint::{Field, FieldPath, Kind, Value};

/// The settings of a configuration, as they are written. Variables of the environment and the files
/// with clouds are read at the sign-in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CloudSettings {
    /// The name of the cloud in `clouds.yaml`. `None` for the variable `OS_CLOUD`.
    pub(crate) cloud: Option<String>,
    /// The region; `None` for that of the cloud.
    pub(crate) region: Option<String>,
    /// The folder of the root document.
    pub(crate) folder: PathBuf,
}

impl CloudSettings {
    /// Reads the settings. Unknown values count as not set.
    ///
    /// # Errors
    /// [`provider::ErrorKind::Document`] at a setting whose value is not allowed.
    pub(crate) fn read(settings: &Value, folder: &Path) -> Result<CloudSettings, ProviderError> {
        let text = |name: &str| {
            let value = settings.get(name).and_then(Value::as_text);
            value.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        Ok(CloudSettings {
            cloud: text("cloud"),
            region: text("region"),
            folder: folder.to_owned(),
        })
    }

    /// The effect of a change to other settings on the resources of this cloud.
    pub(crate) fn change_to(&self, now: &CloudSettings) -> SettingsChange {
        let fields = [
            ("cloud", self.cloud != now.cloud),
            ("region", self.region != now.region),
        ];
        let changed = fields.iter().filter(|(_, changed)| *changed);
        let paths: Vec<FieldPath> = changed.map(|(name, _)| FieldPath::from(*name)).collect();
        match paths.is_empty() {
            true => SettingsChange::Same,
            false => SettingsChange::Replace(paths),
        }
    }

    /// The declared settings, in display order.
    pub(crate) fn declared() -> Vec<Setting> {
        let setting = |name: &str, docs: &str| Setting {
            name: name.into(),
            field: Field {
                docs: docs.into(),
                ..Field::of(Kind::String)
            },
        };
        vec![
            setting(
                "cloud",
                "The name of the cloud in `clouds.yaml`. The default is the variable `OS_CLOUD`.",
            ),
            setting("region", "The region. The default is that of the cloud."),
        ]
    }
}
