//! Data that a dialect needs besides the text of a document before it can lower it, and the answers.
//!
//! Not here: asking. The engine asks the world, the settings and the catalogues, and loads the document again.

use std::sync::Arc;

use blueprint::{IndexMap, Name, Schema, Value};

/// Something that a dialect needs before it can lower a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// The text of a file, by its path as seen from the document.
    File(Name),
    /// The value of a setting of the dialect.
    Setting(Name),
    /// The schema of a resource type.
    Schema(Name),
}

/// The answer to a [`Wanted`].
#[derive(Clone, Debug)]
pub enum Answer {
    /// The text of a file.
    File(Name),
    /// The value of a setting; null if it is not set.
    Setting(Value),
    /// The schema of a type.
    Schema(Arc<Schema>),
    /// There is no answer, and why: a phrase for people.
    Missing(Name),
}

/// The answers for one document.
#[derive(Clone, Debug, Default)]
pub struct Answers(Option<Arc<IndexMap<Wanted, Answer>>>);

impl Answers {
    /// Nothing was answered yet.
    pub const NONE: Answers = Answers(None);

    /// The answer to a request; `None` if it was not requested yet.
    pub fn to(&self, wanted: &Wanted) -> Option<&Answer> {
        self.0.as_deref()?.get(wanted)
    }

    /// The same answers with some more.
    pub fn with(&self, more: impl IntoIterator<Item = (Wanted, Answer)>) -> Answers {
        let mut all = self.0.as_deref().cloned().unwrap_or_default();
        all.extend(more);
        Answers(Some(Arc::new(all)))
    }

    /// How many answers there are.
    pub fn len(&self) -> usize {
        self.0.as_deref().map_or(0, IndexMap::len)
    }

    /// Whether nothing was answered yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
