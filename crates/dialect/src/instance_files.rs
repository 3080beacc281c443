//! The files in which a dialect keeps the configuration of instances, beside a document.
//!
//! Not here: where the files are, and writing them (`engine`).

use diag::{Diagnostic, Diagnostics, FileId};

use crate::Document;

/// Fills a buffer with random bytes, for salts and nonces. An error is a phrase.
pub type FillRandom<'a> = &'a mut dyn FnMut(&mut [u8]) -> Result<(), String>;

/// How a dialect reads and edits the configuration of an instance.
pub trait InstanceFiles: Send + Sync {
    /// The name of the file of an instance.
    fn file_name(&self, instance: &str) -> String;

    /// The text of the file of a new instance.
    fn new_file(&self, random: FillRandom<'_>) -> Result<String, Box<Diagnostic>>;

    /// The entries of a file in order. Secrets are decrypted with `reveal`; otherwise no key is
    /// needed.
    fn entries(
        &self,
        file: &InstanceFile<'_>,
        reveal: bool,
        found: &mut Diagnostics,
    ) -> Vec<ConfigEntry>;

    /// The entry at a key or path; `None` if there is none.
    fn entry(
        &self,
        file: &InstanceFile<'_>,
        key: &ConfigKey<'_>,
        reveal: bool,
        found: &mut Diagnostics,
    ) -> Option<ConfigEntry>;

    /// The text of the file after an edit. Everything else in it stays as it is.
    fn edit(
        &self,
        file: &InstanceFile<'_>,
        edit: &ConfigEdit<'_>,
        random: FillRandom<'_>,
    ) -> Result<ConfigEdited, Diagnostics>;
}

/// The file of an instance.
pub struct InstanceFile<'a> {
    /// The document beside it.
    pub document: Document<'a>,
    /// The file, for places.
    pub file: FileId,
    /// Its name.
    pub name: &'a str,
    /// Its text; empty if there is no file.
    pub text: &'a str,
}

/// A key of a configuration.
#[derive(Clone, Copy, Debug)]
pub struct ConfigKey<'a> {
    /// The key as the user writes it, or a path.
    pub text: &'a str,
    /// Whether it is a path into a list or map.
    pub is_path: bool,
}

/// A change of a configuration.
#[derive(Clone, Copy, Debug)]
pub enum ConfigEdit<'a> {
    /// Sets a value.
    Set {
        /// The key.
        key: ConfigKey<'a>,
        /// The value.
        value: &'a str,
        /// Whether it is encrypted; `None` if the user does not say so.
        is_secret: Option<bool>,
    },
    /// Removes a value.
    Remove {
        /// The key.
        key: ConfigKey<'a>,
    },
}

/// The result of an edit.
#[derive(Clone, Debug)]
pub struct ConfigEdited {
    /// The new text of the file.
    pub text: String,
    /// The full key.
    pub key: String,
    /// Whether the value is encrypted now.
    pub is_secret: bool,
}

/// An entry of a configuration.
#[derive(Clone, Debug)]
pub struct ConfigEntry {
    /// The full key.
    pub key: String,
    /// The key as people write it.
    pub shown: String,
    /// The value as text; lists and maps as JSON. `None` if it is secret and not revealed.
    pub text: Option<String>,
    /// The value without its secrets, for people.
    pub redacted: String,
    /// Whether it is, or contains, a secret.
    pub is_secret: bool,
}
