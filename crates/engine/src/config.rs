//! The configuration file `cyan.toml`: defaults for flags, and settings of providers.
//!
//! ```toml
//! simulate = true
//! catalog = ["shop.json"]
//! parallelism = 8
//! on-failure = "keep-going"
//!
//! [providers.cloud]
//! token = "env:API_TOKEN"
//!
//! [instances.production.providers.cloud]
//! token = "env:PRODUCTION_TOKEN"
//!
//! [limits.cloud]
//! calls-per-second = 5
//!
//! [documents]
//! members = 20000
//!
//! [history]
//! keep = 50
//!
//! [dialects.hot]
//! nesting = 8
//!
//! [plugins.sky]
//! kind = "pulumi"
//! path = "./bin/pulumi-resource-sky"
//! ```
//!
//! Unknown keys are errors. Each provider interprets its own settings.

mod dialects;
mod instance_table;
mod instances;
mod mistakes;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use blueprint::{FieldPath, IndexMap, Name, PackageFamily, PathStep, Value, parse_duration};
use provider::{Catalogs, Limits};
use serde::Deserialize;
use state::InstanceName;

use crate::phases::apply::OnFailure;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use self::instance_table::{InstanceConfig, Providers, SettingMistake};
use self::mistakes::line_and_column;
use crate::error::Error;
use crate::installed::Installed;
use crate::named_file::NamedFile;
use crate::package_families::ConfiguredFamily;
use crate::paths::absolute;
use crate::plugin_config::{self, ConfiguredPackage, DescribedPackage, PluginTable};
use crate::text::read_text_as;

/// The name of the file beside a document.
const NAME: &str = "cyan.toml";

/// The key of the sources whose documents may read this machine.
const LOCAL_ACCESS: &str = "local-access";

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColorChoice {
    /// On a terminal.
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

/// The content of the file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Default for `--state`; a path is relative to the file.
    pub state: Option<String>,
    /// Default for `--instance`.
    pub instance: Option<InstanceName>,
    /// Files of inputs, relative to the file. Files of the command line override them.
    #[serde(default)]
    pub vars: Vec<NamedFile>,
    /// Default for `--parallelism`.
    #[serde(default, deserialize_with = "parallelism")]
    pub parallelism: Option<u16>,
    /// Default for `--wait`.
    #[serde(default, deserialize_with = "wait")]
    pub wait: Option<Duration>,
    /// Default for `--on-failure`.
    pub on_failure: Option<OnFailure>,
    /// Default for `--simulate`.
    #[serde(default)]
    pub simulate: bool,
    /// Default for `--catalog`, relative to the file.
    #[serde(default)]
    pub catalog: Vec<PathBuf>,
    /// Default for `--no-refresh`.
    #[serde(default)]
    pub no_refresh: bool,
    /// Default for `--yes`.
    #[serde(default)]
    pub yes: bool,
    /// Default for `--strict`.
    #[serde(default)]
    pub strict: bool,
    /// Default for `--quiet`.
    #[serde(default)]
    pub quiet: bool,
    /// Default for `--verbose`.
    #[serde(default)]
    pub verbose: bool,
    /// Default for `--color`.
    pub color: Option<ColorChoice>,
    #[serde(default)]
    providers: Providers,
    #[serde(default)]
    instances: IndexMap<InstanceName, InstanceConfig>,
    /// Rate limits of providers, by namespace or name. They override the limits in the catalogues.
    #[serde(default)]
    limits: Providers,
    /// Size limits of documents.
    #[serde(default)]
    documents: toml::Table,
    /// The retention of generations.
    #[serde(default)]
    pub history: HistoryConfig,
    /// Settings of dialects, by dialect.
    #[serde(default)]
    dialects: Providers,
    /// Hosted packages, by their names in documents.
    #[serde(default)]
    plugins: IndexMap<Spanned<String>, PluginTable>,
    /// The folders of other projects whose exports documents read, by the names of the projects.
    #[serde(default)]
    pub projects: IndexMap<Name, PathBuf>,
    /// The file name for messages; empty if there is no file.
    #[serde(skip)]
    file: String,
    #[serde(skip)]
    source: ConfigText,
    #[serde(skip)]
    folder: PathBuf,
}

