//! The description of a function of a dialect, for people.

/// A function of a dialect with its description.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The name in a document.
    pub name: &'static str,
    /// A description: a paragraph of Markdown.
    pub docs: &'static str,
    /// A sentence about the versions and places in which the function can be called.
    pub since: String,
    /// Calls with their results: a value in JSON, `! code` for an error, or nothing.
    pub examples: Vec<(String, String)>,
}
