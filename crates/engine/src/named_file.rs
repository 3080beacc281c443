//! A file that a request names, for inputs or an environment: a regular file or a pipe.
//!
//! A pipe can be read only once, and several steps of a request use the text. So the first read
//! keeps it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde::Deserialize;

use crate::error::Error;
use crate::text::read_text;

/// A file of a request. Its clones share the text that the first of them has read.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "PathBuf")]
pub struct NamedFile {
    path: PathBuf,
    /// The configuration file that names it; `None` for a file of the request.
    listed_in: Option<Arc<str>>,
    text: Arc<OnceLock<Arc<str>>>,
}

impl NamedFile {
    /// Returns the file at a path. Reads nothing.
    pub fn new(path: impl Into<PathBuf>) -> NamedFile {
        NamedFile {
            path: path.into(),
            listed_in: None,
            text: Arc::default(),
        }
    }

    /// Returns the file at a path that the key `vars` of a configuration file names. Reads nothing.
    pub(crate) fn listed_in(configuration: &str, path: impl Into<PathBuf>) -> NamedFile {
        NamedFile {
            listed_in: Some(configuration.into()),
            ..NamedFile::new(path)
        }
    }

    /// Its path, as the request writes it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its text. Reads the file at the first call.
    pub fn text(&self) -> Result<Arc<str>, Error> {
        if let Some(text) = self.text.get() {
            return Ok(text.clone());
        }
        let text = read_text(&self.path).map_err(|error| match (&self.listed_in, error) {
            (Some(file), Error::Unreadable { name, source }) => Error::Config {
                name: file.to_string(),
                source: format!("`vars` names `{name}`, which cannot be read: {source}").into(),
                help: Some("paths are relative to the configuration file".to_owned()),
            },
            (_, error) => error,
        })?;
        Ok(self.text.get_or_init(|| text.into()).clone())
    }
}

impl From<PathBuf> for NamedFile {
    fn from(path: PathBuf) -> NamedFile {
        NamedFile::new(path)
    }
}

impl PartialEq for NamedFile {
    fn eq(&self, other: &NamedFile) -> bool {
        self.path == other.path
    }
}

/// Whether a path leads to something that can be read only once, such as a pipe. Its text has no
/// place to which paths in it could be relative.
pub(crate) fn is_read_once(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
}