/// The text of the file, with the places that later checks report.
#[derive(Clone, Debug, Default)]
struct ConfigText {
    text: Arc<str>,
    /// Line and column of each item of `catalog`.
    catalog_places: Vec<(usize, usize)>,
}

/// The places of the parts of the file that later checks report.
#[derive(Deserialize)]
struct ConfigSpans {
    #[serde(default)]
    catalog: Vec<toml::Spanned<PathBuf>>,
}

/// The retention of generations.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryConfig {
    /// The least number of generations to keep; `None` keeps all.
    #[serde(default, deserialize_with = "generations")]
    pub keep: Option<u64>,
}

/// Deserializes a number of generations, with an error message of this program.
fn generations<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let value = toml::Value::deserialize(deserializer)?;
    let number = value
        .as_integer()
        .and_then(|number| u64::try_from(number).ok())
        .filter(|number| *number > 0);
    number
        .map(Some)
        .ok_or_else(|| serde::de::Error::custom("expected a number of generations, at least 1"))
}

/// Deserializes a number of parallel calls, with an error message of this program.
fn parallelism<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u16>, D::Error> {
    let value = toml::Value::deserialize(deserializer)?;
    let number = value
        .as_integer()
        .and_then(|number| u16::try_from(number).ok())
        .filter(|number| *number > 0);
    number
        .map(Some)
        .ok_or_else(|| serde::de::Error::custom("expected a number from 1 to 65535"))
}

/// Deserializes a length of time, with an error message of this program.
fn wait<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let value = toml::Value::deserialize(deserializer)?;
    let wait = value.as_str().and_then(|text| parse_duration(text).ok());
    wait.map(Some).ok_or_else(|| {
        serde::de::Error::custom("expected a length of time, such as \"30s\" or \"10m\"")
    })
}

impl Config {
    /// Loads the named file, or else the one in the folder. Returns the defaults if neither is
    /// given.
    pub fn load(named: Option<&Path>, folder: &Path) -> Result<Config, Error> {
        let path = named.map_or_else(|| folder.join(NAME), Path::to_owned);
        let shown = named.map_or_else(|| NAME.to_owned(), |path| path.display().to_string());
        // A pipe is read only if the user names it.
        if named.is_none() && std::fs::metadata(&path).is_ok_and(|about| !about.is_file()) {
            return Err(Error::Unfit {
                name: shown,
                what: "is not a regular file".to_owned(),
                help: None,
            });
        }
        let text = match read_text_as(&path, shown.clone()) {
            Err(Error::Unreadable { source, .. })
                if source.kind() == io::ErrorKind::NotFound && named.is_none() =>
            {
                return Ok(Config {
                    folder: folder.to_owned(),
                    ..Config::default()
                });
            }
            read => read?,
        };
        let mut config: Config = toml::from_str(&text).map_err(|error| {
            let mistake = mistakes::described(&error, &text);
            Error::Config {
                name: shown.clone(),
                source: mistake.what.into(),
                help: mistake.help,
            }
        })?;
        if let Ok(places) = toml::from_str::<ConfigSpans>(&text) {
            config.source.catalog_places = places
                .catalog
                .iter()
                .map(|item| line_and_column(&text, item.span().start))
                .collect();
        }
        config.folder = path
            .parent()
            .map_or_else(|| folder.to_owned(), Path::to_owned);
        let own = config.instances.values().flat_map(|own| &own.vars);
        let vars = config.vars.iter().chain(own).map(NamedFile::path);
        let folders = config.projects.values().map(PathBuf::as_path);
        let named = vars.chain(config.catalog.iter().map(PathBuf::as_path));
        for file in named.chain(folders) {
            if let Some(mistake) = file.to_str().and_then(blueprint::home_mistake) {
                return Err(Error::Config {
                    name: shown,
                    source: mistake.into(),
                    help: None,
                });
            }
        }
        let own = config.instances.values_mut().flat_map(|own| &mut own.vars);
        for file in config.vars.iter_mut().chain(own) {
            *file = NamedFile::listed_in(&shown, config.folder.join(file.path()));
        }
        for file in config
            .catalog
            .iter_mut()
            .chain(config.projects.values_mut())
        {
            *file = config.folder.join(&file);
        }
        config.file = shown;
        config.source.text = text.into();
        config.move_plugin_settings()?;
        Ok(config)
    }

