//! The settings of dialects, and the size limits of documents.

use std::path::PathBuf;

use blueprint::{Name, Value};

use super::{Config, LOCAL_ACCESS, absolute};
use crate::error::Error;

impl Config {
    /// Sets a switch of a dialect, in place of what the file says.
    pub fn with_dialect_switch(mut self, dialect: &str, key: &str, is_on: bool) -> Config {
        let table = self.dialects.entry(dialect.to_owned()).or_default();
        table.insert(key.to_owned(), toml::Value::Boolean(is_on));
        self
    }

    /// The paths in a setting of a dialect, in the folder of the file. What is no path is left out:
    /// [`Config::dialects`] reports it.
    pub fn dialect_paths(&self, dialect: &str, key: &str) -> Vec<PathBuf> {
        let written = self.dialects.get(dialect).and_then(|table| table.get(key));
        let paths = written
            .and_then(toml::Value::as_array)
            .into_iter()
            .flatten();
        let folder = absolute(&self.folder);
        paths
            .filter_map(|path| path.as_str().map(|path| folder.join(path)))
            .collect()
    }

    /// Returns the settings of dialects and the size limits of documents. An unknown dialect or
    /// setting is an error.
    pub fn dialects(&self, all: &dialect::Dialects) -> Result<dialect::DocumentSettings, Error> {
        let mut settings = dialect::DocumentSettings::default();
        for (dialect, table) in &self.dialects {
            let path = format!("dialects.{dialect}");
            let known = all.get(dialect).map_or(&[][..], |known| known.settings());
            let mut written = Vec::with_capacity(table.len());
            for (key, value) in table {
                let value = self.value(value, &format!("{path}.{key}"))?.revealed();
                let is_path = known.contains(&(key.as_str(), dialect::SettingKind::Paths));
                let value = if is_path {
                    self.in_folder(value)
                } else {
                    value
                };
                written.push((Name::from(key.as_str()), value));
            }
            all.set(&mut settings, dialect, &written)
                .map_err(|why| self.config_error(format!("`{path}` {why}")))?;
        }
        let mut written = Vec::with_capacity(self.documents.len());
        for (key, value) in &self.documents {
            if key == LOCAL_ACCESS {
                continue;
            }
            written.push((
                Name::from(key.as_str()),
                self.value(value, &format!("documents.{key}"))?.revealed(),
            ));
        }
        settings.limits = dialect::DocumentLimits::read(&written)
            .map_err(|why| self.config_error(format!("`documents` {why}")))?;
        Ok(settings)
    }

    /// The paths in a list, in the folder of the file. Other values stay as they are.
    fn in_folder(&self, paths: Value) -> Value {
        let Some(items) = paths.as_list() else {
            return paths;
        };
        let folder = absolute(&self.folder);
        let folder = folder.to_string_lossy();
        Value::list(items.iter().map(|item| match item.as_text() {
            Some(path) if !path.is_empty() => {
                let place = source::Location::disk(path).resolve_in(&folder);
                Value::from(place.identity().as_ref())
            }
            _ => item.clone(),
        }))
    }
}
