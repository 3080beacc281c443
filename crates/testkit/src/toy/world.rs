//! Toy worlds: one that answers nothing, and one that wraps another.
//!
//! Not here: the world of the harness, which is `engine::run::Shell` with simulated providers.

use std::path::Path;
use std::sync::Arc;

use engine::{Environment, Question, Reply, World};
use provider::BoxFuture;

/// A world that refuses every question. The clock stands still and the random bytes are zero.
pub struct EmptyWorld {
    /// The time in seconds since 1970 UTC.
    pub now: i64,
}

impl World for EmptyWorld {
    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        Box::pin(async move { question.refused("nothing is known here") })
    }

    fn environment(&self) -> &dyn Environment {
        self
    }
}

impl Environment for EmptyWorld {
    fn now(&self) -> i64 {
        self.now
    }

    fn random(&self) -> [u8; 16] {
        [0; 16]
    }
}

/// A world in which an editor has one file open: reads of that file give the text of the editor.
pub struct EditorWorld<'w> {
    /// The world that answers every other question.
    pub inner: &'w dyn World,
    /// The path of the open file.
    pub path: &'w Path,
    /// The text of the editor.
    pub text: &'w str,
}

impl World for EditorWorld<'_> {
    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        match question {
            Question::File { folder, path } if Path::new(folder).join(path) == self.path => {
                Box::pin(async { Reply::Bytes(Ok(Arc::from(self.text.as_bytes()))) })
            }
            question => self.inner.ask(question),
        }
    }

    fn environment(&self) -> &dyn Environment {
        self.inner.environment()
    }
}
