//! The form of a table `[instances.NAME]`, and what is wrong with settings of providers.

use blueprint::IndexMap;
use provider::Catalog;
use serde::Deserialize;

use crate::named_file::NamedFile;

/// Settings of providers, by namespace or name.
pub(super) type Providers = IndexMap<String, toml::Table>;

/// The configuration of one instance.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InstanceConfig {
    #[serde(default)]
    pub(super) providers: Providers,
    /// Files of inputs, relative to the file. They override those for all instances.
    #[serde(default)]
    pub(super) vars: Vec<NamedFile>,
    /// Values of inputs. They override the files.
    #[serde(default)]
    pub(super) inputs: toml::Table,
}

/// What is wrong with a setting, and the advice.
pub(super) type SettingMistake = (String, Option<String>);

/// The mistake of a table about no provider.
pub(super) fn unknown_provider(namespace: &str) -> SettingMistake {
    let help = "`cyan types` lists the providers";
    (
        format!("there is no provider `{namespace}`"),
        Some(help.to_owned()),
    )
}

/// The mistake of a key that is no setting of a provider.
pub(super) fn unknown_setting(provider: &str, key: &str, catalog: &Catalog) -> SettingMistake {
    let names: Vec<&str> = catalog
        .settings
        .iter()
        .map(|setting| setting.name.as_ref())
        .collect();
    let near = diag::nearest(key, names.iter().copied());
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let those = if names.is_empty() {
        "it has none".to_owned()
    } else {
        format!("it has {}", names.join(", "))
    };
    (
        format!("the provider `{provider}` has no setting `{key}`; {those}"),
        near.map(|near| format!("did you mean `{near}`?")),
    )
}
