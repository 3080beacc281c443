//! How another tool encrypts the secrets in its files.
//!
//! Not here: the key of the state (`state::seal`).

use diag::Diagnostic;

use crate::FillRandom;

/// The secret managers of a tool.
pub trait SecretManager: Send + Sync {
    /// The cipher of a file: of a kind of manager, with the data that the file keeps of its key.
    fn unlock(&self, kind: &str, data: &str) -> Result<Box<dyn TextCipher>, Box<Diagnostic>>;

    /// A new key: its kind, its cipher, and the data that a file keeps of it.
    fn create(&self, random: FillRandom<'_>) -> Result<NewKey, Box<Diagnostic>>;
}

/// A new key of a secret manager.
pub struct NewKey {
    /// The kind of the manager.
    pub kind: &'static str,
    /// The cipher.
    pub cipher: Box<dyn TextCipher>,
    /// What a file keeps of the key.
    pub data: String,
}

/// A cipher for texts. An error is a phrase without the text.
pub trait TextCipher {
    /// Encrypts a text.
    fn encrypt(&self, plain: &str, random: FillRandom<'_>) -> Result<String, String>;

    /// Decrypts a text.
    fn decrypt(&self, text: &str) -> Result<String, String>;
}
