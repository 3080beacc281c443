//! The description of a function of a dialect, for people.

/// A function of a dialect, described.
#[derive(Clone, Debug)]
pub struct Explained {
    /// Its name in a document.
    pub name: &'static str,
    /// A description: a paragraph of Markdown.
    pub docs: &'static str,
    /// In which versions of the language it can be called, and where, as a sentence.
    pub since: String,
    /// Calls with their results: a value in JSON, `! code` for an error, or nothing.
    pub examples: Vec<(String, String)>,
}