    /// Whether there is no file.
    pub fn is_default(&self) -> bool {
        self.file.is_empty()
    }

    /// The name of the file in messages.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The folder that paths in the file are relative to.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The place where the file lists a catalogue, as `FILE:LINE:COLUMN`; `None` if it does not
    /// list the catalogue.
    pub(crate) fn catalog_place(&self, path: &Path) -> Option<String> {
        let number = self.catalog.iter().position(|listed| listed == path)?;
        let (line, column) = self.source.catalog_places.get(number)?;
        Some(format!("{}:{line}:{column}", self.file))
    }

    fn config_error(&self, what: String) -> Error {
        Error::Config {
            name: self.file_or_flag(),
            source: what.into(),
            help: None,
        }
    }

    /// An error at a byte of the file.
    fn config_error_at(&self, at: usize, what: &str, help: Option<String>) -> Error {
        let (line, column) = line_and_column(&self.source.text, at);
        let source = format!("line {line}, column {column}: {what}").into();
        Error::Config {
            name: self.file_or_flag(),
            source,
            help,
        }
    }

    /// An error about a setting of a provider, with its position.
    fn wrong_setting(
        &self,
        instance: &InstanceName,
        namespace: &str,
        key: Option<&str>,
        (what, help): SettingMistake,
    ) -> Error {
        match self.places().setting_at(instance, &[namespace], key) {
            Some(at) => self.config_error_at(at, &what, help),
            None => Error::Config {
                name: self.file_or_flag(),
                source: what.into(),
                help,
            },
        }
    }

    /// Moves the `settings` of each plugin table to the settings of its provider.
    fn move_plugin_settings(&mut self) -> Result<(), Error> {
        let mut plugins = std::mem::take(&mut self.plugins);
        for (name, plugin) in &mut plugins {
            let Some(settings) = plugin.settings.take() else {
                continue;
            };
            let name = name.as_ref();
            let at = settings.span().start;
            if self.providers.contains_key(name) {
                let what = format!(
                    "the settings of `{name}` are given twice: also in `[providers.{name}]`"
                );
                return Err(self.config_error_at(
                    at,
                    &what,
                    Some("keep one of the two tables".to_owned()),
                ));
            }
            self.providers.insert(name.clone(), settings.into_inner());
        }
        self.plugins = plugins;
        Ok(())
    }

    /// Returns the hosted packages.
    pub(crate) fn plugins(&self, installed: &Installed) -> Result<Vec<ConfiguredPackage>, Error> {
        let folder = absolute(&self.folder);
        let mut packages: Vec<ConfiguredPackage> = Vec::new();
        // The parser sorts tables by name. In the order of the file, the later of two tables that
        // contradict each other is the wrong one.
        let mut tables: Vec<(&Spanned<String>, &PluginTable)> = self.plugins.iter().collect();
        tables.sort_by_key(|(name, _)| name.span().start);
        for (name, table) in tables {
            let described = table
                .package(name, &folder, installed)
                .map_err(|mistake| self.config_error_at(mistake.at, &mistake.what, mistake.help))?;
            self.refuse_ambiguous_package(name.as_ref(), table, &packages)?;
            let (line, column) = line_and_column(&self.source.text, name.span().start);
            let place = format!("{}:{line}:{column}", self.file);
            packages.push(self.with_opening_settings(described, Some(place)));
        }
        for host in &installed.hosts {
            let open = plugin_config::opener(host);
            for name in host.implied {
                let is_written = |(written, _): (&Spanned<String>, _)| written.as_ref() == name;
                if installed.has(name) || self.plugins.iter().any(is_written) {
                    continue;
                }
                let described = DescribedPackage {
                    package: plugin_config::implied_package(name, &folder, installed),
                    family: host.family,
                    serves: None,
                    open: open.clone(),
                };
                packages.push(self.with_opening_settings(described, None));
            }
        }
        Ok(packages)
    }

