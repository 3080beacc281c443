//! Data that a dialect needs in addition to the text of a document before it can lower it, and the
//! answers.
//!
//! Not here: obtaining the data. The engine asks the world, the settings and the catalogues, and
//! loads the document again.

use std::sync::Arc;

use blueprint::{IndexMap, Name, Schema, Value};

/// A request for data that a dialect needs before it can lower a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// The text of a file, by its path relative to the document.
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
    /// The reason for a missing answer, as a phrase.
    Missing(Name),
}

/// The answers for one document.
#[derive(Clone, Debug, Default)]
pub struct Answers(Option<Arc<IndexMap<Wanted, Answer>>>);

impl Answers {
    /// No answers.
    pub const NONE: Answers = Answers(None);

    /// The answer to a request; `None` if it was not requested yet.
    pub fn get(&self, wanted: &Wanted) -> Option<&Answer> {
        self.0.as_deref()?.get(wanted)
    }

    /// A copy with further answers.
    pub fn with(&self, more: impl IntoIterator<Item = (Wanted, Answer)>) -> Answers {
        let mut all = self.0.as_deref().cloned().unwrap_or_default();
        all.extend(more);
        Answers(Some(Arc::new(all)))
    }

    /// The number of answers.
    pub fn len(&self) -> usize {
        self.0.as_deref().map_or(0, IndexMap::len)
    }

    /// Whether there is no answer.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
