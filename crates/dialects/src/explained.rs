//! What a person reads of a function of a dialect.

/// A function of a dialect, described.
#[derive(Clone, Debug)]
pub struct Explained {
    /// Its name in a document.
    pub name: &'static str,
    /// What it does, in a paragraph of Markdown.
    pub docs: &'static str,
    /// In which versions of the language it can be called, and where, as a sentence.
    pub since: String,
    /// Calls, each with what it gives: a value in JSON, `! code` for an error, nothing where the call says enough.
    pub examples: Vec<(String, String)>,
}