    /// Fails if a table serves a package that a table before it serves, or whose settings are also
    /// given elsewhere.
    fn refuse_ambiguous_package(
        &self,
        name: &str,
        table: &PluginTable,
        before: &[ConfiguredPackage],
    ) -> Result<(), Error> {
        let (Some(package), Some(serves)) = (&table.package, table.serves()) else {
            return Ok(());
        };
        let (at, package) = (package.span().start, package.as_ref());
        let same = |one: &&ConfiguredPackage| one.serves.as_ref() == Some(&serves);
        if let Some(other) = before.iter().find(same) {
            let other = &other.package.name;
            let what = format!("`[plugins.{other}]` describes the package `{package}` already");
            let help = "remove the `package` of one of the two tables";
            return Err(self.config_error_at(at, &what, Some(help.to_owned())));
        }
        let given = |namespace: &str| self.providers.contains_key(namespace);
        if given(name) && given(&serves) {
            let what = format!(
                "the settings of the package `{package}` are given twice: those of `{name}` and `[providers.\"{serves}\"]`"
            );
            let help = "keep one of the two tables";
            return Err(self.config_error_at(at, &what, Some(help.to_owned())));
        }
        Ok(())
    }

    /// Returns the families whose packages are found on the machine. `tables` are the packages that
    /// tables describe.
    pub(crate) fn families(
        &self,
        installed: &Installed,
        tables: &[ConfiguredPackage],
    ) -> Vec<ConfiguredFamily> {
        let family = |host: &crate::installed::InstalledHost| {
            let (find, open) = (host.find.clone()?, host.open.clone()?);
            let namespaces = PackageFamily::new(host.family);
            let served = tables.iter().filter_map(|table| {
                let name = table.serves.clone()?;
                namespaces.package(&name)?;
                Some((name.clone(), self.served(table, name)))
            });
            let written = self.providers.iter();
            let settings = written.filter(|(name, _)| namespaces.package(name).is_some());
            let settings = settings
                .map(|(name, table)| (name.as_str().into(), self.opening_settings(name, table)));
            Some(ConfiguredFamily {
                family: host.family,
                open,
                find,
                tables: served.collect(),
                settings: settings.collect(),
                folder: absolute(&self.folder),
                cache: installed.runtime.cache.clone(),
                namespaces,
            })
        };
        installed.hosts.iter().filter_map(family).collect()
    }

    /// Returns the package of a table under the namespace `FAMILY:NAME` that the table serves too.
    fn served(&self, table: &ConfiguredPackage, namespace: Name) -> ConfiguredPackage {
        let mut served = table.clone();
        if let Some(own) = self.providers.get(namespace.as_ref()) {
            let settings = self.opening_settings(&namespace, own);
            served.settings_error = settings.as_ref().err().cloned();
            served.package.settings = settings.unwrap_or_default();
        }
        served.package.name = namespace;
        served.serves = None;
        served
    }

    /// Returns a package with the settings of its default configuration, as they are written. They
    /// are checked when its catalogue is known.
    fn with_opening_settings(
        &self,
        described: DescribedPackage,
        configured: Option<String>,
    ) -> ConfiguredPackage {
        let DescribedPackage {
            mut package,
            family,
            serves,
            open,
        } = described;
        let written = self.providers.get(package.name.as_ref());
        let settings = written.map(|table| self.opening_settings(&package.name, table));
        let settings_error = settings
            .as_ref()
            .and_then(|one| one.as_ref().err().cloned());
        package.settings = settings.and_then(Result::ok).unwrap_or_default();
        ConfiguredPackage {
            package,
            family,
            serves,
            open,
            settings_error,
            configured,
        }
    }

    /// Reads the settings of a provider as they are written. The error is the reason in words.
    fn opening_settings(&self, namespace: &str, table: &toml::Table) -> Result<Value, String> {
        let path = format!("providers.{namespace}");
        let table = toml::Value::Table(table.clone());
        self.value(&table, &path).map_err(|error| error.to_string())
    }

    /// The namespaces `FAMILY:NAME` that tables serve, by the names of the tables.
    fn served_namespaces(&self) -> IndexMap<&str, Name> {
        let tables = self.plugins.iter();
        tables
            .filter_map(|(name, table)| Some((name.as_ref().as_str(), table.serves()?)))
            .collect()
    }

    /// Returns the places of the settings in the file.
    pub(crate) fn places(&self) -> ConfigPlaces {
        let served = self.served_namespaces().into_iter();
        ConfigPlaces {
            file: self.file.clone(),
            text: self.source.text.clone(),
            tables: served
                .map(|(table, namespace)| (namespace, table.into()))
                .collect(),
        }
    }

    /// Adds settings of a provider. Leaves out settings that TOML cannot represent, such as null.
    pub fn with_settings(
        mut self,
        namespace: &str,
        settings: &serde_json::Map<String, serde_json::Value>,
    ) -> Config {
        let values = settings
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), toml::Value::try_from(value).ok()?)));
        self.providers
            .entry(namespace.into())
            .or_default()
            .extend(values);
        self
    }

    /// The name of the file for messages, or of the flag if there is no file.
    fn file_or_flag(&self) -> String {
        match self.file.is_empty() {
            true => "--provider".to_owned(),
            false => self.file.clone(),
        }
    }

    /// Sets a setting of a provider for all instances, in place of what the file says. The value is
    /// read as TOML writes it, such as `true` or `["a", "b"]`; any other text is a text.
    pub fn with_setting(mut self, namespace: &str, key: &str, value: &str) -> Config {
        let written = toml::from_str::<toml::Table>(&format!("value = {value}"));
        let written = written.ok().filter(|table| table.len() == 1);
        let value = written
            .and_then(|mut table| table.remove("value"))
            .unwrap_or_else(|| toml::Value::String(value.to_owned()));
        let tables = self.instances.values_mut();
        let own = tables.filter_map(|instance| instance.providers.get_mut(namespace));
        for table in own {
            table.insert(key.to_owned(), value.clone());
        }
        let all = self.providers.entry(namespace.into()).or_default();
        all.insert(key.to_owned(), value);
        self
    }

    /// Returns the settings of an instance, by namespace, and by the name of a provider that has one.
    /// Leaves out namespaces whose catalogue is not open; an unknown namespace or name is an error.
    pub fn settings(
        &self,
        instance: &InstanceName,
        catalogs: &Catalogs,
        known: impl Fn(&str) -> bool,
    ) -> Result<IndexMap<Name, Value>, Error> {
        let mut settings: IndexMap<Name, Value> = IndexMap::default();
        let served = self.served_namespaces();
        let others = self.instances.iter().filter(|(name, _)| *name != instance);
        for (name, other) in others {
            if let Some(namespace) = other.providers.keys().find(|namespace| !known(namespace)) {
                let mistake = instance_table::unknown_provider(namespace);
                return Err(self.wrong_setting(name, namespace, None, mistake));
            }
        }
        let own = self.instances.get(instance).map(|own| &own.providers);
        for (namespace, table) in self.providers.iter().chain(own.into_iter().flatten()) {
            if !known(namespace) {
                let mistake = instance_table::unknown_provider(namespace);
                return Err(self.wrong_setting(instance, namespace, None, mistake));
            }
            self.add_settings(
                instance,
                (namespace, namespace),
                table,
                catalogs,
                &mut settings,
            )?;
            if let Some(also) = served.get(namespace.as_str()) {
                self.add_settings(instance, (namespace, also), table, catalogs, &mut settings)?;
            }
        }
        Ok(settings)
    }

    /// Adds the settings of a table to those of a namespace or name, if its catalogue is open.
    /// `names` are the name of the table, and the namespace or name.
    fn add_settings(
        &self,
        instance: &InstanceName,
        (written, namespace): (&str, &str),
        table: &toml::Table,
        catalogs: &Catalogs,
        settings: &mut IndexMap<Name, Value>,
    ) -> Result<(), Error> {
        let mut opened = catalogs.opened();
        let offers = |catalog: &&Arc<provider::Catalog>| {
            let mut keys = catalog.keys();
            keys.any(|own| own.as_ref() == namespace)
        };
        let is_hosted = catalogs.packages().hosted(namespace).is_some();
        // The catalogue of a hosted package is that of a process, which is not started for this.
        let catalog = match opened.find(offers) {
            None if !is_hosted => catalogs.of(namespace),
            opened => opened,
        };
        // An unavailable plugin is reported at its first use.
        let Some(catalog) = catalog.filter(|catalog| catalog.unavailable.is_none()) else {
            return Ok(());
        };
        let mut merged = settings
            .get(namespace)
            .and_then(Value::as_map)
            .cloned()
            .unwrap_or_default();
        for (key, value) in table {
            let setting = catalog
                .settings
                .iter()
                .find(|setting| setting.name.as_ref() == key);
            let Some(setting) = setting else {
                let mistake = instance_table::unknown_setting(written, key, catalog);
                return Err(self.wrong_setting(instance, written, Some(key), mistake));
            };
            let value = self.value(value, &format!("{written}.{key}"))?;
            merged.insert(key.as_str().into(), value.tainted(setting.field.sensitive));
        }
        // All namespaces of a provider share its settings.
        let merged = Value::Map(merged.into());
        for key in catalog.keys() {
            settings.insert(key.clone(), merged.clone());
        }
        Ok(())
    }

    /// Returns the rate limits of providers, by namespace or name. An unknown one is an error.
    pub fn limits(&self, known: impl Fn(&str) -> bool) -> Result<IndexMap<Name, Limits>, Error> {
        let mut limits: IndexMap<Name, Limits> = IndexMap::default();
        let served = self.served_namespaces();
        for (namespace, table) in &self.limits {
            if !known(namespace) {
                return Err(self.config_error(format!("there is no provider `{namespace}`")));
            }
            let path = format!("limits.{namespace}");
            let value = self.value(&toml::Value::Table(table.clone()), &path)?;
            let read = provider::read_limits(&value).map_err(|error| {
                let place = error.place.trim_start_matches('$');
                self.config_error(format!("`{path}{place}` {}", error.message))
            })?;
            if let Some(also) = served.get(namespace.as_str()) {
                limits.entry(also.clone()).or_insert(read);
            }
            limits.insert(namespace.as_str().into(), read);
        }
        Ok(limits)
    }

    /// Returns the addresses of remote documents that may read files, variables and output of
    /// commands of this machine.
    pub fn local_access(&self) -> Result<Arc<[Name]>, Error> {
        let Some(written) = self.documents.get(LOCAL_ACCESS) else {
            return Ok(Arc::default());
        };
        let address = |item: &toml::Value| {
            let (scheme, rest) = item.as_str()?.split_once("://")?;
            let is_whole = !scheme.is_empty() && !rest.starts_with('/') && !rest.is_empty();
            is_whole.then(|| item.as_str().map(Name::from)).flatten()
        };
        let addresses = written
            .as_array()
            .and_then(|items| items.iter().map(address).collect::<Option<Vec<Name>>>());
        addresses.map(Arc::from).ok_or_else(|| {
            self.config_error(format!(
                "`documents.{LOCAL_ACCESS}` must be a list of addresses such as `https://blueprints.example.com/modules`"
            ))
        })
    }

    fn value(&self, value: &toml::Value, path: &str) -> Result<Value, Error> {
        Ok(match value {
            toml::Value::String(text) => match text.strip_prefix("env:") {
                // Values from the environment are usually secret.
                Some(name) => match std::env::var(name) {
                    Ok(text) => Value::from(text).secret(),
                    Err(_) => {
                        return Err(self.config_error(format!(
                            "`{path}` wants `{name}` from the environment, which does not have it"
                        )));
                    }
                },
                None => Value::from(text.as_str()),
            },
            toml::Value::Integer(number) => Value::Int(*number),
            toml::Value::Float(number) if number.is_finite() => Value::Float(*number),
            toml::Value::Float(_) => {
                return Err(self.config_error(format!("`{path}` is no finite number")));
            }
            toml::Value::Boolean(value) => Value::Bool(*value),
            toml::Value::Datetime(time) => Value::from(time.to_string()),
            toml::Value::Array(items) => Value::list(
                items
                    .iter()
                    .map(|item| self.value(item, path))
                    .collect::<Result<Vec<_>, _>>()?,
            ),
            toml::Value::Table(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| Ok((Name::from(key.as_str()), self.value(value, path)?)));
                Value::map(entries.collect::<Result<Vec<_>, Error>>()?)
            }
        })
    }
}

/// The places of settings in the file, for errors that a provider reports about its settings.
#[derive(Clone, Debug)]
pub(crate) struct ConfigPlaces {
    file: String,
    text: Arc<str>,
    /// The tables that serve namespaces `FAMILY:NAME`.
    tables: IndexMap<Name, Name>,
}

impl ConfigPlaces {
    /// Returns the place of a setting of a provider, or of the table that should contain the
    /// setting, as `FILE:LINE:COLUMN`. Returns `None` if the file does not mention the provider.
    /// `keys` are the words that select the provider.
    pub(crate) fn setting(
        &self,
        instance: &InstanceName,
        keys: &[&str],
        path: Option<&FieldPath>,
    ) -> Option<String> {
        let key = path.and_then(|path| match path.0.first() {
            Some(PathStep::Field(name) | PathStep::Key(name)) => Some(name.as_ref()),
            _ => None,
        });
        let (line, column) = line_and_column(&self.text, self.setting_at(instance, keys, key)?);
        Some(format!("{}:{line}:{column}", self.file))
    }

    /// Returns the same place as a byte offset.
    fn setting_at(
        &self,
        instance: &InstanceName,
        keys: &[&str],
        key: Option<&str>,
    ) -> Option<usize> {
        let file = DeTable::parse(&self.text).ok()?;
        let served = |key: &str| self.tables.get(key).map(AsRef::as_ref);
        let names = keys.iter().copied();
        let names = names.flat_map(|key| std::iter::once(key).chain(served(key)));
        let tables: Vec<Vec<&str>> = names
            .flat_map(|name| {
                [
                    vec!["instances", instance.as_str(), "providers", name],
                    vec!["plugins", name, "settings"],
                    vec!["providers", name],
                    vec!["plugins", name],
                ]
            })
            .collect();
        let at = |path: &[&str]| key_at(file.get_ref(), path);
        let of_key = key.and_then(|key| {
            tables
                .iter()
                .find_map(|table| at(&[table.as_slice(), &[key]].concat()))
        });
        of_key.or_else(|| tables.iter().find_map(|table| at(table)))
    }
}

/// Returns the offset of the last key of a path.
fn key_at(table: &DeTable<'_>, path: &[&str]) -> Option<usize> {
    let (first, rest) = path.split_first()?;
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == first)?;
    match value.get_ref() {
        _ if rest.is_empty() => Some(key.span().start),
        DeValue::Table(inner) => key_at(inner, rest),
        _ => None,
    }
}
